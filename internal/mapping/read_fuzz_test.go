package mapping

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"unicode/utf8"

	"parlance/internal/chat"
	"parlance/mappings"
)

// containers are mappings of the containers that the built-in ones do not use much.
var containers = []string{`
sources: [{id: log, paths: ["~/x"], container: jsonl, records: turns, replay: {op: k, path: p, value: v, at: i, init: 0, set: 1, append: 2, delete: 3}}]
conversation: {id: doc:id, title: doc:title}
messages: [{when: {ask: {exists: true}}, all: [{as: user, text: ask}, {as: assistant, text: {from: answer, only: {kind: {not: x}}, item: text}}]}]
`, `
sources: [{id: all, paths: ["~/x"], container: json, conversations: chats, records: items}]
conversation: {id: doc:id, started: {from: "items.#.at"}}
common: {time: at, id: id}
tree: {id: id, parent: up, leaf: doc:leaf, abandon: off_path}
pair: [id, order]
messages:
  - {when: {who: me}, as: user, text: say}
  - {when: {who: call}, as: tool_call, name: name, input: in, diff: {edit: [in.old, in.new]}}
  - {when: {who: out}, as: tool_result, call: k, text: [{from: say, parse: json, get: output}, say], failed: [bad, {from: say, match: 'exit (\d+)'}]}
clean: {user: {tags: {note: system, name: command, args: args, q: inside, "*": drop}, rules: [{when: {contains: "&"}, unescape: html}]}}
`, `
sources:
  - id: text
    paths: ["~/x"]
    container: text
    conversation_start: '^# (?P<at>.*)$'
    lines: [{kind: call, match: '^\[(?P<name>\w+)\]', then: '^ (?P<text>.*)$'}, {kind: user, match: '^>(?P<text>.*)$'}, {kind: bot, match: '^(?P<text>.*)$'}]
conversation: {id: {template: "{file:stem}#{doc:@index}"}, started: {from: doc:at, zone: local}}
messages: [{when: {kind: call}, as: tool_call, name: name, input: text, result: never}, {as: {from: kind, map: {user: user, bot: assistant}}, text: text}]
`}

// FuzzRead reads any bytes as a file of any mapping: there is no panic, texts are valid,
// and the account of the records adds up.
func FuzzRead(f *testing.F) {
	var all []*Mapping
	for _, y := range containers {
		all = append(all, load(f, y))
	}
	set, err := NewSet(mappings.FS, nil)
	if err != nil {
		f.Fatal(err)
	}
	for _, name := range set.Names() {
		all = append(all, builtin(f, name))
	}
	for i, m := range all {
		if i < len(containers) {
			continue
		}
		for _, path := range seeds(f, filepath.Join(providersDir, m.Name, "home")) {
			data, err := os.ReadFile(path)
			if err != nil {
				f.Fatal(err)
			}
			f.Add(data, byte(i))
		}
	}
	f.Add([]byte(`{"k":0,"v":{"turns":[]}}`+"\n"+`{"k":2,"p":["turns"],"v":[{"ask":"a"}]}`), byte(0))
	f.Add([]byte(`{"chats":[{"id":"a","leaf":"2","items":[{"id":"1","who":"me","say":"<note>x</note>\nhi"},{"id":"2","up":"1","who":"call","name":"ls","in":{}}]}]}`), byte(1))
	f.Add([]byte("# 2026-01-02 03:04:05\n>hi\nho\n[ls]\n -l\n"), byte(2))
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, data []byte, which byte) {
		m := all[int(which)%len(all)]
		path := filepath.Join(dir, "x")
		if bytes.HasPrefix(data, []byte("SQLite format 3\x00")) && len(data) > 1<<16 {
			return
		}
		if err := os.WriteFile(path, data, 0o666); err != nil {
			t.Fatal(err)
		}
		for i := range m.Sources {
			file := File{Provider: m.Name, Path: path, Size: int64(len(data)), Sources: []int{i}, env: Env{Home: dir, Getenv: func(string) string { return "" }}}
			err := m.Read(context.Background(), file, ReadOptions{}, func(c *chat.Conversation) error {
				checkConversation(t, c)
				return nil
			})
			if errors.Is(err, context.Canceled) {
				t.Fatal(err)
			}
		}
	})
}

func checkConversation(t *testing.T, c *chat.Conversation) {
	t.Helper()
	for i := range c.Messages {
		m := &c.Messages[i]
		if !slices.Contains(chat.Roles, m.Role) {
			t.Fatalf("role %q", m.Role)
		}
		for _, s := range []string{m.Text, m.Input, m.Tool, m.Call, m.ID, m.Diff, c.Title, c.ID, c.Cwd} {
			if !utf8.ValidString(s) {
				t.Fatalf("%s: invalid UTF-8 %q", m.Role, s)
			}
		}
		if m.Running && m.Role != chat.ToolCall {
			t.Fatalf("a running %s", m.Role)
		}
	}
	skipped := 0
	for _, n := range c.Read.Skipped {
		skipped += n
	}
	if got := c.Read.Used + skipped + len(c.Read.Broken) + c.Read.BrokenMore; got > c.Read.Records {
		t.Fatalf("%d records accounted for, of %d", got, c.Read.Records)
	}
}

// seeds are a few small files of a fixture home.
func seeds(f *testing.F, home string) []string {
	var out []string
	err := filepath.WalkDir(home, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() || len(out) >= 6 {
			return err
		}
		if info, err := d.Info(); err == nil && info.Size() > 0 && info.Size() < 20_000 {
			out = append(out, path)
		}
		return nil
	})
	if err != nil {
		f.Fatal(err)
	}
	return out
}
