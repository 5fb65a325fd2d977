package torture

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"os"
	"slices"
	"strings"

	"parlance/internal/source"
)

const sqliteMagic = "SQLite format 3\x00"

// beside writes a file beside the victim; undo removes it.
func (v *victim) beside(suffix string, data []byte) error {
	if _, err := os.Lstat(v.path + suffix); err == nil {
		return errNotHere // it has one of its own
	}
	return os.WriteFile(v.path+suffix, data, 0o600)
}

func (v *victim) without(suffixes ...string) func() error {
	had := map[string]bool{}
	for _, s := range suffixes {
		_, err := os.Lstat(v.path + s)
		had[s] = err == nil
	}
	return func() error {
		for _, s := range suffixes {
			if !had[s] {
				os.Remove(v.path + s)
			}
		}
		return nil
	}
}

// paged are the size of a page and the number of pages of a database.
func paged(data []byte) (size, pages int) {
	if len(data) < 100 {
		return 0, 0
	}
	if size = int(binary.BigEndian.Uint16(data[16:])); size == 1 {
		size = 1 << 16
	}
	if size < 512 {
		return 0, 0
	}
	return size, len(data) / size
}

// spoiled is a database whose pages but the first are nonsense.
func spoiled(data []byte) []byte {
	size, _ := paged(data)
	out := bytes.Clone(data)
	for i := size; i < len(out); i++ {
		out[i] = 0xa5
	}
	return out
}

// walOf is a write-ahead log of one transaction that writes all pages of a database, by
// https://sqlite.org/fileformat2.html#the_write_ahead_log.
func walOf(data []byte) []byte {
	size, pages := paged(data)
	put := binary.BigEndian.PutUint32
	var a, b uint32
	sum := func(of []byte) {
		for ; len(of) >= 8; of = of[8:] {
			a += binary.BigEndian.Uint32(of) + b
			b += binary.BigEndian.Uint32(of[4:]) + a
		}
	}
	out := make([]byte, 32)
	put(out, 0x377f0683)
	put(out[4:], 3007000)
	put(out[8:], uint32(size))
	put(out[16:], 0x5a175a17)
	put(out[20:], 0x17a517a5)
	sum(out[:24])
	put(out[24:], a)
	put(out[28:], b)
	for i := range pages {
		frame := make([]byte, 24)
		put(frame, uint32(i+1))
		if i == pages-1 {
			put(frame[4:], uint32(pages))
		}
		copy(frame[8:16], out[16:24])
		page := data[i*size : (i+1)*size]
		sum(frame[:8])
		sum(page)
		put(frame[16:], a)
		put(frame[20:], b)
		out = append(append(out, frame...), page...)
	}
	return out
}

// journalOf is a hot journal that holds all pages of a database but the first, by
// https://sqlite.org/fileformat2.html#the_rollback_journal.
func journalOf(data []byte) []byte {
	const nonce, sector = 0x1234, 512
	size, pages := paged(data)
	put := binary.BigEndian.PutUint32
	out := make([]byte, sector)
	copy(out, "\xd9\xd5\x05\xf9\x20\xa1\x63\xd7")
	put(out[8:], uint32(pages-1))
	put(out[12:], nonce)
	put(out[16:], uint32(pages))
	put(out[20:], sector)
	put(out[24:], uint32(size))
	word := make([]byte, 4)
	for i := 1; i < pages; i++ {
		page := data[i*size : (i+1)*size]
		sum := uint32(nonce)
		for k := size - 200; k > 0; k -= 200 {
			sum += uint32(page[k])
		}
		put(word, uint32(i+1))
		out = append(append(out, word...), page...)
		put(word, sum)
		out = append(out, word...)
	}
	return out
}

// In "wal", "shm" and "journal" the pages of the file itself are nonsense: the right ones
// are beside it.
func (v *victim) pagesBeside(suffix string, made func([]byte) []byte, more map[string][]byte) []damage {
	if size, pages := paged(v.data); size == 0 || pages < 2 {
		return nil
	}
	undo := v.without("-wal", "-shm", "-journal")
	return []damage{{place: "all pages", undo: undo, do: func() error {
		if _, err := os.Lstat(v.path + "-wal"); err == nil {
			return errNotHere // its pages are there already
		}
		for s, data := range more {
			if err := v.beside(s, data); err != nil {
				return err
			}
		}
		if err := v.beside(suffix, made(v.data)); err != nil {
			return err
		}
		return v.put(spoiled(v.data))
	}}}
}

func wals(r *run, v *victim) []damage { return v.pagesBeside("-wal", walOf, nil) }

