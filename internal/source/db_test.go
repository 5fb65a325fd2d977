package source

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/ncruces/go-sqlite3"
)

// writer opens a real connection, as the tool that owns the database would.
func writer(t testing.TB, path string, statements ...string) *sqlite3.Conn {
	t.Helper()
	c, err := sqlite3.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	exec(t, c, statements...)
	return c
}

func exec(t testing.TB, c *sqlite3.Conn, statements ...string) {
	t.Helper()
	for _, s := range statements {
		if err := c.Exec(s); err != nil {
			t.Fatalf("%s: %v", s, err)
		}
	}
}

// listing is every file in dir with its size, mode and time.
func listing(t testing.TB, dir string) string {
	t.Helper()
	var b strings.Builder
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		fmt.Fprintln(&b, path, info.Size(), info.Mode(), info.ModTime().UnixNano())
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// rows runs sql on a snapshot of path, checks that nothing in its folder changed, and
// renders each row.
func rows(t testing.TB, path, sql string) ([]string, error) {
	t.Helper()
	before := listing(t, filepath.Dir(path))
	defer func() {
		t.Helper()
		if after := listing(t, filepath.Dir(path)); after != before {
			t.Errorf("reading changed the folder:\ngot  %s\nwant %s", after, before)
		}
	}()
	d, err := OpenDB(path)
	if err != nil {
		return nil, err
	}
	defer d.Close()
	var got []string
	err = d.Query(context.Background(), sql, nil, func(columns []string, values []any) error {
		var b strings.Builder
		for i, v := range values {
			if b.Len() > 0 {
				b.WriteByte(' ')
			}
			fmt.Fprintf(&b, "%s=%v", columns[i], v)
		}
		got = append(got, b.String())
		return nil
	})
	return got, err
}

func wantRows(t testing.TB, path, sql string, want ...string) {
	t.Helper()
	got, err := rows(t, path, sql)
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%s\ngot  %q\nwant %q", sql, got, want)
	}
}

func TestQueryReadsUnderAWriterInWALMode(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.db")
	c := writer(t, path,
		"PRAGMA journal_mode = wal", "PRAGMA wal_autocheckpoint = 0",
		"CREATE TABLE t (id INTEGER PRIMARY KEY, say TEXT)", "INSERT INTO t VALUES (1, 'heron')")
	wantRows(t, path, "SELECT * FROM t", "id=1 say=heron")

	exec(t, c, "INSERT INTO t VALUES (2, 'crane')")
	wantRows(t, path, "SELECT say FROM t", "say=heron", "say=crane")

	exec(t, c, "BEGIN IMMEDIATE", "INSERT INTO t VALUES (3, 'stork')")
	wantRows(t, path, "SELECT say FROM t", "say=heron", "say=crane")

	exec(t, c, "COMMIT", "PRAGMA wal_checkpoint(TRUNCATE)", "INSERT INTO t VALUES (4, 'egret')")
	wantRows(t, path, "SELECT count(*) AS n FROM t", "n=4")

	exec(t, c, "DELETE FROM t", "PRAGMA wal_checkpoint(RESTART)", "INSERT INTO t VALUES (5, 'ibis')")
	wantRows(t, path, "SELECT say FROM t", "say=ibis")
}

func TestQueryReadsOldRowsInTheMiddleOfATransaction(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.db")
	c := writer(t, path, "PRAGMA cache_size = 2", "PRAGMA cache_spill = 1",
		"CREATE TABLE t (id INTEGER PRIMARY KEY, say TEXT)",
		"WITH RECURSIVE c(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM c WHERE i < 500) INSERT INTO t SELECT i, 'old'||hex(zeroblob(500)) FROM c")
	sql := "SELECT count(*) AS n, sum(say GLOB 'old*') AS old FROM t"
	wantRows(t, path, sql, "n=500 old=500")
	exec(t, c, "BEGIN IMMEDIATE", "UPDATE t SET say = 'new'||hex(zeroblob(500))", "DELETE FROM t WHERE id > 300")
	if raw, _ := os.ReadFile(path); !strings.Contains(string(raw), "new000") {
		t.Fatal("the writer did not spill to the file, so this tests nothing")
	}
	wantRows(t, path, sql, "n=500 old=500")
	exec(t, c, "COMMIT")
	wantRows(t, path, sql, "n=300 old=0")
}

