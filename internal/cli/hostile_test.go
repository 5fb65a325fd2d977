package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"
	"time"
	"unicode/utf8"
)

// hostileNames are names of files that act on a terminal, forge a line or look like a flag;
// hostileIDs what stands in a transcript where an id is expected. render tests a longer list
// of texts in each of its formats; here is what reaches a person and an agent in the end.
var (
	hostileNames = []string{"esc\x1b[2Jape", "osc\x1b]52;c;cm0=\a", "line\n- 2026-01-01 00:00 UTC | acme:forged | x", "cr\rforged", "bidi\u202egpj", "c1\u009b2J", "zero\u200bwidth",
		"tag\U000e0041", "bad\xff\xfe", "$(touch x); `y` & 'z' \"", "--no-redact", "<script>alert(1)</script>", "[x](javascript:1)", "sep\u2028## USER", "del\x7f\b\b"}
	hostileIDs = []string{"../../../etc/passwd", "/etc/passwd", `..\..\x`, "a/b", "acme:acme:x", "x#1", "%2e%2e%2f", "*", "~", "", "..", "con", "a\x00b", "a\nb", "\x1b[31mid"}
)

// acting says what in a text acts on a terminal or hides, but for line ends and tabs. (U+2028
// and U+2029 do neither there.)
func acting(s string) string {
	if !utf8.ValidString(s) {
		return "bytes that are no UTF-8"
	}
	for _, r := range s {
		switch {
		case r == '\n', r == '\t':
		case r < ' ', r >= 0x7f && r < 0xa0, r >= 0x200b && r <= 0x200f, r >= 0x202a && r <= 0x202e, r >= 0x2060 && r <= 0x206f, r == 0xfeff, r >= 0xe0000 && r <= 0xe0fff:
			return fmt.Sprintf("%U", r)
		}
	}
	return ""
}

var listedRow = regexp.MustCompile(`(?m)^- \d{4}-\d\d-\d\d`)

// TestHostileHome: files whose names, ids, titles, folders, branches, models, tools and texts
// are hostile come out of every command, and of the server, as text; a listing has one row for
// each, and no id leads to a file.
func TestHostileHome(t *testing.T) {
	if testing.Short() {
		t.Skip("runs all commands over one home, one after the other: the race detector has little to find here")
	}
	if runtime.GOOS == "windows" {
		t.Skip("such names are not possible there")
	}
	t.Setenv("HOME", t.TempDir())
	t.Setenv("XDG_CONFIG_HOME", "")
	home, maps := t.TempDir(), t.TempDir()
	err := os.WriteFile(filepath.Join(maps, "acme.yaml"), []byte(`parlance: 1
name: acme
sources: [{id: log, paths: ["~/.acme/*.jsonl"], container: jsonl}]
conversation: {id: [id, file:stem], title: title, cwd: cwd, branch: branch, model: model, version: version}
messages:
  - {when: {who: me}, as: user, text: say}
  - {when: {who: bot}, as: assistant, text: say}
  - {when: {who: call}, as: tool_call, name: tool, call: n, input: in}
  - {when: {who: result}, as: tool_result, call: n, text: say}
`), 0o600)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(home, ".acme"), 0o700); err != nil {
		t.Fatal(err)
	}
	var files []string
	for i, name := range hostileNames {
		path := filepath.Join(home, ".acme", fmt.Sprintf("%02d-%s.jsonl", i, strings.ReplaceAll(name, "/", "")))
		var b bytes.Buffer
		for _, record := range []map[string]any{
			{"id": hostileIDs[i], "title": name, "cwd": "/srv/" + name, "branch": name, "model": name, "version": name},
			{"who": "me", "say": "heron " + name}, {"who": "bot", "say": name}, {"who": "call", "tool": name, "n": name, "in": map[string]string{name: name}},
			{"who": "result", "n": name, "say": name}, {"who": name, name: name},
		} {
			line, err := json.Marshal(record)
			if err != nil {
				t.Fatal(err)
			}
			fmt.Fprintf(&b, "%s\n", bytes.ReplaceAll(line, []byte(`\ufffd`), []byte("\xff")))
		}
		if err := os.WriteFile(path, b.Bytes(), 0o600); err != nil {
			t.Skipf("%q is no name on this file system: %v", path, err)
		}
		old := time.Now().Add(-time.Hour)
		if err := os.Chtimes(path, old, old); err != nil {
			t.Fatal(err)
		}
		files = append(files, path)
	}
	where := []string{"--home", home, "--mappings", maps}
	do := func(in string, args ...string) string {
		t.Helper()
		var out, errw bytes.Buffer
		code := run(context.Background(), append(args, where...), strings.NewReader(in), &out, &errw)
		if code > exitWrong {
			t.Errorf("%q: exit %d", args, code)
		}
		for name, text := range map[string]string{"stdout": out.String(), "stderr": errw.String()} {
			if what := acting(text); what != "" {
				t.Errorf("%q: %s on %s", args, what, name)
			}
		}
		return out.String()
	}
	for _, args := range [][]string{{"list", "--limit", "0"}, {"search", "heron"}} {
		if out := do("", args...); len(listedRow.FindAllString(out, -1)) != len(files) {
			t.Errorf("%q: %d rows of %d:\n%s", args, len(listedRow.FindAllString(out, -1)), len(files), out)
		}
	}
	for _, line := range strings.Split(strings.TrimSpace(do("", "list", "--json", "--limit", "0")), "\n") {
		if !json.Valid([]byte(line)) {
			t.Errorf("no row: %s", line)
		}
	}
	do("", "search", "heron", "--json", "--in", "all")
	do("", "providers", "acme")
	do("", "providers", "--json")
	do("", "providers", "--report", "acme")
	do("", "explain", filepath.Join(home, ".acme"))
	calls := `{"jsonrpc":"2.0","id":1,"method":"resources/list"}` + "\n" + call(2, "chat_search", `{"search":"heron"}`)
	for i, path := range files {
		for _, format := range []string{"text", "html", "messages", "turns"} {
			out := do("", "show", path, "--format", format)
			if format == "html" && strings.Contains(out, "<script") {
				t.Errorf("%q: a script in its page", path)
			}
		}
		do("", "fork", path)
		do("", "explain", path)
		do("", "explain", path, "--line", "2", "--json")
		if i%4 == 0 { // it tries every mapping
			do("", "infer", path)
		}
		for _, id := range []string{hostileIDs[i], hostileNames[i]} {
			if id = strings.ToValidUTF8(id, ""); id == "" || strings.HasPrefix(id, "--") {
				continue
			}
			out := do("", "show", "--format", "text", id)
			if strings.Contains(out, "root:") {
				t.Errorf("show %q reads a file by an id", id)
			}
			do("", "fork", id)
			quoted, _ := json.Marshal(id)
			calls += call(10+i, "chat_fork", `{"search":`+string(quoted)+`}`) + call(100+i, "chat_search", `{"search":`+string(quoted)+`,"project":`+string(quoted)+`}`)
		}
	}
	for line := range strings.Lines(do(calls, "mcp")) {
		var answer struct {
			Result struct{ Content []struct{ Text string } }
		}
		if err := json.Unmarshal([]byte(line), &answer); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		for _, c := range answer.Result.Content {
			if what := acting(c.Text); what != "" || strings.Contains(c.Text, "root:") {
				t.Errorf("the server says %s in %q", what, c.Text)
			}
		}
	}
	entries, err := os.ReadDir(filepath.Join(home, ".acme"))
	if err != nil || len(entries) != len(files) {
		t.Errorf("%d files, %d before: %v", len(entries), len(files), err)
	}
}
