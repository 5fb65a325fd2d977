package main

import (
	"slices"
	"strings"
	"testing"
)

func TestRatioIsTheMedianOfNeighbours(t *testing.T) {
	r := series{{seconds: 1}, {seconds: 10}, {seconds: 1}}
	s := series{{seconds: 2}, {seconds: 20}, {seconds: 8}} // the second round was slow for both
	if got := s.ratio(r); got != 2 {
		t.Errorf("got %v, want 2", got)
	}
	if got := median([]float64{4, 1, 3, 2}, func(x float64) float64 { return x }); got != 2.5 {
		t.Errorf("median of four: got %v, want 2.5", got)
	}
}

func TestTable(t *testing.T) {
	var out strings.Builder
	err := table(&out, []goal{
		{id: "S1", what: "a", unit: "R", must: 1.5, aim: 1, reached: 0.9},
		{id: "S2", what: "b", unit: "R", must: 1, aim: 0.3, reached: 0.5, note: "why"},
		{id: "S3", what: "c", unit: "R", must: 2, aim: 1, reached: 2.5},
		{id: "M1", what: "d", unit: "MiB", must: 64, aim: 32, unmeasured: true},
		{id: "S4", what: "e", unit: "wrong", reached: 1},
	})
	want := `| goal | what | must | aim | reached | |
|---|---|---|---|---|---|
| S1 | a | 1.5 R | 1 R | 0.9 R | aim |
| S2 | b | 1 R | 0.3 R | 0.5 R | (why) |
| S3 | c | 2 R | 1 R | 2.5 R | **missed** |
| M1 | d | 64 MiB | 32 MiB | not measured |  |
| S4 | e | 0 wrong | 0 wrong | 1 wrong | **missed** |
`
	if out.String() != want {
		t.Errorf("got\n%s\nwant\n%s", out.String(), want)
	}
	if err == nil || err.Error() != "missed: S3, S4" {
		t.Errorf("got %v", err)
	}
}

func TestGoalsAreInOrder(t *testing.T) {
	ids := []string{"D1", "P1", "M1", "L2", "F1", "S4", "L1"}
	slices.SortFunc(ids, func(a, b string) int { return strings.Compare(order(a), order(b)) })
	if got := strings.Join(ids, " "); got != "L1 L2 S4 F1 M1 P1 D1" {
		t.Errorf("got %s", got)
	}
}

func TestParseSize(t *testing.T) {
	for s, want := range map[string]int64{"1KB": 1 << 10, "1.5MB": 3 << 19, "37GB": 37 << 30, "12": 0, "x": 0, "-1GB": 0} {
		if got, _ := parseSize(s); got != want {
			t.Errorf("%s: got %d, want %d", s, got, want)
		}
	}
}
