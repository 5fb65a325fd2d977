package history

import (
	"cmp"
	"container/heap"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"parlance/internal/chat"
	"parlance/internal/mapping"
	"parlance/internal/source"
)

// rowBatch is how many conversations of a database are read with its first opening: opening
// takes a snapshot, which with a large WAL costs tens of milliseconds, and lists all rows again.
// So each further batch is as large as all before it, until there are batchesPerWorker of them
// for each worker: what a database of many thousands costs does not grow with their square.
const (
	rowBatch         = 32
	batchesPerWorker = 4
)

// copiesMax files may be taken for copies of one conversation because their names are alike.
// If there are more, the name is one that a tool gives to all its files.
const copiesMax = 8

// tellEvery is how long large files may keep the caller without a word.
const tellEvery = 100 * time.Millisecond

// A file is a file that some mapping's pattern found, with what can be told of it unread.
type file struct {
	mapping.File
	m         *mapping.Mapping
	hint      string // what its path says about the id
	settled   bool   // nothing in the file can make the id another one
	kind      string // its provider and sources: what is alike in all such files
	sqlite    bool   // at least one source reads it as a database
	document  bool   // read whole, as one JSON value
	lines     bool   // every source reads it line by line
	subagents bool   // whoever reads it, all in it are subagents
	closed    string // why it cannot be read, if no source can
	bound     time.Time
}

func (f *file) packed() bool {
	return strings.HasSuffix(f.Path, ".gz") || strings.HasSuffix(f.Path, ".zst")
}

// folded is its path, folded, and behind it the hint if that does not stand in it.
func (f *file) folded() string {
	path, hint := chat.Fold(filepath.ToSlash(f.Path)), chat.Fold(f.hint)
	if !strings.Contains(path, hint) {
		path += "\n" + hint
	}
	return path
}

// sourceIndex is the place of a source in the mapping.
func (f *file) sourceIndex(id string) int {
	return slices.IndexFunc(f.m.Sources, func(s *mapping.Source) bool { return s.ID == id })
}

func newFile(m *mapping.Mapping, found mapping.File) *file {
	hint, settled := m.HintID(found)
	f := &file{File: found, m: m, hint: hint, settled: settled, bound: found.ModTime.Add(boundSlack)}
	f.subagents, f.lines = len(found.Sources) > 0, true
	var readable []int
	for _, i := range found.Sources {
		s := m.Sources[i]
		if s.Unsupported != "" {
			f.closed = s.Unsupported
			continue
		}
		readable = append(readable, i)
		f.subagents = f.subagents && s.Subagent
		f.sqlite = f.sqlite || s.Container == "sqlite"
		f.document = f.document || s.Container == "json"
		f.lines = f.lines && s.Container == "jsonl" && !s.Several()
	}
	if len(readable) > 0 {
		f.closed = ""
	}
	f.Sources = readable
	f.kind = fmt.Sprint(m.Name, readable)
	return f
}

// A member is a file, or some rows of one, that is read in one go.
type member struct {
	f    *file
	rows []string // nil: all that is in it
}

// An item is what one worker takes at a time: usually a file; the copies of a conversation
// that lie in several places; a batch of rows; or a database that has yet to be asked for its rows.
type item struct {
	bound   time.Time // nothing in it was updated later
	members []member
	heads   bool // ask the one member for its rows
	scanned bool // the raw filter let it pass
	hope    hope // what it may hold, as far as that was found out
	key     key  // of files and copies, so that they are read once; none for a batch

	// raised is a bound that is later, in nanoseconds, since a row joined that was updated after
	// the files; other workers look.
	raised atomic.Int64
}

// latest is the time after which nothing in the item was updated.
func (it *item) latest() time.Time {
	if at := it.raised.Load(); at > it.bound.UnixNano() {
		return time.Unix(0, at)
	}
	return it.bound
}

// A key names a conversation, or what its file's path says about its id.
type key struct{ provider, id string }

// A run is one call: the files as they are now, and what was learned of them on the way.
type run struct {
	h      *History
	now    time.Time
	work   work
	files  []*file // newest first, then by path
	byHint map[key][]*file
	set    map[string]*mapping.Mapping

	mu        sync.Mutex
	problems  []Problem
	strangers map[*file]bool          // files of Env.Roots that are of another format
	refused   []*file                 // databases that no source accepts
	silent    map[key]UnreadableError // conversations that were read and hold no message
	stores    map[string]*store       // databases by provider
	claimed   map[key]bool
	keys      map[key]func() (map[string]bool, bool) // of parents, see keysOf
	ids       map[*file]func() []string              // see idsIn
	done      int
	progress  func(done, found int)
	told      time.Time // when progress was called last

	// watch, if set, is shown every conversation that is read, also one without messages, with
	// the fields in it that nothing reads, and with shapes the structure of what no rule knew.
	// Several workers call it at the same time.
	watch  func(*chat.Conversation, news)
	shapes bool
}

