package mapping

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"sort"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/bmatcuk/doublestar/v4"

	"parlance/internal/chat"
	"parlance/internal/source"
)

// joined gives the files of the innermost join as records, each with one key per level.
func (rd *reading) joined(ctx context.Context, s *session) error {
	return rd.joinLevel(ctx, s, rd.src.join[0], rd.file.Path, s.x.doc, "", false)
}

// joinLevel walks one level: parent is the file one level up, prefix the members that the
// levels above gave; lone says that the level above gives a record of its own.
func (rd *reading) joinLevel(ctx context.Context, s *session, j *join, parent string, doc *value, prefix string, lone bool) error {
	paths, err := rd.joinFiles(s, j, parent, doc)
	if err != nil {
		s.main.conv.Read.Incomplete = err.Error()
	}
	if j.order != nil {
		paths = rd.ordered(ctx, s, j.order, paths)
	}
	if len(paths) == 0 && prefix != "" && !lone {
		s.joinedRecord("{"+prefix+"}", parent)
		return nil
	}
	for _, path := range paths {
		if err := ctx.Err(); err != nil {
			return err
		}
		data, err := source.ReadAll(ctx, path)
		var v *value
		ok := err == nil
		var own arena // a level's document lives as long as the levels below it are read
		if ok {
			v, ok = parseRecord(view(data), &own)
		}
		if !ok {
			if err == nil {
				err = fmt.Errorf("%s: not one whole JSON document: %s", path, whereBroken(string(data)))
			}
			rd.fail(0, err.Error())
			continue
		}
		if strings.IndexByte(view(data), 0) >= 0 {
			s.main.warn("%s: %s", path, holdsNUL)
		}
		members := quotedKey(j.as) + v.raw
		if prefix != "" {
			members = prefix + "," + members
		}
		if len(j.join) == 0 {
			s.joinedRecord("{"+members+"}", path)
			continue
		}
		if err := rd.joinLevel(ctx, s, j.join[0], path, v, members, j.self); err != nil {
			return err
		}
		if j.self {
			s.joinedRecord("{"+members+"}", path)
		}
	}
	return nil
}

// ordered sorts files by a value in each of them; those without it stay in front, by name.
func (rd *reading) ordered(ctx context.Context, s *session, sel *selector, paths []string) []string {
	type place struct {
		path, text string
		number     float64
	}
	places := make([]place, len(paths))
	for i, path := range paths {
		places[i].path = path
		data, err := source.ReadAll(ctx, path)
		if err != nil {
			continue // it is reported when it is read
		}
		var own arena
		if v, ok := parseRecord(view(data), &own); ok {
			x := *s.x
			x.a, x.docArena = &own, &own
			places[i].text = strings.Clone(x.text(x.find(sel, &frame{elem: v})))
			places[i].number, _ = strconv.ParseFloat(places[i].text, 64)
		}
	}
	slices.SortStableFunc(places, func(a, b place) int {
		return cmp.Or(cmp.Compare(a.number, b.number), cmp.Compare(a.text, b.text))
	})
	for i := range places {
		paths[i] = places[i].path
	}
	return paths
}

func (s *session) joinedRecord(raw, path string) {
	s.rd.a.reset()
	if rec, ok := parseObject(raw, &s.rd.a); ok {
		s.record(rec, raw, chat.Origin{Pointer: path})
	}
}

func quoted(text string) string {
	var b strings.Builder
	quote(&b, text)
	return b.String()
}

// objectOf writes an object. pairs are its keys, each with a JSON value.
func objectOf(pairs ...string) string {
	var b strings.Builder
	for i := 0; i < len(pairs); i += 2 {
		b.WriteByte("{,"[min(i, 1)])
		quote(&b, pairs[i])
		b.WriteByte(':')
		b.WriteString(pairs[i+1])
	}
	if len(pairs) == 0 {
		b.WriteByte('{')
	}
	b.WriteByte('}')
	return b.String()
}

func quotedKey(key string) string { return quoted(key) + ":" }

// joinFilesMax bounds the files of one level: a conversation with more parts than that is a
// pattern gone wrong.
const joinFilesMax = source.JoinFilesMax

