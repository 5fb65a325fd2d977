package mapping

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"parlance/internal/chat"
	"parlance/internal/source"
)

// The version of the mapping language that this program reads.
const (
	languageMajor = 1
	languageMinor = 0
)

const (
	// extendsMaxDepth bounds mappings that extend each other.
	extendsMaxDepth = source.ExtendsMaxDepth
	// regexpMaxBytes bounds one pattern; the longest in use has 120 bytes.
	regexpMaxBytes = source.RegexpMaxBytes
)

// Load reads one mapping file, checks it and compiles it. All problems are returned at
// once, in file order; the mapping is nil if one of them is not a warning. base gives the
// bytes of the mapping that extends names; nil = there is none.
//
// Positions in a mapping that was extended name that mapping's file.
func Load(file string, data []byte, base func(name string) (file string, data []byte, ok bool)) (*Mapping, []Problem) {
	l := &loader{m: &Mapping{File: file}, base: base}
	if root := l.parseYAML(file, data); root != nil {
		l.mapping(root)
	}
	if fatal(l.problems) {
		// First things first: a mapping that cannot be used needs no tests yet.
		l.problems = slices.DeleteFunc(l.problems, func(p Problem) bool { return p.Code == codeUntested })
	}
	l.problems = sortProblems(file, l.problems)
	if fatal(l.problems) {
		return nil, l.problems
	}
	return l.m, l.problems
}

// loader checks one mapping and compiles it.
type loader struct {
	m        *Mapping
	base     func(string) (string, []byte, bool)
	problems []Problem

	sidecars  []string // names that side: may be followed by
	captures  []string // names that file: may be followed by
	lookups   []string
	defines   []string
	pairOrder bool // a result needs no call id

	usedDefine map[string]bool
	usedLookup map[string]bool
}

// report adds a problem at a place in a file.
func (l *loader) report(code string, f *textFile, line, col int, key, msg, hint string) *Problem {
	l.problems = append(l.problems, Problem{File: f.name, Line: line, Col: col, Key: shorten(key), Msg: msg, Hint: hint, Code: code, Source: f.line(line)})
	return &l.problems[len(l.problems)-1]
}

// at adds a problem at a node.
func (l *loader) at(code string, n *yamlNode, key, msg, hint string) *Problem {
	if n.bad {
		return new(Problem) // it has been reported
	}
	p := l.report(code, n.file, n.line, n.col, key, msg, hint)
	if n.shape == shapeScalar {
		width := utf8.RuneCountInString(n.text)
		end := n.col + width
		if n.quoted {
			end += 2
		}
		// A text that is not written as it is, or over several lines, has no known end.
		if at := n.col - 1; strings.Contains(runesFrom(p.Source, at), n.text) && end-1 <= utf8.RuneCountInString(p.Source) && !strings.Contains(n.text, "\n") {
			p.EndCol = end
		}
	}
	return p
}

// within adds a problem at a byte offset of a scalar's text.
func (l *loader) within(code string, n *yamlNode, offset int, key, msg, hint string) {
	p := l.at(code, n, key, msg, hint)
	before := n.text[:min(max(offset, 0), len(n.text))]
	rest := runesFrom(p.Source, n.col-1)
	if n.quoted && rest != "" {
		rest = rest[1:]
	}
	if !strings.HasPrefix(rest, before) || before == "" {
		return // escapes, or a block
	}
	p.Col += utf8.RuneCountInString(before)
	if n.quoted {
		p.Col++
	}
}

// warn adds a warning at a node.
func (l *loader) warn(code string, n *yamlNode, key, msg, hint string) {
	l.at(code, n, key, msg, hint).Warning = true
}

// runesFrom gives what follows the first n characters of s.
func runesFrom(s string, n int) string {
	for i := range s {
		if n == 0 {
			return s[i:]
		}
		n--
	}
	return ""
}

func dot(path, key string) string {
	if path == "" {
		return key
	}
	return path + "." + key
}

func sub(path string, i int) string { return path + "[" + strconv.Itoa(i) + "]" }

// fields is a map whose keys were checked against the key table.
type fields struct {
	n    *yamlNode
	in   string
	path string
	vals map[string]*yamlNode
	keys map[string]*yamlNode
}

func (f *fields) has(key string) bool { return f.vals[key] != nil }
func (f *fields) at(key string) (*yamlNode, string) {
	return f.vals[key], dot(f.path, key)
}

