package mapping

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"parlance/internal/chat"
	"parlance/internal/source"
)

// A Sniff is what the bytes of a file say it is.
type Sniff struct {
	Path string
	// Kind: "jsonl", "json", "sqlite", "text", "binary", or "empty".
	Kind   string
	Packed string // "gz", "zst", "" = not packed
	Broken string // of json: where it ends to be one document

	single bool   // jsonl as well: it is one line
	doc    *value // of json
	arena  arena
}

// sniffLines is how many lines decide between JSON lines and text.
const sniffLines = 20

// SniffFile looks at the beginning of a file, and reads a document whole.
func SniffFile(ctx context.Context, path string) (*Sniff, error) {
	s := &Sniff{Path: path, Packed: packedSuffixOf(path)}
	f, err := source.Open(path)
	if err != nil {
		return nil, err
	}
	head := make([]byte, 4096)
	n, err := io.ReadFull(f, head)
	if cerr := f.Close(); cerr != nil {
		return nil, cerr
	}
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return nil, err
	}
	head = head[:n]
	if bytes.HasPrefix(head, []byte("SQLite format 3\x00")) {
		s.Kind = "sqlite"
		return s, nil
	}
	text := bytes.TrimLeft(bytes.TrimPrefix(head, []byte("\xEF\xBB\xBF")), " \t\r\n")
	switch {
	case len(text) == 0 && n < 4096:
		s.Kind = "empty"
		return s, nil
	case bytes.IndexByte(text, 0) >= 0 || !mostlyText(text):
		s.Kind = "binary"
		return s, nil
	}
	objects, others, err := s.countLines(ctx, path)
	if err != nil {
		return nil, err
	}
	begins := text[0] == '{' || text[0] == '['
	switch {
	case objects > 1 && objects >= others, objects == 1 && others == 0 && !begins:
		s.Kind = "jsonl"
		return s, nil
	case !begins:
		s.Kind = "text"
		return s, nil
	}
	data, err := source.ReadAll(ctx, path)
	if err != nil {
		return nil, err
	}
	doc, ok := parseRecord(view(bytes.TrimPrefix(data, []byte("\xEF\xBB\xBF"))), &s.arena)
	switch {
	case ok:
		s.Kind, s.doc, s.single = "json", doc, objects == 1 && others == 0
	case objects > 0:
		s.Kind = "jsonl"
	default:
		s.Kind, s.Broken = "json", whereBroken(view(data))
	}
	return s, nil
}

// countLines counts, of the first lines, those that are one JSON object and those that are not.
func (s *Sniff) countLines(ctx context.Context, path string) (objects, others int, err error) {
	f, err := source.Open(path)
	if err != nil {
		return 0, 0, err
	}
	defer f.Close()
	var a arena
	err = source.Lines(ctx, f, func(l source.Line) error {
		a.reset()
		text := view(l.Data)
		if skipSpace(text, 0) == len(text) {
			return nil
		}
		if _, ok := parseObject(text, &a); ok {
			objects++
		} else if !l.Open {
			others++
		}
		if objects+others >= sniffLines {
			return errStop
		}
		return nil
	})
	if errors.Is(err, errStop) {
		err = nil
	}
	return objects, others, err
}

// mostlyText says whether bytes are UTF-8 but for a few.
func mostlyText(b []byte) bool {
	bad := 0
	for i := 0; i < len(b); {
		r, size := utf8.DecodeRune(b[i:])
		if r == utf8.RuneError && size == 1 && i+utf8.UTFMax <= len(b) {
			bad++
		}
		i += size
	}
	return bad*20 <= len(b)
}

// kinds are what a Sniff is called in sentences.
var sniffNouns = map[string]string{
	"jsonl": "lines of JSON", "json": "one JSON document", "sqlite": "a SQLite database", "text": "text", "binary": "binary data", "empty": "empty",
}

// Noun says what the file is, in words.
func (s *Sniff) Noun() string {
	if s.Broken != "" {
		return "a JSON document that is not whole: " + s.Broken
	}
	return sniffNouns[s.Kind]
}

// Attempts asks each source that may read f whether it accepts it, and what it misses. It
// reads no more than that needs: the first records, the document, or the database's tables.
func (m *Mapping) Attempts(ctx context.Context, f File, s *Sniff) []Attempt {
	m.prepare()
	var out []Attempt
	for _, i := range f.Sources {
		src := m.Sources[i]
		a := Attempt{Provider: m.Name, Source: src.ID, Pattern: f.FoundBy(i)}
		rd := &reading{m: m, src: src, file: f, opts: &ReadOptions{Keep: func(*chat.Message) bool { return false }, SkipToolText: true},
			emit: func(*chat.Conversation) error { return errStop }}
		if stood := slices.IndexFunc(out, func(o Attempt) bool { return o.Source == src.instead }); stood >= 0 && out[stood].Accepts {
			a.Why = "reads only what source " + src.instead + " does not"
		} else {
			rd.try(ctx, s, &a)
		}
		if a.Pattern != "" {
			a.step += 4
		}
		out = append(out, a)
	}
	return out
}

