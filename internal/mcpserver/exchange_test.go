package mcpserver

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/tools/txtar"
)

var update = flag.Bool("update", false, "rewrite what the server says in testdata/mcp")

const goldenDir = "../../testdata/mcp"

var newUUID = regexp.MustCompile(`UUID=[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12} SLUG`)

// TestExchanges plays what testdata/mcp/*.txtar holds: lines that begin with "> " are sent,
// those with "< " must come back, keys in
// order. Text of an answer stands below it, each line behind "| ".
func TestExchanges(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(goldenDir, "*.txtar"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no exchanges: %v", err)
	}
	home := copyHome(t, "../../testdata/demo/home")
	o := options(t)
	o.Providers = slices.DeleteFunc(o.Providers, func(name string) bool { // a new mapping is no new answer
		return !slices.Contains([]string{"claude_code", "codex", "gemini_cli", "kiro_cli", "pi"}, name)
	})
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			a, err := txtar.ParseFile(file)
			if err != nil || len(a.Files) != 1 {
				t.Fatalf("%s: one section is wanted: %v", file, err)
			}
			l := dial(t, openHome(t, home, func() time.Time { return testNow }), o)
			var got strings.Builder
			for _, sent := range strings.Split(string(a.Files[0].Data), "\n") {
				message, ok := strings.CutPrefix(sent, "> ")
				if !ok {
					if sent == "" || sent[0] == '#' {
						got.WriteString(sent + "\n")
					}
					continue
				}
				got.WriteString(sent + "\n")
				l.send(message)
				if wantsAnswer(message) {
					got.WriteString(shownAnswer(t, l.receive(), home))
				}
			}
			l.in.Close()
			if err := l.wait(); err != nil {
				t.Errorf("serve: %v", err)
			}
			if rest := l.receive(); rest != "" {
				t.Errorf("more than was asked for: %s", rest)
			}
			if said := l.errs.String(); said != "" {
				t.Errorf("on stderr: %s", said)
			}
			text := strings.TrimRight(got.String(), "\n") + "\n"
			if *update {
				a.Files[0].Data = []byte(text)
				if err := os.WriteFile(file, txtar.Format(a), 0o644); err != nil {
					t.Fatal(err)
				}
			} else if want := string(a.Files[0].Data); text != want {
				t.Errorf("got:\n%s\nwant:\n%s", text, want)
			}
		})
	}
}

// wantsAnswer tells a request, or what is none at all, from a notification.
func wantsAnswer(message string) bool {
	var h struct {
		ID     any
		Method string
	}
	return json.Unmarshal([]byte(message), &h) != nil || h.ID != nil || h.Method == "" || strings.Contains(message, `"id":null`)
}

// shownAnswer is an answer as it stands in the files.
func shownAnswer(t *testing.T, answer, home string) string {
	t.Helper()
	var v any
	d := json.NewDecoder(strings.NewReader(answer))
	d.UseNumber()
	if err := d.Decode(&v); err != nil {
		t.Fatalf("%q: %v", answer, err)
	}
	var texts strings.Builder
	n := 0
	var walk func(v any)
	walk = func(v any) {
		switch v := v.(type) {
		case []any:
			for _, e := range v {
				walk(e)
			}
		case map[string]any:
			for _, e := range v {
				walk(e)
			}
			if _, ok := v["instructions"]; ok && !strings.HasSuffix(t.Name(), "/start") {
				v["instructions"] = "(as in start)"
			}
			text, ok := v["text"].(string)
			if !ok {
				return
			}
			n++
			v["text"] = fmt.Sprintf("(%d)", n)
			if n > 1 {
				fmt.Fprintf(&texts, "(%d)\n", n)
			}
			for _, s := range strings.Split(text, "\n") {
				texts.WriteString("| " + s + "\n")
			}
		}
	}
	walk(v)
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		t.Fatal(err)
	}
	text := "< " + b.String() + texts.String()
	text = strings.ReplaceAll(text, home, "HOME")
	if runtime.GOOS == "windows" {
		text = strings.ReplaceAll(text, `\`, "/")
	}
	return newUUID.ReplaceAllString(text, "UUID=(new) SLUG")
}

const (
	// toolsMaxBytes is what a model pays for at most in every session.
	toolsMaxBytes = 4096
	// toolsAimBytes is what we want it to pay; more needs a reason in the commit.
	toolsAimBytes = 2700
)

// TestToolList pins what models read: a changed word shows in review.
func TestToolList(t *testing.T) {
	l := dial(t, demo(t), options(t))
	l.hello()
	l.send(`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`)
	var r struct{ Result json.RawMessage }
	if err := json.Unmarshal([]byte(l.receive()), &r); err != nil {
		t.Fatal(err)
	}
	if n := len(r.Result); n > toolsMaxBytes || n > toolsAimBytes {
		t.Errorf("tools/list has %d bytes, more than %d", n, toolsAimBytes)
	}
	var list struct {
		Tools []struct {
			Name, Title, Description string
			Annotations              map[string]any
			InputSchema              struct {
				Properties map[string]struct{ Description string }
			}
			OutputSchema any
		}
	}
	if err := json.Unmarshal(r.Result, &list); err != nil {
		t.Fatal(err)
	}
	if len(list.Tools) != 3 {
		t.Fatalf("%d tools", len(list.Tools))
	}
	for _, tool := range list.Tools {
		if tool.Title == "" || tool.Description == "" || len(tool.Annotations) != 4 || tool.OutputSchema != nil {
			t.Errorf("%s: incomplete: %+v", tool.Name, tool)
		}
		for hint, want := range map[string]bool{"readOnlyHint": true, "destructiveHint": false, "openWorldHint": false, "idempotentHint": tool.Name != "chat_checkpoint"} {
			if tool.Annotations[hint] != want {
				t.Errorf("%s: %s is %v", tool.Name, hint, tool.Annotations[hint])
			}
		}
		for name, p := range tool.InputSchema.Properties {
			if !strings.Contains(p.Description, "e.g. ") {
				t.Errorf("%s: %s: no example in %q", tool.Name, name, p.Description)
			}
		}
	}
	var pretty bytes.Buffer
	if err := json.Indent(&pretty, r.Result, "", "  "); err != nil {
		t.Fatal(err)
	}
	pretty.WriteByte('\n')
	file := filepath.Join(goldenDir, "tools.json")
	if *update {
		if err := os.WriteFile(file, pretty.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(pretty.Bytes(), want) {
		t.Errorf("tools/list is not %s:\n%s", file, pretty.Bytes())
	}
}
