package mapping

import (
	"bytes"
	"compress/gzip"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tidwall/gjson"

	"parlance/internal/chat"
)

func TestFindFromRegistry(t *testing.T) {
	const file = "${ACME_DATA:-~/.local/share}/acme/projects.json"
	tests := []struct {
		name     string
		registry string // "" = none; HOME stands for the home folder
		path     string
		each     *selector
		want     []string
		element  string // of the first file
		errs     []string
	}{
		{name: "list", registry: `{"projects":[{"path":"HOME/one","data":"HOME/one/.acme"},{"path":"HOME/two","data":"HOME/two/.acme"},{"path":"HOME/gone","data":"HOME/gone/.acme"}]}`,
			path: "{data}/acme.db", each: &selector{src: "projects", plain: []string{"projects"}},
			want: []string{"one/.acme/acme.db [0]", "two/.acme/acme.db [0]"}, element: `{"path":"HOME/one","data":"HOME/one/.acme"}`},
		{name: "twice the same", registry: `{"projects":[{"n":1,"data":"HOME/one/.acme"},{"n":2,"data":"HOME/one/.acme/"}]}`,
			path: "{data}/acme.db", each: &selector{src: "projects", plain: []string{"projects"}},
			want: []string{"one/.acme/acme.db [0]"}, element: `{"n":1,"data":"HOME/one/.acme"}`},
		{name: "whole document, wildcard, nested value", registry: `[{"at":{"dir":"~/two"}}]`,
			path: "{at.dir}/.acme/*.db", each: &selector{src: ".", whole: true},
			want: []string{"two/.acme/acme.db [0]", "two/.acme/other.db [0]"}, element: `{"at":{"dir":"~/two"}}`},
		{name: "object", registry: `{"projects":{"a":"HOME/one","b":"HOME/two"}}`,
			path: "{.}/.acme/acme.db", each: &selector{src: "projects", plain: []string{"projects"}},
			want: []string{"one/.acme/acme.db [0]", "two/.acme/acme.db [0]"}, element: `"HOME/one"`},
		{name: "query", registry: `{"projects":[{"k":"x","d":"HOME/one"},{"k":"y","d":"HOME/two"}]}`,
			path: "{d}/.acme/acme.db", each: &selector{src: `projects.#(k=="y")#`, gjson: `projects.#(k=="y")#`},
			want: []string{"two/.acme/acme.db [0]"}, element: `{"k":"y","d":"HOME/two"}`},
		{name: "variables and alternatives", registry: `{"projects":[{"name":"two"}]}`,
			path: "${ACME_WORK:-~}/{name}/{.acme,.none}/acme.db", each: &selector{src: "projects", plain: []string{"projects"}},
			want: []string{"two/.acme/acme.db [0]"}, element: `{"name":"two"}`},
		{name: "a key that gjson would take for a query", registry: `{"a.b":{"*":["HOME/one"]}}`,
			path: "{.}/.acme/acme.db", each: &selector{src: `a\.b.\*`, plain: []string{"a.b", "*"}},
			want: []string{"one/.acme/acme.db [0]"}, element: `"HOME/one"`},
		{name: "values are no patterns", registry: `["HOME/*","${HOME}","./one","one","","HOME/{one,two}",null,{},true]`,
			path: "{.}/.acme/acme.db", each: &selector{src: ".", whole: true}},
		{name: "a number", registry: `[7]`, path: "~/{.}/acme.db", each: &selector{src: ".", whole: true}, want: []string{"7/acme.db [0]"}, element: "7"},
		{name: "absolute behind other text", registry: `["/one"]`, path: "~/{.}/.acme/acme.db", each: &selector{src: ".", whole: true}},
		{name: "missing", path: "{.}/x", each: &selector{src: ".", whole: true}},
		{name: "no list in it", registry: `{"version":1}`, path: "{.}/x", each: &selector{src: "projects", plain: []string{"projects"}}},
		{name: "null", registry: `{"projects":null}`, path: "{.}/x", each: &selector{src: "projects", plain: []string{"projects"}}},
		{name: "broken", registry: `{"projects":[`, path: "{.}/x", each: &selector{src: "projects", plain: []string{"projects"}},
			errs: []string{"acme: ~/.local/share/acme/projects.json: registry: not one whole JSON value"}},
		{name: "empty file", registry: " ", path: "{.}/x", each: &selector{src: "projects", plain: []string{"projects"}},
			errs: []string{"acme: ~/.local/share/acme/projects.json: registry: not one whole JSON value"}},
		{name: "not a list", registry: `{"projects":"x"}`, path: "{.}/x", each: &selector{src: "projects", plain: []string{"projects"}},
			errs: []string{"acme: ~/.local/share/acme/projects.json: registry: projects is a string; a list is needed"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir := home(t, "one/.acme/acme.db", "two/.acme/acme.db", "two/.acme/other.db", "7/acme.db")
			slash := filepath.ToSlash(dir)
			if tt.registry != "" {
				path := filepath.Join(dir, ".local", "share", "acme", "projects.json")
				if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(path, []byte(strings.ReplaceAll(tt.registry, "HOME", slash)), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			m := &Mapping{Name: "acme", Sources: []*Source{{Container: "sqlite", PathsFrom: &pathsFrom{file: file, each: tt.each, path: tt.path, as: "registry"}}}}
			files, errs := m.Find(t.Context(), Env{Home: dir})
			got := rows(dir, files)
			slices.Sort(got)
			if !slices.Equal(got, tt.want) {
				t.Errorf("got %q, want %q", got, tt.want)
			}
			if got := errorRows(dir, errs); !slices.Equal(got, tt.errs) {
				t.Errorf("errors: got %q, want %q", got, tt.errs)
			}
			if len(files) > 0 && tt.element != "" {
				slices.SortFunc(files, func(a, b File) int { return strings.Compare(a.Path, b.Path) })
				if got, want := files[0].registry[0], strings.ReplaceAll(tt.element, "HOME", slash); got != want {
					t.Errorf("element: got %s, want %s", got, want)
				}
			}
		})
	}
}

func TestFindFromRegistryThatIsNoFile(t *testing.T) {
	dir := home(t, "projects.json/")
	m := &Mapping{Name: "acme", Sources: []*Source{{Container: "sqlite", PathsFrom: &pathsFrom{file: "~/projects.json", path: "{.}/x"}}}}
	_, errs := m.Find(t.Context(), Env{Home: dir})
	if got, want := errorRows(dir, errs), []string{"acme: ~/projects.json: is a folder, not a file"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestFindFromRegistryThatIsTooBig(t *testing.T) {
	dir := home(t, "projects.json")
	if err := os.Truncate(filepath.Join(dir, "projects.json"), registryMaxBytes+1); err != nil {
		t.Fatal(err)
	}
	m := &Mapping{Name: "acme", Sources: []*Source{{Container: "sqlite", PathsFrom: &pathsFrom{file: "~/projects.json", path: "{.}/x"}}}}
	_, errs := m.Find(t.Context(), Env{Home: dir})
	if got, want := errorRows(dir, errs), []string{"acme: ~/projects.json: registry: larger than registryMaxBytes (16 MB)"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// A packed registry is as large as what is in it.
func TestFindFromRegistryThatUnfolds(t *testing.T) {
	dir := home(t, "projects.json.gz")
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	if _, err := io.CopyN(z, endless{}, registryMaxBytes+1); err != nil {
		t.Fatal(err)
	}
	z.Close()
	if err := os.WriteFile(filepath.Join(dir, "projects.json.gz"), b.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	m := &Mapping{Name: "acme", Sources: []*Source{{Container: "sqlite", PathsFrom: &pathsFrom{file: "~/projects.json.gz", path: "{.}/x"}}}}
	_, errs := m.Find(t.Context(), Env{Home: dir})
	if got, want := errorRows(dir, errs), []string{"acme: ~/projects.json.gz: registry: larger than registryMaxBytes (16 MB)"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

type endless struct{}

func (endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = ' '
	}
	return len(p), nil
}

func TestFillBraces(t *testing.T) {
	el := `{"dir":"/srv/a b","win":"C:\\Users\\ana\\x","star":"/srv/*","home":"~/x","up":{"n":"y"},"n":3,"none":null,"out":"../../.ssh","dollar":"/srv/${A}"}`
	tests := []struct{ name, pattern, want string }{
		{"value", "{dir}/x.db", "/srv/a b/x.db"},
		{"nested", "~/{up.n}/x", "~/y/x"},
		{"number", "~/{n}/x", "~/3/x"},
		{"windows path", "{win}/x.db", "C:/Users/ana/x/x.db"},
		{"wildcard in a value", "{star}/x", `/srv/\*/x`},
		{"variable in a value", "{dollar}/x", `/srv/\$\{A\}/x`},
		{"home in a value", "{home}/x", "/home/ana/x/x"},
		{"alternatives stay", "{dir}/{a,b}", "/srv/a b/{a,b}"},
		{"variables stay", "${A:-~}/{up.n}", "${A:-~}/y"},
		{"in a default", "~/${A:-{up.n}}/x", "~/${A:-y}/x"},
		{"absent", "{gone}/x", ""},
		{"null", "{none}/x", ""},
		{"object", "{up}/x", ""},
		{"not closed", "{dir/x", ""},
		{"absolute in the middle", "~/{dir}/x", ""},
		{"climbing", "~/.acme/{out}/x", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, ok := fillBraces(Env{Home: "/home/ana"}, tt.pattern, gjson.Parse(el))
			if got != tt.want && ok || ok != (tt.want != "") {
				t.Errorf("got %q, %v, want %q", got, ok, tt.want)
			}
		})
	}
}

// What the loader makes of a registry is what finding needs.
func TestFindFromRegistryOfALoadedMapping(t *testing.T) {
	text := `parlance: 1
name: acme
sources:
  - paths_from: {file: "${XDG_DATA_HOME:-~/.local/share}/acme/projects.json", each: projects.list, path: "{data.dir}/acme.jsonl", as: registry}
    container: jsonl
conversation: {cwd: side:registry.path}
messages:
  - {when: {who: me}, as: user, text: say}
tests:
  - name: a question
    records: |
      {"who":"me","say":"hi"}
    expect: [{user: hi}]
`
	m, problems := Load("acme.yaml", []byte(text), nil)
	if m == nil {
		t.Fatal(problems)
	}
	dir := home(t, "one/acme.jsonl")
	registry := `{"projects":{"list":[{"path":"/srv/one","data":{"dir":"` + filepath.ToSlash(dir) + `/one"}}]}}`
	put(t, dir, ".local/share/acme/projects.json")
	if err := os.WriteFile(filepath.Join(dir, ".local", "share", "acme", "projects.json"), []byte(registry), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "one", "acme.jsonl"), []byte(`{"who":"me","say":"hi"}`+"\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	files, errs := m.Find(t.Context(), Env{Home: dir})
	if len(files) != 1 || errs != nil {
		t.Fatalf("got %q, %v", rows(dir, files), errs)
	}
	err := m.Read(t.Context(), files[0], ReadOptions{}, func(c *chat.Conversation) error {
		if c.Cwd != "/srv/one" {
			t.Errorf("got cwd %q", c.Cwd)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}
