package mapping

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"
)

// home makes a folder with these files, each one minute older than the one before. A name
// that ends in "/" is a folder; "a -> b" is a link.
func home(t testing.TB, files ...string) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	put(t, dir, files...)
	return dir
}

var firstTime = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

func put(t testing.TB, dir string, files ...string) {
	t.Helper()
	for i, name := range files {
		link, target, isLink := strings.Cut(name, " -> ")
		path := filepath.Join(dir, filepath.FromSlash(link))
		if strings.HasSuffix(name, "/") && !isLink {
			if err := os.MkdirAll(path, 0o755); err != nil {
				t.Fatal(err)
			}
			continue
		}
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if isLink {
			if !filepath.IsAbs(target) && !strings.HasPrefix(target, ".") {
				target = filepath.Join(dir, filepath.FromSlash(target))
			}
			if err := os.Symlink(target, path); err != nil {
				t.Skip(err)
			}
			continue
		}
		if err := os.WriteFile(path, []byte(name), 0o644); err != nil {
			t.Fatal(err)
		}
		at := firstTime.Add(-time.Duration(i) * time.Minute)
		if err := os.Chtimes(path, at, at); err != nil {
			t.Fatal(err)
		}
	}
}

// acme is a mapping with one jsonl source per list of patterns.
func acme(sources ...[]string) *Mapping {
	m := &Mapping{Name: "acme"}
	for i, paths := range sources {
		m.Sources = append(m.Sources, &Source{ID: fmt.Sprint(i), Paths: paths, Container: "jsonl", index: i})
	}
	return m
}

// rows are files as "path [sources]", relative to home.
func rows(home string, files []File) []string {
	var out []string
	for _, f := range files {
		rel, err := filepath.Rel(home, f.Path)
		if err != nil {
			rel = f.Path
		}
		out = append(out, fmt.Sprint(filepath.ToSlash(rel), " ", f.Sources))
	}
	return out
}

func errorRows(home string, errs []FindError) []string {
	var out []string
	for _, e := range errs {
		out = append(out, filepath.ToSlash(strings.ReplaceAll(e.Error(), home, "~")))
	}
	return out
}

