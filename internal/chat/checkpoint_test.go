package chat

import (
	"reflect"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"
)

const (
	idA = "11111111-2222-4333-8444-555555555555"
	idB = "aaaaaaaa-bbbb-4ccc-8ddd-eeeeeeeeeeee"
)

func line(id, slug string) string { return "CHAT CHECKPOINT UUID=" + id + " SLUG=" + slug }

func TestNewCheckpoint(t *testing.T) {
	shape := regexp.MustCompile(`(?s)^CHAT CHECKPOINT UUID=[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12} SLUG=(.*)$`)
	for _, row := range []struct{ name, in, want string }{
		{"plain", "port found", "port found"},
		{"trimmed", "  port found\n", "port found"},
		{"empty", "", ""},
		{"line breaks stay", "a\nb", "a\nb"},
		{"256 characters", strings.Repeat("端", 256), strings.Repeat("端", 256)},
		{"257 characters", strings.Repeat("端", 257), strings.Repeat("端", 256)},
		{"bad bytes", "a\xffb", "a\uFFFDb"},
	} {
		got := NewCheckpoint(row.in)
		m := shape.FindStringSubmatch(got)
		if m == nil || m[1] != row.want || !utf8.ValidString(got) {
			t.Errorf("%s: got %q, want slug %q", row.name, got, row.want)
		}
	}
	if first, second := NewCheckpoint("a"), NewCheckpoint("a"); first == second {
		t.Error("two checkpoints share a UUID")
	}
}

func call(tool, input string) *Message { return &Message{Role: ToolCall, Tool: tool, Input: input} }