// A store holds what the databases of one provider list.
type store struct {
	once sync.Once
	dbs  []*file
	rows map[*file][]*chat.Conversation // newest first
	byID map[string][]member
	// bounds are when the rows were updated at the latest, by file and row.
	bounds map[*file]map[string]time.Time
}

// discover finds the files of the providers that are asked for, all if none is named.
func (h *History) discover(ctx context.Context, providers []string, progress func(int, int)) (*run, error) {
	r := &run{
		h: h, now: h.cfg.Now(), set: map[string]*mapping.Mapping{}, byHint: map[key][]*file{},
		stores: map[string]*store{}, claimed: map[key]bool{}, keys: map[key]func() (map[string]bool, bool){},
		ids: map[*file]func() []string{}, silent: map[key]UnreadableError{}, strangers: map[*file]bool{}, progress: progress,
	}
	err := r.find(ctx, providers)
	r.looked(0)
	return r, err
}

func (r *run) find(ctx context.Context, wanted []string) error {
	var settled, roaming []string
	for _, name := range r.h.cfg.Set.Names() {
		switch {
		case r.h.exclude.providers[name] || len(wanted) > 0 && !slices.Contains(wanted, name):
		case r.h.cfg.Set.Roams(name):
			roaming = append(roaming, name)
		default:
			settled = append(settled, name)
		}
	}
	envs := make([]mapping.Env, len(r.h.cfg.Envs))
	for i, env := range r.h.cfg.Envs {
		envs[i] = env.Snapshot()
	}
	each := func(names []string) error {
		g, ctx := errgroup.WithContext(ctx)
		g.SetLimit(r.h.workers)
		for _, env := range envs {
			for _, name := range r.h.cfg.Set.Present(env, names) {
				g.Go(func() error { return r.findIn(ctx, env, name) })
			}
		}
		return g.Wait()
	}
	if err := each(settled); err != nil {
		return err
	}
	others := slices.Clone(r.files)
	cwds := sync.OnceValue(func() []string { return r.h.cwds(ctx, others, wanted) })
	for i := range envs {
		if envs[i].Cwds == nil {
			envs[i].Cwds = cwds
		}
	}
	if err := each(roaming); err != nil {
		return err
	}
	for _, env := range envs {
		r.work.looks.Add(int64(env.Looks()))
	}
	// What lies where a tool keeps its own is no export, even if a folder of exports is around it.
	own := map[string]bool{}
	for _, f := range r.files {
		if !f.Loose {
			own[f.Path] = true
		}
	}
	r.files = slices.DeleteFunc(r.files, func(f *file) bool { return f.Loose && own[f.Path] })
	if len(r.h.cfg.Envs) > 1 { // one home may lie in another
		seen := map[key]bool{}
		r.files = slices.DeleteFunc(r.files, func(f *file) bool {
			k := key{f.Provider, f.Path}
			twice := seen[k]
			seen[k] = true
			return twice
		})
	}
	slices.SortFunc(r.files, func(a, b *file) int {
		return cmp.Or(b.ModTime.Compare(a.ModTime), cmp.Compare(a.Path, b.Path), cmp.Compare(a.Provider, b.Provider))
	})
	for _, f := range r.files {
		switch {
		case f.closed != "":
		case !f.sqlite:
			r.byHint[key{f.Provider, f.hint}] = append(r.byHint[key{f.Provider, f.hint}], f)
		default:
			if r.stores[f.Provider] == nil {
				r.stores[f.Provider] = &store{}
			}
			r.stores[f.Provider].dbs = append(r.stores[f.Provider].dbs, f)
		}
	}
	r.work.found.Store(int64(len(r.files)))
	return nil
}