// mapFields sorts the entries of a map by the key table. Keys that are unknown, missing, or
// have a value of the wrong shape are reported and left out, so that who compiles a key may
// rely on its shape. nil is returned if n is no map.
func (l *loader) mapFields(n *yamlNode, in, path string) *fields {
	if n.shape != shapeMap {
		l.at(codeWrongKind, n, path, "a map is needed, found "+n.noun(), "its keys are "+strings.Join(keyNames[in], ", "))
		return nil
	}
	f := &fields{n: n, in: in, path: path, vals: make(map[string]*yamlNode, len(n.entries)), keys: make(map[string]*yamlNode, len(n.entries))}
	table := keyIndex[in]
	for _, e := range n.entries {
		name := e.key.text
		info := table[name]
		if info == nil {
			l.unknownKey(n, e, in, path)
			continue
		}
		f.keys[name] = e.key
		if l.shapeOK(info, e.val, dot(path, name)) {
			f.vals[name] = e.val
		}
	}
	for _, name := range keyNames[in] {
		if table[name].Required && f.keys[name] == nil {
			l.at(codeMissing, n, path, fmt.Sprintf("%s without %s", in, name), addHint(in, name))
		}
	}
	return f
}

func (l *loader) unknownKey(n *yamlNode, e entry, in, path string) {
	name := e.key.text
	hint := ""
	switch near := nearest(name, keyNames[in]); {
	case n.flow && e.val.shape == 0:
		hint = "quote text that holds a comma"
	case near != "":
		hint = fmt.Sprintf("did you mean %q?", near)
	default:
		var places []string
		for _, k := range keyTable {
			if k.Name == name && k.In != in && !slices.Contains(places, k.In) {
				places = append(places, k.In)
			}
		}
		if len(places) > 0 {
			hint = fmt.Sprintf("it is a key of %s", strings.Join(places, ", "))
		} else {
			hint = fmt.Sprintf("keys of %s are %s", in, strings.Join(keyNames[in], ", "))
		}
	}
	l.at(codeUnknownKey, e.key, dot(path, shorten(name)), "unknown key", hint)
}

// itemNouns name one item of a list of scalars.
var itemNouns = map[valueKind]string{
	kindTexts: "a text", kindTextOr: "a text", kindPatterns: "a path pattern",
	kindRegexps: "a regular expression (RE2)", kindSelectors: "a selector",
}

// shapeOK checks the YAML shape of a value, and that it is among the allowed words.
func (l *loader) shapeOK(info *keyInfo, v *yamlNode, path string) bool {
	want := kindInfo[info.Kind]
	if v.shape == 0 {
		l.noValue(v, path, want.noun)
		return false
	}
	if v.shape&want.shapes == 0 {
		l.at(codeWrongKind, v, path, fmt.Sprintf("%s is needed, found %s", want.noun, v.noun()), "for example "+info.Example)
		return false
	}
	switch info.Kind {
	case kindTexts, kindTextOr, kindPatterns, kindRegexps, kindSelectors:
		return l.scalarsOK(v, path, itemNouns[info.Kind])
	case kindBool:
		if !v.isBool {
			l.at(codeWrongKind, v, path, fmt.Sprintf("true or false is needed, found %s", v.noun()), "")
			return false
		}
	}
	return true
}

// scalarsOK checks that v is a scalar or a list of scalars that is not empty.
func (l *loader) scalarsOK(v *yamlNode, path, noun string) bool {
	ok := true
	for i, item := range v.items {
		switch {
		case item.shape == 0:
			l.noValue(item, sub(path, i), noun)
			ok = false
		case item.shape != shapeScalar:
			l.at(codeWrongKind, item, sub(path, i), fmt.Sprintf("%s is needed, found %s", noun, item.noun()), "")
			ok = false
		}
	}
	return ok
}

// noValue reports a null. The commonest cause is a selector that YAML read as a comment.
func (l *loader) noValue(v *yamlNode, path, noun string) {
	hint := `write "" for an empty text`
	if i := strings.Index(v.file.line(v.line), "#"); i >= 0 {
		hint = `a value that begins with # is a comment for YAML: quote it`
	} else if v.text != "" {
		hint = fmt.Sprintf("%s is nothing for YAML: quote it if you mean the text", v.text)
	}
	l.at(codeEmpty, v, path, fmt.Sprintf("no value; %s is needed", noun), hint)
}

// scalars gives the nodes of a text or of a list of texts.
func scalars(v *yamlNode) []*yamlNode {
	if v == nil {
		return nil
	}
	if v.shape == shapeList {
		return v.items
	}
	return []*yamlNode{v}
}

func texts(v *yamlNode) []string {
	var out []string
	for _, n := range scalars(v) {
		out = append(out, n.text)
	}
	return out
}

// text gives the text of a key, "" if it is not there.
func (f *fields) text(key string) string {
	if v := f.vals[key]; v != nil {
		return v.text
	}
	return ""
}

// word gives a text that must be one of the key's Values; "" if it is not there or wrong.
func (l *loader) word(f *fields, key string) string {
	v, path := f.at(key)
	if v == nil || !l.wordOK(v, path, keyIndex[f.in][key].Values) {
		return ""
	}
	return v.text
}

