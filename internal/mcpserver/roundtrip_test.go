package mcpserver

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"parlance/internal/source"
)

// A keeper writes a conversation as one tool stores it: somebody asks for a mark, our tool is
// called and answers result, and the work goes on. Each %s of text is filled by fill.
type keeper struct {
	tool string // and how it keeps a result
	id   string // of the conversation, with its provider
	file string // below home; a name that ends in db is made of SQL
	text string // with CALL, the name of the tool, and RESULT, a string of JSON (or ESCAPED, one inside of a string of JSON)
	// wrap is what the host makes of the line before it keeps it, nil for nothing.
	wrap func(line string) string
	call string
}

// asJSON is a value as JSON, for envelopes that hosts and servers wrap texts in.
func asJSON(v any) string {
	b, _ := json.Marshal(v)
	return string(b)
}

func resultOf(line string) string { return asJSON(map[string]string{"result": line}) }

func contentOf(line string) string {
	return asJSON(map[string]any{"content": []any{map[string]string{"type": "text", "text": line}}, "isError": false})
}

const (
	claudeText = `{"parentUuid":null,"isSidechain":false,"type":"user","message":{"role":"user","content":"Mark the heron nest"},"uuid":"u1","timestamp":"2026-05-18T08:00:00.000Z","cwd":"/srv/marsh","sessionId":"5f0c1a52-8d0e-4c1b-9a77-00000000e001","version":"2.1.80"}
{"parentUuid":"u1","isSidechain":false,"type":"assistant","message":{"id":"m1","type":"message","role":"assistant","model":"m-1","content":[{"type":"tool_use","id":"t1","name":CALL,"input":INPUT}]},"uuid":"a1","timestamp":"2026-05-18T08:00:01.000Z","sessionId":"5f0c1a52-8d0e-4c1b-9a77-00000000e001","version":"2.1.80"}
{"parentUuid":"a1","isSidechain":false,"type":"user","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":KEPT}]},"uuid":"u2","timestamp":"2026-05-18T08:00:02.000Z","sessionId":"5f0c1a52-8d0e-4c1b-9a77-00000000e001","version":"2.1.80"}
{"parentUuid":"u2","isSidechain":false,"type":"assistant","message":{"id":"m2","type":"message","role":"assistant","model":"m-1","content":[{"type":"text","text":"The nest is marked."}]},"uuid":"a2","timestamp":"2026-05-18T08:00:03.000Z","sessionId":"5f0c1a52-8d0e-4c1b-9a77-00000000e001","version":"2.1.80"}
`
	claudeFile = ".claude/projects/-srv-marsh/5f0c1a52-8d0e-4c1b-9a77-00000000e001.jsonl"
	claudeID   = "claude_code:5f0c1a52-8d0e-4c1b-9a77-00000000e001"

	codexText = `{"timestamp":"2026-05-20T14:00:00.000Z","type":"session_meta","payload":{"id":"019f1a00-0000-7000-8000-00000000e002","timestamp":"2026-05-20T14:00:00.000Z","cwd":"/srv/marsh","originator":"codex-tui","cli_version":"0.120.0","source":"cli"}}
{"timestamp":"2026-05-20T14:00:01.100Z","type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"Mark the heron nest"}]}}
{"timestamp":"2026-05-20T14:00:01.101Z","type":"event_msg","payload":{"type":"user_message","message":"Mark the heron nest","images":[]}}
{"timestamp":"2026-05-20T14:00:02.000Z","type":"response_item","payload":{"type":"function_call",NAMED,"arguments":INPUTSTRING,"call_id":"c1"}}
{"timestamp":"2026-05-20T14:00:03.000Z","type":"response_item","payload":{"type":"function_call_output","call_id":"c1","output":KEPT}}
{"timestamp":"2026-05-20T14:00:04.000Z","type":"response_item","payload":{"type":"message","role":"assistant","content":[{"type":"output_text","text":"The nest is marked."}]}}
`
	codexFile = ".codex/sessions/2026/05/20/rollout-2026-05-20T14-00-00-019f1a00-0000-7000-8000-00000000e002.jsonl"
	codexID   = "codex:019f1a00-0000-7000-8000-00000000e002"

	geminiText = `{"sessionId":"5b5b0001-0000-4000-8000-00000000e003","projectHash":"aa","startTime":"2026-05-21T09:00:00.000Z","lastUpdated":"2026-05-21T09:00:00.000Z","kind":"main"}
{"id":"m1","timestamp":"2026-05-21T09:00:01.000Z","type":"user","content":[{"text":"Mark the heron nest"}]}
{"id":"m2","timestamp":"2026-05-21T09:00:02.000Z","type":"gemini","content":"","thoughts":[],"model":"gemini-3-pro","toolCalls":[{"id":"cp_1","name":CALL,"args":INPUT,"status":"success","timestamp":"2026-05-21T09:00:03.000Z","result":[{"functionResponse":{"id":"cp_1","name":CALL,"response":KEPT}}],"resultDisplay":""}]}
{"id":"m3","timestamp":"2026-05-21T09:00:04.000Z","type":"gemini","content":"The nest is marked.","thoughts":[],"model":"gemini-3-pro"}
`
	geminiFile = ".gemini/tmp/marsh/chats/session-2026-05-21T09-00-5b5b0001.jsonl"
	geminiID   = "gemini_cli:5b5b0001-0000-4000-8000-00000000e003"

	kiroText = `{"version":"v1","kind":"Prompt","data":{"message_id":"m1","content":[{"kind":"text","data":"Mark the heron nest"}],"meta":{"timestamp":1779530400}}}
{"version":"v1","kind":"AssistantMessage","data":{"message_id":"m2","content":[{"kind":"toolUse","data":{"toolUseId":"tu_1","name":CALL,"input":INPUT}}]}}
{"version":"v1","kind":"ToolResults","data":{"message_id":"m3","content":[{"kind":"toolResult","data":{"toolUseId":"tu_1","content":[KEPT],"status":"success"}}],"results":{}}}
{"version":"v1","kind":"AssistantMessage","data":{"message_id":"m4","content":[{"kind":"text","data":"The nest is marked."}]}}
`
	kiroFile = ".kiro/sessions/cli/c0c00001-0000-4000-8000-00000000e004.jsonl"
	kiroID   = "kiro_cli:c0c00001-0000-4000-8000-00000000e004"

	piText = `{"type":"session","version":3,"id":"9c9c0001-0000-4000-8000-00000000e005","timestamp":"2026-05-22T10:00:00.000Z","cwd":"/srv/marsh"}
{"type":"message","id":"a1","parentId":null,"timestamp":"2026-05-22T10:00:01.000Z","message":{"role":"user","content":"Mark the heron nest","timestamp":1779444001000}}
{"type":"message","id":"a2","parentId":"a1","timestamp":"2026-05-22T10:00:02.000Z","message":{"role":"assistant","content":[{"type":"toolCall","id":"k1","name":CALL,"arguments":INPUT}],"model":"m-1","stopReason":"toolUse","timestamp":1779444002000}}
{"type":"message","id":"a3","parentId":"a2","timestamp":"2026-05-22T10:00:03.000Z","message":{"role":"toolResult","toolCallId":"k1","toolName":CALL,"content":[{"type":"text","text":KEPT}],"isError":false,"timestamp":1779444003000}}
{"type":"message","id":"a4","parentId":"a3","timestamp":"2026-05-22T10:00:04.000Z","message":{"role":"assistant","content":[{"type":"text","text":"The nest is marked."}],"model":"m-1","stopReason":"stop","timestamp":1779444004000}}
`
	piFile = ".pi/agent/sessions/--srv-marsh--/2026-05-22T10-00-00-000Z_9c9c0001-0000-4000-8000-00000000e005.jsonl"
	piID   = "pi:9c9c0001-0000-4000-8000-00000000e005"

	opencodeSQL = `CREATE TABLE project(id TEXT PRIMARY KEY, worktree TEXT NOT NULL, vcs TEXT, name TEXT, sandboxes TEXT, time_created INTEGER, time_updated INTEGER);
CREATE TABLE session(id TEXT PRIMARY KEY, project_id TEXT NOT NULL, parent_id TEXT, slug TEXT NOT NULL, directory TEXT NOT NULL, title TEXT NOT NULL, version TEXT NOT NULL, share_url TEXT, revert TEXT, permission TEXT, time_created INTEGER NOT NULL, time_updated INTEGER NOT NULL, time_compacting INTEGER, time_archived INTEGER);
CREATE TABLE message(id TEXT PRIMARY KEY, session_id TEXT NOT NULL, time_created INTEGER NOT NULL, time_updated INTEGER NOT NULL, data TEXT NOT NULL);
CREATE TABLE part(id TEXT PRIMARY KEY, message_id TEXT NOT NULL, session_id TEXT NOT NULL, time_created INTEGER NOT NULL, time_updated INTEGER NOT NULL, data TEXT NOT NULL);
INSERT INTO project VALUES('p1','/srv/marsh','git',NULL,'[]',1767225600000,1767225600000);
INSERT INTO session VALUES('ses_e006','p1',NULL,'calm-fox','/srv/marsh','Nest','1.18.31',NULL,NULL,NULL,1767225600000,1767225660000,NULL,NULL);
INSERT INTO message VALUES('msg_1','ses_e006',1767225600000,1767225600000,'{"role":"user","time":{"created":1767225600000}}');
INSERT INTO part VALUES('prt_1','msg_1','ses_e006',1767225600000,1767225600000,'{"type":"text","text":"Mark the heron nest"}');
INSERT INTO message VALUES('msg_2','ses_e006',1767225601000,1767225606000,'{"role":"assistant","parentID":"msg_1","time":{"created":1767225601000},"modelID":"m-1","providerID":"x"}');
INSERT INTO part VALUES('prt_2','msg_2','ses_e006',1767225602000,1767225603000,'{"type":"tool","callID":"c1","tool":CALL,"state":{"status":"completed","input":INPUT,"output":KEPT,"title":"","metadata":{},"time":{"start":1767225602000,"end":1767225603000}}}');
INSERT INTO part VALUES('prt_3','msg_2','ses_e006',1767225604000,1767225604000,'{"type":"text","text":"The nest is marked."}');
`
	opencodeFile = ".local/share/opencode/opencode.db"
	opencodeID   = "opencode:ses_e006"

	cursorSQL = `CREATE TABLE ItemTable (key TEXT UNIQUE ON CONFLICT REPLACE, value BLOB);
CREATE TABLE cursorDiskKV (key TEXT UNIQUE ON CONFLICT REPLACE, value BLOB);
INSERT INTO cursorDiskKV VALUES ('bubbleId:5b1c2d3e-0000-4000-8000-00000000e007:u1', '{"_v": 3, "bubbleId": "u1", "type": 1, "text": "Mark the heron nest", "createdAt": "2026-05-07T12:00:00.000Z"}');
INSERT INTO cursorDiskKV VALUES ('bubbleId:5b1c2d3e-0000-4000-8000-00000000e007:a1', '{"_v": 3, "bubbleId": "a1", "type": 2, "text": "", "capabilityType": 15, "createdAt": "2026-05-07T12:00:01.000Z", "toolFormerData": {"tool": 19, "toolCallId": "call_1", "name": CALL, "status": "completed", "rawArgs": INPUTSTRING, "params": INPUTSTRING, "result": KEPT}}');
INSERT INTO cursorDiskKV VALUES ('bubbleId:5b1c2d3e-0000-4000-8000-00000000e007:a2', '{"_v": 3, "bubbleId": "a2", "type": 2, "text": "The nest is marked.", "createdAt": "2026-05-07T12:00:02.000Z"}');
INSERT INTO cursorDiskKV VALUES ('composerData:5b1c2d3e-0000-4000-8000-00000000e007', '{"_v": 10, "composerId": "5b1c2d3e-0000-4000-8000-00000000e007", "name": "Nest", "createdAt": 1778155200000, "lastUpdatedAt": 1778155202000, "fullConversationHeadersOnly": [{"bubbleId": "u1", "type": 1}, {"bubbleId": "a1", "type": 2}, {"bubbleId": "a2", "type": 2}]}');
`
	cursorFile = ".config/Cursor/User/globalStorage/state.vscdb"
	cursorID   = "cursor:5b1c2d3e-0000-4000-8000-00000000e007"
)

