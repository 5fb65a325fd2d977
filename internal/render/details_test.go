package render

import (
	"reflect"
	"strings"
	"testing"

	"parlance/internal/chat"
)

// Every row of the table, in each spelling it has.
func TestDetails(t *testing.T) {
	tools := builtinTools(t)
	x := func(n int) string { return strings.Repeat("é", n) }
	for _, row := range []struct {
		tools        string // separated by blanks
		in           string
		detail, full string
	}{
		{"Bash bash", `{"command":"ls -la"}`, "ls -la", ""},
		{"Bash bash", `{"command":"cd /srv  \n\n  make \r\n"}`, "cd /srv ↵   make", "cd /srv  \n\n  make \r\n"},
		{"Bash", `{"command":"` + x(300) + `"}`, x(300), ""},
		{"Bash", `{"command":"` + x(301) + `"}`, x(300) + "…", x(301)},
		{"Bash", `{"command":["ls"]}`, "", ""},
		{"Agent agent", `{"prompt":"look\nthere"}`, "look ↵ there", "look\nthere"},
		{"Agent", `{"prompt":"` + x(201) + `"}`, x(200) + "…", x(201)},
		{"TaskCreate task", `{"description":"count","prompt":"p"}`, "count", ""},
		{"TaskCreate", `{"description":"` + x(201) + `"}`, x(200) + "…", x(201)},
		{"ApplyPatch apply_patch", `{"patch":"*** Update File: a.go\n+x"}`, "a.go", ""},
		{"ApplyPatch apply_patch", `{"input":"*** Add File: a.go\n*** Delete File: b.go\n*** Update File: c.go"}`, "a.go (+2 more)", ""},
		{"ApplyPatch", `{"other":"x"}`, "", ""},
		{"apply_patch", "*** Update File: a.go\n+x", "a.go", "*** Update File: a.go\n+x"},
		{"Read Edit Write read edit write", `{"file_path":"/a","path":"/c"}`, "/a", ""},
		{"Read Edit Write read edit write", `{"filePath":"/b","path":"/c"}`, "/b", ""},
		{"Read Edit Write read edit write", `{"path":"/c"}`, "/c", ""},
		{"Read", `{"offset":3}`, "", ""},
		{"write_to_file write_file replace_in_file apply_diff insert_content search_and_replace create_file edit_file MultiEdit multiedit fs_write fsWrite code_action", `{"content":"on: push","path":"ci.yml"}`, "ci.yml", ""},
		{"Glob glob", `{"path":"/a","pattern":"*.go"}`, "*.go", ""},
		{"Grep grep", `{"pattern":"TODO","path":"src"}`, "TODO in src", ""},
		{"Grep grep", `{"pattern":"TODO"}`, "TODO", ""},
		{"Grep", `{"pattern":"TODO","path":""}`, "TODO", ""},
		{"WebFetch webfetch", `{"prompt":"p","url":"https://example.org"}`, "https://example.org", ""},
		{"WebSearch websearch", `{"query":"herons"}`, "herons", ""},
		{"ToolSearch", `{"query":"select:mcp__0f1e2d3c-4b5a-6978-8796-a5b4c3d2e1f0__send,MCP__0F1E2D3C-4B5A-6978-8796-A5B4C3D2E1F0__get,mcp__x__y"}`, "select:send,get,mcp__x__y", ""},
		{"TaskUpdate", `{"task_id":"3","status":"done"}`, "#3 done", ""},
		{"TaskUpdate", `{"taskId":3}`, "#3", ""},
		{"TaskUpdate", `{"status":"done"}`, "", ""},
		{"TaskGet TaskStop TaskOutput", `{"task_id":12345678901234567890}`, "#12345678901234567890", ""},
		{"TaskList", `{}`, "(list)", ""},
		{"web__run web.run", `{"search_query":[{"q":"tides"}],"open":[{"ref_id":"r"}],"response_length":"short"}`, "search: tides", ""},
		{"web.run", `{"image_query":[{"q":"boats"}]}`, "images: boats", ""},
		{"web.run", `{"open":[{"ref_id":"a"},{"ref_id":""},{"ref_id":"b"},{"other":1},{"ref_id":"c"},{"ref_id":"d"},{"ref_id":"e"}]}`, "open: a · b · c · d", ""},
		{"web.run", `{"find":[{"pattern":"p"}]}`, "find: p", ""},
		{"web.run", `{"click":[{"ref_id":"p"}]}`, "click: p", ""},
		{"web.run", `{"finance":[{"ticker":"p"}]}`, "finance: p", ""},
		{"web.run", `{"weather":[{"location":"p"}]}`, "weather: p", ""},
		{"web.run", `{"sports":[{"league":"p"}]}`, "sports: p", ""},
		{"web.run", `{"time":[{"utc_offset":"+1"}]}`, "time: +1", ""},
		{"web.run", `{"search_query":[{"q":"` + x(121) + `"}]}`, "search: " + x(120) + "…", ""},
		{"web.run", `{"search_query":[],"url":"u"}`, "u", ""},
		{"write_stdin", `{"chars":"yes\nno","session_id":1}`, "yes ↵ no", "yes\nno"},
		{"write_stdin", `{"input":"a"}`, "a", ""},
		{"write_stdin", `{"stdin":"a"}`, "a", ""},
		{"write_stdin", `{"chars":"` + x(201) + `"}`, x(200) + "…", x(201)},
		{"write_stdin", `{"chars":"","session_id":87493}`, "(poll 87493)", ""},
		{"write_stdin", `{}`, "(poll)", ""},
		{"update_plan", `{"plan":[{"step":"look","status":"completed"},{"step":"mend","status":"in_progress"},{"step":"tell","status":"pending"}]}`,
			"1/3 → mend", "[completed] look\n[in_progress] mend\n[pending] tell"},
		{"update_plan", `{"plan":[{"step":"` + x(121) + `","status":"pending"}]}`, "0/1 → " + x(120) + "…", "[pending] " + x(121)},
		{"update_plan", `{"plan":[]}`, "0/0 → ", ""},
		{"update_plan", `{"steps":1}`, "", ""},

		// Any other tool.
		{"mcp__x__y other", `{"commit":"a1b2c3d4e5f6","query":"hello world","verbose":true}`, "hello world", ""},
		{"other", `{"zeta":"z","alpha":"a"}`, "a", ""},
		{"other", `{"alpha":"a","zeta_URL":"z"}`, "z", ""},
		{"other", `{"b_name":"n","a_topic":"t"}`, "t", ""},
		{"other", `{"keywords":["a","b",3,"c","d","e","f"]}`, "a, b, c, d, e", ""},
		{"other", `{"query":"` + x(121) + `"}`, x(120), ""},
		{"other", `{"items":["` + x(100) + `","` + x(100) + `"]}`, x(100) + ", " + x(18), ""},
		{"other", `{"text":"one\ntwo"}`, "one", ""},
		{"other", `{"text":"one\rtwo"}`, "one", ""},
		{"other", `{"text":"\n\n one"}`, "one", ""},
		{"other", `{"query":"","n":"x"}`, "x", ""},
		{"other", `{"id":"abcdef"}`, "abcdef", ""},
		{"other", `{"id":"abcdef0"}`, "", ""},
		{"other", `{"id":"` + strings.Repeat("a", 40) + `"}`, "", ""},
		{"other", `{"id":"` + strings.Repeat("a", 41) + `"}`, strings.Repeat("a", 41), ""},
		{"other", `{"n":3,"b":true,"o":{"query":"x"},"l":[1]}`, "", ""},
		{"other", `{}`, "", ""},

		// An input that is no object.
		{"Bash other", `[1,2]`, "", ""},
		{"Bash other", ``, "", ""},
		{"other", `["a","b"]`, "", ""},
		{"python", "print(1)\nprint(2)", "print(1) ↵ print(2)", "print(1)\nprint(2)"},
		{"python", "true", "true", ""},
		{"python", x(301), x(300) + "…", x(301)},
		{"Bash", `{"command":`, `{"command":`, ""},
	} {
		for _, tool := range strings.Fields(row.tools) {
			detail, full, _ := tools.describe(tool, row.in, &TurnsOptions{})
			if detail != row.detail || full != row.full {
				t.Errorf("%s %.80s: got %q, %q; want %q, %q", tool, row.in, detail, full, row.detail, row.full)
			}
		}
	}
}

