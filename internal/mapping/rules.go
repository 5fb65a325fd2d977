package mapping

import (
	"fmt"
	"hash/maphash"
	"sort"
	"strings"
	"time"
	"unicode/utf8"

	"parlance/internal/chat"
	"parlance/internal/source"
)

// A made is one message on the way into its conversation, with what only the interpreter
// needs to know of it.
//
// The message of one whose text nobody wants any more is let go: then Message is shared by
// all such ones of its role, and what its conversation still needs stands beside it, so that
// memory grows by a few words with each message and not with what was said.
type made struct {
	*chat.Message
	unit   *unit
	source *rule

	id        *string // only for rewinds
	tool      string  // one string for all messages of a tool
	call      hash
	time      int64 // in ms, 0 = not recorded
	never     bool  // a call whose tool records no outcomes
	gone      bool  // replaced, or removed as a double
	abandoned bool
	inherited bool
	running   bool
	letGo     bool
}

// A hash stands for an id: 128 bits, so that two ids of a file never share one. The zero
// hash is that of "".
type hash [2]uint64

var hashSeeds = [2]maphash.Seed{maphash.MakeSeed(), maphash.MakeSeed()}

func hashOf(s string) hash {
	if s == "" {
		return hash{}
	}
	return hash{maphash.String(hashSeeds[0], s), maphash.String(hashSeeds[1], s)}
}

// dropped is the message of all that were let go, by role.
var dropped = func() map[chat.Role]*chat.Message {
	shared := map[chat.Role]*chat.Message{}
	for _, r := range chat.Roles {
		shared[r] = &chat.Message{Role: r, Elided: true}
	}
	return shared
}()

// settle takes what the conversation needs of m out of its message.
func (m *made) settle(b *builder) {
	m.tool, m.call, m.abandoned = b.sameString(m.Tool), hashOf(m.Call), m.Message.Abandoned
	if !m.Time.IsZero() {
		m.time = m.Time.UnixMilli()
	}
	if b.m.rewinds && m.ID != "" {
		id := m.ID
		m.id = &id
	}
}

// message is m as it stands in the conversation.
func (m *made) message() chat.Message {
	out := *m.Message
	out.Abandoned, out.Inherited, out.Running = m.abandoned, m.inherited, m.running
	out.Tool = m.tool
	if m.letGo && m.time != 0 {
		out.Time = time.UnixMilli(m.time).UTC()
	}
	return out
}

// A recordRun is the interpretation of one record.
type recordRun struct {
	*scopes
	m       *Mapping
	b       *builder
	opts    *ReadOptions
	origin  chat.Origin
	out     []*made
	acted   bool // a rule was taken
	skipped bool // and it was a skip
	unknown bool // no rule knew the record, or a block of it
	failed  bool // the record is broken after all
	common  commonValues
	raw     string

	checkpoint int // does the record hold a checkpoint line: 0 not looked yet, 1 no, 2 yes
}

// commonValues are what `common` gave for this record, read when first needed.
type commonValues struct {
	done      bool
	time      time.Time
	id, reply string
	abandoned bool
}

// rules tries a list like `first`: the first rule that holds is taken. It says whether one was.
func (r *recordRun) rules(list []*rule, f *frame) bool {
	for _, ru := range list {
		if ru.as == actSubagent {
			continue // the reader has routed the record already
		}
		held := r.holds(ru.when, f)
		if r.tr != nil {
			r.tr.tried(r.scopes, ru, f, held)
		}
		if held {
			r.take(ru, f)
			return true
		}
	}
	return false
}

// take applies one rule to the element of f.
func (r *recordRun) take(ru *rule, f *frame) {
	if r.tr != nil {
		r.tr.take(r, ru, f)
		return
	}
	r.follow(ru, f)
}

