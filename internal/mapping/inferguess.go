package mapping

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
)

// doubtBelow is the score under which a guess is marked as doubtful.
const doubtBelow = 0.8

// A guess is one rule of a draft.
type guess struct {
	when  []guessCond
	each  []string
	as    string // "" if first or all say it
	first []*guess
	all   []*guess

	text, name, call, input []string // selectors, of which the first that is not empty counts
	concat                  bool     // text is all of its selectors
	nameIs                  string   // constant name
	nameFrom                string   // name as YAML
	textFrom                string   // text as YAML
	inputFrom               string   // input as YAML
	failed                  string   // as YAML
	result                  *guess
	layer                   string

	n     int     // elements
	score float64 // of the weakest guess in it
	gap   string  // there is no rule: what was seen
	notes []string
}

// A guessCond is one test of a guess's condition.
type guessCond struct {
	sel    string
	path   []string
	values []string // nil: it exists
	first  bool     // it is about the number of the record
}

// key is the rule without its condition and count, for comparing.
func (g *guess) key() string {
	var b strings.Builder
	fmt.Fprint(&b, g.each, g.as, g.text, g.textFrom, g.concat, g.name, g.nameIs, g.nameFrom, g.call, g.input, g.inputFrom, g.failed, g.gap != "")
	for _, list := range [][]*guess{g.first, g.all} {
		b.WriteString("[")
		for _, s := range list {
			fmt.Fprint(&b, s.when, s.key(), ";")
		}
	}
	if g.result != nil {
		b.WriteString("=" + g.result.key())
	}
	return b.String()
}

// makes counts the elements of which the rule makes messages of a role.
func (g *guess) makes(role string) int {
	if g.as == role {
		return g.n
	}
	n := 0
	for _, list := range [][]*guess{g.first, g.all} {
		for _, s := range list {
			n += s.makes(role)
		}
	}
	return n
}

func madeBy(rules []*guess, role string) (n int) {
	for _, g := range rules {
		n += g.makes(role)
	}
	return n
}

// talks says whether rules make messages at all.
func talks(rules []*guess) bool {
	return madeBy(rules, "user")+madeBy(rules, "assistant")+madeBy(rules, "tool_call")+madeBy(rules, "tool_result")+madeBy(rules, "reasoning") > 0
}

// A guesser makes rules of elements.
type guesser struct {
	a        *arena
	repeat   map[string]int // how many records or blocks hold an id-like text: calls and results share theirs
	total    int
	payloads map[string]bool // types that are also the key of an object beside them
	spoken   map[string]bool // words of blocks in which the person speaks
	lone     bool            // the elements at hand are all of one kind
	own      map[string]bool // fields that nearly every record has, each with a value of its own: ids of records
}

// countRepeats notes the id-like texts of the records.
func (g *guesser) countRepeats(records []*value) {
	g.repeat, g.total, g.spoken = map[string]int{}, len(records), map[string]bool{}
	g.payloads = map[string]bool{}
	for _, rec := range records {
		g.noteIDs(rec, 0)
		for _, key := range strings.Fields("type kind event") {
			if t := rec.get(key, g.a); t.kind() == jsonString && len(t.raw) < 60 && rec.get(t.str(), g.a).kind() == jsonObject {
				g.payloads[t.str()] = true
			}
		}
	}
}

func (g *guesser) noteIDs(v *value, depth int) {
	if depth > surveyDepthMax+2 {
		return
	}
	switch v.kind() {
	case jsonObject:
		v.open(g.a)
		own := map[string]bool{}
		for i := range v.members {
			m := &v.members[i].val
			if hasWord(words(unquote(v.members[i].key)), "parent up prev previous") {
				continue // links of a tree join records, not calls and results
			}
			if m.kind() == jsonString && len(m.raw) > 2 && len(m.raw) < 90 && !strings.ContainsAny(m.raw, " \\") {
				if text := m.raw[1 : len(m.raw)-1]; !own[text] {
					own[text] = true
					if len(g.repeat) < 1_000_000 {
						g.repeat[text]++
					}
				}
				continue
			}
			g.noteIDs(m, depth+1)
		}
	case jsonArray:
		list := v.list(g.a)
		for i := range list[:min(len(list), listMax)] {
			g.noteIDs(&list[i], depth+1)
		}
	}
}

// listMax bounds what is looked at of a list inside of a record.
const listMax = 500

// rulesDeep bounds lists inside of lists.
const rulesDeep = 3

// rules makes rules of elements: role is what their record says of who speaks, "" on the
// records themselves.
func (g *guesser) rules(elems []*value, role string, deep int) []*guess {
	c := takeSurvey(elems, g.a)
	if deep == 0 {
		g.own = map[string]bool{}
		for _, f := range c.fields {
			if f.scalars() == f.n && f.n*10 >= c.n*8 && len(f.values)*10 >= f.n*7 && f.n > 3 {
				g.own[f.sel] = true
			}
		}
	}
	discs := c.discriminators()
	discs = slices.DeleteFunc(discs, func(d *disc) bool { // an id under a weak name
		if d.flag || d.known > 0 || !inWords(plainKey(d.f.key()), "tag source category") {
			return false
		}
		for v := range d.f.values {
			if g.repeat[v] != 2 {
				return false
			}
		}
		return true
	})
	if deep == 0 && role == "" {
		if d := g.voices(c, discs, elems); d != nil {
			discs = append([]*disc{d}, slices.DeleteFunc(discs, func(o *disc) bool { return o.f == d.f })...)
		}
	}
	if len(discs) > 12 {
		discs = discs[:12]
	}
	texts := make([][]string, len(discs)) // per disc and element
	for d, ds := range discs {
		texts[d] = make([]string, len(elems))
		for k, i := range ds.f.at {
			switch {
			case ds.presence:
				texts[d][i] = "\x00"
			case ds.flag:
				if v := ds.f.vals[k].str(); v == "true" && !ds.inverse || v == "1" || v == "false" && ds.inverse {
					texts[d][i] = v
				}
			default:
				texts[d][i] = ds.f.vals[k].str()
			}
		}
	}
	type bucket struct {
		sig   []string
		elems []*value
		rule  *guess
	}
	var groups []*bucket
	byKey := map[string]*bucket{}
	for i, e := range elems {
		sig := make([]string, len(discs))
		for d := range discs {
			sig[d] = texts[d][i]
		}
		key := strings.Join(sig, "\x01")
		b := byKey[key]
		if b == nil {
			if len(groups) >= inferGroupsMax {
				continue
			}
			b = &bucket{sig: sig}
			byKey[key] = b
			groups = append(groups, b)
		}
		b.elems = append(b.elems, e)
	}
	speakers := g.speakers(discs, elems, texts)
	verdicts := make([]verdict, len(groups))
	for i, b := range groups {
		verdicts[i] = g.classes(discs, b.sig, speakers)
	}
	do := func(i int, role string) {
		g.lone = len(groups) == 1
		groups[i].rule = g.action(groups[i].elems, verdicts[i], role, deep)
		groups[i].rule.n = len(groups[i].elems)
	}
	// The person first: the words of their blocks are those of prose.
	for _, first := range []bool{true, false} {
		for i := range groups {
			if (verdicts[i].class == classUser) == first {
				if !first {
					verdicts[i] = g.classes(discs, groups[i].sig, speakers)
				}
				do(i, role)
			}
		}
	}
	// Prose of nobody in particular is the model's, if the person speaks elsewhere.
	if role == "" {
		var rules []*guess
		for _, b := range groups {
			rules = append(rules, b.rule)
		}
		if madeBy(rules, "user") > 0 {
			for i := range groups {
				if verdicts[i].class == classText {
					verdicts[i].score = .65
					do(i, "assistant")
				}
			}
		}
	}
	// Somebody answers: if nobody does, it is the kind that holds most prose.
	if role == "" && deep == 0 {
		var rules []*guess
		for _, b := range groups {
			rules = append(rules, b.rule)
		}
		if madeBy(rules, "user") > 0 && madeBy(rules, "assistant") == 0 {
			at, most := -1, 0
			for i, b := range groups {
				if n := g.proseIn(b.elems); n > most && !talks([]*guess{b.rule}) && b.rule.as != "system" {
					at, most = i, n
				}
			}
			if most*3 >= madeBy(rules, "user") {
				verdicts[at].class, verdicts[at].score = classAssistant, .6
				do(at, role)
			}
		}
	}
	// Drop discriminators that change nothing, the deepest first. The one that most elements
	// have stays: a word that comes tomorrow must not pass for one that is known.
	primary, most := -1, -1
	for d, ds := range discs {
		if n := ds.f.n; !ds.flag && (n > most) {
			primary, most = d, n
		}
	}
	for d := len(discs) - 1; d >= 0; d-- {
		if d == primary || discs[d].presence {
			continue
		}
		same := map[string]string{}
		fine := true
		for _, b := range groups {
			rest := slices.Clone(b.sig)
			rest[d] = ""
			key := strings.Join(rest, "\x01")
			if strings.Trim(key, "\x01") == "" && b.sig[d] != "" {
				fine = false // it would hold for everything
			}
			if k, ok := same[key]; ok && k != b.rule.key() {
				fine = false
			}
			same[key] = b.rule.key()
		}
		if !fine {
			continue
		}
		for _, b := range groups {
			b.sig[d] = ""
		}
	}
	// Groups that agree now are one; those that differ in one word share a rule.
	var out []*guess
	index := map[string]*guess{}
	for _, b := range groups {
		for d, ds := range discs {
			if b.sig[d] == "" {
				continue
			}
			cond := guessCond{sel: ds.f.sel, path: ds.f.path}
			if !ds.presence {
				cond.values = []string{b.sig[d]}
			}
			b.rule.when = append(b.rule.when, cond)
		}
		key := fmt.Sprint(b.rule.when, b.rule.key())
		if have := index[key]; have != nil {
			have.n += b.rule.n
			continue
		}
		index[key] = b.rule
		out = append(out, b.rule)
	}
	out = mergeValues(out)
	slices.SortStableFunc(out, func(x, y *guess) int {
		if d := len(y.when) - len(x.when); d != 0 {
			return d
		}
		return lastOf(x) - lastOf(y)
	})
	return out
}

