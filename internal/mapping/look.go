package mapping

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"parlance/internal/source"
)

// A Look is what a file of an unknown format looks like.
type Look struct {
	Kind    string `json:"kind"`    // as Sniff.Kind
	Summary string `json:"summary"` // "object with keys: version, turns[37]"
	// Records is where its records may be: a selector, a table, or "" for lines.
	Records string      `json:"records,omitempty"`
	N       int         `json:"n,omitempty"`
	Fields  []FieldLook `json:"fields,omitempty"`
	Role    *FieldLook  `json:"role,omitempty"`
	Text    *FieldLook  `json:"text,omitempty"`
	Time    *FieldLook  `json:"time,omitempty"`
	Tables  []TableLook `json:"tables,omitempty"`
	Talk    bool        `json:"conversation"` // it has a role and a text
}

// A TableLook is one table of a database.
type TableLook struct {
	Name    string   `json:"name"`
	Columns []string `json:"columns"`
	Rows    int      `json:"rows"` // as far as they were counted
}

// Limits of looking at an unknown file.
const (
	lookTablesMax = 60
	lookRowsMax   = 500
	lookKeysMax   = 12
	lookDepthMax  = 6
	lookListsMax  = 200
)

// Look looks for records in a file, and in them for a role, a text and a time. What cannot be
// read to its end is looked at as far as it can; the error is that of ctx.
func (s *Sniff) Look(ctx context.Context) (*Look, error) {
	l := &Look{Kind: s.Kind, Summary: s.Noun()}
	var err error
	switch {
	case s.Broken != "":
	case s.Kind == "jsonl":
		err = l.lines(ctx, s)
	case s.Kind == "json":
		l.document(s)
	case s.Kind == "sqlite":
		err = l.database(ctx, s)
	case s.Kind == "text":
		err = l.text(ctx, s)
	}
	if err != nil && ctx.Err() == nil {
		l.Summary += ", which cannot be read whole: " + cutRunes(strings.TrimPrefix(err.Error(), s.Path+": "), reasonRunes)
	}
	return l, ctx.Err()
}

// guess takes what a census of the records found.
func (l *Look) guess(c *census) {
	l.Fields = c.look()
	l.Role, l.Text, l.Time = best(l.Fields, "role"), best(l.Fields, "text"), best(l.Fields, "time")
	l.Talk = l.Role != nil && l.Text != nil
}

func (c *census) score() int {
	fields := c.look()
	n := 0
	for _, as := range []string{"role", "text"} {
		if f := best(fields, as); f != nil {
			n += f.N
		}
	}
	if n > 0 && best(fields, "role") != nil && best(fields, "text") != nil {
		n *= 4
	}
	return n
}

func (l *Look) lines(ctx context.Context, s *Sniff) error {
	f, err := source.Open(s.Path)
	if err != nil {
		return err
	}
	defer f.Close()
	var c census
	var a arena
	broken := 0
	err = source.Lines(ctx, f, func(line source.Line) error {
		a.reset()
		if rec, ok := parseObject(view(line.Data), &a); ok {
			c.add(rec)
		} else if strings.TrimSpace(view(line.Data)) != "" && !line.Open {
			broken++
		}
		return nil
	})
	if err != nil {
		return err
	}
	l.N = c.n
	l.Summary = plural(c.n, "line") + " of JSON"
	if broken > 0 {
		l.Summary += fmt.Sprintf(" and %d of something else", broken)
	}
	l.guess(&c)
	l.Summary += ", keys: " + topKeys(l.Fields)
	return nil
}

func topKeys(fields []FieldLook) string {
	var keys []string
	for _, f := range fields {
		if !strings.Contains(strings.ReplaceAll(f.Path, `\.`, ""), ".") && f.Path != "#" {
			keys = append(keys, quoteValue(f.Path))
		}
	}
	if len(keys) > lookKeysMax {
		keys = append(keys[:lookKeysMax:lookKeysMax], "…")
	}
	return strings.Join(keys, ", ")
}

// document looks for the list of the document that is most like records.
func (l *Look) document(s *Sniff) {
	a := &s.arena
	l.Summary = "one JSON document, "
	switch s.doc.kind() {
	case jsonArray:
		l.Summary += "a list of " + strconv.Itoa(len(s.doc.list(a)))
	case jsonObject:
		s.doc.open(a)
		var keys []string
		for i := range s.doc.members {
			m := &s.doc.members[i]
			key := unquote(m.key)
			if m.val.kind() == jsonArray {
				key += fmt.Sprintf("[%d]", len(m.val.list(a)))
			}
			keys = append(keys, quoteValue(key))
		}
		if len(keys) > lookKeysMax {
			keys = append(keys[:lookKeysMax:lookKeysMax], "…")
		}
		l.Summary += "object with keys: " + strings.Join(keys, ", ")
	default:
		l.Summary += jsonNames[s.doc.kind()]
	}
	score, looked := 0, 0
	var visit func(v *value, path string, depth int)
	visit = func(v *value, path string, depth int) {
		if depth > lookDepthMax || looked > lookListsMax {
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
			v.open(a)
			l.consider(v, path, &score, &looked, a)
			for i := range v.members {
				visit(&v.members[i].val, under(escapeKey(unquote(v.members[i].key))), depth+1)
			}
		case jsonArray:
			l.consider(v, path, &score, &looked, a)
			if list := v.list(a); len(list) > 0 {
				visit(&list[0], under("0"), depth+1)
			}
		}
	}
	visit(s.doc, "", 0)
}

