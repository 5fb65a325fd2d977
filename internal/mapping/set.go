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

	"parlance/internal/source"
)

// BuiltIn is the origin of a mapping that is part of the program.
const BuiltIn = "built-in"

// A Set is every mapping this run may use: the built-in ones, then the user's, of which a
// later file replaces an earlier one of the same name whole. Only names are read at first; a
// mapping is parsed, checked and compiled when it is asked for. It may be used by many
// goroutines.
type Set struct {
	entries map[string]*setEntry
	names   []string
}

// A setEntry is what the files of one name give.
type setEntry struct {
	files []mappingFile // the last one counts

	load     sync.Once
	mapping  *Mapping
	problems []Problem

	skim     sync.Once
	patterns []string
	sure     bool // patterns are all there are
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
	return m, problems, nil
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

// Present are the names of mappings for which at least one folder in front of a pattern's
// first wildcard exists, sorted. It parses no built-in mapping: their patterns are skimmed
// from the text. Those of the user's are parsed, and are present as well if they are broken,
// so that somebody hears of it.
func (s *Set) Present(env Env) []string {
	env.Cwds = nil // asking other providers is not worth a look ahead
	exists := folders{}
	env.Named = exists.named(env)
	var present []string
	for _, name := range s.names {
		if s.present(name, env, exists) {
			present = append(present, name)
		}
	}
	return present
}

func (s *Set) present(name string, env Env, exists folders) bool {
	e := s.entries[name]
	if e.top().origin != BuiltIn {
		m, _ := s.Mapping(name)
		return m == nil || slices.ContainsFunc(m.Sources, func(src *Source) bool {
			patterns := src.Paths
			if src.PathsFrom != nil {
				patterns = append(slices.Clip(patterns), src.PathsFrom.file)
			}
			return exists.any(env, patterns, src.Split)
		})
	}
	e.skim.Do(func() { e.patterns, e.sure = s.skim(name, nil) })
	if !e.sure {
		return true
	}
	for _, pattern := range e.patterns {
		if exists.any(env, []string{pattern}, nil) {
			return true
		}
		// Which variables hold several values is not known without parsing: both readings count.
		lists := slices.DeleteFunc(variables(pattern), func(name string) bool {
			return env.Getenv == nil || !strings.Contains(env.Getenv(name), ",")
		})
		if len(lists) > 0 && exists.any(env, []string{pattern}, lists) {
			return true
		}
	}
	return false
}

// skim gathers the patterns of a built-in mapping and of those it extends. It is not sure if
// it finds none, or meets a mapping of the user's.
func (s *Set) skim(name string, seen []string) (patterns []string, sure bool) {
	e := s.entries[name]
	if e == nil || e.top().origin != BuiltIn || slices.Contains(seen, name) {
		return nil, false
	}
	data, err := e.top().read()
	if err != nil {
		return nil, false
	}
	patterns, extends := skimPatterns(data)
	if extends != "" {
		more, sure := s.skim(extends, append(seen, name))
		return append(patterns, more...), sure
	}
	return patterns, len(patterns) > 0
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

// folders remembers which folders exist. A folder whose parent is missing is not looked for.
type folders map[string]bool

func (f folders) exists(dir string) bool {
	known, ok := f[dir]
	if ok {
		return known
	}
	if parent := filepath.Dir(dir); parent != dir && !f.exists(parent) {
		f[dir] = false
		return false
	}
	_, err := os.Stat(dir)
	// What may not be looked at is there: Find will say so.
	f[dir] = err == nil || !missing(err)
	return f[dir]
}

// named are the named roots without the folders that do not exist: of dozens of editors few
// are there, and many mappings look into each.
func (f folders) named(env Env) map[string][]string {
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

// any says whether the folder of one of the patterns exists. A relative pattern always has
// one: the current folder.
func (f folders) any(env Env, patterns, split []string) bool {
	for _, pattern := range patterns {
		if strings.HasPrefix(pattern, "./") {
			return true
		}
		places, _ := expandPlaces(env, pattern, split)
		for i := range places {
			if dir := places[i].folder(); filepath.IsAbs(dir) && f.exists(dir) {
				return true
			}
		}
	}
	return false
}
