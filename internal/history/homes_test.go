package history

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"parlance/internal/chat"
	"parlance/internal/mapping"
	"parlance/mappings"
)

// builtIn are the mappings that come with the program, and an environment for a fixture home.
func builtIn(t *testing.T) (*mapping.Set, func(provider string) mapping.Env) {
	t.Helper()
	set, err := mapping.NewSet(mappings.FS, nil)
	if err != nil {
		t.Fatal(err)
	}
	named, err := mapping.NamedRoots(mappings.FS)
	if err != nil {
		t.Fatal(err)
	}
	return set, func(provider string) mapping.Env {
		home, err := filepath.Abs(filepath.Join("../../testdata/providers", provider, "home"))
		if err != nil {
			t.Fatal(err)
		}
		return mapping.Env{Home: home, Getenv: func(string) string { return "" }, Cwd: home, Roots: []string{filepath.Join(home, "root")}, Named: named}
	}
}

// TestSearchFindsWhatIsSaid: whatever a conversation of any provider's home says, a search for it
// finds that conversation: no raw filter lets a text slip.
func TestSearchFindsWhatIsSaid(t *testing.T) {
	set, envOf := builtIn(t)
	for _, name := range set.Names() {
		t.Run(name, func(t *testing.T) {
			h := Open(Config{Envs: []mapping.Env{envOf(name)}, Set: set, Now: func() time.Time { return time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC) }})
			l, err := h.List(context.Background(), Filter{Limit: -1})
			if err != nil {
				t.Fatal(err)
			}
			for _, row := range l.Rows[:min(len(l.Rows), 4)] {
				var texts []string
				err := h.Load(context.Background(), row.FullID(), "", func(c *chat.Conversation) error {
					for _, m := range c.Messages {
						if (m.Role == chat.User || m.Role == chat.Assistant) && !m.Abandoned && !m.Inherited {
							texts = append(texts, strings.TrimSpace(m.Text))
						}
					}
					return nil
				})
				if err != nil {
					continue // several of that id
				}
				for _, i := range []int{0, len(texts) - 1} {
					if len(texts) == 0 {
						break
					}
					text := chat.Head(texts[i], 40)
					if strings.Contains(text, "\n") || text == "" || strings.Contains(row.FullID(), chat.Fold(text)) {
						continue
					}
					got, err := h.Search(context.Background(), Query{Text: text, Filter: Filter{Limit: -1}})
					if err != nil || !slices.ContainsFunc(got.Rows, func(r chat.Row) bool { return r.FullID() == row.FullID() && r.Hits > 0 }) {
						t.Errorf("%q of %s is not found: %s, %v", text, row.FullID(), ids(got), err)
					}
				}
			}
		})
	}
}

// TestChildrenOpen: the conversation that a call started opens by the id that stands on the call.
func TestChildrenOpen(t *testing.T) {
	set, envOf := builtIn(t)
	opened := 0
	for _, name := range set.Names() {
		m, _ := set.Mapping(name)
		env := envOf(name)
		children := map[string]string{} // by id: who started it
		files, _ := m.Find(context.Background(), env)
		for _, f := range files {
			_ = m.Read(context.Background(), f, mapping.ReadOptions{}, func(c *chat.Conversation) error {
				for _, msg := range c.Messages {
					if msg.Child != "" {
						children[msg.Child] = c.ID
					}
				}
				return nil
			})
		}
		h := Open(Config{Envs: []mapping.Env{env}, Set: set, Now: func() time.Time { return time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC) }})
		for child, parent := range children {
			got := ""
			err := h.Load(context.Background(), name+":"+child, "", func(c *chat.Conversation) error {
				got = c.ID
				return nil
			})
			if err != nil || got != child {
				t.Errorf("%s: %s, started by %s: got %q, %v", name, child, parent, got, err)
			}
			opened++
		}
	}
	if opened < 12 {
		t.Errorf("only %d children were tried", opened)
	}
}

// No mapping is compiled whose folders are not there, and one that looks into working directories
// only if one of those holds what it looks for.
func TestOnlyWhatIsThereIsCompiled(t *testing.T) {
	prompt := `{"type":"user","uuid":"u1","parentUuid":null,"sessionId":"5d0c0d6e-0001-4000-8000-000000000001","cwd":"CWD","timestamp":"2026-05-01T10:00:00.000Z","message":{"role":"user","content":"Where does the ferry land?"}}` + "\n"
	for _, tt := range []struct {
		name  string
		files map[string]string // in home; CWD stands for its folder work
		want  int64
	}{
		{"nothing", nil, 0},
		{"other folders", map[string]string{".config/other/a.json": "{}", "work/notes.md": "# a"}, 0},
		{"one tool", map[string]string{".claude/projects/work/5d0c0d6e-0001-4000-8000-000000000001.jsonl": prompt}, 1},
		{"and one in its working directory", map[string]string{".claude/projects/work/5d0c0d6e-0001-4000-8000-000000000001.jsonl": prompt,
			"work/.aider.chat.history.md": "\n# aider chat started at 2026-05-01 10:00:00\n\n#### Where does the ferry land?\n\nIn the east.\n"}, 2},
	} {
		t.Run(tt.name, func(t *testing.T) {
			set, _ := builtIn(t)
			named, err := mapping.NamedRoots(mappings.FS)
			if err != nil {
				t.Fatal(err)
			}
			home := t.TempDir()
			for name, text := range tt.files {
				path := filepath.Join(home, filepath.FromSlash(name))
				if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(path, []byte(strings.ReplaceAll(text, "CWD", filepath.ToSlash(filepath.Join(home, "work")))), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			h := Open(Config{Envs: []mapping.Env{{Home: home, Cwd: home, Named: named}}, Set: set})
			l, err := h.List(t.Context(), Filter{})
			if err != nil || len(l.Problems) > 0 {
				t.Fatal(l.Problems, err)
			}
			if l.Work.Compiled != tt.want || int64(len(l.Rows)) != tt.want {
				t.Errorf("%d mappings compiled, want %d; %s", l.Work.Compiled, tt.want, ids(l))
			}
			if tt.want == 0 && len(l.Looked) < len(set.Names()) {
				t.Errorf("looked at %q", l.Looked)
			}
		})
	}
}
