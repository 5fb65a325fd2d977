package mapping

import (
	"bytes"
	"compress/gzip"
	"crypto/md5"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"io"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/klauspost/compress/zstd"
	"github.com/tidwall/gjson"

	"parlance/internal/source"
)

// scopes is what selectors can see while one record is read.
type scopes struct {
	a        *arena
	rec      *value
	recIndex int
	recKey   string // "" unless the records are the members of an object
	doc      *value
	docIndex int
	docArena *arena
	side     map[string]*value
	file     map[string]string
	conv     func(field) string
	entryKey string
	lookup   func(name, key string) (*value, string, bool) // a table's entry: JSON, or a text

	using   bool   // fields are being made, so next: uses an element up
	tr      *trace // nil unless somebody wants to know how this file is read
	badTime func(raw string)
	over    func(what string) // told of a limit that was reached; may be nil
}

// A frame is the element that rules look at, and the way out of it.
type frame struct {
	elem     *value
	up       *frame
	next     *value // the element behind this one in the same each
	nextUsed bool
}

// got is what an expression found: nothing, a JSON value, a text, or a list of such.
type got struct {
	v    *value
	text string
	list []got
	kind gotKind
	join string // between the items of a list that becomes text
}

type gotKind int

const (
	gotNone gotKind = iota
	gotJSON
	gotText
	gotList
)

// defaultJoin stands between the items of a list that becomes text.
const defaultJoin = "\n\n"

// noJoin is join: "", which is not the same as no join.
const noJoin = "\x00"

func textGot(s string) got { return got{kind: gotText, text: s} }

// wordGot is a text that is absent if it is empty.
func wordGot(s string) got {
	if s == "" {
		return got{}
	}
	return textGot(s)
}

func jsonGot(v *value) got {
	if v.absent() {
		return got{}
	}
	return got{kind: gotJSON, v: v}
}

// empty is the language's word: absent, blank text, [] or {}.
func (g got) empty() bool {
	switch g.kind {
	case gotJSON:
		return g.v.empty()
	case gotText:
		return strings.TrimSpace(g.text) == ""
	case gotList:
		return len(g.list) == 0
	}
	return true
}

// find reads a selector. Texts of file: and conv: come back as text, all else as JSON.
func (x *scopes) find(s *selector, f *frame) got {
	if x.tr != nil {
		return x.tr.find(x, s, f)
	}
	var base *value
	a := x.a
	switch s.scope {
	case scopeNone:
		base = f.elem
	case scopeRecord:
		if s.index {
			return textGot(strconv.Itoa(x.recIndex))
		}
		if s.key {
			return wordGot(x.recKey)
		}
		base = x.rec
	case scopeUp:
		if f.up != nil {
			base = f.up.elem
		}
	case scopeNext:
		base = f.next
		if x.using && !base.absent() {
			f.nextUsed = true
		}
	case scopeDoc:
		if s.index {
			return textGot(strconv.Itoa(x.docIndex))
		}
		base, a = x.doc, x.docArena
	case scopeSide:
		base, a = x.side[s.name], x.docArena
	case scopeConv:
		if x.conv == nil {
			return got{}
		}
		return wordGot(x.conv(s.field))
	case scopeFile:
		return wordGot(x.file[s.name])
	case scopeEntry:
		return wordGot(x.entryKey)
	}
	if base.kind() == jsonAbsent {
		return got{}
	}
	if s.whole {
		return jsonGot(base)
	}
	if s.gjson == "" {
		return jsonGot(base.walk(s.plain, a))
	}
	path := s.gjson
	if len(s.braces) > 0 {
		var ok bool
		if path, ok = x.fillBraces(s, f); !ok {
			return got{}
		}
	}
	r := gjson.Get(base.raw, path)
	if !r.Exists() {
		return got{}
	}
	return jsonGot(&value{raw: strings.TrimSpace(r.Raw)})
}

