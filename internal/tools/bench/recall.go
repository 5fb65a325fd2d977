package main

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"

	"parlance/internal/history"
	"parlance/internal/mapping"
	"parlance/mappings"
)

// listMax is what a listing shows if nothing else is asked for.
const listMax = 50

// found are the conversations of an answer: provider:id to the words for why.
type found map[string][]string

// recall looks for every planted needle and counts those that are not found where they were
// planted, or found elsewhere as they stand: with the program as it is, then with 1 and with 16
// workers. That other conversations hold all words of a needle, elsewhere, is no fault.
func (b *bench) recall() ([]goal, error) {
	h16, err := b.open(16)
	if err != nil {
		return nil, err
	}
	h1, err := b.open(1)
	if err != nil {
		return nil, err
	}
	asks := []struct {
		what string
		find func(n needle, limit int, in string) (found, error)
	}{
		{"with default flags", func(n needle, limit int, in string) (found, error) {
			args := strings.Fields(n.Text) // as typed without quotes
			if in != "" {
				args = append(args, "--in", in)
			}
			if limit != 0 {
				args = append(args, "--limit", "0")
			}
			return b.search(args...)
		}},
		{"with 1 worker", func(n needle, limit int, in string) (found, error) { return b.within(h1, n.Text, limit, in) }},
		{"with 16 workers", func(n needle, limit int, in string) (found, error) { return b.within(h16, n.Text, limit, in) }},
	}
	var goals []goal
	for _, ask := range asks {
		wrong, all := 0, 0
		for _, n := range b.man.Needles {
			if n.Sessions == nil && n.Text != needleAbsent {
				continue // a word of the vocabulary, which is nearly everywhere
			}
			in, limit := "", 0
			if n.Where == "tool_result" || n.Where == "deep_tool" {
				in = "tools"
			}
			if len(n.Sessions)*b.repeat > listMax {
				limit = -1
			}
			got, err := ask.find(n, limit, in)
			if err != nil {
				return nil, err
			}
			for id, matched := range got { // one copy of a conversation is as good as another
				if of, ok := b.man.Copies[id]; ok {
					got[of] = matched
					delete(got, id)
				}
			}
			all++
			for _, id := range n.Sessions {
				if matched, ok := got[id]; !ok || n.Where != "words" && slices.Equal(matched, []string{"words"}) {
					wrong++
					fmt.Fprintf(os.Stderr, "%s, %s: %q is not found in %s: %v\n", n.Name, ask.what, n.Text, id, matched)
				}
			}
			for id, matched := range got {
				if !slices.Contains(n.Sessions, id) && !slices.Equal(matched, []string{"words"}) {
					wrong++
					fmt.Fprintf(os.Stderr, "%s, %s: %q is found in %s: %v\n", n.Name, ask.what, n.Text, id, matched)
				}
			}
		}
		goals = append(goals, goal{id: "S4", what: fmt.Sprintf("recall of %d needles, %s", all, ask.what), unit: "wrong", reached: float64(wrong)})
	}
	return goals, nil
}

// open is the home as the program sees it, with so many workers.
func (b *bench) open(workers int) (*history.History, error) {
	named, err := mapping.NamedRoots(mappings.FS)
	if err != nil {
		return nil, err
	}
	set, err := mapping.NewSet(mappings.FS, nil)
	if err != nil {
		return nil, err
	}
	env := mapping.Env{Home: b.home, Getenv: func(string) string { return "" }, Named: named}
	return history.Open(history.Config{Envs: []mapping.Env{env}, Set: set, Workers: workers}), nil
}

func (b *bench) within(h *history.History, text string, limit int, in string) (found, error) {
	l, err := h.Search(context.Background(), history.Query{Text: text, Filter: history.Filter{Limit: limit, In: history.In(in)}})
	if err != nil {
		return nil, err
	}
	out := found{}
	for _, row := range l.Rows {
		out[row.FullID()] = row.Matched
	}
	return out, nil
}
