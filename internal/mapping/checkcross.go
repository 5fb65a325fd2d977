package mapping

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"parlance/internal/chat"
)

// CrossCheck looks for mappings that would take each other's files: by a pattern that two
// have and nothing that tells the files apart, or because one looks in the same place and reads
// the test samples of the other as if they were its own. All problems are warnings. A mapping
// that extends another is not held against it: only their places differ.
func CrossCheck(ctx context.Context, mappings []*Mapping) []Problem {
	var out []Problem
	for _, m := range mappings {
		out = append(out, m.sharedPatterns(mappings)...)
	}
	top, err := os.MkdirTemp("", "parlance-check-")
	if err != nil {
		return out // the tests themselves say so
	}
	defer os.RemoveAll(top)
	for i, m := range mappings {
		m.prepare()
		for k, t := range m.tests {
			if ctx.Err() != nil {
				return out
			}
			r := &testRun{m: m, t: t, top: filepath.Join(top, strconv.Itoa(i), strconv.Itoa(k))}
			out = append(out, r.claimed(ctx, mappings)...)
		}
	}
	return out
}

// related says whether one of two mappings starts from the other, or both from a third.
func related(a, b *Mapping) bool {
	root := func(m *Mapping) string {
		if m.extends != "" {
			return m.extends
		}
		return m.Name
	}
	return root(a) == root(b) || a.extends == b.Name || b.extends == a.Name
}

var defaulted = regexp.MustCompile(`\$\{[A-Za-z_0-9]+:-([^}]*)\}`)

// plain is a pattern with the defaults of its variables: two with the same lead to the same place.
func plain(pattern string) string { return defaulted.ReplaceAllString(pattern, "$1") }

// An area is what can be told of a pattern's files without wildcards.
type area struct{ folder, end string } // how their paths begin, and how they end

// areas are those of a source's patterns, alternatives in braces each by itself.
func (s *Source) areas() (out []area) {
	for _, pattern := range s.Paths {
		pattern = strings.ReplaceAll(plain(pattern), "${", "$") // what is left of variables is no wildcard
		for _, text := range braces(pattern) {
			folder, end := text, text[strings.LastIndexByte(text, '/')+1:]
			if i := strings.IndexAny(text, "*?[{"); i >= 0 {
				folder = text[:i]
			}
			out = append(out, area{folder[:strings.LastIndexByte(folder, '/')+1], end[strings.LastIndexAny(end, "*?]}")+1:]})
		}
	}
	return out
}

// leavesOut says whether a source excludes all files whose names end so.
func (s *Source) leavesOut(end string) bool {
	return slices.ContainsFunc(s.Exclude, func(pattern string) bool {
		suffix, any := strings.CutPrefix(pattern, "**/*")
		return any && !strings.ContainsAny(suffix, "*?[{/") && strings.HasSuffix(end, suffix)
	})
}

// meet says whether two sources can find the same file, as far as the folders in front of their
// first wildcards and the ends of names tell. Places of exports, where anybody's files lie, meet
// each other.
func meet(a, b *Source) bool {
	bs := b.areas()
	return slices.ContainsFunc(a.areas(), func(p area) bool {
		return slices.ContainsFunc(bs, func(q area) bool {
			return (strings.HasPrefix(p.folder, q.folder) || strings.HasPrefix(q.folder, p.folder)) &&
				(strings.HasSuffix(p.end, q.end) || strings.HasSuffix(q.end, p.end)) && !a.leavesOut(q.end) && !b.leavesOut(p.end)
		})
	})
}

