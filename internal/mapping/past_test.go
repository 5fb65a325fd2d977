package mapping

import (
	"strings"
	"testing"
)

func TestPast(t *testing.T) {
	yaml := `messages: [{as: system, text: [{from: say, past: '(?s)^\s*\[\w+(?: .*?)?\] Result:'}, say]}]`
	long := strings.Repeat("x", patternMaxBytes+10)
	for _, c := range []struct{ say, want string }{
		{`[read for 'a] b'] Result:\n one\n`, "one"},
		{`[read] Result: [read] Result: two`, "[read] Result: two"},
		{`[read] Result:`, "[read] Result:"},
		{`plain`, "plain"},
		{`[read] Result: ` + long, long},
	} {
		if got := oneLog(t, yaml, `{"say":"`+c.say+`"}`+"\n").Messages[0].Text; got != c.want {
			t.Errorf("%.40s: got %.40q (%d)", c.say, got, len(got))
		}
	}
}
