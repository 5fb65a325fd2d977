package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

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

// A long branch that was given up pushes what stands before it out of the window that is kept
// while reading; it is shown all the same.
func TestTurnsBehindAnAbandonedBranch(t *testing.T) {
	home := t.TempDir()
	path := filepath.Join(home, ".claude/projects/p/aaaa0000-0000-4000-8000-000000000001.jsonl")
	var text strings.Builder
	say := func(id, parent, what string) {
		fmt.Fprintf(&text, `{"type":"user","uuid":%q,"parentUuid":%q,"sessionId":"s","timestamp":"2026-01-05T10:00:00.000Z","message":{"role":"user","content":%q}}`+"\n", id, parent, what)
	}
	say("first", "", "stays")
	parent := "first"
	for i := range 300 {
		id := fmt.Sprint("gone", i)
		say(id, parent, "given up")
		parent = id
	}
	say("last", "first", "instead")
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text.String()), 0o666); err != nil {
		t.Fatal(err)
	}
	for _, what := range []string{"aaaa", path} {
		var out, errw bytes.Buffer
		if code := Run([]string{"--home", home, "show", what, "--format", "turns"}, nil, &out, &errw); code != exitFound {
			t.Fatalf("%s: exit %d, %s", what, code, errw.String())
		}
		var doc struct {
			Turns   []struct{ Text string }
			Earlier int
		}
		if err := json.Unmarshal(out.Bytes(), &doc); err != nil {
			t.Fatal(err)
		}
		if len(doc.Turns) != 2 || doc.Turns[0].Text != "stays" || doc.Turns[1].Text != "instead" || doc.Earlier != 0 {
			t.Errorf("%s: got %s", what, out.String())
		}
	}
}

// A conversation that stands in a database and in a file of its own has a stamp of both: a poll
// reads nothing while neither has changed, and whichever does is noticed.
func TestTurnsStampOfTwoStores(t *testing.T) {
	home := t.TempDir()
	if err := os.CopyFS(home, os.DirFS("../../testdata/providers/devin/home/")); err != nil {
		t.Fatal(err)
	}
	t.Setenv("XDG_CONFIG_HOME", t.TempDir())
	poll := func(stamp string) (now string, unchanged bool) {
		t.Helper()
		var out, errw bytes.Buffer
		args := []string{"--home", home, "show", "quiet-heron", "--format", "turns"}
		if stamp != "" {
			args = append(args, "--stamp", stamp)
		}
		if code := Run(args, nil, &out, &errw); code != exitFound {
			t.Fatalf("exit %d, %s", code, errw.String())
		}
		var doc struct {
			Stamp     string
			Unchanged bool
			Turns     []json.RawMessage
		}
		if err := json.Unmarshal(out.Bytes(), &doc); err != nil {
			t.Fatal(err)
		}
		if doc.Unchanged != (len(doc.Turns) == 0) {
			t.Errorf("unchanged %v with %d turns", doc.Unchanged, len(doc.Turns))
		}
		return doc.Stamp, doc.Unchanged
	}
	stamp, _ := poll("")
	if stamp == "" {
		t.Fatal("there is no stamp")
	}
	for i, rel := range []string{"transcripts/quiet-heron.json", "sessions.db", "sessions.db-wal"} {
		if now, unchanged := poll(stamp); !unchanged || now != stamp {
			t.Errorf("before %s: stamp %s, then %s, unchanged %v", rel, stamp, now, unchanged)
		}
		path := filepath.Join(home, ".local/share/devin/cli", rel)
		if filepath.Ext(rel) == ".db-wal" {
			if err := os.WriteFile(path, nil, 0o666); err != nil {
				t.Fatal(err)
			}
		}
		at := time.Now().Add(time.Duration(i+1) * time.Hour)
		if err := os.Chtimes(path, at, at); err != nil {
			t.Fatal(err)
		}
		now, unchanged := poll(stamp)
		if unchanged || now == stamp {
			t.Errorf("%s changed: stamp %s, then %s, unchanged %v", rel, stamp, now, unchanged)
		}
		stamp = now
	}
}
