package mapping

import (
	"slices"
	"strings"
)

// Beside says what a mapping may read besides the files that its paths fit: the files of a
// conversation that stand beside it, tables for lookups, and lists of folders with what is
// looked for in those. Relative ones lie below the fixed part of the pattern that found the
// conversation, or below one of its parents below the home folder.
func (m *Mapping) Beside() []string {
	var out []string
	put := func(s string) {
		if !slices.Contains(out, s) {
			out = append(out, s)
		}
	}
	var joins func([]*join)
	joins = func(list []*join) {
		for _, j := range list {
			put(j.files.text())
			joins(j.join)
		}
	}
	for _, s := range m.Sources {
		if from := s.PathsFrom; from != nil {
			put(from.file)
			put(from.path + ", as " + from.file + " says")
		}
		joins(s.join)
		for _, side := range s.sidecars {
			put(side.path.text())
		}
	}
	names := make([]string, 0, len(m.lookups))
	for name := range m.lookups {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		put(m.lookups[name].path)
	}
	return out
}

// text is a template as it stands in the mapping.
func (t template) text() string {
	var b strings.Builder
	for _, p := range t {
		if p.sel == nil && p.src == "" {
			b.WriteString(p.text)
		} else {
			b.WriteString("{" + p.src + "}")
		}
	}
	return b.String()
}
