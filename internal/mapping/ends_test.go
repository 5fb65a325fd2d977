package mapping

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"parlance/internal/chat"
)

func TestReadEnds(t *testing.T) {
	m, problems := Load("acme.yaml", []byte(`
parlance: 1
name: acme
sources: [{id: log, paths: ["~/.acme/*.jsonl"], container: jsonl}]
conversation: {title: [{from: name, when: {kind: title}, pick: last}, summary]}
messages: [{when: {kind: user}, as: user, text: text}, {when: {kind: result}, as: tool_result, call: c, text: text}, {when: {kind: title}, as: skip}]
`), nil)
	if m == nil {
		t.Fatal(problems)
	}
	var lines []string
	add := func(format string, args ...any) { lines = append(lines, fmt.Sprintf(format, args...)) }
	add(`{"kind":"user","text":"first"}`)
	for i := range 200 {
		add(`{"kind":"user","text":"number %d, its name and title unknown"}`, i)
		switch i {
		case 100:
			add(`{"kind":"title","name":"Found"}`)
		case 101:
			add(`{"kind":"result","c":"1","text":"CHAT CHECKPOINT UUID=11111111-2222-4333-8444-555555555555 SLUG=x"}`)
		}
	}
	add(`{"kind":"user","text":"last"}`)
	home := t.TempDir()
	path := filepath.Join(home, "a.jsonl")
	if err := os.WriteFile(path, []byte(strings.Join(lines, "\n")+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := m.FileAt(Env{Home: home, Getenv: func(string) string { return "" }}, path)
	if err != nil {
		t.Fatal(err)
	}
	read := func(ends int64) (got *chat.Conversation) {
		err := m.Read(context.Background(), f, ReadOptions{Ends: ends}, func(c *chat.Conversation) error {
			got = c
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	c := read(40)
	var texts []string
	for _, m := range c.Messages {
		texts = append(texts, m.Text)
	}
	want := "first|number 0, its name and title unknown|CHAT CHECKPOINT UUID=11111111-2222-4333-8444-555555555555 SLUG=x|last"
	if got := strings.Join(texts, "|"); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if c.Title != "Found" || c.Read.Incomplete != EndsOnly {
		t.Errorf("title %q, incomplete %q", c.Title, c.Read.Incomplete)
	}
	if c := read(1 << 20); len(c.Messages) != 203 || c.Read.Incomplete != "" {
		t.Errorf("a file without a gap: %d messages, incomplete %q", len(c.Messages), c.Read.Incomplete)
	}
}