// proseIn is how many elements have prose in a field that may be an answer.
func (g *guesser) proseIn(elems []*value) int {
	n := 0
	c := takeSurvey(elems, g.a)
	if f := c.longestProse(); f != nil {
		n = f.prose
	}
	for _, f := range c.fields {
		if k := plainKey(f.key()); textNames[k] >= .85 || outputNames[k] >= .9 {
			if proseFit(f) > 0 {
				n = max(n, f.prose)
			}
		}
	}
	return n
}

// inferGroupsMax bounds the kinds of elements that are looked at.
const inferGroupsMax = 300

// lastOf puts what makes nothing behind.
func lastOf(g *guess) int {
	if g.as == actSkip || g.gap != "" {
		return 1
	}
	return 0
}

// mergeValues makes one rule of rules that differ in the words of one test.
func mergeValues(rules []*guess) []*guess {
	var out []*guess
	for _, r := range rules {
		merged := false
		for _, have := range out {
			if have.key() != r.key() || len(have.when) != len(r.when) {
				continue
			}
			differ := -1
			for i := range have.when {
				if have.when[i].sel != r.when[i].sel || (have.when[i].values == nil) != (r.when[i].values == nil) {
					differ = -2
					break
				}
				if !slices.Equal(have.when[i].values, r.when[i].values) {
					if differ != -1 {
						differ = -2
						break
					}
					differ = i
				}
			}
			if differ < 0 {
				continue
			}
			for _, v := range r.when[differ].values {
				if !slices.Contains(have.when[differ].values, v) {
					have.when[differ].values = append(have.when[differ].values, v)
				}
			}
			have.n += r.n
			have.score = math.Min(have.score, r.score)
			merged = true
			break
		}
		if !merged {
			out = append(out, r)
		}
	}
	return out
}

// A verdict is what the discriminators say of a group.
type verdict struct {
	class class
	prose class  // who speaks, whatever class says
	role  bool   // a key such as role said it, not one such as type
	meta  bool   // harness text in somebody's name
	word  string // what said it, for the name of a call
	score float64
	seen  string // the words, for a gap
	// typeIs is the word under type.
	typeIs string
	part   bool // a piece of what comes whole later
}

// speakers gives the person and the model their words where only their order tells who is
// who: two words on which texts stand, and the first to speak is the person.
func (g *guesser) speakers(discs []*disc, elems []*value, texts [][]string) map[string]class {
	out := map[string]class{}
	for d, ds := range discs {
		if ds.flag || ds.presence {
			continue
		}
		if ds.says != classNone {
			other := classUser
			if ds.says == classUser {
				other = classAssistant
			}
			out[fmt.Sprint(d, "\x00true")], out[fmt.Sprint(d, "\x00false")] = ds.says, other
			continue
		}
		if ds.voices != nil {
			for t, cl := range ds.voices {
				out[fmt.Sprint(d, "\x00", t)] = cl
			}
			continue
		}
		if !ds.role && ds.f.kinds[jsonNumber] == 0 {
			if t := g.answerer(texts[d], elems); t != "" {
				out[fmt.Sprint(d, "\x00", t)] = classAssistant
			} else if t := g.asker(texts[d], elems); t != "" {
				out[fmt.Sprint(d, "\x00", t)] = classUser
			}
			continue
		}
		var order []string
		known := map[class]bool{}
		unknown := 0
		for i := range elems {
			if t := texts[d][i]; t != "" && !slices.Contains(order, t) {
				order = append(order, t)
				if cl := classOf(t); cl != classNone {
					known[cl] = true
				} else {
					unknown++
				}
			}
		}
		id := func(t string) string { return fmt.Sprint(d, "\x00", t) }
		switch {
		case known[classUser] && known[classAssistant], unknown == 0:
		case unknown > 1 && known[classUser]:
			if t := g.answerer(texts[d], elems); t != "" {
				out[id(t)] = classAssistant
			}
		case unknown == 1 && (known[classUser] != known[classAssistant]):
			for _, t := range order {
				if classOf(t) == classNone {
					out[id(t)] = classUser
					if known[classUser] {
						out[id(t)] = classAssistant
					}
				}
			}
		case known[classAssistant] && !known[classUser]:
			// The first of the others who writes as people do.
			said := map[string][]*value{}
			for i, t := range texts[d] {
				said[t] = append(said[t], elems[i])
			}
			for _, t := range order {
				if classOf(t) == classNone && takeSurvey(said[t], g.a).longestProse() != nil {
					out[id(t)] = classUser
					break
				}
			}
		case unknown == 2 && !known[classUser] && !known[classAssistant] && len(elems) >= 4:
			next := classUser
			for _, t := range order {
				if classOf(t) == classNone {
					out[id(t)] = next
					next = classAssistant
				}
			}
		}
	}
	return out
}

// asker is the word under which the person speaks, where the model has one and the person has
// none that is known: the one that begins, and stands before the model's answers.
func (g *guesser) asker(texts []string, elems []*value) string {
	first, last := "", ""
	before, answers := map[string]int{}, 0
	for i, t := range texts {
		switch cl := classOf(t); {
		case cl == classUser:
			return ""
		case cl == classAssistant:
			if answered := classOf(last) == classAssistant; last != "" && !answered {
				answers++
				before[last]++
			}
			last = t
		case cl == classNone && t != "" && proseBelow(elems[i], 0, g.a):
			if first == "" {
				first = t
			}
			last = t
		}
	}
	if answers < 2 || before[first]*10 < answers*8 {
		return ""
	}
	return first
}

// voices finds the field that holds who speaks where no word is known for it: by what they do,
// else by their turns. Who makes calls is the model, who gives what came of them is a tool, and
// who is left and writes prose is the person. Calls and results share an id, which stands in
// two records, first in the call's.
func (g *guesser) voices(c *survey, have []*disc, elems []*value) *disc {
	if !nobody(have) {
		return nil
	}
	records := map[string]bool{} // their own ids, by which a tree links them
	for _, f := range c.fields {
		if g.own[f.sel] || f.depth == 1 && f.n == c.n && len(f.values)*2 <= f.n { // or those of conversations
			for v := range f.values {
				records[v] = true
			}
		}
	}
	first, pairs := map[string]int{}, map[[2]int]bool{} // of elements
	for i, e := range elems {
		g.eachID(e, 0, func(id string) {
			if records[id] {
				return
			}
			if at, seen := first[id]; !seen {
				first[id] = i
			} else if at != i && g.repeat[id] == 2 {
				pairs[[2]int{at, i}] = true
			}
		})
	}
	for _, f := range c.fields {
		if !voiceOf(f) || f.n < c.n || g.own[f.sel] {
			continue
		}
		calls, results := map[string]int{}, map[string]int{}
		for p := range pairs {
			if from, to := f.vals[p[0]].str(), f.vals[p[1]].str(); from != to {
				calls[from]++
				results[to]++
			}
		}
		if len(calls) != 1 || len(results) != 1 {
			continue
		}
		voices := map[string]class{}
		for t := range calls {
			voices[t] = classAssistant
		}
		for t := range results {
			if voices[t] == classNone {
				voices[t] = classResult
			}
		}
		// The person is who is left, writes prose, and is answered. The model speaks as well.
		before, last, speaks := map[string]int{}, "", false
		for i, v := range f.vals {
			switch t := v.str(); {
			case voices[t] == classAssistant:
				if last != "" {
					before[last]++
					last = ""
				}
				speaks = speaks || proseBelow(elems[i], 0, g.a)
			case voices[t] == classNone && proseBelow(elems[i], 0, g.a):
				last = t
			}
		}
		rest := ""
		for _, t := range sortedNames(before) {
			if rest == "" || before[t] > before[rest] {
				rest = t
			}
		}
		if rest != "" && len(voices) == 2 && speaks {
			voices[rest] = classUser
			return &disc{f: f, role: true, voices: voices, known: f.n}
		}
	}
	return c.turns(g.a)
}

