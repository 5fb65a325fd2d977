package mapping

import (
	"context"
	"slices"

	"parlance/internal/source"
)

// Alone says whether all messages of a conversation that this source reads stand in the one
// file: its size and time then tell whether there are new ones.
func (s *Source) Alone() bool { return len(s.join) == 0 && s.Decoder == "" }

// Alone says so of every source that may read f.
func (m *Mapping) Alone(f File) bool {
	return !slices.ContainsFunc(f.Sources, func(i int) bool { return !m.Sources[i].Alone() })
}

// Parts are the files in which Read finds the messages of f, each once: f.Path first, then those
// that a decoder takes for the same conversation, or that the joins of its sources name. It lists
// folders; of files it reads only those in which the names of others stand.
func (m *Mapping) Parts(ctx context.Context, f File) []string {
	parts := f.Parts()
	for _, i := range f.Sources {
		if src := m.Sources[i]; len(src.join) > 0 {
			rd := &reading{m: m, src: src, file: f, opts: &ReadOptions{}}
			s := &session{rd: rd, main: newBuilder(m, src, rd.opts), x: &scopes{a: &rd.a, docArena: &rd.docs}}
			parts = rd.joinParts(ctx, s, src.join[0], f.Path, parts)
		}
	}
	return parts
}

// joinParts adds the files of a join, and of those below it.
func (rd *reading) joinParts(ctx context.Context, s *session, j *join, parent string, parts []string) []string {
	var doc *value
	if slices.ContainsFunc(j.files, func(p templatePart) bool { return p.sel != nil && p.src != "stem" }) {
		if data, err := source.ReadAll(ctx, parent); err == nil {
			doc, _ = parseRecord(string(data), &arena{})
		}
	}
	paths, _ := rd.joinFiles(s, j, parent, doc)
	for _, path := range paths {
		if ctx.Err() != nil {
			return parts
		}
		parts = append(parts, path)
		for _, below := range j.join {
			parts = rd.joinParts(ctx, s, below, path, parts)
		}
	}
	return parts
}
