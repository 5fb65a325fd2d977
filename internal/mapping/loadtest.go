package mapping

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"parlance/internal/chat"
)

// contents are the keys of a test of which one is its sample.
var contents = []string{"records", "document", "text", "sql"}

// expects are the keys of a test that expect something.
var expects = []string{"expect", "expect_all", "expect_conversation", "expect_skipped", "expect_no_rule", "expect_warnings"}

func (l *loader) testsOf(f *fields) {
	v, path := f.at("tests")
	tested := map[string]bool{}
	names := map[string]bool{}
	for i, n := range l.maps(v, path) {
		at := sub(path, i)
		t := l.test(n, at)
		if t == nil {
			continue
		}
		if t.name != "" && names[t.name] {
			l.at(codeDuplicate, n.get("name"), dot(at, "name"), fmt.Sprintf("a second test %q", shorten(t.name)), "")
		}
		names[t.name] = true
		tested[t.source] = true
		l.m.tests = append(l.m.tests, t)
	}
	if v == nil && f.keys["tests"] == nil {
		l.at(codeUntested, f.n, "", "no tests", addHint(inMapping, "tests")).Warning = true
		return
	}
	for i, s := range l.m.Sources {
		if s.Unsupported == "" && !tested[s.ID] {
			l.report(codeUntested, s.pos.file, s.pos.line, s.pos.col, sub("sources", i), fmt.Sprintf("no test of source %q", s.ID), "source: "+s.ID+" in a test says what it tests").Warning = true
		}
	}
}

