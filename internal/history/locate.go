package history

import (
	"context"
	"slices"
	"strings"

	"parlance/internal/chat"
)

// A Place is a file that may hold a conversation, as far as paths tell. Nothing in it was read.
type Place struct {
	Provider string // "" for a file that was named by its path
	Path     string
	Closed   string // why no source can read it, "" if one can
}

// Locate says where the conversation is that what names, for the price of listing files: what
// is a path, or an id, or a part of one, as for Load. Files whose paths name the id are the
// only answer; if there are none, all files are whose paths do not tell what ids are in them.
func (h *History) Locate(ctx context.Context, what string) ([]Place, error) {
	path := h.path(what)
	named := strings.ContainsAny(what, `/\`)
	if named && isFile(path) {
		return []Place{{Path: path}}, nil
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
		place := Place{f.Provider, f.Path, f.closed}
		switch hint := chat.Fold(f.hint); {
		case hint != "" && (strings.Contains(hint, needle) || strings.HasPrefix(needle, hint+"/")) || f.mayBe(needle):
			sure = append(sure, place)
		case f.closed == "" && (f.sqlite || !f.settled):
			other = append(other, place)
		}
	}
	switch {
	case len(sure) > 0:
		return sure, nil
	case isFile(path):
		return []Place{{Path: path}}, nil
	}
	return other, nil
}
