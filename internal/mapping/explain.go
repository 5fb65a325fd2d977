package mapping

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"parlance/internal/chat"
	"parlance/internal/source"
)

// An Explanation says what a mapping makes of a file, record by record if that is asked
// for, and what it does not understand. `explain --json` prints it as it stands: names and
// meanings are a contract. Values of transcripts are on one line and cut to 120 characters.
type Explanation struct {
	File      string `json:"file"`
	SizeBytes int64  `json:"size_bytes"`
	// Verdict: "whole", nothing is left over; "partly", something is to be mended;
	// "unknown", no mapping reads the file (then Provider is empty, and Look is there).
	Verdict   string   `json:"verdict"`
	Provider  string   `json:"provider,omitempty"`
	Mapping   string   `json:"mapping,omitempty"` // its file, or "built-in"
	Sources   []string `json:"sources,omitempty"` // ids of those that read it
	Container string   `json:"container,omitempty"`
	Chosen    *Chosen  `json:"chosen,omitempty"`
	// Tried are the other sources that were asked, those that came nearest first.
	Tried []Attempt `json:"tried,omitempty"`
	// Nearest, if the verdict is unknown, is the source that missed least.
	Nearest *Attempt `json:"nearest,omitempty"`

	Conversations int                `json:"conversations"`
	Heads         []ConversationHead `json:"heads,omitempty"`
	Messages      int                `json:"messages"`
	Excluded      int                `json:"excluded,omitempty"` // conversations that the configuration hides
	// Keys are the conversation's keys and where they were found; of several conversations
	// those of the first, and Filled counts in how many each was found.
	Keys   []FieldTrace `json:"keys,omitempty"`
	Filled []KeyCount   `json:"filled,omitempty"`

	// Records = Used + Skipped + NoRule + Broken, always.
	Records Sums `json:"records"`
	// Rules in the order of the mapping, those that were taken; with All the others too.
	Rules []RuleSum `json:"rules,omitempty"`
	// NoRule are the records and elements that no rule knew, by shape, the most first.
	NoRule []NoRule `json:"no_rule,omitempty"`
	// Empty are rules that were taken and never made anything.
	Empty []EmptyRule `json:"empty,omitempty"`
	// NeverFound are selectors that looked for something and found nothing, each time.
	NeverFound []SelectorSum `json:"never_found,omitempty"`
	// NeverFired are the paths of rules that were never taken.
	NeverFired []string    `json:"never_fired,omitempty"`
	Doubles    []DoubleSum `json:"doubles,omitempty"`
	Tree       TreeSum     `json:"tree"`
	Calls      CallSum     `json:"calls"`
	BrokenAt   []BrokenAt  `json:"broken,omitempty"`
	Warnings   []string    `json:"warnings,omitempty"`
	// Absent are files of sidecar and lookups that are not there, as the mapping names them.
	Absent     []string `json:"absent,omitempty"`
	Incomplete string   `json:"incomplete,omitempty"` // the limit that ended the reading

	// Told are records step by step: all with All, else the one of Line.
	Told     []*Record `json:"told,omitempty"`
	ToldMore int       `json:"told_more,omitempty"`

	Look *Look    `json:"look,omitempty"`
	Next []string `json:"next,omitempty"` // commands to type
}

// Verdicts of an explanation.
const (
	VerdictWhole   = "whole"
	VerdictPartly  = "partly"
	VerdictUnknown = "unknown"
)

// Chosen says why a mapping was taken.
type Chosen struct {
	By      string `json:"by"`                // pattern, content, as
	Pattern string `json:"pattern,omitempty"` // "sources[0].paths[0]"
	Content string `json:"content,omitempty"` // what in the file fits
}

// An Attempt is one source asked whether it reads the file.
type Attempt struct {
	Provider string `json:"provider"`
	Source   string `json:"source"`
	Pattern  string `json:"pattern,omitempty"` // the one that fits the path, if any
	Accepts  bool   `json:"accepts"`
	Why      string `json:"why"` // what fits, or what is missing
	// Records of the file, and how many of them its rules know, if it was read for that.
	Records int `json:"records,omitempty"`
	Known   int `json:"known,omitempty"`
	// Fits says how many of the first records a rule of the source asks for.
	Fits string `json:"fits,omitempty"`

	step int // how far it came
}

