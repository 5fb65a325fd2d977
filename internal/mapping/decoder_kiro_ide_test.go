package mapping

import (
	"context"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"parlance/internal/chat"
)

const (
	ideBase = ".config/Kiro/User/globalStorage/kiro.kiroagent/"
	ideLogs = ideBase + "0123456789abcdef0123456789abcdef/414d1636299d2b9e4ce7e17fb11f63e9/"
	ideChat = ideBase + "0123456789abcdef0123456789abcdef/"
	ideWork = ideBase + "workspace-sessions/L3Nydi9zaG9w/"
)

// ideLog writes an execution log; rest holds more of its members.
func ideLog(session, id, start, prompt, rest string) string {
	return `{"executionId":"` + id + `","startTime":` + start + `,"chatSessionId":"` + session + `","input":{"data":{"messages":[{"role":"user","content":"` + prompt + `"}]}}` + rest + `}`
}

// says are the actions of a log that answers; before is its context, of prompts and answers.
func says(text string) string {
	return `,"actions":[{"actionType":"say","output":{"message":"` + text + `"}}]`
}

func before(texts ...string) string {
	var list []string
	for i, text := range texts {
		list = append(list, `{"role":"`+[]string{"human", "bot"}[i%2]+`","entries":[{"type":"text","text":"`+text+`"}]}`)
	}
	return `,"context":{"messages":[` + strings.Join(list, ",") + `]}`
}