// follow goes where a rule's in and each lead, and applies the rule there.
func (r *recordRun) follow(ru *rule, f *frame) {
	if len(ru.in) > 0 {
		g := r.first(ru.in, f)
		if g.kind != gotJSON || g.v.kind() != jsonObject {
			r.news(ru.path, f.elem)
			return
		}
		f = &frame{elem: g.v, up: f}
	}
	if len(ru.each) == 0 {
		r.apply(ru, f)
		return
	}
	g := r.first(ru.each, f)
	if g.kind == gotText {
		g = got{kind: gotJSON, v: textItem(g.text)}
	}
	if g.kind != gotJSON {
		r.acted = true // empty: nothing is made, and that is known
		if r.tr != nil {
			r.tr.empty(ru)
		}
		return
	}
	switch g.v.kind() {
	case jsonString:
		r.apply(ru, &frame{elem: stringItem(g.v), up: f})
	case jsonObject:
		r.apply(ru, &frame{elem: g.v, up: f})
	case jsonArray:
		elems := g.v.list(r.a)
		if len(elems) == 0 {
			r.acted = true
			if r.tr != nil {
				r.tr.empty(ru)
			}
		}
		for i := 0; i < len(elems); i++ {
			if r.tr != nil {
				r.tr.element(i+1, len(elems))
			}
			el := &elems[i]
			if el.kind() == jsonString {
				el = stringItem(el)
			}
			ef := &frame{elem: el, up: f}
			if i+1 < len(elems) {
				ef.next = &elems[i+1]
				if ef.next.kind() == jsonString {
					ef.next = stringItem(ef.next)
				}
			}
			r.apply(ru, ef)
			if ef.nextUsed {
				i++
			}
		}
	default:
		r.news(ru.path, g.v)
	}
}

// apply does what a rule says on the element that its when, in and each led to.
func (r *recordRun) apply(ru *rule, f *frame) {
	switch {
	case len(ru.first) > 0:
		if !r.rules(ru.first, f) {
			r.news(ru.path, f.elem)
		}
	case len(ru.useRules) > 0:
		if !r.rules(ru.useRules, f) {
			r.news(ru.path, f.elem)
		}
	case len(ru.all) > 0:
		held := false
		for _, sub := range ru.all {
			holds := r.holds(sub.when, f)
			if r.tr != nil {
				r.tr.tried(r.scopes, sub, f, holds)
			}
			if holds {
				held = true
				r.take(sub, f)
			}
		}
		if !held {
			r.news(ru.path, f.elem)
		}
	case r.tr != nil:
		r.tr.make(r, ru, f)
	default:
		r.make(ru, f)
	}
}

func (r *recordRun) make(ru *rule, f *frame) {
	as := ru.as
	if ru.asExpr != nil {
		as = r.evalText(ru.asExpr, f)
		switch chat.Role(as) {
		case chat.User, chat.Assistant, chat.Reasoning, chat.System, chat.Compaction:
		default:
			r.news(ru.path, f.elem)
			return
		}
	}
	r.acted = true
	r.using = true
	defer func() { r.using = false }()
	switch as {
	case actSkip:
		r.skipped = true
	case actReset:
		r.b.reset(r, ru, f)
	case actRewind:
		r.b.rewind(r.evalText(ru.to, f))
	case actRollback:
		r.b.rollback(r.evalText(ru.turns, f))
	case string(chat.ToolCall):
		r.call(ru, f)
	case string(chat.ToolResult):
		m := r.message(ru, f, chat.ToolResult)
		m.Tool = r.evalText(ru.name, f)
		m.Call = r.evalText(ru.call, f)
		r.resultText(m, ru.text, ru.failed, f)
		m.Diff = r.diff(ru.diff, f)
		r.out = append(r.out, m)
	default:
		r.prose(ru, f, chat.Role(as))
	}
}

