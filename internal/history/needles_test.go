package history

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"unicode"
	"unicode/utf16"

	"parlance/internal/chat"
)

func TestDemands(t *testing.T) {
	tests := []struct {
		name, text string
		blanks     bool
		want       string
	}{
		{"one word", "heron", true, "[heron]"},
		{"a phrase is one run", "count the herons", true, "[count the herons]"},
		{"without blanks its words, the longest first", "count the herons", false, "[herons] [count] [the]"},
		{"two blanks end a run", "count  herons", true, "[herons] [count]"},
		{"blanks at the ends of a run go", `see "the port" now`, true, "[the port] [see] [now]"},
		{"quotes and slashes may be escaped", `a/bcd"efg`, true, "[bcd] [efg]"},
		{"short runs stand everywhere", "a.b", true, "[a.b]"},
		{"too short", "go", true, ""},
		{"at most three", "one two-two three.3 four_four", false, "[four_four] [two-two] [three.3]"},
		{"a text outside ASCII has its characters", "größe", true, `[ö \u00f6 Ö \u00d6] [ß \u00df ẞ \u1e9e]`},
		{"the rarest first", "é日", true, `[日 \u65e5] [é \u00e9 É \u00c9]`},
		{"characters beyond 16 bits", "😀", true, `[😀 \ud83d\ude00]`},
		{"a replacement tells nothing", "\uFFFD", true, ""},
		{"a run goes before characters", "größen", true, `[ö \u00f6 Ö \u00d6] [ß \u00df ẞ \u1e9e]`},
		{"a run of three", "größen-art", true, `[en-art]`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var got []string
			for _, d := range demands(chat.Fold(tt.text), tt.blanks) {
				got = append(got, "["+strings.Join(d, " ")+"]")
			}
			if got := strings.Join(got, " "); got != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
		})
	}
}

func TestSpellingsAreAllThatFold(t *testing.T) {
	folds := map[rune][]rune{}
	for r := rune(0); r <= unicode.MaxRune; r++ {
		if f := []rune(chat.Fold(string(r)))[0]; r != f {
			folds[f] = append(folds[f], r)
		}
	}
	for f, from := range folds {
		if f <= unicode.MaxASCII {
			for _, r := range from {
				if r > unicode.MaxASCII && r != '\u017F' && r != '\u212A' {
					t.Errorf("%U folds to %q: raw bytes do not show it", r, f)
				}
			}
			continue
		}
		if f == unicode.ReplacementChar {
			continue
		}
		d := spellings(f)
		for _, r := range from {
			if !strings.Contains(strings.Join(d, " "), string(r)) {
				t.Errorf("%U folds to %U, which is looked for as %q only", r, f, d)
			}
		}
	}
}

// spell writes s as some JSON writer may: what must be escaped is, and anything but plain
// characters may be, in every place anew.
func spell(r *rand.Rand, s string) string {
	var b strings.Builder
	b.WriteByte('"')
	escape := func(u uint16) {
		if r.IntN(2) == 0 {
			fmt.Fprintf(&b, `\u%04x`, u)
		} else {
			fmt.Fprintf(&b, `\u%04X`, u)
		}
	}
	for _, c := range s {
		plain := c < 128 && (unicode.IsLetter(c) || unicode.IsDigit(c) || strings.ContainsRune("_-. ", c))
		switch {
		case plain:
			b.WriteRune(c)
		case c == '"' || c == '\\':
			if r.IntN(4) > 0 {
				b.WriteRune('\\')
				b.WriteRune(c)
			} else {
				escape(uint16(c))
			}
		case c == '\n' && r.IntN(2) == 0:
			b.WriteString(`\n`)
		case c == '/' && r.IntN(2) == 0:
			b.WriteString(`\/`)
		case c < ' ':
			escape(uint16(c))
		case r.IntN(2) == 0:
			b.WriteRune(c)
		case c > 0xFFFF:
			hi, lo := utf16.EncodeRune(c)
			escape(uint16(hi))
			escape(uint16(lo))
		default:
			escape(uint16(c))
		}
	}
	b.WriteByte('"')
	return b.String()
}

// Whatever a text is and however it is written, its parts are demanded in a way that its
// bytes meet.
func TestDemandsAreMetByEverySpelling(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 20000 {
		text := randomText(r, 12)
		raw := strings.ToLower(spell(r, text))
		runes := []rune(text)
		from := r.IntN(len(runes))
		needle := chat.Needle(string(runes[from : from+r.IntN(len(runes)-from+1)]))
		for _, blanks := range []bool{false, true} {
			for _, d := range demands(needle, blanks) {
				met := false
				for _, s := range d {
					kelvin := strings.NewReplacer("\u212A", "k", "\u017F", "s", `\u212a`, "k", `\u017f`, "s")
					met = met || strings.Contains(raw, strings.ToLower(s)) || strings.Contains(kelvin.Replace(raw), s)
				}
				if !met {
					t.Fatalf("%q in %q, written %s: none of %q", needle, text, raw, d)
				}
			}
		}
	}
}

var alphabet = []string{
	"heron", "tern", "port", "8123", "the", "a", "of", " ", " ", "  ", "\n", "-", "_", ".", "/", `"`, `\`, "<", "&", "'", "`", "+",
	"é", "É", "ß", "ẞ", "ſ", "\u212A", "İ", "i", "日本", "語", "😀", "Σ", "ς", "K", "S", "Heron", "TERN", "\t", "e\u0301", "\u2028", "#", ":",
}

func randomText(r *rand.Rand, words int) string {
	var b strings.Builder
	for range 1 + r.IntN(words) {
		b.WriteString(alphabet[r.IntN(len(alphabet))])
		if r.IntN(2) == 0 {
			b.WriteByte(' ')
		}
	}
	return b.String()
}

func TestQueryReadsIDs(t *testing.T) {
	q := newQuery("Acme:AB-12")
	if got := q.ids("acme"); len(got) != 2 || got[1] != "ab-12" {
		t.Errorf("ids: got %q", got)
	}
	if !q.exactID("acme", "ab-12") || q.exactID("bolt", "ab-12") || q.exactID("acme", "ab-123") {
		t.Error("exactID: the provider or the whole id was not looked at")
	}
	if !newQuery("cme:").names("acme") || newQuery("acme:a").names("acme") {
		t.Error("names: only a part of the provider and its colon names all its conversations")
	}
	for text, want := range map[string]bool{"heron": false, "two words 12": false, "c1": true, "": false, "abcdefghijklmnopq": true} {
		if got := newQuery(text).idLike(); got != want {
			t.Errorf("idLike(%q): got %v", text, got)
		}
	}
}
