package chat

import (
	"regexp"
	"strings"
	"unicode/utf8"
)

const (
	// previewRunes caps the first prompt in a listing: one line of a wide terminal.
	previewRunes = 128
	// contextRunes is the width of a hit with what surrounds it, as wide as a preview.
	contextRunes = 128
)

// oneLine makes line breaks blanks, one for one, so that a text keeps its length in runes.
var oneLine = strings.NewReplacer("\r", " ", "\n", " ")

// Blank reports whether s shows nothing.
func Blank(s string) bool { return strings.TrimSpace(s) == "" }

// Head is the longest beginning of s with at most n runes. It does not read further.
func Head(s string, n int) string {
	i := 0
	for ; n > 0 && i < len(s); n-- {
		_, size := utf8.DecodeRuneInString(s[i:])
		i += size
	}
	return s[:i]
}

// Tail is the longest end of s with at most n runes. It does not read further.
func Tail(s string, n int) string {
	i := len(s)
	for ; n > 0 && i > 0; n-- {
		_, size := utf8.DecodeLastRuneInString(s[:i])
		i -= size
	}
	return s[i:]
}

// Preview is a text on one line of at most 128 runes, and "..." where it was cut.
func Preview(text string) string {
	text = strings.TrimSpace(text)
	head := Head(text, previewRunes)
	if len(head) < len(text) {
		return oneLine.Replace(head) + "..."
	}
	return oneLine.Replace(head)
}

// Prompt is the preview of the first user message that says something, "" if there is none.
// One that is only a command, such as "/clear", counts where there is no other: it does not
// say what a conversation is about.
func Prompt(c *Conversation) string {
	first := ""
	for i := range c.Messages {
		m := &c.Messages[i]
		if m.Role != User || m.Abandoned || Blank(m.Text) {
			continue
		}
		if !IsCommand(m.Text) {
			return Preview(m.Text)
		}
		if first == "" {
			first = Preview(m.Text)
		}
	}
	return first
}

var commandForm = regexp.MustCompile(`^/[A-Za-z][A-Za-z0-9_:.-]*(?: [^\n]*)?$`)

// IsCommand reports whether text is nothing but a typed slash command, with its arguments.
func IsCommand(text string) bool { return commandForm.MatchString(strings.TrimSpace(text)) }

// Context is a match on one line with what surrounds it: the match between "**", 128 runes
// in all, and "..." on each side where something was cut.
func Context(text string, match Span) string {
	hit := text[match.From:match.To]
	half := max(0, (contextRunes-utf8.RuneCountInString(hit))/2)
	before := Tail(text[:match.From], half)
	after := Head(text[match.To:], half)
	var b strings.Builder
	if len(before) < match.From {
		b.WriteString("...")
	}
	b.WriteString(oneLine.Replace(before) + "**" + oneLine.Replace(hit) + "**" + oneLine.Replace(after))
	if match.To+len(after) < len(text) {
		b.WriteString("...")
	}
	return b.String()
}

// Project is the last segment of a working directory, written with "/" or "\"; "" if
// there is none.
func Project(cwd string) string {
	cwd = strings.TrimRight(cwd, `/\`)
	return cwd[strings.LastIndexAny(cwd, `/\`)+1:]
}
