package mapping

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"parlance/internal/chat"
	"parlance/internal/source"
)

// Limits of what Infer looks at. A draft is made of a sample; the rest of a file tells
// nothing that its beginning does not, or is news when it is read.
const (
	inferBytesMax   = 64 << 20         // of one file
	inferRecordsMax = 20_000           // records
	inferTimeMax    = 60 * time.Second // in all
	folderMax       = 5_000            // entries of a folder that are looked at
	folderTries     = 6                // files of a folder that are tried
	docListsMax     = 40               // lists of a document that may be the records
)

// ErrNoConversation is wrapped by Infer for what holds nothing that looks like one.
var ErrNoConversation = errors.New("nothing that looks like a conversation")

// InferOptions says how a draft is to be made. The zero value makes one from the file alone.
type InferOptions struct {
	Env    Env                      // the home to which the paths of the draft are relative
	Set    *Set                     // mappings that are tried first; nil = none
	Name   string                   // of the draft; "" = made from the path
	Filler bool                     // replaces what was said, in the samples
	Redact func(text string) string // sees every text of a sample; nil = none
}

// A Draft is a mapping that was made from a file, and what it reads there.
type Draft struct {
	Name    string
	Extends string // the mapping that it starts from, "" = none
	YAML    string
	Summary []string // for people: what was seen, what is doubtful, what to do next
}

// Infer drafts a mapping of an unknown format from one file, database or folder of it. The
// same bytes at the same place give the same draft. It loads, and reads the file; each guess
// in it carries its evidence as a comment, and what could not be told is a marked gap.
//
// Where there is prose and nothing says whose it is, the draft makes system messages of it, and
// its first gap says so. The error wraps ErrNoConversation if nothing in the file looks like talk; all others say
// that it cannot be read.
func Infer(ctx context.Context, path string, opts InferOptions) (Draft, error) {
	ctx, cancel := context.WithTimeout(ctx, inferTimeMax)
	defer cancel()
	if !filepath.IsAbs(path) && opts.Env.Cwd != "" {
		path = filepath.Join(opts.Env.Cwd, path)
	}
	path, err := filepath.Abs(path)
	if err != nil {
		return Draft{}, err
	}
	info, err := os.Stat(path)
	if err != nil {
		var pe *fs.PathError
		if errors.As(err, &pe) {
			err = pe.Err
		}
		return Draft{}, fmt.Errorf("%s: %w", path, err)
	}
	if opts.Env.Getenv == nil {
		opts.Env.Getenv = func(string) string { return "" }
	}
	if info.IsDir() {
		return inferFolder(ctx, path, opts)
	}
	return inferFile(ctx, path, "", opts)
}

// inferFolder tries the largest files of the commonest kinds, and keeps the draft that makes
// most of its file.
func inferFolder(ctx context.Context, dir string, opts InferOptions) (Draft, error) {
	type found struct {
		path string
		size int64
	}
	kinds := map[string][]found{}
	n := 0
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if n++; err != nil || n > folderMax || ctx.Err() != nil {
			return nil
		}
		info, err := d.Info()
		if err != nil || !info.Mode().IsRegular() || info.Size() == 0 {
			return nil
		}
		ext := strings.ToLower(filepath.Ext(unpackedName(d.Name())))
		switch ext {
		case ".jsonl", ".ndjson", ".json", ".db", ".sqlite", ".sqlite3", ".vscdb", ".md", ".txt", ".log", "":
			kinds[ext] = append(kinds[ext], found{path, info.Size()})
		}
		return nil
	})
	if err != nil {
		return Draft{}, fmt.Errorf("%s: %w", dir, err)
	}
	var best, nobodys *drafting
	for _, ext := range []string{".jsonl", ".ndjson", ".db", ".sqlite", ".sqlite3", ".vscdb", ".json", ".md", ".txt", ".log", ""} {
		files := kinds[ext]
		slices.SortFunc(files, func(a, b found) int {
			if a.size != b.size {
				return int(min(1, max(-1, b.size-a.size)))
			}
			return strings.Compare(a.path, b.path)
		})
		for _, f := range files[:min(len(files), folderTries)] {
			d := &drafting{ctx: ctx, path: f.path, folder: dir, opts: opts}
			if err := d.look(); err != nil || d.best == nil {
				if err == nil && d.nobodys != nil && nobodys == nil {
					nobodys = d
				}
				continue
			}
			if best == nil || d.best.worth() > best.best.worth()*1.5 {
				best = d
			}
		}
		if best != nil && ext != ".jsonl" && ext != ".ndjson" {
			break
		}
	}
	if ctx.Err() != nil {
		return Draft{}, ctx.Err()
	}
	if best == nil {
		best = nobodys
	}
	if best == nil {
		return Draft{}, fmt.Errorf("%s: %w", dir, ErrNoConversation)
	}
	return inferFile(ctx, best.path, dir, opts)
}

