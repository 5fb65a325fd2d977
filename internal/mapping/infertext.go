package mapping

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"parlance/internal/source"
)

// A speakerForm is a way to head what somebody says. Its group is the word for them.
type speakerForm struct {
	re *regexp.Regexp
	// line writes the RE2 for one word: the rest of such a line is text.
	line func(word string) string
}

var speakerForms = []speakerForm{
	{regexp.MustCompile(`^#{1,6} +(?:\p{So} *)?\**([A-Za-z][A-Za-z ]{0,20}?)\**:? *$`), func(w string) string {
		return `^#{1,6} +(?:\p{So} *)?\**` + w + `\**:? *(?P<text>)$`
	}},
	{regexp.MustCompile(`^\*\*([A-Za-z][A-Za-z ]{0,20}?):?\*\*:?(?: .*)?$`), func(w string) string {
		return `^\*\*` + w + `:?\*\*:? *(?P<text>.*)$`
	}},
	{regexp.MustCompile(`^\[([A-Za-z][A-Za-z ]{0,20})\]:?(?: .*)?$`), func(w string) string {
		return `^\[` + w + `\]:? *(?P<text>.*)$`
	}},
	{regexp.MustCompile(`^<([A-Za-z][A-Za-z ]{0,20})>(?: .*)?$`), func(w string) string {
		return `^<` + w + `> *(?P<text>.*)$`
	}},
	{regexp.MustCompile(`^([A-Za-z][A-Za-z]{0,20}):(?: .*)?$`), func(w string) string {
		return `^` + w + `: *(?P<text>.*)$`
	}},
}

// lookText looks for lines that say who speaks.
func (d *drafting) lookText() error {
	f, err := source.Open(d.path)
	if err != nil {
		return err
	}
	defer f.Close()
	var lines []string
	size := 0
	err = source.Lines(d.ctx, f, func(l source.Line) error {
		if size += len(l.Data); size > inferBytesMax/4 || len(lines) > inferRecordsMax*5 {
			return errStop
		}
		if strings.IndexByte(string(l.Data), 0) >= 0 {
			return errNoText
		}
		lines = append(lines, strings.ToValidUTF8(string(l.Data), "\uFFFD"))
		return nil
	})
	if errors.Is(err, errNoText) {
		d.saw = "binary data"
		return nil
	}
	if err != nil && !errors.Is(err, errStop) {
		return err
	}
	d.saw = fmt.Sprintf("text of %s, and no line such as \"## User\" or \"assistant: ...\" that says who speaks", plural(len(lines), "line"))
	for _, form := range speakerForms {
		d.tryForm(form, lines)
	}
	return nil
}

var errNoText = errors.New("no text")

// tryForm cuts the text at lines of a form, if both sides of a talk are among them.
func (d *drafting) tryForm(form speakerForm, lines []string) {
	wordsSeen := map[string]int{}
	var order []string
	for _, l := range lines {
		m := form.re.FindStringSubmatch(l)
		if m == nil || classOf(m[1]) == classNone {
			continue
		}
		if wordsSeen[m[1]] == 0 {
			order = append(order, m[1])
		}
		wordsSeen[m[1]]++
	}
	s := &shape{container: "text", count: plural(len(lines), "line")}
	have := map[class]bool{}
	s.lines = []string{"lines:"}
	for _, w := range order {
		cl := classOf(w)
		role := classRole[cl]
		if cl == classTool || cl == classCall {
			role = "tool_result"
		}
		if role == "" || len(order) > 12 {
			continue
		}
		have[cl] = true
		kind := cleanName(w)
		s.lines = append(s.lines, fmt.Sprintf("  - {kind: %s, match: %s, then: %s}   # %d", kind, yamlScalar(form.line(regexp.QuoteMeta(w))), yamlScalar("^(?P<text>.*)$"), wordsSeen[w]))
		if role == "tool_result" {
			role = "system" // nothing says which call it answers
		}
		s.rules = append(s.rules, &guess{when: []guessCond{{sel: "kind", path: []string{"kind"}, values: []string{kind}}}, as: role, text: []string{"text"}, n: wordsSeen[w], score: .85})
	}
	if !have[classUser] || !have[classAssistant] || d.best != nil && d.best.worth() >= s.worth() {
		return
	}
	s.sample = func(d *drafting, s *shape) (string, string) {
		sh := d.shortener()
		var out []string
		heads := 0
		for _, l := range lines {
			if m := form.re.FindStringSubmatch(l); m != nil && slices.Contains(order, m[1]) {
				if heads++; heads > sampleFirst {
					break
				}
				at := strings.Index(l, m[1]) + len(m[1])
				out = append(out, sh.line(l, at))
				continue
			}
			if heads == 0 || len(out) > 0 && len(out) < 60 {
				out = append(out, sh.line(l, 0))
			}
		}
		return "text", strings.Join(out[:min(len(out), 80)], "\n") + "\n"
	}
	d.best = s
}

// line shortens a line of a text; what stands in front of at is kept.
func (s *shortener) line(l string, at int) string {
	head, rest := l[:at], l[at:]
	mark := len(rest) - len(strings.TrimLeft(rest, ":*]> "))
	out := head + rest[:mark]
	if rest[mark:] != "" {
		out += s.text("", rest[mark:])
	}
	return strings.TrimRight(strings.Map(func(r rune) rune {
		if r < 0x20 || r == 0xfeff || r >= 0x7f && r < 0xa0 || r == 0x2028 || r == 0x2029 || r == 0xfffe || r == 0xffff {
			return ' '
		}
		return r
	}, out), " ")
}
