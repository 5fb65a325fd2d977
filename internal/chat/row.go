package chat

import "time"

// Reasons why a conversation matches a search, in the order in which they are told.
const (
	MatchID         = "conversation id"
	MatchSlug       = "checkpoint slug"
	MatchUUID       = "checkpoint uuid"
	MatchTranscript = "transcript"
	MatchWords      = "words"
)

// Uncounted is the number of messages of a conversation that nobody counted.
const Uncounted = -1

// A Row is what a list or a search tells of a conversation.
type Row struct {
	Provider string
	ID       string // the provider's own
	Title    string
	Prompt   string // preview of the first user message
	Project  string // last segment of Cwd
	Cwd      string
	Branch   string
	Model    string
	Parent   string // the provider's own id
	Subagent bool
	Started  time.Time
	Updated  time.Time
	Messages int // what CountMessages counts, or Uncounted
	File     string
	Row      string // the inner id, where one file holds several

	Checkpoints []Checkpoint // oldest first

	// Of a search only.
	Matched []string // reasons, in their order
	Hits    int      // occurrences in the transcript
	First   string   // context of the first hit
	Last    string   // context of the last hit, "" if it is the first
}

// FullID is "provider:id".
func (r *Row) FullID() string { return r.Provider + ":" + r.ID }

// NewRow sums up a conversation that was read whole.
func NewRow(c *Conversation) Row {
	r := Row{
		Provider: c.Provider, ID: c.ID, Title: c.Title, Prompt: Prompt(c), Project: Project(c.Cwd), Cwd: c.Cwd,
		Branch: c.Branch, Model: c.Model, Parent: c.Parent, Subagent: c.Subagent,
		Started: c.Started, Updated: c.Updated, Messages: CountMessages(c), File: c.File, Row: c.Row,
	}
	for _, mark := range FindCheckpoints(c) {
		r.Checkpoints = append(r.Checkpoints, mark.Checkpoint)
	}
	return r
}

// CountMessages counts what was said, called and answered, branches that were given up
// left out.
func CountMessages(c *Conversation) int {
	n := 0
	for i := range c.Messages {
		if m := &c.Messages[i]; Shown(m) && m.Role != Compaction {
			n++
		}
	}
	return n
}
