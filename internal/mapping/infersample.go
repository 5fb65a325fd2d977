package mapping

import (
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf16"

	"parlance/internal/chat"
	"parlance/internal/source"
)

// Limits of the samples in a draft. They are to show what the rules do, and to give away as
// little as can be of what was said.
const (
	sampleRunesMax   = 120 // of one value
	sampleFirst      = 6   // records from the beginning
	sampleRecordsMax = 14  // with those that show a further rule
	sampleListMax    = 12  // elements of a list inside of a record
	sampleBytesMax   = 60_000
)

// fillerText stands for what was said, with --filler.
const fillerText = "lorem ipsum dolor sit amet consectetur adipiscing elit sed do eiusmod tempor incididunt ut labore et dolore magna aliqua "

// A shortener writes values for a sample.
type shortener struct {
	a      *arena
	filler bool
	redact func(string) string
	keep   map[string]bool // keys whose values are words of the format, ids or names of tools
	known  map[*value]bool // records or parts, of which only those in chosen are written
	chosen map[*value]bool
}

func (d *drafting) shortener() *shortener {
	s := &shortener{a: &d.a, filler: d.opts.Filler, redact: d.opts.Redact, keep: map[string]bool{}}
	if d.best == nil {
		return s
	}
	last := func(sel string) string { return sel[strings.LastIndexByte(sel, '.')+1:] }
	var visit func([]*guess)
	visit = func(list []*guess) {
		for _, g := range list {
			for _, c := range g.when {
				if c.first {
					continue
				}
				s.keep[c.path[len(c.path)-1]] = true
			}
			for _, sel := range slices.Concat(g.call, g.name) {
				s.keep[last(sel)] = true
			}
			visit(g.first)
			visit(g.all)
		}
	}
	visit(d.best.rules)
	for _, list := range [][]metaLine{d.common, d.tree} {
		for _, m := range list {
			if m.key != "time" {
				s.keep[last(m.value)] = true
			}
		}
	}
	return s
}

// text is a text of a sample: cut, redacted or replaced.
func (s *shortener) text(key, text string) string {
	if s.redact != nil {
		// The key may be all that tells a secret.
		front := `"` + key + `":"`
		whole, ok := strings.CutPrefix(s.redact(front+text+`"`), front)
		if inner, closed := strings.CutSuffix(whole, `"`); ok && closed {
			text = inner
		} else {
			text = s.redact(text)
		}
	}
	if s.filler && !s.kept(key, text) {
		rs := []rune(text)
		n := min(len(rs), sampleRunesMax)
		return strings.TrimSpace(strings.Repeat(fillerText, n/len(fillerText)+1)[:n])
	}
	if rs := []rune(text); len(rs) > sampleRunesMax {
		text = string(rs[:sampleRunesMax])
	}
	return text
}

// kept says whether filler leaves a text as it is: words, ids and times, which the rules need.
func (s *shortener) kept(key, text string) bool {
	if len(text) > 64 || strings.ContainsAny(text, " /\\@\n") && !clock().MatchString(text) {
		return false
	}
	k := plainKey(key)
	w := words(key)
	return s.keep[key] || clock().MatchString(text) || inWords(k, speakerKeys) || inWords(k, typeKeys) || strings.HasSuffix(k, "type") ||
		len(w) > 0 && (w[len(w)-1] == "id" || w[len(w)-1] == "uuid") || inWords(k, "uuid parentuuid status state role")
}

var clock = lazily(`^\d{4}-\d\d-\d\d[T ]\d\d:\d\d`)

// write writes a value in short.
func (s *shortener) write(b *strings.Builder, key string, v *value, depth int) {
	switch v.kind() {
	case jsonString:
		s.quote(b, s.inner(key, v.str(), depth))
	case jsonArray:
		b.WriteByte('[')
		n := 0
		list := v.list(s.a)
		for i := range list {
			e := &list[i]
			if s.known[e] && !s.chosen[e] || !s.known[e] && n >= sampleListMax || depth > 14 {
				continue
			}
			if n > 0 {
				b.WriteByte(',')
			}
			n++
			s.write(b, key, e, depth+1)
		}
		b.WriteByte(']')
	case jsonObject:
		b.WriteByte('{')
		v.open(s.a)
		n := 0
		for i := range v.members {
			m := &v.members[i]
			if s.known[&m.val] && !s.chosen[&m.val] || !s.known[&m.val] && n >= 80 || depth > 14 {
				continue
			}
			if n > 0 {
				b.WriteByte(',')
			}
			n++
			name := unquote(m.key)
			s.quote(b, name)
			b.WriteByte(':')
			s.write(b, name, &m.val, depth+1)
		}
		b.WriteByte('}')
	case jsonAbsent:
		b.WriteString("null")
	default:
		b.WriteString(v.raw)
	}
}

