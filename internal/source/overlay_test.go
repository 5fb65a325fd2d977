package source

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A store is what lies in a folder for one database, by suffix.
type store map[string][]byte

// stored takes the files of the database at path, as they are at this moment. There is no
// -shm among them: it is of no use to us, and missing in copied homes.
func stored(t testing.TB, path string) store {
	t.Helper()
	s := store{}
	for _, suffix := range []string{"", "-wal", "-journal"} {
		if data, err := os.ReadFile(path + suffix); err == nil {
			s[suffix] = data
		}
	}
	return s
}

// put lays a store into a fresh folder that nobody may write to.
func (s store) put(t testing.TB) (path string) {
	t.Helper()
	dir := t.TempDir()
	path = filepath.Join(dir, "copy.db")
	for suffix, data := range s {
		if err := os.WriteFile(path+suffix, data, 0o400); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Chmod(dir, 0o500); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.Chmod(dir, 0o700) })
	return path
}

// walStore has one row in the database and two transactions in the WAL, of one row each.
func walStore(t testing.TB, page int) store {
	t.Helper()
	path := filepath.Join(t.TempDir(), "a.db")
	c := writer(t, path, fmt.Sprintf("PRAGMA page_size = %d", page), "PRAGMA journal_mode = wal", "PRAGMA wal_autocheckpoint = 0",
		"CREATE TABLE t (say TEXT)", "INSERT INTO t VALUES ('one')", "PRAGMA wal_checkpoint(TRUNCATE)",
		"INSERT INTO t VALUES ('two')", "INSERT INTO t VALUES ('three')")
	defer c.Close()
	return stored(t, path)
}

// journalStore is a database in the middle of a transaction that replaces 'old' by 'new'.
func journalStore(t testing.TB, page int, more ...string) store {
	t.Helper()
	path := filepath.Join(t.TempDir(), "a.db")
	c := writer(t, path, fmt.Sprintf("PRAGMA page_size = %d", page), "PRAGMA cache_size = 1", "PRAGMA cache_spill = 1")
	defer c.Close()
	exec(t, c, more...)
	exec(t, c, "CREATE TABLE t (say TEXT)",
		"WITH RECURSIVE c(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM c WHERE i < 40) INSERT INTO t SELECT 'old'||hex(zeroblob(100)) FROM c",
		"BEGIN IMMEDIATE", "UPDATE t SET say = 'new'||hex(zeroblob(100))")
	return stored(t, path)
}

func TestOverlayWAL(t *testing.T) {
	const page = 512
	frame := walFrameBytes + page
	two, three, one := []string{"say=one", "say=two"}, []string{"say=one", "say=two", "say=three"}, []string{"say=one"}
	for _, row := range []struct {
		name   string
		change func(s store)
		want   []string
	}{
		{"whole", func(s store) {}, three},
		{"cut in a header of a frame", func(s store) { s["-wal"] = s["-wal"][:len(s["-wal"])-frame+5] }, two},
		{"cut in a frame", func(s store) { s["-wal"] = s["-wal"][:len(s["-wal"])-1] }, two},
		{"cut in its header", func(s store) { s["-wal"] = s["-wal"][:31] }, one},
		{"empty", func(s store) { s["-wal"] = nil }, one},
		{"missing", func(s store) { delete(s, "-wal") }, one},
		{"a wrong byte in the last frame", func(s store) { s["-wal"][len(s["-wal"])-1] ^= 1 }, two},
		{"a wrong byte in the first frame", func(s store) { s["-wal"][walHeaderBytes+walFrameBytes] ^= 1 }, one},
		{"a wrong byte in its header", func(s store) { s["-wal"][17] ^= 1 }, one},
		{"another format", func(s store) { s["-wal"][3] = 0x81 }, one},
		{"big-endian sums", func(s store) { resum(s["-wal"], page) }, three},
		{"frames of an earlier round behind it", func(s store) {
			old := bytes.Clone(s["-wal"][walHeaderBytes:])
			old[8] ^= 1
			s["-wal"] = append(s["-wal"], old...)
		}, three},
		{"a transaction without its end", func(s store) {
			last := bytes.Clone(s["-wal"][len(s["-wal"])-frame:])
			copy(last[4:8], "\x00\x00\x00\x00")
			s["-wal"] = append(s["-wal"], last...)
			resum(s["-wal"], page)
		}, three},
	} {
		t.Run(row.name, func(t *testing.T) {
			s := walStore(t, page)
			row.change(s)
			wantRows(t, s.put(t), "SELECT say FROM t", row.want...)
		})
	}
}

// resum writes the sums of a WAL anew, in the order of big-endian machines.
func resum(wal []byte, page int) {
	order := binary.BigEndian
	order.PutUint32(wal, 0x377f0683)
	var sum walSum
	put := func(to []byte) {
		order.PutUint32(to, sum[0])
		order.PutUint32(to[4:], sum[1])
	}
	sum.add(order, wal[:24])
	put(wal[24:])
	for at := walHeaderBytes; at+walFrameBytes+page <= len(wal); at += walFrameBytes + page {
		sum.add(order, wal[at:at+8])
		sum.add(order, wal[at+walFrameBytes:at+walFrameBytes+page])
		put(wal[at+16:])
	}
}

func TestOverlayWALWithoutDatabase(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.db")
	writer(t, path, "PRAGMA journal_mode = wal", "PRAGMA wal_autocheckpoint = 0", "CREATE TABLE t (say TEXT)", "INSERT INTO t VALUES ('one')")
	s := stored(t, path)
	s[""] = nil // all pages are in the WAL as well
	wantRows(t, s.put(t), "SELECT say FROM t", "say=one")
}

