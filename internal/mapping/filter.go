package mapping

import (
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"

	"parlance/internal/chat"
)

// A RawFilter says what a search may conclude from the raw bytes of a mapping's files.
type RawFilter int

// The three strengths of a RawFilter.
const (
	// RawNone: texts are made in ways that raw bytes do not show (decode, unescape,
	// template, files beside the one scanned); such a file must be parsed.
	RawNone RawFilter = iota
	// RawWords: every word (run of ASCII letters, digits, "_", "-", ".") of a text stands
	// in the bytes, but two neighbours may come from different places.
	RawWords
	// RawRuns: every run of such characters and single blanks stands in the bytes.
	RawRuns
)

// RawFilter is what holds for texts of these roles in a file, of all roles if none is named.
// made are texts that the mapping writes itself: what a query has in common with one of them
// need not stand in the bytes. The bytes are those of all Parts. Of f only Sources counts.
func (m *Mapping) RawFilter(f File, roles ...chat.Role) (level RawFilter, made []string) {
	m.prepare()
	if len(roles) == 0 {
		roles = chat.Roles
	}
	want := map[chat.Role]bool{}
	for _, r := range roles {
		want[r] = true
	}
	for _, i := range f.Sources {
		s := m.Sources[i]
		if s.Decoder != "" && !decoders[s.Decoder].verbatim || len(s.packed) > 0 || s.replay != nil && len(s.sidecars) > 0 || sqlMakes.MatchString(s.sql) {
			return RawNone, nil
		}
	}
	level, made = RawRuns, []string{"[image]"} // which flattening makes
	var visit func(list []*rule, depth int)
	visit = func(list []*rule, depth int) {
		for _, ru := range list {
			if depth < rulesDepthMax {
				visit(ru.first, depth+1)
				visit(ru.all, depth+1)
				visit(ru.useRules, depth+1)
			}
			if ru.asExpr == nil && ru.as == "" {
				continue
			}
			if ru.asExpr != nil || ru.makes(want, m) {
				if ru.more {
					level = RawNone // a word may be cut between two records
				}
				level = min(level, ru.text.raw(&made), ru.input.raw(&made))
				if ru.result != nil {
					level = min(level, ru.result.text.raw(&made))
				}
				if ru.glue != nil && !ru.glue.off || ru.glue == nil && m.common.glue != nil && !m.common.glue.off {
					level = min(level, joinRaw(gluesWith(ru, m)))
				}
			}
		}
	}
	for _, i := range f.Sources {
		if list := m.Sources[i].messages; list != "" {
			visit(m.define[list], 0)
		} else {
			visit(m.rules, 0)
		}
	}
	for role, c := range m.clean {
		if !want[role] && !c.leadsTo(want) {
			continue
		}
		level = min(level, c.raw())
	}
	return level, made
}

// sqlMakes finds SQL that writes texts anew.
var sqlMakes = regexp.MustCompile(`(?i)\b(printf|format|replace|group_concat|string_agg|char|quote|hex|unhex)\s*\(`)

func gluesWith(ru *rule, m *Mapping) string {
	if ru.glue != nil {
		return ru.glue.text
	}
	return m.common.glue.text
}

// makes says whether a rule's messages may be of one of these roles, by itself, by its
// result, or by clean-up.
func (ru *rule) makes(want map[chat.Role]bool, m *Mapping) bool {
	if want[chat.Role(ru.as)] || ru.result != nil && want[chat.ToolResult] {
		return true
	}
	return m.clean[chat.Role(ru.as)].leadsTo(want)
}

// leadsTo says whether clean-up turns texts into one of these roles.
func (c *cleaner) leadsTo(want map[chat.Role]bool) bool {
	if c == nil {
		return false
	}
	for _, what := range c.tags {
		if want[chat.Role(what)] || what == "command" && want[chat.User] || what == "call" && want[chat.ToolCall] {
			return true
		}
	}
	for _, r := range c.rules {
		if want[r.as] {
			return true
		}
	}
	return want[chat.Role(c.star)]
}

