package history

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"parlance/internal/chat"
	"parlance/internal/mapping"
	"parlance/internal/source"
)

// Explain says how a file is read: by which mapping and why, and what that makes of it. The
// mapping is the one that Load would take; what is excluded is not explained either. what is
// a path, or the id of a conversation, of which then alone is told.
//
// A file that no mapping reads is no error: the explanation says what each missed, and what
// the file looks like. The error says what is wrong with the file itself, or with as.
func (h *History) Explain(ctx context.Context, what, as string, o mapping.ExplainOptions) (*mapping.Explanation, error) {
	path := h.path(what)
	if !exists(path) && !pathForm.MatchString(what) {
		err := h.loadID(ctx, what, func(*chat.Message) bool { return false }, func(c *chat.Conversation) error {
			path, o.Row = c.File, c.Row
			return nil
		})
		silent := new(UnreadableError)
		if missing := new(NotFoundError); errors.As(err, &silent) {
			path, o.Row = silent.File, silent.Row
		} else if errors.As(err, &missing) {
			return nil, fmt.Errorf("%s: no such file, and no conversation of that id", what)
		} else if err != nil {
			return nil, err
		}
	}
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
	if f != nil && h.excluded(ctx, f.m, f.File) {
		return nil, errExcluded(path)
	}
	tried, err := h.attempts(ctx, path, as, sniff, content)
	if err != nil {
		return nil, err
	}
	if f == nil {
		if h.hides(ctx, path) {
			return nil, errExcluded(path)
		}
		return h.unread(ctx, path, sniff, tried)
	}
	r, err := h.discover(ctx, []string{f.Provider}, nil)
	if err != nil {
		return nil, err
	}
	e, err := r.explain(ctx, f, o)
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

// hides says whether a file that nobody may show as a transcript is one that must not be
// shown: an excluded provider looks for it there, or a mapping finds a conversation in it that
// is excluded by its folder. Then nothing else of it is told either.
func (h *History) hides(ctx context.Context, path string) bool {
	if len(h.exclude.providers)+len(h.exclude.folders)+len(h.exclude.patterns) == 0 {
		return false
	}
	for _, name := range h.cfg.Set.Names() {
		m, _ := h.cfg.Set.Mapping(name)
		if m == nil {
			continue
		}
		f, err := m.FileAt(h.env(), path)
		if err != nil {
			continue
		}
		if h.excluded(ctx, m, f) {
			return true
		}
		if h.exclude.providers[name] {
			if slices.ContainsFunc(f.Sources, func(i int) bool { return f.FoundBy(i) != "" }) {
				return true
			}
			continue
		}
		hidden := false
		drop := func(*chat.Message) bool { return false }
		// A mapping that cannot read the file finds no conversation in it.
		_ = m.Read(ctx, f, mapping.ReadOptions{SkipToolText: true, Keep: drop}, func(c *chat.Conversation) error {
			hidden = hidden || len(c.Messages) > 0 && h.exclude.conversation(c)
			return nil
		})
		if hidden {
			return true
		}
	}
	return false
}

// explain reads f with its mapping.
func (r *run) explain(ctx context.Context, f *file, o mapping.ExplainOptions) (*mapping.Explanation, error) {
	o.Keys = r.keysOf(f)
	o.Hide = func(c *chat.Conversation) bool { return r.h.exclude.conversation(c) }
	release, err := r.h.weigh(ctx, f)
	if err != nil {
		return nil, err
	}
	defer release()
	return f.m.Explain(ctx, f.File, o)
}

// ExplainFolder explains the files below a folder that patterns find, in the order of their
// paths. A file that cannot be read is handed over with the error. It says how many files
// there are besides, which no pattern finds: most of them are no transcripts.
func (h *History) ExplainFolder(ctx context.Context, what string, fn func(path string, e *mapping.Explanation, err error) error) (others int, err error) {
	dir := h.path(what)
	if h.exclude.path(dir) {
		return 0, errExcluded(dir)
	}
	r, err := h.discover(ctx, nil, nil)
	if err != nil {
		return 0, err
	}
	known := map[string]bool{}
	var files []*file
	for _, f := range r.files {
		rel, err := filepath.Rel(dir, f.Path)
		if err != nil || !filepath.IsLocal(rel) {
			continue
		}
		for _, part := range f.Parts() {
			known[part] = true
		}
		files = append(files, f)
	}
	slices.SortFunc(files, func(a, b *file) int { return strings.Compare(a.Path, b.Path) })
	for _, f := range files {
		var e *mapping.Explanation
		err := fmt.Errorf("%w: %s", mapping.ErrUnsupported, f.closed)
		if f.closed == "" {
			e, err = r.explain(ctx, f, mapping.ExplainOptions{})
		}
		if ctx.Err() != nil {
			return 0, ctx.Err()
		}
		if err := fn(f.Path, e, err); err != nil {
			return 0, err
		}
	}
	seen := 0
	err = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if seen++; seen > folderFilesMax || ctx.Err() != nil {
			return fs.SkipAll
		}
		if err == nil && d.Type().IsRegular() && !known[path] {
			others++
		}
		return nil
	})
	return others, err
}

// folderFilesMax bounds the names of a folder that are counted.
const folderFilesMax = 100_000

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
		if a.Provider == e.Provider && len(e.Sources) == 0 && a.Pattern != "" {
			c.Pattern = a.Pattern // nothing in the file could speak for it
			break
		}
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
