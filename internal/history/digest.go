package history

import (
	"hash/maphash"
	"strings"
	"time"

	"parlance/internal/chat"
	"parlance/internal/mapping"
)

// checkpointMark stands in the bytes of every checkpoint line, whatever is wrapped around it.
const checkpointMark = "CHAT CHECKPOINT UUID" // without the "=", which some JSON writers escape

// A note is what stays of a message's text while a conversation is read for a row, so that
// memory does not grow with the texts.
type note struct {
	hash        uint64 // of the text
	prompt      string // preview, of a user message
	hits        int
	first, last string // contexts of the hits
	words       uint64 // which of the query's words it holds
}

var hashSeed = maphash.MakeSeed()

// digester makes notes for one query. With an empty query it notes what a row needs.
type digester struct {
	q  query
	in In
}

// skipsTools says that nobody asked for what tools said.
func (d *digester) skipsTools() bool { return d.in != InTools && d.in != InAll }

// Of a conversation only so much is noted that memory does not grow with it: what may be its
// first message and its first prompt, and the contexts of its first and last hits. There are
// several of each because the first ones may turn out to be given up or copied.
const (
	openingsNoted = 16
	promptsNoted  = 64
	hitsNoted     = 64 // contexts, from each end; all hits are counted
)

// keeper is mapping.ReadOptions.Keeper: for each conversation a keep that notes what the
// texts say and keeps the few by which checkpoints and our own calls are known.
func (d *digester) keeper() func(*chat.Message) bool {
	var openings, prompts, hits int
	last := make([]*note, hitsNoted) // a ring
	return func(m *chat.Message) bool {
		n := &note{}
		body := m.Body()
		if m.Role == chat.User && prompts < promptsNoted {
			prompts++
			n.prompt = strings.Clone(chat.Preview(body))
		}
		if !m.Elided && openings < openingsNoted {
			openings++
			n.hash = maphash.String(hashSeed, body)
		}
		if d.q.needle != "" && d.in.holds(m.Role) && body != "" {
			d.note(n, body)
		}
		if n.hits > 0 {
			if hits++; hits > hitsNoted {
				if old := last[hits%hitsNoted]; old != nil {
					old.first, old.last = "", ""
				}
				last[hits%hitsNoted] = n
			}
		}
		return d.keep(m, n)
	}
}

func (d *digester) keep(m *chat.Message, n *note) bool {
	if *n != (note{}) {
		m.Note = n
	}
	switch m.Role {
	case chat.ToolCall:
		return chat.OwnCall(m) != ""
	case chat.ToolResult:
		return strings.Contains(m.Text, checkpointMark)
	}
	return false
}

func (d *digester) note(n *note, body string) {
	var first, last chat.Span
	n.hits, first, last = chat.Matches(body, d.q.needle)
	if n.hits > 0 {
		n.first = strings.Clone(chat.Context(body, first))
	}
	if n.hits > 1 {
		n.last = strings.Clone(chat.Context(body, last))
	}
	if d.q.words == nil {
		return
	}
	n.words = d.q.in(chat.Fold(body))
}

// A found is a conversation that was read for a row, its texts gone.
type found struct {
	row     chat.Row
	f       *file
	source  int    // index of the mapping's source that read it
	opening uint64 // of its first message; 0: it has none
	total   int    // messages, hidden ones included
	// at is where it stands in the order: when it was updated, but not later than its file or
	// row says. So what is read first comes first, whatever times a transcript claims.
	at time.Time

	verdict
	current bool // it may be the one that asks
	miss    bool // it is only here for its copies' sake, most of row is gone
}

// A verdict says how a conversation answers a query.
type verdict struct {
	id, slug, uuid  bool // the needle is part of it
	idWhole         bool // the needle is the id
	uuidWhole       bool // the needle is the UUID of a checkpoint that was made here
	uuidCopied      bool // of one that was copied from a parent: counts if nobody made it
	user, other     bool // the phrase stands in what the user, or somebody else, said
	allWords        bool // all words stand somewhere in it
	wordsTogether   bool // all in one message
	hits            int
	hitFirst, hitTo string
}

// A tally sums up a conversation whose messages were noted, message by message in their
// order. Of the messages themselves it keeps those with a text and the last ones.
type tally struct {
	d        *digester
	c        *chat.Conversation
	out      found
	own, all hits // of its own messages, and with those it inherited
	prompt   string
	command  bool // prompt is nothing but a command
	counted  int  // as chat.CountMessages does
	prune    int  // length of c.Messages at which it is thinned again
}

// tailKept is how many of the last messages stay: by them the conversation that asks is known.
const tailKept = 64

func (d *digester) tally(c *chat.Conversation) *tally {
	return &tally{d: d, c: c, prune: 4 * tailKept}
}

// add is mapping.ReadOptions.Each's function.
func (t *tally) add(m *chat.Message) {
	t.take(m)
	t.c.Messages = append(t.c.Messages, *m)
	if len(t.c.Messages) < t.prune {
		return
	}
	old := t.c.Messages
	kept := old[:0]
	for i := range old {
		if !old[i].Elided || i >= len(old)-tailKept {
			kept = append(kept, old[i])
		}
	}
	clear(old[len(kept):])
	t.c.Messages = kept
	t.prune = 2*len(kept) + 4*tailKept
}