// keepers are the envelopes that hosts put around results, each as it was seen in one of
// their files. KEPT is what wrap makes of the line.
var keepers = []keeper{
	{tool: "Claude Code, text", id: claudeID, file: claudeFile, text: claudeText, call: "mcp__parlance__chat_checkpoint", wrap: asString},
	{tool: "Claude Code, list", id: claudeID, file: claudeFile, text: claudeText, call: "mcp__parlance__chat_checkpoint",
		wrap: func(line string) string { return asJSON([]any{map[string]string{"type": "text", "text": line}}) }},
	{tool: "Claude Code, result in JSON", id: claudeID, file: claudeFile, text: claudeText, call: "mcp__parlance__chat_checkpoint",
		wrap: func(line string) string { return asJSON(resultOf(line)) }},
	{tool: "Claude Code, list of JSON", id: claudeID, file: claudeFile, text: claudeText, call: "mcp__parlance__chat_checkpoint",
		wrap: func(line string) string {
			return asJSON([]any{map[string]string{"type": "text", "text": resultOf(line)}})
		}},
	{tool: "Claude Code, shell", id: claudeID, file: claudeFile, text: claudeText, call: "Bash", wrap: asString},
	{tool: "Codex, text", id: codexID, file: codexFile, text: codexText, call: "mcp__parlance__chat_checkpoint", wrap: asString},
	{tool: "Codex, content in JSON", id: codexID, file: codexFile, text: codexText, call: "parlance__chat_checkpoint",
		wrap: func(line string) string { return asJSON(contentOf(line)) }},
	{tool: "Codex, content list in JSON", id: codexID, file: codexFile, text: codexText, call: "mcp__parlance__chat_checkpoint",
		wrap: func(line string) string {
			return asJSON(asJSON([]any{map[string]string{"type": "text", "text": line}}))
		}},
	{tool: "Codex, list behind a header", id: codexID, file: codexFile, text: codexText, call: "chat_checkpoint in mcp__parlance",
		wrap: func(line string) string {
			return asJSON([]any{map[string]string{"type": "input_text", "text": "Wall time: 0.1 seconds\nOutput:"}, map[string]string{"type": "input_text", "text": line}})
		}},
	{tool: "Codex, quoted output", id: codexID, file: codexFile, text: codexText, call: "mcp__parlance__chat_checkpoint",
		wrap: func(line string) string { return asJSON("Wall time: 0.1 seconds\nOutput:\n" + asJSON(line)) }},
	{tool: "Codex, shell", id: codexID, file: codexFile, text: codexText, call: "exec_command",
		wrap: func(line string) string {
			return asJSON("Chunk ID: 1\nWall time: 0.1 seconds\nProcess exited with code 0\nOutput:\n" + line + "\n")
		}},
	{tool: "Gemini CLI, output", id: geminiID, file: geminiFile, text: geminiText, call: "chat_checkpoint",
		wrap: func(line string) string { return asJSON(map[string]string{"output": line}) }},
	{tool: "Gemini CLI, content", id: geminiID, file: geminiFile, text: geminiText, call: "mcp_parlance_chat_checkpoint",
		wrap: func(line string) string { return contentOf(line) }},
	{tool: "Gemini CLI, shell", id: geminiID, file: geminiFile, text: geminiText, call: "run_shell_command",
		wrap: func(line string) string {
			return asJSON(map[string]string{"output": "Command: parlance checkpoint heron nest\nDirectory: (root)\nOutput: " + line + "\nExit Code: 0"})
		}},
	{tool: "Kiro, text", id: kiroID, file: kiroFile, text: kiroText, call: "chat_checkpoint",
		wrap: func(line string) string { return asJSON(map[string]string{"kind": "text", "data": line}) }},
	{tool: "Kiro, JSON of MCP", id: kiroID, file: kiroFile, text: kiroText, call: "@parlance/chat_checkpoint",
		wrap: func(line string) string { return `{"kind":"json","data":` + contentOf(line) + `}` }},
	{tool: "Kiro, result in JSON", id: kiroID, file: kiroFile, text: kiroText, call: "parlance___chat_checkpoint",
		wrap: func(line string) string { return `{"kind":"json","data":` + contentOf(resultOf(line)) + `}` }},
	{tool: "Pi, shell", id: piID, file: piFile, text: piText, call: "bash",
		wrap: func(line string) string { return asJSON(line + "\n") }},
	{tool: "OpenCode, text", id: opencodeID, file: opencodeFile, text: opencodeSQL, call: "parlance_chat_checkpoint", wrap: asString},
	{tool: "OpenCode, result in JSON", id: opencodeID, file: opencodeFile, text: opencodeSQL, call: "parlance_chat_checkpoint",
		wrap: func(line string) string { return asJSON(resultOf(line)) }},
	{tool: "OpenCode, shell", id: opencodeID, file: opencodeFile, text: opencodeSQL, call: "bash",
		wrap: func(line string) string { return asJSON(line + "\n") }},
	{tool: "Cursor, content", id: cursorID, file: cursorFile, text: cursorSQL, call: "mcp_parlance_chat_checkpoint",
		wrap: func(line string) string { return asJSON(contentOf(line)) }},
	{tool: "Cursor, result of a list in JSON", id: cursorID, file: cursorFile, text: cursorSQL, call: "mcp-parlance-chat_checkpoint",
		wrap: func(line string) string {
			return asJSON(asJSON(map[string]string{"result": contentOf(line)}))
		}},
	{tool: "Cursor, shell", id: cursorID, file: cursorFile, text: cursorSQL, call: "run_terminal_cmd",
		wrap: func(line string) string { return asJSON(asJSON(map[string]any{"output": line + "\n", "exitCode": 0})) }},
}

