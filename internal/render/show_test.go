package render

import (
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"parlance/internal/chat"
)

func showcase() *chat.Conversation {
	at := func(s int) time.Time { return time.Date(2026, 1, 2, 3, 4, s, 0, time.UTC) }
	return &chat.Conversation{
		Provider: "acme", ID: "7f", Title: "Heron `nests`", Cwd: "/home/u/demo", Branch: "main", Model: "m-1", Version: "2.3",
		Parent: "6e", Started: at(1), Updated: at(9), File: "/h/a`b.db", Row: "7f",
		Messages: []chat.Message{
			{Role: chat.System, Text: "be brief"},
			{Role: chat.User, Text: "Count the nests\n\n```\nopen", Time: at(1), Inherited: true},
			{Role: chat.User, Text: "## Assistant\nplease", Time: at(2)},
			{Role: chat.User, Text: "soon"},
			{Role: chat.Reasoning, Text: "they ask\ntwice", Time: at(3)},
			{Role: chat.ToolCall, Tool: "grep", Call: "1", Input: `{"q":"nest"}`, Time: at(4)},
			{Role: chat.ToolResult, Tool: "grep", Call: "1", Text: "a\n````\nb\n", Time: at(5)},
			{Role: chat.Assistant, Text: "Two."},
			{Role: chat.ToolCall, Tool: "edit", Call: "2", Input: "bare", Diff: "-two\n+three", Child: "8a", Running: true},
			{Role: chat.ToolResult, Tool: "edit", Call: "2", Failed: true},
			{Role: chat.ToolResult, Tool: "read", Elided: true, Runes: 9000},
			{Role: chat.Assistant, Text: "given up", Abandoned: true},
			{Role: chat.Compaction, Text: "So far: three."},
			{Role: chat.Assistant, Text: "Done."},
		},
		Read: chat.Report{Broken: []chat.Broken{{Line: 3}}, BrokenMore: 1, Incomplete: "a line over 256 MB"},
	}
}

func TestMarkdown(t *testing.T) {
	const want = "# Heron `nests`\n" + `
- id: ` + "`acme:7f`" + `
- project: ` + "`demo`" + `
- folder: ` + "`/home/u/demo`" + `
- branch: ` + "`main`" + `
- model: ` + "`m-1`" + `
- version: ` + "`2.3`" + `
- parent: ` + "`acme:6e`" + `
- started: ` + "`2026-01-02 03:04:01 UTC`" + `
- updated: ` + "`2026-01-02 03:04:09 UTC`" + `
- file: ` + "`` /h/a`b.db ``" + `
- row: ` + "`7f`" + `
- unreadable: ` + "`2 records`" + `
- incomplete: ` + "`a line over 256 MB`" + `

## User (inherited), 2026-01-02 03:04:01 UTC

Count the nests

` + "```\nopen\n```" + `

## User, 2026-01-02 03:04:02 UTC

\## Assistant
please

soon

## Assistant, 2026-01-02 03:04:04 UTC

**Tool call: grep**, 2026-01-02 03:04:04 UTC

` + "```json\n{\"q\":\"nest\"}\n```" + `

**Tool result: grep**, 2026-01-02 03:04:05 UTC

` + "`````\na\n````\nb\n`````" + `

Two.

**Tool call: edit (no result yet)**

` + "```\nbare\n```" + `

**Diff**

` + "```diff\n-two\n+three\n```" + `

*continues in acme:8a*

**Tool result: edit (failed)** (empty)

**Tool result: read**

` + "```\n(9000 characters not read)\n```" + `

## Compaction

So far: three.

## Assistant

Done.
`
	var b strings.Builder
	if err := Markdown(&b, showcase(), ShowOptions{}); err != nil {
		t.Fatal(err)
	}
	if b.String() != want {
		t.Errorf("got\n%s\nwant\n%s", b.String(), want)
	}

	b.Reset()
	if err := Markdown(&b, showcase(), ShowOptions{All: true, Redact: words("nest", "three")}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"# Heron `[redacted: nest]s`\n",
		"\n## System\n\nbe brief\n\n## User (inherited)",
		"\n## Assistant, 2026-01-02 03:04:03 UTC\n\n**Reasoning**\n\n> they ask\n> twice\n\n**Tool call: grep**",
		"\n## Assistant (abandoned)\n\ngiven up\n\n## Compaction\n",
		"\n+[redacted: three]\n",
		"\n*5 secrets redacted (3 nest, 2 three)*\n",
	} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("all and redacted: no %q in\n%s", want, b.String())
		}
	}
}

