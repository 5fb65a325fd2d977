package history

import (
	"context"
	"flag"
	"fmt"
	"testing"
	"time"

	"parlance/internal/chat"
	"parlance/internal/mapping"
	"parlance/mappings"
)

// benchHome is a home folder to measure on, read by the built-in mappings. Without it a small one is made.
var benchHome = flag.String("home", "", "home folder for benchmarks")

func benchHistory(b *testing.B) *History {
	if *benchHome == "" {
		w := newWorld(b, "acme", "bolt")
		for i := range 400 {
			at := w.ago(time.Duration(i+1) * hour)
			var lines []string
			for j := range 40 {
				lines = append(lines,
					said(at, "me", fmt.Sprintf("question %d about the port", j)),
					said(at, "call", `{"command":"ls"}`, "tool", "shell", "call", fmt.Sprint(j)),
					said(at, "result", fmt.Sprintf("%04000d", j), "call", fmt.Sprint(j)),
					said(at, "bot", fmt.Sprintf("answer %d of conversation %d", j, i)))
			}
			w.write(fmt.Sprintf(".acme/x/f%03d.jsonl", i), at, lines...)
		}
		return w.open()
	}
	named, err := mapping.NamedRoots(mappings.FS)
	if err != nil {
		b.Fatal(err)
	}
	set, err := mapping.NewSet(mappings.FS, nil)
	if err != nil {
		b.Fatal(err)
	}
	return Open(Config{Envs: []mapping.Env{{Home: *benchHome, Getenv: func(string) string { return "" }, Named: named}}, Set: set})
}

func BenchmarkList(b *testing.B) {
	h := benchHistory(b)
	b.ReportAllocs()
	for b.Loop() {
		l, err := h.List(context.Background(), Filter{})
		if err != nil || len(l.Rows) == 0 {
			b.Fatal(err)
		}
		b.ReportMetric(float64(l.Work.Read), "read/op")
	}
}

// BenchmarkListEmptyHome is what all the mappings cost a program that has just started, where no
// tool ever ran.
func BenchmarkListEmptyHome(b *testing.B) {
	home := b.TempDir()
	b.ReportAllocs()
	for b.Loop() {
		named, err := mapping.NamedRoots(mappings.FS)
		if err != nil {
			b.Fatal(err)
		}
		set, err := mapping.NewSet(mappings.FS, nil)
		if err != nil {
			b.Fatal(err)
		}
		h := Open(Config{Envs: []mapping.Env{{Home: home, Cwd: home, Named: named}}, Set: set})
		l, err := h.List(context.Background(), Filter{})
		if err != nil || len(l.Rows) > 0 || len(l.Looked) == 0 {
			b.Fatal(l, err)
		}
		b.ReportMetric(float64(l.Work.Looks), "looks/op")
	}
}

func BenchmarkSearch(b *testing.B) {
	h := benchHistory(b)
	for _, q := range []struct{ name, text string }{
		{"absent", "xyzzyplughquux"}, {"common", "the"}, {"words", "schema worker"}, {"unicode", "éclair-grünspecht"}, {"id", "0123456789abcdef0123"},
	} {
		b.Run(q.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				l, err := h.Search(context.Background(), Query{Text: q.text})
				if err != nil {
					b.Fatal(err)
				}
				b.ReportMetric(float64(l.Work.Scanned), "scanned/op")
				b.ReportMetric(float64(l.Work.Read), "read/op")
			}
		})
	}
}

func BenchmarkLoad(b *testing.B) {
	h := benchHistory(b)
	l, err := h.List(context.Background(), Filter{})
	if err != nil || len(l.Rows) == 0 {
		b.Fatal(err)
	}
	for b.Loop() {
		err := h.Load(context.Background(), l.Rows[0].FullID(), "", func(*chat.Conversation) error { return nil })
		if err != nil {
			b.Fatal(err)
		}
	}
}
