package mapping

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"parlance/internal/chat"
)

// load compiles a mapping of a test; yaml stands behind a fixed head.
func load(t testing.TB, yaml string) *Mapping {
	t.Helper()
	if !strings.Contains(yaml, "parlance:") {
		yaml = "parlance: 1\nname: acme\n" + yaml
	}
	m, problems := Load("acme.yaml", []byte(yaml), nil)
	for _, p := range problems {
		if !p.Warning {
			t.Errorf("%d:%d: %s: %s (%s)", p.Line, p.Col, p.Key, p.Msg, p.Hint)
		}
	}
	if m == nil {
		t.FailNow()
	}
	return m
}

// homeWith writes files below a new home folder.
func homeWith(t testing.TB, files map[string]string) Env {
	t.Helper()
	dir := t.TempDir()
	for name, content := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	return Env{Home: dir, Getenv: func(string) string { return "" }}
}

// readAll reads every conversation that a mapping finds.
func readAll(t testing.TB, m *Mapping, env Env, opts ReadOptions) []*chat.Conversation {
	t.Helper()
	files, errs := m.Find(context.Background(), env)
	for _, e := range errs {
		t.Error(e)
	}
	var out []*chat.Conversation
	for _, f := range files {
		if err := m.Read(context.Background(), f, opts, func(c *chat.Conversation) error {
			out = append(out, c)
			return nil
		}); err != nil {
			t.Error(err)
		}
	}
	return out
}

// oneLog reads records as the only log of a home.
func oneLog(t testing.TB, yaml, records string) *chat.Conversation {
	t.Helper()
	if !strings.Contains(yaml, "sources:") {
		yaml = "sources: [{id: log, paths: [\"~/log/*.jsonl\"], container: jsonl}]\n" + yaml
	}
	got := readAll(t, load(t, yaml), homeWith(t, map[string]string{"log/one.jsonl": records}), ReadOptions{})
	if len(got) == 0 {
		t.Fatal("no conversation")
	}
	return got[0]
}

// lines shows messages in short: role, text, and marks.
func lines(c *chat.Conversation) string {
	var b strings.Builder
	for i := range c.Messages {
		m := &c.Messages[i]
		text := m.Body()
		if m.Tool != "" {
			text = m.Tool + ": " + text
		}
		fmt.Fprintf(&b, "%s %s", m.Role, text)
		for _, mark := range []struct {
			on   bool
			name string
		}{{m.Failed, "failed"}, {m.Running, "running"}, {m.Abandoned, "abandoned"}, {m.Inherited, "inherited"}} {
			if mark.on {
				b.WriteString(" <" + mark.name + ">")
			}
		}
		b.WriteString("\n")
	}
	return b.String()
}

func expectLines(t *testing.T, c *chat.Conversation, want string) {
	t.Helper()
	want = strings.TrimLeft(want, "\n")
	if got := lines(c); got != want {
		t.Errorf("got:\n%s\nwant:\n%s", got, want)
	}
}

const talk = `
messages:
  - {when: {who: me}, as: user, text: say}
  - {when: {who: bot}, as: assistant, text: say}
  - {when: {who: ping}, as: skip}
`

func TestRecordsAreCounted(t *testing.T) {
	c := oneLog(t, talk, `{"who":"me","say":"hi"}

{"who":"ping"}
{"who":"new","say":"x"}
{"say":"y","other":1}
not json
["list"]
{"who":"bot","say":"hello"}
{"who":"bot","sa`)
	expectLines(t, c, `
user hi
assistant hello
`)
	r := c.Read
	if r.Records != 7 || r.Used != 2 || r.Skipped["ping"] != 1 || r.NoRule["new"] != 1 || r.NoRule["{other, say}"] != 1 || len(r.Broken) != 2 || !r.Torn {
		t.Errorf("report %+v", r)
	}
	if r.Broken[0].Line != 6 || r.Broken[1].Line != 7 {
		t.Errorf("broken lines %+v", r.Broken)
	}
	if m := c.Messages[1]; m.Origin.Line != 8 || m.Origin.Offset == 0 || m.Rule != "messages[1]" {
		t.Errorf("origin %+v rule %s", m.Origin, m.Rule)
	}
}

func TestEachTakesListsStringsAndObjects(t *testing.T) {
	y := `
messages:
  - when: {role: user}
    each: content
    first:
      - {when: {type: text}, as: user, text: text}
      - {when: {type: result}, as: tool_result, call: of, text: [{from: out, when: {out: {keys: [result]}}, parse: json, get: result}, out], failed: bad}
      - {when: {type: use}, as: tool_call, name: name, call: id, input: args}
`
	c := oneLog(t, y, `{"role":"user","content":"bare"}
{"role":"user","content":{"type":"text","text":"object"}}
{"role":"user","content":[{"type":"text","text":"one"},"two",{"type":"odd"}]}
{"role":"user","content":[]}
{"role":"user","content":7}
{"role":"user","content":[{"type":"use","id":"k","name":"ls","args":{"b": 1, "a": [ 2 ]}},{"type":"use","id":"q","name":"cat","args":"{\"f\": \"x\"}"}]}
{"role":"user","content":[{"type":"result","of":"k","out":"{\"result\":\"in\"}"},{"type":"result","of":"z","out":[{"text":"a"},{"type":"image"},"b"],"bad":true}]}
`)
	expectLines(t, c, `
user bare
user object
user one

two
tool_call ls: {"b":1,"a":[2]}
tool_call cat: {"f":"x"} <running>
tool_result ls: in
tool_result a

[image]

b <failed>
`)
	if c.Read.NoRule["odd"] != 1 || len(c.Read.NoRule) != 2 || len(c.Read.Warnings) != 1 {
		t.Errorf("report %+v", c.Read)
	}
}

