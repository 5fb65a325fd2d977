package source

import (
	"bytes"
	"encoding/binary"
	"math/bits"
	"strings"
)

// A finder looks for one text. It compares two bytes of the text, the rarest, at 32 places
// at once, and the whole text where both fit. That runs at memory speed whatever the text;
// with bytes.IndexByte for the rarest byte, a text of frequent letters was five times slower.
//
// Where k and s stand for more than themselves, both bytes are of one stretch without them, so
// that their distance is the same in every spelling. A stretch of one letter is met too often;
// a text that has no better one is looked for as it is, and once more where its other spellings
// may be.
type finder struct {
	text    string // in lower case
	stretch int    // where in text the stretch begins; -1: there is none, folds is set
	rare    pair   // of the stretch; the places are counted from its beginning
	folds   bool   // k and s stand for more than themselves
	most    int    // bytes that a match may have
	found   *bool  // what the answer goes to
}

func newFinder(text string, fold bool, found *bool) *finder {
	f := &finder{text: lowerASCII(text), found: found, most: len(text)}
	n := strings.Count(f.text, "k") + strings.Count(f.text, "s")
	if !fold || n == 0 {
		f.rare = rarest(f.text)
		return f
	}
	f.folds, f.most = true, len(text)+n*(len(`\u017f`)-1)
	f.stretch, f.rare = -1, rarest(f.text)
	best := 0
	for start := 0; start < len(f.text); {
		length := strings.IndexAny(f.text[start:], "ks")
		if length < 0 {
			length = len(f.text) - start
		}
		if part := f.text[start : start+length]; part != "" {
			p := rarest(part)
			if how := p.rarity(); how > best {
				best, f.stretch, f.rare = how, start, p
			}
		}
		start += length + 1
	}
	return f
}

func lowerASCII(s string) string {
	b := []byte(s)
	for i, c := range b {
		b[i] = lower(c)
	}
	return string(b)
}

func lower(c byte) byte {
	if 'A' <= c && c <= 'Z' {
		c += 'a' - 'A'
	}
	return c
}

// in reports whether w holds the text.
func (f *finder) in(w []byte) bool {
	if f.text == "" {
		return true
	}
	before := max(0, f.stretch)
	for at := f.rare.next(w, 0); at >= 0; at = f.rare.next(w, at+1) {
		if f.ahead(w[at:], f.text[before:]) && f.behind(w[:at], f.text[:before]) {
			return true
		}
	}
	if f.stretch < 0 && holdsRelatives(w) {
		for at := range w {
			if f.ahead(w[at:], f.text) {
				return true
			}
		}
	}
	return false
}

// ahead reports whether w begins with text.
func (f *finder) ahead(w []byte, text string) bool {
	for i := range len(text) {
		c := text[i]
		switch {
		case len(w) > 0 && lower(w[0]) == c:
			w = w[1:]
		case f.folds && (c == 'k' || c == 's'):
			n := foldedLen(w, c)
			if n == 0 {
				return false
			}
			w = w[n:]
		default:
			return false
		}
	}
	return true
}

// behind reports whether w ends with text.
func (f *finder) behind(w []byte, text string) bool {
	for i := len(text) - 1; i >= 0; i-- {
		c := text[i]
		switch {
		case len(w) > 0 && lower(w[len(w)-1]) == c:
			w = w[:len(w)-1]
		case c == 'k' || c == 's':
			n := 0
			for _, most := range foldedLens {
				if at := len(w) - most; at >= 0 && foldedLen(w[at:], c) == most {
					n = most
				}
			}
			if n == 0 {
				return false
			}
			w = w[:len(w)-n]
		default:
			return false
		}
	}
	return true
}

// Where K and ſ may stand for k and s. In `\u212a` and `\u017f` the same byte follows u at
// the same distance, so that one pass finds both.
var (
	kelvin, longS             = []byte("\u212a"), []byte("\u017f")
	kelvinEscape, longSEscape = []byte(`\u212a`), []byte(`\u017f`)
	foldedLens                = [...]int{len(kelvin), len(longS), len(kelvinEscape)}
	escapes                   = pair{at: [2]int{1, 3}, byte: [2]byte{'u', '1'}}
)

