package mapping

import (
	"fmt"
	"slices"
	"strings"

	"parlance/internal/source"
)

// Limits of what is looked at in a database.
const (
	tablesMax    = 60
	tableRowsMax = 5_000
	joinsMax     = 12
)

// A dbTable is a table with a sample of its rows.
type dbTable struct {
	name    string
	columns []string
	json    []string // columns that hold JSON
	packed  []string
	rows    []*value
	survey  *survey
}

// A dbShape is what is needed to make a sample database.
type dbShape struct {
	tables []*dbTable
	list   string
	sql    string
	id     string // column of the list's table
	link   []string
}

// sqlName quotes a name of a table or column.
func sqlName(s string) string {
	if nameOK.MatchString(s) && !strings.Contains(s, "-") && !inWords(strings.ToLower(s), "order group table index key values select from where to default check limit transaction") {
		return s
	}
	return `"` + strings.ReplaceAll(s, `"`, `""`) + `"`
}

// lookDatabase looks for the table of messages, and for the one that lists conversations.
func (d *drafting) lookDatabase() error {
	db, err := source.OpenDB(d.path)
	if err != nil {
		return err
	}
	defer db.Close()
	var tables []*dbTable
	err = db.Query(d.ctx, "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY name", nil, func(_ []string, values []any) error {
		if name, ok := values[0].(string); ok && len(tables) < tablesMax {
			tables = append(tables, &dbTable{name: strings.Clone(name)})
		}
		return nil
	})
	if err != nil {
		return err
	}
	d.saw = fmt.Sprintf("a database with %s, none of which holds messages", plural(len(tables), "table"))
	for _, t := range tables {
		if t.columns, err = db.Columns(t.name); err != nil {
			return err
		}
		if err := d.sampleTable(db, t); err != nil {
			return err
		}
	}
	for _, t := range tables {
		if len(t.rows) > 0 {
			d.tryTables(tables, t)
			d.tryValues(t)
		}
	}
	joins := 0
	for _, part := range tables {
		for _, msg := range tables {
			col := linkTo(part, msg)
			if part == msg || col == "" || len(msg.rows) == 0 || joins >= joinsMax {
				continue
			}
			joins++
			if err := d.tryJoin(db, tables, msg, part, col); err != nil {
				return err
			}
		}
	}
	return nil
}

// sampleTable reads rows, finds columns that hold JSON, and reads them as such.
func (d *drafting) sampleTable(db *source.DB, t *dbTable) error {
	var raws [][]any
	size := 0
	err := db.Query(d.ctx, "SELECT * FROM "+sqlName(t.name), nil, func(cols []string, values []any) error {
		row := make([]any, len(values))
		for i, v := range values {
			switch v := v.(type) {
			case string:
				row[i] = strings.Clone(v)
				size += len(v)
			case []byte:
				row[i] = slices.Clone(v)
				size += len(v)
			default:
				row[i] = v
			}
		}
		raws = append(raws, row)
		if len(raws) >= tableRowsMax || size > inferBytesMax {
			return errStop
		}
		return nil
	})
	if err != nil && err != errStop {
		if d.ctx.Err() != nil {
			return d.ctx.Err()
		}
		return nil // a virtual table whose module is not here, or a damaged one
	}
	for i, col := range t.columns {
		packed, holds, other := 0, 0, 0
		for _, row := range raws {
			if i >= len(row) {
				continue
			}
			text := ""
			switch v := row[i].(type) {
			case string:
				text = v
			case []byte:
				text = string(v)
				if strings.HasPrefix(text, "\x28\xb5\x2f\xfd") || strings.HasPrefix(text, "\x1f\x8b") {
					packed++
					text = (&reading{src: &Source{packed: []string{col}}}).unpacked(col, text)
				}
			default:
				continue
			}
			if text == "" {
				continue
			}
			var a arena
			if v, ok := parseRecord(text, &a); ok && (v.kind() == jsonObject || v.kind() == jsonArray) {
				holds++
			} else {
				other++
			}
		}
		if packed > 0 {
			t.packed = append(t.packed, col)
		}
		if holds > 0 && holds >= other {
			t.json = append(t.json, col)
		}
	}
	rd := &reading{src: &Source{jsonCols: t.json, packed: t.packed}}
	for _, row := range raws {
		if v, ok := parseObject(rd.rowJSON(t.columns, row), &d.a); ok {
			t.rows = append(t.rows, v)
		}
	}
	t.survey = takeSurvey(t.rows, &d.a)
	return nil
}