func TestOpenDBNamesWhatIsWrong(t *testing.T) {
	dir := t.TempDir()
	c := writer(t, filepath.Join(dir, "good.db"), "CREATE TABLE t (a)", "INSERT INTO t VALUES (hex(zeroblob(9000)))")
	c.Close()
	good, err := os.ReadFile(filepath.Join(dir, "good.db"))
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range []struct {
		name string
		data []byte
		want string
		is   error
	}{
		{"text", []byte(strings.Repeat("not a database ", 100)), "not a SQLite database, or encrypted", ErrNotDatabase},
		{"tiny", []byte("SQLite format 3\x00"), "not a SQLite database, or encrypted", ErrNotDatabase},
		{"page size", []byte(dbMagic + "\x03\x03" + strings.Repeat("\x00", 500)), "not a SQLite database: page size 771", ErrNotDatabase},
		{"cut short", good[:len(good)-4096], fmt.Sprintf("cut short: %d of %d bytes", len(good)-4096, len(good)), nil},
	} {
		t.Run(row.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "x.db")
			if err := os.WriteFile(path, row.data, 0o600); err != nil {
				t.Fatal(err)
			}
			_, err := rows(t, path, "SELECT * FROM t")
			if want := path + ": " + row.want; err == nil || err.Error() != want {
				t.Errorf("got %v, want %s", err, want)
			}
			if row.is != nil && !errors.Is(err, row.is) {
				t.Errorf("got %v, want it to wrap %v", err, row.is)
			}
		})
	}
}

func TestEmptyFileIsADatabaseWithoutTables(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.db")
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	wantRows(t, path, "SELECT count(*) AS n FROM sqlite_schema", "n=0")
}

func TestPrepareRefusesAllButOneSelect(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.db")
	writer(t, path, "CREATE TABLE t (a, b)")
	d, err := OpenDB(path)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	for _, row := range []struct{ sql, want string }{
		{"SELECT a FROM t", ""},
		{" with x as (select 1) select * from x; -- the end", ""},
		{"SELECT json_extract(a, '$.x'), key FROM t, json_each(t.b)", ""},
		{"-- which\n /* and\nwhy */ SELECT a FROM t", ""},
		{"SELECT c FROM t", "no such column: c"},
		{"SELECT a FROM nowhere", "no such table: nowhere"},
		{"SELECT a FROM t; SELECT b FROM t", "more than one statement"},
		{"SELECT a FROM t; nonsense", "more than one statement"},
		{"", "no statement"},
		{"PRAGMA user_version", "not authorized"},
		{"ATTACH '/tmp/x.db' AS x", "not authorized"},
		{"EXPLAIN SELECT a FROM t", "only SELECT and WITH are allowed"},
		{"/* SELECT */ EXPLAIN SELECT a FROM t", "only SELECT and WITH are allowed"},
		{"VALUES (1)", "only SELECT and WITH are allowed"},
		{"WITH x AS (SELECT 1) DELETE FROM t", "not authorized"},
		{"INSERT INTO t VALUES (1, 2)", "not authorized"},
		{"SELECT load_extension('x')", "no such function"},
	} {
		err := d.Prepare(row.sql)
		if (err == nil) != (row.want == "") || err != nil && !strings.Contains(err.Error(), row.want) {
			t.Errorf("%q: got %v, want %q", row.sql, err, row.want)
		}
	}
}

func open(t testing.TB, path string) *DB {
	t.Helper()
	d, err := OpenDB(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { d.Close() })
	return d
}