// prose makes the messages of one text: cleaned, one for each piece.
func (r *recordRun) prose(ru *rule, f *frame, role chat.Role) {
	text := r.evalText(ru.text, f)
	if text == "" && ru.more { // a piece may be a blank, or a line end
		text = r.text(r.present(ru.text, f))
	}
	name := r.evalText(ru.name, f)
	pieces := []piece{{role: role, text: text}}
	if strings.TrimSpace(text) != "" {
		pieces = r.m.clean[role].apply(role, text, func(what string) { count(&r.b.conv.Read.Dropped, what) })
		if r.tr != nil {
			r.tr.cleaned(r.m.clean[role], role, text, pieces)
		}
	}
	for _, p := range pieces {
		blank := strings.TrimSpace(p.text) == "" && (p.text == "" || !ru.more)
		if blank && p.role != chat.Compaction && p.role != chat.ToolCall {
			continue
		}
		m := r.message(ru, f, p.role)
		if p.role == chat.ToolCall {
			m.Tool, m.Input = p.tool, p.text
			r.out = append(r.out, m)
			continue
		}
		m.Text = p.text
		if p.role == role {
			m.Tool = name
		}
		r.out = append(r.out, m)
	}
}

func (r *recordRun) call(ru *rule, f *frame) {
	m := r.message(ru, f, chat.ToolCall)
	m.Tool = r.evalText(ru.name, f)
	m.Call = r.evalText(ru.call, f)
	m.Input = r.input(ru.input, f)
	m.Diff = r.diff(ru.diff, f)
	m.never = ru.resultNever
	r.out = append(r.out, m)
	res := ru.result
	if res == nil {
		return
	}
	if res.when != nil && !r.holds(res.when, f) || res.when == nil && (res.text == nil || !r.exists(res.text, f)) {
		return
	}
	o := r.message(ru, f, chat.ToolResult)
	o.Tool, o.Call, o.Time = m.Tool, m.Call, m.Time
	o.Child, o.Title = "", "" // they stand on the call
	if t := r.evalTime(res.time, f); !t.IsZero() {
		o.Time = t
	}
	r.resultText(o, res.text, res.failed, f)
	o.Diff = r.diff(res.diff, f)
	o.ID = m.ID
	r.out = append(r.out, o)
	m.never = true // its outcome stands beside it, whatever the ids say
}

// checkpointMark is what every checkpoint line holds; records with it are always decoded.
const checkpointMark = "CHAT CHECKPOINT UUID" // without the "=", which some JSON writers escape

// resultText fills in what a tool said. It is the bulk of most transcripts, so it stays
// undecoded where the reader does not want it, unless a checkpoint may be in it.
func (r *recordRun) resultText(m *made, text, failed *expr, f *frame) {
	if text != nil && r.opts.SkipToolText && !r.holdsCheckpoint() {
		m.Elided = true
		return
	}
	m.Text = r.evalText(text, f)
	m.Failed = r.evalTruth(failed, f)
}

func (r *recordRun) holdsCheckpoint() bool {
	if r.checkpoint == 0 {
		r.checkpoint = 1
		if strings.Contains(r.raw, checkpointMark) {
			r.checkpoint = 2
		}
	}
	return r.checkpoint == 2
}

// message begins a message with what rule and common say of every one.
func (r *recordRun) message(ru *rule, f *frame, role chat.Role) *made {
	c := r.commons()
	m := &made{Message: &chat.Message{}, source: ru}
	m.Role, m.Rule, m.Origin = role, ru.path, r.origin
	m.ID, m.Reply, m.Time = c.id, c.reply, c.time
	m.Message.Abandoned = c.abandoned
	if ru.id != nil {
		if s := r.evalText(ru.id, f); s != "" {
			m.ID = s
		}
	}
	if ru.reply != nil {
		if s := r.evalText(ru.reply, f); s != "" {
			m.Reply = s
		}
	}
	if t := r.evalTime(ru.time, f); !t.IsZero() {
		m.Time = t
	}
	if ru.abandoned != nil && r.evalTruth(ru.abandoned, f) {
		m.Message.Abandoned = true
	}
	m.Child = r.evalText(ru.child, f)
	m.Title = strings.Clone(chat.Head(strings.TrimSpace(r.evalText(ru.title, f)), titleRunes))
	return m
}

// titleRunes is more of a title than a line shows.
const titleRunes = 400