func shms(r *run, v *victim) []damage {
	return v.pagesBeside("-wal", walOf, map[string][]byte{"-shm": bytes.Repeat([]byte{0x5a}, 32<<10)})
}

func journals(r *run, v *victim) []damage { return v.pagesBeside("-journal", journalOf, nil) }

// tornWALs: a transaction that is not there whole does not count, the file does.
func tornWALs(r *run, v *victim) []damage {
	size, _ := paged(v.data)
	if size == 0 {
		return nil
	}
	wal := walOf(v.data)
	var out []damage
	for _, n := range spread(len(wal), r.places/2) {
		out = append(out, damage{place: fmt.Sprintf("byte %d", n), undo: v.without("-wal"), do: func() error { return v.beside("-wal", wal[:n]) }})
	}
	return out
}

func locked(r *run, v *victim) []damage {
	var unlock func() error
	return []damage{{place: "the file", do: func() (err error) {
		unlock, err = lock(v.path)
		return err
	}, undo: func() error {
		if unlock != nil {
			return unlock()
		}
		return nil
	}}}
}

func pages(r *run, v *victim) []damage {
	size, n := paged(v.data)
	var out []damage
	for _, i := range spread(n, r.places) {
		for _, with := range []byte{0x00, 0xff, 0x0d} {
			data := bytes.Clone(v.data)
			for k := i * size; k < (i+1)*size; k++ {
				if i > 0 || k >= 100 { // "cut" and "nul-block" are for the header
					data[k] = with
				}
			}
			// A page that looks like an empty one is one.
			out = append(out, damage{place: fmt.Sprintf("page %d %#02x", i+1, with), do: v.as(data), touched: v.reads, quiet: with != 0xff})
		}
	}
	return out
}

// edited makes a damage of SQL: the statements run on a copy, which takes the file's place.
func (r *run) edited(v *victim, place, sql string) damage {
	return damage{place: place, touched: v.reads, quiet: true, undo: func() error { return os.RemoveAll(v.path + ".edited") }, do: func() error {
		if _, err := os.Lstat(v.path + "-wal"); err == nil {
			return errNotHere // it would lie over the copy too
		}
		if err := source.EditedDB(r.ctx, v.path, v.path+".edited", sql); err != nil {
			return errNotHere // the schema does not allow it, so no tool writes it
		}
		return os.Rename(v.path+".edited", v.path)
	}}
}

// A table of a victim, with its rows as text.
type table struct {
	name    string
	columns []string
	rows    [][]string
}

func quoteName(name string) string { return `"` + strings.ReplaceAll(name, `"`, `""`) + `"` }
func quoteText(text string) string { return `'` + strings.ReplaceAll(text, `'`, `''`) + `'` }

// rowsMax bounds how many rows of a table are damaged.
const rowsMax = 200

func (r *run) tables(v *victim) []table {
	db, err := source.OpenDB(v.path)
	if err != nil {
		return nil
	}
	defer db.Close()
	var out []table
	_ = db.Query(r.ctx, "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY name", nil, func(_ []string, values []any) error {
		out = append(out, table{name: strings.Clone(fmt.Sprint(values[0]))})
		return nil
	})
	for i := range out {
		t := &out[i]
		_ = db.Query(r.ctx, fmt.Sprintf("SELECT * FROM %s ORDER BY rowid LIMIT %d", quoteName(t.name), rowsMax), nil, func(columns []string, values []any) error {
			if t.columns == nil {
				for _, c := range columns {
					t.columns = append(t.columns, strings.Clone(c))
				}
			}
			row := make([]string, len(values))
			for k, value := range values {
				switch value := value.(type) {
				case nil:
					row[k] = ""
				case []byte:
					row[k] = string(value)
				default:
					row[k] = strings.Clone(fmt.Sprint(value))
				}
			}
			t.rows = append(t.rows, row)
			return nil
		})
	}
	return out
}

// A cell is one value of a row.
type cell struct {
	table  *table
	row    int
	column string
	value  string
}

func (c cell) place() string {
	return fmt.Sprintf("%s row %d %s", c.table.name, c.row+1, c.column)
}

func (c cell) set(sql string) string {
	t := quoteName(c.table.name)
	return fmt.Sprintf("UPDATE %s SET %s = %s WHERE rowid = (SELECT rowid FROM %s ORDER BY rowid LIMIT 1 OFFSET %d)", t, quoteName(c.column), sql, t, c.row)
}