// sharedPatterns warns of sources that have nothing but a pattern that another mapping has.
func (m *Mapping) sharedPatterns(all []*Mapping) []Problem {
	var out []Problem
	for _, s := range m.Sources {
		if s.when != nil || s.unless != nil || s.needs != nil || s.Unsupported != "" || s.Decoder != "" {
			continue
		}
		for _, p := range s.Paths {
			for _, other := range all {
				if other == m || related(m, other) {
					continue
				}
				has := func(o *Source) bool {
					return o.Container == s.Container && slices.ContainsFunc(o.Paths, func(q string) bool { return q == p || plain(q) == plain(p) })
				}
				if !slices.ContainsFunc(other.Sources, has) {
					continue
				}
				hint := "add when: a condition that only this format fulfils"
				if s.Container == "sqlite" {
					hint = "add needs: the tables and columns that only this format has"
				}
				w := m.problem(codeOverlap, s.pos, sub("sources", s.index), fmt.Sprintf("pattern %s is one of %s too, and nothing tells the files apart", quoteText(p), other.Name), hint)
				w.Warning = true
				out = append(out, w)
			}
		}
	}
	return out
}

// claimed warns of other mappings that read the whole of a sample and leave nothing over.
func (r *testRun) claimed(ctx context.Context, all []*Mapping) []Problem {
	var out []Problem
	for _, s := range r.m.Sources {
		if s.ID == r.t.source {
			r.src = s
		}
	}
	bare := *r.t
	bare.side = nil // the others have sidecars of their own
	laid := false
	for _, other := range all {
		if other == r.m || related(r.m, other) {
			continue
		}
		for _, s := range other.Sources {
			if s.Container != r.src.Container || s.Unsupported != "" || s.Decoder != "" || (s.replay == nil) != (r.src.replay == nil) || !meet(s, r.src) {
				continue
			}
			if !laid { // once, and only if there is somebody to show it to
				r.t = &bare
				if err := r.lay(ctx); err != nil {
					return out
				}
				laid = true
			}
			file := r.file
			file.Provider, file.Sources, file.base = other.Name, []int{s.index}, map[int]string{s.index: r.top}
			o := &testRun{m: other, t: &bare, src: s, top: r.top, file: file}
			if !o.claims(ctx) {
				continue
			}
			w := r.m.problem(codeOverlap, r.t.pos, r.t.at, fmt.Sprintf("%s reads this sample as its own, by source %q", other.Name, s.ID), "a when of its source, or a rule that wants more, tells them apart")
			w.Warning = true
			out = append(out, w)
			break
		}
	}
	return out
}

// claims says whether a mapping reads a sample without anything left over.
func (r *testRun) claims(ctx context.Context) bool {
	r.m.prepare()
	if r.t.records != nil && (r.src.Container == "sqlite" || !r.whenHolds()) {
		return false
	}
	if r.read(ctx) != nil || len(r.problems) > 0 || len(r.convs) == 0 {
		return false
	}
	messages := 0
	for _, c := range r.convs {
		messages += len(c.Messages)
		if len(c.Read.NoRule) > 0 || len(c.Read.Broken) > 0 || c.Read.Used == 0 {
			return false
		}
	}
	return messages > 0 && slices.ContainsFunc(r.convs, func(c *chat.Conversation) bool {
		return slices.ContainsFunc(c.Messages, func(m chat.Message) bool { return m.Role == chat.User || m.Role == chat.Assistant })
	})
}

// whenHolds asks the source's when about the records of a sample, which are fed to the
// rules without a file.
func (r *testRun) whenHolds() bool {
	if r.src.when == nil && r.src.unless == nil {
		return true
	}
	rd := &reading{m: r.m, src: r.src, file: r.file, opts: &ReadOptions{}}
	x := rd.scopes(nil, 0)
	n, accepted := 0, r.src.when == nil
	for line := range strings.SplitSeq(*r.t.records, "\n") {
		rd.a.reset()
		rec, ok := parseObject(line, &rd.a)
		if !ok {
			continue
		}
		n++
		x.rec, x.recIndex = rec, n
		if rd.refuses(x, rec) {
			return false
		}
		accepted = accepted || rd.holdsWhen(x, rec)
		if n >= whenRecordsMax {
			break
		}
	}
	return accepted
}
