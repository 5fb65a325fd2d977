package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"
	"gopkg.in/yaml.v3"
)

// runMCP runs `parlance mcp` in a home of its own.
func runMCP(t *testing.T, in string, args ...string) (out, errs string, err error) {
	t.Helper()
	var o, e bytes.Buffer
	a := &app{in: strings.NewReader(in), out: &o, err: &e, reported: map[string]bool{}}
	root := &cobra.Command{Use: "parlance", SilenceErrors: true, SilenceUsage: true}
	root.PersistentFlags().StringArrayVar(&a.homes, "home", nil, "")
	root.AddCommand(a.mcpCommand())
	root.SetArgs(append([]string{"mcp"}, args...))
	root.SetOut(io.Discard)
	root.SetErr(io.Discard)
	err = root.ExecuteContext(context.Background())
	return o.String(), e.String(), err
}

// oldDemo is the demo home with files that nobody is writing to.
func oldDemo(t *testing.T) string {
	t.Helper()
	home := t.TempDir()
	if err := os.CopyFS(home, os.DirFS("../../testdata/demo/home")); err != nil {
		t.Fatal(err)
	}
	at := time.Now().Add(-time.Hour)
	err := filepath.WalkDir(home, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		return os.Chtimes(path, at, at)
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("XDG_CONFIG_HOME", t.TempDir())
	return home
}

// TestMCPSaysWhatCommandsPrint holds the promise that an agent with a shell and one with MCP
// read the same bytes.
func TestMCPSaysWhatCommandsPrint(t *testing.T) {
	home := oldDemo(t)
	for _, row := range []struct {
		name    string
		command []string
		tool    string
		args    map[string]any
	}{
		{"list", []string{"list"}, "chat_search", map[string]any{}},
		{"search", []string{"search", "ferry"}, "chat_search", map[string]any{"search": "ferry"}},
		{"filters", []string{"search", "ferry", "--provider", "codex", "--since", "2026-01-01", "--limit", "1"}, "chat_search",
			map[string]any{"search": "ferry", "provider": "codex", "since": "2026-01-01", "limit": 1}},
		{"in tools", []string{"search", "strong", "--in", "tools"}, "chat_search", map[string]any{"search": "strong", "in": "tools"}},
		{"search miss", []string{"search", "zeppelin"}, "chat_search", map[string]any{"search": "zeppelin"}},
		{"search miss with titles", []string{"search", "sundae notices"}, "chat_search", map[string]any{"search": "sundae notices"}},
		{"fork", []string{"fork", "ferry"}, "chat_fork", map[string]any{"search": "ferry"}},
		{"fork slice", []string{"fork", "winter timetable", "--start", "decision", "--end", "nowhere"}, "chat_fork",
			map[string]any{"search": "winter timetable", "start_checkpoint": "decision", "end_checkpoint": "nowhere"}},
		{"fork budget", []string{"fork", "ferry", "--tokens", "1000"}, "chat_fork", map[string]any{"search": "ferry", "max_tokens": 1000}},
		{"fork newest", []string{"fork"}, "chat_fork", map[string]any{"search": ""}},
		{"fork miss", []string{"fork", "zeppelin"}, "chat_fork", map[string]any{"search": "zeppelin"}},
	} {
		t.Run(row.name, func(t *testing.T) {
			var out, errs bytes.Buffer
			code := Run(append(row.command, "--home", home), strings.NewReader(""), &out, &errs)
			printed := out.String()
			if code == exitNone {
				printed = errs.String()
			}
			arguments, _ := json.Marshal(row.args)
			answers, said, err := runMCP(t, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"`+row.tool+`","arguments":`+string(arguments)+`}}`, "--home", home)
			if err != nil || said != "" {
				t.Fatalf("%v, stderr %q", err, said)
			}
			var r struct {
				Result struct {
					Content []struct{ Text string }
					IsError bool
				}
			}
			if err := json.Unmarshal([]byte(answers), &r); err != nil || len(r.Result.Content) != 1 || r.Result.IsError {
				t.Fatalf("%s: %v", answers, err)
			}
			if got := r.Result.Content[0].Text + "\n"; got != printed {
				t.Errorf("MCP:\n%s\ncommand:\n%s", got, printed)
			}
		})
	}
}

// TestMCPHosts: what is printed for each host is in that host's format, and starts us.
func TestMCPHosts(t *testing.T) {
	hosts, err := readHosts()
	if err != nil {
		t.Fatal(err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"claude-code", "claude-desktop", "codex", "cursor", "vscode", "gemini-cli", "opencode", "kiro", "cline"}
	if got := hostNames(); strings.Join(got, " ") != strings.Join(want, " ") {
		t.Errorf("hosts are %q, want %q", got, want)
	}
	for _, h := range hosts {
		out, errs, err := runMCP(t, "", "--print", h.Name)
		if err != nil {
			t.Errorf("%s: %v", h.Name, err)
			continue
		}
		if !strings.Contains(errs, h.File) || !strings.Contains(errs, h.Docs) || strings.Contains(out+errs, "{{") {
			t.Errorf("%s: stderr %q, stdout %q", h.Name, errs, out)
		}
		var words []string
		if h.Name == "codex" { // the one that is not JSON
			for _, line := range strings.Split(out, "\n") {
				if _, value, ok := strings.Cut(line, " = "); ok {
					var v any
					if err := yaml.Unmarshal([]byte(value), &v); err != nil {
						t.Errorf("%s: %v", h.Name, err)
					}
					words = append(words, strs(v)...)
				}
			}
		} else {
			var v any
			if err := json.Unmarshal([]byte(out), &v); err != nil {
				t.Errorf("%s: %v in\n%s", h.Name, err, out)
			}
			words = strs(v)
		}
		if at := strings.Join(words, "\x00"); !strings.Contains(at, self) || !strings.Contains(at, "mcp") {
			t.Errorf("%s: %q does not start %s mcp", h.Name, words, self)
		}
	}
	if _, _, err := runMCP(t, "", "--print", "emacs"); err == nil || !strings.Contains(err.Error(), "hosts are claude-code, ") {
		t.Errorf("unknown host: %v", err)
	}
	if path, _ := quoted(`C:\Program Files\p.exe`); path != `"C:\\Program Files\\p.exe"` {
		t.Errorf("a Windows path is %s", path)
	}
}

// strs are the strings in a value, however deep.
func strs(v any) (out []string) {
	switch v := v.(type) {
	case string:
		return []string{v}
	case []any:
		for _, e := range v {
			out = append(out, strs(e)...)
		}
	case map[string]any:
		for _, e := range v {
			out = append(out, strs(e)...)
		}
	}
	return out
}

// TestMCPRefusesForeignAddress: only loopback is listened on.
func TestMCPRefusesForeignAddress(t *testing.T) {
	home := oldDemo(t)
	for _, addr := range []string{"0.0.0.0:0", "[::]:0", "192.0.2.1:80", "example.org:80", "7333", ""} {
		if _, _, err := runMCP(t, "", "--home", home, "--http", addr); err == nil || !strings.Contains(err.Error(), "parlance mcp: http: ") {
			t.Errorf("%q: %v", addr, err)
		}
	}
}
