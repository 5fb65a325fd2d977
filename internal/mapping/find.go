package mapping

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
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
	// patterns; nil = none. Find calls it once at most, and only for such a pattern.
	Cwds func() []string

	seen *folders // of a Snapshot
}

// A File is one file or database that a mapping's patterns found, or several that hold one
// conversation. Nothing of it was read, but what tells that they do.
type File struct {
	Provider string
	Path     string // as found, cleaned, with the system's separators
	Size     int64
	ModTime  time.Time // the later of the file's and, for a database, its -wal's
	Sources  []int     // indexes of the mapping's sources that may read it, in order, unsupported ones too; not to be changed
	// Loose: it was found in a folder of exports (Env.Roots) alone, where anybody's files lie;
	// mappings ask for it as file:export. That no source accepts such a file is nothing to report.
	Loose bool

	env      Env            // where it was found: lookups are patterns too
	registry map[int]string // per source: the registry element (JSON), for side:
	base     map[int]string // per source: the folder that holds whatever may be read beside the file; see confines
	at       map[int]string // per source: the pattern that found it, "paths[0]"; none if it was moved
	groups   []group        // of a decoder's source: what Find put together
}

// Parts are the files that Find put together in f: its own, but for a source with a decoder,
// which may need several for one conversation. f.Path comes first. See Mapping.Parts.
func (f File) Parts() []string {
	if len(f.groups) == 0 {
		return []string{f.Path}
	}
	var parts []string
	for _, g := range f.groups {
		parts = append(parts, g.files...)
	}
	return parts
}

// A FindError is a place that could not be looked into. Err does not repeat the path.
type FindError struct {
	Provider, Path string
	Err            error
}

func (e FindError) Error() string { return e.Provider + ": " + e.Path + ": " + e.Err.Error() }
func (e FindError) Unwrap() error { return e.Err }

// Find lists the files of the mapping's patterns, each once, newest first, then by path.
// A folder that is not there costs one look and is no error. The errors are those of
// folders that could not be read, of registries that are broken, of things that bear a
// file's name and are none, and of limits; the files beside them are listed nevertheless.
func (m *Mapping) Find(ctx context.Context, env Env) ([]File, []FindError) {
	files, w := m.find(ctx, env, defaultGlobLimits)
	return files, w.errs
}

func (m *Mapping) find(ctx context.Context, env Env, limits globLimits) ([]File, *walker) {
	env.Cwds = onceOnly(env.Cwds)
	places, errs := m.places(ctx, env)
	if env.seen != nil {
		places = slices.DeleteFunc(places, func(p globPlace) bool { return !env.seen.holds(&p) })
	}
	w := &walker{ctx: ctx, limits: limits, excluded: m.excluder(env), seen: env.seen}
	for _, e := range errs {
		w.problem(e.Path, e.Err)
	}
	w.walk(places)
	found := mergeLinked(w.found)
	order := make([]*foundFile, len(found))
	for i := range found {
		found[i].time = m.modTime(&found[i])
		order[i] = &found[i]
	}
	slices.SortFunc(order, func(a, b *foundFile) int {
		return cmp.Or(b.time.Compare(a.time), cmp.Compare(a.path, b.path))
	})
	files := make([]File, len(order))
	known := map[**globPlace]File{} // by list, which files share
	for i, f := range order {
		like, ok := known[&f.places[0]]
		if !ok {
			like = m.fileOf(env, f.places)
			known[&f.places[0]] = like
		}
		files[i] = like
		files[i].Path, files[i].Size, files[i].ModTime = f.path, f.info.Size(), f.time
	}
	files, more := m.united(ctx, m.onePerFolder(files))
	w.errs = append(w.errs, more...)
	for i := range w.errs {
		w.errs[i].Provider = m.Name
	}
	slices.SortFunc(w.errs, func(a, b FindError) int { return cmp.Compare(a.Path, b.Path) })
	return files, w
}

