package history

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"parlance/internal/chat"
	"parlance/internal/mapping"
	"parlance/internal/source"
)

const (
	// endsFromBytes: of larger files a listing reads the ends only. Reading 8 MiB whole takes
	// about 15 ms.
	endsFromBytes = 8 << 20
	// endsBytes is what is read at each end: a few dozen records of any tool.
	endsBytes = 128 << 10
)

// read interprets an item and hands over each conversation in it that has messages. What
// cannot be read is noted; only the end of ctx is an error. again says that somebody else
// has read the item.
func (r *run) read(ctx context.Context, it *item, opts mapping.ReadOptions, fn func(*chat.Conversation, *file)) error {
	mine, err := r.claim(ctx, it)
	if err != nil || !mine {
		return err
	}
	for _, m := range it.members {
		if err := r.readMember(ctx, m, opts, fn); err != nil {
			return err
		}
	}
	return nil
}

func (r *run) readMember(ctx context.Context, m member, opts mapping.ReadOptions, fn func(*chat.Conversation, *file)) error {
	release, err := r.h.weigh(ctx, m.f)
	if err != nil {
		return err
	}
	defer release()
	r.work.read.Add(1)
	opts.Rows = m.wanted()
	var met news
	if r.shapes {
		opts.News = func(rule, kind, element string) { met.unknown.add(rule, kind, element) }
	}
	if r.watch != nil {
		opts.Unread = met.fields
	}
	if m.f.Size < endsFromBytes {
		opts.Ends = 0
	}
	err = m.f.m.Read(ctx, m.f.File, opts, func(c *chat.Conversation) error {
		if r.h.exclude.conversation(c) {
			met = news{}
			return nil
		}
		if r.watch != nil {
			r.watch(c, met)
			met = news{}
		}
		if len(c.Messages) == 0 {
			r.empty(m.f, c)
			return nil
		}
		if why := c.Read.Incomplete; why != "" && why != mapping.EndsOnly {
			r.problem(m.f.Provider, m.f.Path, fmt.Errorf("incomplete: %s", strings.TrimPrefix(why, m.f.Path+": ")), m.f.bound)
		}
		fn(c, m.f)
		return nil
	})
	if ctx.Err() != nil {
		return ctx.Err()
	}
	switch {
	case m.f.Loose && errors.Is(err, mapping.ErrNotAccepted):
		r.mu.Lock()
		r.strangers[m.f] = true
		r.mu.Unlock()
	case err != nil && !errors.Is(err, mapping.ErrUnsupported):
		r.problem(m.f.Provider, m.f.Path, err, m.f.bound)
	}
	return nil
}

