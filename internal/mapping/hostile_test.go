package mapping

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"parlance/internal/chat"
	"parlance/internal/source"
)

// Files that a mapping of somebody else may hold to take time or memory without end. Each is
// refused, in a moment, by a limit that the problem names or by a rule of the language.
func TestBombsAreRefused(t *testing.T) {
	const head = "parlance: 1\nname: bomb\n"
	const rest = "conversation: {id: file:stem}\nmessages: [{as: user, text: say}]\n"
	sources := "sources: [{id: a, paths: [\"~/.acme/*.jsonl\"], container: jsonl}]\n"
	laughs := "a0: &a0 [x,x,x,x,x,x,x,x,x]\n"
	for i := range 12 {
		laughs += fmt.Sprintf("a%d: &a%d [*a%d,*a%d,*a%d,*a%d,*a%d,*a%d,*a%d,*a%d,*a%d]\n", i+1, i+1, i, i, i, i, i, i, i, i, i)
	}
	chain := func(name string) (string, []byte, bool) {
		n := strings.TrimPrefix(name, "b")
		return name + ".yaml", []byte("parlance: 1\nname: " + name + "\nextends: b" + n + "x\n"), true
	}
	for _, row := range []struct {
		name, text string
		want       string
		base       func(string) (string, []byte, bool)
	}{
		{"10 MB", head + sources + rest + "# " + strings.Repeat("x", 10<<20), "larger than yamlMaxBytes (1048576)", nil},
		{"10 MB of lists", head + strings.Repeat("- [", 3<<20), "larger than yamlMaxBytes", nil},
		{"aliases of aliases", head + laughs + sources + rest, "alias", nil},
		{"an alias of itself", head + "sources: &s [*s]\n" + rest, "alias", nil},
		{"deep", head + "sources: " + strings.Repeat("[", 5000) + strings.Repeat("]", 5000) + "\n" + rest, "yamlMaxDepth", nil},
		{"deep maps", head + "sources: " + strings.Repeat("{a: ", 9000) + "b" + strings.Repeat("}", 9000) + "\n" + rest, "yamlMaxDepth", nil},
		{"a pattern that is too long", head + sources + "conversation: {id: file:stem}\nmessages: [{as: user, text: say, when: {say: {matches: \"" + strings.Repeat("a", 70_000) + "\"}}}]\n", "regexpMaxBytes (65536)", nil},
		{"a pattern that unfolds", head + sources + "conversation: {id: file:stem}\nmessages: [{as: user, text: say, when: {say: {matches: \"((((a{100}){100}){100}){100})\"}}}]\n", "repeat", nil},
		{"a selector that is too long", head + sources + "conversation: {id: file:stem}\nmessages: [{as: user, text: \"" + strings.Repeat("a.", 3000) + "b\"}]\n", "selectorMaxBytes (4096)", nil},
		{"queries in queries", head + sources + "conversation: {id: file:stem}\nmessages: [{as: user, text: \"" + strings.Repeat("#(a.", 9) + "b" + strings.Repeat(")", 9) + "\"}]\n", "queryMaxDepth (8)", nil},
		{"a path that is too long", head + "sources: [{id: a, paths: [\"~/" + strings.Repeat("a/", 3000) + "*.jsonl\"], container: jsonl}]\n" + rest, "pathPatternMaxBytes (4096)", nil},
		{"out behind a wildcard", head + "sources: [{id: a, paths: [\"~/.acme/*/../../../etc/passwd\"], container: jsonl}]\n" + rest, `".." behind a wildcard`, nil},
		{"out at its beginning", head + "sources: [{id: a, paths: [\"~/.acme/../.ssh/*\"], container: jsonl}]\n" + rest, `".." in a path`, nil},
		{"out of a root", head + "sources: [{id: a, paths: [\"${ROOT}/../../*.jsonl\"], container: jsonl}]\n" + rest, `".." in a path`, nil},
		{"the whole disk", head + "sources: [{id: a, paths: [\"/**\"], container: jsonl}]\n" + rest, `"**" right below /`, nil},
		{"the top of the disk", head + "sources: [{id: a, paths: [\"/*\"], container: jsonl}]\n" + rest, `"*" right below /`, nil},
		{"the whole disk behind dots", head + "sources: [{id: a, paths: [\"//./**/*.jsonl\"], container: jsonl}]\n" + rest, `"**" right below /`, nil},
		{"the whole disk as a default", head + "sources: [{id: a, paths: [\"${ACME:-/}/**/*.jsonl\"], container: jsonl}]\n" + rest, `"**" right below /`, nil},
		{"the whole home", head + "sources: [{id: a, paths: [\"~/**/*.jsonl\"], container: jsonl}]\n" + rest, `"**" right below ~/`, nil},
		{"a whole drive", head + "sources: [{id: a, paths: [\"C:/**\"], container: jsonl}]\n" + rest, `"**" right below C:/`, nil},
		{"a registry of the whole disk", head + "sources: [{id: a, paths_from: {file: \"/**/x.json\", path: \"{.}/a.jsonl\"}, container: jsonl}]\n" + rest, `"**" right below /`, nil},
		{"extends without end", head + "extends: bx\n" + sources + rest, "extendsMaxDepth (8)", chain},
		{"extends itself", head + "extends: bomb\n" + sources + rest, "a circle", func(string) (string, []byte, bool) {
			return "bomb.yaml", []byte(head + "extends: bomb\n" + sources + rest), true
		}},
		{"use without end", head + sources + "define: {a: [{use: a}]}\nconversation: {id: file:stem}\nmessages: [{use: a}]\n", "leads back to itself", nil},
		{"writes", head + "sources: [{id: a, paths: [\"~/.acme/*.db\"], container: sqlite, sql: \"DELETE FROM t\"}]\n" + rest, "begins with SELECT or WITH", nil},
		{"attaches", head + "sources: [{id: a, paths: [\"~/.acme/*.db\"], container: sqlite, sql: \"ATTACH '/home/x/.ssh/k' AS k\"}]\n" + rest, "begins with SELECT or WITH", nil},
		{"two statements", head + "sources: [{id: a, paths: [\"~/.acme/*.db\"], container: sqlite, sql: \"SELECT 1; DROP TABLE t\"}]\n" + rest, "sql", nil},
	} {
		t.Run(row.name, func(t *testing.T) {
			start := time.Now()
			m, problems := Load("bomb.yaml", []byte(row.text), row.base)
			if m != nil {
				t.Error("it was taken")
			}
			said := ""
			for _, p := range problems {
				said += p.String() + "\n"
			}
			if !strings.Contains(said, row.want) {
				t.Errorf("no %q in\n%.1500s", row.want, said)
			}
			if len(said) > 64<<10 {
				t.Errorf("says %d bytes", len(said))
			}
			if took := time.Since(start); took > 20*time.Second {
				t.Errorf("took %v", took)
			}
		})
	}
}