// fillBraces puts the values of {key} into a gjson path: of a segment as one key, of a query
// as the text in its quotes.
func (x *scopes) fillBraces(s *selector, f *frame) (string, bool) {
	var b strings.Builder
	at := 0
	for _, br := range s.braces {
		b.WriteString(s.gjson[at:br.from])
		g := x.find(br.sel, f)
		if g.empty() {
			return "", false
		}
		text := x.text(g)
		if br.query {
			var q strings.Builder
			quote(&q, text)
			b.WriteString(q.String()[1 : q.Len()-1])
			at = br.to
			continue
		}
		for i := 0; i < len(text); i++ {
			if strings.IndexByte(`.*?|#@\!{}[]()=<>%`, text[i]) >= 0 {
				b.WriteByte('\\')
			}
			b.WriteByte(text[i])
		}
		at = br.to
	}
	b.WriteString(s.gjson[at:])
	return b.String(), true
}

// first is the first of several selectors that finds something that is not empty.
func (x *scopes) first(sels []*selector, f *frame) got {
	for _, s := range sels {
		if g := x.find(s, f); !g.empty() {
			return g
		}
	}
	return got{}
}

// eval reads an expression: its first term that is not empty, and that term.
func (x *scopes) eval(e *expr, f *frame) (got, *term) {
	if e == nil {
		return got{}, nil
	}
	for _, t := range e.terms {
		if g := x.term(t, f); !g.empty() {
			return g, t
		}
	}
	return got{}, nil
}

// evalText reads an expression as text.
func (x *scopes) evalText(e *expr, f *frame) string {
	g, _ := x.eval(e, f)
	return x.text(g)
}

// present is the first thing that a plain selector of e finds, even if it is empty.
func (x *scopes) present(e *expr, f *frame) got {
	for _, t := range e.terms {
		if t.kind != termSelect || t.when != nil && !x.holds(t.when, f) {
			continue
		}
		if t.omit != nil {
			if g := x.term(t, f); g.kind == gotJSON {
				return g
			}
			continue
		}
		for _, s := range t.sels {
			if g := x.find(s, f); g.kind == gotJSON {
				return g
			}
		}
	}
	return got{}
}

// exists says whether an expression finds something that is not absent, without decoding.
func (x *scopes) exists(e *expr, f *frame) bool {
	for _, t := range e.terms {
		if t.kind == termSelect && t.when == nil {
			for _, s := range t.sels {
				if g := x.find(s, f); g.kind != gotNone {
					return true
				}
			}
			continue
		}
		if x.term(t, f).kind != gotNone {
			return true
		}
	}
	return false
}

// evalTruth reads an expression as truth: true if any of its terms is.
func (x *scopes) evalTruth(e *expr, f *frame) bool {
	if e == nil {
		return false
	}
	for _, t := range e.terms {
		if x.truth(t, f) {
			return true
		}
	}
	return false
}

func (x *scopes) truth(t *term, f *frame) bool {
	g := x.term(t, f)
	switch g.kind {
	case gotNone:
		return false
	case gotJSON:
		switch g.v.kind() {
		case jsonArray, jsonObject:
			return !g.v.empty()
		}
	case gotList:
		return len(g.list) > 0
	}
	switch x.text(g) {
	case "", "false", "0", "[]", "{}":
		return false
	}
	return true
}