// eachID calls fn for the id-like texts in a value: short, without blanks, with a digit.
func (g *guesser) eachID(v *value, depth int, fn func(id string)) {
	if depth > surveyDepthMax+2 {
		return
	}
	switch v.kind() {
	case jsonObject:
		v.open(g.a)
		for i := range v.members {
			m := &v.members[i].val
			if m.kind() == jsonString {
				if t := m.str(); len(t) < 90 && strings.ContainsAny(t, "0123456789") && !strings.ContainsAny(t, " \n/\\") && !dateForm().MatchString(t) {
					fn(t)
				}
				continue
			}
			g.eachID(m, depth+1, fn)
		}
	case jsonArray:
		list := v.list(g.a)
		for i := range list[:min(len(list), listMax)] {
			g.eachID(&list[i], depth+1, fn)
		}
	}
}

// answerer is the word under which the model speaks, where the person has one and the model
// has none that is known: the one that holds texts most often.
func (g *guesser) answerer(texts []string, elems []*value) string {
	hold := map[string]int{}
	best := ""
	for i, t := range texts {
		if t == "" {
			continue
		}
		switch classOf(t) {
		case classAssistant, classText:
			return ""
		case classUser:
			if len(words(t)) == 1 {
				hold["\x00"]++
			}
		case classNone:
			c := takeSurvey([]*value{elems[i]}, g.a)
			if list := rank(c, textNames, proseFit); len(list) > 0 && list[0].score >= .85 {
				if hold[t]++; hold[t] > hold[best] {
					best = t
				}
			}
		}
	}
	if hold["\x00"] == 0 || hold[best]*3 < hold["\x00"] {
		return ""
	}
	return best
}

// classes weighs what the discriminators of a group say: calls, results and thoughts before
// speakers, the deep ones before the shallow.
func (g *guesser) classes(discs []*disc, sig []string, speakers map[string]class) verdict {
	v := verdict{score: 0.95}
	var seen []string
	special, prose := classNone, classNone
	proseRole, proseMain, text, unknown, unknownMain := false, false, false, false, false
	specialDepth, proseDepth, unknownDepth := 0, 0, 0
	for d := len(discs) - 1; d >= 0; d-- {
		ds, t := discs[d], sig[d]
		if t == "" {
			continue
		}
		word := t
		if ds.presence {
			word = ds.f.key()
		}
		if ds.flag {
			switch key := plainKey(ds.f.key()); {
			case inWords(key, thoughtFlags):
				special, specialDepth = classReasoning, ds.f.depth
			case inWords(key, partFlags):
				v.part = true
			case inWords(key, summaryFlags):
				special, specialDepth = classCompaction, ds.f.depth
			default:
				v.meta = true
			}
			seen = append(seen, ds.f.sel)
			continue
		}
		seen = append(seen, ds.f.sel+" = "+word)
		if ds.f.depth == 1 && inWords(plainKey(ds.f.key()), mainKeys) {
			v.typeIs = word
		}
		cl := classOf(word)
		if cl >= classCompaction && inWords(plainKey(ds.f.key()), "source category tag") {
			cl = classNone // it says where from, not what
		}
		if cl == classNone {
			if cl = speakers[fmt.Sprint(d, "\x00", t)]; cl != classNone && ds.says == classNone {
				v.score = 0.6
			}
		}
		switch cl {
		case classNone:
			if !ds.role && ds.known > 0 && !unknown && !g.spoken[word] {
				unknown, unknownDepth = true, ds.f.depth
				unknownMain = inWords(plainKey(ds.f.key()), mainKeys)
			}
			if g.spoken[word] {
				text = true
			}
		case classCall, classResult, classReasoning, classCompaction, classTool:
			// "tool" under type beside role: the more telling word wins.
			if special == classNone || special == classTool || special == classResult && cl == classReasoning {
				special, specialDepth, v.word, v.role = cl, ds.f.depth, word, ds.role
			}
		case classUser, classAssistant, classSystem:
			if prose == classNone || ds.role && !proseRole {
				prose, proseRole, proseDepth = cl, ds.role, ds.f.depth
				proseMain = inWords(plainKey(ds.f.key()), mainKeys)
			}
		case classText, classImage:
			text = true
			if cl == classImage {
				special = classImage
			}
		}
	}
	slices.Reverse(seen)
	v.seen, v.prose = strings.Join(seen, ", "), prose
	if unknownDepth == proseDepth && proseMain && !unknownMain {
		unknown = false // a kind of what is known
	}
	switch {
	case special == classResult && proseRole && prose == classUser && specialDepth <= proseDepth && !hasWord(words(v.word), "tool function result"):
		v.class = prose
	case special != classNone && !(unknown && unknownDepth > specialDepth):
		v.class = special
	case unknown && (unknownDepth > proseDepth || unknownDepth == proseDepth && !proseRole):
		v.class = classNone
	case prose != classNone:
		v.class = prose
	case text:
		v.class = classText
	}
	return v
}

// Names of fields, with how much they say. The forms are those of plainKey.
var (
	textNames = map[string]float64{"text": 1, "content": 1, "parts": .95, "message": .9, "body": .95, "markdown": .9, "msg": .9, "say": .9,
		"said": .9, "utterance": .9, "segments": .85, "blocks": .9, "entries": .85, "chunks": .7, "value": .7, "data": .5, "delta": .6,
		"line": .5, "output": .5, "response": .85, "answer": .85, "reply": .85, "prompt": .85, "query": .8, "question": .8,
		"userinput": .95, "input": .7, "request": .6, "summary": .5, "summarycontent": .6, "description": .3, "result": .45, "rendered": .5,
		"textcontent": .9, "modeloutput": .9, "task": .75, "contentjson": .95, "messagejson": .9, "payload": .5, "words": .7, "statement": .6, "comment": .6,
		"displaycontent": 1.1, "displaytext": 1.1, "requestmessage": .95, "responsetext": .95, "userresponse": .9, "outputtext": .9,
		"inputtext": .9, "think": .5, "thinking": .5, "proposal": .5, "string": .5, "post": .6, "raw": .4, "dialog": .6, "speech": .8}
	reasoningNames = map[string]float64{"reasoning": .95, "reasoningcontent": 1, "reasoningtext": 1, "thinking": .95, "thinkingtext": 1, "thought": .9,
		"thoughts": .9, "think": .9, "cot": .8, "chainofthought": .9, "musing": .6, "summary": .7, "reflection": .6}
	toolNames = map[string]float64{"toolname": 1, "functionname": .98, "tool": .9, "name": .92, "function": .6, "fn": .7, "func": .6, "toolid": .5, "tooltype": .5,
		"title": .3, "label": .3, "method": .3, "action": .3, "command": .15}
	inputNames = map[string]float64{"input": 1, "arguments": 1, "args": 1, "parameters": .95, "params": .95, "rawinput": .97, "toolinput": 1, "toolargs": 1,
		"inputs": .9, "kwargs": .8, "parsedargs": .6, "action": .5, "command": .5, "cmd": .5, "payload": .3, "data": .25, "query": .3, "request": .3, "with": .6, "argument": .8, "argv": .8, "argumentsjson": .9, "toolarguments": 1, "inputjson": .9}
	callIDNames = map[string]float64{"toolcallid": 1, "tooluseid": 1, "callid": 1, "sourcecallid": 1, "id": .6, "invocationid": .8, "correlationid": .7,
		"requestid": .35, "uuid": .3, "ref": .5, "stepid": .3, "executionid": .4, "functioncallid": 1, "toolid": .3, "key": .3}
	outputNames = map[string]float64{"output": 1, "result": .95, "results": .9, "content": .95, "response": .9, "text": .9, "stdout": .85, "returnvalue": .8, "observation": .9,
		"value": .8, "message": .6, "body": .8, "out": .8, "data": .4, "error": .5, "stderr": .3, "resultdisplay": .3, "returned": .8, "answer": .6, "outputs": .8, "toolresult": .9, "tooloutput": 1, "toolresponse": .9, "lines": .5, "outputtext": .9}
	bareOutputs = map[string]float64{"output": 1, "result": .95, "results": .8, "response": .8, "stdout": .85, "returnvalue": .8, "observation": .9, "out": .7, "error": .4, "content": .75, "tooloutput": 1, "toolresult": .9, "returned": .8}
)

// notText are keys whose texts are about a message and not said in it.
const notText = "id type role kind model cwd path file url uri version status title name label signature encryptedcontent encrypted agent provider sessionid branch gitbranch" +
	" slug mimetype mediatype language host platform html checksum hash cwdatstart usage error errormessage stopreason finishreason createdat updatedat timestamp directory worktree"

