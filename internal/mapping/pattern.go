package mapping

import (
	"context"
	"fmt"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"parlance/internal/source"
)

const (
	// nestMax bounds defaults and named roots inside each other, so that a named root that
	// names itself ends.
	nestMax = source.NestMax
	// placesMax bounds what one pattern may become. Alternatives in braces multiply, and a
	// relative pattern is tried in every folder that was ever worked in.
	placesMax = source.PlacesMax
)

// rootVariable stands for Env.Roots.
const rootVariable = "ROOT"

// knownDefaults are the places that Windows gives these variables when nobody moved them.
// With them a copied Windows home is found on any system.
var knownDefaults = map[string]string{
	"APPDATA":      "~/AppData/Roaming",
	"LOCALAPPDATA": "~/AppData/Local",
}

// A globPlace is one pattern with nothing left to fill in: absolute, with "/", its "." and ".."
// gone.
type globPlace struct {
	root  string // "/", "C:/" or "//server/share/"
	segs  []globSegment
	fixed int  // so many segments in front of the first wildcard, never the last segment
	deep  bool // has a "**"
	own   int  // so many of them come from the variable, home or folder that the pattern starts with

	source   int    // index of the source
	rank     int    // its number in the order of sources and patterns
	packed   bool   // a name with .gz or .zst behind fits as well
	loose    bool   // below a folder that is not the tool's
	registry string // the registry's element (JSON), "" = none
	at       string // the key of the pattern in its source
	base     string // see File.base; with the system's separators
}

// A globSegment is what stands between two "/" of a pattern.
type globSegment struct {
	src    string // as written, values escaped
	name   string // what it is, if it has no wildcard
	wild   bool
	deep   bool // "**"
	affix  bool // a single "*": the name starts with prefix and ends in suffix
	prefix string
	suffix string
}

// fits says whether a name fits the segment.
func (s *globSegment) fits(name string) bool {
	switch {
	case s.deep:
		return true
	case s.affix:
		return len(name) >= len(s.prefix)+len(s.suffix) && strings.HasPrefix(name, s.prefix) && strings.HasSuffix(name, s.suffix)
	case s.wild:
		ok, _ := path.Match(s.src, name)
		return ok
	}
	return sameName(s.name, name)
}

// sameName compares two file names as the system does.
func sameName(a, b string) bool {
	return a == b || foldNames && strings.EqualFold(a, b)
}

// foldNames: the usual file systems of these systems do not tell upper from lower case, and
// a path typed by a person need not be spelled like the folder.
const foldNames = runtime.GOOS == "windows" || runtime.GOOS == "darwin"

func (p *globPlace) String() string {
	var b strings.Builder
	b.WriteString(escape(p.root)) // a server or share may be called anything
	for i, s := range p.segs {
		if i > 0 {
			b.WriteByte('/')
		}
		// Braces may have put together what looks like a variable, and is a name.
		rest := s.src
		for at := variableStart(rest); at < len(rest); at = variableStart(rest) {
			b.WriteString(rest[:at] + `\$`)
			rest = rest[at+1:]
		}
		b.WriteString(rest)
	}
	return b.String()
}

// folder is the folder in front of the first wildcard, or in front of the file's name.
func (p *globPlace) folder() string { return p.prefix(p.fixed) }

func (p *globPlace) prefix(n int) string {
	var b strings.Builder
	b.WriteString(p.root)
	for i, s := range p.segs[:n] {
		if i > 0 {
			b.WriteByte('/')
		}
		b.WriteString(s.name)
	}
	return filepath.Clean(filepath.FromSlash(b.String()))
}

// expandPlaces gives the places a pattern stands for on the machine env, without a look at
// the disk. split names variables that may hold several values with commas. A pattern with
// an unset variable gives none. The error says that placesMax or nestMax cut the list.
func expandPlaces(env Env, pattern string, split []string) ([]globPlace, error) {
	x := &expander{env: env, split: split}
	var alts []alt
	if isRelative(pattern) {
		rest := pattern[2:]
		for _, dir := range relativeFolders(env, rest) {
			dir = strings.TrimSuffix(dir, "/")
			alts = append(alts, x.expandFrom([]alt{{text: escape(dir) + "/", own: escape(dir)}}, rest, 0)...)
			if x.over {
				break
			}
		}
	} else {
		alts = x.expand(pattern, 0)
	}
	places := make([]globPlace, 0, len(alts))
	for _, a := range alts {
		if p, ok := a.place(); ok {
			places = append(places, p)
		}
	}
	if x.deep {
		return places, fmt.Errorf("named roots or defaults are nested deeper than nestMax (%d): these places are left out", nestMax)
	}
	if x.over {
		return places, fmt.Errorf("more places than placesMax (%d): the others are left out", placesMax)
	}
	return places, nil
}