func TestSameRewindReset(t *testing.T) {
	y := `
common: {id: id}
same: [{as: record, by: id, keep: last}]
messages:
  - {when: {back: {exists: true}}, as: rewind, to: back}
  - {when: {all: {exists: true}}, as: reset, records: all}
  - {when: {who: me}, as: user, text: say}
  - {when: {who: bot}, as: assistant, text: say}
`
	t.Run("a later copy replaces in place", func(t *testing.T) {
		expectLines(t, oneLog(t, y, `{"id":"1","who":"me","say":"a"}
{"id":"2","who":"bot"}
{"id":"3","who":"me","say":"c"}
{"id":"2","who":"bot","say":"b"}
`), "\nuser a\nassistant b\nuser c\n")
	})
	t.Run("rewind marks from the id on; what comes later is new", func(t *testing.T) {
		expectLines(t, oneLog(t, y, `{"id":"1","who":"me","say":"a"}
{"id":"2","who":"me","say":"b"}
{"id":"3","who":"bot","say":"c"}
{"back":"2"}
{"id":"2","who":"me","say":"b again"}
`), "\nuser a\nuser b <abandoned>\nassistant c <abandoned>\nuser b again\n")
	})
	t.Run("an unknown id marks all", func(t *testing.T) {
		expectLines(t, oneLog(t, y, `{"id":"1","who":"me","say":"a"}
{"back":"nine"}
{"id":"2","who":"me","say":"b"}
`), "\nuser a <abandoned>\nuser b\n")
	})
	t.Run("an id of a record without a message is known", func(t *testing.T) {
		expectLines(t, oneLog(t, y, `{"id":"1","who":"me","say":"a"}
{"id":"2","who":"bot"}
{"id":"3","who":"bot","say":"c"}
{"back":"2"}
`), "\nuser a\nassistant c <abandoned>\n")
	})
	t.Run("reset writes the list anew", func(t *testing.T) {
		expectLines(t, oneLog(t, y, `{"id":"1","who":"me","say":"a"}
{"all":[{"id":"5","who":"me","say":"e"},{"all":[]},{"id":"6","who":"bot","say":"f"}]}
{"id":"1","who":"me","say":"a2"}
`), "\nuser e\nassistant f\nuser a2\n")
	})
}

func TestRewindManyTimesIsLinear(t *testing.T) {
	var b strings.Builder
	b.WriteString(`{"id":"0","who":"me","say":"a"}` + "\n")
	for i := range 50_000 {
		fmt.Fprintf(&b, `{"id":"%d","who":"me","say":"x"}`+"\n"+`{"back":"%d"}`+"\n", i+1, i+1)
	}
	c := oneLog(t, "common: {id: id}\nmessages:\n  - {when: {back: {exists: true}}, as: rewind, to: back}\n  - {when: {who: me}, as: user, text: say}\n", b.String())
	visible := 0
	for i := range c.Messages {
		if !c.Messages[i].Abandoned {
			visible++
		}
	}
	if visible != 1 || len(c.Messages) != 50_001 {
		t.Errorf("%d of %d visible", visible, len(c.Messages))
	}
}

func TestSameByTextAndCall(t *testing.T) {
	y := `
common: {reply: re, glue: false}
same: [{as: tool_call, by: call}, {as: [assistant], by: text, keep: last, prefix: true}]
messages:
  - {when: {who: me}, as: user, text: say}
  - {when: {who: bot}, as: assistant, text: say}
  - {when: {who: tool}, as: tool_call, name: name, call: k, input: in}
`
	expectLines(t, oneLog(t, y, `{"who":"bot","re":"r1","say":"The"}
{"who":"tool","re":"r1","name":"ls","k":"1","in":{}}
{"who":"bot","re":"r1","say":"The sum"}
{"who":"tool","re":"r1","name":"ls","k":"1","in":{"late":1}}
{"who":"bot","re":"r1","say":"Other"}
{"who":"bot","re":"r2","say":"Other"}
{"who":"bot","say":"x"}
{"who":"bot","say":"x"}
{"who":"me","say":"between"}
{"who":"bot","say":"x"}
`), `
assistant The sum
tool_call ls: {} <running>
assistant Other
assistant Other
assistant x
user between
assistant x
`)
}

// A stream that was saved piece by piece repeats its call with growing arguments; a loop that
// numbers its calls anew uses an id for another one.
func TestCallsWithOneID(t *testing.T) {
	const yaml = `
same: [{as: tool_call, by: call, keep: last, prefix: true}]
messages:
  - {when: {c: {exists: true}}, as: tool_call, name: {value: ls}, call: c, input: in}
  - {when: {r: {exists: true}}, as: tool_result, call: r, text: out}
`
	c := oneLog(t, yaml, `{"c":"1","in":"{\"a"}
{"c":"1","in":"{\"a\":"}
{"c":"1","in":"{\"a\":1}"}
{"r":"1","out":"one"}
{"c":"1","in":"{\"b\":2}"}
{"c":"2","in":"never answered"}
{"r":"1","out":"two"}
{"c":"2","in":"answered"}
{"r":"2","out":"three"}
{"r":"2","out":"four"}
{"r":"3","out":"before its call"}
{"c":"3","in":"x"}`)
	var got []string
	for _, m := range c.Messages {
		got = append(got, fmt.Sprintf("%s %s %v", m.Role, m.Body(), m.Running))
	}
	want := `tool_call {"a":1} false; tool_result one false; tool_call {"b":2} false; tool_call never answered false; tool_result two false; ` +
		`tool_call answered false; tool_result three false; tool_result four false; tool_result before its call false; tool_call x false`
	if strings.Join(got, "; ") != want {
		t.Errorf("got  %s\nwant %s", strings.Join(got, "; "), want)
	}
	m := load(t, "sources: [{id: log, paths: [\"~/log/*.jsonl\"], container: jsonl}]\n"+yaml)
	drop := func(*chat.Message) bool { return false }
	for _, c := range readAll(t, m, homeWith(t, map[string]string{"log/a.jsonl": "{\"c\":\"1\",\"in\":\"{\"}\n{\"c\":\"1\",\"in\":\"x\"}"}), ReadOptions{Keep: drop}) {
		if len(c.Messages) != 2 {
			t.Errorf("without texts: %d calls", len(c.Messages))
		}
	}
}

