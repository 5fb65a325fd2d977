package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"parlance/internal/chat"
	"parlance/internal/history"
	"parlance/internal/render"
)

// Every conversation of some homes as a page would get it, subagents too, by id. A person reads
// the difference before -update.
func TestTurnsGolden(t *testing.T) {
	for _, home := range []string{"demo", "providers/claude_code", "providers/codex", "providers/gemini_cli", "providers/opencode"} {
		t.Run(filepath.Base(home), func(t *testing.T) {
			a := &app{homes: []string{filepath.Join("../../testdata", home, "home")}, out: new(bytes.Buffer), err: new(bytes.Buffer), reported: map[string]bool{}}
			t.Setenv("XDG_CONFIG_HOME", t.TempDir())
			t.Setenv("PARLANCE_MAPPINGS", "")
			t.Setenv("PARLANCE_ROOTS", "")
			h, err := a.open()
			if err != nil {
				t.Fatal(err)
			}
			tools, err := a.tools()
			if err != nil {
				t.Fatal(err)
			}
			ctx := context.Background()
			list, err := h.List(ctx, history.Filter{Limit: -1, Subagents: true})
			if err != nil || len(list.Rows) == 0 {
				t.Fatalf("%d conversations, %v", len(list.Rows), err)
			}
			got := map[string]json.RawMessage{}
			for _, row := range list.Rows {
				err := h.Load(ctx, row.FullID(), "", func(c *chat.Conversation) error {
					var b bytes.Buffer
					err := render.Turns(&b, c, render.TurnsOptions{Tools: tools})
					got[c.FullID()] = bytes.TrimSpace(b.Bytes())
					return err
				})
				if err != nil {
					t.Fatalf("%s: %v", row.FullID(), err)
				}
			}
			var text bytes.Buffer
			e := json.NewEncoder(&text)
			e.SetEscapeHTML(false)
			e.SetIndent("", " ")
			if err := e.Encode(got); err != nil {
				t.Fatal(err)
			}
			golden := filepath.Join("../../testdata/turns", filepath.Base(home)+".json")
			if *update {
				if err := os.MkdirAll(filepath.Dir(golden), 0o777); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(golden, text.Bytes(), 0o666); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(text.Bytes(), want) {
				t.Errorf("%s differs; run with -update and read the difference. Got\n%s", golden, text.Bytes())
			}
		})
	}
}
