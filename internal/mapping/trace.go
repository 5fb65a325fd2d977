package mapping

import (
	"cmp"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"
	"unsafe"

	"parlance/internal/chat"
)

// A trace watches how one conversation is read: it is told of every rule that is tried,
// every selector that looks for something, and every message that comes out. Reading without
// one costs a comparison with nil at each of these places. What it remembers is counted per
// rule, selector and shape, so that memory does not grow with the file; only the records
// that somebody asked for are told step by step.
type trace struct {
	e       *explainer
	src     *Source
	sum     counts
	records []*recordTrace // the one at hand last; a reset reads records inside of a record
	fields  [fieldCount]*FieldTrace
	convs   []*chat.Conversation // without messages
}

// missed notes files that the mapping names and that are not there. tr may be nil.
func (tr *trace) missed(absent []string) {
	if tr != nil {
		tr.sum.misses(absent)
	}
}

func (s *counts) misses(absent []string) {
	for _, what := range absent {
		if !slices.Contains(s.absent, what) {
			s.absent = append(s.absent, what)
		}
	}
}

// A recordTrace is a record while it is read.
type recordTrace struct {
	told    *Record // nil: nobody asked for its steps
	x       *scopes
	raw     string
	origin  chat.Origin
	n       int     // its number in the file
	rules   []*rule // those that lead to where we are, the innermost last
	outcome string
	blocks  int // without a rule
}

// What becomes of a record. Every record has one of these.
const (
	outcomeUsed    = "used"
	outcomeSkipped = "skipped"
	outcomeNoRule  = "no rule"
	outcomeBroken  = "broken"
)

// Counts are what is counted.
type counts struct {
	outcomes map[string]int
	blocks   int
	rules    map[*rule]*ruleTally
	sels     map[*selector]*selTally
	groups   []*newsGroup
	doubles  map[*sameEntry]int

	records       int
	unread        int // records beyond a limit
	told          []*Record
	conversations int
	messages      int
	denied        int         // conversations that must not be shown
	read          chat.Report // of all conversations
	tree          TreeSum
	calls         CallSum
	absent        []string // files that the mapping names and that are not there
	headed        []ConversationHead
	fields        []FieldTrace
	filled        [fieldCount]int
}

type ruleTally struct {
	taken, nothing int
	made           map[string]int
	skipped        map[string]int
	cleaned        map[string]int
}

type selTally struct {
	tried, found int
	missing      string // what stood there the last time it found nothing
}

// groupsMax bounds the kinds of records without a rule that are told apart.
const groupsMax = 100

// stepsMax bounds the steps of one record that are told.
const stepsMax = 500

func (t *trace) at() *recordTrace {
	if n := len(t.records); n > 0 {
		return t.records[n-1]
	}
	return nil
}

// step adds a step to the record at hand, if it is told.
func (t *trace) step(s Step) {
	r := t.at()
	if r == nil || r.told == nil {
		return
	}
	if len(r.told.Steps) >= stepsMax {
		r.told.StepsMore++
		return
	}
	s.Depth = len(r.rules)
	r.told.Steps = append(r.told.Steps, s)
}

// begin is told of each record before anything is read of it.
func (t *trace) begin(x *scopes, origin chat.Origin, raw string) {
	r := &recordTrace{x: x, raw: raw, origin: origin}
	t.sum.records++
	n := t.e.sum.records + t.sum.records
	r.n = n
	if t.e.wants(t.src, n, origin) {
		r.told = &Record{N: n, Line: origin.Line, Pointer: origin.Pointer, Raw: sketch(raw, t.e.o.Redact)}
	}
	t.records = append(t.records, r)
}

// end is told when everything of the record is done.
func (t *trace) end() {
	r := t.at()
	t.records = t.records[:len(t.records)-1]
	if r.outcome == "" {
		t.sum.records-- // beyond a limit
		t.sum.unread++
		return
	}
	bump(&t.sum.outcomes, r.outcome, 1)
	if r.outcome != outcomeNoRule {
		t.sum.blocks += r.blocks
	}
	if r.told != nil {
		r.told.Outcome = r.outcome
		t.e.tell(t, r.told)
	}
}