// Where calls and results stand in one record, a result without an id answers the only call,
// or the one at its place; otherwise there is no telling.
func TestPairInOneRecord(t *testing.T) {
	c := oneLog(t, `
pair: [id, record]
messages:
  - all:
      - {each: calls, as: tool_call, name: n, call: id}
      - {each: out, as: tool_result, call: of, text: say}
`, `{"calls":[{"n":"one","id":"1"}],"out":[{"say":"a"},{"say":"b"}]}
{"calls":[],"out":[{"say":"of nobody"}]}
{"calls":[{"n":"two","id":"2"},{"n":"three"}],"out":[{"say":"c"},{"say":"d"}]}
{"calls":[{"n":"four"},{"n":"five"}],"out":[{"say":"e"}]}
{"calls":[{"n":"six","id":"6"},{"n":"seven","id":"7"}],"out":[{"say":"f","of":"7"},{"say":"late","of":"2"}]}`)
	var got []string
	for _, m := range c.Messages {
		if m.Role == chat.ToolResult {
			got = append(got, m.Text+"="+m.Tool)
		} else if m.Running {
			got = append(got, m.Tool+" runs")
		}
	}
	want := "a=one b=one of nobody= c=two d=three four runs five runs e= six runs f=seven late=two"
	if strings.Join(got, " ") != want {
		t.Errorf("got  %s\nwant %s", strings.Join(got, " "), want)
	}
}

func TestLayersAndRollback(t *testing.T) {
	y := `
layers: {user: [event, item]}
messages:
  - {when: {kind: event}, as: user, text: say, layer: event}
  - {when: {kind: item, who: me}, as: user, text: say, layer: item}
  - {when: {kind: item}, as: assistant, text: say}
  - {when: {kind: undo}, as: rollback, turns: n}
`
	expectLines(t, oneLog(t, y, `{"kind":"item","who":"me","say":"a"}
{"kind":"event","say":"a"}
{"kind":"item","say":"one"}
{"kind":"item","who":"me","say":"b"}
{"kind":"event","say":"b"}
{"kind":"item","say":"two"}
{"kind":"undo","n":1}
{"kind":"event","say":"c"}
{"kind":"undo","n":"x"}
`), `
user a
assistant one
user b <abandoned>
assistant two <abandoned>
user c
`)
	expectLines(t, oneLog(t, y, `{"kind":"item","who":"me","say":"only items"}
{"kind":"undo","n":9}
`), "\nuser only items <abandoned>\n")
}

func TestTreeOffPath(t *testing.T) {
	y := `
tree: {id: id, parent: up, abandon: off_path}
messages: [{when: {who: me}, as: user, text: say}, {when: {who: bot}, as: assistant, text: say}, {when: {who: link}, as: skip}]
`
	t.Run("what the leaf does not reach is given up, and ordered before", func(t *testing.T) {
		expectLines(t, oneLog(t, y, `{"id":"1","who":"me","say":"a"}
{"id":"2","up":"1","who":"bot","say":"b"}
{"id":"3","up":"2","who":"me","say":"c"}
{"who":"bot","say":"no id, behind c"}
{"id":"4","up":"1","who":"bot","say":"b2"}
{"id":"5","up":"4","who":"link"}
`), "\nuser a\nassistant b <abandoned>\nuser c <abandoned>\nassistant no id, behind c\nassistant b2\n")
	})
	t.Run("what is excepted stays, but not what hangs on it", func(t *testing.T) {
		expectLines(t, oneLog(t, strings.Replace(y, "off_path", "off_path, except: {copy: true}", 1), `{"id":"1","who":"me","say":"a"}
{"id":"2","up":"1","who":"bot","say":"sent","copy":true}
{"id":"3","up":"2","who":"bot","say":"sent too","copy":true}
{"id":"4","up":"3","who":"bot","say":"behind it"}
{"id":"5","up":"1","who":"bot","say":"b"}
`), "\nuser a\nassistant sent\nassistant sent too\nassistant behind it <abandoned>\nassistant b\n")
	})
	t.Run("a missing ancestor marks nothing", func(t *testing.T) {
		c := oneLog(t, y, `{"id":"2","up":"gone","who":"me","say":"a"}
{"id":"3","up":"other","who":"me","say":"b"}
`)
		expectLines(t, c, "\nuser a\nuser b\n")
		if len(c.Read.Warnings) != 1 {
			t.Errorf("warnings %v", c.Read.Warnings)
		}
	})
	t.Run("a circle marks nothing", func(t *testing.T) {
		expectLines(t, oneLog(t, y, `{"id":"1","up":"2","who":"me","say":"a"}
{"id":"2","up":"1","who":"me","say":"b"}
`), "\nuser a\nuser b\n")
	})
}

func TestTreePromptForks(t *testing.T) {
	y := `
tree: {id: id, parent: up, abandon: prompt_forks}
messages: [{when: {who: me}, as: user, text: say}, {when: {who: bot}, as: assistant, text: say}]
`
	expectLines(t, oneLog(t, y, `{"id":"1","who":"me","say":"a"}
{"id":"2","up":"1","who":"bot","say":"b"}
{"id":"2b","up":"1","who":"bot","say":"a parallel answer stays"}
{"id":"3","up":"2","who":"me","say":"given up"}
{"id":"4","up":"3","who":"bot","say":"with it"}
{"id":"5","up":"2","who":"me","say":"instead"}
{"id":"6","up":"5","who":"bot","say":"c"}
{"id":"x","who":"me","say":"a loose piece stays"}
{"id":"7","up":"6","who":"me","say":"end"}
`), `
user a
assistant b
assistant a parallel answer stays
user given up <abandoned>
assistant with it <abandoned>
user instead
assistant c
user a loose piece stays
user end
`)
}

func TestSubagentsInsideAFile(t *testing.T) {
	y := `
sources: [{id: log, paths: ["~/log/*.jsonl"], container: jsonl}]
conversation: {id: file:stem, cwd: dir, title: name}
common: {id: id}
tree: {id: id, parent: up, abandon: prompt_forks}
messages: [{when: {side: true}, as: subagent}, {when: {who: me}, as: user, text: say}, {when: {who: bot}, as: assistant, text: say}]
`
	got := readAll(t, load(t, y), homeWith(t, map[string]string{"log/one.jsonl": `{"id":"1","who":"me","say":"a","dir":"/srv/x","name":"Main"}
{"id":"s1","side":true,"who":"me","say":"task"}
{"id":"2","up":"1","who":"bot","say":"b"}
{"id":"s2","up":"s1","side":true,"who":"bot","say":"done"}
{"id":"t1","side":true,"who":"me","say":"second task"}
`}), ReadOptions{})
	if len(got) != 3 {
		t.Fatalf("%d conversations", len(got))
	}
	expectLines(t, got[0], "\nuser a\nassistant b\n")
	expectLines(t, got[1], "\nuser task\nassistant done\n")
	expectLines(t, got[2], "\nuser second task\n")
	if s := got[1]; s.ID != "one/s1" || s.Parent != "one" || !s.Subagent || s.Cwd != "/srv/x" || s.Title != "" || s.Row != s.ID {
		t.Errorf("subagent %+v", s)
	}
}