// term reads one form and takes its steps, in their order of effect.
func (x *scopes) term(t *term, f *frame) got {
	if t.when != nil && !x.holds(t.when, f) {
		return got{}
	}
	var g got
	switch t.kind {
	case termSelect:
		g = x.first(t.sels, f)
	case termValue:
		g = textGot(t.value)
	case termTemplate:
		s, ok := x.fill(t.template, f)
		if !ok {
			return got{}
		}
		g = textGot(s)
	case termConcat:
		for _, e := range t.concat {
			if part := x.evalText(e, f); strings.TrimSpace(part) != "" {
				g.list = append(g.list, textGot(part))
			}
		}
		if len(g.list) > 0 {
			g.kind = gotList
		}
	case termLookup:
		if x.lookup != nil {
			if v, s, ok := x.lookup(t.lookup, x.evalText(t.key, f)); ok {
				if g = jsonGot(v); v == nil {
					g = textGot(s)
				}
			}
		}
	case termWhen:
		return textGot("true")
	}
	if g.kind == gotNone {
		if t.table != nil && t.orElse != nil {
			return textGot(*t.orElse)
		}
		return g
	}
	if t.only != nil || t.item != nil {
		g = x.items(t, g, f)
	}
	g.join = defaultJoin
	if t.join != nil {
		if g.join = *t.join; g.join == "" {
			g.join = noJoin
		}
	}
	if t.decode != nil {
		s, ok := x.bytes(g), true
		for _, how := range t.decode {
			if s, ok = decodeText(how, s); !ok {
				if len(s) > decodedMaxBytes && x.over != nil {
					x.over("a packed text unfolds to more than decodedMaxBytes (64 MB)")
				}
				return got{}
			}
		}
		if !utf8.ValidString(s) {
			return got{}
		}
		g = textGot(s)
	}
	if t.parse {
		if t.kind == termConcat {
			g = textGot(x.text(g))
		}
		if g = x.parsed(g); g.kind == gotNone {
			return g
		}
	}
	if t.get != nil {
		if g.kind != gotJSON || g.v.kind() != jsonObject && g.v.kind() != jsonArray {
			return got{}
		}
		join := g.join
		g = x.find(t.get, &frame{elem: g.v, up: f})
		g.join = join
	}
	if t.omit != nil {
		if g.kind != gotJSON || g.v.kind() != jsonObject {
			return got{}
		}
		g.v = without(g.v, t.omit, x.a)
	}
	if t.gather != nil {
		if g.kind != gotJSON || g.v.kind() != jsonObject && g.v.kind() != jsonArray {
			return got{}
		}
		var b strings.Builder
		x.gather(&b, g.v, t.gather, gatherLevels)
		g = textGot(b.String())
	}
	if t.after != nil {
		s := x.text(g)
		i := strings.LastIndex(s, *t.after)
		if i < 0 {
			return got{}
		}
		g = textGot(strings.TrimSpace(s[i+len(*t.after):]))
	}
	if t.past != nil {
		s := x.text(g)
		at := t.past.FindStringIndex(patternText(s))
		if at == nil {
			return got{}
		}
		g = textGot(strings.TrimSpace(s[at[1]:]))
	}
	if t.match != nil {
		m := t.match.FindStringSubmatch(patternText(x.text(g)))
		if len(m) < 2 {
			return got{}
		}
		g = textGot(m[1])
	}
	if t.hash != "" {
		g = textGot(hashText(t.hash, x.text(g)))
	}
	if t.unless != nil && x.textHolds(t.unless, x.text(g)) {
		return got{}
	}
	if t.table != nil {
		s, ok := t.table[x.text(g)]
		if !ok || g.empty() {
			if t.orElse == nil {
				return got{}
			}
			s = *t.orElse
		}
		g = textGot(s)
	}
	return g
}

// bytes is text, but with the bytes of a BLOB as they are.
func (x *scopes) bytes(g got) string {
	if g.kind == gotJSON && g.v.kind() == jsonString {
		return unquoteBytes(g.v.raw[1 : len(g.v.raw)-1])
	}
	return x.text(g)
}

// items takes the steps only and item, which see each list item.
func (x *scopes) items(t *term, g got, f *frame) got {
	if g.kind != gotJSON {
		if g.kind == gotText && t.item != nil {
			return x.item(t.item, textItem(g.text), f)
		}
		return g
	}
	if g.v.kind() != jsonArray && g.v.kind() != jsonObject {
		if t.item != nil && g.v.kind() == jsonString {
			return x.item(t.item, stringItem(g.v), f)
		}
		return g
	}
	elems := []value{*g.v}
	if g.v.kind() == jsonArray {
		elems = g.v.list(x.a)
	}
	out := got{kind: gotList}
	for i := range elems {
		el := &elems[i]
		if t.only != nil && !x.holds(t.only, &frame{elem: el, up: f}) {
			continue
		}
		item := jsonGot(el)
		if t.item != nil {
			if el.kind() == jsonString {
				el = stringItem(el)
			}
			item = x.item(t.item, el, f)
		}
		if !item.empty() {
			out.list = append(out.list, item)
		}
	}
	if len(out.list) == 0 {
		return got{}
	}
	return out
}

func (x *scopes) item(e *expr, el *value, f *frame) got {
	g, _ := x.eval(e, &frame{elem: el, up: f})
	if g.kind == gotNone {
		return g
	}
	return textGot(x.text(g))
}

