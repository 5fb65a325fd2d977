package render

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"parlance/internal/chat"
)

func TestRowJSON(t *testing.T) {
	at := time.Date(2026, 1, 2, 4, 4, 5, 678_900_000, time.FixedZone("", 3600))
	for _, row := range []struct {
		name string
		in   chat.Row
		want string
	}{
		{"least", chat.Row{Provider: "acme", ID: "7f", Messages: chat.Uncounted},
			`{"id":"acme:7f","provider":"acme","conversation_id":"7f"}`},
		{"counted and empty", chat.Row{Provider: "acme", ID: "7f"},
			`{"id":"acme:7f","provider":"acme","conversation_id":"7f","messages":0}`},
		{"everything", chat.Row{
			Provider: "acme", ID: "7f", Title: "<T> & U", Prompt: "p", Project: "demo", Cwd: `C:\demo`, Branch: "main", Model: "m",
			Parent: "6e", Subagent: true, Started: at, Updated: at.Add(time.Second), Messages: 3, File: "/h/7f", Row: "r",
			Checkpoints: []chat.Checkpoint{{UUID: demoUUID}}, Matched: []string{chat.MatchID, chat.MatchWords}, Hits: 2, First: "f", Last: "l",
		}, `{"id":"acme:7f","provider":"acme","conversation_id":"7f","title":"<T> & U","prompt":"p","project":"demo","cwd":"C:\\demo",` +
			`"branch":"main","model":"m","parent":"acme:6e","subagent":true,"started":"2026-01-02T03:04:05.678Z",` +
			`"updated":"2026-01-02T03:04:06.678Z","messages":3,"file":"/h/7f","row":"r",` +
			`"checkpoints":[{"uuid":"11111111-2222-4333-8444-555555555555","slug":""}],` +
			`"matched":["conversation id","words"],"hits":2,"first":"f","last":"l"}`},
		{"bad bytes", chat.Row{Provider: "acme", ID: "7f", Title: "a\xffb"},
			`{"id":"acme:7f","provider":"acme","conversation_id":"7f","title":"a\ufffdb","messages":0}`},
	} {
		if got := string(RowJSON(&row.in)); got != row.want {
			t.Errorf("%s: got\n%s\nwant\n%s", row.name, got, row.want)
		}
	}
}

func TestMessagesJSON(t *testing.T) {
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	c := &chat.Conversation{
		Provider: "acme", ID: "7f", Updated: at, File: "/h/7f.jsonl",
		Messages: []chat.Message{
			{ID: "m1", Role: chat.User, Text: "Which port?", Time: at, Inherited: true, Origin: chat.Origin{Line: 2, Offset: 40, Pointer: "/x"}},
			{Role: chat.Reasoning, Text: "hm", Reply: "r1", Origin: chat.Origin{Pointer: "/messages/1"}},
			{Role: chat.ToolCall, Tool: "edit", Call: "t1", Input: `{"z":1,"a":12345678901234567890}`, Reply: "r1", Child: "8a"},
			{Role: chat.ToolResult, Tool: "edit", Call: "t1", Failed: true, Diff: "-a\n+b"},
			{Role: chat.ToolCall, Tool: "shell", Call: "t2", Input: "true", Running: true},
			{Role: chat.ToolCall, Tool: "shell", Call: "t3", Input: `{"half`, Abandoned: true},
		},
		Read: chat.Report{Records: 9, Used: 6, Skipped: map[string]int{"b": 1, "a": 2}, NoRule: map[string]int{"new": 1},
			Broken: []chat.Broken{{Line: 4, Why: "not JSON"}}, BrokenMore: 1, Torn: true, Warnings: []string{"odd"}, Incomplete: "too long"},
	}
	const want = `{"conversation":{"id":"acme:7f","provider":"acme","conversation_id":"7f","prompt":"Which port?",` +
		`"updated":"2026-01-02T03:04:05.000Z","messages":4,"file":"/h/7f.jsonl"},"messages":[` +
		`{"n":1,"id":"m1","role":"user","text":"Which port?","time":"2026-01-02T03:04:05.000Z","inherited":true,"line":2},` +
		`{"n":2,"role":"reasoning","text":"hm","reply":"r1","origin":"/messages/1"},` +
		`{"n":3,"role":"tool_call","tool":"edit","call":"t1","input":{"z":1,"a":12345678901234567890},"reply":"r1","child":"acme:8a"},` +
		`{"n":4,"role":"tool_result","tool":"edit","call":"t1","failed":true,"diff":"-a\n+b"},` +
		`{"n":5,"role":"tool_call","tool":"shell","call":"t2","input":"true","running":true},` +
		`{"n":6,"role":"tool_call","tool":"shell","call":"t3","input":"{\"half","abandoned":true}],` +
		`"read":{"records":9,"used":6,"skipped":{"a":2,"b":1},"no_rule":{"new":1},"broken":[{"line":4,"why":"not JSON"}],"torn":true,` +
		`"broken_more":1,"warnings":["odd"],"incomplete":"too long"}}` + "\n"
	var b strings.Builder
	if err := MessagesJSON(&b, c, nil); err != nil {
		t.Fatal(err)
	}
	if b.String() != want {
		t.Errorf("got\n%s\nwant\n%s", b.String(), want)
	}

	b.Reset()
	if err := MessagesJSON(&b, c, words("port", "12345678901234567890")); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`"prompt":"Which [redacted: port]?"`, `"text":"Which [redacted: port]?"`,
		`"input":{"z":1,"a":"[redacted: 12345678901234567890]"}`, `,"redacted":{"12345678901234567890":1,"port":2}}`} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("no %s in\n%s", want, b.String())
		}
	}
	if !json.Valid([]byte(b.String())) {
		t.Errorf("redacted: not JSON:\n%s", b.String())
	}

	b.Reset()
	if err := MessagesJSON(&b, &chat.Conversation{Provider: "acme", ID: "7f"}, nil); err != nil {
		t.Fatal(err)
	}
	const empty = `{"conversation":{"id":"acme:7f","provider":"acme","conversation_id":"7f","messages":0},"messages":[],"read":{"records":0,"used":0}}` + "\n"
	if b.String() != empty {
		t.Errorf("empty: got\n%s\nwant\n%s", b.String(), empty)
	}
}

// brokenPipe takes some bytes and no more.
type brokenPipe struct{ left int }

var errPipe = errors.New("pipe: broken")

func (p *brokenPipe) Write(b []byte) (int, error) {
	if p.left -= len(b); p.left < 0 {
		return 0, errPipe
	}
	return len(b), nil
}

func TestWriteErrorsComeBack(t *testing.T) {
	if err := MessagesJSON(&brokenPipe{300}, demo(), nil); !errors.Is(err, errPipe) {
		t.Errorf("JSON: got %v", err)
	}
	if err := Markdown(&brokenPipe{300}, demo(), ShowOptions{}); !errors.Is(err, errPipe) {
		t.Errorf("Markdown: got %v", err)
	}
	if err := Text(&brokenPipe{30}, demo(), ShowOptions{}); !errors.Is(err, errPipe) {
		t.Errorf("text: got %v", err)
	}
}
