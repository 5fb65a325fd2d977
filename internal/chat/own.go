package chat

import (
	"encoding/json"
	"regexp"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// own is a set of things of ours that a call asks for: one bit per kind.
type own uint8

const (
	ownCheckpoint own = 1 << iota
	ownSearch
	ownFork
	ownShow
)

// ownKinds names the bits, in the order in which a mixed call is called after one of them:
// what hands out other conversations comes first, since its output may quote anything.
var ownKinds = []struct {
	kind string
	bit  own
}{
	{"fork", ownFork}, {"search", ownSearch}, {"show", ownShow}, {"checkpoint", ownCheckpoint},
}

func ownKind(kind string) own {
	for _, k := range ownKinds {
		if k.kind == kind {
			return k.bit
		}
	}
	return 0
}

// OwnCall says what of ours a tool call asks for: "checkpoint", "search", "fork", or "show"
// (from a shell only); "" if it is none of our business. A call is ours by its tool's name,
// however the host decorated it, or if it is a shell call that runs such a command of ours.
func OwnCall(m *Message) string {
	set := ownOf(m)
	for _, k := range ownKinds {
		if set&k.bit != 0 {
			return k.kind
		}
	}
	return ""
}

func ownOf(call *Message) own {
	if call == nil || call.Role != ToolCall {
		return 0
	}
	if set := ownTool(call.Tool); set != 0 {
		return set
	}
	name := strings.ToLower(call.Tool)
	switch {
	case strings.Contains(name, "mcp"):
		return ownInner(call.Input)
	case isShell(name) && strings.Contains(Fold(call.Input), "parlance"):
		return ownCommand(call.Input)
	}
	return 0
}

// ownTool knows our tools by name. Hosts put a server's name before it, behind "_", "-",
// "/" and other things that are neither letter nor digit.
func ownTool(tool string) own {
	tool = strings.ToLower(strings.TrimSpace(tool))
	for _, k := range ownKinds {
		before, ok := strings.CutSuffix(tool, "chat_"+k.kind)
		if !ok || k.bit == ownShow {
			continue
		}
		last, _ := utf8.DecodeLastRuneInString(before)
		if before == "" || !unicode.IsLetter(last) && !unicode.IsDigit(last) {
			return k.bit
		}
	}
	return 0
}

// ownInner knows our tools behind a host's one tool for all servers, which names the real
// tool in its input.
func ownInner(input string) own {
	var call map[string]any
	if !strings.Contains(input, "chat_") || json.Unmarshal([]byte(input), &call) != nil {
		return 0
	}
	for _, key := range []string{"tool_name", "toolName", "tool", "name"} {
		if tool, ok := call[key].(string); ok {
			return ownTool(tool)
		}
	}
	return 0
}

// isShell tells by its lower-case name whether a tool runs commands. Hosts have many names
// for it, made of few words.
func isShell(name string) bool {
	for _, word := range []string{"shell", "bash", "exec", "command", "cmd", "terminal", "pwsh", "console"} {
		if strings.Contains(name, word) {
			return true
		}
	}
	return name == "run" || name == "sh" || name == "zsh"
}

// commandPattern finds our commands where a shell would run them: at the beginning of a
// command, perhaps behind a path, a variable or a wrapper. A text that merely mentions one
// (grep "parlance checkpoint") is no command.
var commandPattern = regexp.MustCompile(`(?i)(?:^|[;&|({\n]|` + "`" + `|\s[-/](?:\w*c|command)\s+["']?` +
	`|\b(?:then|do|else|sudo|time|exec|env|nohup|command|run)\s|(?:^|\s)\w+=\S*\s)\s*` +
	`(?:["'][^"'\n]*[/\\]|[^\s"';&|()]*[/\\]|["'])?parlance(?:\.exe)?["']?` +
	`(?:\s+-\S+(?:\s+[^\s-]\S*)?)*?\s+(checkpoint|search|fork|show)\b`)

func ownCommand(input string) (set own) {
	look := func(command string) {
		for _, m := range commandPattern.FindAllStringSubmatch(command, -1) {
			set |= ownKind(strings.ToLower(m[1]))
		}
	}
	var v any
	if json.Unmarshal([]byte(input), &v) != nil {
		look(input)
		return set
	}
	var walk func(v any)
	walk = func(v any) {
		switch v := v.(type) {
		case string:
			look(v)
		case []any:
			var argv []string
			for _, e := range v {
				walk(e)
				if s, ok := e.(string); ok {
					argv = append(argv, s)
				}
			}
			look(strings.Join(argv, " "))
		case map[string]any:
			for _, e := range v {
				walk(e)
			}
		}
	}
	walk(v)
	return set
}

// currentAge is how fresh a conversation must be to be the one that is asking just now.
const currentAge = time.Minute

// Current reports whether c is the conversation that asks us at this moment: it was touched
// less than a minute ago (or will be, by a clock that runs ahead), and it waits for one of our
// tools or has just got its answer. touched is the newest time known of its files, zero if
// only c.Updated counts.
func Current(c *Conversation, touched, now time.Time) bool {
	if c.Updated.After(touched) {
		touched = c.Updated
	}
	if now.Sub(touched).Abs() >= currentAge {
		return false
	}
	asking := func(m *Message) bool { return ownOf(m)&^ownShow != 0 }
	answered := false // the last message is a result
	for i, seen := len(c.Messages)-1, 0; i >= 0; i-- {
		m := &c.Messages[i]
		if !Shown(m) {
			continue
		}
		switch {
		case m.Role == ToolCall && asking(m) && (seen == 0 || m.Running || seen == 1 && answered):
			return true
		case m.Role == ToolResult:
			answered = answered || seen == 0
		case m.Role != ToolCall:
			return false
		}
		seen++
	}
	return false
}
