package mcpserver

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"parlance/internal/chat"
	"parlance/internal/history"
	"parlance/internal/mapping"
	"parlance/mappings"
)

// testNow is when the tests play.
var testNow = time.Date(2026, 6, 1, 12, 0, 0, 0, time.UTC)

// copyHome copies a fixture's home to a folder of the test, its files a day old, so that
// neither a fresh checkout nor the path of one shows in an answer.
func copyHome(t testing.TB, from string) string {
	t.Helper()
	home := t.TempDir()
	if err := os.CopyFS(home, os.DirFS(from)); err != nil {
		t.Fatal(err)
	}
	age(t, home, testNow.Add(-24*time.Hour))
	return home
}

func age(t testing.TB, home string, at time.Time) {
	t.Helper()
	err := filepath.WalkDir(home, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		return os.Chtimes(path, at, at)
	})
	if err != nil {
		t.Fatal(err)
	}
}

func openHome(t testing.TB, home string, now func() time.Time) *history.History {
	t.Helper()
	set, err := mapping.NewSet(mappings.FS, nil)
	if err != nil {
		t.Fatal(err)
	}
	named, err := mapping.NamedRoots(mappings.FS)
	if err != nil {
		t.Fatal(err)
	}
	return history.Open(history.Config{
		Envs: []mapping.Env{{Home: home, Getenv: func(string) string { return "" }, Cwd: home, Named: named}},
		Set:  set, Now: now,
	})
}

func demo(t testing.TB) *history.History {
	return openHome(t, copyHome(t, "../../testdata/demo/home"), func() time.Time { return testNow })
}

func providers(t testing.TB) []string {
	t.Helper()
	set, err := mapping.NewSet(mappings.FS, nil)
	if err != nil {
		t.Fatal(err)
	}
	return set.Names()
}

func options(t testing.TB) Options { return Options{Version: "test", Providers: providers(t)} }

// A line is a server at the other end of two pipes.
type line struct {
	t      testing.TB
	in     *io.PipeWriter
	out    *bufio.Reader
	outEnd *io.PipeReader
	errs   *syncBuffer
	done   chan error
	cancel context.CancelFunc
}

func dial(t testing.TB, h History, o Options) *line {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	inR, inW := io.Pipe()
	outR, outW := io.Pipe()
	l := &line{t: t, in: inW, out: bufio.NewReaderSize(outR, 1<<20), outEnd: outR, errs: &syncBuffer{}, done: make(chan error, 1), cancel: cancel}
	go func() {
		err := Serve(ctx, h, inR, outW, l.errs, o)
		outW.Close()
		l.done <- err
	}()
	t.Cleanup(func() {
		cancel()
		inW.Close()
		outR.Close()
	})
	return l
}

func (l *line) send(message string) {
	l.t.Helper()
	if _, err := io.WriteString(l.in, message+"\n"); err != nil {
		l.t.Fatalf("send: %v", err)
	}
}

// receive is the next line from the server, "" at its end.
func (l *line) receive() string {
	l.t.Helper()
	text, err := l.out.ReadString('\n')
	if err != nil && err != io.EOF {
		l.t.Fatalf("receive: %v", err)
	}
	return strings.TrimSuffix(text, "\n")
}

// wait is what Serve returned.
func (l *line) wait() error {
	l.t.Helper()
	select {
	case err := <-l.done:
		return err
	case <-time.After(10 * time.Second):
		l.t.Fatal("the server does not end")
		return nil
	}
}

const hello = `{"jsonrpc":"2.0","id":"hello","method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"test","version":"1"}}}`

func (l *line) hello() {
	l.t.Helper()
	l.send(hello)
	if got := l.receive(); !strings.Contains(got, `"id":"hello","result"`) {
		l.t.Fatalf("initialize: %s", got)
	}
	l.send(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
}

// A reply is the part of an answer that tests look at.
type reply struct {
	ID     json.RawMessage
	Method string
	Params map[string]any
	Error  *struct {
		Code    int
		Message string
	}
	Result struct {
		Content           []struct{ Type, Text string }
		StructuredContent any
		IsError           bool
		ProtocolVersion   string
		Contents          []struct{ URI, Text string }
	}
}

func (l *line) reply() reply {
	l.t.Helper()
	var r reply
	text := l.receive()
	if err := json.Unmarshal([]byte(text), &r); err != nil {
		l.t.Fatalf("%q: %v", text, err)
	}
	return r
}

func (r reply) text() string {
	if len(r.Result.Content) != 1 {
		return ""
	}
	return r.Result.Content[0].Text
}

func callLine(id, tool, arguments string) string {
	return `{"jsonrpc":"2.0","id":` + id + `,"method":"tools/call","params":{"name":"` + tool + `","arguments":` + arguments + `}}`
}

func (l *line) call(tool, arguments string) reply {
	l.t.Helper()
	l.send(callLine("1", tool, arguments))
	return l.reply()
}

// ask calls a tool that must answer with text, over a connection of its own.
func ask(t testing.TB, h History, tool string, arguments map[string]any) string {
	t.Helper()
	raw, err := json.Marshal(arguments)
	if err != nil {
		t.Fatal(err)
	}
	l := dial(t, h, options(t))
	l.hello()
	r := l.call(tool, string(raw))
	if r.Error != nil || r.Result.IsError || len(r.Result.Content) != 1 {
		t.Fatalf("%s %s: %+v", tool, raw, r)
	}
	l.in.Close()
	if err := l.wait(); err != nil {
		t.Fatal(err)
	}
	return r.text()
}

type syncBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (b *syncBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *syncBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}

// slow is a history whose searches last until somebody gives leave or nobody waits any more.
type slow struct {
	started, cancelled chan string
	leave              chan struct{}
}

func newSlow() *slow {
	return &slow{started: make(chan string, 10000), cancelled: make(chan string, 10000), leave: make(chan struct{})}
}

func (s *slow) Search(ctx context.Context, q history.Query) (history.Listing, error) {
	s.started <- q.Text
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for n := 1; ; n++ {
		select {
		case <-s.leave:
			return history.Listing{}, nil
		case <-ctx.Done():
			s.cancelled <- q.Text
			return history.Listing{}, ctx.Err()
		case <-tick.C:
			if q.Progress != nil {
				q.Progress(n, 1000)
			}
		}
	}
}

func (s *slow) Fork(ctx context.Context, q history.Query) (*history.Forked, error) {
	return nil, &history.NotFoundError{What: q.Text}
}

func (s *slow) LoadID(context.Context, string, func(*chat.Conversation) error) error {
	return errors.New("slow: nothing to load")
}
