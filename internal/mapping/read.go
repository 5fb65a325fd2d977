package mapping

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unsafe"

	"github.com/bmatcuk/doublestar/v4"

	"parlance/internal/chat"
	"parlance/internal/source"
)

// ReadOptions says what a reader wants of a file, so that nothing else is decoded or kept.
// The zero value wants everything of every conversation.
type ReadOptions struct {
	// Row, if set, is the inner id of the one conversation that is wanted out of a
	// database or a document that holds several. "" = all of them.
	Row string
	// Rows, if set, are the inner ids of several that are wanted: one opening serves all.
	Rows map[string]bool
	// Ends, if set, leaves out the middle of a jsonl file: only lines that begin in the first
	// or last so many bytes are read, and of those between the ones that may hold a checkpoint
	// or the title, unless that is a long search. Such a conversation says EndsOnly in
	// Read.Incomplete; its messages are not all, and subagents in it may be missing.
	Ends int64
	// Head, if set, leaves out all of a jsonl file but the lines that begin in its first so many
	// bytes. Such a conversation says EndsOnly too.
	Head int64
	// Lines, if set, is asked about each line of a jsonl file and each row of a
	// conversation, as JSON; what it declines is passed over as if it were not there.
	Lines func(line []byte) bool
	// SkipToolText leaves the text of tool results undecoded (Elided), except where the
	// record's bytes hold a checkpoint line.
	SkipToolText bool
	// Keep, if set, is asked about every message whose text is settled; false drops the
	// text (the message itself stays, Elided). It may set Note; of a message that is neither
	// kept nor noted only role, tool, time and marks stay.
	// It is called in the order of the records, before abandoned, inherited and order
	// are known, and again for the survivor when a later record replaces a message.
	Keep func(*chat.Message) bool
	// Keeper, if set, gives each conversation a Keep of its own, for one that counts.
	Keeper func() func(*chat.Message) bool
	// Each, if set, takes the messages instead of Conversation.Messages, which stays nil:
	// for each conversation it gives a function that sees them in their order. What it is
	// given of the conversation is complete but for the messages.
	Each func(*chat.Conversation) func(*chat.Message)
	// Keys, if set, gives the copied.prefix keys of another conversation of the same
	// provider, by its id; ok is false if there is no such conversation.
	Keys func(ctx context.Context, id string) (keys map[string]bool, ok bool)
	// Source, if set, is the id of the only source that may read the file.
	Source string
	// News, if set, is shown each record, or element of one, that no rule knew: the rule under
	// which it was met ("" for a whole record), its type as Report.NoRule counts it, and itself
	// as JSON.
	News func(rule, kind, element string)
	// Unread, if set, is told of each record that made messages: its type as Report.NoRule
	// counts types, the rule of its first message, and the fields in it that hold prose and
	// that nothing in the mapping knows (see unread.go), mostly none.
	Unread func(kind, rule string, fields []string)

	keys    map[string]bool // gathers copied.prefix keys
	explain *explainer      // watches, if set
}

// EndsOnly is Read.Incomplete of a conversation of which the middle was left out on demand.
const EndsOnly = "only its beginning and its end were read"

// wants says whether the conversation with that inner id is asked for.
func (o *ReadOptions) wants(row string) bool {
	return (o.Row == "" || o.Row == row) && (o.Rows == nil || o.Rows[row])
}

// ErrNotAccepted is wrapped by Read for a file that no source of the mapping can read.
var ErrNotAccepted = errors.New("no source of the mapping accepts this file")

// ErrOtherVersion is wrapped for a database that has some of the tables that a source reads, and
// not all: a version of the tool wrote it that the mapping does not know. It is an ErrNotAccepted.
var ErrOtherVersion = fmt.Errorf("%w: %w", ErrNotAccepted, errNewer)

var errNewer = errors.New("it is of a version that the mapping does not know")

// ErrUnsupported is wrapped by Read for a file whose source says that it cannot be read.
var ErrUnsupported = errors.New("cannot be read")

// errNotDocument is wrapped for a file of a source that wants one JSON document.
var errNotDocument = errors.New("not one whole JSON document")

// errStop ends a walk over records that has seen enough.
var errStop = errors.New("enough")

// Read interprets a file and hands over each conversation in it.
//
// The sources of f are tried in turn; the first that accepts the file (container, when,
// needs) reads it, for a database every one that does. A record that does not fit is
// counted in Conversation.Read and does not make Read fail. Read fails if the file cannot
// be opened, no source accepts it (ErrNotAccepted), it is said to be unreadable
// (ErrUnsupported), or fn fails. The file is opened read-only and may grow while Read runs.
func (m *Mapping) Read(ctx context.Context, f File, opts ReadOptions, fn func(*chat.Conversation) error) error {
	return m.read(ctx, f, opts, fn)
}