// judge says what became of the record, as it is counted in chat.Report.
func (t *trace) judge(r *recordRun, held bool) {
	rt := t.at()
	switch {
	case r.failed:
		rt.outcome = outcomeBroken
		if rt.told != nil {
			rt.told.Why = "a reset inside the records of a reset"
		}
	case !held:
		rt.outcome = outcomeNoRule
		where := ""
		if t.src.messages != "" {
			where = "define." + t.src.messages
		}
		t.group(r, "", where, r.rec)
	case len(r.out) == 0 && r.skipped:
		rt.outcome = outcomeSkipped
	case len(r.out) == 0 && r.unknown:
		rt.outcome = outcomeNoRule
	default:
		rt.outcome = outcomeUsed
	}
	if rt.told != nil {
		rt.told.Type = t.e.quote(r.m.label("", r.rec, quiet(r.scopes)))
	}
}

// quiet is x without its trace, for looking again at what was read.
func quiet(x *scopes) *scopes {
	q := *x
	q.tr = nil
	return &q
}

// find reads a selector, and remembers whether it found anything.
func (t *trace) find(x *scopes, s *selector, f *frame) got {
	x.tr = nil
	g := x.find(s, f)
	x.tr = t
	st := t.sum.sels[s]
	if st == nil {
		st = &selTally{}
		if t.sum.sels == nil {
			t.sum.sels = map[*selector]*selTally{}
		}
		t.sum.sels[s] = st
	}
	st.tried++
	empty := g.empty()
	if !empty {
		st.found++
	}
	info := t.e.infos[s]
	r := t.at()
	told := r != nil && r.told != nil && !info.cond && info.field != "" && !strings.HasPrefix(info.path, "conversation.")
	if !empty && !told {
		return g
	}
	step := Step{What: "find", Rule: info.rule, Field: info.field, Selector: s.src}
	if empty {
		step.Value = t.missing(x, s, f, g)
		st.missing = step.Value
	}
	// A conversation's key is looked for in every record: that it is not there is no news.
	if !told || empty && info.rule == "" {
		return g
	}
	if !empty {
		step.Found = true
		step.Value, step.Kind = t.shown(g)
		if at, ok := offset(r.raw, g); ok {
			step.At = &at
		}
	}
	t.step(step)
	return g
}

// missing says what stands where a selector found nothing that counts.
func (t *trace) missing(x *scopes, s *selector, f *frame, g got) string {
	if g.kind == gotJSON {
		return t.e.quote(g.v.raw)
	}
	if g.kind == gotText {
		return `""`
	}
	if s.plain != nil && !s.whole {
		base := f.elem
		switch s.scope {
		case scopeNone:
		case scopeRecord:
			base = x.rec
		case scopeDoc:
			base = x.doc
		default:
			return "absent"
		}
		if base.kind() != jsonAbsent && base.walk(s.plain, x.a).kind() == jsonNull {
			return "null"
		}
	}
	return "absent"
}

// shown is a value as an explanation shows it, and its kind.
func (t *trace) shown(g got) (value, kind string) {
	if g.kind == gotJSON {
		kind = jsonNames[g.v.kind()]
		switch g.v.kind() {
		case jsonString:
			inner := g.v.raw[1 : len(g.v.raw)-1]
			kind = fmt.Sprintf("string, %s", plural(runesOf(inner), "character"))
		case jsonArray:
			n := value0(g.v)
			kind = "array of " + fmt.Sprint(n)
		}
		return t.e.quote(g.v.raw), kind
	}
	return t.e.quote(g.text), "text"
}

// value0 is how many elements an array has.
func value0(v *value) int {
	var a arena
	own := value{raw: v.raw}
	return len(own.list(&a))
}

// runesOf is the length of a JSON string's inside, decoded.
func runesOf(inner string) int {
	if strings.IndexByte(inner, '\\') < 0 {
		return utf8.RuneCountInString(inner)
	}
	return utf8.RuneCountInString(unquote(inner))
}

// offset is the byte of the record at which a value begins, if it stands in the record.
func offset(raw string, g got) (int, bool) {
	if g.kind != gotJSON || raw == "" || g.v.raw == "" {
		return 0, false
	}
	base, at := uintptr(unsafe.Pointer(unsafe.StringData(raw))), uintptr(unsafe.Pointer(unsafe.StringData(g.v.raw)))
	if at < base || at >= base+uintptr(len(raw)) {
		return 0, false
	}
	return int(at - base), true
}

