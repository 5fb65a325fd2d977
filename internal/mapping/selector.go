package mapping

import (
	"fmt"
	"slices"
	"strings"
	"unicode"

	"parlance/internal/source"
)

// A selectorError says what is wrong with a selector, and where: at is a byte offset in it.
type selectorError struct {
	at        int
	msg, hint string
}

// scopeNames are the words that may stand in front of a selector.
var scopeNames = map[string]scope{
	"record": scopeRecord, "up": scopeUp, "next": scopeNext, "doc": scopeDoc,
	"side": scopeSide, "conv": scopeConv, "file": scopeFile, "entry": scopeEntry,
}

// scopeWords lists them in the order in which they are documented.
var scopeWords = []string{"record", "up", "next", "doc", "side", "conv", "file", "entry"}

// fileWords are what file: knows beside the groups of capture.
var fileWords = []string{"path", "name", "stem", "dir", "mtime", "export"}

// modifierWords are the gjson modifiers that the language has. All others are refused:
// some make JSON of prose (@fromstr), others cost much and say little.
var modifierWords = []string{"keys", "values", "reverse", "flatten"}

// selectorMaxBytes bounds a selector; the longest in use has 80 bytes.
const selectorMaxBytes = source.SelectorMaxBytes

// queryMaxDepth bounds queries inside of queries.
const queryMaxDepth = source.QueryMaxDepth