func (m *Mapping) read(ctx context.Context, f File, opts ReadOptions, fn func(*chat.Conversation) error) error {
	m.prepare()
	accepted, nothing := false, false
	took := map[string]bool{} // sources
	var reason error
	for _, i := range f.Sources {
		src := m.Sources[i]
		if opts.Source != "" && src.ID != opts.Source {
			continue
		}
		if took[src.instead] {
			continue
		}
		if src.Unsupported != "" {
			if reason == nil {
				reason = fmt.Errorf("%s: %w: %s", f.Path, ErrUnsupported, src.Unsupported)
			}
			continue
		}
		if accepted && src.Container != "sqlite" {
			continue // it is a database: nothing else need read it whole to find that out
		}
		rd := &reading{m: m, src: src, file: f, opts: &opts, emit: fn}
		ok, err := rd.run(ctx)
		if errors.Is(err, errNothing) {
			nothing = true
			continue
		}
		if errors.Is(err, source.ErrNotDatabase) || errors.Is(err, errNotDocument) {
			if reason == nil {
				reason = err // unless another source knows what it is
			}
			continue
		}
		if err != nil {
			return err
		}
		if !ok {
			continue
		}
		accepted, took[src.ID] = true, true
		if src.Container != "sqlite" {
			break
		}
	}
	if nothing && !accepted {
		return nil
	}
	if !accepted && reason != nil {
		return reason
	}
	if !accepted {
		return fmt.Errorf("%s: %w", f.Path, ErrNotAccepted)
	}
	return nil
}

// prepare works out, once, what the interpreter wants to know of a mapping beforehand.
func (m *Mapping) prepare() {
	m.prepareOnce.Do(func() {
		for _, e := range m.conv {
			if e != nil {
				for _, t := range e.terms {
					t.perRecord = t.readsRecord()
				}
			}
		}
		var visit func(list []*rule, level int)
		visit = func(list []*rule, level int) {
			for _, ru := range list {
				m.rewinds = m.rewinds || ru.as == actRewind
				m.grows = m.grows || ru.more
				if level < rulesDepthMax {
					visit(ru.first, level+1)
					visit(ru.all, level+1)
				}
			}
		}
		visit(m.rules, 0)
		for _, list := range m.define {
			visit(list, 0)
		}
	})
}

// readsRecord says whether a term looks at a record, rather than at the file, the document
// or what stands beside it.
func (t *term) readsRecord() bool {
	found := false
	see := func(s *selector) {
		if s != nil {
			switch s.scope {
			case scopeNone, scopeRecord, scopeUp, scopeNext:
				found = true
			}
		}
	}
	var seeCond func(c *cond)
	seeCond = func(c *cond) {
		if c == nil {
			return
		}
		for _, ct := range c.tests {
			see(ct.sel)
		}
		for _, a := range c.any {
			seeCond(a)
		}
		seeCond(c.not)
	}
	seeExpr := func(e *expr) {
		if e != nil {
			for _, sub := range e.terms {
				found = found || sub.readsRecord()
			}
		}
	}
	for _, s := range t.sels {
		see(s)
	}
	for _, p := range t.template {
		see(p.sel)
	}
	for _, e := range t.concat {
		seeExpr(e)
	}
	seeExpr(t.key)
	seeCond(t.when)
	return found
}

// A reading is one source at work on one file.
type reading struct {
	m    *Mapping
	src  *Source
	file File
	opts *ReadOptions
	emit func(*chat.Conversation) error

	a     arena
	docs  arena // of documents and sidecars: kept as long as the reading
	torn  bool
	fails []brokenLine
	odd   []string // what is wrong with values of the last row
	// damaged says that the document is not whole, and where it ends; the conversations are
	// incomplete then.
	damaged string
	nul     bool // the document holdsNUL

	decoded func(raw string)                                  // if set, is shown what a decoder makes
	tested  func(line int, x *scopes, f *frame, refused bool) // if set, is told which line decided whether the source takes the file

	warned    map[string]bool // lookups that were complained of
	tableErrs []string
	lookups   map[string][]string // the files of each, as they were found
	absent    []string            // files that the mapping names and that are not there
	over      string              // the limit that was reached where no conversation is at hand to say so
}

type brokenLine struct {
	line int
	why  string
}

