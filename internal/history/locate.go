package history

import (
	"context"
	"fmt"
	"hash/fnv"
	"os"
	"slices"
	"strings"

	"parlance/internal/chat"
)

// A Place is a file that may hold a conversation, as far as paths tell. Nothing in it was read.
type Place struct {
	Provider string // "" for a file that was named by its path and that no pattern finds
	Path     string
	Closed   string // why no source can read it, "" if one can

	h    *History
	f    *file // nil: not looked for yet, or not known
	sure bool  // the path names what was asked for
}

// Files are all those in which the messages of the place's conversation stand, Path first;
// false if that is not known for less than reading it.
func (p Place) Files(ctx context.Context) ([]string, bool) {
	if p.f == nil && p.sure {
		p.f = p.h.fileAt(ctx, p.Path)
	}
	switch {
	case p.f == nil:
		return []string{p.Path}, false
	case p.f.m.Alone(p.f.File):
		return []string{p.Path}, true
	case !p.sure:
		return []string{p.Path}, false
	}
	return p.f.m.Parts(ctx, p.f.File), true
}

// fileAt is the file of that path that a pattern finds, or of which it is a part.
func (h *History) fileAt(ctx context.Context, path string) *file {
	r, err := h.discover(ctx, nil, nil)
	if err != nil {
		return nil
	}
	for _, f := range r.files {
		if !f.Loose && slices.Contains(f.Parts(), path) {
			return f
		}
	}
	return nil
}

// Stamp tells one state of a place from the next: "<size>-<time of the last change in ns>" of
// its file, of a database with the log beside it. Of several files it is the sum and the latest,
// and a sum over all that their names, sizes and times say. It is "" if the file is not there.
// known is Files': without it a conversation may grow and keep its stamp.
func (p Place) Stamp(ctx context.Context) (stamp string, known bool) {
	files, known := p.Files(ctx)
	if len(files) == 1 {
		return fileStamp(files[0]), known
	}
	size, at, sum := int64(0), int64(0), fnv.New64a()
	for _, path := range files {
		info, err := os.Stat(path)
		if err != nil {
			continue
		}
		size, at = size+info.Size(), max(at, info.ModTime().UnixNano())
		fmt.Fprintf(sum, "%s\x00%d\x00%d\x00", path, info.Size(), info.ModTime().UnixNano())
	}
	return fmt.Sprintf("%d-%d-%016x", size, at, sum.Sum64()), known
}

// fileStamp is the stamp of a single file.
func fileStamp(path string) string {
	info, err := os.Stat(path)
	if err != nil {
		return ""
	}
	at := info.ModTime()
	if wal, err := os.Stat(path + "-wal"); err == nil && wal.ModTime().After(at) {
		at = wal.ModTime()
	}
	return fmt.Sprintf("%d-%d", info.Size(), at.UnixNano())
}

// Is says whether a stamp still holds.
func (p Place) Is(ctx context.Context, stamp string) bool {
	if stamp == "" || p.Closed != "" {
		return false
	}
	if strings.Count(stamp, "-") == 1 { // of a single file: nothing has to be looked for
		return fileStamp(p.Path) == stamp
	}
	now, _ := p.Stamp(ctx)
	return now == stamp
}

// Locate says where the conversation is that what names, for the price of listing files: what
// is a path, or an id, or a part of one, as for Load. Files whose paths name the id are the
// only answer; if there are none, all files are whose paths do not tell what ids are in them.
func (h *History) Locate(ctx context.Context, what string) ([]Place, error) {
	path := h.path(what)
	named := strings.ContainsAny(what, `/\`)
	if named && isFile(path) {
		return []Place{{Path: path, h: h, sure: true}}, nil
	}
	var providers []string
	needle := chat.Needle(what)
	if name, id, ok := strings.Cut(needle, ":"); ok && slices.Contains(h.cfg.Set.Names(), name) {
		providers, needle = []string{name}, id
	}
	if needle == "" {
		return nil, nil
	}
	r, err := h.discover(ctx, providers, nil)
	if err != nil {
		return nil, err
	}
	var sure, other []Place
	for _, f := range r.files {
		place := Place{Provider: f.Provider, Path: f.Path, Closed: f.closed, h: h, f: f}
		switch hint := chat.Fold(f.hint); {
		case hint != "" && (strings.Contains(hint, needle) || strings.HasPrefix(needle, hint+"/")) || f.mayBe(needle):
			place.sure = true
			sure = append(sure, place)
		case f.closed == "" && (f.sqlite || !f.settled):
			other = append(other, place)
		}
	}
	switch {
	case len(sure) > 0:
		return sure, nil
	case isFile(path):
		return []Place{{Path: path, h: h, sure: true}}, nil
	}
	return other, nil
}