func TestCopied(t *testing.T) {
	t.Run("by a pointer on the record", func(t *testing.T) {
		y := "conversation: {id: file:stem}\ncopied: {parent: from, id: id}\n" + talk
		c := oneLog(t, y, `{"id":"1","from":"other","who":"me","say":"old"}
{"id":"2","who":"me","say":"new"}
`)
		expectLines(t, c, "\nuser old <inherited>\nuser new\n")
		if c.Parent != "other" {
			t.Errorf("parent %q", c.Parent)
		}
		expectLines(t, oneLog(t, y, `{"id":"1","from":"other","who":"me","say":"all copies: no telling"}`+"\n"), "\nuser all copies: no telling\n")
	})
	t.Run("by keys that the parent has", func(t *testing.T) {
		y := `
sources: [{id: log, paths: ["~/log/*.jsonl"], container: jsonl}]
conversation: {id: file:stem, parent: parent}
copied: {prefix: {from: turn, when: {who: turn}}}
messages:
  - {when: {who: me}, as: user, text: say}
  - {when: {who: [turn, head]}, as: skip}
`
		m := load(t, y)
		env := homeWith(t, map[string]string{
			"log/parent.jsonl": `{"who":"turn","turn":"t1"}` + "\n" + `{"who":"me","say":"old"}` + "\n",
			"log/child.jsonl":  `{"who":"head","parent":"parent"}` + "\n" + `{"who":"turn","turn":"t1"}` + "\n" + `{"who":"me","say":"old"}` + "\n" + `{"who":"turn","turn":"t2"}` + "\n" + `{"who":"me","say":"new"}` + "\n",
		})
		files, _ := m.Find(context.Background(), env)
		keys := func(ctx context.Context, id string) (map[string]bool, bool) {
			for _, f := range files {
				if strings.HasSuffix(f.Path, id+".jsonl") {
					k, err := m.Keys(ctx, f, "")
					return k, err == nil
				}
			}
			return nil, false
		}
		for _, c := range readAll(t, m, env, ReadOptions{Keys: keys}) {
			if c.ID == "child" {
				expectLines(t, c, "\nuser old <inherited>\nuser new\n")
			}
		}
		for _, c := range readAll(t, m, env, ReadOptions{}) {
			if c.ID == "child" {
				expectLines(t, c, "\nuser old\nuser new\n")
			}
		}
	})
}

// A value in a query finds the entry of another list that belongs to this element, whatever
// characters it holds.
func TestBracesInQueries(t *testing.T) {
	const yaml = `
messages:
  - each: calls
    as: tool_call
    name: name
    child: 'up:results.#(of=="{id}").child'
`
	for _, id := range []string{"a", `q"u\o.te`, "a*b|c#", "(x){y}", "tab\tnew\nline", "größe \u0001"} {
		quoted, err := json.Marshal(id)
		if err != nil {
			t.Fatal(err)
		}
		c := oneLog(t, yaml, strings.ReplaceAll(`{"calls":[{"id":ID,"name":"n"},{"name":"no id"},{"id":"none","name":"n"}],"results":[{"of":"other","child":"wrong"},{"of":ID,"child":"right"},{"child":"unnamed"}]}`, "ID", string(quoted)))
		if len(c.Messages) != 3 || c.Messages[0].Child != "right" || c.Messages[1].Child != "" || c.Messages[2].Child != "" {
			t.Errorf("%q: got %+v", id, c.Messages)
		}
	}
}

func TestConversationKeys(t *testing.T) {
	y := `
sources: [{id: log, paths: ["~/log/*.jsonl"], container: jsonl, sidecar: {meta: "{stem}.json"}}]
lookups: {titles: {json: "titles.json", records: all, key: id, value: title}}
conversation:
  id: [{from: id, when: {kind: head}}, file:stem]
  title: [custom, {from: auto, pick: last}, {lookup: titles, key: conv:id}, side:meta.title]
  cwd: [side:meta.cwd, dir]
  model: {template: "{vendor}/{model}", pick: last}
  started: {from: at, unit: s}
messages: [{when: {kind: me}, as: user, text: say}, {when: {kind: [head, name]}, as: skip}]
`
	read := func(t *testing.T, files map[string]string) *chat.Conversation {
		return readAll(t, load(t, y), homeWith(t, files), ReadOptions{})[0]
	}
	base := `{"kind":"head","id":"c9","at":1780000000,"dir":"/x"}` + "\n" + `{"kind":"me","say":"hi","vendor":"v","model":"m1"}` + "\n" + `{"kind":"me","say":"hi","vendor":"v","model":"m2"}` + "\n"
	c := read(t, map[string]string{"log/a.jsonl": base, "log/a.json": `{"cwd":"/srv/side","title":"from the sidecar"}`, "log/titles.json": `{"all":[{"id":"c9","title":"from the table"}]}`})
	if c.ID != "c9" || c.Title != "from the table" || c.Cwd != "/srv/side" || c.Model != "v/m2" || c.Started.Unix() != 1780000000 {
		t.Errorf("%+v", c)
	}
	c = read(t, map[string]string{"log/a.jsonl": base + `{"kind":"name","auto":"first"}` + "\n" + `{"kind":"name","auto":"second"}` + "\n", "log/a.json": `{"broken`})
	if c.Title != "second" || c.Cwd != "/x" {
		t.Errorf("%+v", c)
	}
	c = read(t, map[string]string{"log/a.jsonl": base + `{"kind":"name","auto":"late"}` + "\n" + `{"kind":"name","custom":"typed"}` + "\n"})
	if c.Title != "typed" {
		t.Errorf("%+v", c)
	}
}

