package source

import (
	"context"
	"errors"
	"fmt"
	"math/bits"
	"regexp"
	"strconv"
	"strings"
	"sync/atomic"
	"time"
	"unsafe"

	"github.com/ncruces/go-sqlite3"
	"github.com/ncruces/go-sqlite3/vfs/readervfs"
)

// A DB is a snapshot of a SQLite database and the committed frames of its WAL. SQLite never
// opens the file itself, so nothing is locked or left behind. A DB is for one goroutine at
// a time; Query may be called again from within its callback.
type DB struct {
	path   string
	over   *overlay
	conn   *sqlite3.Conn
	idle   map[string]*sqlite3.Stmt // compiled statements by their text
	broken error                    // set when SQLite is in no state to go on

	reopens int
	rowsMax int           // sqlRowsMax
	timeMax time.Duration // sqlTimeMax
}

// snapshots numbers the names under which SQLite knows overlays.
var snapshots atomic.Int64

// OpenDB opens a snapshot. It fails with an error that names the path if the file is not a
// SQLite database (ErrNotDatabase) or cannot be shared. An empty file is a database without
// tables.
func OpenDB(path string) (*DB, error) {
	for opens := 1; ; opens++ {
		d, err := openOnce(path)
		if quiet := err == nil && !d.Changed(); quiet || err != nil && !errors.Is(err, ErrChanged) || opens == sqlOpensMax {
			return d, err
		}
		if err == nil {
			d.Close()
		}
	}
}

func openOnce(path string) (*DB, error) {
	over, err := openOverlay(path)
	if err != nil {
		return nil, err
	}
	d := &DB{path: path, over: over, idle: make(map[string]*sqlite3.Stmt), rowsMax: sqlRowsMax, timeMax: sqlTimeMax}
	if err := d.guard(d.connect); err != nil {
		err = d.explain(err)
		d.Close()
		return nil, err
	}
	return d, nil
}

func (d *DB) connect() (err error) {
	name := "snapshot" + strconv.FormatInt(snapshots.Add(1), 10)
	readervfs.Create(name, d.over)
	defer readervfs.Delete(name)
	ctx := context.Background()
	if bits.UintSize == 64 { // address space only; it is used as far as rows need it
		ctx = sqlite3.WithMaxMemory(ctx, sqlMemoryMaxBytes)
	}
	if d.conn, err = sqlite3.OpenContext(ctx, "file:"+name+"?vfs=reader&mode=ro"); err != nil {
		return err
	}
	// Sorting in memory: someone's conversations do not belong into files in /tmp.
	if err := d.conn.Exec("PRAGMA temp_store = memory"); err != nil {
		return err
	}
	return d.conn.SetAuthorizer(func(action sqlite3.AuthorizerActionCode, _, _, _, _ string) sqlite3.AuthorizerReturnCode {
		switch action {
		case sqlite3.AUTH_SELECT, sqlite3.AUTH_READ, sqlite3.AUTH_RECURSIVE, sqlite3.AUTH_FUNCTION:
			return sqlite3.AUTH_OK
		}
		return sqlite3.AUTH_DENY
	})
}

// Close ends the snapshot.
func (d *DB) Close() error {
	d.broken = nil
	d.guard(func() error {
		for _, stmt := range d.idle {
			stmt.Close()
		}
		clear(d.idle)
		return d.conn.Close()
	})
	d.broken = errors.New("closed")
	return d.over.Close()
}

// Changed reports whether the tool wrote to its database in a way that disturbs the
// snapshot, so that rows read since may be torn. What is appended to the WAL does not.
func (d *DB) Changed() bool { return !d.over.intact() }

// Reopen replaces the snapshot by a new one of the same file, which it leaves in place if
// that fails. It is not for the callback of Query.
func (d *DB) Reopen() error {
	fresh, err := OpenDB(d.path)
	if err != nil {
		return err
	}
	fresh.reopens = d.reopens + 1
	d.Close()
	*d = *fresh
	return nil
}

// Columns lists the columns of a table or view in order; none if there is no such table.
// Names compare without case, as in SQLite.
func (d *DB) Columns(table string) (columns []string, err error) {
	found := false
	err = d.Query(context.Background(),
		"SELECT 1 FROM sqlite_schema WHERE type IN ('table', 'view') AND name = :name COLLATE NOCASE",
		map[string]any{"name": table}, func([]string, []any) error { found = true; return nil })
	if err != nil || !found {
		return nil, err
	}
	stmt, err := d.take(`SELECT * FROM "` + strings.ReplaceAll(table, `"`, `""`) + `"`)
	if err != nil {
		return nil, d.explain(err)
	}
	defer d.put(stmt)
	return columnNames(stmt), nil
}

