package mapping

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strings"
)

// Schema gives the JSON Schema (draft 2020-12) of mapping files, for editors: keys, shapes,
// words, and which key belongs to which container, role or act. It is made from the key table
// that the loader checks against. What a selector, a pattern, a regular expression or a
// statement says, the order of steps, and names that refer to each other are beyond it: those
// are the work of Load. Everything that Load accepts fits it.
func Schema() []byte {
	s := schemaMaker{defs: schemaNode{}}
	root := s.mapOf(inMapping)
	root["$schema"] = "https://json-schema.org/draft/2020-12/schema"
	root["title"] = "Parlance mapping"
	root["description"] = "How one tool writes its conversations: where the files are, how they are cut into records, and which messages the records hold."
	s.defs["text"] = schemaNode{"type": []string{"string", "number", "boolean"}}
	s.defs["fullText"] = schemaNode{"allOf": []schemaNode{refTo("text")}, "not": schemaNode{"const": ""}}
	for _, in := range []string{inSource, inPathsFrom, inReplay, inJoin, inLine, inConversation, inCommon, inRule, inResult, inDiff,
		inCleanRole, inCleanRule, inSame, inTree, inCopied, inLookup, inTest, inExpectation} {
		s.defs[defName(in)] = s.mapOf(in)
	}
	s.condition()
	for _, e := range expressionKinds {
		s.expression(e)
	}
	root["$defs"] = s.defs
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", " ")
	if err := enc.Encode(root); err != nil {
		panic(err) // maps, lists and texts: it cannot fail
	}
	return out.Bytes()
}

// A schemaNode is a part of the schema; its keys are sorted when it is written.
type schemaNode map[string]any

type schemaMaker struct{ defs schemaNode }

func refTo(def string) schemaNode { return schemaNode{"$ref": "#/$defs/" + def} }

func listOf(item schemaNode, atLeast int) schemaNode {
	n := schemaNode{"type": "array", "items": item}
	if atLeast > 0 {
		n["minItems"] = atLeast
	}
	return n
}

func anyOf(list ...schemaNode) schemaNode { return schemaNode{"anyOf": list} }
func oneWord(list []string) schemaNode    { return schemaNode{"enum": list} }
func withKey(key string) schemaNode       { return schemaNode{"required": []string{key}} }

// onlyKeys refuses the keys of a map that are none of these, each at its own place.
func onlyKeys(in string, keys ...string) schemaNode {
	props := schemaNode{}
	for _, name := range keyNames[in] {
		if !slices.Contains(keys, name) {
			props[name] = false
		}
	}
	return schemaNode{"properties": props}
}

// exactlyOne demands one key of several.
func exactlyOne(keys []string) schemaNode {
	var list []schemaNode
	for _, k := range keys {
		list = append(list, withKey(k))
	}
	return schemaNode{"oneOf": list}
}

func atLeastOne(keys []string) schemaNode {
	var list []schemaNode
	for _, k := range keys {
		list = append(list, withKey(k))
	}
	return anyOf(list...)
}

// defName is the name of a map of the language under $defs.
func defName(in string) string {
	return strings.NewReplacer(".ROLE", "Role", " rule", "Rule").Replace(in)
}