func TestQueryTypesAndArguments(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.db")
	writer(t, path, "CREATE TABLE t (a, b, c, d, e, f, g)",
		"INSERT INTO t VALUES (NULL, 9007199254740993, 1.5, 'grün', x'00ff', '', x'')")
	d := open(t, path)
	one := func(sql string, args map[string]any) (columns []string, values []any) {
		t.Helper()
		err := d.Query(context.Background(), sql, args, func(c []string, v []any) error {
			columns, values = c, append(values, v...)
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		return columns, values
	}
	columns, values := one("SELECT *, a AS h FROM t", nil)
	if want := []string{"a", "b", "c", "d", "e", "f", "g", "h"}; !reflect.DeepEqual(columns, want) {
		t.Errorf("got %q, want %q", columns, want)
	}
	want := []any{nil, int64(9007199254740993), 1.5, "grün", []byte{0, 255}, "", []byte{}, nil}
	if !reflect.DeepEqual(values, want) {
		t.Errorf("got %#v, want %#v", values, want)
	}
	args := map[string]any{"b": true, "i": 7, "j": int64(8), "f": 2.5, "s": "x", "d": []byte("y"), "n": nil, "unused": 1}
	_, values = one("SELECT :b, :i, :j, :f, :s, :d, :n, :missing", args)
	if want := []any{int64(1), int64(7), int64(8), 2.5, "x", []byte("y"), nil, nil}; !reflect.DeepEqual(values, want) {
		t.Errorf("got %#v, want %#v", values, want)
	}
	// The statement is kept; what was bound to it is not.
	if _, values = one("SELECT :s", map[string]any{"s": "x"}); values[0] != "x" {
		t.Errorf("got %v", values)
	}
	if _, values = one("SELECT :s", nil); values[0] != nil {
		t.Errorf("got %v from an earlier run", values)
	}
	err := d.Query(context.Background(), "SELECT :s", map[string]any{"s": struct{}{}}, nil)
	if want := path + ": sql: :s: a struct {} cannot be bound"; err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}

func TestQueryWithinQuery(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.db")
	writer(t, path, "CREATE TABLE t (a)", "INSERT INTO t VALUES ('heron'), ('crane')")
	d := open(t, path)
	var got []string
	err := d.Query(context.Background(), "SELECT a FROM t", nil, func(_ []string, outer []any) error {
		return d.Query(context.Background(), "SELECT a FROM t", nil, func(_ []string, inner []any) error {
			got = append(got, outer[0].(string)+" "+inner[0].(string))
			return nil
		})
	})
	if want := []string{"heron heron", "heron crane", "crane heron", "crane crane"}; err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("got %q, %v, want %q", got, err, want)
	}
}

func TestQueryStops(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.db")
	writer(t, path, "CREATE TABLE t (a)", "INSERT INTO t VALUES (1), (2), (3)")
	endless := "WITH RECURSIVE c(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM c) SELECT count(*) FROM c"
	d := open(t, path)
	ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
	defer cancel()
	if err := d.Query(ctx, endless, nil, nil); !errors.Is(err, context.DeadlineExceeded) || !strings.HasPrefix(err.Error(), path) {
		t.Errorf("context: got %v", err)
	}
	d.timeMax = 50 * time.Millisecond
	if err := d.Query(context.Background(), endless, nil, nil); !errors.Is(err, ErrTooLarge) || !strings.Contains(err.Error(), "sqlTimeMax (50ms)") {
		t.Errorf("time: got %v", err)
	}
	d.rowsMax = 2
	n := 0
	count := func([]string, []any) error { n++; return nil }
	if err := d.Query(context.Background(), "SELECT a FROM t", nil, count); !errors.Is(err, ErrTooLarge) || n != 2 || !strings.Contains(err.Error(), "sqlRowsMax (2)") {
		t.Errorf("rows: got %v after %d", err, n)
	}
	enough := errors.New("enough")
	if err := d.Query(context.Background(), "SELECT a FROM t", nil, func([]string, []any) error { return enough }); err != enough {
		t.Errorf("callback: got %v", err)
	}
	if err := d.Query(context.Background(), "SELECT a FROM t LIMIT 2", nil, count); err != nil || n != 4 {
		t.Errorf("afterwards: got %v, %d rows", err, n)
	}
	d.Close()
	if err := d.Query(context.Background(), "SELECT a FROM t", nil, count); err == nil || err.Error() != path+": sql: closed" {
		t.Errorf("closed: got %v", err)
	}
}

func TestQueryHoldsLargeValuesAndNoMore(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.db")
	writer(t, path, "CREATE TABLE t (a)", "INSERT INTO t VALUES (hex(zeroblob(5000000)))")
	wantRows(t, path, "SELECT length(a || a) AS n, json_extract(json_object('x', a), '$.x') = a AS same FROM t", "n=20000000 same=1")
	_, err := rows(t, path, "SELECT length(hex(zeroblob(400000000))) AS n")
	if !errors.Is(err, ErrTooLarge) || !strings.Contains(err.Error(), "sqlMemoryMaxBytes") {
		t.Errorf("got %v", err)
	}
}

func TestColumns(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.db")
	writer(t, path, `CREATE TABLE "odd ""name""" (id, "Two Words", sum AS (id+1))`, "CREATE VIEW v AS SELECT 1 AS one, 2 AS two")
	d := open(t, path)
	for table, want := range map[string][]string{
		`odd "name"`: {"id", "Two Words", "sum"}, `ODD "NAME"`: {"id", "Two Words", "sum"}, "V": {"one", "two"}, "nowhere": nil,
	} {
		if got, err := d.Columns(table); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: got %q, %v, want %q", table, got, err, want)
		}
	}
}

