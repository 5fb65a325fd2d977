package chat

import (
	"strings"
	"testing"
)

func TestPreview(t *testing.T) {
	for _, row := range []struct{ name, in, want string }{
		{"short", "Which port?", "Which port?"},
		{"trimmed", "\n  Which port? \t\n", "Which port?"},
		{"each break is a blank", "a\r\nb\nc\rd", "a  b c d"},
		{"exactly 128", strings.Repeat("x", 128), strings.Repeat("x", 128)},
		{"129", strings.Repeat("x", 129), strings.Repeat("x", 128) + "..."},
		{"counted in characters", strings.Repeat("端", 129), strings.Repeat("端", 128) + "..."},
		{"blank", " \n ", ""},
	} {
		if got := Preview(row.in); got != row.want {
			t.Errorf("%s: got %q, want %q", row.name, got, row.want)
		}
	}
}

func TestPromptIsFirstUserMessageThatSaysSomething(t *testing.T) {
	c := &Conversation{Messages: []Message{
		{Role: System, Text: "rules"},
		{Role: Assistant, Text: "hello"},
		{Role: User, Text: " \n"},
		{Role: User, Text: "given up", Abandoned: true},
		{Role: User, Text: "Which port\ndoes it use?"},
		{Role: User, Text: "later"},
	}}
	if got, want := Prompt(c), "Which port does it use?"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got := Prompt(&Conversation{}); got != "" {
		t.Errorf("empty conversation: got %q", got)
	}
}

func TestContext(t *testing.T) {
	x := func(n int) string { return strings.Repeat("x", n) }
	for _, row := range []struct{ name, text, search, want string }{
		{"whole", "Which port\ndoes it use?", "port", "Which **port** does it use?"},
		{"case as written", "Change the PORT", "port", "Change the **PORT**"},
		{"cut behind", "PORT: " + x(200), "port", "**PORT**: " + x(60) + "..."},
		{"cut before", x(200) + " port", "port", "..." + x(61) + " **port**"},
		{"both", x(63) + "port" + x(63), "port", "..." + x(62) + "**port**" + x(62) + "..."},
		{"just fits", x(62) + "port" + x(62), "port", x(62) + "**port**" + x(62)},
		{"odd width rounds down", x(70) + "por" + x(70), "por", "..." + x(62) + "**por**" + x(62) + "..."},
		{"match wider than the window", "a" + x(200) + "b", x(200), "...**" + x(200) + "**..."},
		{"break inside the match", "the port\r\nnumber", "port\r\nnumber", "the **port  number**"},
		{"characters, not bytes", strings.Repeat("端", 70) + "口", "口", "..." + strings.Repeat("端", 63) + "**口**"},
		{"place found again behind folding", strings.Repeat("\u212A", 80) + "port", "port", "..." + strings.Repeat("\u212A", 62) + "**port**"},
	} {
		hits, first, _ := Matches(row.text, Needle(row.search))
		if hits == 0 {
			t.Errorf("%s: no match", row.name)
			continue
		}
		if got := Context(row.text, first); got != row.want {
			t.Errorf("%s: got %q, want %q", row.name, got, row.want)
		}
	}
}

func TestProject(t *testing.T) {
	for _, row := range []struct{ name, in, want string }{
		{"none", "", ""},
		{"unix", "/home/u/demo", "demo"},
		{"windows", `C:\work\demo`, "demo"},
		{"mixed", `C:\work/demo`, "demo"},
		{"trailing", "/home/u/demo//", "demo"},
		{"trailing backslash", `C:\work\demo\`, "demo"},
		{"one segment", "demo", "demo"},
		{"root", "/", ""},
		{"drive", `C:\`, "C:"},
	} {
		if got := Project(row.in); got != row.want {
			t.Errorf("%s: got %q, want %q", row.name, got, row.want)
		}
	}
}

func TestHeadAndTail(t *testing.T) {
	for _, row := range []struct {
		name, in   string
		n          int
		head, tail string
	}{
		{"zero", "abc", 0, "", ""},
		{"negative", "abc", -1, "", ""},
		{"some", "a端c", 2, "a端", "端c"},
		{"more than there is", "a端c", 9, "a端c", "a端c"},
		{"bad bytes count one each", "\xff\xffa", 2, "\xff\xff", "\xffa"},
	} {
		if got := Head(row.in, row.n); got != row.head {
			t.Errorf("%s: head %q, want %q", row.name, got, row.head)
		}
		if got := Tail(row.in, row.n); got != row.tail {
			t.Errorf("%s: tail %q, want %q", row.name, got, row.tail)
		}
	}
}

func TestPromptPassesOverCommands(t *testing.T) {
	for _, c := range []struct {
		name  string
		texts []string
		want  string
	}{
		{"a command first", []string{"/clear", "fix the port"}, "fix the port"},
		{"with arguments", []string{"/model opus", "fix the port"}, "fix the port"},
		{"nothing else", []string{"/init now", "/quit"}, "/init now"},
		{"a path is no command", []string{"/srv/app is gone", "other"}, "/srv/app is gone"},
		{"a command with text below", []string{"/plan\nthe port", "other"}, "/plan the port"},
	} {
		conv := &Conversation{}
		for _, text := range c.texts {
			conv.Messages = append(conv.Messages, Message{Role: User, Text: text})
		}
		if got := Prompt(conv); got != c.want {
			t.Errorf("%s: got %q, want %q", c.name, got, c.want)
		}
	}
}
