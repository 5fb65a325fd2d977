package history

import (
	"context"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"parlance/internal/mapping"
)

// Several formats may look for exports in one folder. A file belongs to the one whose
// conditions it meets; that it is none of the others' is nothing to report, and what is wrong
// with a file is said once.
func TestExportsOfSeveralFormats(t *testing.T) {
	w := newWorld(t)
	set, err := mapping.NewSet(fstest.MapFS{
		"gull.yaml": {Data: []byte(`
parlance: 1
name: gull
sources: [{id: export, paths: ["${ROOT}/**/*.json"], container: json, records: talk, when: {talk: {kind: array}}}]
messages: [{as: user, text: say}]
`)},
		"tern.yaml": {Data: []byte(`
parlance: 1
name: tern
sources:
  - {id: export, paths: ["${ROOT}/**/*.json"], container: json, records: lines, when: {lines: {kind: array}}}
  - {id: own, paths: ["~/.tern/*.json"], container: json, records: lines, when: {lines: {kind: array}}}
messages: [{as: user, text: line}]
`)},
	}, nil)
	if err != nil {
		t.Fatal(err)
	}
	w.cfg.Set = set
	w.cfg.Envs[0].Roots = []string{filepath.Join(w.home, "exports")}
	at := w.ago(hour)
	w.write("exports/a.json", at, `{"talk":[{"say":"an egret"}]}`)
	tern := w.write("exports/sub/b.json", at, `{"lines":[{"line":"a crane"}]}`)
	w.write("exports/package.json", at, `{"name":"neither"}`)
	cut := w.write("exports/cut.json", at, `{"talk":[`)
	odd := w.write(".tern/odd.json", at, `{"name":"not a tern's"}`)

	w.cfg.Envs[0].Roots = append(w.cfg.Envs[0].Roots, filepath.Join(w.home, ".tern"))
	w.write(".tern/own.json", at, `{"lines":[{"line":"a heron"}],"talk":[{"say":"what a tool keeps is no export"}]}`)

	got := w.search("")
	if ids(got) != "gull:a tern:b tern:own" {
		t.Errorf("got %s", ids(got))
	}
	var said []string
	for _, p := range got.Problems {
		said = append(said, p.Path+" "+p.Reason)
	}
	if len(said) != 2 || !strings.HasPrefix(said[0], odd+" no source") || !strings.HasPrefix(said[1], cut+" not one whole JSON document") {
		t.Errorf("problems: got %q", said)
	}
	if got, err := load(t, w, tern, ""); err != nil || strings.Join(got, ", ") != "tern:b 1" {
		t.Errorf("by its file: got %q, %v", got, err)
	}
	all, err := w.open().Providers(context.Background(), nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []struct{ files, conversations int }{{2, 1}, {4, 2}} { // its own, the cut one, and for tern the odd one
		if all[i].Files != want.files || all[i].Conversations != want.conversations {
			t.Errorf("%s: got %d files, %d conversations, want %v", all[i].Name, all[i].Files, all[i].Conversations, want)
		}
	}
}

// A mapping that is careful with exports reads them all the same if somebody says whose they are.
func TestExportReadAs(t *testing.T) {
	w := newWorld(t)
	set, err := mapping.NewSet(fstest.MapFS{"gull.yaml": {Data: []byte(`
parlance: 1
name: gull
sources: [{id: export, paths: ["${ROOT}/**/*.json"], container: json, records: talk, when: {talk: {kind: array}, any: [{by: gull}, {"file:export": {exists: false}}]}}]
messages: [{as: user, text: say}]
`)}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	w.cfg.Set = set
	w.cfg.Envs[0].Roots = []string{filepath.Join(w.home, "exports")}
	at := w.ago(hour)
	w.write("exports/a.json", at, `{"by":"gull","talk":[{"say":"an egret"}]}`)
	b := w.write("exports/b.json", at, `{"talk":[{"say":"a crane"}]}`)
	if got := w.search(""); ids(got) != "gull:a" || len(got.Problems) != 0 {
		t.Errorf("got %s, problems %v", ids(got), got.Problems)
	}
	if _, err := load(t, w, b, ""); err == nil {
		t.Error("read without --as")
	}
	if got, err := load(t, w, b, "gull"); err != nil || strings.Join(got, ", ") != "gull:b 1" {
		t.Errorf("with --as: got %q, %v", got, err)
	}
}