// words is word for a text or a list of texts.
func (l *loader) words(f *fields, key string) []string {
	v, path := f.at(key)
	var out []string
	for i, n := range scalars(v) {
		at := path
		if v.shape == shapeList {
			at = sub(path, i)
		}
		switch {
		case !l.wordOK(n, at, keyIndex[f.in][key].Values):
		case slices.Contains(out, n.text):
			l.at(codeDuplicate, n, at, fmt.Sprintf("%q twice", n.text), "")
		default:
			out = append(out, n.text)
		}
	}
	if v != nil && v.shape == shapeList && len(v.items) == 0 {
		l.at(codeEmpty, v, path, "empty list", valueNames(keyIndex[f.in][key].Values))
	}
	return out
}

func (l *loader) wordOK(v *yamlNode, path string, allowed []string) bool {
	if slices.Contains(allowed, v.text) {
		return true
	}
	l.at(codeUnknownWord, v, path, fmt.Sprintf("unknown value %s", strconv.Quote(shorten(v.text))), didYouMean(v.text, "values", allowed))
	return false
}

// bool gives a bool of a key, nil if it is not there.
func (f *fields) bool(key string) *bool {
	v := f.vals[key]
	if v == nil {
		return nil
	}
	b := v.text == "true"
	return &b
}

// textMap gives a map of texts in the order of the file.
func (l *loader) textMap(v *yamlNode, path string) []entry {
	var out []entry
	for _, e := range v.entries {
		at := dot(path, e.key.text)
		switch e.val.shape {
		case shapeScalar:
			out = append(out, e)
		case 0:
			if v.flow {
				l.at(codeEmpty, e.key, at, "no value; a text is needed", "quote text that holds a comma")
			} else {
				l.noValue(e.val, at, "a text")
			}
		default:
			l.at(codeWrongKind, e.val, at, "a text is needed, found "+e.val.noun(), "")
		}
	}
	return out
}

func toMap(entries []entry) map[string]string {
	m := make(map[string]string, len(entries))
	for _, e := range entries {
		m[e.key.text] = e.val.text
	}
	return m
}

// items gives the maps of a list of maps.
func (l *loader) maps(v *yamlNode, path string) []*yamlNode {
	if v == nil {
		return nil
	}
	if len(v.items) == 0 {
		l.at(codeEmpty, v, path, "empty list", "")
	}
	return v.items
}

func (n *yamlNode) pos() pos { return pos{line: n.line, col: n.col, file: n.file} }

