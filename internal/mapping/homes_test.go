package mapping

import (
	"context"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"parlance/internal/chat"
	"parlance/mappings"
)

// TestNoMappingTakesAnothersFiles runs every mapping over every other provider's home, as if
// all of it were given with --root: it must find nothing there that it would read as a
// conversation of its own.
func TestNoMappingTakesAnothersFiles(t *testing.T) {
	set, err := NewSet(mappings.FS, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range set.Names() {
		m := builtin(t, name)
		for _, owner := range set.Names() {
			home := filepath.Join(providersDir, owner, "home")
			if owner == name {
				continue
			}
			env := homeEnv(t, home)
			env.Roots = []string{env.Home}
			files, _ := m.Find(context.Background(), env)
			for _, f := range files {
				if strings.HasSuffix(filepath.ToSlash(f.Path), "/.clawdbot/sessions/first.jsonl") {
					continue // nothing but its place tells whose it is
				}
				_ = m.Read(context.Background(), f, ReadOptions{}, func(c *chat.Conversation) error {
					if len(c.Messages) > 0 {
						t.Errorf("%s reads %s of %s: %s with %d messages", name, f.Path, owner, c.ID, len(c.Messages))
					}
					return nil
				})
			}
		}
	}
}

// TestReadTruncated: a transcript is often read while it is written, so every beginning of
// a good file must give the same messages as far as it goes. The last may still be growing.
func TestReadTruncated(t *testing.T) {
	demo := "../../testdata/demo/home"
	set, err := NewSet(mappings.FS, nil)
	if err != nil {
		t.Fatal(err)
	}
	env := homeEnv(t, demo)
	logs := 0
	for _, name := range set.Names() {
		m := builtin(t, name)
		files, _ := m.Find(context.Background(), env)
		for _, f := range files {
			data, err := os.ReadFile(f.Path)
			if err != nil {
				t.Fatal(err)
			}
			logs++
			cut := filepath.Join(t.TempDir(), filepath.Base(f.Path))
			g := f
			g.Path = cut
			read := func(n int) []chat.Message {
				if err := os.WriteFile(cut, data[:n], 0o666); err != nil {
					t.Fatal(err)
				}
				var got []chat.Message
				_ = m.Read(context.Background(), g, ReadOptions{}, func(c *chat.Conversation) error {
					got = append(got, c.Messages...)
					return nil
				})
				for i := range got {
					got[i].Running = false // an answer that is not there yet
				}
				return got
			}
			want := read(len(data))
			step := 1
			if testing.Short() {
				step = 37
			}
			for n := 0; n < len(data); n += step {
				got := read(n)
				last := len(got) - 1
				if last >= len(want) || last > 0 && !reflect.DeepEqual(got[:last], want[:last]) {
					t.Fatalf("%s: the first %d bytes give %d messages that are not the first of the whole", f.Path, n, len(got))
				}
			}
		}
	}
	if logs < 5 {
		t.Errorf("only %d logs in the demo home", logs)
	}
}

// TestReadCutDatabase: a database cut anywhere gives what can be read or an error that
// names it, never a panic.
func TestReadCutDatabase(t *testing.T) {
	m := load(t, chatsYAML)
	env := homeWith(t, nil)
	path := filepath.Join(env.Home, "chats.db")
	var rows strings.Builder
	for range 400 {
		rows.WriteString(`INSERT INTO line VALUES(1,'a','me','{"say":"` + strings.Repeat("heron ", 40) + `"}');`)
	}
	buildDB(t, path, `CREATE TABLE chat(id TEXT, title TEXT, at INTEGER); CREATE TABLE line(n INTEGER, chat TEXT, who TEXT, body TEXT); INSERT INTO chat VALUES('a','A',1780000000);`+rows.String())
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for n := 0; n < len(data); n += max(1, len(data)/60) {
		if err := os.WriteFile(path, data[:n], 0o666); err != nil {
			t.Fatal(err)
		}
		files, _ := m.Find(context.Background(), env)
		for _, f := range files {
			messages, incomplete := 0, false
			err := m.Read(context.Background(), f, ReadOptions{}, func(c *chat.Conversation) error {
				messages += len(c.Messages)
				incomplete = incomplete || c.Read.Incomplete != ""
				return nil
			})
			if err != nil && !strings.Contains(err.Error(), path) {
				t.Errorf("cut at %d: the error does not name the file: %v", n, err)
			}
			if err == nil && n > 0 && !incomplete && messages < 400 {
				t.Errorf("cut at %d: %d messages and no word about the others", n, messages)
			}
		}
	}
}
