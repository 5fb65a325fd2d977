package mapping

import (
	"bytes"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"parlance/internal/chat"

	"gopkg.in/yaml.v3"
)

// outcome is what a draft reads in its own file.
type outcome struct {
	convs    int
	records  int
	noRule   map[string]int
	skipped  map[string]int
	byRole   map[chat.Role]int
	rules    map[chat.Role]map[string][]string // texts by the rule that made them
	callIDs  map[chat.Role]map[string]int      // of calls and of results: how often each id stands
	prompts  []string
	answers  []string
	problems []string
}

// draft writes the best shape down, looks at what that reads, mends it, and adds tests.
func (d *drafting) draft() (Draft, error) {
	d.metadata()
	d.pairs()
	d.sidechain()
	d.rewinds()
	d.deleted()
	d.opening()
	out := Draft{Name: d.name()}
	m, err := d.compile(d.write(out.Name, ""))
	if err != nil {
		return Draft{}, err
	}
	got := d.read(m)
	if got.byRole[chat.User]+got.byRole[chat.Assistant] == 0 && (d.best != d.nobodys || got.byRole[chat.System] == 0) {
		return Draft{}, fmt.Errorf("%s: %w: %s", d.path, ErrNoConversation, d.saw)
	}
	if d.mend(got) {
		if m, err = d.compile(d.write(out.Name, "")); err != nil {
			return Draft{}, err
		}
		got = d.read(m)
	}
	tests := d.tests(m)
	text := d.write(out.Name, tests)
	tested, err := d.compile(text)
	if err != nil || tests == "" || fatal(tested.RunTests(d.ctx)) {
		d.warnings = append(d.warnings, "no test could be made of the file")
		text = d.write(out.Name, "")
		if _, err := d.compile(text); err != nil {
			return Draft{}, err
		}
	}
	out.YAML = text
	out.Summary = d.summary(out.Name, text, got)
	return out, nil
}

// compile loads a draft. An error is a mistake of ours: the fuzzer looks for it.
func (d *drafting) compile(text string) (*Mapping, error) {
	m, problems := Load(d.name()+".yaml", []byte(text), d.base())
	if m == nil {
		for _, p := range problems {
			if !p.Warning {
				return nil, fmt.Errorf("%s: the draft does not load: %s", d.path, p.String())
			}
		}
	}
	return m, nil
}

func (d *drafting) base() func(string) (string, []byte, bool) {
	if d.opts.Set == nil {
		return nil
	}
	return d.opts.Set.base("")
}

func (d *drafting) read(m *Mapping) *outcome {
	o := &outcome{noRule: map[string]int{}, skipped: map[string]int{}, byRole: map[chat.Role]int{}, rules: map[chat.Role]map[string][]string{}, callIDs: map[chat.Role]map[string]int{chat.ToolCall: {}, chat.ToolResult: {}}}
	f := File{Provider: m.Name, Path: d.path, Sources: []int{0}, ModTime: testTime, env: d.opts.Env}
	lines := 0
	opts := ReadOptions{Lines: func([]byte) bool { lines++; return lines <= inferRecordsMax }}
	err := m.Read(d.ctx, f, opts, func(c *chat.Conversation) error {
		o.convs++
		o.records += c.Read.Records
		for k, n := range c.Read.NoRule {
			o.noRule[k] += n
		}
		for k, n := range c.Read.Skipped {
			o.skipped[k] += n
		}
		for i := range c.Messages {
			msg := &c.Messages[i]
			o.byRole[msg.Role]++
			if ids := o.callIDs[msg.Role]; ids != nil && msg.Call != "" {
				ids[strconv.Itoa(o.convs)+"\x00"+msg.Call]++
			}
			if msg.Text == "" {
				continue
			}
			if o.rules[msg.Role] == nil {
				o.rules[msg.Role] = map[string][]string{}
			}
			if list := o.rules[msg.Role][msg.Rule]; len(list) < 500 {
				o.rules[msg.Role][msg.Rule] = append(list, msg.Text)
			}
			if msg.Role == chat.User && len(o.prompts) < 500 {
				o.prompts = append(o.prompts, msg.Text)
			}
			if msg.Role == chat.Assistant && len(o.answers) < 500 {
				o.answers = append(o.answers, msg.Text)
			}
		}
		if o.records > inferRecordsMax {
			return errStop
		}
		return nil
	})
	if err != nil && err != errStop {
		o.problems = append(o.problems, err.Error())
	}
	return o
}

