package mapping

import (
	"encoding/json"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// A value is one JSON value as it stands in its record: raw is a view of the record's
// bytes, white space around it removed. An object's members and an array's elements are
// found on first use and kept, so that many selectors cost one walk. The zero value and
// nil are absent.
type value struct {
	raw     string
	opened  bool
	members []member
	elems   []value
}

type member struct {
	key string // as written, without the quotes
	val value
}

// An arena holds the members and elements of one record's values, to be used again for
// the next record. A value must not outlive the arena's reset.
type arena struct {
	members []member
	elems   []value
}

func (a *arena) reset() {
	a.members = a.members[:0]
	a.elems = a.elems[:0]
}

type jsonKind int

const (
	jsonAbsent jsonKind = iota
	jsonNull
	jsonBool
	jsonNumber
	jsonString
	jsonArray
	jsonObject
)

// jsonNames are the words of the language for kinds, in predicates and messages.
var jsonNames = map[jsonKind]string{jsonAbsent: "absent", jsonNull: "null", jsonBool: "bool", jsonNumber: "number", jsonString: "string", jsonArray: "array", jsonObject: "object"}

func (v *value) kind() jsonKind {
	if v == nil || v.raw == "" {
		return jsonAbsent
	}
	switch v.raw[0] {
	case '{':
		return jsonObject
	case '[':
		return jsonArray
	case '"':
		return jsonString
	case 't', 'f':
		return jsonBool
	case 'n':
		return jsonNull
	}
	return jsonNumber
}

// absent is the language's word: missing or null.
func (v *value) absent() bool { return v.kind() <= jsonNull }

// parseRecord gives the value that text holds, or false if text is not one whole JSON
// value. Structure is checked to the bottom; strings are checked only for their end, and
// numbers loosely, as the writing programs' own readers do.
func parseRecord(text string, a *arena) (*value, bool) {
	i := skipSpace(text, 0)
	end := skipValue(text, i)
	if end < 0 || skipSpace(text, end) != len(text) {
		return nil, false
	}
	return &value{raw: text[i:end]}, true
}

// parseObject is parseRecord for an object whose members are wanted: validity and members
// are found in one pass.
func parseObject(text string, a *arena) (*value, bool) {
	i := skipSpace(text, 0)
	if i >= len(text) || text[i] != '{' {
		return nil, false
	}
	v := &value{raw: text[i:]}
	end := v.open(a)
	if end < 0 || skipSpace(v.raw, end) != len(v.raw) {
		return nil, false
	}
	v.raw = v.raw[:end]
	return v, true
}

// open finds the members or elements of v. It returns the end of v in raw, -1 if broken.
func (v *value) open(a *arena) int {
	if v.opened {
		return len(v.raw)
	}
	v.opened = true
	s := v.raw
	switch s[0] {
	case '{':
		start := len(a.members)
		i := skipSpace(s, 1)
		for i < len(s) && s[i] != '}' {
			if s[i] != '"' {
				return -1
			}
			end := skipString(s, i)
			if end < 0 {
				return -1
			}
			key := s[i+1 : end-1]
			i = skipSpace(s, end)
			if i >= len(s) || s[i] != ':' {
				return -1
			}
			i = skipSpace(s, i+1)
			end = skipValue(s, i)
			if end < 0 {
				return -1
			}
			a.members = append(a.members, member{key: key, val: value{raw: s[i:end]}})
			i = skipSpace(s, end)
			if i < len(s) && s[i] == ',' {
				i = skipSpace(s, i+1)
				if i >= len(s) || s[i] != '"' {
					return -1
				}
			} else if i >= len(s) || s[i] != '}' {
				return -1
			}
		}
		if i >= len(s) {
			return -1
		}
		v.members = a.members[start:len(a.members):len(a.members)]
		return i + 1
	case '[':
		start := len(a.elems)
		i := skipSpace(s, 1)
		for i < len(s) && s[i] != ']' {
			end := skipValue(s, i)
			if end < 0 {
				return -1
			}
			a.elems = append(a.elems, value{raw: s[i:end]})
			i = skipSpace(s, end)
			if i < len(s) && s[i] == ',' {
				i = skipSpace(s, i+1)
				if i >= len(s) || s[i] == ']' {
					return -1
				}
			} else if i >= len(s) || s[i] != ']' {
				return -1
			}
		}
		if i >= len(s) {
			return -1
		}
		v.elems = a.elems[start:len(a.elems):len(a.elems)]
		return i + 1
	}
	return len(s)
}

// get is the member of that key, the last one if it is there twice, or nil.
func (v *value) get(key string, a *arena) *value {
	if v.kind() != jsonObject {
		return nil
	}
	v.open(a)
	for i := len(v.members) - 1; i >= 0; i-- {
		m := &v.members[i]
		if m.key == key || strings.IndexByte(m.key, '\\') >= 0 && unquote(m.key) == key {
			return &m.val
		}
	}
	return nil
}

// list gives the elements of an array, nil for anything else.
func (v *value) list(a *arena) []value {
	if v.kind() != jsonArray {
		return nil
	}
	v.open(a)
	return v.elems
}

// walk follows keys and array numbers.
func (v *value) walk(path []string, a *arena) *value {
	for _, key := range path {
		switch v.kind() {
		case jsonObject:
			v = v.get(key, a)
		case jsonArray:
			n, err := strconv.ParseUint(key, 10, 31)
			elems := v.list(a)
			if err != nil || int(n) >= len(elems) {
				return nil
			}
			v = &elems[n]
		default:
			return nil
		}
	}
	return v
}

// str is the decoded text of a string, "" for what is absent, and what is written for
// anything else. It never aliases the record.
func (v *value) str() string {
	if v.kind() == jsonString {
		return unquote(v.raw[1 : len(v.raw)-1])
	}
	if v.absent() {
		return ""
	}
	return validUTF8(strings.Clone(v.raw))
}

// is compares a scalar's text without copying it.
func (v *value) is(text string) bool {
	switch v.kind() {
	case jsonString:
		inner := v.raw[1 : len(v.raw)-1]
		if inner == text {
			return strings.IndexByte(inner, '\\') < 0
		}
		return len(inner) > len(text) && strings.IndexByte(inner, '\\') >= 0 && unquote(inner) == text
	case jsonBool, jsonNumber:
		return v.raw == text
	}
	return false
}

// empty is the language's word: absent, "", only white space, [] or {}.
func (v *value) empty() bool {
	switch v.kind() {
	case jsonAbsent, jsonNull:
		return true
	case jsonString:
		return blankJSON(v.raw[1 : len(v.raw)-1])
	case jsonArray, jsonObject:
		return skipSpace(v.raw, 1) == len(v.raw)-1
	}
	return false
}

// blankJSON says whether the inside of a JSON string is only white space, looking no
// further than the first other character.
func blankJSON(inner string) bool {
	for i := 0; i < len(inner); i++ {
		switch inner[i] {
		case ' ', '\t', '\n', '\r', '\v', '\f':
		case '\\':
			if i++; i < len(inner) && strings.IndexByte("ntrf", inner[i]) >= 0 {
				continue
			}
			return strings.TrimSpace(unquote(inner)) == ""
		default:
			return inner[i] >= utf8.RuneSelf && strings.TrimSpace(unquote(inner)) == ""
		}
	}
	return true
}

func skipSpace(s string, i int) int {
	for i < len(s) && (s[i] == ' ' || s[i] == '\n' || s[i] == '\t' || s[i] == '\r') {
		i++
	}
	return i
}

// skipString returns the end of the string that begins at i, -1 if it has none.
func skipString(s string, i int) int {
	for j := i + 1; ; j++ {
		k := strings.IndexByte(s[j:], '"')
		if k < 0 {
			return -1
		}
		j += k
		back := j
		for back > i+1 && s[back-1] == '\\' {
			back--
		}
		if (j-back)%2 == 0 {
			return j + 1
		}
	}
}

// skipValue returns the end of the value that begins at i, -1 if there is no whole value.
// It keeps its own stack: nesting is bounded by the line, not by the goroutine's stack.
func skipValue(s string, i int) int {
	var small [64]byte
	stack := small[:0]
	for {
		// A value begins at i.
		if i >= len(s) {
			return -1
		}
		switch c := s[i]; {
		case c == '"':
			if i = skipString(s, i); i < 0 {
				return -1
			}
		case c == '{' || c == '[':
			i = skipSpace(s, i+1)
			if i >= len(s) {
				return -1
			}
			if s[i] == c+2 { // '{'+2 is '}', '['+2 is ']'
				i++
				break
			}
			stack = append(stack, c+2)
			if c == '{' {
				if i = skipKey(s, i); i < 0 {
					return -1
				}
			}
			continue
		case c == '-' || c >= '0' && c <= '9':
			for i++; i < len(s); i++ {
				if c := s[i]; (c < '0' || c > '9') && c != '.' && c != 'e' && c != 'E' && c != '+' && c != '-' {
					break
				}
			}
		case strings.HasPrefix(s[i:], "true"), strings.HasPrefix(s[i:], "null"):
			i += 4
		case strings.HasPrefix(s[i:], "false"):
			i += 5
		default:
			return -1
		}
		// A value ended at i: close what ends with it, or go on to the next.
		for {
			if len(stack) == 0 {
				return i
			}
			i = skipSpace(s, i)
			if i >= len(s) {
				return -1
			}
			top := stack[len(stack)-1]
			if s[i] == top {
				stack = stack[:len(stack)-1]
				i++
				continue
			}
			if s[i] != ',' {
				return -1
			}
			i = skipSpace(s, i+1)
			if top == '}' {
				if i = skipKey(s, i); i < 0 {
					return -1
				}
			}
			break
		}
	}
}

// skipKey passes over a key and its colon, to the beginning of the value.
func skipKey(s string, i int) int {
	if i >= len(s) || s[i] != '"' {
		return -1
	}
	if i = skipString(s, i); i < 0 {
		return -1
	}
	i = skipSpace(s, i)
	if i >= len(s) || s[i] != ':' {
		return -1
	}
	return skipSpace(s, i+1)
}

// unquote decodes the inside of a JSON string into valid UTF-8 of its own memory. A lone
// surrogate or a bad byte becomes U+FFFD; an escape that JSON does not know stays as it is.
func unquote(inner string) string {
	return validUTF8(unquoteBytes(inner))
}

// validUTF8 is strings.ToValidUTF8, which takes ten times as long to find that all is well.
func validUTF8(s string) string {
	if utf8.ValidString(s) {
		return s
	}
	return strings.ToValidUTF8(s, "\uFFFD")
}

// unquoteBytes is unquote with bytes that are no UTF-8 left as they are.
func unquoteBytes(inner string) string {
	next := strings.IndexByte(inner, '\\')
	if next < 0 {
		return strings.Clone(inner)
	}
	var b strings.Builder
	b.Grow(len(inner))
	for next >= 0 {
		b.WriteString(inner[:next])
		inner = inner[next+1:]
		if inner == "" {
			b.WriteByte('\\')
			break
		}
		c := inner[0]
		inner = inner[1:]
		switch c {
		case 'n':
			b.WriteByte('\n')
		case 't':
			b.WriteByte('\t')
		case 'r':
			b.WriteByte('\r')
		case 'b':
			b.WriteByte('\b')
		case 'f':
			b.WriteByte('\f')
		case '"', '\\', '/':
			b.WriteByte(c)
		case 'u':
			r, ok := hex4(inner)
			if !ok {
				b.WriteString(`\u`)
				break
			}
			inner = inner[4:]
			if utf16.IsSurrogate(r) {
				low := rune(0)
				if strings.HasPrefix(inner, `\u`) {
					low, _ = hex4(inner[2:])
				}
				if r = utf16.DecodeRune(r, low); r != utf8.RuneError {
					inner = inner[6:]
				}
			}
			b.WriteRune(r)
		default:
			b.WriteByte('\\')
			b.WriteByte(c)
		}
		next = strings.IndexByte(inner, '\\')
	}
	b.WriteString(inner)
	return b.String()
}

func hex4(s string) (rune, bool) {
	if len(s) < 4 {
		return 0, false
	}
	n, err := strconv.ParseUint(s[:4], 16, 32)
	return rune(n), err == nil
}

// quote writes text as a JSON string.
func quote(b *strings.Builder, text string) {
	const digits = "0123456789abcdef"
	b.WriteByte('"')
	from := 0
	for i := 0; i < len(text); i++ {
		c := text[i]
		if c >= 0x20 && c != '"' && c != '\\' {
			continue
		}
		b.WriteString(text[from:i])
		from = i + 1
		switch c {
		case '"', '\\':
			b.WriteByte('\\')
			b.WriteByte(c)
		case '\n':
			b.WriteString(`\n`)
		case '\t':
			b.WriteString(`\t`)
		case '\r':
			b.WriteString(`\r`)
		default:
			b.WriteString(`\u00`)
			b.WriteByte(digits[c>>4])
			b.WriteByte(digits[c&15])
		}
	}
	b.WriteString(text[from:])
	b.WriteByte('"')
}

// compact is raw without the white space between its parts, in memory of its own.
func compact(raw string) string {
	var b strings.Builder
	b.Grow(len(raw))
	for i := 0; i < len(raw); {
		switch raw[i] {
		case ' ', '\n', '\t', '\r':
			i++
		case '"':
			end := skipString(raw, i)
			if end < 0 {
				end = len(raw)
			}
			b.WriteString(raw[i:end])
			i = end
		default:
			b.WriteByte(raw[i])
			i++
		}
	}
	return validUTF8(b.String())
}

// closed is what a JSON document that was cut off or damaged holds up to its last whole value
// or opened bracket in front of that, as a document of its own; "" if there is nothing.
func closed(s string) string {
	const (
		wantValue = iota
		wantFirst // a value, or the end of an array
		wantKey   // of an object, or its end if it is empty
		wantNext  // a comma, or the end
	)
	var open []byte // the brackets that have to follow
	end, ends := 0, 0
	want, i := wantValue, skipSpace(s, 0)
	empty := false // the object was just opened
	for i < len(s) && (len(open) > 0 || end == 0) {
		c := s[i]
		switch {
		case (c == '}' || c == ']') && len(open) > 0 && open[len(open)-1] == c && (want == wantNext || want == wantFirst || want == wantKey && empty):
			open = open[:len(open)-1]
			i++
		case want == wantNext && c == ',' && len(open) > 0:
			if want = wantValue; open[len(open)-1] == '}' {
				want, empty = wantKey, false
			}
			i = skipSpace(s, i+1)
			continue
		case want == wantKey && c == '"':
			if i = skipKey(s, i); i < 0 {
				i = len(s)
			}
			want = wantValue
			continue
		case want != wantValue && want != wantFirst:
			i = len(s)
			continue
		case c == '{' || c == '[':
			open, empty = append(open, c+2), c == '{' // '{'+2 is '}', '['+2 is ']'
			i++
		case c == '"':
			j := skipString(s, i)
			if j < 0 {
				j = len(s) + 1
			}
			i = j
		default:
			j := i
			for j < len(s) && strings.IndexByte(",]} \n\r\t", s[j]) < 0 {
				j++
			}
			if j == len(s) || !json.Valid([]byte(s[i:j])) { // perhaps not the whole of it
				j = len(s) + 1
			}
			i = j
		}
		if i > len(s) {
			break
		}
		end, ends = i, len(open)
		switch {
		case c == '{':
			want = wantKey
		case c == '[':
			want = wantFirst
		default:
			want = wantNext
		}
		i = skipSpace(s, i)
	}
	if end == 0 {
		return ""
	}
	var b strings.Builder
	b.WriteString(s[:end])
	for ; ends > 0; ends-- {
		b.WriteByte(open[ends-1])
	}
	return b.String()
}
