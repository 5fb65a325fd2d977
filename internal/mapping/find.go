package mapping

import (
	"context"
	"time"
)

// Env is the machine as mappings see it. Nothing else of the process's environment is read,
// so a test, or another machine's copied home, is a value.
type Env struct {
	Home   string                   // what ~ is; absolute
	Getenv func(name string) string // "" = unset
	Cwd    string                   // where relative patterns start; "" = nowhere
	Roots  []string                 // what ${ROOT} stands for
	Named  map[string][]string      // named roots: pattern lists, from mappings/common/roots.yaml
	// Cwds gives the working directories that other providers recorded, for relative
	// patterns; nil = none.
	Cwds func() []string
}

// A File is one file or database that a mapping's patterns found. Nothing of it was read.
type File struct {
	Provider string
	Path     string // as found, cleaned, with the system's separators
	Size     int64
	ModTime  time.Time // the later of the file's and its -wal's
	Sources  []int     // indexes of the mapping's sources that may read it, in order

	env      Env            // where it was found: lookups are patterns too
	registry map[int]string // per source: the registry element (JSON), for side:
	base     map[int]string // per source: the fixed folder in front of its pattern's first wildcard
}

// A FindError is a place that could not be looked into.
type FindError struct {
	Provider, Path string
	Err            error
}

// Find lists the files of the mapping's patterns, each once, newest first, then by path.
// A folder that is not there costs one look and is no error.
func (m *Mapping) Find(ctx context.Context, env Env) ([]File, []FindError) {
	panic("stub")
}

// FileAt is the file at path as this mapping would read it, whether or not a pattern finds
// it there: sources whose patterns fit come first, then all others of the right container.
func (m *Mapping) FileAt(env Env, path string) (File, error) { panic("stub") }