// pairs says how results find their calls, where they have no ids.
func (d *drafting) pairs() {
	with, without := 0, 0
	var visit func([]*guess)
	visit = func(list []*guess) {
		for _, g := range list {
			if g.as == "tool_result" {
				if len(g.call) > 0 {
					with++
				} else {
					without++
				}
			}
			visit(g.first)
			visit(g.all)
		}
	}
	visit(d.best.rules)
	switch {
	case without > 0 && with > 0:
		d.pairing = "[id, order]"
	case without > 0:
		d.pairing = "order"
	}
}

// sidechain sets apart what a subagent said in the same file.
func (d *drafting) sidechain() {
	recs := takeSurvey(d.best.elems, &d.a)
	for _, f := range recs.fields {
		if inWords(plainKey(f.key()), "issidechain sidechain issubagent") && f.kinds[jsonBool] == f.n && f.values["true"] > 0 && f.values["true"] < f.n && len(d.tree) > 0 {
			d.aside = fmt.Sprintf("  - {when: {%s: true}, as: subagent}   # %d # ?\n", condKey(f.sel), f.values["true"])
			d.shift++
			return
		}
	}
}

// rewinds finds records that give up what was said since another: they name its id under a
// key that says so.
func (d *drafting) rewinds() {
	recs := takeSurvey(d.best.elems, &d.a)
	var id *inferField
	for _, m := range d.common {
		if m.key == "id" {
			id = recs.index[m.value]
		}
	}
	if id == nil {
		return
	}
	for _, f := range recs.fields {
		if !hasWord(words(f.key()), "rewind rollback revert undo rewound") || f.kinds[jsonString] < f.n || f.n*4 > recs.n {
			continue
		}
		if !slices.ContainsFunc(f.vals, func(v *value) bool { return id.values[v.str()] == 0 }) {
			d.aside += fmt.Sprintf("  - {when: {%s: {exists: true}}, as: rewind, to: %s}   # %d, each names the id of a record # ?\n", condKey(f.sel), yamlScalar(f.sel), f.n)
			d.shift++
			return
		}
	}
}

// deleted leaves out what a flag says was taken back.
func (d *drafting) deleted() {
	for _, f := range takeSurvey(d.best.elems, &d.a).fields {
		if f.depth > 2 || !inWords(plainKey(f.key()), "deleted isdeleted removed isremoved") || f.scalars() < f.n || len(f.values) != 2 {
			continue
		}
		for _, word := range []string{"true", "1"} {
			if n := f.values[word]; n > 0 && n < f.n {
				d.aside += fmt.Sprintf("  - {when: {%s: %s}, as: skip, why: deleted}   # %d # ?\n", condKey(f.sel), word, n)
				d.shift++
				return
			}
		}
	}
}

// opening lets the person begin where the first record would pass for the model's, because
// nothing in it says who speaks.
func (d *drafting) opening() {
	if d.aside != "" || len(d.best.elems) < 2 || d.best.convs != "" || d.best.db != nil {
		return
	}
	first := d.best.elems[0]
	for _, g := range d.best.rules {
		if !d.holds(g, first) {
			continue
		}
		if g.as == "assistant" && g.score < .7 && len(g.when) > 0 {
			own := *g
			own.as, own.score, own.n, own.notes = "user", .7, 1, []string{"a person begins"}
			own.when = append([]guessCond{{sel: "record:@index", values: []string{"1"}, first: true}}, g.when...)
			d.best.rules = append([]*guess{&own}, d.best.rules...)
		}
		return
	}
}

