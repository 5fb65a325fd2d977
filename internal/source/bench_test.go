package source

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ncruces/go-sqlite3"
)

func BenchmarkLines(b *testing.B) {
	for _, long := range []int{100, 18_000, 4 << 20} {
		b.Run(fmt.Sprint(long), func(b *testing.B) {
			data := bytes.Repeat([]byte(strings.Repeat("x", long-1)+"\n"), max(1, (64<<20)/long))
			b.SetBytes(int64(len(data)))
			b.ReportAllocs()
			for b.Loop() {
				n := 0
				if err := Lines(context.Background(), bytes.NewReader(data), func(l Line) error { n++; return nil }); err != nil || n == 0 {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkQuery reads 64 MB of rows through the overlay, with and without a WAL over all
// pages, and as SQLite would by itself.
func BenchmarkQuery(b *testing.B) {
	for _, rowBytes := range []int{200, 6000, 100_000} {
		dir := b.TempDir()
		rows := (64 << 20) / rowBytes
		fill := fmt.Sprintf("WITH RECURSIVE c(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM c WHERE i < %d) INSERT INTO t SELECT i, hex(zeroblob(%d)) FROM c", rows, rowBytes/2)
		plain, wal := filepath.Join(dir, "plain.db"), filepath.Join(dir, "wal.db")
		writer(b, plain, "CREATE TABLE t (id INTEGER PRIMARY KEY, say TEXT)", fill).Close()
		writer(b, wal, "PRAGMA journal_mode = wal", "PRAGMA wal_autocheckpoint = 0", "CREATE TABLE t (id INTEGER PRIMARY KEY, say TEXT)", fill)
		for name, path := range map[string]string{"overlay": plain, "overlay with WAL": wal} {
			b.Run(fmt.Sprintf("%s/%d", name, rowBytes), func(b *testing.B) {
				d, err := OpenDB(path)
				if err != nil {
					b.Fatal(err)
				}
				defer d.Close()
				b.SetBytes(64 << 20)
				for b.Loop() {
					n := 0
					if err := d.Query(context.Background(), "SELECT say FROM t", nil, func(_ []string, values []any) error {
						n += len(values[0].(string))
						return nil
					}); err != nil || n < 60<<20 {
						b.Fatal(n, err)
					}
				}
			})
		}
		b.Run(fmt.Sprintf("plain/%d", rowBytes), func(b *testing.B) {
			c, err := sqlite3.Open(plain)
			if err != nil {
				b.Fatal(err)
			}
			defer c.Close()
			b.SetBytes(64 << 20)
			for b.Loop() {
				stmt, _, err := c.Prepare("SELECT say FROM t")
				if err != nil {
					b.Fatal(err)
				}
				n := 0
				for stmt.Step() {
					n += len(stmt.ColumnText(0))
				}
				if err := stmt.Close(); err != nil || n < 60<<20 {
					b.Fatal(n, err)
				}
			}
		})
	}
}

func BenchmarkOpenDB(b *testing.B) {
	for _, mib := range []int{0, 25} {
		b.Run(fmt.Sprintf("WAL of %d MiB", mib), func(b *testing.B) {
			path := filepath.Join(b.TempDir(), "a.db")
			writer(b, path, "PRAGMA journal_mode = wal", "PRAGMA wal_autocheckpoint = 0", "CREATE TABLE t (say TEXT)",
				fmt.Sprintf("INSERT INTO t VALUES (hex(zeroblob(%d)))", mib<<19))
			info, err := os.Stat(path + "-wal")
			if err != nil || info.Size() < int64(mib)<<20 {
				b.Fatal(info, err)
			}
			for b.Loop() {
				d, err := OpenDB(path)
				if err != nil {
					b.Fatal(err)
				}
				d.Close()
			}
		})
	}
}
