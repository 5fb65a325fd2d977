package mapping

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// use says how the value of an expression is used; some forms belong to one use only.
type use int

const (
	useText use = iota
	useTruth
	useTime
	useRole
)

// A place is what an expression or selector may do where it stands.
type place struct {
	use    use
	pick   bool    // pick is allowed
	scopes []scope // that may be read
	before int     // conv: may read only so many fields, less one; 0 = all
}

// The sets of scopes.
var (
	scopesNone    = []scope{scopeNone}
	scopesLookup  = []scope{scopeNone, scopeEntry}
	scopesSource  = []scope{scopeNone, scopeRecord, scopeDoc, scopeSide, scopeFile}
	scopesRecord  = []scope{scopeNone, scopeRecord, scopeDoc, scopeSide, scopeConv, scopeFile}
	scopesElement = []scope{scopeNone, scopeRecord, scopeUp, scopeNext, scopeDoc, scopeSide, scopeConv, scopeFile}
	scopesReset   = []scope{scopeNone, scopeRecord, scopeUp}
)

// element is where the rules are.
func element(u use) place { return place{use: u, scopes: scopesElement} }

// inner is the place of an expression inside of another.
func (p place) inner() place {
	p.pick, p.use = false, useText
	return p
}

func (l *loader) exprField(f *fields, key string, p place) *expr {
	v, path := f.at(key)
	if v == nil {
		return nil
	}
	return l.expr(v, path, p)
}

// expr compiles a selector, a form, or a ranked list of them.
func (l *loader) expr(n *yamlNode, path string, p place) *expr {
	e := &expr{pos: n.pos()}
	if n.shape != shapeList {
		if t := l.term(n, path, p); t != nil {
			e.terms = append(e.terms, t)
		}
		return e
	}
	if len(n.items) == 0 {
		l.at(codeEmpty, n, path, "empty list", "the first of a list that is not empty counts")
	}
	for i, item := range n.items {
		if item.shape == shapeList {
			l.at(codeWrongKind, item, sub(path, i), "a list inside of a list", "a list of expressions is flat")
			continue
		}
		if t := l.term(item, sub(path, i), p); t != nil {
			e.terms = append(e.terms, t)
		}
	}
	return e
}

// forms are the keys of which a map expression has exactly one.
var forms = []string{"from", "value", "template", "concat", "lookup"}

func (l *loader) term(n *yamlNode, path string, p place) *term {
	switch n.shape {
	case 0:
		l.noValue(n, path, "an expression")
		return nil
	case shapeScalar:
		s := l.selector(n, path, p)
		if s == nil {
			return nil
		}
		return &term{kind: termSelect, pos: n.pos(), sels: []*selector{s}}
	}
	f := l.mapFields(n, inExpr, path)
	if f == nil {
		return nil
	}
	t := &term{pos: n.pos()}
	l.stepOrder(f)
	var have []string
	for _, k := range forms {
		if f.keys[k] != nil {
			have = append(have, k)
		}
	}
	switch {
	case len(have) == 0 && f.keys["when"] != nil && len(f.keys) == 1:
		t.kind = termWhen
		if p.use != useTruth {
			l.at(codeStepPlace, n, path, "when alone", "{when: ...} alone is true or not: only for failed, abandoned, subagent; elsewhere add from, value or template")
			return nil
		}
		if v, at := f.at("when"); v != nil {
			t.when = l.cond(v, at, p)
		}
		return t
	case len(have) == 0:
		if len(n.entries) == len(f.keys) { // no unknown key that explains it
			l.at(codeMissing, n, path, "an expression without from, value, template, concat or lookup", "for example {from: content, join: \"\\n\"}")
		}
		return nil
	case len(have) > 1:
		l.at(codeConflict, f.keys[have[1]], path, fmt.Sprintf("%s beside %s", have[1], have[0]), "an expression has one of from, value, template, concat, lookup")
		return nil
	}
	l.form(f, t, have[0], p)
	l.steps(f, t, p)
	return t
}

