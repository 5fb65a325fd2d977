package mapping

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/fstest"

	"parlance/mappings"
)

// mappingText is the shortest mapping of a name that looks at a pattern.
func mappingText(name, pattern string) string {
	return "parlance: 1\nname: " + name + "\nsources:\n  - id: log\n    paths: [\"" + pattern + "\"]\n    container: jsonl\n" +
		"messages:\n  - {when: {who: me}, as: user, text: say}\n" +
		"tests:\n  - name: a question\n    records: |\n      {\"who\":\"me\",\"say\":\"hi\"}\n    expect: [{user: hi}]\n"
}

func mappingFS(files ...string) fs.FS {
	m := fstest.MapFS{"common/roots.yaml": {Data: []byte("{}")}, "README.md": {}}
	for i := 0; i < len(files); i += 2 {
		m[files[i]] = &fstest.MapFile{Data: []byte(files[i+1])}
	}
	return m
}

func TestSetNamesAndOrigins(t *testing.T) {
	one, two := t.TempDir(), t.TempDir()
	write := func(dir, name, text string) string {
		t.Helper()
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		return path
	}
	firstB := write(one, "beta.yaml", mappingText("beta", "~/.one/*"))
	secondB := write(two, "beta.yaml", mappingText("beta", "~/.two/*"))
	own := write(two, "own.yaml", mappingText("own", "~/.own/*"))
	write(two, "notes.txt", "")
	write(two, ".hidden.yaml", "")
	write(two, "broken.yaml", "name: [")
	if err := os.Mkdir(filepath.Join(two, "folder.yaml"), 0o755); err != nil {
		t.Fatal(err)
	}
	builtin := mappingFS("alpha.yaml", mappingText("alpha", "~/.alpha/*"), "beta.yaml", mappingText("beta", "~/.beta/*"))
	s, err := NewSet(builtin, []string{one, filepath.Join(one, "gone"), two})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := s.Names(), []string{"alpha", "beta", "broken", "own"}; !slices.Equal(got, want) {
		t.Errorf("names: got %q, want %q", got, want)
	}
	origins := map[string][]string{"alpha": {"built-in"}, "beta": {secondB, "built-in", firstB}, "own": {own}, "none": {""}}
	for name, want := range origins {
		file, replaced := s.Origin(name)
		if got := append([]string{file}, replaced...); !slices.Equal(got, want) {
			t.Errorf("origin of %s: got %q, want %q", name, got, want)
		}
	}
	for name, pattern := range map[string]string{"alpha": "~/.alpha/*", "beta": "~/.two/*", "own": "~/.own/*"} {
		m, problems := s.Mapping(name)
		if m == nil {
			t.Fatalf("%s: %v", name, problems)
		}
		if m.Sources[0].Paths[0] != pattern || m.File != origins[name][0] {
			t.Errorf("%s: got %s of %s", name, m.Sources[0].Paths, m.File)
		}
	}
	if m, problems := s.Mapping("none"); m != nil || problems != nil {
		t.Errorf("a name without a file: %v, %v", m, problems)
	}
	m, problems := s.Mapping("broken")
	if m != nil || len(problems) == 0 || problems[0].File != filepath.Join(two, "broken.yaml") || problems[0].Line == 0 {
		t.Errorf("broken: got %v, %+v", m, problems)
	}
}

func TestSetNameMustBeTheFiles(t *testing.T) {
	s, _ := NewSet(mappingFS("alpha.yaml", mappingText("beta", "~/x/*")), nil)
	m, problems := s.Mapping("alpha")
	if m != nil || len(problems) == 0 || problems[0].File != "mappings/alpha.yaml" {
		t.Errorf("got %v, %+v", m, problems)
	}
}

