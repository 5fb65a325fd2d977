package mapping

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"unicode/utf8"

	"parlance/internal/source"
)

// BuiltIn is the origin of a mapping that is part of the program.
const BuiltIn = "built-in"

// A Set is every mapping this run may use: the built-in ones, then the user's, of which a
// later file replaces an earlier one of the same name whole. Only names are read at first; a
// mapping is parsed, checked and compiled when it is asked for. It may be used by many
// goroutines.
type Set struct {
	entries  map[string]*setEntry
	names    []string
	compiled atomic.Int64
}

// A setEntry is what the files of one name give.
type setEntry struct {
	files []mappingFile // the last one counts

	load     sync.Once
	mapping  *Mapping
	problems []Problem

	skim  sync.Once
	heads []sourceHead
	sure  bool // heads are known
}

// A mappingFile is one file of a name.
type mappingFile struct {
	origin string // BuiltIn, or the path
	file   string // as problems name it
	read   func() ([]byte, error)
}

func (e *setEntry) top() mappingFile { return e.files[len(e.files)-1] }

// NewSet gathers the mapping files of builtin (its *.yaml) and of each folder, in order.
// A folder that is not there is passed over. The error names every folder that could not be
// read; the set holds what the others gave and is good for use nevertheless.
func NewSet(builtin fs.FS, folders []string) (*Set, error) {
	s := &Set{entries: map[string]*setEntry{}}
	var errs []error
	add := func(name string, l mappingFile) {
		if s.entries[name] == nil {
			s.entries[name] = &setEntry{}
		}
		s.entries[name].files = append(s.entries[name].files, l)
	}
	list, err := fs.ReadDir(builtin, ".")
	if err != nil {
		errs = append(errs, fmt.Errorf("built-in mappings: %w", err))
	}
	for _, file := range mappingFiles(list) {
		add(strings.TrimSuffix(file, ".yaml"), mappingFile{BuiltIn, "mappings/" + file, func() ([]byte, error) { return fs.ReadFile(builtin, file) }})
	}
	for _, folder := range folders {
		list, err := os.ReadDir(folder)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			var pe *fs.PathError
			if errors.As(err, &pe) {
				err = pe.Err
			}
			errs = append(errs, fmt.Errorf("mappings: %s: %w", folder, err))
		}
		for _, file := range mappingFiles(list) {
			path := filepath.Join(folder, file)
			add(strings.TrimSuffix(file, ".yaml"), mappingFile{path, path, func() ([]byte, error) { return readMapping(path) }})
		}
	}
	s.names = slices.Sorted(maps.Keys(s.entries))
	return s, errors.Join(errs...)
}

// mappingFiles are the names of a folder that are mapping files. Names with a dot in front
// are what editors leave there.
func mappingFiles(list []fs.DirEntry) []string {
	var files []string
	for _, e := range list {
		if name := e.Name(); strings.HasSuffix(name, ".yaml") && name[0] != '.' && !e.IsDir() {
			files = append(files, name)
		}
	}
	return files
}

// readMapping reads a file as far as its size can still be complained about.
func readMapping(path string) ([]byte, error) {
	f, err := source.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, yamlMaxBytes+1))
}

// Names are the providers' names, sorted.
func (s *Set) Names() []string { return slices.Clone(s.names) }

// Mapping compiles the mapping of that name, once. Problems that are not warnings make it
// unusable: the mapping is nil then. A broken user file does not bring the built-in back.
// A name that no file has gives neither a mapping nor problems.
func (s *Set) Mapping(name string) (*Mapping, []Problem) {
	e := s.entries[name]
	if e == nil {
		return nil, nil
	}
	e.load.Do(func() {
		s.compiled.Add(1)
		top := e.top()
		data, err := top.read()
		if err != nil {
			e.problems = []Problem{unreadable(top, err)}
			return
		}
		e.mapping, e.problems = Load(top.file, data, s.base(name))
		if e.mapping != nil {
			e.mapping.File = top.origin
		}
	})
	return e.mapping, e.problems
}

// Compiled is how many mappings had to be parsed and compiled so far.
func (s *Set) Compiled() int { return int(s.compiled.Load()) }

// Add puts a mapping file on top of the set, and says under which name: it replaces what the
// set had under that name. The set must not have been asked for it before.
func (s *Set) Add(path string) (name string, err error) {
	if _, err := readMapping(path); err != nil {
		return "", err
	}
	name = strings.TrimSuffix(filepath.Base(path), ".yaml")
	old := s.entries[name]
	e := &setEntry{}
	if old == nil {
		s.names = append(s.names, name)
		slices.Sort(s.names)
	} else {
		e.files = slices.Clone(old.files)
	}
	e.files = append(e.files, mappingFile{path, path, func() ([]byte, error) { return readMapping(path) }})
	s.entries[name] = e
	return name, nil
}

// LoadFile checks and compiles a mapping file that need not belong to the set; what it
// extends is looked for in the set. The error is about the file, not about what is in it.
func (s *Set) LoadFile(path string) (*Mapping, []Problem, error) {
	data, err := readMapping(path)
	if err != nil {
		return nil, nil, err
	}
	name := strings.TrimSuffix(filepath.Base(path), ".yaml")
	m, problems := Load(path, data, func(wanted string) (string, []byte, bool) {
		// A user's copy of a mapping that extends its own name means the one that it
		// replaces, and does not know yet whether it is in the set.
		if e := s.entries[name]; wanted == name && e != nil && e.top().origin == path {
			return s.base(name)(wanted)
		}
		return s.base("")(wanted)
	})
	return m, append(problems, unfinished(path, data)...), nil
}