// TestKiroSessions: what is put together, and in which order it is told.
func TestKiroSessions(t *testing.T) {
	for _, test := range []struct {
		name  string
		files map[string]string
		want  string // each conversation: its id, its messages
	}{
		{"logs in the order of their starts, which names do not tell", map[string]string{
			ideLogs + "b": ideLog("s", "e1", "1", "one", says("first")),
			ideLogs + "a": ideLog("s", "e2", "2", "two", says("second")),
		}, "s: user one, assistant first, user two, assistant second"},

		{"what a log repeats is told by its own log", map[string]string{
			ideLogs + "a": ideLog("s", "e1", "1", "one", says("first")),
			ideLogs + "b": ideLog("s", "e2", "2", "two", before("one", "first")+says("second")),
			ideLogs + "c": ideLog("s", "e3", "3", "three", before("one", "first", "two", "second")+says("third")),
		}, "s: user one, assistant first, user two, assistant second, user three, assistant third"},

		{"a running log is joined to those before it", map[string]string{
			ideLogs + "a": ideLog("s", "e1", "1", "one", before("zero", "none")+says("first")),
			ideLogs + "b": ideLog("s", "e2", "2", "two", `,"status":"running","context":{"messages":[]}`+says("second")),
		}, "s: user zero, assistant none, user one, assistant first, user two, assistant second"},

		{"a turn whose log is gone is told once, by the first log that repeats it", map[string]string{
			ideLogs + "b": ideLog("s", "e2", "2", "two", before("one", "first")+says("second")),
			ideLogs + "c": ideLog("s", "e3", "3", "three", before("one", "first", "two", "second")+says("third")),
			ideWork + "s.json": `{"history":[
				{"message":{"role":"user","content":"one"}},{"message":{"role":"assistant","content":"On it."},"executionId":"e1"},
				{"message":{"role":"user","content":"two"}},{"message":{"role":"assistant","content":"On it."},"executionId":"e2"},
				{"message":{"role":"user","content":"three"}},{"message":{"role":"assistant","content":"On it."},"executionId":"e3"}]}`,
		}, "s: user one, assistant first, user two, assistant second, user three, assistant third"},

		{"the same prompt three times, the first two without a log", map[string]string{
			ideLogs + "c": ideLog("s", "e3", "3", "go on", before("go on", "a", "go on", "b")+says("c")),
			ideWork + "s.json": `{"history":[
				{"message":{"role":"user","content":"go on"}},{"message":{"role":"assistant","content":"On it."},"executionId":"e1"},
				{"message":{"role":"user","content":"go on"}},{"message":{"role":"assistant","content":"On it."},"executionId":"e2"},
				{"message":{"role":"user","content":"go on"}},{"message":{"role":"assistant","content":"On it."},"executionId":"e3"}]}`,
		}, "s: user go on, assistant a, user go on, assistant b, user go on, assistant c"},

		{"a log that repeats its own turn", map[string]string{
			ideLogs + "a": ideLog("s", "e1", "1", "one", before("one", "first")+says("first")),
			ideLogs + "b": ideLog("s", "e2", "2", "one", before("one", "first", "one", "second")+says("second")),
			ideLogs + "c": ideLog("s", "e3", "3", "one", before("one", "first", "one", "second", "one", "third")),
		}, "s: user one, assistant first, user one, assistant second, user one, assistant third"},

		{"no log at all", map[string]string{
			ideWork + "s.json": `{"history":[{"message":{"role":"user","content":"one"}},{"message":{"role":"assistant","content":"On it."},"executionId":"e1","promptLogs":[{"completion":"first"}]}]}`,
		}, "s: user one, assistant first"},

		{"a turn between two logs that only the session file knows", map[string]string{
			ideLogs + "a": ideLog("s", "e1", "1", "one", says("first")),
			ideLogs + "c": ideLog("s", "e3", "3", "three", says("third")),
			ideWork + "s.json": `{"history":[
				{"message":{"role":"user","content":"one"}},{"message":{"role":"assistant","content":"On it."},"executionId":"e1"},
				{"message":{"role":"user","content":"two"}},{"message":{"role":"assistant","content":"second"}},
				{"message":{"role":"user","content":"three"}},{"message":{"role":"assistant","content":"On it."},"executionId":"e3"}]}`,
		}, "s: user one, assistant first, user two, assistant second, user three, assistant third"},

		{"an execution twice, in folders of two spellings", map[string]string{
			ideLogs + "a": ideLog("s", "e1", "1", "one", `,"actions":[]`),
			ideBase + "ffffffffffffffffffffffffffffffff/414d1636299d2b9e4ce7e17fb11f63e9/a": ideLog("s", "e1", "1", "one", says("first")),
		}, "s: user one, assistant first"},

		{"a log that was cut off", map[string]string{
			ideLogs + "a": ideLog("s", "e1", "1", "one", says("first")),
			ideLogs + "b": strings.TrimSuffix(ideLog("s", "e2", "2", "two", says("second")+`,"result":"..`), `"}`),
		}, "s: user one, assistant first, user two, assistant second"},

		{"a session that 1.0 took over has its new id", map[string]string{
			ideWork + "s.json":           `{"history":[{"message":{"role":"user","content":"one"}}]}`,
			ideWork + ".migrated-s.json": `{"migratedAt":"2026-07-14T14:30:00.000Z","v2SessionId":"sess_new"}`,
		}, "new: user one"},

		{"a .chat of no session, and one that a session names", map[string]string{
			ideChat + "x.chat":     `{"executionId":"c1","chat":[{"role":"human","content":"one"},{"role":"bot","content":"first"}],"metadata":{"workflowId":"w","startTime":1}}`,
			ideChat + "y.chat":     `{"executionId":"c2","chat":[{"role":"human","content":"two"},{"role":"bot","content":"second"}],"metadata":{"workflowId":"w","startTime":2}}`,
			ideChat + "z.chat":     `{"executionId":"c3","chat":[{"role":"human","content":"three"},{"role":"bot","content":"third"}],"metadata":{"workflowId":"v","startTime":3}}`,
			ideWork + "named.json": `{"history":[{"message":{"role":"user","content":"three"}},{"message":{"role":"assistant","content":"On it."},"executionId":"c3"}]}`,
		}, "named: user three, assistant third\nw: user one, assistant first, user two, assistant second"},

		{"a step of a spec repeats the prompt of its session", map[string]string{
			ideLogs + "a": ideLog("s", "e1", "1", "plan", `,"actions":[{"actionType":"say","output":{"message":"begun","executionId":"e2"}}]`),
			ideLogs + "b": ideLog("s", "e2", "2", "plan", says("done")),
			ideLogs + "c": ideLog("other", "e3", "3", "plan", says("alone")),
		}, "other: user plan, assistant alone\ns: user plan, assistant begun, assistant done"},

		{"an empty file beside the others", map[string]string{
			ideLogs + "a": ideLog("s", "e1", "1", "one", says("first")),
			ideLogs + "b": "", ideWork + "s.json": "\n",
		}, "s: user one, assistant first"},
	} {
		t.Run(test.name, func(t *testing.T) {
			var got []string
			for _, c := range readAll(t, builtin(t, "kiro_ide"), homeEnv(t, homeWith(t, test.files).Home), ReadOptions{}) {
				var said []string
				for _, m := range c.Messages {
					said = append(said, string(m.Role)+" "+m.Body())
				}
				got = append(got, c.ID+": "+strings.Join(said, ", "))
			}
			slices.Sort(got)
			if text := strings.Join(got, "\n"); text != test.want {
				t.Errorf("got\n%s\nwant\n%s", text, test.want)
			}
		})
	}
}

