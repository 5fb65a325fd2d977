package render

import (
	"fmt"
	"io"
	"regexp"
	"strings"
	"time"
	"unicode/utf8"

	"parlance/internal/chat"
)

// ShowOptions say how much of a conversation is printed, and for whom.
type ShowOptions struct {
	All    bool // reasoning, system and abandoned messages too
	Clean  bool // for a terminal; plain text always is
	Tokens int  // what follows this many, at 3 bytes each, is only counted; 0 = everything
	Redact Redactor
}

// A Printer prints a conversation to be read by a person, whole and uncut, message by
// message, so that one that still grows can be followed: Open, then Message for each of its
// messages in order, then Close; after the last conversation, End. After an error in writing it
// does nothing and keeps the error.
type Printer struct {
	out      sink
	o        ShowOptions
	style    style
	provider string
	heading  string // of the turn that is open
	left     int    // messages beyond the budget
	counts   tally
}

// style is what Markdown and plain text do differently. Pieces end with a newline; a blank
// line stands before a turn and between the pieces of one.
type style interface {
	head(title string, facts [][2]string) string
	turn(heading, when string) string
	// prose: name is "" for what the turn's heading says already, and so is when.
	prose(name, when, text string) string
	block(name, when, language, text string) string
	note(text string) string
	end() string // behind the last conversation
}

// NewMarkdown makes a Printer of Markdown: a heading for each turn, tool calls and results in
// fenced blocks.
func NewMarkdown(w io.Writer, o ShowOptions) *Printer {
	return &Printer{out: sink{w: w}, o: o, style: markdown{}, counts: tally{}}
}

// NewText makes a Printer of plain text for a terminal: what somebody wrote is indented,
// what we say is not.
func NewText(w io.Writer, o ShowOptions) *Printer {
	o.Clean = true
	return &Printer{out: sink{w: w}, o: o, style: plainText{}, counts: tally{}}
}

// Markdown prints a conversation as NewMarkdown does.
func Markdown(w io.Writer, c *chat.Conversation, o ShowOptions) error {
	return NewMarkdown(w, o).print(c)
}

// Text prints a conversation as NewText does.
func Text(w io.Writer, c *chat.Conversation, o ShowOptions) error {
	return NewText(w, o).print(c)
}

func (p *Printer) print(c *chat.Conversation) error {
	p.Open(c)
	for i := range c.Messages {
		p.Message(&c.Messages[i])
	}
	p.Close()
	return p.End()
}

// Open prints what is known of the conversation, its messages apart.
func (p *Printer) Open(c *chat.Conversation) error {
	title := p.line(p.o.Redact.whole(c.Title, p.counts))
	if title == "" {
		title = p.line(p.o.Redact.whole(chat.Prompt(c), p.counts))
	}
	if title == "" {
		title = p.line(c.FullID())
	}
	p.provider, p.heading = c.Provider, ""
	var facts [][2]string
	fact := func(name, value string) {
		if value = p.line(value); value != "" {
			facts = append(facts, [2]string{name, value})
		}
	}
	fact("id", c.FullID())
	fact("project", chat.Project(c.Cwd))
	fact("folder", c.Cwd)
	fact("branch", c.Branch)
	fact("model", c.Model)
	fact("version", c.Version)
	fact("parent", fullID(c.Provider, c.Parent))
	fact("started", when(c.Started))
	fact("updated", when(c.Updated))
	fact("file", c.File)
	fact("row", c.Row)
	if n := len(c.Read.Broken) + c.Read.BrokenMore; n > 0 {
		fact("unreadable", count(n, "record"))
	}
	fact("incomplete", c.Read.Incomplete)
	p.out.put(p.style.head(title, facts))
	return p.out.err
}

// Message prints the next message, or nothing if it is hidden.
func (p *Printer) Message(m *chat.Message) error {
	hidden := m.Role == chat.Reasoning || m.Role == chat.System || m.Abandoned
	if hidden && !p.o.All {
		return p.out.err
	}
	room := p.budget() - closingBytes - p.out.n
	if p.left > 0 || room <= 0 {
		p.left++
		return p.out.err
	}
	limit := min(room, max(len(m.Body()), len(m.Diff)))
	text, counts := p.piece(m, limit)
	for ; len(text) > room; text, counts = p.piece(m, limit) {
		// What quoting and cleaning add is spread over the text, more or less.
		if limit = limit * room / len(text) * 9 / 10; limit == 0 {
			p.left++
			return p.out.err
		}
	}
	p.heading = heading(m)
	p.counts.add(counts)
	p.out.put(text)
	return p.out.err
}

