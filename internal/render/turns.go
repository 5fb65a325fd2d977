package render

import (
	"io"
	"strings"
	"unicode/utf8"

	"parlance/internal/chat"
)

// Caps of the conversation document. They keep a page that follows a conversation small; the
// document says where one was reached. Uncut lifts them.
const (
	windowTurns    = 200  // the newest of the conversation, or of what is before a number
	turnTextRunes  = 6000 // of a turn, all its pieces together
	resultRunes    = 800  // of the answer to a call, "…" behind
	turnCalls      = 64   // of a turn; what else the record called for is left out
	diffLines      = 200  // of a change as the tool stored it
	inputDiffLines = 60   // of a change as it stands in a call's input, which may be a whole file
)

// compacted stands for a compaction that left no summary.
const compacted = "The context was compacted here; earlier turns are gone from it."

// TurnsOptions say which turns of a conversation are wanted.
type TurnsOptions struct {
	// Tools says how calls are shown in one line; nil shows their names only.
	Tools *Tools
	// Before, if set, ends the window before the turn of that number. It may be 0: nothing.
	Before *int
	// After leaves out the turns of lower numbers. The turn itself is given, because the
	// newest may have grown since.
	After int
	// Stamp is the state of the file from before it was read, for the next poll.
	Stamp string
	Uncut bool
	// Redact may be nil. What it replaced in the texts and inputs that were looked at is counted
	// at the end.
	Redact Redactor
	counts tally
}

// counted is where secrets are counted.
func (o *TurnsOptions) counted() tally {
	if o.counts == nil {
		o.counts = tally{}
	}
	return o.counts
}

// A turnsHead is the conversation document, but for its turns.
type turnsHead struct {
	Supported bool   `json:"supported"`
	Turns     []turn `json:"turns"`
	Earlier   int    `json:"earlier"`
	Note      string `json:"note,omitempty"`
	Stamp     string `json:"stamp,omitempty"`
	Unchanged bool   `json:"unchanged,omitempty"`
}

// A turn is what somebody said, and the calls that were made with it.
type turn struct {
	Seq     int         `json:"seq"`
	Role    string      `json:"role"` // user, assistant or system
	Kind    string      `json:"kind"` // message, reasoning or compaction
	Time    string      `json:"ts"`
	Text    string      `json:"text"`
	Clipped bool        `json:"clipped,omitempty"`
	Tools   []shownCall `json:"tools,omitempty"`
}

type shownCall struct {
	Name    string   `json:"name"`
	Detail  string   `json:"detail"`
	Full    string   `json:"full,omitempty"`
	Result  *string  `json:"result,omitempty"` // none: still running; "": finished, nothing kept
	Failed  bool     `json:"failed,omitempty"`
	Added   int      `json:"added,omitempty"`
	Removed int      `json:"removed,omitempty"`
	Diff    []string `json:"diff,omitempty"`
	Child   string   `json:"child,omitempty"`
}

// TurnsUnreadable is the document of a conversation that is known and cannot be read.
func TurnsUnreadable(note string) []byte {
	return append(encode(turnsHead{Turns: []turn{}, Note: note}), '\n')
}

// TurnsUnchanged answers a poll about a conversation whose file is as it was.
func TurnsUnchanged(stamp string) []byte {
	return append(encode(turnsHead{Supported: true, Turns: []turn{}, Stamp: stamp, Unchanged: true}), '\n')
}

// Turns writes a conversation as one JSON document on one line: who said what, with the calls
// that were made and what came of each. What was given up is left out.
//
// Turns are numbered from 0 in the order of the conversation, whatever part of them is
// wanted. Texts are looked at only where they are shown. The conversation must have been read
// whole, or with a TurnsDigester's Keep; ErrElided is only returned then, and before anything
// is written.
func Turns(w io.Writer, c *chat.Conversation, o TurnsOptions) error {
	b := newTurnsBuilder(&o)
	for i := range c.Messages {
		b.message(&c.Messages[i])
	}
	wanted := b.held[:0:0]
	for _, t := range b.held {
		if t.seq < o.After || len(t.pieces) == 0 && len(t.calls) == 0 {
			continue
		}
		if t.elided() {
			return ErrElided
		}
		wanted = append(wanted, t)
	}
	out := sink{w: w}
	out.put(`{"supported":true,"turns":[`)
	for i, t := range wanted {
		if i > 0 {
			out.put(",")
		}
		out.put(string(encode(t.shown(c.Provider, &o))))
	}
	rest := encode(struct {
		Earlier int    `json:"earlier"`
		Stamp   string `json:"stamp,omitempty"`
	}{b.earlier, o.Stamp})
	out.put("],", string(rest[1:len(rest)-1]), o.counts.json(), "}\n")
	return out.err
}