func TestOverlayJournal(t *testing.T) {
	sql := "SELECT count(*) AS n, sum(say GLOB 'old*') AS old FROM t"
	for _, row := range []struct {
		name   string
		change func(s store)
		want   string
	}{
		{"hot", func(s store) {}, "n=40 old=40"},
		{"never synced", func(s store) { maps.Copy(s, journalStore(t, 1024, "PRAGMA synchronous = off")) }, "n=40 old=40"},
		{"in one segment", func(s store) { maps.Copy(s, journalStore(t, 1024, "PRAGMA cache_size = 8")) }, "n=40 old=40"},
		{"first header cleared", func(s store) { clear(s["-journal"][:28]) }, ""},
		{"missing", func(s store) { delete(s, "-journal") }, ""},
		{"empty", func(s store) { s["-journal"] = nil }, ""},
	} {
		t.Run(row.name, func(t *testing.T) {
			s := journalStore(t, 1024)
			if !bytes.Contains(s[""], []byte("new000")) || len(s["-journal"]) < 1024 {
				t.Fatal("the writer did not spill, so this tests nothing")
			}
			row.change(s)
			path := s.put(t)
			got, err := rows(t, path, sql)
			if row.want == "" { // half of a transaction: anything but a quiet success with the old rows
				if err == nil && got[0] == "n=40 old=40" {
					t.Errorf("got %q without a journal", got)
				}
				return
			}
			if err != nil || got[0] != row.want {
				t.Errorf("got %q, %v, want %q", got, err, row.want)
			}
		})
	}
}

func TestOverlayPageSizes(t *testing.T) {
	for _, page := range []int{512, 1024, 4096, 8192, 65536} {
		t.Run(fmt.Sprint(page), func(t *testing.T) {
			wantRows(t, walStore(t, page).put(t), "SELECT say FROM t", "say=one", "say=two", "say=three")
			if page < 8192 { // or all rows are on one page, and nothing is spilled
				wantRows(t, journalStore(t, page).put(t), "SELECT count(*) AS n FROM t WHERE say GLOB 'old*'", "n=40")
			}
		})
	}
}

func TestOverlayNamesTheFileThatIsWrong(t *testing.T) {
	s := walStore(t, 1024)
	s["-wal"] = walStore(t, 512)["-wal"]
	path := s.put(t)
	_, err := rows(t, path, "SELECT say FROM t")
	if want := path + "-wal: page size 512: the database has 1024"; err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}

	s = walStore(t, 1024)
	clear(s[""][1024:])
	delete(s, "-wal")
	path = s.put(t)
	_, err = rows(t, path, "SELECT say FROM t")
	if want := path + ": sql: database disk image is malformed"; err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}

	s = walStore(t, 1024)
	os.Mkdir(filepath.Join(t.TempDir(), "x"), 0o700)
	delete(s, "-wal")
	path = s.put(t)
	os.Chmod(filepath.Dir(path), 0o700)
	os.Mkdir(path+"-wal", 0o700)
	_, err = rows(t, path, "SELECT say FROM t")
	if want := path + "-wal: not a regular file: a folder"; err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}

func TestOverlayOfAFileThatShrinks(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.db")
	writer(t, path, "CREATE TABLE t (say TEXT)", "INSERT INTO t VALUES (hex(zeroblob(100000)))").Close()
	d := open(t, path)
	if err := os.Truncate(path, 20_000); err != nil {
		t.Fatal(err)
	}
	err := d.Query(context.Background(), "SELECT say FROM t", nil, func([]string, []any) error { return nil })
	if err == nil || !strings.HasPrefix(err.Error(), path+": page ") || !strings.Contains(err.Error(), ErrChanged.Error()) {
		t.Errorf("got %v", err)
	}
}

func TestTextsComeOutAsUTF8(t *testing.T) {
	for _, encoding := range []string{"UTF-8", "UTF-16le", "UTF-16be"} {
		path := filepath.Join(t.TempDir(), "a.db")
		writer(t, path, fmt.Sprintf("PRAGMA encoding = '%s'", encoding), "CREATE TABLE t (say TEXT)", "INSERT INTO t VALUES ('gr\u00fcn \U0001f426')")
		wantRows(t, path, "SELECT say FROM t", "say=gr\u00fcn \U0001f426")
	}
}

// Whatever lies beside each other, it gives rows or an error that names the file, and
// nothing stops.
func FuzzOverlay(f *testing.F) {
	wal, journal := walStore(f, 512), journalStore(f, 512)
	f.Add(wal[""], wal["-wal"], []byte(nil))
	f.Add(wal[""], wal["-wal"][:700], journal["-journal"])
	f.Add(journal[""], []byte(nil), journal["-journal"])
	f.Add([]byte(nil), wal["-wal"], []byte(nil))
	f.Add([]byte(nil), []byte(nil), journal["-journal"])
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, db, wal, journal []byte) {
		path := filepath.Join(dir, fmt.Sprint(os.Getpid())+".db")
		for suffix, data := range map[string][]byte{"": db, "-wal": wal, "-journal": journal} {
			if err := os.WriteFile(path+suffix, data, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		d, err := OpenDB(path)
		if err == nil {
			defer d.Close()
			for _, sql := range []string{"SELECT * FROM sqlite_schema", "SELECT * FROM t"} {
				if err = d.Query(context.Background(), sql, nil, func([]string, []any) error { return nil }); err != nil {
					break
				}
			}
		}
		if err != nil && (!strings.HasPrefix(err.Error(), path) || strings.Contains(err.Error(), "SQLite stopped")) {
			t.Error(err)
		}
	})
}
