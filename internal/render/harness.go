package render

import (
	"regexp"
	"slices"
	"strings"
)

// tidy is a text that a program wrote among the prompts, as a person would read it. A text
// that is not in the form of such programs stays as it is. "" says nothing.
func (t *Tools) tidy(text string) string {
	if t == nil {
		return text
	}
	h := &t.table.Harness
	text = strings.TrimSpace(text)
	notice := "<" + h.Notice.Tag + ">"
	switch {
	case h.Notice.Tag != "" && strings.HasPrefix(text, notice):
		inside, after, closed := strings.Cut(text[len(notice):], "</"+h.Notice.Tag+">")
		if !closed {
			inside, after = text[len(notice):], ""
		}
		return t.notice(inside, after)
	case strings.HasSuffix(text, ">") && blocks.MatchString(text):
		// A mapping has taken the outer tag off.
		if said := t.notice(text, ""); said != "" {
			return said
		}
	}
	if h.Actions.Tag != "" && (strings.HasPrefix(text, "<"+h.Actions.Tag+">") || strings.Contains(text, h.Actions.Edited)) {
		return t.actions(text)
	}
	if !t.isHarness(text) {
		return text
	}
	output := strings.TrimSpace(tagged(text, h.Command.Output))
	if h.Command.Name != "" && strings.Contains(text, "<"+h.Command.Name+">") {
		said := strings.TrimSpace(strings.TrimSpace(tagged(text, h.Command.Name)) + " " + strings.TrimSpace(tagged(text, h.Command.Args)))
		if output != "" {
			said += "\n\n" + output
		}
		return strings.TrimSpace(said)
	}
	if h.Command.Printed != "" && strings.HasPrefix(text, h.Command.Printed) {
		return output
	}
	return withoutTags(text)
}

// blocks is a text that opens with tagged blocks, at least two of them without another inside.
var blocks = regexp.MustCompile(`^(?:<[A-Za-z][A-Za-z0-9_-]*>[^<]*</[A-Za-z][A-Za-z0-9_-]*>\s*){2}`)

// bareTag is a line that is an opening tag without attributes, and nothing else.
var bareTag = regexp.MustCompile(`^<[A-Za-z0-9_-]+>$`)

// isHarness tells by its first characters whether a program wrote a text for a parser. A
// person may well write "<p>hi</p>".
func (t *Tools) isHarness(text string) bool {
	text = strings.TrimSpace(text)
	if slices.ContainsFunc(t.table.Harness.Starts, func(s string) bool { return strings.HasPrefix(text, s) }) {
		return true
	}
	line, _, _ := strings.Cut(text, "\n")
	return bareTag.MatchString(strings.TrimSpace(line))
}

var entities = []string{"&lt;", "<", "&gt;", ">", "&quot;", `"`, "&#39;", "'", "&apos;", "'", "&amp;", "&"}

// unescape decodes the five entities, "&amp;" last, so that nothing is decoded twice.
func unescape(s string) string {
	for i := 0; i < len(entities); i += 2 {
		s = strings.ReplaceAll(s, entities[i], entities[i+1])
	}
	return s
}

// notice is what the blocks of a notification say, and what was written behind it, one a line.
func (t *Tools) notice(inside, after string) string {
	var said []string
	add := func(s string) {
		if s = strings.TrimSpace(s); s != "" && !slices.Contains(said, s) {
			said = append(said, s)
		}
	}
	for _, tag := range t.table.Harness.Notice.Keep {
		for rest := inside; ; {
			_, from, ok := strings.Cut(rest, "<"+tag+">")
			if !ok {
				break
			}
			body, next, ok := strings.Cut(from, "</"+tag+">")
			if !ok {
				break
			}
			add(unescape(body))
			rest = next
		}
	}
	add(after)
	return strings.Join(said, "\n")
}

// actions is what a person did in the editor, the changes themselves left out: the tool calls
// have those.
func (t *Tools) actions(text string) string {
	a := &t.table.Harness.Actions
	if a.From != "" && a.To != "" {
		var kept strings.Builder
		for {
			head, rest, ok := strings.Cut(text, a.From)
			kept.WriteString(head)
			if !ok {
				break
			}
			if _, text, ok = strings.Cut(rest, a.To); !ok {
				break // the block was cut off, and so is all behind it
			}
		}
		text = kept.String()
	}
	var files, lines []string
	for line := range strings.SplitSeq(text, "\n") {
		trimmed := strings.TrimSpace(line)
		if file, ok := strings.CutPrefix(trimmed, a.Edited); ok && a.Edited != "" {
			if file = strings.TrimSuffix(strings.TrimSpace(file), "."); !slices.Contains(files, file) {
				files = append(files, file)
			}
			continue
		}
		if a.Drop != "" && strings.HasPrefix(trimmed, a.Drop) || trimmed == "<"+a.Tag+">" || trimmed == "</"+a.Tag+">" {
			continue
		}
		lines = append(lines, strings.TrimRight(line, " \t\r"))
	}
	rest := strings.TrimSpace(strings.Join(lines, "\n"))
	if len(files) == 0 {
		return rest
	}
	return strings.TrimSpace(a.Say + strings.Join(files, ", ") + "\n" + rest)
}

// tagged is the inside of the first block with a tag, "" if there is none.
func tagged(text, tag string) string {
	_, rest, ok := strings.Cut(text, "<"+tag+">")
	if !ok || tag == "" {
		return ""
	}
	inside, _, ok := strings.Cut(rest, "</"+tag+">")
	if !ok {
		return ""
	}
	return inside
}

// withoutTags is a text without the lines that are tags; of one that is all tags, the inside.
func withoutTags(text string) string {
	var lines []string
	for line := range strings.SplitSeq(text, "\n") {
		if t := strings.TrimSpace(line); !strings.HasPrefix(t, "<") || !strings.HasSuffix(t, ">") {
			lines = append(lines, strings.TrimRight(line, " \t\r"))
		}
	}
	if left := strings.TrimSpace(strings.Join(lines, "\n")); left != "" {
		return left
	}
	text = strings.TrimSpace(text)
	_, inside, ok := strings.Cut(text, ">")
	if !ok || !strings.HasPrefix(text, "<") || !strings.HasSuffix(text, ">") {
		return text
	}
	if end := strings.LastIndex(inside, "</"); end >= 0 {
		inside = inside[:end]
	}
	return strings.TrimSpace(inside)
}