// onePerFolder makes one File of the files in a folder that are one conversation: its path is
// that of the first by name, its time that of the newest, its size that of all.
func (m *Mapping) onePerFolder(files []File) []File {
	first := map[string]int{} // by folder
	out := files[:0:0]
	for _, f := range files {
		if !slices.ContainsFunc(f.Sources, func(i int) bool { return m.Sources[i].onePerFolder }) {
			out = append(out, f)
			continue
		}
		dir := filepath.Dir(f.Path)
		i, ok := first[dir]
		if !ok {
			first[dir] = len(out)
			out = append(out, f) // the newest comes first
			continue
		}
		out[i].Path, out[i].Size = min(out[i].Path, f.Path), out[i].Size+f.Size
	}
	return out
}

func onceOnly(f func() []string) func() []string {
	if f == nil {
		return nil
	}
	return sync.OnceValue(f)
}

// fileOf is a file without a path, as far as the places that found it tell.
func (m *Mapping) fileOf(env Env, places []*globPlace) File {
	f := File{
		env:      env,
		Provider: m.Name,
		Sources:  make([]int, len(places)),
		base:     make(map[int]string, len(places)),
		Loose:    true,
		at:       make(map[int]string, len(places)),
	}
	for i, p := range places {
		f.Loose = f.Loose && p.loose
		f.Sources[i] = p.source
		f.base[p.source] = p.base
		f.at[p.source] = p.at
		if p.registry != "" {
			if f.registry == nil {
				f.registry = map[int]string{}
			}
			f.registry[p.source] = p.registry
		}
	}
	return f
}

// modTime is when a file was last written to. What was written last to a database stands in
// the log beside it until it is moved over.
func (m *Mapping) modTime(f *foundFile) time.Time {
	at := f.info.ModTime()
	if slices.ContainsFunc(f.places, func(p *globPlace) bool { return m.Sources[p.source].Container == "sqlite" }) {
		if wal, err := os.Stat(f.path + "-wal"); err == nil && wal.ModTime().After(at) {
			return wal.ModTime()
		}
	}
	return at
}

// places are the patterns of all sources, filled in.
func (m *Mapping) places(ctx context.Context, env Env) ([]globPlace, []FindError) {
	var all []globPlace
	var errs []FindError
	for i, src := range m.Sources {
		add := func(at, pattern, registry string) {
			places, err := expandPlaces(env, pattern, src.Split)
			if err != nil {
				errs = append(errs, FindError{Path: pattern, Err: err})
			}
			for _, p := range places {
				p.source, p.rank, p.registry, p.at = i, len(all), registry, at
				p.packed = src.Container != "sqlite"
				p.loose = strings.Contains(pattern, "${"+rootVariable+"}")
				p.base = confines(env, &p)
				all = append(all, p)
			}
		}
		for k, pattern := range src.Paths {
			add(sub("paths", k), pattern, "")
		}
		if src.PathsFrom != nil {
			elements, problems := src.PathsFrom.elements(ctx, env, src.Split)
			errs = append(errs, problems...)
			for _, el := range elements {
				if pattern, ok := fillBraces(env, src.PathsFrom.path, el); ok {
					add("paths_from", pattern, el.Raw)
				}
			}
		}
	}
	return all, errs
}

// confines is the folder that holds whatever may be read beside a place's files: the fixed
// part of the pattern. Outside of home it is the folder that the person's own variable or
// root names, because everything in it is the tool's.
func confines(env Env, p *globPlace) string {
	home := path.Clean(slashed(env.Home))
	if fixed := filepath.ToSlash(p.folder()); p.own > 0 && !sameName(fixed, home) && !below(fixed, home) {
		return p.prefix(p.own)
	}
	return p.folder()
}