func TestDocumentOutlivesItsRecords(t *testing.T) {
	y := `
sources: [{id: d, paths: ["~/*.json"], container: json, records: session.items, when: {session: {exists: true}}, sidecar: {more: "{doc:session.id}.txt"}}]
conversation: {id: doc:session.id, title: doc:t, cwd: side:more}
messages: [{when: {say: {exists: true}}, as: user, text: say}]
`
	got := readAll(t, load(t, y), homeWith(t, map[string]string{
		"a.json": `{"session":{"id":"0a","items":[{"say":"one","x":1},{"say":"two","y":[1,2]},{"say":"three"}]},"t":"T"}`, "0a.txt": "/srv/x\n",
	}), ReadOptions{})
	c := got[0]
	expectLines(t, c, "\nuser one\nuser two\nuser three\n")
	if c.ID != "0a" || c.Title != "T" || c.Cwd != "/srv/x" || c.Messages[1].Origin.Pointer != "/session/items/1" {
		t.Errorf("%+v", c)
	}
}

func TestConversationsOfOneDocument(t *testing.T) {
	y := `
sources: [{id: d, paths: ["~/all.json"], container: json, conversations: chats, records: items}]
conversation: {id: doc:id, title: doc:name}
messages: [{when: {who: me}, as: user, text: say}]
`
	m := load(t, y)
	env := homeWith(t, map[string]string{"all.json": `{"chats":[{"id":"a","name":"A","items":[{"who":"me","say":"x"}]},{"name":"no id","items":{"k":{"who":"me","say":"y"}}}]}`})
	got := readAll(t, m, env, ReadOptions{})
	if len(got) != 2 || got[0].ID != "a" || got[0].Row != "a" || got[1].ID != "all#2" || got[1].Messages[0].Origin.Pointer != "/items/k" {
		t.Errorf("%+v", got)
	}
	if one := readAll(t, m, env, ReadOptions{Row: "all#2"}); len(one) != 1 || one[0].Title != "no id" {
		t.Errorf("%+v", one)
	}
	lists := load(t, strings.Replace(y, "conversations: chats", `conversations: [none, chats, "."]`, 1))
	for text, want := range map[string]string{
		`{"none":[],"chats":[{"id":"a","items":[{"who":"me","say":"x"}]}]}`: "a",
		`[{"id":"b","items":[{"who":"me","say":"x"}]}]`:                     "b",
	} {
		if got := readAll(t, lists, homeWith(t, map[string]string{"all.json": text}), ReadOptions{}); len(got) != 1 || got[0].ID != want {
			t.Errorf("%s: got %+v", text, got)
		}
	}
}

// Documents inside of a document are conversations that it started, at any depth.
func TestChildrenOfADocument(t *testing.T) {
	m := load(t, `
sources: [{id: d, paths: ["~/*.json"], container: json, records: [steps, turns], children: inner}]
conversation: {id: "doc:id", cwd: "doc:dir"}
messages: [{as: user, text: say}]
`)
	env := homeWith(t, map[string]string{"a.json": `{"id":"top","dir":"/srv","steps":[{"say":"one"}],"inner":[
		{"id":"kid","turns":[{"say":"two"}],"steps":[],"inner":[{"dir":"/tmp","steps":[{"say":"three"}]}]},
		{"steps":[{"say":"four"}],"inner":{}}]}`})
	show := func(opts ReadOptions) string {
		var got []string
		for _, c := range readAll(t, m, env, opts) {
			got = append(got, fmt.Sprintf("%s row=%s parent=%s subagent=%v cwd=%s %s", c.ID, c.Row, c.Parent, c.Subagent, c.Cwd, lines(c)))
		}
		return strings.Join(got, "; ")
	}
	want := "top row= parent= subagent=false cwd=/srv user one; kid row=kid parent=top subagent=true cwd=/srv user two; " +
		"kid/1 row=kid/1 parent=kid subagent=true cwd=/tmp user three; top/2 row=top/2 parent=top subagent=true cwd=/srv user four"
	if got := strings.ReplaceAll(show(ReadOptions{}), "\n", ""); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if got := show(ReadOptions{Row: "kid/1"}); !strings.HasPrefix(got, "kid/1 ") || strings.Contains(got, ";") {
		t.Errorf("one of them: got %s", got)
	}
	deep := strings.Repeat(`{"inner":[`, 50) + strings.Repeat(`]}`, 50)
	if got := readAll(t, m, homeWith(t, map[string]string{"b.json": deep}), ReadOptions{}); len(got) != childrenMaxDepth+1 {
		t.Errorf("50 levels: %d conversations", len(got))
	}
}

// A line may be a whole conversation, as in sets of examples.
func TestConversationsOfLines(t *testing.T) {
	m := load(t, `
sources: [{id: d, paths: ["~/*.jsonl"], container: jsonl, conversations: ".", records: talk, when: {talk: {kind: array}}}]
conversation: {id: "doc:id"}
messages: [{as: user, text: say}]
`)
	text := `{"talk":[{"say":"a"},{"say":"b"}]}
{"talk":
{"id":"x","talk":[{"say":"c"}]}

{"talk":[{"say":"d"}]}
{"talk":[{"say":"half`
	env := homeWith(t, map[string]string{"set.jsonl": text})
	var got []string
	for _, c := range readAll(t, m, env, ReadOptions{}) {
		got = append(got, fmt.Sprintf("%s %s %d broken torn=%v", c.ID, strings.Join(strings.Fields(lines(c)), " "), len(c.Read.Broken), c.Read.Torn))
		if c.Row != c.ID {
			t.Errorf("row %q of %q", c.Row, c.ID)
		}
	}
	want := "set#1 user a user b 0 broken torn=false; x user c 0 broken torn=false; set#5 user d 1 broken torn=true"
	if strings.Join(got, "; ") != want {
		t.Errorf("got  %s\nwant %s", strings.Join(got, "; "), want)
	}
	if one := readAll(t, m, env, ReadOptions{Row: "set#5"}); len(one) != 1 || one[0].ID != "set#5" {
		t.Errorf("one of them: got %v", one)
	}
	lists := load(t, `
sources: [{id: d, paths: ["~/*.jsonl"], container: jsonl, conversations: chats, records: talk}]
messages: [{as: user, text: say}]
`)
	several := readAll(t, lists, homeWith(t, map[string]string{"s.jsonl": `{"chats":[{"talk":[{"say":"a"}]},{"talk":[{"say":"b"}]}]}`}), ReadOptions{})
	if len(several) != 2 || several[0].ID != "s#1.1" || several[1].ID != "s#1.2" {
		t.Errorf("several in a line: got %v", several)
	}
}

