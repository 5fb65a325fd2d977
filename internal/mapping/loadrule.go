package mapping

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"parlance/internal/chat"
)

// ruleLists compiles messages and define, resolves use, and looks for circles.
func (l *loader) ruleLists(f *fields) {
	m := l.m
	m.define = map[string][]*rule{}
	if v, path := f.at("define"); v != nil {
		for _, e := range v.entries {
			at := dot(path, e.key.text)
			l.checkName(e.key, at, "list")
			if e.val.shape != shapeList || len(e.val.items) == 0 {
				l.at(codeWrongKind, e.val, at, "a list of rules is needed, found "+e.val.noun(), "")
				continue
			}
			m.define[e.key.text] = l.rules(e.val, at, 1, true)
		}
	}
	v, path := f.at("messages")
	if v != nil {
		m.rules = l.rules(v, path, 1, true)
	}
	for _, s := range m.Sources {
		if v == nil && f.keys["messages"] == nil && s.messages == "" && s.Unsupported == "" {
			l.report(codeMissing, s.pos.file, s.pos.line, s.pos.col, sub("sources", s.index), "no rules: neither messages of the mapping nor messages of the source",
				addHint(inMapping, "messages"))
		}
	}
	if v != nil && len(m.Sources) > 0 && !slices.ContainsFunc(m.Sources, func(s *Source) bool { return s.messages == "" && s.Unsupported == "" }) {
		l.warn(codeUnused, v, path, "never used", "every source names rules of its own")
	}
	l.resolve(m.rules)
	for _, list := range m.define {
		l.resolve(list)
	}
	// Circles and depth are looked for from every list; each is reported once, at its use.
	seen := map[*rule]bool{}
	l.descend(m.rules, 1, nil, seen)
	for _, name := range slices.Sorted(maps.Keys(m.define)) {
		l.descend(m.define[name], 1, []string{name}, seen)
	}
}

// resolve fills useRules.
func (l *loader) resolve(list []*rule) {
	for _, r := range list {
		if r.use != "" {
			r.useRules = l.m.define[r.use]
		}
		l.resolve(r.first)
		l.resolve(r.all)
	}
}

// descend follows first, all and use, and reports a use that leads back to a list it is in,
// or too deep.
func (l *loader) descend(list []*rule, depth int, names []string, seen map[*rule]bool) {
	for _, r := range list {
		if r.use != "" && slices.Contains(names, r.use) {
			if !seen[r] {
				seen[r] = true
				l.report(codeCircle, r.pos.file, r.pos.line, r.pos.col, dot(r.path, "use"), fmt.Sprintf("use leads back to itself: %s", strings.Join(append(slices.Clone(names), r.use), ", ")), "")
			}
			continue
		}
		if depth >= rulesDepthMax && (r.use != "" || r.first != nil || r.all != nil) {
			if !seen[r] {
				seen[r] = true
				l.report(codeCircle, r.pos.file, r.pos.line, r.pos.col, r.path, fmt.Sprintf("rules nested deeper than rulesMaxDepth (%d)", rulesDepthMax), "")
			}
			continue
		}
		if r.use != "" {
			l.descend(r.useRules, depth+1, append(slices.Clone(names), r.use), seen)
		}
		l.descend(r.first, depth+1, names, seen)
		l.descend(r.all, depth+1, names, seen)
	}
}

// rules compiles a list. first says that the first rule that holds ends the search, so that
// a later one may be out of reach.
func (l *loader) rules(v *yamlNode, path string, depth int, first bool) []*rule {
	var out []*rule
	for i, n := range l.maps(v, path) {
		at := sub(path, i)
		if depth > rulesDepthMax {
			l.at(codeCircle, n, at, fmt.Sprintf("rules nested deeper than rulesMaxDepth (%d)", rulesDepthMax), "")
			return out
		}
		r := l.rule(n, at, depth)
		if r == nil {
			continue
		}
		if first {
			l.reachable(out, r, n)
		}
		out = append(out, r)
	}
	return out
}

// reachable reports a rule that an earlier one of its list always forestalls.
func (l *loader) reachable(before []*rule, r *rule, n *yamlNode) {
	for _, e := range before {
		if e.as == actSubagent || !r.when.implies(e.when) || e.broken || r.broken {
			continue
		}
		why := "has no when"
		if e.when != nil {
			why = "has only conditions that this one has too"
		}
		l.at(codeUnreachable, n, r.path, fmt.Sprintf("never reached: %s %s", e.path, why), "the first rule that holds ends the search: put the special ones first")
		return
	}
}

// makers are the keys of which a rule has exactly one.
var makers = []string{"as", "first", "all", "use"}

// stepKeys may stand beside any of them.
var stepKeys = []string{"when", "in", "each", "why"}