const callLists = "toolcalls toolcall toolrequests tooluses tooluse calls functioncalls functioncall toolinvocations toolinvocation invocations tools actions toolrequest requests"

const resultLists = "toolresults toolresult results observations observation toolresponses functionresponses functionresponse toolcallresults outputs tooloutputs"

// A candidate is a field with the score of its name.
type candidate struct {
	f     *inferField
	score float64
}

// rank gives the fields of a survey by names, the best first.
func rank(c *survey, names map[string]float64, fits func(*inferField) float64) []candidate {
	var out []candidate
	for _, f := range c.fields {
		s := names[plainKey(f.key())]
		if s == 0 || f.filled == 0 {
			continue
		}
		s += fits(f)
		s -= 0.02 * float64(f.depth)
		if s > 0 {
			out = append(out, candidate{f, s})
		}
	}
	slices.SortStableFunc(out, func(a, b candidate) int {
		switch {
		case a.score > b.score:
			return -1
		case a.score < b.score:
			return 1
		}
		return 0
	})
	return out
}

// cover gives the best candidates until every element has one of them.
func cover(list []candidate, n, most int) (sels []string, score float64) {
	if len(list) == 0 {
		return nil, 0
	}
	have := map[int]bool{}
	for _, cand := range list {
		gain := 0
		for k, i := range cand.f.at {
			if !have[i] && !cand.f.vals[k].empty() {
				gain++
				have[i] = true
			}
		}
		if gain == 0 {
			continue
		}
		sels = append(sels, cand.f.sel)
		if len(sels) >= most || len(have) >= n {
			break
		}
	}
	return sels, list[0].score
}

// action makes the rule of one group.
func (g *guesser) action(elems []*value, v verdict, role string, deep int) *guess {
	if v.part {
		return &guess{as: actSkip, score: .7, notes: []string{"pieces of what is recorded whole"}}
	}
	c := takeSurvey(elems, g.a)
	switch v.class {
	case classImage:
		if role != "" {
			return &guess{as: role, text: []string{"."}, score: v.score}
		}
	case classTool:
		if call := g.callRule(c, v.word, false); call != nil {
			return g.withThoughts(c, call)
		}
		id := g.callID(c, "")
		if v.role || id != nil && callIDNames[plainKey(id.f.key())] == 1 {
			if res := g.result(c, role, deep); res != nil {
				return res
			}
		}
		if own := g.payload(c, v); own != nil {
			return own
		}
		if call := g.callRule(c, v.word, true); call != nil {
			return g.withThoughts(c, call)
		}
	case classCall:
		call := g.callRule(c, v.word, true)
		weak := hasWord(words(v.word), "action command") && len(words(v.word)) == 1
		if weak && (v.prose == classUser || v.prose == classAssistant && (call == nil || call.score < doubtBelow)) {
			// A weak word, such as action: who speaks counts more.
			if parts := g.prose(c, classRole[v.prose], deep); len(parts) > 0 && madeBy(parts, classRole[v.prose]) > 0 {
				return bundle(parts)
			}
		}
		if call == nil || call.nameIs != "" {
			if own := g.payload(c, v); own != nil {
				return own
			}
			if parts := g.prose(c, role, deep); role == "assistant" && madeBy(parts, role) > 0 && madeBy(parts, "tool_call") > 0 {
				return bundle(parts)
			}
			if list := g.listed(c); list != nil {
				return list
			}
		}
		if call != nil && !(weak && len(call.input)+len(call.call) == 0 && call.result == nil) {
			return g.withThoughts(c, call)
		}
		if list := g.side(c, callLists, (*guesser).callOf); len(list) > 0 {
			return bundle(list)
		}
	case classResult:
		if res := g.result(c, role, deep); res != nil {
			return res
		}
	case classReasoning:
		if sels, score := g.reasoningText(c); len(sels) > 0 {
			return &guess{as: "reasoning", text: sels, score: math.Min(score, v.score)}
		}
	case classCompaction:
		if parts := g.prose(c, "compaction", deep); len(parts) > 0 {
			return bundle(parts)
		}
	case classUser, classAssistant, classSystem, classText:
		who := classRole[v.class]
		doubt := v.score
		if v.class == classText {
			who = role
		}
		if v.meta && (who == "user" || who == "assistant") {
			who, doubt = "system", math.Min(doubt, 0.75)
		}
		if who == "" {
			break
		}
		if parts := g.prose(c, who, deep); len(parts) > 0 {
			r := bundle(parts)
			r.score = math.Min(r.score, doubt)
			return r
		}
		if call := g.callRule(c, v.word, false); call != nil && call.score >= doubtBelow {
			return call
		}
		if r := g.listsOf(c, who, "", deep); r != nil && reasoned(r.first) {
			r.score = math.Min(r.score, doubt)
			return r
		}
		return &guess{as: actSkip, score: 1, notes: []string{"no text"}}
	}
	return g.unknown(c, v, role, deep)
}

// withThoughts adds the thoughts that stand beside a call.
func (g *guesser) withThoughts(c *survey, call *guess) *guess {
	var parts []*guess
	for _, p := range g.sideParts(c, "assistant") {
		if p.as == "reasoning" {
			parts = append(parts, p)
		}
	}
	// A thought beside a field that is named for reasoning is what the model says aloud.
	for _, f := range c.fields {
		if len(parts) == 1 && len(parts[0].text) > 0 && inWords(plainKey(f.key()), "thought thoughts") && !slices.Contains(parts[0].text, f.sel) && f.depth <= 2 &&
			hasWord(words(parts[0].text[0]), "reasoning") {
			parts = append(parts, &guess{as: "assistant", text: []string{f.sel}, n: f.filled, score: .7})
		}
	}
	return bundle(append(parts, call))
}

// listed makes the rule of elements that hold a list of calls or of results, whatever it is
// called.
func (g *guesser) listed(c *survey) *guess {
	for _, f := range c.fields {
		if f.kinds[jsonArray] == 0 || f.filled*2 < c.n {
			continue
		}
		elems, bare := g.elements(f)
		if len(elems) == 0 || bare > 0 {
			continue
		}
		in := takeSurvey(elems, g.a)
		r := g.callRule(in, "", false)
		if res := g.resultRule(in, false); res != nil && (r == nil || r.score < doubtBelow || len(r.input) == 0) {
			r = res
		}
		if r != nil && r.score >= doubtBelow {
			r.each, r.n = []string{f.sel}, len(elems)
			return r
		}
	}
	return nil
}

// result makes the rule of elements that are results, or hold a list of them.
func (g *guesser) result(c *survey, role string, deep int) *guess {
	id := g.callID(c, "")
	own := g.resultRule(c, true)
	if own == nil || id == nil || callIDNames[plainKey(id.f.key())] < 1 {
		if list := g.listsOf(c, role, "", deep); list != nil && madeBy([]*guess{list}, "tool_result") > 0 {
			return list
		}
		for _, f := range c.fields {
			if f.kinds[jsonArray] == 0 || f.filled*2 < c.n {
				continue
			}
			elems, bare := g.elements(f)
			if len(elems) == 0 || bare > 0 {
				continue
			}
			if res := g.resultRule(takeSurvey(elems, g.a), true); res != nil && len(res.call) > 0 {
				res.each, res.n = []string{f.sel}, len(elems)
				return res
			}
		}
	}
	return own
}

// unknown makes a rule of elements whose words say nothing: their fields may.
func (g *guesser) unknown(c *survey, v verdict, role string, deep int) *guess {
	if call := g.callRule(c, v.word, false); call != nil && call.score >= doubtBelow {
		return g.withThoughts(c, call)
	}
	if res := g.resultRule(c, false); res != nil && res.score >= doubtBelow {
		return res
	}
	// Fields that are named for who said them: an exchange in one element.
	var parts []*guess
	if role == "" {
		if call := g.payload(c, v); call != nil {
			return call
		}
		parts = g.exchange(c, deep, v.seen != "")
		if v.seen != "" && madeBy(parts, "user") == 0 {
			if r := g.linked(c); r != nil && r.as == "tool_result" {
				return r // an output, but of a call: they share an id
			}
		}
		if len(parts) == 0 {
			if r := g.listsOf(c, role, "", deep); r != nil {
				return r
			}
		}
	} else if v.seen == "" || g.lone && role == "user" {
		for _, side := range [][]*guess{g.side(c, callLists, (*guesser).callOf), g.side(c, resultLists, (*guesser).resultOf)} {
			if len(side) == 1 && c.index[side[0].each[0]] != nil && c.index[side[0].each[0]].n == c.n {
				return side[0] // nothing else says what the elements are
			}
		}
		if sels, score := cover(rank(c, textNames, proseFit), c.n, 3); len(sels) > 0 {
			for _, f := range c.fields {
				if v := f.constant(); role == "user" && f.depth == 1 && f.n == c.n && f.n > 1 && wordValue().MatchString(v) {
					g.spoken[v] = true
				}
			}
			return &guess{as: role, text: sels, score: math.Min(score, 0.9)}
		}
		if f := c.longestProse(); f != nil && v.seen == "" {
			return &guess{as: role, text: []string{f.sel}, score: .6}
		}
	}
	if len(parts) > 0 {
		r := bundle(parts)
		return r
	}
	if r := g.linked(c); r != nil {
		return r
	}
	// Long texts of somebody unknown are worth a word.
	for _, f := range c.fields {
		if name := textNames[plainKey(f.key())]; f.prose*2 > c.n && f.runes > 15*f.prose && name >= .5 || name >= .85 && f.prose*2 > c.n ||
			v.seen != "" && f.prose*2 > c.n && f.runes >= 12*f.prose && !inWords(plainKey(f.key()), notText) && !hasWord(words(f.key()), "title name label description summary") {
			return &guess{text: []string{f.sel}, gap: fmt.Sprintf("`%s` is prose in %d of %d (%d characters on average), but nothing says whose", f.sel, f.prose, c.n, f.runes/max(1, f.kinds[jsonString])), score: 0}
		}
	}
	return &guess{as: actSkip, score: 1}
}

