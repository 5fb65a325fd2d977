package history

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"testing"
)

// A ranking is a sorted list, whatever is done to it.
func TestRankingIsASortedList(t *testing.T) {
	byTotal := func(a, b *found) int { return cmp.Compare(a.total, b.total) }
	for seed := range 200 {
		rnd := rand.New(rand.NewPCG(uint64(seed), 3))
		r := newRanking(0, byTotal)
		r.most = 1 + rnd.IntN(6)
		var want []*found
		for _, total := range rnd.Perm(60) {
			f := &found{total: total}
			r.add(f)
			i, _ := slices.BinarySearchFunc(want, f, byTotal)
			want = slices.Insert(want, i, f)
			if rnd.IntN(3) == 0 {
				i := rnd.IntN(len(want))
				r.remove(want[i])
				want = slices.Delete(want, i, i+1)
			}
			if rnd.IntN(3) == 0 {
				i := rnd.IntN(len(want) + 1)
				var f *found
				if i < len(want) {
					f = want[i]
				}
				if got := r.at(i); got != f {
					t.Fatalf("seed %d: place %d of %d holds something else", seed, i, len(want))
				}
			}
			if r.len() != len(want) || !slices.Equal(r.all(), want) {
				t.Fatalf("seed %d: %d are not in order, want %d", seed, r.len(), len(want))
			}
		}
	}
}

// BenchmarkRanking adds rows from the worst to the best, as a copied home gives them.
func BenchmarkRanking(b *testing.B) {
	byTotal := func(a, b *found) int { return cmp.Compare(a.total, b.total) }
	for b.Loop() {
		r := newRanking(50, byTotal)
		for i := range 100_000 {
			r.add(&found{total: -i})
		}
	}
}