func TestFind(t *testing.T) {
	tests := []struct {
		name    string
		files   []string
		sources [][]string
		exclude []string // of the first source
		want    []string // sorted
		errs    []string
	}{
		{name: "no folder", sources: [][]string{{"~/.acme/log/*.jsonl", "~/.acme/x.jsonl", "~/.acme/**/y"}}},
		{name: "one folder", files: []string{".acme/log/a.jsonl", ".acme/log/b.jsonl", ".acme/log/c.txt", ".acme/log/sub/d.jsonl"},
			sources: [][]string{{"~/.acme/log/*.jsonl"}}, want: []string{".acme/log/a.jsonl [0]", ".acme/log/b.jsonl [0]"}},
		{name: "a file by its name", files: []string{".acme/a.jsonl", ".acme/b.jsonl"},
			sources: [][]string{{"~/.acme/a.jsonl"}}, want: []string{".acme/a.jsonl [0]"}},
		{name: "names that begin with a dot", files: []string{"a/.b.jsonl", "a/.c/d.jsonl"},
			sources: [][]string{{"~/a/*.jsonl", "~/a/*/*.jsonl"}}, want: []string{"a/.b.jsonl [0]", "a/.c/d.jsonl [0]"}},
		{name: "several sources", files: []string{"p/x/a.jsonl", "p/x/agent-1.jsonl", "p/x/s/sub/deep/agent-2.jsonl"},
			sources: [][]string{{"~/p/*/*.jsonl"}, {"~/p/*/agent-*.jsonl", "~/p/*/*/sub/**/agent-*.jsonl"}, {"~/p/**/*.jsonl"}},
			want:    []string{"p/x/a.jsonl [0 2]", "p/x/agent-1.jsonl [0 1 2]", "p/x/s/sub/deep/agent-2.jsonl [1 2]"}},
		{name: "several patterns of one source", files: []string{"p/a.jsonl"},
			sources: [][]string{{"~/p/*.jsonl", "~/p/a*", "~/p/a.jsonl", "~/**/a.jsonl"}}, want: []string{"p/a.jsonl [0]"}},
		{name: "deep", files: []string{"s/r-1.jsonl", "s/2026/r-2.jsonl", "s/2026/01/02/r-3.jsonl", "s/2026/01/02/x.jsonl"},
			sources: [][]string{{"~/s/**/r-*.jsonl"}}, want: []string{"s/2026/01/02/r-3.jsonl [0]", "s/2026/r-2.jsonl [0]", "s/r-1.jsonl [0]"}},
		{name: "deep in the middle", files: []string{"s/x/a/f", "s/a/f", "s/x/y/a/f", "s/x/y/b/f"},
			sources: [][]string{{"~/s/**/a/f"}}, want: []string{"s/a/f [0]", "s/x/a/f [0]", "s/x/y/a/f [0]"}},
		{name: "deep at the end", files: []string{"s/f", "s/a/g", "s/a/b/h"},
			sources: [][]string{{"~/s/**"}}, want: []string{"s/a/b/h [0]", "s/a/g [0]", "s/f [0]"}},
		{name: "two deep", files: []string{"s/a/x/b/y/c", "s/a/b/c", "s/b/a/c"},
			sources: [][]string{{"~/s/**/a/**/b/**/c"}}, want: []string{"s/a/b/c [0]", "s/a/x/b/y/c [0]"}},
		{name: "classes", files: []string{"e/0f/x", "e/0g/x", "e/0ff/x"},
			sources: [][]string{{"~/e/[0-9a-f][0-9a-f]/x"}}, want: []string{"e/0f/x [0]"}},
		{name: "alternatives", files: []string{"e/a/x.json", "e/b/x.jsonl", "e/c/x.json"},
			sources: [][]string{{"~/e/{a,b}/*.{json,jsonl}"}}, want: []string{"e/a/x.json [0]", "e/b/x.jsonl [0]"}},

		{name: "packed", files: []string{"s/a.jsonl.gz", "s/b.jsonl.zst", "s/c.jsonl.bz2", "s/d.gz"},
			sources: [][]string{{"~/s/*.jsonl"}}, want: []string{"s/a.jsonl.gz [0]", "s/b.jsonl.zst [0]"}},
		{name: "packed by its name", files: []string{"s/a.jsonl.gz"},
			sources: [][]string{{"~/s/a.jsonl"}}, want: []string{"s/a.jsonl.gz [0]"}},
		{name: "plain wins over packed", files: []string{"s/a.jsonl.zst", "s/a.jsonl", "s/a.jsonl.gz", "s/b.jsonl.gz", "s/b.jsonl.zst"},
			sources: [][]string{{"~/s/*.jsonl"}}, want: []string{"s/a.jsonl [0]", "s/b.jsonl.zst [0]"}},
		{name: "plain wins by its name", files: []string{"s/a.jsonl.zst", "s/a.jsonl"},
			sources: [][]string{{"~/s/a.jsonl"}}, want: []string{"s/a.jsonl [0]"}},
		{name: "plain wins in its own folder only", files: []string{"s/1/a.jsonl.zst", "s/2/a.jsonl"},
			sources: [][]string{{"~/s/*/a.jsonl"}}, want: []string{"s/1/a.jsonl.zst [0]", "s/2/a.jsonl [0]"}},
		{name: "packed named in the pattern", files: []string{"s/a.jsonl.zst", "s/b.jsonl"},
			sources: [][]string{{"~/s/*.jsonl.zst"}}, want: []string{"s/a.jsonl.zst [0]"}},

		{name: "exclude by name", files: []string{"s/a.json", "s/sessions.json", "s/sessions.json.gz"},
			sources: [][]string{{"~/s/*.json"}}, exclude: []string{"**/sessions.json"}, want: []string{"s/a.json [0]"}},
		{name: "exclude without a folder", files: []string{"s/a.json", "s/sessions.json"},
			sources: [][]string{{"~/s/*.json"}}, exclude: []string{"sessions.json"}, want: []string{"s/a.json [0]"}},
		{name: "exclude from home", files: []string{"s/a/x", "s/b/x", "t/b/x"},
			sources: [][]string{{"~/*/*/x"}}, exclude: []string{"~/s/{b,c}/**"}, want: []string{"s/a/x [0]", "t/b/x [0]"}},
		{name: "exclude of one source", files: []string{"s/a.json", "s/b.json"},
			sources: [][]string{{"~/s/*.json"}, {"~/s/*.json"}}, exclude: []string{"*/b.json"}, want: []string{"s/a.json [0 1]", "s/b.json [1]"}},
		{name: "exclude of an unset variable", files: []string{"s/a.json"},
			sources: [][]string{{"~/s/*.json"}}, exclude: []string{"${NOTHING}/**"}, want: []string{"s/a.json [0]"}},
		{name: "an excluded plain file hides no packed one", files: []string{"s/a.json", "s/a.json.gz"},
			sources: [][]string{{"~/s/*.json*"}, {"~/s/*.json.gz"}}, exclude: []string{"**/a.json"}, want: []string{"s/a.json.gz [1]"}},

		{name: "link to a file", files: []string{"s/b/", "real/a.jsonl", "s/a.jsonl -> real/a.jsonl"},
			sources: [][]string{{"~/s/*.jsonl"}}, want: []string{"s/a.jsonl [0]"}},
		{name: "link to a file, by its name", files: []string{"real/a.jsonl", "s/a.jsonl -> real/a.jsonl"},
			sources: [][]string{{"~/s/a.jsonl"}}, want: []string{"s/a.jsonl [0]"}},
		{name: "link to nothing", files: []string{"s/.#a.jsonl -> ./ana@host.1234"},
			sources: [][]string{{"~/s/*.jsonl"}}},
		{name: "link to a folder in the fixed part", files: []string{"real/log/a.jsonl", ".acme -> real"},
			sources: [][]string{{"~/.acme/log/*.jsonl"}}, want: []string{".acme/log/a.jsonl [0]"}},
		{name: "last folder of the fixed part is a link", files: []string{"real/a.jsonl", ".acme/log -> real"},
			sources: [][]string{{"~/.acme/log/*.jsonl", "~/.acme/*"}}, want: []string{".acme/log/a.jsonl [0]"},
			errs: nil},
		{name: "link to a folder behind a wildcard", files: []string{"real/a.jsonl", "s/p/a.jsonl", "s/q -> real"},
			sources: [][]string{{"~/s/*/*.jsonl", "~/s/**/*.jsonl"}}, want: []string{"s/p/a.jsonl [0]"}},
		{name: "link to a folder with a name behind a wildcard", files: []string{"real/a.jsonl", "s/p/chats/b.jsonl", "s/q/chats -> real"},
			sources: [][]string{{"~/s/*/chats/*.jsonl"}}, want: []string{"s/p/chats/b.jsonl [0]"}},
		{name: "a folder that is fixed for one pattern and not for another", files: []string{"real/x/a.jsonl", "s/q -> real"},
			sources: [][]string{{"~/s/*/x/*.jsonl"}, {"~/s/q/x/*.jsonl"}}, want: []string{"s/q/x/a.jsonl [1]"}},
		{name: "a named folder that is fixed for one pattern and not for another", files: []string{"real/c/a.jsonl", "s/p/q -> real"},
			sources: [][]string{{"~/s/*/q/c/*.jsonl"}, {"~/s/p/q/c/*.jsonl"}}, want: []string{"s/p/q/c/a.jsonl [1]"}},
		{name: "link in a circle", files: []string{"s/a/x.jsonl", "s/a/up -> s"},
			sources: [][]string{{"~/s/**/*.jsonl"}}, want: []string{"s/a/x.jsonl [0]"}},
		{name: "one folder under two names", files: []string{"real/log/a.jsonl", "real/log/b.jsonl", "other -> real"},
			sources: [][]string{{"~/other/log/*.jsonl"}, {"~/real/log/*.jsonl"}}, want: []string{"other/log/a.jsonl [0 1]", "other/log/b.jsonl [0 1]"}},
		{name: "a file and a link to it", files: []string{"s/z.jsonl", "s/latest.jsonl -> s/z.jsonl"},
			sources: [][]string{{"~/s/l*.jsonl"}, {"~/s/*.jsonl"}}, want: []string{"s/z.jsonl [0 1]"}},

		{name: "a folder with a file's name", files: []string{"s/a.jsonl/", "s/b.jsonl"},
			sources: [][]string{{"~/s/*.jsonl"}}, want: []string{"s/b.jsonl [0]"}, errs: []string{"acme: ~/s/a.jsonl: is a folder, not a file"}},
		{name: "a folder with a file's name, not listed", files: []string{"s/a.jsonl/"},
			sources: [][]string{{"~/s/a.jsonl"}}, errs: []string{"acme: ~/s/a.jsonl: is a folder, not a file"}},
		{name: "a folder that another pattern knows as one", files: []string{"s/a/x", "s/b"},
			sources: [][]string{{"~/s/*", "~/s/*/x"}}, want: []string{"s/a/x [0]", "s/b [0]"}},
		{name: "a named folder that another pattern knows as one", files: []string{"s/a/x"},
			sources: [][]string{{"~/s/a", "~/s/a/x"}}, want: []string{"s/a/x [0]"}},
		{name: "an excluded folder with a file's name", files: []string{"s/a.jsonl/"},
			sources: [][]string{{"~/s/*.jsonl"}}, exclude: []string{"a.jsonl"}},
		{name: "a file in the place of a folder", files: []string{".acme", "s/p"},
			sources: [][]string{{"~/.acme/log/*.jsonl", "~/.acme/log/x.jsonl", "~/.acme/log/{x,y,z}/w", "~/s/*/x", "~/s/*/*/x", "~/s/*/p/q"}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir := home(t, tt.files...)
			m := acme(tt.sources...)
			m.Sources[0].Exclude = tt.exclude
			files, errs := m.Find(t.Context(), Env{Home: dir})
			got := rows(dir, files)
			slices.Sort(got)
			if !slices.Equal(got, tt.want) {
				t.Errorf("files\ngot  %q\nwant %q", got, tt.want)
			}
			if got := errorRows(dir, errs); !slices.Equal(got, tt.errs) {
				t.Errorf("errors\ngot  %q\nwant %q", got, tt.errs)
			}
		})
	}
}

