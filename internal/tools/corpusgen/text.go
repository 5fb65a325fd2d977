package main

import (
	"encoding/base64"
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
)

type rng struct{ *rand.Rand }

func newRNG(seed, stream uint64) *rng {
	return &rng{rand.New(rand.NewPCG(seed*0x9e3779b97f4a7c15+1, stream*0xbf58476d1ce4e5b9+7))}
}

// logNormal draws from a log-normal with the given median, clamped to [lo, hi].
func (r *rng) logNormal(median, sigma, lo, hi float64) float64 {
	return math.Min(hi, math.Max(lo, median*math.Exp(sigma*r.NormFloat64())))
}

func (r *rng) between(lo, hi int) int { return lo + r.IntN(hi-lo+1) }
func (r *rng) chance(p float64) bool  { return r.Float64() < p }

func (r *rng) hex(n int) string {
	const digits = "0123456789abcdef"
	b := make([]byte, n)
	for i := range b {
		b[i] = digits[r.IntN(16)]
	}
	return string(b)
}

func (r *rng) uuid() string {
	h := r.hex(32)
	return h[:8] + "-" + h[8:12] + "-4" + h[13:16] + "-a" + h[17:20] + "-" + h[20:]
}

// alnum is for provider ids such as toolu_01... or call_...
func (r *rng) alnum(n int) string {
	const set = "ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz0123456789"
	b := make([]byte, n)
	for i := range b {
		b[i] = set[r.IntN(len(set))]
	}
	return string(b)
}

// vocabulary is a Zipf-weighted word list: one table look-up draws a word.
type vocabulary struct {
	words []string
	table []uint32
}

var plainWords = strings.Fields(`the to a and of in it is that for this with on as we be not are file test
or you if from at can should now error function one new by line code change will run all but use an have
pipeline first then so let need data type when return value call check there fix list path which name does
set into only same build string read write config also update client server request default user after
before each where key time case module output input branch commit version handler result message context
cache index query table field parse json object array retry timeout queue worker thread lock state token
session model schema column migrate deploy release package import export method class interface struct
pointer buffer stream socket header body status response route policy limit window batch page cursor offset
metric trace log debug flag option argument command shell script container image volume network secret`)

func newVocabulary(seed uint64, size int) *vocabulary {
	r := newRNG(seed, 1)
	onset := strings.Fields("b c d f g h j k l m n p r s t v w z br ch cl cr dr fl gr pl pr sh sl sp st th tr qu")
	vowel := strings.Fields("a e i o u ai ea ee ie oa oo ou")
	coda := append(strings.Fields("n r s t l m d k p nd nt st ck rm sh ng"), "", "", "", "")
	accented := strings.Fields("é ü ñ ø ç å 語 処 理 д ж")
	v := &vocabulary{words: append([]string{}, plainWords...)}
	seen := map[string]bool{}
	for _, w := range v.words {
		seen[w] = true
	}
	for len(v.words) < size {
		var b strings.Builder
		for n := r.between(1, 3); n >= 0; n-- {
			b.WriteString(onset[r.IntN(len(onset))])
			b.WriteString(vowel[r.IntN(len(vowel))])
		}
		b.WriteString(coda[r.IntN(len(coda))])
		if r.chance(0.02) {
			b.WriteString(accented[r.IntN(len(accented))])
		}
		w := b.String()
		if !seen[w] {
			seen[w] = true
			v.words = append(v.words, w)
		}
	}
	// Cumulative 1/rank weights, spread over a power-of-two table.
	const slots = 1 << 20
	total := 0.0
	for i := range v.words {
		total += 1 / float64(i+2)
	}
	v.table = make([]uint32, 0, slots)
	acc := 0.0
	for i := range v.words {
		acc += 1 / float64(i+2)
		for float64(len(v.table)) < acc/total*slots && len(v.table) < slots {
			v.table = append(v.table, uint32(i))
		}
	}
	for len(v.table) < slots {
		v.table = append(v.table, uint32(len(v.words)-1))
	}
	return v
}

func (v *vocabulary) word(r *rng) string { return v.words[v.table[r.Uint32()&(1<<20-1)]] }

// ident is a camelCase or snake_case name.
func (v *vocabulary) ident(r *rng) string {
	a, b := v.word(r), v.word(r)
	if r.chance(0.5) {
		return a + "_" + b
	}
	if c := b[0]; c >= 'a' && c <= 'z' {
		return a + string(c-32) + b[1:]
	}
	return a + b
}

