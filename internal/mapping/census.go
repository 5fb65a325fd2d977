package mapping

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// A census counts what stands at every path of some records, so that a person, or a draft,
// can tell what is a text, a time or a role.
type census struct {
	n      int
	fields []*fieldCensus // in the order in which they were first seen
	index  map[string]*fieldCensus
}

// A fieldCensus is one path: keys joined by dots, "#" for each element of a list.
type fieldCensus struct {
	path, key string
	n         int // values there, null not counted
	kinds     map[jsonKind]int
	prose     int // texts with blanks in them, as people write
	runes     int // of all texts
	dates     int // RFC3339, or "YYYY-MM-DD hh:mm:ss"
	epochs    [4]int
	ids       int
	places    int // absolute paths
	values    map[string]int
	order     []string // of values, as first seen
	many      bool     // more different values than are kept
	blocks    int      // lists of texts, or of objects with a text
}

// Limits of a census: enough to see what a format is, whatever the file's size.
const (
	censusRecordsMax  = 2000
	censusFieldsMax   = 200
	censusDepthMax    = 5
	censusElementsMax = 50
	censusValuesMax   = 16
	censusTextMax     = 4 << 10 // bytes of a text that are looked at
)

// add counts one record or element.
func (c *census) add(v *value) {
	if c.n++; c.n > censusRecordsMax {
		return
	}
	var a arena
	own := &value{raw: v.raw}
	if own.kind() == jsonObject || own.kind() == jsonArray {
		c.walk(own, "", "", 0, &a)
	} else {
		c.field(".", ".").add(own)
	}
}

func (c *census) field(path, key string) *fieldCensus {
	f := c.index[path]
	if f == nil {
		f = &fieldCensus{path: path, key: key, kinds: map[jsonKind]int{}, values: map[string]int{}}
		if len(c.fields) < censusFieldsMax {
			if c.index == nil {
				c.index = map[string]*fieldCensus{}
			}
			c.index[path] = f
			c.fields = append(c.fields, f)
		}
	}
	return f
}

func (c *census) walk(v *value, path, key string, depth int, a *arena) {
	if depth > censusDepthMax {
		return
	}
	under := func(name string) string {
		if path == "" {
			return name
		}
		return path + "." + name
	}
	switch v.kind() {
	case jsonObject:
		if v.open(a) < 0 {
			return
		}
		for i := range v.members {
			m := &v.members[i]
			name := unquote(m.key)
			at := under(escapeKey(name))
			if m.val.absent() {
				continue
			}
			c.field(at, name).add(&m.val)
			c.walk(&m.val, at, name, depth+1, a)
		}
	case jsonArray:
		list := v.list(a)
		for i := range list[:min(len(list), censusElementsMax)] {
			at := under("#")
			c.field(at, key).add(&list[i])
			c.walk(&list[i], at, key, depth+1, a)
		}
	}
}

var (
	dateForm = lazily(`^\d{4}-\d\d-\d\d[T ]\d\d:\d\d`)
	idForm   = lazily(`^[A-Za-z0-9]*[_-]?[0-9a-fA-F]{8}[A-Za-z0-9_-]*$|^[a-z]+_[A-Za-z0-9]{6,}$`)
	pathForm = regexp.MustCompile(`^(/[^/\n ]|[A-Za-z]:\\)`)
)