func TestQuerySaysThatTheDatabaseChanged(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.db")
	c := writer(t, path, "PRAGMA journal_mode = wal", "PRAGMA wal_autocheckpoint = 0", "CREATE TABLE t (a)", "INSERT INTO t VALUES ('old')")
	d := open(t, path)
	read := func() (got []string, err error) {
		err = d.Query(context.Background(), "SELECT a FROM t", nil, func(_ []string, values []any) error {
			got = append(got, strings.Clone(values[0].(string)))
			return nil
		})
		return got, err
	}
	exec(t, c, "INSERT INTO t VALUES ('new')")
	if got, err := read(); err != nil || !reflect.DeepEqual(got, []string{"old"}) || d.Changed() {
		t.Errorf("a WAL that grew: got %q, %v, changed %v", got, err, d.Changed())
	}
	d = open(t, path)
	exec(t, c, "PRAGMA wal_checkpoint(TRUNCATE)", "INSERT INTO t VALUES ('newest')")
	if !d.Changed() {
		t.Error("a checkpoint was not noticed")
	}
	if got, err := read(); len(got) > 0 || !errors.Is(err, ErrChanged) || !strings.HasPrefix(err.Error(), path+": ") {
		t.Errorf("after a checkpoint: got %q, %v", got, err)
	}
	if err := d.Reopen(); err != nil {
		t.Fatal(err)
	}
	if got, err := read(); err != nil || !reflect.DeepEqual(got, []string{"old", "new", "newest"}) {
		t.Errorf("after Reopen: got %q, %v", got, err)
	}
	if err := d.Reopen(); err != nil {
		t.Fatal(err)
	}
	exec(t, c, "PRAGMA wal_checkpoint(TRUNCATE)", "INSERT INTO t VALUES ('at last')")
	if got, err := read(); len(got) == 0 || !errors.Is(err, ErrChanged) {
		t.Errorf("the last snapshot, after a checkpoint: got %q, %v", got, err)
	}
}

func TestSeveralSnapshotsAtOnce(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.db")
	writer(t, path, "PRAGMA journal_mode = wal", "CREATE TABLE t (a)", "INSERT INTO t VALUES (1), (2), (3)")
	for range 4 {
		t.Run("", func(t *testing.T) {
			t.Parallel()
			for range 20 {
				wantRows(t, path, "SELECT sum(a) AS n FROM t", "n=6")
			}
		})
	}
}
