package mapping

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"parlance/internal/source"
)

// globLimits bound one walk. Real stores stay far below: they are there for a pattern that
// catches a whole disk.
type globLimits struct {
	files   int // that fit
	folders int // that are read
	deep    int // folders that one "**" steps down
}

var defaultGlobLimits = globLimits{files: source.FoundMax, folders: source.FoldersMax, deep: source.FoldersMaxDepth}

// A walker finds the files of many places in one walk: every folder is read once, however
// many patterns pass through it, and only names that fit are looked at.
//
// Links to files are followed, and links to folders in the fixed part of a pattern: people
// move stores that way. Behind the first wildcard a link to a folder ends the walk, so that
// a pattern never leaves its root.
type walker struct {
	ctx      context.Context
	limits   globLimits
	excluded func(source int, path string) bool
	seen     *folders // may be nil

	found   []foundFile
	errs    []FindError
	told    map[string]bool               // paths in errs
	lists   map[*globPlace][][]*globPlace // see placesOf, by the first place
	scratch []*globPlace
	folders int // read so far
	looks   int // single looks at names
	stopped bool
}

type foundFile struct {
	path   string
	info   fs.FileInfo
	places []*globPlace // one per source, in order
	link   bool
	time   time.Time // see Mapping.modTime
}

// A step is a place and the number of its segment that comes next.
type step struct {
	place *globPlace
	at    int
	deep  int // folders that the "**" at hand stepped down
}

func (s step) segment() *globSegment { return &s.place.segs[s.at] }
func (s step) last() bool            { return s.at == len(s.place.segs)-1 }

// walk looks for the files of places.
func (w *walker) walk(places []globPlace) {
	byRoot := map[string][]step{}
	var roots []string
	for i := range places {
		root := filepath.Clean(filepath.FromSlash(places[i].root))
		if !filepath.IsAbs(root) {
			continue // a drive, on a system without drives
		}
		if byRoot[root] == nil {
			roots = append(roots, root)
		}
		byRoot[root] = append(byRoot[root], step{place: &places[i]})
	}
	for _, root := range roots {
		w.folder(root, byRoot[root], true)
	}
}

// folder takes steps from dir on. sure: dir is known to be a folder.
func (w *walker) folder(dir string, steps []step, sure bool) {
	if w.stop(dir) {
		return
	}
	list := false
	for i := 0; i < len(steps); i++ {
		s := steps[i]
		list = list || s.segment().wild
		// "**" also stands for no folder at all.
		if s.segment().deep && !s.last() {
			steps = addStep(steps, step{place: s.place, at: s.at + 1})
		}
	}
	if !list {
		w.names(dir, steps, sure)
		return
	}
	if steps = w.tooDeep(dir, steps); len(steps) == 0 || !sure && !w.isFolder(dir) {
		return
	}
	if w.folders++; w.folders > w.limits.folders {
		w.halt(dir, fmt.Errorf("more folders than foldersMax (%d): the rest is left out", w.limits.folders))
		return
	}
	entries, err := w.seen.list(dir)
	if err != nil && !missing(err) {
		w.problem(dir, err)
	}
	files := len(w.found)
	var folders []subfolder
	var next, fits []step
	for _, e := range entries {
		name, path, kind := e.Name(), "", e.Type()
		next, fits = next[:0], fits[:0]
		for _, s := range steps {
			next, fits = w.try(name, s, next, fits)
		}
		if len(next)+len(fits) == 0 {
			continue
		}
		path = under(dir, name)
		switch {
		case kind.IsDir():
			if len(next) > 0 {
				folders = append(folders, subfolder{path, slices.Clone(next), true})
			} else {
				w.file(path, kind, fits, false, nil)
			}
		case kind&linkMode != 0:
			if next = slices.DeleteFunc(next, behindWildcard); len(next) > 0 {
				folders = append(folders, subfolder{path, slices.Clone(next), false})
			}
			if len(fits) > 0 {
				w.named(path, fits, true, len(next) > 0)
			}
		case len(fits) > 0:
			w.file(path, kind, fits, false, e.Info)
		}
	}
	w.dropPacked(files)
	for _, f := range folders {
		w.folder(f.path, f.steps, f.sure)
	}
}

type subfolder struct {
	path  string
	steps []step
	sure  bool
}

// linkMode marks what may lead elsewhere: links, and the junctions of Windows.
const linkMode = fs.ModeSymlink | fs.ModeIrregular

// behindWildcard says of a step that was just reached that its folder lies behind the fixed
// part, where links are not followed.
func behindWildcard(s step) bool { return s.at > s.place.fixed || s.deep > 0 }