// excluder gives the test of the sources' exclude patterns on a path with the system's
// separators. A pattern that is not absolute may begin at any folder. What excludes a file
// excludes its packed form.
func (m *Mapping) excluder(env Env) func(source int, path string) bool {
	type rule struct {
		root string
		segs []globSegment
	}
	rules := make([][]rule, len(m.Sources))
	some := false
	for i, src := range m.Sources {
		for _, pattern := range src.Exclude {
			if !strings.HasPrefix(pattern, "~") && !strings.HasPrefix(pattern, "$") && !isAbs(pattern) {
				pattern = "/**/" + strings.TrimPrefix(pattern, "./")
				for _, text := range braces(pattern) {
					if segs, ok := segments(text); ok {
						rules[i] = append(rules[i], rule{"", segs})
						some = true
					}
				}
				continue
			}
			places, _ := expandPlaces(env, pattern, src.Split)
			for _, p := range places {
				rules[i] = append(rules[i], rule{p.root, p.segs})
				some = true
			}
		}
	}
	if !some {
		return nil
	}
	return func(source int, path string) bool {
		if len(rules[source]) == 0 {
			return false
		}
		root, names := splitPath(path)
		plain := slices.Clone(names)
		plain[len(plain)-1] = unpackedName(plain[len(plain)-1])
		for _, r := range rules[source] {
			if r.root != "" && !sameName(r.root, root) {
				continue
			}
			if fitsPath(r.segs, names) || fitsPath(r.segs, plain) {
				return true
			}
		}
		return false
	}
}

// splitPath cuts an absolute path of the system into its root and names.
func splitPath(p string) (root string, names []string) {
	root, rest, _ := splitRoot(filepath.ToSlash(p))
	return root, strings.Split(rest, "/")
}

// mergeLinked makes one of files that are the same file on the disk, because links lead
// there or one folder was given under two names. Of a file and a link to it the file stays,
// else the one of the first pattern. Only files of equal size and time are compared.
func mergeLinked(found []foundFile) []foundFile {
	type likeness struct{ size, time int64 }
	first := make(map[likeness]int, len(found))
	groups := map[likeness][]*foundFile{}
	for i := range found {
		f := &found[i]
		key := likeness{f.info.Size(), f.info.ModTime().UnixNano()}
		at, ok := first[key]
		switch {
		case !ok:
			first[key] = i
		case groups[key] == nil:
			groups[key] = []*foundFile{&found[at], f}
		default:
			groups[key] = append(groups[key], f)
		}
	}
	dropped := false
	for _, group := range groups {
		slices.SortFunc(group, func(a, b *foundFile) int {
			return cmp.Or(cmp.Compare(btoi(a.link), btoi(b.link)), cmp.Compare(a.places[0].rank, b.places[0].rank), cmp.Compare(a.path, b.path))
		})
		for i, f := range group {
			for _, g := range group[i+1 : min(len(group), i+linkedMax)] {
				if f.places != nil && g.places != nil && os.SameFile(f.info, g.info) {
					f.places = mergePlaces(f.places, g.places)
					g.places, dropped = nil, true
				}
			}
		}
	}
	if !dropped {
		return found
	}
	return slices.DeleteFunc(found, func(f foundFile) bool { return f.places == nil })
}

// linkedMax bounds the comparisons in a group: a copied store may give all its files one time.
const linkedMax = 4096

func mergePlaces(places, more []*globPlace) []*globPlace {
	places = slices.Clone(places)
	for _, p := range more {
		if !slices.ContainsFunc(places, func(q *globPlace) bool { return q.source == p.source }) {
			places = append(places, p)
		}
	}
	slices.SortFunc(places, func(a, b *globPlace) int { return cmp.Compare(a.source, b.source) })
	return places
}

