package mapping

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"parlance/internal/source"
)

// pathPatternMaxBytes bounds a path pattern.
const pathPatternMaxBytes = source.PathPatternMaxBytes

// unsupportedKeys are all that a source of which nothing is read may have.
var unsupportedKeys = []string{"id", "paths", "exclude", "paths_from", "split", "capture", "container", "kind", "unsupported"}

func (l *loader) sources(f *fields) {
	v, path := f.at("sources")
	ids := map[string]int{}
	for i, n := range l.maps(v, path) {
		s := l.source(n, sub(path, i), i)
		if s == nil {
			continue
		}
		if line, dup := ids[s.ID]; dup {
			at, where := n, sub(path, i)
			if id := n.get("id"); id != nil {
				at, where = id, dot(where, "id")
			}
			l.at(codeDuplicate, at, where, fmt.Sprintf("a second source %q", shorten(s.ID)), fmt.Sprintf("the first stands in line %d", line))
		}
		ids[s.ID] = n.line
		if s.instead != "" && !slices.ContainsFunc(l.m.Sources, func(o *Source) bool { return o.ID == s.instead && o.Container == "sqlite" }) {
			l.at(codeUndefined, n.get("instead"), dot(sub(path, i), "instead"), fmt.Sprintf("no sqlite source %q stands above", shorten(s.instead)), "instead takes the id of an earlier source")
		}
		l.m.Sources = append(l.m.Sources, s)
	}
}

var sourceID = regexp.MustCompile(`^[A-Za-z0-9_.-]+$`)

func (l *loader) source(n *yamlNode, path string, index int) *Source {
	f := l.mapFields(n, inSource, path)
	if f == nil {
		return nil
	}
	s := &Source{ID: strconv.Itoa(index + 1), pos: n.pos(), index: index, messages: f.text("messages"), Unsupported: f.text("unsupported")}
	if v, at := f.at("id"); v != nil {
		s.ID = v.text
		if !sourceID.MatchString(v.text) {
			l.at(codeName, v, at, fmt.Sprintf("%s is no source id", strconv.Quote(shorten(v.text))), "letters, digits, _, . and -")
		}
	}
	l.places(f, s)
	s.Subagent = l.word(f, "kind") == "subagent"
	s.onePerFolder = l.word(f, "one_per") == "folder"
	l.container(f, s)
	if v, at := f.at("unsupported"); v != nil && v.text == "" {
		l.at(codeEmpty, v, at, "empty text", keyIndex[inSource]["unsupported"].About)
	}
	if v, at := f.at("messages"); v != nil {
		l.usedDefine[v.text] = true
		if !slices.Contains(l.defines, v.text) {
			l.at(codeUndefined, v, at, fmt.Sprintf("no list %q in define", shorten(v.text)), didYouMean(v.text, "lists", l.defines))
		}
	}
	if v, at := f.at("when"); v != nil {
		s.when = l.cond(v, at, place{scopes: scopesSource})
	}
	if v, at := f.at("unless"); v != nil {
		s.unless = l.cond(v, at, place{scopes: scopesSource})
	}
	if v, at := f.at("sidecar"); v != nil {
		for _, e := range l.textMap(v, at) {
			at := dot(at, e.key.text)
			l.checkName(e.key, at, "sidecar")
			l.pattern(e.val, at, patternBeside)
			s.sidecars = append(s.sidecars, sidecar{name: e.key.text, path: l.pathTemplate(e.val, at, []string{"stem", "name", "dir"}, l.captures, []scope{scopeDoc, scopeFile})})
		}
	}
	l.documentKeys(f, s)
	l.databaseKeys(f, s)
	l.textKeys(f, s)
	if v, at := f.at("options"); v != nil {
		s.Options = toMap(l.textMap(v, at))
	}
	return s
}