// holdsRelatives says whether one of these characters is in w.
func holdsRelatives(w []byte) bool {
	if bytes.Contains(w, kelvin) || bytes.Contains(w, longS) {
		return true
	}
	for at := escapes.next(w, 0); at >= 0; at = escapes.next(w, at+1) {
		if foldedLen(w[at:], 'k')+foldedLen(w[at:], 's') > 0 {
			return true
		}
	}
	return false
}

// foldedLen is the length of the character in front of w that folds into c, 0 if none does.
func foldedLen(w []byte, c byte) int {
	char, escape := kelvin, kelvinEscape
	if c == 's' {
		char, escape = longS, longSEscape
	}
	switch {
	case bytes.HasPrefix(w, char):
		return len(char)
	case len(w) >= len(escape) && w[1] == 'u' && bytes.EqualFold(w[:len(escape)], escape):
		return len(escape)
	}
	return 0
}

// A pair is two bytes of a text and their places in it.
type pair struct {
	at   [2]int
	byte [2]byte
}

// frequent holds the bytes of transcripts from the most frequent down, letters in lower
// case: counted over JSON with English text and code. The others are rare.
const frequent = "e\x00 toasnir\\\"ulcdpmh0:1f2b,-/.g_w345y689{}7v=x()[]kjzq"

func rank(c byte) int {
	if n := strings.IndexByte(frequent, c); n >= 0 {
		return n
	}
	return len(frequent)
}

// rarest picks the two bytes of text that transcripts hold least often.
func rarest(text string) (p pair) {
	for i := range len(text) {
		switch {
		case i == 0 || rank(text[i]) > rank(text[p.at[0]]):
			p.at[0], p.at[1] = i, p.at[0]
		case i == 1 || rank(text[i]) > rank(text[p.at[1]]):
			p.at[1] = i
		}
	}
	if text != "" {
		p.byte = [2]byte{text[p.at[0]], text[p.at[1]]}
	}
	return p
}

// rarity says how seldom both bytes are met: more is better, 0 is a pair of one byte.
func (p *pair) rarity() int {
	if p.at[0] == p.at[1] {
		return 0
	}
	return rank(p.byte[0]) + rank(p.byte[1])
}

// next finds the first place at or after from where both bytes of the pair fit but for bit
// 0x20, which tells upper case from lower. -1 if there is none.
func (p *pair) next(w []byte, from int) int {
	const (
		ones = 0x0101010101010101
		high = 0x80 * ones
		but  = 0xff*ones ^ 0x20*ones
	)
	n := len(w) - max(p.at[0], p.at[1])
	if from >= n {
		return -1
	}
	a, b := w[p.at[0]:][:n], w[p.at[1]:][:n]
	wantA, wantB := uint64(p.byte[0])*ones, uint64(p.byte[1])*ones
	for ; from+32 <= len(a) && from+32 <= len(b); from += 32 {
		a, b := (*[32]byte)(a[from:]), (*[32]byte)(b[from:])
		// A byte of these is zero where both fit.
		x0 := ((word(a[0:]) ^ wantA) | (word(b[0:]) ^ wantB)) & but
		x1 := ((word(a[8:]) ^ wantA) | (word(b[8:]) ^ wantB)) & but
		x2 := ((word(a[16:]) ^ wantA) | (word(b[16:]) ^ wantB)) & but
		x3 := ((word(a[24:]) ^ wantA) | (word(b[24:]) ^ wantB)) & but
		// x-1 has a high bit that x has not where x is zero. The borrow of a zero byte may
		// mark bytes above it too, so only the lowest mark counts.
		x0, x1, x2, x3 = (x0-ones)&^x0, (x1-ones)&^x1, (x2-ones)&^x2, (x3-ones)&^x3
		if (x0|x1|x2|x3)&high == 0 {
			continue
		}
		switch {
		case x0&high != 0:
			return from + bits.TrailingZeros64(x0&high)/8
		case x1&high != 0:
			return from + 8 + bits.TrailingZeros64(x1&high)/8
		case x2&high != 0:
			return from + 16 + bits.TrailingZeros64(x2&high)/8
		}
		return from + 24 + bits.TrailingZeros64(x3&high)/8
	}
	for ; from < n; from++ {
		if ((a[from]^p.byte[0])|(b[from]^p.byte[1]))&^0x20 == 0 {
			return from
		}
	}
	return -1
}

func word(b []byte) uint64 { return binary.LittleEndian.Uint64(b) }
