package mapping

import (
	"context"
	"strings"
	"testing"
)

// What a mapping inherits is used and proved by the mapping it is from: check speaks of its
// own rules only.
func TestCheckPassesOverInherited(t *testing.T) {
	base := mappingText("alpha", "~/.alpha/*") + "define:\n  spare: [{as: system, text: never.there}]\nlookups: {names: {json: x.json, key: id}}\n"
	child := "parlance: 1\nname: beta\nextends: alpha\nsources: [{id: log, paths: [\"~/.beta/*.jsonl\"], container: jsonl}]\n" +
		"conversation: {title: missing}\nlookups: {own: {json: y.json, key: a}}\n" +
		"tests: [{name: one, source: log, records: '{\"a\":1}', expect_no_rule: {\"{a}\": 1}}]\n"
	set, err := NewSet(mappingFS("alpha.yaml", base, "beta.yaml", child), nil)
	if err != nil {
		t.Fatal(err)
	}
	m, ps := set.Mapping("beta")
	if m == nil {
		t.Fatal(ps)
	}
	var said []string
	for _, p := range append(ps, m.RunTests(context.Background())...) {
		if p.Code == codeNeverFound || p.Code == codeUnused {
			said = append(said, p.Key+": "+p.Msg)
		}
	}
	want := `lookups.own: never used|conversation.title: "missing" was never found in any test record`
	if got := strings.Join(said, "|"); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}