// tried is told of each rule that is looked at, and whether its when held.
func (t *trace) tried(x *scopes, ru *rule, f *frame, held bool) {
	r := t.at()
	if r == nil || r.told == nil {
		return
	}
	s := Step{What: "when", Rule: ru.path, Held: &held, When: ru.when.flow(whenRunes)}
	if !held {
		s.When, s.Value = t.e.whyNot(quiet(x), ru.when, f)
	}
	t.step(s)
}

func (t *trace) tallyOf(ru *rule) *ruleTally {
	rt := t.sum.rules[ru]
	if rt == nil {
		rt = &ruleTally{}
		if t.sum.rules == nil {
			t.sum.rules = map[*rule]*ruleTally{}
		}
		t.sum.rules[ru] = rt
	}
	return rt
}

// take is told of each rule that is taken; r is nil for one that only routes.
func (t *trace) take(r *recordRun, ru *rule, f *frame) {
	t.tallyOf(ru).taken++
	if r == nil {
		return
	}
	rt := t.at()
	rt.rules = append(rt.rules, ru)
	r.follow(ru, f)
	rt.rules = rt.rules[:len(rt.rules)-1]
}

// empty is told of a list in which there was nothing.
func (t *trace) empty(ru *rule) {
	for _, ru := range t.at().rules {
		t.tallyOf(ru).nothing++
	}
	t.step(Step{What: "nothing", Rule: ru.path, Value: "the list is empty"})
}

func (t *trace) element(n, of int) {
	t.step(Step{What: "element", Value: fmt.Sprintf("%d of %d", n, of)})
}

// make lets a rule make what it makes, and counts it.
func (t *trace) make(r *recordRun, ru *rule, f *frame) {
	before, unknown := len(r.out), t.at().blocks
	r.make(ru, f)
	if t.at().blocks > unknown {
		return // its role was none
	}
	// What a rule makes is counted for the rules that lead to it as well.
	for _, ru := range t.at().rules {
		t.count(t.tallyOf(ru), r, before)
	}
	switch ru.as {
	case actSkip:
		t.step(Step{What: "act", Rule: ru.path, Value: ru.as, Why: ru.why})
		return
	case actReset, actRewind, actRollback:
		t.step(Step{What: "act", Rule: ru.path, Value: ru.as, Why: ru.why})
		return
	}
	if len(r.out) <= before {
		t.step(Step{What: "nothing", Rule: ru.path, Value: "its text is empty"})
		return
	}
	if t.at().told == nil {
		return
	}
	for _, m := range r.out[before:] {
		t.step(Step{What: "message", Rule: ru.path, Message: t.e.message(m.Message)})
	}
}

// count adds to a rule what the rule at hand, which is it or stands inside of it, made.
func (t *trace) count(rt *ruleTally, r *recordRun, before int) {
	leaf := t.at().rules[len(t.at().rules)-1]
	switch leaf.as {
	case actSkip:
		label := t.e.quote(r.m.label("", r.rec, quiet(r.scopes)))
		if len(rt.skipped) < groupsMax || rt.skipped[label] > 0 {
			bump(&rt.skipped, label, 1)
		}
		return
	case actReset, actRewind, actRollback:
		bump(&rt.made, leaf.as, 1)
		return
	}
	if len(r.out) <= before {
		rt.nothing++
		return
	}
	for _, m := range r.out[before:] {
		bump(&rt.made, string(m.Role), 1)
	}
}

// cleaned is told what clean-up made of a text.
func (t *trace) cleaned(c *cleaner, role chat.Role, text string, pieces []piece) {
	if c == nil || len(pieces) == 1 && pieces[0].role == role && pieces[0].text == text {
		return
	}
	for _, what := range c.account(role, text) {
		for _, ru := range t.at().rules {
			bump(&t.tallyOf(ru).cleaned, what, 1)
		}
		t.step(Step{What: "clean", Value: what})
	}
}

