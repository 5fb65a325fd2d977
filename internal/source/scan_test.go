package source

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func scanned(t testing.TB, path string, needles ...Needle) []bool {
	t.Helper()
	found, err := Scan(context.Background(), path, needles)
	if err != nil {
		t.Fatal(err)
	}
	return found
}

func TestScan(t *testing.T) {
	for _, row := range []struct {
		name, data, text string
		fold, want       bool
	}{
		{"plain", "a heron here", "heron", false, true},
		{"other case", "a HeRoN here", "hErOn", false, true},
		{"absent", "a heron here", "crane", false, false},
		{"at the beginning", "heron", "heron", false, true},
		{"longer than the data", "hero", "heron", false, false},
		{"one byte", "abc", "C", false, true},
		{"nothing", "abc", "", false, true},
		{"nothing in nothing", "", "", false, true},
		{"in nothing", "", "a", false, false},
		{"only letters fold", "a[b@c", "a{b`c", false, false},
		{"digits do not fold", "x\x11y", "x1y", false, false},
		{"bytes outside ASCII are themselves", "gr\u00fcn", "gr\u00dcn", false, false},
		{"kelvin", "a tas\u212a done", "task", true, true},
		{"kelvin without fold", "a tas\u212a done", "task", false, false},
		{"long s", "a ta\u017fk done", "task", true, true},
		{"both", "TA\u017f\u212a", "task", true, true},
		{"escaped", `TA\u017F\u212Ay`, "tasky", true, true},
		{"escaped in lower case", `ta\u017fk`, "TASK", true, true},
		{"a long s is no k", "ta\u017f\u017f", "task", true, false},
		{"cut escape", `ta\u017`, "tas", true, false},
		{"second of two", "\u212ax\u212ay", "ky", true, true},
	} {
		t.Run(row.name, func(t *testing.T) {
			if got := scanned(t, file(t, "a", []byte(row.data)), Needle{row.text, row.fold})[0]; got != row.want {
				t.Errorf("%q in %q: got %v", row.text, row.data, got)
			}
		})
	}
}

func TestScanUnpacks(t *testing.T) {
	text := strings.Repeat("a line of no interest\n", 50_000) + "the heron"
	needles := []Needle{{Text: "HERON"}, {Text: "crane"}}
	for name, data := range map[string][]byte{"a.jsonl": []byte(text), "a.gz": gz(text), "a.zst": zst(text)} {
		if got := scanned(t, file(t, name, data), needles...); !slices.Equal(got, []bool{true, false}) {
			t.Errorf("%s: got %v", name, got)
		}
	}
	path := file(t, "cut.gz", gz("the heron" + text)[:100])
	got, err := Scan(context.Background(), path, needles)
	if !slices.Equal(got, []bool{true, false}) || err == nil || !strings.HasPrefix(err.Error(), path+": unpacked byte ") {
		t.Errorf("a damaged file: got %v, %v", got, err)
	}
}