func (l *loader) test(n *yamlNode, path string) *test {
	f := l.mapFields(n, inTest, path)
	if f == nil {
		return nil
	}
	t := &test{name: f.text("name"), pos: n.pos(), source: f.text("source"), conversation: f.text("conversation"), path: f.text("path"), keyPos: map[string]pos{}, at: path}
	if v, at := f.at("source"); v != nil {
		var ids []string
		for _, s := range l.m.Sources {
			ids = append(ids, s.ID)
		}
		if !slices.Contains(ids, v.text) {
			l.at(codeUndefined, v, at, fmt.Sprintf("no source %q", shorten(v.text)), didYouMean(v.text, "sources", ids))
		}
	} else if len(l.m.Sources) > 0 {
		t.source = l.m.Sources[0].ID
	}
	if t.path == "" {
		t.path = "/test/test"
	} else if !strings.HasPrefix(t.path, "/") || slices.Contains(strings.Split(t.path, "/"), "..") {
		l.at(codePattern, f.vals["path"], dot(path, "path"), "not an absolute path without ..", "for example path: /test/log/a.jsonl")
	}
	l.testContent(f, t)
	if v, at := f.at("files"); v != nil {
		t.files = toMap(l.textMap(v, at))
		for _, e := range v.entries {
			if p := e.key.text; p == "" || strings.Contains(p, `\`) || strings.HasSuffix(p, "/") {
				l.at(codePattern, e.key, at, fmt.Sprintf("%s is no path of a file", strconv.Quote(shorten(p))), "paths are absolute, or relative to the folder of path")
			}
		}
	}
	if v, at := f.at("side"); v != nil {
		t.side = toMap(l.textMap(v, at))
		for _, e := range v.entries {
			if !slices.Contains(l.sidecars, e.key.text) {
				l.at(codeUndefined, e.key, dot(at, e.key.text), fmt.Sprintf("no sidecar %q", shorten(e.key.text)), didYouMean(e.key.text, "sidecars", l.sidecars))
			}
		}
	}
	l.testExpects(f, t)
	return t
}

// testContent finds the sample of a test.
func (l *loader) testContent(f *fields, t *test) {
	var have []string
	for _, k := range contents {
		if f.keys[k] != nil {
			have = append(have, k)
		}
	}
	var s *Source
	for _, o := range l.m.Sources {
		if o.ID == t.source {
			s = o
		}
	}
	switch {
	case len(have) > 1:
		l.at(codeConflict, f.keys[have[1]], f.path, fmt.Sprintf("%s beside %s", have[1], have[0]), "a test has one sample: records, document, text or sql")
		return
	case len(have) == 0:
		// A decoder reads several files, none of which is the document.
		if s == nil || s.Decoder == "" || f.keys["files"] == nil {
			l.at(codeTest, f.n, f.path, "test without a sample", "a test has records, document, text or sql")
		}
		return
	}
	v := f.vals[have[0]]
	if v == nil {
		return
	}
	fits := keyIndex[inTest][have[0]].For
	if s != nil && s.Container != "" && fits != nil && s.Decoder == "" && !slices.Contains(fits, s.Container) {
		l.at(codeConflict, f.keys[have[0]], dot(f.path, have[0]), fmt.Sprintf("%s for a source of container %s", have[0], s.Container), "records feeds the rules of any container")
	}
	t.contentPos, t.contentRaw = v.pos(), v.literal
	switch have[0] {
	case "records":
		t.records = &v.text
	case "document":
		t.document = &v.text
	case "text":
		t.text = &v.text
	case "sql":
		t.sql = &v.text
	}
}

func (l *loader) testExpects(f *fields, t *test) {
	if !slices.ContainsFunc(expects, func(k string) bool { return f.keys[k] != nil }) {
		l.at(codeTest, f.n, f.path, "test without expectation", "a test has expect or expect_all, expect_conversation, expect_skipped, expect_no_rule or expect_warnings")
	}
	if f.keys["expect"] != nil && f.keys["expect_all"] != nil {
		l.at(codeConflict, f.keys["expect_all"], f.path, "expect_all beside expect", "expect_all has the abandoned messages too")
	}
	for _, k := range []string{"expect", "expect_all"} {
		v, at := f.at(k)
		if v == nil {
			continue
		}
		t.hasExpect, t.all = true, k == "expect_all"
		t.expectPos = f.keys[k].pos()
		for i, n := range v.items { // an empty list expects no message
			if e, ok := l.expectation(n, sub(at, i)); ok {
				t.expect = append(t.expect, e)
			}
		}
	}
	if v, at := f.at("expect_conversation"); v != nil {
		t.convPos = v.pos()
		t.expectConv = map[string]string{}
		for _, e := range l.textMap(v, at) {
			at := dot(at, e.key.text)
			if !slices.Contains(fieldNames[:], e.key.text) {
				l.at(codeUnknownKey, e.key, at, "unknown key", didYouMean(e.key.text, "keys of a conversation", fieldNames[:]))
				continue
			}
			t.expectConv[e.key.text] = e.val.text
			t.keyPos[at] = e.val.pos()
		}
	}
	if v, at := f.at("expect_skipped"); v != nil {
		t.skipped = l.counts(v, at, t)
	}
	if v, at := f.at("expect_no_rule"); v != nil {
		t.noRule = l.counts(v, at, t)
	}
	if v, at := f.at("expect_warnings"); v != nil {
		t.hasWarnings = true
		t.warnings = texts(v)
		for i, n := range v.items {
			t.keyPos[sub(at, i)] = n.pos()
		}
	}
}

func (l *loader) counts(v *yamlNode, path string, t *test) map[string]string {
	m := map[string]string{}
	for _, e := range l.textMap(v, path) {
		if _, err := strconv.ParseUint(e.val.text, 10, 31); err != nil {
			l.at(codeWrongKind, e.val, dot(path, e.key.text), "a count is needed, found "+e.val.noun(), "for example {ping: 2}")
			continue
		}
		m[e.key.text] = e.val.text
		t.keyPos[dot(path, e.key.text)] = e.val.pos()
	}
	return m
}

func (l *loader) expectation(n *yamlNode, path string) (expectation, bool) {
	f := l.mapFields(n, inExpectation, path)
	if f == nil {
		return expectation{}, false
	}
	e := expectation{pos: n.pos(), path: path, fields: map[string]string{}}
	for _, r := range chat.Roles {
		v := f.vals[string(r)]
		if v == nil {
			continue
		}
		if e.role != "" {
			l.at(codeConflict, f.keys[string(r)], path, fmt.Sprintf("%s beside %s", r, e.role), "an expectation is one message: {ROLE: text}")
			return e, false
		}
		e.role, e.text = string(r), v.text
	}
	if e.role == "" {
		if len(f.vals) == len(n.entries) {
			l.at(codeTest, n, path, "an expectation without a role", "an expectation is {ROLE: text}, for a call {tool_call: name}")
		}
		return e, false
	}
	for _, en := range n.entries {
		k := en.key.text
		if k == e.role || f.vals[k] == nil {
			continue
		}
		if roles := keyIndex[inExpectation][k].For; roles != nil && !slices.Contains(roles, e.role) {
			l.at(codeField, en.key, dot(path, k), fmt.Sprintf("%s does not belong to %s", k, e.role), "it is a key of "+strings.Join(roles, ", "))
			continue
		}
		e.fields[k] = f.vals[k].text
	}
	return e, true
}
