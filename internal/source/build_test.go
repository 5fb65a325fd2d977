package source

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestBuildDB(t *testing.T) {
	path := filepath.Join(t.TempDir(), "new file.db")
	if err := BuildDB(context.Background(), path, "CREATE TABLE t (id, x); INSERT INTO t VALUES ('a', 1), ('b', 2);"); err != nil {
		t.Fatal(err)
	}
	db, err := OpenDB(path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	n := 0
	if err := db.Query(context.Background(), "SELECT * FROM t", nil, func([]string, []any) error { n++; return nil }); err != nil || n != 2 {
		t.Errorf("%d rows, %v", n, err)
	}
	if err := BuildDB(context.Background(), path, "DROP TABLE t"); err == nil {
		t.Error("wrote to a file that was there")
	}
	if names, _ := filepath.Glob(filepath.Join(filepath.Dir(path), "*")); len(names) != 1 {
		t.Errorf("files left: %v", names)
	}
}

// The statements are a stranger's: they may fill their own database and nothing else.
func TestBuildDBStaysInItsFile(t *testing.T) {
	dir := t.TempDir()
	other := filepath.Join(dir, "other.db")
	for _, statements := range []string{
		"ATTACH '" + other + "' AS o; CREATE TABLE o.t (a)",
		"CREATE TABLE t (a); VACUUM INTO '" + other + "'",
		"PRAGMA journal_mode = wal",
		"SELECT load_extension('" + other + "')",
		"CREATE TABLE t (",
		"CREATE TABLE t (a); INSERT INTO t SELECT randomblob(70000000)",
	} {
		path := filepath.Join(dir, "own.db")
		if err := BuildDB(context.Background(), path, statements); err == nil {
			t.Errorf("%s: no error", statements)
		}
		if names, _ := filepath.Glob(filepath.Join(dir, "*")); len(names) != 0 {
			t.Errorf("%s: left %v", statements, names)
			os.RemoveAll(other)
		}
	}
}

func TestBuildDBEnds(t *testing.T) {
	ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
	defer cancel()
	err := BuildDB(ctx, filepath.Join(t.TempDir(), "x.db"), "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i FROM n) SELECT count(*) FROM n")
	if err == nil || !strings.Contains(err.Error(), "interrupted") {
		t.Errorf("got %v", err)
	}
}
