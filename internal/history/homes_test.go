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

// TestSearchFindsWhatIsSaid: whatever a conversation of any provider's home says, a search for it
// finds that conversation: no raw filter lets a text slip.
func TestSearchFindsWhatIsSaid(t *testing.T) {
	set, err := mapping.NewSet(mappings.FS, nil)
	if err != nil {
		t.Fatal(err)
	}
	named, err := mapping.NamedRoots(mappings.FS)
	if err != nil {
		t.Fatal(err)
	}
	const homes = "../../testdata/providers"
	entries, err := os.ReadDir(homes)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		t.Run(e.Name(), func(t *testing.T) {
			home, err := filepath.Abs(filepath.Join(homes, e.Name(), "home"))
			if err != nil {
				t.Fatal(err)
			}
			env := mapping.Env{Home: home, Getenv: func(string) string { return "" }, Named: named}
			if root := filepath.Join(home, "root"); isDir(root) {
				env.Roots = []string{root}
			}
			h := Open(Config{Envs: []mapping.Env{env}, Set: set, Now: func() time.Time { return time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC) }})
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
	set, err := mapping.NewSet(mappings.FS, nil)
	if err != nil {
		t.Fatal(err)
	}
	named, err := mapping.NamedRoots(mappings.FS)
	if err != nil {
		t.Fatal(err)
	}
	opened := 0
	for _, name := range set.Names() {
		home, err := filepath.Abs(filepath.Join("../../testdata/providers", name, "home"))
		if err != nil {
			t.Fatal(err)
		}
		m, _ := set.Mapping(name)
		env := mapping.Env{Home: home, Getenv: func(string) string { return "" }, Named: named}
		if root := filepath.Join(home, "root"); isDir(root) {
			env.Roots = []string{root}
		}
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

func isDir(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}
