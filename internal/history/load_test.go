package history

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"parlance/internal/chat"
)

func load(t *testing.T, w *world, what, as string) ([]string, error) {
	t.Helper()
	var got []string
	err := w.open().Load(context.Background(), what, as, func(c *chat.Conversation) error {
		got = append(got, fmt.Sprintf("%s %d", c.FullID(), len(c.Messages)))
		return nil
	})
	return got, err
}

func TestLoad(t *testing.T) {
	w := newWorld(t)
	at := w.ago(hour)
	w.write(".acme/x/abc-1.jsonl", at, said(at, "me", "one"), said(at, "me", "inner", "sub", "k1"))
	w.write(".acme/x/abc-2.jsonl", at, said(at, "me", "two"), said(at, "bot", "2"))
	w.write(".bolt/b.jsonl", at, rec("kind", "meta", "session", "zz9"), rec("kind", "user", "text", "hi"))
	w.database(".crate/a.db", at, append(chatRow("ses_1", at, "a", "b"), chatRow("ses_2", at, "c")...)...)
	stray := w.write("elsewhere/log.jsonl", at, rec("kind", "meta", "session", "stray"), rec("kind", "user", "text", "hi"))
	w.write("elsewhere/mess.jsonl", at, `{"x":1}`, `{"x":2}`)
	w.write(".locked/a.bin", at, "?")
	w.cfg.Envs[0].Cwd = filepath.Join(w.home, "elsewhere")
	tests := []struct {
		what, as, want string
	}{
		{"abc-1", "", "acme:abc-1 1"},
		{"acme:abc-1", "", "acme:abc-1 1"},
		{"ABC-2", "", "acme:abc-2 2"},
		{"c-2", "", "acme:abc-2 2"},
		{"abc-1/k1", "", "acme:abc-1/k1 1"},
		{"bc-1", "", "acme:abc-1 1"}, // its subagent's id begins with it
		{"zz9", "", "bolt:zz9 1"},
		{"ses_1", "", "crate:ses_1 2"},
		{"crate:ses_2", "", "crate:ses_2 1"},
		{filepath.Join(w.home, ".acme/x/abc-1.jsonl"), "", "acme:abc-1 1, acme:abc-1/k1 1"},
		{"~/.acme/x/abc-2.jsonl", "", "acme:abc-2 2"},
		{filepath.Join(w.home, ".crate/a.db"), "", "crate:ses_1 2, crate:ses_2 1"},
		{stray, "", "bolt:stray 1"},
		{"log.jsonl", "", "bolt:stray 1"},
		{"./log.jsonl", "bolt", "bolt:stray 1"},
		{"../elsewhere/log.jsonl", "", "bolt:stray 1"},
	}
	for _, tt := range tests {
		t.Run(tt.what, func(t *testing.T) {
			got, err := load(t, w, tt.what, tt.as)
			if err != nil || strings.Join(got, ", ") != tt.want {
				t.Errorf("got %q (%v), want %q", got, err, tt.want)
			}
		})
	}
	for _, path := range []string{stray, "../elsewhere/log.jsonl", "acme:../../elsewhere/log.jsonl", "~/.acme/x/abc-2.jsonl"} {
		err := w.open().LoadID(t.Context(), path, func(c *chat.Conversation) error {
			t.Errorf("by id %s: got %s", path, c.FullID())
			return nil
		})
		if missing := new(NotFoundError); !errors.As(err, &missing) {
			t.Errorf("by id %s: got %v", path, err)
		}
	}
	var several *AmbiguousError
	if _, err := load(t, w, "abc", ""); !errors.As(err, &several) || len(several.Candidates) != 2 {
		t.Errorf("a part of two ids: got %v", err)
	}
	var miss *NotFoundError
	if _, err := load(t, w, "abc-3", ""); !errors.As(err, &miss) || len(miss.Nearest) == 0 {
		t.Errorf("an unknown id: got %v", err)
	}
	for what, want := range map[string]string{
		"./none.jsonl":                         "no such file",
		"none.jsonl":                           "no such file",
		"./mess.jsonl":                         "no mapping finds a message",
		filepath.Join(w.home, ".locked/a.bin"): "the store is encrypted",
		filepath.Join(w.home, ".acme/x") + "/": "a folder",
		"~/.acme/x":                            "a folder",
		"../elsewhere":                         "a folder",
	} {
		got, err := load(t, w, what, "")
		if err == nil || !strings.Contains(err.Error(), want) || errors.As(err, &miss) {
			t.Errorf("%s: got %q, %v; want an error with %q", what, got, err, want)
		}
	}
	if _, err := load(t, w, stray, "nobody"); err == nil || !strings.Contains(err.Error(), `no mapping is called "nobody"`) {
		t.Errorf("an unknown mapping: got %v", err)
	}
}

