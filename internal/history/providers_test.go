package history

import (
	"context"
	"strings"
	"testing"
)

func TestProviders(t *testing.T) {
	w := newWorld(t)
	at := w.ago(hour)
	w.write(".acme/x/a.jsonl", at, said(w.ago(30*hour), "me", "hi", "dir", "/srv"), said(at, "me", "inner", "sub", "k"), `{"who":"stranger"}`)
	w.write(".acme-backup/x/a.jsonl", at, said(w.ago(30*hour), "me", "hi"))
	w.write(".locked/a.bin", at, "?")
	w.write(".crate/broken.db", at, "no database")
	all, err := w.open().Providers(context.Background(), nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	by := map[string]Status{}
	var names []string
	for _, s := range all {
		by[s.Name] = s
		names = append(names, s.Name)
	}
	if got, want := strings.Join(names, " "), "acme bolt crate dusk ember locked"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	a := by["acme"]
	if a.Files != 2 || a.Conversations != 2 || a.Messages != 2 || !a.Oldest.Equal(w.ago(30*hour)) || !a.Newest.Equal(at) || a.Mapping != "built-in" {
		t.Errorf("acme: got %+v", a)
	}
	if len(a.NoRule) != 1 || !strings.Contains(strings.Join(a.NotRecorded, ", "), "titles, models, reasoning, tool calls") {
		t.Errorf("acme: no rule for %v, not recorded %v", a.NoRule, a.NotRecorded)
	}
	if s := by["locked"]; s.Unsupported["the store is encrypted"] != 1 || s.Files != 0 {
		t.Errorf("locked: got %+v", s)
	}
	if s := by["crate"]; strings.Join(s.Patterns, " ") != "~/.crate/*.db ~/.crate/v2/*.db ~/.crate/old/*.json" {
		t.Errorf("crate: got patterns %q; each counts once, though sources share it", s.Patterns)
	}
	if s := by["crate"]; len(s.Problems) != 1 || s.Files != 1 || s.Conversations != 0 {
		t.Errorf("crate: got %+v", s)
	}
	if s := by["bolt"]; s.Files != 0 || len(s.Patterns) != 1 || s.NotRecorded != nil {
		t.Errorf("bolt: got %+v", s)
	}
}

// A store that breaks off is never left out, or cut, without a word.
func TestBrokenOffIsSaid(t *testing.T) {
	for name, texts := range map[string][]string{"no message could be read": {"boom"}, "incomplete: ": {"heron", "boom"}} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, "fault")
			at := w.ago(hour)
			path := w.database(".fault/a.db", at, chatRow("ses_1", at, texts...)...)
			said := func(where string, list []Problem) {
				t.Helper()
				if len(list) != 1 || list[0].Path != path || !strings.Contains(list[0].Reason, name) || !strings.Contains(list[0].Reason, "malformed JSON") {
					t.Errorf("%s: got %+v", where, list)
				}
			}
			list, err := w.open().List(context.Background(), Filter{})
			if err != nil || len(list.Rows) != len(texts)-1 {
				t.Errorf("got %+v, %v", list.Rows, err)
			}
			said("list", list.Problems)
			all, err := w.open().Providers(context.Background(), nil, nil)
			if err != nil || len(all) != 1 {
				t.Fatalf("got %+v, %v", all, err)
			}
			said("providers", all[0].Problems)
			if len(texts) > 1 { // else there is nothing that a search has to read
				said("search", w.search("heron").Problems)
			}
		})
	}
}
