package render

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"unicode/utf8"

	"parlance/internal/chat"
)

// read is c as a reader hands it over that asks keep about every message.
func read(c *chat.Conversation, keep func(*chat.Message) bool) *chat.Conversation {
	out := *c
	out.Messages = nil
	for _, m := range c.Messages {
		m.Runes = utf8.RuneCountInString(m.Body())
		if !keep(&m) {
			m.Text, m.Input, m.Elided = "", "", true
		}
		out.Messages = append(out.Messages, m)
	}
	return &out
}

// random is a conversation of all kinds of messages, without branches.
func random(r *rand.Rand, messages int) *chat.Conversation {
	c := of()
	calls := 0
	for len(c.Messages) < messages {
		text := strings.Repeat("端 word\n", r.IntN(30))
		if r.IntN(10) == 0 {
			text = strings.Repeat("long line ", r.IntN(4000))
		}
		switch r.IntN(12) {
		case 0, 1:
			c.Messages = append(c.Messages, user(text))
		case 2, 3:
			c.Messages = append(c.Messages, assistant(text))
		case 4:
			c.Messages = append(c.Messages, chat.Message{Role: chat.System, Text: text}, chat.Message{Role: chat.Compaction, Text: text})
		case 5:
			calls++
			id := fmt.Sprint("c", calls)
			c.Messages = append(c.Messages, chat.Message{Role: chat.ToolCall, Tool: "mcp__p__chat_checkpoint", Call: id, Input: "{}"},
				toolResult(id, fmt.Sprintf(`{"result":"CHAT CHECKPOINT UUID=%036d SLUG=mark %d."}`, calls, calls)))
		default:
			calls++
			id := fmt.Sprint("c", calls)
			c.Messages = append(c.Messages, toolCall(id), chat.Message{Role: chat.Reasoning, Text: text}, toolResult(id, text))
		}
	}
	return c
}

func TestForkOfDigestsIsForkOfTexts(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for round := range 60 {
		c := random(r, 1+r.IntN(400))
		var o ForkOptions
		if r.IntN(2) == 0 {
			o.StartCheckpoint = fmt.Sprintf("mark %d.", r.IntN(20))
		}
		if r.IntN(2) == 0 {
			o.EndCheckpoint = fmt.Sprintf("mark %d.", r.IntN(20))
		}
		if r.IntN(2) == 0 {
			o.Tokens = TokensMax
		}
		if r.IntN(2) == 0 {
			o.Redact = words("long line l", "word")
		}
		want := mustFork(t, c, o)
		got, err := Fork(read(c, NewDigester(o).Keep), o)
		if err != nil || got != want {
			t.Fatalf("round %d, %d messages, %q to %q: %v, got\n%s\nwant\n%s", round, len(c.Messages), o.StartCheckpoint, o.EndCheckpoint, err, got, want)
		}
		checkFork(t, got, o.Tokens)

		// Branches that were given up show only later. Then a text may be lacking, but
		// the fork never differs in silence.
		lacking := read(c, NewDigester(o).Keep)
		for i := range c.Messages {
			abandoned := r.IntN(20) == 0
			c.Messages[i].Abandoned, lacking.Messages[i].Abandoned = abandoned, abandoned
		}
		got, err = Fork(lacking, o)
		if want := mustFork(t, c, o); !errors.Is(err, ErrElided) && got != want {
			t.Fatalf("round %d with branches: %v, got\n%s\nwant\n%s", round, err, got, want)
		}
	}
}

func TestDigesterLetsGo(t *testing.T) {
	long := strings.Repeat("listen ", 2000)
	for _, row := range []struct {
		name string
		c    *chat.Conversation
	}{
		{"many turns", pairs(3000, 10_000)},
		{"one long turn", work(1, 3000, 10_000)},
		{"one long message", of(user("q"), assistant(strings.Repeat(long, 1000)))},
	} {
		c := read(row.c, NewDigester(ForkOptions{}).Keep)
		kept, had := 0, 0
		for i := range c.Messages {
			had += len(row.c.Messages[i].Body())
			kept += len(c.Messages[i].Body())
			if d, ok := c.Messages[i].Note.(*Digest); ok {
				kept += len(d.head) + len(d.tail)
			}
		}
		if kept > 1<<20 {
			t.Errorf("%s: %d of %d bytes are kept", row.name, kept, had)
		}
		got, err := Fork(c, ForkOptions{})
		if want := mustFork(t, row.c, ForkOptions{}); err != nil || got != want {
			t.Errorf("%s: %v, got\n%s\nwant\n%s", row.name, err, fit(got, 3000), fit(want, 3000))
		}
	}
}

// Where a branch turns out to be given up, what was the middle may become the end. The fork
// then says that it lacks a text, and never shows less than it should without a word.
func TestForkSaysThatTextIsLacking(t *testing.T) {
	c := work(1, 100, 10_000)
	lacking := read(c, NewDigester(ForkOptions{}).Keep)
	for i := 100; i < len(lacking.Messages); i++ {
		lacking.Messages[i].Abandoned = true
	}
	if text, err := Fork(lacking, ForkOptions{}); !errors.Is(err, ErrElided) || text != "" {
		t.Errorf("got %v, %d bytes", err, len(text))
	}
	nothing := read(c, func(*chat.Message) bool { return false })
	if _, err := Fork(nothing, ForkOptions{}); !errors.Is(err, ErrElided) {
		t.Errorf("no texts at all: got %v", err)
	}
	if _, err := Fork(nothing, ForkOptions{StartCheckpoint: "x"}); !errors.Is(err, ErrElided) {
		t.Errorf("no texts at all, sliced: got %v", err)
	}
}