// mapOf is the schema of one map of the language.
func (s *schemaMaker) mapOf(in string) schemaNode {
	props := schemaNode{}
	required := []string{}
	for _, name := range keyNames[in] {
		k := keyIndex[in][name]
		p := s.value(k)
		p["description"] = describe(k)
		props[name] = p
		if k.Required {
			required = append(required, name)
		}
	}
	n := schemaNode{"type": "object", "properties": props, "additionalProperties": false}
	var rules []schemaNode
	switch in {
	case inMapping:
		// What a mapping extends may have the rest.
		required = []string{"name"}
		rules = append(rules, schemaNode{"if": schemaNode{"not": withKey("extends")}, "then": schemaNode{
			"required":   []string{"parlance", "sources"},
			"properties": schemaNode{"tree": schemaNode{"required": []string{"id", "parent"}}},
		}}, schemaNode{"if": schemaNode{"not": atLeastOne([]string{"extends", "messages"})}, "then": schemaNode{
			"properties": schemaNode{"sources": schemaNode{"items": atLeastOne([]string{"messages", "unsupported"})}},
		}})
	case inSource:
		rules = sourceRules()
	case inRule:
		rules = ruleRules()
	case inDiff:
		n["minProperties"], n["maxProperties"] = 1, 1
	case inResult:
		rules = append(rules, atLeastOne([]string{"text", "when"}))
	case inCleanRule:
		rules = append(rules, atLeastOne([]string{"drop", "as", "after", "replace", "unescape"}),
			schemaNode{"if": withKey("drop"), "then": onlyKeys(inCleanRule, "drop", "when")})
	case inTree:
		required = nil // see inMapping
	case inCopied:
		rules = append(rules, schemaNode{"oneOf": []schemaNode{
			{"required": []string{"prefix"}, "maxProperties": 1},
			{"required": []string{"parent", "id"}, "maxProperties": 2},
		}})
	case inSame:
		text := schemaNode{"properties": schemaNode{"by": schemaNode{"const": "text"}}}
		last := schemaNode{"properties": schemaNode{"keep": schemaNode{"const": "last"}}, "required": []string{"keep"}}
		rules = append(rules, schemaNode{"dependentSchemas": schemaNode{"when": text, "prefix": schemaNode{"if": schemaNode{"properties": schemaNode{"prefix": schemaNode{"const": true}}}, "then": last}}},
			schemaNode{"if": schemaNode{"properties": schemaNode{"time": schemaNode{"const": "last"}}, "required": []string{"time"}}, "then": schemaNode{"allOf": []schemaNode{text, last}}})
	case inLookup:
		rules = append(rules, exactlyOne([]string{"jsonl", "json", "sqlite"}),
			schemaNode{"dependentRequired": schemaNode{"sqlite": []string{"sql"}, "sql": []string{"sqlite"}, "needs": []string{"sqlite"}, "records": []string{"json"}}})
	case inTest:
		rules = append(rules, exactlyOneAtMost(contents), atLeastOne(expects), schemaNode{"not": schemaNode{"required": []string{"expect", "expect_all"}}},
			atLeastOne(append(slices.Clone(contents), "files")))
	case inExpectation:
		rules = append(rules, exactlyOne(roleWords))
		for _, name := range keyNames[in] {
			if roles := keyIndex[in][name].For; roles != nil {
				rules = append(rules, schemaNode{"dependentSchemas": schemaNode{name: atLeastOne(roles)}})
			}
		}
	}
	if len(required) > 0 {
		n["required"] = required
	}
	if rules != nil {
		n["allOf"] = rules
	}
	return n
}

// exactlyOneAtMost demands that no two of the keys stand together.
func exactlyOneAtMost(keys []string) schemaNode {
	deps := schemaNode{}
	for i, k := range keys {
		if others := keys[i+1:]; len(others) > 0 {
			deps[k] = schemaNode{"not": atLeastOne(others)}
		}
	}
	return schemaNode{"dependentSchemas": deps}
}

// sourceRules say which keys of a source go with which container.
func sourceRules() []schemaNode {
	rules := []schemaNode{
		atLeastOne([]string{"paths", "paths_from"}),
		{"dependentSchemas": schemaNode{"join": schemaNode{"properties": schemaNode{"records": false}}}},
		{"if": withKey("unsupported"), "then": onlyKeys(inSource, unsupportedKeys...), "else": exactlyOne([]string{"container", "decoder"})},
	}
	keysOf := func(kinds ...string) []string {
		var keys []string
		for _, name := range keyNames[inSource] {
			if f := keyIndex[inSource][name].For; f == nil || slices.ContainsFunc(kinds, func(k string) bool { return slices.Contains(f, k) }) {
				keys = append(keys, name)
			}
		}
		return keys
	}
	for _, c := range containerWords {
		is := schemaNode{"properties": schemaNode{"container": schemaNode{"const": c}}, "required": []string{"container"}, "not": withKey("unsupported")}
		then := onlyKeys(inSource, keysOf(c)...)
		switch c {
		case "jsonl":
			// Edits of one document, or a document a line, are read like json.
			then = schemaNode{"if": withKey("replay"), "then": onlyKeys(inSource, keysOf(c, "replay")...),
				"else": schemaNode{"if": withKey("conversations"), "then": onlyKeys(inSource, keysOf(c, "documents")...), "else": then}}
		case "sqlite":
			then["required"] = []string{"sql"}
		case "text":
			then["required"] = []string{"lines"}
		}
		rules = append(rules, schemaNode{"if": is, "then": then})
	}
	for _, name := range slices.Sorted(maps.Keys(decoders)) {
		is := schemaNode{"properties": schemaNode{"decoder": schemaNode{"const": name}}, "required": []string{"decoder"}}
		known := schemaNode{}
		for option := range decoders[name].options {
			known[option] = true
		}
		options := schemaNode{"properties": known, "additionalProperties": false}
		rules = append(rules, schemaNode{"if": is, "then": schemaNode{"properties": schemaNode{"options": options}}})
	}
	return append(rules, schemaNode{"if": withKey("decoder"), "then": onlyKeys(inSource, keysOf("decoder")...)})
}