// unless tells formats apart by what another one has: in any of the first records, not only
// in one, and behind the record for which when holds.
func TestUnlessOfASource(t *testing.T) {
	m := load(t, `
sources:
  - {id: log, paths: ["~/*.jsonl"], container: jsonl, when: {say: {exists: true}}, unless: {any: [{mark: gull}, {who: {kind: number}}]}}
  - {id: doc, paths: ["~/*.json"], container: json, records: talk, unless: {kind: gull}}
messages: [{as: user, text: say}]
`)
	plain := strings.Repeat(`{"say":"x"}`+"\n", whenRecordsMax)
	for name, tt := range map[string]struct {
		text   string
		accept bool
	}{
		"a.jsonl": {`{"say":"hi"}`, true},
		"b.jsonl": {`{"say":"hi"}` + "\n" + `{"mark":"gull"}`, false},
		"c.jsonl": {`{"who":1}` + "\n" + `{"say":"hi"}`, false},
		"d.jsonl": {plain + `{"mark":"gull"}`, true},
		"e.jsonl": {`{"mark":"tern"}`, false},
		"f.json":  {`{"talk":[{"say":"hi"}]}`, true},
		"g.json":  {`{"kind":"gull","talk":[{"say":"hi"}]}`, false},
	} {
		files, _ := m.Find(context.Background(), homeWith(t, map[string]string{name: tt.text}))
		err := m.Read(context.Background(), files[0], ReadOptions{}, func(*chat.Conversation) error { return nil })
		if (err == nil) != tt.accept || err != nil && !errors.Is(err, ErrNotAccepted) {
			t.Errorf("%s: got %v, accept %v", name, err, tt.accept)
		}
	}
}

// What lies in a folder of exports is anybody's, so that a mapping may ask more of it.
func TestFileOfAnExport(t *testing.T) {
	m := load(t, `
sources:
  - id: log
    paths: ["${ROOT}/*.jsonl", "~/own/*.jsonl"]
    container: jsonl
    when: {say: {exists: true}, any: [{"file:export": {exists: false}}, {mark: gull}]}
messages: [{as: user, text: say}]
`)
	env := homeWith(t, map[string]string{"out/plain.jsonl": `{"say":"hi"}`, "out/gull.jsonl": `{"say":"hi","mark":"gull"}`, "own/a.jsonl": `{"say":"hi"}`})
	env.Roots = []string{filepath.Join(env.Home, "out")}
	accepts := func(f File) bool {
		return m.Read(context.Background(), f, ReadOptions{}, func(*chat.Conversation) error { return nil }) == nil
	}
	files, _ := m.Find(context.Background(), env)
	got := map[string]bool{}
	for _, f := range files {
		got[filepath.Base(f.Path)] = accepts(f)
	}
	if want := map[string]bool{"plain.jsonl": false, "gull.jsonl": true, "a.jsonl": true}; !maps.Equal(got, want) {
		t.Errorf("found: got %v, want %v", got, want)
	}
	f, err := m.FileAt(env, filepath.Join(env.Home, "out", "plain.jsonl"))
	if err != nil || !f.Loose || accepts(f) {
		t.Errorf("by its path: %v, loose %v, accepted %v", err, f.Loose, accepts(f))
	}
	if f.Loose = false; !accepts(f) {
		t.Error("not accepted when a person says whose it is")
	}
}

func TestOmit(t *testing.T) {
	const yaml = `
messages:
  - {when: {run: {exists: true}}, as: tool_call, name: {value: run}, input: {from: run, omit: [out, "a\"b"]}, result: {text: run.out}}
  - {as: user, text: {from: say, omit: [text]}}
`
	c := oneLog(t, yaml, `{"run":{"cmd": "ls","out":"x","a\"b":1,"n":[1, {"out":2}]}}
{"run":{"out":"y"}}
{"run":"bare"}
{"say":{"text":"no","content":"yes"}}
{"say":"no object"}`)
	var got []string
	for _, m := range c.Messages {
		got = append(got, string(m.Role)+" "+m.Body())
	}
	want := `tool_call {"cmd":"ls","n":[1,{"out":2}]}; tool_result x; tool_call {}; tool_result y; tool_call ; user yes`
	if strings.Join(got, "; ") != want {
		t.Errorf("got  %s\nwant %s", strings.Join(got, "; "), want)
	}
}

func TestTreeExcept(t *testing.T) {
	y := `
tree: {id: id, parent: up, abandon: prompt_forks, except: {local: true}}
messages: [{when: {who: me}, as: user, text: say}]
`
	expectLines(t, oneLog(t, y, `{"id":"1","who":"me","say":"a"}
{"id":"2","up":"1","local":true,"who":"me","say":"/clear"}
{"id":"3","up":"2","who":"me","say":"a real prompt"}
{"id":"4","up":"1","who":"me","say":"given up"}
{"id":"5","up":"1","local":true,"who":"me","say":"!make"}
`), "\nuser a\nuser /clear\nuser a real prompt\nuser given up <abandoned>\nuser !make\n")
}

func TestJoinedTreeOfFiles(t *testing.T) {
	y := `
sources:
  - id: tree
    paths: ["~/x/s/*.json"]
    container: json
    join: [{files: "../m/{stem}/*.json", as: message, SELFjoin: [{files: "../../p/{id}/*.json", as: part}]}]
conversation: {id: doc:id}
messages:
  - {when: {part: {exists: false}}, as: system, text: message.note}
  - {when: {message.who: me}, as: user, text: part.say}
`
	files := map[string]string{
		"x/s/one.json": `{"id":"one"}`, "x/m/one/b.json": `{"id":"mb","who":"me","note":"b"}`, "x/m/one/a.json": `{"id":"ma","who":"me","note":"a"}`,
		"x/m/one/c.json": `{"id":"../../x","who":"me","note":"no way out"}`, "x/p/ma/2.json": `{"say":"two"}`, "x/p/ma/1.json": `{"say":"one"}`, "x/p/ma/3.json": `{"say`,
	}
	got := readAll(t, load(t, strings.Replace(y, "SELF", "", 1)), homeWith(t, files), ReadOptions{})
	expectLines(t, got[0], "\nuser one\nuser two\nsystem b\nsystem no way out\n")
	if len(got[0].Read.Broken) != 1 || !strings.Contains(got[0].Read.Broken[0].Why, "3.json") {
		t.Errorf("broken %+v", got[0].Read.Broken)
	}
	got = readAll(t, load(t, strings.Replace(y, "SELF", "self: true, ", 1)), homeWith(t, files), ReadOptions{})
	expectLines(t, got[0], "\nuser one\nuser two\nsystem a\nsystem b\nsystem no way out\n")
}

