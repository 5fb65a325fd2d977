package mapping

import (
	"fmt"
	"strings"
	"testing"

	"parlance/internal/chat"
)

// told is a conversation as a test reads it: a line a message.
func told(c *chat.Conversation) string {
	var b strings.Builder
	for i := range c.Messages {
		m := &c.Messages[i]
		fmt.Fprintf(&b, "%s", m.Role)
		if m.Tool != "" {
			fmt.Fprintf(&b, " %s", m.Tool)
		}
		fmt.Fprintf(&b, " %q", m.Body())
		if m.Running {
			b.WriteString(" running")
		}
		b.WriteString("\n")
	}
	return b.String()
}

func TestCallTags(t *testing.T) {
	yaml := `
messages: [{as: assistant, text: say}]
clean: {assistant: {tags: {thinking: reasoning, read_file: call, write_to_file: call, done: call}}}
`
	for _, c := range []struct{ name, say, want string }{
		{"a call behind prose", `Reading.\n\n<read_file>\n<path>a.py</path>\n</read_file>`, `assistant "Reading."
tool_call read_file "{\"path\":\"a.py\"}"
`},
		{"the parameter holds tags, and its own", `<write_to_file>\n<path>x.html</path>\n<content>\n<p>\n<content>y</content>\n</p>\n</content>\n</write_to_file>`,
			`tool_call write_to_file "{\"path\":\"x.html\",\"content\":\"<p>\\n<content>y</content>\\n</p>\"}"
`},
		{"a parameter twice", `<read_file><path>a</path><path>b "c"</path></read_file>`, `tool_call read_file "{\"path\":\"b \\\"c\\\"\"}"
`},
		{"no parameters", `<done/>`, "tool_call done \"\"\n"},
		{"bare text", `<done>all of it</done>`, "tool_call done \"all of it\"\n"},
		{"cut", `<read_file>\n<path>a.p`, `tool_call read_file "{\"path\":\"a.p\"}"
`},
		{"thought, then two calls", `<thinking>a < b</thinking>\n<read_file>\n<path>a</path>\n</read_file>\n<read_file>\n<path>b</path>\n</read_file>`,
			`reasoning "a < b"
tool_call read_file "{\"path\":\"a\"}"
tool_call read_file "{\"path\":\"b\"}"
`},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := strings.ReplaceAll(told(oneLog(t, yaml, `{"say":"`+strings.ReplaceAll(c.say, `"`, `\"`)+`"}`+"\n")), " running", "")
			if got != c.want {
				t.Errorf("got\n%s\nwant\n%s", got, c.want)
			}
		})
	}
	level, _ := load(t, "sources: [{paths: [\"~/log/*.jsonl\"], container: jsonl}]\n"+yaml).RawFilter(File{Sources: []int{0}}, chat.ToolCall)
	if level != RawRuns {
		t.Errorf("raw filter %v: the words of a call stand in its text", level)
	}
}
