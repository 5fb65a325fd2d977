package cli

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/klauspost/compress/zstd"
	"github.com/ncruces/go-sqlite3"

	"parlance/internal/mapping"
	"parlance/mappings"
)

// A situation is a home folder as tools leave it and what our commands must say of it, one
// file of testdata/cases. Its README has the words; a key that is not here fails the test.
type situation struct {
	Symptom   string   `json:"symptom"`
	Right     string   `json:"right"`
	Providers []string `json:"providers"` // needed; expect is about the first
	Input     input    `json:"input"`
	Find      find     `json:"find"`
	Expect    *expect  `json:"expect"`
	Steps     []step   `json:"steps"`
}

type input struct {
	Files  map[string]json.RawMessage `json:"files"`
	SQLite map[string]json.RawMessage `json:"sqlite"`
	MTime  map[string]float64         `json:"mtime"`
}

// find names the conversation that expect is about; without it there is one.
type find struct {
	ID   string `json:"id"`   // a part of it
	File string `json:"file"` // the end of its path
}

type expect struct {
	Conversations  *int   `json:"conversations"`
	Subagents      *int   `json:"subagents"`
	IDContains     string `json:"id_contains"`
	ParentContains string `json:"parent_contains"`
	talk
}

// talk is what a document of show --format messages must hold. Messages that were given up
// or inherited do not count.
type talk struct {
	Title             *string        `json:"title"`
	Cwd               *string        `json:"cwd"`
	Subagent          *bool          `json:"subagent"`
	Users             []string       `json:"users"`
	Assistants        []string       `json:"assistants"`
	Results           []string       `json:"results"`
	Roles             []string       `json:"roles_sequence"`
	UserMessages      *int           `json:"user_messages"`
	ToolResults       *int           `json:"tool_results"`
	Compactions       *int           `json:"compactions"`
	RunningCalls      *int           `json:"running_calls"`
	FailedCalls       *int           `json:"failed_calls"`
	Inherited         *int           `json:"inherited"`
	Abandoned         *int           `json:"abandoned"`
	Broken            *int           `json:"broken"`
	Torn              *bool          `json:"torn"`
	Tools             map[string]int `json:"tools"`
	Contains          []string       `json:"contains"`
	NotContains       []string       `json:"not_contains"`
	NotUserContaining []string       `json:"not_user_containing"`
	FirstUserTime     *time.Time     `json:"first_user_time"`
}

// A step is a command or a tool call and what it must answer; or a change to the home.
type step struct {
	Run    []string                   `json:"run"`
	MCP    *mcpCall                   `json:"mcp"`
	Write  map[string]json.RawMessage `json:"write"`
	Remove []string                   `json:"remove"`
	SQL    map[string]json.RawMessage `json:"sql"` // run by the writer of a database of the input

	Locked []string `json:"locked"` // databases that their writer holds exclusively meanwhile

	Exit           exits          `json:"exit"` // 0 if not given
	Contains       []string       `json:"contains"`
	NotContains    []string       `json:"not_contains"`
	EitherContains []string       `json:"either_contains"` // stdout or stderr
	StderrContains []string       `json:"stderr_contains"`
	Count          map[string]int `json:"count"`      // how often a text stands in stdout
	NoControl      []int          `json:"no_control"` // 1 is stdout, 2 stderr
	MaxBytes       int            `json:"max_bytes"`
	Rows           *rows          `json:"rows"`
	Messages       *talk          `json:"messages"`
	JSON           any            `json:"json"` // of the one document on stdout
}

type mcpCall struct {
	Tool      string         `json:"tool"`
	Arguments map[string]any `json:"arguments"`
}

// rows are the lines of list --json and search --json.
type rows struct {
	IDs         []string    `json:"ids"`
	IDsAnyOrder []string    `json:"ids_any_order"`
	Count       *int        `json:"count"`
	At          map[int]any `json:"at"`
}

// exits are the codes that a step may end with: a number or a list.
type exits []int

