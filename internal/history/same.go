package history

import (
	"cmp"
	"slices"
)

// settle says which of several conversations with one id of one provider there are. The
// order of copies does not matter.
//
// Between sources of a mapping its unique decides. Otherwise two are the same if one is the
// beginning of the other or both open with the same message; since whatever is a beginning
// opens alike, or is empty, the openings tell. Of the same the one with more messages stays.
func settle(unique string, copies []*found) []*found {
	if len(copies) < 2 {
		return copies
	}
	copies = slices.Clone(copies)
	slices.SortFunc(copies, func(a, b *found) int {
		return cmp.Or(cmp.Compare(b.total, a.total), b.row.Updated.Compare(a.row.Updated), cmp.Compare(b.f.Size, a.f.Size),
			cmp.Compare(a.source, b.source), cmp.Compare(a.row.File, b.row.File), cmp.Compare(a.row.Row, b.row.Row))
	})
	switch unique {
	case "first_source":
		first := slices.MinFunc(copies, func(a, b *found) int { return cmp.Compare(a.source, b.source) }).source
		copies = slices.DeleteFunc(copies, func(f *found) bool { return f.source != first })
	case "newest":
		newest := slices.MinFunc(copies, func(a, b *found) int {
			return cmp.Or(b.row.Updated.Compare(a.row.Updated), cmp.Compare(b.f.Size, a.f.Size), cmp.Compare(a.source, b.source))
		}).source
		copies = slices.DeleteFunc(copies, func(f *found) bool { return f.source != newest })
	}
	var out []*found
	for _, c := range copies {
		same := func(o *found) bool { return o.opening == c.opening || c.opening == 0 }
		if !slices.ContainsFunc(out, same) {
			out = append(out, c)
		}
	}
	return out
}
