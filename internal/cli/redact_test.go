package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"parlance/internal/render"
)

// Invented secrets, put together here so that no scanner takes this file for a leak.
var (
	hiddenToken    = "gh" + "p_" + "q7Rk2Lx9Tn4Vb8Wm3Yc6Zd1Hf5Jg0Ps7Ua2E"
	hiddenPassword = "Wad3r-" + "kolk!77"
	hiddenKey      = "-----BEGIN PRIV" + "ATE KEY-----\n" + strings.Repeat("MIIkolk8marsh2HeronWader0Nest5Reed3Bittern1Crane9Egret7Stork4Ibis\n", 9) + "-----END PRIV" + "ATE KEY-----"
	hiddenInURL    = "n3st-" + "0f-her0ns"
)

// leaked is any of them, or a half.
var leaked = regexp.MustCompile("q7Rk2Lx9Tn|Hf5Jg0Ps7Ua|Wad3r|MIIkolk8|Bittern1Crane|n3st-")

const hiddenID = "5f0c1a52-8d0e-4c1b-9a77-00000000e00" + "7"

// secretHome is a home with one conversation that has secrets in every place.
func secretHome(t *testing.T) (home, file string) {
	t.Helper()
	home = t.TempDir()
	file = filepath.Join(home, ".claude/projects/-srv-marsh", hiddenID+".jsonl")
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	n := 0
	put := func(kind, role string, content any, more string) {
		n++
		parent := "null"
		if n > 1 {
			parent = fmt.Sprintf(`"u%d"`, n-1)
		}
		data, err := json.Marshal(content)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&b, `{"type":%q,"uuid":"u%d","parentUuid":%s,"sessionId":%q,"timestamp":"2026-05-28T21:26:%02d.000Z","cwd":"/srv/marsh","version":"2.1.0","message":{"role":%q,"content":%s%s}}`+"\n",
			kind, n, parent, hiddenID, n, role, data, more)
	}
	object := func(pairs ...any) map[string]any {
		m := map[string]any{}
		for i := 0; i < len(pairs); i += 2 {
			m[pairs[i].(string)] = pairs[i+1]
		}
		return m
	}
	put("user", "user", "The heron's token is "+hiddenToken+", and the database is postgres://marsh:"+hiddenInURL+"@db.example/nests", "")
	put("assistant", "assistant", []any{object("type", "thinking", "thinking", "so "+hiddenToken+" it is"), object("type", "text", "text", "I use "+hiddenToken+".")}, `,"id":"m1","model":"heron-1"`)
	put("assistant", "assistant", []any{object("type", "tool_use", "id", "toolu_01a", "name", "Bash", "input", object("command", "export DB_PASSWORD=\""+hiddenPassword+"\"\necho "+hiddenToken, "password", hiddenPassword))}, `,"id":"m2","model":"heron-1"`)
	put("user", "user", []any{object("type", "tool_result", "tool_use_id", "toolu_01a", "content", "first\n"+hiddenKey+"\n"+strings.Repeat("reed ", 8000)+hiddenToken+strings.Repeat(" reed", 8000))}, "")
	put("assistant", "assistant", []any{object("type", "text", "text", "done "+strings.Repeat("x", 2040)+hiddenToken+strings.Repeat("y", 60_000)+" "+hiddenToken)}, `,"id":"m3","model":"heron-1"`)
	fmt.Fprintf(&b, `{"type":"ai-title","aiTitle":%q,"sessionId":%q}`+"\n", "About "+hiddenToken, hiddenID)
	fmt.Fprintf(&b, `{"type":"brandNew","sessionId":%q,"password":%q,"text":%q,"more":{%q:1}}`+"\n", hiddenID, hiddenPassword, hiddenToken, hiddenToken)
	if err := os.WriteFile(file, []byte(b.String()), 0o644); err != nil {
		t.Fatal(err)
	}
	return home, file
}

