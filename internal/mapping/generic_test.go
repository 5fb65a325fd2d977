package mapping

import (
	"context"
	"path/filepath"
	"testing"

	"parlance/internal/chat"
)

// The mappings of general message formats are for mappings that extend them: those only say
// where the files are.
func TestGenericMappingsExtended(t *testing.T) {
	const openai = `{"at":"x","messages":[{"role":"user","content":"a"},{"role":"assistant","content":"b","tool_calls":[{"id":"1","function":{"name":"f","arguments":"{}"}}]},{"role":"tool","tool_call_id":"1","content":"c"}]}`
	const anthropic = `{"message":{"role":"user","content":"a"}}
{"message":{"role":"assistant","content":[{"type":"text","text":"b"},{"type":"tool_use","id":"1","name":"f","input":{}}]}}
{"message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"1","content":"c"}]}}
`
	for _, tt := range []struct{ extends, source, file, text string }{
		{"generic_openai_messages", `{id: chat, paths: ["~/.gull/*.json"], container: json, records: messages}`, "one.json", openai},
		{"generic_openai_messages", `{id: set, paths: ["~/.gull/*.jsonl"], container: jsonl, conversations: ".", records: messages}`, "one.jsonl", openai},
		{"generic_anthropic_messages", `{id: log, paths: ["~/.gull/*.jsonl"], container: jsonl}`, "one.jsonl", anthropic},
	} {
		m, problems := Load("gull.yaml", []byte("parlance: 1\nname: gull\nextends: "+tt.extends+"\nsources: ["+tt.source+"]\n"), builtinBase)
		if m == nil {
			t.Errorf("%s: %v", tt.extends, problems)
			continue
		}
		for _, p := range append(problems, m.RunTests(context.Background())...) {
			if !p.Warning {
				t.Errorf("%s: %v", tt.extends, p)
			}
		}
		got := readAll(t, m, homeWith(t, map[string]string{".gull/" + tt.file: tt.text}), ReadOptions{})
		if len(got) != 1 {
			t.Errorf("%s: %d conversations", tt.extends, len(got))
			continue
		}
		expectLines(t, got[0], "\nuser a\nassistant b\ntool_call f: {}\ntool_result f: c\n")
	}
}

// What nothing tells the origin of is read by one of them below --root, and by the other if a
// person says so.
func TestTextsOfNobody(t *testing.T) {
	path, err := filepath.Abs(filepath.Join(providersDir, "generic_openai_messages", "home", "root", "lists", "texts.json"))
	if err != nil {
		t.Fatal(err)
	}
	env := homeEnv(t, filepath.Join(providersDir, "generic_openai_messages", "home"))
	for name, want := range map[string]struct{ found, named bool }{
		"generic_openai_messages":    {true, true},
		"generic_anthropic_messages": {false, true},
	} {
		m := builtin(t, name)
		f, err := m.FileAt(env, path)
		if err != nil {
			t.Fatal(err)
		}
		accepts := func() bool {
			return m.Read(context.Background(), f, ReadOptions{}, func(c *chat.Conversation) error {
				if len(c.Messages) != 2 {
					t.Errorf("%s: %d messages", name, len(c.Messages))
				}
				return nil
			}) == nil
		}
		found := accepts()
		f.Loose = false
		if named := accepts(); found != want.found || named != want.named {
			t.Errorf("%s: found %v, named %v", name, found, named)
		}
	}
}
