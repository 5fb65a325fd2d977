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

// A Forked is the conversation that a fork search chose, whole.
type Forked struct {
	Conversation *chat.Conversation
	Row          chat.Row
	// Tier says why: 1 its id, 2 a checkpoint, 3 what the user said, 4 what the assistant
	// did; 0 if the search was empty.
	Tier int
	// Note says, in a sentence, what the caller should know about the choice; "" if nothing.
	Note     string
	Problems []Problem
	Work     Work
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

// Fork chooses the one conversation that a search means: the best tier wins whatever its age,
// within a tier the newest. A whole id, or the UUID of a checkpoint, decides alone. The
// caller's own conversation is chosen only by its id or a checkpoint. An empty search means the
// newest conversation that is not the caller's own. The error is a *NotFoundError if there is none.
func (h *History) Fork(ctx context.Context, q Query) (*Forked, error) {
	q.Limit = 1
	s, err := h.begin(ctx, q)
	if err != nil {
		return nil, err
	}
	s.one = true
	if err := s.run(ctx); err != nil {
		return nil, err
	}
	exact := s.exact()
	choice := exact
	if choice == nil {
		choice = slices.DeleteFunc(slices.Clone(s.ranked), func(f *found) bool {
			return s.q.needle == "" && f.current || s.q.needle != "" && f.tier() > tierAssistant
		})
	}
	if len(choice) == 0 {
		miss := &NotFoundError{What: q.Text, Problems: s.r.reported(time.Time{})}
		if s.q.needle != "" {
			if miss.Nearest, err = s.nearest(ctx); err != nil {
				return nil, err
			}
		}
		if len(s.r.files) == 0 {
			miss.Looked = h.looked(q.Providers)
		}
		return nil, miss
	}
	best := choice[0]
	c, err := s.r.whole(ctx, best)
	if err != nil {
		return nil, err
	}
	out := &Forked{Conversation: c, Row: s.row(best), Note: remark(best, exact), Problems: s.r.reported(best.row.Updated), Work: s.r.work.count()}
	if s.q.needle != "" {
		out.Tier = int(min(best.tier(), tierAssistant))
		if len(exact) > 0 && !best.idWhole {
			out.Tier = int(tierMark)
		}
	}
	return out, nil
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

// whole reads a conversation again with everything in it.
func (r *run) whole(ctx context.Context, f *found) (*chat.Conversation, error) {
	var out *chat.Conversation
	err := r.h.readWhole(ctx, f.f, mapping.ReadOptions{Row: f.row.Row, Keys: r.keysOf(f.f)}, func(c *chat.Conversation) error {
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