// try says what a name is to a step: a folder to go on in, a file that fits, or nothing.
func (w *walker) try(name string, s step, next, fits []step) ([]step, []step) {
	seg := s.segment()
	switch {
	case seg.deep:
		if s.last() {
			fits = append(fits, s)
		}
		next = addStep(next, step{place: s.place, at: s.at, deep: s.deep + 1})
	case !s.last():
		if seg.fits(name) {
			next = addStep(next, step{place: s.place, at: s.at + 1})
		}
	case seg.fits(name) || s.place.packed && seg.fits(unpackedName(name)):
		fits = append(fits, s)
	}
	return next, fits
}

// tooDeep drops the steps whose "**" has gone down far enough.
func (w *walker) tooDeep(dir string, steps []step) []step {
	return slices.DeleteFunc(steps, func(s step) bool {
		if s.deep > w.limits.deep {
			w.problem(dir, fmt.Errorf("deeper than foldersMaxDepth (%d): the rest is left out", w.limits.deep))
		}
		return s.deep > w.limits.deep
	})
}

// addStep adds a step that may be there already: "**" reaches some in two ways, other
// patterns reach each in one.
func addStep(steps []step, s step) []step {
	if s.place.deep && s.at >= s.place.fixed {
		for i := range steps {
			if steps[i].place == s.place && steps[i].at == s.at {
				steps[i].deep = max(steps[i].deep, s.deep)
				return steps
			}
		}
	}
	return append(steps, s)
}

// names goes on in a folder where every step has a name, so that it need not be read.
func (w *walker) names(dir string, steps []step, sure bool) {
	type child struct{ next, fits []step }
	children := map[string]*child{}
	var order []string
	at := func(name string) *child {
		c := children[name]
		if c == nil {
			c = &child{}
			children[name] = c
			order = append(order, name)
		}
		return c
	}
	for _, s := range steps {
		name := s.segment().name
		if !s.last() {
			c := at(name)
			c.next = addStep(c.next, step{place: s.place, at: s.at + 1})
			continue
		}
		c := at(name)
		c.fits = append(c.fits, s)
		if s.place.packed {
			for _, suffix := range packedSuffixes {
				c := at(name + suffix)
				c.fits = append(c.fits, s)
			}
		}
	}
	// Where many patterns part, one look at a folder that is not there saves many.
	if len(order) > 2 && !sure && !w.isFolder(dir) {
		return
	}
	files := len(w.found)
	for _, name := range order {
		if c := children[name]; len(c.fits) > 0 {
			w.named(under(dir, name), c.fits, false, len(c.next) > 0)
		}
	}
	w.dropPacked(files)
	for _, name := range order {
		c, path := children[name], under(dir, name)
		known := false
		if slices.ContainsFunc(c.next, behindWildcard) {
			w.looks++
			info, err := os.Lstat(path)
			switch {
			case err != nil:
				w.lookProblem(path, err)
				continue
			case info.IsDir():
				known = true
			case info.Mode()&linkMode == 0:
				continue
			default:
				c.next = slices.DeleteFunc(c.next, behindWildcard)
			}
		}
		if len(c.next) > 0 {
			w.folder(path, c.next, known)
		}
	}
}

// isFolder looks before a folder is opened: opening what only bears its name could block.
func (w *walker) isFolder(dir string) bool {
	w.looks++
	info, err := os.Stat(dir)
	if err != nil {
		if !missing(err) {
			w.problem(dir, err)
		}
		return false
	}
	return info.IsDir()
}

// named looks at a name that may be a link to a file, or nothing at all. A link that leads
// nowhere is nothing: editors leave such locks. link: it is one for sure; folder: other
// patterns know it as a folder.
func (w *walker) named(path string, fits []step, link, folder bool) {
	w.looks++
	info, err := os.Stat(path)
	switch {
	case err == nil:
	case link && !missing(err):
		w.problem(path, err)
		return
	default:
		w.lookProblem(path, err)
		return
	}
	if folder && info.IsDir() {
		return
	}
	w.file(path, info.Mode().Type(), fits, link, func() (fs.FileInfo, error) { return info, nil })
}