// inner is a text that may hold JSON: its own texts are shortened, so that it stays whole.
func (s *shortener) inner(key, text string, depth int) string {
	if len(text) > 1 && (text[0] == '{' || text[0] == '[') && depth < 12 && (s.filler || len(text) > sampleRunesMax) {
		var a arena
		if v, ok := parseRecord(text, &a); ok {
			var b strings.Builder
			in := &shortener{a: &a, filler: s.filler, redact: s.redact, keep: s.keep}
			in.write(&b, key, v, depth+1)
			if b.Len() <= sampleRunesMax {
				return b.String()
			}
		}
	}
	return s.text(key, text)
}

// quote writes a JSON string that YAML takes as it stands.
func (s *shortener) quote(b *strings.Builder, text string) {
	b.WriteByte('"')
	for _, r := range text {
		switch {
		case r == '"' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case r == '\n':
			b.WriteString(`\n`)
		case r == ' ' || unicode.IsPrint(r):
			b.WriteRune(r)
		case r > 0xffff:
			hi, lo := utf16.EncodeRune(r)
			fmt.Fprintf(b, `\u%04x\u%04x`, hi, lo)
		default:
			fmt.Fprintf(b, `\u%04x`, r)
		}
	}
	b.WriteByte('"')
}

// choose picks the records of a sample: the first ones, and the first of each further rule.
func (d *drafting) choose(elems []*value) []*value {
	fired := map[*guess]bool{}
	var out []*value
	for i, e := range elems {
		n := len(fired)
		d.fires(d.best.rules, e, fired, 0)
		if i < sampleFirst || len(fired) > n {
			out = append(out, e)
		}
		if len(out) >= sampleRecordsMax || i > inferRecordsMax {
			break
		}
	}
	return out
}

// fires marks the rules that an element goes through.
func (d *drafting) fires(rules []*guess, e *value, into map[*guess]bool, depth int) {
	if depth > 8 {
		return
	}
	for _, g := range rules {
		if !d.holds(g, e) {
			continue
		}
		into[g] = true
		d.inside(g, e, into, depth)
		return
	}
}

func (d *drafting) inside(g *guess, e *value, into map[*guess]bool, depth int) {
	elems := []*value{e}
	if len(g.each) > 0 {
		elems = nil
		for _, sel := range g.each {
			p, err := parseSelector(sel)
			if err != nil {
				continue
			}
			v := e.walk(p.plain, &d.a)
			if v.empty() {
				continue
			}
			gr := &guesser{a: &d.a}
			elems, _ = gr.elements(&inferField{vals: []*value{v}})
			break
		}
	}
	for _, el := range elems[:min(len(elems), 50)] {
		if len(g.first) > 0 {
			d.fires(g.first, el, into, depth+1)
		}
		for _, sub := range g.all {
			if d.holds(sub, el) {
				into[sub] = true
				d.inside(sub, el, into, depth+1)
			}
		}
	}
}

func (d *drafting) holds(g *guess, e *value) bool {
	for _, c := range g.when {
		if c.first {
			if e != d.best.elems[0] {
				return false
			}
			continue
		}
		v := e.walk(c.path, &d.a)
		if c.values == nil {
			if v.absent() {
				return false
			}
			continue
		}
		if !slices.ContainsFunc(c.values, v.is) {
			return false
		}
	}
	return true
}

// sampleLines gives records as lines.
func sampleLines(d *drafting, s *shape) (string, string) {
	sh := d.shortener()
	var b strings.Builder
	for _, e := range d.choose(s.elems) {
		sh.write(&b, "", e, 0)
		b.WriteByte('\n')
	}
	return "records", b.String()
}

// sampleDocument gives the document with few of its records, and one of its conversations.
func sampleDocument(d *drafting, s *shape) (string, string) {
	sh := d.shortener()
	elems, root := s.elems, s.docs[0]
	sh.known, sh.chosen = map[*value]bool{}, map[*value]bool{}
	if s.convs != "" {
		root = d.rootDoc
		for _, doc := range s.docs {
			sh.known[doc] = true
		}
		p, err := parseSelector(s.records)
		if err != nil {
			return "", ""
		}
		var best *value
		for _, doc := range s.docs {
			list := d.recordsOf(doc.walk(p.plain, &d.a))
			if best == nil || len(elems) < 2 && len(list) > len(elems) {
				best, elems = doc, list
			}
		}
		sh.chosen[best] = true
	}
	if s.hasList {
		for _, e := range s.elems {
			sh.known[e] = true
		}
		for _, e := range d.choose(elems) {
			sh.chosen[e] = true
		}
	}
	var b strings.Builder
	sh.write(&b, "", root, 0)
	return "document", b.String()
}