func TestSetUserMappingThatIsBrokenHidesTheBuiltIn(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "alpha.yaml"), []byte("parlance: 1\nname: alpha\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	s, _ := NewSet(mappingFS("alpha.yaml", mappingText("alpha", "~/x/*")), []string{dir})
	if m, problems := s.Mapping("alpha"); m != nil || len(problems) == 0 {
		t.Errorf("got %v, %v", m, problems)
	}
	if got := s.Present(Env{Home: t.TempDir()}, s.Names()); !slices.Equal(got, []string{"alpha"}) {
		t.Errorf("present: got %q; a broken mapping must be heard of", got)
	}
}

func TestSetUnreadable(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "a-file")
	if err := os.WriteFile(file, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("nowhere", filepath.Join(dir, "lost.yaml")); err != nil {
		t.Skip(err)
	}
	s, err := NewSet(mappingFS("alpha.yaml", mappingText("alpha", "~/x/*")), []string{file, dir})
	if err == nil || !strings.HasPrefix(err.Error(), "mappings: "+file+": ") || strings.Count(err.Error(), file) != 1 {
		t.Errorf("got %v", err)
	}
	if got := s.Names(); !slices.Equal(got, []string{"alpha", "lost"}) {
		t.Errorf("got %q", got)
	}
	m, problems := s.Mapping("lost")
	if m != nil || len(problems) != 1 || problems[0].Msg == "" || strings.Contains(problems[0].Msg, dir) || problems[0].File != filepath.Join(dir, "lost.yaml") {
		t.Errorf("got %v, %+v", m, problems)
	}
}

func TestSetExtends(t *testing.T) {
	child := "parlance: 1\nname: child\nextends: alpha\ntitle: Child\n"
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "mine.yaml"), []byte(strings.ReplaceAll(child, "child", "mine")), 0o644); err != nil {
		t.Fatal(err)
	}
	s, err := NewSet(mappingFS("alpha.yaml", mappingText("alpha", "~/.alpha/*"), "child.yaml", child, "orphan.yaml", strings.ReplaceAll(child, "alpha", "none")), []string{dir})
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"child", "mine"} {
		m, problems := s.Mapping(name)
		if m == nil {
			t.Fatalf("%s: %v", name, problems)
		}
		if m.Name != name || m.Title != "Child" || !slices.Equal(m.Sources[0].Paths, []string{"~/.alpha/*"}) {
			t.Errorf("got %+v", m)
		}
	}
	if m, problems := s.Mapping("orphan"); m != nil || len(problems) == 0 {
		t.Errorf("orphan: got %v, %v", m, problems)
	}
	if got, want := s.Present(Env{Home: home(t, ".alpha/")}, s.Names()), []string{"alpha", "child", "mine", "orphan"}; !slices.Equal(got, want) {
		t.Errorf("present: got %q, want %q", got, want)
	}
	if got, want := s.Present(Env{Home: home(t, ".other/")}, s.Names()), []string{"orphan"}; !slices.Equal(got, want) {
		t.Errorf("present: got %q, want %q", got, want)
	}
}

func TestSetPresent(t *testing.T) {
	builtin := mappingFS(
		"plain.yaml", mappingText("plain", "~/.plain/log/*/*.jsonl"),
		"file.yaml", mappingText("file", "~/.file/x.db"),
		"data.yaml", mappingText("data", "${XDG_DATA_HOME:-~/.local/share}/data/*.db"),
		"listed.yaml", strings.Replace(mappingText("listed", "${LISTED}/p/*.jsonl"), "    container", "    split: [LISTED]\n    container", 1),
		"editor.yaml", mappingText("editor", "${EDITOR_USER}/chat/*.json"),
		"export.yaml", mappingText("export", "${ROOT}/**/c.json"),
		"relative.yaml", mappingText("relative", "./.notes.md"),
		"windows.yaml", mappingText("windows", "${APPDATA}/Win/*.db"),
		"odd.yaml", "parlance: 1\nname: odd\n\"sources\": []\n",
	)
	user := t.TempDir()
	for name, pattern := range map[string]string{"mine": "~/.mine/*", "ours": "${OURS}/q/*"} {
		if err := os.WriteFile(filepath.Join(user, name+".yaml"), []byte(mappingText(name, pattern)), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	tests := []struct {
		name  string
		files []string
		env   []string
		root  string
		want  []string // beside odd, which always is
	}{
		{name: "nothing"},
		{name: "folders", files: []string{".plain/log/", ".file/", ".local/share/data/", "AppData/Roaming/Win/", ".config/Edit/User/chat/", ".mine/"},
			want: []string{"data", "editor", "file", "mine", "plain", "windows"}},
		{name: "only a parent", files: []string{".plain/", ".local/share/", ".config/Edit/User/"}},
		{name: "a file in the way", files: []string{".plain", ".local/share"}},
		{name: "variables", files: []string{"one/p/", "d/data/"}, env: []string{"LISTED", "~/zero,~/one", "XDG_DATA_HOME", "~/d"}, want: []string{"data", "listed"}},
		{name: "a file here", files: []string{"work/shop/.notes.md"}, want: []string{"relative"}},
		{name: "a packed file in the project", files: []string{"work/.notes.md.zst"}, want: []string{"relative"}},
		{name: "a file where others worked", files: []string{"other/.notes.md"}, want: []string{"relative"}},
		{name: "a root", files: []string{"exports/"}, root: "exports", want: []string{"export"}},
		{name: "a root that is not there", root: "exports"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s, err := NewSet(builtin, []string{user})
			if err != nil {
				t.Fatal(err)
			}
			dir := home(t, tt.files...)
			env := Env{Home: dir, Getenv: getenv(tt.env...), Named: map[string][]string{"EDITOR_USER": {"~/.config/Edit/User"}},
				Cwd: filepath.Join(dir, "work", "shop"), Cwds: func() []string { return []string{filepath.Join(dir, "none"), filepath.Join(dir, "other")} }}
			if tt.root != "" {
				env.Roots = []string{filepath.Join(dir, tt.root)}
			}
			want := append([]string{"odd"}, tt.want...)
			slices.Sort(want)
			if got := s.Present(env, s.Names()); !slices.Equal(got, want) {
				t.Errorf("got %q, want %q", got, want)
			}
			for _, name := range s.Names() {
				if e := s.entries[name]; e.top().origin == BuiltIn && (e.mapping != nil || e.problems != nil) {
					t.Errorf("%s was parsed", name)
				}
			}
		})
	}
}