// ruleRules say which fields go with what a rule makes.
func ruleRules() []schemaNode {
	rules := []schemaNode{exactlyOne(makers)}
	for _, m := range makers {
		if m != "as" {
			rules = append(rules, schemaNode{"if": withKey(m), "then": onlyKeys(inRule, append(slices.Clone(stepKeys), m)...)})
		}
	}
	fields := func(made ...string) []string {
		keys := append(slices.Clone(stepKeys), "as")
		for _, name := range keyNames[inRule] {
			if f := keyIndex[inRule][name].For; slices.ContainsFunc(made, func(m string) bool { return slices.Contains(f, m) }) {
				keys = append(keys, name)
			}
		}
		return keys
	}
	needs := map[string]string{actRewind: "to", actRollback: "turns"}
	for _, made := range slices.Concat(roleWords, actWords) {
		then := onlyKeys(inRule, fields(made)...)
		if slices.Contains(proseWords, made) {
			then["required"] = []string{"text"}
		} else if need := needs[made]; need != "" {
			then["required"] = []string{need}
		} else if made == "tool_call" { // more of a call has no name
			then["anyOf"] = []schemaNode{{"required": []string{"name"}}, {"required": []string{"more", "input"}}}
		}
		rules = append(rules, schemaNode{"if": schemaNode{"properties": schemaNode{"as": schemaNode{"const": made}}, "required": []string{"as"}}, "then": then})
	}
	then := onlyKeys(inRule, append(fields("user"), "name")...) // a compaction may have a name
	then["required"] = []string{"text"}
	return append(rules, schemaNode{"if": schemaNode{"properties": schemaNode{"as": schemaNode{"type": []string{"object", "array"}}}, "required": []string{"as"}}, "then": then})
}

// describe is what an editor shows beside a key.
func describe(k *keyInfo) string {
	var b strings.Builder
	b.WriteString(k.About)
	b.WriteString(".")
	if k.Default != "" {
		b.WriteString(" Default: " + k.Default + ".")
	}
	if k.For != nil && len(k.For) < len(roleWords) {
		b.WriteString(" Only for " + strings.Join(k.For, ", ") + ".")
	}
	b.WriteString(" Example: " + k.Example)
	return b.String()
}

// namedMap is a map of names that have a form.
func namedMap(form string, value schemaNode) schemaNode {
	return schemaNode{"type": "object", "propertyNames": schemaNode{"pattern": form}, "additionalProperties": value}
}

