// Package chat is the conversation model that every provider's files become, and
// pure functions on it: turns, checkpoint lines, slices, previews.
//
// Conversations go in, parts and facts of them come out. Nothing here reads a file,
// knows a provider, or renders an answer.
package chat

import "time"

// A Role says what a message is. There are seven, whatever a provider calls them.
type Role string

// The seven roles.
const (
	User       Role = "user"
	Assistant  Role = "assistant"
	Reasoning  Role = "reasoning"
	ToolCall   Role = "tool_call"
	ToolResult Role = "tool_result"
	System     Role = "system"
	Compaction Role = "compaction"
)

// Roles lists the seven roles in the order in which they are documented.
var Roles = []Role{User, Assistant, Reasoning, ToolCall, ToolResult, System, Compaction}

// A Conversation is one stored chat of one provider.
type Conversation struct {
	Provider string // name of the mapping, "claude_code"
	ID       string // the provider's own id; FullID adds the provider
	Title    string // "" when the provider stores none
	Cwd      string // working directory as stored, "/" or "\" inside
	Branch   string // git branch
	Model    string
	Version  string // of the tool that wrote it
	Parent   string // the provider's own id of the parent (subagents and forks)
	Subagent bool   // started by a tool call, not by a person
	Started  time.Time
	Updated  time.Time // never zero for a conversation that was read from a file
	File     string    // path of the file or database that holds it
	Row      string    // the inner id, where one file holds several
	Source   string    // id of the mapping's source that read it
	Messages []Message // in the order of the conversation, hidden ones included
	Read     Report
}

// FullID is "provider:id", the id by which a person or an agent names it.
func (c *Conversation) FullID() string { return c.Provider + ":" + c.ID }

// A Message is one utterance, call, result or notice.
type Message struct {
	ID   string // the provider's, "" when it has none
	Role Role
	// Text is valid UTF-8. It is empty for a tool call, whose text is Input, and for
	// a message whose text was not asked for (Elided).
	Text   string
	Tool   string // name as stored; a result carries its call's
	Call   string // id that joins a call and its result
	Input  string // of a tool call: compact JSON in source order, or the bare string
	Failed bool   // of a result
	// Running marks a call whose result is not there although the tool records results.
	Running   bool
	Abandoned bool      // on a branch that was given up
	Inherited bool      // copied from a parent conversation
	Time      time.Time // zero when not recorded; never invented
	Reply     string    // groups the pieces of one answer
	Child     string    // id of the conversation that a call started
	Title     string    // what the tool itself says of a call in a line
	Diff      string    // unified diff, or "-" and "+" lines
	Origin    Origin
	Rule      string // the mapping rule that made it, for explain

	// Elided says that Text was left out because the reader did not ask for it;
	// Runes is the length it had, as far as it is known.
	Elided bool
	Runes  int
	// Note is a caller's own digest of the text, made while the text was at hand.
	Note any
}

// Body is what a message says: the input of a tool call, the text of all others.
func (m *Message) Body() string {
	if m.Role == ToolCall {
		return m.Input
	}
	return m.Text
}

// An Origin says where in its file a message was found. Lines are 1-based; Offset is
// the byte at which the line begins (in the unpacked file). Pointer is a JSON pointer,
// or "row N", where there is no line.
type Origin struct {
	Line    int
	Offset  int64
	Pointer string
}

// A Report counts what reading a conversation met. Nothing is lost in silence: a record
// is used, skipped by decision, unknown to every rule, or broken.
type Report struct {
	Records    int
	Used       int
	Skipped    map[string]int // by the record's type
	Dropped    map[string]int // parts of texts that clean-up removed: by tag, or the rule
	NoRule     map[string]int // news: records, or blocks of one, that no rule knew
	Broken     []Broken
	BrokenMore int      // broken records beyond the kept ones
	Torn       bool     // the last line was half-written
	Warnings   []string // what was odd: an unknown leaf, an unreadable time, an orphan result
	Incomplete string   // the limit that ended the reading, "" when whole
}

// A Broken record could not be read as a record at all.
type Broken struct {
	Line int
	Why  string
}
