package render

import (
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"unicode/utf8"
)

// A secretRule finds one kind of secret. Its pattern is compiled when the first of its keywords
// is met, and run only there: most rules never are in one answer.
type secretRule struct {
	kind     string
	pattern  string // of RE2; the secret is its first group that holds anything, or all of it
	keywords string // in lower case, blanks between them; each match holds one, in any case
	shape    shape
	reach    int  // bytes that a match may have; 0 = without end
	word     bool // shapeStart: no word goes on into the match
	group    int  // of the secret, if it is not the first

	// What the secret must have besides, or it is none.
	entropy float64 // more than that, in bits a character
	digit   bool
	mixed   bool   // a digit, a small letter and a capital
	but     string // not this pattern in it
	butIn   string // nor this one in all of the match
	generic bool   // any other rule knows better; stop words count, and a UUID is no secret

	once              sync.Once
	re, notIt, notAll *regexp.Regexp
}

// A shape says where a match stands, seen from its keyword. It saves most runs of a pattern.
type shape uint8

const (
	shapeNear     shape = iota // somewhere around
	shapeStart                 // begins with it
	shapeAssigned              // a name that holds it, an operator, the value
	shapeEnd                   // a block of base64 before it, and it
)

const (
	// reachBytes is how far a pattern without end looks at once, and reachMaxBytes at last.
	reachBytes    = 8 << 10
	reachMaxBytes = 256 << 10
	// nameBytes is how much of a name before its keyword counts.
	nameBytes = 50
	// assignedBytes is how far behind a keyword its operator can stand: 20 characters of the
	// name and 3 more, and 20 for patterns that have more than a word for a keyword.
	assignedBytes = 43
)

var (
	textsSearched atomic.Int64
	rulesCompiled atomic.Int64
)

// RedactorWork is what looking for secrets has cost since the program began: texts that were
// searched, and rules that were compiled. A listing must cost neither.
func RedactorWork() (texts, rules int64) { return textsSearched.Load(), rulesCompiled.Load() }

// Secrets finds the secrets of a text by the rules of this package. The same text always gives
// the same answer. A secret is also found where it is written with the escapes of JSON or HTML
// (over and over, as in JSON inside of JSON), and where colour codes or invisible characters
// stand in it; no edge of a place falls into an escape.
func Secrets(text string) []Secret {
	textsSearched.Add(1)
	found := secretTable().scan(text)
	if view := unwrap(text); view != nil {
		for _, s := range secretTable().scan(view.text) {
			s.From, s.To = view.from(s.From), view.to(s.To)
			found = append(found, s)
		}
	}
	return settle(text, found)
}

// settle puts places in order, joins those that overlap, and moves edges out of escapes.
func settle(text string, found []Secret) []Secret {
	if len(found) == 0 {
		return nil
	}
	for i := range found {
		found[i].From, found[i].To = outside(text, found[i].From, found[i].To)
	}
	slices.SortStableFunc(found, func(a, b Secret) int {
		if a.From != b.From {
			return a.From - b.From
		}
		return b.To - a.To
	})
	out := found[:0]
	for _, s := range found {
		if s.From >= s.To {
			continue
		}
		if n := len(out); n > 0 && s.From < out[n-1].To {
			last := &out[n-1]
			if last.Kind == genericKind || s.Kind != genericKind && s.To-s.From > last.To-last.From {
				last.Kind = s.Kind
			}
			last.To = max(last.To, s.To)
			continue
		}
		out = append(out, s)
	}
	return out
}

// genericKind is what a secret is called of which only a name tells that it is one.
const genericKind = "generic-api-key"

// outside moves the edges of text[from:to] out of escapes such as \n and \u0026, so that what
// is left of a JSON text is still one.
func outside(text string, from, to int) (int, int) {
	escaped := func(i int) bool { // the character at i belongs to the backslash before it
		n := 0
		for i > n && text[i-n-1] == '\\' {
			n++
		}
		return n%2 == 1
	}
	// An edge inside of \u0026 is found from its backslash.
	for back := 2; back <= 5 && from-back >= 0; back++ {
		if at := from - back; text[at] == '\\' && at+6 <= len(text) && text[at+1] == 'u' && !escaped(at) && hex4(text[at+2:at+6]) {
			from = at + 6
			break
		}
	}
	if from < len(text) && escaped(from) {
		if text[from] == 'u' && from+5 <= len(text) && hex4(text[from+1:from+5]) {
			from += 4
		}
		from++
	}
	for back := 2; back <= 5 && to-back >= 0; back++ {
		if at := to - back; text[at] == '\\' && at+6 <= len(text) && text[at+1] == 'u' && !escaped(at) && hex4(text[at+2:at+6]) {
			to = at + 6
			break
		}
	}
	if to > from && to <= len(text) && text[to-1] == '\\' && !escaped(to-1) {
		to--
	}
	return from, to
}