// TestKiroParts: the files of a session are one File, whichever of them is asked for.
func TestKiroParts(t *testing.T) {
	m := builtin(t, "kiro_ide")
	texts := map[string]string{
		ideLogs + "a":              ideLog("s-1", "e1", "1", "one", says("first")),
		ideLogs + "b":              ideLog("s-1", "e2", "2", "two", says("second")),
		ideLogs + "c":              ideLog("s-2", "e3", "3", "three", says("third")),
		ideWork + "s-1.json":       `{"history":[],"title":"Of s-1"}`,
		ideWork + "sessions.json":  `[{"sessionId":"s-1","title":"Of the index"},{"sessionId":"s-9","title":"Gone"}]`,
		ideLogs + "../f62de366d00": `{"executions":[{"executionId":"e1"},{"executionId":"e99"}],"version":"2.0.0"}`,
		ideLogs + "garbage":        `{"executions":1}`,
	}
	env := homeEnv(t, homeWith(t, texts).Home)
	at := func(name string) string { return filepath.Join(env.Home, filepath.FromSlash(name)) }
	newest := time.Date(2026, 5, 1, 0, 0, 0, 0, time.UTC)
	for name := range texts {
		when := newest.Add(-time.Hour)
		if name == ideLogs+"b" {
			when = newest
		}
		if err := os.Chtimes(at(name), when, when); err != nil {
			t.Fatal(err)
		}
	}
	files, errs := m.Find(context.Background(), env)
	if len(errs) != 1 || errs[0].Path != at(ideLogs+"garbage") || errs[0].Provider != "kiro_ide" {
		t.Errorf("errors %v", errs)
	}
	if len(files) != 2 {
		t.Fatalf("files %v", files)
	}
	want := []string{at(ideWork + "s-1.json"), at(ideLogs + "a"), at(ideLogs + "b")}
	f := files[0]
	if f.Path != want[0] || !reflect.DeepEqual(f.Parts(), want) || !f.ModTime.Equal(newest) ||
		f.Size != int64(len(texts[ideLogs+"a"])+len(texts[ideLogs+"b"])+len(texts[ideWork+"s-1.json"])) {
		t.Errorf("%v %v, parts %v", f, f.ModTime, f.Parts())
	}
	if id, exact := m.HintID(f); id != "s-1" || exact {
		t.Errorf("hint %q %v", id, exact)
	}
	for _, part := range want {
		f, err := m.FileAt(env, part)
		if err != nil || !reflect.DeepEqual(f.Parts(), want) {
			t.Errorf("%s: %v, parts %v", part, err, f.Parts())
		}
	}
	for _, part := range append(want[1:], at(ideWork+"sessions.json")) {
		if err := os.Remove(part); err != nil {
			t.Fatal(err)
		}
	}
	if err := m.Read(context.Background(), f, ReadOptions{}, func(c *chat.Conversation) error {
		if c.Title != "Of s-1" || len(c.Messages) != 0 {
			t.Errorf("%q, %d messages", c.Title, len(c.Messages))
		}
		if len(c.Read.Broken) != 3 {
			t.Errorf("broken %v", c.Read.Broken)
		}
		return nil
	}); err != nil {
		t.Error(err)
	}
}

// TestKiroCopies: a file that was copied from its place is read by itself.
func TestKiroCopies(t *testing.T) {
	m := builtin(t, "kiro_ide")
	env := homeWith(t, map[string]string{
		"mail/log":      ideLog("s-1", "e2", "2", "two", before("one", "first")+says("second")),
		"mail/old.chat": `{"executionId":"c1","chat":[{"role":"human","content":"one"},{"role":"bot","content":"first"}]}`,
		"mail/s-1.json": `{"sessionId":"s-1","history":[{"message":{"role":"user","content":"one"}},{"message":{"role":"assistant","content":"first"}}]}`,
		"mail/letter":   `{"dear":"reader"}`,
	})
	for name, want := range map[string]string{
		"log":      "s-1: user one, assistant first, user two, assistant second",
		"old.chat": "c1: user one, assistant first",
		"s-1.json": "s-1: user one, assistant first",
		"letter":   "",
	} {
		f, err := m.FileAt(env, filepath.Join(env.Home, "mail", name))
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		if err := m.Read(context.Background(), f, ReadOptions{}, func(c *chat.Conversation) error {
			var said []string
			for _, m := range c.Messages {
				said = append(said, string(m.Role)+" "+m.Body())
			}
			got += c.ID + ": " + strings.Join(said, ", ")
			return nil
		}); err != nil && want != "" {
			t.Errorf("%s: %v", name, err)
		}
		if got != want {
			t.Errorf("%s: got %q, want %q", name, got, want)
		}
	}
}

