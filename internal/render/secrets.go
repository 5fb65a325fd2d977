package render

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// A Secret is a stretch of a text that must not leave this machine: bytes From to To, and
// what kind of thing it is, in a few words.
type Secret struct {
	From, To int
	Kind     string
}

// A Redactor finds the secrets of a text, in order and without overlaps. It tells places
// instead of returning another text because an answer shows only parts of a text: a secret
// is found with the text around a cut, and counted once, where it is shown.
type Redactor func(text string) []Secret

// tally counts what was redacted, by kind.
type tally map[string]int

func (t tally) add(other tally) {
	for kind, n := range other {
		t[kind] += n
	}
}

// String is "3 secrets redacted (2 api key, 1 password)", "" if there are none.
func (t tally) String() string {
	total := 0
	var kinds []string
	for _, kind := range slices.Sorted(maps.Keys(t)) {
		total += t[kind]
		kinds = append(kinds, fmt.Sprintf("%d %s", t[kind], line(kind)))
	}
	if total == 0 {
		return ""
	}
	return fmt.Sprintf("%s redacted (%s)", count(total, "secret"), strings.Join(kinds, ", "))
}

// count is "1 secret", "2 secrets".
func count(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}

// apply is text[from:to] with its secrets replaced. They are looked for in the whole of text,
// so that one that reaches over an edge is found; what it leaves inside is replaced too.
func (r Redactor) apply(text string, from, to int, counts tally) string {
	if r == nil {
		return text[from:to]
	}
	var b strings.Builder
	at := from
	for _, s := range r(text) {
		if s.To <= at || s.From >= s.To || s.To > len(text) {
			continue
		}
		if s.From >= to {
			break
		}
		if s.From > at {
			b.WriteString(text[at:s.From])
		}
		b.WriteString("[redacted: " + line(s.Kind) + "]")
		counts[s.Kind]++
		at = min(s.To, to)
	}
	if at == from && b.Len() == 0 {
		return text[from:to]
	}
	b.WriteString(text[at:to])
	return b.String()
}

// Text is text with its secrets replaced, for places that have no room to count them.
func (r Redactor) Text(text string) string { return r.whole(text, tally{}) }

// whole is text with its secrets replaced.
func (r Redactor) whole(text string, counts tally) string {
	return r.apply(text, 0, len(text), counts)
}