func TestScanErrors(t *testing.T) {
	if _, err := Scan(context.Background(), filepath.Join(t.TempDir(), "none"), nil); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("got %v", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := Scan(ctx, file(t, "a", []byte("x")), []Needle{{Text: "y"}}); err != context.Canceled {
		t.Errorf("got %v", err)
	}
}

// naive is what Scan promises, said slowly.
func naive(data []byte, n Needle) bool {
	s := string(data)
	if n.Fold { // an escape begins with a small u
		s = strings.NewReplacer("\u212a", "k", "\u017f", "s", `\u212a`, "k", `\u212A`, "k", `\u017f`, "s", `\u017F`, "s").Replace(s)
	}
	return strings.Contains(lowerASCII(s), lowerASCII(n.Text))
}

func TestScanFindsWhatANaiveSearchFinds(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	letters := []string{"k", "K", "s", "S", "x", "X", "y", "-", "\u212a", "\u017f", `\u212A`, `\u017f`, "\u00e9"}
	plain := strings.NewReplacer("\u212a", "k", "\u017f", "S", `\u212A`, "K", `\u017f`, "s")
	found := make([]int, 2)
	for range 30_000 {
		text := make([]string, 5+random.IntN(300))
		for i := range text {
			text[i] = letters[random.IntN(len(letters))]
		}
		data, from := strings.Join(text, ""), random.IntN(len(text))
		planted := text[from:min(len(text), from+1+random.IntN(20))]
		n := Needle{plain.Replace(strings.Join(planted, "")), random.IntN(4) > 0}
		if random.IntN(3) == 0 {
			n.Text += "y"
		}
		got := false
		finders := []*finder{newFinder(n.Text, n.Fold, &got)}
		buf := make([]byte, overlap(finders)+1+random.IntN(100)) // so that needles lie across borders
		if err := scanPieces(context.Background(), strings.NewReader(data), finders, buf); err != nil {
			t.Fatal(err)
		}
		want := naive([]byte(data), n)
		if got != want {
			t.Fatalf("%+v in %q: got %v", n, data, got)
		}
		found[map[bool]int{true: 1}[want]]++
	}
	if found[0] < 1000 || found[1] < 1000 {
		t.Errorf("%d absent and %d present needles test too little", found[0], found[1])
	}
}

func TestScanFindsNeedlesAcrossPieces(t *testing.T) {
	data := bytes.Repeat([]byte("a filler of no interest. "), 3*pieceBytes/25)
	for _, long := range []int{5, 100, pieceOverlap, 2 * pieceOverlap} {
		needle := "the " + strings.Repeat("heron", long/5)
		for _, at := range []int{pieceBytes, pieceBytes + pieceOverlap, 2*pieceBytes + pieceOverlap} {
			for before := 0; before <= len(needle); before += 1 + len(needle)/7 {
				planted := slices.Clone(data)
				copy(planted[at-before:], needle)
				path := file(t, "a", planted)
				if got := scanned(t, path, Needle{needle, true}, Needle{needle + "!", true}); !got[0] || got[1] {
					t.Errorf("%d bytes, %d before %d: got %v", len(needle), before, at, got)
				}
			}
		}
	}
}

func FuzzFinder(f *testing.F) {
	f.Add([]byte("a tas\u212a done"), "ask", true)
	f.Add([]byte(`TA\u017f\u212Ay and some more text to fill a word or two`), "tasky", true)
	f.Add([]byte("0123456789abcdef0123456789ABCDEF0123456789abcdef"), "f0123456789abcdef0", false)
	f.Fuzz(func(t *testing.T, data []byte, text string, fold bool) {
		if fold && strings.ContainsAny(text, "\\uU0127fFaA") || !isASCII(text) {
			t.Skip("a needle that holds parts of an escape is more than naive can say")
		}
		if got, want := NewFinder([]Needle{{text, fold}}).In(data), naive(data, Needle{text, fold}); got != want {
			t.Errorf("%q in %q: got %v", text, data, got)
		}
	})
}

func isASCII(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool { return r >= 0x80 })
}