// Sums are the records of a file by what became of them.
type Sums struct {
	Records int `json:"records"`
	Used    int `json:"used"`
	Skipped int `json:"skipped"`
	NoRule  int `json:"no_rule"`
	Broken  int `json:"broken"`
	// Blocks are elements without a rule in records that were used otherwise.
	Blocks    int            `json:"blocks_without_rule,omitempty"`
	Torn      bool           `json:"torn,omitempty"` // the last line is half-written; it is no record yet
	SkippedBy map[string]int `json:"skipped_by,omitempty"`
}

// A ConversationHead names one conversation of the file.
type ConversationHead struct {
	ID       string `json:"id"`
	Row      string `json:"row,omitempty"`
	Title    string `json:"title,omitempty"`
	Messages int    `json:"messages"`
	Subagent bool   `json:"subagent,omitempty"`
}

// A FieldTrace says where a key of the conversation was found.
type FieldTrace struct {
	Key        string `json:"key"`
	Value      string `json:"value"`
	From       string `json:"from"` // the expression that found it
	Line       int    `json:"line,omitempty"`
	Pointer    string `json:"pointer,omitempty"`
	Rank       int    `json:"rank"`       // its place in the list of expressions, from 1
	Candidates int    `json:"candidates"` // how often something was found, as far as it was looked for
	Pick       string `json:"pick"`
}

// A KeyCount counts the conversations in which a key was found.
type KeyCount struct {
	Key string `json:"key"`
	N   int    `json:"n"`
}

// A RuleSum counts what a rule did.
type RuleSum struct {
	Rule    string         `json:"rule"`
	Depth   int            `json:"depth"` // below other rules
	When    string         `json:"when,omitempty"`
	Each    string         `json:"each,omitempty"`
	As      string         `json:"as,omitempty"` // what it makes, if the mapping says
	Why     string         `json:"why,omitempty"`
	Taken   int            `json:"taken"`
	Made    map[string]int `json:"made,omitempty"` // messages by role, acts by name; those of inner rules too
	Nothing int            `json:"nothing,omitempty"`
	Skipped map[string]int `json:"skipped,omitempty"` // by the record's type
	Cleaned map[string]int `json:"cleaned,omitempty"` // by the entry of clean
}

// NoRule are records, or elements of some, of one shape that no rule knew.
type NoRule struct {
	Rule    string      `json:"rule,omitempty"` // whose list lacks a rule, "" = messages
	Type    string      `json:"type"`
	Shape   []Pair      `json:"shape,omitempty"` // the values by which rules tell types apart
	Count   int         `json:"count"`
	At      []string    `json:"at"` // the first places
	Example string      `json:"example"`
	Fields  []FieldLook `json:"fields,omitempty"`
	Draft   string      `json:"draft"`
}

// An EmptyRule was taken and made nothing.
type EmptyRule struct {
	Rule  string `json:"rule"`
	When  string `json:"when,omitempty"`
	Taken int    `json:"taken"`
	Found []Pair `json:"found,omitempty"` // selectors of its text, and what stood there
}

// A SelectorSum is a selector that never found anything.
type SelectorSum struct {
	At       string `json:"at"` // key path in the mapping
	Selector string `json:"selector"`
	Tried    int    `json:"tried"`
	Last     string `json:"last"` // what stood there the last time: absent, null, "", [], {}
	// Only says that nothing else in the same expression found anything either.
	Only bool `json:"only,omitempty"`
}

// A DoubleSum counts the messages that an entry of same removed.
type DoubleSum struct {
	Entry string `json:"entry"` // "same[0]"
	What  string `json:"what"`
	N     int    `json:"n"`
}

// A TreeSum counts what was given up or copied.
type TreeSum struct {
	Abandoned int    `json:"abandoned"`
	Branches  int    `json:"branches"`
	From      string `json:"from,omitempty"` // the first abandoned message
	Inherited int    `json:"inherited"`
}

// A CallSum counts calls and their results.
type CallSum struct {
	Calls   int `json:"calls"`
	Results int `json:"results"`
	Orphans int `json:"orphans"` // results without their call
	Running int `json:"running"` // calls without their result
}