func asString(line string) string { return asJSON(line) }

// fill is the file of a keeper with a line in it.
func (k *keeper) fill(line string) string {
	input := asJSON(map[string]string{"slug": "heron nest"})
	switch k.call {
	case "Bash", "bash", "run_shell_command", "run_terminal_cmd":
		input = asJSON(map[string]string{"command": "parlance checkpoint heron nest"})
	case "exec_command":
		input = asJSON(map[string]string{"cmd": "parlance checkpoint heron nest"})
	}
	named := `"name":` + asJSON(k.call)
	if name, space, ok := strings.Cut(k.call, " in "); ok {
		named = fmt.Sprintf(`"name":%q,"namespace":%q`, name, space)
	}
	text := strings.NewReplacer("CALL", asJSON(k.call), "INPUTSTRING", asJSON(input), "INPUT", input, "NAMED", named, "KEPT", k.wrap(line)).Replace(k.text)
	return text
}

// TestCheckpointComesBack: a checkpoint made by the server is found again in the file of
// whoever called it, whatever that tool wraps results in, by its UUID and by its slug.
func TestCheckpointComesBack(t *testing.T) {
	for _, k := range keepers {
		t.Run(k.tool, func(t *testing.T) {
			home := t.TempDir()
			h := openHome(t, home, func() time.Time { return testNow })
			line := ask(t, h, "chat_checkpoint", map[string]any{"slug": "heron nest"})
			uuid := strings.TrimPrefix(strings.Fields(line)[2], "UUID=")
			path := filepath.Join(home, filepath.FromSlash(k.file))
			if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
				t.Fatal(err)
			}
			text := k.fill(line)
			var err error
			if strings.HasPrefix(text, "CREATE ") {
				err = source.BuildDB(context.Background(), path, text)
			} else {
				err = os.WriteFile(path, []byte(text), 0o644)
			}
			if err != nil {
				t.Fatal(err)
			}
			age(t, home, testNow.Add(-time.Hour))
			// Another conversation that only talks of the UUID.
			other := filepath.Join(home, ".claude/projects/-srv-other/5f0c1a52-8d0e-4c1b-9a77-0000000000ff.jsonl")
			if err := os.MkdirAll(filepath.Dir(other), 0o755); err != nil {
				t.Fatal(err)
			}
			quoting := strings.ReplaceAll(claudeText, "5f0c1a52-8d0e-4c1b-9a77-00000000e001", "5f0c1a52-8d0e-4c1b-9a77-0000000000ff")
			quoting = strings.NewReplacer("Mark the heron nest", "Go on from "+line, "CALL", `"Read"`, "INPUT", `{}`, "KEPT", asJSON("notes: "+line)).Replace(quoting)
			if err := os.WriteFile(other, []byte(quoting), 0o644); err != nil {
				t.Fatal(err)
			}
			age(t, filepath.Dir(other), testNow.Add(-time.Minute*2))

			found := ask(t, h, "chat_search", map[string]any{"search": uuid})
			for _, want := range []string{"1 conversation(s)", k.id, "slugs: heron nest (UUID=" + uuid + ")", "matched: checkpoint uuid"} {
				if !strings.Contains(found, want) {
					t.Errorf("search: %q is not in\n%s", want, found)
				}
			}
			fork := ask(t, h, "chat_fork", map[string]any{"search": uuid, "start_checkpoint": uuid})
			if !strings.HasPrefix(fork, "## ASSISTANT\nTOOL_RESULT\n> ") || !strings.Contains(fork, "> The nest is marked.") ||
				strings.Contains(fork, "Mark the heron nest") || !strings.Contains(fork, `END CHAT SUMMARY ID="`+k.id+`"`) || strings.Contains(fork, "No checkpoint") {
				t.Errorf("fork:\n%s", fork)
			}
			if fork := ask(t, h, "chat_fork", map[string]any{"search": "HERON nest", "end_checkpoint": "heron"}); !strings.Contains(fork, `ID="`+k.id+`"`) || strings.Contains(fork, "The nest is marked") {
				t.Errorf("fork by slug:\n%s", fork)
			}
		})
	}
}