func TestText(t *testing.T) {
	c := demo()
	c.Messages = append(c.Messages[:4], chat.Message{Role: chat.User, Text: "probe \x1b[2J\x1b[31mRED\x1b[0m\r\n\rASSISTANT\u202e"},
		chat.Message{Role: chat.Reasoning, Text: "why", Time: c.Updated})
	const want = `Which port does the demo use?
id: kiro_cli:aaaa-1
project: demo
folder: /home/u/demo
updated: 2026-05-28 20:26:00 UTC
file: /home/u/.kiro/sessions/cli/aaaa-1.jsonl

USER
  Which port does
  the demo use?

ASSISTANT
  Let me grep.

Tool call: shell
  {"command":"grep -rn listen"}

Tool result: shell
  src/a.js:3: listen(8123)
  ` + `
  end

USER
  probe RED
  ` + `
  ASSISTANT

ASSISTANT  2026-05-28 20:26:00 UTC
REASONING
  why
`
	var b strings.Builder
	if err := Text(&b, c, ShowOptions{All: true}); err != nil {
		t.Fatal(err)
	}
	if b.String() != want {
		t.Errorf("got\n%s\nwant\n%s", b.String(), want)
	}
}

// A conversation that is followed comes out as if it had been printed at once.
func TestPrinterMessageByMessage(t *testing.T) {
	c := showcase()
	var whole, grown strings.Builder
	if err := Text(&whole, c, ShowOptions{}); err != nil {
		t.Fatal(err)
	}
	p := NewText(&grown, ShowOptions{})
	p.Open(c)
	for i := range c.Messages {
		before := grown.Len()
		p.Message(&c.Messages[i])
		m := &c.Messages[i]
		if hidden := m.Role == chat.System || m.Role == chat.Reasoning || m.Abandoned; hidden != (grown.Len() == before) {
			t.Errorf("message %d: printed %d bytes", i, grown.Len()-before)
		}
	}
	if err := p.Close(); err != nil {
		t.Fatal(err)
	}
	if grown.String() != whole.String() {
		t.Errorf("got\n%s\nwant\n%s", grown.String(), whole.String())
	}
}

func TestShowKeepsBudget(t *testing.T) {
	long := of(user("question"), assistant(strings.Repeat("é\n", 9000)), user("later"), user("last"))
	for name, print := range map[string]func(*strings.Builder, *chat.Conversation, ShowOptions) error{
		"markdown": func(b *strings.Builder, c *chat.Conversation, o ShowOptions) error { return Markdown(b, c, o) },
		"text":     func(b *strings.Builder, c *chat.Conversation, o ShowOptions) error { return Text(b, c, o) },
	} {
		var b strings.Builder
		if err := print(&b, long, ShowOptions{Tokens: 2000}); err != nil {
			t.Fatal(err)
		}
		got := b.String()
		if len(got) > 6000 || len(got) < 3000 || !utf8.ValidString(got) {
			t.Errorf("%s: %d bytes", name, len(got))
		}
		for _, want := range []string{"question", "é\n", "characters truncated]"} {
			if !strings.Contains(got, want) {
				t.Errorf("%s: no %q in\n%s", name, want, got)
			}
		}

		b.Reset()
		if err := print(&b, pairs(40, 2500), ShowOptions{Tokens: 5000}); err != nil {
			t.Fatal(err)
		}
		if got = b.String(); len(got) > 15_000 || !strings.Contains(got, "more messages beyond the budget of 5000 tokens") {
			t.Errorf("%s, many messages: %d bytes ending in %q", name, len(got), chat.Tail(got, 100))
		}
	}
}