// nameOK is the form of names inside of a mapping: of lists in define, lookups, sidecars.
var nameOK = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_-]*$`)

func (l *loader) checkName(n *yamlNode, path, what string) bool {
	if nameOK.MatchString(n.text) {
		return true
	}
	l.at(codeName, n, path, fmt.Sprintf("%s %s is no name", what, strconv.Quote(shorten(n.text))), "letters, digits, _ and -, a letter first")
	return false
}

// regexp compiles an RE2.
func (l *loader) regexp(n *yamlNode, path string) *regexp.Regexp {
	if n.text == "" {
		l.at(codeRegexp, n, path, "empty regular expression", "")
		return nil
	}
	if len(n.text) > regexpMaxBytes {
		l.at(codeRegexp, n, path, fmt.Sprintf("regular expression longer than regexpMaxBytes (%d)", regexpMaxBytes), "")
		return nil
	}
	re, err := regexp.Compile(n.text)
	if err != nil {
		msg := strings.TrimPrefix(err.Error(), "error parsing regexp: ")
		hint := "the syntax is RE2: no look-around, no backreferences"
		l.at(codeRegexp, n, path, "regular expression: "+shorten(msg), hint)
		return nil
	}
	return re
}

var versionForm = lazily(`^(\d{1,6})(?:\.(\d{1,6}))?$`)

// version says whether this program understands the mapping's language at all.
func (l *loader) version(root *yamlNode) bool {
	v := root.get("parlance")
	if v == nil {
		return true // reported as missing
	}
	if v.shape != shapeScalar {
		return true // reported with the other keys
	}
	m := versionForm().FindStringSubmatch(v.text)
	if m == nil {
		l.at(codeVersion, v, "parlance", "the version of the mapping language is needed, found "+v.noun(), "write parlance: 1")
		return true
	}
	major, _ := strconv.Atoi(m[1])
	minor, _ := strconv.Atoi(m[2])
	if major > languageMajor || major == languageMajor && minor > languageMinor {
		l.at(codeVersion, v, "parlance", fmt.Sprintf("needs a newer parlance: mapping language %s, this program reads %d.%d", v.text, languageMajor, languageMinor), "")
		return false
	}
	if major < 1 {
		l.at(codeVersion, v, "parlance", fmt.Sprintf("unknown version %q of the mapping language", v.text), "write parlance: 1")
	}
	if root.entries[0].key.text != "parlance" {
		l.at(codeVersion, v, "parlance", "not the first key", "a mapping begins with parlance: 1")
	}
	return true
}

var providerName = regexp.MustCompile(`^[a-z0-9_]+$`)

func (l *loader) providerName(f *fields) {
	v, path := f.at("name")
	if v == nil {
		return
	}
	l.m.Name = v.text
	if !providerName.MatchString(v.text) {
		l.at(codeName, v, path, fmt.Sprintf("%s is no provider name", strconv.Quote(shorten(v.text))), "a name is made of a-z, 0-9 and _")
		return
	}
	file := v.file.name[strings.LastIndexAny(v.file.name, `/\`)+1:]
	stem, isYAML := strings.CutSuffix(file, ".yaml")
	if isYAML && stem != v.text {
		l.at(codeName, v, path, fmt.Sprintf("%q stands in %s", v.text, file), fmt.Sprintf("name the file %s.yaml, or write name: %s", v.text, stem))
	}
}

// extend gives root with what it inherits from the mapping that extends names.
// It gives nil, and a problem, if there is none that can be used: without its base a mapping
// cannot be judged.
func (l *loader) extend(root *yamlNode, seen []string) *yamlNode {
	v := root.get("extends")
	if v == nil || v.shape != shapeScalar {
		return root // a wrong shape is reported with the other keys
	}
	if !slices.Contains(seen, v.text) && len(seen) >= extendsMaxDepth {
		l.at(codeCircle, v, "extends", fmt.Sprintf("more mappings extend each other than extendsMaxDepth (%d)", extendsMaxDepth), "")
		return nil
	}
	if slices.Contains(seen, v.text) {
		l.at(codeCircle, v, "extends", fmt.Sprintf("a circle: %s", strings.Join(append(seen, v.text), ", ")), "")
		return nil
	}
	var name string
	var data []byte
	ok := l.base != nil
	if ok {
		name, data, ok = l.base(v.text)
	}
	if !ok {
		l.at(codeUndefined, v, "extends", fmt.Sprintf("no mapping %q", v.text), "")
		return nil
	}
	before := len(l.problems)
	base := l.parseYAML(name, data)
	if fatal(l.problems[before:]) || base == nil {
		l.at(codeExtends, v, "extends", fmt.Sprintf("%q has problems of its own", v.text), "")
		return nil
	}
	if !l.version(base) {
		return nil
	}
	if base = l.extend(base, append(seen, v.text)); base == nil {
		return nil
	}
	return mergeMaps(base, root, inMapping)
}

// mergeMaps lays own over base: values of keys that the table marks as Merges are merged key
// by key, all else of own replaces what base has. Tests prove the mapping in which they stand.
func mergeMaps(base, own *yamlNode, in string) *yamlNode {
	out := *own
	out.entries = slices.Clone(own.entries)
	for i, e := range out.entries {
		info := keyIndex[in][e.key.text]
		b := base.get(e.key.text)
		if info == nil || !info.Merges || b == nil || b.shape != shapeMap || e.val.shape != shapeMap {
			continue
		}
		if info.Kind == kindMap {
			out.entries[i].val = mergeMaps(b, e.val, info.Of)
		} else {
			out.entries[i].val = mergeNames(b, e.val, info.Of)
		}
	}
	for _, e := range base.entries {
		if out.get(e.key.text) == nil && !(in == inMapping && e.key.text == "tests") {
			out.entries = append(out.entries, e)
		}
	}
	return &out
}

// mergeNames merges a map of names. Its values are merged in turn where the map that they
// are has a key that merges (clean.ROLE has tags).
func mergeNames(base, own *yamlNode, of string) *yamlNode {
	deep := slices.ContainsFunc(keyNames[of], func(k string) bool { return keyIndex[of][k].Merges })
	out := *own
	out.entries = slices.Clone(own.entries)
	for i, e := range out.entries {
		if b := base.get(e.key.text); deep && b != nil && b.shape == shapeMap && e.val.shape == shapeMap {
			out.entries[i].val = mergeMaps(b, e.val, of)
		}
	}
	for _, e := range base.entries {
		if out.get(e.key.text) == nil {
			out.entries = append(out.entries, e)
		}
	}
	return &out
}

// mapping compiles the whole file. Names come first, so that everything may refer to them.
func (l *loader) mapping(root *yamlNode) {
	if !l.version(root) {
		return
	}
	own := root
	l.m.text = own.file
	name := root.get("name")
	seen := []string{}
	if name != nil {
		seen = append(seen, name.text)
	}
	if root = l.extend(root, seen); root == nil {
		return
	}
	if root != own && name == nil {
		// Without a name of its own a mapping would take that of its base.
		root.entries = slices.DeleteFunc(root.entries, func(e entry) bool { return e.key.text == "name" })
	}
	f := l.mapFields(root, inMapping, "")
	if f == nil {
		return
	}
	l.usedDefine, l.usedLookup = map[string]bool{}, map[string]bool{}
	l.providerName(f)
	m := l.m
	m.extends = f.text("extends")
	m.Title, m.About, m.NotRead = f.text("title"), f.text("about"), f.text("not_read")
	m.Links = texts(f.vals["links"])
	if v, path := f.at("tested"); v != nil {
		for i, n := range v.items {
			if n.shape != shapeMap {
				l.at(codeWrongKind, n, sub(path, i), "a map is needed, found "+n.noun(), "for example {tool: \"2.1\"}")
				continue
			}
			m.Tested = append(m.Tested, toMap(l.textMap(n, sub(path, i))))
		}
	}
	m.Unique = l.word(f, "unique")
	m.pair = l.words(f, "pair")
	if len(m.pair) == 0 {
		m.pair = []string{"id"}
	}
	l.pairOrder = len(m.pair) > 0 && !slices.Equal(m.pair, []string{"id"})

	l.collectNames(f)
	l.layers(f)
	l.sources(f)
	l.lookupTables(f)
	l.conversation(f)
	l.commonFields(f)
	l.ruleLists(f)
	l.cleaners(f)
	l.sameEntries(f)
	l.treeOf(f)
	l.copiedOf(f)
	l.testsOf(f)
	l.unused(f)
}

// collectNames gathers what selectors, use and lookup may refer to, before any of it is
// compiled. Shapes are not reported here.
func (l *loader) collectNames(f *fields) {
	add := func(to *[]string, name string) {
		if name != "" && !slices.Contains(*to, name) {
			*to = append(*to, name)
		}
	}
	if v := f.vals["define"]; v != nil {
		for _, e := range v.entries {
			add(&l.defines, e.key.text)
		}
	}
	if v := f.vals["lookups"]; v != nil {
		for _, e := range v.entries {
			add(&l.lookups, e.key.text)
		}
	}
	if v := f.vals["sources"]; v != nil {
		for _, s := range v.items {
			if side := s.get("sidecar"); side != nil {
				for _, e := range side.entries {
					add(&l.sidecars, e.key.text)
				}
			}
			if from := s.get("paths_from"); from != nil {
				if as := from.get("as"); as != nil {
					add(&l.sidecars, as.text)
				}
			}
			if c := s.get("capture"); c != nil && len(c.text) <= regexpMaxBytes {
				if re, err := regexp.Compile(c.text); err == nil {
					for _, g := range re.SubexpNames() {
						add(&l.captures, g)
					}
				}
			}
		}
	}
}

func (l *loader) conversation(f *fields) {
	v, path := f.at("conversation")
	if v == nil {
		return
	}
	c := l.mapFields(v, inConversation, path)
	if c == nil {
		return
	}
	for i, name := range fieldNames {
		n, at := c.at(name)
		if n == nil {
			continue
		}
		p := place{scopes: scopesRecord, before: i + 1, pick: true}
		switch keyIndex[inConversation][name].Kind {
		case kindTruth:
			p.use = useTruth
		case kindTime:
			p.use = useTime
		}
		l.m.conv[i] = l.expr(n, at, p)
	}
	// With list, the row of the list names the conversation, and nothing else does.
	if id := l.m.conv[fieldID]; id != nil && !id.readsRowID() {
		for _, s := range l.m.Sources {
			if s.list != "" {
				l.at(codeConflict, c.vals["id"], dot(path, "id"), fmt.Sprintf("source %q has list, whose id nothing reads", s.ID), "write id: doc:id, or [doc:id, ...] if other sources have ids of their own")
				break
			}
		}
	}
}

// readsRowID says whether one of the terms is doc:id, or a template with it.
func (e *expr) readsRowID() bool {
	for _, t := range e.terms {
		sels := t.sels
		for _, p := range t.template {
			if p.sel != nil {
				sels = append(sels[:len(sels):len(sels)], p.sel)
			}
		}
		for _, s := range sels {
			if s.scope == scopeDoc && len(s.plain) == 1 && s.plain[0] == "id" {
				return true
			}
		}
		if slices.ContainsFunc(t.concat, (*expr).readsRowID) {
			return true
		}
	}
	return false
}

func (l *loader) commonFields(f *fields) {
	v, path := f.at("common")
	if v == nil {
		return
	}
	c := l.mapFields(v, inCommon, path)
	if c == nil {
		return
	}
	l.m.common = common{
		time:      l.exprField(c, "time", place{scopes: scopesRecord, use: useTime}),
		id:        l.exprField(c, "id", place{scopes: scopesRecord}),
		reply:     l.exprField(c, "reply", place{scopes: scopesRecord}),
		abandoned: l.exprField(c, "abandoned", place{scopes: scopesRecord, use: useTruth}),
		glue:      l.glueField(c),
	}
}

func (l *loader) glueField(f *fields) *glue {
	v, path := f.at("glue")
	if v == nil {
		return nil
	}
	if v.isBool {
		if v.text == "true" {
			l.at(codeUnknownWord, v, path, "true", "write the text that joins, or false; without glue a blank line joins")
			return nil
		}
		return &glue{off: true}
	}
	return &glue{text: v.text}
}

func (l *loader) layers(f *fields) {
	v, path := f.at("layers")
	if v == nil {
		return
	}
	l.m.layers = map[chat.Role][]string{}
	for _, e := range v.entries {
		at := dot(path, e.key.text)
		if !l.roleOK(e.key, at, roleWords) {
			continue
		}
		if e.val.shape != shapeList || len(e.val.items) == 0 {
			l.at(codeWrongKind, e.val, at, "a list of layers is needed, found "+e.val.noun(), "for example {user: [event, item]}")
			continue
		}
		if l.scalarsOK(e.val, at, "a layer") {
			l.m.layers[chat.Role(e.key.text)] = texts(e.val)
		}
	}
}

// roleOK checks a role, or a word that stands for one.
func (l *loader) roleOK(n *yamlNode, path string, allowed []string) bool {
	if n.shape == shapeScalar && slices.Contains(allowed, n.text) {
		return true
	}
	if n.shape != shapeScalar {
		l.at(codeWrongKind, n, path, "a role is needed, found "+n.noun(), "roles are "+strings.Join(roleWords, ", "))
		return false
	}
	what := "unknown role"
	if slices.Contains(roleWords, n.text) {
		what = "not possible here: role"
	}
	hint := "roles are " + strings.Join(allowed, ", ")
	l.at(codeUnknownWord, n, path, fmt.Sprintf("%s %s", what, strconv.Quote(shorten(n.text))), hint)
	return false
}

func (l *loader) cleaners(f *fields) {
	v, path := f.at("clean")
	if v == nil {
		return
	}
	l.m.clean = map[chat.Role]*cleaner{}
	roles := slices.DeleteFunc(slices.Clone(roleWords), func(r string) bool { return r == "tool_call" })
	for _, e := range v.entries {
		at := dot(path, e.key.text)
		if !l.roleOK(e.key, at, roles) {
			continue
		}
		c := l.mapFields(e.val, inCleanRole, at)
		if c == nil {
			continue
		}
		cl := &cleaner{}
		l.tags(c, cl)
		rules, rulesPath := c.at("rules")
		for i, n := range l.maps(rules, rulesPath) {
			if r := l.cleanRule(n, sub(rulesPath, i)); r != nil {
				cl.rules = append(cl.rules, r)
			}
		}
		for i, r := range cl.rules[:max(0, len(cl.rules)-1)] {
			if r.when == nil {
				l.at(codeUnreachable, rules.items[i+1], sub(rulesPath, i+1), fmt.Sprintf("never reached: %s has no when", r.path), "")
				break
			}
		}
		l.m.clean[chat.Role(e.key.text)] = cl
	}
}

var tagName = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_-]*$`)