// A BrokenAt is a record that could not be read.
type BrokenAt struct {
	Line int    `json:"line,omitempty"`
	Why  string `json:"why"`
}

// A Record is one record told step by step.
type Record struct {
	N         int     `json:"n"` // its number in the file, from 1
	Line      int     `json:"line,omitempty"`
	Pointer   string  `json:"pointer,omitempty"`
	Type      string  `json:"type,omitempty"`
	Outcome   string  `json:"outcome"` // used, skipped, no rule, broken
	Why       string  `json:"why,omitempty"`
	Raw       string  `json:"raw"`
	Steps     []Step  `json:"steps,omitempty"`
	StepsMore int     `json:"steps_more,omitempty"`
	Looks     []Looks `json:"looks,omitempty"` // of what no rule knew in it
}

// A Step is one thing that happened to a record.
type Step struct {
	// What: when (a rule was looked at), element (of a list), find (a selector), key (of the
	// conversation), clean, message, act, nothing, double, "no rule".
	What     string   `json:"what"`
	Depth    int      `json:"depth"`
	Rule     string   `json:"rule,omitempty"`
	When     string   `json:"when,omitempty"` // of a rule that was not taken: what did not hold
	Held     *bool    `json:"held,omitempty"`
	Field    string   `json:"field,omitempty"`
	Selector string   `json:"selector,omitempty"`
	Found    bool     `json:"found,omitempty"`
	Value    string   `json:"value,omitempty"`
	Kind     string   `json:"kind,omitempty"`
	At       *int     `json:"at,omitempty"` // byte of the record at which the value begins, from 0
	Why      string   `json:"why,omitempty"`
	Message  *Message `json:"message,omitempty"`
}

// A Message is one that came out of a rule, its texts cut.
type Message struct {
	Role   string `json:"role"`
	Text   string `json:"text,omitempty"`
	Tool   string `json:"tool,omitempty"`
	Call   string `json:"call,omitempty"`
	Failed bool   `json:"failed,omitempty"`
	Time   string `json:"time,omitempty"`
	ID     string `json:"id,omitempty"`
}

// ExplainOptions says how much of a file is to be told.
type ExplainOptions struct {
	// All tells every record, up to toldMax, and every rule and selector.
	All bool
	// Line, if set, tells the record of this line; in a container without lines, the record
	// of this number.
	Line int
	// Row is ReadOptions.Row.
	Row string
	// Keys is ReadOptions.Keys.
	Keys func(ctx context.Context, id string) (keys map[string]bool, ok bool)
	// Hide, if set, says of a conversation that it must not be shown.
	Hide func(*chat.Conversation) bool
	// Redact, if set, sees every value before it is cut and shown.
	Redact func(text string) string
}

const (
	// toldMax bounds the records that are told: more than anybody reads, less than memory.
	toldMax = 10_000
	// headsMax is how many conversations of a file are named.
	headsMax = 100
	// reasonRunes keeps a reason short that begins with a path.
	reasonRunes = 400
	// redactedBytes is how much of a value is looked through for secrets before the little of it
	// that is shown is cut.
	redactedBytes = 8 << 10
	// brokenNamedMax is how many broken records are named.
	brokenNamedMax = 20
)

// An explainer gathers what traces saw, for one file.
type explainer struct {
	m       *Mapping
	o       ExplainOptions
	infos   map[*selector]selInfo
	sum     counts
	sources []*Source
	told    []*Record
	more    int
	line    *Record // what Line is, if it is a line of text that gives no record
	quote   func(string) string
}

// A selInfo is the place of a selector in the mapping.
type selInfo struct {
	path  string // "messages[3].text"
	rule  string // the path of its rule, "" if it belongs to none
	field string // "text", "common.time"
	cond  bool   // it stands in a condition
}

