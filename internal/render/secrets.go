package render

import (
	"encoding/json"
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

// json is the member that says in a JSON document what was redacted, "" if nothing was.
func (t tally) json() string {
	if len(t) == 0 {
		return ""
	}
	return `,"redacted":` + string(encode(t))
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
		b.WriteString(mark(s.Kind))
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

// JSON is a JSON document with its secrets replaced; it is one afterwards.
func (r Redactor) JSON(text string) string { return r.input(text, tally{}) }

// Marked is text with its secrets replaced, and where in it the marks stand that replace them.
func (r Redactor) Marked(text string) (string, []Secret) {
	if r == nil {
		return text, nil
	}
	var b strings.Builder
	var marks []Secret
	at := 0
	for _, s := range r(text) {
		if s.From < at || s.From >= s.To || s.To > len(text) {
			continue
		}
		b.WriteString(text[at:s.From])
		from := b.Len()
		b.WriteString(mark(s.Kind))
		marks = append(marks, Secret{from, b.Len(), s.Kind})
		at = s.To
	}
	if marks == nil {
		return text, nil
	}
	b.WriteString(text[at:])
	return b.String(), marks
}

func mark(kind string) string { return "[redacted: " + line(kind) + "]" }

// input is a call's input with its secrets replaced. JSON stays JSON: what is replaced is the
// inside of its strings, and numbers as a whole, though a secret be known by what is around it.
func (r Redactor) input(text string, counts tally) string {
	if r == nil || text == "" || !strings.ContainsAny(text[:1], "{[") || !json.Valid([]byte(text)) {
		return r.whole(text, counts)
	}
	found := r(text)
	if len(found) == 0 {
		return text
	}
	var b strings.Builder
	at, next := 0, 0 // text[:at] is written; found[next] is the first that ends behind it
	put := func(from, to int, quoted bool) {
		for next < len(found) && found[next].To <= from {
			next++
		}
		for n := next; n < len(found) && found[n].From < to; n++ {
			s := found[n]
			a, z := max(from, s.From), min(to, s.To)
			with := mark(s.Kind)
			if !quoted {
				a, z, with = from, to, string(encode(with))
			} else if a, z = outside(text, a, z); a >= z {
				continue
			}
			if a < at {
				continue
			}
			b.WriteString(text[at:a])
			b.WriteString(with)
			at = z
			if s.From >= from { // else it was counted where it began
				counts[s.Kind]++
			}
		}
	}
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '"':
			end := i + 1
			for text[end] != '"' {
				if text[end] == '\\' {
					end++
				}
				end++
			}
			put(i+1, end, true)
			i = end
		case c == '-' || c >= '0' && c <= '9':
			end := i + 1
			for end < len(text) && strings.IndexByte("0123456789.eE+-", text[end]) >= 0 {
				end++
			}
			put(i, end, false)
			i = end - 1
		}
	}
	b.WriteString(text[at:])
	if out := b.String(); json.Valid([]byte(out)) {
		return out
	}
	return string(encode(r.whole(text, counts))) // not met; a string is JSON all the same
}

// whole is text with its secrets replaced.
func (r Redactor) whole(text string, counts tally) string {
	return r.apply(text, 0, len(text), counts)
}
