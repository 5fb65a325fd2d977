package mapping

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	// quoteValueRunes is how much of a transcript's value an explanation shows.
	quoteValueRunes = 120
	// sketchRunes is how much of a string a record's sketch shows.
	sketchRunes = 24
	// whenRunes keeps a condition on one line.
	whenRunes = 90
)

// quoteValue makes a text of a transcript fit to be shown on one line: white space is one
// blank, and what lies beyond quoteValueRunes is cut.
func quoteValue(s string) string {
	if most := quoteValueRunes * 8; len(s) > most { // no more is looked at than may be shown
		s = head(s, most) + " …"
	}
	s = strings.Join(strings.Fields(strings.ToValidUTF8(s, "\uFFFD")), " ")
	return strings.Clone(cutRunes(s, quoteValueRunes)) // the record's bytes are gone soon
}

// head is the beginning of s in at most n bytes.
func head(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}

// cutRunes keeps the first n characters, the last of which says that there were more.
func cutRunes(s string, n int) string {
	if len(s) <= n || utf8.RuneCountInString(s) <= n {
		return s
	}
	return string([]rune(s)[:n-1]) + "…"
}

// sketch shows what a record is made of: its keys, short values whole, long ones begun,
// lists and objects closed. redact may be nil.
func sketch(raw string, redact func(string) string) string {
	v := &value{raw: raw}
	var a arena
	if v.kind() != jsonObject || v.open(&a) < 0 {
		if redact != nil {
			raw = redact(head(raw, redactedBytes))
		}
		return quoteValue(raw)
	}
	var b strings.Builder
	b.WriteByte('{')
	for i := range v.members {
		if i > 0 {
			b.WriteByte(',')
		}
		if b.Len() > 8*quoteValueRunes {
			break
		}
		m := &v.members[i]
		text := sketchValue(&m.val)
		if redact != nil && m.val.kind() == jsonString {
			name := `"` + m.key + `":` // which may be all that tells a secret
			whole := name + head(m.val.raw, redactedBytes)
			if shown := redact(whole); shown != whole {
				text = cutRunes(strings.TrimPrefix(shown, name), 2*sketchRunes)
			}
		}
		b.WriteString(`"` + cutRunes(m.key, sketchRunes) + `":` + text)
	}
	b.WriteByte('}')
	return quoteValue(b.String())
}

func sketchValue(v *value) string {
	switch v.kind() {
	case jsonString:
		inner := v.raw[1 : len(v.raw)-1]
		if len(inner) > 8*sketchRunes {
			inner = strings.ToValidUTF8(inner[:8*sketchRunes], "")
		}
		return `"` + cutRunes(inner, sketchRunes) + `"`
	case jsonArray:
		if v.empty() {
			return "[]"
		}
		return "[…]"
	case jsonObject:
		if v.empty() {
			return "{}"
		}
		return "{…}"
	}
	return cutRunes(v.raw, sketchRunes)
}

// flow writes a condition as it would stand in a mapping, on one line of n characters.
func (c *cond) flow(n int) string {
	if c == nil {
		return ""
	}
	return cutRunes(c.yaml(), n)
}

func (c *cond) yaml() string {
	var parts []string
	for _, t := range c.tests {
		parts = append(parts, yamlText(t.sel.src)+": "+t.pred.yaml())
	}
	if c.any != nil {
		var alts []string
		for _, a := range c.any {
			alts = append(alts, a.yaml())
		}
		parts = append(parts, "any: ["+strings.Join(alts, ", ")+"]")
	}
	if c.not != nil {
		parts = append(parts, "not: "+c.not.yaml())
	}
	return "{" + strings.Join(parts, ", ") + "}"
}

func (p *pred) yaml() string {
	texts := func(list []string) string {
		if len(list) == 1 {
			return yamlText(list[0])
		}
		quoted := make([]string, len(list))
		for i, s := range list {
			quoted[i] = yamlText(s)
		}
		return "[" + strings.Join(quoted, ", ") + "]"
	}
	var parts []string
	if p.equal != nil {
		if p.exists == nil && p.empty == nil && !p.hasKeys && p.kinds == nil && p.starts == nil && p.contains == nil && p.matches == nil && p.not == nil && p.any == nil {
			return texts(p.equal)
		}
		parts = append(parts, texts(p.equal))
	}
	if p.exists != nil {
		parts = append(parts, fmt.Sprintf("exists: %t", *p.exists))
	}
	if p.empty != nil {
		parts = append(parts, fmt.Sprintf("empty: %t", *p.empty))
	}
	if p.hasKeys {
		parts = append(parts, "keys: ["+strings.Join(p.keys, ", ")+"]")
	}
	if p.kinds != nil {
		parts = append(parts, "kind: "+texts(p.kinds))
	}
	if p.starts != nil {
		parts = append(parts, "starts: "+texts(p.starts))
	}
	if p.contains != nil {
		parts = append(parts, "contains: "+texts(p.contains))
	}
	if p.matches != nil {
		var list []string
		for _, re := range p.matches {
			list = append(list, re.String())
		}
		parts = append(parts, "matches: "+texts(list))
	}
	if p.any != nil {
		var alts []string
		for _, a := range p.any {
			alts = append(alts, a.yaml())
		}
		parts = append(parts, "any: ["+strings.Join(alts, ", ")+"]")
	}
	if p.not != nil {
		parts = append(parts, "not: "+p.not.yaml())
	}
	return "{" + strings.Join(parts, ", ") + "}"
}