// specialInKey are the bytes that mean something to gjson, to templates or to us, and so
// need a backslash as part of a key.
const specialInKey = `.*?|#@!{}[]():"\`

// parseSelector checks a selector and takes it apart. Names (of sidecars, conversation keys,
// captures) are not looked up here.
//
// gjson finds nothing where a path is malformed, and says nothing; so everything that it
// would misread is an error here.
func parseSelector(src string) (*selector, *selectorError) {
	return parseScoped(src, true)
}

func parseScoped(src string, braces bool) (*selector, *selectorError) {
	if err := checkSelectorText(src); err != nil {
		return nil, err
	}
	s := &selector{src: src}
	rest := src
	if word, behind, ok := cutScope(src); ok {
		sc, known := scopeNames[word]
		if !known {
			return nil, &selectorError{0, fmt.Sprintf("unknown scope %q", word),
				scopeHint(word)}
		}
		s.scope, rest = sc, behind
	}
	base := len(src) - len(rest)

	switch s.scope {
	case scopeConv, scopeFile, scopeEntry:
		if i := strings.IndexAny(rest, specialInKey+" "); i >= 0 || rest == "" {
			return nil, &selectorError{base + max(i, 0), fmt.Sprintf("%q needs one plain word behind %q", src, src[:base]), ""}
		}
		s.name = rest
		switch s.scope {
		case scopeConv:
			i := slices.Index(fieldNames[:], rest)
			if i < 0 {
				return nil, &selectorError{base, fmt.Sprintf("unknown conversation key %q", rest),
					didYouMean(rest, "conversation keys", fieldNames[:])}
			}
			s.field = field(i)
		case scopeEntry:
			if rest != "key" {
				return nil, &selectorError{base, fmt.Sprintf("unknown word %q behind entry:", rest), `the only one is entry:key`}
			}
		}
		return s, nil
	case scopeRecord, scopeDoc:
		if rest == "@index" {
			s.index = true
			return s, nil
		}
		if rest == "@key" && s.scope == scopeRecord {
			s.key = true
			return s, nil
		}
	}
	if rest == "." || rest == "" && s.scope != scopeNone && s.scope != scopeSide {
		s.whole = true
		return s, nil
	}
	if rest == "" {
		return nil, &selectorError{base, "no name of a sidecar behind side:", ""}
	}

	p := pathParser{src: src, braces: braces}
	segs, err := p.segments(base, len(src), 0)
	if err != nil {
		return nil, err
	}
	if s.scope == scopeSide {
		if segs[0].kind != segKey {
			return nil, &selectorError{base, "the name of a sidecar is a plain word", ""}
		}
		s.name = segs[0].key
		segs = segs[1:]
		if len(segs) == 0 {
			s.whole = true
			return s, nil
		}
		base = segs[0].from
	}
	plain := true
	for _, g := range segs {
		plain = plain && g.kind == segKey
	}
	if plain {
		s.plain = make([]string, len(segs))
		for i, g := range segs {
			s.plain[i] = g.key
		}
		return s, nil
	}
	s.gjson = src[base:]
	for _, g := range segs {
		from, to := g.from, g.to
		switch {
		case g.kind == segQuery && g.value > 0:
			from, to = g.value, g.valueEnd
		case g.kind != segBrace:
			continue
		}
		inner, err := parseScoped(src[from+1:to-1], false)
		if err != nil {
			err.at += from + 1
			return nil, err
		}
		s.braces = append(s.braces, brace{from: from - base, to: to - base, query: g.kind == segQuery, sel: inner})
	}
	return s, nil
}

func checkSelectorText(src string) *selectorError {
	switch {
	case src == "":
		return &selectorError{0, "empty selector", `write "." for the element itself`}
	case len(src) > selectorMaxBytes:
		return &selectorError{0, fmt.Sprintf("selector longer than selectorMaxBytes (%d)", selectorMaxBytes), ""}
	case strings.TrimSpace(src) != src:
		return &selectorError{0, "blank at the end of a selector", "leave out blanks at both ends"}
	}
	for i, r := range src {
		if unicode.IsControl(r) || r == unicode.ReplacementChar {
			return &selectorError{i, "control character in a selector", ""}
		}
	}
	return nil
}

// cutScope cuts "word:" off the front of a selector. A colon in a key is written "\:".
func cutScope(src string) (word, behind string, ok bool) {
	for i := 0; i < len(src); i++ {
		switch c := src[i]; {
		case c == ':':
			return src[:i], src[i+1:], i > 0
		case c < 'a' || c > 'z':
			return "", "", false
		}
	}
	return "", "", false
}

func scopeHint(word string) string {
	if near := nearest(word, scopeWords); near != "" {
		return fmt.Sprintf(`did you mean "%s:"? a colon in a key is written "%s\:"`, near, word)
	}
	return fmt.Sprintf(`a colon in a key is written "%s\:"; scopes are %s`, word, strings.Join(scopeWords, ", "))
}

type segKind int

const (
	segKey      segKind = iota // a key or a number
	segWild                    // a key with * or ?
	segEach                    // #
	segQuery                   // #(...) or #(...)#
	segModifier                // @keys
	segBrace                   // {key}
)

type segment struct {
	kind     segKind
	key      string // with escapes resolved
	from, to int    // byte range in src

	value, valueEnd int // of a query whose value is "{key}": the range of the braces; 0 = none
}

type pathParser struct {
	src    string
	braces bool // {key} is allowed
}

// segments reads src[from:to] as a path.
func (p pathParser) segments(from, to, depth int) ([]segment, *selectorError) {
	var segs []segment
	for i := from; ; {
		seg, err := p.segment(i, to, depth)
		if err != nil {
			return nil, err
		}
		segs = append(segs, seg)
		if seg.to == to {
			return segs, nil
		}
		if p.src[seg.to] != '.' {
			return nil, p.badByte(seg.to, seg)
		}
		i = seg.to + 1
	}
}

// badByte says why a segment cannot go on with the byte at i.
func (p pathParser) badByte(i int, seg segment) *selectorError {
	what := map[segKind]string{segEach: "#", segQuery: "the query", segBrace: "the braces", segModifier: "the modifier"}[seg.kind]
	if p.src[i] == '|' {
		return &selectorError{i, `"|" is not used`, `write "."`}
	}
	return &selectorError{i, fmt.Sprintf("%q directly behind %s", p.src[i:i+1], what), `segments are separated by "."`}
}

func (p pathParser) segment(i, to, depth int) (segment, *selectorError) {
	src := p.src
	if i >= to || src[i] == '.' {
		if i >= to {
			return segment{}, &selectorError{max(i-1, 0), "dot at the end of a selector", ""}
		}
		return segment{}, &selectorError{i, "empty segment", "two dots, or one in front, find nothing; a dot in a key is written \"\\.\""}
	}
	switch src[i] {
	case '#':
		if i+1 < to && src[i+1] == '(' {
			return p.query(i, to, depth)
		}
		if i+1 < to && src[i+1] == '[' {
			return segment{}, &selectorError{i + 1, `"#[" is not used`, `write #(...)`}
		}
		if i+1 < to && src[i+1] != '.' && src[i+1] != '|' {
			return segment{}, &selectorError{i, `"#" inside of a key`, `write "\#"`}
		}
		return segment{kind: segEach, from: i, to: i + 1}, nil
	case '@':
		j := i + 1
		for j < to && src[j] != '.' && src[j] != '|' {
			j++
		}
		word := src[i+1 : j]
		if slices.Contains(modifierWords, word) {
			return segment{kind: segModifier, from: i, to: j}, nil
		}
		hint := fmt.Sprintf(`if it is a key, write "\@%s"; modifiers are @%s`, word, strings.Join(modifierWords, ", @"))
		if word == "index" {
			hint = `write record:@index or doc:@index`
		}
		if word == "key" {
			hint = `write record:@key; the names of an object's members are @keys`
		}
		return segment{}, &selectorError{i, fmt.Sprintf("unknown modifier %q", "@"+word), hint}
	case '{':
		return p.brace(i, to)
	case '[', '!':
		return segment{}, &selectorError{i, fmt.Sprintf("%q is not used", src[i:i+1]),
			fmt.Sprintf(`array numbers are segments of their own ("content.0.text"); in a key write "\%c"`, src[i])}
	}
	return p.key(i, to)
}