// textItem is the text block that a bare string stands for: {type: text, text: ...}.
func textItem(s string) *value {
	var b strings.Builder
	b.WriteString(`{"type":"text","text":`)
	quote(&b, s)
	b.WriteByte('}')
	return &value{raw: b.String()}
}

// stringItem is textItem of a JSON string, which is not decoded for that.
func stringItem(v *value) *value {
	return &value{raw: `{"type":"text","text":` + v.raw + `}`}
}

// without is an object without some of its members.
func without(v *value, omit []string, a *arena) *value {
	v.open(a)
	var b strings.Builder
	b.WriteByte('{')
	for i := range v.members {
		m := &v.members[i]
		if slices.Contains(omit, unquote(m.key)) {
			continue
		}
		if b.Len() > 1 {
			b.WriteByte(',')
		}
		b.WriteString(`"` + m.key + `":` + m.val.raw)
	}
	b.WriteByte('}')
	return &value{raw: b.String()}
}

// gatherLevels is how deep a text is gathered; what lies below is left out.
const gatherLevels = 256

// gather writes the strings that stand under names[0] in v, in order; if names[1] beside
// one is true, it begins a line.
func (x *scopes) gather(b *strings.Builder, v *value, names []string, levels int) {
	if levels == 0 {
		return
	}
	switch v.kind() {
	case jsonArray:
		elems := v.list(x.a)
		for i := range elems {
			x.gather(b, &elems[i], names, levels-1)
		}
	case jsonObject:
		if m := v.get(names[0], x.a); m.kind() == jsonString {
			if len(names) > 1 && b.Len() > 0 && v.get(names[1], x.a).is("true") {
				b.WriteByte('\n')
			}
			b.WriteString(m.str())
		}
		v.open(x.a)
		for i := range v.members {
			x.gather(b, &v.members[i].val, names, levels-1)
		}
	}
}

// parsed is the step parse: json. It looks at the first byte before it decodes.
func (x *scopes) parsed(g got) got {
	var s string
	switch {
	case g.kind == gotText:
		s = g.text
	case g.kind == gotJSON && g.v.kind() == jsonString:
		inner := g.v.raw[1 : len(g.v.raw)-1]
		if i := firstByte(inner); i != '{' && i != '[' && i != '\\' {
			return got{}
		}
		s = g.v.str()
	default:
		return got{}
	}
	s = strings.TrimSpace(s)
	if s == "" || s[0] != '{' && s[0] != '[' {
		return got{}
	}
	v, ok := parseRecord(s, x.a)
	if !ok {
		return got{}
	}
	return got{kind: gotJSON, v: v, join: g.join}
}

func firstByte(s string) byte {
	if i := skipSpace(s, 0); i < len(s) {
		return s[i]
	}
	return 0
}

// fill puts values into a template; false if one of them is empty.
func (x *scopes) fill(t template, f *frame) (string, bool) {
	var b strings.Builder
	for _, p := range t {
		if p.sel == nil {
			b.WriteString(p.text)
			continue
		}
		g := x.find(p.sel, f)
		if g.empty() {
			return "", false
		}
		b.WriteString(x.text(g))
	}
	return b.String(), true
}

// flattenLevels is how deep flattening looks; what lies below is shown as JSON.
const flattenLevels = 8

// text flattens what was found into text of its own memory.
func (x *scopes) text(g got) string {
	join := g.join
	switch {
	case join == noJoin:
		join = ""
	case join == "" && g.kind != gotList:
		join = defaultJoin
	}
	switch g.kind {
	case gotText:
		return g.text
	case gotJSON:
		return x.flatten(g.v, join, flattenLevels)
	case gotList:
		parts := make([]string, 0, len(g.list))
		for _, it := range g.list {
			it.join = g.join
			if s := x.text(it); strings.TrimSpace(s) != "" {
				parts = append(parts, s)
			}
		}
		return strings.Join(parts, join)
	}
	return ""
}

// textKeys are the members that an object's text is looked for in, in order.
var textKeys = []string{"text", "content", "output", "stdout", "message"}

