package mapping

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"parlance/mappings"
)

// On a machine without any tool, nothing is parsed, and no folder below one that is not there is
// looked at.
func TestSnapshotLooksOnce(t *testing.T) {
	s, err := NewSet(mappings.FS, nil)
	if err != nil {
		t.Fatal(err)
	}
	named, err := NamedRoots(mappings.FS)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	env := Env{Home: dir, Cwd: filepath.Join(dir, "work"), Named: named}.Snapshot()
	if got := s.Present(env, s.Names()); len(got) > 0 || s.Compiled() > 0 {
		t.Errorf("present: %q, of which %d were compiled", got, s.Compiled())
	}
	looks := env.Looks()
	for path := range env.seen.known {
		if parent := filepath.Dir(path); path != parent && !env.seen.known[parent] {
			looks++ // known without a look
		}
	}
	if looks != len(env.seen.known) {
		t.Errorf("%d looks at %d names", looks, len(env.seen.known))
	}
	before := env.Looks()
	s.Present(env, s.Names())
	if got := env.Looks() - before; got > 0 {
		t.Errorf("%d further looks for the same", got)
	}
}

// Mappings that look into the same folders do so once between them, Find included.
func TestSnapshotIsSharedByFind(t *testing.T) {
	s, err := NewSet(mappingFS(
		"one.yaml", mappingText("one", "~/.share/{a,b,c}/*.jsonl"),
		"two.yaml", mappingText("two", "~/.share/{b,c,d}/*.jsonl"),
		"three.yaml", mappingText("three", "~/.none/{a,b,c}/*.jsonl"),
	), nil)
	if err != nil {
		t.Fatal(err)
	}
	dir := home(t, ".share/b/x.jsonl")
	env := Env{Home: dir}.Snapshot()
	looked := func() int { return env.Looks() }
	above := 0
	for d := dir; filepath.Dir(d) != d; d = filepath.Dir(d) {
		above++
	}
	if got, want := s.Present(env, s.Names()), []string{"one", "two"}; !slices.Equal(got, want) {
		t.Errorf("present: got %q, want %q", got, want)
	}
	// The root and what is above home; .share and .none; a and b of it.
	if got, want := looked(), 1+above+2+2; got != want {
		t.Errorf("got %d looks, want %d", got, want)
	}
	for _, name := range []string{"one", "two"} {
		m, _ := s.Mapping(name)
		if files, problems := m.Find(t.Context(), env); len(files) != 1 || len(problems) > 0 {
			t.Errorf("%s: got %v, %v", name, files, problems)
		}
	}
	if got, want := looked(), 1+above+2+4; got != want { // c and d, which Find alone asks for
		t.Errorf("with Find: got %d looks, want %d", got, want)
	}
}

// A folder that several mappings' wildcards go through, or lookups of many conversations, is
// read once; one with more in it than is remembered is read again, and gives the same.
func TestFoldersAreReadOnce(t *testing.T) {
	lookup := strings.Replace(mappingText("two", "~/.share/logs/*.jsonl"), "    container: jsonl\n", "    container: jsonl\n    sidecar:\n      meta: \"../meta/*/{stem}.json\"\n", 1)
	s, err := NewSet(mappingFS("one.yaml", mappingText("one", "~/.share/*/*.jsonl"), "two.yaml", lookup), nil)
	if err != nil {
		t.Fatal(err)
	}
	dir := home(t, ".share/logs/a.jsonl", ".share/logs/b.jsonl", ".share/logs/c.jsonl", ".share/meta/x/a.json", ".share/meta/y/b.json")
	for _, full := range []bool{false, true} {
		env := Env{Home: dir}.Snapshot()
		if full {
			env.seen.kept = keptEntriesMax
		}
		found := 0
		for _, name := range []string{"one", "two"} {
			m, problems := s.Mapping(name)
			if m == nil {
				t.Fatal(problems)
			}
			files, failed := m.Find(t.Context(), env)
			if len(files) != 3 || len(failed) > 0 {
				t.Errorf("%s: got %v, %v", name, files, failed)
			}
			for _, f := range files {
				rd := &reading{m: m, src: m.Sources[0], file: f, opts: &ReadOptions{}}
				found += len(rd.sidecars(rd.scopes(nil, 1)))
			}
		}
		if found != 2 {
			t.Errorf("full %v: %d lookups found something", full, found)
		}
		// .share, logs, meta and x and y below it
		if got := env.Listed(); (got == 5) == full {
			t.Errorf("full %v: %d folders were read", full, got)
		}
	}
}
