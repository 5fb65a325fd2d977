package history

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf16"

	"parlance/internal/chat"
	"parlance/internal/mapping"
	"parlance/internal/source"
)

const (
	// runMinBytes: shorter runs stand in nearly every file.
	runMinBytes = 3
	// phraseRunsMax and wordsMax bound the needles of one scan. Leaving some out lets more
	// files through, never fewer.
	phraseRunsMax = 3
	wordsMax      = 8
	runesMax      = 2
)

// A query is what is searched for, read once.
type query struct {
	needle string   // trimmed and folded; "" matches everything
	words  []string // the different words of needle; nil if it has only one
}

// in says which of the words stand in a folded text, one bit each.
func (q query) in(folded string) (words uint64) {
	for i, w := range q.words {
		if strings.Contains(folded, w) {
			words |= 1 << i
		}
	}
	return words
}

func (q query) allWords() uint64 { return uint64(1)<<len(q.words) - 1 }

// checkpointLine is a checkpoint's line, or what is left of it, given as a query.
var checkpointLine = regexp.MustCompile(`(?i)^\s*(?:CHAT CHECKPOINT\s+)?UUID=([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})(?:\s|$)`)

func newQuery(text string) query {
	if m := checkpointLine.FindStringSubmatch(text); m != nil {
		text = m[1]
	}
	q := query{needle: chat.Needle(text)}
	words := strings.Fields(q.needle)
	slices.Sort(words)
	if words = slices.Compact(words); len(words) > 1 {
		if len(words) > 64 {
			words = words[:64] // the seen words are one bit each
		}
		q.words = words
	}
	return q
}

// idOf is the part of the needle that would stand in a provider's id, if the needle may lie
// in "provider:id" across or behind the colon. whole says that provider is named whole.
func (q query) idOf(provider string) (rest string, whole, ok bool) {
	i := strings.IndexByte(q.needle, ':')
	if i < 0 || !strings.HasSuffix(provider, q.needle[:i]) {
		return "", false, false
	}
	return q.needle[i+1:], q.needle[:i] == provider, true
}

// ids are the whole ids of a provider that the needle may stand for.
func (q query) ids(provider string) []string {
	if rest, whole, _ := q.idOf(provider); whole {
		return []string{q.needle, rest}
	}
	return []string{q.needle}
}

// names says whether every id of a provider holds the needle.
func (q query) names(provider string) bool {
	return strings.Contains(provider+":", q.needle)
}

// exactID says whether id is given whole, with or without its provider.
func (q query) exactID(provider, id string) bool {
	id = chat.Fold(id)
	return q.needle != "" && (q.needle == id || q.needle == provider+":"+id)
}

// isUUID says whether s has the form of a UUID, in lower case.
func isUUID(s string) bool {
	if len(s) != 36 {
		return false
	}
	for i := range len(s) {
		switch c := s[i]; {
		case i == 8 || i == 13 || i == 18 || i == 23:
			if c != '-' {
				return false
			}
		case c >= '0' && c <= '9' || c >= 'a' && c <= 'f':
		default:
			return false
		}
	}
	return true
}

// idLike says whether the needle may be a whole id that is not a file's name. An id of that
// kind is made by a program: it has a digit or is long, and no blanks. A plain word is
// looked for as a whole id only among the names of files; everywhere else it is text.
func (q query) idLike() bool {
	return q.needle != "" && !strings.ContainsFunc(q.needle, unicode.IsSpace) &&
		(len(q.needle) >= 16 || strings.ContainsAny(q.needle, "0123456789:"))
}

// A demand is a needle in its possible spellings: one of them must stand in the bytes.
type demand []string

// A rawPlan says which bytes a file must hold so that a query can match anything in it.
//
// It rests on what JSON writers have in common: whatever else they escape, ASCII letters,
// digits, "_", "-", "." and blanks are written as they are. Any other character is written
// raw or as \u and four hex digits, in each place anew; so a text outside ASCII is looked
// for by single characters in all their spellings.
type rawPlan struct {
	needles []source.Needle
	phrase  [][]int // each a demand: indexes of needles; empty: every file may match
	words   [][]int // nil: the words cannot match without the phrase
	told    uint64  // the words that words demand, as query.in counts them
	every   bool    // raw bytes decide nothing, all files of the mapping must be read
}

