package history

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"parlance/internal/chat"
	"parlance/internal/mapping"
)

// A Forked is the conversation that a fork search chose.
type Forked struct {
	Provider, ID, File string
	// Tier says why: 1 its id, 2 a checkpoint, 3 what the user said, 4 what the assistant
	// did; 0 if the search was empty.
	Tier int
	// Note says, in a sentence, what the caller should know about the choice; "" if nothing.
	Note     string
	Problems []Problem
	Work     Work

	r *run
	f *found
}

// FullID is "provider:id".
func (f *Forked) FullID() string { return f.Provider + ":" + f.ID }

// Read reads the chosen conversation, tool texts included. keep, if not nil, says of each
// message whether its text is to be kept: see mapping.ReadOptions.Keep.
func (f *Forked) Read(ctx context.Context, keep func(*chat.Message) bool) (*chat.Conversation, error) {
	return f.r.whole(ctx, f.f, keep)
}

// A NotFoundError is a search that no conversation answers.
type NotFoundError struct {
	What    string
	Nearest []chat.Row // up to five with similar titles
	Looked  []string   // where we looked, if there are no conversations at all

	Problems []Problem
}

func (e *NotFoundError) Error() string {
	if strings.TrimSpace(e.What) == "" {
		return "no conversation found"
	}
	return fmt.Sprintf("no conversation matches %q", e.What)
}

// An UnreadableError is a conversation that is known by its id, or by the name of its file,
// and of which there is nothing to show.
type UnreadableError struct {
	What   string // what was asked for
	File   string
	Row    string // the inner id, where the file holds several
	Reason string // why it cannot be read; "" if it was read and holds no message
	Closed bool   // nothing of its kind can be read: the mapping says so
}

func (e *UnreadableError) Error() string {
	if e.Reason == "" {
		return fmt.Sprintf("%s: there is no message in it yet: %s", e.What, e.File)
	}
	return fmt.Sprintf("%s: cannot be read: %s: %s", e.What, e.File, e.Reason)
}

// Fork chooses the one conversation that a search means: the best tier wins whatever its age,
// within a tier the newest. A whole id, or the UUID of a checkpoint, decides alone. The
// caller's own conversation is chosen only by its id or a checkpoint. An empty search means the
// newest conversation that is not the caller's own. The error is a *NotFoundError if there is
// none, an *UnreadableError if the search is the id of one that says nothing.
func (h *History) Fork(ctx context.Context, q Query) (*Forked, error) {
	q.Limit = 1
	s, err := h.begin(ctx, q)
	if err != nil {
		return nil, err
	}
	s.one = true
	if f := s.direct(ctx); f != nil {
		return s.forked(f, nil), nil
	}
	if err := s.run(ctx); err != nil {
		return nil, err
	}
	exact := s.exact()
	choice := exact
	if choice == nil {
		choice = slices.DeleteFunc(s.ranked.all(), func(f *found) bool {
			return s.q.needle == "" && f.current || s.q.needle != "" && f.tier() > tierAssistant
		})
	}
	if len(choice) == 0 {
		return nil, s.missing(ctx, q, len(s.q.needle) >= partMinBytes && s.q.idLike())
	}
	return s.forked(choice[0], exact), nil
}

func (s *searching) forked(best *found, exact []*found) *Forked {
	out := &Forked{
		Provider: best.row.Provider, ID: best.row.ID, File: best.row.File, Note: remark(best, exact),
		Problems: s.r.reported(best.at), Work: s.r.work.count(), r: s.r, f: best,
	}
	if s.q.needle != "" {
		out.Tier = int(min(best.tier(), tierAssistant))
		if len(exact) > 0 && !best.idWhole {
			out.Tier = int(tierMark)
		}
	}
	return out
}

// partMinBytes: a shorter part of an id may as well be a word that somebody said.
const partMinBytes = 8

// missing is the answer if nothing matches. With parts the search may be a part of an id.
func (s *searching) missing(ctx context.Context, q Query, parts bool) error {
	if e := s.unreadable(parts); e != nil {
		e.What = strings.TrimSpace(q.Text)
		return e
	}
	miss := &NotFoundError{What: q.Text, Problems: s.r.reported(time.Time{})}
	if s.q.needle != "" {
		var err error
		if miss.Nearest, err = s.nearest(ctx); err != nil {
			return err
		}
	}
	if len(s.r.files) == 0 {
		miss.Looked = s.h.looked(q.Providers)
	}
	return miss
}