// column is the survey of one column.
func (t *dbTable) column(name string) *inferField {
	if t.survey == nil {
		return nil
	}
	return t.survey.index[selectorOf([]string{name})]
}

// keyColumn is the column whose values name the rows: id, else one that is named for it.
func (t *dbTable) keyColumn() string {
	best := ""
	for _, c := range t.columns {
		f := t.column(c)
		if f == nil || f.more && len(f.values) < surveyValuesMax || f.scalars() < f.n || len(f.values) < min(f.n, surveyValuesMax) {
			continue
		}
		k := plainKey(c)
		if k == "id" {
			return c
		}
		if best == "" && (strings.HasSuffix(k, "id") || k == "uuid" || k == "key") && !hasWord(words(c), "parent") {
			best = c
		}
	}
	return best
}

// linkTo is the column of t that names rows of to, "" if there is none.
func linkTo(t, to *dbTable) string {
	key := to.keyColumn()
	if key == "" || t.survey == nil {
		return ""
	}
	have := to.column(key)
	stem := strings.TrimSuffix(plainKey(to.name), "s")
	best, most := "", 0.0
	for _, c := range t.columns {
		f := t.column(c)
		k := plainKey(c)
		if f == nil || f.scalars() < f.n || f.n == 0 || k == "id" || hasWord(words(c), "parent root fork forked last first current") || t == to {
			continue
		}
		if !strings.HasSuffix(k, "id") && !strings.HasSuffix(k, "key") && !inWords(k, "session conversation chat thread message task "+stem) {
			continue
		}
		hits := 0
		for v := range f.values {
			if have.values[v] > 0 {
				hits++
			}
		}
		if hits == 0 || hits*2 < len(f.values) && !have.more {
			continue
		}
		s := 1.0
		if strings.Contains(k, stem) {
			s = 2
		}
		if s > most {
			best, most = c, s
		}
	}
	return best
}

// sessionColumn is a column that tells conversations apart, where no table lists them.
func sessionColumn(t *dbTable) string {
	for _, want := range []string{"session", "conversation", "chat", "thread", "task", "tab", "composer"} {
		for _, c := range t.columns {
			f := t.column(c)
			if k := plainKey(c); f != nil && f.scalars() == f.n && f.n*2 > t.survey.n && (k == want+"id" || k == want || k == want+"key") {
				return c
			}
		}
	}
	return ""
}

// orderOf is what sorts rows.
func orderOf(t *dbTable, alias string) string {
	for _, names := range []string{"seq sequence idx position ordinal ord n turnindex messageindex number index rank", "createdat created timecreated createdtimestamp timestamp time ts at date startts startedat sentat"} {
		for _, c := range t.columns {
			if f := t.column(c); f != nil && inWords(plainKey(c), names) && f.n*10 >= t.survey.n*9 {
				return alias + sqlName(c) + ", " + alias + "rowid"
			}
		}
	}
	return alias + "rowid"
}