func TestCheckpointIn(t *testing.T) {
	mine := call("mcp__x__chat_checkpoint", `{"slug":"port found"}`)
	shell := call("Bash", `{"command":"parlance checkpoint 'port found'"}`)
	for _, row := range []struct {
		name, text string
		call       *Message
		want       string // slug; "-" = no checkpoint
	}{
		{"opens the result, call unknown", line(idA, "port found"), nil, "port found"},
		{"opens the result, foreign call", line(idA, "port found"), call("read_file", `{"path":"x"}`), "port found"},
		{"slug is trimmed", line(idA, "  port found \r\nmore"), nil, "port found"},
		{"only the first line", line(idA, "a\nb"), mine, "a"},
		{"empty slug", line(idA, ""), nil, ""},
		{"quotes in a bare slug", line(idA, `say "hi" \n`), mine, `say "hi" \n`},
		{"not at the beginning", " " + line(idA, "port found"), nil, "-"},
		{"quoted by another tool", "1: " + line(idA, "port found"), call("grep", `{"q":"CHAT"}`), "-"},
		{"shell that only mentions us", "x:" + line(idA, "port found"), call("Bash", `{"command":"grep -rn \"parlance checkpoint\" ."}`), "-"},
		{"search result of ours", "1 conversation(s):\n" + line(idA, "x"), call("chat_search", "{}"), "-"},
		{"fork of ours, even opening", line(idA, "x"), call("chat_fork", "{}"), "-"},
		{"fork from a shell, even opening", line(idA, "x"), call("Bash", `{"command":"parlance fork port"}`), "-"},
		{"show from a shell", "# x\n" + line(idA, "x"), call("Bash", `{"command":"parlance show 1111"}`), "-"},
		{"result names a fork, call unknown", line(idA, "x"), nil, "x"},
		{"checkpoint and fork in one command, quoted", "## USER\n> " + line(idA, "x"), call("sh", "parlance checkpoint a; parlance fork b"), "-"},
		{"checkpoint and fork in one command, opening", line(idA, "a") + "\n## USER", call("sh", "parlance checkpoint a; parlance fork b"), "a"},
		{"no uuid", "CHAT CHECKPOINT UUID=123 SLUG=x", mine, "-"},
		{"one of the few", "CHAT CHECKPOINT UUID=xyz SLUG=no\n" + line(idA, "yes"), mine, "yes"},

		{"envelope: result object", `{"result":"` + line(idA, `say \"hi\" \u00e4`) + `"}`, mine, `say "hi" ä`},
		{"envelope: response, more lines", `{"response":"` + line(idA, `a\nb`) + `","ok":true}`, mine, "a"},
		{"envelope: content list", `[{"type":"text","text":"` + line(idA, "port found") + `"}]`, mine, "port found"},
		{"envelope: object of a list", `{"content":[{"type":"text","text":"note"},{"type":"text","text":"` + line(idA, "port") + `"}],"isError":false}`, mine, "port"},
		{"envelope: JSON in JSON", `{"output":"{\"result\":\"` + line(idA, `say \\\"hi\\\" now`) + `\"}","n":1}`, mine, `say "hi" now`},
		{"envelope: a JSON string", `"` + line(idA, "port") + `"`, mine, "port"},
		{"envelope: header", "Wall time: 0.1 s\nOutput:\n" + line(idA, "port found") + "\nmore", shell, "port found"},
		{"envelope: header on the line", "Output: " + line(idA, `port "x"`) + "\n", shell, `port "x"`},
		{"envelope: header and JSON", "Output:\n{\"result\":\"" + line(idA, `say \"hi\"`) + "\"}", mine, `say "hi"`},
		{"envelope: header and JSON in JSON", `Output: "{\"result\":\"` + line(idA, `say \\\"hi\\\" now`) + `\"}"`, mine, `say "hi" now`},
		{"envelope: cut JSON", `{"stdout":"done\n` + line(idA, `port\nmore`), shell, "port"},
		{"envelope: cut JSON, backslash last", `{"stdout":"` + line(idA, `port\`), shell, `port\`},
		{"envelope: single quotes", `{'result': '` + line(idA, "port found") + `'}`, mine, "port found"},
		{"envelope: tag", "<output>" + line(idA, "port found") + "</output>", mine, "port found"},
		{"envelope: backquotes", "Made `" + line(idA, "port found") + "`.", mine, "port found"},
	} {
		result := &Message{Role: ToolResult, Text: row.text}
		got, ok := CheckpointIn(result, row.call)
		if want := row.want != "-"; ok != want || ok && got != (Checkpoint{idA, row.want}) {
			t.Errorf("%s: got %v %q, want %q", row.name, ok, got.Slug, row.want)
		}
	}
	for _, role := range Roles {
		_, ok := CheckpointIn(&Message{Role: role, Text: line(idA, "x")}, nil)
		if ok != (role == ToolResult) {
			t.Errorf("%s: got %v", role, ok)
		}
	}
	if _, ok := CheckpointIn(&Message{Role: ToolResult, Tool: "chat_fork", Text: line(idA, "x")}, nil); ok {
		t.Error("a result that names our fork as its tool counts")
	}
}

func TestOwnCall(t *testing.T) {
	for _, row := range []struct{ name, tool, input, want string }{
		{"plain", "chat_search", "{}", "search"},
		{"case and blanks", " Chat_Fork ", "{}", "fork"},
		{"mcp prefix", "mcp__x__chat_checkpoint", "{}", "checkpoint"},
		{"one underscore", "mcp_x_chat_search", "{}", "search"},
		{"hyphen", "parlance-chat_search", "{}", "search"},
		{"slash", "@parlance/chat_fork", "{}", "fork"},
		{"part of a longer name", "mychat_search", "{}", ""},
		{"more behind", "chat_search_all", "{}", ""},
		{"no such tool", "chat_show", "{}", ""},
		{"tool for all servers", "use_mcp_tool", `{"server_name":"p","tool_name":"chat_fork","arguments":"{}"}`, "fork"},
		{"tool for all servers, another tool", "use_mcp_tool", `{"tool_name":"other","arguments":"chat_fork"}`, ""},
		{"shell", "Bash", `{"command":"parlance search port"}`, "search"},
		{"show", "Bash", `{"command":"parlance show 1111 --format text"}`, "show"},
		{"other command", "Bash", `{"command":"parlance providers"}`, ""},
		{"behind another command", "execute_bash", `{"command":"cd /x && parlance checkpoint \"port found\""}`, "checkpoint"},
		{"bash -lc", "shell", `{"command":["bash","-lc","parlance checkpoint port"]}`, "checkpoint"},
		{"bash -lc in one string", "shell", `{"command":"bash -lc 'parlance checkpoint port'"}`, "checkpoint"},
		{"argument list", "exec_command", `{"cmd":["parlance","fork","port"]}`, "fork"},
		{"flags between", "terminal", `{"command":"parlance --home /tmp/h --json search port"}`, "search"},
		{"path", "run_in_terminal", `{"command":"./bin/parlance fork x"}`, "fork"},
		{"windows path", "powershell", `{"command":"& \"C:\\Program Files\\Parlance\\parlance.exe\" search port"}`, "search"},
		{"variable before", "sh", "FOO=1 parlance search port", "search"},
		{"bare input", "run", "parlance search port | head", "search"},
		{"substitution", "bash", `{"command":"echo \"$(parlance checkpoint x)\""}`, "checkpoint"},
		{"second line", "bash", `{"command":"ls\nparlance checkpoint x"}`, "checkpoint"},
		{"mentioned only", "bash", `{"command":"grep -rn 'parlance search' docs"}`, ""},
		{"mentioned in an echo", "bash", `{"command":"echo parlance search"}`, ""},
		{"another program", "bash", `{"command":"myparlance search x"}`, ""},
		{"not a shell", "write_file", `{"text":"parlance search port"}`, ""},
		{"search before checkpoint", "bash", `{"command":"parlance checkpoint a; parlance search b"}`, "search"},
	} {
		if got := OwnCall(call(row.tool, row.input)); got != row.want {
			t.Errorf("%s: got %q, want %q", row.name, got, row.want)
		}
	}
	if got := OwnCall(&Message{Role: Assistant, Tool: "chat_search"}); got != "" {
		t.Errorf("an assistant message: got %q", got)
	}
}

type note Checkpoint

func (n note) Checkpoint() (Checkpoint, bool) { return Checkpoint(n), n.UUID != "" }

func TestFindCheckpoints(t *testing.T) {
	envelope := `{"result":"` + line(idB, "two") + `"}`
	c := &Conversation{Messages: []Message{
		{Role: User, Text: line(idA, "said")},
		{Role: ToolCall, Tool: "shell", Call: "1"},
		{Role: ToolCall, Tool: "chat_checkpoint", Call: "2"},
		{Role: ToolCall, Tool: "chat_fork", Call: "3"},
		{Role: ToolResult, Call: "3", Text: envelope},
		{Role: ToolResult, Call: "2", Text: envelope},
		{Role: ToolResult, Call: "1", Text: envelope},
		{Role: ToolResult, Call: "9", Text: line(idA, "orphan")},
		{Role: ToolResult, Call: "2", Text: envelope, Abandoned: true},
		{Role: ToolResult, Elided: true, Note: note{idA, "elided"}},
		{Role: ToolResult, Elided: true, Note: note{}},
		{Role: Assistant, Text: "done"},
		{Role: ToolCall, Tool: "chat_checkpoint"},
		{Role: ToolResult, Text: envelope},
	}}
	want := []Landmark{
		{Checkpoint{idB, "two"}, 5}, {Checkpoint{idA, "orphan"}, 7}, {Checkpoint{idA, "elided"}, 9},
		{Checkpoint{idB, "two"}, 13},
	}
	if got := FindCheckpoints(c); !reflect.DeepEqual(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestCheckpointHolds(t *testing.T) {
	cp := Checkpoint{strings.ToUpper(idB), "Port Found"}
	for needle, want := range map[string]bool{"PORT": true, "eeee": true, " found ": true, "door": false} {
		if got := cp.Holds(Needle(needle)); got != want {
			t.Errorf("%q: got %v", needle, got)
		}
	}
}

func FuzzCheckpointIn(f *testing.F) {
	for _, s := range []string{line(idA, "x"), `{"a":"` + line(idA, `\"`) + `"}`, `x"` + line(idA, `\`), "'" + line(idB, "")} {
		f.Add(s, "chat_checkpoint", "")
		f.Add(s, "bash", "parlance checkpoint x")
	}
	f.Fuzz(func(t *testing.T, text, tool, input string) {
		cp, ok := CheckpointIn(&Message{Role: ToolResult, Text: text}, call(tool, input))
		if ok && (len(cp.UUID) != 36 || strings.ContainsAny(cp.Slug, "\r\n") || cp.Slug != strings.TrimSpace(cp.Slug)) {
			t.Fatalf("%q: %q", text, cp)
		}
	})
}
