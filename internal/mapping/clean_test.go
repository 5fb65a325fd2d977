package mapping

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"parlance/internal/chat"
)

func show(pieces []piece) string {
	var out []string
	for _, p := range pieces {
		out = append(out, fmt.Sprintf("%s %q", p.role, p.text))
	}
	return strings.Join(out, ", ")
}

func TestCleanTags(t *testing.T) {
	commands := &cleaner{tags: map[string]string{"system-reminder": "system", "command-name": "command", "command-args": "args",
		"command-message": "drop", "local-command-stdout": "system"}, star: "system"}
	query := &cleaner{tags: map[string]string{"user_query": "inside", "timestamp": "drop"}}
	for _, c := range []struct {
		name     string
		by       *cleaner
		in, want string
	}{
		{"block, then text", commands, "<system-reminder>be brief</system-reminder>\nfix it", `system "be brief", user "fix it"`},
		{"text, then block", commands, "fix it\n<system-reminder>be brief</system-reminder>", `user "fix it", system "be brief"`},
		{"text on both sides", commands, "a\n<system-reminder>x</system-reminder>\nb", `user "a\n\nb", system "x"`},
		{"command", commands, "<command-message>x</command-message>\n<command-name>init</command-name>\n<command-args> now </command-args>", `user "/init now"`},
		{"command with its slash", commands, "<command-name>/cost</command-name>\n<command-args></command-args>", `user "/cost"`},
		{"args without a command", commands, "<command-args>now</command-args>", `user "<command-args>now</command-args>"`},
		{"output", commands, "<local-command-stdout>3 cents</local-command-stdout>", `system "3 cents"`},
		{"a tag in a sentence", commands, "what is <system-reminder> for?", `user "what is <system-reminder> for?"`},
		{"cut block", commands, "<system-reminder>\nno end", `system "no end"`},
		{"cut block behind text", commands, "hello\n<system-reminder>\nno end", "user \"hello\\n<system-reminder>\\nno end\""},
		{"attributes", commands, `<system-reminder data-role="memory">x</system-reminder>`, `system "x"`},
		{"nested, balanced", commands, "<system-reminder>a <system-reminder>b</system-reminder> c</system-reminder>rest", `system "a <system-reminder>b</system-reminder> c", user "rest"`},
		{"nested, unbalanced", commands, "<system-reminder>a <system-reminder>b</system-reminder> c", `system "a <system-reminder>b", user "c"`},
		{"neighbours on one line", commands, "<system-reminder>a</system-reminder><local-command-stdout>b</local-command-stdout>", `system "a", system "b"`},
		{"empty block", commands, "<system-reminder/>go", `user "go"`},
		{"any tag alone on its line", commands, "<fork-notice>\nyou are a fork\n</fork-notice>", `system "you are a fork"`},
		{"any tag, then text", commands, "<fork-notice>\nx\n</fork-notice>\ngo on", `system "x", user "go on"`},
		{"a person's tag", commands, "<p>hi</p>", `user "<p>hi</p>"`},
		{"inside", query, "<timestamp>Mon</timestamp>\n<user_query>\nWhich port?\n</user_query>", `user "Which port?"`},
		{"inside drops what is around", query, "noise\n<user_query>\na\n</user_query>\nmore\n<user_query>b</user_query>", `user "a\n\nb"`},
		{"drop without inside", query, "<timestamp>Mon</timestamp>\nplain", `user "plain"`},
		{"untouched, not even trimmed", query, " plain \n", `user " plain \n"`},
		{"behind a byte order mark", commands, "\ufeff <system-reminder>x</system-reminder>go", `system "x", user "go"`},
		{"any tag behind a byte order mark", commands, "\n\ufeff<fork-notice>\nx\n</fork-notice>", `system "x"`},
		{"a byte order mark and no block", commands, "\ufeffa < b", "user \"\\ufeffa < b\""},
		{"upper case is another tag", commands, "<SYSTEM-REMINDER>x</SYSTEM-REMINDER>", `user "<SYSTEM-REMINDER>x</SYSTEM-REMINDER>"`},
	} {
		if got := show(c.by.apply(chat.User, c.in, func(string) {})); got != c.want {
			t.Errorf("%s:\ngot  %s\nwant %s", c.name, got, c.want)
		}
	}
}

