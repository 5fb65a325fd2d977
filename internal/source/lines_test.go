package source

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/iotest"
)

// got renders lines as "number@offset text", with marks for Open and Long.
func got(t testing.TB, r io.Reader, most, buffer int) ([]string, error) {
	t.Helper()
	var all []string
	buf := make([]byte, buffer)
	err := lines(context.Background(), r, &buf, most, nil, func(l Line) error {
		s := fmt.Sprintf("%d@%d %s", l.N, l.Offset, l.Data)
		if l.Open {
			s += " open"
		}
		if l.Long {
			s += " long"
		}
		all = append(all, s)
		clear(l.Data[:cap(l.Data)]) // allowed, and must not reach the next line
		return nil
	})
	return all, err
}

func TestLines(t *testing.T) {
	for _, row := range []struct {
		name, in string
		want     []string
	}{
		{"empty", "", nil},
		{"one", "ab\n", []string{"1@0 ab"}},
		{"open", "ab\ncd", []string{"1@0 ab", "2@3 cd open"}},
		{"blank", "\n\nx\n", []string{"1@0 ", "2@1 ", "3@2 x"}},
		{"crlf", "ab\r\ncd\r\n\r\n", []string{"1@0 ab", "2@4 cd", "3@8 "}},
		{"cr inside", "a\rb\nc\r", []string{"1@0 a\rb", "2@4 c\r open"}},
		{"bom", "\xef\xbb\xbfab\ncd\n", []string{"1@3 ab", "2@6 cd"}},
		{"only bom", "\xef\xbb\xbf", nil},
		{"half a bom", "\xef\xbb", []string{"1@0 \xef\xbb open"}},
		{"bom later", "a\n\xef\xbb\xbfb\n", []string{"1@0 a", "2@2 \xef\xbb\xbfb"}},
		{"as long as allowed", "12345678\n12345678\r\n12345678", []string{"1@0 12345678", "2@9 12345678", "3@19 12345678 open"}},
		{"long", "a\n123456789\nb\n", []string{"1@0 a", "2@2  long", "3@12 b"}},
		{"very long", strings.Repeat("x", 100) + "\r\nb\n", []string{"1@0  long", "2@102 b"}},
		{"long at the end", "a\n123456789", []string{"1@0 a", "2@2  open long"}},
		{"very long at the end", "a\n" + strings.Repeat("x", 100), []string{"1@0 a", "2@2  open long"}},
	} {
		t.Run(row.name, func(t *testing.T) {
			for _, buffer := range []int{3, 4, 5, 7, 16, 1000} {
				for name, r := range map[string]io.Reader{
					"whole": strings.NewReader(row.in), "bytewise": iotest.OneByteReader(strings.NewReader(row.in)),
					"halves": iotest.HalfReader(strings.NewReader(row.in)), "with EOF": iotest.DataErrReader(strings.NewReader(row.in)),
				} {
					if lines, err := got(t, r, 8, buffer); err != nil || !reflect.DeepEqual(lines, row.want) {
						t.Errorf("%s, buffer of %d: got %q, %v, want %q", name, buffer, lines, err, row.want)
					}
				}
			}
		})
	}
}

func TestLinesGivesWhatWasReadBeforeAnError(t *testing.T) {
	broken := errors.New("broken")
	lines, err := got(t, io.MultiReader(strings.NewReader("a\nb"), iotest.ErrReader(broken)), 8, 8)
	if want := []string{"1@0 a", "2@2 b open"}; err != broken || !reflect.DeepEqual(lines, want) {
		t.Errorf("got %q, %v, want %q, %v", lines, err, want, broken)
	}
}

func TestLinesStops(t *testing.T) {
	enough := errors.New("enough")
	n := 0
	err := Lines(context.Background(), strings.NewReader("a\nb\nc\n"), func(Line) error {
		if n++; n == 2 {
			return enough
		}
		return nil
	})
	if err != enough || n != 2 {
		t.Errorf("got %v after %d lines", err, n)
	}
	ctx, cancel := context.WithCancel(context.Background())
	err = Lines(ctx, forever{}, func(Line) error { cancel(); return nil })
	if err != context.Canceled {
		t.Errorf("got %v, want %v", err, context.Canceled)
	}
}

type forever struct{}

func (forever) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = '\n'
	}
	return len(p), nil
}

func TestReadAll(t *testing.T) {
	if _, err := readAll(context.Background(), strings.NewReader("123456789"), 0, 8); !errors.Is(err, ErrTooLarge) {
		t.Errorf("got %v, want %v", err, ErrTooLarge)
	}
	for _, expected := range []int{0, 3, 8, 20} { // a file may grow or shrink after its size was asked for
		data, err := readAll(context.Background(), iotest.HalfReader(strings.NewReader("12345678")), expected, 8)
		if string(data) != "12345678" || err != nil {
			t.Errorf("expecting %d bytes: got %q, %v", expected, data, err)
		}
	}
}