// places compiles what finds files.
func (l *loader) places(f *fields, s *Source) {
	if f.keys["paths"] == nil && f.keys["paths_from"] == nil {
		l.at(codeMissing, f.n, f.path, "source without paths", addHint(inSource, "paths"))
	}
	var vars []string
	if v, at := f.at("paths"); v != nil {
		if len(v.items) == 0 {
			l.at(codeEmpty, v, at, "empty list", "")
		}
		for i, n := range v.items {
			vars = append(vars, l.pattern(n, sub(at, i), patternSource)...)
			s.Paths = append(s.Paths, n.text)
		}
	}
	if v, at := f.at("exclude"); v != nil {
		for i, n := range v.items {
			l.pattern(n, sub(at, i), patternExclude)
			s.Exclude = append(s.Exclude, n.text)
		}
	}
	if v, at := f.at("paths_from"); v != nil {
		if c := l.mapFields(v, inPathsFrom, at); c != nil {
			p := &pathsFrom{file: c.text("file"), path: c.text("path"), as: c.text("as"), pos: v.pos()}
			if n, at := c.at("file"); n != nil {
				vars = append(vars, l.pattern(n, at, patternSource)...)
			}
			if n, at := c.at("each"); n != nil {
				p.each = l.selector(n, at, place{scopes: scopesNone})
			}
			if n, at := c.at("path"); n != nil {
				l.pattern(n, at, patternExclude)
				if t := l.pathTemplate(n, at, nil, nil, scopesNone); t != nil && !slices.ContainsFunc(t, func(p templatePart) bool { return p.sel != nil }) {
					l.at(codeTemplate, n, at, "no value of the element in it", `for example path: "{dir}/acme.db"`)
				}
			}
			if n, at := c.at("as"); n != nil {
				l.checkName(n, at, "sidecar")
			}
			s.PathsFrom = p
		}
	}
	if v, at := f.at("split"); v != nil {
		for i, n := range v.items {
			if !slices.Contains(vars, n.text) {
				l.at(codeUndefined, n, sub(at, i), fmt.Sprintf("${%s} is in none of the paths", shorten(n.text)), didYouMean(n.text, "variables", vars))
			}
			s.Split = append(s.Split, n.text)
		}
	}
	if v, at := f.at("capture"); v != nil {
		if s.Capture = l.regexp(v, at); s.Capture != nil {
			named := 0
			for _, g := range s.Capture.SubexpNames() {
				if g == "" {
					continue
				}
				named++
				if slices.Contains(fileWords, g) {
					l.at(codeConflict, v, at, fmt.Sprintf("the group %q has the name of a word of file:", g), "words of file: are "+strings.Join(fileWords, ", "))
				}
			}
			if named == 0 {
				l.at(codeRegexp, v, at, "no named group", "a group is named like this: (?P<project>[^/]+)")
			}
		}
	}
}