// findIn lists what one mapping finds in one home.
func (r *run) findIn(ctx context.Context, env mapping.Env, name string) error {
	m, problems := r.h.cfg.Set.Mapping(name)
	if m == nil {
		problems = slices.DeleteFunc(slices.Clone(problems), func(p mapping.Problem) bool { return p.Warning })
		if len(problems) > 0 {
			more := ""
			if n := len(problems) - 1; n > 0 {
				more = fmt.Sprintf(", and %d more", n)
			}
			p := problems[0]
			r.problem(name, p.File, fmt.Errorf("%s%s; see: parlance check %s", p.Headline(), more, p.File), time.Time{})
		}
		return nil
	}
	found, failed := m.Find(ctx, env)
	for _, e := range failed {
		r.problem(name, e.Path, e.Err, time.Time{})
	}
	files := make([]*file, 0, len(found))
	for _, f := range found {
		if !r.h.excluded(ctx, m, f) {
			files = append(files, newFile(m, f))
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.set[name] = m
	r.files = append(r.files, files...)
	return ctx.Err()
}

// excluded says whether a file must be left alone: it, or any of those that hold the same
// conversation.
func (h *History) excluded(ctx context.Context, m *mapping.Mapping, f mapping.File) bool {
	switch {
	case h.exclude.path(f.Path):
		return true
	case !h.exclude.paths() || m.Alone(f):
		return false
	}
	return slices.ContainsFunc(m.Parts(ctx, f), h.exclude.path)
}

// items are the units of work that the found files make: one for each file, and one for
// files that may be copies.
func (r *run) items() []*item {
	var out []*item
	taken := map[key]bool{}
	for _, f := range r.files {
		if f.closed != "" {
			continue
		}
		if f.sqlite {
			out = append(out, &item{bound: f.bound, members: []member{{f: f}}, heads: true})
			continue
		}
		k := key{f.Provider, f.hint}
		copies := r.byHint[k]
		switch {
		case len(copies) > copiesMax && !f.settled:
			out = append(out, &item{bound: f.bound, members: []member{{f: f}}})
		case !taken[k]:
			taken[k] = true
			it := &item{bound: f.bound, key: k}
			for _, c := range copies {
				it.members = append(it.members, member{f: c})
			}
			out = append(out, it)
		}
	}
	return out
}

// claim makes sure that an item is read once, and adds to a file's item the rows of
// databases that have the same id. It is false if somebody else has claimed it.
func (r *run) claim(ctx context.Context, it *item) (bool, error) {
	if it.key.provider == "" {
		return true, nil
	}
	s := r.stores[it.key.provider]
	if s != nil {
		if err := r.load(ctx, s); err != nil {
			return false, err
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.claimed[it.key] {
		return false, nil
	}
	r.claimed[it.key] = true
	if s == nil {
		return true, nil
	}
	have := map[*file]bool{}
	for _, m := range it.members {
		have[m.f] = true
	}
	for _, m := range s.byID[it.key.id] {
		if !have[m.f] {
			it.members = append(it.members, m)
			if at := s.bounds[m.f][m.rows[0]].UnixNano(); at > it.raised.Load() {
				it.raised.Store(at)
			}
		}
	}
	return true, nil
}

// expand turns a database into items: batches of rows, newest first, and each row that lies
// in other places too with its copies. want says of each row, the newest first, whether it
// is of interest.
func (r *run) expand(ctx context.Context, f *file, want func(i int, c *chat.Conversation) bool) ([]*item, error) {
	s := r.stores[f.Provider]
	if err := r.load(ctx, s); err != nil {
		return nil, err
	}
	rows, listed := s.rows[f]
	if !listed {
		return []*item{{bound: f.bound, members: []member{{f: f}}}}, nil
	}
	var out []*item
	var batch *item
	batched, size := 0, rowBatch
	for i, c := range rows {
		if !want(i, c) {
			continue
		}
		bound := s.bounds[f][c.Row]
		k := key{f.Provider, c.ID}
		if copies := s.byID[c.ID]; len(copies) > 1 || len(r.byHint[k]) > 0 {
			it := &item{bound: bound, key: k, members: slices.Clone(copies)}
			for _, other := range r.byHint[k] {
				it.members = append(it.members, member{f: other})
			}
			out = append(out, it)
			continue
		}
		if batch == nil || len(batch.members[0].rows) == size {
			size = max(rowBatch, min(batched, len(rows)/(batchesPerWorker*r.h.workers)))
			batch = &item{bound: bound, members: []member{{f: f}}}
			out = append(out, batch)
		}
		batch.members[0].rows = append(batch.members[0].rows, c.Row)
		batched++
	}
	return out, nil
}

func capped(t, latest time.Time) time.Time {
	if latest.Before(t) {
		return latest
	}
	return t
}

// boundOf is when a conversation in an item was updated at the latest: f is where it was read, row
// its row if that is a database.
func (r *run) boundOf(it *item, f *file, row string) time.Time {
	if s := r.stores[f.Provider]; f.sqlite && len(it.members) == 1 {
		if bound, ok := s.bounds[f][row]; ok {
			return bound
		}
	}
	return it.latest()
}

// load asks the databases of a provider for their rows, once in a run.
func (r *run) load(ctx context.Context, s *store) error {
	s.once.Do(func() {
		s.rows = map[*file][]*chat.Conversation{}
		s.byID = map[string][]member{}
		s.bounds = map[*file]map[string]time.Time{}
		for _, f := range s.dbs {
			var rows []*chat.Conversation
			r.work.heads.Add(1)
			ok, err := f.m.Heads(ctx, f.File, func(c *chat.Conversation) error {
				switch {
				case r.h.exclude.conversation(c):
				case len(c.Read.Broken) > 0: // nothing of it can be read
					if r.empty(f, c); r.watch != nil {
						r.watch(c, news{})
					}
				default:
					rows = append(rows, c)
				}
				return ctx.Err()
			})
			if errors.Is(err, mapping.ErrNotAccepted) && !errors.Is(err, mapping.ErrOtherVersion) {
				r.mu.Lock()
				r.refused = append(r.refused, f)
				r.mu.Unlock()
			} else if err != nil {
				r.problem(f.Provider, f.Path, err, f.bound)
			}
			if !ok && err == nil {
				continue // no list: it is read whole
			}
			slices.SortStableFunc(rows, func(a, b *chat.Conversation) int {
				return cmp.Or(b.Updated.Compare(a.Updated), cmp.Compare(a.ID, b.ID))
			})
			s.rows[f] = rows
			s.bounds[f] = make(map[string]time.Time, len(rows))
			for i, c := range rows {
				s.bounds[f][c.Row] = f.bound
				if i > 0 && !c.Updated.IsZero() { // the first may be newer than its row says
					s.bounds[f][c.Row] = c.Updated
				}
				s.byID[c.ID] = append(s.byID[c.ID], member{f: f, rows: []string{c.Row}})
			}
		}
	})
	return ctx.Err()
}

// newestFirst hands items to work, those with the latest bound first, until none is left or
// enough says that nothing up to a bound can matter. What work returns are further items.
// decided, if set, hears after each item up to which bound all have been worked on: what is left
// is not newer. It returns when all workers have.
func (r *run) newestFirst(ctx context.Context, items []*item, enough func(bound time.Time) bool, decided func(bound time.Time) error, work func(context.Context, *item) ([]*item, error)) error {
	queue := itemQueue(items)
	heap.Init(&queue)
	var mu sync.Mutex
	idle := sync.NewCond(&mu)
	busy := map[*item]bool{}
	g, ctx := errgroup.WithContext(ctx)
	next := func() *item {
		mu.Lock()
		defer mu.Unlock()
		for {
			if ctx.Err() != nil {
				return nil
			}
			if len(queue) > 0 && !enough(queue[0].bound) {
				it := heap.Pop(&queue).(*item)
				busy[it] = true
				return it
			}
			if len(busy) == 0 {
				return nil
			}
			idle.Wait() // what others are reading may bring newer items
		}
	}
	done := func(it *item, more []*item, err error) error {
		mu.Lock()
		defer mu.Unlock()
		delete(busy, it)
		for _, it := range more {
			heap.Push(&queue, it)
		}
		idle.Broadcast()
		if decided == nil || err != nil {
			return err
		}
		var bound time.Time
		if len(queue) > 0 {
			bound = queue[0].bound
		}
		for it := range busy {
			if it.latest().After(bound) {
				bound = it.latest()
			}
		}
		return decided(bound)
	}
	for range r.h.workers {
		g.Go(func() error {
			for it := next(); it != nil; it = next() {
				more, err := work(ctx, it)
				if err = done(it, more, err); err != nil {
					return err
				}
			}
			return ctx.Err()
		})
	}
	return g.Wait()
}

// itemQueue is a heap of items, the latest bound on top.
type itemQueue []*item

func (q itemQueue) Len() int { return len(q) }
func (q itemQueue) Less(i, j int) bool {
	if c := q[i].bound.Compare(q[j].bound); c != 0 {
		return c > 0
	}
	return q[i].members[0].f.Path < q[j].members[0].f.Path
}
func (q itemQueue) Swap(i, j int) { q[i], q[j] = q[j], q[i] }
func (q *itemQueue) Push(x any)   { *q = append(*q, x.(*item)) }
func (q *itemQueue) Pop() any {
	old := *q
	it := old[len(old)-1]
	old[len(old)-1] = nil
	*q = old[:len(old)-1]
	return it
}

// scan looks for needles in the raw bytes of one file, or of all those that hold the same
// conversation.
func (r *run) scan(ctx context.Context, f *file, needles []source.Needle) ([]bool, error) {
	r.work.scanned.Add(1)
	switch {
	case f.sqlite:
		return source.ScanDB(ctx, f.Path, needles)
	case f.m.Alone(f.File):
		return source.Scan(ctx, f.Path, needles)
	}
	found := make([]bool, len(needles))
	var problem error
	for _, part := range f.m.Parts(ctx, f.File) {
		var left []source.Needle
		var at []int
		for i, seen := range found {
			if !seen {
				left, at = append(left, needles[i]), append(at, i)
			}
		}
		if left == nil {
			break
		}
		seen, err := source.Scan(ctx, part, left)
		for i := range seen {
			found[at[i]] = found[at[i]] || seen[i]
		}
		if ctx.Err() != nil {
			return found, ctx.Err()
		}
		if err != nil && problem == nil && !errors.Is(err, os.ErrNotExist) {
			problem = err
		}
	}
	return found, problem
}

// looked tells the caller of the run how far it is.
func (r *run) looked(n int) {
	if r.progress == nil {
		return
	}
	r.mu.Lock()
	r.done += n
	done, now := r.done, time.Now()
	tell := done%64 == 0 || done == len(r.files) || now.Sub(r.told) >= tellEvery
	if tell {
		r.told = now
	}
	r.mu.Unlock()
	if tell {
		r.progress(done, len(r.files))
	}
}

// problem notes what could not be read, once for each place.
func (r *run) problem(provider, path string, err error, bound time.Time) {
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) || errors.Is(err, os.ErrNotExist) {
		return // a file that vanished meanwhile is no problem
	}
	reason := strings.TrimPrefix(err.Error(), path+": ")
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, p := range r.problems {
		if p.Provider == provider && p.Path == path && p.rows == nil {
			return
		}
	}
	r.problems = append(r.problems, Problem{Provider: provider, Path: path, Reason: reason, bound: bound})
}

// rowProblem notes that one conversation of several in a file says nothing.
func (r *run) rowProblem(f *file, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	i := slices.IndexFunc(r.problems, func(p Problem) bool { return p.Provider == f.Provider && p.Path == f.Path && p.rows != nil })
	if i < 0 {
		i = len(r.problems)
		r.problems = append(r.problems, Problem{Provider: f.Provider, Path: f.Path, bound: f.bound})
	}
	if r.problems[i].rows == nil {
		r.problems[i].rows = map[string]bool{}
	}
	r.problems[i].rows[strings.ReplaceAll(err.Error(), f.Path+": ", "")] = true
}

// rowProblemsMax is how many conversations of a file are named for what is wrong with them.
const rowProblemsMax = 3

// reported are the problems in order, without those of files that are older than what the
// answer shows: whether these were met is chance.
func (r *run) reported(oldest time.Time) []Problem {
	r.mu.Lock()
	defer r.mu.Unlock()
	out := slices.DeleteFunc(slices.Clone(r.problems), func(p Problem) bool {
		return !p.bound.IsZero() && p.bound.Before(oldest)
	})
	for i := range out {
		if rows := slices.Sorted(maps.Keys(out[i].rows)); rows != nil {
			out[i].Reason = strings.Join(rows[:min(len(rows), rowProblemsMax)], "; ")
			if more := len(rows) - rowProblemsMax; more > 0 {
				out[i].Reason += fmt.Sprintf("; and %d more of its conversations", more)
			}
		}
	}
	slices.SortFunc(out, func(a, b Problem) int {
		return cmp.Or(cmp.Compare(a.Path, b.Path), cmp.Compare(a.Provider, b.Provider), cmp.Compare(a.Reason, b.Reason))
	})
	// An export may be of any of several formats; what is wrong with it is said once.
	out = slices.CompactFunc(out, func(a, b Problem) bool {
		return a.Path == b.Path && a.Reason == b.Reason && slices.ContainsFunc(r.files, func(f *file) bool { return f.Loose && f.Path == a.Path })
	})
	return out
}