// prose writes about n bytes of sentences; markdown now and then.
func (v *vocabulary) prose(r *rng, n int) string {
	b := make([]byte, 0, n+64)
	for len(b) < n {
		for words := r.between(6, 22); words > 0; words-- {
			switch r.IntN(40) {
			case 0:
				b = append(b, '`')
				b = append(b, v.ident(r)...)
				b = append(b, "` "...)
			case 1:
				b = append(b, '"')
				b = append(b, v.word(r)...)
				b = append(b, "\" "...)
			default:
				b = append(b, v.word(r)...)
				b = append(b, ' ')
			}
		}
		b[len(b)-1] = '.'
		switch r.IntN(8) {
		case 0:
			b = append(b, "\n\n"...)
		case 1:
			b = append(b, "\n- "...)
		default:
			b = append(b, ' ')
		}
	}
	return strings.TrimSpace(string(b))
}

// toolText writes about n bytes that look like tool output.
func (v *vocabulary) toolText(r *rng, n int) string {
	b := make([]byte, 0, n+160)
	kind := r.IntN(5)
	line := r.between(1, 900)
	for len(b) < n {
		line++
		switch kind {
		case 0: // numbered source listing
			b = fmt.Appendf(b, "%6d\t", line)
			b = append(b, strings.Repeat("\t", r.IntN(4))...)
			b = append(b, v.ident(r)...)
			b = append(b, " := "...)
			b = append(b, v.ident(r)...)
			b = append(b, '(')
			b = append(b, v.word(r)...)
			b = append(b, ", \""...)
			b = append(b, v.word(r)...)
			b = append(b, "\")\n"...)
		case 1: // search hits
			b = append(b, "internal/"...)
			b = append(b, v.word(r)...)
			b = append(b, '/')
			b = append(b, v.word(r)...)
			b = append(b, ".go:"...)
			b = strconv.AppendInt(b, int64(r.IntN(2000)), 10)
			b = append(b, ":\t"...)
			b = append(b, v.ident(r)...)
			b = append(b, " = "...)
			b = append(b, v.ident(r)...)
			b = append(b, '\n')
		case 2: // log lines
			b = fmt.Appendf(b, "2026-0%d-%02dT%02d:%02d:%02dZ level=info ", 1+r.IntN(9), 1+r.IntN(28), r.IntN(24), r.IntN(60), r.IntN(60))
			for k := 0; k < 5; k++ {
				b = append(b, v.word(r)...)
				b = append(b, ' ')
			}
			b = append(b, "id="...)
			b = append(b, r.hex(8)...)
			b = append(b, '\n')
		case 3: // JSON rows
			b = append(b, `{"id":"`...)
			b = append(b, r.hex(12)...)
			b = append(b, `","name":"`...)
			b = append(b, v.ident(r)...)
			b = append(b, `","count":`...)
			b = strconv.AppendInt(b, int64(r.IntN(100000)), 10)
			b = append(b, `,"path":"/srv/`...)
			b = append(b, v.word(r)...)
			b = append(b, "\"},\n"...)
		default: // test run
			b = append(b, "=== RUN   Test"...)
			b = append(b, v.ident(r)...)
			b = append(b, "\n\x1b[32m--- PASS\x1b[0m: "...)
			b = append(b, v.ident(r)...)
			b = fmt.Appendf(b, " (%d.%02ds)\n", r.IntN(3), r.IntN(100))
		}
	}
	return string(b)
}

// blob is base64 text of about n bytes (an image, a signature).
func blob(r *rng, n int) string {
	raw := make([]byte, n*3/4)
	for i := 0; i+8 <= len(raw); i += 8 {
		x := r.Uint64()
		for k := 0; k < 8; k++ {
			raw[i+k] = byte(x >> (8 * k))
		}
	}
	return base64.StdEncoding.EncodeToString(raw)
}

// quote appends s as a JSON string, leaving non-ASCII as UTF-8 as the tools do.
func quote(b []byte, s string) []byte {
	const digits = "0123456789abcdef"
	b = append(b, '"')
	start := 0
	for i := 0; i < len(s); i++ {
		c := s[i]
		if c >= 0x20 && c != '"' && c != '\\' {
			continue
		}
		b = append(b, s[start:i]...)
		switch c {
		case '"', '\\':
			b = append(b, '\\', c)
		case '\n':
			b = append(b, '\\', 'n')
		case '\t':
			b = append(b, '\\', 't')
		case '\r':
			b = append(b, '\\', 'r')
		default:
			b = append(b, '\\', 'u', '0', '0', digits[c>>4], digits[c&15])
		}
		start = i + 1
	}
	b = append(b, s[start:]...)
	return append(b, '"')
}

func q(s string) string { return string(quote(make([]byte, 0, len(s)+len(s)/16+2), s)) }