// mend adds what only reading shows: things that are recorded twice, and text in tags. It
// says whether something was added.
func (d *drafting) mend(o *outcome) bool {
	changed := false
	var same []string
	if joined := d.best.db != nil && len(d.best.db.link) > 1; !joined && slices.ContainsFunc(d.common, func(m metaLine) bool { return m.key == "id" }) {
		recs := takeSurvey(d.best.elems, &d.a)
		for _, m := range d.common {
			if f := recs.index[m.value]; m.key == "id" && f != nil && !f.more && len(f.values) < f.n && d.grows(f) {
				same = append(same, fmt.Sprintf("  - {as: record, by: id, keep: last}   # %d of %d ids stand twice: a later record replaces the first", f.n-len(f.values), f.n))
			}
		}
	}
	for _, role := range []chat.Role{chat.ToolCall, chat.ToolResult} {
		twice := 0
		for _, n := range o.callIDs[role] {
			if n > 1 {
				twice++
			}
		}
		if twice > 0 {
			same = append(same, fmt.Sprintf("  - {as: %s, by: call}   # %d of %d call ids stand twice", role, twice, len(o.callIDs[role])))
		}
	}
	if len(same) > 0 {
		d.extra = append(d.extra, "same:\n"+strings.Join(same, "\n"))
		changed = true
	}
	var layers []string
	for _, role := range []chat.Role{chat.User, chat.Assistant, chat.Reasoning} {
		if line := d.layer(role, o.rules[role], len(layers) > 0); line != "" {
			layers = append(layers, line)
		}
	}
	if len(layers) > 0 {
		d.extra = append(d.extra, "layers:\n"+strings.Join(layers, "\n"))
		changed = true
	}
	if tags := promptTags(o.prompts) + answerTags(o.answers); tags != "" {
		d.extra = append(d.extra, "clean:"+tags)
		changed = true
	}
	return changed
}

// layer looks for two rules that make the same texts: the tool records them twice.
// For one text alone that is said only if another role's are.
func (d *drafting) layer(role chat.Role, rules map[string][]string, sure bool) string {
	paths := make([]string, 0, len(rules))
	for p := range rules {
		paths = append(paths, p)
	}
	slices.Sort(paths)
	for i, a := range paths {
		for _, b := range paths[i+1:] {
			x, y := rules[a], rules[b]
			few, many, fewPath, manyPath := x, y, a, b
			if len(y) < len(x) {
				few, many, fewPath, manyPath = y, x, b, a
			}
			have := map[string]bool{}
			for _, t := range many {
				have[strings.TrimSpace(t)] = true
			}
			both := 0
			for _, t := range few {
				if have[strings.TrimSpace(t)] {
					both++
				}
			}
			if both*3 < len(few)*2 || len(few) < 2 && !sure && (both < 1 || role != chat.User) || topOf(a) == topOf(b) {
				continue
			}
			g, h := d.ruleAt(fewPath), d.ruleAt(manyPath)
			if g == nil || h == nil || g == h {
				continue
			}
			g.layer, h.layer = "short", "full"
			order := "[full, short]"
			if role == chat.User {
				order = "[short, full]" // what the longer list has besides was not typed
			}
			return fmt.Sprintf("  %s: %s   # ? %d of %d texts of one rule stand in the other's: recorded twice", role, order, both, len(few))
		}
	}
	return ""
}

var rulePath = regexp.MustCompile(`(messages|first|all)\[(\d+)\]`)

// topOf is the number of the rule of messages that a rule's path begins with.
func topOf(path string) string {
	if m := rulePath.FindString(path); m != "" {
		return m
	}
	return path
}

// ruleAt is the guess that became the rule at a path. Gaps became none.
func (d *drafting) ruleAt(path string) *guess {
	list := d.best.rules
	var at *guess
	for _, m := range rulePath.FindAllStringSubmatch(path, -1) {
		n, _ := strconv.Atoi(m[2])
		if m[1] == "messages" {
			n -= d.shift
		}
		if at != nil {
			list = at.first
			if m[1] == "all" {
				list = at.all
			}
		}
		at = nil
		for _, g := range list {
			if g.gap != "" {
				continue
			}
			if n == 0 {
				at = g
				break
			}
			n--
		}
		if at == nil {
			return nil
		}
	}
	return at
}

var leadingTag = lazily(`^\s*<([A-Za-z][A-Za-z0-9_-]{2,40})(?: [^<>\n]*)?>`)