func (l *loader) rule(n *yamlNode, path string, depth int) *rule {
	before := len(l.problems)
	f := l.mapFields(n, inRule, path)
	if f == nil {
		return nil
	}
	r := &rule{path: path, pos: n.pos(), why: f.text("why")}
	if v, at := f.at("when"); v != nil {
		r.when = l.cond(v, at, element(useText))
	}
	if v, at := f.at("in"); v != nil {
		r.in = l.selectorList(v, at, element(useText))
	}
	if v, at := f.at("each"); v != nil {
		r.each = l.selectorList(v, at, element(useText))
	}
	var have []string
	for _, k := range makers {
		if f.keys[k] != nil {
			have = append(have, k)
		}
	}
	switch {
	case len(have) == 0:
		if len(n.entries) == len(f.keys) {
			l.at(codeMissing, n, path, "a rule without as, first, all or use", addHint(inRule, "as"))
		}
	case len(have) > 1:
		l.at(codeConflict, f.keys[have[1]], path, fmt.Sprintf("%s beside %s", have[1], have[0]), "a rule has one of as, first, all, use")
	}
	if v, at := f.at("as"); v != nil {
		l.as(v, at, r)
	}
	if v, at := f.at("first"); v != nil {
		r.first = l.rules(v, at, depth+1, true)
	}
	if v, at := f.at("all"); v != nil {
		r.all = l.rules(v, at, depth+1, false)
	}
	if v, at := f.at("use"); v != nil {
		r.use = v.text
		l.usedDefine[v.text] = true
		if !slices.Contains(l.defines, v.text) {
			l.at(codeUndefined, v, at, fmt.Sprintf("no list %q in define", shorten(v.text)), didYouMean(v.text, "lists", l.defines))
		}
	}
	l.ruleFields(f, r)
	if len(have) == 1 {
		l.fieldsFit(f, r, have[0])
	}
	if r.as == actSkip && r.when == nil && f.keys["when"] == nil {
		l.warn(codeCatchAll, n, path, "skip without when", "it would hide every new type: list the types that are known")
	}
	r.broken = fatal(l.problems[before:])
	return r
}

// as compiles a role, an act, or an expression that gives a role.
func (l *loader) as(v *yamlNode, path string, r *rule) {
	if v.shape == shapeScalar {
		allowed := slices.Concat(roleWords, actWords)
		if slices.Contains(allowed, v.text) {
			r.as = v.text
			return
		}
		hint := "roles are " + strings.Join(roleWords, ", ") + "; acts are " + strings.Join(actWords, ", ")
		if near := nearest(v.text, allowed); near != "" {
			hint = fmt.Sprintf("did you mean %q? %s", near, hint)
		} else if strings.ContainsAny(v.text, ".:") {
			hint = fmt.Sprintf("a role that the record names is written {from: %s, map: {human: user, bot: assistant}}", v.text)
		}
		l.at(codeUnknownWord, v, path, "unknown role "+strconv.Quote(shorten(v.text)), hint)
		return
	}
	r.asExpr = l.expr(v, path, element(useRole))
	l.roleValues(v, path)
}

// roleValues checks the roles that an expression names.
func (l *loader) roleValues(v *yamlNode, path string) {
	for i, item := range v.items {
		l.roleValues(item, sub(path, i))
	}
	for _, e := range v.entries {
		at := dot(path, e.key.text)
		switch e.key.text {
		case "map":
			for _, m := range e.val.entries {
				if m.val.shape == shapeScalar {
					l.roleOK(m.val, dot(at, m.key.text), textRoleWords)
				}
			}
		case "value", "else":
			if e.val.shape == shapeScalar {
				l.roleOK(e.val, at, textRoleWords)
			}
		}
	}
}

// ruleFields compiles the fields of a message or an act.
func (l *loader) ruleFields(f *fields, r *rule) {
	text, truth, times := element(useText), element(useTruth), element(useTime)
	r.text = l.exprField(f, "text", text)
	r.name = l.exprField(f, "name", text)
	r.call = l.exprField(f, "call", text)
	r.input = l.exprField(f, "input", text)
	more := f.bool("more")
	r.more = more != nil && *more
	r.failed = l.exprField(f, "failed", truth)
	r.diff = l.diffField(f)
	r.child = l.exprField(f, "child", text)
	r.title = l.exprField(f, "title", text)
	r.time = l.exprField(f, "time", times)
	r.id = l.exprField(f, "id", text)
	r.reply = l.exprField(f, "reply", text)
	r.abandoned = l.exprField(f, "abandoned", truth)
	r.glue = l.glueField(f)
	r.key = l.exprField(f, "key", text)
	r.to = l.exprField(f, "to", text)
	r.turns = l.exprField(f, "turns", text)
	if v, at := f.at("records"); v != nil {
		r.records = l.selector(v, at, place{scopes: scopesReset})
	}
	if v, at := f.at("layer"); v != nil && !slices.Contains(actWords, r.as) {
		r.layer = v.text
		var known []string
		for _, role := range chat.Roles {
			if list := l.m.layers[role]; r.asExpr != nil || string(role) == r.as {
				known = append(known, list...)
			}
		}
		if !slices.Contains(known, v.text) {
			l.at(codeUndefined, v, at, fmt.Sprintf("layer %q is not in layers", shorten(v.text)), "layers: {user: [event, item]} names them, the preferred one first")
		}
	}
	v, at := f.at("result")
	switch {
	case v == nil:
	case v.shape == shapeScalar:
		if r.resultNever = v.text == "never"; !r.resultNever {
			l.at(codeUnknownWord, v, at, "unknown value "+strconv.Quote(shorten(v.text)), `the only word is "never"; an outcome is a map: {text: output}`)
		}
	default:
		c := l.mapFields(v, inResult, at)
		if c == nil {
			return
		}
		r.result = &result{
			text:   l.exprField(c, "text", text),
			failed: l.exprField(c, "failed", truth),
			time:   l.exprField(c, "time", times),
			diff:   l.diffField(c),
		}
		if w, at := c.at("when"); w != nil {
			r.result.when = l.cond(w, at, element(useText))
		}
		if c.keys["text"] == nil && c.keys["when"] == nil {
			l.at(codeMissing, v, at, "result without text", "without when there is an outcome if text finds something")
		}
	}
}