// A folder of files that are named by chance is one conversation: its time and size are those
// of all, its files come in the order that they name themselves.
func TestFolderOfFiles(t *testing.T) {
	m := load(t, `
sources:
  - id: events
    paths: ["~/x/*/*.json"]
    one_per: folder
    container: json
    join: [{files: "*.json", as: e, order: at}]
conversation: {id: file:dir}
messages: [{as: user, text: e.say}]
`)
	env := homeWith(t, map[string]string{
		"x/one/c.json": `{"at":"2026-01-02T00:00:00","say":"first"}`, "x/one/a.json": `{"at":"2026-01-02T00:00:01.5","say":"second"}`,
		"x/one/b.json": `{"at":"2026-01-02T00:00:01.25","say":"between"}`, "x/one/d.json": `{"say":"without a time"}`, "x/one/e.json": `{"at":`,
		"x/two/z.json": `{"say":"alone"}`,
	})
	newest := time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)
	if err := os.Chtimes(filepath.Join(env.Home, "x", "one", "c.json"), newest, newest); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"a", "b", "d", "e"} {
		if err := os.Chtimes(filepath.Join(env.Home, "x", "one", name+".json"), newest.Add(-time.Hour), newest.Add(-time.Hour)); err != nil {
			t.Fatal(err)
		}
	}
	files, errs := m.Find(context.Background(), env)
	if len(errs) != 0 || len(files) != 2 {
		t.Fatalf("found %d files, %v", len(files), errs)
	}
	for _, f := range files {
		if filepath.Base(filepath.Dir(f.Path)) == "one" && (filepath.Base(f.Path) != "a.json" || !f.ModTime.Equal(newest) || f.Size != 164) {
			t.Errorf("got %s of %v with %d bytes, want a.json with the newest time and the size of all", f.Path, f.ModTime, f.Size)
		}
	}
	for _, c := range readAll(t, m, env, ReadOptions{}) {
		want := "\nuser alone\n"
		if c.ID == "acme:one" || c.ID == "one" {
			want = "\nuser without a time\nuser first\nuser between\nuser second\n"
		}
		expectLines(t, c, want)
	}
}

func TestTextContainer(t *testing.T) {
	y := `
sources:
  - id: notes
    paths: ["~/notes.txt"]
    container: text
    conversation_start: '^# chat (?P<at>.*)$'
    lines:
      - {kind: call, match: '^\[call\] (?P<name>\S+)', then: '^  (?P<text>.*)$'}
      - {kind: user, match: '^> ?(?P<text>.*)$'}
      - {kind: rule, match: '^---$'}
      - {kind: bot, match: '^[^*](?P<text>.*)|^$'}
conversation: {id: {template: "{file:stem}-{doc:@index}"}, started: doc:at}
messages:
  - {when: {kind: user}, as: user, text: text}
  - {when: {kind: bot}, as: assistant, text: text}
  - {when: {kind: call}, as: tool_call, name: name, input: text, result: never}
  - {when: {kind: rule}, as: skip}
`
	got := readAll(t, load(t, y), homeWith(t, map[string]string{"notes.txt": `before
# chat 2026-01-02 03:04:05
> first
> second

-answer

-more
[call] ls
  -l
  -a
[call] cat
  x
* dropped
---
# chat 2026-01-03 00:00:00
> other
`}), ReadOptions{})
	if len(got) != 2 {
		t.Fatalf("%d conversations", len(got))
	}
	expectLines(t, got[0], "\nuser first\nsecond\nassistant answer\n\nmore\ntool_call ls: -l\n-a\ntool_call cat: x\n")
	if c := got[0]; c.ID != "notes-1" || stamp(c.Started) != "2026-01-02T03:04:05.000Z" || c.Read.Skipped["line"] != 2 {
		t.Errorf("%+v", c)
	}
	expectLines(t, got[1], "\nuser other\n")
}

func TestReplay(t *testing.T) {
	y := `
sources:
  - {id: log, paths: ["~/log/*.jsonl"], container: jsonl, records: turns,
     replay: {op: k, path: p, value: v, at: i, init: 0, set: 1, append: 2, delete: 3}}
conversation: {id: doc:id, title: doc:meta.title}
messages: [{when: {ask: {exists: true}}, all: [{as: user, text: ask}, {as: assistant, text: answer}]}]
`
	c := oneLog(t, y, `{"k":0,"v":{"id":"x","turns":[{"ask":"a"}]}}
{"k":1,"p":["turns",0,"answer"],"v":"first"}
{"k":1,"p":["meta","title"],"v":"T"}
{"k":2,"p":["turns"],"v":[{"ask":"b"},{"ask":"c"}]}
{"k":2,"p":["turns"],"i":2,"v":[{"ask":"d"}]}
{"k":3,"p":["turns",1]}
{"k":9,"p":[]}
{"k":1,"p":["id","deep"],"v":1}
{"k":2,"p":["turns"],"v":"no list"}
`)
	expectLines(t, c, "\nuser a\nassistant first\nuser d\n")
	if c.ID != "x" || c.Title != "T" || len(c.Read.Broken) != 3 {
		t.Errorf("%+v", c)
	}
}

func TestFilesWithNothingInThem(t *testing.T) {
	y := "sources: [{id: log, paths: [\"~/log/*.jsonl\"], container: jsonl, when: {who: {exists: true}}}, {id: doc, paths: [\"~/log/*.json\"], container: json, records: r}]\n" + talk
	m := load(t, y)
	env := homeWith(t, map[string]string{"log/a.jsonl": "", "log/b.jsonl": "\n\n", "log/c.jsonl": `{"who":"me","sa`, "log/d.json": " \n", "log/e.jsonl": `{"other":1}` + "\n"})
	files, _ := m.Find(context.Background(), env)
	for _, f := range files {
		err := m.Read(context.Background(), f, ReadOptions{}, func(c *chat.Conversation) error {
			t.Errorf("%s gave %+v", f.Path, c)
			return nil
		})
		if wrong := strings.HasSuffix(f.Path, "e.jsonl"); (err != nil) != wrong {
			t.Errorf("%s: %v", f.Path, err)
		}
	}
}