// account names the entries of a clean-up that take part in cleaning a text.
func (c *cleaner) account(role chat.Role, text string) []string {
	where := "clean." + string(role)
	var out []string
	body, blocks := c.tagged(text)
	for _, b := range blocks {
		out = append(out, fmt.Sprintf("%s.tags %s: %s", where, b.name, b.what))
	}
	left := []piece{{role: role, text: text}}
	if len(blocks) > 0 {
		left = c.assemble(role, body, blocks, func(string) {})
	}
	var x scopes
	for _, p := range left {
		if p.role != role {
			continue
		}
		for _, r := range c.rules {
			if r.when == nil || x.textHolds(r.when, p.text) {
				act := "replace"
				switch {
				case r.drop:
					act = "drop"
				case r.as != "":
					act = string(r.as)
				case r.after != nil:
					act = "after"
				}
				out = append(out, r.path+": "+act)
				break
			}
		}
	}
	return out
}

// news is told of an element that no rule knew.
func (t *trace) news(r *recordRun, path string, el *value) {
	t.at().blocks++
	where := path
	switch ru := t.at().rules[len(t.at().rules)-1]; {
	case ru.use != "":
		where = "define." + ru.use
	case ru.first != nil:
		where += ".first"
	case ru.all != nil:
		where += ".all"
	}
	t.group(r, path, where, el)
	t.step(Step{What: "no rule", Rule: where, Value: t.e.quote(el.raw)})
}

// A newsGroup is records, or elements of some, of one shape that no rule knew.
type newsGroup struct {
	NoRule
	census census
}

// group counts an element that no rule knew. path is the rule's whose list was tried, ""
// for the record; where names the list.
func (t *trace) group(r *recordRun, path, where string, el *value) {
	label := r.m.label(path, el, quiet(r.scopes))
	if path != "" && !r.m.labelled(path) {
		label = r.m.label("", r.rec, quiet(r.scopes))
	}
	label = t.e.quote(label)
	i := slices.IndexFunc(t.sum.groups, func(g *newsGroup) bool { return g.Rule == where && g.Type == label })
	switch {
	case i >= 0:
	case len(t.sum.groups) < groupsMax:
		i = len(t.sum.groups)
		t.sum.groups = append(t.sum.groups, &newsGroup{NoRule: NoRule{Rule: where, Type: label, Shape: shapeOf(r.m, path, el, quiet(r.scopes)), Example: sketch(el.raw, t.e.o.Redact)}})
	default:
		i = groupsMax - 1
		t.sum.groups[i].Type, t.sum.groups[i].Rule, t.sum.groups[i].Shape = "other", "", nil
	}
	g := t.sum.groups[i]
	g.Count++
	if len(g.At) < atMax {
		g.At = append(g.At, t.place())
	}
	g.census.add(el)
	if told := t.at().told; told != nil && len(told.Looks) < groupsMax {
		var own census
		own.add(el)
		told.Looks = append(told.Looks, own.looks(g.Shape))
	}
}

// place says where the record at hand is, so that it can be asked for.
func (t *trace) place() string {
	r := t.at()
	if r.origin.Line > 0 && r.origin.Pointer == "" {
		return whereIs(r.origin)
	}
	at := r.origin.Pointer
	if parts := strings.Split(filepath.ToSlash(at), "/"); len(parts) > 4 {
		at = "…/" + strings.Join(parts[len(parts)-2:], "/")
	}
	if at == "" {
		return fmt.Sprintf("record %d", r.n)
	}
	return fmt.Sprintf("record %d (%s)", r.n, t.e.quote(at))
}

// atMax is how many places of a kind of record are named.
const atMax = 5

// shapeOf says by which values a record or element could be told from others.
func shapeOf(m *Mapping, path string, el *value, x *scopes) []Pair {
	var out []Pair
	if el.kind() != jsonObject {
		return out
	}
	for _, sel := range m.discriminators(path) {
		v := el.walk(sel, x.a)
		if v.kind() == jsonString && len(v.raw) <= labelMaxBytes {
			if key := joinPath(sel); !slices.ContainsFunc(out, func(p Pair) bool { return p.Key == key }) {
				out = append(out, Pair{key, v.str()})
			}
		}
		if len(out) == 2 {
			break
		}
	}
	return out
}

