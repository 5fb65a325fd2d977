package mapping

import (
	"context"
	"strings"
	"testing"

	"parlance/internal/chat"
)

const moreYAML = `parlance: 1
name: acme
sources: [{id: log, paths: ["~/*.jsonl"], container: jsonl}]
common: {id: id, time: at}
messages:
  - {when: {op: back}, as: rewind, to: to}
  - {when: {part: {exists: true}}, as: tool_call, more: true, input: part}
  - {when: {tool: {exists: true}}, as: tool_call, name: tool, call: id, input: args}
  - {when: {out: {exists: true}}, as: tool_result, call: of, text: out}
  - {as: user, text: say}
`

// TestMore: pieces of a call's input that stand in later records make one call, at its place,
// whoever looks at it.
func TestMore(t *testing.T) {
	for _, row := range []struct {
		name, log, want, warning string
	}{
		{"put together, and whole JSON is compact", `{"tool":"grep","id":"1","args":"{\"q\":"}` + "\n" + `{"part":" \"x"}` + "\n" + `{"part":"\"}"}` + "\n" + `{"out":"a.go","of":"1"}`, `tool_call grep {"q":"x"}; tool_result grep a.go`, ""},
		{"other messages in between", `{"tool":"grep","id":"1","args":"{\"q\":"}` + "\n" + `{"say":"hi"}` + "\n" + `{"part":"1}"}`, `tool_call grep {"q":1}; user  hi`, ""},
		{"the latest call grows", `{"tool":"a","id":"1","args":"x"}` + "\n" + `{"tool":"b","id":"2","args":"y"}` + "\n" + `{"part":"z"}`, "tool_call a x; tool_call b yz", ""},
		{"not whole in the end", `{"tool":"a","id":"1","args":"{\"q\":"}` + "\n" + `{"part":"\"x"}`, `tool_call a {"q":"x`, ""},
		{"no call", `{"say":"hi"}` + "\n" + `{"part":"z"}`, "user  hi", "without the call"},
		{"a call that was given up", `{"tool":"a","id":"1","args":"x"}` + "\n" + `{"op":"back","to":"1"}` + "\n" + `{"part":"z"}`, "", "without the call"},
	} {
		t.Run(row.name, func(t *testing.T) {
			m := load(t, moreYAML)
			env := homeWith(t, map[string]string{"a.jsonl": row.log + "\n"})
			files, _ := m.Find(context.Background(), env)
			for _, opts := range []ReadOptions{{}, {Keep: func(*chat.Message) bool { return false }}} {
				var got []string
				var warnings string
				if err := m.Read(context.Background(), files[0], opts, func(c *chat.Conversation) error {
					for _, msg := range c.Messages {
						if !msg.Abandoned {
							got = append(got, string(msg.Role)+" "+msg.Tool+" "+msg.Body())
						}
					}
					warnings = strings.Join(c.Read.Warnings, "; ")
					return nil
				}); err != nil {
					t.Fatal(err)
				}
				if opts.Keep != nil {
					if n := strings.Count(row.want, ";") + 1; row.want != "" && len(got) != n {
						t.Errorf("without texts: %d messages, want %d", len(got), n)
					}
					continue
				}
				if s := strings.Join(got, "; "); s != row.want {
					t.Errorf("got  %s\nwant %s", s, row.want)
				}
				if !strings.Contains(warnings, row.warning) || row.warning == "" && warnings != "" {
					t.Errorf("warnings %q, want %q", warnings, row.warning)
				}
			}
		})
	}
	m := load(t, moreYAML)
	if level, _ := m.RawFilter(File{Sources: []int{0}}, chat.ToolCall); level != RawNone {
		t.Error("a word of an input may be cut between two records, and its bytes are trusted")
	}
}