func (c *cleaner) raw() RawFilter {
	level := RawRuns
	for _, what := range c.tags {
		if what == "command" || what == "args" {
			level = min(level, RawWords) // "/name args" is put together from two tags
		}
	}
	for _, r := range c.rules {
		if r.unescape {
			return RawNone
		}
		for _, re := range r.replace {
			level = min(level, re.raw())
		}
	}
	return level
}

// raw: cutting off at an end of the text or of a line joins nothing; anything else may bring
// characters together.
func (re replacement) raw() RawFilter {
	parsed, err := syntax.Parse(re.re.String(), syntax.Perl)
	if err != nil || re.with != "" {
		return RawNone
	}
	parsed = parsed.Simplify()
	if parsed.Op == syntax.OpConcat {
		first, last := parsed.Sub[0].Op, parsed.Sub[len(parsed.Sub)-1].Op
		if first == syntax.OpBeginText || first == syntax.OpBeginLine || last == syntax.OpEndText || last == syntax.OpEndLine {
			return RawRuns
		}
	}
	return RawNone
}

// raw is what holds for the text of an expression, texts of its own aside, which it adds to made.
func (e *expr) raw(made *[]string) RawFilter {
	if e == nil {
		return RawRuns
	}
	level := RawRuns
	for _, t := range e.terms {
		level = min(level, t.raw(made))
	}
	return level
}

func (t *term) raw(made *[]string) RawFilter {
	if t.orElse != nil {
		*made = append(*made, *t.orElse)
	}
	if t.table != nil { // whatever went in, one of these comes out
		for _, text := range t.table {
			*made = append(*made, text)
		}
		return RawRuns
	}
	switch t.kind {
	case termValue:
		*made = append(*made, t.value)
		return RawRuns
	case termTemplate:
		if t.decode != nil || t.hash != "" {
			return RawNone
		}
		return t.template.raw(made)
	case termLookup, termWhen:
		return RawNone
	}
	// parse: json changes nothing: a JSON string inside a JSON string escapes more
	// characters, but none of a run.
	if t.decode != nil || t.hash != "" {
		return RawNone
	}
	for _, s := range t.sels {
		if !s.inBytes() {
			return RawNone
		}
	}
	level := RawRuns
	if t.join != nil {
		level = joinRaw(*t.join)
	}
	for _, e := range t.concat {
		level = min(level, e.raw(made))
	}
	if t.item != nil {
		level = min(level, t.item.raw(made))
	}
	return level
}

// inBytes says whether what a selector finds stands in the bytes of the file or its parts.
func (s *selector) inBytes() bool {
	switch s.scope {
	case scopeNone, scopeRecord, scopeUp, scopeNext, scopeDoc:
		return true
	}
	return false
}

// raw: the words of a template are its own, those of its values stand in the bytes if nothing
// of a word touches them.
func (t template) raw(made *[]string) RawFilter {
	level := RawRuns
	for i, p := range t {
		switch {
		case p.sel == nil && separates(p.text):
		case p.sel == nil:
			first, last := p.text[:1], p.text[len(p.text)-1:]
			if i > 0 && !separates(first) && first != " " || i+1 < len(t) && !separates(last) && last != " " {
				return RawNone
			}
			*made = append(*made, p.text)
			level = RawWords
		case !p.sel.inBytes() || i > 0 && t[i-1].sel != nil:
			return RawNone
		}
	}
	return level
}

// joinRaw: pieces that are put together with a blank make runs that stand nowhere; with
// nothing, or with a character of words, even words.
func joinRaw(join string) RawFilter {
	if join == "" {
		return RawNone
	}
	for i := 0; i < len(join); i++ {
		c := join[i]
		switch {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', c == '_', c == '-', c == '.':
			return RawNone
		case c == ' ':
			return RawWords
		}
	}
	return RawRuns
}

