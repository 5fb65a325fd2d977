package history

import "slices"

// headMin is how many of the best are kept in order, however few are asked for.
const headMin = 256

// A ranking holds what matches, best first. Only the head is in order at any time: a home whose
// files all look new gives a hundred thousand rows in the order of their files, each of which
// would move those behind it.
type ranking struct {
	compare func(a, b *found) int
	most    int      // of the head; at least one
	head    []*found // in order
	tail    []*found // none is better than the last of head
}

func newRanking(limit int, compare func(a, b *found) int) *ranking {
	return &ranking{compare: compare, most: max(headMin, 2*limit)}
}

func (r *ranking) len() int { return len(r.head) + len(r.tail) }

func (r *ranking) add(f *found) {
	i, _ := slices.BinarySearchFunc(r.head, f, r.compare)
	if i == len(r.head) && (i == r.most || len(r.tail) > 0) {
		r.tail = append(r.tail, f)
		return
	}
	r.head = slices.Insert(r.head, i, f)
	if last := len(r.head) - 1; last == r.most {
		r.tail = append(r.tail, r.head[last])
		r.head = slices.Delete(r.head, last, last+1)
	}
}

func (r *ranking) remove(f *found) {
	for _, part := range []*[]*found{&r.head, &r.tail} {
		if i := slices.Index(*part, f); i >= 0 {
			*part = slices.Delete(*part, i, i+1)
		}
	}
}

// at is the one in place i, nil if there are not so many.
func (r *ranking) at(i int) *found {
	if i >= len(r.head) && i < r.len() { // the head has lost some
		all := r.all()
		r.most = max(r.most, 2*i)
		n := min(r.most, len(all))
		r.head, r.tail = slices.Clone(all[:n]), slices.Clone(all[n:])
	}
	if i >= r.len() {
		return nil
	}
	return r.head[i]
}

// all are all of them in order, in a list of the caller's own.
func (r *ranking) all() []*found {
	all := r.unordered()
	slices.SortFunc(all[len(r.head):], r.compare)
	return all
}

// unordered are all of them, the head first, in a list of the caller's own.
func (r *ranking) unordered() []*found { return slices.Concat(r.head, r.tail) }