const (
	gapMark   = "# GAP "
	doubtMark = " # ?"
)

// unfinished warns of what a draft of infer marked and nobody has looked at: without it, the
// test that the draft made of its own guesses says that all is well.
func unfinished(path string, data []byte) (out []Problem) {
	doubts, first := 0, Problem{}
	for i, line := range strings.Split(string(data), "\n") {
		line = strings.TrimRight(line, "\r")
		at := Problem{File: path, Line: i + 1, Code: codeDraft, Warning: true, Source: line}
		if text, ok := strings.CutPrefix(strings.TrimSpace(line), gapMark); ok {
			at.Col = 1 + utf8.RuneCountInString(line[:strings.Index(line, gapMark)])
			at.Msg, at.Hint = "a gap of the draft: "+text, "write what belongs there, and take the line away"
			out = append(out, at)
		}
		if before, ok := strings.CutSuffix(line, doubtMark); ok {
			if doubts++; doubts == 1 {
				first = at
				first.Col = 2 + utf8.RuneCountInString(before)
			}
		}
	}
	if doubts > 0 {
		first.Msg = fmt.Sprintf("%s of doubt (%s) left in the draft, the first here", plural(doubts, "mark"), strings.TrimSpace(doubtMark))
		first.Hint = "look at what it reads (parlance explain FILE --as " + filepath.Base(path) + "), and take the marks away that are right"
		out = append(out, first)
	}
	return out
}

// unreadable is the problem of a file whose bytes are not to be had.
func unreadable(l mappingFile, err error) Problem {
	var pe *fs.PathError
	msg := strings.TrimPrefix(err.Error(), l.file+": ")
	if errors.As(err, &pe) {
		msg = pe.Err.Error()
	}
	return Problem{File: l.file, Msg: msg, Code: codeSyntax}
}

// base gives Load the mapping that extends names: the one that counts for that name. A
// mapping that extends its own name means the one it replaces.
func (s *Set) base(name string) func(string) (string, []byte, bool) {
	return func(wanted string) (string, []byte, bool) {
		e := s.entries[wanted]
		if e == nil {
			return "", nil, false
		}
		files := e.files
		if wanted == name {
			files = files[:len(files)-1]
		}
		if len(files) == 0 {
			return "", nil, false
		}
		l := files[len(files)-1]
		data, err := l.read()
		return l.file, data, err == nil
	}
}

// Present are those of names whose mapping may find something: at least one folder in front of
// a pattern's first wildcard exists, or, for a pattern that is relative and has none, the file. It
// parses no built-in mapping: where they look is skimmed from their text. Those of the user's are
// parsed, and are present as well if they are broken, so that somebody hears of it.
func (s *Set) Present(env Env, names []string) []string {
	env = env.Snapshot()
	var present []string
	for _, name := range names {
		heads, ok := s.heads(name)
		if !ok || slices.ContainsFunc(heads, func(h sourceHead) bool { return env.seen.any(env, h) }) {
			present = append(present, name)
		}
	}
	return present
}

// Roams says whether a mapping looks for files in working directories (see Env.Cwds) rather
// than in places of its own alone.
func (s *Set) Roams(name string) bool {
	return slices.ContainsFunc(s.Patterns(name), isRelative)
}

// Patterns are the path patterns of all sources of a mapping, each once: generations of a tool
// share places. There are none if no file has the name, or if it is broken.
func (s *Set) Patterns(name string) (patterns []string) {
	heads, ok := s.heads(name)
	if !ok {
		m, _ := s.Mapping(name)
		heads = m.heads()
	}
	for _, h := range heads {
		for _, p := range h.paths {
			if !slices.Contains(patterns, p) {
				patterns = append(patterns, p)
			}
		}
	}
	return patterns
}

// heads are where the sources of a mapping look. It is not ok if that cannot be told, because
// the mapping is broken or, built in, written in a way that skim does not know.
func (s *Set) heads(name string) (heads []sourceHead, ok bool) {
	e := s.entries[name]
	if e == nil {
		return nil, false
	}
	e.skim.Do(func() { e.heads, e.sure = s.skimmed(name, nil) })
	return e.heads, e.sure
}

func (s *Set) skimmed(name string, seen []string) (heads []sourceHead, ok bool) {
	e := s.entries[name]
	switch {
	case e == nil || slices.Contains(seen, name):
		return nil, false
	case e.top().origin != BuiltIn:
		m, _ := s.Mapping(name)
		return m.heads(), m != nil
	}
	data, err := e.top().read()
	if err != nil {
		return nil, false
	}
	heads, extends, ok := skim(data)
	if ok && heads == nil {
		return s.skimmed(extends, append(seen, name))
	}
	return heads, ok
}

// heads are where the sources of a mapping look; none if there is no mapping.
func (m *Mapping) heads() (heads []sourceHead) {
	if m == nil {
		return nil
	}
	for _, src := range m.Sources {
		h := sourceHead{paths: src.Paths, split: src.Split}
		if src.PathsFrom != nil {
			h.registry = src.PathsFrom.file
		}
		heads = append(heads, h)
	}
	return heads
}

// Origin says which file a name comes from ("built-in", or a path), and which it replaced,
// the first one first. A name that no file has comes from "".
func (s *Set) Origin(name string) (file string, replaced []string) {
	e := s.entries[name]
	if e == nil {
		return "", nil
	}
	for _, l := range e.files[:len(e.files)-1] {
		replaced = append(replaced, l.origin)
	}
	return e.top().origin, replaced
}