func inferFile(ctx context.Context, path, folder string, opts InferOptions) (Draft, error) {
	d := &drafting{ctx: ctx, path: path, folder: folder, opts: opts}
	if draft, ok := d.known(); ok {
		return draft, nil
	}
	if err := d.look(); err != nil {
		return Draft{}, err
	}
	if d.best == nil && d.nobodys == nil {
		return Draft{}, fmt.Errorf("%s: %w: %s", path, ErrNoConversation, d.saw)
	}
	if d.best == nil {
		d.best = d.nobodys
		d.warnings = append(d.warnings, d.saw+". The rules make system messages: write user or assistant instead")
	}
	return d.draft()
}

// A drafting is one draft at work.
type drafting struct {
	ctx          context.Context
	path, folder string
	opts         InferOptions

	a       arena
	best    *shape
	rootDoc *value // of a JSON document
	saw     string // what the file holds, for people
	proses  int    // elements with prose of which saw speaks
	nobodys *shape // the list they are in

	meta     []metaLine
	common   []metaLine
	tree     []metaLine
	extra    []string // further top-level lines
	pairing  string
	aside    string // a rule in front of all others
	shift    int    // how many rules that is
	warnings []string
}

// A shape is one way to see records in the file.
type shape struct {
	container string
	lines     []string // of the source, behind container
	convs     string   // selector of the conversations in a document
	records   string   // selector of the records in a document
	hasList   bool     // records is to be written
	docs      []*value // documents, parts or list rows
	elems     []*value // records
	sample    func(d *drafting, s *shape) (key, content string)
	count     string // for people
	rules     []*guess
	db        *dbShape
}

// worth compares shapes: what has both sides of a talk comes first.
func (s *shape) worth() float64 {
	user, assistant := madeBy(s.rules, "user"), madeBy(s.rules, "assistant")
	w := float64(2*min(user, assistant, 1000)+user+assistant) + .2*float64(madeBy(s.rules, "tool_call")+madeBy(s.rules, "tool_result")+madeBy(s.rules, "reasoning"))
	if user == 0 || assistant == 0 {
		w *= .2
	}
	if user+assistant == 0 {
		return 0
	}
	if slices.ContainsFunc(s.lines, func(l string) bool { return strings.HasPrefix(l, "replay") }) {
		w *= 3 // edits of a document look like nothing else
	}
	low := 1.0
	for _, r := range s.rules {
		if talks([]*guess{r}) {
			low = math.Min(low, r.score)
		}
	}
	return w * (.5 + .5*low)
}

// look reads the sample and chooses the best shape.
func (d *drafting) look() error {
	f, err := source.Open(d.path)
	if err != nil {
		return err
	}
	head := make([]byte, 16)
	n, _ := f.Read(head)
	f.Close()
	if bytes.HasPrefix(head[:n], []byte("SQLite format 3\x00")) {
		return d.lookDatabase()
	}
	records, broken, lines, err := d.readLines()
	if err != nil {
		return err
	}
	jsonl := strings.HasSuffix(unpackedName(d.path), "jsonl") || strings.HasSuffix(unpackedName(d.path), ".ndjson")
	if len(records) > 1 || len(records) == 1 && jsonl {
		if len(records) >= 4*broken || jsonl && len(records) >= broken {
			d.lookLines(records)
			return nil
		}
	}
	if lines > 0 {
		if ok, err := d.lookDocument(); ok || err != nil {
			return err
		}
	}
	if len(records) > broken {
		d.lookLines(records)
		return nil
	}
	return d.lookText()
}

// readLines reads lines that are whole JSON objects, as far as the limits go.
func (d *drafting) readLines() (records []*value, broken, lines int, err error) {
	f, err := source.Open(d.path)
	if err != nil {
		return nil, 0, 0, err
	}
	defer f.Close()
	size := 0
	err = source.Lines(d.ctx, f, func(l source.Line) error {
		text := strings.TrimSpace(string(l.Data))
		if text == "" {
			return nil
		}
		lines++
		size += len(text)
		if v, ok := parseObject(text, &d.a); ok {
			records = append(records, v)
		} else if broken++; broken > 200 && broken > 10*len(records) {
			return errStop
		}
		if len(records) >= inferRecordsMax || size > inferBytesMax {
			return errStop
		}
		return nil
	})
	if err != nil && !errors.Is(err, errStop) && d.ctx.Err() == nil && len(records) > 0 {
		err = nil // what was read until here will do
	}
	if errors.Is(err, errStop) {
		err = nil
	}
	return records, broken, lines, err
}