// linkedField is a field whose values stand in one other record each, as the ids of calls do in
// their results; nil if there is none.
func (g *guesser) linkedField(c *survey) *inferField {
	for _, f := range c.fields {
		if g.own[f.sel] || f.kinds[jsonString] < f.n || f.n*2 < c.n || f.more || f.prose > 0 || f.depth > 4 || len(f.values) < f.n ||
			hasWord(words(f.key()), "parent stem up prev previous next root tip time ts at date path file dir cwd model") {
			continue
		}
		fits := true
		for v := range f.values {
			fits = fits && g.repeat[v] == 2 && !absolutePath().MatchString(v) && !dateForm().MatchString(v)
		}
		if fits {
			return f
		}
	}
	return nil
}

// linked makes a call or a result of elements of which no word says so, but an id that stands
// in two records. What has a name and an object beside its id is a call.
func (g *guesser) linked(c *survey) *guess {
	id := g.linkedField(c)
	if id == nil {
		return nil
	}
	var name, input, text *inferField
	for _, f := range c.fields {
		k := plainKey(f.key())
		switch {
		case f == id || f.filled*2 < c.n || inWords(k, "ts time timestamp at date created createdat") || inWords(k, mainKeys) && f.depth == 1:
		case f.parent() == id.parent() && (f.kinds[jsonObject]+f.kinds[jsonArray] == f.n || f.kinds[jsonString] == f.n && strings.HasPrefix(firstText(f), "{")):
			if input == nil && !inWords(k, "usage meta metadata tokens") {
				input = f
			}
		case f.parent() == id.parent() && f.kinds[jsonString] == f.n && f.prose == 0 && name == nil && !inWords(k, typeKeys) && !f.more && timesOf(f).ok == 0 && len(f.values) > 0 && g.repeat[firstText(f)] < max(3, g.total/2):
			name = f
		}
		if f != id && f.kinds[jsonString] > 0 && !inWords(k, notText) && !inWords(k, typeKeys) && !inWords(k, speakerKeys) && (text == nil || f.prose > text.prose || f.prose == text.prose && f.runes > text.runes) {
			text = f
		}
	}
	const score = .6
	switch {
	case name != nil && input != nil:
		return &guess{as: "tool_call", name: []string{name.sel}, call: []string{id.sel}, input: []string{input.sel}, score: score, n: c.n,
			notes: []string{"`" + id.sel + "` stands in one other record"}}
	case text != nil && input == nil:
		return &guess{as: "tool_result", call: []string{id.sel}, text: []string{text.sel}, failed: g.failedOf(c), score: score, n: c.n,
			notes: []string{"`" + id.sel + "` stands in one other record"}}
	}
	return nil
}

// payloadsMin is how many types must be keys of payloads before that is how the format works.
const payloadsMin = 3

// payload makes a call of an element whose type is also the key of an object in it, as in
// {"type": "view_file", "view_file": {...}}: a step that the tool took.
func (g *guesser) payload(c *survey, v verdict) *guess {
	if v.typeIs == "" || len(g.payloads) < payloadsMin {
		return nil
	}
	f := c.index[selectorOf([]string{v.typeIs})]
	if f == nil || f.kinds[jsonObject] < f.n || f.n < c.n {
		return nil
	}
	r := &guess{as: "tool_call", nameIs: v.typeIs, input: []string{f.sel}, score: .65}
	if id := g.callID(c, ""); id != nil && id.score >= .6 && callIDNames[plainKey(id.f.key())] >= .5 {
		r.call = []string{id.f.sel}
	}
	r.result = g.ownResult(c, nil, nil)
	if r.result != nil && slices.Contains(r.result.text, f.sel) {
		r.result = nil
	}
	if r.result != nil { // what came out is no part of what was asked
		var out []string
		for _, sel := range r.result.text {
			if key, ok := strings.CutPrefix(sel, f.sel+"."); ok && !strings.Contains(key, ".") {
				out = append(out, key)
			}
		}
		if len(out) > 0 {
			r.inputFrom = "{from: " + yamlScalar(f.sel) + ", omit: " + yamlList(out) + "}"
		}
	}
	return r
}

// reasoned says whether every rule that makes messages has a reason of its own: a condition, or
// lists further in.
func reasoned(rules []*guess) bool {
	for _, r := range rules {
		if talks([]*guess{r}) && len(r.when) == 0 && !(len(r.each) > 0 && reasoned(r.first)) {
			return false
		}
	}
	return true
}

// bundle is one rule of several parts.
func bundle(parts []*guess) *guess {
	if len(parts) == 1 {
		return parts[0]
	}
	r := &guess{all: parts, score: 1}
	for _, p := range parts {
		r.score = math.Min(r.score, p.score)
	}
	return r
}

// exchange makes parts of an element that holds what the person asked and what was answered.
func (g *guesser) exchange(c *survey, deep int, typed bool) []*guess {
	var parts []*guess
	for _, who := range []class{classUser, classAssistant} {
		names := "prompt query question userinput userprompt usermessage requestmessage userresponse usertext human user ask input request message"
		if typed {
			names = "prompt userinput userprompt usermessage requestmessage userresponse usertext" // of something else, a query is no prompt
		}
		if who == classAssistant {
			names = "response answer reply completion responsetext assistantmessage assistantresponse assistanttext outputtext assistant bot modelresponse output"
		}
		var best *inferField
		names += " *" // any other that is named for who speaks
		at := len(strings.Fields(names))
		for _, f := range c.fields {
			i := slices.Index(strings.Fields(names), plainKey(f.key()))
			if i < 0 && !typed && best == nil && classOf(f.key()) == who && !hasWord(words(f.key()), "title name summary label description id") &&
				(f.prose*2 > f.n || f.kinds[jsonObject] == f.n) {
				i = at - 1
			}
			texty := f.kinds[jsonString] > 0 && f.runes > 0
			sub := c.index[f.sel+".text"]
			if sub == nil {
				sub = c.index[f.sel+".content"]
			}
			if f.kinds[jsonObject] > 0 && sub != nil && sub.filled > 0 {
				f, texty = sub, true
			}
			if i >= 0 && i < at && f.filled*2 > c.n && (texty || f.kinds[jsonArray] > 0) && f.depth <= 3 {
				best, at = f, i
			}
		}
		if sure := best != nil && best.kinds[jsonObject] > 0; sure || best == nil {
			if side := g.speaker(c, who, deep, sure); side != nil {
				parts = append(parts, side)
				continue
			}
		}
		if best == nil {
			continue
		}
		if who == classUser && strings.Fields(names)[at] == "message" {
			named := false
			for _, f := range c.fields {
				named = named || inWords(plainKey(f.key()), "response answer reply completion responsetext") && f.depth == 1
			}
			if !named {
				continue
			}
		}
		who := classRole[who]
		if best.kinds[jsonArray] > 0 {
			if r := g.list(best, who, deep); r != nil {
				parts = append(parts, r)
				continue
			}
		}
		score := 0.85
		if best.prose*3 < best.n {
			score = 0.7
		}
		parts = append(parts, &guess{as: who, text: []string{best.sel}, n: best.filled, score: score})
	}
	if len(parts) == 0 {
		return nil
	}
	if len(parts) == 1 && c.n > 2 && parts[0].score < doubtBelow {
		return nil
	}
	if madeBy(parts, "assistant") > 0 {
		side := append(g.sideParts(c, "assistant"), g.hidden(c, parts, deep)...)
		// Thoughts come before the answer; calls and results stand where their field stands.
		at := slices.IndexFunc(parts, func(p *guess) bool { return p.makes("assistant") > 0 })
		answer := c.order(parts[at])
		var before, after []*guess
		for _, p := range side {
			if p.as == "reasoning" || c.order(p) < answer {
				before = append(before, p)
			} else {
				after = append(after, p)
			}
		}
		parts = slices.Concat(parts[:at], before, parts[at:], after)
	}
	return parts
}

