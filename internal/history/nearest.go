package history

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"parlance/internal/chat"
)

const (
	// nearestMax titles are offered where nothing was found.
	nearestMax = 5
	// nearestPool is how many conversations they are chosen from: as many as a list shows,
	// which costs a tenth of the search that found nothing.
	nearestPool = 50
	// nearestMin is the part of the query that a title must have in common with it.
	nearestMin = 0.3
)

// nearest are the newest conversations whose titles, prompts or ids look like the query.
func (s *searching) nearest(ctx context.Context) ([]chat.Row, error) {
	b := s.b
	b.limit = nearestPool
	s.r.claimed = map[key]bool{}
	all := &searching{h: s.h, r: s.r, d: &digester{in: inIDs}, b: b, stage: hopePhrase, self: s.self, got: map[key][]*found{}}
	all.ranked = newRanking(all.b.limit, all.compare)
	if err := all.r.newestFirst(ctx, all.r.items(), all.enough, nil, all.work); err != nil {
		return nil, err
	}
	type scored struct {
		row   chat.Row
		score float64
	}
	var near []scored
	want := trigrams(s.q.needle)
	rows, _ := all.results()
	for _, f := range rows[:min(len(rows), nearestPool)] {
		if f.current { // who asks would be sent to read its own question
			continue
		}
		score := 0.0
		for _, text := range []string{f.row.Title, f.row.Prompt, f.row.FullID()} {
			score = max(score, alike(want, trigrams(chat.Fold(text))))
		}
		if score >= nearestMin {
			near = append(near, scored{f.row, score})
		}
	}
	slices.SortStableFunc(near, func(a, b scored) int { return cmp.Compare(b.score, a.score) })
	var out []chat.Row
	for _, n := range near[:min(len(near), nearestMax)] {
		out = append(out, n.row)
	}
	return out, nil
}

// trigrams are the runs of three characters of a folded text, its words set apart.
func trigrams(text string) map[string]bool {
	set := map[string]bool{}
	for _, w := range strings.Fields(text) {
		r := []rune(" " + w + " ")
		for i := 0; i+3 <= len(r); i++ {
			set[string(r[i:i+3])] = true
		}
	}
	return set
}

// alike is the part of want that have holds.
func alike(want, have map[string]bool) float64 {
	n := 0
	for t := range want {
		if have[t] {
			n++
		}
	}
	return float64(n) / float64(max(1, len(want)))
}

// looked lists where conversations were looked for: each provider's patterns.
func (h *History) looked(providers []string) (out []string) {
	for _, name := range h.cfg.Set.Names() {
		if h.exclude.providers[name] || len(providers) > 0 && !slices.Contains(providers, name) {
			continue
		}
		for _, p := range h.cfg.Set.Patterns(name) {
			out = append(out, name+": "+p)
		}
	}
	return out
}