// empty notes a conversation without messages, unless that was a decision of its mapping.
func (r *run) empty(f *file, c *chat.Conversation) {
	var why error
	switch rep := c.Read; {
	case rep.Incomplete != "":
		why = fmt.Errorf("no message could be read: %s", strings.TrimPrefix(rep.Incomplete, f.Path+": "))
	case len(rep.NoRule) > 0:
		news := slices.Sorted(maps.Keys(rep.NoRule))
		why = fmt.Errorf("no message in %d records: no rule knows %s", rep.Records, news[0])
	case len(rep.Broken) > 0:
		first := rep.Broken[0].Why
		if line := rep.Broken[0].Line; line > 0 { // rows and joined files have none
			first = fmt.Sprintf("line %d: %s", line, first)
		}
		if why = errors.New(first); c.Row == "" || len(rep.Broken) < rep.Records {
			why = fmt.Errorf("no message in %d records: %s", rep.Records, first)
		}
	}
	silent := UnreadableError{File: f.Path, Row: c.Row}
	if why != nil {
		silent.Reason = why.Error()
		if c.Row == "" {
			r.problem(f.Provider, f.Path, why, f.bound)
		} else if strings.Contains(why.Error(), c.Row) {
			r.rowProblem(f, why)
		} else {
			r.rowProblem(f, fmt.Errorf("%s: %w", c.Row, why))
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.silent[key{c.Provider, c.ID}] = silent
}

// touched is the time of the files behind a conversation. The file of a database says
// nothing of a row in it, but for the newest one, which a tool may write before it notes so.
func (r *run) touched(c *chat.Conversation, f *file) time.Time {
	if f.sqlite {
		if rows := r.stores[f.Provider].rows[f]; len(rows) > 0 && rows[0].Row != c.Row {
			return time.Time{}
		}
	}
	return f.ModTime
}

// keysOf is mapping.ReadOptions.Keys for the conversations of f: each parent is read once in a run.
func (r *run) keysOf(f *file) func(context.Context, string) (map[string]bool, bool) {
	return func(ctx context.Context, id string) (map[string]bool, bool) {
		k := key{f.Provider, id}
		r.mu.Lock()
		once := r.keys[k]
		if once == nil {
			once = sync.OnceValues(func() (map[string]bool, bool) { return r.parentKeys(ctx, f, id) })
			r.keys[k] = once
		}
		r.mu.Unlock()
		return once()
	}
}

func (r *run) parentKeys(ctx context.Context, child *file, id string) (map[string]bool, bool) {
	return r.another(ctx, child, id, func(m member) (map[string]bool, bool) {
		row := ""
		if m.rows != nil {
			row = m.rows[0]
		}
		keys, err := child.m.Keys(ctx, m.f.File, row)
		return keys, err == nil && len(keys) > 0
	})
}

// has says whether another file of child's provider holds the conversation of that id.
func (r *run) has(ctx context.Context, child *file, id string) bool {
	_, found := r.another(ctx, child, id, func(m member) (map[string]bool, bool) {
		return nil, m.rows != nil || m.f.hint == id || slices.Contains(r.idsIn(ctx, m.f), id)
	})
	return found
}

// another tries the places where the conversation of that id may be, but for child itself,
// until one is right.
func (r *run) another(ctx context.Context, child *file, id string, try func(member) (map[string]bool, bool)) (map[string]bool, bool) {
	var rest []*file
	for _, f := range r.files {
		switch {
		case f.Provider != child.Provider || f == child || f.closed != "":
		case f.hint == id || strings.Contains(f.Path, id):
			if keys, ok := try(member{f: f}); ok {
				return keys, true
			}
		default:
			rest = append(rest, f)
		}
	}
	if s := r.stores[child.Provider]; s != nil && r.load(ctx, s) == nil {
		for _, m := range s.byID[id] {
			if keys, ok := try(m); ok {
				return keys, true
			}
		}
	}
	if isUUID(id) && uuidForm.MatchString(child.folded()) {
		return nil, false // this tool names its files by their ids; the parent is gone
	}
	for _, f := range rest {
		if f.sqlite {
			continue
		}
		if seen, err := r.scan(ctx, f, []source.Needle{{Text: id}}); err != nil || !seen[0] || !slices.Contains(r.idsIn(ctx, f), id) {
			continue
		}
		if keys, ok := try(member{f: f}); ok {
			return keys, true
		}
	}
	return nil, false
}

var uuidForm = regexp.MustCompile(`[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}`)

// idsIn reads a file for nothing but the ids of its conversations, once in a run.
func (r *run) idsIn(ctx context.Context, f *file) []string {
	r.mu.Lock()
	once := r.ids[f]
	if once == nil {
		once = sync.OnceValue(func() (ids []string) {
			drop := func(*chat.Message) bool { return false }
			_ = f.m.Read(ctx, f.File, mapping.ReadOptions{SkipToolText: true, Keep: drop}, func(c *chat.Conversation) error {
				ids = append(ids, c.ID)
				return nil
			})
			return ids
		})
		r.ids[f] = once
	}
	r.mu.Unlock()
	return once()
}