func (e *exits) UnmarshalJSON(data []byte) error {
	if data[0] == '[' {
		return json.Unmarshal(data, (*[]int)(e))
	}
	*e = exits{0}
	return json.Unmarshal(data, &(*e)[0])
}

func TestCases(t *testing.T) {
	config := t.TempDir()
	t.Setenv("XDG_CONFIG_HOME", config)
	t.Setenv("APPDATA", config)
	for _, name := range []string{"PARLANCE_MAPPINGS", "PARLANCE_ROOTS"} {
		t.Setenv(name, "")
	}
	set, err := mapping.NewSet(mappings.FS, nil)
	if err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob("../../testdata/cases/*.json")
	if err != nil || len(files) == 0 {
		t.Fatal("no cases", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".json"), func(t *testing.T) {
			data, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			var s situation
			d := json.NewDecoder(bytes.NewReader(data))
			d.DisallowUnknownFields()
			if err := d.Decode(&s); err != nil {
				t.Fatal(err)
			}
			switch {
			case len(s.Providers) == 0 || s.Symptom == "" || s.Right == "":
				t.Fatal("a case says its providers, symptom and right")
			case s.Expect == nil && len(s.Steps) == 0:
				t.Fatal("a case expects something")
			}
			for _, name := range s.Providers {
				if !slices.Contains(set.Names(), name) {
					t.Skipf("no mapping for %s", name)
				}
			}
			w := newWorld(t, s.Input)
			if s.Expect != nil {
				w.expect(s.Providers[0], s.Find, s.Expect)
			}
			for i, st := range s.Steps {
				w.step(i+1, st)
			}
		})
	}
}

// A world is the home of one case.
type world struct {
	t       *testing.T
	home    string
	now     time.Time
	writers map[string]*sqlite3.Conn
}

func newWorld(t *testing.T, in input) *world {
	w := &world{t: t, home: t.TempDir(), now: time.Now(), writers: map[string]*sqlite3.Conn{}}
	// A database's tool is running: its connection stays open, and what it wrote in the log stays there.
	for place, script := range in.SQLite {
		path := w.place(place)
		conn, err := sqlite3.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { conn.Close() })
		w.writers[place] = conn
		w.sql(place, script)
	}
	w.write(in.Files)
	for place, seconds := range in.MTime {
		at := time.UnixMilli(int64(seconds * 1000))
		if seconds <= 0 {
			at = w.now.Add(time.Duration(seconds * float64(time.Second)))
		}
		paths, err := filepath.Glob(w.path(place))
		if err != nil || len(paths) == 0 {
			t.Fatalf("mtime: %s: no such file", place)
		}
		for _, path := range paths {
			if err := os.Chtimes(path, at, at); err != nil {
				t.Fatal(err)
			}
		}
	}
	return w
}

func (w *world) path(place string) string { return filepath.Join(w.home, filepath.FromSlash(place)) }

// place is a path whose folder exists.
func (w *world) place(place string) string {
	path := w.path(place)
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		w.t.Fatal(err)
	}
	return path
}

func (w *world) write(files map[string]json.RawMessage) {
	w.t.Helper()
	for place, content := range files {
		// {"$files": n, "content": ...}: so many files, #i# in path and text is the number of each.
		var many struct {
			N       int             `json:"$files"`
			Content json.RawMessage `json:"content"`
		}
		if err := json.Unmarshal(content, &many); err == nil && many.N > 0 {
			for i := range many.N {
				n := strconv.Itoa(i)
				w.put(strings.ReplaceAll(place, "#i#", n), bytes.ReplaceAll(many.Content, []byte("#i#"), []byte(n)))
			}
			continue
		}
		w.put(place, content)
	}
}

func (w *world) put(place string, content json.RawMessage) {
	w.t.Helper()
	data, err := w.content(content)
	if err == nil {
		err = os.WriteFile(w.place(place), data, 0o666)
	}
	if err != nil {
		w.t.Fatalf("%s: %v", place, err)
	}
}

