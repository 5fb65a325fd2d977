package render

import (
	"strings"

	"parlance/internal/chat"
)

// digestRunes is the length of a quoted text up to which a digest keeps all of it: below,
// a fork may want it whole.
const digestRunes = loneHead + loneTail + wholeSlackRunes

// digestTurns is how many finished turns a Digester keeps from each end: half of those that
// a fork shows, and one for what stands before the first user message or is still growing.
const digestTurns = turnsMax/2 + 1

// A Digest is what a Digester keeps of a text, as the Note of its message: its length, and
// as much of its beginning and end as a fork may show.
type Digest struct {
	head   string // all of the text if whole
	tail   string
	whole  bool
	quoted int
	blank  bool
	mark   chat.Checkpoint
	marked bool
}

// Checkpoint makes a Digest a chat.Noted.
func (d *Digest) Checkpoint() (chat.Checkpoint, bool) { return d.mark, d.marked }

// strip drops what is kept of the text, and leaves its length.
func (d *Digest) strip() {
	if !d.blank {
		d.head, d.tail, d.whole = "", "", false
	}
}

func newDigest(text string) *Digest {
	text = readable(text)
	d := &Digest{blank: chat.Blank(text), whole: true}
	if d.blank {
		return d
	}
	// Clones, so that a short text does not hold on to the record it was cut from.
	if d.quoted = quotedRunes(text); d.quoted <= digestRunes {
		d.head = strings.Clone(text)
		return d
	}
	d.whole = false
	head := len(chat.Head(text, loneHead))
	d.head = strings.Clone(text[:head+len(beyond(text[head:]))])
	tail := len(text) - len(chat.Tail(text, loneTail+2))
	d.tail = strings.Clone(text[tail-len(before(text[:tail])):])
	return d
}

// A Digester lets a conversation of any size be forked in little memory: its Keep looks at
// every message while it is read, notes what the fork may show of it, and lets the text go.
//
// It keeps the first and last turns, and of each turn the first and last texts, in the order
// in which they are read. Where the conversation turns out to have another order (branches
// that were given up, records replaced later), a text may be missing that the fork wants:
// Fork then returns ErrElided, and the conversation must be read again, whole.
type Digester struct {
	finder     chat.Finder
	start, end string // folded
	user       bool   // whose turn is open
	turn       []*Digest
	total      int // quoted runes of the open turn
	tail       int // of its messages from settled on
	settled    int // messages of the open turn before it are in nobody's way any more
	turns      [][]*Digest
}

// NewDigester makes a Digester for one reading of one conversation, and a fork with o.
func NewDigester(o ForkOptions) *Digester {
	return &Digester{start: chat.Needle(o.StartCheckpoint), end: chat.Needle(o.EndCheckpoint)}
}

// Keep is a Keep of the reader's options: it notes a Digest and wants neither text nor input
// any longer.
func (g *Digester) Keep(m *chat.Message) bool {
	mark, marked := g.finder.Next(m)
	switch m.Role {
	case chat.Reasoning, chat.System:
		return false
	}
	d := newDigest(m.Body())
	d.mark, d.marked = mark, marked
	if user := m.Role == chat.User; user != g.user {
		g.close()
		g.user = user
	}
	if marked && (g.start != "" && mark.Holds(g.start) || g.end != "" && mark.Holds(g.end)) {
		// The fork may begin or end here, and what is first or last begins anew.
		g.close()
		g.turns = nil
		g.add(d)
		g.close()
		g.turns = nil
	} else {
		g.add(d)
	}
	m.Note = d
	return false
}

// add puts d at the end of the open turn, and strips what has moved into its middle.
func (g *Digester) add(d *Digest) {
	g.turn = append(g.turn, d)
	g.total += d.quoted
	g.tail += d.quoted
	if g.total <= digestRunes {
		return
	}
	for g.settled < len(g.turn) {
		next := g.turn[g.settled]
		if g.tail-next.quoted < loneTail {
			break
		}
		if g.total-g.tail >= loneHead {
			next.strip()
		}
		g.tail -= next.quoted
		g.settled++
	}
}

// close ends the open turn, and strips the turn that has moved into the middle of them all.
func (g *Digester) close() {
	if len(g.turn) == 0 {
		return
	}
	g.turns = append(g.turns, g.turn)
	g.turn, g.total, g.tail, g.settled = nil, 0, 0, 0
	if middle := len(g.turns) - 1 - digestTurns; middle >= digestTurns {
		for _, d := range g.turns[middle] {
			d.strip()
		}
		g.turns[middle] = nil
	}
}
