package mapping

import (
	"strings"
	"testing"
)

func TestGather(t *testing.T) {
	rules := `
messages:
  - {when: {lines: {exists: true}}, as: user, text: {from: lines, join: ""}}
  - {as: user, text: {from: out, gather: [text, newLine]}}
`
	deep := strings.Repeat(`{"in":`, gatherLevels) + `{"text":"too deep"}` + strings.Repeat("}", gatherLevels)
	for _, c := range []struct{ name, record, want string }{
		{"in order, white space too", `{"out":{"a":[{"text":"one"},{"text":" "},{"b":{"text":"two"}}]}}`, "one two"},
		{"lines", `{"out":[{"text":"one","newLine":true},{"text":"two","newLine":true},{"text":"three","newLine":false}]}`, "one\ntwothree"},
		{"a text and more below it", `{"out":{"text":"one","more":{"text":"two"}}}`, "onetwo"},
		{"the name of something else", `{"out":{"text":{"text":"one"},"n":{"text":7}}}`, "one"},
		{"a string", `{"out":"one"}`, ""},
		{"too deep", `{"out":` + deep + `}`, ""},
		{"a list joined by nothing", `{"lines":["one","two"]}`, "onetwo"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := ""
			if m := oneLog(t, rules, c.record+"\n").Messages; len(m) > 0 {
				got = m[0].Text
			}
			if got != c.want {
				t.Errorf("%q, want %q", got, c.want)
			}
		})
	}
}
