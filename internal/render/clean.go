// Package render makes answers of conversations: listings, transcripts to be pasted into
// another chat, pages to be read, and JSON.
//
// Conversations and rows go in, text comes out, within a budget where one is given. What is
// cut is counted where it was cut. All transcript text is taken as hostile: it cannot pose as
// a line of ours, act on a terminal, or come out as anything but valid UTF-8. Nothing here
// reads a file or decides what to show of a history.
package render

import (
	"strings"
	"unicode/utf8"
)

// Clean removes from s what would act on a terminal instead of being read: escape sequences
// whole, control characters other than newline and tab, and the invisible characters that
// turn the direction of text or hide in it. Bytes that are not UTF-8 become U+FFFD.
func Clean(s string) string {
	i := 0
	for i < len(s) && plain(s[i]) {
		i++
	}
	if i == len(s) {
		return s
	}
	var b strings.Builder
	b.Grow(len(s))
	from := 0 // s[from:i] is good
	for i < len(s) {
		if plain(s[i]) {
			i++
			continue
		}
		r, size := utf8.DecodeRuneInString(s[i:])
		bad := r == utf8.RuneError && size == 1
		if !bad && !unwanted(r) {
			i += size
			continue
		}
		b.WriteString(s[from:i])
		if bad {
			b.WriteRune(utf8.RuneError)
		}
		i += size + sequence(r, s[i+size:])
		from = i
	}
	b.WriteString(s[from:])
	return b.String()
}

func plain(c byte) bool { return c >= ' ' && c < 0x7F || c == '\n' || c == '\t' }

func unwanted(r rune) bool {
	switch {
	case r < ' ':
		return r != '\n' && r != '\t'
	case r >= 0x7F && r <= 0x9F, // delete, and the second set of control characters
		r >= 0x200B && r <= 0x200F,   // zero width, direction marks
		r >= 0x202A && r <= 0x202E,   // direction overrides
		r >= 0x2060 && r <= 0x2069,   // word joiner, invisible operators, isolates
		r >= 0xE0000 && r <= 0xE007F: // tags: letters nobody sees
		return true
	}
	return r == 0x061C || r == 0xFEFF
}

// sequence is the length of the rest of the escape sequence that the control character r
// has opened. A string that does not end on its line is not taken for one, so that nobody
// can make the rest of a text disappear.
func sequence(r rune, rest string) int {
	n := 0
	if r == 0x1B {
		if rest == "" {
			return 0
		}
		switch c := rest[0]; {
		case c == '[':
			r, n = 0x9B, 1
		case c == ']', c == 'P', c == 'X', c == '^', c == '_':
			r, n = 0x9D, 1
		case c < ' ' || c > '~':
			return 0
		default: // blanks to slashes, then one more
			for n < len(rest) && rest[n] >= ' ' && rest[n] <= '/' {
				n++
			}
			if n < len(rest) && rest[n] >= '0' && rest[n] <= '~' {
				n++
			}
			return n
		}
	}
	switch r {
	case 0x9B:
		for n < len(rest) && rest[n] >= ' ' && rest[n] <= '?' {
			n++
		}
		if n < len(rest) && rest[n] >= '@' && rest[n] <= '~' {
			n++
		}
	case 0x90, 0x98, 0x9D, 0x9E, 0x9F:
		end := strings.IndexAny(rest[n:], "\a\u009c\x1b\n")
		switch {
		case end < 0:
		case rest[n+end] == '\a':
			n += end + 1
		case strings.HasPrefix(rest[n+end:], "\u009c"), strings.HasPrefix(rest[n+end:], "\x1b\\"):
			n += end + 2
		}
	}
	return n
}

var breaksToBlanks = strings.NewReplacer("\r\n", " ", "\r", " ", "\n", " ", "\t", " ", "\u2028", " ", "\u2029", " ")

// line makes s one clean line.
func line(s string) string { return strings.TrimSpace(Clean(breaksToBlanks.Replace(s))) }

var breaksToNewlines = strings.NewReplacer("\r\n", "\n", "\r", "\n")

// fit is s, or its beginning and "..." if it is longer than n bytes.
func fit(s string, n int) string {
	if len(s) <= n {
		return s
	}
	s = s[:max(0, n-len("..."))]
	return s[:len(s)-len(tornRune(s))] + "..."
}

// tornRune is what a cut has left of a character at the end of s, "" if nothing.
func tornRune(s string) string {
	for i := len(s) - 1; i >= max(0, len(s)-utf8.UTFMax); i-- {
		if utf8.RuneStart(s[i]) {
			if !utf8.FullRuneInString(s[i:]) {
				return s[i:]
			}
			break
		}
	}
	return ""
}