// form compiles what an expression starts from.
func (l *loader) form(f *fields, t *term, form string, p place) {
	v, path := f.at(form)
	if form != "lookup" && f.keys["key"] != nil {
		l.at(codeConflict, f.keys["key"], dot(f.path, "key"), "key without lookup", "")
	}
	if v == nil {
		return
	}
	switch form {
	case "from":
		if v.shape == shapeMap || slices.ContainsFunc(v.items, func(n *yamlNode) bool { return n.shape == shapeMap }) {
			l.fromExpr(f, t, p)
			return
		}
		t.kind = termSelect
		t.sels = l.selectorList(v, path, p)
	case "value":
		t.kind, t.value = termValue, v.text
	case "template":
		t.kind = termTemplate
		t.template = l.template(v, path, p)
	case "concat":
		t.kind = termConcat
		if len(v.items) == 0 {
			l.at(codeEmpty, v, path, "empty list", "")
		}
		for i, item := range v.items {
			t.concat = append(t.concat, l.expr(item, sub(path, i), p.inner()))
		}
	case "lookup":
		t.kind, t.lookup = termLookup, v.text
		if slices.Equal(p.scopes, scopesLookup) {
			l.at(codeCircle, v, path, "a lookup inside of lookups", "")
		} else if !slices.Contains(l.lookups, v.text) {
			l.at(codeUndefined, v, path, fmt.Sprintf("no lookup %q", v.text), didYouMean(v.text, "lookups", l.lookups))
		}
		l.usedLookup[v.text] = true
		if key, at := f.at("key"); key != nil {
			t.key = l.expr(key, at, p.inner())
		} else if f.keys["key"] == nil {
			l.at(codeMissing, v, f.path, "lookup without key", addHint(inExpr, "key"))
		}
	}
}

// fromExpr compiles a from that holds expressions with steps of their own, so that the steps
// behind it (pick above all) count for all of them. What it gives is text: a concat of one.
func (l *loader) fromExpr(f *fields, t *term, p place) {
	v, path := f.at("from")
	inner := l.expr(v, path, p.inner())
	if join := f.vals["join"]; join != nil {
		for _, it := range inner.terms {
			if it.join == nil {
				it.join = &join.text
			}
		}
	}
	t.kind, t.concat = termConcat, []*expr{inner}
	for _, k := range []string{"only", "item", "parse", "get", "omit", "gather"} {
		if f.keys[k] != nil {
			l.at(codeStepPlace, f.keys[k], dot(f.path, k), k+" behind expressions", "from with expressions in it gives text: put "+k+" into each of them")
		}
	}
	if p.use == useTruth {
		l.at(codeStepPlace, v, path, "expressions inside of from", "a list of expressions is true if any is: write them as a list")
	}
}

// stepOrder reports the first step that stands behind one that acts later.
func (l *loader) stepOrder(f *fields) {
	last := -1
	for _, e := range f.n.entries {
		i := slices.Index(stepNames, e.key.text)
		if i < 0 {
			continue
		}
		if i < last {
			l.at(codeStepOrder, e.key, f.path, fmt.Sprintf("step %q behind %q", e.key.text, stepNames[last]),
				"steps are written in their order of effect: from, "+strings.Join(stepNames[slices.Index(stepNames, "when"):], ", "))
			return
		}
		last = i
	}
}

