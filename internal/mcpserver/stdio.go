package mcpserver

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"runtime/debug"
	"strings"
	"sync"
	"sync/atomic"
	"time"
	"unicode/utf8"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"
)

// The library has a transport for stdin and stdout as well. This one is ours because that one
// drops answers under way when stdin ends, cannot cancel a call that waits for a worker, and
// keeps its one session in a global variable.

const (
	// requestMaxBytes is the longest message that is read. Ours are short; a host may echo
	// what it likes.
	requestMaxBytes = 64 << 20
	// pendingMax and pendingMaxBytes bound what waits for an answer. Beyond them a request is
	// refused at once, which a host can understand, instead of not being read.
	pendingMax      = 4096
	pendingMaxBytes = 256 << 20
	// drainMax is how long answers may take to be written once stdin has ended. It only
	// matters if nobody reads them.
	drainMax = 30 * time.Second
	// stopMax is the same if the process was told to stop.
	stopMax = 2 * time.Second
)

// Serve answers the requests that come in on in, each a line, until in ends and all answers
// are written, or ctx ends. Nothing but answers goes to out; what a person should know goes to
// errw. If ctx ends, or out cannot be written to, in is closed if it can be: a read from it
// would never return.
func Serve(ctx context.Context, h History, in io.Reader, out, errw io.Writer, o Options) error {
	t, err := newTalker(h, errw, o)
	if err != nil {
		return err
	}
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	s := &stdio{t: t, out: out, session: &session{notes: make(chan mcp.JSONRPCNotification, notesMax)}, stop: stop, pending: map[string]*request{}}
	ctx = t.mcp.WithContext(ctx, s.session)
	ctx = context.WithValue(ctx, notifyKey{}, s.notify)
	return s.serve(ctx, in)
}

// notesMax is how many notifications may wait to be written; what is beyond is dropped.
const notesMax = 1000

// stdio is a connection.
type stdio struct {
	t       *talker
	session *session
	stop    context.CancelCauseFunc // ends everything

	outMu sync.Mutex
	out   io.Writer

	mu           sync.Mutex
	pending      map[string]*request // by id, as it was written
	pendingBytes int
	closed       bool // no request is begun any more
	answering    sync.WaitGroup
}

// A request is one that is being answered.
type request struct {
	key    string
	bytes  int
	cancel context.CancelFunc
	// dropped says that the client does not want the answer any more.
	dropped atomic.Bool
}

var errOutput = errors.New("output")

func (s *stdio) serve(ctx context.Context, in io.Reader) error {
	ended := make(chan error, 1)
	go func() { ended <- s.read(ctx, in) }()

	var err error
	patience := drainMax
	select {
	case err = <-ended:
	case <-ctx.Done():
		err, patience = context.Cause(ctx), stopMax
		if c, ok := in.(io.Closer); ok {
			c.Close()
		}
	}
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	idle := make(chan struct{})
	go func() {
		s.answering.Wait()
		close(idle)
	}()
	limit := time.NewTimer(patience)
	defer limit.Stop()
	select {
	case <-idle:
	case <-limit.C:
	case <-ctx.Done():
		select {
		case <-idle:
		case <-time.After(stopMax):
		}
	}
	if err == nil {
		err = context.Cause(ctx)
	}
	if errors.Is(err, context.Canceled) {
		return nil
	}
	return err
}

// read takes the messages of in until it ends.
func (s *stdio) read(ctx context.Context, in io.Reader) error {
	r := bufio.NewReaderSize(in, 64<<10)
	for {
		line, err := readLine(r)
		switch {
		case errors.Is(err, errLong):
			s.write(failure(nil, mcp.INVALID_REQUEST, fmt.Sprintf("message: longer than requestMaxBytes (%d)", requestMaxBytes)))
			continue
		case err != nil && err != io.EOF:
			return fmt.Errorf("input: %w", err)
		}
		if ctx.Err() != nil {
			return nil
		}
		if line = bytes.TrimSpace(line); len(line) > 0 {
			s.take(ctx, line)
		}
		if err == io.EOF {
			return nil
		}
	}
}

var errLong = errors.New("line too long")

// readLine is the next line, errLong for one that was skipped.
func readLine(r *bufio.Reader) ([]byte, error) {
	var line []byte
	long := false
	for {
		part, err := r.ReadSlice('\n')
		if long = long || len(line)+len(part) > requestMaxBytes; long {
			line = nil
		} else {
			line = append(line, part...)
		}
		switch {
		case err == bufio.ErrBufferFull:
			continue
		case err == nil && long:
			return nil, errLong
		}
		return line, err
	}
}

