package mcpserver

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"parlance/internal/chat"
	"parlance/internal/history"
)

// TestEndOfInput: the answers under way are written before the server ends.
func TestEndOfInput(t *testing.T) {
	s := newSlow()
	l := dial(t, s, options(t))
	l.hello()
	for i := range 3 {
		l.send(callLine(strconv.Itoa(i), "chat_search", `{"search":"x"}`))
		<-s.started
	}
	l.in.Close()
	time.Sleep(20 * time.Millisecond)
	close(s.leave)
	seen := map[string]bool{}
	for range 3 {
		r := l.reply()
		seen[string(r.ID)] = r.text() == `No conversations found matching "x".`
	}
	if len(seen) != 3 || !seen["0"] || !seen["1"] || !seen["2"] {
		t.Errorf("answers: %v", seen)
	}
	if err := l.wait(); err != nil {
		t.Error(err)
	}
	if rest := l.receive(); rest != "" {
		t.Errorf("more: %s", rest)
	}
}

// TestNoNewlineAtEnd: a last message counts without its newline.
func TestNoNewlineAtEnd(t *testing.T) {
	var out bytes.Buffer
	err := Serve(context.Background(), newSlow(), strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"ping"}`), &out, io.Discard, options(t))
	if got, want := out.String(), `{"jsonrpc":"2.0","id":1,"result":{}}`+"\n"; err != nil || got != want {
		t.Errorf("%q, %v; want %q", got, err, want)
	}
}

// TestCancel: a call that runs stops, one that waits for its turn too, and neither is answered.
func TestCancel(t *testing.T) {
	s := newSlow()
	l := dial(t, s, options(t))
	l.hello()
	running := max(workersMin, runtime.GOMAXPROCS(0))
	for i := range running + 5 {
		l.send(callLine(strconv.Itoa(i), "chat_search", fmt.Sprintf(`{"search":"s%d"}`, i)))
		if i < running {
			<-s.started
		}
	}
	for i := range running + 5 {
		l.send(fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":%d,"reason":"enough"}}`, running+4-i))
	}
	for range running {
		select {
		case <-s.cancelled:
		case <-time.After(5 * time.Second):
			t.Fatal("a cancelled call still works")
		}
	}
	// One that is neither running nor known.
	l.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"nobody"}}`)
	l.send(`{"jsonrpc":"2.0","method":"notifications/cancelled"}`)
	l.send(`{"jsonrpc":"2.0","id":"after","method":"ping"}`)
	if got, want := l.receive(), `{"jsonrpc":"2.0","id":"after","result":{}}`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	l.in.Close()
	if err := l.wait(); err != nil {
		t.Error(err)
	}
	if n := len(s.started); n > 0 {
		t.Errorf("%d searches began though they were cancelled before their turn", n)
	}
}

// TestProgress: a search that takes longer than half a second says how far it is, with
// growing numbers, if the host gave a token, and never after its answer.
func TestProgress(t *testing.T) {
	s := newSlow()
	l := dial(t, s, options(t))
	l.hello()
	begin := time.Now()
	l.send(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"chat_search","arguments":{"search":"a"},"_meta":{"progressToken":"p"}}}`)
	last := 0.0
	for i := range 3 {
		r := l.reply()
		if r.Method != "notifications/progress" || r.Params["progressToken"] != "p" {
			t.Fatalf("%+v", r)
		}
		if i == 0 && time.Since(begin) < progressAfter {
			t.Errorf("progress after %v", time.Since(begin))
		}
		n := r.Params["progress"].(float64)
		if n <= last || r.Params["total"] != 1000.0 {
			t.Errorf("progress %v after %v: %v", n, last, r.Params)
		}
		last = n
	}
	close(s.leave)
	for {
		r := l.reply()
		if r.Method == "" {
			break
		}
	}
	l.in.Close()
	if err := l.wait(); err != nil {
		t.Error(err)
	}
	if rest := l.receive(); rest != "" {
		t.Errorf("after the answer: %s", rest)
	}
}