// piece is a message with what stands before it, its texts cut to limit bytes.
func (p *Printer) piece(m *chat.Message, limit int) (string, tally) {
	var b strings.Builder
	counts := tally{}
	text := p.written(m.Body(), limit, m.Role == chat.ToolCall, counts)
	if m.Elided && text == "" && m.Runes > 0 {
		text = fmt.Sprintf("(%s not read)", count(m.Runes, "character"))
	}
	at, heading := when(m.Time), heading(m)
	said := at // where the heading says no time
	b.WriteString("\n")
	if heading != p.heading {
		b.WriteString(p.style.turn(heading, at))
		said = ""
	}
	switch m.Role {
	case chat.Reasoning:
		b.WriteString(p.style.prose(reasoningName, said, text))
	case chat.ToolCall:
		name, language := named("Tool call", m), ""
		if m.Running {
			name += " (no result yet)"
		}
		if strings.HasPrefix(text, "{") || strings.HasPrefix(text, "[") {
			language = "json"
		}
		b.WriteString(p.style.block(name, at, language, text))
	case chat.ToolResult:
		name := named("Tool result", m)
		if m.Failed {
			name += " (failed)"
		}
		b.WriteString(p.style.block(name, at, "", text))
	default:
		b.WriteString(p.style.prose("", said, text))
	}
	if m.Diff != "" {
		b.WriteString("\n" + p.style.block("Diff", "", "diff", p.written(m.Diff, limit, false, counts)))
	}
	if m.Child != "" {
		b.WriteString("\n" + p.style.note("continues in "+p.line(fullID(p.provider, m.Child))))
	}
	return b.String(), counts
}

// Redacted counts marks of secrets that were replaced before a message came here.
func (p *Printer) Redacted(marks []Secret) {
	for _, m := range marks {
		p.counts[m.Kind]++
	}
}

// Close prints what was left out or replaced, and returns the first error in writing.
func (p *Printer) Close() error {
	if p.left > 0 {
		p.out.put("\n", p.style.note(fmt.Sprintf("%s beyond the budget of %d tokens",
			count(p.left, "more message"), p.budget()/bytesPerToken)))
	}
	if said := p.counts.String(); said != "" {
		p.out.put("\n", p.style.note(fit(said, closingBytes/2)))
	}
	return p.out.err
}

// End ends what holds the conversations, and returns the first error in writing.
func (p *Printer) End() error {
	p.out.put(p.style.end())
	return p.out.err
}

const reasoningName = "Reasoning"

// closingBytes is what a budget keeps free for the last notes.
const closingBytes = 500

func (p *Printer) budget() int {
	if p.o.Tokens <= 0 {
		return int(^uint(0) >> 1)
	}
	return budgetBytes(p.o.Tokens)
}

func heading(m *chat.Message) string {
	heading := "Assistant"
	switch m.Role {
	case chat.User:
		heading = "User"
	case chat.System:
		heading = "System"
	case chat.Compaction:
		heading = "Compaction"
	}
	if m.Abandoned {
		heading += " (abandoned)"
	}
	if m.Inherited {
		heading += " (inherited)"
	}
	return heading
}

func named(what string, m *chat.Message) string {
	if tool := line(m.Tool); tool != "" {
		return what + ": " + chat.Head(tool, labelRunes)
	}
	return what
}

// factBytes caps one fact of a conversation: as long as the longest path.
const factBytes = 4096

// line is a fact as one line, no longer than its share of the budget.
func (p *Printer) line(s string) string { return fit(line(s), min(factBytes, p.budget()/24)) }

// written is what somebody wrote, as it may be shown, cut to limit bytes. What hides in a text is
// taken out first: it could hide a secret from us, and not from a reader.
func (p *Printer) written(s string, limit int, input bool, counts tally) string {
	clean := func(s string) string {
		s = valid(s)
		if p.o.Clean {
			s = Clean(breaksToNewlines.Replace(s))
		}
		return s
	}
	if len(s) <= limit {
		if s = clean(s); input {
			return p.o.Redact.input(s, counts)
		}
		return p.o.Redact.whole(s, counts)
	}
	head := s[:limit-len(tornRune(s[:limit]))]
	gone := utf8.RuneCountInString(s[len(head):])
	shown := clean(head)
	s = p.o.Redact.apply(shown+clean(beyond(s[len(head):])), 0, len(shown), counts)
	return s + fmt.Sprintf("\n[%d characters truncated]", gone)
}