// plan says what may be concluded from the bytes of files like f about q.
func (q query) plan(f *file, in In) *rawPlan {
	m := f.m
	p := &rawPlan{}
	strength := mapping.RawRuns
	var made []string
	if in != inIDs {
		strength, made = m.RawFilter(f.File, in.roles()...)
	}
	// A "#" may stand before a number that was counted, not read.
	if strength == mapping.RawNone || !m.IDInBytes(f.File) || strings.Contains(q.needle, "#") || q.needle == "" || q.names(m.Name) {
		p.every = true
		return p
	}
	text := q.needle
	phrase := demands(text, strength == mapping.RawRuns)
	if rest, _, ok := q.idOf(m.Name); ok {
		// The needle may lie across "provider:id", of which only the id stands in the file:
		// what both readings demand must be there.
		phrase = common(phrase, demands(rest, false))
	}
	for i := range made {
		made[i] = chat.Fold(made[i])
	}
	inBytes := func(list []demand) []demand {
		return slices.DeleteFunc(list, func(d demand) bool {
			return slices.ContainsFunc(made, func(text string) bool { return strings.Contains(text, d[0]) })
		})
	}
	p.phrase = p.add(inBytes(phrase))
	if p.every = len(p.phrase) == 0; p.every {
		return p
	}
	for i, w := range q.words[:min(len(q.words), wordsMax)] {
		if d := inBytes(demands(w, false)); len(d) > 0 {
			p.words, p.told = append(p.words, p.add(d[:1])...), p.told|1<<i
		}
	}
	if q.words != nil && p.words == nil {
		p.words = [][]int{} // words of which none can be told from the bytes
	}
	return p
}

func (p *rawPlan) add(ds []demand) (out [][]int) {
	for _, d := range ds {
		var one []int
		for _, text := range d {
			n := source.Needle{Text: text, Fold: strings.ContainsAny(text, "ks")}
			i := slices.Index(p.needles, n)
			if i < 0 {
				i = len(p.needles)
				p.needles = append(p.needles, n)
			}
			one = append(one, i)
		}
		out = append(out, one)
	}
	return out
}

// match says what a file may hold, given which needles were seen in its bytes. path is its
// path in lower case: part of an id may stand there.
func (p *rawPlan) match(seen []bool, path string) (phrase, words bool) {
	if p.every {
		return true, false
	}
	all := func(demands [][]int) bool {
		for _, one := range demands {
			if !slices.ContainsFunc(one, func(i int) bool { return seen[i] || strings.Contains(path, p.needles[i].Text) }) {
				return false
			}
		}
		return true
	}
	if all(p.phrase) {
		return true, false
	}
	return false, p.words != nil && all(p.words)
}

// demands lists what must stand in the bytes for text (folded) to be there, the most telling
// first. blanks says that single blanks inside a run may be relied on.
func demands(text string, blanks bool) []demand {
	var runs []string
	start := -1
	flush := func(end int) {
		if start >= 0 {
			if run := strings.Trim(text[start:end], " "); len(run) >= runMinBytes {
				runs = append(runs, run)
			}
		}
		start = -1
	}
	for i := range len(text) {
		c := text[i]
		switch {
		case !plain(c) && !(blanks && c == ' ' && (i+1 == len(text) || text[i+1] != ' ')):
			flush(i)
		case start < 0:
			start = i
		}
	}
	flush(len(text))
	slices.SortStableFunc(runs, func(a, b string) int { return len(b) - len(a) })
	var out []demand
	for _, r := range runs[:min(len(runs), phraseRunsMax)] {
		out = append(out, demand{r})
	}
	if out != nil {
		return out
	}
	// Without a run, the rarest characters: those with the highest code points, by and large.
	var rare []rune
	for _, r := range text {
		if r > unicode.MaxASCII && r != unicode.ReplacementChar && !unicode.IsSpace(r) && !slices.Contains(rare, r) {
			rare = append(rare, r)
		}
	}
	slices.SortStableFunc(rare, func(a, b rune) int { return int(b) - int(a) })
	for _, r := range rare[:min(len(rare), runesMax)] {
		out = append(out, spellings(r))
	}
	return out
}

// plain says that c, of a folded text, is written as it is by every JSON writer.
func plain(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= '0' && c <= '9' || c == '_' || c == '-' || c == '.'
}

// spellings lists how JSON may write a character that folds to r.
func spellings(r rune) demand {
	var d demand
	add := func(c rune) {
		if chat.Fold(string(c)) != string(r) {
			return
		}
		d = append(d, string(c))
		if hi, lo := utf16.EncodeRune(c); hi != unicode.ReplacementChar {
			d = append(d, fmt.Sprintf(`\u%04x\u%04x`, hi, lo))
		} else {
			d = append(d, fmt.Sprintf(`\u%04x`, c))
		}
	}
	add(r)
	for c := unicode.SimpleFold(r); c != r; c = unicode.SimpleFold(c) {
		add(c)
	}
	return d
}

// common keeps the demands of a that b makes as well.
func common(a, b []demand) (out []demand) {
	for _, d := range a {
		if slices.ContainsFunc(b, func(e demand) bool { return slices.Equal(d, e) }) {
			out = append(out, d)
		}
	}
	return out
}