func TestWordsOfTheFileAreAbsentIfEmpty(t *testing.T) {
	y := `
sources: [{id: log, paths: ["~/log/*.jsonl"], container: jsonl, capture: '/(?P<who>x)?log/'}]
conversation: {title: [{from: file:stem, when: {"file:who": {exists: true}}}, file:dir]}
` + talk
	if c := oneLog(t, y, `{"who":"me","say":"hi"}`+"\n"); c.Title != "log" {
		t.Errorf("title %q", c.Title)
	}
}

func TestDiffs(t *testing.T) {
	y := `
messages:
  - when: {who: tool}
    all:
      - {as: tool_call, name: name, call: k, input: in, diff: {edit: [in.old, in.new]}}
      - {as: tool_result, call: k, text: out, diff: {patch: patch}}
`
	c := oneLog(t, y, `{"who":"tool","name":"edit","k":"1","in":{"old":"a\nb\n","new":"c"},"out":"ok","patch":[{"oldStart":3,"newStart":3,"lines":[" x","-a","+c","+d"]}]}`+"\n")
	if c.Messages[0].Diff != "-a\n-b\n+c" || c.Messages[1].Diff != "@@ -3,2 +3,3 @@\n x\n-a\n+c\n+d" {
		t.Errorf("%q %q", c.Messages[0].Diff, c.Messages[1].Diff)
	}
}

func TestDiffOfWholeFiles(t *testing.T) {
	y := "messages: [{as: tool_call, name: name, diff: {whole: [old, new]}}]\n"
	for _, c := range []struct{ name, old, new, want string }{
		{"the middle", `a\nb\nc\nd\n`, `a\nx\ny\nd\n`, "@@ -2,2 +2,2 @@\n-b\n-c\n+x\n+y"},
		{"a new file", ``, `a\nb`, "@@ -0,0 +1,2 @@\n+a\n+b"},
		{"lines that are added", `a\nz\n`, `a\nb\nz\n`, "@@ -1,0 +2,1 @@\n+b"},
		{"the same lines again", `a\na`, `a\na\na`, "@@ -2,0 +3,1 @@\n+a"},
		{"all gone", `a`, ``, "@@ -1,1 +0,0 @@\n-a"},
		{"nothing", `a\n`, `a`, ""},
	} {
		got := oneLog(t, y, `{"name":"replace","old":"`+c.old+`","new":"`+c.new+`"}`+"\n").Messages[0].Diff
		if got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

func TestReadLeavesOutWhatIsNotAskedFor(t *testing.T) {
	y := `
messages:
  - {when: {who: me}, as: user, text: say}
  - {when: {who: call}, as: tool_call, name: name, call: k, input: in}
  - {when: {who: out}, as: tool_result, call: k, text: say}
`
	m := load(t, "sources: [{id: log, paths: [\"~/log/*.jsonl\"], container: jsonl}]\n"+y)
	env := homeWith(t, map[string]string{"log/a.jsonl": `{"who":"me","say":"hi"}
{"who":"call","name":"ls","k":"1","in":{}}
{"who":"out","k":"1","say":"a secret"}
{"who":"out","k":"1","say":"CHAT CHECKPOINT UUID=x SLUG=y"}
`})
	seen := 0
	c := readAll(t, m, env, ReadOptions{SkipToolText: true, Keep: func(m *chat.Message) bool { seen++; m.Note = seen; return m.Role != chat.User }})[0]
	if u := c.Messages[0]; !u.Elided || u.Text != "" || u.Runes != 2 || u.Note != 1 {
		t.Errorf("user %+v", u)
	}
	if r := c.Messages[2]; !r.Elided || r.Text != "" || r.Tool != "ls" {
		t.Errorf("result %+v", r)
	}
	if r := c.Messages[3]; r.Elided || r.Text == "" {
		t.Errorf("checkpoint %+v", r)
	}
	if seen != 4 {
		t.Errorf("asked %d times", seen)
	}
}

// What stands before the damage of a packed file is read, and the conversation says that it
// is not whole.
func TestDamagedPackedFileIsIncomplete(t *testing.T) {
	m := load(t, `
sources:
  - {id: log, paths: ["~/*.jsonl"], container: jsonl}
  - {id: notes, paths: ["~/*.md"], container: text, lines: [{kind: me, match: '^(?P<text>.*)$'}], messages: notes}
define: {notes: [{as: user, text: text}]}
`+talk)
	pack := func(line string) string {
		var b bytes.Buffer
		z := gzip.NewWriter(&b)
		for i := range 2000 {
			fmt.Fprintf(z, line+"\n", i*i)
		}
		z.Close()
		return b.String()[:b.Len()-100]
	}
	env := homeWith(t, map[string]string{"a.jsonl.gz": pack(`{"who":"me","say":"heron %d"}`), "b.md.gz": pack("heron %d")})
	got := readAll(t, m, env, ReadOptions{})
	if len(got) != 2 {
		t.Fatalf("%d conversations", len(got))
	}
	for _, c := range got {
		if len(c.Messages) == 0 || !strings.HasPrefix(c.Messages[0].Text, "heron 0") || !strings.Contains(c.Read.Incomplete, "unpacked byte") {
			t.Errorf("%s: %d messages, incomplete %q", c.File, len(c.Messages), c.Read.Incomplete)
		}
	}
}

func TestWhatCleanUpDropsIsCounted(t *testing.T) {
	y := `
messages: [{when: {who: me}, as: user, text: say}]
clean: {user: {tags: {note: drop, ask: inside}, rules: [{when: {starts: noise}, drop: true}]}}
`
	c := oneLog(t, y, `{"who":"me","say":"<note>x</note>\nhi"}
{"who":"me","say":"around\n<ask>port?</ask>"}
{"who":"me","say":"noise again"}
`)
	expectLines(t, c, "\nuser hi\nuser port?\n")
	if d := c.Read.Dropped; d["note"] != 1 || d["text outside of tags"] != 1 || d["clean.user.rules[0]"] != 1 || len(d) != 3 {
		t.Errorf("dropped %v", d)
	}
}