func (f *fieldCensus) add(v *value) {
	f.n++
	f.kinds[v.kind()]++
	switch v.kind() {
	case jsonString:
		inner := v.raw[1 : len(v.raw)-1]
		f.runes += utf8.RuneCountInString(inner)
		if len(inner) > censusTextMax {
			inner = strings.ToValidUTF8(strings.TrimRight(inner[:censusTextMax], `\`), "")
		}
		f.text(unquote(inner))
	case jsonNumber, jsonBool:
		f.value(strings.Clone(v.raw))
		if n, err := strconv.ParseFloat(v.raw, 64); err == nil {
			f.epoch(n)
		}
	case jsonArray:
		var a arena
		own := value{raw: v.raw}
		for _, el := range own.list(&a) {
			if el.kind() == jsonString && strings.ContainsRune(el.raw, ' ') || el.kind() == jsonObject && !el.get("text", &a).absent() {
				f.blocks++
				break
			}
		}
	}
}

func (f *fieldCensus) text(s string) {
	switch {
	case dateForm().MatchString(s):
		f.dates++
	case strings.Count(strings.TrimSpace(s), " ") > 0 && len(s) >= 8:
		f.prose++
	case pathForm.MatchString(s):
		f.places++
	case len(s) >= 12 && idForm().MatchString(s):
		f.ids++
	default:
		if n, err := strconv.ParseFloat(s, 64); err == nil {
			f.epoch(n)
		}
	}
	if len(s) <= 64 && !strings.ContainsAny(s, "\n") {
		f.value(s)
	} else {
		f.many = true
	}
}

// merge adds what another census of the same shape saw at one path.
func (c *census) merge(o *fieldCensus) {
	f := c.field(o.path, o.key)
	f.n += o.n
	for k, n := range o.kinds {
		f.kinds[k] += n
	}
	f.prose, f.runes, f.dates, f.ids, f.places, f.blocks = f.prose+o.prose, f.runes+o.runes, f.dates+o.dates, f.ids+o.ids, f.places+o.places, f.blocks+o.blocks
	for i, n := range o.epochs {
		f.epochs[i] += n
	}
	for _, v := range o.order {
		for range o.values[v] {
			f.value(v)
		}
	}
	f.many = f.many || o.many
}

func (f *fieldCensus) value(s string) {
	if _, known := f.values[s]; !known {
		if len(f.values) >= censusValuesMax {
			f.many = true
			return
		}
		f.order = append(f.order, s)
	}
	f.values[s]++
}

// epochUnits are the units of a number that may be a time, by its size.
var epochUnits = [4]string{"s", "ms", "us", "ns"}

func (f *fieldCensus) epoch(n float64) {
	unit := []float64{1, 1e3, 1e6, 1e9}
	for i, u := range unit {
		if sec := n / u; sec > 1.2e9 && sec < 4.2e9 { // 2008 to 2103
			f.epochs[i]++
			return
		}
	}
}

// Roles that tools give to what they write, and what they are to us.
var roleWordsSeen = map[string]string{
	"user": "user", "human": "user", "me": "user", "you": "user", "prompt": "user", "question": "user", "customer": "user", "request": "user",
	"user_message": "user", "usermessage": "user", "input": "user",
	"assistant": "assistant", "bot": "assistant", "ai": "assistant", "model": "assistant", "agent": "assistant", "answer": "assistant", "response": "assistant",
	"gpt": "assistant", "assistant_message": "assistant", "assistantmessage": "assistant", "reply": "assistant", "llm": "assistant",
	"tool": "tool_result", "function": "tool_result", "tool_result": "tool_result", "observation": "tool_result",
	"tool_call": "tool_call", "tool_use": "tool_call", "function_call": "tool_call",
	"system": "system", "developer": "system", "thinking": "reasoning", "reasoning": "reasoning",
}

// roleKeys are what a field that holds a role is called.
var roleKeys = []string{"role", "type", "kind", "author", "sender", "from", "who", "speaker", "source", "actor", "direction"}

// textFieldKeys are what a field that holds the text is called, the likeliest first.
var textFieldKeys = []string{"text", "content", "body", "message", "parts", "say", "prompt", "value", "markdown", "answer", "response", "output"}

// A FieldLook is what one path of some records looks like.
type FieldLook struct {
	Path   string       `json:"path"`
	Kind   string       `json:"kind"`             // JSON kind; several are joined by "|"
	N      int          `json:"n"`                // records or elements that have it
	Of     int          `json:"of"`               // of so many
	Looks  string       `json:"looks,omitempty"`  // prose, time, id, path, word, blocks
	As     string       `json:"as,omitempty"`     // what it may be to a mapping: role, text, time, id, cwd
	Unit   string       `json:"unit,omitempty"`   // of a time that is a number
	Values []ValueCount `json:"values,omitempty"` // if there are few
	Runes  int          `json:"characters,omitempty"`

	score int
}

// A ValueCount is a value and how often it was seen.
type ValueCount struct {
	Value string `json:"value"`
	N     int    `json:"n"`
}

// A Pair is a path and the value there.
type Pair struct {
	Key   string `json:"key"`
	Value string `json:"value"`
}

func (f *fieldCensus) look(of int) FieldLook {
	l := FieldLook{Path: f.path, N: f.n, Of: of}
	var kinds []string
	for _, k := range []jsonKind{jsonString, jsonNumber, jsonBool, jsonArray, jsonObject} {
		if f.kinds[k] > 0 {
			kinds = append(kinds, jsonNames[k])
		}
	}
	l.Kind = strings.Join(kinds, "|")
	most := func(n int) bool { return n > 0 && n*10 >= f.n*8 }
	if n := f.kinds[jsonString]; n > 0 {
		l.Runes = f.runes / n
	}
	switch {
	case most(f.dates):
		l.Looks, l.As = "time", "time"
	case most(f.epochs[0]), most(f.epochs[1]), most(f.epochs[2]), most(f.epochs[3]):
		for i, n := range f.epochs {
			if most(n) {
				l.Unit = epochUnits[i]
			}
		}
		l.Looks, l.As = "time", "time"
	case f.prose > 0 && f.prose*2 >= f.kinds[jsonString]:
		l.Looks, l.As = "prose", "text"
	case most(f.places):
		l.Looks, l.As = "path", "cwd"
	case most(f.ids):
		l.Looks, l.As = "id", "id"
	case f.blocks > 0:
		l.Looks, l.As = "blocks", "text"
	case f.kinds[jsonString] == f.n && !f.many:
		l.Looks = "word"
	}
	if l.Looks == "word" || f.kinds[jsonBool] == f.n {
		for _, v := range f.order {
			l.Values = append(l.Values, ValueCount{quoteValue(v), f.values[v]})
		}
		if n := f.roleScore(); n > 0 {
			l.As, l.score = "role", n
		}
	}
	if l.As == "text" {
		l.score = l.N*4 + min(l.Runes, 400)/20
		if i := slices.Index(textFieldKeys, f.key); i >= 0 {
			l.score += l.N * (len(textFieldKeys) - i) / 3
		}
		l.score -= 3 * strings.Count(f.path, ".")
		if strings.Contains(f.path, "#") {
			l.score /= 4 // the list itself is the better selector
		}
	}
	if l.As == "time" {
		l.score = l.N*4 - strings.Count(f.path, ".")
	}
	return l
}

// roleScore is how sure a field of few values is a role: 0, or more.
func (f *fieldCensus) roleScore() int {
	known, kinds := 0, map[string]bool{}
	for v, n := range f.values {
		if role := roleWordsSeen[strings.ToLower(v)]; role != "" {
			known += n
			kinds[role] = true
		}
	}
	if known == 0 || strings.Contains(f.path, "#") {
		return 0
	}
	score := known + known*len(kinds)
	if i := slices.Index(roleKeys, strings.ToLower(f.key)); i >= 0 {
		score += known * (len(roleKeys) - i) / 2
	}
	return score
}

// looks are all fields, in the order in which they were seen.
func (c *census) look() []FieldLook {
	of := min(c.n, censusRecordsMax)
	out := make([]FieldLook, 0, len(c.fields))
	for _, f := range c.fields {
		out = append(out, f.look(of))
	}
	return out
}

// best is the likeliest field for a purpose, nil if there is none.
func best(fields []FieldLook, as string) *FieldLook {
	var best *FieldLook
	for i := range fields {
		if f := &fields[i]; f.As == as && (best == nil || f.score > best.score) {
			best = f
		}
	}
	return best
}

// String says it in a few words: "string, 28 of 28, prose".
func (l FieldLook) String() string {
	s := l.Kind
	switch l.Looks {
	case "prose":
		s = fmt.Sprintf("prose (%s)", plural(l.Runes, "character"))
	case "time":
		s = "RFC3339 time"
		if l.Unit != "" {
			s = "time in " + l.Unit
		} else if l.Kind != "string" {
			s = "time"
		}
	case "blocks":
		s = "list with texts"
	case "word", "id", "path":
		s = l.Looks
	}
	if l.Looks == "word" && len(l.Values) > 0 {
		var values []string
		for _, v := range l.Values[:min(len(l.Values), 6)] {
			values = append(values, fmt.Sprintf("%s %d", cutRunes(v.Value, sketchRunes), v.N))
		}
		if len(l.Values) > 6 {
			values = append(values, "…")
		}
		s = fmt.Sprintf("%s: %s", plural(len(l.Values), "value"), strings.Join(values, ", "))
	}
	if l.N != l.Of && l.Of > 1 && !strings.Contains(l.Path, "#") {
		s += fmt.Sprintf(", in %d of %d", l.N, l.Of)
	}
	return s
}

// A Looks says what elements of one kind look like, and what rule might read them.
type Looks struct {
	Fields []FieldLook `json:"fields"`
	Draft  string      `json:"draft"` // a rule, to begin with
}

// looks guesses what records of a shape are, and drafts a rule for them.
func (c *census) looks(shape []Pair) Looks {
	l := Looks{Fields: c.look()}
	in := shapePrefix(shape)
	var when []string
	for _, p := range shape {
		when = append(when, yamlText(p.Key)+": "+yamlText(p.Value))
	}
	if when == nil {
		for _, f := range l.Fields {
			named := slices.Contains(roleKeys, f.Path[strings.LastIndexByte(f.Path, '.')+1:])
			if named && f.Looks == "word" && len(f.Values) == 1 && f.N == f.Of && !strings.Contains(f.Path, "#") {
				when = append(when, yamlText(f.Path)+": "+yamlText(f.Values[0].Value))
				break
			}
		}
	}
	if when == nil {
		for _, f := range l.Fields {
			if !strings.ContainsAny(f.Path, ".#") && f.N == f.Of {
				when = append(when, yamlText(f.Path)+": {exists: true}")
				break
			}
		}
	}
	draft := "- {"
	if when != nil {
		draft += "when: {" + strings.Join(when, ", ") + "}, "
	}
	text := bestUnder(l.Fields, "text", in)
	if text == nil {
		l.Draft = draft + "as: skip}"
		return l
	}
	as := "system"
	if role := best(l.Fields, "role"); role != nil && len(role.Values) == 1 {
		as = cmp.Or(proseRole(roleWordsSeen[strings.ToLower(role.Values[0].Value)]), as)
	}
	l.Draft = draft + "as: " + as + ", text: " + yamlText(text.Path) + "}"
	return l
}

// proseRole is role if a rule with nothing but a text may make it.
func proseRole(role string) string {
	switch role {
	case "user", "assistant", "reasoning", "system":
		return role
	}
	return ""
}

// shapePrefix is the object in which the shape's last value stands, "" if at the top.
func shapePrefix(shape []Pair) string {
	if len(shape) == 0 {
		return ""
	}
	key := shape[len(shape)-1].Key
	if i := strings.LastIndexByte(key, '.'); i >= 0 {
		return key[:i+1]
	}
	return ""
}

func bestUnder(fields []FieldLook, as, prefix string) *FieldLook {
	if prefix != "" {
		var inside []FieldLook
		for _, f := range fields {
			if strings.HasPrefix(f.Path, prefix) {
				inside = append(inside, f)
			}
		}
		if f := best(inside, as); f != nil {
			return f
		}
	}
	return best(fields, as)
}

// Telling are the fields that a person wants to see of a shape: text, role and time, then
// other texts and words that differ.
func Telling(fields []FieldLook, most int) []FieldLook {
	var out []FieldLook
	for _, as := range []string{"text", "role", "time"} {
		if f := best(fields, as); f != nil && (as != "role" || len(f.Values) > 1) {
			out = append(out, *f)
		}
	}
	for _, f := range fields {
		if len(out) >= most {
			break
		}
		known := slices.ContainsFunc(out, func(o FieldLook) bool { return o.Path == f.Path })
		tells := f.Looks == "prose" || f.Looks == "blocks" || f.Looks == "word" && len(f.Values) > 1
		if !known && tells && !strings.Contains(f.Path, "#") {
			out = append(out, f)
		}
	}
	return out[:min(len(out), most)]
}