// speaker makes the rule of an object that is named for who speaks and holds what they said
// in kinds of its own, as in {"user": {"content": {"Prompt": ...}}, "assistant": {"Response": ...}}.
// sure says that the object is what was said.
func (g *guesser) speaker(c *survey, who class, deep int, sure bool) *guess {
	for _, f := range c.fields {
		if f.depth > 2 || f.kinds[jsonObject] < f.n || f.n*2 < c.n || len(words(f.key())) > 2 || classOf(f.key()) != who || deep >= rulesDeep {
			continue
		}
		in := takeSurvey(f.vals, g.a)
		parts := g.prose(in, classRole[who], deep+1)
		if madeBy(parts, classRole[who]) > 0 && (sure || slices.ContainsFunc(parts, func(p *guess) bool { return len(p.first) > 1 })) {
			r := bundle(parts)
			return &guess{each: []string{f.sel}, all: []*guess{r}, n: f.n, score: .75}
		}
		rules := g.rules(f.vals, classRole[who], deep+1)
		if len(rules) > 1 && reasoned(rules) && madeBy(rules, classRole[who]) > 0 {
			return &guess{each: []string{f.sel}, first: rules, n: f.n, score: .75}
		}
	}
	return nil
}

// order is where the field of a part stands in the elements.
func (c *survey) order(p *guess) int {
	sels := slices.Concat(p.each, p.text)
	return slices.IndexFunc(c.fields, func(f *inferField) bool { return len(sels) > 0 && f.sel == sels[0] })
}

// hidden looks for calls and results in lists that no name gives away.
func (g *guesser) hidden(c *survey, have []*guess, deep int) []*guess {
	if deep >= rulesDeep {
		return nil
	}
	var out []*guess
	for _, f := range c.fields {
		if f.kinds[jsonArray] == 0 || f.filled == 0 || inWords(plainKey(f.key()), callLists+" "+resultLists) {
			continue
		}
		if slices.ContainsFunc(have, func(p *guess) bool { return len(p.each) > 0 && p.each[0] == f.sel }) {
			continue
		}
		elems, bare := g.elements(f)
		if len(elems) == 0 || bare > 0 {
			continue
		}
		rules := g.rules(elems, "", deep+1)
		if madeBy(rules, "tool_call")+madeBy(rules, "tool_result") == 0 {
			continue
		}
		for _, r := range rules {
			if r.as != "tool_call" && r.as != "tool_result" {
				*r = guess{when: r.when, as: actSkip, n: r.n, score: 1}
			}
		}
		if slices.ContainsFunc(rules, func(r *guess) bool { return len(r.when) == 0 && r.as == actSkip }) {
			continue
		}
		out = append(out, &guess{each: []string{f.sel}, first: rules, score: .8})
	}
	return out
}

// listsOf looks for a list in the elements whose own elements are messages.
func (g *guesser) listsOf(c *survey, role, base string, deep int) *guess {
	if deep >= rulesDeep {
		return nil
	}
	var best *guess
	most := 0
	for _, f := range c.fields {
		if f.kinds[jsonArray] == 0 || !f.under(base) || f.filled*2 < c.n {
			continue
		}
		elems, bare := g.elements(f)
		if len(elems) == 0 || bare == len(elems) {
			continue
		}
		rules := g.rules(elems, role, deep+1)
		n := madeBy(rules, "user") + madeBy(rules, "assistant") + madeBy(rules, "tool_result") + madeBy(rules, "tool_call")
		if n > most {
			most = n
			best = &guess{each: []string{f.sel}, first: rules, score: 0.85}
		}
	}
	return best
}

// elements are the elements of a field's lists; bare strings among them become text blocks,
// as each makes them. bare is how many there were.
func (g *guesser) elements(f *inferField) (elems []*value, bare int) {
	add := func(v *value) {
		switch v.kind() {
		case jsonString:
			bare++
			elems = append(elems, &value{raw: `{"type":"text","text":` + v.raw + `}`})
		case jsonObject:
			elems = append(elems, v)
		}
	}
	for _, v := range f.vals {
		if v.kind() == jsonArray {
			list := v.list(g.a)
			for i := range list[:min(len(list), listMax)] {
				add(&list[i])
			}
		} else {
			add(v)
		}
		if len(elems) > inferRecordsMax*4 {
			break
		}
	}
	return elems, bare
}

// proseFit weighs a field as what somebody said.
func proseFit(f *inferField) float64 {
	key := plainKey(f.key())
	switch {
	case inWords(key, notText):
		return -2
	case f.kinds[jsonObject] > 0 && f.kinds[jsonObject] >= f.n-f.kinds[jsonNull]:
		return -2 // its own fields are looked at
	case f.scalars() > 0 && f.kinds[jsonString] == 0 && f.kinds[jsonArray] == 0:
		return -2
	}
	for i, p := range f.path[:len(f.path)-1] {
		k := plainKey(p)
		if k == "params" && i == 0 {
			continue // of a remote call, whose method says what it is
		}
		if reasoningNames[k] > .8 || inputNames[k] >= .9 && k != "input" || inWords(k, "usage metadata meta error context state env environment toolcall function tool info stats model instructions baseinstructions systemprompt settings config") {
			return -2
		}
	}
	s := 0.0
	if f.kinds[jsonString] > 0 {
		s += 0.2 * float64(f.prose) / float64(f.kinds[jsonString])
	}
	if f.kinds[jsonArray] > 0 {
		s += 0.1
	}
	return s
}

// prose makes the parts of an element in which somebody speaks: thoughts, text, calls and
// results, as far as they are there.
func (g *guesser) prose(c *survey, role string, deep int) []*guess {
	side := g.sideParts(c, role)
	cands := rank(c, textNames, proseFit)
	if role == "compaction" {
		cands = rank(c, map[string]float64{"summary": 1, "summarycontent": 1, "content": .9, "text": .9, "message": .8, "body": .8, "compactedhistory": .5, "summarytext": 1}, proseFit)
	}
	var text *guess
	// A list of blocks says more than a copy of its text.
	for _, cand := range cands {
		if cand.f.kinds[jsonArray] == 0 || cand.score < cands[0].score-0.5 && cand.f.filled < cands[0].f.filled {
			continue
		}
		r := g.list(cand.f, role, deep)
		if r == nil {
			continue
		}
		for _, other := range cands {
			if other.f != cand.f && other.f.kinds[jsonString] > 0 && cand.f.filled < c.n && len(r.each) == 1 && other.score >= .8 {
				r.each = append(r.each, other.f.sel)
			}
		}
		text = r
		break
	}
	if text == nil {
		if sels, score := cover(cands, c.n, 3); len(sels) > 0 {
			text = &guess{as: role, text: sels, score: math.Min(score, .97)}
			n := 0
			for _, cand := range cands {
				if cand.f.sel == sels[0] {
					n = cand.f.filled
				}
			}
			text.n = n
		}
	}
	if text == nil && deep < rulesDeep {
		// An object of which a key says what it is, such as {"Prompt": {...}}.
		for _, f := range c.fields {
			if textNames[plainKey(f.key())] >= .9 && f.depth <= 2 && f.kinds[jsonObject]*2 > c.n {
				if r := g.list(f, role, deep); r != nil && reasoned(r.first) {
					text = r
					break
				}
			}
		}
	}
	if text == nil {
		// No name is known: the longest prose.
		if best := c.longestProse(); best != nil && role == "assistant" && g.linkedField(c) != nil {
			// A command, in words, with an id that another record has too.
			id := g.linkedField(c)
			if r := g.linked(c); r != nil && r.as == "tool_call" {
				return append(side, r)
			}
			if len(id.path) > 1 && best.parent() == id.parent() {
				return append(side, &guess{as: "tool_call", nameIs: id.path[len(id.path)-2], call: []string{id.sel}, input: []string{best.sel}, score: .6, n: c.n,
					notes: []string{"`" + id.sel + "` stands in one other record"}})
			}
		}
		if best := c.longestProse(); best != nil {
			text = &guess{as: role, text: []string{best.sel}, score: .6, n: best.filled}
		}
	}
	var parts []*guess
	for _, p := range side {
		if p.as == "reasoning" {
			parts = append(parts, p)
		}
	}
	if text != nil {
		parts = append(parts, text)
	}
	for _, p := range side {
		if p.as != "reasoning" && !(text != nil && slices.Equal(p.each, text.each)) {
			parts = append(parts, p)
		}
	}
	return parts
}