// value is the schema of what stands behind a key.
func (s *schemaMaker) value(k *keyInfo) schemaNode {
	text := refTo("text")
	if k.Values != nil {
		text = oneWord(k.Values)
	}
	switch k.Kind {
	case kindText:
		switch {
		case k.In == inMapping && k.Name == "parlance":
			return schemaNode{"enum": []any{languageMajor, "1", "1.0"}}
		case k.In == inMapping && k.Name == "name":
			return schemaNode{"type": []string{"string", "integer"}, "pattern": providerName.String()}
		case k.In == inSource && k.Name == "id":
			return schemaNode{"type": []string{"string", "number", "boolean"}, "pattern": sourceID.String()}
		case k.Name == "after", k.Name == "unsupported":
			return refTo("fullText")
		}
		return text
	case kindTexts:
		n := listOf(text, 0)
		if k.In == inDiff {
			n["minItems"], n["maxItems"] = 2, 2
		}
		return n
	case kindTextOr:
		if k.In == inPred && k.Name != "kind" {
			text = refTo("fullText") // an empty one would hold for everything
		}
		n := anyOf(text, listOf(text, 1))
		if k.Values != nil && k.Name != "decode" {
			n["anyOf"].([]schemaNode)[1]["uniqueItems"] = true
		}
		return n
	case kindBool:
		if k.In == inCleanRule {
			return schemaNode{"const": true}
		}
		return schemaNode{"type": "boolean"}
	case kindSelector, kindPattern, kindRegexp, kindTemplate, kindSQL:
		return refTo("fullText")
	case kindSelectors, kindRegexps:
		return anyOf(refTo("fullText"), listOf(refTo("fullText"), 1))
	case kindPatterns:
		return listOf(refTo("fullText"), btoi(k.Name == "paths"))
	case kindExpr, kindTruth, kindTime:
		return refTo(expressionFor(k))
	case kindExprs:
		return listOf(refTo("expression"), 1)
	case kindCond:
		return refTo("condition")
	case kindConds:
		return listOf(refTo("condition"), 1)
	case kindPred:
		if k.In == inCleanRule {
			return refTo("textCondition")
		}
		return refTo("predicate")
	case kindMap:
		return refTo(defName(k.Of))
	case kindMaps:
		n := listOf(refTo(defName(k.Of)), btoi(k.In != inTest)) // a test may expect nothing
		if k.Of == inJoin {
			n["maxItems"] = 1
		}
		return n
	case kindNamed:
		if k.Name == "clean" {
			return schemaNode{"type": "object", "additionalProperties": false,
				"patternProperties": schemaNode{oneOfNames(slices.DeleteFunc(slices.Clone(roleWords), func(r string) bool { return r == "tool_call" })): refTo(defName(k.Of))}}
		}
		return namedMap(nameOK.String(), refTo(defName(k.Of)))
	case kindNamedList:
		return namedMap(nameOK.String(), listOf(refTo(defName(k.Of)), 1))
	case kindTextMap:
		return s.textMap(k)
	case kindTextMaps:
		return listOf(schemaNode{"type": "object", "additionalProperties": text}, 0)
	case kindListMap:
		if k.Name == "layers" {
			return schemaNode{"type": "object", "additionalProperties": false, "patternProperties": schemaNode{oneOfNames(roleWords): listOf(text, 1)}}
		}
		return schemaNode{"type": "object", "additionalProperties": listOf(text, 0)}
	case kindGlue:
		return anyOf(schemaNode{"type": []string{"string", "number"}}, schemaNode{"const": false})
	case kindResult:
		return anyOf(schemaNode{"const": "never"}, refTo(defName(k.Of)))
	case kindDiff:
		return anyOf(refTo("expression"), refTo(defName(k.Of)))
	case kindAs:
		return anyOf(oneWord(slices.Concat(roleWords, actWords)), refTo("roleExpression"))
	case kindPairs:
		return listOf(schemaNode{"type": "array", "prefixItems": []schemaNode{refTo("fullText"), text}, "minItems": 2, "maxItems": 2}, 0)
	}
	panic("no schema for " + k.In + "." + k.Name)
}

func oneOfNames(list []string) string { return "^(" + strings.Join(list, "|") + ")$" }

func (s *schemaMaker) textMap(k *keyInfo) schemaNode {
	n := schemaNode{"type": "object", "additionalProperties": refTo("text")}
	switch k.Name {
	case "tags":
		n["properties"] = schemaNode{"*": oneWord(append([]string{"drop"}, textRoleWords...))}
		n["additionalProperties"] = oneWord(append(slices.Clone(tagWords), textRoleWords...))
		n["propertyNames"] = schemaNode{"anyOf": []schemaNode{{"const": "*"}, {"pattern": tagName.String()}}}
	case "sidecar":
		return namedMap(nameOK.String(), refTo("fullText"))
	case "map":
		n["minProperties"] = 1
	case "expect_conversation":
		props := schemaNode{}
		for _, name := range fieldNames {
			props[name] = refTo("text")
		}
		n["properties"], n["additionalProperties"] = props, false
	case "expect_skipped", "expect_no_rule":
		n["additionalProperties"] = schemaNode{"type": []string{"integer", "string"}, "minimum": 0, "pattern": "^[0-9]+$"}
	}
	return n
}

