package history

import (
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	"parlance/internal/chat"
	"parlance/internal/mapping"
)

// A Status is what one provider holds on this machine.
type Status struct {
	Name, Title string
	About       string // the mapping's word on the format
	NotRead     string // and on what cannot be read of the tool's conversations
	// Mapping is the file its mapping was loaded from, or "built-in"; Replaced are those
	// that it replaced whole.
	Mapping  string
	Replaced []string
	Broken   []mapping.Problem // of the mapping; it is unusable if one is not a warning

	Patterns      []string // where it looks
	Beside        []string // what else it may read, as Mapping.Beside
	Files         int      // that could be read
	Conversations int      // subagents included, copies once
	Messages      int
	Oldest        time.Time // the earliest start, else update; zero if there is nothing
	Newest        time.Time

	Unsupported map[string]int // reason to number of files that cannot be read
	// NotRecorded names what no conversation of it has: "times", "tool results", ...
	NotRecorded []string
	NoRule      map[string]int  // records, and blocks of records, that no rule knew
	Drift       map[string]Span // for each of NoRule, the conversations that hold it
	Unread      []Unread        // what has come to records that a rule knows, and nothing reads
	Incomplete  int             // conversations that reached a limit
	Damage      Damage          // records that could not be read as such
	Excluded    bool            // by the configuration; nothing of it was read
	Problems    []Problem
}

// Damage counts the records that no rule was asked about, since they could not be read: cut
// lines, bytes that are no JSON, rows that hold none.
type Damage struct {
	Records, Conversations int
	// First is one of them: the first of the conversation whose file comes first.
	File string
	chat.Broken
}

func (d *Damage) add(c *chat.Conversation) {
	if len(c.Read.Broken) == 0 {
		return
	}
	d.Records += len(c.Read.Broken) + c.Read.BrokenMore
	d.Conversations++
	if first := c.Read.Broken[0]; d.File == "" || c.File < d.File || c.File == d.File && first.Line < d.Line {
		d.File, d.Broken = c.File, first
	}
}

// Providers reads everything that every mapping finds, and says what came of it. It takes as
// long as reading takes; the texts are not kept. names limits it; none means all.
func (h *History) Providers(ctx context.Context, names []string, progress func(done, found int)) ([]Status, error) {
	if len(names) == 0 {
		names = h.cfg.Set.Names()
	}
	r, err := h.discover(ctx, names, progress)
	if err != nil {
		return nil, err
	}
	s := &searching{h: h, r: r, d: &digester{in: inIDs}, b: bounds{subagents: true}, got: map[key][]*found{}}
	s.ranked = newRanking(s.b.limit, s.compare)
	status := map[string]*Status{}
	has := map[string]map[string]bool{}
	for _, name := range names {
		st := &Status{Name: name, NoRule: map[string]int{}, Drift: map[string]Span{}, Unsupported: map[string]int{}, Excluded: h.exclude.providers[name]}
		st.Mapping, st.Replaced = h.cfg.Set.Origin(name)
		m, problems := h.cfg.Set.Mapping(name)
		st.Broken = problems
		if m != nil {
			st.Title, st.About, st.NotRead = m.Title, m.About, m.NotRead
			st.Patterns, st.Beside = h.cfg.Set.Patterns(name), m.Beside()
		}
		status[name], has[name] = st, map[string]bool{}
	}
	for _, f := range r.files {
		if f.closed != "" {
			status[f.Provider].Unsupported[f.closed]++
			continue
		}
		status[f.Provider].Files++
	}
	// What a new version writes may be all there is in a file: conversations without a message
	// count here.
	var mu sync.Mutex
	kinds := map[string]*sightings{}
	r.watch = func(c *chat.Conversation, met news) {
		mu.Lock()
		defer mu.Unlock()
		st := status[c.Provider]
		if kinds[c.Provider] == nil {
			kinds[c.Provider] = &sightings{}
		}
		kinds[c.Provider].add(c, met)
		st.Damage.add(c)
		for what, n := range c.Read.NoRule {
			st.NoRule[what] += n
			st.Drift[what] = st.Drift[what].with(c)
		}
	}
	s.seen = func(c *chat.Conversation) {
		st := status[c.Provider]
		if c.Read.Incomplete != "" {
			st.Incomplete++
		}
		record(has[c.Provider], c)
	}
	if err := r.newestFirst(ctx, r.items(), func(time.Time) bool { return false }, nil, s.work); err != nil {
		return nil, err
	}
	for f := range r.strangers {
		status[f.Provider].Files--
	}
	for _, f := range s.ranked.all() {
		st := status[f.row.Provider]
		st.Conversations++
		st.Messages += f.row.Messages
		at := f.row.Started
		if at.IsZero() {
			at = f.row.Updated
		}
		if st.Oldest.IsZero() || at.Before(st.Oldest) {
			st.Oldest = at
		}
		if f.row.Updated.After(st.Newest) {
			st.Newest = f.row.Updated
		}
	}
	// Editors keep such databases in every workspace, with or without conversations. Where there
	// is no conversation at all, they may be of a version that the mapping does not know.
	for _, f := range r.refused {
		if status[f.Provider].Conversations == 0 && !f.Loose {
			r.problem(f.Provider, f.Path, mapping.ErrNotAccepted, f.bound)
		}
	}
	for _, p := range r.reported(time.Time{}) {
		if st := status[p.Provider]; st != nil && !slices.ContainsFunc(st.Broken, func(b mapping.Problem) bool { return b.File == p.Path }) {
			st.Problems = append(st.Problems, p)
		}
	}
	var out []Status
	for _, name := range slices.Sorted(maps.Keys(status)) {
		st := status[name]
		if k := kinds[name]; k != nil {
			st.Unread = k.news()
		}
		if st.Conversations > 0 {
			for _, what := range recordable {
				if !has[name][what] {
					st.NotRecorded = append(st.NotRecorded, what)
				}
			}
		}
		out = append(out, *st)
	}
	return out, nil
}

// recordable is what a person may miss in a provider's conversations.
var recordable = []string{"titles", "working directories", "models", "times of messages", "reasoning", "tool calls", "tool results"}

// record notes which of recordable a conversation has.
func record(has map[string]bool, c *chat.Conversation) {
	note := func(what string, holds bool) {
		if holds {
			has[what] = true
		}
	}
	note("titles", c.Title != "")
	note("working directories", c.Cwd != "")
	note("models", c.Model != "")
	for i := range c.Messages {
		m := &c.Messages[i]
		note("times of messages", !m.Time.IsZero())
		note("reasoning", m.Role == chat.Reasoning)
		note("tool calls", m.Role == chat.ToolCall)
		note("tool results", m.Role == chat.ToolResult)
	}
}
