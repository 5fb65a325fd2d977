package mapping

import (
	"context"
	"strings"
	"testing"

	"parlance/internal/chat"
)

const moreYAML = `parlance: 1
name: acme
sources: [{id: log, paths: ["~/*.jsonl"], container: jsonl}]
common: {id: id, time: at}
messages:
  - {when: {op: back}, as: rewind, to: to}
  - {when: {part: {exists: true}}, as: tool_call, more: true, input: part}
  - {when: {tool: {exists: true}}, as: tool_call, name: tool, call: id, input: args}
  - {when: {out: {exists: true}}, as: tool_result, call: of, text: out}
  - {as: user, text: say}
`

// TestMore: pieces of a call's input that stand in later records make one call, at its place,
// whoever looks at it.
func TestMore(t *testing.T) {
	for _, row := range []struct {
		name, log, want, warning string
	}{
		{"put together, and whole JSON is compact", `{"tool":"grep","id":"1","args":"{\"q\":"}` + "\n" + `{"part":" \"x"}` + "\n" + `{"part":"\"}"}` + "\n" + `{"out":"a.go","of":"1"}`, `tool_call grep {"q":"x"}; tool_result grep a.go`, ""},
		{"other messages in between", `{"tool":"grep","id":"1","args":"{\"q\":"}` + "\n" + `{"say":"hi"}` + "\n" + `{"part":"1}"}`, `tool_call grep {"q":1}; user  hi`, ""},
		{"the latest call grows", `{"tool":"a","id":"1","args":"x"}` + "\n" + `{"tool":"b","id":"2","args":"y"}` + "\n" + `{"part":"z"}`, "tool_call a x; tool_call b yz", ""},
		{"not whole in the end", `{"tool":"a","id":"1","args":"{\"q\":"}` + "\n" + `{"part":"\"x"}`, `tool_call a {"q":"x`, ""},
		{"no call", `{"say":"hi"}` + "\n" + `{"part":"z"}`, "user  hi", "without the call"},
		{"a call that was given up", `{"tool":"a","id":"1","args":"x"}` + "\n" + `{"op":"back","to":"1"}` + "\n" + `{"part":"z"}`, "", "without the call"},
	} {
		t.Run(row.name, func(t *testing.T) {
			m := load(t, moreYAML)
			env := homeWith(t, map[string]string{"a.jsonl": row.log + "\n"})
			files, _ := m.Find(context.Background(), env)
			for _, opts := range []ReadOptions{{}, {Keep: func(*chat.Message) bool { return false }}} {
				var got []string
				var warnings string
				if err := m.Read(context.Background(), files[0], opts, func(c *chat.Conversation) error {
					for _, msg := range c.Messages {
						if !msg.Abandoned {
							got = append(got, string(msg.Role)+" "+msg.Tool+" "+msg.Body())
						}
					}
					warnings = strings.Join(c.Read.Warnings, "; ")
					return nil
				}); err != nil {
					t.Fatal(err)
				}
				if opts.Keep != nil {
					if n := strings.Count(row.want, ";") + 1; row.want != "" && len(got) != n {
						t.Errorf("without texts: %d messages, want %d", len(got), n)
					}
					continue
				}
				if s := strings.Join(got, "; "); s != row.want {
					t.Errorf("got  %s\nwant %s", s, row.want)
				}
				if !strings.Contains(warnings, row.warning) || row.warning == "" && warnings != "" {
					t.Errorf("warnings %q, want %q", warnings, row.warning)
				}
			}
		})
	}
	m := load(t, moreYAML)
	if level, _ := m.RawFilter(File{Sources: []int{0}}, chat.ToolCall); level != RawNone {
		t.Error("a word of an input may be cut between two records, and its bytes are trusted")
	}
}
