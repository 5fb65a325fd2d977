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