// However a file is cut into reads, its lines are those of strings.Split.
// However many read at a time, one of them holds a long line; what they read is what is there.
func TestLongLinesTakeTurns(t *testing.T) {
	var want []string
	var text strings.Builder
	for i := range 12 {
		n := []int{10, lineKeptBytes + 7*i, 300_000, 3 * lineKeptBytes, 0}[i%5]
		want = append(want, strings.Repeat(string(rune('a'+i)), n))
		text.WriteString(want[i] + "\n")
	}
	var holders, most atomic.Int32
	var wg sync.WaitGroup
	for range 16 {
		wg.Go(func() {
			i, offset := 0, int64(0)
			err := LinesInTurn(context.Background(), strings.NewReader(text.String()), func(l Line) error {
				if len(l.Data) > lineKeptBytes {
					now := holders.Add(1)
					for old := most.Load(); now > old && !most.CompareAndSwap(old, now); old = most.Load() {
					}
					defer holders.Add(-1)
				}
				if string(l.Data) != want[i] || l.N != i+1 || l.Offset != offset {
					t.Errorf("line %d of %d bytes at %d: got %d bytes, number %d at %d", i+1, len(want[i]), offset, len(l.Data), l.N, l.Offset)
				}
				i, offset = i+1, offset+int64(len(l.Data))+1
				return nil
			})
			if err != nil || i != len(want) {
				t.Errorf("%d lines, %v", i, err)
			}
		})
	}
	wg.Wait()
	if most.Load() != 1 {
		t.Errorf("%d long lines at a time", most.Load())
	}
	if len(giants) != 0 {
		t.Error("the token was not given back")
	}
	// Whoever waits for it can be stopped.
	giants <- struct{}{}
	defer func() { <-giants }()
	ctx, stop := context.WithCancel(context.Background())
	stop()
	if err := LinesInTurn(ctx, strings.NewReader(text.String()), func(Line) error { return nil }); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

func FuzzLines(f *testing.F) {
	f.Add([]byte("\xef\xbb\xbfa\r\n\nb"), uint8(3), uint8(2))
	f.Add([]byte("123456789\n12345678\r\n\r\r\n"), uint8(1), uint8(9))
	f.Fuzz(func(t *testing.T, data []byte, buffer, read uint8) {
		const most = 8
		var want []string
		text := strings.TrimPrefix(string(data), string(bom))
		offset := len(data) - len(text)
		for i, line := range strings.SplitAfter(text, "\n") {
			if line == "" {
				break
			}
			body, whole := strings.CutSuffix(line, "\n")
			if whole {
				body = strings.TrimSuffix(body, "\r")
			}
			marks := ""
			if !whole {
				marks = " open"
			}
			if len(body) > most {
				body, marks = "", marks+" long"
			}
			want = append(want, fmt.Sprintf("%d@%d %s%s", i+1, offset, body, marks))
			offset += len(line)
		}
		lines, err := got(t, &chunks{data, int(read) + 1}, most, int(buffer)+3)
		if err != nil || !reflect.DeepEqual(lines, want) {
			t.Errorf("%q: got %q, %v, want %q", data, lines, err, want)
		}
	})
}

// chunks gives data a few bytes at a time.
type chunks struct {
	data []byte
	size int
}

func (c *chunks) Read(p []byte) (int, error) {
	if len(c.data) == 0 {
		return 0, io.EOF
	}
	n := copy(p[:min(len(p), c.size)], c.data)
	c.data = c.data[n:]
	return n, nil
}

// The lines of a file, whose ends can be looked for, are those of a stream of the same bytes,
// also at the longest length that is allowed and around it.
func TestLongLinesOfAFile(t *testing.T) {
	const most = 2 << 20
	random := rand.New(rand.NewPCG(11, 12))
	for round := range 6 {
		var text bytes.Buffer
		for range 6 {
			n := []int{0, 100, lineKeptBytes, most - 1, most, most + 1, most + 2, most + 3, 3 * most, random.IntN(2 * most)}[random.IntN(10)]
			text.Write(bytes.Repeat([]byte{'a' + byte(random.IntN(20))}, n))
			text.WriteString([]string{"\n", "\r\n"}[random.IntN(2)])
		}
		if round%2 == 0 { // the last is open
			text.Truncate(text.Len() - 1 - random.IntN(2))
		}
		read := func(r io.Reader) (out []string) {
			buf := make([]byte, 1000)
			err := lines(context.Background(), r, &buf, most, make(chan struct{}, 1), func(l Line) error {
				out = append(out, fmt.Sprint(l.N, l.Offset, len(l.Data), l.Open, l.Long, string(l.Data[:min(1, len(l.Data))])))
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
			return out
		}
		f, err := Open(file(t, "a.jsonl", text.Bytes()))
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		want := read(bytes.NewReader(text.Bytes()))
		if got := read(f); !slices.Equal(got, want) {
			t.Errorf("got  %q\nwant %q", got, want)
		}
		if got := read(section{io.NewSectionReader(f.file, 0, int64(text.Len()))}); !slices.Equal(got, want) {
			t.Errorf("a section: got  %q\nwant %q", got, want)
		}
	}
}

// A long line gets its memory at once, and one that is too long none.
func TestLongLineCostsItsLength(t *testing.T) {
	const long = 40 << 20
	for _, most := range []int{long, long - 10} {
		f, err := Open(file(t, "a.jsonl", append(bytes.Repeat([]byte("x"), long), "\nhi\n"...)))
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		buf, n := make([]byte, lineBufferBytes), 0
		err = lines(context.Background(), f, &buf, most, nil, func(l Line) error {
			n += len(l.Data)
			return nil
		})
		runtime.ReadMemStats(&after)
		want := long + 2
		if most < long {
			want = 2
		}
		if got := int(after.TotalAlloc - before.TotalAlloc); err != nil || n != want || got > want+4*lineKeptBytes {
			t.Errorf("at most %d: %v, %d bytes, %d allocated", most, err, n, got)
		}
	}
}
