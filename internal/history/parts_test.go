package history

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"parlance/internal/chat"
	"parlance/internal/mapping"
)

// grove writes a conversation as a tree of files: user and assistant in turn, a part each.
func (w *world) grove(id string, texts ...string) {
	at := w.ago(hour)
	w.write(".grove/talk/"+id+".json", at, "{}")
	for i, text := range texts {
		m := id + string(rune('a'+i))
		w.write(".grove/message/"+id+"/"+m+".json", at, rec("m", m, "role", []string{"user", "assistant"}[i%2]))
		w.write(".grove/part/"+m+"/1.json", at, rec("text", text))
	}
}

// A conversation that is a tree of files is looked for in the bytes of all of them, and parsed
// only if it may be there.
func TestSearchScansAllParts(t *testing.T) {
	w := newWorld(t, "grove")
	w.grove("one", "Where is the heron?", "At the pond.")
	w.grove("two", "And the tern?", "On the roof.")
	w.grove("three")
	for _, tt := range []struct {
		text, want string
		read       int64
	}{
		{"heron", "grove:one", 1},
		{"the roof", "grove:two", 1},
		{"osprey", "", 0},
		{"two", "grove:two", 1},
		{"roof tern", "grove:two", 1}, // words, in two files
	} {
		l := w.search(tt.text)
		if ids(l) != tt.want || l.Work.Read != tt.read {
			t.Errorf("%q: got %q with %d read, want %q with %d", tt.text, ids(l), l.Work.Read, tt.want, tt.read)
		}
	}
	// A broken part is named, once something has to be read for it, and hides nothing else.
	w.write(".grove/part/onea/0.json", w.ago(hour), `{"text":`)
	if l := w.search("heron"); ids(l) != "grove:one" {
		t.Errorf("got %q, %v", ids(l), l.Problems)
	}
}

// A store whose decoder writes down what stands in its files is filtered by their bytes, too.
func TestSearchScansTheFilesOfADecoder(t *testing.T) {
	w := newWorld(t, "grove")
	set, envOf := builtIn(t)
	w.cfg.Set, w.cfg.Envs[0].Named = set, envOf("kiro_ide").Named
	const base = ".config/Kiro/User/globalStorage/kiro.kiroagent/"
	const logs = base + "0123456789abcdef0123456789abcdef/414d1636299d2b9e4ce7e17fb11f63e9/"
	log := func(session, prompt string) string {
		return `{"executionId":"e-` + prompt[:3] + `","startTime":1,"chatSessionId":"` + session + `","input":{"data":{"messages":[{"role":"user","content":"` + prompt + `"}]}}}`
	}
	at := w.ago(hour)
	w.write(logs+"aa", at, log("s-one", "Where is the heron?"))
	w.write(logs+"bb", at, log("s-one", "And the tern?"))
	w.write(logs+"cc", at, log("s-two", "On the roof."))
	w.write(base+"workspace-sessions/L3Nydi9zaG9w/s-two.json", at, `{"history":[]}`)
	w.write(base+"workspace-sessions/L3Nydi9zaG9w/.migrated-s-two.json", at, `{"v2SessionId":"sess_moved"}`)
	for _, tt := range []struct {
		text, want string
		read       int64
	}{
		{"the tern", "kiro_ide:s-one", 1},
		{"roof", "kiro_ide:moved", 1},
		{"osprey", "", 0},
		{"moved", "kiro_ide:moved", 1}, // an id that stands in none of its files
	} {
		l := w.search(tt.text)
		if ids(l) != tt.want || l.Work.Read != tt.read {
			t.Errorf("%q: got %q with %d read, want %q with %d", tt.text, ids(l), l.Work.Read, tt.want, tt.read)
		}
	}

	// What is excluded as one of its files is excluded whole, however it is asked for.
	w.cfg.Exclude.Paths = []string{"**/bb"}
	if l := w.search(""); ids(l) != "kiro_ide:moved" {
		t.Errorf("excluded: got %q", ids(l))
	}
	path := filepath.Join(w.home, filepath.FromSlash(logs+"aa"))
	for _, as := range []string{"", "kiro_ide"} {
		err := w.open().Load(context.Background(), path, as, func(*chat.Conversation) error { return nil })
		if err == nil || !strings.Contains(err.Error(), "excluded") {
			t.Errorf("load as %q: %v", as, err)
		}
	}
	if _, err := w.open().Explain(context.Background(), path, "", mapping.ExplainOptions{}); err == nil || !strings.Contains(err.Error(), "excluded") {
		t.Errorf("explain: %v", err)
	}
}

func TestExcludedPartsOfATree(t *testing.T) {
	w := newWorld(t, "grove")
	w.grove("one", "Where is the heron?", "At the pond.")
	w.grove("two", "And the tern?")
	w.cfg.Exclude.Paths = []string{"~/.grove/part/oneb"}
	if l := w.search(""); ids(l) != "grove:two" {
		t.Errorf("got %q", ids(l))
	}
	if err := os.Remove(filepath.Join(w.home, ".grove", "part", "oneb", "1.json")); err != nil {
		t.Fatal(err)
	}
	if l := w.search(""); ids(l) != "grove:one grove:two" {
		t.Errorf("without the part: got %q", ids(l))
	}
}