// promptTags looks for harness text: prompts that begin with a tag. Tags whose name speaks of
// the person hold what was typed.
func promptTags(prompts []string) string {
	seen := map[string]int{}
	for _, p := range prompts {
		for {
			m := leadingTag().FindStringSubmatch(p)
			if m == nil {
				break
			}
			end := strings.Index(p, "</"+m[1]+">")
			if end < 0 {
				break
			}
			seen[m[1]]++
			p = p[end+len(m[1])+3:]
		}
	}
	return tagLines("user", "prompts that begin with <name>", seen, func(name string) string {
		if w := words(name); hasWord(w, "command") && len(w) == 2 {
			switch w[1] {
			case "name":
				return "command"
			case "args", "arguments":
				return "args"
			case "message":
				return "drop" // the name again
			}
		}
		if hasWord(words(name), "user query request task feedback answer message prompt question input") && !hasWord(words(name), "info instruction context reminder notification rule caveat stdout command") {
			return "inside"
		}
		return "system"
	})
}

var lineTag = lazily(`(?m)^[ \t]*<([A-Za-z][A-Za-z0-9_-]{2,40})>`)

// answerTags looks for thoughts, and for calls whose input is tags in a tag, in what the
// model says.
func answerTags(answers []string) string {
	seen, calls := map[string]int{}, map[string]bool{}
	for _, p := range answers {
		for m := lineTag().FindStringSubmatchIndex(p); m != nil; m = lineTag().FindStringSubmatchIndex(p) {
			name := p[m[2]:m[3]]
			inside, rest, ok := strings.Cut(p[m[1]:], "</"+name+">")
			if !ok {
				p = p[m[1]:]
				continue
			}
			inside = strings.TrimSpace(inside)
			call := leadingTag().MatchString(inside) && strings.HasSuffix(inside, ">")
			if call || classOf(name) == classReasoning {
				seen[name]++
				calls[name] = call
			}
			p = rest
		}
	}
	return tagLines("assistant", "in answers", seen, func(name string) string {
		if calls[name] && classOf(name) != classReasoning {
			return "call"
		}
		return "reasoning"
	})
}

// tagLines writes what becomes of tags in the texts of a role.
func tagLines(role, why string, seen map[string]int, what func(string) string) string {
	if len(seen) == 0 {
		return ""
	}
	names := sortedNames(seen)
	var b strings.Builder
	fmt.Fprintf(&b, "\n  %s:\n    tags:   # %s", role, why)
	for _, n := range names {
		fmt.Fprintf(&b, "\n      %s: %s   # %d # ?", yamlScalar(n), what(n), seen[n])
	}
	return b.String()
}

// write gives the draft as YAML.
func (d *drafting) write(name, tests string) string {
	var b strings.Builder
	s := d.best
	pattern, why, score := d.pattern()
	fmt.Fprintf(&b, "# A draft, made by `parlance infer` from %s (%s).\n", comment(filepath.Base(d.path)), comment(s.count))
	b.WriteString("# Behind each guess stands what was seen for it. \"# ?\" marks doubtful ones, GAP what could not be told.\n")
	fmt.Fprintf(&b, "# Save it as %s.yaml, mend it, then: parlance check %s.yaml\n", name, name)
	for _, w := range d.warnings {
		fmt.Fprintf(&b, "# GAP %s\n", comment(w))
	}
	fmt.Fprintf(&b, "parlance: 1\nname: %s\n\nsources:\n", name)
	mark := ""
	if score < doubtBelow {
		mark = " # ?"
	}
	fmt.Fprintf(&b, "  - id: main\n    paths: [%s]   # %s%s\n    container: %s\n", yamlScalar(pattern), comment(why), mark, s.container)
	if s.convs != "" {
		fmt.Fprintf(&b, "    conversations: %s\n", yamlScalar(s.convs))
	}
	if s.hasList {
		fmt.Fprintf(&b, "    records: %s   # %s\n", yamlScalar(s.records), comment(s.count))
	}
	for _, l := range s.lines {
		fmt.Fprintf(&b, "    %s\n", l)
	}
	if w := d.when(); w != "" {
		fmt.Fprintf(&b, "    when: %s\n", w)
	}
	writeMeta(&b, "conversation", d.meta)
	writeMeta(&b, "common", d.common)
	writeMeta(&b, "tree", d.tree)
	if d.pairing != "" {
		fmt.Fprintf(&b, "\npair: %s   # results without a call id\n", d.pairing)
	}
	for _, e := range d.extra {
		b.WriteString("\n" + e + "\n")
	}
	b.WriteString("\nmessages:\n")
	b.WriteString(d.aside)
	for _, g := range s.rules {
		g.write(&b, "  ")
	}
	if tests != "" {
		b.WriteString("\n" + tests)
	}
	return b.String()
}

