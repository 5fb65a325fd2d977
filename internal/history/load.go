package history

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"parlance/internal/chat"
	"parlance/internal/mapping"
	"parlance/internal/source"
)

// An AmbiguousError is a part of an id, or an id, that several conversations share.
type AmbiguousError struct {
	What       string
	Candidates []chat.Row
}

func (e *AmbiguousError) Error() string {
	return fmt.Sprintf("%q fits %d conversations", e.What, len(e.Candidates))
}

// Load hands over the conversation that what names, whole: by its id, by a part of an id that
// no other holds, or by the path of a file, of which all conversations are handed over. as
// names the mapping that is to read a file; "" lets the patterns, then the contents decide.
//
// The error is a *NotFoundError, an *UnreadableError, an *AmbiguousError, or says what is wrong
// with the file.
func (h *History) Load(ctx context.Context, what, as string, fn func(*chat.Conversation) error) error {
	return h.LoadKeeping(ctx, what, as, nil, fn)
}

// LoadKeeping is Load for a reader who does not want every text: keep is that of
// mapping.ReadOptions, and may be nil. The conversations of a file are read one after the
// other, but for those inside another, which are read with it.
func (h *History) LoadKeeping(ctx context.Context, what, as string, keep func(*chat.Message) bool, fn func(*chat.Conversation) error) error {
	path := h.path(what)
	if as != "" || exists(path) && strings.ContainsAny(what, `/\`) {
		return h.loadFile(ctx, path, as, keep, fn)
	}
	err := h.loadID(ctx, what, keep, fn)
	missing, silent := new(NotFoundError), new(UnreadableError)
	if errors.As(err, &missing) || errors.As(err, &silent) {
		if isFile(path) {
			return h.loadFile(ctx, path, as, keep, fn)
		}
		if missing.What == what && pathForm.MatchString(what) {
			return fmt.Errorf("%s: no such file", what)
		}
	}
	return err
}

// LoadID is Load for a reader who may only have what is listed: id is never taken for a path.
func (h *History) LoadID(ctx context.Context, id string, fn func(*chat.Conversation) error) error {
	return h.loadID(ctx, id, nil, fn)
}

// pathForm is what only a path looks like.
var pathForm = regexp.MustCompile(`^(/|~|\.\.?[/\\]|[A-Za-z]:[/\\])|\.(jsonl|json|db|vscdb|sqlite3?|md|gz|zst)$`)

// path is what as an absolute path.
func (h *History) path(what string) string {
	switch {
	case what == "":
		return ""
	case strings.HasPrefix(what, "~/") || strings.HasPrefix(what, `~\`):
		return filepath.Join(h.env().Home, what[2:])
	case filepath.IsAbs(what) || h.env().Cwd == "":
		return filepath.Clean(what)
	}
	return filepath.Join(h.env().Cwd, what)
}

func isFile(path string) bool {
	info, err := os.Stat(path)
	return path != "" && err == nil && info.Mode().IsRegular()
}

// exists is true of a folder or a pipe too: opening it then says what it is.
func exists(path string) bool {
	_, err := os.Stat(path)
	return path != "" && err == nil
}

func (h *History) loadID(ctx context.Context, what string, keep func(*chat.Message) bool, fn func(*chat.Conversation) error) error {
	s, err := h.begin(ctx, Query{Text: what, Filter: Filter{Limit: -1, Subagents: true}})
	if err != nil {
		return err
	}
	s.d.in = inIDs
	if f := s.direct(ctx); f != nil {
		c, err := s.r.whole(ctx, f, keep)
		if err != nil {
			return err
		}
		return fn(c)
	}
	if s.q.needle != "" {
		if err := s.run(ctx); err != nil {
			return err
		}
	}
	fits := s.exact()
	if fits == nil {
		fits = slices.DeleteFunc(s.ranked.all(), func(f *found) bool { return !f.id })
		// The id of a subagent may begin with that of its parent.
		people := slices.DeleteFunc(slices.Clone(fits), func(f *found) bool { return f.row.Subagent })
		if len(people) > 0 {
			fits = people
		}
	}
	switch len(fits) {
	case 0:
		return s.missing(ctx, Query{Text: what}, true)
	case 1:
		c, err := s.r.whole(ctx, fits[0], keep)
		if err != nil {
			return err
		}
		return fn(c)
	}
	out := &AmbiguousError{What: what}
	for _, f := range fits {
		out.Candidates = append(out.Candidates, f.row)
	}
	return out
}

// loadFile reads a file that may lie anywhere.
func (h *History) loadFile(ctx context.Context, path, as string, keep func(*chat.Message) bool, fn func(*chat.Conversation) error) error {
	if h.exclude.path(path) {
		return errExcluded(path)
	}
	if opened, err := source.Open(path); err != nil {
		return err
	} else if err := opened.Close(); err != nil {
		return err
	}
	f, _, err := h.reader(ctx, path, as)
	if err != nil {
		return err
	}
	if h.excluded(ctx, f.m, f.File) {
		return errExcluded(path)
	}
	r, err := h.discover(ctx, []string{f.Provider}, nil)
	if err != nil {
		return err
	}
	return h.readWhole(ctx, f, mapping.ReadOptions{Keys: r.keysOf(f), Keep: keep}, fn)
}

// reader finds the mapping that reads a file: the named one; else one whose patterns find it;
// else, of all that accept it, the one that understands most of it. If the contents had to
// decide, it also says what each made of them.
func (h *History) reader(ctx context.Context, path, as string) (*file, map[string]understood, error) {
	names := h.cfg.Set.Names()
	if as != "" {
		if !slices.Contains(names, as) {
			return nil, nil, fmt.Errorf("as: no mapping is called %q", as)
		}
		names = []string{as}
	}
	names = slices.DeleteFunc(slices.Clone(names), func(n string) bool { return h.exclude.providers[n] })
	if as == "" {
		r, err := h.discover(ctx, nil, nil)
		if err != nil {
			return nil, nil, err
		}
		for _, f := range r.files {
			if f.Path != path || f.Loose { // whose an export is, its contents say
				continue
			}
			if f.closed == "" {
				return f, nil, nil
			}
			return nil, nil, fmt.Errorf("%s: %w: %s", path, mapping.ErrUnsupported, f.closed)
		}
	}
	var best *file
	all := map[string]understood{}
	var most understood
	for _, name := range names {
		m, problems := h.cfg.Set.Mapping(name)
		if m == nil {
			if as != "" && len(problems) > 0 {
				p := problems[0]
				return nil, nil, fmt.Errorf("%s:%d:%d: %s", p.File, p.Line, p.Col, p.Msg)
			}
			continue
		}
		found, err := m.FileAt(h.env(), path)
		if err != nil {
			return nil, nil, err
		}
		f := newFile(m, found)
		if as != "" {
			f.Loose = false // somebody says whose it is
			if f.closed != "" {
				return nil, nil, fmt.Errorf("%s: %w: %s", path, mapping.ErrUnsupported, f.closed)
			}
			return f, nil, nil
		}
		var u understood
		drop := func(*chat.Message) bool { return false }
		err = h.readWhole(ctx, f, mapping.ReadOptions{SkipToolText: true, Keep: drop}, func(c *chat.Conversation) error {
			u.add(c)
			return nil
		})
		switch {
		case ctx.Err() != nil:
			return nil, nil, ctx.Err()
		case err == nil: // an error says no more than that it is another format
			all[name] = u
			if u.better(most) {
				best, most = f, u
			}
		}
	}
	if best == nil {
		return nil, all, fmt.Errorf("%s: %w", path, errNoReader)
	}
	return best, all, nil
}

var errNoReader = errors.New("no mapping finds a message in this file")

// understood is how much of a file a mapping makes sense of.
type understood struct{ messages, known, news int }

func (u *understood) add(c *chat.Conversation) {
	u.messages += len(c.Messages)
	u.known += c.Read.Used
	for n := range maps.Values(c.Read.Skipped) {
		u.known += n
	}
	for n := range maps.Values(c.Read.NoRule) {
		u.news += n
	}
}

// better compares the share of what is understood, then the messages it gives.
func (u understood) better(o understood) bool {
	if u.messages == 0 {
		return false
	}
	a, b := u.known*(o.known+o.news), o.known*(u.known+u.news)
	return o.messages == 0 || a > b || a == b && u.messages > o.messages
}

func errExcluded(path string) error { return fmt.Errorf("%s: excluded by the configuration", path) }
