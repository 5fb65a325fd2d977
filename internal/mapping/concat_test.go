package mapping

import "testing"

// What concat gives is a text, so it can be parsed: an escaped piece of JSON becomes a value.
func TestParseConcat(t *testing.T) {
	yaml := `messages: [{as: system, text: [{concat: [{value: '{"s":"'}, {from: say, match: '"said":"((?:[^"\\]|\\.)*)"'}, {value: '"}'}], join: "", parse: json, get: s}, {value: none}]}]`
	for _, c := range []struct{ say, want string }{
		{`{\"said\":\"a \\\"b\\\"\"} and more`, `a "b"`},
		{`{\"said\":\"\"}`, "none"},
		{`nothing`, "none"},
	} {
		if got := oneLog(t, yaml, `{"say":"`+c.say+`"}`+"\n").Messages[0].Text; got != c.want {
			t.Errorf("%s: got %q, want %q", c.say, got, c.want)
		}
	}
}