// TestKiroStorage: KIRO_IDE_STORAGE is looked into as well; a session may lie in both.
func TestKiroStorage(t *testing.T) {
	other := strings.Replace(ideLogs, ideBase, "other/", 1)
	env := homeEnv(t, homeWith(t, map[string]string{
		ideLogs + "a": ideLog("s-1", "e1", "1", "one", says("first")),
		other + "a":   ideLog("s-1", "e1", "1", "one", says("first")),
		other + "b":   ideLog("s-1", "e2", "2", "two", says("second")),
	}).Home)
	for value, want := range map[string]int{"": 2, filepath.Join(env.Home, "other"): 4} {
		env.Getenv = getenv("KIRO_IDE_STORAGE", value)
		if got := readAll(t, builtin(t, "kiro_ide"), env, ReadOptions{}); len(got) != 1 || len(got[0].Messages) != want {
			t.Errorf("%q: %d conversations, want one of %d messages", value, len(got), want)
		}
	}
}

// TestKiroCutLogs: a log of which only the beginning is left is read up to there. One that ends
// before its first message is said to be broken, and where; it is no conversation without messages.
func TestKiroCutLogs(t *testing.T) {
	m := builtin(t, "kiro_ide")
	log := ideLog("s-1", "e1", "1", "one", says("first"))
	for _, tt := range []struct {
		name    string
		files   map[string]string
		said    string // of the one conversation
		broken  string // what Read.Broken holds, behind the path
		problem string // what Read fails with, behind the paths
	}{
		{"in its prompt", map[string]string{"a": log[:strings.Index(log, "one")-8]},
			"", "", "no message stands before its end: unexpected end of JSON input, at byte "},
		{"in its first member", map[string]string{"a": `{"executionId":"e1","chatSessionId":"s-1","startTi`},
			"", "", "no message stands before its end: unexpected end of JSON input, at byte "},
		{"behind its prompt", map[string]string{"b": log[:strings.Index(log, "first")]},
			"user one", "unexpected end of JSON input, at byte 172: what stands before it was read", ""},
		{"before its first message, beside a whole one", map[string]string{"a": log, "b": `{"executionId":"e2","chatSessionId":"s-1","startTime":2,"input":{"data":{"mess`},
			"user one, assistant first", "unexpected end of JSON input, at byte 78: no message stands before it", ""},
		{"before its first message, beside a session that tells of it", map[string]string{"b": `{"executionId":"e2","chatSessionId":"s-1","startTime":2,"input":{"data":{"mess`,
			"../../workspace-sessions/L3Nydi9zaG9w/s-1.json": `{"history":[{"message":{"role":"user","content":"one"}},{"message":{"role":"assistant","content":"On it."},"executionId":"e2"}]}`},
			"user one, assistant On it.", "unexpected end of JSON input, at byte 78: no message stands before it", ""},
		{"behind its prompt, repeated by a later log", map[string]string{"b": log[:strings.Index(log, ",\"actions")], "c": ideLog("s-1", "e2", "2", "two", before("one", "first")+says("second"))},
			"user one, assistant first, user two, assistant second", "unexpected end of JSON input, at byte 119: a later log repeats the turn, and was read instead", ""},
		{"no JSON at all behind the ids", map[string]string{"a": `{"executionId":"e1","chatSessionId":"s-1"]}`},
			"", "", "no message stands before its end: invalid character ']' after object key:value pair, at byte 42"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			files := map[string]string{}
			for name, text := range tt.files {
				files[ideLogs+name] = text
			}
			env := homeEnv(t, homeWith(t, files).Home)
			found, errs := m.Find(context.Background(), env)
			if len(found) != 1 || len(errs) != 0 {
				t.Fatalf("found %v, %v", found, errs)
			}
			said, broken := []string{}, ""
			err := m.Read(context.Background(), found[0], ReadOptions{}, func(c *chat.Conversation) error {
				for _, m := range c.Messages {
					said = append(said, string(m.Role)+" "+m.Body())
				}
				for _, b := range c.Read.Broken {
					_, why, _ := strings.Cut(b.Why, ideLogs)
					broken += strings.TrimPrefix(why, "b: ")
				}
				if !c.Read.Torn {
					t.Error("not torn")
				}
				return nil
			})
			problem := ""
			if err != nil {
				problem = strings.ReplaceAll(err.Error(), found[0].Path+": ", "")
			}
			if strings.Join(said, ", ") != tt.said || broken != tt.broken || (tt.problem == "") != (problem == "") || !strings.HasPrefix(problem, tt.problem) {
				t.Errorf("got %v, broken %q, problem %q", said, broken, problem)
			}
		})
	}
}