func TestSetIsSafeForManyGoroutines(t *testing.T) {
	s, err := NewSet(mappingFS("alpha.yaml", mappingText("alpha", "~/.alpha/*"), "beta.yaml", "parlance: 1\nname: beta\nextends: alpha\n"), nil)
	if err != nil {
		t.Fatal(err)
	}
	env := Env{Home: home(t, ".alpha/x")}
	got := make([]*Mapping, 16)
	var wg sync.WaitGroup
	for i := range got {
		wg.Go(func() {
			s.Present(env, s.Names())
			got[i], _ = s.Mapping("beta")
			got[i].Find(t.Context(), env)
		})
	}
	wg.Wait()
	for _, m := range got {
		if m == nil || m != got[0] {
			t.Fatal("a mapping was compiled more than once, or not at all")
		}
	}
}

func TestSkim(t *testing.T) {
	block := "parlance: 1\nname: x\nsources:\n"
	tests := []struct {
		name, text string
		want       []sourceHead
		extends    string
		not        bool // ok
	}{
		{name: "in brackets", text: block + "  - id: log\n    paths: [\"~/.acme/*.jsonl\", \"${A:-~/.b}/x\"]   # both\n    capture: '/(?P<p>[^/]+)$'\n",
			want: []sourceHead{{paths: []string{"~/.acme/*.jsonl", "${A:-~/.b}/x"}}}},
		{name: "below", text: block + "  # ~/.comment/*\n  - id: log\n    paths:\n      # that one\n      - \"~/.acme/a b/*.jsonl\" # why\n\n      - \"C:/x/y\"\n    exclude: [\"**/z\"]\nmessages:\n  - {text: \"~/no\"}\n",
			want: []sourceHead{{paths: []string{"~/.acme/a b/*.jsonl", "C:/x/y"}}}},
		{name: "several", text: block + "  - paths: [\"~/a\"]\n    split: [A, B_2]\n  - id: two\n    paths:\n    - \"~/b\"\n", want: []sourceHead{{paths: []string{"~/a"}, split: []string{"A", "B_2"}}, {paths: []string{"~/b"}}}},
		{name: "at the margin", text: block + "- id: log\n  paths: [\"~/.acme/*\"]\n", want: []sourceHead{{paths: []string{"~/.acme/*"}}}},
		{name: "registry", text: block + "  - id: log\n    paths_from:\n      each: projects\n      file: \"${X}/p.json\"\n      path: \"{d}/x.db\"\n    container: sqlite\n", want: []sourceHead{{registry: "${X}/p.json"}}},
		{name: "what looks like it deeper", text: block + "  - id: log\n    paths: [\"~/a\"]\n    query: >-\n      SELECT\n      paths: [\"~/b\"]\n      file: \"~/c\"\n    beside:\n      paths: \"~/d\"\n", want: []sourceHead{{paths: []string{"~/a"}}}},
		{name: "windows lines", text: "extends: base\r\nsources:\r\n  - id: x\r\n    paths:\r\n      - \"~/.acme/*\"\r\n", want: []sourceHead{{paths: []string{"~/.acme/*"}}}},
		{name: "extends", text: "parlance: 1\nextends: base # of that\n", extends: "base"},
		{name: "no path", text: block + "  - id: log\n    container: json\n", want: []sourceHead{{}}},
		{name: "in braces", text: "sources: [{id: log, paths: [\"~/x\"]}]\n", not: true},
		{name: "a source in braces", text: block + "  - {id: log, paths: [\"~/x\"]}\n", not: true},
		{name: "other quotes", text: block + "  - id: log\n    paths: ['~/x']\n", not: true},
		{name: "no quotes", text: block + "  - id: log\n    paths:\n      - ~/x\n", not: true},
		{name: "escapes", text: block + "  - id: log\n    paths: [\"~/\\x41\"]\n", not: true},
		{name: "a comment's sign in quotes", text: block + "  - id: log\n    paths: [\"~/a #b\"]\n", not: true},
		{name: "over two lines", text: block + "  - id: log\n    paths: [\"~/a\",\n      \"~/b\"]\n", not: true},
		{name: "not closed", text: block + "  - id: log\n    paths: [\"~/a\n", not: true},
		{name: "a key in quotes", text: block + "  - id: log\n    \"paths\": [\"~/a\"]\n", not: true},
		{name: "sources in quotes", text: "\"sources\":\n  - paths: [\"~/a\"]\n", not: true},
		{name: "a registry in braces", text: block + "  - id: log\n    paths_from: {file: \"~/p.json\"}\n", not: true},
		{name: "a registry without a file", text: block + "  - id: log\n    paths_from:\n      each: projects\n", not: true},
		{name: "no source", text: block + "messages: []\n", not: true},
		{name: "nothing", text: "name: x\n", not: true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			sources, extends, ok := skim([]byte(tt.text))
			if ok == tt.not || ok && (!reflect.DeepEqual(sources, tt.want) || extends != tt.extends) {
				t.Errorf("got %q, %q, %v\nwant %q, %q, %v", sources, extends, ok, tt.want, tt.extends, !tt.not)
			}
		})
	}
}

