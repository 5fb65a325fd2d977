package mapping

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"parlance/internal/chat"
)

func TestRawFilter(t *testing.T) {
	tests := []struct {
		name, yaml string
		want       RawFilter
		made       string // texts beside [image]
	}{
		{"a plain text", `messages: [{as: user, text: say}]`, RawRuns, ""},
		{"pieces with a line end between", `messages: [{as: user, text: {concat: [a, b], join: "\n"}}]`, RawRuns, ""},
		{"pieces with a blank between", `messages: [{as: user, text: {concat: [a, b], join: " "}}]`, RawWords, ""},
		{"pieces with nothing between", `messages: [{as: user, text: {concat: [a, b], join: ""}}]`, RawNone, ""},
		{"a template of values that touch", `messages: [{as: user, text: {template: "{a}{b}"}}]`, RawNone, ""},
		{"a template whose text touches a value", `messages: [{as: user, text: {template: "no{a}"}}]`, RawNone, ""},
		{"a template of signs", `messages: [{as: user, text: {template: "[{a}: {b}]"}}]`, RawWords, ": "},
		{"a template with words", `messages: [{as: user, text: {template: "{a} or {b}"}}]`, RawWords, " or "},
		{"a template of one value and signs", `messages: [{as: user, text: {template: "[{a}]"}}]`, RawRuns, ""},
		{"a template of the path", `messages: [{as: user, text: {template: "[{file:stem}]"}}]`, RawNone, ""},
		{"a decoded template", `messages: [{as: user, text: {template: "[{a}]", decode: base64}}]`, RawNone, ""},
		{"rules that the source does not use", "define: {other: [{as: user, text: {template: \"{a}{b}\"}}]}\nmessages: [{as: user, text: say}]", RawRuns, ""},
		{"rules that a rule uses", "define: {other: [{as: user, text: {template: \"{a}{b}\"}}]}\nmessages: [{each: x, use: other}]", RawNone, ""},
		{"decoded", `messages: [{as: user, text: {from: a, decode: base64}}]`, RawNone, ""},
		{"out of another file", "lookups: {l: {json: \"../x.json\", key: id}}\nmessages: [{as: user, text: {lookup: l, key: id, get: t}}]", RawNone, ""},
		{"a constant", `messages: [{as: user, text: [say, {value: "Go on"}]}]`, RawRuns, "Go on"},
		{"a table", `messages: [{as: user, text: {from: a, map: {x: Yes}, else: No}}]`, RawRuns, "No Yes"},
		{"a result's text is another role's", `messages: [{as: tool_call, name: n, result: {text: {template: "{a}{b}"}}}]`, RawRuns, ""},
		{"unescaped", "messages: [{as: user, text: say}]\nclean: {user: {rules: [{when: {contains: x}, unescape: html}]}}", RawNone, ""},
		{"cut at an end of a line", "messages: [{as: user, text: say}]\nclean: {user: {rules: [{replace: [['(?ms)^---.*?^---\\n', ''], ['(?m) +$', '']]}]}}", RawRuns, ""},
		{"cut in a line", "messages: [{as: user, text: say}]\nclean: {user: {rules: [{replace: [['#\\d+', '']]}]}}", RawNone, ""},
		{"a command made of tags", "messages: [{as: user, text: say}]\nclean: {user: {tags: {n: command}}}", RawWords, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			text := "parlance: 1\nname: acme\nsources: [{id: log, paths: [\"~/.acme/*.jsonl\"], container: jsonl}]\n" + tt.yaml + "\n"
			m, problems := Load("acme.yaml", []byte(text), nil)
			if m == nil {
				t.Fatal(problems)
			}
			got, made := m.RawFilter(File{Sources: []int{0}}, chat.User, chat.Assistant)
			made = slices.DeleteFunc(made, func(s string) bool { return s == "[image]" })
			slices.Sort(made)
			if got != tt.want || strings.Join(made, " ") != tt.made && got != RawNone {
				t.Errorf("got %d %q, want %d %q", got, made, tt.want, tt.made)
			}
		})
	}
}

// What holds for a store does not depend on what else its tool left on disk.
func TestRawFilterIsOfTheFile(t *testing.T) {
	m, problems := Load("acme.yaml", []byte(`
parlance: 1
name: acme
sources:
  - {id: log, paths: ["~/.acme/*.jsonl"], container: jsonl}
  - {id: tree, paths: ["~/.acme/*.json"], container: json, join: [{files: "{stem}/*.json", as: part}]}
  - {id: made, paths: ["~/.acme/*.db"], container: sqlite, sql: "SELECT replace(t, 'a', 'b') AS say FROM x"}
  - {id: plain, paths: ["~/.acme/*.db"], container: sqlite, sql: "SELECT t AS say FROM x"}
messages: [{as: user, text: say}]
`), nil)
	if m == nil {
		t.Fatal(problems)
	}
	for i, want := range []RawFilter{RawRuns, RawRuns, RawNone, RawRuns} {
		if got, _ := m.RawFilter(File{Sources: []int{i}}); got != want {
			t.Errorf("%s: got %d, want %d", m.Sources[i].ID, got, want)
		}
	}
}

func TestIDInBytes(t *testing.T) {
	for id, want := range map[string]bool{
		"file:stem": true, "[meta.id, file:stem]": true, "{from: id, match: '_(.*)$'}": true,
		`{template: "{a}_{b}"}`: false, "{from: id, decode: base64}": false, "side:meta.id": false,
	} {
		text := fmt.Sprintf("parlance: 1\nname: acme\nsources: [{id: log, paths: [\"~/.acme/*.jsonl\"], container: jsonl, sidecar: {meta: \"{stem}.json\"}}]\nconversation: {id: %s}\nmessages: [{when: {sub: {exists: true}}, as: subagent, key: sub}, {as: user, text: say}]\n", id)
		m, problems := Load("acme.yaml", []byte(text), nil)
		if m == nil {
			t.Fatal(problems)
		}
		if got := m.IDInBytes(File{Sources: []int{0}}); got != want {
			t.Errorf("%s: got %v, want %v", id, got, want)
		}
	}
}