// run reads the file, or says that this source does not accept it.
func (rd *reading) run(ctx context.Context) (bool, error) {
	switch {
	case rd.src.Decoder != "":
		return rd.runDecoder(ctx)
	case rd.src.Container == "jsonl" && rd.src.replay != nil:
		return rd.runReplay(ctx)
	case rd.src.Container == "jsonl" && rd.src.conversations != nil:
		return rd.runDocuments(ctx)
	case rd.src.Container == "jsonl":
		return rd.runLines(ctx)
	case rd.src.Container == "json":
		return rd.runDocument(ctx)
	case rd.src.Container == "sqlite":
		return rd.runDatabase(ctx)
	case rd.src.Container == "text":
		return rd.runText(ctx)
	}
	return false, nil
}

// scopes are the selectors' view of this file; doc is the document, part or row, if any.
func (rd *reading) scopes(doc *value, docIndex int) *scopes {
	file := rd.m.Captures(rd.src, rd.file.Path)
	file["mtime"] = rd.file.ModTime.UTC().Format(time.RFC3339Nano)
	if rd.file.Loose {
		file["export"] = "true"
	}
	x := &scopes{a: &rd.a, docArena: &rd.docs, doc: doc, docIndex: docIndex, file: file}
	x.side = rd.sidecars(x)
	x.lookup = func(name, key string) (*value, string, bool) { return rd.lookup(name, key) }
	x.over = func(what string) { rd.over = what }
	return x
}

// ofDocument is x for reading the document itself: what is found in it must outlive the
// records that are read meanwhile.
func (x *scopes) ofDocument() *scopes {
	d := *x
	d.a = x.docArena
	return &d
}

// A session is one conversation being read, with the subagents inside it.
type session struct {
	rd    *reading
	x     *scopes
	main  *builder
	subs  map[string]*builder
	order []*builder
	subFn func(string) *builder
	n     int
}

func (rd *reading) begin(doc *value, docIndex int) *session {
	s := &session{rd: rd, x: rd.scopes(doc, docIndex), main: newBuilder(rd.m, rd.src, rd.opts)}
	if e := rd.opts.explain; e != nil {
		s.x.tr = e.begin(rd.src)
	}
	if rd.m.hasSubagentRule(rd.src) {
		s.subs = map[string]*builder{}
		s.subFn = s.sub
	}
	return s
}

func (s *session) sub(key string) *builder {
	b := s.subs[key]
	if b == nil {
		b = newBuilder(s.rd.m, s.rd.src, s.rd.opts)
		b.parent, b.key = s.main, key
		s.subs[key] = b
		s.order = append(s.order, b)
	}
	return b
}

// record takes the next record, whose text is raw.
func (s *session) record(rec *value, raw string, origin chat.Origin) {
	s.n++
	s.x.rec, s.x.recIndex = rec, s.n
	s.main.record(s.x, origin, raw, s.subFn)
}

// said counts the messages that have come of the records so far.
func (s *session) said() int {
	n := 0
	for _, u := range s.main.units {
		n += len(u.msgs)
	}
	return n
}

// end hands over the conversation and its subagents'.
func (s *session) end(ctx context.Context, row, fallbackID string) error {
	rd := s.rd
	s.x.rec = nil
	s.x.badTime = func(raw string) { s.main.warn("not a time: %.40q", raw) }
	tr := s.x.tr
	if rd.damaged != "" && s.main.conv.Read.Incomplete == "" {
		s.main.conv.Read.Incomplete = rd.damaged
	}
	if rd.nul {
		s.main.warn("%s", holdsNUL)
	}
	c := s.main.finish(ctx, s.x, rd.file, fallbackID)
	c.Row = row
	if c.Read.Incomplete == "" {
		c.Read.Incomplete = rd.over
	}
	for _, why := range rd.tableErrs {
		s.main.warn("%s", why)
	}
	tr.missed(rd.absent)
	for _, b := range rd.fails {
		s.main.broken(b.line, b.why)
		c.Read.Records++
		tr.failed(b.line, b.why)
	}
	c.Read.Torn = rd.torn
	s.x.tr = nil
	tr.over(c, s.main)
	if rd.opts.wants(row) {
		if err := rd.emit(c); err != nil {
			return err
		}
	}
	for _, b := range s.order {
		sc := b.finish(ctx, s.x, rd.file, "")
		sc.Row = sc.ID
		tr.over(sc, b)
		if rd.opts.wants(sc.Row) {
			if err := rd.emit(sc); err != nil {
				return err
			}
		}
	}
	if e := rd.opts.explain; e != nil && (rd.opts.wants(row) || slices.ContainsFunc(s.order, func(b *builder) bool { return rd.opts.wants(b.conv.ID) })) {
		e.done(tr)
	}
	return nil
}

// view is the bytes as a string, without a copy: valid as long as the bytes are.
func view(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }

