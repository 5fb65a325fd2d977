package history

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"sync"
	"time"

	"parlance/internal/chat"
	"parlance/internal/mapping"
	"parlance/internal/source"
)

const (
	// currentAge is how fresh a file must be to hold the conversation that asks.
	currentAge = time.Minute
	// idMinBytes is how long an id must be for its first find to be trusted as the only one.
	idMinBytes = 16
)

// ownNames are texts of which one stands in every conversation that may be asking us.
var ownNames = []source.Needle{{Text: "chat_search"}, {Text: "chat_fork"}, {Text: "chat_checkpoint"}, {Text: "parlance", Fold: true}}

// A Query is what to search for.
type Query struct {
	// Text is looked for without regard to case in ids, checkpoints and messages; blank
	// text finds everything.
	Text string
	Filter

	// Row, if set, is handed each row of the listing in its order, as soon as no conversation
	// that is still to be looked at can stand before it; an error of it ends the search. A search
	// for what may be a whole id hands over nothing before it ends, nor does one that cannot know
	// yet which conversation asks. What went out stays, and is never more than Limit: if a copy
	// under another name is met later that holds more, or has the text for its id, this shows in
	// the Listing alone.
	Row func(*chat.Row) error
}

// Search lists the conversations that match, those that hold the phrase before those that
// only hold all its words. All of history is looked at. A conversation whose id is the text,
// or that made the checkpoint whose UUID is the text, is the only answer.
//
// What was given up, and what was copied from a parent, is no hit. The caller's own
// conversation is none either; it is named apart.
func (h *History) Search(ctx context.Context, q Query) (Listing, error) {
	s, err := h.begin(ctx, q)
	if err != nil {
		return Listing{}, err
	}
	if err := s.run(ctx); err != nil {
		return Listing{}, err
	}
	l, err := s.listing()
	if err != nil {
		return Listing{}, err
	}
	if len(l.Rows) == 0 && s.q.needle != "" {
		if l.Nearest, err = s.nearest(ctx); err != nil {
			return Listing{}, err
		}
	}
	if len(l.Rows) == 0 && l.Current == nil && len(s.r.files) == 0 {
		l.Looked = h.looked(q.Providers)
	}
	return l, nil
}

// List is Search for everything.
func (h *History) List(ctx context.Context, f Filter) (Listing, error) {
	return h.Search(ctx, Query{Filter: f})
}

// A searching is one search on its way.
type searching struct {
	h    *History
	r    *run
	q    query
	d    *digester
	b    bounds
	self string
	one  bool // the best is wanted, not a list

	mu       sync.Mutex
	plans    map[string]*rawPlan // by provider and sources
	got      map[key][]*found    // all copies that were read, by id
	ranked   *ranking            // what matches, best first
	currents []*found
	stage    hope                    // what is read now is what may hold so much
	putoff   [hopePhrase + 1][]*item // what may hold less

	seen func(*chat.Conversation) // if set, is shown every conversation that is read; under mu

	give   func(*chat.Row) error // Query.Row
	given  int                   // how many rows went out
	whole  bool                  // the needle is the whole name of something that was found
	passed map[*found]bool       // those at the head of ranked that were given, or (false) are not shown
	gave   map[key]bool          // of which a copy was given that does not count any more
}

func (h *History) begin(ctx context.Context, q Query) (*searching, error) {
	b, err := h.bounds(q.Filter)
	if err != nil {
		return nil, err
	}
	r, err := h.discover(ctx, q.Providers, q.Progress)
	if err != nil {
		return nil, err
	}
	read := newQuery(q.Text)
	s := &searching{
		h: h, r: r, q: read, d: &digester{q: read, in: q.In}, b: b, self: chat.Fold(strings.TrimSpace(q.Self)),
		plans: map[string]*rawPlan{}, got: map[key][]*found{},
		give: q.Row, passed: map[*found]bool{}, gave: map[key]bool{},
	}
	s.ranked = newRanking(b.limit, s.compare)
	return s, nil
}