// A turnText is what a message says, as far as the document may show it.
type turnText struct {
	text   string
	blank  bool
	elided bool // the text is gone
}

// drop lets the text go, of which nothing will be shown.
func (t *turnText) drop() { t.text, t.elided = "", true }

// textOf is what a message says: what a TurnsDigester noted of it, or all of it.
func (o *TurnsOptions) textOf(m *chat.Message) *turnText {
	if t, ok := m.Note.(*turnText); ok {
		return t
	}
	text := m.Body()
	if m.Role == chat.System {
		text = o.Tools.tidy(text)
	}
	return &turnText{text: text, blank: !m.Elided && chat.Blank(text), elided: m.Elided}
}

// A TurnsDigester lets the document of a conversation of any size be made in little memory:
// its Keep notes what the document may show of each message while that is read, and keeps
// only the window. Messages are noted in the order of their records; where the conversation
// turns out to have another order (branches that were given up, records replaced later), a
// text may be missing that is to be shown: Turns then returns ErrElided, and the conversation
// must be read again, whole.
type TurnsDigester struct {
	o TurnsOptions
	b *turnsBuilder
}

// NewTurnsDigester makes a TurnsDigester for one reading and a document with o, which may not
// be uncut.
func NewTurnsDigester(o TurnsOptions) *TurnsDigester {
	d := &TurnsDigester{o: o}
	d.Next()
	return d
}

// Next begins another conversation.
func (d *TurnsDigester) Next() {
	d.b = newTurnsBuilder(&d.o)
	d.b.dropped = (*turnText).drop
}

// Keep is a Keep of the reader's options: it notes what is wanted, and lets the message go.
func (d *TurnsDigester) Keep(m *chat.Message) bool {
	m.Note = nil
	t := d.o.textOf(m)
	most := turnTextRunes
	switch m.Role {
	case chat.ToolCall:
		most = len(t.text)
	case chat.ToolResult:
		most = resultRunes
	}
	// Space around a text is not shown, one character more tells that it was cut, and secrets
	// are looked for behind the cut.
	text := t.text
	if m.Role != chat.ToolCall {
		text = strings.TrimSpace(text)
	}
	if head := chat.Head(text, most+1); len(head) < len(text) {
		if d.o.Redact != nil {
			head += beyond(text[len(head):])
		}
		text = head
	}
	t.text = strings.Clone(text) // so that it does not hold on to the record it was cut from
	m.Note = t
	d.b.message(m)
	return false
}

// A heldTurn points at the messages that make a turn; nothing is cut or counted before it is shown.
type heldTurn struct {
	seq        int
	role, kind string
	pieces     []*turnText
	at         string // time of the first message that has one
	calls      []*heldCall
	count      int  // calls, kept or not
	kept       bool // it is in the window
}

// A heldCall is a call and what came of it.
type heldCall struct {
	call, result *chat.Message
	in, out      *turnText
	index        int  // of the call, as the Pairer counts
	noDiff       bool // another result of the record has shown the change
}

func (t *heldTurn) elided() bool {
	for _, p := range t.pieces {
		if p.elided {
			return true
		}
	}
	for _, c := range t.calls {
		if c.in.elided || c.out != nil && c.out.elided {
			return true
		}
	}
	return false
}

// A turnsBuilder merges messages into turns, in one pass. It holds the window and pointers to
// the messages in it.
//
// Prose of the person, of the program and of thinking is always a turn of its own; so is each
// record of it, however many pieces it was stored in. Pieces of an answer are joined by what
// the tool says belongs together (Message.Reply), where it says so: the pieces of the newest
// such reply, whatever stands between them. Where it does not, an answer is a run that a
// result or another turn ends.
type turnsBuilder struct {
	o       *TurnsOptions
	dropped func(*turnText) // told of texts that are not in the window
	next    int
	held    []*heldTurn
	earlier int

	pairs chat.Pairer
	index int
	calls map[int]*heldCall // calls of held turns, by index
	open  map[string]*heldCall

	run       *heldTurn // the answer that is being added to
	reply     string
	replyTurn *heldTurn // the newest turn of reply
	answered  chat.Origin

	last       *heldTurn // pushed last, if nothing came since but pieces of its record
	lastRecord record
	lastDiff   string // of the newest result, and its record
	diffRecord chat.Origin
}

