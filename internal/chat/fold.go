package chat

import (
	"sort"
	"strings"
	"unicode"
	"unicode/utf8"
)

// foldRune maps one rune for comparison: all letters that differ in case alone, in Unicode's
// simple folding, give the same one, the smallest of their small letters. So a final sigma is
// a sigma, a micro sign a mu, the long s an s, the Kelvin sign a k; the dotted capital I, which
// only lower-casing takes for an i, stays itself.
func foldRune(r rune) rune {
	if r < utf8.RuneSelf {
		if r >= 'A' && r <= 'Z' {
			r += 'a' - 'A'
		}
		return r
	}
	least, small := r, unicode.ToLower(r) == r
	for c := unicode.SimpleFold(r); c != r; c = unicode.SimpleFold(c) {
		if lower := unicode.ToLower(c) == c; lower && !small || lower == small && c < least {
			least, small = c, lower
		}
	}
	return least
}

// Fold maps s for comparison without regard to case. It maps rune by rune, so a string
// occurs in another, case aside, exactly if its folded form occurs in the folded other.
// A byte that is not UTF-8 becomes U+FFFD. A string that needs no folding is returned as it is.
func Fold(s string) string { return FoldText(s).Text }

// Folded is a folded text that remembers where its bytes came from.
type Folded struct {
	Text   string
	shifts []shift // rising; empty where folding kept every length
}

// shift says that from byte folded of the folded text on, bytes come from source on.
type shift struct{ folded, source int }

// FoldText is Fold for a caller that needs the place of a match in the original.
func FoldText(s string) Folded {
	first := 0 // the first byte that folding might change
	for first < len(s) && s[first] < utf8.RuneSelf && (s[first] < 'A' || s[first] > 'Z') {
		first++
	}
	if first == len(s) {
		return Folded{Text: s}
	}
	var f Folded
	var b strings.Builder
	b.Grow(len(s))
	b.WriteString(s[:first])
	for i := first; i < len(s); {
		r, size := rune(s[i]), 1
		if r >= utf8.RuneSelf {
			r, size = utf8.DecodeRuneInString(s[i:])
		}
		i += size
		r = foldRune(r)
		b.WriteRune(r)
		if utf8.RuneLen(r) != size {
			f.shifts = append(f.shifts, shift{b.Len(), i})
		}
	}
	f.Text = b.String()
	return f
}

// Source is the byte of the original text behind byte i of f.Text. i must be the beginning
// of a character, or the length of the text.
func (f Folded) Source(i int) int {
	n := sort.Search(len(f.shifts), func(n int) bool { return f.shifts[n].folded > i })
	if n == 0 {
		return i
	}
	at := f.shifts[n-1]
	return at.source + i - at.folded
}

// A Span is a stretch of a text, in bytes.
type Span struct{ From, To int }

// Matches counts the occurrences of needle in text that do not overlap, case aside, and
// says where in text the first and the last of them are. needle must be folded; an empty
// one occurs nowhere.
func Matches(text, needle string) (hits int, first, last Span) {
	if needle == "" {
		return 0, first, last
	}
	f := FoldText(text)
	for at := 0; ; hits++ {
		i := strings.Index(f.Text[at:], needle)
		if i < 0 {
			break
		}
		last = Span{at + i, at + i + len(needle)}
		if hits == 0 {
			first = last
		}
		at = last.To
	}
	if hits == 0 {
		return 0, first, last
	}
	return hits, Span{f.Source(first.From), f.Source(first.To)}, Span{f.Source(last.From), f.Source(last.To)}
}

// Needle is a search text ready to be looked for: trimmed and folded.
func Needle(search string) string { return Fold(strings.TrimSpace(search)) }