// Explain reads a file and says what every rule, selector and entry of clean did with it.
// The limits are those of Read, and so are the errors: a file that no source accepts gives
// ErrNotAccepted, with an explanation in which Tried says why.
func (m *Mapping) Explain(ctx context.Context, f File, o ExplainOptions) (*Explanation, error) {
	m.prepare()
	e := &explainer{m: m, o: o, infos: m.selectorInfos(), quote: quoteValue}
	if o.Redact != nil {
		e.quote = func(s string) string { return quoteValue(o.Redact(head(s, redactedBytes))) }
	}
	out := &Explanation{File: f.Path, SizeBytes: f.Size, Provider: m.Name, Mapping: m.File}
	opts := ReadOptions{Row: o.Row, Keys: o.Keys, explain: e, Keep: func(msg *chat.Message) bool {
		msg.Note = true // its place and marks stay, its text goes
		return false
	}}
	err := m.read(ctx, f, opts, func(*chat.Conversation) error { return nil })
	if err != nil {
		return out, err
	}
	e.settle(out)
	switch {
	case o.Line == 0:
	case e.line != nil:
		out.Told = []*Record{e.line}
	case len(out.Told) == 0 || out.Told[0].Raw == "" && out.Told[0].Line > 0:
		rec, err := e.lineWithoutRecord(ctx, f.Path)
		if err != nil {
			return out, err
		}
		if len(out.Told) > 0 {
			out.Told[0].Raw = rec.Raw
		} else {
			out.Told = []*Record{rec}
		}
	}
	return out, nil
}

// passed is told of a line of text that gives no record.
func (e *explainer) passed(n int, text, why string) {
	if n == e.o.Line {
		e.line = &Record{Line: n, Raw: e.quote(text), Outcome: outcomeSkipped, Why: why}
	}
}

// selectorInfos finds the rule and the field of every selector.
func (m *Mapping) selectorInfos() map[*selector]selInfo {
	rules := map[string]bool{}
	var visit func([]*rule)
	visit = func(list []*rule) {
		for _, ru := range list {
			rules[ru.path] = true
			visit(ru.first)
			visit(ru.all)
		}
	}
	visit(m.rules)
	for _, list := range m.define {
		visit(list)
	}
	infos := make(map[*selector]selInfo, len(m.selectors))
	for _, u := range m.selectors {
		in := selInfo{path: u.path}
		rest := u.path
		for i := len(u.path); i > 0; i = strings.LastIndexByte(u.path[:i], '.') {
			if rules[u.path[:i]] {
				in.rule, rest = u.path[:i], strings.TrimPrefix(u.path[i:], ".")
				break
			}
		}
		in.field = rest
		for i, part := range strings.Split(rest, ".") {
			switch name, _, _ := strings.Cut(part, "["); name {
			case "when", "only", "except":
				in.cond = in.cond || i == 0 || in.rule != "" || name != "except" || strings.HasPrefix(rest, "tree.")
			}
		}
		infos[u.sel] = in
	}
	return infos
}

// begin gives the trace of a conversation that a source begins to read.
func (e *explainer) begin(src *Source) *trace {
	if !slices.Contains(e.sources, src) {
		e.sources = append(e.sources, src)
	}
	return &trace{e: e, src: src}
}

// wants says whether a record is told.
func (e *explainer) wants(src *Source, n int, origin chat.Origin) bool {
	switch {
	case e.o.Line > 0 && origin.Line > 0 && src.Container == "text":
		return origin.Line <= e.o.Line // the last of these is the one that holds the line
	case e.o.Line > 0 && origin.Line > 0 && src.log == "":
		return origin.Line == e.o.Line
	case e.o.Line > 0:
		return n == e.o.Line
	}
	return e.o.All
}

// tell takes a record that was told.
func (e *explainer) tell(t *trace, r *Record) {
	if e.o.Line > 0 && t.src.Container == "text" {
		t.sum.told = t.sum.told[:0]
	}
	if len(e.told)+len(t.sum.told) >= toldMax {
		e.more++
		return
	}
	t.sum.told = append(t.sum.told, r)
}

// message is a message as an explanation shows it.
func (e *explainer) message(m *chat.Message) *Message {
	out := &Message{Role: string(m.Role), Text: e.quote(m.Body()), Tool: e.quote(m.Tool), Call: e.quote(m.Call), Failed: m.Failed, ID: e.quote(m.ID)}
	if !m.Time.IsZero() {
		out.Time = m.Time.Format("2006-01-02T15:04:05.000Z")
	}
	return out
}

func (e *explainer) samePath(s *sameEntry) string {
	return fmt.Sprintf("same[%d]", slices.Index(e.m.same, s))
}