// TestWhoAsks: the conversation that waits for our answer is named and is no answer; if two
// wait at the same time neither is named, and neither is one.
func TestWhoAsks(t *testing.T) {
	home := t.TempDir()
	put := func(file, text string, at time.Time) {
		path := filepath.Join(home, filepath.FromSlash(file))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(path, at, at); err != nil {
			t.Fatal(err)
		}
	}
	asking := func(text, call string) string {
		lines := strings.SplitAfter(text, "\n")
		i := len(lines) - 3 // the result and what follows are not there yet
		text = strings.Join(lines[:i], "")
		return strings.NewReplacer("CALL", asJSON(call), "NAMED", `"name":`+asJSON(call), "INPUTSTRING", `"{\"search\":\"heron\"}"`, "INPUT", `{"search":"heron"}`).Replace(text)
	}
	old := testNow.Add(-time.Hour)
	put(kiroFile, strings.NewReplacer("CALL", `"read"`, "INPUT", "{}", "KEPT", `{"kind":"text","data":"x"}`).Replace(kiroText), old)
	put(claudeFile, asking(claudeText, "mcp__parlance__chat_search"), testNow.Add(-2*time.Second))
	h := openHome(t, home, func() time.Time { return testNow })
	found := ask(t, h, "chat_search", map[string]any{"search": "heron"})
	if !strings.HasPrefix(found, "current chat id = "+claudeID+"\n1 conversation(s) matching") || !strings.Contains(found, kiroID) {
		t.Errorf("one asks:\n%s", found)
	}
	if fork := ask(t, h, "chat_fork", map[string]any{"search": "heron"}); !strings.Contains(fork, `ID="`+kiroID+`"`) {
		t.Errorf("one asks:\n%s", fork)
	}
	if fork := ask(t, h, "chat_fork", map[string]any{"search": claudeID}); !strings.Contains(fork, `ID="`+claudeID+`"`) {
		t.Errorf("its own id:\n%s", fork)
	}
	codex := strings.SplitAfter(asking(codexText, "mcp__parlance__chat_search"), "\n")
	put(codexFile, strings.Join(codex, ""), testNow.Add(-time.Second))
	found = ask(t, h, "chat_search", map[string]any{"search": "heron"})
	if !strings.HasPrefix(found, "1 conversation(s) matching") || !strings.Contains(found, kiroID) || strings.Contains(found, codexID) || strings.Contains(found, claudeID) {
		t.Errorf("two ask:\n%s", found)
	}
	if fork := ask(t, h, "chat_fork", map[string]any{"search": ""}); !strings.Contains(fork, `ID="`+kiroID+`"`) {
		t.Errorf("two ask:\n%s", fork)
	}
}