// tryTables sees the rows of a table as records.
func (d *drafting) tryTables(tables []*dbTable, t *dbTable) {
	s := &shape{container: "sqlite", elems: t.rows, db: &dbShape{tables: []*dbTable{t}}}
	var sessions *dbTable
	link := ""
	for _, other := range tables {
		if other == t || len(other.rows) == 0 {
			continue
		}
		col := linkTo(t, other)
		if col == "" {
			continue
		}
		w := words(other.name)
		if sessions == nil || hasWord(w, "session conversation chat thread task composer") && !hasWord(words(sessions.name), "session conversation chat thread task composer") {
			sessions, link = other, col
		}
	}
	if sessions != nil && !hasWord(words(sessions.name), "session conversation chat thread task composer talk dialog") {
		if c := sessionColumn(t); c != "" && c != link {
			sessions, link = nil, c
		}
	}
	if sessions == nil && link == "" {
		link = sessionColumn(t)
	}
	where := ""
	if link != "" {
		where = " WHERE " + sqlName(link) + " = :id"
	}
	s.db.sql = "SELECT * FROM " + sqlName(t.name) + where + " ORDER BY " + orderOf(t, "")
	s.db.link = []string{link}
	s.count = fmt.Sprintf("%s of table `%s`", plural(len(t.rows), "row"), t.name)
	d.finishDB(s, sessions, t, link, t.json, t.packed)
}

// finishDB adds the list of conversations and tries the shape.
func (d *drafting) finishDB(s *shape, sessions, t *dbTable, link string, json, packed []string) {
	json, packed = slices.Clone(json), slices.Clone(packed)
	switch {
	case sessions != nil:
		key := sessions.keyColumn()
		s.db.id = key
		s.db.list = "SELECT * FROM " + sqlName(sessions.name)
		if key != "id" {
			s.db.list = "SELECT *, " + sqlName(key) + " AS id FROM " + sqlName(sessions.name)
		}
		s.docs = sessions.rows
		s.db.tables = append(s.db.tables, sessions)
		json, packed = append(json, sessions.json...), append(packed, sessions.packed...)
		s.count += fmt.Sprintf(", conversations in `%s` by `%s`", sessions.name, link)
	case link != "":
		s.db.list = "SELECT DISTINCT " + sqlName(link) + " AS id FROM " + sqlName(t.name) + " WHERE " + sqlName(link) + " IS NOT NULL ORDER BY 1"
		s.count += fmt.Sprintf(", conversations by `%s`", link)
	}
	if s.db.list != "" {
		s.lines = append(s.lines, "list: "+yamlScalar(s.db.list))
	}
	s.lines = append(s.lines, "sql: "+yamlScalar(s.db.sql))
	if json = compacted(json); len(json) > 0 {
		s.lines = append(s.lines, "json: "+yamlList(json))
	}
	if packed = compacted(packed); len(packed) > 0 {
		s.lines = append(s.lines, "packed: "+yamlList(packed))
	}
	s.sample = sampleDatabase
	d.try(s)
}

func compacted(list []string) []string {
	slices.Sort(list)
	return slices.Compact(list)
}

