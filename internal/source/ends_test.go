package source

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func ends(t testing.TB, text string, n int64, between ...Needle) (got string, ok bool) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "a.jsonl")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	var lines []string
	ok, err := Ends(context.Background(), path, n, between, func(l Line) error {
		if at := text[l.Offset:]; !strings.HasPrefix(at, string(l.Data)) {
			t.Errorf("line %q is said to be at %d, where %q is", l.Data, l.Offset, at)
		}
		lines = append(lines, string(l.Data))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return strings.Join(lines, " "), ok
}

func TestEnds(t *testing.T) {
	long := strings.Repeat("x", 200)
	tests := []struct {
		name, text string
		n          int64
		between    string
		want       string
	}{
		{"both ends", "one\ntwo\nthree\nfour\nfive\nsix\n", 9, "", "one two three five six"},
		{"no line end at the end", "one\ntwo\nthree\nfour\nfive\nsix", 8, "", "one two five six"},
		{"a line that begins inside is whole", "one\n" + long + "\nend\n", 8, "", "one " + long + " end"},
		{"a long first line", long + "\nb\nc\nd\nend\n", 8, "", long + " c d end"},
		{"a long last line", "a\nb\n" + long + "\n", 4, "", "a b " + long},
		{"one line", long + "\n", 8, "", long},
		{"what is looked for", "one\ntwo\nthree\nfour\nTHRee\nfive\nsix\n", 4, "three", "one three THRee six"},
		{"nothing between", "one\nsix\n", 3, "one", "one six"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var between []Needle
			if tt.between != "" {
				between = []Needle{{Text: tt.between}}
			}
			got, ok := ends(t, tt.text, tt.n, between...)
			if got != tt.want || !ok {
				t.Errorf("got  %q (%v)\nwant %q", got, ok, tt.want)
			}
		})
	}
	if got, ok := ends(t, "one\ntwo\n", 4); ok || got != "" {
		t.Errorf("a file without a gap: got %q, %v", got, ok)
	}
}

// Every line at an end is handed over, each once and in order.
func TestEndsAgainstAllLines(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for range 300 {
		var all []string
		var b strings.Builder
		for i := range 2 + r.IntN(30) {
			line := fmt.Sprint(i, strings.Repeat("-", r.IntN(40)))
			all = append(all, line)
			b.WriteString(line + "\n")
		}
		text := b.String()
		n := int64(1 + r.IntN(len(text)/2))
		if int64(len(text)) <= 2*n {
			continue
		}
		got, _ := ends(t, text, n)
		var want []string
		at := int64(0)
		for i, line := range all {
			last := i == len(all)-1
			if at < n || at >= int64(len(text))-n || last {
				want = append(want, line)
			}
			at += int64(len(line)) + 1
		}
		if got != strings.Join(want, " ") {
			t.Fatalf("n %d of %d\ngot  %s\nwant %s", n, len(text), got, strings.Join(want, " "))
		}
	}
}