// Rows that should be documents and are none are counted and named, whoever asks.
func TestBrokenRowsAreNamed(t *testing.T) {
	w := newWorld(t, "heath")
	at := w.ago(hour)
	w.database(".heath/a.db", at,
		"INSERT INTO chats VALUES ('good', 'Good', NULL, NULL, 0), ('mixed', 'Mixed', NULL, NULL, 0), ('blank', 'Blank', NULL, NULL, 0), ('gone1', NULL, NULL, NULL, 0), ('gone2', NULL, NULL, NULL, 0), ('gone3', NULL, NULL, NULL, 0)",
		"INSERT INTO messages VALUES ('good', 1, 'user', 'a heron'), ('mixed', 1, 'user', 'a tern'), ('mixed', 2, 'assistant', ''), ('blank', 1, 'user', '')")
	const want = "chats, gone1: null; chats, gone2: null; chats, gone3: null; and 1 more of its conversations"
	l := w.search("")
	if ids(l) != "heath:good heath:mixed" || len(l.Problems) != 1 || l.Problems[0].Reason != want {
		t.Errorf("got %q, %+v", ids(l), l.Problems)
	}
	st, err := w.open().Providers(context.Background(), nil, nil)
	if err != nil || len(st) != 1 || st[0].Conversations != 2 || len(st[0].Problems) != 1 || st[0].Problems[0].Reason != want {
		t.Errorf("got %+v, %v", st, err)
	}
	for what, want := range map[string]string{"gone2": "chats, gone2: null", "blank": "messages, blank 1: empty"} {
		silent := new(UnreadableError)
		if _, err := w.open().Fork(context.Background(), Query{Text: "heath:" + what}); !errors.As(err, &silent) || silent.Reason != want || silent.Row != what {
			t.Errorf("fork %s: %v", what, err)
		}
	}
	err = w.open().Load(context.Background(), "heath:mixed", "", func(c *chat.Conversation) error {
		if len(c.Messages) != 1 || c.Read.Records != 2 || len(c.Read.Broken) != 1 || c.Read.Broken[0].Why != "messages, mixed 2: empty" {
			t.Errorf("got %+v", c.Read)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

// A database that has some of what a mapping reads, and not all, is of a version that it does not
// know. That is said, also beside others; one that has nothing of it is somebody else's.
func TestDatabasesOfOtherVersions(t *testing.T) {
	w := newWorld(t, "heath")
	at := w.ago(hour)
	w.database(".heath/a.db", at, "INSERT INTO chats VALUES ('good', 'Good', NULL, NULL, 0)", "INSERT INTO messages VALUES ('good', 1, 'user', 'a heron')",
		"CREATE TABLE later (x)", "ALTER TABLE messages ADD COLUMN mood")
	lost := w.database(".heath/b.db", at, "DROP TABLE messages")
	renamed := w.database(".heath/c.db", at, "ALTER TABLE chats RENAME COLUMN title TO name")
	w.database(".heath/d.db", at, "DROP TABLE messages", "DROP TABLE chats", "CREATE TABLE other (x)")
	l := w.search("")
	got := map[string]string{}
	for _, p := range l.Problems {
		_, got[p.Path], _ = strings.Cut(p.Reason, "does not know: ")
	}
	if ids(l) != "heath:good" || len(got) != 2 || got[lost] != "it has no table messages" || got[renamed] != "it has no column chats.title" {
		t.Errorf("got %q, %v", ids(l), got)
	}
}

// A database of which only a part can be read gives that part, and says what it lacks. One that
// is merely older, and one that has all, say nothing; no conversation is read by two sources.
func TestDatabasesReadInPart(t *testing.T) {
	const ends, sides = "CREATE TABLE ends (chat, state)", "CREATE TABLE sides (id, parent)"
	for _, row := range []struct {
		name, want, ids string
		change          []string
	}{
		{"whole", "", "brook:one brook:side one", []string{ends, sides, "INSERT INTO ends VALUES ('one', 1)", "INSERT INTO sides VALUES ('one', 'one')"}},
		{"merely older", "", "brook:one", nil},
		{"a column of a table that both read", "it has no column chats.title, which source now reads", "brook:one", []string{ends, "ALTER TABLE chats RENAME COLUMN title TO name"}},
		{"a column of the table that only the newer reads", "it has no column ends.state, which source now reads", "brook:one", []string{"CREATE TABLE ends (chat)"}},
		{"a part that nothing stands in for", "it has no column sides.parent, which source side reads", "brook:one", []string{ends, "CREATE TABLE sides (id)", "INSERT INTO ends VALUES ('one', 1)"}},
	} {
		t.Run(row.name, func(t *testing.T) {
			w := newWorld(t, "brook")
			w.database(".brook/a.db", w.ago(hour), append([]string{"INSERT INTO chats VALUES ('one', 'One', NULL, NULL, 0)", "INSERT INTO messages VALUES ('one', 1, 'user', 'a heron')"}, row.change...)...)
			l, err := w.open().List(context.Background(), Filter{Limit: -1, Subagents: true})
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, r := range l.Rows {
				got = append(got, r.FullID())
				if r.Messages != 1 {
					t.Errorf("%s: %d messages", r.FullID(), r.Messages)
				}
			}
			slices.Sort(got)
			if strings.Join(got, " ") != row.ids {
				t.Errorf("got %q", got)
			}
			said := ""
			for _, p := range l.Problems {
				_, what, _ := strings.Cut(p.Reason, "read in part: it is of a version that the mapping does not know: ")
				said += what
			}
			if said != row.want {
				t.Errorf("said %q, want %q; %v", said, row.want, l.Problems)
			}
		})
	}
}