func TestToolNames(t *testing.T) {
	for name, want := range map[string]string{
		"mcp__linear__list_issues":                               "linear: list issues",
		"mcp__slack__slack_send":                                 "slack: send",
		"mcp__Claude_in_Chrome__tabs_context_mcp":                "Claude in Chrome: tabs context",
		"mcp__github_mcp__search_code":                           "github: search code",
		"mcp__my-own-server__my_tool":                            "my own server: tool",
		"mcp__plugin_garden_garden__sweep":                       "garden: sweep",
		"mcp__plugin_garden_shed__sweep":                         "plugin garden shed: sweep",
		"mcp__0f1e2d3c-4b5a-6978-8796-a5b4c3d2e1f0__read_it_all": "read it all",
		"mcp__0f1e2d3c-4b5a-6978-8796-a5b4c3d2e1f0__tabs_mcp":    "tabs",
		"mcp__just_one":                                          "just one",
		"mcp__a__b__c":                                           "a: b  c",
		"mcp__slack__slack_":                                     "slack: slack",
		"mcp____x":                                               "x",
		"Bash":                                                   "Bash",
		"my_tool_mcp":                                            "my_tool_mcp",
		"mcp_x_y":                                                "mcp_x_y",
		"":                                                       "tool",
	} {
		if got := toolName(name); got != want {
			t.Errorf("%s: got %q, want %q", name, got, want)
		}
	}
}

