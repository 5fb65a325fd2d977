package mapping

import (
	"context"
	"testing"
)

func TestHintOfTemplate(t *testing.T) {
	m := load(t, `
sources:
  - {id: log, paths: ["~/agents/*/log/*.jsonl*"], capture: '/agents/(?P<agent>[^/]+)/log/(?P<session>[^/]+?)\.jsonl[^/]*$', container: jsonl}
conversation: {id: [{template: "{file:agent}:{file:session}"}, doc:id]}
messages: [{as: user, text: say}]
`)
	env := homeWith(t, map[string]string{"agents/main/log/s1.jsonl": `{"say":"hi"}`, "agents/main/log/s1.jsonl.reset.1": `{"say":"hi"}`})
	files, _ := m.Find(context.Background(), env)
	for _, f := range files {
		if id, exact := m.HintID(f); id != "main:s1" || !exact {
			t.Errorf("%s: hint %s, %v", f.Path, id, exact)
		}
	}
	if len(files) != 2 || !m.IDInBytes(files[0]) {
		t.Errorf("%d files, id in bytes %v", len(files), m.IDInBytes(files[0]))
	}
	for _, template := range []string{"{a}-{b}", "{a}", "{a}{b}", "x:{a}"} {
		m := load(t, "sources: [{paths: [\"~/*.jsonl\"], container: jsonl}]\nconversation: {id: {template: \""+template+"\"}}\nmessages: [{as: user, text: say}]\n")
		if got := m.IDInBytes(File{Sources: []int{0}}); got != (template == "{a}") {
			t.Errorf("%s: %v", template, got)
		}
	}
}
