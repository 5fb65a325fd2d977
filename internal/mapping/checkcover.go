package mapping

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/tidwall/gjson"

	"parlance/internal/chat"
	"parlance/internal/source"
)

// A pool is every JSON value in the samples of a mapping's tests, at any depth: whatever a
// selector may ever have looked at. A selector that finds nothing in all of them is a typo,
// or a rule without a test. Where it was looked for does not matter, so a selector that was
// not tried because a better one hit is no false alarm.
type pool struct {
	values []string // objects and arrays, as JSON
	side   map[string][]string
	bytes  int
}

// poolMaxBytes and poolMaxDepth bound the work on samples.
const (
	poolMaxBytes = 8 << 20
	poolMaxDepth = 32
)

// add puts a value and all that it holds into the pool, also JSON inside of strings.
func (p *pool) add(raw string, depth int) {
	raw = strings.TrimSpace(raw)
	if raw == "" || depth > poolMaxDepth || p.bytes > poolMaxBytes {
		return
	}
	if raw[0] == '"' {
		if inner := strings.TrimSpace(gjson.Parse(raw).Str); inner != "" && (inner[0] == '{' || inner[0] == '[') && gjson.Valid(inner) {
			p.add(inner, depth+1)
		}
		return
	}
	if raw[0] != '{' && raw[0] != '[' {
		return
	}
	p.bytes += len(raw)
	p.values = append(p.values, raw)
	gjson.Parse(raw).ForEach(func(_, v gjson.Result) bool {
		p.add(v.Raw, depth+1)
		return true
	})
}

// lines adds each line of a text that is JSON.
func (p *pool) lines(text string) {
	for line := range strings.SplitSeq(text, "\n") {
		if gjson.Valid(line) {
			p.add(line, 0)
		}
	}
}

// gather adds the sample of a test.
func (r *testRun) gather(ctx context.Context, p *pool) {
	t := r.t
	for name, content := range t.side {
		if p.side == nil {
			p.side = map[string][]string{}
		}
		p.side[name] = append(p.side[name], content)
	}
	switch {
	case t.records != nil:
		p.lines(*t.records)
	case t.document != nil:
		p.add(*t.document, 0)
	case t.text != nil && r.src.Container == "jsonl":
		p.lines(*t.text)
		r.gatherReplayed(p)
	case t.text != nil:
		r.gatherGroups(p)
	case t.sql != nil:
		r.gatherRows(ctx, p)
	}
	for _, name := range slices.Sorted(maps.Keys(t.files)) {
		content := t.files[name]
		if !gjson.Valid(content) {
			p.lines(content)
			continue
		}
		p.add(content, 0)
		for _, as := range joinNames(r.src.join) {
			p.add("{"+quotedKey(as)+content+"}", 0)
		}
	}
	if r.src.Decoder != "" && t.records == nil {
		rd := &reading{m: r.m, src: r.src, file: r.file, opts: &ReadOptions{}}
		rd.emit = func(*chat.Conversation) error { return nil }
		rd.decoded = func(raw string) { p.add(raw, 0) }
		rd.runDecoder(ctx) // what fails is reported by the test
	}
}

func joinNames(joins []*join) []string {
	var out []string
	for _, j := range joins {
		out = append(append(out, j.as), joinNames(j.join)...)
	}
	return out
}

// gatherReplayed adds the document that a log of edits makes.
func (r *testRun) gatherReplayed(p *pool) {
	if r.src.replay == nil {
		return
	}
	rd := &reading{m: r.m, src: r.src, file: r.file, opts: &ReadOptions{}}
	x := rd.scopes(nil, 0)
	var root *node
	room := nodesMax
	for line := range strings.SplitSeq(*r.t.text, "\n") {
		rd.a.reset()
		if v, ok := parseObject(line, &rd.a); ok {
			edit(&root, r.src.replay, x, v, &room)
		}
	}
	if root != nil {
		var b strings.Builder
		root.write(&b)
		p.add(b.String(), 0)
	}
}

// gatherGroups adds a record for each kind of line: its keys are known without the text.
func (r *testRun) gatherGroups(p *pool) {
	object := func(names []string) {
		var b strings.Builder
		b.WriteString(`{"kind":"x","text":"x"`)
		for _, n := range names {
			if n != "" && n != "text" {
				b.WriteString("," + quotedKey(n) + `"x"`)
			}
		}
		p.add(b.String()+"}", 0)
	}
	for _, k := range r.src.lines {
		object(k.match.SubexpNames())
	}
	if r.src.start != nil {
		object(r.src.start.SubexpNames())
	}
}