func TestFindNewestFirst(t *testing.T) {
	dir := home(t, "s/c", "s/a", "s/b")
	at := firstTime.Add(-time.Minute)
	if err := os.Chtimes(filepath.Join(dir, "s", "b"), at, at); err != nil {
		t.Fatal(err)
	}
	files, _ := acme([]string{"~/s/*"}).Find(t.Context(), Env{Home: dir})
	if got, want := rows(dir, files), []string{"s/c [0]", "s/a [0]", "s/b [0]"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	f := files[0]
	if f.Provider != "acme" || f.Size != 3 || !f.ModTime.Equal(firstTime) {
		t.Errorf("got %+v", f)
	}
}

func TestFindDatabases(t *testing.T) {
	dir := home(t, "s/new.db", "s/old.db", "s/old.db-wal", "s/packed.db.gz", "s/log.jsonl", "s/log.jsonl-wal")
	late := firstTime.Add(time.Hour)
	for _, name := range []string{"old.db-wal", "log.jsonl-wal"} {
		if err := os.Chtimes(filepath.Join(dir, "s", name), late, late); err != nil {
			t.Fatal(err)
		}
	}
	m := acme([]string{"~/s/*.db"}, []string{"~/s/*.jsonl"})
	m.Sources[0].Container = "sqlite"
	files, errs := m.Find(t.Context(), Env{Home: dir})
	if got, want := rows(dir, files), []string{"s/old.db [0]", "s/new.db [0]", "s/log.jsonl [1]"}; !slices.Equal(got, want) || errs != nil {
		t.Fatalf("got %q, %v, want %q", got, errs, want)
	}
	if !files[0].ModTime.Equal(late) || files[0].Size != int64(len("s/old.db")) {
		t.Errorf("got %+v; the time is the log's, the size the database's", files[0])
	}
	if files[2].ModTime.Equal(late) {
		t.Error("a jsonl file took the time of a -wal")
	}
}

func TestFindVariables(t *testing.T) {
	dir := home(t, "moved/projects/p/a.jsonl", ".acme/projects/p/b.jsonl", "other/projects/p/c.jsonl", "data/my.db", ".local/share/acme/acme.db")
	m := acme([]string{"${ACME_HOME:-~/.acme}/projects/*/*.jsonl"}, []string{"${XDG_DATA_HOME:-~/.local/share}/acme/acme*.db", "${ACME_DB}", "~/data/${ACME_DB}"})
	m.Sources[0].Split = []string{"ACME_HOME"}
	tests := []struct {
		name string
		env  []string
		want []string
	}{
		{"none set", nil, []string{".acme/projects/p/b.jsonl [0]", ".local/share/acme/acme.db [1]"}},
		{"set", []string{"ACME_HOME", dir + "/moved", "ACME_DB", dir + "/data/my.db"},
			[]string{"moved/projects/p/a.jsonl [0]", "data/my.db [1]", ".local/share/acme/acme.db [1]"}},
		{"two", []string{"ACME_HOME", "~/moved," + dir + "/other"},
			[]string{"moved/projects/p/a.jsonl [0]", "other/projects/p/c.jsonl [0]", ".local/share/acme/acme.db [1]"}},
		{"name", []string{"ACME_DB", "my.db", "ACME_HOME", "/nowhere"}, []string{"data/my.db [1]", ".local/share/acme/acme.db [1]"}},
		{"twice the same", []string{"ACME_HOME", "~/moved,~/moved/,~/moved/."}, []string{"moved/projects/p/a.jsonl [0]", ".local/share/acme/acme.db [1]"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			files, errs := m.Find(t.Context(), Env{Home: dir, Getenv: getenv(tt.env...)})
			if got := rows(dir, files); !slices.Equal(got, tt.want) || errs != nil {
				t.Errorf("got %q, %v\nwant %q", got, errs, tt.want)
			}
		})
	}
}

func TestFindRelative(t *testing.T) {
	dir := home(t, "work/shop/sub/x", ".notes.md", "work/.notes.md", "work/shop/.notes.md", "elsewhere/.notes.md", "exports/.notes.md", "work/shop/deep/down/.notes.md")
	asked := 0
	env := Env{Home: dir, Cwd: filepath.Join(dir, "work", "shop", "sub"), Roots: []string{filepath.Join(dir, "exports")},
		Cwds: func() []string {
			asked++
			return []string{filepath.Join(dir, "elsewhere"), filepath.Join(dir, "work"), filepath.Join(dir, "gone"), "C:/nowhere"}
		}}
	m := acme([]string{"./.notes.md", "./.notes*"}, []string{"./.notes.md"})
	files, errs := m.Find(t.Context(), env)
	got := rows(dir, files)
	want := []string{"work/.notes.md [0 1]", "work/shop/.notes.md [0 1]", "elsewhere/.notes.md [0 1]", "exports/.notes.md [0 1]"}
	if !slices.Equal(got, want) || errs != nil {
		t.Errorf("got %q, %v\nwant %q", got, errs, want)
	}
	if asked != 1 {
		t.Errorf("working directories asked for %d times", asked)
	}
	if acme([]string{"~/.notes.md"}).Find(t.Context(), env); asked != 1 {
		t.Error("working directories asked for without a relative pattern")
	}
}

func TestFindBases(t *testing.T) {
	dir := home(t, ".acme/log/p/a.jsonl")
	m := acme([]string{"~/.acme/log/*/*.jsonl"}, []string{"~/.acme/log/p/a.jsonl"}, []string{"~/.acme/**/*.jsonl"})
	m.Sources[1].Unsupported = "sealed"
	files, _ := m.Find(t.Context(), Env{Home: dir})
	if len(files) != 1 || !slices.Equal(files[0].Sources, []int{0, 1, 2}) {
		t.Fatalf("got %+v", files)
	}
	want := map[int]string{0: filepath.Join(dir, ".acme", "log"), 1: filepath.Join(dir, ".acme", "log", "p"), 2: filepath.Join(dir, ".acme")}
	if !maps.Equal(files[0].base, want) {
		t.Errorf("got %v, want %v", files[0].base, want)
	}
	for path, want := range map[string]bool{".acme/log/p/b.json": true, ".acme/other": true, ".acme": true, ".": false, ".ssh/key": false, ".acme2/x": false, ".acme/../.ssh/key": false} {
		if got := files[0].mayRead(0, filepath.Join(dir, path)); got != want {
			t.Errorf("may read %s: got %v", path, got)
		}
	}
}

func TestFindReadsFoldersOnce(t *testing.T) {
	var files []string
	for p := range 5 {
		for s := range 4 {
			files = append(files, fmt.Sprintf(".acme/projects/p%d/s%d.jsonl", p, s), fmt.Sprintf(".acme/projects/p%d/s%d/notes.txt", p, s))
		}
	}
	dir := home(t, files...)
	m := acme(
		[]string{"~/.acme/projects/*/*.jsonl", "${B:-~/.acme}/projects/*/*.jsonl"},
		[]string{"~/.acme/projects/*/agent-*.jsonl", "~/.acme/projects/*/s*.jsonl"},
		[]string{"~/.config/acme/projects/*/*.jsonl", "~/.other/*.jsonl"})
	got, w := m.find(t.Context(), Env{Home: dir}, defaultGlobLimits)
	if len(got) != 20 || len(w.errs) > 0 {
		t.Fatalf("got %d files, %v", len(got), w.errs)
	}
	// projects and its five folders; the folders of the sessions are never opened.
	if w.folders != 6 {
		t.Errorf("read %d folders, want 6", w.folders)
	}
	// One look per file that fits and per fixed folder; none at other names.
	if w.looks > len(got)+4 {
		t.Errorf("%d looks for %d files", w.looks, len(got))
	}
}

func TestFindLimits(t *testing.T) {
	dir := home(t, "s/a/1", "s/a/2", "s/b/1", "s/b/c/d/e/1")
	tests := []struct {
		name   string
		limits globLimits
		files  int
		err    string
	}{
		{"files", globLimits{files: 2, folders: 100, deep: 100}, 2, "more files than foundMax (2): the rest is left out"},
		{"folders", globLimits{files: 100, folders: 2, deep: 100}, -1, "more folders than foldersMax (2): the rest is left out"},
		{"deep", globLimits{files: 100, folders: 100, deep: 2}, 3, "deeper than foldersMaxDepth (2): the rest is left out"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			files, w := acme([]string{"~/s/**/1", "~/s/**/2"}).find(t.Context(), Env{Home: dir}, tt.limits)
			if len(w.errs) != 1 || w.errs[0].Err.Error() != tt.err || w.errs[0].Provider != "acme" {
				t.Errorf("got %v, want %q", w.errs, tt.err)
			}
			if tt.files >= 0 && len(files) != tt.files {
				t.Errorf("got %q", rows(dir, files))
			}
		})
	}
}