// key reads a key, a number, or a key with wildcards.
func (p pathParser) key(i, to int) (segment, *selectorError) {
	src := p.src
	seg := segment{kind: segKey, from: i}
	var key []byte
	escaped := false
	j := i
	for ; j < to; j++ {
		c := src[j]
		if c == '.' || c == '|' {
			break
		}
		switch {
		case c == '\\':
			if j+1 >= to {
				return seg, &selectorError{j, `"\" at the end`, `a backslash itself is written "\\"`}
			}
			j++
			// gjson does not resolve escapes when it looks for an array number.
			if src[j] >= '0' && src[j] <= '9' {
				return seg, &selectorError{j - 1, "backslash before a digit", ""}
			}
			escaped = true
			key = append(key, src[j])
		case c == '*' || c == '?':
			seg.kind = segWild
			key = append(key, c)
		case strings.IndexByte(specialInKey, c) >= 0:
			hint := fmt.Sprintf(`write "\%c"`, c)
			if c == '[' {
				hint = `array numbers are segments of their own ("content.0.text"); in a key write "\["`
			}
			return seg, &selectorError{j, fmt.Sprintf("%q inside of a key", src[j:j+1]), hint}
		default:
			key = append(key, c)
		}
	}
	if seg.kind == segWild && escaped {
		// gjson forgets the escape in a pattern: "\*" would match anything.
		return seg, &selectorError{i, `"\" and a wildcard in the same key`, ""}
	}
	if j < to && src[j] == '|' {
		return seg, &selectorError{j, `"|" is not used`, `write "."; in a key "\|"`}
	}
	seg.key, seg.to = string(key), j
	return seg, nil
}

func (p pathParser) brace(i, to int) (segment, *selectorError) {
	if !p.braces {
		return segment{}, &selectorError{i, `"{" is not used here`, `in a key write "\{"`}
	}
	end := matching(p.src, i, to, '{', '}')
	if end < 0 {
		return segment{}, &selectorError{i, `"{" without "}"`, `in a key write "\{"`}
	}
	if comma := strings.IndexByte(p.src[i:end], ','); comma >= 0 {
		return segment{}, &selectorError{i + comma, "several values in braces", `braces hold one key; for one of several, write a list of selectors`}
	}
	return segment{kind: segBrace, from: i, to: end + 1}, nil
}

// query reads #(path op value) or #(...)#.
func (p pathParser) query(i, to, depth int) (segment, *selectorError) {
	if depth >= queryMaxDepth {
		return segment{}, &selectorError{i, fmt.Sprintf("queries nested deeper than queryMaxDepth (%d)", queryMaxDepth), ""}
	}
	src := p.src
	end := matching(src, i+1, to, '(', ')')
	if end < 0 {
		return segment{}, &selectorError{i + 1, `"#(" without ")"`, `quotes and brackets inside of a query must be balanced`}
	}
	from := i + 2
	// The operator is the first of its characters outside of quotes, brackets, escapes.
	op := -1
	level := 0
	for j := from; j < end && op < 0; j++ {
		switch c := src[j]; c {
		case '\\':
			j++
		case '"':
			j = skipQuoted(src, j, end)
		case '(', '[':
			level++
		case ')', ']':
			level--
		case '=', '!', '<', '>', '%':
			if level == 0 {
				op = j
			}
		}
	}
	left := end
	if op >= 0 {
		left = op
	}
	pathFrom, pathTo := trimRange(src, from, left)
	if pathFrom < pathTo {
		inner := pathParser{src: src}
		if _, err := inner.segments(pathFrom, pathTo, depth+1); err != nil {
			return segment{}, err
		}
	} else if op < 0 {
		return segment{}, &selectorError{i + 1, "empty query", `write #(key=="value")`}
	}
	valueFrom, valueTo := 0, 0
	if op >= 0 {
		word, n := queryOperator(src[op:end])
		if n == 0 {
			return segment{}, &selectorError{op, fmt.Sprintf("unknown operator %q in a query", word),
				"operators are ==, !=, <, <=, >, >=, % (like), !% (not like)"}
		}
		from, to := trimRange(src, op+n, end)
		if err := checkQueryValue(src, from, to); err != nil {
			return segment{}, err
		}
		if p.braces && to-from > 4 && src[from:from+2] == `"{` && src[to-2:to] == `}"` {
			valueFrom, valueTo = from+1, to-1
		}
	}
	seg := segment{kind: segQuery, from: i, to: end + 1, value: valueFrom, valueEnd: valueTo}
	if seg.to < to && src[seg.to] == '#' {
		seg.to++
	}
	return seg, nil
}