// gatherRows adds the rows of a sample database.
func (r *testRun) gatherRows(ctx context.Context, p *pool) {
	db, err := source.OpenDB(r.file.Path)
	if err != nil {
		return // reported by the test
	}
	defer db.Close()
	rd := &reading{m: r.m, src: r.src, file: r.file, opts: &ReadOptions{}}
	add := func(columns []string, values []any) error {
		if rd.src.log != "" {
			p.lines(rd.logOf(columns, values))
		}
		p.add(rd.rowJSON(columns, values), 0)
		return nil
	}
	if r.src.list == "" {
		db.Query(ctx, r.src.sql, nil, add)
		return
	}
	db.Query(ctx, r.src.list, nil, add)
	for _, c := range r.convs {
		db.Query(ctx, r.src.sql, map[string]any{"id": c.Row}, add)
	}
}

// neverFound warns of selectors that found nothing in any sample.
func (m *Mapping) neverFound(p *pool) []Problem {
	// Tables in databases are in no sample; the keys of a source are proved by what it reads.
	passed := func(path string) bool {
		if rest, ok := strings.CutPrefix(path, "lookups."); ok {
			name, _, _ := strings.Cut(rest, ".")
			l := m.lookups[name]
			return l == nil || l.container == "sqlite"
		}
		return strings.HasPrefix(path, "sources[") && !strings.Contains(path, ".when")
	}
	var out []Problem
	told := map[string]bool{}
	for _, u := range m.selectors {
		s := u.sel
		if told[s.src] || passed(u.path) || s.index || s.key || s.whole && s.scope != scopeSide || m.inherited(s.pos.file) {
			continue
		}
		if p.satisfies(s) {
			continue
		}
		told[s.src] = true
		hint := p.hint(s)
		if other := strings.HasPrefix(u.path, "lookups.") || s.scope == scopeSide; other && !strings.HasPrefix(hint, "did you mean") {
			hint = "a test gives the file it stands in under files: {PATH: text}"
		}
		w := m.problem(codeNeverFound, s.pos, u.path,
			fmt.Sprintf("%s was never found in any test record", strconv.Quote(shorten(s.src))), hint)
		w.Warning = true
		out = append(out, w)
	}
	return out
}

// inherited says that something stands in the mapping that this one extends: there it is
// used and proved.
func (m *Mapping) inherited(f *textFile) bool { return f != nil && m.text != nil && f != m.text }

// satisfies says whether a selector finds something in any value.
func (p *pool) satisfies(s *selector) bool {
	switch s.scope {
	case scopeConv, scopeFile, scopeEntry:
		return true
	case scopeSide:
		for _, raw := range p.side[s.name] {
			if s.whole || gjson.Valid(raw) && found(s, raw) {
				return true
			}
		}
		return false
	}
	return slices.ContainsFunc(p.values, func(raw string) bool { return found(s, raw) })
}

// found runs a selector on one value. A {key} in it counts as any key, or as the place of
// any member of a list.
func found(s *selector, raw string) bool {
	if s.plain != nil {
		var a arena
		v, ok := parseRecord(raw, &a)
		return ok && !v.walk(s.plain, &a).absent()
	}
	return foundAs(s, raw, "*") || len(s.braces) > 0 && foundAs(s, raw, "#")
}

// foundAs is found with any in place of each {key}.
func foundAs(s *selector, raw, any string) bool {
	path, at := "", 0
	for _, b := range s.braces {
		before, after := s.gjson[at:b.from], any
		at = b.to
		if q, ok := strings.CutSuffix(before, `=="`); ok && b.query {
			before, after, at = q+`%"`, `*")#`, at+len(`")`) // any of them
			at += len(s.gjson[at:]) - len(strings.TrimPrefix(s.gjson[at:], "#"))
		}
		path += before + after
	}
	r := gjson.Get(raw, path+s.gjson[at:])
	return r.Exists() && r.Type != gjson.Null && r.Raw != "[]"
}

// hintKeys is how many keys a hint lists.
const hintKeys = 12

// hint says which keys there are where a plain selector ends in nothing.
func (p *pool) hint(s *selector) string {
	if s.plain == nil || s.scope == scopeSide {
		return ""
	}
	for n := len(s.plain) - 1; n >= 0; n-- {
		var keys []string
		for _, raw := range p.values {
			var a arena
			v, ok := parseRecord(raw, &a)
			if !ok {
				continue
			}
			v = v.walk(s.plain[:n], &a)
			if v.kind() != jsonObject {
				continue
			}
			v.open(&a)
			for _, m := range v.members {
				if k := unquote(m.key); !slices.Contains(keys, k) {
					keys = append(keys, k)
				}
			}
		}
		if len(keys) == 0 {
			continue
		}
		if slices.Contains(keys, s.plain[n]) {
			return fmt.Sprintf("%s is no object, or lacks the rest, in all of them", strings.Join(s.plain[:n+1], "."))
		}
		if near := nearest(s.plain[n], keys); near != "" && editDistance(near, s.plain[n]) <= 3 {
			return fmt.Sprintf("did you mean %q?", near)
		}
		where := "records have the keys "
		if n > 0 {
			where = strings.Join(s.plain[:n], ".") + " has the keys "
		}
		if len(keys) > hintKeys {
			keys = append(keys[:hintKeys:hintKeys], "…")
		}
		return where + strings.Join(keys, ", ")
	}
	return ""
}