// A record is what a message was made of.
type record struct {
	origin chat.Origin
	id     string
}

func newTurnsBuilder(o *TurnsOptions) *turnsBuilder {
	return &turnsBuilder{o: o, dropped: func(*turnText) {}, calls: map[int]*heldCall{}, open: map[string]*heldCall{}}
}

// message takes the next message of the conversation.
func (b *turnsBuilder) message(m *chat.Message) {
	if m.Abandoned {
		return
	}
	text := b.o.textOf(m)
	if m.Role == chat.ToolCall && m.Call != "" && b.repeated(m) {
		b.dropped(text)
		return
	}
	index, call := b.index, b.pairs.Next(m)
	b.index++
	switch m.Role {
	case chat.User:
		b.say("user", "message", m, text)
	case chat.System:
		b.say("system", "message", m, text)
	case chat.Reasoning:
		b.say("assistant", "reasoning", m, text)
	case chat.Compaction:
		if text.blank {
			text = &turnText{text: compacted}
		}
		b.say("system", "compaction", m, text)
	case chat.Assistant:
		if !text.blank {
			b.add(b.answer(m), text)
		}
	case chat.ToolCall:
		b.call(m, text, index)
	case chat.ToolResult:
		b.result(m, text, call)
	}
}

// add adds a piece to a turn.
func (b *turnsBuilder) add(t *heldTurn, text *turnText) {
	if !t.kept {
		b.dropped(text)
		return
	}
	t.pieces = append(t.pieces, text)
}

// repeated says whether a call is one that was seen and has no result yet: a retried turn
// repeats its calls under their ids.
func (b *turnsBuilder) repeated(m *chat.Message) bool {
	before := b.open[m.Call]
	return before != nil && before.call.Tool == m.Tool
}

// say makes a turn of prose that is nobody's answer.
func (b *turnsBuilder) say(role, kind string, m *chat.Message, text *turnText) {
	if text.blank {
		return
	}
	from := record{m.Origin, m.ID}
	if t := b.last; t != nil && t.role == role && t.kind == kind && from == b.lastRecord && from.origin != (chat.Origin{}) {
		b.add(t, text)
		return
	}
	t := b.push(role, kind, m)
	b.add(t, text)
	b.last, b.lastRecord = t, from
}

// push begins a turn, and ends the run of whatever was said before it.
func (b *turnsBuilder) push(role, kind string, m *chat.Message) *heldTurn {
	t := &heldTurn{seq: b.next, role: role, kind: kind, at: stamp(m.Time)}
	b.next++
	b.run, b.last = nil, nil
	if b.o.Before != nil && t.seq >= *b.o.Before {
		return t // counted, not kept
	}
	t.kept = true
	b.held = append(b.held, t)
	if len(b.held) > windowTurns && !b.o.Uncut {
		b.let(b.held[0])
		b.held[0] = nil
		b.held = b.held[1:]
		b.earlier++
	}
	return t
}

// let takes a turn out of the window.
func (b *turnsBuilder) let(t *heldTurn) {
	t.kept = false
	for _, p := range t.pieces {
		b.dropped(p)
	}
	for _, c := range t.calls {
		delete(b.calls, c.index)
		b.dropped(c.in)
		if c.out != nil {
			b.dropped(c.out)
		}
	}
	t.pieces, t.calls = nil, nil
}

// answer is the turn that a piece of an answer belongs to.
func (b *turnsBuilder) answer(m *chat.Message) *heldTurn {
	b.last = nil
	t := b.run
	if m.Reply != "" {
		t = nil
		if m.Reply == b.reply {
			t = b.replyTurn
		}
	}
	// A full turn takes what is left of its record, and another record begins a new one: so
	// the numbers are the same whether calls are left out or not.
	sameRecord := m.Origin != (chat.Origin{}) && m.Origin == b.answered
	if t == nil || t.count >= turnCalls && !sameRecord {
		t = b.push("assistant", "message", m)
	}
	if t.at == "" {
		t.at = stamp(m.Time)
	}
	if m.Reply != "" {
		b.reply, b.replyTurn = m.Reply, t
	}
	b.run, b.answered = t, m.Origin
	return t
}