func TestDiffs(t *testing.T) {
	call := func(tool, in string) chat.Message {
		return chat.Message{Role: chat.ToolCall, Tool: tool, Call: "1", Input: in}
	}
	stored := func(d string) []chat.Message {
		m := toolResult("1", "")
		m.Diff = d
		return []chat.Message{call("mend", "{}"), m}
	}
	for _, row := range []struct {
		name           string
		in             []chat.Message
		added, removed int
		lines          []string
	}{
		{"patch", []chat.Message{call("apply_patch", "*** Begin Patch\n*** Update File: a.go\n@@ func\n ctx\n-old\n+new\n+more\nodd\n*** End Patch")},
			2, 1, []string{" ctx", "-old", "+new", "+more"}},
		{"patch in an object", []chat.Message{call("ApplyPatch", `{"patch":"-a\n+b"}`)}, 1, 1, []string{"-a", "+b"}},
		{"an edit", []chat.Message{call("Edit", `{"old_string":"a\nb\n","new_string":"c"}`)}, 1, 2, []string{"-a", "-b", "+c"}},
		{"the other spelling", []chat.Message{call("multiEdit", `{"oldString":"a","newString":"b"}`)}, 1, 1, []string{"-a", "+b"}},
		{"a write", []chat.Message{call("WRITE", `{"content":"a\r\nb"}`)}, 2, 0, []string{"+a", "+b"}},
		{"replace", []chat.Message{call("replace", `{"old_string":"a","new_string":""}`)}, 0, 1, []string{"-a"}},
		{"str_replace", []chat.Message{call("str_replace", `{"old_string":"a","new_string":"b"}`)}, 1, 1, []string{"-a", "+b"}},
		{"str_replace_editor", []chat.Message{call("str_replace_editor", `{"old_string":"a","new_string":"b"}`)}, 1, 1, []string{"-a", "+b"}},
		{"several edits", []chat.Message{call("MultiEdit", `{"edits":[{"old_string":"a","new_string":"b"},{"old_string":"c","new_string":"d"},7]}`)},
			2, 2, []string{"-a", "+b", "-c", "+d"}},
		{"no edit", []chat.Message{call("read", `{"content":"a"}`)}, 0, 0, nil},

		{"hunks as stored", stored("@@ -1,2 +1,2 @@\n ctx\n-old\n+new\n@@ -9,0 +9,1 @@\n+last\n\\ No newline at end of file"), 2, 1, []string{" ctx", "-old", "+new", "+last", `\ No newline at end of file`}},
		{"headers of files are left out", stored("Index: a\n====\ndiff --git a/a b/a\n--- a\n+++ a\n@@ -1 +1 @@\n-x\n+y\n--- b\n+++ b\n@@ -1 +1 @@\n-z\n+z2"), 2, 2, []string{"-x", "+y", "-z", "+z2"}},
		{"lines that look like headers are not, in a hunk", stored("@@ -1,2 +1,2 @@\n--- comment\n+++ comment\n ctx"), 1, 1, []string{"--- comment", "+++ comment", " ctx"}},
		{"nor where no hunk follows", stored("--- comment\n+++ comment"), 1, 1, []string{"--- comment", "+++ comment"}},
		{"bare lines", stored("- 3 ports: [8080]\n+ 3 ports: []"), 1, 1, []string{"- 3 ports: [8080]", "+ 3 ports: []"}},
		{"an empty context line", stored("@@ -1,3 +1,3 @@\n a\n\n-b\n+c"), 1, 1, []string{" a", "", "-b", "+c"}},
		{"a hunk shorter than it says", stored("@@ -1,9 +1,9 @@\n-a\n@@ -20 +20 @@\n+b"), 1, 1, []string{"-a", "+b"}},
		{"neither + nor -: no diff", stored("@@ -1 +1 @@\n same"), 0, 0, nil},
		{"what the tool stored counts, not what was asked for", append([]chat.Message{call("edit", `{"old_string":"a\nb","new_string":"c"}`)},
			chat.Message{Role: chat.ToolResult, Call: "1", Diff: "@@ -1 +1 @@\n-a\n+c"}), 1, 1, []string{"-a", "+c"}},
		{"unless it stored nothing", append([]chat.Message{call("write", `{"content":"a"}`)},
			chat.Message{Role: chat.ToolResult, Call: "1", Diff: ""}), 1, 0, []string{"+a"}},
	} {
		c := turnsOf(t, TurnsOptions{}, row.in...).Turns[0].Tools[0]
		if c.Added != row.added || c.Removed != row.removed || !reflect.DeepEqual(c.Diff, row.lines) {
			t.Errorf("%s: got +%d -%d %q, want +%d -%d %q", row.name, c.Added, c.Removed, c.Diff, row.added, row.removed, row.lines)
		}
	}

	// Counts are exact, however few lines are kept.
	many := strings.TrimSuffix(strings.Repeat("+a\n", 250), "\n")
	content := strings.Repeat(`a\n`, 250)
	for _, row := range []struct {
		name  string
		in    []chat.Message
		lines int
	}{
		{"stored", stored(many), 200},
		{"patch", []chat.Message{call("apply_patch", many)}, 60},
		{"edit", []chat.Message{call("write", `{"content":"`+content+`"}`)}, 60},
	} {
		c := turnsOf(t, TurnsOptions{}, row.in...).Turns[0].Tools[0]
		if c.Added != 250 || len(c.Diff) != row.lines {
			t.Errorf("%s: got +%d, %d lines; want 250, %d", row.name, c.Added, len(c.Diff), row.lines)
		}
		c = turnsOf(t, TurnsOptions{Uncut: true}, row.in...).Turns[0].Tools[0]
		if c.Added != 250 || len(c.Diff) != 250 {
			t.Errorf("%s, uncut: got +%d, %d lines", row.name, c.Added, len(c.Diff))
		}
	}
}