// content is the bytes that a description of a file stands for.
func (w *world) content(v json.RawMessage) ([]byte, error) {
	switch v[0] {
	case '"':
		return w.text(v)
	case '[':
		var items []json.RawMessage
		if err := json.Unmarshal(v, &items); err != nil {
			return nil, err
		}
		var out []byte
		for _, item := range items {
			line, err := w.line(item)
			if err != nil {
				return nil, err
			}
			out = append(out, line...)
		}
		return out, nil
	}
	data, known, err := w.special(v)
	if err == nil && !known {
		err = fmt.Errorf("content: %.60s: no known form", v)
	}
	return data, err
}

// line is one element of a list: a text or a JSON value with a line end, or a special form.
func (w *world) line(v json.RawMessage) ([]byte, error) {
	if v[0] == '{' {
		if data, known, err := w.special(v); known || err != nil {
			return data, err
		}
	}
	data, err := w.text(v)
	return append(data, '\n'), err
}

// special reads the forms whose keys begin with a dollar sign. Of several records #i# is the
// number of the repetition. Records of a tool may have such keys of their own: they are not known.
func (w *world) special(v json.RawMessage) (data []byte, known bool, err error) {
	var form struct {
		Repeat int               `json:"$repeat"`
		Line   json.RawMessage   `json:"line"`
		Lines  []json.RawMessage `json:"lines"`
		JSON   json.RawMessage   `json:"$json"`
		Raw    json.RawMessage   `json:"$raw"`
		Join   []json.RawMessage `json:"$join"`
		Zst    json.RawMessage   `json:"$zst"`
		Gz     json.RawMessage   `json:"$gz"`
		BOM    json.RawMessage   `json:"$utf8bom"`
	}
	d := json.NewDecoder(bytes.NewReader(v))
	d.DisallowUnknownFields()
	if d.Decode(&form) != nil {
		return nil, false, nil
	}
	switch {
	case form.Repeat > 0:
		if form.Line != nil {
			form.Lines = append(form.Lines, form.Line)
		}
		for i := range form.Repeat {
			for _, line := range form.Lines {
				one, err := w.line(bytes.ReplaceAll(line, []byte("#i#"), []byte(strconv.Itoa(i))))
				if err != nil {
					return nil, true, err
				}
				data = append(data, one...)
			}
		}
		return data, true, nil
	case form.JSON != nil:
		data, err = w.text(form.JSON)
		return data, true, err
	case form.Raw != nil:
		data, err = w.text(form.Raw)
		return data, true, err
	case form.Join != nil:
		for _, part := range form.Join {
			one, err := w.content(part)
			if err != nil {
				return nil, true, err
			}
			data = append(data, one...)
		}
		return data, true, nil
	case form.BOM != nil:
		data, err = w.content(form.BOM)
		return append([]byte("\xef\xbb\xbf"), data...), true, err
	case form.Gz != nil:
		data, err = w.content(form.Gz)
		var b bytes.Buffer
		z := gzip.NewWriter(&b)
		z.Write(data) // to memory: it cannot fail
		err = errors.Join(err, z.Close())
		return b.Bytes(), true, err
	case form.Zst != nil:
		data, err = w.content(form.Zst)
		z, zerr := zstd.NewWriter(nil)
		if err = errors.Join(err, zerr); err != nil {
			return nil, true, err
		}
		return z.EncodeAll(data, nil), true, z.Close()
	}
	return nil, false, nil
}

var (
	clockForm  = regexp.MustCompile(`\{\{(iso|ms|s|date)([+-]\d+)?\}\}`) // with seconds from now
	repeatForm = regexp.MustCompile(`@@([^@]+)\*(\d+)@@`)
)

// text is a string's value, or any other JSON value on one line, with its templates filled in.
func (w *world) text(v json.RawMessage) ([]byte, error) {
	var text string
	if v[0] == '"' {
		if err := json.Unmarshal(v, &text); err != nil {
			return nil, err
		}
	} else {
		var b bytes.Buffer
		if err := json.Compact(&b, v); err != nil {
			return nil, err
		}
		text = b.String()
	}
	return []byte(w.fill(text)), nil
}