// isRelative says of a pattern that it is looked for in working directories.
func isRelative(pattern string) bool { return strings.HasPrefix(pattern, "./") }

// expandPattern lists the files that a pattern may mean: a path for each place with a name,
// whether or not it is there, and what is found for one with wildcards.
func expandPattern(env Env, pattern string) []string {
	places, _ := expandPlaces(env, pattern, nil)
	var paths []string
	for i, p := range places {
		if p.fixed == len(p.segs)-1 && !p.segs[p.fixed].wild {
			paths = append(paths, p.prefix(len(p.segs)))
			continue
		}
		w := &walker{ctx: context.Background(), limits: defaultGlobLimits}
		w.walk(places[i : i+1])
		for _, f := range w.found {
			paths = append(paths, f.path)
		}
		slices.Sort(paths[len(paths)-len(w.found):])
	}
	return paths
}

// relativeFolders are the folders where a relative pattern is looked for: the current one and its
// parents below home, those that other providers recorded, and the roots. A pattern that
// could walk a whole folder is looked for under the roots alone: nobody asked for a walk of
// home or of a project.
func relativeFolders(env Env, rest string) []string {
	var dirs []string
	add := func(dir string) {
		if dir = slashed(dir); isAbs(dir) && !slices.Contains(dirs, dir) {
			dirs = append(dirs, dir)
		}
	}
	if first, _, _ := strings.Cut(rest, "/"); first != "**" {
		add(env.Cwd)
		home := path.Clean(slashed(env.Home))
		for dir := path.Clean(slashed(env.Cwd)); below(path.Dir(dir), home); {
			dir = path.Dir(dir)
			add(dir)
		}
		if env.Cwds != nil {
			seen := map[string]bool{}
			for _, dir := range dirs {
				seen[dir] = true
			}
			for _, dir := range env.Cwds() {
				if dir = slashed(dir); isAbs(dir) && !seen[dir] {
					seen[dir] = true
					dirs = append(dirs, dir)
				}
			}
		}
	}
	for _, dir := range env.Roots {
		add(dir)
	}
	return dirs
}

// below says whether the clean path dir is strictly inside the clean path home.
func below(dir, home string) bool {
	if home == "" || home == "." || len(dir) <= len(home) {
		return false
	}
	home = strings.TrimSuffix(home, "/")
	return sameName(dir[:len(home)], home) && dir[len(home)] == '/' && len(dir) > len(home)+1
}

// An alt is one way to fill in a pattern. Values in it are escaped. own is the part that
// the variable or the home in front gave.
type alt struct{ text, own string }

type expander struct {
	env   Env
	split []string
	over  bool // placesMax was reached
	deep  bool // nestMax was
}

func (x *expander) expand(pattern string, depth int) []alt {
	start := alt{}
	if rest, ok := strings.CutPrefix(pattern, "~"); ok && (rest == "" || rest[0] == '/') {
		if x.env.Home == "" {
			return nil
		}
		home := escape(strings.TrimSuffix(slashed(x.env.Home), "/"))
		start = alt{text: home, own: home}
		pattern = rest
	}
	return x.expandFrom([]alt{start}, pattern, depth)
}

// expandFrom appends pattern to each of alts, its variables and braces filled in.
func (x *expander) expandFrom(alts []alt, pattern string, depth int) []alt {
	if depth > nestMax {
		x.deep = true
		return nil
	}
	for pattern != "" {
		at := variableStart(pattern)
		for i := range alts {
			alts[i].text += pattern[:at]
		}
		if pattern = pattern[at:]; pattern == "" {
			break
		}
		end := closing(pattern, 1)
		if end < 0 {
			return nil
		}
		name, fallback, hasFallback := strings.Cut(pattern[2:end], ":-")
		pattern = pattern[end+1:]
		values := x.values(name, fallback, hasFallback, depth)
		next := make([]alt, 0, len(alts)*len(values))
		for _, a := range alts {
			for _, v := range values {
				// A variable may hold a whole path or a name to be put behind a folder.
				// Each use takes what fits it.
				if a.text != "" && isAbs(v) {
					continue
				}
				own := a.own
				if a.text == "" {
					own = v
				}
				if next = x.add(next, alt{a.text + v, own}); x.over {
					break
				}
			}
		}
		alts = next
	}
	var out []alt
	for _, a := range alts {
		for _, tail := range braces(a.text[len(a.own):]) {
			if out = x.add(out, alt{a.own + tail, a.own}); x.over {
				return out
			}
		}
	}
	return out
}