func TestFindSaysThatAPatternIsTooWide(t *testing.T) {
	dir := home(t, "s/1111111")
	wide := "~/s/" + strings.Repeat("{0,1,2,3,4,5,6,7,8,9}", 6)
	for _, m := range []*Mapping{
		acme([]string{wide}),
		{Name: "acme", Sources: []*Source{{PathsFrom: &pathsFrom{file: wide, path: "{.}"}}}},
	} {
		_, errs := m.Find(t.Context(), Env{Home: dir})
		if got, want := errorRows(dir, errs), []string{"acme: " + wide + ": more places than placesMax (100000): the others are left out"}; !slices.Equal(got, want) {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func TestFindStopsWhenCancelled(t *testing.T) {
	dir := home(t, "s/a/1")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	files, errs := acme([]string{"~/s/*/1"}).Find(ctx, Env{Home: dir})
	if len(files) != 0 || len(errs) != 1 || errs[0].Err != context.Canceled {
		t.Errorf("got %v, %v", files, errs)
	}
}

func TestFindUnreadableFolder(t *testing.T) {
	if runtime.GOOS == "windows" || os.Getuid() == 0 {
		t.Skip("nothing is unreadable here")
	}
	dir := home(t, "s/a/1", "s/b/1", "t/x/1", "u/1", "u/2")
	for path, mode := range map[string]os.FileMode{"s/a": 0, "t": 0, "u": 0o444} {
		path = filepath.Join(dir, path)
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
		defer os.Chmod(path, 0o755)
	}
	files, errs := acme([]string{"~/s/*/1", "~/t/x/*", "~/u/*"}).Find(t.Context(), Env{Home: dir})
	if got, want := rows(dir, files), []string{"s/b/1 [0]"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	want := []string{"acme: ~/s/a: permission denied", "acme: ~/t/x: permission denied", "acme: ~/u: permission denied"}
	if got := errorRows(dir, errs); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestFindWritesNothing(t *testing.T) {
	dir := home(t, "s/a.jsonl", "s/b.db", "s/b.db-wal")
	before := listing(t, dir)
	m := acme([]string{"~/s/*"})
	m.Sources[0].Container = "sqlite"
	m.Find(t.Context(), Env{Home: dir, Cwd: dir})
	if after := listing(t, dir); !slices.Equal(before, after) {
		t.Errorf("before %q\nafter  %q", before, after)
	}
}

func listing(t *testing.T, dir string) []string {
	var out []string
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		out = append(out, fmt.Sprint(path, info.Size(), info.ModTime(), info.Mode()))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestFileAt(t *testing.T) {
	dir := home(t, ".acme/log/p/a.jsonl", ".acme/log/p/b.jsonl.gz", "copy/log/p/c.jsonl", "copy/d.jsonl", "work/.notes.md", ".acme/log/p/skip.jsonl", ".acme/x/", "linked -> .acme")
	m := acme([]string{"~/.acme/log/*/*.jsonl"}, []string{"~/.acme/log/p/*.jsonl"}, []string{"~/.acme/sealed/*"}, []string{"./.notes.md"})
	m.Sources[0].Exclude = []string{"skip.jsonl"}
	m.Sources[1].Exclude = []string{"skip.jsonl"}
	m.Sources[2].Unsupported = "sealed"
	env := Env{Home: dir, Cwd: filepath.Join(dir, "work")}
	tests := []struct {
		name, path, row, base string
	}{
		{"fits", ".acme/log/p/a.jsonl", ".acme/log/p/a.jsonl [0 1]", ".acme/log"},
		{"packed", ".acme/log/p/b.jsonl.gz", ".acme/log/p/b.jsonl.gz [0 1]", ".acme/log"},
		{"through a link", "linked/log/p/a.jsonl", ".acme/log/p/a.jsonl [0 1]", ".acme/log"},
		{"relative pattern", "work/.notes.md", "work/.notes.md [3]", ""},
		{"copied with its folder", "copy/log/p/c.jsonl", "copy/log/p/c.jsonl [0 1 3]", "copy"},
		{"copied alone", "copy/d.jsonl", "copy/d.jsonl [0 1 3]", "copy"},
		{"excluded", ".acme/log/p/skip.jsonl", ".acme/log/p/skip.jsonl [0 1 3]", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f, err := m.FileAt(env, filepath.Join(dir, tt.path))
			if err != nil {
				t.Fatal(err)
			}
			if got := rows(dir, []File{f})[0]; got != tt.row {
				t.Errorf("got %s, want %s", got, tt.row)
			}
			if tt.base != "" && f.base[0] != filepath.Join(dir, tt.base) {
				t.Errorf("base: got %s, want %s", f.base[0], tt.base)
			}
			if f.Size == 0 || f.ModTime.IsZero() || f.Provider != "acme" {
				t.Errorf("got %+v", f)
			}
		})
	}
	// Home itself may be a link, and a path given in its real spelling.
	env.Home = filepath.Join(dir, "home-link")
	put(t, dir, "home-link -> .")
	if f, err := m.FileAt(env, filepath.Join(dir, ".acme", "log", "p", "a.jsonl")); err != nil || f.Path != filepath.Join(env.Home, ".acme", "log", "p", "a.jsonl") || !f.mayRead(0, filepath.Join(env.Home, ".acme", "x")) {
		t.Errorf("real path of a linked home: got %+v, %v", f, err)
	}
	if f, err := m.FileAt(env, ".notes.md"); err != nil || f.Path != filepath.Join(dir, "work", ".notes.md") {
		t.Errorf("relative path: got %s, %v", f.Path, err)
	}
	if _, err := m.FileAt(env, filepath.Join(dir, ".acme", "none")); !errors.Is(err, fs.ErrNotExist) || strings.Count(err.Error(), dir) != 1 {
		t.Errorf("no file: got %v", err)
	}
	if _, err := m.FileAt(env, filepath.Join(dir, ".acme", "x")); err == nil || err.Error() != filepath.Join(dir, ".acme", "x")+": is a folder, not a file" {
		t.Errorf("a folder: got %v", err)
	}
}

func TestCaptures(t *testing.T) {
	tests := []struct {
		name, path, capture string
		want                map[string]string
	}{
		{"plain", "/s/p/a.b.jsonl", "", map[string]string{"path": "/s/p/a.b.jsonl", "name": "a.b.jsonl", "stem": "a.b", "dir": "p"}},
		{"packed", "/s/p/a.jsonl.zst", "", map[string]string{"path": "/s/p/a.jsonl.zst", "name": "a.jsonl.zst", "stem": "a", "dir": "p"}},
		{"no suffix", "/s/p/0f", "", map[string]string{"path": "/s/p/0f", "name": "0f", "stem": "0f", "dir": "p"}},
		{"nothing but a suffix", "/s/.env", "", map[string]string{"path": "/s/.env", "name": ".env", "stem": ".env", "dir": "s"}},
		{"dot in front", "/s/.acme.chat.md", "", map[string]string{"path": "/s/.acme.chat.md", "name": ".acme.chat.md", "stem": ".acme.chat", "dir": "s"}},
		{"in the root", "/a.json", "", map[string]string{"path": "/a.json", "name": "a.json", "stem": "a", "dir": ""}},
		{"groups", "/s/chats/P1/c.jsonl", `/chats/(?P<parent>[^/]+)/(?:(x)|(?P<id>[^/]+))\.jsonl(?P<none>y)?$`,
			map[string]string{"path": "/s/chats/P1/c.jsonl", "name": "c.jsonl", "stem": "c", "dir": "P1", "parent": "P1", "id": "c"}},
		{"no match", "/s/a.json", `/chats/(?P<parent>[^/]+)`, map[string]string{"path": "/s/a.json", "name": "a.json", "stem": "a", "dir": "s"}},
		{"a group with a known name", "/s/a.json", `(?P<stem>s)`, map[string]string{"path": "/s/a.json", "name": "a.json", "stem": "a", "dir": "s"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			src := &Source{}
			if tt.capture != "" {
				src.Capture = regexp.MustCompile(tt.capture)
			}
			if got := acme().Captures(src, filepath.FromSlash(tt.path)); !maps.Equal(got, tt.want) {
				t.Errorf("got  %v\nwant %v", got, tt.want)
			}
		})
	}
}

// sessions makes a home of n sessions in projects of forty, with the folders beside them.
func sessions(b *testing.B, n int) string {
	dir := b.TempDir()
	for i := range n {
		project := filepath.Join(dir, ".acme", "projects", fmt.Sprintf("p%03d", i/40))
		if err := os.MkdirAll(project, 0o755); err != nil {
			b.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(project, fmt.Sprintf("%08d-aaaa-bbbb.jsonl", i)), []byte("{}\n"), 0o644); err != nil {
			b.Fatal(err)
		}
	}
	return dir
}

func BenchmarkFind(b *testing.B) {
	dir := sessions(b, 3000)
	m := acme([]string{"~/.acme/projects/*/*.jsonl", "~/.config/acme/projects/*/*.jsonl"}, []string{"~/.acme/projects/*/agent-*.jsonl"})
	b.Run("find", func(b *testing.B) {
		for b.Loop() {
			if files, _ := m.Find(b.Context(), Env{Home: dir}); len(files) != 3000 {
				b.Fatal(len(files))
			}
		}
	})
	b.Run("walk and stat", func(b *testing.B) {
		for b.Loop() {
			n := 0
			filepath.WalkDir(filepath.Join(dir, ".acme", "projects"), func(path string, d fs.DirEntry, err error) error {
				if err == nil && !d.IsDir() {
					if _, err := d.Info(); err == nil {
						n++
					}
				}
				return err
			})
			if n != 3000 {
				b.Fatal(n)
			}
		}
	})
}
