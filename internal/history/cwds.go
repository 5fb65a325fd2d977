package history

import (
	"cmp"
	"context"
	"maps"
	"path/filepath"
	"slices"
	"sync"

	"golang.org/x/sync/errgroup"

	"parlance/internal/chat"
	"parlance/internal/mapping"
)

const (
	// cwdFilesMax files are asked for their working directories, by a look at their first
	// cwdEndsBytes: some ten milliseconds. Most tools keep a folder for each project, and the
	// newest file of every folder comes first. If cwdBatch of them tell nothing new, no more
	// are asked.
	cwdFilesMax  = 256
	cwdBatch     = 64
	cwdEndsBytes = 4 << 10
	// Larger documents and databases are not read for this alone.
	cwdDocumentBytes = 1 << 20
	cwdDatabaseBytes = 64 << 20
)

// cwds are working directories that the conversations in files recorded; if only some
// providers were looked for, those of all others.
func (h *History) cwds(ctx context.Context, files []*file, wanted []string) []string {
	if len(wanted) > 0 {
		others := slices.DeleteFunc(h.cfg.Set.Names(), h.cfg.Set.Roams)
		all, err := h.discover(ctx, others, nil)
		if err != nil || len(others) == 0 {
			return nil
		}
		files = all.files
	}
	slices.SortFunc(files, func(a, b *file) int {
		return cmp.Or(b.ModTime.Compare(a.ModTime), cmp.Compare(a.Path, b.Path))
	})
	var first, rest []*file
	folders := map[string]bool{}
	for _, f := range files {
		dir := filepath.Dir(f.Path)
		switch {
		case f.closed != "" || f.document && f.Size > cwdDocumentBytes || f.sqlite && f.Size > cwdDatabaseBytes:
		case folders[dir]:
			rest = append(rest, f)
		default:
			folders[dir] = true
			first = append(first, f)
		}
	}
	files = append(first, rest...)
	files = files[:min(len(files), cwdFilesMax)]

	var mu sync.Mutex
	seen := map[string]bool{}
	note := func(c *chat.Conversation) error {
		mu.Lock()
		defer mu.Unlock()
		if c.Cwd != "" {
			seen[c.Cwd] = true
		}
		return ctx.Err()
	}
	for batch := range slices.Chunk(files, cwdBatch) {
		known := len(seen)
		var g errgroup.Group
		g.SetLimit(h.workers)
		for _, f := range batch {
			g.Go(func() error {
				// What cannot be read is said when it is read for its own sake.
				if f.sqlite {
					_, _ = f.m.Heads(ctx, f.File, note)
					return nil
				}
				drop := func(*chat.Message) bool { return false }
				_ = f.m.Read(ctx, f.File, mapping.ReadOptions{Head: cwdEndsBytes, SkipToolText: true, Keep: drop}, note)
				return nil
			})
		}
		_ = g.Wait()
		if len(seen) == known {
			break
		}
	}
	return slices.Sorted(maps.Keys(seen))
}