func (l *loader) tags(c *fields, cl *cleaner) {
	v, path := c.at("tags")
	if v == nil {
		return
	}
	cl.tags = map[string]string{}
	for _, e := range l.textMap(v, path) {
		at := dot(path, e.key.text)
		allowed := append(slices.Clone(tagWords), textRoleWords...)
		if e.key.text == "*" {
			allowed = append([]string{"drop"}, textRoleWords...)
		} else if !tagName.MatchString(e.key.text) {
			l.at(codeName, e.key, at, "no tag name", `a tag is letters, digits, _ and -, a letter first; "*" is any tag that is not in the table`)
			continue
		}
		switch {
		case !l.wordOK(e.val, at, allowed):
		case e.key.text == "*":
			cl.star = e.val.text
		default:
			cl.tags[e.key.text] = e.val.text
		}
	}
}

func (l *loader) cleanRule(n *yamlNode, path string) *cleanRule {
	f := l.mapFields(n, inCleanRule, path)
	if f == nil {
		return nil
	}
	r := &cleanRule{path: path, pos: n.pos()}
	if v, at := f.at("when"); v != nil {
		r.when = l.cleanWhen(v, at)
	}
	acts := 0
	for _, k := range []string{"as", "after", "replace", "unescape"} {
		acts += btoi(f.has(k))
	}
	if b := f.bool("drop"); b != nil {
		r.drop = *b
		switch {
		case !*b:
			l.at(codeUnknownWord, f.vals["drop"], dot(path, "drop"), "false", "leave it out")
		case acts > 0:
			l.at(codeConflict, f.keys["drop"], path, "drop beside another act", "drop stands alone")
		}
		acts++
	}
	if acts == 0 && len(f.keys) == len(f.vals) {
		l.at(codeMissing, n, path, "a rule that does nothing", "acts are drop, as, after, replace, unescape")
	}
	r.as = chat.Role(l.word(f, "as"))
	r.unescape = l.word(f, "unescape") != ""
	if v, at := f.at("after"); v != nil {
		r.after = l.notEmpty(v, at)
	}
	if v, at := f.at("replace"); v != nil {
		for i, pair := range v.items {
			at := sub(at, i)
			if pair.shape != shapeList || len(pair.items) != 2 || pair.items[0].shape != shapeScalar || pair.items[1].shape != shapeScalar {
				l.at(codeWrongKind, pair, at, "[RE2, text] is needed, found "+pair.noun(), "for example replace: [['\\s+$', '']]")
				continue
			}
			if re := l.regexp(pair.items[0], sub(at, 0)); re != nil {
				r.replace = append(r.replace, replacement{re: re, with: pair.items[1].text})
			}
		}
	}
	return r
}