func columnNames(stmt *sqlite3.Stmt) []string {
	names := make([]string, stmt.ColumnCount())
	for i := range names {
		names[i] = stmt.ColumnName(i)
	}
	return names
}

// Query runs one SELECT (or WITH … SELECT) and hands over each row. args bind :name
// parameters, which may be nil, bool, int, int64, float64, string or []byte; those that are
// not in args are NULL. A value is nil, int64, float64, string or []byte; columns and
// values, strings too, are valid until fn returns. ctx stops a running statement; so do
// sqlRowsMax and sqlTimeMax. An error of fn ends it and is returned as it is.
//
// Query wraps ErrChanged if the snapshot was disturbed meanwhile. It ends there: Reopen and
// run again. After the second Reopen it goes on as far as SQLite does, so that a database
// which is written all the time can be read, and wraps ErrChanged at the end: some rows may
// be torn, double or missing.
func (d *DB) Query(ctx context.Context, sql string, args map[string]any, fn func(columns []string, values []any) error) error {
	stmt, err := d.take(sql)
	if err != nil {
		return d.explain(err)
	}
	defer d.put(stmt)
	if err := d.bind(stmt, args); err != nil {
		return d.explain(err)
	}
	limit := &stepLimit{Context: ctx, most: d.timeMax}
	var (
		columns = columnNames(stmt)
		values  = make([]any, len(columns))
		buf     []byte // holds all texts and blobs of one row
	)
	changed := false
	for rows := 0; ; rows++ {
		var row bool
		err := d.guard(func() (err error) {
			limit.until, d.over.touched = time.Now().Add(d.timeMax), false
			defer d.conn.SetInterrupt(d.conn.SetInterrupt(limit))
			if row = stmt.Step(); !row {
				return stmt.Err()
			}
			buf, err = readRow(stmt, values, buf[:0])
			return err
		})
		changed = changed || d.over.touched && d.Changed()
		switch {
		case errors.Is(err, sqlite3.INTERRUPT):
			return fmt.Errorf("%s: sql: %w", d.path, limit.Err())
		case err != nil:
			return d.explain(err)
		case changed && (!row || d.reopens < sqlOpensMax-1):
			return fmt.Errorf("%s: %w", d.path, ErrChanged)
		case !row:
			return nil
		case rows == d.rowsMax:
			return fmt.Errorf("%s: sql: %w: more rows than sqlRowsMax (%d)", d.path, ErrTooLarge, d.rowsMax)
		}
		if err := fn(columns, values); err != nil {
			return err
		}
	}
}

// A stepLimit ends a step when its context ends, or at a time. SQLite asks for Err every
// thousand instructions.
type stepLimit struct {
	context.Context
	most  time.Duration
	until time.Time
}

func (s *stepLimit) Err() error {
	if err := s.Context.Err(); err != nil {
		return err
	}
	if time.Now().After(s.until) {
		return fmt.Errorf("%w: no row for sqlTimeMax (%v)", ErrTooLarge, s.most)
	}
	return nil
}

// readRow fills values. SQLite's memory is not lent out: it is unmapped on Close, and a
// string kept too long shall be wrong, not a crash. So texts and blobs are copied to buf,
// which is returned.
func readRow(stmt *sqlite3.Stmt, values []any, buf []byte) ([]byte, error) {
	for i := range values {
		switch stmt.ColumnType(i) {
		case sqlite3.NULL:
			values[i] = nil
		case sqlite3.INTEGER:
			values[i] = stmt.ColumnInt64(i)
		case sqlite3.FLOAT:
			values[i] = stmt.ColumnFloat(i)
		case sqlite3.TEXT:
			buf = append(buf, stmt.ColumnRawText(i)...)
			values[i] = textEnd(len(buf))
		default:
			buf = append(buf, stmt.ColumnRawBlob(i)...)
			values[i] = blobEnd(len(buf))
		}
	}
	start := 0
	for i, value := range values { // now that buf no longer moves
		switch end := value.(type) {
		case textEnd:
			values[i] = unsafe.String(unsafe.SliceData(buf[start:]), int(end)-start)
			start = int(end)
		case blobEnd:
			values[i] = buf[start:end:end]
			start = int(end)
		}
	}
	return buf, stmt.Err()
}

