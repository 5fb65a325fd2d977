package mapping

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tidwall/gjson"

	"parlance/internal/chat"
)

// benchLog writes a log of the shape that most transcripts have: short prompts and answers,
// long tool results. It returns the path and its size.
func benchLog(b *testing.B) (Env, string, int64) {
	b.Helper()
	dir := b.TempDir()
	path := filepath.Join(dir, "log", "one.jsonl")
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		b.Fatal(err)
	}
	f, err := os.Create(path)
	if err != nil {
		b.Fatal(err)
	}
	w := bufio.NewWriter(f)
	out := strings.Repeat(`path/to/file.go:12: if err := run(\"x\"); err != nil {\n`, 300)
	for i := range 400 {
		fmt.Fprintf(w, `{"type":"user","uuid":"u%d","timestamp":"2026-05-02T08:00:00.000Z","cwd":"/srv/demo","message":{"role":"user","content":"prompt %d with some words about the ferry"}}`+"\n", i, i)
		fmt.Fprintf(w, `{"type":"assistant","uuid":"a%d","timestamp":"2026-05-02T08:00:01.000Z","message":{"id":"m%d","model":"m","content":[{"type":"text","text":"I will look at it."},{"type":"tool_use","id":"t%d","name":"Bash","input":{"command":"grep -rn %d"}}]}}`+"\n", i, i, i, i)
		fmt.Fprintf(w, `{"type":"user","uuid":"r%d","timestamp":"2026-05-02T08:00:02.000Z","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t%d","content":"%s"}]}}`+"\n", i, i, out)
	}
	if err := w.Flush(); err != nil {
		b.Fatal(err)
	}
	info, err := f.Stat()
	if err != nil {
		b.Fatal(err)
	}
	f.Close()
	return Env{Home: dir, Getenv: func(string) string { return "" }}, path, info.Size()
}

const benchYAML = `
sources: [{id: log, paths: ["~/log/*.jsonl"], container: jsonl, when: {type: {exists: true}}}]
conversation: {id: file:stem, cwd: cwd, model: {from: message.model, pick: last}}
common: {time: timestamp, id: uuid, reply: message.id, glue: false}
messages:
  - when: {type: user}
    each: message.content
    first:
      - {when: {type: tool_result}, as: tool_result, call: tool_use_id, text: content}
      - {when: {type: text}, as: user, text: text}
  - when: {type: assistant}
    each: message.content
    first:
      - {when: {type: text}, as: assistant, text: text}
      - {when: {type: tool_use}, as: tool_call, name: name, call: id, input: input}
`

// BenchmarkRead reads the log through a mapping: whole, as a fork needs it, and with tool
// results left undecoded, as a search does. BenchmarkReadByHand is the yardstick.
func BenchmarkRead(b *testing.B) {
	for _, c := range []struct {
		name string
		opts ReadOptions
	}{{"all", ReadOptions{}}, {"talk", ReadOptions{SkipToolText: true}}} {
		b.Run(c.name, func(b *testing.B) {
			env, _, size := benchLog(b)
			m := load(b, benchYAML)
			files, _ := m.Find(context.Background(), env)
			b.SetBytes(size)
			b.ReportAllocs()
			for b.Loop() {
				n := 0
				if err := m.Read(context.Background(), files[0], c.opts, func(c *chat.Conversation) error {
					n = len(c.Messages)
					return nil
				}); err != nil || n != 1600 {
					b.Fatal(n, err)
				}
			}
		})
	}
}

// BenchmarkReadByHand takes the same fields with gjson, as a reader written for this one
// format would.
func BenchmarkReadByHand(b *testing.B) {
	for _, results := range []bool{true, false} {
		b.Run(map[bool]string{true: "all", false: "talk"}[results], func(b *testing.B) {
			_, path, size := benchLog(b)
			b.SetBytes(size)
			b.ReportAllocs()
			for b.Loop() {
				data, err := os.ReadFile(path)
				if err != nil {
					b.Fatal(err)
				}
				var msgs []chat.Message
				for line := range strings.SplitSeq(string(data), "\n") {
					if line == "" || !gjson.Valid(line) {
						continue
					}
					r := gjson.Parse(line)
					m := chat.Message{ID: r.Get("uuid").String(), Reply: r.Get("message.id").String(), Role: chat.Role(r.Get("type").String())}
					_ = r.Get("timestamp").Time()
					content := r.Get("message.content")
					if !content.IsArray() {
						m.Text = content.String()
						msgs = append(msgs, m)
						continue
					}
					content.ForEach(func(_, block gjson.Result) bool {
						m := m
						switch block.Get("type").String() {
						case "text":
							m.Text = block.Get("text").String()
						case "tool_use":
							m.Role, m.Tool, m.Call, m.Input = chat.ToolCall, block.Get("name").String(), block.Get("id").String(), block.Get("input").Raw
						case "tool_result":
							m.Role, m.Call = chat.ToolResult, block.Get("tool_use_id").String()
							if results {
								m.Text = block.Get("content").String()
							}
						}
						msgs = append(msgs, m)
						return true
					})
				}
				if len(msgs) != 1600 {
					b.Fatal(len(msgs))
				}
			}
		})
	}
}

// BenchmarkValidUTF8 is why texts are checked before they are mended.
func BenchmarkValidUTF8(b *testing.B) {
	text := strings.Repeat("path/to/file.go:12: if err := run(\"x\"); err != nil {\n", 300)
	for name, mend := range map[string]func(string) string{
		"checked": validUTF8,
		"library": func(s string) string { return strings.ToValidUTF8(s, "\uFFFD") },
	} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				mend(text)
			}
		})
	}
}