func (s *searching) run(ctx context.Context) error {
	items := slices.DeleteFunc(s.r.items(), func(it *item) bool { return !s.b.since.IsZero() && it.bound.Before(s.b.since) })
	if done, err := s.named(ctx, items); done || err != nil {
		return err
	}
	for s.stage = hopePhrase; s.stage > hopeless; s.stage-- {
		if err := s.r.newestFirst(ctx, items, s.enough, s.decided, s.work); err != nil {
			return err
		}
		if s.one || len(s.exact()) > 0 {
			return nil
		}
		items = s.putoff[s.stage-1]
	}
	return nil
}

// putOff keeps an item for the stage of its hope, or, if that is not known, for the next.
func (s *searching) putOff(it *item) {
	s.mu.Lock()
	defer s.mu.Unlock()
	h := it.hope
	if h == 0 {
		h = s.stage - 1
	}
	s.putoff[h] = append(s.putoff[h], it)
}

// promising says whether an item that the raw filter let pass is to be read now.
func (s *searching) promising(ctx context.Context, it *item) (bool, error) {
	it.scanned = true
	if it.hope == 0 || s.stage == hopeSpread { // that the words are where they count is found out last
		h, err := s.sift(ctx, it)
		if err != nil {
			return false, err
		}
		it.hope = h
	}
	if it.hope < s.stage && it.hope > hopeless {
		s.putOff(it)
	}
	return it.hope >= s.stage, nil
}

// named looks for the needle as a whole id where an id costs nothing to know: in the paths
// of files and in what databases list. done says that there can be no other.
func (s *searching) named(ctx context.Context, all []*item) (done bool, err error) {
	var items []*item
	for _, it := range all {
		f := it.members[0].f
		ids := s.q.ids(f.Provider)
		if s.self != "" {
			ids = append(ids, s.self, strings.TrimPrefix(s.self, f.Provider+":"))
		}
		if !it.heads && slices.ContainsFunc(ids, f.mayBe) {
			items = append(items, it)
		}
	}
	if s.q.idLike() {
		for _, store := range s.r.stores {
			for _, f := range store.dbs {
				rows, err := s.r.expand(ctx, f, func(_ int, c *chat.Conversation) bool { return s.q.exactID(c.Provider, c.ID) })
				if err != nil {
					return false, err
				}
				if _, listed := store.rows[f]; listed {
					items = append(items, rows...)
				}
			}
		}
	}
	never := func(time.Time) bool { return false }
	err = s.r.newestFirst(ctx, items, never, nil, func(ctx context.Context, it *item) ([]*item, error) { return nil, s.read(ctx, it) })
	if err != nil {
		return false, err
	}
	for _, f := range s.exact() {
		// A short id may be another tool's as well; a long one, or one with its provider, is not.
		done = done || f.idWhole && (len(f.row.ID) >= idMinBytes || s.q.needle != chat.Fold(f.row.ID))
	}
	if !done {
		return false, nil
	}
	// Who asks has still to be found, among the files that were written just now.
	fresh := slices.DeleteFunc(slices.Clone(all), func(it *item) bool { return !s.recent(it.bound) })
	return true, s.r.newestFirst(ctx, fresh, never, nil, s.work)
}

// mayBe says whether the path of f suggests that it holds the conversation id, or a
// subagent inside of that.
func (f *file) mayBe(id string) bool {
	hint := chat.Fold(f.hint)
	if isUUID(id) && strings.Contains(f.folded(), id[:8]) {
		return true // some tools put the beginning of the id into the name
	}
	return id != "" && (hint == id || strings.HasPrefix(id, hint+"/") || len(id) >= idMinBytes && strings.Contains(f.folded(), id))
}

// work is what one worker does with an item: filter its raw bytes, read it, judge what is in it.
func (s *searching) work(ctx context.Context, it *item) ([]*item, error) {
	if it.scanned {
		if ok, err := s.promising(ctx, it); !ok || err != nil {
			return nil, err
		}
		return nil, s.read(ctx, it)
	}
	if s.unasked(it) {
		return nil, nil
	}
	var sum traces
	for _, m := range it.members {
		t, err := s.look(ctx, m.f)
		if err != nil {
			return nil, err
		}
		sum = traces{sum.phrase || t.phrase, sum.words || t.words, sum.own || t.own}
	}
	s.r.looked(len(it.members))
	read := sum.phrase || sum.own
	switch {
	case !read && !sum.words || !sum.own && s.elsewhere(ctx, it):
		return nil, nil
	case it.heads:
		rows, err := s.r.expand(ctx, it.members[0].f, func(i int, c *chat.Conversation) bool { return s.wants(i, c, sum) })
		for _, row := range rows {
			row.scanned = true
		}
		if read {
			return rows, err
		}
		for _, row := range rows {
			s.putOff(row)
		}
		return nil, err
	case read:
		if !sum.own {
			if ok, err := s.promising(ctx, it); !ok || err != nil {
				return nil, err
			}
		}
		return nil, s.read(ctx, it)
	}
	it.scanned = true
	s.putOff(it)
	return nil, nil
}