// consider takes a list, or an object of alike objects, for the records if it is more like
// them than what was taken so far.
func (l *Look) consider(v *value, path string, score, looked *int, a *arena) {
	var c census
	objects := 0
	see := func(el *value) {
		if el.kind() == jsonObject {
			objects++
			c.add(el)
		}
	}
	if v.kind() == jsonArray {
		list := v.list(a)
		for i := range list {
			see(&list[i])
		}
	} else {
		for i := range v.members {
			see(&v.members[i].val)
		}
		if objects < 2 || objects < len(v.members) {
			return
		}
	}
	if objects == 0 {
		return
	}
	*looked++
	n := c.score()
	// The parts of a message are no records; a list within the first element is one of many.
	if strings.Contains("."+path+".", ".0.") {
		n /= 2
	}
	if n > *score || *score == 0 && c.n > l.N {
		*score, l.N, l.Records = n, c.n, cmp.Or(path, ".")
		l.guess(&c)
	}
}

func (l *Look) database(ctx context.Context, s *Sniff) error {
	db, err := source.OpenDB(s.Path)
	if err != nil {
		return err
	}
	defer db.Close()
	var names []string
	err = db.Query(ctx, "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY name", nil, func(_ []string, values []any) error {
		if name, ok := values[0].(string); ok && len(names) < lookTablesMax {
			names = append(names, strings.Clone(name))
		}
		return nil
	})
	if err != nil {
		return err
	}
	score := 0
	rd := &reading{src: &Source{}}
	for _, name := range names {
		columns, err := db.Columns(name)
		if err != nil {
			return err
		}
		rd.src.jsonCols = columns
		t := TableLook{Name: quoteValue(name), Columns: columns}
		var c census
		err = db.Query(ctx, "SELECT * FROM "+`"`+strings.ReplaceAll(name, `"`, `""`)+`"`, nil, func(columns []string, values []any) error {
			if t.Rows++; t.Rows > lookRowsMax {
				return errStop
			}
			var a arena
			if rec, ok := parseObject(rd.rowJSON(columns, values), &a); ok {
				c.add(rec)
			}
			return nil
		})
		if err != nil && !errors.Is(err, errStop) {
			return err
		}
		l.Tables = append(l.Tables, t)
		if n := c.score(); n > score {
			score, l.N, l.Records = n, t.Rows, t.Name
			l.guess(&c)
		}
	}
	var shown []string
	for _, t := range l.Tables {
		rows := strconv.Itoa(t.Rows)
		if t.Rows > lookRowsMax {
			rows = "over " + strconv.Itoa(lookRowsMax)
		}
		shown = append(shown, fmt.Sprintf("%s (%s)", t.Name, rows))
	}
	if len(shown) > lookKeysMax {
		shown = append(shown[:lookKeysMax:lookKeysMax], "…")
	}
	l.Summary = "SQLite database, tables: " + strings.Join(shown, ", ")
	return nil
}

// text counts how the lines of a text begin: that is what tells them apart.
func (l *Look) text(ctx context.Context, s *Sniff) error {
	f, err := source.Open(s.Path)
	if err != nil {
		return err
	}
	defer f.Close()
	begins := map[string]int{}
	var order []string
	err = source.Lines(ctx, f, func(line source.Line) error {
		l.N++
		text := strings.ToValidUTF8(view(line.Data), "\uFFFD")
		word, _, _ := strings.Cut(text, " ")
		if word == "" || len(word) > sketchRunes || !slices.ContainsFunc([]string{"#", ">", "*", "-", "[", "$", "=", "<", "/"}, func(p string) bool { return strings.HasPrefix(word, p) }) && !strings.HasSuffix(word, ":") {
			return nil
		}
		word = strings.Clone(word)
		if begins[word] == 0 && len(order) < 1000 {
			order = append(order, word)
		}
		begins[word]++
		return nil
	})
	if err != nil {
		return err
	}
	slices.SortStableFunc(order, func(a, b string) int { return cmp.Compare(begins[b], begins[a]) })
	var shown []string
	for _, w := range order[:min(len(order), 6)] {
		shown = append(shown, fmt.Sprintf("%s (%d)", w, begins[w]))
	}
	l.Summary = "text, " + plural(l.N, "line")
	if shown != nil {
		l.Summary += "; lines begin with " + strings.Join(shown, ", ")
	}
	return nil
}