// TestNoTokenNoProgress: a host that gave no token gets nothing but the answer.
func TestNoTokenNoProgress(t *testing.T) {
	s := newSlow()
	l := dial(t, s, options(t))
	l.hello()
	l.send(callLine("1", "chat_search", `{}`))
	time.AfterFunc(progressAfter+3*progressEvery, func() { close(s.leave) })
	if r := l.reply(); string(r.ID) != "1" {
		t.Errorf("%+v", r)
	}
}

// TestManyInFlight: a thousand calls at once are all answered, each with its own.
func TestManyInFlight(t *testing.T) {
	l := dial(t, demo(t), options(t))
	l.hello()
	const calls = 1000
	go func() {
		for i := range calls {
			io.WriteString(l.in, callLine(strconv.Itoa(i), []string{"chat_search", "chat_fork", "chat_checkpoint"}[i%3],
				[]string{`{"search":"ferry"}`, `{"search":"ferry"}`, `{"slug":"s"}`}[i%3])+"\n")
		}
	}()
	opens := []string{"3 conversation(s) matching", "## USER", "CHAT CHECKPOINT UUID="}
	seen := map[string]bool{}
	for range calls {
		r := l.reply()
		id, err := strconv.Atoi(string(r.ID))
		if err != nil || seen[string(r.ID)] || !strings.HasPrefix(r.text(), opens[id%3]) {
			t.Fatalf("id %s: %q", r.ID, r.text())
		}
		seen[string(r.ID)] = true
	}
	l.in.Close()
	if err := l.wait(); err != nil {
		t.Error(err)
	}
}

// TestTooMany: what cannot wait any more is told so, and the rest is answered.
func TestTooMany(t *testing.T) {
	s := newSlow()
	l := dial(t, s, options(t))
	l.hello()
	go func() {
		for i := range pendingMax + 10 {
			io.WriteString(l.in, callLine(strconv.Itoa(i), "chat_search", `{}`)+"\n")
		}
	}()
	for range 10 {
		if r := l.reply(); r.Error == nil || !strings.HasPrefix(r.Error.Message, "too many requests") {
			t.Fatalf("%+v", r)
		}
	}
	close(s.leave)
	for range pendingMax {
		if r := l.reply(); r.Error != nil {
			t.Fatalf("%+v", r)
		}
	}
}

// TestTooManyBytes: requests that wait may be few and large.
func TestTooManyBytes(t *testing.T) {
	s := newSlow()
	l := dial(t, s, options(t))
	l.hello()
	large := `{"search":"` + strings.Repeat("x", requestMaxBytes-1000) + `"}`
	const fit = pendingMaxBytes / (requestMaxBytes - 1000)
	go func() {
		for i := range fit + 1 {
			io.WriteString(l.in, callLine(strconv.Itoa(i), "chat_search", large)+"\n")
		}
	}()
	if r := l.reply(); r.Error == nil || !strings.Contains(r.Error.Message, "pendingMaxBytes (256 MB)") {
		t.Fatalf("%+v", r.Error)
	}
	close(s.leave)
	for range fit {
		l.reply()
	}
}