func (w *world) fill(text string) string {
	text = strings.ReplaceAll(text, "{{home}}", filepath.ToSlash(w.home))
	text = clockForm.ReplaceAllStringFunc(text, func(form string) string {
		m := clockForm.FindStringSubmatch(form)
		seconds, _ := strconv.Atoi(m[2])
		at := w.now.Add(time.Duration(seconds) * time.Second).UTC()
		switch m[1] {
		case "iso":
			return at.Format("2006-01-02T15:04:05.000Z")
		case "date":
			return at.Format(time.DateOnly)
		case "ms":
			return strconv.FormatInt(at.UnixMilli(), 10)
		}
		return strconv.FormatInt(at.Unix(), 10)
	})
	return repeatForm.ReplaceAllStringFunc(text, func(form string) string {
		m := repeatForm.FindStringSubmatch(form)
		n, _ := strconv.Atoi(m[2])
		return strings.Repeat(m[1], n)
	})
}

// sql runs a script: a text, or a list of texts and of {"into": table, "rows": [[value...]...]},
// in which an object or a list is JSON text.
func (w *world) sql(place string, script json.RawMessage) {
	w.t.Helper()
	conn := w.writers[place]
	if conn == nil {
		w.t.Fatalf("%s: not a database of the input", place)
	}
	parts := []json.RawMessage{script}
	if script[0] == '[' {
		if err := json.Unmarshal(script, &parts); err != nil {
			w.t.Fatal(err)
		}
	}
	for _, part := range parts {
		statement := part
		if part[0] == '{' {
			var insert struct {
				Into string              `json:"into"`
				Rows [][]json.RawMessage `json:"rows"`
			}
			d := json.NewDecoder(bytes.NewReader(part))
			d.DisallowUnknownFields()
			if err := d.Decode(&insert); err != nil {
				w.t.Fatalf("%s: %v", place, err)
			}
			var tuples []string
			for _, row := range insert.Rows {
				var values []string
				for _, value := range row {
					literal, err := w.literal(value)
					if err != nil {
						w.t.Fatalf("%s: %v", place, err)
					}
					values = append(values, literal)
				}
				tuples = append(tuples, "("+strings.Join(values, ", ")+")")
			}
			statement, _ = json.Marshal("INSERT INTO " + insert.Into + " VALUES " + strings.Join(tuples, ", "))
		}
		text, err := w.text(statement)
		if err == nil {
			err = conn.Exec(string(text))
		}
		if err != nil {
			w.t.Fatalf("%s: %v: %.200s", place, err, text)
		}
	}
}

func (w *world) literal(value json.RawMessage) (string, error) {
	switch value[0] {
	case '"', '{', '[':
		text, err := w.text(value)
		return "'" + strings.ReplaceAll(string(text), "'", "''") + "'", err
	}
	return string(value), nil // a number or null
}

// An answer is what a command said.
type answer struct {
	exit           int
	stdout, stderr string
}

// command runs one of our commands on the home and checks what holds for every one: text is
// valid, and nothing in the home was touched.
func (w *world) command(args ...string) answer {
	w.t.Helper()
	args = slices.Clone(args)
	for i := range args {
		args[i] = w.fill(args[i])
	}
	before := w.snapshot()
	var out, errw bytes.Buffer
	exit := Run(append(args, "--home", w.home), strings.NewReader(""), &out, &errw)
	w.unchanged(before, args)
	if !utf8.Valid(out.Bytes()) || !utf8.Valid(errw.Bytes()) {
		w.t.Errorf("%v: the output is not valid UTF-8", args)
	}
	return answer{exit, out.String(), errw.String()}
}

func (w *world) unchanged(before map[string]string, what any) {
	w.t.Helper()
	after := w.snapshot()
	for _, path := range slices.Sorted(maps.Keys(after)) {
		if before[path] != after[path] {
			w.t.Errorf("%v: changed or left %s", what, path)
		}
		delete(before, path)
	}
	for path := range before {
		w.t.Errorf("%v: removed %s", what, path)
	}
}