func (r *run) cells(v *victim, want func(value string) bool) []cell {
	var out []cell
	for _, t := range r.tables(v) {
		for i, row := range t.rows {
			for k, value := range row {
				if want(value) {
					out = append(out, cell{&t, i, t.columns[k], value})
				}
			}
		}
	}
	return some(out, r.places)
}

// A cell may break its own row, but no other: what is missing without the row may be missing.
func (r *run) onCell(v *victim, c cell, sql string) damage {
	d := r.edited(v, c.place(), c.set(sql))
	d.touched = nil
	// A row that holds a whole conversation may be one of several states of it, of which another
	// one counts now.
	row, held := strings.Join(c.table.rows[c.row], "\n"), 0
	holds := func(s said) bool {
		head, _, _ := strings.Cut(s.body(), "\n")
		return head != "" && strings.Contains(row, head)
	}
	of := map[string]bool{}
	for _, s := range v.whole.said {
		if holds(s) {
			held++
			of[s.conversation] = true
		}
	}
	// So is everything that hangs by a link from row to row.
	at := slices.Index(c.table.columns, c.column)
	for i, other := range c.table.rows {
		if i != c.row && (slices.Contains(other, c.value) || other[at] != "" && slices.Contains(c.table.rows[c.row], other[at])) {
			held = 2
		}
	}
	if held > 1 {
		d.touched = func(s said) bool { return of[s.conversation] }
	}
	t := quoteName(c.table.name)
	gone := r.edited(v, "", fmt.Sprintf("DELETE FROM %s WHERE rowid = (SELECT rowid FROM %s ORDER BY rowid LIMIT 1 OFFSET %d)", t, t, c.row))
	d.removal = gone.do
	return d
}

func cellNulls(r *run, v *victim) []damage {
	var out []damage
	for _, c := range r.cells(v, func(value string) bool { return value != "" }) {
		out = append(out, r.onCell(v, c, "NULL"))
	}
	return out
}

func cellTypes(r *run, v *victim) []damage {
	values := []string{"7", "'zz'", "x'00ff80'", "1e999", "''", "-1"}
	var out []damage
	for i, c := range r.cells(v, func(string) bool { return true }) {
		d := r.onCell(v, c, values[i%len(values)])
		d.place += " " + values[i%len(values)]
		out = append(out, d)
	}
	return out
}

func cellJSON(r *run, v *victim) []damage {
	var out []damage
	for i, c := range r.cells(v, func(value string) bool { return len(fieldsOf([]byte(value))) > 0 }) {
		data := []byte(c.value)
		add := func(place, text string) {
			d := r.onCell(v, c, quoteText(text))
			d.place += " " + place
			out = append(out, d)
		}
		add("cut", c.value[:len(c.value)/2])
		fields := fieldsOf(data)
		for n, f := range some(fields, 6) {
			values := append(others(data[f.from:f.to]), "null")
			value := values[(i+n)%len(values)]
			add(f.pointer()+" "+value, string(splice(data, f.from, f.to, value)))
		}
	}
	return some(out, r.places)
}

func rowsGone(r *run, v *victim) []damage {
	var out []damage
	for _, t := range r.tables(v) {
		for _, i := range spread(len(t.rows), 20) {
			name := quoteName(t.name)
			out = append(out, r.edited(v, fmt.Sprintf("%s row %d", t.name, i+1), fmt.Sprintf("DELETE FROM %s WHERE rowid = (SELECT rowid FROM %s ORDER BY rowid LIMIT 1 OFFSET %d)", name, name, i)))
		}
	}
	return some(out, r.places)
}

func newerSchema(r *run, v *victim) []damage {
	sql := "CREATE TABLE zz_new (a, b); INSERT INTO zz_new VALUES (1, 'x');"
	for _, t := range r.tables(v) {
		sql += fmt.Sprintf("ALTER TABLE %s ADD COLUMN zz_new TEXT DEFAULT 'zz';", quoteName(t.name))
	}
	d := r.edited(v, "all tables", sql)
	d.touched, d.quiet = nil, false
	return []damage{d}
}

func otherSchema(r *run, v *victim) []damage {
	var out []damage
	for _, t := range r.tables(v) {
		for _, c := range t.columns {
			out = append(out, r.edited(v, t.name+"."+c, fmt.Sprintf("ALTER TABLE %s RENAME COLUMN %s TO zz_renamed;", quoteName(t.name), quoteName(c))))
		}
		out = append(out, r.edited(v, t.name, fmt.Sprintf("ALTER TABLE %s RENAME TO zz_renamed;", quoteName(t.name))))
	}
	return some(out, r.places)
}