// longestProse is the field that holds most of what people write, nil if there is none.
func (c *survey) longestProse() *inferField {
	var best *inferField
	for _, f := range c.fields {
		if proseFit(f) > 0 && f.prose*2 > f.n && f.n*2 > c.n && !hasWord(words(f.key()), "title name summary label last path description") && (best == nil || f.runes > best.runes) {
			best = f
		}
	}
	return best
}

// list makes the rule of a field that holds lists.
func (g *guesser) list(f *inferField, role string, deep int) *guess {
	if deep >= rulesDeep {
		return nil
	}
	elems, bare := g.elements(f)
	if len(elems) == 0 {
		return nil
	}
	if bare == len(elems) {
		return &guess{as: role, text: []string{f.sel}, score: .95, n: f.filled}
	}
	rules := g.rules(elems, role, deep+1)
	if !talks(rules) && madeBy(rules, role) == 0 {
		// Blocks of which no word is known: those with prose.
		for _, r := range rules {
			if r.gap != "" && len(r.text) > 0 && len(r.when) > 0 {
				if role == "user" {
					for _, cond := range r.when {
						for _, v := range cond.values {
							g.spoken[v] = true
						}
					}
				}
				*r = guess{when: r.when, as: role, text: r.text, n: r.n, score: .6}
			}
		}
		if madeBy(rules, role) > 0 {
			return &guess{each: []string{f.sel}, first: rules, score: .6}
		}
		return nil
	}
	return &guess{each: []string{f.sel}, first: rules, score: .95}
}

// reasoningText finds the text of a thought.
func (g *guesser) reasoningText(c *survey) ([]string, float64) {
	names := map[string]float64{"text": .9, "content": .9, "message": .7, "data": .5, "body": .8, "delta": .5, "value": .6}
	for k, s := range reasoningNames {
		names[k] = s
	}
	cands := rank(c, names, func(f *inferField) float64 {
		if f.kinds[jsonObject] == f.n || inWords(plainKey(f.key()), notText) || f.scalars() > f.kinds[jsonString] {
			return -2
		}
		if f.kinds[jsonString] > 0 {
			return 0.2 * float64(f.prose) / float64(f.n)
		}
		return 0.05
	})
	return cover(cands, c.n, 3)
}

// sideParts are thoughts, calls and results that stand beside somebody's text.
func (g *guesser) sideParts(c *survey, role string) []*guess {
	if role == "compaction" {
		return nil
	}
	var parts []*guess
	var cands []candidate
	for _, f := range c.fields {
		k := plainKey(f.key())
		s := reasoningNames[k]
		if k == "summary" {
			s = 0
		}
		if len(f.path) > 1 && inWords(k, "text content thinking thought summary value") && reasoningNames[plainKey(f.path[len(f.path)-2])] >= .9 {
			s = .95
		}
		if s < .8 || f.filled == 0 || f.kinds[jsonString]+f.kinds[jsonArray] == 0 || f.kinds[jsonObject] > 0 || f.depth > 4 {
			continue
		}
		cands = append(cands, candidate{f, s})
	}
	slices.SortStableFunc(cands, func(a, b candidate) int { return cmp.Compare(b.score, a.score) })
	if role != "user" && len(cands) > 0 {
		f := cands[0].f
		if f.kinds[jsonArray] > 0 {
			elems, bare := g.elements(f)
			if bare < len(elems) {
				if r := g.thoughts(f, elems); r != nil {
					parts = append(parts, r)
				}
				cands = nil
			}
		}
		if sels, score := cover(cands, c.n, 2); len(sels) > 0 {
			parts = append(parts, &guess{as: "reasoning", text: sels, score: score, n: f.filled})
		}
	}
	parts = append(parts, g.side(c, callLists, (*guesser).callOf)...)
	parts = append(parts, g.side(c, resultLists, (*guesser).resultOf)...)
	if role == "assistant" && madeBy(parts, "tool_call") == 0 {
		for _, f := range c.fields {
			if f.kinds[jsonArray] == 0 || f.depth > 3 {
				continue
			}
			if elems, bare := g.elements(f); bare == 0 && len(elems) > 0 {
				if r := g.linked(takeSurvey(elems, g.a)); r != nil && r.as == "tool_call" {
					r.each = []string{f.sel}
					parts = append(parts, r)
				}
			}
		}
	}
	return parts
}

// thoughts makes the rule of a list of objects that are thoughts.
func (g *guesser) thoughts(f *inferField, elems []*value) *guess {
	c := takeSurvey(elems, g.a)
	if sels, score := g.reasoningText(c); len(sels) > 0 && !(len(sels) > 0 && plainKey(sels[0]) == "summary") {
		return &guess{each: []string{f.sel}, as: "reasoning", text: sels, score: score, n: len(elems)}
	}
	var sels []string
	for _, sub := range c.fields {
		if sub.depth == 1 && sub.kinds[jsonString] == sub.n && sub.runes > 0 && !inWords(plainKey(sub.key()), "timestamp type id kind") {
			sels = append(sels, sub.sel)
		}
	}
	if len(sels) == 0 {
		return nil
	}
	return &guess{each: []string{f.sel}, as: "reasoning", text: sels, concat: len(sels) > 1, score: .85, n: len(elems)}
}

// side makes rules of lists or objects beside the text.
func (g *guesser) side(c *survey, names string, of func(*guesser, *survey) *guess) []*guess {
	var out []*guess
	for _, f := range c.fields {
		if !inWords(plainKey(f.key()), names) || f.filled == 0 || f.depth > 4 || f.kinds[jsonArray]+f.kinds[jsonObject] == 0 {
			continue
		}
		if f.kinds[jsonObject] > 0 && slices.ContainsFunc(c.fields, func(in *inferField) bool {
			return in != f && in.under(f.sel) && in.kinds[jsonArray] > 0 && inWords(plainKey(in.key()), names)
		}) {
			continue
		}
		elems, bare := g.elements(f)
		sel := f.sel
		if vals := g.members(f); vals != nil {
			elems, sel = vals, sel+".@values"
		}
		if bare == len(elems) || slices.ContainsFunc(out, func(o *guess) bool { return f.under(o.each[0]) || o.makes("tool_call") > 0 && names == callLists }) {
			continue
		}
		r := of(g, takeSurvey(elems, g.a))
		if r == nil {
			continue
		}
		r.each = []string{sel}
		r.n = len(elems)
		out = append(out, r)
	}
	return out
}

// members are the values of objects whose keys are data: ids of the things in them. nil if
// the field holds no such objects.
func (g *guesser) members(f *inferField) []*value {
	var out []*value
	for _, v := range f.vals {
		if v.kind() != jsonObject {
			return nil
		}
		v.open(g.a)
		for i := range v.members {
			m := &v.members[i].val
			if m.kind() != jsonObject || inWords(plainKey(unquote(v.members[i].key)), "function input output result data args arguments") {
				return nil
			}
			out = append(out, m)
		}
	}
	return out
}

func (g *guesser) callOf(c *survey) *guess { return g.callRule(c, "", false) }

func (g *guesser) resultOf(c *survey) *guess { return g.resultRule(c, true) }

// callRule makes the rule of elements that are calls. sure says that their words tell so;
// else the fields must.
func (g *guesser) callRule(c *survey, word string, sure bool) *guess {
	names := rank(c, toolNames, func(f *inferField) float64 {
		if f.kinds[jsonString] < f.n || f.sel == "method" && c.index["jsonrpc"] != nil {
			return -2
		}
		for v := range f.values {
			if len(v) > 80 || strings.Contains(v, " ") && plainKey(f.key()) != "title" {
				return -2
			}
		}
		return 0.3*float64(f.filled)/float64(c.n) - 0.3
	})
	inputs := rank(c, inputNames, func(f *inferField) float64 {
		if f.scalars() > f.kinds[jsonString] {
			return -2
		}
		if f.kinds[jsonObject] > 0 {
			return 0.1
		}
		return 0
	})
	var name, input *inferField
	best := 0.0
	for _, n := range names {
		for _, in := range inputs {
			if in.f == n.f || n.f.under(in.f.sel) || in.f.under(n.f.sel) {
				continue
			}
			s := n.score + in.score
			if n.f.parent() == in.f.parent() {
				s += .3
			}
			if s > best {
				best, name, input = s, n.f, in.f
			}
		}
	}
	r := &guess{as: "tool_call", score: math.Min(.97, best/2)}
	switch {
	case name == nil && !sure:
		return nil
	case name == nil && len(names) > 0:
		name = names[0].f
		r.score = names[0].score
	case name == nil && len(inputs) > 0:
		input = inputs[0].f
		r.nameIs, r.score = strings.TrimSuffix(word, "_call"), .7
	case name == nil:
		// A command as text.
		text, score := cover(rank(c, textNames, proseFit), c.n, 1)
		if len(text) == 0 || word == "" {
			return nil
		}
		r.nameIs, r.input, r.score = word, text, math.Min(score, .6)
		if f := c.index[text[0]]; f != nil {
			in := make([]*value, 0, len(f.vals))
			for _, v := range f.vals {
				if v.kind() == jsonString {
					if p, ok := parseObject(unquote(v.raw[1:len(v.raw)-1]), g.a); ok {
						in = append(in, p)
					}
				}
			}
			if len(in) == len(f.vals) {
				if names := rank(takeSurvey(in, g.a), toolNames, func(f *inferField) float64 { return float64(f.filled)/float64(len(in)) - 1 }); len(names) > 0 && names[0].score >= .8 {
					r.nameIs, r.nameFrom, r.score = "", "{from: "+yamlScalar(f.sel)+", parse: json, get: "+yamlScalar(names[0].f.sel)+"}", .7
				}
			}
		}
		return r
	}
	if name != nil {
		r.name = []string{name.sel}
		if name.filled*2 < c.n && !sure {
			return nil
		}
	}
	if input != nil {
		r.input = []string{input.sel}
	}
	near := ""
	if name != nil {
		near = name.parent()
	}
	if id := g.callID(c, near); id != nil {
		r.call = []string{id.f.sel}
		if !sure && id.score < .6 {
			r.score -= .2
		}
	} else if !sure && r.score < .9 {
		r.score -= .2
	}
	r.result = g.ownResult(c, name, input)
	return r
}