func (x *scopes) flatten(v *value, join string, levels int) string {
	switch v.kind() {
	case jsonAbsent, jsonNull:
		return ""
	case jsonArray:
		if levels == 0 {
			return compact(v.raw)
		}
		elems := v.list(x.a)
		parts := make([]string, 0, len(elems))
		for i := range elems {
			if s := x.flatten(&elems[i], join, levels-1); strings.TrimSpace(s) != "" {
				parts = append(parts, s)
			}
		}
		return strings.Join(parts, join)
	case jsonObject:
		if levels == 0 {
			return compact(v.raw)
		}
		if x.isImage(v) {
			return "[image]"
		}
		blank := false
		for _, key := range textKeys {
			m := v.get(key, x.a)
			if !m.empty() {
				return x.flatten(m, join, levels-1)
			}
			blank = blank || m.kind() == jsonString || m.kind() == jsonArray
		}
		if blank {
			return "" // there is a text, and it is empty
		}
		return compact(v.raw)
	}
	return v.str()
}

func (x *scopes) isImage(v *value) bool {
	for _, key := range []string{"type", "kind"} {
		m := v.get(key, x.a)
		if m.is("image") || m.is("input_image") || m.is("image_url") {
			return true
		}
	}
	return v.get("inlineData", x.a) != nil
}

// input is a tool call's arguments: compact JSON in source order, or a bare string.
func (x *scopes) input(e *expr, f *frame) string {
	g, _ := x.eval(e, f)
	if g.kind == gotNone && e != nil {
		g = x.present(e, f) // {} is an input too
	}
	if p := x.parsed(g); p.kind == gotJSON && p.v.kind() == jsonObject {
		return compact(p.v.raw)
	}
	if g.kind == gotJSON && g.v.kind() != jsonString {
		return compact(g.v.raw)
	}
	return x.text(g)
}

// holds says whether a condition is true of a frame.
func (x *scopes) holds(c *cond, f *frame) bool {
	if c == nil {
		return true
	}
	for i := range c.tests {
		if !x.test(&c.tests[i], f) {
			return false
		}
	}
	if c.any != nil {
		one := false
		for _, a := range c.any {
			if x.holds(a, f) {
				one = true
				break
			}
		}
		if !one {
			return false
		}
	}
	return c.not == nil || !x.holds(c.not, f)
}

func (x *scopes) test(t *condTest, f *frame) bool {
	g := x.find(t.sel, f)
	// kind: "null" is about a null that is written, which find gives as absent.
	if g.kind == gotNone && t.pred.kinds != nil {
		return x.nullIsWanted(t, f)
	}
	return x.pred(t.pred, g)
}

// nullIsWanted tells a written null from a missing member.
func (x *scopes) nullIsWanted(t *condTest, f *frame) bool {
	wanted := false
	for _, k := range t.pred.kinds {
		wanted = wanted || k == "null"
	}
	base := f.elem
	if t.sel.scope == scopeRecord {
		base = x.rec
	}
	return wanted && base.kind() != jsonAbsent && t.sel.plain != nil && base.walk(t.sel.plain, x.a).kind() == jsonNull
}

// pred says whether every demand of p holds for what was found.
func (x *scopes) pred(p *pred, g got) bool {
	if p.equal != nil && !equalsOne(p.equal, g) {
		return false
	}
	if p.exists != nil && (g.kind != gotNone) != *p.exists {
		return false
	}
	if p.empty != nil && g.empty() != *p.empty {
		return false
	}
	if p.hasKeys && !x.hasKeys(p.keys, g) {
		return false
	}
	if p.kinds != nil && !x.isKind(p.kinds, g) {
		return false
	}
	if p.starts != nil || p.contains != nil || p.matches != nil {
		text, ok := scalarText(g)
		if !ok || !textTests(p, text) {
			return false
		}
	}
	if p.any != nil {
		one := false
		for _, a := range p.any {
			one = one || x.pred(a, g)
		}
		if !one {
			return false
		}
	}
	return p.not == nil || !x.pred(p.not, g)
}

func (x *scopes) textHolds(p *pred, text string) bool { return x.pred(p, textGot(text)) }

func equalsOne(texts []string, g got) bool {
	for _, t := range texts {
		if g.kind == gotText && g.text == t || g.kind == gotJSON && g.v.is(t) {
			return true
		}
	}
	return false
}