// head is what a transport has to know of a message.
type head struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
	Result json.RawMessage `json:"result"`
	Error  json.RawMessage `json:"error"`
}

// take answers a message, or begins to. It does not wait for files.
func (s *stdio) take(ctx context.Context, line []byte) {
	if line[0] == '[' { // a batch, as version 2025-03-26 has it
		var batch []json.RawMessage
		if err := json.Unmarshal(line, &batch); err != nil {
			s.write(failure(nil, mcp.PARSE_ERROR, fmt.Sprintf("message: not JSON: %v", err)))
			return
		}
		if len(batch) == 0 {
			s.write(failure(nil, mcp.INVALID_REQUEST, "batch: no messages in it"))
			return
		}
		s.takeBatch(ctx, batch)
		return
	}
	r, answer := s.begin(ctx, line)
	if answer != nil {
		s.write(answer)
	}
	if r == nil {
		return
	}
	if r.inline {
		r.answer(s.write)
		return
	}
	go r.answer(s.write)
}

func (s *stdio) takeBatch(ctx context.Context, batch []json.RawMessage) {
	answers := make([]json.RawMessage, len(batch))
	var all sync.WaitGroup
	whole := &request{key: "batch", cancel: func() {}} // so that the end waits for it
	if !s.admit(whole) {
		s.write(failure(nil, mcp.INTERNAL_ERROR, tooMany))
		return
	}
	for i, message := range batch {
		r, answer := s.begin(ctx, message)
		answers[i] = answer
		if r != nil {
			all.Go(func() { r.answer(func(a json.RawMessage) { answers[i] = a }) })
		}
	}
	go func() {
		defer s.release(whole)
		all.Wait()
		var out [][]byte
		for _, a := range answers {
			if a != nil {
				out = append(out, a)
			}
		}
		if len(out) > 0 {
			s.write(append(append([]byte{'['}, bytes.Join(out, []byte{','})...), ']'))
		}
	}()
}

const tooMany = "too many requests wait for their answers, pendingMax (4096) or pendingMaxBytes (256 MB); ask again later"

// A begun request hands over its answer, nil if none is wanted.
type begun struct {
	answer func(put func(json.RawMessage))
	inline bool // must be answered before the next message is read
}

// begin reads a message. Either it wants no answer, or there is one already, or one is begun.
func (s *stdio) begin(ctx context.Context, message []byte) (*begun, json.RawMessage) {
	var h head
	err := json.Unmarshal(message, &h)
	if syntax := new(json.SyntaxError); errors.As(err, &syntax) {
		return nil, failure(nil, mcp.PARSE_ERROR, fmt.Sprintf("message: not JSON: %v", syntax))
	}
	answered := h.Method == "" && err == nil && (h.Result != nil || h.Error != nil) // what we never ask
	switch {
	case answered:
		return nil, nil
	case len(h.ID) > 0 && !isID(h.ID):
		return nil, failure(nil, mcp.INVALID_REQUEST, "id: neither a string nor a number")
	case err != nil, h.Method == "":
		return nil, failure(h.ID, mcp.INVALID_REQUEST, "message: not a request")
	case h.ID == nil:
		s.heed(ctx, message, h)
		return nil, nil
	}
	r := &request{key: string(h.ID), bytes: len(message)}
	ctx, r.cancel = context.WithCancel(ctx)
	if !s.admit(r) {
		r.cancel()
		return nil, failure(h.ID, mcp.INTERNAL_ERROR, tooMany)
	}
	return &begun{
		answer: func(put func(json.RawMessage)) {
			defer s.release(r)
			answer := s.answer(ctx, message, h.ID)
			if r.dropped.Load() {
				answer = nil
			}
			put(answer)
		},
		// What follows in the stream may rely on what these two set.
		inline: h.Method == string(mcp.MethodInitialize) || h.Method == string(mcp.MethodSetLogLevel),
	}, nil
}

// isID knows what may be the id of a request. It goes back as it is written, so that it must
// be text.
func isID(raw json.RawMessage) bool {
	return utf8.Valid(raw) && (raw[0] == '"' || raw[0] == '-' || raw[0] >= '0' && raw[0] <= '9')
}

// heed does what a notification says.
func (s *stdio) heed(ctx context.Context, message []byte, h head) {
	if h.Method == string(mcp.MethodNotificationCancelled) {
		var p struct {
			RequestID json.RawMessage `json:"requestId"`
		}
		if json.Unmarshal(h.Params, &p) == nil {
			s.cancel(func(r *request) bool { return r.key == string(p.RequestID) })
		}
		return
	}
	s.answer(ctx, message, nil)
}