// snapshot is every file of the home with its time and the hash of its bytes.
func (w *world) snapshot() map[string]string {
	w.t.Helper()
	files := map[string]string{}
	err := filepath.WalkDir(w.home, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		files[path] = fmt.Sprintf("%s %x", info.ModTime(), sha256.Sum256(data))
		return nil
	})
	if err != nil {
		w.t.Fatal(err)
	}
	return files
}

// call calls a tool of the MCP server over its two streams, as a host does.
func (w *world) call(c *mcpCall) answer {
	w.t.Helper()
	before := w.snapshot()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	in, host := io.Pipe()
	server, out := io.Pipe()
	var errw bytes.Buffer
	ended := make(chan int, 1)
	go func() {
		exit := run(ctx, []string{"mcp", "--home", w.home}, in, out, &errw)
		out.Close()
		in.Close()
		ended <- exit
	}()
	arguments, err := json.Marshal(c.Arguments)
	if err != nil {
		w.t.Fatal(err)
	}
	go func() {
		for _, message := range []string{
			`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"cases","version":"1"}}}`,
			`{"jsonrpc":"2.0","method":"notifications/initialized"}`,
			fmt.Sprintf(`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":%q,"arguments":%s}}`, c.Tool, w.fill(string(arguments))),
		} {
			io.WriteString(host, message+"\n")
		}
	}()
	var got answer
	found := false
	for lines := bufio.NewReader(server); !found; {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			break
		}
		var reply struct {
			ID     int
			Error  json.RawMessage
			Result struct {
				IsError bool
				Content []struct{ Text string }
			}
		}
		if json.Unmarshal(line, &reply) != nil || reply.ID != 2 {
			continue
		}
		found = true
		if reply.Error != nil {
			w.t.Fatalf("%s: %s", c.Tool, reply.Error)
		}
		for _, part := range reply.Result.Content {
			got.stdout += part.Text
		}
		if reply.Result.IsError {
			got.exit = 1
		}
	}
	host.Close()
	go io.Copy(io.Discard, server)
	exit := <-ended
	got.stderr = errw.String()
	if !found {
		w.t.Fatalf("mcp: exit %d without an answer to %s: %s", exit, c.Tool, got.stderr)
	}
	w.unchanged(before, c.Tool)
	return got
}

func (w *world) step(n int, s step) {
	t := w.t
	t.Helper()
	w.write(s.Write)
	for _, place := range s.Remove {
		if err := os.Remove(w.path(place)); err != nil {
			t.Fatal(err)
		}
	}
	for place, script := range s.SQL {
		w.sql(place, script)
	}
	var a answer
	var what string
	for _, place := range s.Locked {
		w.exec(place, "BEGIN EXCLUSIVE")
	}
	switch {
	case s.MCP != nil:
		what = s.MCP.Tool
		a = w.call(s.MCP)
	case s.Run != nil:
		what = strings.Join(s.Run, " ")
		a = w.command(s.Run...)
	default:
		return
	}
	for _, place := range s.Locked {
		w.exec(place, "ROLLBACK")
	}
	failed := false
	bad := func(format string, args ...any) {
		t.Helper()
		failed = true
		t.Errorf("step %d: %s: %s", n, what, fmt.Sprintf(format, args...))
	}
	if s.Exit == nil {
		s.Exit = exits{0}
	}
	if !slices.Contains(s.Exit, a.exit) {
		bad("exit %d, want %v", a.exit, s.Exit)
	}
	for _, text := range s.Contains {
		if text = w.fill(text); !strings.Contains(a.stdout, text) {
			bad("stdout lacks %q", text)
		}
	}
	for _, text := range s.NotContains {
		if text = w.fill(text); strings.Contains(a.stdout, text) {
			bad("stdout holds %q", text)
		}
	}
	for _, text := range s.EitherContains {
		if !strings.Contains(a.stdout, text) && !strings.Contains(a.stderr, text) {
			bad("neither stdout nor stderr holds %q", text)
		}
	}
	for _, text := range s.StderrContains {
		if !strings.Contains(a.stderr, text) {
			bad("stderr lacks %q", text)
		}
	}
	for text, want := range s.Count {
		if got := strings.Count(a.stdout, text); got != want {
			bad("%q stands %d times in stdout, want %d", text, got, want)
		}
	}
	for _, stream := range s.NoControl {
		if r := control([]string{a.stdout, a.stderr}[stream-1]); r != 0 {
			bad("stream %d holds %q", stream, r)
		}
	}
	if s.MaxBytes > 0 && len(a.stdout) > s.MaxBytes {
		bad("%d bytes, want at most %d", len(a.stdout), s.MaxBytes)
	}
	if s.Rows != nil {
		s.Rows.check(listed(t, a.stdout), a.stdout, bad)
	}
	if s.Messages != nil {
		var doc document
		if err := json.Unmarshal([]byte(a.stdout), &doc); err != nil {
			bad("%v", err)
		} else {
			s.Messages.check(&doc, bad)
		}
	}
	if s.JSON != nil {
		var got any
		if err := json.Unmarshal([]byte(a.stdout), &got); err != nil {
			bad("%v", err)
		} else if why := fits(s.JSON, got); why != "" {
			bad("%s", why)
		}
	}
	if failed {
		t.Logf("step %d: exit %d\n--- stdout\n%.3000s\n--- stderr\n%.1500s", n, a.exit, a.stdout, a.stderr)
	}
}