func (d *drafting) recordsOf(v *value) []*value {
	var out []*value
	switch v.kind() {
	case jsonArray:
		list := v.list(&d.a)
		for i := range list {
			if list[i].kind() == jsonObject {
				out = append(out, &list[i])
			}
		}
	case jsonObject:
		v.open(&d.a)
		for i := range v.members {
			out = append(out, &v.members[i].val)
		}
	}
	return out
}

// sampleDatabase gives statements that make a database with one conversation.
func sampleDatabase(d *drafting, s *shape) (string, string) {
	sh := d.shortener()
	var b strings.Builder
	msg := s.db.tables[0]
	rows := msg.rows
	link := ""
	if len(s.db.link) > 0 {
		link = s.db.link[0]
	}
	session := ""
	if link != "" {
		best := 0
		count := map[string]int{}
		for _, r := range msg.rows {
			id := r.get(link, &d.a).str()
			if count[id]++; id != "" && count[id] > best && best < 4 {
				best, session = count[id], id
			}
		}
		rows = nil
		for _, r := range msg.rows {
			if r.get(link, &d.a).str() == session {
				rows = append(rows, r)
			}
		}
	}
	write := func(t *dbTable, rows []*value) {
		var cols []string
		for _, c := range t.columns {
			col := sqlName(c)
			if f := t.column(c); f != nil && f.n > 0 && f.kinds[jsonNumber] == f.n {
				col += " NUMERIC" // :id is bound as a text, which equals a number in such a column only
			}
			cols = append(cols, col)
		}
		fmt.Fprintf(&b, "CREATE TABLE %s(%s);\n", sqlName(t.name), strings.Join(cols, ", "))
		for _, r := range rows {
			var vals []string
			for _, c := range t.columns {
				vals = append(vals, sh.sql(c, r.get(c, &d.a)))
			}
			fmt.Fprintf(&b, "INSERT INTO %s VALUES(%s);\n", sqlName(t.name), strings.Join(vals, ", "))
		}
	}
	if len(s.db.tables) < 2 || len(s.db.link) < 2 {
		if len(s.docs) > 0 && link == "" { // a table of documents
			rows = rows[:min(len(rows), 3)]
		} else {
			rows = d.choose(rows)
		}
		write(msg, rows)
	} else {
		rows = rows[:min(len(rows), sampleRecordsMax)]
		write(msg, rows)
	}
	for i, t := range s.db.tables[1:] {
		var some []*value
		if i == 0 && len(s.db.link) > 1 { // the parts of the messages
			key := msg.keyColumn()
			for _, p := range t.rows {
				if slices.ContainsFunc(rows, func(r *value) bool { return r.get(key, &d.a).str() == p.get(s.db.link[1], &d.a).str() }) && len(some) < 30 {
					some = append(some, p)
				}
			}
		} else {
			for _, r := range t.rows {
				if r.get(s.db.id, &d.a).str() == session && len(some) < 1 {
					some = append(some, r)
				}
			}
		}
		write(t, some)
	}
	return "sql", b.String()
}

// sql writes a value as an SQL literal of one line.
func (s *shortener) sql(key string, v *value) string {
	var text string
	switch v.kind() {
	case jsonAbsent, jsonNull:
		return "NULL"
	case jsonNumber:
		return v.raw
	case jsonString:
		text = s.inner(key, v.str(), 0)
	default:
		var b strings.Builder
		s.write(&b, key, v, 0)
		text = b.String()
	}
	var parts []string
	for i, line := range strings.Split(text, "\n") {
		if i > 0 {
			parts = append(parts, "char(10)")
		}
		line = strings.Map(func(r rune) rune {
			if r != ' ' && !unicode.IsPrint(r) {
				return ' '
			}
			return r
		}, line)
		parts = append(parts, "'"+strings.ReplaceAll(line, "'", "''")+"'")
	}
	return strings.Join(parts, " || ")
}

// tests writes the tests of the draft: a sample, and what the draft makes of it.
func (d *drafting) tests(m *Mapping) string {
	sample := d.best.sample
	if sample == nil {
		sample = sampleLines
	}
	key, content := sample(d, d.best)
	return d.testOf(m, key, content)
}