// file takes a file that fits.
func (w *walker) file(path string, mode fs.FileMode, fits []step, link bool, look func() (fs.FileInfo, error)) {
	if w.stopped {
		return
	}
	places := w.placesOf(path, fits)
	if len(places) == 0 {
		return
	}
	if kind := irregular(mode); kind != "" {
		w.problem(path, fmt.Errorf("is %s, not a file", kind))
		return
	}
	w.looks++
	info, err := look()
	if err != nil {
		w.lookProblem(path, err)
		return
	}
	if len(w.found) >= w.limits.files {
		w.halt(path, fmt.Errorf("more files than foundMax (%d): the rest is left out", w.limits.files))
		return
	}
	w.found = append(w.found, foundFile{path: path, info: info, places: places, link: link})
}

// placesOf is the list of the places that a file fits, the best of each source, in order.
// Thousands of files fit the same few places, so lists are shared: they do not change.
func (w *walker) placesOf(path string, fits []step) []*globPlace {
	slices.SortFunc(fits, func(a, b step) int { return cmp.Compare(a.place.rank, b.place.rank) })
	places := w.scratch[:0]
	for _, s := range fits {
		p := s.place
		if n := len(places); n > 0 && places[n-1].source == p.source || w.excluded != nil && w.excluded(p.source, path) {
			continue
		}
		places = append(places, p)
	}
	w.scratch = places
	if len(places) == 0 {
		return nil
	}
	last := w.lists[places[0]]
	for _, list := range last {
		if slices.Equal(list, places) {
			return list
		}
	}
	if w.lists == nil {
		w.lists = map[*globPlace][][]*globPlace{}
	}
	places = slices.Clone(places)
	w.lists[places[0]] = append(last, places)
	return places
}

// dropPacked drops, of the files found in one folder since n, packed ones that lie beside
// their plain form: a tool that packs, or unpacks to go on, leaves both for a while. Of two
// packed forms the first of packedSuffixes stays.
func (w *walker) dropPacked(n int) {
	here := w.found[n:]
	if !slices.ContainsFunc(here, func(f foundFile) bool { return unpackedName(f.path) != f.path }) {
		return
	}
	paths := make(map[string]bool, len(here))
	for _, f := range here {
		paths[f.path] = true
	}
	kept := slices.DeleteFunc(here, func(f foundFile) bool {
		plain := unpackedName(f.path)
		if plain == f.path {
			return false
		}
		if paths[plain] {
			return true
		}
		for _, suffix := range packedSuffixes {
			if plain+suffix == f.path {
				return false
			}
			if paths[plain+suffix] {
				return true
			}
		}
		return false
	})
	w.found = w.found[:n+len(kept)]
}

// packedSuffixes are the endings of packed files, the preferred first.
var packedSuffixes = []string{".zst", ".gz"}

// unpackedName is a name or path without the ending of a packed file.
func unpackedName(name string) string {
	for _, suffix := range packedSuffixes {
		if base, ok := strings.CutSuffix(name, suffix); ok {
			return base
		}
	}
	return name
}

func (w *walker) stop(dir string) bool {
	if err := w.ctx.Err(); err != nil && !w.stopped {
		w.halt(dir, err)
	}
	return w.stopped
}

func (w *walker) halt(path string, err error) {
	w.stopped = true
	w.problem(path, err)
}

// problem notes a place that could not be looked into, once.
func (w *walker) problem(path string, err error) {
	var pe *fs.PathError
	if errors.As(err, &pe) {
		err = pe.Err
	}
	if w.told[path] {
		return
	}
	if w.told == nil {
		w.told = map[string]bool{}
	}
	w.told[path] = true
	w.errs = append(w.errs, FindError{Path: path, Err: err})
}

// lookProblem notes why a name could not be looked at. A folder that may not be entered is
// one problem, not one per name in it.
func (w *walker) lookProblem(path string, err error) {
	switch {
	case missing(err):
	case errors.Is(err, fs.ErrPermission):
		w.problem(filepath.Dir(path), err)
	default:
		w.problem(path, err)
	}
}

// missing says that an error means: not there.
func missing(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR)
}

// readFolder lists a folder without an order.
func readFolder(dir string) ([]fs.DirEntry, error) {
	f, err := os.Open(dir)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return f.ReadDir(-1)
}

func under(dir, name string) string {
	if strings.HasSuffix(dir, string(filepath.Separator)) {
		return dir + name
	}
	return dir + string(filepath.Separator) + name
}

// irregular names what is no file, "" for a regular one.
func irregular(mode fs.FileMode) string {
	switch {
	case mode.IsRegular():
		return ""
	case mode.IsDir():
		return "a folder"
	case mode&fs.ModeNamedPipe != 0:
		return "a named pipe"
	case mode&fs.ModeSocket != 0:
		return "a socket"
	case mode&fs.ModeDevice != 0:
		return "a device"
	}
	return "something else"
}