// cleanWhen is a predicate map on a text, or {any: [...]} of such maps.
func (l *loader) cleanWhen(v *yamlNode, path string) *pred {
	if v.shape != shapeMap {
		l.at(codeCondition, v, path, "a predicate on the text is needed, found "+v.noun(), "for example {starts: \"Note:\"}")
		return nil
	}
	any := v.get("any")
	if any == nil {
		return l.pred(v, path)
	}
	p := &pred{}
	if len(v.entries) > 1 {
		rest := *v
		rest.entries = slices.DeleteFunc(slices.Clone(v.entries), func(e entry) bool { return e.key.text == "any" })
		if p = l.pred(&rest, path); p == nil {
			return nil
		}
	}
	at := dot(path, "any")
	if any.shape != shapeList || len(any.items) == 0 {
		l.at(codeWrongKind, any, at, "a list of predicates is needed, found "+any.noun(), "for example any: [{starts: \"a\"}, {contains: \"b\"}]")
		return nil
	}
	for i, n := range any.items {
		if n.shape != shapeMap {
			l.at(codeWrongKind, n, sub(at, i), "a predicate map is needed, found "+n.noun(), "for example {starts: \"a\"}")
			continue
		}
		if q := l.pred(n, sub(at, i)); q != nil {
			p.any = append(p.any, q)
		}
	}
	return p
}

