package mapping

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
)

// folders remembers which folders exist. A folder whose parent is missing is not looked for.
type folders struct {
	mu    sync.Mutex
	known map[string]bool
	looks int // at the disk
}

// Snapshot is e with a memory, for one question that many mappings are asked: what was once
// found out about a folder is not looked at again, and named roots that are not there are left
// out. What comes later is not seen.
func (e Env) Snapshot() Env {
	if e.seen != nil {
		return e
	}
	e.seen = &folders{known: map[string]bool{}}
	e.Named = e.seen.named(e)
	return e
}

// Looks is how many names a snapshot was looked at for, to find out whether they are there.
func (e Env) Looks() int {
	e.seen.mu.Lock()
	defer e.seen.mu.Unlock()
	return e.seen.looks
}

// exists says whether something is at a clean absolute path. What may not be looked at is there:
// who reads it will say so.
func (f *folders) exists(path string) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.look(path)
}

func (f *folders) look(path string) bool {
	known, ok := f.known[path]
	if ok {
		return known
	}
	if parent := filepath.Dir(path); parent == path || f.look(parent) {
		f.looks++
		_, err := os.Stat(path)
		known = err == nil || !missing(err)
	}
	f.known[path] = known
	return known
}

// named are the named roots without the folders that do not exist: of dozens of editors few
// are there, and many mappings look into each.
func (f *folders) named(env Env) map[string][]string {
	named := make(map[string][]string, len(env.Named))
	for name := range env.Named {
		places, _ := expandPlaces(env, "${"+name+"}/x", nil)
		kept := []string{}
		for _, p := range places {
			if dir := p.folder(); filepath.IsAbs(dir) && f.exists(dir) {
				kept = append(kept, strings.TrimSuffix(p.String(), "/x"))
			}
		}
		named[name] = kept
	}
	return named
}

// any says whether one of the places where a source looks may hold something.
func (f *folders) any(env Env, h sourceHead) bool {
	patterns := h.paths
	if h.registry != "" {
		patterns = append(slices.Clip(patterns), h.registry)
	}
	return slices.ContainsFunc(patterns, func(pattern string) bool {
		places, _ := expandPlaces(env, pattern, h.split)
		return slices.ContainsFunc(places, func(p globPlace) bool {
			return f.holds(&p) && (!isRelative(pattern) || f.holdsFile(&p))
		})
	})
}

// holds says whether the folder of a place exists.
func (f *folders) holds(p *globPlace) bool {
	dir := p.folder()
	return filepath.IsAbs(dir) && f.exists(dir)
}

// holdsFile says whether the file of a place exists, if it has one name: people have worked in
// many folders, of which all exist.
func (f *folders) holdsFile(p *globPlace) bool {
	if p.fixed < len(p.segs)-1 || p.segs[p.fixed].wild {
		return true
	}
	path := p.prefix(len(p.segs))
	return f.exists(path) || slices.ContainsFunc(packedSuffixes, func(suffix string) bool { return f.exists(path + suffix) })
}