// TestSecretsStayHere: no command lets a secret out, by any door; what is JSON is still JSON,
// and names of conversations are never taken for secrets.
func TestSecretsStayHere(t *testing.T) {
	for _, name := range []string{"XDG_CONFIG_HOME", "PARLANCE_MAPPINGS", "PARLANCE_ROOTS"} {
		t.Setenv(name, "")
	}
	t.Setenv("HOME", t.TempDir())
	home, file := secretHome(t)
	copied := filepath.Join(t.TempDir(), "unknown.jsonl")
	var b strings.Builder
	for i := range 12 {
		fmt.Fprintf(&b, `{"who":"human","said":%q,"at":"2026-05-28T21:26:%02dZ","password":%q}`+"\n"+`{"who":"machine","said":%q,"at":"2026-05-28T21:27:%02dZ","password":"none"}`+"\n",
			fmt.Sprintf("my token %d is %s please", i, hiddenToken), i, hiddenPassword, strings.Repeat("reed ", 20)+hiddenToken, i)
	}
	if err := os.WriteFile(copied, []byte(b.String()), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, row := range []struct {
		args   string
		json   bool
		footer string // in the output
	}{
		{"fork heron", false, " redacted ("},
		{"fork " + hiddenID, false, "github-pat"},
		{"fork heron --tokens 1000", false, "redacted"},
		{"show " + hiddenID, false, "secrets redacted ("},
		{"show " + hiddenID + " --all --format md", false, "private-key"},
		{"show " + hiddenID + " --all --format text", false, "secrets redacted ("},
		{"show " + hiddenID + " --all --format html", false, "secrets redacted ("},
		{"show " + hiddenID + " --format md --tokens 2000", false, "[redacted: "},
		{"show " + hiddenID + " --format messages", true, `"redacted":{`},
		{"show " + hiddenID + " --json", true, `"redacted":{`},
		{"show " + hiddenID + " --format turns", true, `"redacted":{`},
		{"show " + hiddenID + " --format turns --uncut", true, `"redacted":{`},
		{"show " + file + " --format md", false, "[redacted: "},
		{"explain " + file, false, ""},
		{"explain " + file + " --all", false, "[redacted: "},
		{"explain " + file + " --json --all", true, "[redacted: "},
		{"explain " + file + " --line 1", false, "[redacted: "},
		{"explain " + file + " --line 3", false, "[redacted: "},
		{"explain " + file + " --line 7", false, "[redacted: "},
		{"explain " + copied, false, ""},
		{"infer " + copied, false, "[redacted: "},
		{"infer " + copied + " --json", true, "[redacted: "},
		{"infer " + file + " --from-scratch", false, "[redacted: "},
		{"infer " + file, false, ""},
		{"providers --report claude_code", false, "*: number 1"},
		{"providers claude_code", false, ""},
		{"fork about hidden herons that nobody knows", false, ""},
	} {
		var out, errw bytes.Buffer
		run(context.Background(), append(strings.Fields(row.args), "--home", home), strings.NewReader(""), &out, &errw)
		for name, text := range map[string]string{"stdout": out.String(), "stderr": errw.String()} {
			if at := leaked.FindStringIndex(text); at != nil {
				t.Errorf("%s: %s lets out %q", row.args, name, text[max(0, at[0]-200):min(len(text), at[1]+100)])
			}
		}
		if !strings.Contains(out.String(), row.footer) {
			t.Errorf("%s: no %q in\n%.3000s\n%s", row.args, row.footer, out.String(), errw.String())
		}
		if row.json && !json.Valid(bytes.TrimSpace(out.Bytes())) {
			t.Errorf("%s: not JSON:\n%.2000s", row.args, out.String())
		}
		if strings.HasPrefix(row.args, "fork heron") && !strings.Contains(out.String(), hiddenID) {
			t.Errorf("%s: the id is gone", row.args)
		}
	}
}

// TestNoRedact: secrets are printed for a person at a terminal, and refused to everything else.
func TestNoRedact(t *testing.T) {
	t.Setenv("HOME", t.TempDir())
	t.Setenv("XDG_CONFIG_HOME", "")
	home, _ := secretHome(t)
	for _, command := range []string{"fork " + hiddenID, "show " + hiddenID, "show " + hiddenID + " --format turns", "show " + hiddenID + " --format messages"} {
		args := append(strings.Fields(command), "--no-redact", "--home", home)
		var out, errw bytes.Buffer
		if code := run(context.Background(), args, strings.NewReader(""), &out, &errw); code != exitWrong || out.Len() > 0 || !strings.Contains(errw.String(), "--no-redact: neither input nor output is a terminal") {
			t.Errorf("%s into a pipe: %d %s", command, code, errw.String())
		}
		for _, at := range []string{"in", "out"} {
			out.Reset()
			in := strings.NewReader("")
			a := &app{in: in, out: &out, err: &errw, reported: map[string]bool{},
				terminal: func(s any) bool { return at == "in" && s == any(in) || at == "out" && s == any(&out) }}
			root := a.root()
			root.SetArgs(args)
			if err := root.ExecuteContext(context.Background()); err != nil || !strings.Contains(out.String(), hiddenToken) || strings.Contains(out.String(), "[redacted") {
				t.Errorf("%s, a terminal as %sput: %v\n%.500s", command, at, err, out.String())
			}
		}
	}
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer null.Close()
	if isTerminal(null) {
		t.Error("the null device passes for a terminal")
	}
}

// TestListingsCostNoRedaction: list and search look for no secret, and compile no rule.
func TestListingsCostNoRedaction(t *testing.T) {
	t.Setenv("HOME", t.TempDir())
	t.Setenv("XDG_CONFIG_HOME", "")
	home, _ := secretHome(t)
	texts, rules := render.RedactorWork()
	for _, args := range []string{"list", "list --json", "search heron", "search --in all reed", "version", "checkpoint x"} {
		var out, errw bytes.Buffer
		if code := run(context.Background(), append(strings.Fields(args), "--home", home), strings.NewReader(""), &out, &errw); code != 0 {
			t.Errorf("%s: %d %s", args, code, errw.String())
		}
	}
	if t2, r2 := render.RedactorWork(); t2 != texts || r2 != rules {
		t.Errorf("%d texts searched, %d rules compiled", t2-texts, r2-rules)
	}
}

// TestDraftsWithoutSecretsHold: a draft whose samples lost their secrets still passes its test.
func TestDraftsWithoutSecretsHold(t *testing.T) {
	t.Setenv("HOME", t.TempDir())
	t.Setenv("XDG_CONFIG_HOME", "")
	_, file := secretHome(t)
	var out, errw bytes.Buffer
	if code := run(context.Background(), []string{"infer", file, "--from-scratch", "--name", "heron"}, strings.NewReader(""), &out, &errw); code != 0 {
		t.Fatal(code, errw.String())
	}
	draft := filepath.Join(t.TempDir(), "heron.yaml")
	if err := os.WriteFile(draft, out.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
	out.Reset()
	errw.Reset()
	if code := run(context.Background(), []string{"check", draft}, strings.NewReader(""), &out, &errw); code != 0 {
		t.Errorf("%d\n%s%s", code, out.String(), errw.String())
	}
}