func (x *expander) add(alts []alt, a alt) []alt {
	if len(alts) >= placesMax {
		x.over = true
		return alts
	}
	return append(alts, a)
}

// values are what ${NAME} may be, escaped. Named roots come first: they are patterns, what
// a variable holds is a path as it is.
func (x *expander) values(name, fallback string, hasFallback bool, depth int) []string {
	var values []string
	nested := func(pattern string) {
		for _, a := range x.expand(pattern, depth+1) {
			values = append(values, a.text)
		}
	}
	if name == rootVariable {
		for _, root := range x.env.Roots {
			values = append(values, x.literal(root)...)
		}
		return values
	}
	if patterns, ok := x.env.Named[name]; ok {
		for _, p := range patterns {
			nested(p)
		}
		return values
	}
	held := ""
	if x.env.Getenv != nil {
		held = x.env.Getenv(name)
	}
	if held != "" {
		parts := []string{held}
		if slices.Contains(x.split, name) {
			parts = strings.Split(held, ",")
		}
		for _, part := range parts {
			values = append(values, x.literal(strings.TrimSpace(part))...)
		}
		return values
	}
	if !hasFallback {
		fallback, hasFallback = knownDefaults[name]
	}
	if hasFallback {
		nested(fallback)
	}
	return values
}

// literal is a value from outside as pattern text that stands for nothing but itself. Tools
// expand a leading ~ in their variables, so it counts here as well.
func (x *expander) literal(value string) []string {
	value = slashed(value)
	if rest, ok := strings.CutPrefix(value, "~"); ok && (rest == "" || rest[0] == '/') {
		if x.env.Home == "" {
			return nil
		}
		value = strings.TrimSuffix(slashed(x.env.Home), "/") + rest
	}
	if value == "" {
		return nil
	}
	if len(value) > 1 {
		value = strings.TrimRight(value, "/")
	}
	if value == "" {
		value = "/"
	}
	return []string{escape(value)}
}

// variableStart is the index of the next "${", or the length.
func variableStart(pattern string) int {
	for i := 0; i+1 < len(pattern); i++ {
		switch {
		case pattern[i] == '\\':
			i++
		case pattern[i] == '$' && pattern[i+1] == '{':
			return i
		}
	}
	return len(pattern)
}

// closing is the index of the brace that closes the one at open, -1 if there is none.
func closing(s string, open int) int {
	depth := 0
	for i := open; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case '{':
			depth++
		case '}':
			if depth--; depth == 0 {
				return i
			}
		}
	}
	return -1
}

// braces multiplies a text by its {a,b}. Braces without a comma are ordinary characters.
func braces(text string) []string {
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '\\':
			i++
		case '{':
			end := closing(text, i)
			if end < 0 || strings.Contains(text[i:end], "/") {
				continue
			}
			parts := alternatives(text[i+1 : end])
			if len(parts) < 2 {
				continue
			}
			var out []string
			tails := braces(text[end+1:])
			for _, part := range parts {
				for _, head := range braces(part) {
					for _, tail := range tails {
						if len(out) > placesMax {
							return out
						}
						out = append(out, text[:i]+head+tail)
					}
				}
			}
			return out
		}
	}
	return []string{text}
}

// alternatives cuts what stands in braces at its commas, except those of inner braces.
func alternatives(s string) []string {
	var out []string
	depth, from := 0, 0
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case '{':
			depth++
		case '}':
			depth--
		case ',':
			if depth == 0 {
				out = append(out, s[from:i])
				from = i + 1
			}
		}
	}
	return append(out, s[from:])
}

// special are the characters that mean something in a pattern.
const special = `*?[]{}\,$~`

