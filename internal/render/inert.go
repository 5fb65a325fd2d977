package render

import (
	"regexp"
	"strings"
)

// active is what a viewer of Markdown would do something about by itself: a tag of HTML, or an
// image, which it would fetch.
var active = regexp.MustCompile(`<[A-Za-z/!?]|!\[`)

// oddFence is a fence that does not begin its line, as in a list: where it opens and closes is
// for the viewer to say, not for us.
var oddFence = regexp.MustCompile("(?m)^(?: {4,}|\t|[^`~\n]*[^`~\n ][^`~\n]*)(?:`{3,}|~{3,})")

// inert is Markdown with its tags and images shown instead of acted upon. Code stays as it is,
// as far as there can be no doubt that it is code.
func inert(text string) string {
	if !active.MatchString(text) {
		return text
	}
	if oddFence.MatchString(text) {
		return disarm(text)
	}
	var b strings.Builder
	from := 0
	open := ""
	for _, m := range fenceLine.FindAllStringSubmatchIndex(text, -1) {
		fence, rest := text[m[2]:m[3]], strings.TrimSpace(text[m[4]:m[5]])
		switch {
		case open == "" && !(fence[0] == '`' && strings.Contains(rest, "`")):
			b.WriteString(paragraphs(text[from:m[0]]))
			from, open = m[0], fence
		case open != "" && fence[0] == open[0] && len(fence) >= len(open) && rest == "":
			b.WriteString(text[from:m[1]])
			from, open = m[1], ""
		}
	}
	if open != "" { // it is closed behind the text
		return b.String() + text[from:]
	}
	return b.String() + paragraphs(text[from:])
}

var blankLines = regexp.MustCompile(`\n[ \t]*\n`)

// paragraphs disarms prose between fences. Backquotes that do not pair on their line may pair
// over lines in ways that are the viewer's: then nothing of the paragraph counts as code.
func paragraphs(text string) string {
	var b strings.Builder
	from := 0
	put := func(to int) {
		paragraph := text[from:to]
		from = to
		var out strings.Builder
		for line := range strings.Lines(paragraph) {
			spans, ok := codeSpans(line)
			if !ok {
				b.WriteString(disarm(paragraph))
				return
			}
			at := 0
			for _, s := range spans {
				out.WriteString(disarm(line[at:s[0]]) + line[s[0]:s[1]])
				at = s[1]
			}
			out.WriteString(disarm(line[at:]))
		}
		b.WriteString(out.String())
	}
	for _, m := range blankLines.FindAllStringIndex(text, -1) {
		put(m[1])
	}
	put(len(text))
	return b.String()
}

// codeSpans are the places of inline code on a line; not ok if a run of backquotes has no other.
func codeSpans(line string) (spans [][2]int, ok bool) {
	for i := 0; i < len(line); {
		if line[i] != '`' {
			i++
			continue
		}
		if i > 0 && line[i-1] == '\\' {
			return nil, false
		}
		n := 1
		for i+n < len(line) && line[i+n] == '`' {
			n++
		}
		end := -1
		for j := i + n; j < len(line); {
			if line[j] != '`' {
				j++
				continue
			}
			m := 1
			for j+m < len(line) && line[j+m] == '`' {
				m++
			}
			if m == n {
				end = j + m
				break
			}
			j += m
		}
		if end < 0 {
			return nil, false
		}
		spans = append(spans, [2]int{i, end})
		i = end
	}
	return spans, true
}

// disarm puts a backslash where Markdown would take one for "this is only a character", if
// there is none yet.
func disarm(text string) string {
	var b strings.Builder
	from := 0
	for _, m := range active.FindAllStringIndex(text, -1) {
		at := m[0]
		if text[at] == '!' {
			at++ // it is the bracket that matters
		}
		escaped := 0
		for at > escaped && text[at-escaped-1] == '\\' {
			escaped++
		}
		b.WriteString(text[from:at])
		if escaped%2 == 0 {
			b.WriteByte('\\')
		}
		from = at
	}
	return b.String() + text[from:]
}
