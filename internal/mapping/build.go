package mapping

import (
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"parlance/internal/chat"
	"parlance/internal/source"
)

// A builder gathers one conversation, record by record.
type builder struct {
	m      *Mapping
	src    *Source
	opts   *ReadOptions
	keep   func(*chat.Message) bool
	conv   chat.Conversation
	fields [fieldCount]fieldState
	parent *builder // of a subagent's conversation inside the same file
	key    string
	above  *builder // of a document inside of a document: the conversation around it

	units   []*unit // in the order of the records that made them
	byID    map[hash]*unit
	doubles []map[hash]*made // per same entry with by: id or call
	grown   map[hash]string  // of those with prefix: the text so far
	texts   map[string]lastText
	last    lastText
	mark    *copyMark              // the latest, see markOf
	strings map[string]string      // see sameString
	latest  map[chat.Role]lastText // of entries with a condition
	first   map[string]*unit       // message id to the first unit that holds it, for rewind
	roots   map[string]string      // record id to the root of its tree, of subagents' records

	open growing // the latest call, if some rule has more
	said growing // the latest message that may go on in the next record

	visible []*unit // units not abandoned by a rewind, in order
	inReset bool
	orphans int // results without their call, counted at the end
}

// A unit is what one record made, and its links.
type unit struct {
	id, parent hash // of tree
	msgs       []*made
	copied     *copyMark // nil: nothing is known of it
	rollback   int32     // turns to roll back at this place
	abandoned  bool
	noFork     bool // of tree.except
}

// A copyMark is what a record says of the conversation that it was copied from.
type copyMark struct {
	key string // of copied.prefix
	of  string // of copied.parent
}

type lastText struct {
	m        *made
	text, id string
}

type fieldState struct {
	found bool
	rank  int
	text  string
	time  time.Time
}

func newBuilder(m *Mapping, src *Source, opts *ReadOptions) *builder {
	b := &builder{m: m, src: src, opts: opts}
	b.conv.Provider, b.conv.Source = m.Name, src.ID
	b.keep = opts.Keep
	if opts.Keeper != nil {
		b.keep = opts.Keeper()
	}
	b.clear()
	return b
}

// clear forgets messages, ids and links, but not the conversation's keys.
func (b *builder) clear() {
	b.units, b.visible = nil, nil
	b.byID = map[hash]*unit{}
	b.texts, b.last, b.latest = map[string]lastText{}, lastText{}, map[chat.Role]lastText{}
	b.first, b.open = map[string]*unit{}, growing{again: b.open.again}
	b.doubles, b.grown = make([]map[hash]*made, len(b.m.same)), nil
}

// sameString gives one string for all equal ones, of words that come again and again.
func (b *builder) sameString(s string) string {
	if have, ok := b.strings[s]; ok {
		return have
	}
	if b.strings == nil || len(b.strings) >= stringsMax {
		b.strings = map[string]string{}
	}
	b.strings[s] = s
	return s
}

// stringsMax bounds what is remembered of words that turn out to be all different.
const stringsMax = 1000

// markOf gives one mark for all records of one parent: in some logs every record names one.
func (b *builder) markOf(parent string) *copyMark {
	if b.mark == nil || b.mark.of != parent {
		b.mark = &copyMark{of: parent}
	}
	return b.mark
}

// warningsMax bounds what one conversation complains of; more of the same helps nobody.
const warningsMax = 50

func (b *builder) warn(format string, args ...any) {
	if len(b.conv.Read.Warnings) < warningsMax {
		b.conv.Read.Warnings = append(b.conv.Read.Warnings, fmt.Sprintf(format, args...))
	}
}

func count(m *map[string]int, label string) {
	if *m == nil {
		*m = map[string]int{}
	}
	(*m)[label]++
}

// readFields reads the conversation's keys off one record, or, with record false, those of
// their terms that need none.
func (b *builder) readFields(x *scopes, f *frame, record bool) {
	for i := range b.fields {
		e := b.m.conv[i]
		if e == nil {
			continue
		}
		st := &b.fields[i]
		for rank, t := range e.terms {
			if t.perRecord != record {
				continue
			}
			if st.found && (st.rank < rank || st.rank == rank && !t.last) {
				continue
			}
			b.readField(field(i), st, rank, t, x, f)
		}
	}
}