// TestMoreOfATextInPieces: neighbours of one role and reply are one message.
func TestMoreOfATextInPieces(t *testing.T) {
	m := load(t, `parlance: 1
name: acme
sources: [{id: log, paths: ["~/*.jsonl"], container: jsonl}]
common: {id: id, time: at}
messages:
  - {when: {op: back}, as: rewind, to: to}
  - {when: {op: ping}, as: skip}
  - {when: {ask: {exists: true}}, as: user, more: true, text: ask, reply: n}
  - {when: {think: {exists: true}}, as: reasoning, more: true, text: think}
  - {when: {say: {exists: true}}, as: assistant, more: true, text: say}
  - {when: {whole: {exists: true}}, as: assistant, text: whole}
  - {as: tool_call, name: tool}
`)
	for _, row := range []struct{ name, log, want string }{
		{"blanks and line ends are kept", `{"say":"It"}|{"say":" "}|{"say":"is.\n"}|{"say":"\n"}|{"say":"So."}`, "assistant It is.\n\nSo."},
		{"what is skipped is not between", `{"say":"It "}|{"op":"ping"}|{"say":"is."}`, "assistant It is."},
		{"another kind ends it", `{"think":"hm"}|{"say":"It "}|{"tool":"grep"}|{"say":"is."}`, "reasoning hm; assistant It ; tool_call ; assistant is."},
		{"another reply ends it", `{"ask":"a","n":"1"}|{"ask":"b","n":"1"}|{"ask":"c","n":"2"}`, "user ab; user c"},
		{"a whole message is no piece", `{"whole":"It"}|{"say":"is."}|{"whole":"so"}`, "assistant It; assistant is.; assistant so"},
		{"a blank begins nothing", `{"say":" "}|{"tool":"grep"}|{"say":"\n"}|{"say":"is."}`, "tool_call ; assistant is."},
		{"not on what was given up", `{"ask":"a","id":"1"}|{"say":"It "}|{"op":"back","to":"1"}|{"say":"is."}`, "assistant is."},
	} {
		t.Run(row.name, func(t *testing.T) {
			saysOf(t, m, row.log, row.want)
		})
	}
}

// TestPiecesAndThenTheWhole: the whole takes the place of its pieces, a torn answer keeps its
// own, and the pieces of the next one begin it.
func TestPiecesAndThenTheWhole(t *testing.T) {
	m := load(t, `parlance: 1
name: acme
sources: [{id: log, paths: ["~/*.jsonl"], container: jsonl}]
same:
  - {as: assistant, by: text, keep: last, prefix: true}
messages:
  - {when: {ask: {exists: true}}, as: user, text: ask}
  - {when: {say: {exists: true}}, as: assistant, more: true, text: say}
  - {when: {whole: {exists: true}}, as: assistant, text: whole}
`)
	for _, row := range []struct{ name, log, want string }{
		{"one after the other", `{"ask":"a"}|{"say":"Let "}|{"say":"me."}|{"whole":"Let me."}|{"say":"It "}|{"say":"is."}|{"whole":"It is."}`, "user a; assistant Let me.; assistant It is."},
		{"torn, then asked again", `{"ask":"a"}|{"say":"Let "}|{"ask":"b"}|{"say":"It "}|{"say":"is."}|{"whole":"It is."}`, "user a; assistant Let ; user b; assistant It is."},
		{"torn at the end", `{"ask":"a"}|{"say":"Let "}|{"whole":"Let me."}|{"say":"It "}`, "user a; assistant Let me.; assistant It "},
		{"the same twice", `{"say":"It "}|{"whole":"It is."}|{"ask":"a"}|{"say":"It "}|{"whole":"It is."}`, "assistant It is.; user a; assistant It is."},
	} {
		t.Run(row.name, func(t *testing.T) {
			saysOf(t, m, row.log, row.want)
		})
	}
}

// saysOf holds what is read of a log, its lines parted by "|", against its messages, whether
// their texts are kept or let go.
func saysOf(t *testing.T, m *Mapping, log, want string) {
	t.Helper()
	env := homeWith(t, map[string]string{"a.jsonl": strings.ReplaceAll(log, "|", "\n") + "\n"})
	files, _ := m.Find(context.Background(), env)
	for _, keep := range []bool{true, false} {
		var got []string
		if err := m.Read(context.Background(), files[0], ReadOptions{Keep: func(*chat.Message) bool { return keep }}, func(c *chat.Conversation) error {
			for _, msg := range c.Messages {
				if !msg.Abandoned {
					got = append(got, string(msg.Role)+" "+msg.Text)
				}
			}
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		if s := strings.Join(got, "; "); keep && s != want {
			t.Errorf("got %q, want %q", s, want)
		} else if n := strings.Count(want, ";") + 1; len(got) != n {
			t.Errorf("keep %v: %d messages, want %d", keep, len(got), n)
		}
	}
}