// unasked says that an item holds subagents and nothing else, whom nobody asked for: they
// count by a whole id or UUID only.
func (s *searching) unasked(it *item) bool {
	return !s.b.subagents && !s.q.idLike() && !s.recent(it.bound) &&
		!slices.ContainsFunc(it.members, func(m member) bool { return !m.f.subagents })
}

// elsewhere says that an item belongs to another project, as far as its beginning and end
// tell that without reading it.
func (s *searching) elsewhere(ctx context.Context, it *item) bool {
	f := it.members[0].f
	if s.b.name == "" && s.b.folder == "" || it.heads || len(it.members) != 1 || !f.lines || f.Size < projectFromBytes || s.recent(f.ModTime) {
		return false
	}
	other := true
	opts := mapping.ReadOptions{Ends: cwdEndsBytes, SkipToolText: true, Keep: func(*chat.Message) bool { return false }}
	err := f.m.Read(ctx, f.File, opts, func(c *chat.Conversation) error {
		other = other && c.Cwd != "" && !s.b.inProject(c.Cwd)
		return nil
	})
	return err == nil && other
}

// projectFromBytes: of smaller files the project is known once they are read.
const projectFromBytes = 64 << 10

// traces are what the raw bytes of a file say.
type traces struct {
	phrase bool // the phrase may be in it
	words  bool // all words may
	own    bool // it may be the conversation that asks
}

func (s *searching) look(ctx context.Context, f *file) (traces, error) {
	if s.q.needle == "" {
		return traces{phrase: true}, nil
	}
	plan := s.plan(f)
	if plan.every {
		return traces{phrase: true}, nil
	}
	needles := plan.needles
	recent, outdone := s.recent(f.ModTime), s.outdone(f)
	switch {
	case outdone:
		needles = slices.Concat(needles, []source.Needle{{Text: checkpointMark}})
	case recent:
		needles = slices.Concat(needles, ownNames)
	}
	seen, err := s.r.scan(ctx, f, needles)
	if ctx.Err() != nil {
		return traces{}, ctx.Err()
	}
	if err != nil {
		// What stands before the damage counts, and so does the name.
		s.r.problem(f.Provider, f.Path, err, f.bound)
	}
	var t traces
	t.phrase, t.words = plan.match(seen[:len(plan.needles)], f.folded())
	// Of a subagent only its id or a checkpoint counts, and these are phrases.
	t.words = t.words && (!f.subagents || s.b.subagents)
	switch rest := slices.Contains(seen[len(plan.needles):], true); {
	case outdone:
		t.phrase = t.phrase && rest
	case recent:
		t.own = rest
	}
	return t, nil
}

