package history

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/ncruces/go-sqlite3"

	"parlance/internal/mapping"
)

// testMappings are small invented formats, one of each kind that matters to history.
var testMappings = map[string]string{
	// acme: one file is one conversation, named after it; subagents in files of their own
	// and inside; tool results, checkpoints, abandoned and copied records.
	"acme": `
parlance: 1
name: acme
sources:
  - {id: log, paths: ["~/.acme/*/*.jsonl", "~/.acme-backup/**/*.jsonl"], exclude: ["**/agent-*.jsonl"], container: jsonl}
  - {id: agents, paths: ["~/.acme/*/agent-*.jsonl"], container: jsonl, kind: subagent}
conversation: {id: file:stem, title: {from: title, pick: last}, cwd: dir, parent: parent, version: v}
common: {time: at, id: id, glue: false, abandoned: gone}
copied: {parent: copyOf, id: copied}
messages:
  - {when: {sub: {exists: true}}, as: subagent, key: sub}
  - {when: {who: me}, as: user, text: say}
  - {when: {who: bot}, as: assistant, text: say}
  - {when: {who: think}, as: reasoning, text: say}
  - {when: {who: call}, as: tool_call, name: tool, call: call, input: say}
  - {when: {who: result}, as: tool_result, call: call, text: say}
  - {when: {who: [ping, meta]}, as: skip}
`,
	// bolt: the id stands in the first record, the file is named otherwise; forks repeat
	// their parent's turns.
	"bolt": `
parlance: 1
name: bolt
sources: [{id: log, paths: ["~/.bolt/**/*.jsonl"], container: jsonl}]
conversation:
  id: {from: session, when: {kind: meta}}
  cwd: {from: dir, when: {kind: meta}}
  parent: {from: parent, when: {kind: meta}}
common: {time: at, glue: false}
copied: {prefix: turn}
messages:
  - {when: {kind: user}, as: user, text: text}
  - {when: {kind: answer}, as: assistant, text: text}
  - {when: {kind: meta}, as: skip}
`,
	// crate: a database and, from an older version, one document for each conversation.
	"crate": `
parlance: 1
name: crate
unique: first_source
sources:
  - id: database
    paths: ["~/.crate/*.db"]
    container: sqlite
    list: SELECT * FROM chats
    sql: SELECT * FROM messages WHERE chat = :id ORDER BY n
  - {id: later, paths: ["~/.crate/*.db", "~/.crate/v2/*.db"], container: sqlite, needs: {parts: [id]}, list: SELECT * FROM chats, sql: "SELECT * FROM parts WHERE chat = :id"}
  - {id: document, paths: ["~/.crate/old/*.json"], container: json, records: messages}
conversation: {id: [doc:id, file:stem], title: doc:title, cwd: doc:cwd, updated: doc:updated, subagent: doc:sub}
messages:
  - {when: {role: user}, as: user, text: text}
  - {when: {role: assistant}, as: assistant, text: text}
`,
	// dusk: texts are made by the mapping and stand in no file.
	"dusk": `
parlance: 1
name: dusk
sources: [{id: log, paths: ["~/.dusk/*.jsonl"], container: jsonl}]
conversation: {id: file:stem}
common: {time: at}
messages:
  - {when: {who: me}, as: user, text: {from: code, map: {a: "alpha heron", b: "beta tern"}, else: "[image]"}}
`,
	// ember: texts and ids are made in ways that raw bytes do not show.
	"ember": `
parlance: 1
name: ember
sources: [{id: log, paths: ["~/.ember/*.jsonl"], container: jsonl}]
conversation: {id: {template: "{file:stem}.e"}}
common: {time: at}
messages:
  - {when: {who: me}, as: user, text: {concat: [a, b], join: ""}}
`,
	// flint: a file in every project.
	"flint": `
parlance: 1
name: flint
sources: [{id: notes, paths: ["./.flint.jsonl"], container: jsonl}]
conversation: {id: file:dir, cwd: dir}
messages: [{as: user, text: say}]
`,
	// fault: a database that breaks off while it is read; gone before its first row, or behind it.
	"fault": `
parlance: 1
name: fault
sources:
  - id: db
    paths: ["~/.fault/*.db"]
    container: sqlite
    list: SELECT * FROM chats
    sql: SELECT role, CASE WHEN text = 'boom' THEN json('{') ELSE text END AS text FROM messages WHERE chat = :id
conversation: {id: doc:id, updated: doc:updated}
messages: [{as: {from: role, map: {user: user, assistant: assistant}}, text: text}]
`,
	// grove: one conversation is a tree of files. The parts name their message, of which the
	// pattern of the second level is made.
	"grove": `
parlance: 1
name: grove
sources:
  - id: tree
    paths: ["~/.grove/talk/*.json"]
    container: json
    join: [{files: "../message/{stem}/*.json", as: m, join: [{files: "../../part/{m}/*.json", as: p}]}]
conversation: {id: file:stem}
messages: [{as: {from: m.role, map: {user: user, assistant: assistant}}, text: p.text}]
`,
	// heath: a database whose rows are documents, or should be.
	"heath": `
parlance: 1
name: heath
sources:
  - id: db
    paths: ["~/.heath/*.db"]
    container: sqlite
    list: "SELECT id, title, CASE WHEN title IS NULL THEN 'chats, ' || id || ': null' END AS problem FROM chats"
    sql: "SELECT role, text, CASE WHEN text = '' THEN 'messages, ' || chat || ' ' || n || ': empty' END AS problem FROM messages WHERE chat = :id"
    broken: problem
    needs: {chats: [id, title], messages: [chat, role, text]}
conversation: {id: doc:id}
messages: [{as: {from: role, map: {user: user, assistant: assistant}}, text: text}]
`,
	// Two generations of a database, and a part of it that came later.
	"brook": `
parlance: 1
name: brook
sources:
  - id: now
    paths: ["~/.brook/*.db"]
    container: sqlite
    list: SELECT c.id, c.title FROM chats c
    sql: SELECT m.role, m.text FROM messages m JOIN ends e ON e.chat = m.chat WHERE m.chat = :id
    needs: {chats: [id, title], messages: [chat, role, text], ends: [chat, state]}
  - id: side
    paths: ["~/.brook/*.db"]
    container: sqlite
    kind: subagent
    list: SELECT 'side ' || id AS id FROM sides
    sql: SELECT m.role, m.text FROM messages m WHERE 'side ' || m.chat = :id
    needs: {messages: [chat, role, text], sides: [id, parent]}
  - id: old
    paths: ["~/.brook/*.db"]
    container: sqlite
    list: SELECT id FROM chats
    sql: SELECT role, text FROM messages WHERE chat = :id
    needs: {chats: [id], messages: [chat, role, text]}
    instead: now
conversation: {id: doc:id}
messages: [{as: {from: role, map: {user: user, assistant: assistant}}, text: text}]
`,
	"locked": `
parlance: 1
name: locked
sources: [{id: store, paths: ["~/.locked/*.bin"], unsupported: "the store is encrypted"}]
conversation: {id: file:stem}
`,
}