// when tells this format's files from others: the discriminator that most records have.
func (d *drafting) when() string {
	if d.best.container == "sqlite" || d.best.container == "text" || slices.ContainsFunc(d.best.lines, func(l string) bool { return strings.HasPrefix(l, "replay") }) {
		return ""
	}
	if d.best.container == "json" {
		if d.best.hasList && d.best.records != "." && d.best.convs == "" {
			return "{" + condKey(d.best.records) + ": {exists: true}}"
		}
		return ""
	}
	var best *guess
	for _, g := range d.best.rules {
		if g.makes("user") > 0 && len(g.when) > 0 && (best == nil || g.n > best.n) {
			best = g
		}
	}
	if best == nil {
		return ""
	}
	return "{" + condKey(best.when[0].sel) + ": {exists: true}}"
}

// summary is for people: what was found and what comes next.
func (d *drafting) summary(name, text string, o *outcome) []string {
	var roles []string
	for _, r := range chat.Roles {
		if n := o.byRole[r]; n > 0 {
			roles = append(roles, fmt.Sprintf("%s %d", r, n))
		}
	}
	out := []string{
		fmt.Sprintf("%s, %s", d.best.container, d.best.count),
		fmt.Sprintf("the draft reads %s: %s", plural(o.convs, "conversation"), strings.Join(roles, ", ")),
	}
	if len(o.skipped) > 0 {
		out = append(out, "skipped: "+tally(o.skipped))
	}
	if len(o.noRule) > 0 {
		out = append(out, "no rule yet: "+tally(o.noRule))
	}
	out = append(out, fmt.Sprintf("doubtful guesses, marked \"# ?\": %d; gaps, marked GAP: %d", strings.Count(text, doubtMark+"\n"), strings.Count(text, gapMark)))
	out = append(out, o.problems...)
	return append(out, fmt.Sprintf("next: save it as %s.yaml, then: parlance check %s.yaml", name, name))
}

