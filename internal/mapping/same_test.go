package mapping

import (
	"testing"
)

func TestSameOfRecords(t *testing.T) {
	copies := `
messages: [{when: {who: me}, as: user, text: say}, {when: {who: bot}, as: assistant, text: say}, {when: {who: tool}, as: system, text: say}]
same: [{as: assistant, by: text, when: {sent: true}}]
`
	got := told(oneLog(t, copies, `{"who":"bot","say":"hi"}
{"who":"me","say":"so?"}
{"who":"bot","say":"hi","sent":true}
{"who":"bot","say":"hi","sent":true}
{"who":"bot","say":"hi"}
{"who":"bot","say":"a reminder","sent":true}
{"who":"tool","say":"a reminder"}
{"who":"bot","say":"a reminder","sent":true}
`))
	want := `assistant "hi"
user "so?"
assistant "hi"
assistant "a reminder"
system "a reminder"
`
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	late := `
common: {time: at, id: n}
messages: [{as: assistant, text: say}]
same: [{as: assistant, by: text, keep: last, prefix: true, time: last}]
`
	c := oneLog(t, late, `{"n":1,"say":"I will","at":"2026-01-02T03:04:05Z"}
{"n":2,"say":"I will go","at":"2026-01-02T03:04:06Z"}
{"n":3,"say":"I will go."}
`)
	if m := c.Messages; len(m) != 1 || m[0].Text != "I will go." || m[0].ID != "1" || m[0].Time.Second() != 6 {
		t.Errorf("%+v", m)
	}
}

// TestSameInsideARecord: the one that stays stands once, also if both came out of one record.
func TestSameInsideARecord(t *testing.T) {
	rules := `
messages: [{each: do, as: tool_call, name: tool, call: id, input: with, result: {text: out}}]
same: [{as: tool_call, by: call, keep: last}]
`
	got := told(oneLog(t, rules, `{"do":[{"tool":"read","id":"1","with":"a"},{"tool":"read","id":"1","with":"ab","out":"x"}]}
{"do":[{"tool":"grep","id":"2","with":"c"}]}
`))
	want := `tool_call read "ab"
tool_result read "x"
tool_call grep "c" running
`
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}