func TestCleanManyUnclosedTagsIsOneScan(t *testing.T) {
	by := &cleaner{tags: map[string]string{"a": "drop"}}
	text := "x\n" + strings.Repeat("<a>\n", 200_000)
	if got := by.apply(chat.User, text, func(string) {}); len(got) != 1 || got[0].text != text {
		t.Errorf("an unclosed tag behind text is ordinary text, got %d pieces", len(got))
	}
}

func TestCleanRules(t *testing.T) {
	after := "## Request:"
	by := &cleaner{rules: []*cleanRule{
		{when: &pred{starts: []string{"# AGENTS"}}, drop: true},
		{when: &pred{starts: []string{"# Context"}}, after: &after},
		{when: &pred{contains: []string{"[REDACTED]"}}, replace: []replacement{{regexp.MustCompile(`\s*\[REDACTED\]\s*$`), ""}}},
		{when: &pred{starts: []string{"&lt;"}}, unescape: true, as: chat.System},
	}}
	for _, c := range []struct{ in, want string }{
		{"# AGENTS.md\nrules", ``},
		{"# Context\nx\n## Request:\nold\n## Request:\n do it ", `user "do it"`},
		{"# Context only", `user "# Context only"`},
		{"ok\n\n[REDACTED]", `user "ok"`},
		{"[REDACTED]", ``},
		{"&lt;b&gt; &amp;amp;", `system "<b> &amp;"`},
		{"other", `user "other"`},
	} {
		if got := show(by.apply(chat.User, c.in, func(string) {})); got != c.want {
			t.Errorf("%q:\ngot  %s\nwant %s", c.in, got, c.want)
		}
	}
}

func TestParseTime(t *testing.T) {
	for _, c := range []struct{ text, unit, layout, want string }{
		{"2026-01-02T03:04:05Z", "", "", "2026-01-02T03:04:05.000Z"},
		{"2026-01-02T03:04:05.123456+02:00", "", "", "2026-01-02T01:04:05.123Z"},
		{"2026-01-02 03:04:05", "", "", "2026-01-02T03:04:05.000Z"},
		{"2026-01-02 03:04:05.5", "", "", "2026-01-02T03:04:05.500Z"},
		{"1780000000", "", "", "2026-05-28T20:26:40.000Z"},
		{"1780000060.5", "", "", "2026-05-28T20:27:40.500Z"},
		{"1780000000123", "", "", "2026-05-28T20:26:40.123Z"},
		{"1780000000123456", "", "", "2026-05-28T20:26:40.123Z"},
		{"1780000000123456789", "", "", "2026-05-28T20:26:40.123Z"},
		{"1780000000000", "ms", "", "2026-05-28T20:26:40.000Z"},
		{"12", "", "", ""},
		{"soon", "", "", ""},
		{"2026-01-02T03:04:05Z", "ms", "", ""},
		{"Tuesday, Jul 7, 2026, 2:00 PM (UTC+2)", "", "Monday, Jan 2, 2006, 3:04 PM (MST)", "2026-07-07T12:00:00.000Z"},
		{"Tuesday, Jul 7, 2026, 2:00 PM (UTC-3:30)", "", "Monday, Jan 2, 2006, 3:04 PM (MST)", "2026-07-07T17:30:00.000Z"},
		{"Tuesday, Jul 7, 2026, 2:00 PM (UTC)", "", "Monday, Jan 2, 2006, 3:04 PM (MST)", "2026-07-07T14:00:00.000Z"},
		{"9e300", "", "", ""},
	} {
		got := ""
		if at, ok := parseTime(c.text, c.unit, c.layout, ""); ok {
			got = at.Format("2006-01-02T15:04:05.000Z")
		}
		if got != c.want {
			t.Errorf("parseTime(%q, %q, %q) = %q, want %q", c.text, c.unit, c.layout, got, c.want)
		}
	}
	if at, ok := parseTime("2026-01-02 03:04:05", "", "", "local"); !ok || !at.Equal(time.Date(2026, 1, 2, 3, 4, 5, 0, time.Local)) {
		t.Errorf("zone local: %v", at)
	}
}

// A rule without a condition is for every text.
func TestCleanRuleWithoutWhen(t *testing.T) {
	c := &cleaner{rules: []*cleanRule{{after: new("Request:")}}}
	for in, want := range map[string]string{"Files: a.go\nRequest: fix it": `user "fix it"`, "fix it": `user "fix it"`} {
		if got := show(c.apply(chat.User, in, func(string) {})); got != want {
			t.Errorf("%q: got %s, want %s", in, got, want)
		}
	}
}