func (l *loader) diffField(f *fields) *diff {
	v, path := f.at("diff")
	if v == nil {
		return nil
	}
	if v.shape != shapeMap || v.get("patch") == nil && v.get("edit") == nil && v.get("whole") == nil {
		return &diff{text: l.expr(v, path, element(useText))}
	}
	c := l.mapFields(v, inDiff, path)
	d := &diff{}
	first := ""
	for _, key := range []string{"patch", "edit", "whole"} {
		switch {
		case c.keys[key] == nil:
		case first != "":
			l.at(codeConflict, c.keys[key], path, key+" beside "+first, "a diff is one of them")
		default:
			first = key
		}
	}
	if p, at := c.at("patch"); p != nil {
		d.patch = l.selector(p, at, element(useText))
	}
	for _, key := range []string{"edit", "whole"} {
		e, at := c.at(key)
		if e == nil {
			continue
		}
		if len(e.items) != 2 {
			l.at(codeWrongKind, e, at, fmt.Sprintf("two selectors are needed, found %d", len(e.items)), "for example "+keyIndex[inDiff][key].Example)
			return d
		}
		d.old = l.selector(e.items[0], sub(at, 0), element(useText))
		d.new = l.selector(e.items[1], sub(at, 1), element(useText))
		d.whole = key == "whole"
	}
	return d
}

// fieldsFit checks that each field belongs to what the rule makes, and that none is missing.
func (l *loader) fieldsFit(f *fields, r *rule, maker string) {
	var made string // for messages: what the rule makes
	switch {
	case maker != "as":
		made = maker
	case r.asExpr != nil:
		made = "user" // stands for the prose roles
	case r.as != "":
		made = r.as
	default:
		return // an unknown role: nothing is known of its fields
	}
	isRole := slices.Contains(roleWords, made)
	for _, e := range f.n.entries {
		k := e.key.text
		if f.keys[k] == nil || slices.Contains(stepKeys, k) || slices.Contains(makers, k) {
			continue
		}
		roles, act := keyIndex[inRule][k].For, ""
		if slices.Contains(actWords, roles[0]) {
			act = roles[0]
		}
		switch {
		case act != "":
			if act != made {
				l.at(codeField, e.key, dot(f.path, k), fmt.Sprintf("%s does not belong to %s", k, made), fmt.Sprintf("it is a field of as: %s", act))
			}
		case maker != "as":
			l.at(codeField, e.key, dot(f.path, k), fmt.Sprintf("%s beside %s", k, maker), "fields stand in the rules that make messages")
		case !isRole:
			l.at(codeField, e.key, dot(f.path, k), fmt.Sprintf("%s does not belong to %s", k, made), actHint(made))
		case r.asExpr != nil && k == "name": // an expression may give compaction
		case !slices.Contains(roles, made):
			what := made
			if r.asExpr != nil {
				what = "the prose roles"
			}
			l.at(codeField, e.key, dot(f.path, k), fmt.Sprintf("%s does not belong to %s", k, what), fmt.Sprintf("it is a field of %s", strings.Join(roles, ", ")))
		}
	}
	need := func(key, hint string) {
		if f.keys[key] == nil {
			l.at(codeMissing, f.n, f.path, fmt.Sprintf("%s without %s", made, key), hint)
		}
	}
	switch {
	case maker != "as":
	case r.asExpr != nil:
		made = "a message"
		need("text", addHint(inRule, "text"))
	case slices.Contains(proseWords, made):
		need("text", addHint(inRule, "text"))
	case made == "tool_call" && r.more:
		need("input", addHint(inRule, "input"))
	case made == "tool_call":
		need("name", addHint(inRule, "name"))
	case made == "tool_result":
		if !l.pairOrder {
			need("call", "add call: (selector of the id its call was given), or pair: order if the format has no ids")
		}
	case made == actRewind:
		need("to", addHint(inRule, "to"))
	case made == actRollback:
		need("turns", addHint(inRule, "turns"))
	}
}

func actHint(act string) string {
	for _, k := range keyNames[inRule] {
		if slices.Contains(keyIndex[inRule][k].For, act) {
			return fmt.Sprintf("%s has the field %s", act, k)
		}
	}
	return act + " has no fields"
}
