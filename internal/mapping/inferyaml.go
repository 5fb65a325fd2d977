package mapping

import (
	"fmt"
	"math"
	"strings"
	"unicode"
)

// bareYAML is a text that YAML reads as itself, inside braces too.
var bareYAML = lazily(`^[A-Za-z_][A-Za-z0-9_./-]*(:[a-z_]+(\.[A-Za-z0-9_]+)*)?$`)

// yamlScalar writes a scalar on one line.
func yamlScalar(s string) string {
	if bareYAML().MatchString(s) && !inWords(strings.ToLower(s), "true false yes no on off null y n") {
		return s
	}
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\t':
			b.WriteString(`\t`)
		case r == '\r':
			b.WriteString(`\r`)
		case r != ' ' && !unicode.IsPrint(r):
			fmt.Fprintf(&b, `\U%08x`, r)
		default:
			b.WriteRune(r)
		}
	}
	b.WriteByte('"')
	return b.String()
}

// yamlList writes texts as a list; one alone stays a text.
func yamlList(list []string) string {
	out := make([]string, len(list))
	for i, s := range list {
		out[i] = yamlScalar(s)
	}
	return "[" + strings.Join(out, ", ") + "]"
}

func yamlOneOrList(list []string) string {
	if len(list) == 1 {
		return yamlScalar(list[0])
	}
	return yamlList(list)
}

// condKey is a selector as the key of a condition: any and not are words there.
func condKey(sel string) string {
	if sel == "any" || sel == "not" {
		return `"\\` + sel + `"`
	}
	return yamlScalar(sel)
}

func (c guessCond) yaml() string {
	if c.values == nil {
		return condKey(c.sel) + ": {exists: true}"
	}
	return condKey(c.sel) + ": " + yamlOneOrList(c.values)
}

func yamlWhen(conds []guessCond) string {
	parts := make([]string, len(conds))
	for i, c := range conds {
		parts[i] = c.yaml()
	}
	return "{" + strings.Join(parts, ", ") + "}"
}

// comment makes a text fit to stand behind a "#".
func comment(s string) string {
	return strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return ' '
		}
		return r
	}, s)
}

// keys are the parts of a rule, as "key: value", but for first and all.
func (g *guess) keys() []string {
	var out []string
	if len(g.when) > 0 {
		out = append(out, "when: "+yamlWhen(g.when))
	}
	if len(g.each) > 0 {
		out = append(out, "each: "+yamlOneOrList(g.each))
	}
	if g.as != "" {
		out = append(out, "as: "+g.as)
	}
	switch {
	case g.nameFrom != "":
		out = append(out, "name: "+g.nameFrom)
	case g.nameIs != "":
		out = append(out, "name: {value: "+yamlScalar(g.nameIs)+"}")
	case len(g.name) > 0:
		out = append(out, "name: "+yamlOneOrList(g.name))
	}
	if len(g.call) > 0 {
		out = append(out, "call: "+yamlOneOrList(g.call))
	}
	if g.inputFrom != "" {
		out = append(out, "input: "+g.inputFrom)
	} else if len(g.input) > 0 {
		out = append(out, "input: "+yamlOneOrList(g.input))
	}
	if len(g.text) > 0 {
		if g.textFrom != "" {
			out = append(out, "text: "+g.textFrom)
		} else if g.concat {
			out = append(out, "text: {concat: "+yamlList(g.text)+`, join: "\n"}`)
		} else {
			out = append(out, "text: "+yamlOneOrList(g.text))
		}
	}
	if g.failed != "" {
		out = append(out, "failed: "+g.failed)
	}
	if r := g.result; r != nil {
		line := "result: {text: " + yamlOneOrList(r.text)
		if r.failed != "" {
			line += ", failed: " + r.failed
		}
		out = append(out, line+"}")
	}
	if g.layer != "" {
		out = append(out, "layer: "+g.layer)
	}
	return out
}

// write writes a rule, and what was seen for it behind it or above.
func (g *guess) write(b *strings.Builder, indent string) {
	if g.gap != "" {
		fmt.Fprintf(b, "%s# GAP %s\n", indent, comment(g.gap))
		fmt.Fprintf(b, "%s#   for example: - {when: %s, as: system, text: %s}\n", indent, comment(yamlWhen(g.when)), comment(yamlOneOrList(g.text)))
		return
	}
	keys := g.keys()
	note := ""
	if g.n > 0 {
		note = fmt.Sprintf("%d", g.n)
	}
	for _, n := range g.notes {
		note += ", " + n
	}
	if g.score < doubtBelow && g.as != actSkip {
		note += " # ?"
		note = strings.TrimSpace(note)
	}
	if note != "" && !strings.HasPrefix(note, "#") {
		note = "# " + note
	}
	if note != "" {
		note = "   " + comment(note)
	}
	if len(g.first) == 0 && len(g.all) == 0 {
		line := "{" + strings.Join(keys, ", ") + "}"
		if len(line) <= 110 || len(keys) < 3 {
			fmt.Fprintf(b, "%s- %s%s\n", indent, line, note)
			return
		}
		for i, k := range keys {
			lead := "  "
			if i == 0 {
				lead = "- "
			} else {
				note = ""
			}
			fmt.Fprintf(b, "%s%s%s%s\n", indent, lead, k, note)
		}
		return
	}
	lead := "- "
	for _, k := range keys {
		fmt.Fprintf(b, "%s%s%s%s\n", indent, lead, k, note)
		lead, note = "  ", ""
	}
	word, list := "first", g.first
	if len(g.all) > 0 {
		word, list = "all", g.all
	}
	fmt.Fprintf(b, "%s%s%s:%s\n", indent, lead, word, note)
	real := 0
	for _, r := range list {
		r.write(b, indent+"    ")
		if r.gap == "" {
			real++
		}
	}
	if real == 0 {
		fmt.Fprintf(b, "%s    - {when: {\"record:@index\": 0}, as: skip}\n", indent)
	}
}

// A metaLine is a key of conversation, common or tree with the evidence for it.
type metaLine struct {
	key, value, why string
	score           float64
}

func writeMeta(b *strings.Builder, head string, list []metaLine) {
	if len(list) == 0 {
		return
	}
	fmt.Fprintf(b, "\n%s:\n", head)
	wide := 0
	for _, m := range list {
		wide = max(wide, min(60, len(m.key)+len(m.value)))
	}
	for _, m := range list {
		mark := ""
		if m.score < doubtBelow {
			mark = " # ?"
		}
		pad := strings.Repeat(" ", max(0, wide-len(m.key)-len(m.value)))
		fmt.Fprintf(b, "  %s: %s%s   # %s%s\n", m.key, m.value, pad, comment(m.why), mark)
	}
}

// share is how many of how many, in words.
func share(n, of int) string { return fmt.Sprintf("%d of %d", n, of) }

// part is a share as a score.
func part(n, of int) float64 { return math.Min(1, float64(n)/float64(max(1, of))) }
