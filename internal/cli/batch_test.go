package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"parlance/mappings"
)

// A batch is what the test binary does when it is called by the name parlance-batch: commands
// one after the other in one process, so that a trace, another user or another view of the
// disk costs one start for hundreds of commands.
type batch struct {
	Commands []command
}

type command struct {
	Args  []string
	Stdin string
	Then  string // "http": a request is sent to the server that the command starts, then it ends
}

type result struct {
	Code        int
	Out, Errors string
}

// runBatch reads a batch on stdin and writes the results to stdout, as JSON.
func runBatch() int {
	var b batch
	if err := json.NewDecoder(os.Stdin).Decode(&b); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 3
	}
	var results []result
	for i, c := range b.Commands {
		os.Open(fmt.Sprintf("/parlance-command/%d", i)) // a mark in the trace
		var out, errw bytes.Buffer
		ctx, stop := context.WithCancel(context.Background())
		var w io.Writer = &errw
		if c.Then == "http" {
			w = io.MultiWriter(&errw, &asker{stop: stop})
		}
		code := run(ctx, c.Args, strings.NewReader(c.Stdin), &out, w)
		stop()
		results = append(results, result{code, out.String(), errw.String()})
	}
	if err := json.NewEncoder(os.Stdout).Encode(results); err != nil {
		return 3
	}
	return 0
}

var serverURL = regexp.MustCompile(`http://\S+/mcp`)

// asker asks the server whose address is written to it, and ends it.
type asker struct{ stop func() }

func (a *asker) Write(p []byte) (int, error) {
	if url := serverURL.FindString(string(p)); url != "" {
		go func() {
			defer a.stop()
			resp, err := http.Post(url, "application/json", strings.NewReader(call(1, "chat_search", `{"search":"ferry"}`)))
			if err == nil {
				io.Copy(io.Discard, resp.Body)
				resp.Body.Close()
			}
		}()
	}
	return len(p), nil
}

func call(id int, tool, arguments string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":%q,"arguments":%s}}`+"\n", id, tool, arguments)
}

// A machine is a folder that any user may look into, with copies of fixture homes, a home of our
// own in which nothing is, a temporary folder, and the test binary.
type machine struct {
	dir, me, tmp, homes string
	names               []string // of homes
	bin                 string   // folder of the test binary's copies
}