func (t *tally) take(m *chat.Message) {
	out := &t.out
	out.total++
	if chat.Shown(m) && m.Role != chat.Compaction {
		t.counted++
	}
	n, ok := m.Note.(*note)
	if !ok {
		return
	}
	if out.opening == 0 {
		out.opening = n.hash
	}
	if m.Abandoned {
		return
	}
	if m.Role == chat.User && n.prompt != "" && (t.prompt == "" || t.command && !chat.IsCommand(n.prompt)) {
		t.prompt, t.command = n.prompt, chat.IsCommand(n.prompt)
	}
	t.all.take(t.d, m, n)
	if !m.Inherited {
		t.own.take(t.d, m, n)
	}
}

// hits sums up what messages hold of a query.
type hits struct {
	n           int
	first, last string // contexts
	user, other bool   // who said it
	words       uint64
	together    bool // all words in one message
}

func (h *hits) take(d *digester, m *chat.Message, n *note) {
	h.words |= n.words
	h.together = h.together || d.q.words != nil && n.words == d.q.allWords()
	if n.hits == 0 {
		return
	}
	h.n += n.hits
	h.user = h.user || m.Role == chat.User
	h.other = h.other || m.Role != chat.User
	if n.first == "" {
		return // one of very many
	}
	if h.first == "" {
		h.first = n.first
	}
	if h.n > 1 {
		h.last = n.first
		if n.last != "" {
			h.last = n.last
		}
	}
}

// digest is the sum. The conversation is the one that asks if it was touched just now:
// touched is the time of its files.
func (t *tally) digest(f *file, touched, now time.Time, has func(id string) bool) *found {
	d, c, out := t.d, t.c, &t.out
	said := &t.own
	if t.all.n > t.own.n || t.all.words != t.own.words || t.all.together != t.own.together {
		// What was copied from a parent is the parent's; it counts here if that one is gone,
		// because then it stands nowhere else.
		if c.Parent != "" && !has(c.Parent) {
			said = &t.all
		}
	}
	out.hits, out.hitFirst, out.hitTo = said.n, said.first, said.last
	out.user, out.other, out.wordsTogether = said.user, said.other, said.together
	out.row, out.f, out.source = chat.NewRow(c), f, f.sourceIndex(c.Source)
	out.row.Messages = t.counted
	if c.Read.Incomplete == mapping.EndsOnly {
		out.row.Messages = chat.Uncounted
	}
	out.row.Prompt = t.prompt
	out.allWords = d.q.words != nil && said.words == d.q.allWords()
	out.current = chat.Current(c, touched, now)
	if d.q.needle != "" {
		d.names(c, &out.verdict)
	}
	sum := *out // apart from the tally, which holds the conversation
	return &sum
}

// names looks at what a conversation and its checkpoints are called.
func (d *digester) names(c *chat.Conversation, v *verdict) {
	needle := d.q.needle
	v.idWhole = d.q.exactID(c.Provider, c.ID)
	v.id = v.idWhole || strings.Contains(chat.Fold(c.FullID()), needle)
	for _, mark := range chat.FindCheckpoints(c) {
		m := &c.Messages[mark.Message]
		uuid := chat.Fold(mark.UUID)
		if m.Inherited {
			v.uuidCopied = v.uuidCopied || uuid == needle
			continue
		}
		v.slug = v.slug || strings.Contains(chat.Fold(mark.Slug), needle)
		v.uuid = v.uuid || strings.Contains(uuid, needle)
		v.uuidWhole = v.uuidWhole || uuid == needle
	}
	v.uuidWhole = v.uuidWhole && isUUID(needle)
	v.uuidCopied = v.uuidCopied && isUUID(needle)
}

// reasons are the words of a listing for why a conversation is in it.
func (v *verdict) reasons() (out []string) {
	for _, r := range []struct {
		holds bool
		name  string
	}{
		{v.id, chat.MatchID},
		{v.slug, chat.MatchSlug},
		{v.uuid || v.uuidCopied, chat.MatchUUID},
		{v.hits > 0, chat.MatchTranscript},
		{v.hits == 0 && v.allWords, chat.MatchWords},
	} {
		if r.holds {
			out = append(out, r.name)
		}
	}
	return out
}

// A tier ranks reasons; a lower one goes before, whatever its age.
type tier int

const (
	tierID        tier = 1 + iota // the id holds the needle
	tierMark                      // a checkpoint's slug or UUID does
	tierUser                      // the user said it
	tierAssistant                 // somebody else did
	tierTogether                  // all words in one message
	tierWords                     // all words
	tierNone
)

func (v *verdict) tier() tier {
	switch {
	case v.id:
		return tierID
	case v.slug || v.uuid:
		return tierMark
	case v.user:
		return tierUser
	case v.other:
		return tierAssistant
	case v.wordsTogether:
		return tierTogether
	case v.allWords:
		return tierWords
	}
	return tierNone
}
