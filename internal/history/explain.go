package history

import (
	"context"
	"errors"
	"os"
	"slices"

	"parlance/internal/chat"
	"parlance/internal/mapping"
	"parlance/internal/source"
)

// Explain says how a file is read: by which mapping and why, and what that makes of it. The
// mapping is the one that Load would take; what is excluded is not explained either.
//
// A file that no mapping reads is no error: the explanation says what each missed, and what
// the file looks like. The error says what is wrong with the file itself, or with as.
func (h *History) Explain(ctx context.Context, what, as string, o mapping.ExplainOptions) (*mapping.Explanation, error) {
	path := h.path(what)
	if h.exclude.path(path) {
		return nil, errExcluded(path)
	}
	if opened, err := source.Open(path); err != nil {
		return nil, err
	} else if err := opened.Close(); err != nil {
		return nil, err
	}
	sniff, err := mapping.SniffFile(ctx, path)
	if err != nil {
		return nil, err
	}
	f, content, err := h.reader(ctx, path, as)
	unread := errors.Is(err, errNoReader) || errors.Is(err, mapping.ErrUnsupported)
	if err != nil && (!unread || as != "") {
		return nil, err
	}
	tried, err := h.attempts(ctx, path, as, sniff, content)
	if err != nil {
		return nil, err
	}
	if f == nil {
		return h.unread(ctx, path, sniff, tried)
	}
	r, err := h.discover(ctx, []string{f.Provider}, nil)
	if err != nil {
		return nil, err
	}
	o.Keys = r.keysOf(f)
	o.Hide = func(c *chat.Conversation) bool { return h.exclude.conversation(c) }
	release, err := h.weigh(ctx, f)
	if err != nil {
		return nil, err
	}
	defer release()
	e, err := f.m.Explain(ctx, f.File, o)
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case errors.Is(err, mapping.ErrNoLine):
		return nil, err
	case err != nil:
		return h.unread(ctx, path, sniff, tried) // the attempts say why
	}
	e.Chosen = chosen(e, as, tried)
	for _, a := range tried {
		if a.Provider != e.Provider || !slices.Contains(e.Sources, a.Source) {
			e.Tried = append(e.Tried, a)
		}
	}
	return e, nil
}

// attempts asks every mapping, or only the named one.
func (h *History) attempts(ctx context.Context, path, as string, sniff *mapping.Sniff, content map[string]understood) ([]mapping.Attempt, error) {
	var out []mapping.Attempt
	for _, name := range h.cfg.Set.Names() {
		if h.exclude.providers[name] || as != "" && name != as {
			continue
		}
		m, _ := h.cfg.Set.Mapping(name)
		if m == nil {
			continue // providers and check say what is wrong with it
		}
		f, err := m.FileAt(h.env(), path)
		if err != nil {
			return nil, err
		}
		list := m.Attempts(ctx, f, sniff)
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		for i := range list {
			// What was understood is known of the whole mapping; the first source that accepts reads.
			if u, ok := content[name]; ok && list[i].Accepts {
				list[i].Records, list[i].Known = u.known+u.news, u.known
				delete(content, name)
			}
		}
		out = append(out, list...)
	}
	mapping.SortAttempts(out)
	return out, nil
}

// chosen says why f is read as it is.
func chosen(e *mapping.Explanation, as string, tried []mapping.Attempt) *mapping.Chosen {
	c := &mapping.Chosen{By: "content"}
	for _, a := range tried {
		if a.Provider == e.Provider && slices.Contains(e.Sources, a.Source) {
			c.Pattern, c.Content = a.Pattern, a.Why
			break
		}
	}
	if c.Pattern != "" {
		c.By = "pattern"
	}
	if as != "" {
		c.By = "as"
	}
	return c
}

func (h *History) unread(ctx context.Context, path string, sniff *mapping.Sniff, tried []mapping.Attempt) (*mapping.Explanation, error) {
	size := int64(0)
	if info, err := os.Stat(path); err == nil {
		size = info.Size()
	}
	return mapping.Unread(ctx, path, size, sniff, tried)
}