// FoundBy is the pattern of a source that fits the file's path, "sources[0].paths[1]", or ""
// if the file lies somewhere else.
func (f File) FoundBy(src int) string {
	if at := f.at[src]; at != "" {
		return sub("sources", src) + "." + at
	}
	return ""
}

// try fills in whether the source accepts the file, and why or why not.
func (rd *reading) try(ctx context.Context, s *Sniff, a *Attempt) {
	src := rd.src
	if src.Unsupported != "" {
		a.Why = "cannot be read: " + src.Unsupported
		return
	}
	want := map[string]string{"jsonl": "jsonl", "json": "json", "sqlite": "sqlite", "text": "text"}[src.Container]
	switch {
	case s.Kind == "empty":
		a.Why = "there is nothing in the file yet"
		return
	case want == "" || want == s.Kind || want == "jsonl" && s.single || want == "text" && (s.Kind == "jsonl" || s.Kind == "json"):
	default:
		a.Why = fmt.Sprintf("reads %s; this is %s", sniffNouns[want], s.Noun())
		return
	}
	a.step++
	switch {
	case s.Broken != "":
		a.Why = s.Noun()
	case want == "jsonl" && src.replay == nil:
		rd.tryLines(ctx, a)
	case want == "json":
		rd.tryDocument(s, a)
	case want == "sqlite":
		rd.tryDatabase(a)
	default:
		ok, err := rd.run(ctx)
		switch {
		case ok && (err == nil || errors.Is(err, errStop)):
			a.Accepts, a.Why = true, "it can be read"
		case err != nil:
			a.Why = quoteValue(strings.TrimPrefix(err.Error(), rd.file.Path+": "))
		case src.start != nil:
			a.Why = "no line fits conversation_start"
		case src.replay != nil:
			a.Why = "no line begins a document (" + src.replay.op.src + ": " + src.replay.init + ")"
		case src.when == nil:
			a.Why = "there is no conversation in it"
		default:
			a.Why = "no record with " + src.when.flow(whenRunes)
		}
	}
	if a.Accepts && (src.when != nil || src.needs != nil || src.start != nil || src.replay != nil) {
		a.step += 4 // it knows the file by something that not every file has
	}
}

// ruleFit adds to how near a source came what its rules know of the first records.
func (rd *reading) ruleFit(x *scopes, a *Attempt, records func(func(*value) bool)) {
	n, known := 0, 0
	records(func(rec *value) bool {
		n++
		x.rec, x.recIndex = rec, n
		if knows(x, rd.m.rulesOf(rd.src), &frame{elem: rec}, 0) {
			known++
		}
		return n < whenRecordsMax
	})
	if known > 0 {
		a.step += 1 + known*3/n
		a.Fits = fmt.Sprintf("%d of the first %s", known, plural(n, "record"))
	}
}

// knows says whether a rule that asks for a certain value holds: that something is there, or
// is not, says little of a format.
func knows(x *scopes, list []*rule, f *frame, depth int) bool {
	for _, ru := range list {
		switch {
		case ru.as == actSubagent:
		case ru.when != nil && x.holds(ru.when, f) && slices.ContainsFunc(ru.when.tests, func(t condTest) bool { return t.pred.equal != nil }):
			return true
		case ru.when == nil && ru.use != "" && depth < rulesDepthMax && knows(x, ru.useRules, f, depth+1):
			return true
		}
	}
	return false
}

func (rd *reading) tryLines(ctx context.Context, a *Attempt) {
	at, by, not := 0, "", ""
	rd.tested = func(line int, x *scopes, f *frame, refused bool) {
		if refused {
			not = fmt.Sprintf("line %d is of another format: %s", line, x.whyHeld(rd.src.unless, f))
			return
		}
		at, by = line, x.whyHeld(rd.src.when, f)
	}
	ok, err := rd.acceptsLines(ctx)
	switch {
	case err != nil:
		a.Why = quoteValue(err.Error())
	case ok && rd.src.when == nil:
		a.Accepts, a.Why = true, "every line is a record"
	case ok:
		a.Accepts, a.Why = true, fmt.Sprintf("line %d: %s", at, by)
	case not != "":
		a.Why = not
	default:
		a.Why = "no record with " + rd.src.when.flow(whenRunes)
	}
	if err != nil {
		return
	}
	f, err := source.Open(rd.file.Path)
	if err != nil {
		return
	}
	defer f.Close()
	rd.ruleFit(rd.scopes(nil, 0), a, func(see func(*value) bool) {
		_ = source.Lines(ctx, f, func(l source.Line) error { // a broken line ends nothing that counts
			rd.a.reset()
			if rec, ok := parseObject(view(l.Data), &rd.a); ok && !see(rec) {
				return errStop
			}
			return nil
		})
	})
}