func newMachine(t *testing.T) *machine {
	t.Helper()
	if testing.Short() {
		t.Skip("runs all commands over all homes, one after the other: the race detector has little to find here")
	}
	dir := t.TempDir()
	for _, d := range []string{filepath.Dir(dir), dir} { // only its owner may look into a test's folder
		if err := os.Chmod(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	m := &machine{dir: dir, me: filepath.Join(dir, "me"), tmp: filepath.Join(dir, "tmp"), homes: filepath.Join(dir, "homes"), bin: filepath.Join(dir, "bin")}
	for _, d := range []string{m.me, m.tmp, m.homes, m.bin} {
		if err := os.Mkdir(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Chmod(m.tmp, 0o777); err != nil {
		t.Fatal(err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(self)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"parlance", "parlance-batch"} {
		if err := os.WriteFile(filepath.Join(m.bin, name), data, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.CopyFS(filepath.Join(dir, "mappings"), mappings.FS); err != nil {
		t.Fatal(err)
	}
	homes, err := filepath.Glob("../../testdata/providers/*/home")
	if err != nil || len(homes) < 50 {
		t.Fatal("no homes", err)
	}
	old := time.Now().Add(-time.Hour) // nobody is writing
	for _, home := range homes {
		name := filepath.Base(filepath.Dir(home))
		if err := os.CopyFS(m.home(name), os.DirFS(home)); err != nil {
			t.Fatal(err)
		}
		m.names = append(m.names, name)
	}
	m.walk(t, func(path string, d fs.DirEntry) {
		if err := os.Chtimes(path, old, old); err != nil {
			t.Fatal(err)
		}
	})
	return m
}

func (m *machine) home(name string) string { return filepath.Join(m.homes, name) }

// walk calls fn for everything in the homes.
func (m *machine) walk(t *testing.T, fn func(path string, d fs.DirEntry)) {
	t.Helper()
	err := filepath.WalkDir(m.homes, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.Type()&fs.ModeSymlink == 0 {
			fn(path, d)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// files are conversations of a home that stand in files, spread over it.
func (m *machine) files(t *testing.T, home []string, most int) (out []string) {
	t.Helper()
	var list, errw bytes.Buffer
	run(context.Background(), append([]string{"list", "--json", "--limit", "0", "--subagents"}, home...), strings.NewReader(""), &list, &errw)
	var all []string
	for line := range strings.Lines(list.String()) {
		var row struct{ File string }
		if err := json.Unmarshal([]byte(line), &row); err != nil {
			t.Fatal(err)
		}
		all = append(all, row.File)
	}
	all = slices.Compact(slices.Sorted(slices.Values(all)))
	for i := range min(most, len(all)) {
		out = append(out, all[i*len(all)/min(most, len(all))])
	}
	return out
}

var formats = []string{"md", "text", "html", "messages", "turns"}

// commands are all commands in all their forms: over all homes together, and over each.
func (m *machine) commands(t *testing.T) (out []command) {
	var all []string
	for _, name := range m.names {
		all = append(all, "--home", m.home(name))
	}
	add := func(home []string, args ...string) {
		out = append(out, command{Args: append(args, home...)})
	}
	add(all, "list", "--limit", "0", "--subagents")
	add(all, "list", "--json", "--since", "2020-01-01")
	add(all, "search", "the")
	add(all, "search", "no such words", "--in", "all")
	add(all, "search", "the", "--json")
	add(all, "fork")
	add(all, "fork", "the")
	add(all, "providers")
	add(all, "providers", "--json")
	add(all, "show", "nobody")
	add(all, "checkpoint", "x")
	calls := call(1, "chat_search", `{}`) + call(2, "chat_search", `{"search":"the","in":"all"}`) + call(3, "chat_fork", `{"search":"the"}`) + call(4, "chat_checkpoint", `{"slug":"x"}`) +
		`{"jsonrpc":"2.0","id":5,"method":"resources/list"}` + "\n" + `{"jsonrpc":"2.0","id":6,"method":"prompts/get","params":{"name":"continue","arguments":{}}}` + "\n"
	out = append(out, command{Args: append([]string{"mcp"}, all...), Stdin: calls},
		command{Args: append([]string{"mcp", "--http", "127.0.0.1:0"}, all...), Then: "http"})
	for _, args := range [][]string{{"mcp", "--print", "codex"}, {"completion", "bash"}, {"schema"}, {"mapping"}, {"mapping", m.names[0]}, {"version"}, {"--help"}} {
		add(nil, args...)
	}
	for h, name := range m.names {
		home := []string{"--home", m.home(name)}
		if root := filepath.Join(m.home(name), "root"); isDir(root) {
			home = append(home, "--root", root)
		}
		add(home, "providers", "--report", name)
		add(home, "check", filepath.Join(m.dir, "mappings", name+".yaml"))
		for i, file := range m.files(t, home, 2) {
			add(home, "show", file, "--format", formats[(h+i*2)%len(formats)])
			if i == 0 && h%4 == 0 { // these try every mapping on every file
				add(home, "explain", m.home(name))
				add(home, "explain", file, "--line", "1")
				add(home, "infer", file)
			}
		}
	}
	return out
}

func isDir(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// env is the environment of a command: nothing of whoever runs the test.
func (m *machine) env() []string {
	return []string{"HOME=" + m.me, "TMPDIR=" + m.tmp, "PATH=" + os.Getenv("PATH")}
}

// batch runs commands in one process, started through prefix, with what how does to it.
func (m *machine) batch(t *testing.T, commands []command, how func(*exec.Cmd), prefix ...string) []result {
	t.Helper()
	in, err := json.Marshal(batch{commands})
	if err != nil {
		t.Fatal(err)
	}
	argv := append(prefix, filepath.Join(m.bin, "parlance-batch"))
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Dir, cmd.Env = m.dir, m.env()
	cmd.Stdin = bytes.NewReader(in)
	if how != nil {
		how(cmd)
	}
	var errw bytes.Buffer
	cmd.Stderr = &errw
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: %v\n%s", argv, err, errw.String())
	}
	var results []result
	if err := json.Unmarshal(out, &results); err != nil || len(results) != len(commands) {
		t.Fatalf("%d results of %d commands: %v\n%s", len(results), len(commands), err, errw.String())
	}
	return results
}

// left says what lies in our own home and in the temporary folder, where nothing should.
func (m *machine) left(t *testing.T) {
	t.Helper()
	for _, dir := range []string{m.me, m.tmp} {
		entries, err := os.ReadDir(dir)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range entries {
			t.Errorf("left behind: %s", filepath.Join(dir, e.Name()))
		}
	}
}