// failed is told of a record that could not be read.
func (t *trace) failed(line int, why string) {
	if t == nil {
		return
	}
	t.sum.records++
	bump(&t.sum.outcomes, outcomeBroken, 1)
	if n := t.e.sum.records + t.sum.records; t.e.wants(t.src, n, chat.Origin{Line: line}) {
		t.e.tell(t, &Record{N: n, Line: line, Outcome: outcomeBroken, Why: t.e.quote(why)})
	}
}

// dropped is told of lines that no entry of lines fits: they are skipped.
func (t *trace) dropped(n int) {
	if t != nil {
		t.sum.records += n
		bump(&t.sum.outcomes, outcomeSkipped, n)
	}
}

// done takes what the trace of a complete conversation, and of the subagents in it, counted.
func (e *explainer) done(t *trace) {
	if t == nil {
		return
	}
	if e.o.Hide != nil && slices.ContainsFunc(t.convs, e.o.Hide) {
		e.sum.denied += len(t.convs)
		return
	}
	s, o := &e.sum, &t.sum
	s.records += o.records
	s.unread += o.unread
	s.blocks += o.blocks
	s.conversations += o.conversations
	s.messages += o.messages
	add(&s.outcomes, o.outcomes)
	if s.rules == nil {
		s.rules, s.sels, s.doubles = map[*rule]*ruleTally{}, map[*selector]*selTally{}, map[*sameEntry]int{}
	}
	for ru, rt := range o.rules {
		have := s.rules[ru]
		if have == nil {
			s.rules[ru] = rt
			continue
		}
		have.taken += rt.taken
		have.nothing += rt.nothing
		add(&have.made, rt.made)
		add(&have.skipped, rt.skipped)
		add(&have.cleaned, rt.cleaned)
	}
	for sel, st := range o.sels {
		have := s.sels[sel]
		if have == nil {
			s.sels[sel] = st
			continue
		}
		have.tried += st.tried
		have.found += st.found
		have.missing = cmp.Or(st.missing, have.missing)
	}
	for entry, n := range o.doubles {
		s.doubles[entry] += n
	}
	for _, g := range o.groups {
		i := slices.IndexFunc(s.groups, func(h *newsGroup) bool { return h.Rule == g.Rule && h.Type == g.Type })
		switch {
		case i >= 0:
			s.groups[i].merge(g)
		case len(s.groups) < groupsMax:
			s.groups = append(s.groups, g)
		default:
			last := s.groups[groupsMax-1]
			last.Rule, last.Type, last.Shape = "", "other", nil
			last.merge(g)
		}
	}
	add(&s.read.Skipped, o.read.Skipped)
	s.read.Records += o.read.Records
	s.read.Used += o.read.Used
	s.read.Broken = append(s.read.Broken, o.read.Broken[:min(len(o.read.Broken), max(0, brokenNamedMax-len(s.read.Broken)))]...)
	s.read.BrokenMore += o.read.BrokenMore
	s.read.Torn = s.read.Torn || o.read.Torn
	s.read.Warnings = append(s.read.Warnings, o.read.Warnings[:min(len(o.read.Warnings), max(0, warningsMax-len(s.read.Warnings)))]...)
	s.misses(o.absent)
	s.read.Incomplete = cmp.Or(s.read.Incomplete, o.read.Incomplete)
	s.headed = append(s.headed, o.headed[:min(len(o.headed), max(0, headsMax-len(s.headed)))]...)
	if s.fields == nil {
		s.fields = o.fields
	}
	for i, n := range o.filled {
		s.filled[i] += n
	}
	s.calls.Calls += o.calls.Calls
	s.calls.Results += o.calls.Results
	s.calls.Orphans += o.calls.Orphans
	s.calls.Running += o.calls.Running
	s.tree.Abandoned += o.tree.Abandoned
	s.tree.Branches += o.tree.Branches
	s.tree.Inherited += o.tree.Inherited
	s.tree.From = cmp.Or(s.tree.From, o.tree.From)
	if e.o.Line > 0 && len(o.told) > 0 {
		e.told = e.told[:0]
	}
	e.told = append(e.told, o.told...)
}

func (g *newsGroup) merge(o *newsGroup) {
	g.Count += o.Count
	for _, at := range o.At {
		if len(g.At) < atMax {
			g.At = append(g.At, at)
		}
	}
	g.census.n += o.census.n
	for _, f := range o.census.fields {
		g.census.merge(f)
	}
}

