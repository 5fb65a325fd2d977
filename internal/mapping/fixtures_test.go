package mapping

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"testing"
	"time"

	"parlance/internal/chat"
	"parlance/mappings"
)

var update = flag.Bool("update", false, "rewrite the expected files")

const providersDir = "../../testdata/providers"

// homeEnv is a fake home: nothing of this machine shows through.
func homeEnv(t testing.TB, home string) Env {
	t.Helper()
	abs, err := filepath.Abs(home)
	if err != nil {
		t.Fatal(err)
	}
	named, err := NamedRoots(mappings.FS)
	if err != nil {
		t.Fatal(err)
	}
	return Env{Home: abs, Getenv: func(string) string { return "" }, Cwd: abs, Roots: []string{filepath.Join(abs, "root")}, Named: named}
}

func builtin(t testing.TB, name string) *Mapping {
	t.Helper()
	set, err := NewSet(mappings.FS, nil)
	if err != nil {
		t.Fatal(err)
	}
	m, problems := set.Mapping(name)
	for _, p := range problems {
		t.Errorf("%s:%d:%d: %s: %s (%s)", p.File, p.Line, p.Col, p.Key, p.Msg, p.Hint)
	}
	if m == nil {
		t.FailNow()
	}
	return m
}

// TestFixtures reads each provider's fake home and compares every conversation in it, as
// read from each store, with want.json. Run with -update and read the diff.
func TestFixtures(t *testing.T) {
	set, err := NewSet(mappings.FS, nil)
	if err != nil {
		t.Fatal(err)
	}
	dirs, err := os.ReadDir(providersDir)
	if err != nil {
		t.Fatal(err)
	}
	have := map[string]bool{}
	for _, d := range dirs {
		have[d.Name()] = true
	}
	for _, name := range set.Names() {
		if !have[name] {
			t.Errorf("mapping %s has no folder in testdata/providers", name)
		}
		delete(have, name)
		t.Run(name, func(t *testing.T) {
			if _, err := os.Stat(filepath.Join(providersDir, name)); err != nil {
				t.Skip("no folder")
			}
			got := readHome(t, builtin(t, name), filepath.Join(providersDir, name, "home"))
			want := filepath.Join(providersDir, name, "want.json")
			if *update {
				if err := os.WriteFile(want, got, 0o666); err != nil {
					t.Fatal(err)
				}
				return
			}
			expected, err := os.ReadFile(want)
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(got, expected) {
				t.Errorf("%s differs; run: go test ./internal/mapping -run Fixtures/%s -update\n%s", want, name, firstDifference(got, expected))
			}
		})
	}
	for name := range have {
		t.Errorf("testdata/providers/%s has no mapping", name)
	}
}

func firstDifference(got, want []byte) string {
	g, w := strings.Split(string(got), "\n"), strings.Split(string(want), "\n")
	for i := range g {
		if i >= len(w) || g[i] != w[i] {
			line := ""
			if i < len(w) {
				line = w[i]
			}
			return "got:  " + g[i] + "\nwant: " + line
		}
	}
	return "got ends early; want goes on with: " + w[len(g)]
}