// A world is a made-up home and the mappings that look into it.
type world struct {
	t    testing.TB
	home string
	set  *mapping.Set
	now  time.Time
	cfg  Config
}

func newWorld(t testing.TB, names ...string) *world {
	t.Helper()
	if len(names) == 0 {
		names = []string{"acme", "bolt", "crate", "dusk", "ember", "locked"}
	}
	files := fstest.MapFS{}
	for _, n := range names {
		files[n+".yaml"] = &fstest.MapFile{Data: []byte(testMappings[n])}
	}
	set, err := mapping.NewSet(files, nil)
	if err != nil {
		t.Fatal(err)
	}
	w := &world{t: t, home: t.TempDir(), set: set, now: time.Date(2026, 6, 1, 12, 0, 0, 0, time.UTC)}
	w.cfg = Config{
		Envs: []mapping.Env{{Home: w.home, Getenv: func(string) string { return "" }}},
		Set:  set,
		Now:  func() time.Time { return w.now },
	}
	for _, n := range names {
		if m, problems := set.Mapping(n); m == nil {
			t.Fatalf("mapping %s: %v", n, problems)
		}
	}
	return w
}

func (w *world) open() *History { return Open(w.cfg) }

// write puts lines into a file below home that was last touched at.
func (w *world) write(rel string, at time.Time, lines ...string) string {
	w.t.Helper()
	path := filepath.Join(w.home, filepath.FromSlash(rel))
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		w.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(strings.Join(lines, "\n")+"\n"), 0o644); err != nil {
		w.t.Fatal(err)
	}
	w.touch(path, at)
	return path
}