func FuzzSkim(f *testing.F) {
	f.Add([]byte("sources:\n  - id: log\n    paths: [\"~/.acme/*.jsonl\", x]\n    paths_from:\n      file: \"~/a\"\n"))
	f.Add([]byte("extends: b\nsources:\n- paths:\n  - \"${A"))
	f.Fuzz(func(t *testing.T, data []byte) { skim(data) })
}

// Whether a built-in mapping is parsed at all is decided by what was skimmed from its text.
func TestSkimReadsTheBuiltInsAsTheParserDoes(t *testing.T) {
	s, err := NewSet(mappings.FS, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range s.Names() {
		got, ok := s.heads(name)
		if !ok {
			t.Errorf("%s: its sources are not written in the way that skim knows, so that every start would parse it", name)
			continue
		}
		if s.entries[name].mapping != nil {
			t.Errorf("%s was parsed", name)
		}
		m, problems := s.Mapping(name)
		if m == nil {
			t.Errorf("%s: %v", name, problems)
			continue
		}
		if want := m.heads(); !reflect.DeepEqual(got, want) {
			t.Errorf("%s:\ngot  %q\nwant %q", name, got, want)
		}
	}
}

func TestPatterns(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"own":    strings.Replace(mappingText("own", "./.own.md"), "\"]", "\", \"~/.own/*\", \"~/.own/*\"]", 1),
		"beta":   mappingText("beta", "~/.mine/*"),
		"broken": "parlance: 1\nname: broken\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name+".yaml"), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	s, err := NewSet(mappingFS("alpha.yaml", mappingText("alpha", "~/x/*"), "beta.yaml", mappingText("beta", "~/y/*"),
		"child.yaml", "parlance: 1\nname: child\nextends: beta\n", "odd.yaml", strings.ReplaceAll(mappingText("odd", "./z"), `"`, "'")), []string{dir})
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name  string
		want  []string
		roams bool
	}{
		{"alpha", []string{"~/x/*"}, false},
		{"own", []string{"./.own.md", "~/.own/*"}, true},
		{"beta", []string{"~/.mine/*"}, false},
		{"child", []string{"~/.mine/*"}, false}, // the user's counts
		{"odd", []string{"./z"}, true},
		{"broken", nil, false},
		{"none", nil, false},
	} {
		if got := s.Patterns(tt.name); !slices.Equal(got, tt.want) || s.Roams(tt.name) != tt.roams {
			t.Errorf("%s: got %q, %v", tt.name, got, s.Roams(tt.name))
		}
	}
}

func TestNamedRoots(t *testing.T) {
	got, err := NamedRoots(mappingFS("common/roots.yaml", "A:\n  - ~/x\n  - ${B}/y\n"))
	if want := map[string][]string{"A": {"~/x", "${B}/y"}}; err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("got %v, %v", got, err)
	}
	for text, want := range map[string]string{
		"A: x":              "common/roots.yaml: ",
		"A: [x/y]":          "a root starts with",
		"ROOT: [~/x]":       `"ROOT" is no name`,
		"a-b: [~/x]":        `"a-b" is no name`,
		"A: [~/x]\nA: [/y]": "already defined",
	} {
		if _, err := NamedRoots(mappingFS("common/roots.yaml", text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got %v, want %s", text, err, want)
		}
	}
	if _, err := NamedRoots(fstest.MapFS{}); err == nil {
		t.Error("no file: no error")
	}
}

func TestNamedRootsOfEditors(t *testing.T) {
	named, err := NamedRoots(mappings.FS)
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		home string
		env  []string
		want []string
	}{
		{"/home/ana", nil, []string{"/home/ana/.config/Code/User/x", "/home/ana/.config/Code - Insiders/User/x", "/home/ana/.config/VSCodium/User/x", "/home/ana/.config/Cursor/User/x",
			"/home/ana/.config/Windsurf/User/x", "/home/ana/.config/Trae/User/x", "/home/ana/.config/Kiro/User/x", "/home/ana/.config/Antigravity/User/x",
			"/home/ana/.vscode-server/data/User/x", "/home/ana/.kiro-server/data/User/x"}},
		{"/home/ana", []string{"XDG_CONFIG_HOME", "/cfg"}, []string{"/cfg/Code/User/x"}},
		{"/Users/ana", nil, []string{"/Users/ana/Library/Application Support/Code/User/x", "/Users/ana/Library/Application Support/Trae CN/User/x"}},
		{`C:\Users\ana`, nil, []string{"C:/Users/ana/AppData/Roaming/Code/User/x", "C:/Users/ana/AppData/Roaming/Kiro/User/x"}},
		{`C:\Users\ana`, []string{"APPDATA", `D:\Roaming`, "VSCODE_PORTABLE", `E:\code\data`}, []string{"D:/Roaming/Code/User/x", "E:/code/data/user-data/User/x"}},
	} {
		places, err := expandPlaces(Env{Home: tt.home, Getenv: getenv(tt.env...), Named: named}, "${VSCODE_USER}/x", nil)
		if err != nil {
			t.Fatal(err)
		}
		got := placeStrings(places)
		for _, want := range tt.want {
			if !slices.Contains(got, want) {
				t.Errorf("%s %q: %s is missing in %q", tt.home, tt.env, want, got)
			}
		}
		if len(slices.Compact(slices.Sorted(slices.Values(got)))) != len(got) {
			t.Errorf("%s: a root stands twice in %q", tt.home, got)
		}
	}
}

// Starting costs a skim of every built-in mapping and the looks at their folders. Ten of the
// mappings here live in editors, of which there are many.
func BenchmarkPresent(b *testing.B) {
	named, err := NamedRoots(mappings.FS)
	if err != nil {
		b.Fatal(err)
	}
	var files []string
	filler := strings.Repeat("  - {when: {type: message, role: user}, as: user, text: content}\n", 180)
	for i := range 45 {
		name := fmt.Sprintf("p%02d", i)
		patterns := "${XDG_DATA_HOME:-~/.local/share}/" + name + "/{a,b,c}/*.db"
		if i < 10 {
			patterns = "${VSCODE_USER}/globalStorage/" + name + "/tasks/*/a.json\", \"${VSCODE_USER}/workspaceStorage/*/" + name + "/*.jsonl"
		}
		files = append(files, name+".yaml", mappingText(name, patterns)+filler)
	}
	builtin := mappingFS(files...)
	env := Env{Home: home(b, ".local/share/x", ".config/y", "AppData/Roaming/z"), Named: named}
	for b.Loop() {
		s, err := NewSet(builtin, nil)
		if err != nil || len(s.Present(env, s.Names())) != 0 {
			b.Fatal(s.Present(env, s.Names()), err)
		}
	}
}