// TestHugeArguments: ten megabytes are refused or used, never a reason to end.
func TestHugeArguments(t *testing.T) {
	l := dial(t, demo(t), options(t))
	l.hello()
	huge := strings.Repeat("ferry ", 10<<20/6)
	for _, test := range []struct{ tool, arguments, want string }{
		{"chat_search", `{"search":"` + huge + `"}`, "chat_search: search: 10485756 bytes; at most argumentMaxBytes (4096) are looked for"},
		{"chat_fork", `{"search":"` + huge + `"}`, "chat_fork: search: 10485756 bytes"},
		{"chat_fork", `{"search":"x","` + huge + `":1}`, "chat_fork: \"ferry ferry"},
		{"chat_search", `{"limit":[` + strings.Repeat("1,", 1<<20) + `1]}`, "chat_search: limit: [1,1,"},
		{"chat_checkpoint", `{"slug":"` + huge + `"}`, "CHAT CHECKPOINT UUID="},
	} {
		r := l.call(test.tool, test.arguments)
		if !strings.HasPrefix(r.text(), test.want) || len(r.text()) > 1000 {
			t.Errorf("%s: %.200s; want %s", test.tool, r.text(), test.want)
		}
	}
	l.send(`{"jsonrpc":"2.0","id":1,"method":"resources/read","params":{"uri":"parlance://conversation/` + strings.Repeat("z", 10<<20) + `"}}`)
	if text := l.receive(); !strings.Contains(text, `"error"`) || len(text) > 1000 {
		t.Errorf("resources/read: %.200s", text)
	}
	go io.WriteString(l.in, `{"jsonrpc":"2.0","id":1,"method":"ping","params":{"x":"`+strings.Repeat("x", requestMaxBytes)+"\"}}\n")
	if r := l.reply(); r.Error == nil || !strings.Contains(r.Error.Message, "longer than") {
		t.Errorf("%+v", r)
	}
	l.send(`{"jsonrpc":"2.0","id":2,"method":"ping"}`)
	if r := l.reply(); string(r.ID) != "2" {
		t.Errorf("%+v", r)
	}
}

// TestClientDies: when nobody reads answers any more, work stops and nothing is left behind.
func TestClientDies(t *testing.T) {
	before := runtime.NumGoroutine()
	files := openFiles()
	for _, how := range []string{"output", "both", "told to stop"} {
		s := newSlow()
		l := dial(t, s, options(t))
		l.hello()
		l.send(callLine("1", "chat_search", `{}`))
		<-s.started
		switch how {
		case "output":
			l.outEnd.Close()
			l.send(`{"jsonrpc":"2.0","id":2,"method":"ping"}`) // its answer finds nobody
		case "both":
			l.outEnd.Close()
			l.send(`{"jsonrpc":"2.0","id":2,"method":"ping"}`)
			l.in.Close()
		case "told to stop":
			l.cancel()
		}
		select {
		case <-s.cancelled:
		case <-time.After(5 * time.Second):
			t.Fatalf("%s: the search goes on", how)
		}
		if err := l.wait(); (err == nil) != (how == "told to stop") {
			t.Errorf("%s: %v", how, err)
		}
	}
	// With files really open.
	h := demo(t)
	for range 20 {
		l := dial(t, h, options(t))
		l.hello()
		for i := range 10 {
			l.send(callLine(strconv.Itoa(i), "chat_search", `{"search":"ferry"}`))
		}
		l.outEnd.Close()
		l.in.Close()
		l.wait()
	}
	deadline := time.Now().Add(5 * time.Second)
	for runtime.NumGoroutine() > before && time.Now().Before(deadline) {
		time.Sleep(10 * time.Millisecond)
	}
	if n := runtime.NumGoroutine(); n > before {
		stacks := make([]byte, 1<<16)
		t.Errorf("%d goroutines, %d before:\n%s", n, before, stacks[:runtime.Stack(stacks, true)])
	}
	if n := openFiles(); n > files {
		t.Errorf("%d open files, %d before", n, files)
	}
}

// openFiles counts this process's, where the system tells.
func openFiles() int {
	list, _ := os.ReadDir("/proc/self/fd")
	return len(list)
}

// TestPanic: a bug costs one answer.
func TestPanic(t *testing.T) {
	l := dial(t, panicking{}, options(t))
	l.hello()
	if r := l.call("chat_search", `{}`); r.Error == nil {
		t.Errorf("%+v", r)
	}
	if r := l.call("chat_checkpoint", `{"slug":"x"}`); !strings.HasPrefix(r.text(), "CHAT CHECKPOINT") {
		t.Errorf("%+v", r)
	}
}