func (b *builder) readField(fl field, st *fieldState, rank int, t *term, x *scopes, f *frame) {
	switch fl {
	case fieldStarted, fieldUpdated:
		if when := x.termTime(t, f); !when.IsZero() {
			*st = fieldState{found: true, rank: rank, time: when}
			b.told(x, fl, rank, t)
		}
	case fieldSubagent:
		if x.truth(t, f) {
			*st = fieldState{found: true, rank: 0, text: "true"}
			b.told(x, fl, rank, t)
		}
	default:
		if g := x.term(t, f); !g.empty() {
			*st = fieldState{found: true, rank: rank, text: strings.TrimSpace(x.text(g))}
			b.told(x, fl, rank, t)
		}
	}
}

// told lets a trace know where a key of the conversation was found.
func (b *builder) told(x *scopes, fl field, rank int, t *term) {
	if x.tr != nil && b.parent == nil {
		x.tr.candidate(fl, rank, t, b.fieldText(fl))
	}
}

// settle reads what needs no record and fixes the conversation's keys.
func (b *builder) settle(x *scopes, fallbackID string) {
	own := *x
	own.conv = func(f field) string { return b.fieldText(f) }
	f := &frame{}
	for i := range b.fields {
		if e := b.m.conv[i]; e != nil && b.key == "" {
			st := &b.fields[i]
			for rank, t := range e.terms {
				if !t.perRecord && (!st.found || rank < st.rank) {
					b.readField(field(i), st, rank, t, &own, f)
				}
			}
		}
		if field(i) == fieldID && !b.fields[i].found {
			b.fields[i] = fieldState{found: true, text: fallbackID}
		}
	}
	c := &b.conv
	c.ID = b.fieldText(fieldID)
	if p := b.parent; p != nil {
		c.ID = p.conv.ID + "/" + b.key
		c.Parent, c.Subagent = p.conv.ID, true
		for _, fl := range []field{fieldCwd, fieldBranch, fieldVersion, fieldModel} {
			if !b.fields[fl].found {
				b.fields[fl] = p.fields[fl]
			}
		}
	}
	c.Title = b.fieldText(fieldTitle)
	c.Cwd, c.Branch = b.fieldText(fieldCwd), b.fieldText(fieldBranch)
	c.Version, c.Model = b.fieldText(fieldVersion), b.fieldText(fieldModel)
	if b.parent == nil {
		c.Parent = b.fieldText(fieldParent)
		if c.Parent == c.ID {
			c.Parent = ""
		}
		c.Subagent = b.src.Subagent || b.fields[fieldSubagent].found
	}
	if b.above != nil {
		c.Parent, c.Subagent = b.above.conv.ID, true
		if c.Cwd == "" {
			c.Cwd, c.Branch = b.above.conv.Cwd, b.above.conv.Branch
		}
	}
	c.Started, c.Updated = b.fields[fieldStarted].time, b.fields[fieldUpdated].time
}

func (b *builder) fieldText(f field) string {
	if st := &b.fields[f]; f == fieldStarted || f == fieldUpdated {
		if st.time.IsZero() {
			return ""
		}
		return st.time.Format(time.RFC3339Nano)
	}
	return b.fields[f].text
}

// add takes in what one record made: doubles go, the rest stands behind what is there, or
// in the place of what it replaces.
// recordID is the id of common, the zero hash if no entry of same compares records.
func (b *builder) add(r *recordRun, u *unit, recordID hash, msgs []*made) {
	msgs = r.glued(msgs)
	replaced := false
	if recordID != (hash{}) {
		for _, s := range b.m.same {
			if !s.record {
				continue
			}
			old := b.byID[recordID]
			if old == nil || old.abandoned {
				break
			}
			if r.tr != nil {
				r.tr.double(s, len(msgs))
			}
			if !s.last {
				return
			}
			for _, m := range old.msgs {
				m.gone = true
			}
			old.msgs = nil
			if u.id != (hash{}) {
				old.id, old.parent = u.id, u.parent
			}
			u, replaced = old, true
			break
		}
	}
	for _, m := range msgs {
		m.unit = u
		came := m
		if m = b.dedupe(r, m); m == nil {
			continue
		}
		if m == came { // an earlier one that stays has its place
			u.msgs = append(u.msgs, m)
		}
		if m.ID != "" && b.m.rewinds {
			if have := b.first[m.ID]; have == nil || have.abandoned {
				b.first[m.ID] = m.unit
			}
		}
		b.offer(m)
	}
	if recordID != (hash{}) && !replaced {
		b.byID[recordID] = u
	}
	if !replaced && (len(u.msgs) > 0 || u.id != (hash{}) || recordID != (hash{}) || u.rollback > 0 || u.copied != nil) {
		b.units = append(b.units, u)
		if b.m.rewinds {
			b.visible = append(b.visible, u)
		}
	}
}