// notEmpty gives a text that may not be "".
func (l *loader) notEmpty(v *yamlNode, path string) *string {
	if v.text == "" {
		l.at(codeEmpty, v, path, "empty text", "")
		return nil
	}
	return &v.text
}

func (l *loader) sameEntries(f *fields) {
	v, path := f.at("same")
	for i, n := range l.maps(v, path) {
		at := sub(path, i)
		s := l.mapFields(n, inSame, at)
		if s == nil {
			continue
		}
		e := &sameEntry{pos: n.pos(), by: l.word(s, "by"), last: l.word(s, "keep") == "last"}
		if b := s.bool("prefix"); b != nil {
			e.prefix = *b
		}
		e.retime = l.word(s, "time") == "last"
		if w, at := s.at("when"); w != nil {
			e.when = l.cond(w, at, place{scopes: scopesRecord})
		}
		as := l.words(s, "as")
		switch {
		case slices.Contains(as, "record"), slices.Contains(as, "any"):
			if len(as) > 1 {
				l.at(codeConflict, s.vals["as"], dot(at, "as"), "record or any beside a role", "record and any stand alone")
			}
			e.record = slices.Contains(as, "record")
		default:
			e.roles = map[chat.Role]bool{}
			for _, r := range as {
				e.roles[chat.Role(r)] = true
			}
		}
		by := s.vals["by"]
		switch {
		case e.record && by != nil && e.by != "id" && e.by != "":
			l.at(codeConflict, by, dot(at, "by"), "record is compared by id only", "write by: id")
		case e.by == "text" && e.roles[chat.ToolResult]:
			l.at(codeConflict, by, dot(at, "by"), "tool_result is not compared by text", "write by: call")
		case e.by == "text" && e.roles[chat.ToolCall]:
			l.at(codeConflict, by, dot(at, "by"), "tool_call has no text", "write by: call")
		case e.by == "call" && e.roles != nil && !e.roles[chat.ToolCall] && !e.roles[chat.ToolResult]:
			l.at(codeConflict, by, dot(at, "by"), "only tool_call and tool_result have a call id", "write by: id, or by: text")
		}
		if e.when != nil && e.by != "text" {
			l.at(codeConflict, s.vals["when"], dot(at, "when"), "when without by: text", "id and call tell doubles by themselves")
		}
		if e.retime && (e.by != "text" || !e.last) {
			l.at(codeConflict, s.vals["time"], dot(at, "time"), "time without by: text and keep: last", "elsewhere the one that stays keeps its own time")
		}
		if e.prefix && (e.record || !e.last) {
			l.at(codeConflict, s.vals["prefix"], dot(at, "prefix"), "prefix without keep: last, or of a record", "the later, longer text is the one that is kept")
		}
		l.m.same = append(l.m.same, e)
	}
}

