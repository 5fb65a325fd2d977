package mapping

import (
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
)

// folders remembers which folders exist, and what is in those that were read. A folder whose
// parent is missing is not looked for.
type folders struct {
	mu     sync.Mutex
	known  map[string]bool
	looks  int // at the disk
	lists  map[string]*folderList
	listed int // folders read
	kept   int // entries in lists
}

// A folderList is what is in a folder, as it was when somebody first asked.
type folderList struct {
	once    sync.Once
	entries []fs.DirEntry
	err     error
}

// keptEntriesMax is how many entries of folders are remembered, some five megabytes. Whatever
// more there is belongs to one mapping as a rule, which reads it once.
const keptEntriesMax = 1 << 16

// list is what is in a folder, without an order; not to be changed. Several mappings may look
// into one folder, and a lookup for each conversation: the disk is asked once. f may be nil.
func (f *folders) list(dir string) ([]fs.DirEntry, error) {
	if f == nil {
		return readFolder(dir)
	}
	f.mu.Lock()
	l := f.lists[dir]
	if l == nil {
		l = &folderList{}
		f.lists[dir] = l
	}
	f.mu.Unlock()
	l.once.Do(func() {
		l.entries, l.err = readFolder(dir)
		f.mu.Lock()
		defer f.mu.Unlock()
		f.listed++
		if f.kept += len(l.entries); f.kept > keptEntriesMax {
			f.kept -= len(l.entries)
			delete(f.lists, dir) // who waits for it has it
		}
	})
	return l.entries, l.err
}

// A listedFS is a folder as fs.FS, whose folders are read through a memory.
type listedFS struct {
	fs.FS
	root string
	seen *folders
}

func (l listedFS) ReadDir(name string) ([]fs.DirEntry, error) {
	return l.seen.list(filepath.Join(l.root, filepath.FromSlash(path.Clean(name))))
}

func (l listedFS) Stat(name string) (fs.FileInfo, error) { return fs.Stat(l.FS, name) }

// Snapshot is e with a memory, for one question that many mappings are asked: what was once
// found out about a folder is not looked at again, and named roots that are not there are left
// out. What comes later is not seen.
func (e Env) Snapshot() Env {
	if e.seen != nil {
		return e
	}
	e.seen = &folders{known: map[string]bool{}, lists: map[string]*folderList{}}
	e.Named = e.seen.named(e)
	return e
}

// Listed is how many times a folder was read for a snapshot.
func (e Env) Listed() int {
	e.seen.mu.Lock()
	defer e.seen.mu.Unlock()
	return e.seen.listed
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