// dedupe passes a message through the entries of same. It returns the survivor, or nil if
// that is an earlier message, unchanged.
func (b *builder) dedupe(r *recordRun, m *made) *made {
	if m.source.more && m.Role == chat.ToolCall {
		return b.grow(r, m)
	}
	if m.source.more {
		if old := b.goOn(m); old != nil || strings.TrimSpace(m.Text) == "" {
			return old
		}
	}
	for i, s := range b.m.same {
		if s.record || s.roles != nil && !s.roles[m.Role] {
			continue
		}
		var old *made
		id := ""
		switch s.by {
		case "text":
			if m.Role == chat.ToolResult {
				continue
			}
			last, ok := b.before(m)
			if s.when != nil {
				if !r.holds(s.when, &frame{elem: r.rec}) {
					continue
				}
				last, ok = b.latest[m.Role], b.latest[m.Role].m != nil
			}
			if ok && !last.m.gone && !last.m.unit.abandoned {
				if last.text == m.Body() || s.prefix && strings.HasPrefix(m.Body(), last.text) {
					old, id = last.m, last.id
				}
			}
		default:
			key := m.ID
			if s.by == "call" {
				key = m.Call
			}
			if key == "" {
				continue
			}
			double := hashOf(string(m.Role) + "\x00" + key)
			if b.doubles[i] == nil {
				b.doubles[i] = map[hash]*made{}
			}
			old = b.doubles[i][double]
			if old == nil || old.gone || old.unit.abandoned || s.prefix && !strings.HasPrefix(m.Body(), b.grown[double]) {
				b.doubles[i][double] = m
				old = nil
			}
			if s.prefix {
				if b.grown == nil {
					b.grown = map[hash]string{}
				}
				b.grown[double] = m.Body()
			}
		}
		if old == nil {
			continue
		}
		if r.tr != nil {
			r.tr.double(s, 1)
		}
		if !s.last {
			return nil
		}
		// The survivor stands at the first one's place, with that place's time and id.
		u, at := old.unit, old.time
		*old = *m
		old.unit = u
		if s.by == "text" {
			if id != "" {
				old.ID = id
			}
			if at != 0 && (!s.retime || old.Time.IsZero()) {
				old.Time = time.UnixMilli(at).UTC()
			}
		}
		m = old
	}
	b.remember(m)
	if b.m.grows && m.Role == chat.ToolCall {
		b.open.m, b.open.msg, b.open.input = m, *m.Message, &strings.Builder{}
		b.open.input.WriteString(m.Input)
	}
	if b.said.m == m {
		b.said.m = nil // the whole took the place of its pieces: the next piece begins another
	}
	if m.source.more {
		b.said = growing{m: m, msg: *m.Message, input: &strings.Builder{}, again: b.said.again}
		b.said.input.WriteString(m.Text)
	}
	return m
}

// goOn puts the text of m on the end of the message directly before it, and returns that; nil
// if that is of another role or reply, or was not made piece by piece.
func (b *builder) goOn(m *made) *made {
	o := &b.said
	if o.m == nil || o.m != b.last.m || o.m.gone || o.m.unit.abandoned || o.msg.Role != m.Role || o.msg.Reply != m.Reply {
		return nil
	}
	if o.again += o.input.Len(); o.again > againMaxBytes {
		b.conv.Read.Incomplete = "the texts of messages come in too many pieces"
		return nil
	}
	o.input.WriteString(m.Text)
	msg := o.msg
	msg.Text = o.input.String()
	*o.m = made{Message: &msg, unit: o.m.unit, source: o.m.source, never: o.m.never}
	return o.m
}

// A growing is a call whose input, or a message whose text may go on in later records.
type growing struct {
	m     *made
	msg   chat.Message     // m's, should its text be let go
	input *strings.Builder // input or text so far, as recorded
	again int              // bytes of all inputs that were looked at once more
}

// againMaxBytes bounds what is looked at again because calls grow: many small pieces of a
// long input would take time in proportion to its square.
const againMaxBytes = 1 << 30

// grow puts the input of m on the end of the latest call's, and returns that call.
func (b *builder) grow(r *recordRun, m *made) *made {
	o := &b.open
	if o.m == nil || o.m.gone || o.m.unit.abandoned {
		b.warn("more of a call's input, without the call")
		return nil
	}
	if o.again += o.input.Len(); o.again > againMaxBytes {
		b.conv.Read.Incomplete = "the inputs of calls come in too many pieces"
		return nil
	}
	o.input.WriteString(m.Input)
	msg := o.msg
	msg.Input = o.input.String()
	if whole := r.parsed(textGot(msg.Input)); whole.kind == gotJSON && whole.v.kind() == jsonObject {
		msg.Input = compact(whole.v.raw)
	}
	*o.m = made{Message: &msg, unit: o.m.unit, source: o.m.source, never: o.m.never}
	return o.m
}