func (w *world) exec(place, statement string) {
	w.t.Helper()
	if w.writers[place] == nil {
		w.t.Fatalf("%s: not a database of the input", place)
	}
	if err := w.writers[place].Exec(statement); err != nil {
		w.t.Fatalf("%s: %v", place, err)
	}
}

// control is the first character that a terminal would act on, 0 if there is none.
func control(text string) rune {
	for _, r := range text {
		marks := r == 0x61c || r == 0x200e || r == 0x200f || r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069
		if marks || unicode.IsControl(r) && r != '\n' && r != '\t' {
			return r
		}
	}
	return 0
}

type row struct {
	Provider string
	ID       string `json:"conversation_id"`
	FullID   string `json:"id"`
	Title    string
	Cwd      string
	Parent   string
	Subagent bool
	File     string
}

// document is what show --format messages prints.
type document struct {
	Conversation row
	Messages     []struct {
		Role                                  string
		Text, Tool                            string
		Input                                 json.RawMessage
		Failed, Running, Abandoned, Inherited bool
		Time                                  time.Time
	}
	Read struct {
		Broken     []struct{ Why string }
		BrokenMore int `json:"broken_more"`
		Torn       bool
	}
}

func listed(t *testing.T, stdout string) []row {
	t.Helper()
	var all []row
	for d := json.NewDecoder(strings.NewReader(stdout)); ; {
		var r row
		err := d.Decode(&r)
		if err == io.EOF {
			return all
		}
		if err != nil {
			t.Errorf("a line is no row: %v", err)
			return all
		}
		all = append(all, r)
	}
}

func (r *rows) check(got []row, stdout string, bad func(string, ...any)) {
	var ids []string
	for _, g := range got {
		ids = append(ids, g.ID)
	}
	if r.IDs != nil && !slices.Equal(ids, r.IDs) {
		bad("ids %q, want %q", ids, r.IDs)
	}
	if r.IDsAnyOrder != nil && !slices.Equal(slices.Sorted(slices.Values(ids)), slices.Sorted(slices.Values(r.IDsAnyOrder))) {
		bad("ids %q, want, in any order, %q", ids, r.IDsAnyOrder)
	}
	if r.Count != nil && len(got) != *r.Count {
		bad("%d rows, want %d", len(got), *r.Count)
	}
	lines := strings.Split(stdout, "\n")
	for n, want := range r.At {
		if n >= len(got) {
			bad("row %d: there are %d", n, len(got))
			continue
		}
		var value any
		if err := json.Unmarshal([]byte(lines[n]), &value); err != nil {
			bad("row %d: %v", n, err)
		} else if why := fits(want, value); why != "" {
			bad("row %d%s", n, why)
		}
	}
}

