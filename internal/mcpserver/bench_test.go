package mcpserver

import (
	"context"
	"testing"

	"parlance/internal/history"
	"parlance/internal/render"
)

// BenchmarkStart is a server up to its answer to initialize, the process apart. The whole
// has 60 ms.
func BenchmarkStart(b *testing.B) {
	h := demo(b)
	for b.Loop() {
		l := dial(b, h, Options{})
		l.send(hello)
		l.receive()
		l.in.Close()
		l.wait()
	}
}

// BenchmarkCall is a search over MCP, to be compared with BenchmarkDirect, the same search
// and its text without MCP. They may be 10 ms apart.
func BenchmarkCall(b *testing.B) {
	l := dial(b, demo(b), Options{})
	l.hello()
	for b.Loop() {
		l.send(callLine("1", "chat_search", `{"search":"ferry"}`))
		l.receive()
	}
}

func BenchmarkDirect(b *testing.B) {
	h := demo(b)
	for b.Loop() {
		l, err := h.Search(context.Background(), history.Query{Text: "ferry"})
		if err != nil {
			b.Fatal(err)
		}
		render.Answer(render.Results{Search: "ferry", Rows: l.Rows, Current: l.Current, Nearest: l.Nearest, Looked: l.Looked}, 0)
	}
}