func (w *world) touch(path string, at time.Time) {
	w.t.Helper()
	if err := os.Chtimes(path, at, at); err != nil {
		w.t.Fatal(err)
	}
}

// ago is a time before the world's now.
func (w *world) ago(d time.Duration) time.Time { return w.now.Add(-d) }

// rec is a record of key and value in turn, as JSON in that order.
func rec(pairs ...string) string {
	var b strings.Builder
	b.WriteByte('{')
	for i := 0; i < len(pairs); i += 2 {
		if i > 0 {
			b.WriteByte(',')
		}
		v, _ := json.Marshal(pairs[i+1])
		fmt.Fprintf(&b, "%q:%s", pairs[i], v)
	}
	b.WriteByte('}')
	return b.String()
}

// said is a record of acme at a time.
func said(at time.Time, who, text string, more ...string) string {
	return rec(append([]string{"at", at.UTC().Format(time.RFC3339Nano), "who", who, "say", text}, more...)...)
}

// database makes or extends a store of crate; rows are of chats, then of messages.
func (w *world) database(rel string, at time.Time, statements ...string) string {
	w.t.Helper()
	path := filepath.Join(w.home, filepath.FromSlash(rel))
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		w.t.Fatal(err)
	}
	c, err := sqlite3.Open(path)
	if err != nil {
		w.t.Fatal(err)
	}
	statements = append([]string{
		`CREATE TABLE IF NOT EXISTS chats (id TEXT, title TEXT, cwd TEXT, updated TEXT, sub INTEGER)`,
		`CREATE TABLE IF NOT EXISTS messages (chat TEXT, n INTEGER, role TEXT, text TEXT)`,
	}, statements...)
	for _, s := range statements {
		if err := c.Exec(s); err != nil {
			w.t.Fatalf("%s: %v", s, err)
		}
	}
	if err := c.Close(); err != nil {
		w.t.Fatal(err)
	}
	w.touch(path, at)
	return path
}

func quoteSQL(s string) string { return "'" + strings.ReplaceAll(s, "'", "''") + "'" }

// chatRow is a conversation of crate with its messages, user and assistant in turn.
func chatRow(id string, updated time.Time, texts ...string) []string {
	out := []string{fmt.Sprintf("INSERT INTO chats VALUES (%s, NULL, NULL, %s, 0)", quoteSQL(id), quoteSQL(updated.UTC().Format(time.RFC3339Nano)))}
	for i, text := range texts {
		role := []string{"user", "assistant"}[i%2]
		out = append(out, fmt.Sprintf("INSERT INTO messages VALUES (%s, %d, '%s', %s)", quoteSQL(id), i, role, quoteSQL(text)))
	}
	return out
}

func (w *world) search(text string, change ...func(*Query)) Listing {
	w.t.Helper()
	q := Query{Text: text}
	for _, c := range change {
		c(&q)
	}
	l, err := w.open().Search(context.Background(), q)
	if err != nil {
		w.t.Fatalf("search %q: %v", text, err)
	}
	return l
}

// ids are the rows of a listing in short.
func ids(l Listing) string {
	var out []string
	for _, r := range l.Rows {
		out = append(out, r.FullID())
	}
	return strings.Join(out, " ")
}
