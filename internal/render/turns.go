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
	// Redact may be nil.
	Redact Redactor
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
// wanted. Texts are looked at only where they are shown.
func Turns(w io.Writer, c *chat.Conversation, o TurnsOptions) error {
	b := newTurnsBuilder(o)
	for i := range c.Messages {
		b.message(&c.Messages[i])
	}
	out := sink{w: w}
	out.put(`{"supported":true,"turns":[`)
	comma := ""
	for _, t := range b.held {
		if t.seq < o.After || len(t.pieces) == 0 && len(t.calls) == 0 {
			continue
		}
		out.put(comma, string(encode(t.shown(c.Provider, &o))))
		comma = ","
	}
	rest := encode(struct {
		Earlier int    `json:"earlier"`
		Stamp   string `json:"stamp,omitempty"`
	}{b.earlier, o.Stamp})
	out.put("],", string(rest[1:]), "\n")
	return out.err
}

// A heldTurn points at the messages that make a turn; nothing is cut or counted before it is shown.
type heldTurn struct {
	seq        int
	role, kind string
	pieces     []string
	at         string // time of the first message that has one
	calls      []*heldCall
	count      int // calls, kept or not
}

// A heldCall is a call and what came of it.
type heldCall struct {
	call, result *chat.Message
	index        int  // of the call, as the Pairer counts
	noDiff       bool // another result of the record has shown the change
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
	o       TurnsOptions
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

func newTurnsBuilder(o TurnsOptions) *turnsBuilder {
	return &turnsBuilder{o: o, calls: map[int]*heldCall{}, open: map[string]*heldCall{}}
}

// message takes the next message of the conversation.
func (b *turnsBuilder) message(m *chat.Message) {
	if m.Abandoned {
		return
	}
	index := b.index
	if m.Role == chat.ToolCall && m.Call != "" && b.repeated(m) {
		return
	}
	call := b.pairs.Next(m)
	b.index++
	switch m.Role {
	case chat.User:
		b.say("user", "message", m, m.Text)
	case chat.System:
		b.say("system", "message", m, b.o.Tools.tidy(m.Text))
	case chat.Reasoning:
		b.say("assistant", "reasoning", m, m.Text)
	case chat.Compaction:
		text := m.Text
		if chat.Blank(text) {
			text = compacted
		}
		b.say("system", "compaction", m, text)
	case chat.Assistant:
		if !chat.Blank(m.Text) {
			t := b.answer(m)
			t.pieces = append(t.pieces, m.Text)
		}
	case chat.ToolCall:
		b.call(m, index)
	case chat.ToolResult:
		b.result(m, call)
	}
}

// repeated says whether a call is one that was seen and has no result yet: a retried turn
// repeats its calls under their ids.
func (b *turnsBuilder) repeated(m *chat.Message) bool {
	before := b.open[m.Call]
	return before != nil && before.call.Tool == m.Tool
}

// say makes a turn of prose that is nobody's answer.
func (b *turnsBuilder) say(role, kind string, m *chat.Message, text string) {
	if chat.Blank(text) {
		return
	}
	from := record{m.Origin, m.ID}
	if t := b.last; t != nil && t.role == role && t.kind == kind && from == b.lastRecord && from.origin != (chat.Origin{}) {
		t.pieces = append(t.pieces, text)
		return
	}
	t := b.push(role, kind, m)
	t.pieces = []string{text}
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
	b.held = append(b.held, t)
	if len(b.held) > windowTurns && !b.o.Uncut {
		for _, c := range b.held[0].calls {
			delete(b.calls, c.index)
		}
		b.held[0] = nil
		b.held = b.held[1:]
		b.earlier++
	}
	return t
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

func (b *turnsBuilder) call(m *chat.Message, index int) {
	t := b.answer(m)
	c := &heldCall{call: m, index: index}
	t.count++
	if m.Call != "" {
		b.open[m.Call] = c
	}
	if t.count > turnCalls && !b.o.Uncut {
		return
	}
	t.calls = append(t.calls, c)
	if len(b.held) > 0 && t.seq >= b.held[0].seq && (b.o.Before == nil || t.seq < *b.o.Before) {
		b.calls[index] = c
	}
}

// result joins a result to its call, if that is in the window and has none yet.
func (b *turnsBuilder) result(m *chat.Message, call int) {
	b.run, b.last = nil, nil
	if m.Call != "" {
		delete(b.open, m.Call)
	}
	// The change that a record holds is that of its first result.
	repeats := m.Diff != "" && m.Diff == b.lastDiff && m.Origin == b.diffRecord && m.Origin != (chat.Origin{})
	if m.Diff != "" {
		b.lastDiff, b.diffRecord = m.Diff, m.Origin
	}
	if c := b.calls[call]; c != nil && call >= 0 && c.result == nil {
		c.result, c.noDiff = m, repeats
	}
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
func joinPieces(pieces []string, o *TurnsOptions) (text string, clipped bool) {
	var b strings.Builder
	left := turnTextRunes
	for _, p := range pieces {
		p = strings.TrimSpace(p)
		if p == "" {
			continue
		}
		if b.Len() > 0 {
			p = "\n\n" + p
		}
		if !o.Uncut {
			p, clipped = clip(p, left, o.Redact)
			left -= utf8.RuneCountInString(p)
		} else {
			p = o.Redact.whole(valid(p), tally{})
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
func clip(s string, n int, redact Redactor) (head string, clipped bool) {
	head = chat.Head(s, n)
	clipped = len(head) < len(s)
	counts := tally{}
	head = redact.apply(valid(head)+valid(beyond(s[len(head):])), 0, len(valid(head)), counts)
	if len(counts) > 0 {
		short := chat.Head(head, n)
		head, clipped = short, clipped || len(short) < len(head)
	}
	return head, clipped
}

func (c *heldCall) shown(provider string, o *TurnsOptions) shownCall {
	out := shownCall{Name: toolName(c.call.Tool), Child: fullID(provider, c.call.Child)}
	var change diff
	out.Detail, out.Full, change = o.Tools.describe(c.call, o)
	if c.call.Diff != "" {
		change = storedDiff(c.call.Diff, o.limit(diffLines)).without(o.Redact)
	}
	switch r := c.result; {
	case r != nil:
		text := strings.TrimSpace(r.Text)
		if o.Uncut {
			text = o.Redact.whole(valid(text), tally{})
		} else if head, clipped := clip(text, resultRunes, o.Redact); clipped {
			text = head + "…"
		} else {
			text = head
		}
		out.Result, out.Failed = &text, r.Failed
		if out.Child == "" {
			out.Child = fullID(provider, r.Child)
		}
		if r.Diff != "" && !c.noDiff {
			if d := storedDiff(r.Diff, o.limit(diffLines)); d.added+d.removed > 0 {
				change = d.without(o.Redact)
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