// A pattern that takes exponential time elsewhere takes none here, whatever the text.
func TestPatternsAreLinear(t *testing.T) {
	m := load(t, `
sources: [{id: log, paths: ["~/.acme/log/*.jsonl"], container: jsonl}]
messages: [{when: {say: {matches: '^(a+)+$'}}, as: user, text: say}, {as: assistant, text: say}]
`)
	env := homeWith(t, map[string]string{".acme/log/a.jsonl": `{"say":"` + strings.Repeat("a", 8<<20) + `!"}` + "\n"})
	f, err := m.FileAt(env, filepath.Join(env.Home, ".acme/log/a.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	start := time.Now()
	n := 0
	if err := m.Read(context.Background(), f, ReadOptions{}, func(c *chat.Conversation) error { n += len(c.Messages); return nil }); err != nil || n != 1 {
		t.Fatal(n, err)
	}
	if took := time.Since(start); took > 20*time.Second {
		t.Errorf("took %v", took)
	}
}

// A log of edits that asks for a list without end gets none, and the conversation says so: by
// one edit far behind the end, and by many that each stay below the limit.
func TestReplayDoesNotGrowForEver(t *testing.T) {
	m := load(t, `
sources: [{id: log, paths: ["~/.acme/log/*.jsonl"], container: jsonl, replay: {op: k, path: p, value: v, init: 0, set: 1, append: 2}, records: m}]
messages: [{as: user, text: say}]
`)
	many := `{"k":0,"v":{"m":[{"say":"heron"}]}}` + "\n"
	for i := range 200 {
		many += fmt.Sprintf(`{"k":1,"p":["x%d",4000000],"v":1}`+"\n", i)
	}
	env := homeWith(t, map[string]string{
		".acme/log/one.jsonl":  `{"k":0,"v":{"m":[{"say":"heron"}]}}` + "\n" + `{"k":1,"p":["m",999999999],"v":{"say":"far"}}` + "\n",
		".acme/log/many.jsonl": many,
	})
	for _, name := range []string{"one", "many"} {
		f, err := m.FileAt(env, filepath.Join(env.Home, ".acme/log", name+".jsonl"))
		if err != nil {
			t.Fatal(err)
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		seen := 0
		if err := m.Read(context.Background(), f, ReadOptions{}, func(c *chat.Conversation) error {
			seen++
			if !strings.Contains(c.Read.Incomplete, "nodesMax") || len(c.Messages) == 0 || c.Messages[0].Text != "heron" {
				t.Errorf("%s: %q, %d messages", name, c.Read.Incomplete, len(c.Messages))
			}
			return nil
		}); err != nil || seen != 1 {
			t.Errorf("%s: %d conversations, %v", name, seen, err)
		}
		runtime.ReadMemStats(&after)
		if used := after.TotalAlloc - before.TotalAlloc; used > 3<<30 {
			t.Errorf("%s: %d MB", name, used>>20)
		}
	}
}

// A statement that loops or gives rows without end is stopped by a limit that the conversation names.
func TestSQLWithoutEnd(t *testing.T) {
	if os.Getenv("PARLANCE_SOAK") == "" {
		t.Skip("reads five million rows; PARLANCE_SOAK=1 runs it. TestQueryStops has the limits of SQL, made small")
	}
	m := load(t, `
sources: [{id: db, paths: ["~/.acme/*.db"], container: sqlite, sql: "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x+1 FROM c) SELECT x FROM c"}]
messages: [{when: {x: 1}, as: user, text: x}, {when: {x: {exists: true}}, as: skip}]
`)
	env := homeWith(t, nil)
	path := filepath.Join(env.Home, ".acme", "a.db")
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := source.BuildDB(context.Background(), path, "CREATE TABLE t(x)"); err != nil {
		t.Fatal(err)
	}
	f, err := m.FileAt(env, path)
	if err != nil {
		t.Fatal(err)
	}
	said := ""
	err = m.Read(context.Background(), f, ReadOptions{}, func(c *chat.Conversation) error { said = c.Read.Incomplete; return nil })
	if !strings.Contains(said+fmt.Sprint(err), "recordsMax") && !strings.Contains(said+fmt.Sprint(err), "sqlRowsMax") {
		t.Errorf("%q, %v", said, err)
	}
}

// Whatever a mapping asks for, a wildcard leads through no link, and nothing beside a
// conversation is read outside of the folders that its patterns name.
func TestMappingsStayInTheirRoots(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("links need a privilege there")
	}
	env := homeWith(t, map[string]string{
		".acme/log/a.jsonl": `{"say":"hi"}` + "\n", ".ssh/id.jsonl": `{"say":"secret heron"}` + "\n", ".ssh/deep/id.jsonl": `{"say":"secret heron"}` + "\n",
		"log/b.jsonl": `{"say":"other"}` + "\n",
	})
	for link, to := range map[string]string{"linked": ".ssh", "log/linked": ".ssh"} {
		if err := os.Symlink(filepath.Join(env.Home, to), filepath.Join(env.Home, ".acme", link)); err != nil {
			t.Fatal(err)
		}
	}
	for _, row := range []struct {
		pattern string
		want    []string
	}{
		{"~/.acme/**/*.jsonl", []string{".acme/log/a.jsonl"}},
		{"~/.acme/*/*.jsonl", []string{".acme/log/a.jsonl"}},
		{"~/.acme/*/deep/*.jsonl", nil},
	} {
		m, problems := Load("acme.yaml", []byte("parlance: 1\nname: acme\nsources: [{id: log, paths: [\""+row.pattern+"\"], container: jsonl}]\nconversation: {id: file:stem}\nmessages: [{as: user, text: say}]\n"), nil)
		if m == nil {
			t.Fatalf("%s: %v", row.pattern, problems)
		}
		files, _ := m.Find(context.Background(), env)
		var got []string
		for _, f := range files {
			rel, _ := filepath.Rel(env.Home, f.Path)
			got = append(got, filepath.ToSlash(rel))
		}
		slices.Sort(got)
		if !slices.Equal(got, row.want) {
			t.Errorf("%s finds %v, want %v", row.pattern, got, row.want)
		}
	}
}

// TestBesideSaysAllThatIsRead: what providers shows of a mapping is all it can read.
func TestBesideSaysAllThatIsRead(t *testing.T) {
	m := load(t, `
sources:
  - {id: a, paths: ["~/.acme/*/log.jsonl"], container: jsonl, sidecar: {meta: "meta-*.json", up: "../{stem}.json"}}
  - {id: b, paths: ["~/.acme/m/*.json"], container: json, join: [{files: "../m/{stem}/*.json", as: message, join: [{files: "../../p/{id}/*.json", as: part}]}]}
lookups: {titles: {json: "~/.acme/titles.json", key: id, value: title}}
conversation: {id: file:stem, title: {lookup: titles, key: id}}
messages: [{when: {say: hi}, as: user, text: say}, {as: assistant, text: "side:meta.x"}]
`)
	want := []string{"meta-*.json", "../{stem}.json", "../m/{stem}/*.json", "../../p/{id}/*.json", "~/.acme/titles.json"}
	if got := m.Beside(); len(got) != len(want) || !slices.Contains(got, want[1]) || !slices.Contains(got, want[3]) || !slices.Contains(got, want[4]) {
		t.Errorf("got %q", got)
	}
}
