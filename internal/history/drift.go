package history

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
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

// news is what a conversation holds that its mapping does not know.
type news struct {
	unknown unknown
	kinds   map[string]bool // types of records that made messages
	unread  map[Field]int   // records by a field of theirs that nothing reads
}

// A Field is a field of the records of one type.
type Field struct {
	Kind string // the records' type, as NoRule counts types
	Rule string // key path of the rule that takes them
	Path string // keys joined by dots; "#" for the elements of a list
}

func (n *news) fields(kind, rule string, paths []string) {
	if n.kinds == nil {
		n.kinds, n.unread = map[string]bool{}, map[Field]int{}
	}
	n.kinds[kind] = true
	for _, p := range paths {
		n.unread[Field{kind, rule, p}]++
	}
}

// Unread is prose under a key that neither a selector of the mapping nor a sample in its
// tests has, in records that a rule takes: it is in no message.
type Unread struct {
	Field
	Records int
	Span
	Before int // earlier conversations that have such records, without the field
}

// unreadBefore is how many earlier conversations must be without a field for it to be news.
// What was there all along the mapping leaves out on purpose.
const unreadBefore = 3

// sightings gathers, for one provider, when records of each type were written, and fields of
// them that nothing reads.
type sightings struct {
	kinds  map[string][]time.Time
	fields map[Field]*Unread
}

func (s *sightings) add(c *chat.Conversation, met news) {
	if s.kinds == nil {
		s.kinds, s.fields = map[string][]time.Time{}, map[Field]*Unread{}
	}
	for k := range met.kinds {
		s.kinds[k] = append(s.kinds[k], c.Updated)
	}
	for f, n := range met.unread {
		u := s.fields[f]
		if u == nil {
			u = &Unread{Field: f}
			s.fields[f] = u
		}
		u.Records += n
		u.Span = u.Span.with(c)
	}
}

// news are the fields that came after their records were known without them.
func (s *sightings) news() []Unread {
	var out []Unread
	for f, u := range s.fields {
		for _, at := range s.kinds[f.Kind] {
			if at.Before(u.First.At) {
				u.Before++
			}
		}
		if u.Before >= unreadBefore {
			out = append(out, *u)
		}
	}
	slices.SortFunc(out, func(a, b Unread) int {
		return cmp.Or(cmp.Compare(b.Records, a.Records), cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Path, b.Path), cmp.Compare(a.Rule, b.Rule))
	})
	return out
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
	Fields        []Unread // without their types, which are values
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
	s.ranked = newRanking(s.b.limit, s.compare)
	for _, f := range r.files {
		if f.closed == "" {
			out.Files++
		}
	}
	var mu sync.Mutex
	all, spans, fields := unknown{}, map[unknownKey]Span{}, sightings{}
	r.shapes = true
	r.watch = func(c *chat.Conversation, met news) {
		told := *c
		told.Version = versionNumber.FindString(c.Version)
		mu.Lock()
		defer mu.Unlock()
		out.Conversations++
		fields.add(&told, met)
		if len(met.unknown) > 0 {
			out.Holding = out.Holding.with(&told)
		}
		for k, shape := range met.unknown {
			all.at(k).Merge(shape)
			spans[k] = spans[k].with(&told)
		}
	}
	if err := r.newestFirst(ctx, r.items(), func(time.Time) bool { return false }, nil, s.work); err != nil {
		return out, err
	}
	out.Files -= len(r.strangers)
	keys := slices.SortedFunc(maps.Keys(all), func(a, b unknownKey) int {
		return cmp.Or(cmp.Compare(all[b].Count, all[a].Count), cmp.Compare(a.rule, b.rule), cmp.Compare(a.kind, b.kind))
	})
	for _, k := range keys {
		out.Kinds = append(out.Kinds, Unknown{Rule: k.rule, Span: spans[k], Shape: all[k]})
	}
	out.Fields = publicFields(fields.news())
	return out, nil
}

// siblingsFrom is from how many new fields on that stand in one member their keys are taken
// for data: a format gets one or two at a time.
const siblingsFrom = 3

// publicFields is the news with no key that may be data: one that is no word of a format is
// mapping.OtherKey, and within a member one that a single record has or that has siblings.
func publicFields(list []Unread) []Unread {
	type place struct{ kind, rule, parent string }
	siblings := map[place]int{}
	at := func(u *Unread) (place, string) {
		i := strings.LastIndexByte(u.Path, '.') + 1
		return place{u.Kind, u.Rule, u.Path[:i]}, u.Path[i:]
	}
	for i := range list {
		p, _ := at(&list[i])
		siblings[p]++
	}
	var out []Unread
	for _, u := range list {
		p, key := at(&u)
		if p.parent != "" && (u.Records == 1 || siblings[p] >= siblingsFrom) {
			key = mapping.OtherKey
		}
		u.Path = mapping.PublicPath(p.parent + key)
		same := slices.IndexFunc(out, func(o Unread) bool { return o.Field == u.Field })
		if same < 0 {
			out = append(out, u)
			continue
		}
		o := &out[same]
		o.Records, o.Span, o.Before = o.Records+u.Records, o.Span.Join(u.Span), min(o.Before, u.Before)
	}
	return out
}

// versionNumber is what of a version anybody may know: its number, at the beginning.
var versionNumber = regexp.MustCompile(`^v?\d{1,5}(\.\d{1,5}){1,3}`)