// unreadable is the conversation that the needle names, if that was met and says nothing.
func (s *searching) unreadable(parts bool) *UnreadableError {
	if s.q.needle == "" {
		return nil
	}
	// What is known by its id goes before what is known by the name of its file, and of that
	// the whole name before a part of one.
	for k, e := range s.r.silent {
		if s.q.exactID(k.provider, k.id) {
			return &e
		}
	}
	for _, whole := range []bool{true, false} {
		for _, f := range s.r.files {
			switch {
			case whole && !s.q.exactID(f.Provider, f.hint), !whole && !parts:
			case !whole && !strings.Contains(chat.Fold(f.Provider+":"+f.hint), s.q.needle) && !slices.ContainsFunc(s.q.ids(f.Provider), f.mayBe):
			default:
				if why := s.r.whyNot(f); why != "" {
					return &UnreadableError{File: f.Path, Reason: why, Closed: f.closed != ""}
				}
			}
		}
	}
	return nil
}

// whyNot says why nothing of a file could be read, as far as that was found out.
func (r *run) whyNot(f *file) string {
	if f.closed != "" {
		return f.closed
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, p := range r.problems {
		if p.Provider == f.Provider && p.Path == f.Path && p.rows == nil {
			return p.Reason
		}
	}
	return ""
}

// direct is the conversation that the needle names whole, if the name of a single file tells
// that, and nothing but this file can hold it. Nothing else has to be looked at then.
func (s *searching) direct(ctx context.Context) *found {
	var only *found
	for k, files := range s.r.byHint {
		f := files[0]
		if !s.q.exactID(k.provider, k.id) {
			continue
		}
		named := s.q.needle != chat.Fold(k.id) // with its provider
		if only != nil || len(files) > 1 || !f.settled || s.r.stores[k.provider] != nil || !named && len(k.id) < idMinBytes {
			return nil
		}
		only = &found{f: f, row: chat.Row{Provider: k.provider, ID: k.id, File: f.Path}, verdict: verdict{id: true, idWhole: true}}
	}
	if only == nil {
		return nil
	}
	there := false
	opts := mapping.ReadOptions{Ends: cwdEndsBytes, SkipToolText: true, Keep: func(*chat.Message) bool { return false }}
	err := s.h.readWhole(ctx, only.f, opts, func(c *chat.Conversation) error {
		if c.ID == only.row.ID && len(c.Messages) > 0 && s.b.holds(c.Cwd, capped(c.Updated, only.f.bound)) {
			there, only.row.Updated, only.at = true, c.Updated, capped(c.Updated, only.f.bound)
		}
		return nil
	})
	if err != nil || !there {
		return nil
	}
	return only
}

// remark is Forked.Note.
func remark(best *found, exact []*found) string {
	switch {
	case len(exact) > 1:
		var others []string
		for _, f := range exact {
			if f != best {
				others = append(others, fmt.Sprintf("%s in %s", f.row.FullID(), f.row.File))
			}
		}
		what := "made that checkpoint"
		if best.idWhole {
			what = "have that id"
		}
		return fmt.Sprintf("%d conversations %s; this is the newest. Others: %s.", len(exact), what, strings.Join(others, "; "))
	case len(exact) == 1 && !best.idWhole && !best.uuidWhole:
		return "The checkpoint was made in a conversation that is not here any more; this one copied it."
	}
	return ""
}

// whole reads a conversation again with everything in it that keep, if it is set, keeps.
func (r *run) whole(ctx context.Context, f *found, keep func(*chat.Message) bool) (*chat.Conversation, error) {
	var out *chat.Conversation
	err := r.h.readWhole(ctx, f.f, mapping.ReadOptions{Row: f.row.Row, Keys: r.keysOf(f.f), Keep: keep}, func(c *chat.Conversation) error {
		if c.ID == f.row.ID && out == nil {
			out = c
		}
		return nil
	})
	if err == nil && out == nil {
		err = fmt.Errorf("%s: %s is not in it any more", f.row.File, f.row.FullID())
	}
	return out, err
}

func (h *History) readWhole(ctx context.Context, f *file, opts mapping.ReadOptions, fn func(*chat.Conversation) error) error {
	release, err := h.weigh(ctx, f)
	if err != nil {
		return err
	}
	defer release()
	return f.m.Read(ctx, f.File, opts, func(c *chat.Conversation) error {
		if h.exclude.conversation(c) {
			return nil
		}
		return fn(c)
	})
}