type panicking struct{ History }

func (panicking) Search(context.Context, history.Query) (history.Listing, error) { panic("a bug") }

// TestLogging: a host that asks for messages gets them, and no other; stderr stays quiet.
func TestLogging(t *testing.T) {
	h := &troubled{}
	l := dial(t, h, options(t))
	l.hello()
	if r := l.call("chat_search", `{}`); r.Method != "" {
		t.Fatalf("unasked: %+v", r)
	}
	l.send(`{"jsonrpc":"2.0","id":2,"method":"logging/setLevel","params":{"level":"warning"}}`)
	l.reply()
	l.send(callLine("3", "chat_search", `{}`))
	var got []string
	for range 2 {
		r := l.reply()
		if r.Method == "notifications/message" {
			got = append(got, fmt.Sprint(r.Params["level"], " ", r.Params["data"]))
		}
	}
	if want := []string{"warning a.jsonl: it is torn"}; fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("got %q, want %q", got, want)
	}
	if said := l.errs.String(); said != "" {
		t.Errorf("on stderr: %s", said)
	}
	o := options(t)
	o.Verbose = true
	l = dial(t, h, o)
	l.hello()
	l.call("chat_search", `{}`)
	if said := l.errs.String(); !strings.Contains(said, "parlance mcp: a.jsonl: it is torn\n") || !strings.Contains(said, "chat_search: ") {
		t.Errorf("verbose: %q", said)
	}
}

type troubled struct{ History }

func (*troubled) Search(context.Context, history.Query) (history.Listing, error) {
	return history.Listing{Problems: []history.Problem{{Path: "a.jsonl", Reason: "it is torn"}}}, nil
}

// TestOwnConversation: what the host calls its conversation is told to history, until it
// turns out that history does not know it.
func TestOwnConversation(t *testing.T) {
	h := &mirror{known: "t-1"}
	call := func(l *line, id string) {
		l.send(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"chat_search","arguments":{},"_meta":{"acme.threadId":"` + id + `","progressToken":1}}}`)
		l.reply()
	}
	l := dial(t, h, options(t))
	l.hello()
	call(l, "t-1")
	call(l, "t-2")
	if got, want := strings.Join(h.asked, " "), "t-1 t-2"; got != want {
		t.Errorf("asked for %q, want %q", got, want)
	}
	h.asked = nil
	l = dial(t, h, options(t))
	l.hello()
	call(l, "t-2")
	call(l, "t-1")
	if got, want := strings.Join(h.asked, " "), "t-2 - -"; got != want {
		t.Errorf("asked for %q, want %q", got, want)
	}
}

// mirror notes as which conversation it is asked.
type mirror struct {
	History
	known string
	asked []string
}

func (m *mirror) Search(_ context.Context, q history.Query) (history.Listing, error) {
	self := q.Self
	if self == "" {
		self = "-"
	}
	m.asked = append(m.asked, self)
	var l history.Listing
	if q.Self == m.known {
		l.Current = &chat.Row{Provider: "acme", ID: q.Self}
	}
	return l, nil
}

// TestListen: nothing of ours changes that a client could listen for; it is told so at once,
// in the order of the protocol, and the server ends with its input.
func TestListen(t *testing.T) {
	for range 50 {
		l := dial(t, newSlow(), options(t))
		l.send(`{"jsonrpc":"2.0","id":1,"method":"subscriptions/listen","params":{"notifications":{"toolsListChanged":true},"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}`)
		if got := l.receive(); !strings.Contains(got, `"method":"notifications/subscriptions/acknowledged"`) {
			t.Fatalf("got %s", got)
		}
		if r := l.reply(); string(r.ID) != "1" || r.Error != nil {
			t.Fatalf("got %+v", r)
		}
		l.in.Close()
		if err := l.wait(); err != nil {
			t.Error(err)
		}
	}
}