func hex4(s string) bool {
	_, err := strconv.ParseUint(s, 16, 16)
	return err == nil
}

// A ruleTable finds keywords. first leads from the first two bytes of a keyword to those that
// begin with them.
type ruleTable struct {
	rules []*secretRule
	words []keyword
	first [1 << 16]uint16 // 1 + index of a chain in chains
	chain [][]int
}

type keyword struct {
	text  string
	rules []int
}

var secretTable = sync.OnceValue(func() *ruleTable {
	t := &ruleTable{}
	at := map[string]int{}
	for _, list := range [][]secretRule{keptRules, ownRules} {
		for i := range list {
			r := &list[i]
			n := len(t.rules)
			t.rules = append(t.rules, r)
			for word := range strings.FieldsSeq(r.keywords) {
				word = strings.ReplaceAll(word, "␣", " ")
				if _, ok := at[word]; !ok {
					at[word] = len(t.words)
					t.words = append(t.words, keyword{text: word})
				}
				w := &t.words[at[word]]
				w.rules = append(w.rules, n)
			}
		}
	}
	t.index()
	return t
})

func (t *ruleTable) index() {
	for i, w := range t.words {
		h := int(w.text[0])<<8 | int(w.text[1])
		if t.first[h] == 0 {
			t.chain = append(t.chain, nil)
			t.first[h] = uint16(len(t.chain))
		}
		c := &t.chain[t.first[h]-1]
		*c = append(*c, i)
	}
}

// lower is ASCII without capitals.
var lower = func() (t [256]byte) {
	for c := range t {
		t[c] = byte(c)
		if c >= 'A' && c <= 'Z' {
			t[c] += 'a' - 'A'
		}
	}
	return t
}()

func (k *keyword) at(s string) bool {
	if len(s) < len(k.text) {
		return false
	}
	for i := 2; i < len(k.text); i++ {
		if lower[s[i]] != k.text[i] {
			return false
		}
	}
	return true
}

// scan is what the rules find in a text, in no order.
func (t *ruleTable) scan(text string) []Secret {
	var found []Secret
	var tried map[[2]int]bool
	for i := 0; i+1 < len(text); i++ {
		first := t.first[int(lower[text[i]])<<8|int(lower[text[i+1]])]
		if first == 0 {
			continue
		}
		for _, n := range t.chain[first-1] {
			w := &t.words[n]
			if !w.at(text[i:]) {
				continue
			}
			assigned, checked := false, false
			for _, n := range w.rules {
				r := t.rules[n]
				from := i
				switch r.shape {
				case shapeStart:
					if r.word && i > 0 && wordByte[text[i-1]] {
						continue
					}
				case shapeAssigned:
					if !checked {
						assigned, checked = assignment(text[i+len(w.text):]), true
					}
					if !assigned {
						continue
					}
					for from > 0 && i-from < nameBytes && nameByte(text[from-1]) {
						from--
					}
					if tried[[2]int{n, from}] {
						continue
					}
					if tried == nil {
						tried = map[[2]int]bool{}
					}
					tried[[2]int{n, from}] = true
				case shapeNear:
					from = max(0, i-r.reach)
				case shapeEnd:
					from = blockBefore(text, i)
				}
				if s, ok := r.find(text, from, i+len(w.text)); ok {
					found = append(found, s)
				}
			}
		}
	}
	return found
}

var wordByte = func() (t [256]bool) {
	for c := range t {
		t[c] = c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '_'
	}
	return t
}()

func nameByte(c byte) bool   { return wordByte[c] || c == '.' || c == '-' }
func base64Byte(c byte) bool { return wordByte[c] && c != '_' || c == '+' || c == '/' || c == '=' }

// blockBefore is where the lines of base64 before a place begin. Words with blanks between
// them are no such line.
func blockBefore(text string, at int) int {
	from := at
	for i := at; i > 0; {
		end := i
		for end > 0 && strings.IndexByte(" \t\r\n", text[end-1]) >= 0 {
			end--
		}
		start := end
		for start > 0 && base64Byte(text[start-1]) {
			start--
		}
		if start == end || !strings.ContainsAny(text[end:i], "\r\n") {
			break
		}
		if start > 0 && strings.IndexByte("\r\n", text[start-1]) < 0 { // something else stands on the line
			break
		}
		from, i = start, start
	}
	return from
}