// textsMax is how many answers at once may be compared by text: pieces of one answer follow
// each other, a few answers may be interleaved.
const textsMax = 64

// remember keeps the text of a message for the next one to be compared with, if any entry does that.
func (b *builder) remember(m *made) {
	b.last = lastText{m: m, id: m.ID}
	for _, s := range b.m.same {
		if s.by != "text" || s.roles != nil && !s.roles[m.Role] {
			continue
		}
		b.last.text = m.Body()
		if s.when != nil {
			b.latest[m.Role] = b.last
			continue
		}
		if m.Reply != "" {
			if len(b.texts) >= textsMax {
				clear(b.texts)
			}
			b.texts[textKey(m)] = b.last
		}
	}
}

func textKey(m *made) string {
	return string(m.Role) + "\x00" + m.Reply
}

// before is the message that m's text is compared with: the one before it of the same role
// and reply; without a reply, the one directly before it.
func (b *builder) before(m *made) (lastText, bool) {
	if m.Reply == "" {
		return b.last, b.last.m != nil && b.last.m.Role == m.Role && b.last.m.Reply == ""
	}
	last, ok := b.texts[textKey(m)]
	return last, ok
}

// offer shows a settled message to the reader, who may not want its text.
func (b *builder) offer(m *made) {
	if len(m.Text) > textMaxBytes || len(m.Input) > textMaxBytes {
		m.Text, m.Input = cutText(m.Text), cutText(m.Input)
		b.conv.Read.Incomplete = "a message is longer than textMaxBytes (64 MB)"
	}
	m.Runes = utf8.RuneCountInString(m.Body())
	m.settle(b)
	if b.keep == nil || b.keep(m.Message) {
		return
	}
	if m.Note == nil {
		m.Message, m.letGo = dropped[m.Role], true
		return
	}
	m.Text, m.Input, m.Elided = "", "", true
}

// reset forgets what was read, because the tool itself wrote the list anew; the elements
// at records are run as new records.
func (b *builder) reset(r *recordRun, ru *rule, f *frame) {
	if b.inReset {
		b.broken(r.origin.Line, "a reset inside the records of a reset")
		r.failed = true
		return
	}
	var g got
	if ru.records != nil {
		g = r.find(ru.records, f)
	}
	b.clear()
	r.out = nil
	if g.kind != gotJSON {
		return
	}
	elems := g.v.list(r.a)
	b.inReset = true
	for i := range elems {
		x := *r.scopes
		x.rec = &elems[i]
		o := r.origin
		o.Pointer = "/" + strings.Join(ru.records.plain, "/") + "/" + strconv.Itoa(i)
		b.record(&x, o, elems[i].raw, nil)
	}
	b.inReset = false
}

// brokenMax is how many broken records are named; the others are counted.
const brokenMax = 20

func (b *builder) broken(line int, why string) {
	rd := &b.conv.Read
	if len(rd.Broken) < brokenMax {
		rd.Broken = append(rd.Broken, chat.Broken{Line: line, Why: why})
	} else {
		rd.BrokenMore++
	}
}

// rewind marks the first visible message with that id and all after it; an unknown id, all.
// If records are told apart by their ids, that of one which made no message counts too.
// Each unit is passed over once, however often a log rewinds.
func (b *builder) rewind(id string) {
	target := b.first[id]
	if target == nil {
		target = b.byID[hashOf(id)]
	}
	if target != nil && target.abandoned {
		target = nil
	}
	for len(b.visible) > 0 {
		u := b.visible[len(b.visible)-1]
		from := 0
		if u == target {
			for from < len(u.msgs)-1 && (u.msgs[from].id == nil || *u.msgs[from].id != id || u.msgs[from].abandoned) {
				from++
			}
		}
		for _, m := range u.msgs[from:] {
			m.abandoned = true
		}
		if from > 0 {
			return
		}
		u.abandoned = true
		b.visible = b.visible[:len(b.visible)-1]
		if u == target {
			return
		}
	}
}

func (b *builder) rollback(turns string) {
	n, err := strconv.ParseFloat(strings.TrimSpace(turns), 64)
	if err != nil || n < 0 {
		b.warn("rollback: not a number of turns: %q", turns)
		return
	}
	if n > 1e6 {
		n = 1e6
	}
	if n >= 1 {
		u := &unit{rollback: int32(n)}
		b.units = append(b.units, u)
		b.visible = append(b.visible, u)
	}
}