// settle writes the explanation.
func (e *explainer) settle(out *Explanation) {
	s := &e.sum
	for _, src := range e.sources {
		out.Sources = append(out.Sources, src.ID)
		out.Container = cmp.Or(src.Container, "decoder "+src.Decoder)
		if src.Decoder != "" {
			out.Container = "decoder " + src.Decoder
		}
		if src.replay != nil {
			out.Container += " of edits"
		}
	}
	out.Conversations, out.Messages, out.Excluded = s.conversations, s.messages, s.denied
	out.Heads, out.Keys = s.headed, s.fields
	if s.conversations > 1 {
		for i, n := range s.filled {
			if n > 0 {
				out.Filled = append(out.Filled, KeyCount{fieldNames[i], n})
			}
		}
	}
	out.Records = Sums{
		Records: s.records, Used: s.outcomes[outcomeUsed], Skipped: s.outcomes[outcomeSkipped],
		NoRule: s.outcomes[outcomeNoRule], Broken: s.outcomes[outcomeBroken],
		Blocks: s.blocks, Torn: s.read.Torn, SkippedBy: quotedKeys(s.read.Skipped),
	}
	e.rules(out)
	slices.SortStableFunc(s.groups, func(a, b *newsGroup) int { return cmp.Compare(b.Count, a.Count) })
	for _, g := range s.groups {
		l := g.census.looks(g.Shape)
		g.Fields, g.Draft = l.Fields, l.Draft
		out.NoRule = append(out.NoRule, g.NoRule)
	}
	e.selectors(out)
	for i, entry := range e.m.same {
		if n := s.doubles[entry]; n > 0 {
			out.Doubles = append(out.Doubles, DoubleSum{fmt.Sprintf("same[%d]", i), entry.text(), n})
		}
	}
	out.Tree, out.Calls = s.tree, s.calls
	for _, b := range s.read.Broken {
		out.BrokenAt = append(out.BrokenAt, BrokenAt{b.Line, cutRunes(strings.Join(strings.Fields(b.Why), " "), reasonRunes)})
	}
	for _, w := range s.read.Warnings {
		out.Warnings = append(out.Warnings, e.quote(w))
	}
	out.Absent = s.absent
	out.Incomplete = s.read.Incomplete
	out.Told, out.ToldMore = e.told, e.more
	out.Verdict = VerdictWhole
	if r := out.Records; r.NoRule+r.Blocks+r.Broken > 0 || out.Messages == 0 || out.Incomplete != "" {
		out.Verdict = VerdictPartly
	}
}

func quotedKeys(m map[string]int) map[string]int {
	var out map[string]int
	for k, n := range m {
		bump(&out, quoteValue(k), n)
	}
	return out
}

// text says what an entry of same compares.
func (s *sameEntry) text() string {
	what := "any"
	switch {
	case s.record:
		what = "record"
	case s.roles != nil:
		var roles []string
		for _, r := range chat.Roles {
			if s.roles[r] {
				roles = append(roles, string(r))
			}
		}
		what = strings.Join(roles, ", ")
	}
	return what + " by " + s.by
}

// rules counts them in the order of the mapping. A list of define is told where it is first used.
func (e *explainer) rules(out *Explanation) {
	seen := map[*rule]bool{}
	var visit func(list []*rule, depth int)
	visit = func(list []*rule, depth int) {
		for _, ru := range list {
			if seen[ru] {
				continue
			}
			seen[ru] = true
			below := [][]*rule{ru.first, ru.all, ru.useRules}
			if ru.use != "" && ru.when == nil && len(ru.in)+len(ru.each) == 0 {
				visit(ru.useRules, depth) // a rule that is nothing but a name for others
				continue
			}
			t := e.sum.rules[ru]
			if t == nil {
				out.NeverFired = append(out.NeverFired, strings.TrimSpace(ru.path+" "+ru.when.flow(whenRunes)))
				continue
			}
			r := RuleSum{Rule: ru.path, Depth: depth, When: ru.when.flow(whenRunes), As: ru.as, Why: ru.why, Taken: t.taken,
				Made: t.made, Nothing: t.nothing, Skipped: t.skipped, Cleaned: t.cleaned}
			for _, sel := range append(slices.Clone(ru.in), ru.each...) {
				r.Each = strings.TrimSpace(r.Each + " " + sel.src)
			}
			if ru.as == actSubagent {
				r.Made = map[string]int{actSubagent: t.taken}
			}
			out.Rules = append(out.Rules, r)
			for _, list := range below {
				visit(list, depth+1)
			}
			if leaf := ru.asExpr != nil || ru.as != ""; leaf && t.nothing == t.taken && t.made == nil && t.skipped == nil && ru.as != actSubagent {
				out.Empty = append(out.Empty, EmptyRule{Rule: ru.path, When: ru.when.flow(whenRunes), Taken: t.taken, Found: e.foundIn(ru.text)})
			}
		}
	}
	for _, src := range e.sources {
		visit(e.m.rulesOf(src), 0)
	}
}

