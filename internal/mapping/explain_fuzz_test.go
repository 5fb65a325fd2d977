package mapping

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"testing"

	"parlance/mappings"
)

// FuzzExplain explains any bytes with any mapping, whole and by line: there is no panic, what
// is shown is short, and the records add up. What no mapping reads is looked at as well.
func FuzzExplain(f *testing.F) {
	var all []*Mapping
	for _, y := range containers {
		all = append(all, load(f, y))
	}
	set, err := NewSet(mappings.FS, nil)
	if err != nil {
		f.Fatal(err)
	}
	for _, name := range set.Names() {
		m := builtin(f, name)
		all = append(all, m)
		for _, path := range seeds(f, filepath.Join(providersDir, name, "home")) {
			data, err := os.ReadFile(path)
			if err != nil {
				f.Fatal(err)
			}
			f.Add(data, byte(len(all)-1), byte(1))
		}
	}
	f.Add([]byte(`{"k":0,"v":{"turns":[]}}`+"\n"+`{"k":2,"p":["turns"],"v":[{"ask":"a"}]}`), byte(0), byte(2))
	f.Add([]byte("# 2026-01-02 03:04:05\n>hi\nho\n[ls]\n -l\n"), byte(2), byte(3))
	f.Add([]byte(`{"turns":[{"author":"human","body":"how many","at":1767225600000,"x":{"y":[{"z":null}]}}]}`), byte(1), byte(0))
	f.Add([]byte("{\"a\":\"\\ud800\",\"b.c\":\"x\\\\\"}\n"), byte(3), byte(1))
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, data []byte, which, line byte) {
		if bytes.HasPrefix(data, []byte("SQLite format 3\x00")) && len(data) > 1<<16 {
			return
		}
		m := all[int(which)%len(all)]
		path := filepath.Join(dir, "x")
		if err := os.WriteFile(path, data, 0o666); err != nil {
			t.Fatal(err)
		}
		ctx := context.Background()
		sniff, err := SniffFile(ctx, path)
		if err != nil {
			t.Fatal(err)
		}
		env := Env{Home: dir, Getenv: func(string) string { return "" }}
		file, err := m.FileAt(env, path)
		if err != nil {
			t.Fatal(err)
		}
		tried := m.Attempts(ctx, file, sniff)
		// What cannot be looked at is told by an error; here only panics count.
		_, _ = Unread(ctx, path, int64(len(data)), sniff, tried)
		for i := range m.Sources {
			file.Sources = []int{i}
			for _, o := range []ExplainOptions{{All: true}, {Line: int(line) + 1}} {
				e, err := m.Explain(ctx, file, o)
				if err != nil {
					continue
				}
				if r := e.Records; r.Records != r.Used+r.Skipped+r.NoRule+r.Broken {
					t.Fatalf("%+v do not add up", r)
				}
				checkShort(t, "x", e)
			}
		}
	})
}