// queryOperator gives the length of the operator at the front of s, 0 if it is none.
func queryOperator(s string) (word string, n int) {
	for n < len(s) && strings.IndexByte("=!<>%~", s[n]) >= 0 {
		n++
	}
	word = s[:n]
	switch word {
	case "==", "!=", "<", "<=", ">", ">=", "%", "!%":
		return word, n
	}
	return word, 0
}

func checkQueryValue(src string, from, to int) *selectorError {
	switch {
	case from == to:
		return &selectorError{from, "query without a value behind the operator", ""}
	case src[from] == '"':
		if skipQuoted(src, from, to) != to-1 {
			return &selectorError{from, "quotes in a query do not balance", ""}
		}
	default:
		for j := from; j < to; j++ {
			if strings.IndexByte(`"'()[]{}|\ =<>!`, src[j]) >= 0 {
				return &selectorError{j, fmt.Sprintf("%q in the value of a query", src[j:j+1]), "write the value in double quotes"}
			}
		}
	}
	return nil
}

// matching gives the offset of the close that belongs to the open at i, or -1.
func matching(src string, i, to int, open, close byte) int {
	level := 0
	for j := i; j < to; j++ {
		switch c := src[j]; c {
		case '\\':
			j++
		case '"':
			if open == '(' {
				j = skipQuoted(src, j, to)
			}
		case open:
			level++
		case close:
			if level--; level == 0 {
				return j
			}
		}
	}
	return -1
}

// skipQuoted gives the offset of the quote that ends the one at i, or to.
func skipQuoted(src string, i, to int) int {
	for j := i + 1; j < to; j++ {
		switch src[j] {
		case '\\':
			j++
		case '"':
			return j
		}
	}
	return to
}

func trimRange(src string, from, to int) (int, int) {
	for from < to && src[from] == ' ' {
		from++
	}
	for from < to && src[to-1] == ' ' {
		to--
	}
	return from, to
}

// parseTemplate reads "text {selector} text". A brace that is meant as such is written "\{".
// glob says that braces with a comma are alternatives of a path pattern, and stay text; so
// does "${NAME}".
func parseTemplate(src string, glob bool) (template, *selectorError) {
	var t template
	var text strings.Builder
	flush := func() {
		if text.Len() > 0 {
			t = append(t, templatePart{text: text.String()})
			text.Reset()
		}
	}
	for i := 0; i < len(src); i++ {
		switch c := src[i]; {
		case c == '\\' && i+1 < len(src) && strings.IndexByte(`{}\`, src[i+1]) >= 0:
			i++
			text.WriteByte(src[i])
		case c == '}':
			return nil, &selectorError{i, `"}" without "{"`, `a brace that is text is written "\}"`}
		case c == '{':
			end := matching(src, i, len(src), '{', '}')
			if end < 0 {
				return nil, &selectorError{i, `"{" without "}"`, `a brace that is text is written "\{"`}
			}
			inner := src[i+1 : end]
			if glob && (strings.Contains(inner, ",") || i > 0 && src[i-1] == '$') {
				text.WriteString(src[i : end+1])
				i = end
				continue
			}
			sel, err := parseScoped(inner, false)
			if err != nil {
				err.at += i + 1
				return nil, err
			}
			flush()
			t = append(t, templatePart{sel: sel, src: inner})
			i = end
		default:
			text.WriteByte(c)
		}
	}
	flush()
	return t, nil
}