// container checks that the keys of a source go together.
func (l *loader) container(f *fields, s *Source) {
	s.Container = l.word(f, "container")
	if v, at := f.at("decoder"); v != nil {
		s.Decoder = v.text
		if s.Container == "" {
			s.Container = "decoder"
		}
		if f.keys["container"] != nil {
			l.at(codeConflict, f.keys["decoder"], at, "decoder beside container", "a source has one of them")
		}
		d, known := decoders[v.text]
		if !known {
			l.at(codeUndefined, v, at, fmt.Sprintf("no decoder %q", shorten(v.text)), didYouMean(v.text, "decoders", slices.Sorted(maps.Keys(decoders))))
		}
		if o, at := f.at("options"); known && o != nil {
			for _, e := range o.entries {
				at := dot(at, e.key.text)
				check, ok := d.options[e.key.text]
				if !ok {
					l.at(codeUnknownKey, e.key, at, fmt.Sprintf("unknown option of %s", v.text), didYouMean(e.key.text, "options", slices.Sorted(maps.Keys(d.options))))
				} else if err := check(e.val.text); err != nil {
					l.at(codeRegexp, e.val, at, err.Error(), "")
				}
			}
		}
	}
	if f.keys["unsupported"] != nil {
		for _, e := range f.n.entries {
			if k := e.key.text; f.keys[k] != nil && !slices.Contains(unsupportedKeys, k) {
				l.at(codeConflict, e.key, dot(f.path, k), fmt.Sprintf("%s beside unsupported", k), "nothing of these files is read")
			}
		}
		return
	}
	if f.keys["container"] == nil && f.keys["decoder"] == nil {
		l.at(codeMissing, f.n, f.path, "source without container", "containers are "+strings.Join(containerWords, ", "))
		return
	}
	if s.Container == "" {
		return // an unknown word
	}
	kinds := []string{s.Container}
	if s.Container == "jsonl" && f.keys["replay"] != nil {
		kinds = append(kinds, "replay")
	} else if s.Container == "jsonl" && f.keys["conversations"] != nil {
		kinds = append(kinds, "documents") // one a line
	}
	for _, e := range f.n.entries {
		k := e.key.text
		if f.keys[k] == nil {
			continue
		}
		belongs := keyIndex[inSource][k].For
		if belongs == nil || slices.ContainsFunc(kinds, func(c string) bool { return slices.Contains(belongs, c) }) {
			continue
		}
		hint := fmt.Sprintf("%s is a key of %s", k, strings.Join(belongs, ", "))
		if slices.Contains(belongs, "replay") {
			hint = fmt.Sprintf("%s is a key of json, and of jsonl with replay or conversations", k)
		}
		if slices.Contains(belongs, "documents") && !slices.Contains(belongs, "replay") {
			hint = fmt.Sprintf("%s is a key of json, and of jsonl with conversations", k)
		}
		if k == "when" || k == "unless" {
			hint = fmt.Sprintf("%s is a key of %s; databases are told apart by needs", k, strings.Join(belongs, ", "))
		}
		l.at(codeConflict, e.key, dot(f.path, k), fmt.Sprintf("%s does not belong to %s", k, s.Container), hint)
	}
	need := map[string]string{"sqlite": "sql", "text": "lines"}[s.Container]
	if need != "" && f.keys[need] == nil {
		l.at(codeMissing, f.n, f.path, fmt.Sprintf("%s without %s", s.Container, need), addHint(inSource, need))
	}
}

func (l *loader) documentKeys(f *fields, s *Source) {
	none := place{scopes: scopesNone}
	if v, at := f.at("records"); v != nil {
		s.records = l.selectorList(v, at, none)
	}
	if v, at := f.at("children"); v != nil {
		s.children = l.selector(v, at, none)
	}
	if v, at := f.at("conversations"); v != nil {
		s.conversations = l.selectorList(v, at, none)
	}
	if v, at := f.at("join"); v != nil {
		s.join = l.joins(v, at)
		if f.keys["records"] != nil {
			l.at(codeConflict, f.keys["records"], dot(f.path, "records"), "records beside join", "the files of join are the records")
		}
	}
	v, at := f.at("replay")
	if v == nil {
		return
	}
	c := l.mapFields(v, inReplay, at)
	if c == nil {
		return
	}
	r := &replay{init: c.text("init"), set: c.text("set"), appendOp: c.text("append"), remove: c.text("delete")}
	for key, to := range map[string]**selector{"op": &r.op, "path": &r.path, "value": &r.value, "at": &r.at} {
		if n, at := c.at(key); n != nil {
			*to = l.selector(n, at, none)
		}
	}
	seen := map[string]string{}
	for _, key := range []string{"init", "set", "append", "delete"} {
		n, at := c.at(key)
		if n == nil {
			continue
		}
		if other, dup := seen[n.text]; dup {
			l.at(codeConflict, n, at, fmt.Sprintf("%q is %s already", n.text, other), "")
		}
		seen[n.text] = key
	}
	s.replay = r
}

