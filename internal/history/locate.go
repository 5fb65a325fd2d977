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
	f    *file   // nil: not looked for yet, or not known
	sure bool    // the path names what was asked for
	with []*file // others whose paths name the same conversation
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
// its file, of a database with the log beside it. Of several files, and of a conversation that
// stands in several places, of which the longest is read, it is the sum and the latest, and a sum
// over all that their names, sizes and times say. It is "" if the file is not there. known is
// Files': without it a conversation may grow and keep its stamp.
func (p Place) Stamp(ctx context.Context) (stamp string, known bool) {
	files, known := p.Files(ctx)
	if len(files) == 1 && len(p.with) == 0 {
		return fileStamp(files[0]), known
	}
	for _, f := range p.with {
		if f.m.Alone(f.File) {
			files = append(files, f.Path)
		} else {
			files = append(files, f.m.Parts(ctx, f.File)...)
		}
	}
	size, at, sum := int64(0), int64(0), fnv.New64a()
	slices.Sort(files)
	for _, path := range slices.Compact(files) {
		if n, changed, ok := fileState(path); ok {
			size, at = size+n, max(at, changed)
			fmt.Fprintf(sum, "%s\x00%d\x00%d\x00", path, n, changed)
		}
	}
	return fmt.Sprintf("%d-%d-%016x", size, at, sum.Sum64()), known
}

// fileStamp is the stamp of a single file.
func fileStamp(path string) string {
	size, at, ok := fileState(path)
	if !ok {
		return ""
	}
	return fmt.Sprintf("%d-%d", size, at)
}

// fileState is a file's size and the time of its last change in ns, of a database with the log
// beside it; ok is false if the file is not there.
func fileState(path string) (size, at int64, ok bool) {
	info, err := os.Stat(path)
	if err != nil {
		return 0, 0, false
	}
	at = info.ModTime().UnixNano()
	if wal, err := os.Stat(path + "-wal"); err == nil {
		at = max(at, wal.ModTime().UnixNano())
	}
	return info.Size(), at, true
}

// Is says whether a stamp still holds.
func (p Place) Is(ctx context.Context, stamp string) bool {
	if stamp == "" || p.Closed != "" {
		return false
	}
	if strings.Count(stamp, "-") == 1 { // of a single file: nothing has to be looked for
		return len(p.with) == 0 && fileStamp(p.Path) == stamp
	}
	now, _ := p.Stamp(ctx)
	return now == stamp
}

// Locate says where the conversation is that what names, for the price of listing files: what
// is a path, or an id, or a part of one, as for Load. Files whose paths name the id are the
// answer, and the same providers' databases, which may hold it too; if there are none, all files
// are whose paths do not tell what ids are in them.
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
		return append(copiesOf(sure), besides(sure, other)...), nil
	case isFile(path):
		return []Place{{Path: path, h: h, sure: true}}, nil
	}
	return other, nil
}

// placesMax bounds what is looked at for copies: a part of an id that more paths name is one of
// many conversations, of which none will be read.
const placesMax = 64

// copiesOf lets each of the places know the others of its conversation.
func copiesOf(sure []Place) []Place {
	for i := range sure[:min(len(sure), placesMax)] {
		for j := range sure[:min(len(sure), placesMax)] {
			a, b := sure[i].f, sure[j].f
			if i != j && b.Provider == a.Provider && a.hint != "" && chat.Fold(b.hint) == chat.Fold(a.hint) {
				sure[i].with = append(sure[i].with, b)
			}
		}
	}
	return sure
}

// besides are the databases among others that may hold what the sure places name.
func besides(sure, other []Place) (out []Place) {
	if len(sure) > placesMax {
		return nil
	}
	for _, p := range other {
		if !p.f.sqlite {
			continue
		}
		for _, s := range sure {
			if s.Provider == p.Provider {
				p.with = append(p.with, s.f)
			}
		}
		if p.with != nil {
			out = append(out, p)
		}
	}
	return out
}
