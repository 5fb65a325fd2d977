package history

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"parlance/internal/chat"
	"parlance/internal/mapping"
)

// TestExplainChoosesAsLoad explains every file of every fixture home: it is read by the
// mapping that show would take, and what nothing reads is looked at.
func TestExplainChoosesAsLoad(t *testing.T) {
	if testing.Short() {
		t.Skip("reads every fixture with every mapping")
	}
	set, envOf := builtIn(t)
	ctx := context.Background()
	read, unread := 0, 0
	for _, name := range set.Names() {
		env := envOf(name)
		h := Open(Config{Envs: []mapping.Env{env}, Set: set})
		err := filepath.WalkDir(env.Home, func(path string, d os.DirEntry, err error) error {
			if err != nil || !d.Type().IsRegular() {
				return err
			}
			e, err := h.Explain(ctx, path, "", mapping.ExplainOptions{})
			if err != nil {
				t.Errorf("%s: %v", path, err)
				return nil
			}
			provider, messages := "", 0
			loadErr := h.Load(ctx, path, "", func(c *chat.Conversation) error {
				provider, messages = c.Provider, messages+len(c.Messages)
				return nil
			})
			switch {
			case e.Verdict == mapping.VerdictUnknown && loadErr == nil:
				t.Errorf("%s: nothing reads it, but %s was shown", path, provider)
			case e.Verdict != mapping.VerdictUnknown && loadErr != nil:
				t.Errorf("%s: explained by %s, not shown: %v", path, e.Provider, loadErr)
			case provider != "" && e.Provider != provider:
				t.Errorf("%s: explained by %s, shown by %s", path, e.Provider, provider)
			case e.Messages != messages:
				t.Errorf("%s: explained %d messages, shown %d", path, e.Messages, messages)
			}
			if e.Verdict == mapping.VerdictUnknown {
				unread++
				if e.Look == nil || e.Look.Summary == "" {
					t.Errorf("%s: nobody says what it looks like", path)
				}
			} else {
				read++
				if e.Chosen == nil || e.Chosen.By == "" {
					t.Errorf("%s: nobody says why %s was chosen", path, e.Provider)
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if read < 50 || unread < 10 {
		t.Errorf("%d files explained, %d looked at", read, unread)
	}
}