func (s *stdio) cancel(which func(*request) bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, r := range s.pending {
		if which(r) {
			r.dropped.Store(true)
			r.cancel()
		}
	}
}

func (s *stdio) admit(r *request) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed || len(s.pending) >= pendingMax || s.pendingBytes+r.bytes > pendingMaxBytes {
		return false
	}
	for s.pending[r.key] != nil { // the client reuses an id; both are answered
		r.key += " "
	}
	s.pending[r.key] = r
	s.pendingBytes += r.bytes
	s.answering.Add(1)
	return true
}

func (s *stdio) release(r *request) {
	r.cancel()
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.pending, r.key)
	s.pendingBytes -= r.bytes
	s.answering.Done()
}

// answer lets the library answer a message. A panic is a bug of ours, and costs one answer.
func (s *stdio) answer(ctx context.Context, message []byte, id json.RawMessage) (answer json.RawMessage) {
	defer func() {
		if r := recover(); r != nil {
			s.t.complain(fmt.Sprintf("bug: %v\n%s", r, debug.Stack()))
			if id != nil {
				answer = failure(id, mcp.INTERNAL_ERROR, "a bug in parlance; please report what was asked")
			}
		}
	}()
	switch r := s.t.mcp.HandleMessage(ctx, message).(type) {
	case mcp.JSONRPCResponse:
		return envelope(id, r.Result, nil)
	case mcp.JSONRPCError:
		return envelope(id, nil, r.Error)
	}
	return nil
}

// envelope is an answer. The id goes back as it came: the library keeps numbers as floats,
// which changes large ones.
func envelope(id json.RawMessage, result, err any) json.RawMessage {
	if id == nil {
		id = json.RawMessage("null")
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	wrong := e.Encode(struct {
		Version string          `json:"jsonrpc"`
		ID      json.RawMessage `json:"id"`
		Result  any             `json:"result,omitempty"`
		Error   any             `json:"error,omitempty"`
	}{mcp.JSONRPC_VERSION, id, result, err})
	if wrong != nil {
		return failure(id, mcp.INTERNAL_ERROR, wrong.Error())
	}
	return bytes.TrimSpace(b.Bytes())
}

func failure(id json.RawMessage, code int, text string) json.RawMessage {
	return envelope(id, nil, mcp.NewJSONRPCErrorDetails(code, text, nil))
}

// write sends a message, and before it what the library has notified meanwhile: it may belong
// to the same request. If that is not possible there is nobody left to work for.
func (s *stdio) write(message json.RawMessage) {
	s.outMu.Lock()
	defer s.outMu.Unlock()
	for {
		select {
		case n := <-s.session.notes:
			s.put(note(n))
			continue
		default:
		}
		break
	}
	s.put(message)
}

// put writes a message, if it is one; outMu is held.
func (s *stdio) put(message json.RawMessage) {
	if message == nil {
		return
	}
	if _, err := s.out.Write(append(message, '\n')); err != nil {
		s.stop(fmt.Errorf("%w: %w", errOutput, err))
	}
}

// notify sends a notification at once, before whatever is written after it.
func (s *stdio) notify(method string, params map[string]any) {
	s.write(note(mcp.JSONRPCNotification{JSONRPC: mcp.JSONRPC_VERSION, Notification: mcp.Notification{
		Method: method, Params: mcp.NotificationParams{AdditionalFields: params},
	}}))
}

func note(n mcp.JSONRPCNotification) json.RawMessage {
	text, err := json.Marshal(n)
	if err != nil {
		return nil
	}
	return text
}

// session is what the library has to know of a connection. Until the host asks for messages
// of a level it gets none.
type session struct {
	notes chan mcp.JSONRPCNotification
	ready atomic.Bool
	level atomic.Value
}

var _ server.SessionWithLogging = (*session)(nil)

func (s *session) Initialize()                                         { s.ready.Store(true) }
func (s *session) Initialized() bool                                   { return s.ready.Load() }
func (s *session) NotificationChannel() chan<- mcp.JSONRPCNotification { return s.notes }
func (s *session) SessionID() string                                   { return "stdio" }
func (s *session) SetLogLevel(level mcp.LoggingLevel)                  { s.level.Store(level) }

func (s *session) GetLogLevel() mcp.LoggingLevel {
	level, _ := s.level.Load().(mcp.LoggingLevel)
	return mcp.LoggingLevel(strings.TrimSpace(string(level)))
}