func (l *loader) steps(f *fields, t *term, p place) {
	if v, at := f.at("when"); v != nil {
		t.when = l.cond(v, at, p)
	}
	item := p.inner()
	if v, at := f.at("only"); v != nil {
		t.only = l.cond(v, at, item)
	}
	if v, at := f.at("item"); v != nil {
		t.item = l.expr(v, at, item)
	}
	if v := f.vals["join"]; v != nil {
		t.join = &v.text
	}
	if f.has("decode") {
		t.decode = l.decodeWords(f)
	}
	t.parse = l.word(f, "parse") != ""
	if v, at := f.at("get"); v != nil {
		t.get = l.selector(v, at, place{scopes: scopesNone})
	}
	if v, _ := f.at("omit"); v != nil {
		t.omit = texts(v)
	}
	if v, at := f.at("gather"); v != nil {
		if t.gather = texts(v); len(t.gather) > 2 {
			l.at(codeWrongKind, v, at, fmt.Sprintf("%d names", len(t.gather)), "the name of the texts, and perhaps of what is true where a line begins")
		}
	}
	if v, at := f.at("after"); v != nil {
		t.after = l.notEmpty(v, at)
	}
	if v, at := f.at("past"); v != nil {
		t.past = l.regexp(v, at)
	}
	if v, at := f.at("match"); v != nil {
		if re := l.regexp(v, at); re != nil {
			if n := re.NumSubexp(); n != 1 {
				l.at(codeRegexp, v, at, fmt.Sprintf("match needs exactly one group, found %d", n), "a group that only groups is written (?:...)")
			} else {
				t.match = re
			}
		}
	}
	t.hash = l.word(f, "hash")
	if v, at := f.at("unless"); v != nil {
		t.unless = l.pred(v, at)
	}
	if v, at := f.at("map"); v != nil {
		if len(v.entries) == 0 {
			l.at(codeEmpty, v, at, "empty table", "")
		}
		t.table = toMap(l.textMap(v, at))
	}
	if v, at := f.at("else"); v != nil {
		if f.keys["map"] == nil {
			l.at(codeConflict, f.keys["else"], at, "else without map", "for another value when nothing is found, write a list: [selector, {value: X}]")
		}
		t.orElse = &v.text
	}
	for _, k := range []string{"unit", "layout", "zone"} {
		if f.keys[k] != nil && p.use != useTime {
			l.at(codeStepPlace, f.keys[k], dot(f.path, k), k+" of what is no time", "unit, layout and zone belong to time, started, updated")
		}
	}
	t.unit, t.zone = l.word(f, "unit"), l.word(f, "zone")
	if v, at := f.at("layout"); v != nil {
		t.layout = v.text
		if !isLayout(v.text) {
			l.at(codeTime, v, at, fmt.Sprintf("%q is no Go layout", shorten(v.text)), "write how Mon Jan 2 15:04:05 MST 2006 would look in this format")
		}
		if t.unit != "" {
			l.at(codeConflict, f.keys["layout"], at, "layout beside unit", "unit is for numbers, layout for texts: write a list of two expressions")
		}
	}
	if v, at := f.at("pick"); f.keys["pick"] != nil {
		if !p.pick {
			l.at(codeStepPlace, f.keys["pick"], dot(f.path, "pick"), "pick does not belong here", "pick chooses between records: only under conversation, in an expression or an item of its list")
		} else if v != nil && l.wordOK(v, at, keyIndex[inExpr]["pick"].Values) {
			t.last = v.text == "last"
		}
	}
}

// decodeWords allows the same decoding twice: texts are wrapped twice somewhere.
func (l *loader) decodeWords(f *fields) []string {
	v, path := f.at("decode")
	var out []string
	for i, n := range scalars(v) {
		at := path
		if v.shape == shapeList {
			at = sub(path, i)
		}
		if l.wordOK(n, at, decodeWords) {
			out = append(out, n.text)
		}
	}
	return out
}

// isLayout says whether a Go time layout holds any element: two times that differ in all
// of them must look different.
func isLayout(s string) bool {
	a := time.Date(2031, time.November, 29, 21, 47, 58, 987654321, time.UTC)
	b := time.Date(2042, time.August, 13, 9, 36, 17, 123456789, time.UTC)
	return a.Format(s) != b.Format(s)
}