// expect lists all conversations, finds the one that is meant, and shows it.
func (w *world) expect(provider string, f find, want *expect) {
	t := w.t
	t.Helper()
	list := w.command("list", "--json", "--subagents", "--limit", "0")
	if list.exit != exitFound {
		t.Fatalf("list: exit %d: %s", list.exit, list.stderr)
	}
	mains, subagents := 0, 0
	var fit []row
	for _, r := range listed(t, list.stdout) {
		if r.Provider != provider {
			continue
		}
		if r.Subagent {
			subagents++
		} else {
			mains++
		}
		if strings.Contains(r.ID, f.ID) && strings.HasSuffix(filepath.ToSlash(r.File), f.File) {
			fit = append(fit, r)
		}
	}
	bad := func(format string, args ...any) { t.Helper(); t.Errorf(format, args...) }
	number(bad, "conversations", mains, want.Conversations)
	number(bad, "subagents", subagents, want.Subagents)
	// A subagent inside of its parent's file has the parent's id in its own: the parent is meant.
	if len(fit) > 1 {
		fit = slices.DeleteFunc(fit, func(r row) bool { return r.Subagent })
	}
	if len(fit) != 1 {
		t.Fatalf("%d conversations are like %+v, want one:\n%s%s", len(fit), f, list.stdout, list.stderr)
	}
	if !strings.Contains(fit[0].ID, want.IDContains) {
		bad("id %q lacks %q", fit[0].ID, want.IDContains)
	}
	if !strings.Contains(fit[0].Parent, want.ParentContains) {
		bad("parent %q lacks %q", fit[0].Parent, want.ParentContains)
	}
	// Two conversations may have one id; then a path tells them apart.
	what := fit[0].FullID
	if f.File != "" {
		what = fit[0].File
	}
	shown := w.command("show", what, "--format", "messages")
	var doc document
	if err := json.Unmarshal([]byte(shown.stdout), &doc); err != nil || shown.exit != exitFound {
		t.Fatalf("show: exit %d: %v: %s", shown.exit, err, shown.stderr)
	}
	want.talk.check(&doc, bad)
	if t.Failed() {
		t.Logf("list\n%.3000s%s\nshow\n%.3000s%s", list.stdout, list.stderr, shown.stdout, shown.stderr)
	}
}

func number(bad func(string, ...any), what string, got int, want *int) {
	if want != nil && got != *want {
		bad("%d %s, want %d", got, what, *want)
	}
}

func (k *talk) check(doc *document, bad func(string, ...any)) {
	texts := map[string][]string{}
	tools := map[string]int{}
	running, failed, inherited, abandoned := 0, 0, 0, 0
	var roles, said []string
	var firstUser time.Time
	for _, m := range doc.Messages {
		if m.Abandoned {
			abandoned++
		}
		if m.Inherited {
			inherited++
		}
		if m.Abandoned || m.Inherited {
			continue
		}
		if m.Role == "user" && len(texts["user"]) == 0 {
			firstUser = m.Time
		}
		texts[m.Role] = append(texts[m.Role], m.Text)
		said = append(said, m.Text, string(m.Input))
		roles = append(roles, m.Role)
		if m.Role == "tool_call" {
			tools[m.Tool]++
		}
		if m.Running {
			running++
		}
		if m.Failed {
			failed++
		}
	}
	list := func(what string, got, want []string) {
		if want != nil && !slices.Equal(got, want) {
			bad("%s %q, want %q", what, got, want)
		}
	}
	list("users", texts["user"], k.Users)
	list("assistants", texts["assistant"], k.Assistants)
	list("results", texts["tool_result"], k.Results)
	list("roles", roles, k.Roles)
	number(bad, "user messages", len(texts["user"]), k.UserMessages)
	number(bad, "tool results", len(texts["tool_result"]), k.ToolResults)
	number(bad, "compactions", len(texts["compaction"]), k.Compactions)
	number(bad, "running calls", running, k.RunningCalls)
	number(bad, "failed results", failed, k.FailedCalls)
	number(bad, "inherited messages", inherited, k.Inherited)
	number(bad, "abandoned messages", abandoned, k.Abandoned)
	number(bad, "broken records", len(doc.Read.Broken)+doc.Read.BrokenMore, k.Broken)
	if k.Tools != nil && !maps.Equal(tools, k.Tools) {
		bad("tools %v, want %v", tools, k.Tools)
	}
	if k.Title != nil && doc.Conversation.Title != *k.Title {
		bad("title %q, want %q", doc.Conversation.Title, *k.Title)
	}
	if k.Cwd != nil && doc.Conversation.Cwd != *k.Cwd {
		bad("cwd %q, want %q", doc.Conversation.Cwd, *k.Cwd)
	}
	if k.Subagent != nil && doc.Conversation.Subagent != *k.Subagent {
		bad("subagent %v, want %v", doc.Conversation.Subagent, *k.Subagent)
	}
	if k.Torn != nil && doc.Read.Torn != *k.Torn {
		bad("torn %v, want %v", doc.Read.Torn, *k.Torn)
	}
	if k.FirstUserTime != nil && !firstUser.Equal(*k.FirstUserTime) {
		bad("first user message at %v, want %v", firstUser, *k.FirstUserTime)
	}
	among := func(all []string, text string) bool {
		return slices.ContainsFunc(all, func(s string) bool { return strings.Contains(s, text) })
	}
	for _, text := range k.Contains {
		if !among(said, text) {
			bad("no message holds %q", text)
		}
	}
	for _, text := range k.NotContains {
		if among(said, text) {
			bad("a message holds %q", text)
		}
	}
	for _, text := range k.NotUserContaining {
		if among(texts["user"], text) {
			bad("a user message holds %q", text)
		}
	}
}