func TestHarnessTextIsKnown(t *testing.T) {
	tools := builtinTools(t)
	for text, want := range map[string]bool{
		"<command-name>/clear</command-name>":  true,
		"  <local-command-stdout>":             true,
		"<system-reminder>be brief":            true,
		"<user-prompt-submit-hook>x":           true,
		"Caveat: the messages":                 true,
		"\n<my_tag-1>\nx":                      true,
		"<b>":                                  true,
		"<p>hi</p>":                            false,
		"<a href=x>\nhi":                       false,
		"</closing>\nhi":                       false,
		"<>\nhi":                               false,
		"hi <system-reminder>":                 false,
		"a plain sentence":                     false,
		"":                                     false,
		"<command-message>x</command-message>": false,
	} {
		if got := tools.isHarness(text); got != want {
			t.Errorf("%q: got %v", text, got)
		}
	}
}

func TestTidy(t *testing.T) {
	tools := builtinTools(t)
	for _, row := range []struct{ name, in, want string }{
		{"a notification", "<task-notification>\n<task-id>b1</task-id>\n<summary> done &lt;ok&gt; &amp;lt; </summary>\n<event>&quot;e&quot; &#39;f&apos;</event>\n<result>r</result>\n</task-notification>\nRead it.",
			"done <ok> &lt;\n\"e\" 'f'\nr\nRead it."},
		{"repeats are said once", "<task-notification><summary>a</summary><event>a</event><result> </result><summary>b</summary></task-notification>", "a\nb"},
		{"nothing in it", "<task-notification>\n<task-id>b1</task-id>\n</task-notification>", ""},
		{"one whose end is cut off", "<task-notification>\n<summary>a</summary>\n<result>half", "a"},
		{"one whose outer tag a mapping took off", "<task-id>b1</task-id>\n<status>completed</status>\n<summary>a &amp; b</summary>", "a & b"},
		{"blocks that say nothing we know stay", "<a>1</a>\n<b>2</b>", "<a>1</a>\n<b>2</b>"},

		{"a command", "<command-name>/loop</command-name>\n<command-message>loop</command-message>\n<command-args>5m</command-args>", "/loop 5m"},
		{"a command and what it printed", "<command-name>/loop</command-name>\n<command-args>5m</command-args>\n<local-command-stdout>started\n</local-command-stdout>", "/loop 5m\n\nstarted"},
		{"a command that printed nothing", "<command-name>/clear</command-name>\n<local-command-stdout></local-command-stdout>", "/clear"},
		{"only what was printed", "<local-command-stdout>3 cents</local-command-stdout>", "3 cents"},
		{"nothing was printed", "<local-command-stdout></local-command-stdout>", ""},
		{"a caveat of it", "<local-command-caveat>not for you</local-command-caveat>", ""},

		{"lines that are tags go", "<system-reminder>\nthe file changed\n  <b>bold</b>\n</system-reminder>", "the file changed"},
		{"on one line the inside stays", "<system-reminder>read it first</system-reminder>", "read it first"},
		{"a caveat in words", "Caveat: these were generated", "Caveat: these were generated"},
		{"a wrapper nobody knew", "<new_thing>\nhello\n</new_thing>", "hello"},
		{"what no program wrote stays", "Output:\n<html>\n<b>x</b>", "Output:\n<html>\n<b>x</b>"},

		{"edits in the editor", "<user_actions>\nThe following changes were made by the USER to: a.go.\n[diff_block_start]\n-x\n+y\n[diff_block_end]\nPlease note that these may matter\nThe following changes were made by the USER to: /b/c.go. \n[diff_block_start]\n-x\n[diff_block_end]\nThe user opened d.go.\n</user_actions>",
			"the user edited a.go, /b/c.go\nThe user opened d.go."},
		{"edits whose tag a mapping took off", "The following changes were made by the USER to: a.go.\n[diff_block_start]\n-x", "the user edited a.go"},
		{"actions without edits", "<user_actions>\nThe user opened d.go.\n</user_actions>", "The user opened d.go."},
	} {
		if got := tools.tidy(row.in); got != row.want {
			t.Errorf("%s: got %q, want %q", row.name, got, row.want)
		}
	}

	// It acts on system messages only, and what says nothing makes no turn.
	raw := "<system-reminder>be brief</system-reminder>"
	got := sketch(turnsOf(t, TurnsOptions{}, notice(raw), user(raw), assistant(raw), notice("<local-command-stdout></local-command-stdout>"), user("u")))
	if want := `0 system "be brief"
1 user "` + raw + `"
2 assistant "` + raw + `"
3 user "u"`; got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestNewToolsSaysWhatIsWrong(t *testing.T) {
	for _, row := range []struct {
		name string
		in   []ToolDetail
		want string
	}{
		{"no name", []ToolDetail{{Show: []string{"x"}}}, "details[0]: names: none"},
		{"a name twice", []ToolDetail{{Names: []string{"a"}, Show: []string{"x"}}, {Names: []string{"a"}, Show: []string{"x"}}}, `details[1]: names: "a" has a row already`},
		{"nothing to show", []ToolDetail{{Names: []string{"a"}}}, "details[0]: a: one of"},
		{"two ways", []ToolDetail{{Names: []string{"a"}, Show: []string{"x"}, Patch: []string{"p"}}}, "details[0]: a: one of"},
		{"no length", []ToolDetail{{Names: []string{"a"}, Flat: []string{"x"}}}, "details[0]: a: runes"},
		{"a bad pattern", []ToolDetail{{Names: []string{"a"}, Show: []string{"x"}, Drop: "("}}, "details[0]: drop: "},
	} {
		if _, err := NewTools(ToolTable{Details: row.in}); err == nil || !strings.HasPrefix(err.Error(), row.want) {
			t.Errorf("%s: got %v, want %s", row.name, err, row.want)
		}
	}
}