// try makes the rules of a shape and keeps it if it is the best so far.
func (d *drafting) try(s *shape) {
	if len(s.elems) == 0 || d.ctx.Err() != nil {
		return
	}
	s.elems = s.elems[:min(len(s.elems), inferRecordsMax)]
	g := &guesser{a: &d.a}
	g.countRepeats(s.elems)
	s.rules = g.rules(s.elems, "", 0)
	w := s.worth()
	if w > 0 && (d.best == nil || w > d.best.worth()*1.0001) {
		d.best = s
	}
	if w == 0 {
		d.sawProse(s)
	}
}

// sawProse keeps a list that holds prose of which nothing says whose it is, as what to draft if
// nothing better comes: a rule for each word that may tell the speakers apart, or one for all.
// They make system messages, which claim nothing.
func (d *drafting) sawProse(s *shape) {
	c := takeSurvey(s.elems, &d.a)
	var text *inferField
	for _, f := range c.fields {
		if f.prose*2 > c.n && f.prose > 1 && proseFit(f) > 0 && (text == nil || f.runes > text.runes) {
			text = f
		}
	}
	if text == nil || text.prose <= d.proses {
		return
	}
	d.proses = text.prose
	d.saw = fmt.Sprintf("%s; `%s` is prose in %d of them, but nothing says who speaks", s.count, text.sel, text.prose)
	said := func(n int, when ...guessCond) *guess {
		return &guess{as: "system", text: []string{text.sel}, when: when, n: n, notes: []string{"nothing says who speaks"}}
	}
	s.rules = nil
	for _, f := range c.fields {
		if !f.more && len(f.values) > 1 && len(f.values) <= 4 && f.n == c.n && f.prose == 0 && f.scalars() == f.n && len(f.values)*2 <= f.n {
			d.saw += fmt.Sprintf("; `%s` is %s", f.sel, tally(f.values))
			for _, word := range slices.Sorted(maps.Keys(f.values)) {
				if s.rules == nil || s.rules[0].when[0].sel == f.sel { // the first such field
					s.rules = append(s.rules, said(f.values[word], guessCond{sel: f.sel, path: f.path, values: []string{word}}))
				}
			}
		}
	}
	if s.rules == nil {
		s.rules = []*guess{said(text.prose, guessCond{sel: text.sel, path: text.path})}
	}
	d.nobodys = s
}

func (d *drafting) lookLines(records []*value) {
	d.saw = fmt.Sprintf("%s, and no two of them that a person and a model said", plural(len(records), "JSON line"))
	d.try(&shape{container: "jsonl", elems: records, count: plural(len(records), "line"), sample: sampleLines})
	d.tryReplay(records)
}

// tryReplay sees lines that are edits of one document: {op, path, value}.
func (d *drafting) tryReplay(records []*value) {
	c := takeSurvey(records, &d.a)
	var op, path, val *inferField
	for _, f := range c.fields {
		if f.depth != 1 {
			continue
		}
		switch k := plainKey(f.key()); {
		case inWords(k, "kind op type operation") && f.scalars() == c.n && len(f.values) <= 6:
			op = f
		case inWords(k, "k path p key") && f.kinds[jsonArray] == f.n:
			path = f
		case inWords(k, "v value val"):
			val = f
		}
	}
	if op == nil || path == nil || val == nil || val.vals[0].kind() != jsonObject || path.at[0] == 0 {
		return
	}
	p := &replay{op: plainSelector(op), path: plainSelector(path), value: plainSelector(val)}
	first := records[0].walk(op.path, &d.a).str()
	p.init = first
	appends, sets := map[string]int{}, map[string]int{}
	for i, rec := range records[1:] {
		_ = i
		t := rec.walk(op.path, &d.a).str()
		if rec.walk(val.path, &d.a).kind() == jsonArray {
			appends[t]++
		} else {
			sets[t]++
		}
	}
	for t := range appends {
		if sets[t] == 0 && (p.appendOp == "" || appends[t] > appends[p.appendOp]) {
			p.appendOp = t
		}
	}
	for t := range sets {
		if t != p.appendOp && t != first && (p.set == "" || sets[t] > sets[p.set]) {
			p.set = t
		}
	}
	if p.set == "" && p.appendOp == "" {
		return
	}
	words := "op: " + yamlScalar(op.sel) + ", path: " + yamlScalar(path.sel) + ", value: " + yamlScalar(val.sel)
	for _, f := range c.fields {
		if f.depth == 1 && inWords(plainKey(f.key()), "i at index") && f.kinds[jsonNumber] == f.n {
			p.at = plainSelector(f)
			words += ", at: " + yamlScalar(f.sel)
		}
	}
	words += ", init: " + yamlScalar(first)
	if p.set != "" {
		words += ", set: " + yamlScalar(p.set)
	}
	if p.appendOp != "" {
		words += ", append: " + yamlScalar(p.appendOp)
	}
	var root *node
	room := nodesMax
	x := &scopes{a: &d.a}
	for _, rec := range records {
		edit(&root, p, x, rec, &room)
	}
	if root == nil {
		return
	}
	var b strings.Builder
	root.write(&b)
	doc, ok := parseRecord(b.String(), &d.a)
	if !ok {
		return
	}
	for _, s := range d.docShapes(doc) {
		if s.convs != "" {
			continue
		}
		s.container = "jsonl"
		s.lines = []string{"replay: {" + words + "}   # the lines are edits of one document"}
		s.count = fmt.Sprintf("%s that edit one document", plural(len(records), "line"))
		s.sample = nil
		d.try(s)
	}
}

