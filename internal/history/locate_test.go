package history

import (
	"context"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestLocate(t *testing.T) {
	w := newWorld(t)
	at := w.ago(hour)
	w.write(".acme/x/abc-1.jsonl", at, said(at, "me", "one"))
	w.write(".acme/x/abc-2.jsonl", at, said(at, "me", "two"))
	w.write(".bolt/b.jsonl", at, rec("kind", "meta", "session", "zz9"), rec("kind", "user", "text", "hi"))
	w.database(".crate/a.db", at, chatRow("ses_1", at, "a")...)
	w.write(".locked/a.bin", at, "?")
	w.cfg.Envs[0].Cwd = w.home
	for _, tt := range []struct{ what, want string }{
		{"abc-1", ".acme/x/abc-1.jsonl"},
		{"acme:ABC-1", ".acme/x/abc-1.jsonl"},
		{"abc-1/k1", ".acme/x/abc-1.jsonl"}, // a subagent in it
		{"abc-", ".acme/x/abc-1.jsonl .acme/x/abc-2.jsonl"},
		{"zz9", ".bolt/b.jsonl .crate/a.db"}, // only reading would tell
		{"crate:ses_1", ".crate/a.db"},
		{"bolt:zz9", ".bolt/b.jsonl"},
		{"./.acme/x/abc-2.jsonl", ".acme/x/abc-2.jsonl"},
		{"~/.acme/x/abc-2.jsonl", ".acme/x/abc-2.jsonl"},
		{"acme:nobody", ""},
		{" ", ""},
	} {
		h := w.open()
		places, err := h.Locate(context.Background(), tt.what)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, p := range places {
			rel, err := filepath.Rel(w.home, p.Path)
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, filepath.ToSlash(rel))
		}
		slices.Sort(got)
		if strings.Join(got, " ") != tt.want {
			t.Errorf("%q: got %q, want %q", tt.what, got, tt.want)
		}
	}

	places, err := w.open().Locate(context.Background(), "locked:a")
	if err != nil || len(places) != 1 || places[0].Closed == "" || places[0].Provider != "locked" {
		t.Errorf("locked: got %+v, %v", places, err)
	}
}
