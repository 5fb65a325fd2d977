package mapping

import (
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Limits of a survey: what is behind them is not looked at, which costs a guess and no more.
const (
	surveyDepthMax  = 6    // objects inside objects
	surveyPathsMax  = 2000 // different paths; more are data in the shape of keys
	surveyValuesMax = 2000 // different values that are counted of one path
)

// A field is one path that the elements of a survey have, and what stands there.
type inferField struct {
	path   []string
	sel    string // the path as a selector
	depth  int
	n      int // elements that have it, null aside
	filled int // elements where it is not empty
	kinds  [jsonObject + 1]int
	values map[string]int // texts of strings, numbers and bools
	more   bool           // there were more than surveyValuesMax
	runes  int            // of all strings
	prose  int            // strings with a blank between words
	at     []int          // numbers of the elements
	vals   []*value       // what they have there
}

func (f *inferField) key() string { return f.path[len(f.path)-1] }

// parent is the selector of the object that the field is in, "" for the element itself.
func (f *inferField) parent() string { return selectorOf(f.path[:len(f.path)-1]) }

// scalars is how many elements have a string, number or bool there.
func (f *inferField) scalars() int {
	return f.kinds[jsonString] + f.kinds[jsonNumber] + f.kinds[jsonBool]
}

// under says whether the field is in the object at a selector.
func (f *inferField) under(base string) bool {
	return base == "" || f.sel == base || strings.HasPrefix(f.sel, base+".")
}

// A survey counts what a list of elements has in common.
type survey struct {
	n      int
	fields []*inferField // in the order in which they were met
	index  map[string]*inferField
}

// takeSurvey walks the objects of the elements; lists are leaves.
func takeSurvey(elems []*value, a *arena) *survey {
	c := &survey{n: len(elems), index: map[string]*inferField{}}
	for i, e := range elems {
		c.add(i, e, nil, a)
	}
	return c
}

// keyForm is a key that is a name. Others (ids, paths) are data.
var keyForm = lazily(`^[$@_]*[A-Za-z][A-Za-z0-9_.$@/-]{0,63}$`)

// dataKey is what only a program gives as a name.
var dataKey = regexp.MustCompile(`^[0-9a-fA-F]{8}-?[0-9a-fA-F]{4}|^[0-9a-fA-F]{12,}$|\d{6,}`)

func (c *survey) add(i int, v *value, path []string, a *arena) {
	if v.kind() != jsonObject || len(path) >= surveyDepthMax {
		return
	}
	v.open(a)
	for k := range v.members {
		m := &v.members[k]
		key := unquote(m.key)
		if !keyForm().MatchString(key) || dataKey.MatchString(key) || m.val.absent() {
			continue
		}
		at := append(slices.Clip(path), key)
		sel := selectorOf(at)
		f := c.index[sel]
		if f == nil {
			if len(c.fields) >= surveyPathsMax {
				continue
			}
			f = &inferField{path: at, sel: sel, depth: len(at), values: map[string]int{}}
			c.index[sel] = f
			c.fields = append(c.fields, f)
		}
		if n := len(f.at); n > 0 && f.at[n-1] == i {
			continue // a key that is there twice
		}
		f.see(i, &m.val)
		c.add(i, &m.val, at, a)
	}
}

func (f *inferField) see(i int, v *value) {
	f.at, f.vals = append(f.at, i), append(f.vals, v)
	f.n++
	f.kinds[v.kind()]++
	if !v.empty() {
		f.filled++
	}
	switch v.kind() {
	case jsonString, jsonNumber, jsonBool:
		if v.kind() == jsonString {
			f.runes += len(v.raw) - 2
			if hasProse(v.raw[1 : len(v.raw)-1]) {
				f.prose++
			}
		}
		if len(v.raw) > 200 {
			f.more = true
			return
		}
		text := v.str()
		if _, ok := f.values[text]; ok || len(f.values) < surveyValuesMax {
			f.values[text]++
		} else {
			f.more = true
		}
	}
}

// hasProse says whether a text has a blank between letters, as what people say has and what
// programs note has not.
func hasProse(s string) bool {
	for i := 1; i+1 < len(s) && i < 400; i++ {
		if s[i] == ' ' && s[i-1] != ' ' && s[i+1] != ' ' && s[0] != '{' && s[0] != '[' {
			return true
		}
	}
	return false
}

// constant is the only value of a field, "" if it has several.
func (f *inferField) constant() string {
	if f.more || len(f.values) != 1 {
		return ""
	}
	for v := range f.values {
		return v
	}
	return ""
}

// selectorOf writes keys as a selector.
func selectorOf(path []string) string {
	var b strings.Builder
	for i, key := range path {
		if i > 0 {
			b.WriteByte('.')
		}
		for j := 0; j < len(key); j++ {
			if strings.IndexByte(specialInKey, key[j]) >= 0 {
				b.WriteByte('\\')
			}
			b.WriteByte(key[j])
		}
	}
	return b.String()
}

// words cuts a name into its words: camelCase, snake_case, dots and dashes.
func words(s string) []string {
	var out []string
	var cur []rune
	flush := func() {
		if len(cur) > 0 {
			out = append(out, strings.ToLower(string(cur)))
			cur = cur[:0]
		}
	}
	rs := []rune(s)
	for i, r := range rs {
		switch {
		case !unicode.IsLetter(r) && !unicode.IsDigit(r):
			flush()
			continue
		case unicode.IsUpper(r) && i > 0 && (unicode.IsLower(rs[i-1]) || i+1 < len(rs) && unicode.IsLower(rs[i+1]) && unicode.IsUpper(rs[i-1])):
			flush()
		}
		cur = append(cur, r)
	}
	flush()
	return out
}

// plainKey is a key without case and separators, so that tool_name and toolName are one.
func plainKey(s string) string { return strings.Join(words(s), "") }

// A class is what a word says about an element.
type class int

const (
	classNone       class = iota
	classText             // prose, whoever said it
	classImage            // a picture
	classSystem           // harness text
	classAssistant        // the model
	classUser             // the person
	classCompaction       // a summary that stands for what was before
	classReasoning        // thoughts
	classTool             // a call or a result: its fields tell
	classCall             // a tool call
	classResult           // a tool result
)

var classRole = map[class]string{classSystem: "system", classAssistant: "assistant", classUser: "user",
	classCompaction: "compaction", classReasoning: "reasoning", classCall: "tool_call", classResult: "tool_result"}

func hasWord(list []string, set string) bool {
	return slices.ContainsFunc(list, func(w string) bool {
		return slices.Contains(strings.Fields(set), strings.TrimSuffix(w, "s")) || slices.Contains(strings.Fields(set), w)
	})
}

// classOf says what a value of a discriminator, or the name of a key, speaks of. The words
// are those that chat programs share.
func classOf(word string) class {
	if len(word) > 64 {
		return classNone
	}
	w := words(word)
	tool := hasWord(w, "tool function mcp command shell bash terminal functioncall execution exec")
	switch {
	case len(w) == 0:
		return classNone
	case hasWord(w, "subagent sidechain telemetry"), hasWord(w, "sub") && hasWord(w, "agent"):
		return classNone
	case tool && hasWord(w, "result response output complete completed finished end done return observation update ended finish"),
		hasWord(w, "observation toolresult tooloutput"), len(w) == 1 && hasWord(w, "result output return returned"):
		return classResult
	case tool && hasWord(w, "call use request invocation start started begin calling used"), hasWord(w, "toolcall tooluse invocation invoke functioncall"),
		len(w) <= 3 && w[len(w)-1] == "call", len(w) == 1 && hasWord(w, "call action command"):
		return classCall
	case len(w) == 1 && hasWord(w, "tool function"), tool && hasWord(w, "exec execution block step run"):
		return classTool
	case hasWord(w, "reasoning thinking thought think cot musing pondering"):
		return classReasoning
	case hasWord(w, "compaction compact compacted condense condensed summarize summary compression"):
		return classCompaction
	case hasWord(w, "system developer harness injected reminder hook notification notice error warning info instruction"):
		return classSystem
	case hasWord(w, "user human me prompt person customer you query question"), len(w) == 1 && hasWord(w, "task request"):
		return classUser
	case hasWord(w, "assistant agent bot model ai gpt llm answer reply response completion planner chatgpt robot"):
		return classAssistant
	case hasWord(w, "image picture photo imageurl"):
		return classImage
	case hasWord(w, "text txt message content markdown paragraph prose"):
		return classText
	}
	return classNone
}

// Discriminators: keys whose few values say what an element is.
const (
	speakerKeys = "role author sender from who speaker by actor participant"
	typeKeys    = "type kind event eventtype messagetype msgtype subtype say ask op typ t sessionupdate operationtype contenttype blocktype recordtype tag category source entrytype evt ev method subtype actiontype shape variant form k kd"
)

// mainKeys are those under which the kind of an element stands, rather than a kind of a kind.
const mainKeys = "type kind event ev evt eventtype messagetype recordtype blocktype contenttype t typ sessionupdate"

// A disc is a discriminator of a survey.
type disc struct {
	f        *inferField
	role     bool             // says who speaks, not what it is
	inverse  bool             // a flag that sets apart where it is false
	flag     bool             // a bool that sets an element apart
	presence bool             // the key itself is the word
	says     class            // of a bool that tells who speaks: who does where it is true
	voices   map[string]class // of words that nobody knows: who speaks under them, by what they do
	known    int              // elements whose value is a word that is known
}

// wordValue is what a discriminator may hold.
var wordValue = lazily(`^[A-Za-z0-9_][A-Za-z0-9_.:/ -]{0,47}$`)

// metaFlags set apart what the harness says in the person's name, and what is no talk.
const metaFlags = "injected synthetic ismeta issynthetic hidden internal ignored isdemo isinternal isinjected ishidden isapierrormessage isapierror"

// talkFlags are false where metaFlags are true.
const talkFlags = "isuserinput uservisible"

// partFlags set apart pieces of what is recorded whole as well.
const partFlags = "partial ispartial"

const (
	thoughtFlags = "thought isthought isthinking isreasoning"
	summaryFlags = "issummary iscompactsummary issummarymessage compacted"
)

// discriminators finds the fields that tell the elements apart, the shallow ones first.
func (c *survey) discriminators() []*disc {
	var out []*disc
	for _, f := range c.fields {
		key := plainKey(f.key())
		d := &disc{f: f}
		switch {
		case f.depth > 4 || f.more || len(f.values) == 0:
			continue
		case f.kinds[jsonBool] == f.n && speakerFlag(f.key()) != classNone && f.values["false"] > 0 && f.values["true"] > 0:
			d.role, d.says, d.known = true, speakerFlag(f.key()), f.n
			out = append(out, d)
			continue
		case f.kinds[jsonBool] == f.n || key == "issummarymessage":
			d.flag = true
			if d.inverse = inWords(key, talkFlags); d.inverse && f.values["false"] > 0 && f.values["true"] > 0 {
				out = append(out, d)
				continue
			}
			if !inWords(key, metaFlags) && !inWords(key, thoughtFlags) && !inWords(key, summaryFlags) && !(inWords(key, partFlags) && f.values["false"] > 0) || f.values["true"]+f.values["1"] == 0 {
				continue
			}
			out = append(out, d)
			continue
		case f.scalars() < f.n || f.kinds[jsonBool] > 0:
			continue
		}
		named := inWords(key, speakerKeys) || inWords(key, typeKeys) || strings.HasSuffix(key, "type") || strings.HasSuffix(key, "role") || strings.HasSuffix(key, "kind")
		d.role = inWords(key, speakerKeys) || strings.HasSuffix(key, "role")
		ok := len(f.values) <= 60
		strong, telling := 0, 0
		for v, n := range f.values {
			if !wordValue().MatchString(v) || dataKey.MatchString(v) || utf8.RuneCountInString(v) > 40 {
				ok = false
				break
			}
			cl := classOf(v)
			if cl != classNone {
				d.known += n
				telling++
			}
			if len(words(v)) == 1 && (cl == classUser || cl == classAssistant) {
				strong++
			}
		}
		if !ok {
			continue
		}
		if f.kinds[jsonNumber] > 0 {
			// Numbers are types only under such a name, and when they are few.
			if f.kinds[jsonNumber] < f.n || len(f.values) > 8 || !inWords(key, "type kind role") {
				continue
			}
		} else if !named && c.shapes(f) {
			d.known = f.n
		} else if !named && (strong == 0 && (telling < 2 || telling < len(f.values)) || len(f.values) > 8 || inWords(key, "name model status mode title id text content message prompt value agent")) {
			continue
		}
		if inWords(key, "mimetype mediatype filetype modeltype") {
			continue
		}
		out = append(out, d)
	}
	// Two speakers in each element, in objects of their own: they tell no elements apart.
	fixed := func(d *disc, cl class) bool {
		return d.role && d.f.depth > 1 && d.f.n == c.n && classOf(d.f.constant()) == cl
	}
	both := func(cl class) bool { return slices.ContainsFunc(out, func(d *disc) bool { return fixed(d, cl) }) }
	if both(classUser) && both(classAssistant) {
		out = slices.DeleteFunc(out, func(d *disc) bool { return fixed(d, classUser) || fixed(d, classAssistant) })
	}
	// Nor does an unknown word that one of many has, deep inside.
	out = slices.DeleteFunc(out, func(d *disc) bool { return !d.flag && d.known == 0 && d.f.n == 1 && c.n >= 4 && d.f.depth > 1 })
	// Nor does a word inside of something that is the same everywhere and says nothing.
	out = slices.DeleteFunc(out, func(d *disc) bool {
		return !d.flag && d.f.depth > 2 && d.f.n == c.n && c.n > 1 && d.f.constant() != "" && classOf(d.f.constant()) == classNone
	})
	slices.SortStableFunc(out, func(a, b *disc) int { return a.f.depth - b.f.depth })
	return append(out, c.presences(out)...)
}

// nobody says that no word anywhere tells who speaks.
func nobody(discs []*disc) bool {
	for _, d := range discs {
		if d.says != classNone {
			return false
		}
		for v := range d.f.values {
			if cl := classOf(v); cl == classUser || cl == classAssistant {
				return false
			}
		}
	}
	return true
}

// voiceOf says whether a field may hold who speaks, under words of the tool's own.
func voiceOf(f *inferField) bool {
	return f.scalars() == f.n && f.prose == 0 && !f.more && len(f.values) > 1 && len(f.values) <= 8 && f.depth <= 3 && f.kinds[jsonBool] == 0
}

// turns finds the field whose two values take turns where the texts are: the person is who
// begins.
func (c *survey) turns(a *arena) *disc {
	var text *inferField
	texts, most := 0, 0
	for _, f := range c.fields {
		if k := plainKey(f.key()); inWords(k, notText) || hasWord(words(f.key()), "title name label description summary") {
			continue
		}
		if classOf(f.key()) == classUser || classOf(f.key()) == classAssistant {
			return nil // an exchange in one element
		}
		n := f.prose
		for _, v := range f.vals {
			if v.kind() == jsonArray && proseBelow(v, surveyDepthMax-2, a) {
				n++
			}
		}
		if n*2 > c.n && n >= 4 && (n > most || n == most && f.runes > texts) {
			text, texts, most = f, f.runes, n
		}
	}
	if text == nil {
		return nil
	}
	var best *disc
	for _, f := range c.fields {
		if !voiceOf(f) {
			continue
		}
		has := make(map[int]string, f.n)
		for k, i := range f.at {
			has[i] = f.vals[k].str()
		}
		// Two of them hold nearly all texts; what a third one says is the tool's.
		counts, order := map[string]int{}, []string(nil)
		fits := true
		for _, i := range text.at {
			t := has[i]
			if fits = fits && t != "" && wordValue().MatchString(t); !fits {
				break
			}
			if counts[t]++; counts[t] == 1 {
				order = append(order, t)
			}
		}
		others := slices.Clone(order)
		slices.SortStableFunc(others, func(a, b string) int { return counts[b] - counts[a] })
		if !fits || len(order) < 2 || (counts[others[0]]+counts[others[1]])*5 < len(text.at)*4 {
			continue
		}
		pair := others[:2]
		order = slices.DeleteFunc(order, func(t string) bool { return !slices.Contains(pair, t) })
		changes, said, last := 0, 0, ""
		for _, i := range text.at {
			if t := has[i]; slices.Contains(pair, t) {
				if last != "" && t != last {
					changes++
				}
				last = t
				said++
			}
		}
		if changes*2 < said-1 {
			continue
		}
		d := &disc{f: f, role: true, voices: map[string]class{order[0]: classUser, order[1]: classAssistant}, known: f.n}
		if best == nil || strings.HasSuffix(plainKey(best.f.key()), "id") && !strings.HasSuffix(plainKey(f.key()), "id") || inWords(plainKey(f.key()), speakerKeys) && !inWords(plainKey(best.f.key()), speakerKeys) {
			best = d
		}
	}
	return best
}

// speakerFlag is who speaks where a bool such as isUser or from_bot is true.
func speakerFlag(key string) class {
	w := slices.DeleteFunc(words(key), func(s string) bool { return inWords(s, "is was from by sent created") })
	if len(w) != 1 || !inWords(w[0], "user human me bot ai assistant model llm robot") {
		return classNone
	}
	return classOf(w[0])
}

// shapes says whether the few values of a field tell elements of different shapes apart.
func (c *survey) shapes(f *inferField) bool {
	if f.depth != 1 || f.n < c.n || f.kinds[jsonString] < f.n || len(f.values) < 2 || len(f.values)*3 > f.n*2 || len(f.values) > 20 ||
		inWords(plainKey(f.key()), "id text content status name model") {
		return false
	}
	keys := make([]string, c.n)
	for _, other := range c.fields {
		if other.depth != 1 || other == f {
			continue
		}
		for _, i := range other.at {
			keys[i] += other.sel + "\x00"
		}
	}
	of := map[string]string{}
	odd := 0
	different := map[string]bool{}
	for k, i := range f.at {
		v := f.vals[k].str()
		if have, ok := of[v]; ok && have != keys[i] {
			odd++
		} else {
			of[v] = keys[i]
			different[keys[i]] = true
		}
	}
	return len(different) > 1 && odd*5 <= f.n
}

// presences are keys that stand for a type, as in {"User": {...}}: each element has one of
// them.
func (c *survey) presences(have []*disc) []*disc {
	for _, d := range have {
		if !d.flag && !d.presence && d.f.n*10 >= c.n*9 && d.known*2 >= d.f.n {
			return nil
		}
	}
	var out []*disc
	seen := make([]int, c.n)
	for _, f := range c.fields {
		cl := classOf(f.key())
		if f.depth == 1 && f.n < c.n && f.filled > 0 && f.kinds[jsonBool]+f.kinds[jsonNumber] == 0 && cl != classNone && !inWords(plainKey(f.key()), "model error info tools version instructions") {
			out = append(out, &disc{f: f, presence: true})
			for _, i := range f.at {
				seen[i]++
			}
		}
	}
	if prose := c.onlyProse(out); prose != nil {
		return prose
	}
	one, some := 0, 0
	for _, n := range seen {
		if n > 0 {
			some++
		}
		if n == 1 {
			one++
		}
	}
	if len(out) < 2 || one*10 < some*9 || some*2 < c.n {
		return nil
	}
	return out
}

// onlyProse are the keys of which each element has one that says who speaks, whatever else it
// has: a task, then steps of the model.
func (c *survey) onlyProse(list []*disc) []*disc {
	var out []*disc
	seen := make([]int, c.n)
	who := map[class]bool{}
	for _, d := range list {
		if cl := classOf(d.f.key()); d.f.prose*2 > d.f.n && (cl == classUser || cl == classAssistant || cl == classSystem) {
			out = append(out, d)
			who[cl] = true
			for _, i := range d.f.at {
				seen[i]++
			}
		}
	}
	if !who[classUser] || !who[classAssistant] || slices.ContainsFunc(seen, func(n int) bool { return n != 1 }) {
		return nil
	}
	return out
}

func inWords(word, set string) bool {
	return word != "" && slices.Contains(strings.Fields(set), word)
}