func plainSelector(f *inferField) *selector { return &selector{src: f.sel, plain: f.path} }

// lookDocument reads one JSON document. It is not ok if the file is none.
func (d *drafting) lookDocument() (bool, error) {
	data, err := source.ReadAll(d.ctx, d.path)
	if err != nil {
		return false, err
	}
	if len(data) > inferBytesMax*4 {
		return false, fmt.Errorf("%s: %w: more than %d MB; a smaller file of the same tool will do", d.path, source.ErrTooLarge, inferBytesMax*4>>20)
	}
	text := string(data)
	doc, ok := parseRecord(text, &d.a)
	if !ok || doc.kind() != jsonObject && doc.kind() != jsonArray {
		if t := strings.TrimSpace(text); t != "" && (t[0] == '{' || t[0] == '[' && len(t) > 1 && strings.IndexByte("{[\"", t[1]) >= 0) && !strings.Contains(t[:min(len(t), 200)], "]\n") {
			return false, fmt.Errorf("%s: not one whole JSON document: %s", d.path, whereBroken(text))
		}
		return false, nil
	}
	d.rootDoc = doc
	d.saw = "one JSON document without a list of messages"
	for _, s := range d.docShapes(doc) {
		d.try(s)
	}
	return true, nil
}

// docShapes are the ways to cut a document into records.
func (d *drafting) docShapes(doc *value) []*shape {
	var out []*shape
	add := func(s *shape) {
		if len(out) < docListsMax {
			s.container = "json"
			s.sample = sampleDocument
			out = append(out, s)
		}
	}
	if doc.kind() == jsonObject {
		defer func() { add(&shape{docs: []*value{doc}, elems: []*value{doc}, count: "one document"}) }()
	}
	d.lists(doc, nil, 0, func(path []string, elems []*value) {
		sel := "."
		if len(path) > 0 {
			sel = selectorOf(path)
		}
		add(&shape{docs: []*value{doc}, elems: elems, records: sel, hasList: true,
			count: fmt.Sprintf("%s at `%s`", plural(len(elems), "element"), sel)})
		// Each element may be a conversation with a list of its own.
		inner, holders := map[string][]*value{}, map[string]int{}
		var order []string
		for _, e := range elems[:min(len(elems), 50)] {
			d.lists(e, nil, 2, func(sub []string, list []*value) {
				if len(sub) == 0 {
					return
				}
				s := selectorOf(sub)
				if inner[s] == nil {
					order = append(order, s)
				}
				inner[s] = append(inner[s], list...)
				holders[s]++
			})
		}
		for _, s := range order {
			if holders[s] > 1 && len(inner[s]) == holders[s] {
				continue // one each: pieces of messages, no conversations
			}
			add(&shape{docs: elems, elems: inner[s], convs: sel, records: s, hasList: true,
				count: fmt.Sprintf("%s at `%s`, their records at `%s`", plural(len(elems), "element"), sel, s)})
		}
	})
	return out
}

