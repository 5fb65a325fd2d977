package chat

import (
	"testing"
	"unicode"
	"unicode/utf8"
)

func TestFold(t *testing.T) {
	for _, row := range []struct{ name, in, want string }{
		{"empty", "", ""},
		{"already folded", "port 8123", "port 8123"},
		{"ascii", "Port PORT", "port port"},
		{"umlauts", "ÄÖÜ ß", "äöü ß"},
		{"cyrillic", "ПОРТ", "порт"},
		{"long s is an s", "Congreſs", "congress"},
		{"kelvin is a k", "300 \u212A", "300 k"},
		{"a dotted capital I is no i", "\u0130", "\u0130"},
		{"grows", "\u023A", "\u2C65"},
		{"bad byte", "A\xffB", "a\uFFFDb"},
		{"no case", "端口", "端口"},
	} {
		if got := Fold(row.in); got != row.want {
			t.Errorf("%s: got %q, want %q", row.name, got, row.want)
		}
	}
}

// A search looks at raw bytes first, and lets exactly two characters outside ASCII pass for
// letters inside it.
func TestFoldReachesASCIIFromTwoCharacters(t *testing.T) {
	for r := rune(utf8.RuneSelf); r <= utf8.MaxRune; r++ {
		if f := Fold(string(r)); len(f) == 1 && r != '\u017F' && r != '\u212A' {
			t.Errorf("%U folds to %q", r, f)
		}
	}
}

func TestMatches(t *testing.T) {
	for _, row := range []struct {
		name, text, search string
		hits               int
		first, last        string
	}{
		{"none", "which port", "door", 0, "", ""},
		{"empty needle", "which port", " ", 0, "", ""},
		{"one", "which Port", "port", 1, "Port", "Port"},
		{"several", "PORT notes: port", "Port", 2, "PORT", "port"},
		{"do not overlap", "aaaaa", "aa", 2, "aa", "aa"},
		{"after bytes that shrank", "\u212A\u212A\u212A port", "PORT", 1, "port", "port"},
		{"after bytes that grew", "\u023A\u023A Port", "port", 1, "Port", "Port"},
		{"the shrunk bytes themselves", "x \u212Aelvin", "kelvin", 1, "\u212Aelvin", "\u212Aelvin"},
		{"between both", "\u023A\u212Aport\u0130 and \u017Fo PORT", "port", 2, "port", "PORT"},
		{"long s", "Congre\u017Fs", "ss", 1, "\u017Fs", "\u017Fs"},
		{"behind a bad byte", "\xff\xfe port", "port", 1, "port", "port"},
	} {
		hits, first, last := Matches(row.text, Needle(row.search))
		if hits != row.hits || row.text[first.From:first.To] != row.first || row.text[last.From:last.To] != row.last {
			t.Errorf("%s: got %d %q %q, want %d %q %q", row.name, hits,
				row.text[first.From:first.To], row.text[last.From:last.To], row.hits, row.first, row.last)
		}
	}
	_, first, last := Matches("aXaXa", "x")
	if want := (Span{1, 2}); first != want || last != (Span{3, 4}) {
		t.Errorf("places: got %v %v", first, last)
	}
}

// The place of every character must be found again, however the lengths change.
func FuzzFoldSource(f *testing.F) {
	f.Add("plain")
	f.Add("\u023A\u212A\u0130\u017F\xffÄ")
	f.Fuzz(func(t *testing.T, s string) {
		folded := FoldText(s)
		if !utf8.ValidString(folded.Text) {
			t.Fatalf("%q folds to invalid %q", s, folded.Text)
		}
		if n, want := utf8.RuneCountInString(folded.Text), utf8.RuneCountInString(s); n != want {
			t.Fatalf("%q has %d runes, folded %d", s, want, n)
		}
		at := 0
		for i, r := range folded.Text {
			if got := folded.Source(i); got != at {
				t.Fatalf("%q: folded byte %d is source byte %d, want %d", s, i, got, at)
			}
			source, size := utf8.DecodeRuneInString(s[at:])
			if foldRune(source) != r {
				t.Fatalf("%q: %q became %q", s, source, r)
			}
			at += size
		}
		if got := folded.Source(len(folded.Text)); got != len(s) {
			t.Fatalf("%q: the end is at %d, want %d", s, got, len(s))
		}
		if Fold(folded.Text) != folded.Text {
			t.Fatalf("%q: folding twice changes %q", s, folded.Text)
		}
	})
}

// TestFoldMakesEqualWhatDiffersInCase goes through all characters: two that Unicode's simple
// folding takes for the same letter fold alike, and nothing outside ASCII folds into it but
// the two that searches through raw bytes know of.
func TestFoldMakesEqualWhatDiffersInCase(t *testing.T) {
	for r := rune(0); r <= unicode.MaxRune; r++ {
		if !utf8.ValidRune(r) {
			continue
		}
		folded := Fold(string(r))
		if Fold(folded) != folded {
			t.Errorf("%U folds to %q, which folds on", r, folded)
		}
		for c := unicode.SimpleFold(r); c != r; c = unicode.SimpleFold(c) {
			if Fold(string(c)) != folded {
				t.Errorf("%U and %U fold apart", r, c)
			}
		}
		if r >= utf8.RuneSelf && len(folded) == 1 && r != '\u017F' && r != '\u212A' {
			t.Errorf("%U folds to %q", r, folded)
		}
	}
}