// outdone says that of f only a checkpoint can matter: one conversation is wanted, a newer
// one has been found by its text, and the id of f is known not to fit.
func (s *searching) outdone(f *file) bool {
	if !s.one || s.b.subagents || !f.settled || strings.Contains(chat.Fold(f.Provider+":"+f.hint), s.q.needle) {
		return false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.ranked.len() > 0 && s.ranked.at(0).tier() <= tierUser && s.ranked.at(0).at.After(f.bound)
}

func (s *searching) plan(f *file) *rawPlan {
	s.mu.Lock()
	defer s.mu.Unlock()
	p := s.plans[f.kind]
	if p == nil {
		p = s.q.plan(f, s.d.in)
		s.plans[f.kind] = p
	}
	return p
}

func (s *searching) recent(t time.Time) bool { return s.r.now.Sub(t) < currentAge+boundSlack }

// wants says whether a row of a database is worth reading. i is its place, newest first.
func (s *searching) wants(i int, c *chat.Conversation, t traces) bool {
	switch {
	case t.own && (i == 0 || s.recent(c.Updated)):
		return true
	case !t.phrase && !t.words:
		return false
	case s.q.exactID(c.Provider, c.ID):
		return true
	case c.Subagent && !s.b.subagents && !isUUID(s.q.needle):
		return false
	case c.Updated.IsZero():
		return true
	}
	return !c.Updated.Before(s.b.since)
}

// enough says that nothing up to bound can be among what is shown.
func (s *searching) enough(bound time.Time) bool {
	if s.q.idLike() || s.recent(bound) {
		return false // a whole id ends the search, however old; who asks must be known
	}
	n := s.b.limit
	if s.one {
		n = 1
	} else if n == 0 {
		return false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.one || s.q.needle == "" {
		n += 1 + len(s.currents) // one more, to know that there are more
	}
	last := s.ranked.at(n - 1)
	if last == nil {
		return false
	}
	switch {
	case last.rank() < s.stage.rank():
		return true // nothing so good is left in the files to come
	case !last.at.After(bound):
		return false
	case s.q.needle == "":
		return true
	case s.one:
		return last.tier() == tierID
	}
	return last.rank() <= s.stage.rank()
}

// read reads an item and takes in what is in it.
func (s *searching) read(ctx context.Context, it *item) error {
	var batch []*found
	var t *tally
	opts := mapping.ReadOptions{SkipToolText: s.d.skipsTools(), Keeper: s.d.keeper}
	if s.seen == nil {
		opts.Each = func(c *chat.Conversation) func(*chat.Message) {
			t = s.d.tally(c)
			return t.add
		}
	}
	switch {
	case s.q.needle != "":
		opts.Keys = s.r.keysOf(it.members[0].f)
	case s.seen == nil && !s.b.subagents && len(it.members) == 1:
		opts.Ends = endsBytes // what a row tells stands there
	}
	err := s.r.read(ctx, it, opts, func(c *chat.Conversation, f *file) {
		if s.seen != nil {
			t = s.d.tally(c)
			for i := range c.Messages {
				t.take(&c.Messages[i])
			}
		}
		found := t.digest(f, s.r.touched(c, f), s.r.now, func(id string) bool { return s.r.has(ctx, f, id) })
		found.at = capped(found.row.Updated, s.r.boundOf(it, f, c.Row))
		batch = append(batch, found)
		if s.seen != nil {
			s.mu.Lock()
			defer s.mu.Unlock()
			s.seen(c)
		}
	})
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, f := range batch {
		s.add(f)
	}
	return err
}

// add takes in a conversation, and settles anew which of its copies counts.
func (s *searching) add(f *found) {
	if s.self != "" { // the host knows
		f.current = s.self == chat.Fold(f.row.ID) || s.self == chat.Fold(f.row.FullID())
	}
	k := key{f.row.Provider, f.row.ID}
	if slices.ContainsFunc(s.got[k], func(old *found) bool { return old.row.File == f.row.File && old.row.Row == f.row.Row }) {
		return // read before
	}
	for _, old := range s.got[k] {
		s.ranked.remove(old)
		if s.passed[old] {
			s.gave[k] = true
		}
		delete(s.passed, old)
		if i := slices.Index(s.currents, old); i >= 0 {
			s.currents = slices.Delete(s.currents, i, i+1)
		}
	}
	s.got[k] = append(s.got[k], f)
	for _, w := range settle(f.f.m.Unique, s.got[k]) {
		if w.current {
			s.currents = append(s.currents, w)
		}
		if s.matches(w) {
			s.whole = s.whole || s.q.needle != "" && (w.idWhole || w.uuidWhole || w.uuidCopied)
			s.ranked.add(w)
		}
	}
	if f.miss = !f.current && !s.matches(f); f.miss {
		f.row = chat.Row{Provider: f.row.Provider, ID: f.row.ID, Updated: f.row.Updated, File: f.row.File, Row: f.row.Row}
	}
}

// matches says whether f has a place in the listing.
func (s *searching) matches(f *found) bool {
	switch {
	case f.miss:
		return false
	case !s.b.holds(f.row.Cwd, f.at):
		return false
	case f.row.Subagent && !s.b.subagents:
		return f.idWhole || f.uuidWhole || f.uuidCopied
	case s.q.needle == "":
		return true
	case f.current && f.tier() > tierMark:
		return false
	}
	return f.tier() < tierNone || f.uuidCopied
}

// decided gives the rows before which nothing can come any more, as nothing that is still to be
// looked at in this stage was updated after bound.
func (s *searching) decided(bound time.Time) error {
	if s.give == nil || s.q.idLike() || s.recent(bound) {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.whole { // then nothing else is an answer
		return nil
	}
	for i := len(s.passed); s.b.limit == 0 || s.given < s.b.limit; i++ {
		f := s.ranked.at(i)
		if f == nil {
			break
		}
		if _, met := s.passed[f]; met { // a copy put something before it
			continue
		}
		rank := f.rank()
		if s.q.needle == "" {
			rank = 0
		}
		if rank > s.stage.rank() || rank == s.stage.rank() && !f.at.After(bound) {
			break
		}
		s.passed[f] = !(f.current && len(s.currents) == 1) && !s.gave[key{f.row.Provider, f.row.ID}]
		if !s.passed[f] {
			continue
		}
		row := s.row(f)
		s.given++
		if err := s.give(&row); err != nil {
			return err
		}
	}
	return nil
}

// rank orders results: those with the phrase, with all words in one message, with all words.
func (f *found) rank() int {
	switch f.tier() {
	case tierTogether:
		return 1
	case tierWords:
		return 2
	case tierNone:
		return 3
	}
	return 0
}

func (s *searching) compare(a, b *found) int {
	ra, rb := a.rank(), b.rank()
	if s.one {
		ra, rb = int(a.tier()), int(b.tier())
	}
	if s.q.needle == "" {
		ra, rb = 0, 0
	}
	if c := cmp.Or(cmp.Compare(ra, rb), b.at.Compare(a.at)); c != 0 {
		return c
	}
	return cmp.Or(cmp.Compare(a.row.FullID(), b.row.FullID()), cmp.Compare(a.row.File, b.row.File), cmp.Compare(a.row.Row, b.row.Row))
}

// exact are the conversations that the needle names whole; nothing else counts beside them.
func (s *searching) exact() []*found {
	if s.q.needle == "" {
		return nil
	}
	for _, named := range []func(*found) bool{
		func(f *found) bool { return f.idWhole },
		func(f *found) bool { return f.uuidWhole },
		func(f *found) bool { return f.uuidCopied },
	} {
		var out []*found
		for _, f := range s.ranked.unordered() {
			if named(f) {
				out = append(out, f)
			}
		}
		if slices.SortFunc(out, s.compare); out != nil {
			return out
		}
	}
	return nil
}

// results are what is shown, best first, the caller's own conversation apart.
func (s *searching) results() (rows []*found, own *found) {
	rows = s.exact()
	if rows == nil {
		rows = slices.DeleteFunc(s.ranked.all(), func(f *found) bool { return s.q.needle != "" && f.rank() > 2 })
	}
	if len(s.currents) == 1 {
		own = s.currents[0]
		rows = slices.DeleteFunc(rows, func(f *found) bool { return f == own })
	}
	return rows, own
}

// listing sums up, and gives the rows that were not given before.
func (s *searching) listing() (l Listing, err error) {
	found, own := s.results()
	if s.b.limit > 0 && len(found) > s.b.limit {
		found, l.More = found[:s.b.limit], true
	}
	var oldest time.Time
	for _, f := range found {
		row := s.row(f)
		l.Rows = append(l.Rows, row)
		if l.More && (oldest.IsZero() || f.at.Before(oldest)) {
			oldest = f.at
		}
		if s.give != nil && !s.passed[f] && !s.gave[key{f.row.Provider, f.row.ID}] && (s.b.limit == 0 || s.given < s.b.limit) {
			s.given++
			if err := s.give(&row); err != nil {
				return l, err
			}
		}
	}
	if own != nil {
		row := s.row(own)
		l.Current = &row
	}
	l.Problems = s.r.reported(oldest)
	l.Work = s.r.work.count()
	l.Work.Compiled = int64(s.h.cfg.Set.Compiled())
	return l, nil
}

func (s *searching) row(f *found) chat.Row {
	row := f.row
	if s.q.needle != "" {
		row.Matched, row.Hits, row.First, row.Last = f.reasons(), f.hits, f.hitFirst, f.hitTo
	}
	return row
}