// lists calls fn for the lists of objects below a value, and for objects whose values are
// objects that share keys.
func (d *drafting) lists(v *value, path []string, depth int, fn func([]string, []*value)) {
	if depth > 4 {
		return
	}
	switch v.kind() {
	case jsonArray:
		var elems []*value
		list := v.list(&d.a)
		for i := range list {
			if list[i].kind() == jsonObject {
				elems = append(elems, &list[i])
			}
		}
		if len(elems) > 0 && len(elems)*2 >= len(list) {
			fn(path, elems)
		}
	case jsonObject:
		v.open(&d.a)
		var elems []*value
		shared := map[string]int{}
		named := false // a key is a name, and no id or date
		for i := range v.members {
			m := &v.members[i].val
			if m.kind() != jsonObject {
				continue
			}
			elems = append(elems, m)
			key := unquote(v.members[i].key)
			named = named || keyForm().MatchString(key) && !dataKey.MatchString(key)
			m.open(&d.a)
			for k := range m.members {
				shared[m.members[k].key]++
			}
		}
		if (len(elems) >= 2 || len(elems) == 1 && !named) && len(elems) == len(v.members) {
			n := 0
			for _, have := range shared {
				if have*10 >= len(elems)*8 {
					n++
				}
			}
			if n >= 2 && len(path) > 0 {
				fn(path, elems)
			}
		}
		for i := range v.members {
			key := unquote(v.members[i].key)
			if keyForm().MatchString(key) && !dataKey.MatchString(key) {
				d.lists(&v.members[i].val, append(slices.Clip(path), key), depth+1, fn)
			}
		}
	}
}

// known tries the mappings that there are. One that knows nearly every record is where a
// draft starts: a tool that was forked is the commonest case.
func (d *drafting) known() (Draft, bool) {
	if d.opts.Set == nil {
		return Draft{}, false
	}
	type hit struct {
		m        *Mapping
		src      *Source
		messages int
		convs    int
		records  int
		unknown  map[string]int
		news     int
		fits     bool // a pattern of its own finds the file
	}
	var best *hit
	var equals []string // mappings that read it as well
	for _, name := range d.opts.Set.Names() {
		if d.ctx.Err() != nil {
			break
		}
		m, _ := d.opts.Set.Mapping(name)
		if m == nil || name == d.opts.Name {
			continue
		}
		own := d.looksThere(m)
		for _, src := range m.Sources {
			if src.Unsupported != "" || src.Decoder != "" || src.Subagent {
				continue
			}
			h := &hit{m: m, src: src, unknown: map[string]int{}, fits: own}
			user, assistant, broken, lines := 0, 0, 0, 0
			f := File{Provider: name, Path: d.path, Sources: []int{src.index}, ModTime: testTime, env: d.opts.Env}
			err := m.Read(d.ctx, f, ReadOptions{SkipToolText: true, Lines: func([]byte) bool { lines++; return lines <= inferRecordsMax }}, func(c *chat.Conversation) error {
				h.convs++
				h.records += c.Read.Records
				broken += len(c.Read.Broken) + c.Read.BrokenMore
				for k, n := range c.Read.NoRule {
					h.unknown[k] += n
					h.news += n
				}
				for i := range c.Messages {
					h.messages++
					switch c.Messages[i].Role {
					case chat.User:
						user++
					case chat.Assistant:
						assistant++
					}
				}
				if h.records > inferRecordsMax {
					return errStop
				}
				return nil
			})
			if err != nil && !errors.Is(err, errStop) || user == 0 || assistant == 0 || h.news*10 > h.records || broken*10 > h.records {
				continue
			}
			if best != nil && best.m != m && h.fits == best.fits && h.news == best.news && h.messages == best.messages && !slices.Contains(equals, name) {
				equals = append(equals, name)
			}
			if best == nil || h.fits && !best.fits || h.fits == best.fits && (h.news < best.news || h.news == best.news && h.messages > best.messages) {
				best, equals = h, nil
			}
		}
	}
	if best == nil {
		return Draft{}, false
	}
	draft, ok := d.extend(best.m, best.src, best.unknown)
	if !ok {
		return Draft{}, false
	}
	lead := fmt.Sprintf("%s reads it: %s, %s of %s", best.m.Name, plural(best.convs, "conversation"), plural(best.messages, "message"), plural(best.records, "record"))
	if best.fits {
		lead += "; no draft is needed, the file lies where " + best.m.Name + " looks"
	}
	if len(equals) > 0 {
		lead += "; so does " + strings.Join(equals, ", ")
	}
	draft.Summary = append([]string{lead}, draft.Summary...)
	return draft, true
}

// looksThere says whether a pattern of a mapping finds the file.
func (d *drafting) looksThere(m *Mapping) bool {
	places, _ := m.places(d.ctx, d.opts.Env)
	root, names := splitPath(d.path)
	plain := slices.Clone(names)
	plain[len(plain)-1] = unpackedName(plain[len(plain)-1])
	return slices.ContainsFunc(places, func(p globPlace) bool {
		return sameName(p.root, root) && (fitsPath(p.segs, names) || p.packed && fitsPath(p.segs, plain))
	})
}
