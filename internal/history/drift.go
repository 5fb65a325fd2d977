package history

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"sync"
	"time"

	"parlance/internal/chat"
	"parlance/internal/mapping"
)

// A Span is the conversations that hold something, by their last change.
type Span struct {
	Conversations int
	First, Last   Sight
}

// A Sight is the version of the tool that wrote a conversation, "" if it is not recorded, and
// the conversation's last change.
type Sight struct {
	Version string
	At      time.Time
}

// with is the span with one more conversation.
func (s Span) with(c *chat.Conversation) Span {
	sight := Sight{c.Version, c.Updated}
	if s.Conversations == 0 || earlier(sight, s.First) {
		s.First = sight
	}
	if s.Conversations == 0 || earlier(s.Last, sight) {
		s.Last = sight
	}
	s.Conversations++
	return s
}

func earlier(a, b Sight) bool {
	return cmp.Or(a.At.Compare(b.At), cmp.Compare(a.Version, b.Version)) < 0
}

// Join is the span of two kinds of things together. A conversation that holds both counts twice.
func (s Span) Join(o Span) Span {
	switch {
	case o.Conversations == 0:
		return s
	case s.Conversations == 0:
		return o
	}
	s.Conversations += o.Conversations
	if earlier(o.First, s.First) {
		s.First = o.First
	}
	if earlier(s.Last, o.Last) {
		s.Last = o.Last
	}
	return s
}

// unknown is the structure of what no rule knew, by the rule that met it and its type.
type unknown map[unknownKey]*mapping.Shape

type unknownKey struct{ rule, kind string }

func (u *unknown) add(rule, kind, element string) {
	if *u == nil {
		*u = unknown{}
	}
	u.at(unknownKey{rule, kind}).Add(element)
}

func (u unknown) at(k unknownKey) *mapping.Shape {
	if u[k] == nil {
		u[k] = &mapping.Shape{}
	}
	return u[k]
}

// A Report is what a provider's mapping does not know, without a single value of the files:
// it may be shown to anybody. Versions are those that are numbers.
type Report struct {
	Name          string
	BuiltIn       bool // the mapping is part of the program
	Files         int
	Conversations int  // that were read
	Holding       Span // those that hold something unknown
	Kinds         []Unknown
}

// Unknown is one kind of record, or of element of one, that no rule knows.
type Unknown struct {
	Rule string // key path of the rule under which it was met, "" for a whole record
	Span
	Shape *mapping.Shape
}

// Report reads everything that one provider's mapping finds and gathers the structure of what
// no rule knew, the most frequent first. An unknown name is an error.
func (h *History) Report(ctx context.Context, name string, progress func(done, found int)) (Report, error) {
	if !slices.Contains(h.cfg.Set.Names(), name) {
		return Report{}, fmt.Errorf("provider: no mapping is called %q", name)
	}
	out := Report{Name: name}
	origin, _ := h.cfg.Set.Origin(name)
	out.BuiltIn = origin == mapping.BuiltIn
	r, err := h.discover(ctx, []string{name}, progress)
	if err != nil {
		return out, err
	}
	s := &searching{h: h, r: r, d: &digester{in: inIDs}, b: bounds{subagents: true}, got: map[key][]*found{}}
	for _, f := range r.files {
		if f.closed == "" {
			out.Files++
		}
	}
	var mu sync.Mutex
	all, spans := unknown{}, map[unknownKey]Span{}
	r.shapes = true
	r.watch = func(c *chat.Conversation, met unknown) {
		told := *c
		told.Version = versionNumber.FindString(c.Version)
		mu.Lock()
		defer mu.Unlock()
		out.Conversations++
		if len(met) > 0 {
			out.Holding = out.Holding.with(&told)
		}
		for k, shape := range met {
			all.at(k).Merge(shape)
			spans[k] = spans[k].with(&told)
		}
	}
	if err := r.newestFirst(ctx, r.items(), func(time.Time) bool { return false }, s.work); err != nil {
		return out, err
	}
	out.Files -= len(r.strangers)
	keys := slices.SortedFunc(maps.Keys(all), func(a, b unknownKey) int {
		return cmp.Or(cmp.Compare(all[b].Count, all[a].Count), cmp.Compare(a.rule, b.rule), cmp.Compare(a.kind, b.kind))
	})
	for _, k := range keys {
		out.Kinds = append(out.Kinds, Unknown{Rule: k.rule, Span: spans[k], Shape: all[k]})
	}
	return out, nil
}

// versionNumber is what of a version anybody may know: its number, at the beginning.
var versionNumber = regexp.MustCompile(`^v?\d{1,5}(\.\d{1,5}){1,3}`)