// rawTests makes a test of the beginning of the file, for a mapping whose rules are another's.
func (d *drafting) rawTests(m *Mapping) string {
	src := m.Sources[0]
	if src.Container == "json" && len(src.join) == 0 {
		data, err := source.ReadAll(d.ctx, d.path)
		if err != nil || len(data) > inferBytesMax {
			return ""
		}
		doc, ok := parseRecord(string(data), &d.a)
		if !ok {
			return ""
		}
		var b strings.Builder
		d.shortener().write(&b, "", doc, 0)
		return d.testOf(m, "document", b.String())
	}
	if src.Container != "jsonl" || src.replay != nil {
		return ""
	}
	records, _, _, err := d.readLines()
	if err != nil || len(records) == 0 {
		return ""
	}
	sh := d.shortener()
	var b strings.Builder
	for _, e := range records[:min(len(records), sampleRecordsMax)] {
		sh.write(&b, "", e, 0)
		b.WriteByte('\n')
	}
	return d.testOf(m, "records", b.String())
}

func (d *drafting) testOf(m *Mapping, key, content string) string {
	if content == "" || len(content) > sampleBytesMax {
		return ""
	}
	t := &test{name: "sample", source: m.Sources[0].ID, path: "/test/test", keyPos: map[string]pos{}}
	switch key {
	case "records":
		t.records = &content
	case "document":
		t.document = &content
	case "sql":
		t.sql = &content
	case "text":
		t.text = &content
	}
	r := sampleRun(d, m, t)
	if r == nil || len(r.convs) == 0 {
		return ""
	}
	convs := r.convs
	c := convs[0]
	for _, other := range convs {
		if len(other.Messages) > len(c.Messages) {
			c = other
		}
	}
	var b strings.Builder
	fmt.Fprintf(&b, "tests:\n  - name: the beginning of the file, shortened\n")
	if len(convs) > 1 {
		fmt.Fprintf(&b, "    conversation: %s\n", yamlScalar(r.clean(c.ID)))
	}
	fmt.Fprintf(&b, "    %s: |\n", key)
	for _, line := range strings.Split(strings.TrimRight(content, "\n"), "\n") {
		fmt.Fprintf(&b, "      %s\n", line)
	}
	abandoned := slices.ContainsFunc(c.Messages, func(m chat.Message) bool { return m.Abandoned })
	word := "expect"
	if abandoned {
		word = "expect_all"
	}
	if len(c.Messages) == 0 {
		fmt.Fprintf(&b, "    %s: []\n", word)
	} else {
		fmt.Fprintf(&b, "    %s:\n", word)
	}
	for i := range c.Messages {
		msg := &c.Messages[i]
		fmt.Fprintf(&b, "      - {%s: %s", msg.Role, yamlScalar(r.headOf(msg)))
		if msg.Role == chat.ToolCall {
			fmt.Fprintf(&b, ", input: %s", yamlScalar(r.clean(msg.Input)))
		}
		if msg.Role == chat.ToolResult && msg.Tool != "" {
			fmt.Fprintf(&b, ", of: %s", yamlScalar(msg.Tool))
		}
		if msg.Failed {
			b.WriteString(", failed: true")
		}
		if abandoned && msg.Abandoned {
			b.WriteString(", abandoned: true")
		}
		if at := timeText(msg.Time); at != "" {
			fmt.Fprintf(&b, ", time: %q", at)
		}
		b.WriteString("}\n")
	}
	var keys []string
	if c.Title != "" {
		keys = append(keys, "title: "+yamlScalar(r.clean(c.Title)))
	}
	if c.Cwd != "" {
		keys = append(keys, "cwd: "+yamlScalar(r.clean(c.Cwd)))
	}
	if len(keys) > 0 {
		fmt.Fprintf(&b, "    expect_conversation: {%s}\n", strings.Join(keys, ", "))
	}
	if len(c.Read.NoRule) > 0 {
		b.WriteString("    expect_no_rule:\n")
		for _, k := range sortedNames(c.Read.NoRule) {
			fmt.Fprintf(&b, "      %s: %s\n", yamlScalar(k), strconv.Itoa(c.Read.NoRule[k]))
		}
	}
	return b.String()
}

func sortedNames(m map[string]int) []string {
	out := make([]string, 0, len(m))
	for k := range m {
		out = append(out, k)
	}
	slices.Sort(out)
	return out
}

// sampleRun runs a sample through the draft, as a test of it would.
func sampleRun(d *drafting, m *Mapping, t *test) *testRun {
	top, err := os.MkdirTemp("", "parlance-infer-")
	if err != nil {
		return nil
	}
	defer os.RemoveAll(top)
	m.prepare()
	r := &testRun{m: m, t: t, src: m.Sources[0], top: top}
	if r.lay(d.ctx) != nil || r.read(d.ctx) != nil || len(r.problems) > 0 {
		return nil
	}
	return r
}