// double is told of messages that were doubles of earlier ones.
func (t *trace) double(s *sameEntry, n int) {
	if n == 0 {
		return
	}
	if t.sum.doubles == nil {
		t.sum.doubles = map[*sameEntry]int{}
	}
	t.sum.doubles[s] += n
	what := "the earlier one stays"
	if s.last {
		what = "it takes the place of the earlier one"
	}
	t.step(Step{What: "double", Rule: t.e.samePath(s), Value: what})
}

// candidate is told where a key of the conversation was found.
func (t *trace) candidate(fl field, rank int, term *term, value string) {
	ft := t.fields[fl]
	if ft == nil {
		ft = &FieldTrace{Key: fieldNames[fl]}
		t.fields[fl] = ft
	}
	ft.Candidates++
	ft.Rank, ft.From, ft.Pick = rank+1, term.src(), "first"
	if term.last {
		ft.Pick = "last"
	}
	ft.Line, ft.Pointer = 0, ""
	if r := t.at(); r != nil {
		ft.Line, ft.Pointer = r.origin.Line, r.origin.Pointer
		t.step(Step{What: "key", Field: "conversation." + ft.Key, Selector: ft.From, Value: t.e.quote(value)})
	}
}

// over is told that a conversation is complete. It keeps what is counted of it.
func (t *trace) over(c *chat.Conversation, b *builder) {
	if t == nil {
		return
	}
	own := *c
	own.Messages = nil
	t.convs = append(t.convs, &own)
	s := &t.sum
	s.conversations++
	s.messages += len(c.Messages)
	s.calls.Orphans += b.orphans
	running := false
	for i := range c.Messages {
		m := &c.Messages[i]
		switch m.Role {
		case chat.ToolCall:
			s.calls.Calls++
			if m.Running {
				s.calls.Running++
			}
		case chat.ToolResult:
			s.calls.Results++
		}
		if m.Inherited {
			s.tree.Inherited++
		}
		if m.Abandoned {
			if s.tree.Abandoned++; s.tree.From == "" {
				s.tree.From = whereIs(m.Origin)
			}
			if !running {
				s.tree.Branches++
			}
		}
		running = m.Abandoned
	}
	r := &s.read
	r.Records += c.Read.Records
	r.Used += c.Read.Used
	for what, n := range c.Read.Skipped {
		bump(&r.Skipped, what, n)
	}
	for what, n := range c.Read.NoRule {
		bump(&r.NoRule, what, n)
	}
	r.Broken = append(r.Broken, c.Read.Broken...)
	r.BrokenMore += c.Read.BrokenMore
	r.Torn = r.Torn || c.Read.Torn
	for _, w := range c.Read.Warnings {
		if len(r.Warnings) < warningsMax {
			r.Warnings = append(r.Warnings, w)
		}
	}
	r.Incomplete = cmp.Or(r.Incomplete, c.Read.Incomplete)
	head := ConversationHead{ID: c.FullID(), Row: c.Row, Title: t.e.quote(c.Title), Messages: len(c.Messages), Subagent: c.Subagent}
	s.headed = append(s.headed, head)
	if b.parent != nil {
		return
	}
	for i, ft := range t.fields {
		if ft == nil {
			continue
		}
		s.filled[i]++
		ft.Value = t.e.quote(b.fieldText(field(i)))
		s.fields = append(s.fields, *ft)
	}
}

func bump(m *map[string]int, key string, n int) {
	if *m == nil {
		*m = map[string]int{}
	}
	(*m)[key] += n
}

func add(to *map[string]int, from map[string]int) {
	for k := range maps.Keys(from) {
		bump(to, k, from[k])
	}
}

// joinPath writes a plain selector as in a mapping.
func joinPath(keys []string) string {
	out := make([]string, len(keys))
	for i, k := range keys {
		out[i] = escapeKey(k)
	}
	return strings.Join(out, ".")
}

// escapeKey writes a key as one segment of a selector.
func escapeKey(k string) string {
	if !strings.ContainsAny(k, `.*?|#@\!{}[]()=<>%:`) {
		return k
	}
	var b strings.Builder
	for i := 0; i < len(k); i++ {
		if strings.IndexByte(`.*?|#@\!{}[]()=<>%`, k[i]) >= 0 {
			b.WriteByte('\\')
		}
		b.WriteByte(k[i])
	}
	return b.String()
}