// selector compiles one selector.
func (l *loader) selector(n *yamlNode, path string, p place) *selector {
	if n.shape != shapeScalar {
		if n.shape == 0 {
			l.noValue(n, path, "a selector")
		} else {
			l.at(codeWrongKind, n, path, "a selector is needed, found "+n.noun(), "")
		}
		return nil
	}
	s, err := parseSelector(n.text)
	if err != nil {
		l.selectorError(codeSelector, n, path, err)
		return nil
	}
	s.pos = n.pos()
	for i := range s.braces {
		s.braces[i].sel.pos = s.pos
		if !l.selectorNames(n, path, s.braces[i].sel, p) {
			return nil
		}
	}
	if !l.selectorNames(n, path, s, p) {
		return nil
	}
	l.m.selectors = append(l.m.selectors, usedSelector{sel: s, path: path})
	return s
}

func (l *loader) selectorError(code string, n *yamlNode, path string, err *selectorError) {
	msg := err.msg
	if n.text != "" && !strings.Contains(msg, n.text) {
		msg = fmt.Sprintf("%s: %s", strconv.Quote(shorten(n.text)), msg)
	}
	if n.text == "" {
		l.at(codeEmpty, n, path, msg, err.hint)
		return
	}
	l.within(code, n, err.at, path, msg, err.hint)
}

// selectorNames checks the scope of a selector, and the names that the mapping defines.
func (l *loader) selectorNames(n *yamlNode, path string, s *selector, p place) bool {
	if !slices.Contains(p.scopes, s.scope) {
		var allowed []string
		for _, w := range scopeWords {
			if slices.Contains(p.scopes, scopeNames[w]) {
				allowed = append(allowed, w+":")
			}
		}
		hint := "selectors here have no scope"
		if len(allowed) > 0 {
			hint = "scopes here are " + strings.Join(allowed, ", ")
		}
		l.at(codeScope, n, path, fmt.Sprintf("%s cannot be read here", strconv.Quote(shorten(s.src))), hint)
		return false
	}
	switch s.scope {
	case scopeSide:
		if !slices.Contains(l.sidecars, s.name) {
			hint := didYouMean(s.name, "sidecars", l.sidecars)
			if len(l.sidecars) == 0 {
				hint = "a source names its sidecars: sidecar: {" + shorten(s.name) + ": PATTERN}"
			}
			l.at(codeUndefined, n, path, fmt.Sprintf("no sidecar %q", shorten(s.name)), hint)
			return false
		}
	case scopeFile:
		words := append(slices.Clone(fileWords), l.captures...)
		if !slices.Contains(words, s.name) {
			l.at(codeUndefined, n, path, fmt.Sprintf("unknown word %q behind file:", shorten(s.name)), didYouMean(s.name, "words", words))
			return false
		}
	case scopeConv:
		if p.before > 0 && int(s.field) >= p.before-1 {
			l.at(codeScope, n, path, fmt.Sprintf("%s is not known yet", strconv.Quote(s.src)), "keys of conversation are found in this order: "+strings.Join(fieldNames[:], ", "))
			return false
		}
	}
	return true
}

// selectorList compiles a selector or a list of them.
func (l *loader) selectorList(n *yamlNode, path string, p place) []*selector {
	if n.shape != shapeList {
		if s := l.selector(n, path, p); s != nil {
			return []*selector{s}
		}
		return nil
	}
	if len(n.items) == 0 {
		l.at(codeEmpty, n, path, "empty list", "")
	}
	var out []*selector
	for i, item := range n.items {
		if s := l.selector(item, sub(path, i), p); s != nil {
			out = append(out, s)
		}
	}
	return out
}

func (l *loader) template(n *yamlNode, path string, p place) template {
	if n.text == "" {
		l.at(codeEmpty, n, path, "empty template", "")
		return nil
	}
	t, err := parseTemplate(n.text, false)
	if err != nil {
		l.selectorError(codeTemplate, n, path, err)
		return nil
	}
	for _, part := range t {
		if part.sel == nil {
			continue
		}
		part.sel.pos = n.pos()
		if !l.selectorNames(n, path, part.sel, p) {
			return nil
		}
		l.m.selectors = append(l.m.selectors, usedSelector{sel: part.sel, path: path})
	}
	return t
}

