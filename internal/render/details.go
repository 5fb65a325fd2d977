package render

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"parlance/internal/chat"
)

// A ToolTable says how calls are shown in one line, by the names of tools, and what programs
// write in a person's place. It is data (mappings/common/tools.yaml, where each key is
// explained), so that a tool that nobody knew yet is a line there and none here.
type ToolTable struct {
	Details []ToolDetail `yaml:"details"`
	Others  struct {
		Words []string `yaml:"words"`
		Runes int      `yaml:"runes"`
		Items int      `yaml:"items"`
		Hex   [2]int   `yaml:"hex"`
	} `yaml:"others"`
	Edits struct {
		Names []string `yaml:"names"`
		Old   []string `yaml:"old"`
		New   []string `yaml:"new"`
		Each  string   `yaml:"each"`
	} `yaml:"edits"`
	Harness struct {
		Starts []string `yaml:"starts"`
		Notice struct {
			Tag  string   `yaml:"tag"`
			Keep []string `yaml:"keep"`
		} `yaml:"notice"`
		Command struct {
			Name    string `yaml:"name"`
			Args    string `yaml:"args"`
			Output  string `yaml:"output"`
			Printed string `yaml:"printed"`
		} `yaml:"command"`
		Actions struct {
			Tag    string `yaml:"tag"`
			From   string `yaml:"from"`
			To     string `yaml:"to"`
			Drop   string `yaml:"drop"`
			Edited string `yaml:"edited"`
			Say    string `yaml:"say"`
		} `yaml:"actions"`
	} `yaml:"harness"`
}

// A ToolDetail is one row: which tools, and what of their input is shown.
type ToolDetail struct {
	Names []string `yaml:"names"`
	Show  []string `yaml:"show"`
	Drop  string   `yaml:"drop"`
	Flat  []string `yaml:"flat"`
	Patch []string `yaml:"patch"`
	List  *struct {
		Steps   string `yaml:"steps"`
		Text    string `yaml:"text"`
		State   string `yaml:"state"`
		Done    string `yaml:"done"`
		Current string `yaml:"current"`
	} `yaml:"list"`
	First []struct {
		List  string `yaml:"list"`
		Field string `yaml:"field"`
		Label string `yaml:"label"`
	} `yaml:"first"`
	Items int `yaml:"items"`
	Runes int `yaml:"runes"`

	drop *regexp.Regexp
}

// Tools is a ToolTable that has been looked through.
type Tools struct {
	table   ToolTable
	details map[string]*ToolDetail
	edits   map[string]bool // in lower case
}

// NewTools checks a table and makes it ready. The error names the first row that is wrong.
func NewTools(table ToolTable) (*Tools, error) {
	t := &Tools{table: table, details: map[string]*ToolDetail{}, edits: map[string]bool{}}
	for i := range t.table.Details {
		d := &t.table.Details[i]
		if len(d.Names) == 0 {
			return nil, fmt.Errorf("details[%d]: names: none", i)
		}
		for _, name := range d.Names {
			if t.details[name] != nil {
				return nil, fmt.Errorf("details[%d]: names: %q has a row already", i, name)
			}
			t.details[name] = d
		}
		kinds := 0
		for _, has := range []bool{len(d.Flat) > 0 || len(d.Show) > 0, len(d.Patch) > 0, d.List != nil, len(d.First) > 0} {
			if has {
				kinds++
			}
		}
		if kinds != 1 {
			return nil, fmt.Errorf("details[%d]: %s: one of show, flat, patch, list, first is wanted", i, d.Names[0])
		}
		if d.Runes <= 0 && (len(d.Flat) > 0 || d.List != nil || len(d.First) > 0) {
			return nil, fmt.Errorf("details[%d]: %s: runes: how long it may become is not said", i, d.Names[0])
		}
		if d.Drop != "" {
			var err error
			if d.drop, err = regexp.Compile(d.Drop); err != nil {
				return nil, fmt.Errorf("details[%d]: drop: %w", i, err)
			}
		}
	}
	for _, name := range t.table.Edits.Names {
		t.edits[strings.ToLower(name)] = true
	}
	return t, nil
}