// callID finds the field that joins calls and results.
func (g *guesser) callID(c *survey, near string) *candidate {
	var best *candidate
	for _, f := range c.fields {
		if f.kinds[jsonString]+f.kinds[jsonNumber] == 0 || f.filled*3 < c.n || f.prose > 0 || f.depth > 4 {
			continue
		}
		k := plainKey(f.key())
		w := words(f.key())
		s := callIDNames[k]
		if s == 0 && (inWords(k, typeKeys) || inWords(k, speakerKeys)) {
			continue
		}
		if s < 1 && hasWord(w, "parent session thread conversation turn trace user message stream request type role name tool time timestamp date path cwd model status agent run provider") && k != "requestid" {
			continue
		}
		// A value that stands in two places joins them; one that stands everywhere does not.
		joined, everywhere := 0, false
		for v, n := range f.values {
			if k := g.repeat[v]; k > n {
				joined += n
				everywhere = everywhere || k > 4 && k*2 > g.total
			}
		}
		counted, different := f.n, len(f.values)
		if f.more { // what was counted stands for the rest
			if different < surveyValuesMax {
				continue // long texts
			}
			counted, different = different, f.n
		}
		overlap := math.Min(1, float64(joined)/float64(max(1, counted)))
		if s == 0 {
			single := f.n < 2 && !(g.repeat[firstText(f)] == 2 && strings.ContainsAny(firstText(f), "0123456789"))
			if overlap < .5 || everywhere || different*2 < f.n || f.kinds[jsonString] == 0 || single || absolutePath().MatchString(firstText(f)) {
				continue
			}
			s = .5
		}
		s += .3 * overlap
		if everywhere {
			s -= .4
		}
		if f.parent() == near {
			s += .05
		} else {
			s -= .03 * float64(f.depth)
		}
		if best == nil || s > best.score {
			best = &candidate{f, s}
		}
	}
	return best
}

// ownResult is the outcome of a call on the same element.
func (g *guesser) ownResult(c *survey, name, input *inferField) *guess {
	cands := rank(c, bareOutputs, func(f *inferField) float64 {
		if input != nil && f.under(input.sel) || f.kinds[jsonBool] == f.n || name != nil && f.sel == name.sel {
			return -2
		}
		if f.kinds[jsonObject] > 0 {
			return -.3
		}
		return 0
	})
	sels, score := cover(cands, c.n, 3)
	if len(sels) == 0 {
		return nil
	}
	return &guess{text: g.deepen(c, sels), failed: g.failedOf(c), score: score}
}

// resultRule makes the rule of elements that are results.
func (g *guesser) resultRule(c *survey, sure bool) *guess {
	id := g.callID(c, "")
	if id != nil && (id.score < .6 || !sure && callIDNames[plainKey(id.f.key())] < 1 && (id.score < .75 || callIDNames[plainKey(id.f.key())] == .6)) {
		id = nil
	}
	if id == nil && !sure {
		return nil
	}
	cands := rank(c, outputNames, func(f *inferField) float64 {
		if f.kinds[jsonBool] == f.n || id != nil && f.sel == id.f.sel || inWords(plainKey(f.key()), "id type role") {
			return -2
		}
		s := -.1 * float64(max(0, f.depth-3))
		if f.kinds[jsonObject] > 0 {
			s -= .12
		}
		for _, p := range f.path[:len(f.path)-1] {
			if inWords(plainKey(p), "metadata meta usage extra env input arguments args") {
				s -= 1
			} else if outputNames[plainKey(p)] >= .8 {
				s += .1
			}
		}
		return s
	})
	sels, score := cover(cands, c.n, 3)
	if len(sels) == 0 && !sure {
		return nil
	}
	if len(sels) == 0 {
		return nil
	}
	sels = g.deepen(c, sels)
	r := &guess{as: "tool_result", text: sels, textFrom: g.wrapped(c, sels), failed: g.failedOf(c), score: math.Min(.97, score)}
	if id != nil {
		r.call = []string{id.f.sel}
	} else {
		r.score = math.Min(r.score, .75)
	}
	for _, f := range c.fields {
		if k := plainKey(f.key()); inWords(k, "toolname functionname name tool") && f.kinds[jsonString] == f.n && f.filled*2 > c.n && f.prose == 0 && f.depth <= 3 && len(r.name) == 0 {
			r.name = []string{f.sel}
		}
	}
	return r
}

// wrapped is an expression for results whose text is a JSON object that holds the output.
func (g *guesser) wrapped(c *survey, sels []string) string {
	f := c.index[sels[0]]
	if f == nil || f.kinds[jsonString] == 0 {
		return ""
	}
	var in []*value
	for _, v := range f.vals {
		if v.kind() == jsonString && len(v.raw) > 3 && v.raw[1] == '{' {
			if p, ok := parseObject(unquote(v.raw[1:len(v.raw)-1]), g.a); ok {
				in = append(in, p)
			}
		}
	}
	inner := takeSurvey(in, g.a)
	for _, key := range []string{"output", "result", "stdout", "content", "response"} {
		if o := inner.index[key]; o != nil && o.kinds[jsonString] == o.n && o.n*3 >= inner.n {
			out := "[{from: " + yamlScalar(f.sel) + ", parse: json, get: " + key + "}"
			for _, s := range sels {
				out += ", " + yamlScalar(s)
			}
			return out + "]"
		}
	}
	return ""
}

// deepen looks into lists whose elements would not flatten to a text, for the text in them.
func (g *guesser) deepen(c *survey, sels []string) []string {
	var out []string
	for _, sel := range sels {
		f := c.index[sel]
		if f != nil && f.kinds[jsonArray] > 0 {
			elems, bare := g.elements(f)
			in := takeSurvey(elems, g.a)
			flat := bare > 0
			for _, key := range []string{"text", "content", "output", "stdout", "message"} {
				flat = flat || in.index[key] != nil
			}
			if !flat {
				cands := rank(in, outputNames, func(f *inferField) float64 {
					if f.kinds[jsonString] == 0 || inWords(plainKey(f.key()), "id type role name") {
						return -2
					}
					return 0
				})
				inner, _ := cover(cands, in.n, 2)
				for _, i := range inner {
					out = append(out, sel+".#."+i)
				}
			}
		}
		out = append(out, sel)
	}
	return out
}

// failedOf finds what says that a tool failed, as YAML.
func (g *guesser) failedOf(c *survey) string {
	for _, want := range []string{"iserror failed iserr error", "success ok succeeded", "exitcode returncode", "status state"} {
		for _, f := range c.fields {
			if !inWords(plainKey(f.key()), want) || f.depth > 5 {
				continue
			}
			sel := yamlScalar(f.sel)
			switch want {
			case "iserror failed iserr error":
				if f.kinds[jsonBool] == f.n {
					return sel
				}
			case "success ok succeeded":
				if f.kinds[jsonBool] == f.n {
					return "{when: {" + condKey(f.sel) + ": false}}"
				}
			case "exitcode returncode":
				if f.kinds[jsonNumber] > 0 {
					return sel
				}
			default:
				if f.kinds[jsonString] == f.n && (f.values["error"]+f.values["failed"]+f.values["success"]+f.values["completed"]+f.values["done"] > 0) {
					bad := []string{"error", "failed", "failure"}
					for _, v := range sortedNames(f.values) {
						if len(f.values) <= 6 && !inWords(plainKey(v), "success succeeded completed complete done ok finished running pending started inprogress queued") && !slices.Contains(bad, v) {
							bad = append(bad, v) // the tool's own word
						}
					}
					return "{when: {" + condKey(f.sel) + ": " + yamlList(bad) + "}}"
				}
			}
		}
	}
	return ""
}
