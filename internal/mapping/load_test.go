package mapping

import (
	"os"
	"path/filepath"
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

// validMappings use every construct of the language, each in the shape in which a real
// format needed it.
var validMappings = map[string]string{
	"heron": heron,
	"registry": `parlance: 1
name: registry
sources:
  - paths_from: {file: "${XDG_DATA_HOME:-~/.local/share}/gull/all.json", each: projects, path: "{data_dir}/gull.db", as: place}
    container: sqlite                    # a comment
    list: SELECT * FROM chats WHERE id NOT LIKE 'title-%'
    sql: |
      -- all of one chat
      SELECT * FROM notes WHERE chat = :id AND kind <> ';' ORDER BY n;
    json: [parts]
    needs: {chats: [id, name], notes: [chat, parts]}
  - {id: old, paths: ["~/.gull/chats/*/*/store.db"], unsupported: "the order of messages is not stored"}
conversation: {id: doc:id, cwd: side:place.path, title: doc:name}
messages:
  - {when: {role: user}, each: parts, as: user, text: text}
`,
	"replayed": `parlance: 1
name: replayed
sources:
  - {id: log, paths: ["${VSCODE_USER}/workspaceStorage/*/sessions/*.jsonl"], container: jsonl, records: requests, conversations: ".",
     replay: {op: kind, path: k, value: v, at: i, init: 0, set: 1, append: 2, delete: 3}, sidecar: {workspace: "../workspace.json", meta: "{stem}.{project}.json"},
     capture: '/(?P<project>[^/]+)/sessions/', split: [VSCODE_USER], exclude: ["**/old-*.jsonl"]}
conversation: {cwd: {from: [side:workspace.folder, side:meta], decode: [uri], match: '^file://(.*)$'}, branch: file:project}
messages: [{as: user, text: say}]
`,
	"lines": `parlance: 1
name: lines
sources:
  - id: markdown
    paths: ["./.tern.history.md"]
    container: text
    conversation_start: '^# chat at (?P<started>\d{4}-\d\d-\d\d \d\d:\d\d:\d\d)'
    lines: [{kind: user, match: '^####(?: (?P<text>.*))?$'}, {kind: tool, match: '^> ?(?P<text>.*)$'}, {kind: assistant, match: '^(?P<text>.*)$'}]
conversation: {id: {template: "{file:path}#{doc:@index}"}, started: {from: doc:started, zone: local}, updated: {from: doc:t, layout: "Mon Jan _2 2006"}}
messages: [{as: {from: kind, map: {user: user, assistant: assistant, tool: system}}, text: text}]
`,
	"joined": `parlance: 1
name: joined
sources:
  - {id: tree, paths: ["${XDG_DATA_HOME:-~/.local/share}/tern/session/*/*.json"], container: json,
     join: [{files: "../../message/{stem}/*.json", as: message, join: [{files: "../../part/{id}/{stem}*.{json,jsonl}", as: part}]}]}
  - {id: bundle, paths: ["${ROOT}/**/conversations*.json"], container: json, conversations: ".", records: mapping, when: {id: {exists: true}}, messages: flat,
     sidecar: {extra: "{doc:id}.txt"}}
conversation: {id: [doc:id, file:stem], subagent: [doc:parent, doc:kind], parent: doc:parent, model: {template: "{message.provider}/{message.model}", pick: last}}
common: {time: [part.time, message.time.created], id: id, reply: [message.id, id], abandoned: undone, glue: "\n"}
tree: {id: id, parent: parent, leaf: doc:current_node, abandon: off_path}
pair: order
messages:
  - {when: {part.type: text, any: [{part.synthetic: true}, {part.ignored: true}]}, as: system, text: part.text}
  - {when: {part.type: tool}, as: tool_call, name: part.tool, call: part.call, input: part.input, time: part.start, child: part.child,
     result: {when: {part.status: [completed, error]}, text: [part.output, part.error], failed: [{when: {part.status: error}}, {from: part.exit, when: {part.tool: sh}}], time: part.end, diff: {patch: part.patch}}}
  - {when: {part: {exists: false}}, as: skip}
define:
  flat:
    - {when: {message.author.role: tool}, as: tool_result, name: message.author.name, text: message.content, diff: {edit: [old, new]}}
    - {in: message, each: [content.parts, content.text], use: prose}
  prose:
    - {when: {"up:author.role": user, kind: {kind: [string, "null", json_object]}}, as: user, text: ".", glue: false}
    - {when: {\any: x, \not: {not: {starts: [a, b]}}, "record:@index": 1}, as: assistant, text: {from: ., only: {thought: {exists: false}}, item: [{from: data, when: {kind: text}}, {concat: [data.a, data.b], join: "\n"}, data], join: ""}}
`,
	"layered": `parlance: 1
name: layered
sources: [{paths: ["${TERN_HOME:-~/.tern}/**/roll-*.jsonl", "${APPDATA}/tern/[a-z]*.jsonl"], container: jsonl, when: {any: [{type: [meta, item]}, {id: {exists: true}}]}}]
lookups:
  titles: {jsonl: "${TERN_HOME:-~/.tern}/index.jsonl", key: id, value: name}
  slugs: {json: "../../state.json", records: projects, key: ".", value: entry:key}
  rows: {sqlite: "~/.tern/x.db", sql: "WITH t AS (SELECT 1 AS id) SELECT * FROM t", key: id}
conversation: {id: {from: payload.id, when: {type: meta}}, title: [{lookup: titles, key: conv:id}, {lookup: rows, key: {from: file:path, match: '/tmp/([^/]+)/'}, get: a.b, unless: {matches: '^New'}}], cwd: {lookup: slugs, key: file:dir}}
layers: {user: [event, item]}
same: [{as: record, by: id, keep: last}, {as: tool_call, by: call}, {as: [assistant, reasoning], by: text, keep: last, prefix: true}, {as: any, by: id}]
copied: {prefix: {from: payload.turn, when: {type: turn}}}
pair: [id, order]
messages:
  - {when: {type: kid}, as: subagent, key: agent}
  - {when: {$set.messages: {exists: true}}, as: reset, records: $set.messages}
  - {when: {$rewindTo: {exists: true}}, as: rewind, to: $rewindTo}
  - {when: {payload.type: rolled_back}, as: rollback, turns: payload.turns}
  - {when: {type: item}, in: payload, use: item, why: the newer form}
  - {when: {type: event}, as: user, text: payload.text, layer: event}
define:
  item:
    - {when: {type: message, role: user}, each: content, as: user, text: ".", layer: item}
    - when: {type: model}
      all:
        - {each: thoughts, as: reasoning, text: {concat: [subject, description], join: "\n"}, time: timestamp, glue: false}
        - {as: assistant, text: {from: content, join: "\n"}}
    - {when: {type: call}, as: tool_call, name: {value: shell}, call: [call_id, id], input: [arguments, action], result: never}
    - {when: {type: out}, as: tool_result, call: call_id, text: [{from: output, parse: json, get: "#.x"}, {from: output, after: "] Result:"}, next:text], failed: {from: output, match: '(?s)^.{0,200}?code ([1-9]\d*)'}}
    - {when: {type: compacted}, as: compaction, name: {value: clear}}
clean:
  user:
    tags: {cmd-name: command, cmd-args: args, cmd-msg: drop, note: system, query: inside, "*": drop}
    rules:
      - {when: {starts: "# Context:"}, after: "## Request:"}
      - {when: {any: [{starts: [a, b]}, {contains: c, not: {contains: d}}, {matches: e}, {empty: true}]}, drop: true}
      - {when: {contains: "[X]"}, replace: [['\s*\[X\]\s*$', ''], ["a", "$1"]], unescape: html, as: compaction}
  tool_result: {rules: [{when: {contains: "<x>"}, replace: [["<x>", ""]]}]}
tests:
  - name: everything that may be expected
    path: /home/x/roll-1.jsonl
    files: {/home/x/index.jsonl: '{"id":"a"}', ../../state.json: "{}"}
    text: |
      {"type":"meta"}
    conversation: a
    expect_all: [{tool_call: shell, input: "{}", running: true, call: c, time: "2026-01-02T03:04:05.000Z"}, {tool_result: "", of: shell, failed: false, diff: x}, {user: hi, abandoned: true, inherited: false}, {compaction: ""}]
    expect_conversation: {title: x, subagent: "false"}
    expect_skipped: {}
    expect_no_rule: {new: 1}
    expect_warnings: [orphan]
  - {name: no messages, source: "1", records: "", expect: []}
`,
}

func TestLoadValid(t *testing.T) {
	for name, text := range validMappings {
		t.Run(name, func(t *testing.T) { mustLoad(t, text) })
	}
}

func TestLoadSelectorTemplates(t *testing.T) {
	m := mustLoad(t, validMappings["replayed"])
	meta := m.Sources[0].sidecars[1].path
	if len(meta) != 4 || meta[0].sel.scope != scopeFile || meta[0].sel.name != "stem" || meta[2].sel.name != "project" {
		t.Errorf("sidecar %+v", meta)
	}
	m = mustLoad(t, validMappings["joined"])
	files := m.Sources[0].join[0].join[0].files
	if files[1].sel.scope != scopeNone || files[3].sel.scope != scopeFile || files[4].text != "*.{json,jsonl}" {
		t.Errorf("join %+v", files)
	}
}

func TestLoadExtends(t *testing.T) {
	base := func(name string) (string, []byte, bool) {
		text, ok := validMappings[name]
		return name + ".yaml", []byte(text), ok
	}
	m, ps := Load("teal.yaml", []byte(`parlance: 1
name: teal
extends: layered
sources: [{id: log, paths: ["~/.teal/*.jsonl"], container: jsonl}]
conversation: {title: name}
layers: {system: [a, b]}
define:
  item: [{as: user, text: say}]
clean: {user: {tags: {note: drop, more: drop}}, assistant: {tags: {x: drop}}}
tests: [{name: a, records: "{}", expect: []}]
`), base)
	if m == nil {
		t.Fatal(ps)
	}
	if m.Name != "teal" || len(m.Sources) != 1 || len(m.tests) != 1 || len(m.rules) != 6 {
		t.Errorf("lists are replaced whole: %+v", m)
	}
	if m.conv[fieldID] == nil || m.conv[fieldTitle].terms[0].sels == nil || m.conv[fieldID].pos.file.name != "layered.yaml" {
		t.Errorf("conversation is merged key by key: %+v", m.conv)
	}
	if len(m.layers) != 2 || len(m.define["item"]) != 1 || len(m.lookups) != 3 {
		t.Errorf("maps are merged: %v %v %v", m.layers, m.define, m.lookups)
	}
	user := m.clean["user"]
	if user.tags["note"] != "drop" || user.tags["more"] != "drop" || user.tags["cmd-name"] != "command" || len(user.rules) != 3 || m.clean["assistant"] == nil {
		t.Errorf("clean %+v", user)
	}
}

// Editors of other systems write these; positions must not shift.
func TestLoadLineEndsAndBOM(t *testing.T) {
	text := "\uFEFF" + strings.ReplaceAll(strings.Replace(heron, "as: user", "as: usr", 1), "\n", "\r\n")
	_, ps := Load("heron.yaml", []byte(text), nil)
	if len(ps) != 1 || ps[0].Line != 8 || ps[0].Col != 27 || strings.Contains(ps[0].Source, "\r") {
		t.Errorf("got %+v", ps)
	}
}

func TestLoadTooLarge(t *testing.T) {
	_, ps := Load("big.yaml", append([]byte(heron), make([]byte, yamlMaxBytes)...), nil)
	if len(ps) != 1 || ps[0].Code != codeSize {
		t.Errorf("got %v", ps)
	}
}

func TestProblemEndCol(t *testing.T) {
	_, ps := Load("x.yaml", []byte("parlance: 1\nname: x\nmessages: [{as: \"usr\", text: say}]\nsources: [{id: größe, container: xyz, paths: ['~/a']}]\n"), nil)
	var got []string
	for _, p := range ps {
		got = append(got, string([]rune(p.Source)[p.Col-1:p.EndCol-1]))
	}
	if want := `"usr" größe xyz`; strings.Join(got, " ") != want {
		t.Errorf("got %q, want %q: %v", got, want, ps)
	}
}

// The table of keys is what help, schema and the reference page are made of.
func TestKeyTable(t *testing.T) {
	seen := map[string]bool{}
	for _, k := range keyTable {
		id := k.In + " " + k.Name
		if seen[id] {
			t.Errorf("%s twice", id)
		}
		seen[id] = true
		if k.About == "" || strings.HasSuffix(k.About, ".") || k.Example == "" || !strings.Contains(k.Example, k.Name) {
			t.Errorf("%s: about %q, example %q", id, k.About, k.Example)
		}
		if _, ok := kindInfo[k.Kind]; !ok {
			t.Errorf("%s: kind %d has no name", id, k.Kind)
		}
		if k.Of != "" && keyNames[k.Of] == nil {
			t.Errorf("%s: no map %q", id, k.Of)
		}
		if needs := k.Kind == kindMap || k.Kind == kindMaps || k.Kind == kindNamed || k.Kind == kindNamedList; needs != (k.Of != "") && k.Kind != kindResult && k.Kind != kindDiff {
			t.Errorf("%s: of %q", id, k.Of)
		}
	}
	for _, f := range fieldNames {
		if keyIndex[inConversation][f] == nil {
			t.Errorf("conversation.%s is not in the table", f)
		}
	}
}

func TestCondImplies(t *testing.T) {
	for _, tt := range []struct {
		a, b string
		want bool
	}{
		{"{a: x}", "{a: x}", true},
		{"{a: x}", "{a: [x, y]}", true},
		{"{a: [x, y]}", "{a: x}", false},
		{"{a: x, b: y}", "{a: x}", true},
		{"{a: x}", "{a: x, b: y}", false},
		{"{a: x}", "{b: x}", false},
		{"{a: x}", "{a: {exists: true}}", true},
		{"{a: {exists: false}}", "{a: {exists: true}}", false},
		{"{a: {starts: ab}}", "{a: {starts: [x, a]}}", true},
		{"{a: {starts: a}}", "{a: {starts: ab}}", false},
		{"{a: {contains: abc}}", "{a: {contains: b}}", true},
		{"{a: {matches: x}}", "{a: {matches: x}}", true},
		{"{a: {matches: x}}", "{a: {matches: y}}", false},
		{"{a: {empty: false}}", "{a: {exists: true}}", true},
		{"{a: {empty: true}}", "{a: {exists: true}}", false},
		{"{a: x}", "{a: {empty: false}}", true},
		{"{a: ''}", "{a: {empty: false}}", false},
		{"{a: {not: x}}", "{a: {exists: true}}", false},
		{"{a: {not: [x, y]}}", "{a: {not: x}}", true},
		{"{a: {not: x}}", "{a: {not: [x, y]}}", false},
		{"{a: {keys: [x, y]}}", "{a: {keys: [y, x]}}", true},
		{"{a: {keys: [x, y]}}", "{a: {keys: [x]}}", false},
		{"{a: {kind: string}}", "{a: {kind: [string, number]}}", true},
		{"{a: {kind: 'null'}}", "{a: {exists: true}}", false},
		{"{a: 1}", "{any: [{a: 1}, {b: 2}]}", true},
		{"{c: 1}", "{any: [{a: 1}, {b: 2}]}", false},
		{"{any: [{a: 1}, {b: 2}]}", "{any: [{b: 2}, {a: 1}, {c: 3}]}", true},
		{"{any: [{a: 1}, {c: 2}]}", "{any: [{b: 2}, {a: 1}]}", false},
		{"{any: [{a: 1}, {b: 2}]}", "{a: 1}", false},
		{"{x: 1, not: {a: 1}}", "{not: {a: 1, b: 2}}", true},
		{"{x: 1, not: {a: 1, b: 2}}", "{not: {a: 1}}", false},
		{"{x: 1}", "{not: {a: 1}}", false},
	} {
		m := mustLoad(t, "parlance: 1\nname: x\nsources: [{paths: [\"~/a\"], container: jsonl}]\nmessages:\n  - {when: {z: 1}, all: [{when: "+tt.a+", as: user, text: t}, {when: "+tt.b+", as: user, text: t}]}\n")
		all := m.rules[0].all
		if got := all[0].when.implies(all[1].when); got != tt.want {
			t.Errorf("%s implies %s: %v", tt.a, tt.b, got)
		}
	}
}

func TestBareSQL(t *testing.T) {
	for _, tt := range []struct{ sql, want string }{
		{"SELECT ';' -- x;\nFROM t", "SELECT           \nFROM t"},
		{"SELECT /* ; */ \"a;b\", [c;d], `e;f`", "SELECT              ,      ,      "},
		{"SELECT 'it''s'", "SELECT        "},
		{"SELECT 'open", "SELECT      "},
	} {
		if got := bareSQL(tt.sql); strings.Join(strings.Fields(got), " ") != strings.Join(strings.Fields(tt.want), " ") || len(got) != len(tt.sql) {
			t.Errorf("%q: got %q", tt.sql, got)
		}
	}
}

// Load must end, and must give either a mapping or a problem, whatever a file holds.
func FuzzLoad(f *testing.F) {
	for _, text := range validMappings {
		f.Add([]byte(text))
	}
	files, err := filepath.Glob("testdata/bad/*.yaml")
	if err != nil {
		f.Fatal(err)
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		m, ps := Load("heron.yaml", data, badBase)
		if (m == nil) != fatal(ps) {
			t.Fatalf("mapping %v with problems %v", m, ps)
		}
		for _, p := range ps {
			if p.Code == "" || p.Msg == "" || p.Line < 0 || p.Col < 0 || p.File == "" || p.String() == "" {
				t.Fatalf("%#v", p)
			}
		}
	})
}

func BenchmarkLoad(b *testing.B) {
	text := []byte(validMappings["layered"])
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		if m, ps := Load("layered.yaml", text, nil); m == nil {
			b.Fatal(ps)
		}
	}
}