// cond compiles a condition.
func (l *loader) cond(n *yamlNode, path string, p place) *cond {
	if n.shape != shapeMap {
		hint := "for example {type: user}"
		if n.shape == shapeList {
			hint = "alternatives stand under any: when: {any: [{a: 1}, {b: 2}]}"
		}
		l.at(codeCondition, n, path, "a condition is a map, found "+n.noun(), hint)
		return nil
	}
	c := &cond{pos: n.pos()}
	if len(n.entries) == 0 {
		l.at(codeCondition, n, path, "empty condition", "leave it out: without a condition a rule always holds")
	}
	for _, e := range n.entries {
		at := dot(path, e.key.text)
		switch {
		case e.key.text == "any":
			if e.val.shape != shapeList || len(e.val.items) == 0 {
				l.at(codeCondition, e.val, at, "a list of conditions is needed, found "+e.val.noun(), `a key of this name is written "\any"`)
				continue
			}
			for i, item := range e.val.items {
				if a := l.cond(item, sub(at, i), p); a != nil {
					c.any = append(c.any, a)
				}
			}
		case e.key.text == "not":
			if e.val.shape != shapeMap {
				l.at(codeCondition, e.val, at, "a condition is needed, found "+e.val.noun(), `a key of this name is written "\not"`)
				continue
			}
			c.not = l.cond(e.val, at, p)
		case e.val.shape == 0 && n.flow && e.val.text == "":
			l.at(codeCondition, e.key, at, "no value to compare with", "quote text that holds a comma; what must be absent is {exists: false}")
		default:
			s := l.selector(e.key, at, p)
			pr := l.pred(e.val, at)
			if s != nil && pr != nil {
				c.tests = append(c.tests, condTest{sel: s, pred: pr})
			}
		}
	}
	return c
}

// pred compiles a predicate: a value, a list of values, or a map of predicates.
func (l *loader) pred(n *yamlNode, path string) *pred {
	switch n.shape {
	case 0:
		l.at(codeCondition, n, path, "nothing equals null", "write {exists: false}, or quote the text \"null\"")
		return nil
	case shapeScalar:
		return &pred{equal: []string{n.text}}
	case shapeList:
		p := &pred{}
		if len(n.items) == 0 {
			l.at(codeCondition, n, path, "empty list", "write {empty: true} for an empty value")
			return nil
		}
		for i, item := range n.items {
			switch item.shape {
			case shapeScalar:
				p.equal = append(p.equal, item.text)
			case 0:
				l.at(codeCondition, item, sub(path, i), "nothing equals null", "what may be absent stands under any: [{a: x}, {a: {exists: false}}]")
			default:
				l.at(codeCondition, item, sub(path, i), "a value is needed, found "+item.noun(), "alternatives of predicates stand under any: [{a: {starts: x}}, {a: {starts: y}}]")
			}
		}
		return p
	}
	if len(n.entries) == 0 {
		l.at(codeCondition, n, path, "empty predicate", "predicates are "+strings.Join(keyNames[inPred], ", "))
		return nil
	}
	for _, e := range n.entries {
		if keyIndex[inPred][e.key.text] != nil || n.flow && e.val.shape == 0 {
			continue
		}
		if near := nearest(e.key.text, keyNames[inPred]); near == "" || editDistance(near, e.key.text) > 2 {
			l.at(codeUnknownKey, e.key, dot(path, e.key.text), "unknown predicate", "predicates are "+strings.Join(keyNames[inPred], ", ")+"; a key inside of an object is written with a dot: a.b: x")
			return nil
		}
	}
	f := l.mapFields(n, inPred, path)
	p := &pred{exists: f.bool("exists"), empty: f.bool("empty")}
	if v := f.vals["keys"]; v != nil {
		p.keys, p.hasKeys = texts(v), true
	}
	if f.has("kind") {
		p.kinds = l.words(f, "kind")
	}
	p.starts = l.someTexts(f, "starts")
	p.contains = l.someTexts(f, "contains")
	if v, at := f.at("matches"); v != nil {
		for _, item := range scalars(v) {
			if re := l.regexp(item, at); re != nil {
				p.matches = append(p.matches, re)
			}
		}
		if v.shape == shapeList && len(v.items) == 0 {
			l.at(codeEmpty, v, at, "empty list", "")
		}
	}
	if v, at := f.at("not"); v != nil {
		p.not = l.pred(v, at)
	}
	return p
}

