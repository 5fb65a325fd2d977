package mcpserver

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/ncruces/go-sqlite3"
)

// heldMaxBytes is by how much the heap may differ between the two halves of a long life. A
// leak of one small table a call (there was one) is many times that.
const heldMaxBytes = 2 << 20

// TestLongLife lets one server answer a thousand calls of all kinds while tools write on:
// lines are appended, a document is replaced, a database with a log is written to, files go and
// come back, checkpoints are made. Each answer must be that of a server which started a moment
// ago, what was just written must be in it, and in the end nothing has piled up.
func TestLongLife(t *testing.T) {
	home := copyHome(t, "../../testdata/demo/home")
	if err := os.CopyFS(filepath.Join(home, ".local/share/opencode"), os.DirFS("../../testdata/providers/opencode/home/.local/share/opencode")); err != nil {
		t.Fatal(err)
	}
	age(t, home, testNow.Add(-24*time.Hour))
	now := func() time.Time { return testNow }
	claude := filepath.Join(home, ".claude/projects/-home-mara-ferry/7a1e0c52-4b1d-4c7a-9d55-3f1f6b2c0001.jsonl")
	document := filepath.Join(home, ".gemini/tmp/harbour/chats/session-2026-05-23T09-00-5b5b0009.json")
	passing := filepath.Join(home, ".pi/agent/sessions/--home-mara-boats--/2026-05-22T10-00-00-000Z_9c9c0001-0000-4000-8000-00000000fe03.jsonl")
	passingText, err := os.ReadFile(passing)
	if err != nil {
		t.Fatal(err)
	}
	db, err := sqlite3.Open(filepath.Join(home, ".local/share/opencode/opencode-stable.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close() // the writer lives on, so its log stays beside the database

	l := dial(t, openHome(t, home, now), options(t))
	l.hello()
	calls := 1000
	if testing.Short() {
		calls = 200
	}
	asked := 0
	answer := func(tool string, arguments map[string]any) string {
		asked++
		raw, err := json.Marshal(arguments)
		if err != nil {
			t.Fatal(err)
		}
		r := l.call(tool, string(raw))
		if r.Error != nil || r.Result.IsError {
			t.Fatalf("call %d, %s %s: %+v", asked, tool, raw, r)
		}
		// A checkpoint is new each time; all else must be what a fresh server says.
		if tool != "chat_checkpoint" && asked%25 == 0 {
			if fresh := ask(t, openHome(t, home, now), tool, arguments); fresh != r.text() {
				t.Fatalf("call %d, %s %s:\n%s\na fresh server says:\n%s", asked, tool, raw, r.text(), fresh)
			}
		}
		return r.text()
	}
	found := func(word, where string, want bool) {
		t.Helper()
		if got := strings.HasPrefix(answer("chat_search", map[string]any{"search": word}), "1 conversation(s)"); got != want {
			t.Fatalf("call %d: %q, %s, found: %v\n%s\nfresh: %s", asked, word, where, got, answer("chat_search", map[string]any{"search": word}), ask(t, openHome(t, home, now), "chat_search", map[string]any{"search": word}))
		}
	}
	var half uint64
	var files, routines int
	for round := 0; asked < calls; round++ {
		word := fmt.Sprintf("plover%04d", round)
		slug := answer("chat_checkpoint", map[string]any{"slug": word + " mark"})
		appendTo(t, claude, fmt.Sprintf(`{"type":"user","uuid":"long-u%[1]d","parentUuid":null,"sessionId":"7a1e0c52-4b1d-4c7a-9d55-3f1f6b2c0001","cwd":"/home/mara/ferry","timestamp":"2026-05-24T08:00:00Z","message":{"role":"user","content":"Is %[2]s a bird?"}}`, round, word)+"\n")
		found(word, "in a line just appended", true)
		fork := answer("chat_fork", map[string]any{"search": "claude_code:7a1e0c52"})
		if !strings.Contains(fork, word) {
			t.Fatalf("call %d: the fork lacks %s:\n%s", asked, word, fork)
		}

		// As its tool does it: beside, then in its place.
		text := fmt.Sprintf(`{"sessionId":"5b5b0009-0000-4000-8000-000000000009","projectHash":"harbour","startTime":"2026-05-23T09:00:00Z","lastUpdated":"2026-05-23T09:00:%02dZ","messages":[{"id":"1","timestamp":"2026-05-23T09:00:00Z","type":"user","content":"Where do dunlin%04d nest?"}]}`, round%60, round)
		if err := os.WriteFile(document+".new", []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(document+".new", document); err != nil {
			t.Fatal(err)
		}
		found(fmt.Sprintf("dunlin%04d", round), "in a document just replaced", true)
		if round > 0 {
			found(fmt.Sprintf("dunlin%04d", round-1), "in the document that is gone", false)
		}

		if err := db.Exec(fmt.Sprintf(`UPDATE part SET data = json_object('type','text','text','The curlew%04d left') WHERE id = (SELECT p.id FROM part p JOIN message m ON m.id = p.message_id WHERE m.data LIKE '%%"role":"user"%%' AND p.data LIKE '%%"type":"text"%%' ORDER BY p.id LIMIT 1)`, round)); err != nil {
			t.Fatal(err)
		}
		found(fmt.Sprintf("curlew%04d", round), "in a row just written", true)

		if round%2 == 0 {
			if err := os.Remove(passing); err != nil {
				t.Fatal(err)
			}
		} else if err := os.WriteFile(passing, passingText, 0o600); err != nil {
			t.Fatal(err)
		}
		if got := strings.Contains(answer("chat_search", nil), "pi:9c9c0001"); got != (round%2 == 1) {
			t.Fatalf("call %d: a file that is there in round %d: %v", asked, round, got)
		}
		appendTo(t, claude, fmt.Sprintf(`{"type":"user","uuid":"long-c%[1]d","parentUuid":"long-u%[1]d","sessionId":"7a1e0c52-4b1d-4c7a-9d55-3f1f6b2c0001","cwd":"/home/mara/ferry","timestamp":"2026-05-24T08:00:01Z","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t%[1]d","content":%[2]s}]}}`, round, asJSON(slug))+"\n")
		if got := answer("chat_fork", map[string]any{"search": word + " mark", "start_checkpoint": word + " mark"}); !strings.Contains(got, word+" mark") {
			t.Fatalf("call %d: no slice from a checkpoint just made:\n%s", asked, got)
		}
		// The file grows with the rounds, and what is held of it may: so it begins anew.
		if err := os.Truncate(claude, 0); err != nil {
			t.Fatal(err)
		}
		original, err := os.ReadFile("../../testdata/demo/home/.claude/projects/-home-mara-ferry/" + filepath.Base(claude))
		if err != nil {
			t.Fatal(err)
		}
		appendTo(t, claude, string(original))

		if half == 0 && asked >= calls/2 {
			half, files, routines = held(), openFiles(), runtime.NumGoroutine()
		}
	}
	if end := held(); end > half+heldMaxBytes {
		t.Errorf("%d bytes are held after %d calls, %d after half of them", end, asked, half)
	}
	if n := openFiles(); n > files {
		t.Errorf("%d open files after %d calls, %d after half of them", n, asked, files)
	}
	if n := runtime.NumGoroutine(); n > routines {
		t.Errorf("%d goroutines after %d calls, %d after half of them", n, asked, routines)
	}
}

// held is how many bytes are in use once all that can be collected is.
func held() uint64 {
	runtime.GC()
	runtime.GC() // what finalizers let go
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

func appendTo(t *testing.T, path, text string) {
	t.Helper()
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.WriteString(text); err != nil {
		t.Fatal(err)
	}
}