func (l *loader) joins(v *yamlNode, path string) []*join {
	var out []*join
	for i, n := range l.maps(v, path) {
		at := sub(path, i)
		if i > 0 {
			l.at(codeConflict, n, at, "a second join of one level", "one level may hold only one join")
			break
		}
		f := l.mapFields(n, inJoin, at)
		if f == nil {
			continue
		}
		j := &join{as: f.text("as"), pos: n.pos()}
		if p, at := f.at("files"); p != nil {
			l.pattern(p, at, patternBeside)
			j.files = l.pathTemplate(p, at, []string{"stem"}, nil, scopesNone)
		}
		if a, at := f.at("as"); a != nil {
			l.checkName(a, at, "key")
		}
		if o, at := f.at("order"); o != nil {
			j.order = l.selector(o, at, place{scopes: scopesNone})
		}
		if b := f.bool("self"); b != nil {
			j.self = *b
		}
		if inner, at := f.at("join"); inner != nil {
			j.join = l.joins(inner, at)
		}
		out = append(out, j)
	}
	return out
}

func (l *loader) databaseKeys(f *fields, s *Source) {
	if v, at := f.at("list"); v != nil {
		s.list, s.listPos = l.sql(v, at, false), v.pos()
	}
	if v, at := f.at("sql"); v != nil {
		s.sql, s.sqlPos = l.sql(v, at, f.keys["list"] != nil), v.pos()
	}
	s.jsonCols, s.packed, s.log, s.broken = texts(f.vals["json"]), texts(f.vals["packed"]), f.text("log"), f.text("broken")
	s.needs, s.instead = l.needs(f), f.text("instead")
}

func (l *loader) needs(f *fields) (out []tableNeed) {
	v, at := f.at("needs")
	if v == nil {
		return nil
	}
	for _, e := range v.entries {
		at := dot(at, e.key.text)
		if e.val.shape != shapeList {
			l.at(codeWrongKind, e.val, at, "a list of columns is needed, found "+e.val.noun(), "for example needs: {chats: [id, title]}")
			continue
		}
		if l.scalarsOK(e.val, at, "a column") {
			out = append(out, tableNeed{table: e.key.text, columns: texts(e.val)})
		}
	}
	return out
}

func (l *loader) textKeys(f *fields, s *Source) {
	if v, at := f.at("conversation_start"); v != nil {
		s.start = l.regexp(v, at)
	}
	v, path := f.at("lines")
	for i, n := range l.maps(v, path) {
		c := l.mapFields(n, inLine, sub(path, i))
		if c == nil {
			continue
		}
		k := lineKind{kind: c.text("kind")}
		if m, at := c.at("match"); m != nil {
			k.match = l.regexp(m, at)
			if k.match != nil && slices.Contains(k.match.SubexpNames(), "kind") {
				l.at(codeConflict, m, at, `a group named "kind"`, "kind is the kind of the line itself")
			}
		}
		if t, at := c.at("then"); t != nil {
			k.then = l.regexp(t, at)
		}
		s.lines = append(s.lines, k)
	}
}

// sql checks a statement as text: one SELECT. Whether it fits a database is known when a
// test runs, or a file is read. bound says that :id is given.
func (l *loader) sql(v *yamlNode, path string, bound bool) string {
	bare := bareSQL(v.text)
	words := strings.Fields(strings.ToUpper(bare))
	switch {
	case len(words) == 0:
		l.at(codeSQL, v, path, "empty statement", "")
	case words[0] != "SELECT" && words[0] != "WITH":
		l.at(codeSQL, v, path, fmt.Sprintf("a statement that begins with %s", shorten(words[0])), "a statement begins with SELECT or WITH")
	case strings.Contains(strings.TrimRight(bare, "; \t\r\n"), ";"):
		l.at(codeSQL, v, path, "more than one statement", "")
	case slices.Contains(words, "ATTACH") || slices.Contains(words, "PRAGMA"):
		l.at(codeSQL, v, path, "ATTACH and PRAGMA are refused", "")
	}
	hasID := idParameter.MatchString(bare)
	switch {
	case bound && !hasID && len(words) > 0:
		l.at(codeSQL, v, path, "no :id in it", "with list, sql gives the records of one conversation: WHERE chat = :id")
	case hasID && !bound:
		l.at(codeSQL, v, path, ":id without list", "list gives one row per conversation, whose id is :id")
	}
	return strings.TrimRight(v.text, "; \t\r\n")
}

