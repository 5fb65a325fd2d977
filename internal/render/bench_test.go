package render

import (
	"fmt"
	"strings"
	"testing"

	"parlance/internal/chat"
)

// work is a conversation of n questions, each followed by many calls with long results.
func work(n, calls, resultBytes int) *chat.Conversation {
	c := of()
	result := strings.Repeat("src/a.js:3: listen(8123)\n", resultBytes/25)
	for i := range n {
		c.Messages = append(c.Messages, user(fmt.Sprintf("question %d", i)))
		for j := range calls {
			id := fmt.Sprint(i, "-", j)
			c.Messages = append(c.Messages, toolCall(id), toolResult(id, result))
		}
		c.Messages = append(c.Messages, assistant("answer"))
	}
	return c
}

func BenchmarkFork(b *testing.B) {
	for _, size := range []struct {
		name string
		c    *chat.Conversation
	}{
		{"200kB", work(10, 10, 2000)},
		{"100MB", work(100, 100, 10_000)},
		{"100MB in one turn", work(1, 1000, 100_000)},
		{"one message of 60 MB", of(user("q"), assistant(strings.Repeat("listen ", 9_000_000)))},
	} {
		b.Run(size.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				mustFork(b, size.c, ForkOptions{})
			}
		})
	}
}
