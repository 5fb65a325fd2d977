package mapping

import (
	"io/fs"
)

// A Set is every mapping this run may use: the built-in ones, then the user's, of which a
// later file replaces an earlier one of the same name whole. Only names and path patterns
// are read at first; a mapping is parsed, checked and compiled when it is asked for.
type Set struct{}

// NewSet gathers the mapping files of builtin (its *.yaml) and of each folder, in order.
// A folder that is not there is passed over.
func NewSet(builtin fs.FS, folders []string) (*Set, error) { panic("stub") }

// Names are the providers' names, sorted.
func (s *Set) Names() []string { panic("stub") }

// Mapping compiles the mapping of that name, once. Problems that are not warnings make it
// unusable: the mapping is nil then. A broken user file does not bring the built-in back.
func (s *Set) Mapping(name string) (*Mapping, []Problem) { panic("stub") }

// Present are the names of mappings for which at least one folder in front of a pattern's
// first wildcard exists, sorted. It parses none of them.
func (s *Set) Present(env Env) []string { panic("stub") }

// Origin says which file a name comes from ("built-in", or a path), and which it replaced.
func (s *Set) Origin(name string) (file string, replaced []string) { panic("stub") }