// describe is what a call was asked to do: in one line, in full if that says more, and the
// change that its input holds. Whatever is in the input, none of it makes an error.
func (t *Tools) describe(tool, args string, o *TurnsOptions) (detail, full string, change diff) {
	if t == nil {
		return "", "", diff{}
	}
	row := t.details[tool]
	// All of it at once: often only the name of a field tells that its value is a secret.
	args = o.Redact.input(valid(args), o.counted())
	in := input{}
	switch v := decodeInput(args).(type) {
	case map[string]any:
		in.object = v
	case string:
		text := v
		if row != nil && len(row.Patch) > 0 {
			detail, change = patchDiff(text, o.limit(inputDiffLines))
		} else {
			detail = flatten(text, bareRunes)
		}
		if text != detail {
			full = text
		}
		return detail, full, change
	default:
		return "", "", diff{}
	}
	if t.edits[strings.ToLower(tool)] {
		change = t.edited(in, o.limit(inputDiffLines))
	}
	if row == nil {
		return t.other(in), "", change
	}
	switch {
	case len(row.Patch) > 0:
		if patch, ok := in.first(row.Patch); ok {
			detail, change = patchDiff(patch, o.limit(inputDiffLines))
		}
	case row.List != nil:
		detail, full = row.steps(in)
	case len(row.First) > 0:
		if detail = row.targets(in); detail == "" {
			detail = t.other(in)
		}
	default:
		text, _ := in.first(row.Flat)
		if detail = flatten(text, row.Runes); detail == "" {
			detail = in.template(row.Show)
		} else if text != detail {
			full = text
		}
	}
	if row.drop != nil {
		detail = row.drop.ReplaceAllString(detail, "")
	}
	return detail, full, change
}

// title is what a tool says of its call, in one line.
func (t *Tools) title(s string, o *TurnsOptions) string {
	if t == nil || s == "" {
		return ""
	}
	return flatten(strings.TrimSpace(o.Redact.whole(valid(s), o.counted())), t.table.Others.Runes)
}

// bareRunes caps an input that is a text and no object, as the command of a shell.
const bareRunes = 300

// An input is a call's arguments, without their secrets.
type input struct{ object map[string]any }

// decodeInput is an input as a JSON value: an object or list if it is one, else a string.
func decodeInput(s string) any {
	if t := strings.TrimSpace(s); t != "" && (t[0] == '{' || t[0] == '[') {
		d := json.NewDecoder(strings.NewReader(t))
		d.UseNumber()
		var v any
		if d.Decode(&v) == nil && !d.More() {
			return v
		}
	}
	return s
}

// first is the string of the first key that has one.
func (in input) first(keys []string) (string, bool) {
	for _, key := range keys {
		if s, ok := in.object[key].(string); ok {
			return s, true
		}
	}
	return "", false
}

// plain is a field that can stand in a line, "" if it cannot.
func (in input) plain(key string) string {
	switch v := in.object[key].(type) {
	case string:
		return v
	case json.Number:
		return v.String()
	case bool:
		return fmt.Sprint(v)
	}
	return ""
}

var templateField = regexp.MustCompile(`\{([^{}]*)\}`)

// template fills in the first of templates whose fields all say something.
func (in input) template(templates []string) string {
	for _, t := range templates {
		whole := true
		text := templateField.ReplaceAllStringFunc(t, func(field string) string {
			for key := range strings.SplitSeq(field[1:len(field)-1], "|") {
				if s := in.plain(key); s != "" {
					return s
				}
			}
			whole = false
			return ""
		})
		if whole {
			return text
		}
	}
	return ""
}

// objects is a list's elements, those that are objects.
func (in input) objects(key string) []input {
	var out []input
	list, _ := in.object[key].([]any)
	for _, e := range list {
		if o, ok := e.(map[string]any); ok {
			out = append(out, input{o})
		}
	}
	return out
}

// steps says how far a plan is, and at what.
func (d *ToolDetail) steps(in input) (detail, full string) {
	list, ok := in.object[d.List.Steps].([]any)
	if !ok {
		return "", ""
	}
	done, current := 0, -1
	steps := in.objects(d.List.Steps)
	var all []string
	for i, s := range steps {
		state := s.plain(d.List.State)
		if state == d.List.Done {
			done++
		}
		if state == d.List.Current && current < 0 {
			current = i
		}
		if text, ok := s.first([]string{d.List.Text}); ok {
			all = append(all, fmt.Sprintf("[%s] %s", state, text))
		}
	}
	text := ""
	if len(steps) > 0 {
		text = steps[max(0, current)].plain(d.List.Text)
	}
	return fmt.Sprintf("%d/%d → %s", done, len(list), shorten(text, d.Runes)), strings.Join(all, "\n")
}

