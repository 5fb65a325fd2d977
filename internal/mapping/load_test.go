package mapping

import (
	"strings"
	"testing"

	"parlance/internal/chat"
)

// mustLoad loads a mapping that must have no problems; warnings are let pass.
func mustLoad(t testing.TB, text string) *Mapping {
	t.Helper()
	m, ps := Load("test", []byte(text), nil)
	for _, p := range ps {
		if !p.Warning {
			t.Errorf("%s\n%s", p.Code, p)
		}
	}
	if m == nil {
		t.Fatal("no mapping")
	}
	return m
}

const heron = `parlance: 1
name: heron
sources: [{id: log, paths: ["~/.heron/log/*.jsonl"], container: jsonl}]
conversation: {id: file:stem, cwd: dir, title: [{from: name, pick: last}, {from: [a, {from: b, when: {type: t}}], pick: last}]}
common: {time: at, glue: false}
pair: [id, order]
messages:
  - {when: {who: me}, as: user, text: say}
  - {when: {who: bot, any: [{x: 1}, {y: [2, 3]}], not: {z: {exists: true}}}, each: parts, use: part}
  - {when: {who: [ping, trace]}, as: skip, why: noise}
define:
  part:
    - {when: {kind: text}, as: {from: record:who, map: {bot: assistant}, else: system}, text: {from: t, join: "\n", decode: uri}}
    - {when: {kind: call}, as: tool_call, name: tool, call: id, input: args, result: {text: out, failed: [code, {when: {s: bad}}]}}
clean: {user: {tags: {note: drop, "*": system}, rules: [{when: {any: [{starts: "A"}, {contains: ["B"]}]}, as: system}]}}
tests:
  - name: a question
    records: |
      {"who":"me","say":"hi","at":"2026-01-02T03:04:05Z","dir":"/srv/app"}
    expect: [{user: hi, time: "2026-01-02T03:04:05.000Z"}]
`

func TestLoadCompiles(t *testing.T) {
	m := mustLoad(t, heron)
	if m.Name != "heron" || len(m.Sources) != 1 || m.Sources[0].ID != "log" || m.Sources[0].Container != "jsonl" {
		t.Errorf("got %+v", m)
	}
	if got := strings.Join(m.pair, " "); got != "id order" {
		t.Errorf("pair %q", got)
	}
	if len(m.rules) != 3 || m.rules[1].path != "messages[1]" || len(m.rules[1].useRules) != 2 {
		t.Fatalf("rules %+v", m.rules)
	}
	title := m.conv[fieldTitle]
	if len(title.terms) != 2 || !title.terms[0].last || len(title.terms[1].concat) != 1 || len(title.terms[1].concat[0].terms) != 2 {
		t.Errorf("title %+v", title)
	}
	part := m.define["part"]
	if as := part[0].asExpr; as == nil || as.terms[0].table["bot"] != "assistant" || *as.terms[0].orElse != "system" {
		t.Errorf("as %+v", as)
	}
	if r := part[1].result; r == nil || len(r.failed.terms) != 2 || r.failed.terms[1].kind != termWhen {
		t.Errorf("result %+v", r)
	}
	c := m.clean[chat.User]
	if c.tags["note"] != "drop" || c.star != "system" || len(c.rules[0].when.any) != 2 {
		t.Errorf("clean %+v", c)
	}
	if len(m.tests) != 1 || m.tests[0].source != "log" || m.tests[0].expect[0].text != "hi" {
		t.Errorf("tests %+v", m.tests)
	}
}