func (rd *reading) tryDocument(s *Sniff, a *Attempt) {
	x := rd.scopes(s.doc, 1).ofDocument()
	if w := rd.src.when; w != nil && !rd.holdsWhen(x, s.doc) {
		e := &explainer{quote: quoteValue}
		want, found := e.whyNot(x, w, &frame{elem: s.doc})
		a.Why = fmt.Sprintf("wants %s: %s", want, found)
		return
	}
	if rd.refuses(x, s.doc) {
		a.Why = "of another format: " + x.whyHeld(rd.src.unless, &frame{elem: s.doc})
		return
	}
	a.Accepts, a.Why = true, "it takes any document"
	if rd.src.when != nil {
		a.Why = x.whyHeld(rd.src.when, &frame{elem: s.doc})
	}
	doc := s.doc
	if list := rd.src.conversations; list != nil {
		sel, parts := rd.conversations(x, doc)
		if len(parts) == 0 {
			a.Accepts, a.Why = rd.src.when != nil, fmt.Sprintf("%q finds nothing in the document", list[0].src)
			return
		}
		if rd.src.when == nil {
			a.Why = fmt.Sprintf("%q is there", sel.src)
		}
		doc = &parts[0]
	}
	if rd.src.records == nil {
		return
	}
	for _, sel := range rd.src.records {
		g := x.find(sel, &frame{elem: doc})
		if g.empty() {
			continue
		}
		if rd.src.when == nil {
			a.Why = fmt.Sprintf("%q is there", sel.src)
		}
		records := rd.parts(g)
		rd.ruleFit(x, a, func(see func(*value) bool) {
			for i := range records {
				if !see(&records[i]) {
					return
				}
			}
		})
		return
	}
	a.Accepts, a.Why = rd.src.when != nil, fmt.Sprintf("%q finds nothing in the document", rd.src.records[0].src)
}

func (rd *reading) tryDatabase(a *Attempt) {
	db, err := source.OpenDB(rd.file.Path)
	if err != nil {
		a.Why = quoteValue(strings.TrimPrefix(err.Error(), rd.file.Path+": "))
		return
	}
	defer db.Close()
	var tables []string
	for _, need := range rd.src.needs {
		have, err := db.Columns(need.table)
		switch {
		case err != nil:
			a.Why = quoteValue(err.Error())
			return
		case len(have) == 0:
			a.Why = "no table " + need.table
			return
		}
		for _, col := range need.columns {
			if !slices.ContainsFunc(have, func(h string) bool { return strings.EqualFold(h, col) }) {
				a.Why = fmt.Sprintf("table %s has no column %s", need.table, col)
				a.step++
				return
			}
		}
		tables = append(tables, need.table)
		a.step++
	}
	for _, sql := range []string{rd.src.list, rd.src.sql} {
		if sql == "" {
			continue
		}
		if err := db.Prepare(sql); err != nil {
			a.Why = quoteValue(strings.TrimPrefix(err.Error(), rd.file.Path+": "))
			return
		}
	}
	a.Accepts, a.Why = true, "its statements fit the database"
	if tables != nil {
		a.Why = "tables " + strings.Join(tables, ", ")
	}
}

// SortAttempts puts those first that came nearest to reading the file.
func SortAttempts(list []Attempt) {
	slices.SortStableFunc(list, func(a, b Attempt) int {
		return cmp.Or(cmp.Compare(b.step, a.step), cmp.Compare(b.Known, a.Known), strings.Compare(a.Provider, b.Provider))
	})
}

// Unread is the explanation of a file that no mapping reads: what each source missed, and
// what the file looks like.
func Unread(ctx context.Context, path string, size int64, s *Sniff, tried []Attempt) (*Explanation, error) {
	out := &Explanation{File: path, SizeBytes: size, Verdict: VerdictUnknown, Container: s.Kind, Tried: tried}
	SortAttempts(out.Tried)
	if len(out.Tried) > 0 && out.Tried[0].step > 1 { // more than the container fits
		nearest := out.Tried[0]
		out.Nearest = &nearest
	}
	var err error
	out.Look, err = s.Look(ctx)
	return out, err
}
