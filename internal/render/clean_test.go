package render

import (
	"strings"
	"testing"
	"time"
	"unicode/utf8"
)

func TestClean(t *testing.T) {
	for _, row := range []struct{ name, in, want string }{
		{"plain", "port\t8123\nend", "port\t8123\nend"},
		{"letters beyond ASCII", "Größe 端口 🎉 é", "Größe 端口 🎉 é"},
		{"colour", "\x1b[1;31mRED\x1b[0m", "RED"},
		{"clear screen, title, backspace, direction", "probe \x1b[2J\x1b[31mRED\x1b[0m \x1b]0;TITLE\a tail\bX \u202egnp\u202c end", "probe RED  tailX gnp end"},
		{"title ended by ST", "a\x1b]0;TITLE\x1b\\b", "ab"},
		{"hyperlink", "\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\", "link"},
		{"title that does not end", "a\x1b]0;TITLE\nb", "a0;TITLE\nb"},
		{"string before another sequence", "a\x1bPq\x1b[0mb", "aqb"},
		{"charset", "\x1b(Bx", "x"},
		{"reset", "a\x1bcb", "ab"},
		{"escape last", "a\x1b", "a"},
		{"escape before a letter beyond ASCII", "a\x1bé", "aé"},
		{"sequence cut short", "a\x1b[31", "a"},
		{"C1", "a\u009b31mb\u0085c\u009dTITLE\u009cd", "abcd"},
		{"bell, nul, delete, carriage return", "a\a\x00\x7f\rb", "ab"},
		{"isolates and marks", "\u2066a\u2069\u200e\u200f\u061cb", "ab"},
		{"zero width", "a\u200b\u200c\u200d\u2060\ufeffb", "ab"},
		{"tags", "a\U000E0041\U000E0042b", "ab"},
		{"bad bytes", "a\xffb\x9b31m", "a\uFFFDb\uFFFD31m"},
		{"U+FFFD itself", "a\uFFFDb", "a\uFFFDb"},
	} {
		if got := Clean(row.in); got != row.want {
			t.Errorf("%s: got %q, want %q", row.name, got, row.want)
		}
	}
}

func TestCleanIsLinear(t *testing.T) {
	start := time.Now()
	Clean(strings.Repeat("\x1b]0;", 1<<20))
	if took := time.Since(start); took > 5*time.Second {
		t.Errorf("4 MB of openings took %v", took)
	}
}

func FuzzClean(f *testing.F) {
	f.Add("a\x1b]0;T\ab\u009b1mc\u202e\xff")
	f.Fuzz(func(t *testing.T, s string) {
		got := Clean(s)
		if !utf8.ValidString(got) {
			t.Fatalf("%q: invalid %q", s, got)
		}
		for _, r := range got {
			if unwanted(r) {
				t.Fatalf("%q: %U is left in %q", s, r, got)
			}
		}
		if again := Clean(got); again != got {
			t.Fatalf("%q: cleaning again changes %q to %q", s, got, again)
		}
	})
}

func TestFit(t *testing.T) {
	for _, row := range []struct {
		name, in string
		n        int
		want     string
	}{
		{"fits", "port", 4, "port"},
		{"cut", "ports8123", 6, "por..."},
		{"between characters", "端口端口", 7, "端..."},
		{"inside a character", "端口端口", 8, "端..."},
		{"no room", "ports", 2, "..."},
	} {
		if got := fit(row.in, row.n); got != row.want {
			t.Errorf("%s: got %q, want %q", row.name, got, row.want)
		}
	}
}

func TestRedactorApply(t *testing.T) {
	at := func(places ...int) Redactor {
		return func(string) (found []Secret) {
			for i := 0; i < len(places); i += 2 {
				found = append(found, Secret{places[i], places[i+1], "k"})
			}
			return found
		}
	}
	const text = "0123456789"
	for _, row := range []struct {
		name     string
		r        Redactor
		from, to int
		want     string
		n        int
	}{
		{"none", nil, 2, 8, "234567", 0},
		{"nothing found", at(), 2, 8, "234567", 0},
		{"inside", at(3, 5), 2, 8, "2[redacted: k]567", 1},
		{"across the beginning", at(0, 4), 2, 8, "[redacted: k]4567", 1},
		{"across the end", at(6, 10), 2, 8, "2345[redacted: k]", 1},
		{"around it all", at(0, 10), 2, 8, "[redacted: k]", 1},
		{"outside", at(0, 2, 8, 10), 2, 8, "234567", 0},
		{"two", at(2, 3, 4, 5), 2, 8, "[redacted: k]3[redacted: k]567", 2},
		{"wrong places are passed over", at(5, 5, 6, 40, 3, 4), 2, 8, "2[redacted: k]4567", 1},
	} {
		counts := tally{}
		got := row.r.apply(text, row.from, row.to, counts)
		if got != row.want || counts["k"] != row.n {
			t.Errorf("%s: got %q, %d, want %q, %d", row.name, got, counts["k"], row.want, row.n)
		}
	}
}