// tryJoin sees parts with their messages as records: the columns of the message stand under
// their own names, those of the part behind part_.
func (d *drafting) tryJoin(db *source.DB, tables []*dbTable, msg, part *dbTable, col string) error {
	var cols []string
	for _, c := range msg.columns {
		cols = append(cols, "m."+sqlName(c))
	}
	j := &dbTable{name: msg.name}
	for _, c := range part.columns {
		cols = append(cols, "p."+sqlName(c)+" AS "+sqlName("part_"+c))
		if slices.Contains(part.json, c) {
			j.json = append(j.json, "part_"+c)
		}
		if slices.Contains(part.packed, c) {
			j.packed = append(j.packed, "part_"+c)
		}
	}
	j.json, j.packed = append(j.json, msg.json...), append(j.packed, msg.packed...)
	from := " FROM " + sqlName(msg.name) + " m LEFT JOIN " + sqlName(part.name) + " p ON p." + sqlName(col) + " = m." + sqlName(msg.keyColumn())
	order := " ORDER BY " + orderOf(msg, "m.") + ", " + orderOf(part, "p.")
	rd := &reading{src: &Source{jsonCols: j.json, packed: j.packed}}
	var names []string
	err := db.Query(d.ctx, "SELECT "+strings.Join(cols, ", ")+from+order, nil, func(columns []string, values []any) error {
		if names == nil {
			for _, c := range columns {
				names = append(names, strings.Clone(c))
			}
		}
		if v, ok := parseObject(rd.rowJSON(names, values), &d.a); ok {
			j.rows = append(j.rows, v)
		}
		if len(j.rows) >= tableRowsMax {
			return errStop
		}
		return nil
	})
	if err != nil && err != errStop {
		return d.ctx.Err()
	}
	if len(j.rows) == 0 {
		return nil
	}
	var sessions *dbTable
	link := ""
	for _, other := range tables {
		if other == msg || other == part || len(other.rows) == 0 {
			continue
		}
		if c := linkTo(msg, other); c != "" && (sessions == nil || hasWord(words(other.name), "session conversation chat thread")) {
			sessions, link = other, c
		}
	}
	if link == "" {
		link = sessionColumn(msg)
	}
	where := ""
	if link != "" {
		where = " WHERE m." + sqlName(link) + " = :id"
	}
	s := &shape{container: "sqlite", elems: j.rows, db: &dbShape{tables: []*dbTable{msg, part}, link: []string{link, col}}}
	s.db.sql = "SELECT " + strings.Join(cols, ", ") + from + where + order
	s.count = fmt.Sprintf("%s of `%s` with `%s`", plural(len(j.rows), "row"), msg.name, part.name)
	d.finishDB(s, sessions, msg, link, j.json, j.packed)
	return nil
}

// tryValues sees a table of keys and JSON values: a document in each.
func (d *drafting) tryValues(t *dbTable) {
	if len(t.columns) < 2 || len(t.json) == 0 {
		return
	}
	key := t.keyColumn()
	if key == "" {
		return
	}
	type place struct{ col, sel string }
	lists := map[place][]*value{}
	var order []place
	for _, row := range t.rows[:min(len(t.rows), 500)] {
		for _, col := range t.json {
			v := row.get(col, &d.a)
			d.lists(v, nil, 1, func(path []string, elems []*value) {
				p := place{col, strings.Join(path, "\x00")}
				if lists[p] == nil {
					if len(order) >= docListsMax {
						return
					}
					order = append(order, p)
				}
				if len(lists[p]) < inferRecordsMax {
					lists[p] = append(lists[p], elems...)
				}
			})
		}
	}
	for _, p := range order {
		json := "$"
		for _, seg := range strings.Split(p.sel, "\x00") {
			if seg == "" {
				continue
			}
			if !nameOK.MatchString(seg) {
				json = ""
				break
			}
			json += "." + seg
		}
		if json == "" || len(t.packed) > 0 {
			continue
		}
		// The records are one level down, under `record`, so that one column names them.
		s := &shape{container: "sqlite", db: &dbShape{tables: []*dbTable{t}, id: key}, docs: t.rows}
		for _, e := range lists[p] {
			if v, ok := parseObject(`{"record":`+e.raw+`}`, &d.a); ok {
				s.elems = append(s.elems, v)
			}
		}
		col := "CAST(t." + sqlName(p.col) + " AS TEXT)"
		s.db.list = "SELECT t.*, " + sqlName(key) + " AS id FROM " + sqlName(t.name) + " t WHERE json_valid(" + col + ") AND json_array_length(" + col + ", '" + json + "') > 0"
		s.db.sql = "SELECT e.value AS record FROM " + sqlName(t.name) + " t, json_each(" + col + ", '" + json + "') e WHERE t." + sqlName(key) + " = :id"
		s.lines = []string{"list: " + yamlScalar(s.db.list), "sql: " + yamlScalar(s.db.sql), "json: " + yamlList(append([]string{"record"}, t.json...))}
		s.count = fmt.Sprintf("%s at `%s` in column `%s` of table `%s`", plural(len(s.elems), "element"), json, p.col, t.name)
		s.sample = sampleDatabase
		d.try(s)
	}
}