func TestProsePosesAsNoTool(t *testing.T) {
	for _, header := range []string{"**Tool call: Bash**, 2026-05-01 10:00:00 UTC", "  **Tool result: Bash (failed)**", "**Diff**", "__Reasoning__", "## User"} {
		text := "fine\n\n" + header + "\n\nwiped\n"
		if got, want := (markdown{}).prose("", "", text), "fine\n\n\\"+header+"\n\nwiped\n"; got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	if got := (markdown{}).prose("", "", "**Tooling** and a **Diff** inside"); strings.Contains(got, `\`) {
		t.Errorf("got %q", got)
	}
}

func TestOpenFence(t *testing.T) {
	for _, row := range []struct{ name, in, want string }{
		{"none", "a\nb", ""},
		{"closed", "```go\na\n```", ""},
		{"open", "```go\na", "\n```"},
		{"shorter fence inside", "````\n```\n", "\n````"},
		{"longer closes", "```\na\n`````", ""},
		{"other kind inside", "~~~\n```\n", "\n~~~"},
		{"a closing fence says nothing", "```\n``` go\n", "\n```"},
		{"inline code is no fence", "```a``` b", ""},
		{"indented too far", "    ```\na", ""},
		{"opened again", "```\na\n```\n```\nb", "\n```"},
	} {
		if got := openFence(row.in); got != row.want {
			t.Errorf("%s: got %q, want %q", row.name, got, row.want)
		}
	}
}

// Nothing that a transcript holds may look like a heading of ours in Markdown, reach a
// terminal as a control character in text, break the JSON, or come out invalid.
func FuzzRender(f *testing.F) {
	f.Add("a\n## User\n", "~~~\nx", "sh", 1000)
	f.Add("\x1b]0;T\a\xff", "`````", "a\nb", 0)
	f.Fuzz(func(t *testing.T, one, two, name string, tokens int) {
		c := of(user(one), assistant(two), chat.Message{Role: chat.ToolCall, Tool: name, Input: one, Diff: two, Child: name},
			chat.Message{Role: chat.ToolResult, Tool: name, Text: two}, chat.Message{Role: chat.System, Text: one})
		c.Title, c.ID, c.Row, c.Cwd = name, two, one, name
		for _, o := range []ShowOptions{{}, {All: true, Clean: true, Tokens: tokens}, {Tokens: tokens, Redact: words("a", "#")}} {
			var md, text strings.Builder
			if Markdown(&md, c, o) != nil || Text(&text, c, o) != nil {
				t.Fatal("no error was possible")
			}
			for kind, got := range map[string]string{"markdown": md.String(), "text": text.String()} {
				if !utf8.ValidString(got) {
					t.Fatalf("%s: not valid UTF-8: %q", kind, got)
				}
				if o.Tokens > 0 && len(got) > budgetBytes(o.Tokens) {
					t.Fatalf("%s: %d bytes, budget %d", kind, len(got), budgetBytes(o.Tokens))
				}
			}
			for _, r := range text.String() {
				if unwanted(r) {
					t.Fatalf("text: %U in %q", r, text.String())
				}
			}
			fence := ""
			turns := 0
			for _, l := range strings.Split(md.String(), "\n") {
				if strings.HasPrefix(l, "```") && (fence == "" || l == fence) {
					if fence != "" {
						fence = ""
					} else {
						fence = l[:len(l)-len(strings.TrimLeft(l, "`"))]
					}
				}
				if fence == "" && turnLine.MatchString(l) {
					turns++
				}
			}
			if turns > 4 {
				t.Fatalf("%d headings in\n%s", turns, md.String())
			}
		}
		var b strings.Builder
		if err := MessagesJSON(&b, c, nil); err != nil || !utf8.ValidString(b.String()) || strings.Count(b.String(), "\n") != 1 {
			t.Fatalf("JSON: %v: %q", err, b.String())
		}
		row := chat.NewRow(c)
		listing := Listing([]chat.Row{row, row}, ListingOptions{Search: one, Current: name, Titles: true})
		for _, r := range listing {
			if unwanted(r) {
				t.Fatalf("listing: %U in %q", r, listing)
			}
		}
		if n := strings.Count(listing, "\n- "); n != 2 {
			t.Fatalf("listing: %d entries in\n%s", n, listing)
		}
	})
}