func TestScanDBFindsTextsAcrossPages(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	for _, pageBytes := range []int{512, 1024, 4096, 65536} {
		t.Run(fmt.Sprint(pageBytes), func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "a.db")
			c := writer(t, path, fmt.Sprintf("PRAGMA page_size = %d", pageBytes), "PRAGMA journal_mode = wal",
				"PRAGMA wal_autocheckpoint = 0", "CREATE TABLE t (id INTEGER PRIMARY KEY, say TEXT)")
			stmt, _, err := c.Prepare("INSERT INTO t(say) VALUES (?)")
			if err != nil {
				t.Fatal(err)
			}
			defer stmt.Close()
			var needles []Needle
			for i := range 120 {
				n := fmt.Sprintf("task-%d-%s", i, strings.Repeat("heron", random.IntN(70)))
				filler := strings.Repeat("filler ", 3*pageBytes/7)
				at := firstBorder(pageBytes, len(filler)+len(n)) + i%3*(pageBytes-4) - random.IntN(len(n))
				at = min(at, len(filler))
				stmt.BindText(1, filler[:at]+n+filler[at:])
				if err := stmt.Exec(); err != nil {
					t.Fatal(err)
				}
				needles = append(needles, Needle{strings.ToUpper(n), true})
				if i == 60 {
					exec(t, c, "PRAGMA wal_checkpoint(TRUNCATE)")
				}
			}
			split := 0
			raw, _ := os.ReadFile(path)
			wal, _ := os.ReadFile(path + "-wal")
			for _, n := range needles {
				if text := []byte(strings.ToLower(n.Text)); !bytes.Contains(raw, text) && !bytes.Contains(wal, text) {
					split++
				}
			}
			if split < len(needles)/2 {
				t.Fatalf("only %d of %d needles are split", split, len(needles))
			}
			needles = append(needles, Needle{"task-heron-crane", true})
			got, err := ScanDB(context.Background(), path, needles)
			if err != nil {
				t.Fatal(err)
			}
			for i := range got {
				if want := i < len(needles)-1; got[i] != want {
					t.Errorf("%q: got %v", needles[i].Text, got[i])
				}
			}
		})
	}
}

// firstBorder is where SQLite splits a text of some length the first time, in a row that
// holds it behind its id: https://sqlite.org/fileformat2.html#b_tree_pages.
func firstBorder(page, long int) int {
	header := 4
	if long > 8185 {
		header = 5
	}
	payload, least := header+long, (page-12)*32/255-23
	local := least + (payload-least)%(page-4)
	if local > page-35 {
		local = least
	}
	return local - header
}

func TestScanDBKnowsWhatItCannotTell(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.db")
	writer(t, path, "PRAGMA encoding = 'UTF-16le'", "CREATE TABLE t (say TEXT)", "INSERT INTO t VALUES ('heron')")
	needles := []Needle{{Text: "no such bird"}, {Text: "crane"}}
	if got, err := ScanDB(context.Background(), path, needles); !slices.Equal(got, []bool{true, true}) || err != nil {
		t.Errorf("UTF-16: got %v, %v", got, err)
	}
	path = filepath.Join(t.TempDir(), "b.db")
	writer(t, path, "CREATE TABLE t (say TEXT)")
	if got, err := ScanDB(context.Background(), path, needles); !slices.Equal(got, []bool{false, true}) || err != nil {
		t.Errorf("a short needle: got %v, %v", got, err)
	}
}

// Compare with bytes.Contains over the same data in memory, which knows one case only.
func BenchmarkScanAbsent(b *testing.B) {
	random := rand.New(rand.NewPCG(1, 2))
	words := strings.Fields("the tenant sent a note that it is not on the list and Kate asked \"why\" \\n func main() { return nil } 0.25 https://example.org/a_b")
	var text bytes.Buffer
	for text.Len() < 64<<20 {
		text.WriteString(words[random.IntN(len(words))])
		text.WriteByte(' ')
	}
	path := file(b, "a.jsonl", text.Bytes())
	for _, n := range []Needle{{"quagga zebra", false}, {"quagga zebra skunk", true}, {"tenant note not at", false}, {"tenant stone asks", true}} {
		b.Run(fmt.Sprintf("%s/fold=%v", n.Text, n.Fold), func(b *testing.B) {
			b.SetBytes(int64(text.Len()))
			for b.Loop() {
				if found, err := Scan(context.Background(), path, []Needle{n}); found[0] || err != nil {
					b.Fatal(found, err)
				}
			}
		})
		b.Run(n.Text+"/Contains", func(b *testing.B) {
			b.SetBytes(int64(text.Len()))
			for b.Loop() {
				if bytes.Contains(text.Bytes(), []byte(n.Text)) {
					b.Fatal("found")
				}
			}
		})
	}
}