// assignment says whether what follows a keyword may be the rest of a name and an operator.
func assignment(rest string) bool {
	for i := range min(len(rest), assignedBytes) {
		switch c := rest[i]; {
		case nameByte(c), c == ' ', c == '\t', c == '\n', c == '\r', c == '\v', c == '\f', c == '\'', c == '"':
		default:
			return strings.IndexByte("=>:|?,", c) >= 0
		}
	}
	return false
}

func (r *secretRule) compile() {
	rulesCompiled.Add(1)
	pattern := r.pattern
	if r.shape != shapeNear {
		pattern = `\A(?:` + pattern + `)`
	}
	r.re = regexp.MustCompile(pattern)
	if r.but != "" {
		r.notIt = regexp.MustCompile(r.but)
	}
	if r.butIn != "" {
		r.notAll = regexp.MustCompile(r.butIn)
	}
}

// find runs the pattern from a place on; its keyword ends at end.
func (r *secretRule) find(text string, from, end int) (Secret, bool) {
	r.once.Do(r.compile)
	reach := r.reach
	if reach == 0 {
		reach = reachBytes
	}
	var match []int
	for {
		to := min(len(text), end+reach+utf8.UTFMax)
		match = r.re.FindStringSubmatchIndex(text[from:to])
		// A match that ends where the text was cut may go on.
		if match == nil || from+match[1] < to || to == len(text) || reach >= reachMaxBytes {
			break
		}
		reach *= 4
	}
	if match == nil {
		return Secret{}, false
	}
	a, b := match[0], match[1]
	if n := 2 * r.group; r.group > 0 && match[n] >= 0 {
		a, b = match[n], match[n+1]
	} else {
		for n := 2; n < len(match); n += 2 {
			if match[n+1] > match[n] {
				a, b = match[n], match[n+1]
				break
			}
		}
	}
	secret := text[from+a : from+b]
	if trimmed := strings.TrimRight(secret, " \t\r\n"); len(trimmed) < len(secret) {
		b -= len(secret) - len(trimmed)
		secret = trimmed
	}
	if strings.HasSuffix(text[:from+a], "UUID=") && ownName.MatchString(secret) {
		return Secret{}, false // a checkpoint's, whatever is said around it
	}
	if !r.holds(secret, text[from+match[0]:from+match[1]]) {
		return Secret{}, false
	}
	return Secret{From: from + a, To: from + b, Kind: r.kind}, true
}

// holds says whether what the pattern has found is a secret.
func (r *secretRule) holds(secret, match string) bool {
	if secret == "" || r.entropy > 0 && entropy(secret) <= r.entropy {
		return false
	}
	if r.digit || r.mixed {
		var digit, small, capital bool
		for i := range len(secret) {
			c := secret[i]
			digit = digit || c >= '0' && c <= '9'
			small = small || c >= 'a' && c <= 'z'
			capital = capital || c >= 'A' && c <= 'Z'
		}
		if !digit || r.mixed && !(small && capital) {
			return false
		}
	}
	if r.notIt != nil && r.notIt.MatchString(secret) || r.notAll != nil && r.notAll.MatchString(match) {
		return false
	}
	if r.generic && (ownName.MatchString(secret) || stopTable().any(secret)) {
		return false
	}
	return true
}

// ownName is what conversations, messages and calls are called by the tools whose files we
// read, and checkpoints by us: to look one up is what an answer is for.
var ownName = lazily(`(?i)^(?:\W{0,2}[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\W{0,2}|(?:ses|sess|msg|prt|toolu|call|resp|req|chatcmpl|rs|fc|run|thread|conv|agent|srvtoolu)[_-][\w-]+)$`)

// A lazyPattern is compiled when it is first used.
type lazyPattern func() *regexp.Regexp

func lazily(pattern string) lazyPattern {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(pattern) })
}

func (p lazyPattern) MatchString(s string) bool { return p().MatchString(s) }

// stopTable holds the stop words as keywords.
var stopTable = sync.OnceValue(func() *ruleTable {
	t := &ruleTable{}
	for word := range strings.FieldsSeq(stopWords) {
		if len(word) >= 2 {
			t.words = append(t.words, keyword{text: word})
		}
	}
	t.index()
	return t
})

// any says whether a text holds one of the keywords.
func (t *ruleTable) any(text string) bool {
	for i := 0; i+1 < len(text); i++ {
		if first := t.first[int(lower[text[i]])<<8|int(lower[text[i+1]])]; first > 0 {
			for _, n := range t.chain[first-1] {
				if t.words[n].at(text[i:]) {
					return true
				}
			}
		}
	}
	return false
}

