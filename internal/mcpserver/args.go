package mcpserver

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"parlance/internal/chat"
	"parlance/internal/render"
)

const (
	// argumentMaxBytes bounds an argument that is looked for: what is longer is no search but a
	// mistake, and would be looked for in gigabytes.
	argumentMaxBytes = 4096
	// shownRunes is how much of a wrong argument is quoted.
	shownRunes = 60
)

// A schema is what a tool takes, read from its input schema, so that what is said and what is
// checked are one thing.
type schema struct {
	tool   string
	params []param // as written
}

type param struct {
	name     string
	required bool
	kind     string // "string", "integer"
	enum     []string
	min, max *float64
	example  string
	long     bool // may be of any length
}

// rawSchema is the part of JSON Schema that our tools use.
type rawSchema struct {
	Properties map[string]struct {
		Type        string   `json:"type"`
		Enum        []string `json:"enum"`
		Minimum     *float64 `json:"minimum"`
		Maximum     *float64 `json:"maximum"`
		Description string   `json:"description"`
	} `json:"properties"`
	Required []string `json:"required"`
}

func newSchema(tool string, raw json.RawMessage) (*schema, error) {
	var r rawSchema
	if err := json.Unmarshal(raw, &r); err != nil {
		return nil, fmt.Errorf("%s: %w", tool, err)
	}
	order, err := propertyOrder(raw)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", tool, err)
	}
	s := &schema{tool: tool}
	for _, name := range order {
		p := r.Properties[name]
		kind := p.Type
		if kind == "" {
			kind = "string"
		}
		_, example, _ := cutLast(p.Description, "e.g. ")
		s.params = append(s.params, param{
			name: name, required: slices.Contains(r.Required, name), kind: kind, enum: p.Enum,
			min: p.Minimum, max: p.Maximum, example: example, long: name == "slug",
		})
	}
	return s, nil
}

// propertyOrder lists the names of a schema's properties as they are written.
func propertyOrder(raw json.RawMessage) ([]string, error) {
	var parts struct {
		Properties json.RawMessage `json:"properties"`
	}
	if err := json.Unmarshal(raw, &parts); err != nil {
		return nil, err
	}
	d := json.NewDecoder(bytes.NewReader(parts.Properties))
	if _, err := d.Token(); err != nil { // the brace
		return nil, err
	}
	var names []string
	for d.More() {
		name, err := d.Token()
		if err != nil {
			return nil, err
		}
		names = append(names, name.(string))
		var skipped json.RawMessage
		if err := d.Decode(&skipped); err != nil {
			return nil, err
		}
	}
	return names, nil
}

func cutLast(s, sep string) (before, after string, found bool) {
	if i := strings.LastIndex(s, sep); i >= 0 {
		return s[:i], s[i+len(sep):], true
	}
	return s, "", false
}

// args are arguments that were checked: strings and ints. What was not given is not there.
type args map[string]any

func (a args) text(name string) string {
	s, _ := a[name].(string)
	return s
}

func (a args) number(name string) int {
	n, _ := a[name].(int)
	return n
}

// read checks arguments. problem, if it is not "", tells the model all that is wrong and what
// to write instead.
func (s *schema) read(raw json.RawMessage) (a args, problem string) {
	given := map[string]json.RawMessage{}
	if raw = bytes.TrimSpace(raw); len(raw) > 0 && string(raw) != "null" {
		if raw[0] != '{' || json.Unmarshal(raw, &given) != nil {
			return nil, s.explain([]string{"arguments: " + shown(raw) + " is not an object"})
		}
	}
	var wrong []string
	a = args{}
	for _, p := range s.params {
		value, ok := given[p.name]
		delete(given, p.name)
		if !ok || string(value) == "null" {
			if p.required {
				wrong = append(wrong, fmt.Sprintf("%s: missing", p.name))
			}
			continue
		}
		v, what := p.read(value)
		if what != "" {
			wrong = append(wrong, fmt.Sprintf("%s: %s", p.name, what))
			continue
		}
		a[p.name] = v
	}
	var unknown []string
	for name := range given {
		unknown = append(unknown, fmt.Sprintf("%s: no such parameter", shownText(name)))
	}
	slices.Sort(unknown)
	if n := len(unknown); n > unknownShown {
		unknown = append(unknown[:unknownShown], fmt.Sprintf("(and %d more that do not exist)", n-unknownShown))
	}
	if wrong = append(wrong, unknown...); len(wrong) > 0 {
		return nil, s.explain(wrong)
	}
	return a, ""
}

// unknownShown is how many unknown parameters are named.
const unknownShown = 8

// explain says what was wrong, and what may be given.
func (s *schema) explain(wrong []string) string {
	var b strings.Builder
	for _, w := range wrong {
		b.WriteString(s.tool + ": " + w + "\n")
	}
	b.WriteString("Call it again with only these (? = may be left out):")
	for _, p := range s.params {
		mark := ""
		if !p.required {
			mark = "?"
		}
		b.WriteString("\n- " + p.name + mark + ": " + p.takes())
	}
	return b.String()
}

// takes says in a few words what a parameter takes.
func (p *param) takes() string {
	what := "string"
	switch {
	case p.enum != nil:
		what = `"` + strings.Join(p.enum, `", "`) + `"`
	case p.kind == "integer" && p.max != nil:
		what = fmt.Sprintf("integer from %.0f to %.0f", *p.min, *p.max)
	case p.kind == "integer":
		what = fmt.Sprintf("integer from %.0f", *p.min)
	}
	if p.enum == nil {
		example := p.example
		if p.kind == "string" {
			example = strconv.Quote(example)
		}
		what += ", such as " + example
	}
	return what
}

func (p *param) read(raw json.RawMessage) (value any, problem string) {
	if p.kind == "integer" {
		f, err := strconv.ParseFloat(string(raw), 64)
		switch {
		case err != nil || f != math.Trunc(f):
			return nil, shown(raw) + " is not an integer"
		case p.min != nil && f < *p.min, p.max != nil && f > *p.max:
			return nil, shown(raw) + " is out of bounds"
		}
		return int(min(f, math.MaxInt32)), ""
	}
	var s string
	if raw[0] != '"' || json.Unmarshal(raw, &s) != nil {
		return nil, shown(raw) + " is not a string"
	}
	switch {
	case p.enum != nil && !slices.Contains(p.enum, s):
		return nil, shown(raw) + " is none of its values"
	case !p.long && len(s) > argumentMaxBytes:
		return nil, fmt.Sprintf("%d bytes; at most argumentMaxBytes (%d) are looked for", len(s), argumentMaxBytes)
	}
	return s, ""
}

// shown is the beginning of a wrong value, as it was given.
func shown(raw json.RawMessage) string {
	s := string(raw[:min(len(raw), 4*shownRunes)])
	return render.Clean(cut(strings.ToValidUTF8(s, "\uFFFD"), len(raw) > len(s)))
}

func shownText(s string) string {
	return strconv.Quote(cut(strings.ToValidUTF8(s, "\uFFFD"), false))
}

func cut(s string, more bool) string {
	head := chat.Head(s, shownRunes)
	if more || len(head) < len(s) {
		head += "..."
	}
	return head
}