// someTexts gives the texts of starts or contains; an empty one would hold for everything.
func (l *loader) someTexts(f *fields, key string) []string {
	v, path := f.at(key)
	if v == nil {
		return nil
	}
	if v.shape == shapeList && len(v.items) == 0 {
		l.at(codeEmpty, v, path, "empty list", "")
	}
	for _, n := range scalars(v) {
		if n.text == "" {
			l.at(codeEmpty, n, path, "empty text", "it would hold for every text; write {exists: true}, or {empty: false}")
		}
	}
	return texts(v)
}

// implies says whether every element for which a holds is one for which b holds. It may
// answer false where that is so; it never answers true where it is not.
func (a *cond) implies(b *cond) bool {
	if b == nil {
		return true
	}
	if a == nil {
		return false
	}
	for _, bt := range b.tests {
		if !slices.ContainsFunc(a.tests, func(at condTest) bool {
			return at.sel.src == bt.sel.src && at.pred.implies(bt.pred)
		}) {
			return false
		}
	}
	if b.not != nil && (a.not == nil || !b.not.implies(a.not)) {
		return false
	}
	if b.any == nil || slices.ContainsFunc(b.any, a.implies) {
		return true
	}
	if a.any == nil {
		return false
	}
	for _, alt := range a.any {
		all := &cond{tests: slices.Concat(a.tests, alt.tests), any: alt.any, not: alt.not}
		if !slices.ContainsFunc(b.any, all.implies) {
			return false
		}
	}
	return true
}

// implies is the same for predicates on one value.
func (a *pred) implies(b *pred) bool {
	if a == nil || b == nil {
		return false
	}
	if b.equal != nil && (a.equal == nil || !subset(a.equal, b.equal)) {
		return false
	}
	present := a.equal != nil || a.hasKeys || a.starts != nil || a.contains != nil || a.matches != nil ||
		a.exists != nil && *a.exists || a.empty != nil && !*a.empty ||
		a.kinds != nil && !slices.Contains(a.kinds, "null")
	if b.exists != nil && !(a.exists != nil && *a.exists == *b.exists || *b.exists && present) {
		return false
	}
	if b.empty != nil && !(a.empty != nil && *a.empty == *b.empty) {
		full := a.equal != nil && !slices.ContainsFunc(a.equal, func(s string) bool { return strings.TrimSpace(s) == "" })
		if *b.empty || !full {
			return false
		}
	}
	if b.hasKeys && !(a.hasKeys && subset(a.keys, b.keys) && subset(b.keys, a.keys)) {
		return false
	}
	if b.kinds != nil && (a.kinds == nil || !subset(a.kinds, b.kinds)) {
		return false
	}
	if b.starts != nil && (a.starts == nil || !every(a.starts, func(s string) bool {
		return slices.ContainsFunc(b.starts, func(t string) bool { return strings.HasPrefix(s, t) })
	})) {
		return false
	}
	if b.contains != nil && (a.contains == nil || !every(a.contains, func(s string) bool {
		return slices.ContainsFunc(b.contains, func(t string) bool { return strings.Contains(s, t) })
	})) {
		return false
	}
	if b.matches != nil && (a.matches == nil || !every(a.matches, func(re *regexp.Regexp) bool {
		return slices.ContainsFunc(b.matches, func(other *regexp.Regexp) bool { return re.String() == other.String() })
	})) {
		return false
	}
	if b.not != nil && (a.not == nil || !b.not.implies(a.not)) {
		return false
	}
	return b.any == nil
}

func subset(a, b []string) bool {
	return every(a, func(s string) bool { return slices.Contains(b, s) })
}

func every[T any](s []T, f func(T) bool) bool {
	return !slices.ContainsFunc(s, func(x T) bool { return !f(x) })
}
