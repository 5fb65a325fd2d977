package mapping

import (
	"fmt"
	"strings"
	"testing"

	"parlance/internal/chat"
)

const nearRules = `
pair: [id, near]
messages:
  - {when: {do: {exists: true}}, each: do, as: tool_call, name: tool}
  - {when: {got: {exists: true}}, as: tool_result, name: tool, text: got}
`

func TestPairNear(t *testing.T) {
	for _, c := range []struct {
		name, records, running, of string
	}{
		{"a call that was given up does not shift the rest", `{"do":[{"tool":"read"}]}
{"do":[{"tool":"read"}]}
{"got":"b","tool":"read"}`, "true false", "read"},
		{"by name, then by order, inside one record", `{"do":[{"tool":"read"},{"tool":"grep"},{"tool":"read"}]}
{"got":"g","tool":"grep"}
{"got":"a","tool":"read"}
{"got":"b","tool":"read"}`, "false false false", "grep read read"},
		{"output in pieces", `{"do":[{"tool":"run"}]}
{"got":"1","tool":"run"}
{"got":"2","tool":"run"}`, "false", "run run"},
		{"behind another tool's call", `{"do":[{"tool":"run"}]}
{"do":[{"tool":"look"}]}
{"got":"1","tool":"run"}`, "false true", "run"},
		{"a name that no call has", `{"do":[{"tool":"use_agents"}]}
{"got":"1","tool":"agents"}`, "false", "agents"},
		{"no name", `{"do":[{"tool":"a"},{"tool":"b"}]}
{"got":"1"}
{"got":"2"}
{"got":"3"}`, "false false", "a b b"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := oneLog(t, nearRules, c.records+"\n")
			var running, of []string
			for i := range got.Messages {
				switch m := &got.Messages[i]; m.Role {
				case chat.ToolCall:
					running = append(running, fmt.Sprint(m.Running))
				case chat.ToolResult:
					of = append(of, m.Tool)
				}
			}
			if r, o := strings.Join(running, " "), strings.Join(of, " "); r != c.running || o != c.of || len(got.Read.Warnings) > 0 {
				t.Errorf("running %s, of %s, %q; want %s, %s", r, o, got.Read.Warnings, c.running, c.of)
			}
		})
	}
	got := oneLog(t, nearRules, `{"got":"1","tool":"read"}`+"\n"+`{"do":[{"tool":"read"}]}`+"\n"+`{"got":"1","tool":"read"}`+"\n"+`{"got":"?","tool":"write"}`+"\n")
	if len(got.Read.Warnings) != 2 {
		t.Errorf("a result before every call, and one of a tool nobody called: %q", got.Read.Warnings)
	}
}