// readHome reads every file of a home into a text that a person can read: a line a message.
func readHome(t testing.TB, m *Mapping, home string) []byte {
	t.Helper()
	env := homeEnv(t, home)
	ctx := context.Background()
	files, ferrs := m.Find(ctx, env)
	sort.Slice(files, func(i, k int) bool { return files[i].Path < files[k].Path })
	rel := func(path string) string {
		if r, err := filepath.Rel(env.Home, path); err == nil {
			return filepath.ToSlash(r)
		}
		return path
	}
	var out bytes.Buffer
	line := func(indent string, v any) {
		var b bytes.Buffer
		e := json.NewEncoder(&b)
		e.SetEscapeHTML(false)
		if err := e.Encode(v); err != nil {
			t.Fatal(err)
		}
		out.WriteString(indent)
		out.Write(bytes.TrimRight(b.Bytes(), "\n"))
	}
	out.WriteString("[\n")
	first := true
	sep := func() {
		if !first {
			out.WriteString(",\n")
		}
		first = false
	}
	var convs []*chat.Conversation
	mtimes := map[string]time.Time{}
	for _, f := range files {
		mtimes[f.Path] = f.ModTime.UTC().Truncate(time.Millisecond)
		opts := ReadOptions{Keys: func(ctx context.Context, id string) (map[string]bool, bool) {
			named := func(other File) bool { return strings.Contains(other.Path, id) }
			hinted := func(other File) bool {
				hint, _ := m.HintID(other)
				return hint == id
			}
			for _, fits := range []func(File) bool{named, hinted} {
				for _, other := range files {
					if !fits(other) {
						continue
					}
					if keys, err := m.Keys(ctx, other, ""); err == nil && len(keys) > 0 {
						return keys, true
					}
				}
			}
			return nil, false
		}}
		err := m.Read(ctx, f, opts, func(c *chat.Conversation) error {
			convs = append(convs, c)
			return nil
		})
		switch {
		case errors.Is(err, ErrUnsupported), err != nil:
			sep()
			line(" ", map[string]string{"file": rel(f.Path), "error": strings.ReplaceAll(err.Error(), f.Path, rel(f.Path))})
		}
	}
	for _, e := range ferrs {
		sep()
		line(" ", map[string]string{"find": rel(e.Path), "error": strings.ReplaceAll(e.Err.Error(), env.Home, "~")})
	}
	for _, c := range convs {
		sep()
		out.WriteString(" {\n")
		head := wantConversation{
			ID: c.ID, Source: c.Source, File: rel(c.File), Row: c.Row, Title: c.Title, Cwd: strings.Replace(c.Cwd, filepath.ToSlash(env.Home), "~", 1), Branch: c.Branch, Model: c.Model,
			Version: c.Version, Parent: c.Parent, Subagent: c.Subagent, Started: stamp(c.Started), Updated: stamp(c.Updated),
		}
		if c.Updated.Equal(mtimes[c.File]) {
			head.Updated = "the file's time"
		}
		line("  \"conversation\": ", head)
		out.WriteString(",\n")
		r := c.Read
		for i := range r.Broken {
			r.Broken[i].Why = strings.ReplaceAll(r.Broken[i].Why, env.Home, "~")
		}
		line("  \"read\": ", wantRead{r.Records, r.Used, r.Skipped, r.NoRule, r.Broken, r.Torn, r.Incomplete, cutHome(r.Warnings, env.Home)})
		out.WriteString(",\n  \"messages\": [\n")
		for i := range c.Messages {
			m := &c.Messages[i]
			w := wantMessage{Role: m.Role, ID: m.ID, Text: m.Text, Tool: m.Tool, Call: m.Call, Input: m.Input, Failed: m.Failed, Running: m.Running,
				Time: stamp(m.Time), Reply: m.Reply, Child: m.Child, Title: m.Title, Abandoned: m.Abandoned, Inherited: m.Inherited, Diff: m.Diff}
			line("   ", w)
			if i < len(c.Messages)-1 {
				out.WriteString(",")
			}
			out.WriteString("\n")
		}
		out.WriteString("  ]\n }")
	}
	out.WriteString("\n]\n")
	if !json.Valid(out.Bytes()) {
		t.Fatalf("not JSON: %s", out.String())
	}
	return out.Bytes()
}

func cutHome(list []string, home string) []string {
	for i := range list {
		list[i] = strings.ReplaceAll(list[i], home, "~")
	}
	return list
}

func stamp(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.Format("2006-01-02T15:04:05.000Z")
}

type wantConversation struct {
	ID       string `json:"id"`
	Source   string `json:"source"`
	File     string `json:"file"`
	Row      string `json:"row,omitempty"`
	Title    string `json:"title,omitempty"`
	Cwd      string `json:"cwd,omitempty"`
	Branch   string `json:"branch,omitempty"`
	Model    string `json:"model,omitempty"`
	Version  string `json:"version,omitempty"`
	Parent   string `json:"parent,omitempty"`
	Subagent bool   `json:"subagent,omitempty"`
	Started  string `json:"started,omitempty"`
	Updated  string `json:"updated,omitempty"`
}

type wantRead struct {
	Records    int            `json:"records"`
	Used       int            `json:"used"`
	Skipped    map[string]int `json:"skipped,omitempty"`
	NoRule     map[string]int `json:"no_rule,omitempty"`
	Broken     []chat.Broken  `json:"broken,omitempty"`
	Torn       bool           `json:"torn,omitempty"`
	Incomplete string         `json:"incomplete,omitempty"`
	Warnings   []string       `json:"warnings,omitempty"`
}

type wantMessage struct {
	Role      chat.Role `json:"role"`
	Text      string    `json:"text,omitempty"`
	Tool      string    `json:"tool,omitempty"`
	Call      string    `json:"call,omitempty"`
	Input     string    `json:"input,omitempty"`
	Failed    bool      `json:"failed,omitempty"`
	Running   bool      `json:"running,omitempty"`
	Time      string    `json:"time,omitempty"`
	ID        string    `json:"id,omitempty"`
	Reply     string    `json:"reply,omitempty"`
	Child     string    `json:"child,omitempty"`
	Title     string    `json:"title,omitempty"`
	Abandoned bool      `json:"abandoned,omitempty"`
	Inherited bool      `json:"inherited,omitempty"`
	Diff      string    `json:"diff,omitempty"`
}