// Where a text or blob ends in the buffer of its row.
type textEnd int
type blobEnd int

func (d *DB) bind(stmt *sqlite3.Stmt, args map[string]any) (err error) {
	for name, arg := range args {
		i := stmt.BindIndex(":" + name)
		if i == 0 {
			continue
		}
		switch arg := arg.(type) {
		case nil:
			err = stmt.BindNull(i)
		case bool:
			err = stmt.BindBool(i, arg)
		case int:
			err = stmt.BindInt(i, arg)
		case int64:
			err = stmt.BindInt64(i, arg)
		case float64:
			err = stmt.BindFloat(i, arg)
		case string:
			err = stmt.BindText(i, arg)
		case []byte:
			err = stmt.BindBlob(i, arg)
		default:
			err = fmt.Errorf(":%s: a %T cannot be bound", name, arg)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// Prepare says what is wrong with a statement, without running it. Only a single SELECT or
// WITH is allowed.
func (d *DB) Prepare(sql string) error {
	stmt, err := d.take(sql)
	if err != nil {
		return d.explain(err)
	}
	d.put(stmt)
	return nil
}

// query matches what may be a query, after blanks and comments.
var query = regexp.MustCompile(`(?is)^(\s|--[^\n]*\n|/\*.*?\*/)*(SELECT|WITH)\b`)

// take gives a compiled statement, which put takes back.
func (d *DB) take(sql string) (stmt *sqlite3.Stmt, err error) {
	d.over.fault = nil
	if stmt = d.idle[sql]; stmt != nil {
		delete(d.idle, sql)
		return stmt, nil
	}
	err = d.guard(func() (err error) {
		var tail string
		if stmt, tail, err = d.conn.Prepare(sql); err != nil {
			return err
		}
		if stmt == nil {
			return errors.New("no statement")
		}
		// The authorizer refuses all that is no query, but "EXPLAIN SELECT" is one to it.
		if !query.MatchString(sql) || !stmt.ReadOnly() {
			err = errors.New("only SELECT and WITH are allowed")
		} else if more, _, moreErr := d.conn.Prepare(tail); more != nil || moreErr != nil {
			more.Close()
			err = errors.New("more than one statement")
		}
		if err != nil {
			stmt.Close()
		}
		return err
	})
	return stmt, err
}

func (d *DB) put(stmt *sqlite3.Stmt) {
	d.guard(func() error {
		sql := stmt.SQL()
		if d.idle[sql] != nil || len(d.idle) == sqlCachedMax {
			return stmt.Close()
		}
		stmt.Reset()
		d.idle[sql] = stmt
		return stmt.ClearBindings()
	})
}

// guard runs something that calls SQLite. On a page made to break it SQLite's code may
// trap, which shows as a panic; the connection is of no use then.
func (d *DB) guard(fn func() error) (err error) {
	if d.broken != nil {
		return d.broken
	}
	defer func() {
		switch trap := recover(); {
		case trap == nil:
		case fmt.Sprint(trap) == sqlite3.NOMEM.Error(): // a panic in the driver only
			err = sqlite3.NOMEM
		default:
			d.broken = fmt.Errorf("SQLite stopped: %v", trap)
			err = d.broken
		}
	}()
	return fn()
}

// explain says where an error of SQLite happened and drops its boilerplate.
func (d *DB) explain(err error) error {
	switch {
	case d.broken != nil:
		return fmt.Errorf("%s: sql: %w", d.path, d.broken)
	case d.over.fault != nil:
		err = d.over.fault
	case errors.Is(err, sqlite3.NOMEM):
		err = fmt.Errorf("%s: %w: sqlMemoryMaxBytes (%d)", d.path, ErrTooLarge, sqlMemoryMaxBytes)
	case errors.Is(err, sqlite3.NOTADB):
		err = fmt.Errorf("%s: %w", d.path, ErrNotDatabase)
	default:
		text := strings.TrimPrefix(strings.TrimPrefix(err.Error(), "sqlite3: "), "SQL logic error: ")
		err = fmt.Errorf("%s: sql: %s", d.path, text)
	}
	return d.over.orChanged(err)
}