// foundIn says what the selectors of a text that was empty looked at.
func (e *explainer) foundIn(x *expr) []Pair {
	var out []Pair
	if x == nil {
		return nil
	}
	for _, t := range x.terms {
		for _, s := range t.sels {
			if st := e.sum.sels[s]; st != nil {
				out = append(out, Pair{s.src, st.missing})
			}
		}
		for _, sub := range t.concat {
			out = append(out, e.foundIn(sub)...)
		}
	}
	return out
}

// selectors names those that never found anything. A condition that looks in vain is doing
// its work.
func (e *explainer) selectors(out *Explanation) {
	group := func(path string) string {
		if i := strings.LastIndexByte(path, '['); i >= 0 && strings.HasSuffix(path, "]") {
			return path[:i]
		}
		return path
	}
	found := map[string]bool{}
	for _, u := range e.m.selectors {
		if st := e.sum.sels[u.sel]; st != nil && st.found > 0 {
			found[group(e.infos[u.sel].path)] = true
		}
	}
	for _, u := range e.m.selectors {
		in, st := e.infos[u.sel], e.sum.sels[u.sel]
		if st == nil || st.found > 0 || in.cond {
			continue
		}
		out.NeverFound = append(out.NeverFound, SelectorSum{At: in.path, Selector: u.sel.src, Tried: st.tried, Last: st.missing, Only: !found[group(in.path)]})
	}
}

// lineWithoutRecord says what a line is that gave no record.
func (e *explainer) lineWithoutRecord(ctx context.Context, path string) (*Record, error) {
	lines := len(e.sources) > 0 && (e.sources[0].Container == "jsonl" && e.sources[0].replay == nil && e.sources[0].conversations == nil || e.sources[0].Container == "text")
	if !lines {
		return nil, fmt.Errorf("%s: record %d: %w: it has %s", path, e.o.Line, ErrNoLine, plural(e.sum.records, "record"))
	}
	f, err := source.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var rec *Record
	n := 0
	err = source.Lines(ctx, f, func(l source.Line) error {
		if n = l.N; n < e.o.Line {
			return nil
		}
		text := view(l.Data)
		rec = &Record{Line: n, Raw: quoteValue(text), Outcome: outcomeSkipped, Why: "a blank line"}
		switch {
		case strings.TrimSpace(text) == "":
		case l.Open && e.sources[0].Container == "jsonl":
			rec.Why = "half-written: it has no end yet, and is no record until it has"
		case e.sources[0].Container == "jsonl":
			rec.Outcome, rec.Why = outcomeBroken, "not one whole JSON object"
		}
		return errStop
	})
	if err != nil && !errors.Is(err, errStop) {
		return nil, err
	}
	if rec == nil {
		return nil, fmt.Errorf("%s: line %d: %w: it has %s", path, e.o.Line, ErrNoLine, plural(n, "line"))
	}
	return rec, nil
}

// ErrNoLine is wrapped by Explain if ExplainOptions.Line lies behind the end of the file.
var ErrNoLine = errors.New("the file ends before it")

// packedSuffixOf names the packing of a file, "" if it is none.
func packedSuffixOf(path string) string {
	if name := filepath.Base(path); unpackedName(name) != name {
		return strings.TrimPrefix(strings.TrimPrefix(name, unpackedName(name)), ".")
	}
	return ""
}