// record reads one record into the conversation it belongs to: its keys, its links, its
// rules. sub finds the builder of a subagent's records; nil = there are none.
func (b *builder) record(x *scopes, origin chat.Origin, raw string, sub func(key string) *builder) {
	f := &frame{elem: x.rec}
	list := b.m.rulesOf(b.src)
	target := b
	if x.tr != nil {
		x.tr.begin(x, origin, raw)
	}
	var id, parent string
	if t := b.m.tree; t != nil {
		id, parent = x.evalText(t.id, f), x.evalText(t.parent, f)
	}
	if sub != nil {
		for _, ru := range list {
			if !x.holds(ru.when, f) {
				if x.tr != nil && ru.as == actSubagent {
					x.tr.tried(x, ru, f, false)
				}
				continue
			}
			if x.tr != nil && ru.as == actSubagent {
				x.tr.tried(x, ru, f, true)
				x.tr.take(nil, ru, f)
			}
			if ru.as == actSubagent {
				key := ""
				if ru.key != nil {
					key = x.evalText(ru.key, f)
				} else {
					key = b.rootOf(id, parent)
				}
				if key != "" {
					target = sub(key)
				}
				continue
			}
			break
		}
	}
	if target.conv.Read.Records >= recordsMax {
		target.conv.Read.Incomplete = "more records than recordsMax (5 million)"
		if x.tr != nil {
			x.tr.end()
		}
		return
	}
	target.conv.Read.Records++
	x.badTime = func(raw string) { target.warn("%s: not a time: %.40q", whereIs(origin), raw) }
	target.readFields(x, f, true)
	r := &recordRun{scopes: x, m: b.m, b: target, opts: b.opts, origin: origin, raw: raw}
	held := r.rules(list, f)
	rd := &target.conv.Read
	switch {
	case r.failed:
	case !held:
		target.news(x, "", "", x.rec, x.rec)
	case len(r.out) == 0 && r.skipped:
		count(&rd.Skipped, b.m.label("", x.rec, x))
	case len(r.out) == 0 && r.unknown:
	default:
		rd.Used++
	}
	if b.opts.Unread != nil && len(r.out) > 0 && !r.unknown {
		b.opts.Unread(b.m.label("", x.rec, x), r.out[0].source.path, b.m.knownKeys().unread(x.rec.raw))
	}
	if x.tr != nil {
		x.tr.judge(r, held)
	}
	u := &unit{id: hashOf(id), parent: hashOf(parent)}
	if t := b.m.tree; t != nil && t.except != nil {
		u.noFork = x.holds(t.except, f)
	}
	if c := b.m.copied; c != nil {
		if c.prefix != nil {
			if key := x.evalText(c.prefix, f); key != "" {
				u.copied = &copyMark{key: key}
				if b.opts.keys != nil {
					b.opts.keys[key] = true
				}
			}
		} else if p := x.evalText(c.parent, f); p != "" && !x.emptyExpr(c.id, f) {
			u.copied = b.markOf(p)
		}
	}
	var recordID hash
	if b.m.comparesRecords() {
		recordID = hashOf(r.commons().id)
	}
	target.add(r, u, recordID, r.out)
	if x.tr != nil {
		x.tr.end()
	}
}

// whereIs says where in its file something was, for a person.
func whereIs(o chat.Origin) string {
	if o.Line == 0 && o.Pointer != "" {
		return o.Pointer
	}
	return "line " + strconv.Itoa(o.Line)
}

// recordsMax ends a conversation of a file that grows without end.
const recordsMax = source.RecordsMax

func (x *scopes) emptyExpr(e *expr, f *frame) bool {
	g, _ := x.eval(e, f)
	return g.empty()
}

func (b *builder) rootOf(id, parent string) string {
	if id == "" {
		return ""
	}
	if b.roots == nil {
		b.roots = map[string]string{}
	}
	root, ok := b.roots[parent]
	if !ok {
		root = id
	}
	b.roots[id] = root
	return root
}

// rulesOf are the rules for the records of a source.
func (m *Mapping) rulesOf(s *Source) []*rule {
	if s.messages != "" {
		return m.define[s.messages]
	}
	return m.rules
}

func (m *Mapping) comparesRecords() bool {
	for _, s := range m.same {
		if s.record {
			return true
		}
	}
	return false
}

func (m *Mapping) hasSubagentRule(s *Source) bool {
	for _, ru := range m.rulesOf(s) {
		if ru.as == actSubagent {
			return true
		}
	}
	return false
}