// fits says where got differs from want, "" if it does not. Of an object only the wanted keys
// count; {"$any": x} is a list with such an element, {"$lacks": x} one without.
func fits(want, got any) string {
	switch want := want.(type) {
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(want)) {
			if strings.HasPrefix(key, "$") {
				if why := operator(key, want[key], got); why != "" {
					return why
				}
				continue
			}
			object, ok := got.(map[string]any)
			if !ok {
				return fmt.Sprintf(": %v is no object", brief(got))
			}
			value, there := object[key]
			if !there {
				return "." + key + ": is not there"
			}
			if why := fits(want[key], value); why != "" {
				return "." + key + why
			}
		}
		return ""
	case []any:
		list, ok := got.([]any)
		if !ok || len(list) != len(want) {
			return fmt.Sprintf(": %s, want a list of %d", brief(got), len(want))
		}
		for i := range want {
			if why := fits(want[i], list[i]); why != "" {
				return fmt.Sprintf("[%d]%s", i, why)
			}
		}
		return ""
	}
	if want != got {
		return fmt.Sprintf(": %s, want %s", brief(got), brief(want))
	}
	return ""
}

func operator(name string, want, got any) string {
	text, _ := got.(string)
	list, isList := got.([]any)
	wanted, _ := want.(string)
	n, _ := want.(float64)
	size := float64(utf8.RuneCountInString(text))
	if isList {
		size = float64(len(list))
	}
	has := slices.ContainsFunc(list, func(e any) bool { return fits(want, e) == "" })
	ok := false
	switch name {
	case "$any":
		ok = isList && has
	case "$lacks":
		ok = (isList || got == nil) && !has
	case "$prefix":
		ok = strings.HasPrefix(text, wanted)
	case "$regex":
		ok = regexp.MustCompile(wanted).MatchString(text)
	case "$length":
		ok = size == n
	case "$min":
		value, isNumber := got.(float64)
		ok = isNumber && value >= n
	case "$time":
		a, err1 := time.Parse(time.RFC3339, text)
		b, err2 := time.Parse(time.RFC3339, wanted)
		ok = err1 == nil && err2 == nil && a.Equal(b)
	default:
		return ": no operator " + name
	}
	if !ok {
		return fmt.Sprintf(": %s, want %s %s", brief(got), name, brief(want))
	}
	return ""
}

func brief(v any) string {
	data, _ := json.Marshal(v)
	if len(data) > 300 {
		return string(data[:300]) + "..."
	}
	return string(data)
}