// condition adds conditions and predicates.
func (s *schemaMaker) condition() {
	pred := s.mapOf(inPred)
	pred["minProperties"] = 1
	s.defs["predicateMap"] = pred
	s.defs["predicate"] = anyOf(refTo("text"), listOf(refTo("text"), 1), refTo("predicateMap"))
	// On a text, alternatives stand beside the predicates.
	props := maps.Clone(pred["properties"].(schemaNode))
	props["any"] = schemaNode{"description": "Predicates of which one must hold.", "type": "array", "minItems": 1, "items": refTo("predicateMap")}
	s.defs["textCondition"] = schemaNode{"type": "object", "properties": props, "additionalProperties": false, "minProperties": 1}
	cond := s.mapOf(inCond)
	cond["minProperties"] = 1
	cond["description"] = "Selectors and what must hold of their values, all of it."
	cond["properties"].(schemaNode)[""] = false
	cond["additionalProperties"] = refTo("predicate")
	s.defs["condition"] = cond
}

// An expressionKind is what an expression may hold where it stands: see place.
type expressionKind struct {
	def               string
	truth, time, pick bool
	role              bool
}

var expressionKinds = []expressionKind{
	{def: "expression"}, {def: "truth", truth: true}, {def: "time", time: true}, {def: "roleExpression", role: true},
	{def: "conversationText", pick: true}, {def: "conversationTruth", truth: true, pick: true}, {def: "conversationTime", time: true, pick: true},
}

func expressionFor(k *keyInfo) string {
	kind := map[valueKind]string{kindExpr: "expression", kindTruth: "truth", kindTime: "time"}[k.Kind]
	if k.In != inConversation {
		return kind
	}
	return map[string]string{"expression": "conversationText", "truth": "conversationTruth", "time": "conversationTime"}[kind]
}

// expression adds the expressions of one kind: a selector, a map, or a list of those.
func (s *schemaMaker) expression(e expressionKind) {
	m := s.mapOf(inExpr)
	props := m["properties"].(schemaNode)
	for key, allowed := range map[string]bool{"unit": e.time, "layout": e.time, "zone": e.time, "pick": e.pick} {
		if !allowed {
			delete(props, key)
		}
	}
	if e.role {
		role := oneWord(textRoleWords)
		for _, key := range []string{"value", "else"} {
			props[key] = schemaNode{"enum": textRoleWords, "description": describe(keyIndex[inExpr][key])}
		}
		props["map"] = schemaNode{"type": "object", "minProperties": 1, "additionalProperties": role, "description": describe(keyIndex[inExpr]["map"])}
	}
	one := exactlyOne(forms)
	if e.truth {
		one["oneOf"] = append(one["oneOf"].([]schemaNode), schemaNode{"required": []string{"when"}, "maxProperties": 1})
	}
	// A from that holds expressions gives text, of which steps for lists have nothing to do.
	nested := schemaNode{"properties": schemaNode{"from": anyOf(schemaNode{"type": "object"}, schemaNode{"type": "array", "contains": schemaNode{"type": "object"}})}, "required": []string{"from"}}
	steps := schemaNode{"not": atLeastOne([]string{"only", "item", "parse", "get"})}
	if e.truth {
		steps = schemaNode{"not": schemaNode{}}
	}
	m["allOf"] = []schemaNode{
		one,
		{"dependentRequired": schemaNode{"key": []string{"lookup"}, "lookup": []string{"key"}, "else": []string{"map"}}},
		{"not": schemaNode{"required": []string{"unit", "layout"}}},
		{"if": nested, "then": steps},
	}
	s.defs[e.def+"Map"] = m
	text := refTo("fullText")
	if e.role {
		s.defs[e.def] = anyOf(refTo(e.def+"Map"), listOf(anyOf(text, refTo(e.def+"Map")), 1))
		return
	}
	s.defs[e.def] = anyOf(text, refTo(e.def+"Map"), listOf(anyOf(text, refTo(e.def+"Map")), 1))
}