func scalarText(g got) (string, bool) {
	switch g.kind {
	case gotText:
		return g.text, true
	case gotJSON:
		switch g.v.kind() {
		case jsonString, jsonNumber, jsonBool:
			return g.v.str(), true
		}
	}
	return "", false
}

func textTests(p *pred, text string) bool {
	if p.starts != nil {
		head := strings.TrimLeft(strings.TrimPrefix(text, "\uFEFF"), " \t\r\n\v\f\uFEFF")
		if !oneOf(p.starts, func(s string) bool { return strings.HasPrefix(head, s) }) {
			return false
		}
	}
	if p.contains != nil && !oneOf(p.contains, func(s string) bool { return strings.Contains(text, s) }) {
		return false
	}
	if p.matches != nil {
		window := patternText(text)
		for _, re := range p.matches {
			if re.MatchString(window) {
				return true
			}
		}
		return false
	}
	return true
}

func oneOf(list []string, holds func(string) bool) bool {
	for _, s := range list {
		if holds(s) {
			return true
		}
	}
	return false
}

// hasKeys: an object, or a text that is one, with exactly these keys.
func (x *scopes) hasKeys(keys []string, g got) bool {
	if p := x.parsed(g); p.kind == gotJSON {
		g = p
	}
	if g.kind != gotJSON || g.v.kind() != jsonObject {
		return false
	}
	g.v.open(x.a)
	for _, m := range g.v.members {
		if !oneOf(keys, func(k string) bool { return m.key == k || unquote(m.key) == k }) {
			return false
		}
	}
	for _, k := range keys {
		if g.v.get(k, x.a) == nil {
			return false
		}
	}
	return true
}

func (x *scopes) isKind(kinds []string, g got) bool {
	for _, k := range kinds {
		switch {
		case k == "json_object":
			if p := x.parsed(g); p.kind == gotJSON && p.v.kind() == jsonObject {
				return true
			}
		case g.kind == gotText:
			if k == "string" {
				return true
			}
		case g.kind == gotJSON:
			if jsonNames[g.v.kind()] == k || k == "boolean" && g.v.kind() == jsonBool || k == "list" && g.v.kind() == jsonArray {
				return true
			}
		}
	}
	return false
}

// patternMaxBytes is how much of a text a pattern looks at: patterns tell harness text by
// how it begins, and a transcript must not choose how long we compute.
const patternMaxBytes = source.PatternMaxBytes

func patternText(s string) string {
	if len(s) <= patternMaxBytes {
		return s
	}
	n := patternMaxBytes
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}

// hashText is the step hash. Nothing is kept secret by it: it finds what is named by a hash.
func hashText(how, s string) string {
	if how == "md5" {
		sum := md5.Sum([]byte(s))
		return hex.EncodeToString(sum[:])
	}
	sum := sha256.Sum256([]byte(s))
	return hex.EncodeToString(sum[:])
}

// decodedMaxBytes bounds what a packed text may unfold to.
const decodedMaxBytes = source.DecodedMaxBytes

// decodeText is one step of decode: bytes in, bytes out; false if they are not of that kind.
func decodeText(how, s string) (string, bool) {
	var out []byte
	var err error
	switch how {
	case "uri":
		s, err = url.PathUnescape(s)
		return s, err == nil
	case "base64":
		enc := base64.RawStdEncoding
		s = strings.TrimRight(strings.TrimSpace(s), "=_")
		if strings.ContainsAny(s, "-_") {
			enc = base64.RawURLEncoding
		}
		out, err = enc.DecodeString(s)
	case "hex":
		out, err = hex.DecodeString(strings.TrimSpace(s))
	case "gzip":
		var r *gzip.Reader
		if r, err = gzip.NewReader(strings.NewReader(s)); err == nil {
			out, err = io.ReadAll(io.LimitReader(r, decodedMaxBytes+1))
		}
	case "zstd":
		var r *zstd.Decoder
		if r, err = zstd.NewReader(bytes.NewReader([]byte(s)), zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(2*decodedMaxBytes)); err == nil {
			out, err = io.ReadAll(io.LimitReader(r, decodedMaxBytes+1))
			r.Close()
		}
	}
	return string(out), err == nil && len(out) <= decodedMaxBytes
}