// whenRecordsMax is how many records may pass until a source's when must have held.
const whenRecordsMax = 50

// acceptsLines looks at the first records of a jsonl file.
func (rd *reading) acceptsLines(ctx context.Context) (bool, error) {
	if rd.src.when == nil && rd.src.unless == nil {
		return true, nil
	}
	f, err := source.Open(rd.file.Path)
	if err != nil {
		return false, err
	}
	defer f.Close()
	x := rd.scopes(nil, 0)
	accepted, refused, n, blank := rd.src.when == nil, false, 0, true
	err = source.Lines(ctx, f, func(l source.Line) error {
		rd.a.reset()
		blank = blank && (skipSpace(view(l.Data), 0) == len(l.Data) || l.Open && begun(view(l.Data)))
		if rec, ok := parseObject(view(l.Data), &rd.a); ok {
			n++
			x.rec, x.recIndex = rec, n
			held := rd.src.when != nil && !accepted && rd.holdsWhen(x, rec)
			accepted, refused = accepted || held, rd.refuses(x, rec)
			if rd.tested != nil && (held || refused) {
				rd.tested(l.N, x, &frame{elem: rec}, refused)
			}
			if refused || accepted && rd.src.unless == nil || n >= whenRecordsMax {
				return errStop
			}
		}
		return nil
	})
	if err != nil && !errors.Is(err, errStop) && !accepted {
		return false, err
	}
	if blank && n == 0 {
		return false, errNothing
	}
	return accepted && !refused, nil
}

// notWhole counts a line that is no object: its tool is writing it, or something is wrong.
func (rd *reading) notWhole(l source.Line) {
	if l.Open && begun(view(l.Data)) {
		rd.torn = true
	} else {
		rd.fail(l.N, "not one whole JSON object")
	}
}

// begun says whether a text may be the beginning of an object, as a line is while it is written.
func begun(text string) bool {
	at := skipSpace(text, 0)
	return at < len(text) && text[at] == '{'
}

// errNothing ends the reading of a file that holds nothing yet: a session that was opened
// and closed, or one whose first line is being written. There is nothing to report.
var errNothing = errors.New("nothing in it yet")

func (rd *reading) holdsWhen(x *scopes, el *value) bool {
	return x.holds(rd.src.when, &frame{elem: el})
}

// refuses says that a record, or the document, shows a file to be of another format.
func (rd *reading) refuses(x *scopes, el *value) bool {
	return rd.src.unless != nil && x.holds(rd.src.unless, &frame{elem: el})
}

// runLines reads a jsonl file as a stream: memory is one line and what the messages keep.
func (rd *reading) runLines(ctx context.Context) (bool, error) {
	if ok, err := rd.acceptsLines(ctx); !ok || err != nil {
		return false, err
	}
	s := rd.begin(nil, 0)
	line := func(l source.Line) error {
		if rd.opts.Head > 0 && l.Offset >= rd.opts.Head {
			return errStop
		}
		if l.Long {
			rd.fail(l.N, "longer than lineMaxBytes (256 MB)")
			return nil
		}
		text := view(l.Data)
		if skipSpace(text, 0) == len(text) || rd.opts.Lines != nil && !rd.opts.Lines(l.Data) {
			return nil
		}
		rd.a.reset()
		rec, ok := parseObject(text, &rd.a)
		if ok && strings.IndexByte(text, 0) >= 0 {
			s.main.warn("line %d: %s", l.N, holdsNUL)
		}
		switch {
		case ok:
			s.record(rec, rec.raw, chat.Origin{Line: l.N, Offset: l.Offset})
		default:
			rd.notWhole(l)
		}
		return nil
	}
	ends, err := false, error(nil)
	if rd.opts.Ends > 0 {
		ends, err = source.Ends(ctx, rd.file.Path, rd.opts.Ends, rd.m.landmarks(), line)
	}
	if ends {
		s.main.conv.Read.Incomplete = EndsOnly
	} else {
		f, openErr := source.Open(rd.file.Path)
		if openErr != nil {
			return false, openErr
		}
		defer f.Close()
		err = source.LinesInTurn(ctx, f, line)
	}
	if errors.Is(err, errStop) {
		s.main.conv.Read.Incomplete, err = EndsOnly, nil
	}
	if err != nil {
		if ctx.Err() != nil {
			return true, ctx.Err()
		}
		s.main.conv.Read.Incomplete = err.Error() // what was read until here stands
	}
	return true, s.end(ctx, "", rd.stem())
}

// holdsNUL is said of a record with bytes that no tool writes into one: a block of the file was
// never written, as after a power failure.
const holdsNUL = "NUL bytes inside of a text: a part of the file was lost"