// escape makes pattern text of a path: nothing in it means anything.
func escape(s string) string {
	if !strings.ContainsAny(s, special) {
		return s
	}
	var b strings.Builder
	for i := range len(s) {
		if strings.IndexByte(special, s[i]) >= 0 {
			b.WriteByte('\\')
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

func unescape(s string) string {
	if !strings.Contains(s, `\`) {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+1 < len(s) {
			i++
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

// slashed turns a path of this system, or one that can only be of Windows, into "/" form.
func slashed(p string) string {
	if runtime.GOOS == "windows" || isDrive(p) || strings.HasPrefix(p, `\\`) || strings.HasPrefix(p, `~\`) {
		return strings.ReplaceAll(p, `\`, "/")
	}
	return p
}

func isDrive(p string) bool {
	return len(p) >= 2 && p[1] == ':' && (p[0]|0x20 >= 'a' && p[0]|0x20 <= 'z') && (len(p) == 2 || p[2] == '/' || p[2] == '\\')
}

func isAbs(p string) bool { return strings.HasPrefix(p, "/") || isDrive(p) }

// splitRoot cuts an absolute path with "/" behind its root.
func splitRoot(p string) (root, rest string, ok bool) {
	switch {
	case isDrive(p):
		return p[:2] + "/", strings.TrimPrefix(p[2:], "/"), true
	case strings.HasPrefix(p, "//") && len(p) > 2 && p[2] != '/':
		server, rest, _ := strings.Cut(p[2:], "/")
		share, rest, _ := strings.Cut(rest, "/")
		if share == "" {
			return "", "", false
		}
		return "//" + server + "/" + share + "/", rest, true
	case strings.HasPrefix(p, "/"):
		return "/", p[1:], true
	}
	return "", "", false
}

// place parses what a pattern became. It is none if it is not absolute, names no file, or
// climbs behind a wildcard.
func (a alt) place() (globPlace, bool) {
	root, rest, ok := splitRoot(a.text)
	if !ok {
		return globPlace{}, false
	}
	parts := strings.Split(root, "/") // each by itself: a "\\" at the end of one escapes no "/"
	for i := range parts {
		parts[i] = unescape(parts[i])
	}
	p := globPlace{root: strings.Join(parts, "/")}
	p.segs, ok = segments(rest)
	if !ok || len(p.segs) == 0 {
		return globPlace{}, false
	}
	p.deep = slices.ContainsFunc(p.segs, func(s globSegment) bool { return s.deep })
	for p.fixed < len(p.segs)-1 && !p.segs[p.fixed].wild {
		p.fixed++
	}
	if _, rest, ok := splitRoot(a.own); ok {
		own, _ := segments(rest)
		for p.own < min(len(own), p.fixed) && own[p.own].src == p.segs[p.own].src {
			p.own++
		}
	}
	return p, true
}

func segments(text string) ([]globSegment, bool) {
	var segs []globSegment
	wild := false
	for src := range strings.SplitSeq(text, "/") {
		switch src {
		case "", ".":
			continue
		case "..":
			if wild {
				return nil, false
			}
			segs = segs[:max(0, len(segs)-1)]
			continue
		}
		s, ok := parseSegment(src)
		if !ok {
			return nil, false
		}
		if s.deep && len(segs) > 0 && segs[len(segs)-1].deep {
			continue
		}
		wild = wild || s.wild
		segs = append(segs, s)
	}
	return segs, true
}

func parseSegment(src string) (globSegment, bool) {
	if src == "**" {
		return globSegment{src: src, wild: true, deep: true}, true
	}
	for strings.Contains(src, "**") {
		src = strings.ReplaceAll(src, "**", "*")
	}
	src = strings.ReplaceAll(src, "[!", "[^")
	s := globSegment{src: src}
	stars, others := 0, 0
	for i := 0; i < len(src); i++ {
		switch src[i] {
		case '\\':
			i++
		case '*':
			stars++
			if stars == 1 {
				s.prefix, s.suffix = unescape(src[:i]), unescape(src[i+1:])
			}
		case '?', '[':
			others++
		}
	}
	s.wild = stars+others > 0
	s.affix = stars == 1 && others == 0
	if !s.wild {
		s.name = unescape(src)
		return s, true
	}
	_, err := path.Match(src, "")
	return s, err == nil
}

// fitsPath says whether the names of a path, from its root on, fit the segments.
func fitsPath(segs []globSegment, names []string) bool {
	back, mark := -1, 0
	i, j := 0, 0
	for j < len(names) {
		switch {
		case i < len(segs) && segs[i].deep:
			back, mark = i, j
			i++
		case i < len(segs) && segs[i].fits(names[j]):
			i++
			j++
		case back >= 0:
			mark++
			i, j = back+1, mark
		default:
			return false
		}
	}
	// "**" at the end stands for files, so it takes at least one name.
	return i == len(segs)
}

// withoutVariables puts an ordinary letter in the place of every ${...}.
func withoutVariables(pattern string) string {
	var b strings.Builder
	for pattern != "" {
		at := variableStart(pattern)
		b.WriteString(pattern[:at])
		if pattern = pattern[at:]; pattern == "" {
			break
		}
		end := closing(pattern, 1)
		if end < 0 {
			break
		}
		b.WriteByte('x')
		pattern = pattern[end+1:]
	}
	return b.String()
}
func isVariableName(s string) bool {
	for i := range len(s) {
		c := s[i]
		if !(c == '_' || c|0x20 >= 'a' && c|0x20 <= 'z' || i > 0 && c >= '0' && c <= '9') {
			return false
		}
	}
	return s != ""
}