func (b *turnsBuilder) call(m *chat.Message, text *turnText, index int) {
	t := b.answer(m)
	c := &heldCall{call: m, in: text, index: index}
	t.count++
	if m.Call != "" {
		b.open[m.Call] = c
	}
	if !t.kept || t.count > turnCalls && !b.o.Uncut {
		b.dropped(text)
		return
	}
	t.calls = append(t.calls, c)
	b.calls[index] = c
}

// result joins a result to its call, if that is in the window and has none yet.
func (b *turnsBuilder) result(m *chat.Message, text *turnText, call int) {
	b.run, b.last = nil, nil
	if m.Call != "" {
		delete(b.open, m.Call)
	}
	// The change that a record holds is that of its first result.
	repeats := m.Diff != "" && m.Diff == b.lastDiff && m.Origin == b.diffRecord && m.Origin != (chat.Origin{})
	if m.Diff != "" {
		b.lastDiff, b.diffRecord = m.Diff, m.Origin
	}
	if c := b.calls[call]; c != nil && c.result == nil {
		c.result, c.out, c.noDiff = m, text, repeats
		return
	}
	b.dropped(text)
}

// shown is a turn as the document has it.
func (t *heldTurn) shown(provider string, o *TurnsOptions) turn {
	out := turn{Seq: t.seq, Role: t.role, Kind: t.kind, Time: t.at}
	out.Text, out.Clipped = joinPieces(t.pieces, o)
	for _, c := range t.calls {
		out.Tools = append(out.Tools, c.shown(provider, o))
	}
	return out
}

// joinPieces puts pieces together, a blank line between two. Once clipped nothing is added.
func joinPieces(pieces []*turnText, o *TurnsOptions) (text string, clipped bool) {
	var b strings.Builder
	left := turnTextRunes
	for _, piece := range pieces {
		p := strings.TrimSpace(piece.text)
		if p == "" {
			continue
		}
		if b.Len() > 0 {
			p = "\n\n" + p
		}
		if !o.Uncut {
			p, clipped = clip(p, left, o.Redact, o.counted())
			left -= utf8.RuneCountInString(p)
		} else {
			p = o.Redact.whole(valid(p), o.counted())
		}
		b.WriteString(p)
		if clipped {
			break
		}
	}
	return b.String(), clipped
}

// clip is the first n runes of s without its secrets, and whether that is less than all. A
// secret that reaches over the cut is found with what stands behind it.
func clip(s string, n int, redact Redactor, counts tally) (head string, clipped bool) {
	head = chat.Head(s, n)
	clipped = len(head) < len(s)
	found := tally{}
	head = redact.apply(valid(head)+valid(beyond(s[len(head):])), 0, len(valid(head)), found)
	if len(found) > 0 {
		counts.add(found)
		short := chat.Head(head, n)
		head, clipped = short, clipped || len(short) < len(head)
	}
	return head, clipped
}

func (c *heldCall) shown(provider string, o *TurnsOptions) shownCall {
	out := shownCall{Name: toolName(c.call.Tool), Child: fullID(provider, c.call.Child)}
	var change diff
	out.Detail, out.Full, change = o.Tools.describe(c.call.Tool, c.in.text, o)
	if out.Detail == "" {
		out.Detail = o.Tools.title(c.call.Title, o)
	}
	if c.call.Diff != "" {
		change = storedDiff(c.call.Diff, o.limit(diffLines)).without(o.Redact, o.counted())
	}
	switch r := c.result; {
	case r != nil:
		text := strings.TrimSpace(c.out.text)
		if o.Uncut {
			text = o.Redact.whole(valid(text), o.counted())
		} else if head, clipped := clip(text, resultRunes, o.Redact, o.counted()); clipped {
			text = head + "…"
		} else {
			text = head
		}
		out.Result, out.Failed = &text, r.Failed
		if out.Detail == "" {
			out.Detail = o.Tools.title(r.Title, o)
		}
		if out.Child == "" {
			out.Child = fullID(provider, r.Child)
		}
		if r.Diff != "" && !c.noDiff {
			if d := storedDiff(r.Diff, o.limit(diffLines)); d.added+d.removed > 0 {
				change = d.without(o.Redact, o.counted())
			}
		}
	case !c.call.Running:
		out.Result = new(string) // this tool records no results
	}
	out.Added, out.Removed, out.Diff = change.added, change.removed, change.lines
	return out
}

// limit is n, or no limit.
func (o *TurnsOptions) limit(n int) int {
	if o.Uncut {
		return int(^uint(0) >> 1)
	}
	return n
}