// entropy is Shannon's, in bits a byte.
func entropy(s string) float64 {
	var counts [256]int
	for i := range len(s) {
		counts[s[i]]++
	}
	sum, all := 0.0, float64(len(s))
	for _, n := range counts {
		if n > 0 {
			f := float64(n) / all
			sum -= f * math.Log2(f)
		}
	}
	return sum
}

// A viewed is a text without its escapes and without what nobody sees, and where its parts
// stand in the text itself.
type viewed struct {
	text  string
	jumps []jump
}

// A jump is where a part of a view begins, and where it stands in the text: as it is, or as an
// escape of width bytes that became one character.
type jump struct{ view, text, width int }

func (v *viewed) part(at int) jump {
	n, exact := slices.BinarySearchFunc(v.jumps, at, func(j jump, at int) int { return j.view - at })
	if !exact {
		n--
	}
	return v.jumps[n]
}

func (v *viewed) from(at int) int {
	j := v.part(at)
	if j.width > 0 {
		return j.text
	}
	return j.text + at - j.view
}

func (v *viewed) to(at int) int {
	j := v.part(at - 1)
	if j.width > 0 {
		return j.text + j.width
	}
	return j.text + at - j.view
}

// wrapping marks bytes that may begin an escape or something invisible.
var wrapping = func() (t [256]bool) {
	t = suspect
	t['\r'], t['\\'], t['&'] = false, true, true
	return t
}()

// markupEscapes are the escapes of HTML that stand between a name and its value.
var markupEscapes = []struct{ code, is string }{
	{"&quot;", `"`}, {"&#34;", `"`}, {"&#x22;", `"`}, {"&apos;", "'"}, {"&#39;", "'"}, {"&#x27;", "'"}, {"&amp;", "&"}, {"&lt;", "<"}, {"&gt;", ">"},
}

// unwrap is the view of a text, nil if it would be the text itself.
func unwrap(text string) *viewed {
	i := 0
	for i < len(text) && !wrapping[text[i]] {
		i++
	}
	if i == len(text) {
		return nil
	}
	var b strings.Builder
	v := &viewed{}
	from := 0 // text[from:i] stands as it is
	flush := func(to int) {
		if to > from {
			v.jumps = append(v.jumps, jump{b.Len(), from, 0})
			b.WriteString(text[from:to])
		}
	}
	for i < len(text) {
		c := text[i]
		if !wrapping[c] {
			i++
			continue
		}
		is, width := unwrapped(text[i:])
		if width == 0 {
			_, size := utf8.DecodeRuneInString(text[i:])
			i += size
			continue
		}
		flush(i)
		if is != "" && !invisible(is) {
			v.jumps = append(v.jumps, jump{b.Len(), i, width})
			b.WriteString(is)
		} else if is != "" { // an escaped escape character: its sequence goes with it
			r, _ := utf8.DecodeRuneInString(is)
			width += sequence(r, text[i+width:])
		}
		i += width
		from = i
	}
	if from == 0 {
		return nil
	}
	flush(len(text))
	v.text = b.String()
	return v
}

func invisible(is string) bool {
	r, _ := utf8.DecodeRuneInString(is)
	return unwanted(r) && r != '\r'
}

// unwrapped is what stands at the beginning of s in width bytes: an escape, or something that
// nobody sees ("", unless it is escaped too). Width is 0 if it is neither.
func unwrapped(s string) (is string, width int) {
	switch s[0] {
	case '&':
		for _, e := range markupEscapes {
			if strings.HasPrefix(s, e.code) {
				return e.is, len(e.code)
			}
		}
		return "", 0
	case '\\':
		n := 1
		for n < len(s) && s[n] == '\\' {
			n++
		}
		if n == len(s) {
			return "", 0
		}
		switch s[n] {
		case 'n', 'r':
			return "\n", n + 1
		case 't', 'b', 'f':
			return " ", n + 1
		case '"', '\'', '/':
			return s[n : n+1], n + 1
		case 'u':
			if n+5 <= len(s) {
				if code, err := strconv.ParseUint(s[n+1:n+5], 16, 16); err == nil && code > 0 && (code < 0xD800 || code > 0xDFFF) {
					return string(rune(code)), n + 5
				}
			}
		}
		return "", 0
	}
	r, size := utf8.DecodeRuneInString(s)
	if r == utf8.RuneError && size == 1 || !unwanted(r) || r == '\r' {
		return "", 0
	}
	return "", size + sequence(r, s[size:])
}