// joinFiles lists the files of a join pattern, in byte order of their names.
func (rd *reading) joinFiles(s *session, j *join, parent string, doc *value) ([]string, error) {
	name := filepath.Base(parent)
	stem := strings.TrimSuffix(name, filepath.Ext(name))
	var b strings.Builder
	for _, p := range j.files {
		text := p.text
		if p.sel != nil {
			if p.src == "stem" {
				text = stem
			} else {
				d := s.x.ofDocument()
				text = d.text(d.find(p.sel, &frame{elem: doc}))
			}
			if text == "" || text == "." || text == ".." || strings.ContainsAny(text, `/\`+"\x00") {
				return nil, nil
			}
			text = escapeGlob(text)
		}
		b.WriteString(text)
	}
	root, rest, ok := rd.pattern(filepath.Dir(parent), b.String())
	if !ok {
		return nil, fmt.Errorf("join %s: leads out of the folder that the pattern names", j.as)
	}
	var out []string
	err := doublestar.GlobWalk(os.DirFS(root), rest, func(path string, d os.DirEntry) error {
		if len(out) >= joinFilesMax {
			return fmt.Errorf("join %s: more files than joinFilesMax (1 million) in %s", j.as, root)
		}
		out = append(out, filepath.Join(root, filepath.FromSlash(path)))
		return nil
	}, doublestar.WithFilesOnly(), doublestar.WithNoFollow())
	if errors.Is(err, os.ErrNotExist) {
		err = nil
	}
	sort.Slice(out, func(i, k int) bool {
		a, c := filepath.Base(out[i]), filepath.Base(out[k])
		if a != c {
			return a < c
		}
		return out[i] < out[k]
	})
	return out, err
}

// pattern cuts a pattern relative to a folder into the fixed folder and the rest; false if
// the fixed folder may not be read.
func (rd *reading) pattern(dir, relative string) (root, rest string, ok bool) {
	fixed, rest := doublestar.SplitPattern(path.Join(escapeGlob(filepath.ToSlash(dir)), relative))
	root = filepath.FromSlash(unescapeGlob(fixed))
	return root, rest, rd.file.mayRead(rd.src.index, root)
}

// A replacer is built when it is first used, which takes longer than opening a file.
var (
	globEscaper   = strings.NewReplacer(`*`, `\*`, `?`, `\?`, `[`, `\[`, `{`, `\{`)
	globUnescaper = strings.NewReplacer(`\*`, `*`, `\?`, `?`, `\[`, `[`, `\{`, `{`)
)

func escapeGlob(s string) string   { return globEscaper.Replace(s) }
func unescapeGlob(s string) string { return globUnescaper.Replace(s) }

// openDB opens the database and says whether this source's needs hold.
func (rd *reading) openDB() (*source.DB, bool, error) {
	db, err := source.OpenDB(rd.file.Path)
	if err != nil {
		return nil, false, err
	}
	if ok, err := has(db, rd.src.needs); !ok || err != nil {
		db.Close()
		return nil, false, err
	}
	return db, true, nil
}

// has says whether a database has the tables and columns of needs.
func has(db *source.DB, needs []tableNeed) (bool, error) {
	for _, need := range needs {
		have, err := db.Columns(need.table)
		if err != nil {
			return false, err
		}
		if len(have) == 0 || !hasColumns(have, need.columns) {
			return false, nil
		}
	}
	return true, nil
}

func hasColumns(have, want []string) bool {
	for _, w := range want {
		if !oneOf(have, func(h string) bool { return strings.EqualFold(h, w) }) {
			return false
		}
	}
	return true
}

// runDatabase reads the conversations of a database, or the one that Row names.
func (rd *reading) runDatabase(ctx context.Context) (bool, error) {
	db, ok, err := rd.openDB()
	if !ok || err != nil {
		return false, err
	}
	defer db.Close()
	if rd.src.list == "" {
		return true, rd.rows(ctx, db, nil, 1, "")
	}
	heads, err := rd.listRows(ctx, db)
	for i, h := range heads {
		if !rd.opts.wants(h.id) {
			continue
		}
		if rd.fails = h.broken; h.none {
			if err := rd.begin(h.doc, i+1).end(ctx, h.id, h.id); err != nil {
				return true, err
			}
			continue
		}
		if err := rd.rows(ctx, db, h.doc, i+1, h.id); err != nil {
			return true, err
		}
	}
	return true, err
}

// A listRow is a conversation of a database.
type listRow struct {
	id     string
	doc    *value
	broken []brokenLine // rows of it that are broken
	none   bool         // there are no others
}

// listRows runs the source's list: one row per conversation. Rows without an id are passed
// over; of rows with the same id the first stands, broken ones aside. A broken row without an
// id has a number for one.
func (rd *reading) listRows(ctx context.Context, db *source.DB) ([]listRow, error) {
	var out []listRow
	var seen map[string]int // its place in out, and 1
	n := 0
	begin := func() { out, seen, n = nil, map[string]int{}, 0 }
	err := query(ctx, db, rd.src.list, nil, begin, func(columns []string, values []any) error {
		n++
		doc, ok := parseObject(rd.rowJSON(columns, values), &rd.docs)
		if !ok {
			return nil
		}
		id, why := doc.get("id", &rd.docs).str(), rd.brokenRow(columns, values)
		if id == "" && why != "" {
			id = rd.stem() + "#" + strconv.Itoa(n)
		}
		at := seen[id] - 1
		switch {
		case id == "":
		case at < 0:
			seen[id] = len(out) + 1
			row := listRow{id: id, doc: doc, none: why != ""}
			if why != "" {
				row.broken = []brokenLine{{why: why}}
			}
			out = append(out, row)
		case why != "":
			out[at].broken = append(out[at].broken, brokenLine{why: why})
		case out[at].none:
			out[at].doc, out[at].none = doc, false
		}
		return nil
	})
	return out, err
}

// brokenRow is what the statement says is wrong with a row, "" if nothing is.
func (rd *reading) brokenRow(columns []string, values []any) string {
	if i := slices.Index(columns, rd.src.broken); i >= 0 && rd.src.broken != "" {
		if why, ok := values[i].(string); ok {
			return strings.Clone(strings.TrimSpace(strings.ToValidUTF8(why, "\uFFFD"))) // the next row has its memory
		}
	}
	return ""
}

// reopensMax is how often a statement is run again because the tool moved rows meanwhile.
const reopensMax = 2

// query runs a statement over a snapshot. If the tool's checkpoint got in the way it is run
// again from the beginning over a new one; begin drops the rows that were handed over.
// After the last try the rows stand, and source.ErrChanged says that some may be missing.
func query(ctx context.Context, db *source.DB, sql string, args map[string]any, begin func(), row func([]string, []any) error) error {
	for tries := 0; ; tries++ {
		begin()
		err := db.Query(ctx, sql, args, row)
		if !errors.Is(err, source.ErrChanged) || tries == reopensMax || db.Reopen() != nil {
			return err
		}
	}
}

// rows reads the records of one conversation of a database.
func (rd *reading) rows(ctx context.Context, db *source.DB, doc *value, index int, id string) error {
	var s *session
	n := 0
	begin := func() { s, n = rd.begin(doc, index), 0 }
	args := map[string]any(nil)
	if id != "" && strings.Contains(rd.src.sql, ":id") {
		args = map[string]any{"id": id}
	}
	err := query(ctx, db, rd.src.sql, args, begin, func(columns []string, values []any) error {
		n++
		rd.a.reset()
		if why := rd.brokenRow(columns, values); why != "" {
			s.main.conv.Read.Records++
			s.main.broken(0, why)
			s.x.tr.failed(0, why)
			return nil
		}
		if rd.src.log != "" {
			rd.logRecords(s, n, rd.logOf(columns, values))
			return nil
		}
		raw := rd.rowJSON(columns, values)
		for _, odd := range rd.odd {
			s.main.warn("row %d: %s", n, odd)
		}
		if rd.opts.Lines != nil && !rd.opts.Lines([]byte(raw)) {
			return nil
		}
		if rec, ok := parseObject(raw, &rd.a); ok {
			s.record(rec, raw, chat.Origin{Pointer: "row " + strconv.Itoa(n)})
		}
		return nil
	})
	if err != nil {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		s.main.conv.Read.Incomplete = err.Error()
	}
	fallback := id
	if fallback == "" {
		fallback = rd.stem()
	}
	return s.end(ctx, id, fallback)
}

// rowJSON writes a row as a JSON object, column names as keys. A BLOB is text; columns of
// `json` that hold one JSON value become that value.
func (rd *reading) rowJSON(columns []string, values []any) string {
	var b strings.Builder
	rd.odd = rd.odd[:0]
	b.WriteByte('{')
	for i, col := range columns {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(quotedKey(col))
		switch v := values[i].(type) {
		case int64:
			b.WriteString(strconv.FormatInt(v, 10))
		case float64:
			if math.IsInf(v, 0) || math.IsNaN(v) {
				b.WriteString("null")
			} else {
				b.WriteString(strconv.FormatFloat(v, 'f', -1, 64))
			}
		case string:
			rd.rowText(&b, col, v)
		case []byte:
			rd.rowText(&b, col, rd.unpacked(col, string(v)))
		default:
			b.WriteString("null")
		}
	}
	b.WriteByte('}')
	return b.String()
}

// unpacked is the value of a column, unpacked if the mapping says that it may be packed and
// its first bytes say that it is. What does not unpack stays as it is.
func (rd *reading) unpacked(col, value string) string {
	how := ""
	switch {
	case !slices.Contains(rd.src.packed, col):
	case strings.HasPrefix(value, "\x28\xb5\x2f\xfd"):
		how = "zstd"
	case strings.HasPrefix(value, "\x1f\x8b"):
		how = "gzip"
	}
	if how != "" {
		if text, ok := decodeText(how, value); ok {
			return text
		}
	}
	return value
}

// logOf is the text of the column that holds a log.
func (rd *reading) logOf(columns []string, values []any) string {
	i := slices.Index(columns, rd.src.log)
	if i < 0 {
		return ""
	}
	switch v := values[i].(type) {
	case string:
		return v
	case []byte:
		return rd.unpacked(rd.src.log, string(v))
	}
	return ""
}

// logRecords takes the lines of a column that holds a log as records.
func (rd *reading) logRecords(s *session, row int, text string) {
	n := 0
	for line := range strings.SplitSeq(text, "\n") {
		n++
		if strings.TrimSpace(line) == "" {
			continue
		}
		rd.a.reset()
		if rec, ok := parseObject(line, &rd.a); ok {
			s.record(rec, line, chat.Origin{Pointer: fmt.Sprintf("row %d, line %d", row, n)})
		} else {
			s.main.conv.Read.Records++
			s.main.broken(n, "not one whole JSON object")
			s.x.tr.failed(n, "not one whole JSON object")
		}
	}
}

func (rd *reading) rowText(b *strings.Builder, col, text string) {
	if oneOf(rd.src.jsonCols, func(c string) bool { return c == col }) && utf8.ValidString(text) {
		var a arena
		if v, ok := parseRecord(text, &a); ok {
			b.WriteString(v.raw)
			return
		}
		if t := strings.TrimSpace(text); strings.HasPrefix(t, `{"`) || strings.HasPrefix(t, "[{") {
			rd.odd = append(rd.odd, fmt.Sprintf("%s: JSON that is not whole: %s", col, whereBroken(text)))
		}
	}
	quote(b, text)
}

// heads hands over what the list rows alone tell.
func (rd *reading) heads(ctx context.Context) (bool, error) {
	db, ok, err := rd.openDB()
	if !ok || err != nil {
		return false, err
	}
	defer db.Close()
	list, listErr := rd.listRows(ctx, db)
	for i, h := range list {
		s := rd.begin(h.doc, i+1)
		s.main.settle(s.x, h.id)
		c := s.main.conv
		c.File, c.Row = rd.file.Path, h.id
		if h.none {
			for _, b := range h.broken {
				c.Read.Records++
				c.Read.Broken = append(c.Read.Broken, chat.Broken{Why: b.why})
			}
		}
		if err := rd.emit(&c); err != nil {
			return true, err
		}
	}
	return true, listErr
}

// runText reads a text file: runs of lines of one kind are records, and a start line begins
// a conversation.
func (rd *reading) runText(ctx context.Context) (bool, error) {
	f, err := source.Open(rd.file.Path)
	if err != nil {
		return false, err
	}
	defer f.Close()
	t := &textRun{rd: rd}
	if rd.src.start == nil {
		t.begin(nil)
	}
	err = source.Lines(ctx, f, func(l source.Line) error {
		return t.line(ctx, l)
	})
	if err != nil {
		if ctx.Err() != nil {
			return true, ctx.Err()
		}
		if t.s == nil {
			return false, err
		}
		t.s.main.conv.Read.Incomplete = err.Error()
	}
	if t.s == nil {
		return false, nil // no start line: not this kind of file
	}
	if rd.src.when != nil && !t.accepted {
		return false, nil
	}
	return true, t.end(ctx)
}

// A textRun cuts lines into records.
type textRun struct {
	rd       *reading
	s        *session
	n        int // conversations begun
	accepted bool
	dropped  int

	open   *lineKind // of the record being gathered
	groups []string  // name, value, ...
	text   []string
	origin chat.Origin
}

func (t *textRun) begin(doc *value) {
	t.n++
	t.s = t.rd.begin(doc, t.n)
}

func (t *textRun) end(ctx context.Context) error {
	t.flush()
	if t.dropped > 0 {
		if t.s.main.conv.Read.Skipped == nil {
			t.s.main.conv.Read.Skipped = map[string]int{}
		}
		t.s.main.conv.Read.Skipped["line"] += t.dropped
		t.s.main.conv.Read.Records += t.dropped
		t.s.x.tr.dropped(t.dropped)
		t.dropped = 0
	}
	if t.rd.src.start == nil {
		return t.s.end(ctx, "", t.rd.stem())
	}
	id := t.s.mainID(t.rd.stem() + "#" + strconv.Itoa(t.n))
	return t.s.end(ctx, id, id)
}

func (t *textRun) line(ctx context.Context, l source.Line) error {
	text := strings.ToValidUTF8(string(l.Data), "\uFFFD")
	if re := t.rd.src.start; re != nil {
		if m := re.FindStringSubmatch(patternText(text)); m != nil {
			if t.s != nil {
				if err := t.end(ctx); err != nil {
					return err
				}
			}
			raw := groupsJSON(re.SubexpNames(), m)
			doc, _ := parseObject(raw, &t.rd.docs)
			t.begin(doc)
			if e := t.rd.opts.explain; e != nil {
				e.passed(l.N, text, "it begins a conversation")
			}
			return nil
		}
	}
	if t.s == nil { // before the first start line: counted with the conversation that follows
		if strings.TrimSpace(text) != "" {
			t.dropped++
		}
		if e := t.rd.opts.explain; e != nil {
			e.passed(l.N, text, "it stands before the first line that begins a conversation")
		}
		return nil
	}
	window := patternText(text)
	// Openers win over everything; then the open record takes what its `then` fits; then
	// the entries that tell a line by itself.
	for i := range t.rd.src.lines {
		if lk := &t.rd.src.lines[i]; lk.then != nil {
			if m := lk.match.FindStringSubmatch(window); m != nil {
				t.flush()
				t.add(lk, lk.match, m, text, l)
				return nil
			}
		}
	}
	if t.open != nil && t.open.then != nil {
		if m := t.open.then.FindStringSubmatch(window); m != nil {
			t.add(t.open, t.open.then, m, text, l)
			return nil
		}
	}
	for i := range t.rd.src.lines {
		lk := &t.rd.src.lines[i]
		if lk.then != nil {
			continue
		}
		if m := lk.match.FindStringSubmatch(window); m != nil {
			if t.open == nil || lk.kind != t.open.kind || t.open.then != nil {
				t.flush()
			}
			t.add(lk, lk.match, m, text, l)
			return nil
		}
	}
	if strings.TrimSpace(text) != "" {
		t.dropped++
		if e := t.rd.opts.explain; e != nil {
			e.passed(l.N, text, "no entry of lines fits it")
		}
	}
	return nil
}

// add puts a line into the open record, or opens one with it.
func (t *textRun) add(lk *lineKind, re *regexp.Regexp, m []string, line string, l source.Line) {
	names := re.SubexpNames()
	if t.open == nil {
		t.open = lk
		t.origin = chat.Origin{Line: l.N, Offset: l.Offset}
		t.groups = t.groups[:0]
		for k, name := range names {
			if name != "" && name != "text" {
				t.groups = append(t.groups, name, m[k])
			}
		}
	}
	for k, name := range names {
		if name != "text" {
			continue
		}
		part := m[k]
		if len(line) > patternMaxBytes {
			part = line[strings.Index(line, part):] // the pattern saw its beginning only
		}
		t.text = append(t.text, part)
	}
}

// flush makes a record of the lines gathered.
func (t *textRun) flush() {
	if t.open == nil {
		return
	}
	lines := t.text
	for len(lines) > 0 && strings.TrimSpace(lines[0]) == "" {
		lines = lines[1:]
	}
	for len(lines) > 0 && strings.TrimSpace(lines[len(lines)-1]) == "" {
		lines = lines[:len(lines)-1]
	}
	var b strings.Builder
	b.WriteString(`{"kind":`)
	quote(&b, t.open.kind)
	b.WriteString(`,"text":`)
	quote(&b, strings.Join(lines, "\n"))
	for i := 0; i+1 < len(t.groups); i += 2 {
		b.WriteString("," + quotedKey(t.groups[i]))
		quote(&b, t.groups[i+1])
	}
	b.WriteByte('}')
	raw := b.String()
	t.rd.a.reset()
	if rec, ok := parseObject(raw, &t.rd.a); ok {
		if t.rd.src.when != nil && !t.accepted {
			t.accepted = t.rd.holdsWhen(t.s.x, rec)
		}
		t.s.record(rec, raw, t.origin)
	}
	t.open, t.text = nil, nil
}

// groupsJSON writes the named groups of a match as an object.
func groupsJSON(names, groups []string) string {
	var b strings.Builder
	b.WriteByte('{')
	for i, name := range names {
		if name == "" || i >= len(groups) {
			continue
		}
		if b.Len() > 1 {
			b.WriteByte(',')
		}
		b.WriteString(quotedKey(name))
		quote(&b, groups[i])
	}
	b.WriteByte('}')
	return b.String()
}