// when is a time for people, "" for one that was not recorded.
func when(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format("2006-01-02 15:04:05 UTC")
}

type markdown struct{}

func (markdown) head(title string, facts [][2]string) string {
	var b strings.Builder
	b.WriteString("# " + title + "\n\n")
	for _, fact := range facts {
		b.WriteString("- " + fact[0] + ": " + codeSpan(fact[1]) + "\n")
	}
	return b.String()
}

func (markdown) end() string { return "" }

func (markdown) turn(heading, when string) string {
	if when != "" {
		heading += ", " + when
	}
	return "## " + heading + "\n\n"
}

func (markdown) prose(name, _, text string) string {
	text = strings.TrimRight(text, " \t\r\n")
	if name != "" {
		return "**" + name + "**\n\n" + quote(inert(text)) + "\n"
	}
	text = toolLine.ReplaceAllString(turnLine.ReplaceAllString(inert(text), `\$0`), `\$0`)
	return text + openFence(text) + "\n"
}

func (markdown) block(name, when, language, text string) string {
	if when != "" {
		when = ", " + when
	}
	if text == "" {
		return "**" + name + "**" + when + " (empty)\n"
	}
	fence := strings.Repeat("`", max(3, longestRun(text)+1))
	return "**" + name + "**" + when + "\n\n" + fence + language + "\n" + strings.TrimSuffix(text, "\n") + "\n" + fence + "\n"
}

func (markdown) note(text string) string { return "*" + text + "*\n" }

// turnLine is a line of somebody's text that could be taken for the heading of a turn.
var turnLine = regexp.MustCompile(`(?m)^ {0,3}## *(?:User|Assistant|System|Compaction)\b`)

// toolLine is one that could be taken for what stands above a call, its result or a diff.
var toolLine = regexp.MustCompile(`(?m)^ {0,3}(?:\*\*|__)(?:Tool call|Tool result|Diff|` + reasoningName + `)(?:\b|__)`)

// longestRun is the length of the longest run of backquotes in s.
func longestRun(s string) int {
	longest, run := 0, 0
	for i := range len(s) {
		if s[i] != '`' {
			run = 0
			continue
		}
		run++
		longest = max(longest, run)
	}
	return longest
}

// codeSpan is s as inline code, whatever backquotes it holds.
func codeSpan(s string) string {
	n := longestRun(s)
	if n == 0 {
		return "`" + s + "`"
	}
	fence := strings.Repeat("`", n+1)
	return fence + " " + s + " " + fence
}

var fenceLine = regexp.MustCompile("(?m)^ {0,3}(`{3,}|~{3,})([^\n]*)$")

// openFence is what closes the code block that is still open at the end of a text, so that
// it does not swallow what comes after it; "" if there is none.
func openFence(text string) string {
	open := ""
	for _, m := range fenceLine.FindAllStringSubmatch(text, -1) {
		switch fence, rest := m[1], strings.TrimSpace(m[2]); {
		case open == "" && !(fence[0] == '`' && strings.Contains(rest, "`")):
			open = fence
		case open != "" && fence[0] == open[0] && len(fence) >= len(open) && rest == "":
			open = ""
		}
	}
	if open == "" {
		return ""
	}
	return "\n" + open
}

type plainText struct{}

func (plainText) head(title string, facts [][2]string) string {
	var b strings.Builder
	b.WriteString(title + "\n")
	for _, fact := range facts {
		b.WriteString(fact[0] + ": " + fact[1] + "\n")
	}
	return b.String()
}

func (plainText) end() string { return "" }

func (plainText) turn(heading, when string) string {
	heading = strings.ToUpper(heading)
	if when != "" {
		heading += "  " + when
	}
	return heading + "\n"
}

func (plainText) prose(name, _, text string) string {
	text = indent(strings.TrimRight(text, " \t\n"), "  ") + "\n"
	if name != "" {
		return strings.ToUpper(name) + "\n" + text
	}
	return text
}

func (plainText) block(name, when, _, text string) string {
	if when != "" {
		name += "  " + when
	}
	if text == "" {
		return name + " (empty)\n"
	}
	return name + "\n" + indent(text, "  ") + "\n"
}

func (plainText) note(text string) string { return "(" + text + ")\n" }
