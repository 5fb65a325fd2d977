package source

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

func file(t testing.TB, name string, data []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func gz(data string) []byte {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	io.WriteString(w, data)
	w.Close()
	return b.Bytes()
}

func zst(data string) []byte {
	w, _ := zstd.NewWriter(nil)
	return w.EncodeAll([]byte(data), nil)
}

func TestOpenUnpacks(t *testing.T) {
	long := strings.Repeat("a heron, a crane, a stork\n", 10_000)
	for _, row := range []struct {
		name string
		data []byte
	}{
		{"a.jsonl", []byte(long)}, {"a.jsonl.gz", gz(long)}, {"a.jsonl.zst", zst(long)},
		{"two.gz", append(gz(long[:1000]), gz(long[1000:])...)}, {"two.ZST", append(zst(long[:1000]), zst(long[1000:])...)},
	} {
		t.Run(row.name, func(t *testing.T) {
			f, err := Open(file(t, row.name, row.data))
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			if got, err := io.ReadAll(f); string(got) != long || err != nil {
				t.Errorf("got %d bytes, %v, want %d", len(got), err, len(long))
			}
			if f.Size() != int64(len(row.data)) || f.ModTime().IsZero() {
				t.Errorf("size %d, time %v", f.Size(), f.ModTime())
			}
		})
	}
}

func TestOpenGivesWhatADamagedFileStillHolds(t *testing.T) {
	var text strings.Builder
	random := rand.New(rand.NewPCG(1, 2)) // or it would be one packed block
	for range 100_000 {
		fmt.Fprintln(&text, random.Uint64())
	}
	long := text.String()
	for name, data := range map[string][]byte{"a.gz": gz(long), "a.zst": zst(long)} {
		t.Run(name, func(t *testing.T) {
			path := file(t, name, data[:len(data)/2])
			data, err := ReadAll(context.Background(), path)
			if len(data) < len(long)/10 || !strings.HasPrefix(long, string(data)) {
				t.Errorf("got %d bytes of %d", len(data), len(long))
			}
			if err == nil || !strings.HasPrefix(err.Error(), path+": unpacked byte ") || !errors.Is(err, io.ErrUnexpectedEOF) {
				t.Errorf("got %v", err)
			}
		})
	}
	for _, name := range []string{"a.gz", "a.zst"} {
		path := file(t, name, []byte("this is not packed at all"))
		if _, err := ReadAll(context.Background(), path); err == nil || !strings.HasPrefix(err.Error(), path+": unpacked byte 0: ") {
			t.Errorf("got %v", err)
		}
	}
}

func TestOpenRefusesWhatIsNotAFile(t *testing.T) {
	dir := t.TempDir()
	if _, err := Open(dir); !errors.Is(err, ErrNotRegular) || err.Error() != dir+": not a regular file: a folder" {
		t.Errorf("got %v", err)
	}
	missing := filepath.Join(dir, "missing")
	if _, err := Open(missing); !errors.Is(err, fs.ErrNotExist) || !strings.HasPrefix(err.Error(), missing+": ") {
		t.Errorf("got %v", err)
	}
}

// TestShrinks: of a file that becomes shorter while it is read comes what is left, and that it
// is not all.
func TestShrinks(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.jsonl")
	line := strings.Repeat("x", 99) + "\n"
	if err := os.WriteFile(path, []byte(strings.Repeat(line, 10_000)), 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	n := 0
	err = Lines(context.Background(), f, func(l Line) error {
		if n++; n == 1 {
			return os.Truncate(path, 500_050)
		}
		return nil
	})
	if n != 5001 || !errors.Is(err, ErrChanged) || !strings.Contains(err.Error(), path+": ") || !strings.Contains(err.Error(), "had 1000000 bytes, and ended after 500050") {
		t.Errorf("%d lines, %v", n, err)
	}
	// One that grows is read to its present end, and that is all there is to say.
	if f, err = Open(path); err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	n = 0
	err = Lines(context.Background(), f, func(l Line) error {
		if n++; n == 1 {
			return os.Truncate(path, 600_000)
		}
		return nil
	})
	if n != 5001 || err != nil {
		t.Errorf("growing: %d lines, %v", n, err)
	}
}