// IDInBytes says whether every run of ASCII letters, digits, "_", "-" and "." in the id of
// every conversation stands in the bytes of its Parts, in the path, or is the hint. Of an id that is put together
// ("<id>/<key>" of a subagent, "<stem>#3" of a part without one) the pieces do; a number behind
// "#" was counted and stands nowhere. If not (templates, maps, sidecars), ids are only known by
// reading. Of f only Sources counts.
func (m *Mapping) IDInBytes(f File) bool {
	for _, i := range f.Sources {
		if s := m.Sources[i]; s.start != nil || s.Decoder != "" && !decoders[s.Decoder].verbatim {
			return false
		}
	}
	keys := []*expr{m.conv[fieldID]}
	if slices.ContainsFunc(f.Sources, func(i int) bool { return m.Sources[i].Decoder != "" }) && m.conv[fieldID] != nil {
		for _, t := range m.conv[fieldID].terms {
			for _, s := range t.sels {
				if s.scope == scopeDoc && !slices.Equal(s.plain, []string{"id"}) {
					return false
				}
			}
		}
	}
	if m.tree != nil {
		keys = append(keys, m.tree.id) // names a subagent inside a file
	}
	var visit func(list []*rule, depth int)
	visit = func(list []*rule, depth int) {
		for _, ru := range list {
			if depth < rulesDepthMax {
				visit(ru.first, depth+1)
				visit(ru.all, depth+1)
			}
			keys = append(keys, ru.key)
		}
	}
	visit(m.rules, 0)
	for _, list := range m.define {
		visit(list, 0)
	}
	for _, e := range keys {
		if e != nil && !e.inBytes() {
			return false
		}
	}
	return true
}

func (e *expr) inBytes() bool {
	for _, t := range e.terms {
		if t.kind != termSelect && t.kind != termTemplate || t.decode != nil || t.hash != "" || t.parse || t.table != nil || t.orElse != nil {
			return false
		}
		for i, p := range t.template {
			if i > 0 && p.sel != nil && t.template[i-1].sel != nil {
				return false
			}
			// What is put together of pieces is looked for by them: the text between must be none of one.
			if p.sel == nil && !separates(p.text) || p.sel != nil && (p.sel.scope == scopeSide || p.sel.scope == scopeConv) {
				return false
			}
		}
		for _, s := range t.sels {
			if s.scope == scopeSide || s.scope == scopeConv {
				return false
			}
		}
	}
	return true
}

// separates says whether a text holds no character of a word and no blank.
func separates(text string) bool {
	return text != "" && !strings.ContainsFunc(text, func(c rune) bool {
		return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.ContainsRune("_-. ", c)
	})
}

// HintID is the id that the path of f suggests: the value of conversation.id as far as it
// is made of file: alone, else the stem. Files of one provider with equal hints may hold
// the same conversation. exact says that nothing in the file can change it; subagents
// inside the file have ids that begin with it.
func (m *Mapping) HintID(f File) (id string, exact bool) {
	m.prepare()
	if len(f.Sources) == 0 {
		return "", false
	}
	if len(f.groups) > 0 {
		return f.groups[0].id, false
	}
	src := m.Sources[f.Sources[0]]
	rd := &reading{m: m, src: src, file: f, opts: &ReadOptions{}}
	file := m.Captures(src, f.Path)
	exact = src.Container == "jsonl" && src.conversations == nil
	if e := m.conv[fieldID]; e != nil {
		x := &scopes{a: &rd.a, docArena: &rd.docs, file: file}
		for _, t := range e.terms {
			if !t.fileOnly() {
				exact = false
				continue
			}
			if g := x.term(t, &frame{}); !g.empty() {
				return x.text(g), exact
			}
		}
	}
	return file["stem"], exact
}

// fileOnly says whether a term reads nothing but the file's path.
func (t *term) fileOnly() bool {
	if t.kind != termSelect && t.kind != termTemplate || t.when != nil {
		return false
	}
	for _, p := range t.template {
		if p.sel != nil && p.sel.scope != scopeFile {
			return false
		}
	}
	for _, s := range t.sels {
		if s.scope != scopeFile {
			return false
		}
	}
	return true
}