// extend drafts a mapping that starts from another, whose source reads this file.
func (d *drafting) extend(m *Mapping, src *Source, unknown map[string]int) (Draft, bool) {
	_, data, ok := d.opts.Set.base("")(m.Name)
	if !ok {
		return Draft{}, false
	}
	var file struct {
		Extends string
		Sources []yaml.Node
	}
	if yaml.Unmarshal(data, &file) != nil || src.index >= len(file.Sources) {
		return Draft{}, false
	}
	node := &file.Sources[src.index]
	d.best = &shape{db: nil}
	if src.Container == "sqlite" {
		d.best.db = &dbShape{}
	}
	pattern, why, score := d.pattern()
	// What other sources name (groups of a path, files beside it) may be used anywhere in the
	// mapping: here it is absent, and has to be known nevertheless.
	captures := []string{""}
	for i := range file.Sources {
		other := &file.Sources[i]
		if c := nodeAt(other, "capture"); c != nil && !slices.Contains(captures, c.Value) {
			captures = append(captures, c.Value)
		}
		if i != src.index {
			lend(node, other)
		}
	}
	own := nodeAt(node, "capture")
	bare(node, map[string]bool{"paths": true, "paths_from": true, "exclude": true, "split": true, "capture": true, "id": true})
	var body bytes.Buffer
	e := yaml.NewEncoder(&body)
	e.SetIndent(2)
	if e.Encode(node) != nil {
		return Draft{}, false
	}
	if own != nil {
		captures = []string{own.Value}
	}
	capture := ""
	out := Draft{Name: d.name(), Extends: m.Name}
	mark := ""
	if score < doubtBelow {
		mark = " # ?"
	}
	head := func() string {
		var b strings.Builder
		fmt.Fprintf(&b, "# A draft, made by `parlance infer` from %s: the rules of %s read it.\n", comment(filepath.Base(d.path)), m.Name)
		fmt.Fprintf(&b, "# `parlance mapping %s` prints what this starts from; a key written here replaces the one there.\n", m.Name)
		fmt.Fprintf(&b, "parlance: 1\nname: %s\nextends: %s\n\nsources:\n", out.Name, m.Name)
		fmt.Fprintf(&b, "  - id: main\n    paths: [%s]   # %s%s\n", yamlScalar(pattern), comment(why), mark)
		for _, line := range strings.Split(strings.TrimRight(body.String(), "\n"), "\n") {
			if strings.TrimSpace(line) != "{}" {
				fmt.Fprintf(&b, "    %s\n", line)
			}
		}
		if capture != "" {
			fmt.Fprintf(&b, "    capture: %s\n", yamlScalar(capture))
		}
		if len(unknown) > 0 {
			fmt.Fprintf(&b, "\n# GAP no rule of %s knows these records: %s.\n", m.Name, comment(tally(unknown)))
			b.WriteString("#   A messages: list here replaces the whole list there; copy it, and add rules for them.\n")
		}
		return b.String()
	}
	var text string
	var mine *Mapping
	var err error
	for _, capture = range captures {
		text = head()
		if mine, err = d.compile(text + noTests); err == nil {
			break
		}
	}
	if mine == nil {
		return Draft{}, false
	}
	got := d.read(mine)
	if got.byRole[chat.User] == 0 {
		return Draft{}, false
	}
	tests := noTests
	if own := d.rawTests(mine); own != "" {
		if with, err := d.compile(text + "\n" + own); err == nil && !fatal(with.RunTests(d.ctx)) {
			tests = "\n" + own
		}
	}
	if tests == noTests && fatal(mine.RunTests(d.ctx)) {
		return Draft{}, false
	}
	text += tests
	out.YAML = text
	var roles []string
	for _, r := range chat.Roles {
		if n := got.byRole[r]; n > 0 {
			roles = append(roles, fmt.Sprintf("%s %d", r, n))
		}
	}
	out.Summary = append(out.Summary, fmt.Sprintf("the draft extends %s and reads %s: %s", m.Name, plural(got.convs, "conversation"), strings.Join(roles, ", ")))
	if len(unknown) > 0 {
		out.Summary = append(out.Summary, "no rule yet: "+tally(unknown))
	}
	out.Summary = append(out.Summary, fmt.Sprintf("next: save it as %s.yaml, then: parlance check %s.yaml", out.Name, out.Name))
	return out, true
}

// noTests keeps those of the mapping that a draft starts from out of it: they are about its
// sources.
const noTests = "\ntests:\n  - {name: an empty record says nothing, records: \"{}\", expect: []}\n"

// nodeAt is the value of a key of a map node, nil if there is none.
func nodeAt(n *yaml.Node, key string) *yaml.Node {
	for i := 0; n.Kind == yaml.MappingNode && i+1 < len(n.Content); i += 2 {
		if n.Content[i].Value == key {
			return n.Content[i+1]
		}
	}
	return nil
}

// lend gives a source the sidecars of another that it lacks.
func lend(to, from *yaml.Node) {
	theirs := nodeAt(from, "sidecar")
	if theirs == nil || to.Kind != yaml.MappingNode {
		return
	}
	mine := nodeAt(to, "sidecar")
	if mine == nil {
		mine = &yaml.Node{Kind: yaml.MappingNode, Style: yaml.FlowStyle}
		to.Content = append(to.Content, &yaml.Node{Kind: yaml.ScalarNode, Value: "sidecar"}, mine)
	}
	for i := 0; i+1 < len(theirs.Content); i += 2 {
		if nodeAt(mine, theirs.Content[i].Value) == nil {
			mine.Content = append(mine.Content, theirs.Content[i], theirs.Content[i+1])
		}
	}
}

// bare takes comments and some keys off a node.
func bare(n *yaml.Node, without map[string]bool) {
	n.HeadComment, n.LineComment, n.FootComment = "", "", ""
	if n.Kind == yaml.MappingNode {
		kept := n.Content[:0]
		for i := 0; i+1 < len(n.Content); i += 2 {
			if !without[n.Content[i].Value] {
				kept = append(kept, n.Content[i], n.Content[i+1])
			}
		}
		n.Content = kept
	}
	for _, sub := range n.Content {
		bare(sub, nil)
	}
}