// commons reads `common`, always on the record.
func (r *recordRun) commons() *commonValues {
	c := &r.common
	if !c.done {
		c.done = true
		f := &frame{elem: r.rec}
		c.time = r.evalTime(r.m.common.time, f)
		c.id = r.evalText(r.m.common.id, f)
		c.reply = r.evalText(r.m.common.reply, f)
		c.abandoned = r.evalTruth(r.m.common.abandoned, f)
	}
	return c
}

func (r *recordRun) diff(d *diff, f *frame) string {
	if d == nil || r.opts.SkipToolText {
		return ""
	}
	if d.text != nil {
		return r.evalText(d.text, f)
	}
	var b strings.Builder
	if d.patch != nil {
		hunks := r.find(d.patch, f)
		if hunks.kind != gotJSON {
			return ""
		}
		elems := hunks.v.list(r.a)
		for i := range elems {
			h := &elems[i]
			lines := h.get("lines", r.a).list(r.a)
			var body strings.Builder
			olds, news := 0, 0
			for j := range lines {
				line := lines[j].str()
				body.WriteString(line + "\n")
				if !strings.HasPrefix(line, "+") {
					olds++
				}
				if !strings.HasPrefix(line, "-") {
					news++
				}
			}
			fmt.Fprintf(&b, "@@ -%s,%d +%s,%d @@\n", h.start("oldStart", r.a), olds, h.start("newStart", r.a), news)
			b.WriteString(body.String())
		}
		return strings.TrimSuffix(b.String(), "\n")
	}
	old, new := r.diffLines(d.old, f), r.diffLines(d.new, f)
	if d.whole {
		same := 0
		for same < min(len(old), len(new)) && old[same] == new[same] {
			same++
		}
		old, new = old[same:], new[same:]
		for len(old) > 0 && len(new) > 0 && old[len(old)-1] == new[len(new)-1] {
			old, new = old[:len(old)-1], new[:len(new)-1]
		}
		if len(old)+len(new) > 0 {
			fmt.Fprintf(&b, "@@ -%d,%d +%d,%d @@\n", hunkStart(same, len(old)), len(old), hunkStart(same, len(new)), len(new))
		}
	}
	for _, line := range old {
		b.WriteString("-" + line + "\n")
	}
	for _, line := range new {
		b.WriteString("+" + line + "\n")
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// diffLines are the lines of one side of a change.
func (r *recordRun) diffLines(sel *selector, f *frame) []string {
	if sel == nil {
		return nil
	}
	text := r.text(r.find(sel, f))
	if text == "" {
		return nil
	}
	return strings.Split(strings.TrimSuffix(text, "\n"), "\n")
}

// hunkStart is the number of the first of n lines behind some; of none, that of the line before.
func hunkStart(before, n int) int {
	if n == 0 {
		return before
	}
	return before + 1
}

// start is a line number of a hunk, 0 if it is not given.
func (v *value) start(key string, a *arena) string {
	if n := v.get(key, a); n.kind() == jsonNumber {
		return n.raw
	}
	return "0"
}

// news counts an element that no rule knew.
func (r *recordRun) news(path string, el *value) {
	r.acted, r.unknown = true, true
	if r.tr != nil {
		r.tr.news(r, path, el)
	}
	place, what := path, el
	if !r.m.labelled(path) {
		place, what = "", r.rec
	}
	r.b.news(r.scopes, path, place, what, el)
}

// news counts an element under the type that the rules at place tell it by, and shows it to
// the reader who asked for it. rule is where it was met.
func (b *builder) news(x *scopes, rule, place string, typed, el *value) {
	kind := b.m.label(place, typed, x)
	count(&b.conv.Read.NoRule, kind)
	if b.opts.News != nil && el.kind() != jsonAbsent {
		b.opts.News(rule, kind, el.raw)
	}
}

// glued joins neighbouring pieces of one role. The later piece's glue decides; time, id
// and the rest are the first one's.
func (r *recordRun) glued(list []*made) []*made {
	out := list[:0]
	for _, m := range list {
		if len(out) > 0 {
			last := out[len(out)-1]
			glue := m.source.glue
			if glue == nil {
				glue = r.m.common.glue
			}
			if last.Role == m.Role && isProse(m.Role) && (glue == nil || !glue.off) && last.source.layer == m.source.layer {
				sep := defaultJoin
				if glue != nil {
					sep = glue.text
				}
				last.Text += sep + m.Text
				continue
			}
		}
		out = append(out, m)
	}
	return out
}

func isProse(r chat.Role) bool {
	return r == chat.User || r == chat.Assistant || r == chat.Reasoning || r == chat.System
}

// textMaxBytes bounds the text of one message: 64 MB is beyond anything a person reads, and
// the whole must fit in memory several times over.
const textMaxBytes = source.MessageMaxBytes

func cutText(s string) string {
	if len(s) <= textMaxBytes {
		return s
	}
	n := textMaxBytes
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}

// label names the type of a record or block by the values its rules tell types apart by:
// "progress", "event_msg/token_count".
func (m *Mapping) label(path string, el *value, x *scopes) string {
	if el.kind() != jsonObject {
		return jsonNames[el.kind()]
	}
	var parts []string
	for _, sel := range m.discriminators(path) {
		v := el.walk(sel, x.a)
		if v.kind() == jsonString && len(v.raw) <= labelMaxBytes {
			parts = append(parts, v.str())
		}
		if len(parts) == 2 {
			break
		}
	}
	if len(parts) > 0 {
		return strings.Join(parts, "/")
	}
	el.open(x.a)
	keys := make([]string, 0, len(el.members))
	for _, mem := range el.members {
		keys = append(keys, unquote(mem.key))
	}
	sort.Strings(keys)
	if len(keys) > 3 {
		keys = append(keys[:3], "…")
	}
	return "{" + strings.Join(keys, ", ") + "}"
}

// labelMaxBytes keeps a label a word: a longer value does not name a type.
const labelMaxBytes = 66

// discriminators are the paths that the rules at a place compare with words, those of the
// record's list under "".
func (m *Mapping) discriminators(path string) [][]string {
	if m.labelled(path) {
		return m.labels[path]
	}
	return m.labels[""]
}

// labelled says whether the elements at a place have types of their own.
func (m *Mapping) labelled(path string) bool {
	m.labelsOnce.Do(func() {
		m.labels = map[string][][]string{}
		var visit func(key string, list []*rule, prefix []string, level int)
		visit = func(key string, list []*rule, prefix []string, level int) {
			if level > rulesDepthMax {
				return
			}
			for _, ru := range list {
				m.collect(key, ru.when, prefix)
				next, at := key, prefix
				if len(ru.each) > 0 {
					next, at = ru.path, nil
				} else if len(ru.in) > 0 {
					if len(ru.in) == 1 && ru.in[0].scope == scopeNone && ru.in[0].plain != nil {
						at = append(append([]string(nil), prefix...), ru.in[0].plain...)
					} else {
						next, at = ru.path, nil
					}
				}
				for _, sub := range [][]*rule{ru.first, ru.all, ru.useRules} {
					visit(next, sub, at, level+1)
				}
			}
		}
		visit("", m.rules, nil, 0)
		for _, s := range m.Sources {
			if s.messages != "" {
				visit("", m.define[s.messages], nil, 0)
			}
		}
	})
	_, ok := m.labels[path]
	return ok
}

// rulesDepthMax bounds how deep rules nest, by first, all and use together.
const rulesDepthMax = source.RulesMaxDepth

func (m *Mapping) collect(key string, c *cond, prefix []string) {
	if c == nil {
		return
	}
	for _, t := range c.tests {
		if t.sel.scope != scopeNone || t.sel.plain == nil || t.sel.whole || len(t.pred.equal) == 0 || t.pred.equal[0] == "true" || t.pred.equal[0] == "false" {
			continue
		}
		sel := append(append([]string(nil), prefix...), t.sel.plain...)
		known := false
		for _, have := range m.labels[key] {
			known = known || strings.Join(have, "\x00") == strings.Join(sel, "\x00")
		}
		if !known {
			m.labels[key] = append(m.labels[key], sel)
		}
	}
	for _, a := range c.any {
		m.collect(key, a, prefix)
	}
}