var idParameter = regexp.MustCompile(`:id\b`)

// bareSQL gives a statement with comments, strings and quoted names blanked out.
func bareSQL(s string) string {
	out := []byte(s)
	blank := func(from, to int) int {
		for i := from; i < to; i++ {
			out[i] = ' '
		}
		return to
	}
	find := func(from int, end string) int {
		if i := strings.Index(s[from:], end); i >= 0 {
			return from + i + len(end)
		}
		return len(s)
	}
	for i := 0; i < len(s); {
		switch {
		case strings.HasPrefix(s[i:], "--"):
			i = blank(i, find(i, "\n"))
		case strings.HasPrefix(s[i:], "/*"):
			i = blank(i, find(i+2, "*/"))
		case s[i] == '\'' || s[i] == '"' || s[i] == '`':
			i = blank(i, find(i+1, s[i:i+1]))
		case s[i] == '[':
			i = blank(i, find(i, "]"))
		default:
			i++
		}
	}
	return string(out)
}

// patternUse says what a path pattern is for.
type patternUse int

const (
	patternSource  patternUse = iota // from ~, a variable, a root, or relative
	patternExclude                   // on a whole path
	patternBeside                    // relative to a file
	patternLookup                    // either
)

var (
	envName      = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)
	driveLetter  = regexp.MustCompile(`^[A-Za-z]:`)
	hasWildcard  = regexp.MustCompile(`[*?\[{]`)
	valueInBrace = regexp.MustCompile(`\{[^{},]*\}`)
	slashInBrace = regexp.MustCompile(`\{[^{}]*,[^{}]*/[^{}]*\}|\{[^{}]*/[^{}]*,[^{}]*\}`)
)

