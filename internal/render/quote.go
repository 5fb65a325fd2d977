package render

import (
	"fmt"
	"regexp"
	"strings"
	"unicode/utf8"

	"parlance/internal/chat"
)

// breakLen is the length in bytes of the line break at s[i], 0 if there is none. Everything
// that some program shows as a new line counts, or a text could begin a line unquoted.
func breakLen(s string, i int) int {
	switch s[i] {
	case '\n', '\v', '\f', 0x1C, 0x1D, 0x1E:
		return 1
	case '\r':
		if i+1 < len(s) && s[i+1] == '\n' {
			return 2
		}
		return 1
	case 0xC2:
		if strings.HasPrefix(s[i:], "\u0085") {
			return len("\u0085")
		}
	case 0xE2:
		if strings.HasPrefix(s[i:], "\u2028") || strings.HasPrefix(s[i:], "\u2029") {
			return len("\u2028")
		}
	}
	return 0
}

// unended is s without the line break at its end.
func unended(s string) string {
	switch {
	case strings.HasSuffix(s, "\r\n"), strings.HasSuffix(s, "\u0085"):
		return s[:len(s)-2]
	case strings.HasSuffix(s, "\u2028"), strings.HasSuffix(s, "\u2029"):
		return s[:len(s)-3]
	case s != "" && breakLen(s, len(s)-1) == 1:
		return s[:len(s)-1]
	}
	return s
}

// indent is every line of s with prefix before it. A line break at the end adds no line.
func indent(s, prefix string) string {
	s = unended(s)
	var b strings.Builder
	b.Grow(len(s) + len(s)/16 + 2*len(prefix))
	b.WriteString(prefix)
	from := 0
	for i := 0; i < len(s); {
		n := breakLen(s, i)
		if n == 0 {
			i++
			continue
		}
		b.WriteString(s[from:i])
		b.WriteString("\n" + prefix)
		i += n
		from = i
	}
	b.WriteString(s[from:])
	return b.String()
}

// quotePrefix marks a line as somebody's text: no line of ours begins like that.
const quotePrefix = "> "

func quote(s string) string { return indent(s, quotePrefix) }

// quotedRunes is the length of quote(s) in runes, without making it. s must be valid UTF-8.
// It is one plain pass, because a fork counts every character that it does not show.
func quotedRunes(s string) int {
	s = unended(s)
	n := len(quotePrefix)
	for i := 0; i < len(s); i++ {
		c := s[i]
		if c >= ' ' && c < utf8.RuneSelf {
			n++
			continue
		}
		if c&0xC0 == 0x80 { // not the first byte of a character
			continue
		}
		n++
		if size := breakLen(s, i); size > 0 {
			n += len(quotePrefix)
			i += size - 1 // "\r\n" becomes one character
		}
	}
	return n
}

// suspect marks the bytes with which something begins that Clean may remove: a control
// character, or a character of the few ranges that hold invisible ones.
var suspect = func() (t [256]bool) {
	for c := range t {
		t[c] = c < ' ' && c != '\n' && c != '\t' || c == 0x7F
	}
	for _, c := range []byte{0xC2, 0xD8, 0xE2, 0xEF, 0xF3} {
		t[c] = true
	}
	return t
}()

var allBreaks = strings.NewReplacer("\r\n", "\n", "\r", "\n", "\v", "\n", "\f", "\n", "\x1C", "\n", "\x1D", "\n", "\x1E", "\n",
	"\u0085", "\n", "\u2028", "\n", "\u2029", "\n")

// readable is a text as a fork shows it: valid, and without what would act on the terminal in
// which somebody's host shows it. Else a text could climb out of its quotation. It is done
// before anything is cut, because what is removed may be what a line seemed to begin with.
func readable(s string) string {
	s = valid(s)
	for i := range len(s) {
		if suspect[s[i]] {
			return Clean(allBreaks.Replace(s))
		}
	}
	return s
}

// valid is s with U+FFFD for what is not UTF-8. Nearly every text is, and the check alone is
// much faster than the replacement.
func valid(s string) string {
	if utf8.ValidString(s) {
		return s
	}
	return strings.ToValidUTF8(s, "\uFFFD")
}

// posing is a line that could be taken for one of ours.
var posing = regexp.MustCompile(`^\s*(?:#|---|\[|USER\b|ASSISTANT\b|TOOL_|OTHER\b|COMPACTION\b|END CHAT|NOTE:|Please proceed` +
	`|file:|database:|session:|If needed|checkpoints:)`)

// cut shortens a body to its first head and last tail runes, and says between them how many
// are gone. front must hold the first of the body's runes (all, or at least head), back the
// last (all, or at least tail), partial that back begins in the middle of a line. A body
// that fits stays as it is; front is then all of it.
//
// The rest of a line that the cut has torn is quoted again if it looks like a line of ours.
func cut(front, back string, partial bool, total, head, tail int) string {
	if total <= head+tail {
		return front
	}
	h, t := chat.Head(front, head), chat.Tail(back, tail)
	gone := total - utf8.RuneCountInString(h) - utf8.RuneCountInString(t)
	if at := len(back) - len(t); at > 0 {
		partial = back[at-1] != '\n'
	}
	if partial && posing.MatchString(t) {
		t = quotePrefix + t
	}
	return fmt.Sprintf("%s\n[%d characters truncated]\n%s", h, gone, t)
}