// plainYAML is what a YAML scalar in a flow map may be without quotes, and still be a text.
var plainYAML = lazily(`^[\p{L}_$/.][\p{L}\p{N}_$/.+-]*$`)

// yamlText writes a text as a scalar of a flow map.
func yamlText(s string) string {
	switch s {
	case "null", "Null", "NULL", "~", "yes", "no", "on", "off", "y", "n":
		return strconv.Quote(s)
	}
	if plainYAML().MatchString(s) {
		return s
	}
	if !strings.Contains(s, "'") && !strings.ContainsFunc(s, func(r rune) bool { return !unicode.IsPrint(r) }) {
		return "'" + s + "'"
	}
	return strconv.Quote(s)
}

// whyNot finds the part of a condition that does not hold: what it wants, and what is there.
// x must be without a trace.
func (e *explainer) whyNot(x *scopes, c *cond, f *frame) (want, found string) {
	if c == nil {
		return "", ""
	}
	for i := range c.tests {
		t := &c.tests[i]
		if x.test(t, f) {
			continue
		}
		found := "absent"
		if g := x.find(t.sel, f); g.kind == gotJSON {
			found = e.quote(g.v.raw)
		} else if g.kind == gotText {
			found = e.quote(strconv.Quote(g.text))
		} else if x.isNull(t.sel, f) {
			found = "null"
		}
		return cutRunes(yamlText(t.sel.src)+": "+t.pred.yaml(), whenRunes), found
	}
	if c.any != nil && !slices.ContainsFunc(c.any, func(a *cond) bool { return x.holds(a, f) }) {
		if len(c.any) == 1 {
			return e.whyNot(x, c.any[0], f)
		}
		var wants []string
		last := ""
		for _, a := range c.any {
			var w string
			w, last = e.whyNot(x, a, f)
			if !slices.Contains(wants, w) {
				wants = append(wants, w)
			}
		}
		if len(wants) > 1 {
			last = "none of them"
		}
		return cutRunes("any: "+strings.Join(wants, " | "), whenRunes), last
	}
	return cutRunes("not: "+c.not.yaml(), whenRunes), "it is so"
}

// whyHeld writes a condition that holds, of alternatives only the first that does.
func (x *scopes) whyHeld(c *cond, f *frame) string {
	own := cond{not: c.not}
	add := func(tests []condTest) {
		for _, t := range tests {
			if len(t.pred.equal) > 1 {
				one := *t.pred
				one.equal = []string{x.text(x.find(t.sel, f))}
				t.pred = &one
			}
			own.tests = append(own.tests, t)
		}
	}
	add(c.tests)
	for _, a := range c.any {
		if x.holds(a, f) {
			add(a.tests)
			if a.any != nil || a.not != nil {
				own.any = []*cond{a}
			}
			break
		}
	}
	return own.flow(whenRunes)
}

func (x *scopes) isNull(s *selector, f *frame) bool {
	base := f.elem
	if s.scope == scopeRecord {
		base = x.rec
	} else if s.scope != scopeNone {
		return false
	}
	return base.kind() != jsonAbsent && s.plain != nil && base.walk(s.plain, x.a).kind() == jsonNull
}

// src says in a few words what a term reads.
func (t *term) src() string {
	s := ""
	switch t.kind {
	case termSelect:
		var sels []string
		for _, sel := range t.sels {
			sels = append(sels, sel.src)
		}
		s = strings.Join(sels, " | ")
	case termValue:
		s = "value " + strconv.Quote(t.value)
	case termTemplate:
		s = "template "
		for _, p := range t.template {
			if s += p.text; p.sel != nil {
				s += "{" + p.sel.src + "}"
			}
		}
	case termConcat:
		s = "concat"
		for _, e := range t.concat {
			for _, sub := range e.terms {
				s += " " + sub.src()
			}
		}
	case termLookup:
		s = "lookup " + t.lookup
	case termWhen:
		s = "when " + t.when.flow(whenRunes)
	}
	if t.when != nil && t.kind != termWhen {
		s += " when " + t.when.flow(whenRunes)
	}
	return cutRunes(s, quoteValueRunes)
}