func TestOneConversationInTwoPlaces(t *testing.T) {
	w := newWorld(t)
	at := w.ago(hour)
	// The backup is the beginning of the other.
	long := w.write(".acme/x/a.jsonl", at, said(at, "me", "start"), said(at, "bot", "heron"), said(at, "me", "more"))
	w.write(".acme-backup/x/a.jsonl", at.Add(time.Minute), said(at, "me", "start"), said(at, "bot", "heron"))
	// Two that went different ways after one beginning: the one with more wins.
	w.write(".acme/x/b.jsonl", at, said(at, "me", "start"), said(at, "bot", "tern"))
	more := w.write(".acme-backup/x/b.jsonl", w.ago(90*hour), said(at, "me", "start"), said(at, "bot", "gull"), said(at, "bot", "gull"))
	// Two of one name.
	one := w.write(".acme/x/c.jsonl", at, said(at, "me", "an egret"))
	two := w.write(".acme-backup/x/c.jsonl", at, said(at, "me", "a crane"))
	// The database is the first source, the document an older copy of more.
	db := w.database(".crate/a.db", w.ago(2*hour), chatRow("ses_1", w.ago(2*hour), "plover")...)
	w.write(".crate/old/ses_1.json", at, `{"messages":[{"role":"user","text":"plover"},{"role":"user","text":"dunlin"}]}`)
	tests := []struct{ text, want string }{
		{"heron", long},
		{"tern", ""}, // only in the copy that lost
		{"gull", more},
		{"egret", one},
		{"crane", two},
		{"plover", db},
		{"dunlin", ""},
		{"", one + " " + two + " " + long + " " + more + " " + db},
	}
	for _, tt := range tests {
		t.Run(tt.text, func(t *testing.T) {
			var got []string
			for _, r := range w.search(tt.text).Rows {
				got = append(got, r.File)
			}
			want := strings.Fields(tt.want)
			if tt.text != "" && strings.Join(got, " ") != tt.want || len(got) != len(want) {
				t.Errorf("got  %q\nwant %q", got, want)
			}
		})
	}
	var several *AmbiguousError
	if _, err := load(t, w, "c", ""); !errors.As(err, &several) || len(several.Candidates) != 2 || several.Candidates[0].File == several.Candidates[1].File {
		t.Errorf("an id with two conversations: got %v", err)
	}
	f, err := w.open().Fork(context.Background(), Query{Text: "acme:c"})
	if err != nil || !strings.Contains(f.Note, "2 conversations have that id") {
		t.Errorf("fork: got %+v, %v", f, err)
	}
	if err := os.Remove(db); err != nil {
		t.Fatal(err)
	}
	if got := ids(w.search("dunlin")); got != "crate:ses_1" {
		t.Errorf("without the database: got %s", got)
	}
}

// What is fresh is read again, to find out who asks; the copies of a conversation stand that twice.
func TestLoadFreshCopies(t *testing.T) {
	w := newWorld(t, "crate")
	at := w.ago(time.Second)
	w.database(".crate/a.db", at, append(chatRow("row-1", at, "parlance", "b"), chatRow("row-2", at, "parlance")...)...)
	w.database(".crate/b.db", at, append(chatRow("row-1", at, "parlance", "b", "c"), chatRow("row-3", at, "parlance")...)...)
	got := 0
	err := w.open().Load(context.Background(), "crate:row-1", "", func(c *chat.Conversation) error {
		got = len(c.Messages)
		return nil
	})
	if err != nil || got != 3 {
		t.Errorf("got %d messages, %v", got, err)
	}
}