// pattern checks a path pattern, and gives the variables in it.
func (l *loader) pattern(v *yamlNode, path string, u patternUse) (vars []string) {
	text := v.text
	fail := func(msg, hint string) { l.at(codePattern, v, path, msg, hint) }
	switch {
	case text == "":
		fail("empty pattern", "")
		return nil
	case len(text) > pathPatternMaxBytes:
		fail(fmt.Sprintf("pattern longer than pathPatternMaxBytes (%d)", pathPatternMaxBytes), "")
		return nil
	case strings.Contains(text, `\`):
		fail(`"\" in a pattern`, "folders are separated by / on every system")
		return nil
	case strings.ContainsAny(text, "\n\r\x00"):
		fail("line end in a pattern", "")
		return nil
	}
	// probe is the pattern with variables replaced by their defaults, or by a name.
	var probe strings.Builder
	for rest := text; ; {
		before, behind, found := strings.Cut(rest, "${")
		probe.WriteString(before)
		if !found {
			break
		}
		inner, after, closed := strings.Cut(behind, "}")
		name, deflt, hasDefault := strings.Cut(inner, ":-")
		switch {
		case !closed:
			fail(`"${" without "}"`, "a variable is written ${NAME} or ${NAME:-default}")
			return vars
		case strings.Contains(deflt, "${"):
			fail("a variable inside of a default", "write one pattern for each")
			return vars
		case !envName.MatchString(name):
			fail(fmt.Sprintf("%q is no name of a variable", shorten(name)), "a variable is written ${NAME} or ${NAME:-default}")
			return vars
		}
		vars = append(vars, name)
		if u == patternBeside {
			fail("a variable in a path beside the file", "it is relative to the file's folder")
			return vars
		}
		if hasDefault {
			probe.WriteString(deflt)
		} else {
			probe.WriteString("v")
		}
		rest = after
	}
	p := probe.String()
	if strings.Contains(p, "$") {
		fail(`"$" in a pattern`, "a variable is written ${NAME} or ${NAME:-default}")
		return vars
	}
	if u == patternBeside && (p[0] == '/' || p[0] == '~' || driveLetter.MatchString(p)) {
		fail("not relative", "it is relative to the file's folder, and begins with a name, . or ..")
		return vars
	}
	if p == "~" || strings.HasPrefix(p, "~") && !strings.HasPrefix(p, "~/") {
		fail(`"~" without "/"`, "the home folder is ~/")
		return vars
	}
	if alt := slashInBrace.FindString(p); alt != "" {
		fail(fmt.Sprintf(`"/" in %s`, shorten(alt)), "alternatives are names of one folder: write one pattern for each")
		return vars
	}
	p = valueInBrace.ReplaceAllString(p, "x")
	if u == patternSource {
		if top := topWildcard(p); top != "" {
			fail(fmt.Sprintf("%s right below %s", top, p[:strings.Index(p, "/")+1]), "a pattern names a folder of the tool before its first wildcard")
			return vars
		}
	}
	wild, named := false, false
	for _, seg := range strings.Split(p, "/") {
		switch {
		case seg == ".." && !wild && u == patternSource:
			fail(`".." in a path`, "name the folder itself: files stay below what a pattern begins with")
			return vars
		case seg == ".." && wild:
			fail(`".." behind a wildcard`, "files must stay below the fixed part of a pattern")
			return vars
		case seg == ".." && named && u == patternBeside:
			fail(`".." behind a name`, `".." stands only in front`)
			return vars
		case strings.Contains(seg, "**") && seg != "**":
			fail(`"**" beside other characters`, `"**" is a segment of its own, for any number of folders`)
			return vars
		}
		wild = wild || hasWildcard.MatchString(seg)
		named = named || seg != ".." && seg != "."
	}
	if !doublestar.ValidatePattern(p) {
		fail("brackets that do not balance", "")
	}
	return vars
}

// topWildcard is the segment with which a pattern would walk a whole disk (any wildcard below
// its root) or a whole home ("**" below "~"), "" if it does neither.
func topWildcard(p string) string {
	home := strings.HasPrefix(p, "~/")
	if !home && p[0] != '/' && !driveLetter.MatchString(p) {
		return ""
	}
	segs := strings.Split(p, "/")
	for _, seg := range segs[1:] {
		switch {
		case seg == "" || seg == ".":
			continue
		case seg == "**", !home && hasWildcard.MatchString(seg):
			return strconv.Quote(seg)
		}
		return ""
	}
	return ""
}

// pathTemplate reads a pattern with {words} of the file and {selectors}. Words become
// file: selectors.
func (l *loader) pathTemplate(v *yamlNode, path string, words, captures []string, scopes []scope) template {
	t, err := parseTemplate(v.text, true)
	if err != nil {
		l.selectorError(codeTemplate, v, path, err)
		return nil
	}
	for i := range t {
		s := t[i].sel
		if s == nil {
			continue
		}
		s.pos = v.pos()
		if s.scope == scopeNone && len(s.plain) == 1 && (slices.Contains(words, s.plain[0]) || slices.Contains(captures, s.plain[0])) {
			t[i].sel = &selector{src: s.src, scope: scopeFile, name: s.plain[0], pos: s.pos}
			continue
		}
		if !slices.Contains(scopes, s.scope) {
			all := slices.Concat(words, captures)
			l.at(codeTemplate, v, path, fmt.Sprintf("unknown value {%s}", shorten(t[i].src)), didYouMean(t[i].src, "values", all))
			return nil
		}
		if s.scope == scopeFile && !slices.Contains(append(slices.Clone(fileWords), l.captures...), s.name) {
			l.at(codeTemplate, v, path, fmt.Sprintf("unknown word %q behind file:", s.name), "")
			return nil
		}
	}
	return t
}