func (l *loader) treeOf(f *fields) {
	v, path := f.at("tree")
	if v == nil {
		return
	}
	t := l.mapFields(v, inTree, path)
	if t == nil {
		return
	}
	p := place{scopes: scopesRecord}
	l.m.tree = &tree{
		id:          l.exprField(t, "id", p),
		parent:      l.exprField(t, "parent", p),
		leaf:        l.exprField(t, "leaf", p),
		promptForks: l.word(t, "abandon") == "prompt_forks",
	}
	if c, at := t.at("except"); c != nil {
		l.m.tree.except = l.cond(c, at, p)
	}
}

func (l *loader) copiedOf(f *fields) {
	v, path := f.at("copied")
	if v == nil {
		return
	}
	c := l.mapFields(v, inCopied, path)
	if c == nil {
		return
	}
	p := place{scopes: scopesRecord}
	l.m.copied = &copied{parent: l.exprField(c, "parent", p), id: l.exprField(c, "id", p), prefix: l.exprField(c, "prefix", p)}
	hasParent, hasID, hasPrefix := c.keys["parent"] != nil, c.keys["id"] != nil, c.keys["prefix"] != nil
	if hasPrefix && (hasParent || hasID) || !hasPrefix && !(hasParent && hasID) {
		l.at(codeConflict, v, path, "neither {parent, id} nor {prefix}", "copied has two forms: {parent: EXPR, id: EXPR}, or {prefix: EXPR}")
	}
}

func (l *loader) lookupTables(f *fields) {
	v, path := f.at("lookups")
	if v == nil {
		return
	}
	l.m.lookups = map[string]*lookup{}
	for _, e := range v.entries {
		at := dot(path, e.key.text)
		l.checkName(e.key, at, "lookup")
		c := l.mapFields(e.val, inLookup, at)
		if c == nil {
			continue
		}
		t := &lookup{name: e.key.text, pos: e.key.pos()}
		n := 0
		for _, kind := range []string{"jsonl", "json", "sqlite"} {
			if c.keys[kind] == nil {
				continue
			}
			n++
			t.container = kind
			if p, at := c.at(kind); p != nil {
				l.pattern(p, at, patternLookup)
				t.path = p.text
			}
		}
		if n != 1 {
			l.at(codeConflict, e.key, at, fmt.Sprintf("%d files", n), "a lookup has one of jsonl, json, sqlite: a path")
		}
		if r, at := c.at("records"); r != nil {
			if t.container != "json" {
				l.at(codeConflict, c.keys["records"], at, "records without json", "jsonl and sqlite have records of their own")
			}
			t.records = l.selector(r, at, place{scopes: scopesNone})
		}
		if s, at := c.at("sql"); s != nil {
			if t.container != "sqlite" {
				l.at(codeConflict, c.keys["sql"], at, "sql without sqlite", "")
			}
			t.sql = l.sql(s, at, false)
		} else if t.container == "sqlite" && c.keys["sql"] == nil {
			l.at(codeMissing, e.key, at, "sqlite without sql", addHint(inLookup, "sql"))
		}
		if v, at := c.at("needs"); v != nil && t.container != "sqlite" {
			l.at(codeConflict, c.keys["needs"], at, "needs without sqlite", "")
		}
		t.needs = l.needs(c)
		p := place{scopes: scopesLookup}
		t.key = l.exprField(c, "key", p)
		t.value = l.exprField(c, "value", p)
		l.m.lookups[e.key.text] = t
	}
}

// unused warns of names that nothing refers to.
func (l *loader) unused(f *fields) {
	if v, path := f.at("define"); v != nil {
		for _, e := range v.entries {
			if !l.usedDefine[e.key.text] && !l.m.inherited(e.key.file) {
				l.warn(codeUnused, e.key, dot(path, e.key.text), "never used", "a list of define is used by use, or by messages of a source")
			}
		}
	}
	if v, path := f.at("lookups"); v != nil {
		for _, e := range v.entries {
			if !l.usedLookup[e.key.text] && !l.m.inherited(e.key.file) {
				l.warn(codeUnused, e.key, dot(path, e.key.text), "never used", "write {lookup: "+e.key.text+", key: EXPR} where its values belong")
			}
		}
	}
}