// targets is what the first list that names any is after.
func (d *ToolDetail) targets(in input) string {
	for _, f := range d.First {
		var found []string
		for _, e := range in.objects(f.List) {
			if s, _ := e.first([]string{f.Field}); s != "" && len(found) < d.Items {
				found = append(found, s)
			}
		}
		if len(found) > 0 {
			return f.Label + ": " + shorten(strings.Join(found, " · "), d.Runes)
		}
	}
	return ""
}

// other is the argument that is likely to tell most.
func (t *Tools) other(in input) string {
	fallback := ""
	for _, key := range slices.Sorted(maps.Keys(in.object)) {
		candidate := t.candidate(in, in.object[key])
		if candidate == "" {
			continue
		}
		folded := strings.ToLower(key)
		if slices.ContainsFunc(t.table.Others.Words, func(w string) bool { return strings.Contains(folded, w) }) {
			return candidate
		}
		if fallback == "" {
			fallback = candidate
		}
	}
	return fallback
}

func (t *Tools) candidate(in input, v any) string {
	o := &t.table.Others
	switch v := v.(type) {
	case string:
		s := strings.TrimSpace(v)
		if len(s) >= o.Hex[0] && len(s) <= o.Hex[1] && strings.Trim(s, "0123456789abcdefABCDEF") == "" {
			return ""
		}
		line, _, _ := strings.Cut(strings.ReplaceAll(strings.TrimLeft(v, " \t\r\n"), "\r", "\n"), "\n")
		return chat.Head(line, o.Runes)
	case []any:
		var found []string
		for _, e := range v {
			if s, ok := e.(string); ok && len(found) < o.Items {
				found = append(found, s)
			}
		}
		return chat.Head(strings.Join(found, ", "), o.Runes)
	}
	return ""
}

// edited is the change that the input of an edit holds.
func (t *Tools) edited(in input, max int) diff {
	d := diff{max: max}
	e := &t.table.Edits
	for _, one := range append([]input{in}, in.objects(e.Each)...) {
		old, _ := one.first(e.Old)
		new, _ := one.first(e.New)
		d.replaced(old, new)
	}
	return d.settled()
}

// flatten puts the lines of s that are not empty in one, and cuts it after n runes.
func flatten(s string, n int) string {
	if !strings.ContainsAny(s, "\r\n") {
		return shorten(strings.TrimRight(s, " \t"), n)
	}
	var lines []string
	for line := range strings.SplitSeq(s, "\n") {
		if line = strings.TrimRight(line, " \t\r\v\f"); line != "" {
			lines = append(lines, line)
		}
		if len(lines) > n {
			break // more than fits
		}
	}
	return shorten(strings.Join(lines, " ↵ "), n)
}

// shorten is s, or its first n runes and "…".
func shorten(s string, n int) string {
	if len(s) <= n || utf8.RuneCountInString(s) <= n {
		return s
	}
	return chat.Head(s, n) + "…"
}

const mcpPrefix = "mcp__"

var serverUUID = regexp.MustCompile(`(?i)^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$`)

// toolName is a tool's name, readable where a host has put a server's before it.
func toolName(name string) string {
	rest, ok := strings.CutPrefix(name, mcpPrefix)
	switch {
	case name == "":
		return "tool"
	case !ok:
		return valid(name)
	}
	words := func(s string) string { return strings.TrimSpace(strings.ReplaceAll(valid(s), "_", " ")) }
	server, tool, ok := strings.Cut(rest, "__")
	switch {
	case !ok:
		return words(rest)
	case serverUUID.MatchString(server):
		server = ""
	}
	if plugin, ok := strings.CutPrefix(server, "plugin_"); ok {
		if a, b, ok := strings.Cut(plugin, "_"); ok && strings.EqualFold(a, b) {
			server = a
		}
	}
	server = words(strings.ReplaceAll(strings.TrimSuffix(server, "_mcp"), "-", " "))
	first, _, _ := strings.Cut(server, " ")
	if n := len(first) + 1; first != "" && len(tool) > n && strings.EqualFold(tool[:n], first+"_") {
		tool = tool[n:]
	}
	tool = words(strings.TrimSuffix(tool, "_mcp"))
	if server == "" || tool == "" {
		return server + tool
	}
	return server + ": " + tool
}