// landmarks are texts that stand in every line of which a listing should know: those with a
// checkpoint, and those from which the title may be read.
func (m *Mapping) landmarks() []source.Needle {
	out := []source.Needle{{Text: checkpointMark}}
	e := m.conv[fieldTitle]
	if e == nil {
		return out
	}
	for _, t := range e.terms {
		if !t.perRecord {
			continue
		}
		if tell := t.when.constant(); tell != "" {
			out = append(out, source.Needle{Text: tell})
			continue
		}
		for _, s := range t.sels {
			if n := len(s.plain); n > 0 {
				out = append(out, source.Needle{Text: strconv.Quote(s.plain[n-1])})
			}
		}
	}
	return out
}

// constant is a JSON string that every record must hold for c to be true, "" if there is none.
func (c *cond) constant() string {
	if c == nil {
		return ""
	}
	for _, t := range c.tests {
		if t.sel.scope != scopeNone && t.sel.scope != scopeRecord || t.pred == nil || len(t.pred.equal) != 1 {
			continue
		}
		if text := t.pred.equal[0]; wordForm.MatchString(text) && text != "true" && text != "false" {
			return strconv.Quote(text)
		}
	}
	return ""
}

// wordForm is what stands between quotes as it is, and is no number.
var wordForm = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_.-]*$`)

func (rd *reading) fail(line int, why string) {
	rd.fails = append(rd.fails, brokenLine{line, why})
}

func (rd *reading) stem() string { return rd.m.Captures(rd.src, rd.file.Path)["stem"] }

// runDocument reads one JSON document: one conversation, or several parts.
func (rd *reading) runDocument(ctx context.Context) (bool, error) {
	data, err := source.ReadAll(ctx, rd.file.Path)
	text := view(data)
	if err != nil && (ctx.Err() != nil || errors.Is(err, source.ErrTooLarge) || skipSpace(text, 0) == len(text)) {
		return false, err
	}
	if skipSpace(text, 0) == len(text) {
		return false, errNothing
	}
	if err != nil {
		rd.damaged = err.Error()
	}
	if doc, ok := parseRecord(text, &rd.docs); ok {
		rd.nul = strings.IndexByte(text, 0) >= 0
		return rd.document(ctx, doc)
	}
	// A document that was cut off or damaged gives what stands in front of that, if it is one of
	// this format: then there are messages in it.
	why := whereBroken(text)
	if whole := closed(text); rd.says(ctx, whole) {
		if err == nil {
			rd.damaged = fmt.Sprintf("%v: %s: what stands before it was read", errNotDocument, why)
		}
		doc, _ := parseRecord(whole, &rd.docs)
		return rd.document(ctx, doc)
	}
	if err != nil {
		return false, err
	}
	return false, fmt.Errorf("%s: %w: %s", rd.file.Path, errNotDocument, why)
}

// says says whether a document gives messages.
func (rd *reading) says(ctx context.Context, text string) bool {
	found := false
	probe := &reading{m: rd.m, src: rd.src, file: rd.file, opts: &ReadOptions{SkipToolText: true, Keep: func(*chat.Message) bool { return false }}}
	probe.emit = func(c *chat.Conversation) error {
		found = found || len(c.Messages) > 0
		return nil
	}
	doc, ok := parseRecord(text, &probe.docs)
	if !ok {
		return false
	}
	_, err := probe.document(ctx, doc)
	return err == nil && found
}

// whereBroken says how far a document could be read.
func whereBroken(text string) string {
	if strings.TrimSpace(text) == "" {
		return "the file is empty"
	}
	if end := skipValue(text, skipSpace(text, 0)); end >= 0 {
		return fmt.Sprintf("something follows it at byte %d", skipSpace(text, end))
	}
	var bad *json.SyntaxError
	if err := json.Unmarshal([]byte(text), new(json.RawMessage)); errors.As(err, &bad) {
		return fmt.Sprintf("%v, at byte %d", bad, bad.Offset)
	}
	return "its structure is broken"
}

func (rd *reading) document(ctx context.Context, doc *value) (bool, error) {
	x := rd.scopes(doc, 1).ofDocument()
	if rd.src.when != nil && !rd.holdsWhen(x, doc) || rd.refuses(x, doc) {
		return false, nil
	}
	if rd.src.conversations == nil {
		return true, rd.part(ctx, doc, 1, "", nil)
	}
	_, parts := rd.conversations(x, doc)
	for i, part := range parts {
		if err := ctx.Err(); err != nil {
			return true, err
		}
		if err := rd.part(ctx, &part, i+1, rd.stem()+"#"+strconv.Itoa(i+1), nil); err != nil {
			return true, err
		}
	}
	return true, nil
}

// parts are the documents in a list, or the values of an object.
func (rd *reading) parts(g got) []value {
	if g.kind != gotJSON {
		return nil
	}
	parts := g.v.list(&rd.docs)
	if g.v.kind() == jsonObject {
		g.v.open(&rd.docs)
		for i := range g.v.members {
			parts = append(parts, g.v.members[i].val)
		}
	}
	return parts
}

// runDocuments reads a jsonl file of which each line is a document with conversations. What
// is wrong with lines is told by the last of them.
func (rd *reading) runDocuments(ctx context.Context) (bool, error) {
	if ok, err := rd.acceptsLines(ctx); !ok || err != nil {
		return false, err
	}
	f, err := source.Open(rd.file.Path)
	if err != nil {
		return false, err
	}
	defer f.Close()
	one := &reading{m: rd.m, src: rd.src, file: rd.file, opts: rd.opts, emit: rd.emit}
	x := rd.scopes(nil, 0)
	held, number := "", 0 // a whole line is read when it is known whether it is the last
	flush := func() error {
		if held == "" {
			return nil
		}
		one.a, one.docs = arena{}, arena{}
		doc, ok := parseObject(held, &one.docs)
		if !ok {
			return nil
		}
		several := rd.stem() + "#" + strconv.Itoa(number)
		sel, parts := one.conversations(one.scopes(doc, number).ofDocument(), doc)
		if sel != nil && sel.whole {
			return one.part(ctx, doc, number, several, nil)
		}
		for i, part := range parts {
			if err := one.part(ctx, &part, number, several+"."+strconv.Itoa(i+1), nil); err != nil {
				return err
			}
		}
		return nil
	}
	err = source.Lines(ctx, f, func(l source.Line) error {
		text := view(l.Data)
		switch {
		case l.Long:
			rd.fail(l.N, "longer than lineMaxBytes (256 MB)")
			return nil
		case skipSpace(text, 0) == len(text) || rd.opts.Lines != nil && !rd.opts.Lines(l.Data):
			return nil
		}
		rd.a.reset()
		if doc, ok := parseObject(text, &rd.a); ok {
			if _, parts := rd.conversations(x, doc); len(parts) == 0 {
				rd.fail(l.N, "no conversation in it")
				return nil
			}
			if err := flush(); err != nil {
				return err
			}
			held, number = strings.Clone(text), l.N
		} else {
			rd.notWhole(l)
		}
		return nil
	})
	if err != nil {
		return true, err
	}
	one.fails, one.torn = rd.fails, rd.torn
	return true, flush()
}

// conversations are those of a document, and the selector that found them.
func (rd *reading) conversations(x *scopes, doc *value) (*selector, []value) {
	for _, sel := range rd.src.conversations {
		if parts := rd.parts(x.find(sel, &frame{elem: doc})); len(parts) > 0 {
			return sel, parts
		}
	}
	return nil, nil
}

// childrenMaxDepth bounds documents inside of documents.
const childrenMaxDepth = source.ChildrenMaxDepth

// part reads one conversation of a document, and those inside of it. several is its fallback
// id if the document holds more than one; above is the conversation that started it, if any.
func (rd *reading) part(ctx context.Context, doc *value, index int, several string, above *builder) error {
	s := rd.begin(doc, index)
	s.main.above = above
	switch {
	case len(rd.src.join) > 0:
		if err := rd.joined(ctx, s); err != nil {
			return err
		}
	case rd.src.records == nil:
		rd.a.reset()
		s.record(doc, doc.raw, chat.Origin{})
	default:
		rd.elements(s, doc)
	}
	row, id := "", rd.stem()
	if several != "" {
		row = s.mainID(several)
		id = row
	}
	depth := 0
	for b := above; b != nil; b = b.above {
		depth++
	}
	tooDeep := rd.src.children != nil && depth >= childrenMaxDepth
	if tooDeep && len(rd.parts(s.x.ofDocument().find(rd.src.children, &frame{elem: doc}))) > 0 {
		rd.over = fmt.Sprintf("conversations inside of it are nested deeper than childrenMaxDepth (%d)", childrenMaxDepth)
	}
	if err := s.end(ctx, row, id); err != nil || rd.src.children == nil || tooDeep {
		return err
	}
	for i, child := range rd.parts(s.x.ofDocument().find(rd.src.children, &frame{elem: doc})) {
		if err := rd.part(ctx, &child, i+1, s.main.conv.ID+"/"+strconv.Itoa(i+1), s.main); err != nil {
			return err
		}
	}
	return nil
}

// mainID is the id of the conversation as it will be settled.
func (s *session) mainID(fallback string) string {
	probe := *s.main
	tr := s.x.tr
	s.x.tr = nil
	probe.settle(s.x, fallback)
	s.x.tr = tr
	return probe.conv.ID
}

func (rd *reading) elements(s *session, doc *value) {
	var g got
	base := ""
	for _, sel := range rd.src.records {
		if g = s.x.ofDocument().find(sel, &frame{elem: doc}); g.empty() {
			continue
		}
		if !sel.whole {
			base = "/" + strings.Join(sel.plain, "/")
		}
		break
	}
	if g.kind != gotJSON {
		return
	}
	each := func(i int, key, raw string) {
		rd.a.reset()
		rec, ok := parseRecord(raw, &rd.a)
		if !ok {
			return
		}
		s.record(rec, raw, chat.Origin{Pointer: base + "/" + key})
		_ = i
	}
	switch g.v.kind() {
	case jsonArray:
		for i, el := range g.v.list(&rd.docs) {
			each(i, strconv.Itoa(i), el.raw)
		}
	case jsonObject:
		g.v.open(&rd.docs)
		for i, mem := range g.v.members {
			s.x.recKey = unquote(mem.key)
			each(i, s.x.recKey, mem.val.raw)
		}
		s.x.recKey = ""
	}
}

// sidecars reads the files beside this one that the source names. Missing or broken ones
// are absent; they are never a reason to drop the transcript.
func (rd *reading) sidecars(x *scopes) map[string]*value {
	side := map[string]*value{}
	if pf := rd.src.PathsFrom; pf != nil && pf.as != "" {
		if v, ok := parseRecord(rd.file.registry[rd.src.index], &rd.docs); ok {
			side[pf.as] = v
		}
	}
	for _, sc := range rd.src.sidecars {
		path, ok := rd.beside(sc.path, x)
		if !ok {
			rd.isAbsent("sidecar " + sc.name + ": " + sc.path.text())
			continue
		}
		data, err := source.ReadAll(context.Background(), path)
		if err != nil {
			if errors.Is(err, os.ErrNotExist) {
				rd.isAbsent("sidecar " + sc.name + ": " + sc.path.text())
			}
			continue
		}
		if strings.HasSuffix(path, ".json") {
			// Behind the value may stand the rest of a longer one, which it was written over.
			text := view(data)
			i := skipSpace(text, 0)
			if end := skipValue(text, i); end > 0 {
				side[sc.name] = &value{raw: text[i:end]}
				continue
			}
		}
		var b strings.Builder
		quote(&b, strings.TrimRight(string(data), "\r\n"))
		side[sc.name] = &value{raw: b.String()}
	}
	return side
}

// beside is a path relative to the file's folder, its braces filled. Values from a
// transcript must not lead elsewhere: they may hold no separator and no "..". A pattern
// gives the first file in byte order.
func (rd *reading) beside(t template, x *scopes) (string, bool) {
	var b strings.Builder
	for _, p := range t {
		text := p.text
		if p.sel != nil {
			d := x.ofDocument()
			text = d.text(d.find(p.sel, &frame{elem: x.doc}))
			if text == "" || text == "." || text == ".." || strings.ContainsAny(text, `/\`+"\x00") {
				return "", false
			}
			text = escapeGlob(text)
		}
		b.WriteString(text)
	}
	if t.hasWildcard() {
		hits := rd.glob(filepath.Dir(rd.file.Path), b.String())
		if len(hits) == 0 {
			return "", false
		}
		return hits[0], true
	}
	path := filepath.Join(filepath.Dir(rd.file.Path), filepath.FromSlash(unescapeGlob(b.String())))
	return path, rd.file.mayRead(rd.src.index, path)
}

// glob are the files of a pattern relative to a folder, in byte order; none where the mapping may
// not read.
func (rd *reading) glob(dir, relative string) []string {
	root, rest, ok := rd.pattern(dir, relative)
	if !ok {
		return nil
	}
	hits, err := doublestar.Glob(listedFS{os.DirFS(root), root, rd.file.env.seen}, rest, doublestar.WithFilesOnly(), doublestar.WithNoFollow())
	if err != nil {
		return nil
	}
	slices.Sort(hits)
	for i := range hits {
		hits[i] = filepath.Join(root, filepath.FromSlash(hits[i]))
	}
	return hits
}

// wildcards are the characters of which a pattern relative to a file has one.
const wildcards = "*?[{"

func (t template) hasWildcard() bool {
	for _, p := range t {
		if p.sel == nil && strings.ContainsAny(p.text, wildcards) {
			return true
		}
	}
	return false
}

// mayRead confines what a mapping reads beside a file: below the fixed part of the
// pattern that found the file, or below one of its parents that is itself below home.
// For a file that no pattern found it is the folder three levels up.
func (f File) mayRead(src int, path string) bool {
	base := f.base[src]
	if base == "" {
		base = filepath.Dir(f.Path)
		for range 3 {
			if up := filepath.Dir(base); up != f.env.Home && up != filepath.Dir(up) {
				base = up
			}
		}
	} else if rel, err := filepath.Rel(f.env.Home, base); err == nil && rel != "." && !strings.HasPrefix(rel, "..") {
		top, _, _ := strings.Cut(filepath.ToSlash(rel), "/")
		base = filepath.Join(f.env.Home, top)
	}
	rel, err := filepath.Rel(base, path)
	return err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(os.PathSeparator))
}

// Heads hands over the conversations of a file without their messages: id, title, times
// and whatever else stands outside of the records. It costs one list query for a database.
// ok is false if this kind of file can only be known by reading it (jsonl, text); nothing
// is handed over then. Fields that only records tell are empty. A database that no source
// accepts is ErrNotAccepted. One of which a source lacks what it reads gives an error after the
// conversations that the others read in it.
func (m *Mapping) Heads(ctx context.Context, f File, fn func(*chat.Conversation) error) (ok bool, err error) {
	m.prepare()
	for _, i := range f.Sources {
		src := m.Sources[i]
		if src.Container != "sqlite" || src.list == "" || src.Unsupported != "" {
			return false, nil
		}
	}
	took := map[string]bool{} // sources
	for _, i := range f.Sources {
		src := m.Sources[i]
		if took[src.instead] {
			continue
		}
		rd := &reading{m: m, src: src, file: f, opts: &ReadOptions{}, emit: fn}
		ok, err := rd.heads(ctx)
		if err != nil {
			return true, err
		}
		if ok {
			took[src.ID] = true
		}
	}
	switch id, lacks := m.lacks(f, took); {
	case len(f.Sources) == 0 || len(took) > 0 && lacks == "":
		return len(took) > 0, nil
	case lacks == "":
		return true, fmt.Errorf("%s: %w", f.Path, ErrNotAccepted)
	case len(took) == 0:
		return true, fmt.Errorf("%s: %w: it has %s", f.Path, ErrOtherVersion, lacks)
	default:
		return true, fmt.Errorf("%s: read in part: %w: it has %s, which source %s reads", f.Path, errNewer, lacks, id)
	}
}

// lacks says what a database of which some tables are known has not for the first source that
// does not accept it, "" if none are known. Beside sources that took it, those tables count that
// only the other reads: without any of them the database is merely older.
func (m *Mapping) lacks(f File, took map[string]bool) (id, lacks string) {
	if len(took) == len(f.Sources) {
		return "", ""
	}
	db, err := source.OpenDB(f.Path)
	if err != nil {
		return "", ""
	}
	defer db.Close()
	for _, i := range f.Sources {
		src := m.Sources[i]
		if took[src.ID] || took[src.instead] {
			continue
		}
		known, missing := false, ""
		for _, need := range src.needs {
			have, err := db.Columns(need.table)
			if err != nil {
				return "", ""
			}
			switch known = known || len(have) > 0 && !m.reads(f, took, src.ID, need.table); {
			case missing != "":
			case len(have) == 0:
				missing = "no table " + need.table
			default:
				for _, col := range need.columns {
					if missing == "" && !hasColumns(have, []string{col}) {
						missing = "no column " + need.table + "." + col
					}
				}
			}
		}
		if known && missing != "" {
			return src.ID, missing
		}
	}
	return "", ""
}

// reads says whether a source that took f reads a table: the one that stands in for the source
// of that id, if there is one, or any.
func (m *Mapping) reads(f File, took map[string]bool, id, table string) bool {
	found := false
	for _, i := range f.Sources {
		src := m.Sources[i]
		if !took[src.ID] {
			continue
		}
		has := slices.ContainsFunc(src.needs, func(n tableNeed) bool { return n.table == table })
		if src.instead == id {
			return has
		}
		found = found || has
	}
	return found
}

// Keys reads only the copied.prefix keys of a conversation.
func (m *Mapping) Keys(ctx context.Context, f File, row string) (map[string]bool, error) {
	keys := map[string]bool{}
	if m.copied == nil || m.copied.prefix == nil {
		return keys, nil
	}
	// Links and keys stand on the units, which only reading makes; texts are not kept.
	err := m.read(ctx, f, ReadOptions{Row: row, SkipToolText: true, Keep: func(*chat.Message) bool { return false }, keys: keys}, func(*chat.Conversation) error { return nil })
	return keys, err
}