// FileAt is the file at path as this mapping would read it, whether or not a pattern finds
// it there. Sources are those with a pattern that fits the path; if there is none, because
// the file was copied from its place, all that can be read. A part of what a decoder takes
// for one conversation gives the whole. A relative path starts at env.Cwd.
func (m *Mapping) FileAt(env Env, path string) (File, error) {
	if !filepath.IsAbs(path) && env.Cwd != "" {
		path = filepath.Join(env.Cwd, path)
	}
	path, err := filepath.Abs(path)
	if err != nil {
		return File{}, err
	}
	info, err := os.Stat(path)
	if err != nil {
		var pe *fs.PathError
		if errors.As(err, &pe) {
			err = pe.Err
		}
		return File{}, fmt.Errorf("%s: %w", path, err)
	}
	if kind := irregular(info.Mode()); kind != "" {
		return File{}, fmt.Errorf("%s: is %s, not a file", path, kind)
	}
	env.Cwds = onceOnly(env.Cwds)
	places, _ := m.places(context.Background(), env)
	excluded := m.excluder(env)
	fits := func(path string) []*globPlace {
		root, names := splitPath(path)
		plain := slices.Clone(names)
		plain[len(plain)-1] = unpackedName(plain[len(plain)-1])
		var fit []*globPlace
		for i := range places {
			p := &places[i]
			if n := len(fit); n > 0 && fit[n-1].source == p.source || !sameName(p.root, root) {
				continue
			}
			if !fitsPath(p.segs, names) && !(p.packed && fitsPath(p.segs, plain)) {
				continue
			}
			if excluded == nil || !excluded(p.source, path) {
				fit = append(fit, p)
			}
		}
		return fit
	}
	fit := fits(path)
	if len(fit) == 0 {
		for _, other := range otherSpellings(env, path) {
			if fit = fits(other); len(fit) > 0 {
				path = other // as Find has it, so that the files beside it are where they belong
				break
			}
		}
	}
	if len(fit) == 0 {
		for i, src := range m.Sources {
			if src.Unsupported == "" {
				p := moved(src, path)
				p.source = i
				fit = append(fit, p)
			}
		}
	}
	f := m.fileOf(env, fit)
	f.Path, f.Size = path, info.Size()
	f.ModTime = m.modTime(&foundFile{path: path, info: info, places: fit})
	return m.whole(context.Background(), env, f), nil
}

// otherSpellings are the paths under which a pattern may know a file that was given through
// a link: its real path, and that path from home on, which may be a link itself.
func otherSpellings(env Env, path string) []string {
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return nil
	}
	paths := []string{real}
	if home, err := filepath.EvalSymlinks(env.Home); err == nil && below(filepath.ToSlash(real), filepath.ToSlash(home)) {
		paths = append(paths, filepath.Join(env.Home, real[len(home):]))
	}
	return paths
}

// moved is the place of a copied file: the last segments of its source's patterns are taken
// for the folders around it as far as they bear the same names, so that files beside it are
// found if they were copied along.
func moved(src *Source, path string) *globPlace {
	root, names := splitPath(path)
	plain := slices.Clone(names)
	plain[len(plain)-1] = unpackedName(plain[len(plain)-1])
	best := 1
	for _, pattern := range src.Paths {
		if rest, ok := strings.CutPrefix(pattern, "~/"); ok {
			pattern = rest
		}
		for _, text := range braces(withoutVariables(pattern)) {
			segs, _ := segments(text)
			for n := 1; n <= len(segs) && n <= len(plain); n++ {
				s := segs[len(segs)-n]
				if s.deep || !s.fits(plain[len(plain)-n]) {
					break
				}
				if !s.wild {
					best = max(best, n)
				}
			}
		}
	}
	p := &globPlace{root: root}
	for _, name := range names {
		p.segs = append(p.segs, globSegment{src: escape(name), name: name})
	}
	p.fixed = len(names) - best
	p.base = p.folder()
	return p
}

// Captures gives what file: knows of a path by itself: path (with "/"), name, stem, dir,
// and the groups of the source's capture that took part in the match.
func (m *Mapping) Captures(src *Source, file string) map[string]string {
	slash := filepath.ToSlash(file)
	name := path.Base(slash)
	dir := path.Base(path.Dir(slash))
	if dir == "." || dir == "/" {
		dir = ""
	}
	values := map[string]string{"path": slash, "name": name, "stem": stem(name), "dir": dir}
	if src == nil || src.Capture == nil {
		return values
	}
	groups := src.Capture.FindStringSubmatch(slash)
	if groups == nil {
		return values
	}
	for i, group := range src.Capture.SubexpNames() {
		if _, taken := values[group]; group != "" && groups[i] != "" && !taken {
			values[group] = groups[i]
		}
	}
	return values
}

// stem is a name without the ending of a packed file and its last suffix. A name that is
// nothing but a suffix stays.
func stem(name string) string {
	name = unpackedName(name)
	if base := strings.TrimSuffix(name, path.Ext(name)); base != "" {
		return base
	}
	return name
}
