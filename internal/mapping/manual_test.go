package mapping

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"sort"
	"strings"
	"testing"

	"gopkg.in/yaml.v3"

	"parlance/mappings"
)

// The manual is mappings/README.md. What stands in it is held against the program:
//
//   - every key of the key table has an entry in the section of its map, whose first line is
//     made of the table (-update rewrites those lines), that says what becomes of an empty or
//     wrong value, and every key is used in an example of its section;
//   - ```yaml mapping is a whole mapping: it loads and its tests pass without a warning;
//   - ```text check is what is said of the mapping before it;
//   - ```yaml example is a part of a mapping and a part of a test of it, see example;
//   - ```yaml draft is a mapping on the way, which only has to load.
const manualFile = "../../mappings/README.md"

// A manualBlock is a fenced block of the manual.
type manualBlock struct {
	info, text string
	line       int
	in         string // the map of the section it stands in
}

var (
	keysMarker = regexp.MustCompile(`^<!-- keys: (.+) -->$`)
	keyLine    = regexp.MustCompile("^\\*\\*`([^`]+)`\\*\\*")
	anyHeading = regexp.MustCompile(`^#{1,6} `)
)

func readManual(t *testing.T) (lines []string, blocks []manualBlock) {
	t.Helper()
	data, err := os.ReadFile(manualFile)
	if err != nil {
		t.Fatal(err)
	}
	lines = strings.Split(string(data), "\n")
	in := ""
	for i := 0; i < len(lines); i++ {
		switch m := keysMarker.FindStringSubmatch(lines[i]); {
		case m != nil:
			in = m[1]
		case anyHeading.MatchString(lines[i]):
			in = ""
		case strings.HasPrefix(lines[i], "```"):
			b := manualBlock{info: strings.TrimPrefix(lines[i], "```"), line: i + 1, in: in}
			for i++; i < len(lines) && lines[i] != "```"; i++ {
				b.text += lines[i] + "\n"
			}
			blocks = append(blocks, b)
		}
	}
	return lines, blocks
}

// entryOf is the first line of a key's entry.
func entryOf(k *keyInfo) string {
	what := kindInfo[k.Kind].noun
	if k.Values != nil {
		what = "`" + strings.Join(k.Values, "`, `") + "`"
		if len(k.Values) > 1 && k.Kind == kindTextOr {
			what += ", or a list of them"
		}
	}
	if k.Required {
		what += "; required"
	}
	if k.Default != "" {
		what += "; default: " + k.Default
	}
	if k.For != nil && len(k.For) < len(roleWords) {
		what += "; for " + strings.Join(k.For, ", ")
	}
	return fmt.Sprintf("**`%s`** (%s): %s.", k.Name, what, k.About)
}

func TestManualNamesEveryKey(t *testing.T) {
	lines, blocks := readManual(t)
	in := ""
	entries := map[string]bool{}
	changed := false
	for i, line := range lines {
		if m := keysMarker.FindStringSubmatch(line); m != nil {
			if in = m[1]; keyNames[in] == nil {
				t.Errorf("line %d: no map is called %s", i+1, in)
			}
		} else if anyHeading.MatchString(line) {
			in = ""
		}
		m := keyLine.FindStringSubmatch(line)
		if m == nil || in == "" {
			continue
		}
		k := keyIndex[in][m[1]]
		if k == nil {
			t.Errorf("line %d: %s has no key %s", i+1, in, m[1])
			continue
		}
		if entries[in+"."+k.Name] {
			t.Errorf("line %d: a second entry of %s.%s", i+1, in, k.Name)
		}
		entries[in+"."+k.Name] = true
		if want := entryOf(k); line != want {
			if *update {
				lines[i], changed = want, true
			} else {
				t.Errorf("line %d: got\n%s\nwant\n%s\nrun: go test ./internal/mapping -run Manual -update", i+1, line, want)
			}
		}
		if i+1 >= len(lines) || !strings.HasPrefix(lines[i+1], "*Empty or wrong:* ") {
			t.Errorf("line %d: %s.%s: nothing is said of an empty or wrong value", i+2, in, k.Name)
		}
	}
	if changed {
		if err := os.WriteFile(manualFile, []byte(strings.Join(lines, "\n")), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	used := map[string]bool{}
	for _, b := range blocks {
		if !strings.HasPrefix(b.info, "yaml") {
			continue
		}
		var doc yaml.Node
		if err := yaml.Unmarshal([]byte(b.text), &doc); err != nil {
			t.Errorf("line %d: %v", b.line, err)
			continue
		}
		m, test, _ := splitExample(&doc)
		mark := func(in, key string) { used[b.in+": "+in+"."+key] = true }
		walkKeys(m, inMapping, mark)
		walkKeys(test, inTest, mark)
	}
	for _, k := range keyTable {
		switch {
		case !entries[k.In+"."+k.Name]:
			t.Errorf("%s.%s has no entry", k.In, k.Name)
		case !used[k.In+": "+k.In+"."+k.Name]:
			t.Errorf("%s.%s is used in no example of its section", k.In, k.Name)
		}
	}
}

// walkKeys names the keys of the language that a value uses.
func walkKeys(n *yaml.Node, in string, mark func(in, key string)) {
	if n == nil || n.Kind != yaml.MappingNode {
		return
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		k := keyIndex[in][n.Content[i].Value]
		if k == nil {
			continue
		}
		mark(in, k.Name)
		walkValue(n.Content[i+1], k, mark)
	}
}

func walkValue(v *yaml.Node, k *keyInfo, mark func(in, key string)) {
	each := func(n *yaml.Node, fn func(*yaml.Node)) {
		for i := 0; n.Kind == yaml.MappingNode && i+1 < len(n.Content); i += 2 {
			fn(n.Content[i+1])
		}
		for i := 0; n.Kind == yaml.SequenceNode && i < len(n.Content); i++ {
			fn(n.Content[i])
		}
	}
	switch k.Kind {
	case kindMap, kindResult:
		walkKeys(v, k.Of, mark)
	case kindDiff:
		walkKeys(v, k.Of, mark)
		walkExpr(v, mark)
	case kindMaps, kindNamed:
		each(v, func(n *yaml.Node) { walkKeys(n, k.Of, mark) })
	case kindNamedList:
		each(v, func(n *yaml.Node) { each(n, func(n *yaml.Node) { walkKeys(n, k.Of, mark) }) })
	case kindExpr, kindTruth, kindTime, kindAs, kindExprs:
		walkExpr(v, mark)
	case kindCond:
		walkCond(v, mark)
	case kindConds:
		each(v, func(n *yaml.Node) { walkCond(n, mark) })
	case kindPred:
		walkKeys(v, inPred, mark)
	}
}

func walkExpr(v *yaml.Node, mark func(in, key string)) {
	if v.Kind == yaml.SequenceNode {
		for _, n := range v.Content {
			walkExpr(n, mark)
		}
		return
	}
	walkKeys(v, inExpr, mark)
}

func walkCond(v *yaml.Node, mark func(in, key string)) {
	for i := 0; v.Kind == yaml.MappingNode && i+1 < len(v.Content); i += 2 {
		if k := keyIndex[inCond][v.Content[i].Value]; k != nil {
			mark(inCond, k.Name)
			walkValue(v.Content[i+1], k, mark)
		} else {
			walkKeys(v.Content[i+1], inPred, mark)
		}
	}
}

// exampleWords are the keys of an example that belong neither to a mapping nor to a test.
var exampleWords = []string{"error", "home", "env", "found"}

// splitExample parts an example into the keys of a mapping, those of a test, and the rest.
func splitExample(doc *yaml.Node) (m, test *yaml.Node, rest map[string]*yaml.Node) {
	m, test, rest = &yaml.Node{Kind: yaml.MappingNode}, &yaml.Node{Kind: yaml.MappingNode}, map[string]*yaml.Node{}
	root := doc.Content[0]
	for i := 0; i+1 < len(root.Content); i += 2 {
		key, val := root.Content[i], root.Content[i+1]
		to := m
		switch name := key.Value; {
		case slices.Contains(exampleWords, name):
			rest[name] = val
			continue
		case keyIndex[inMapping][name] == nil:
			to = test
		}
		to.Content = append(to.Content, key, val)
	}
	return m, test, rest
}

// exampleBase is what examples leave out, because it is the same in all.
const exampleBase = `
parlance: 1
name: acme
sources: [{id: log, paths: ["~/.acme/log/*.jsonl"], container: jsonl}]
messages:
  - {when: {who: me}, as: user, text: say}
  - {when: {who: bot}, as: assistant, text: say}
`

// example makes a mapping of an example: what it leaves out is added, and what belongs to a
// test becomes its test.
func example(text string) (mapping []byte, rest map[string]*yaml.Node, err error) {
	var doc, base yaml.Node
	if err := yaml.Unmarshal([]byte(text), &doc); err != nil {
		return nil, nil, err
	}
	if err := yaml.Unmarshal([]byte(exampleBase), &base); err != nil {
		return nil, nil, err
	}
	m, test, rest := splitExample(&doc)
	has := func(n *yaml.Node, key string) bool {
		for i := 0; i < len(n.Content); i += 2 {
			if n.Content[i].Value == key {
				return true
			}
		}
		return false
	}
	out := &yaml.Node{Kind: yaml.MappingNode}
	for i := 0; i+1 < len(base.Content[0].Content); i += 2 {
		key := base.Content[0].Content[i]
		switch {
		case has(m, key.Value):
		case has(m, "extends") && key.Value != "name" && key.Value != "parlance":
		default:
			out.Content = append(out.Content, key, base.Content[0].Content[i+1])
		}
	}
	out.Content = append(out.Content, m.Content...)
	if len(test.Content) > 0 {
		if !has(test, "name") {
			test.Content = append(test.Content, scalarNode("name"), scalarNode("example"))
		}
		out.Content = append(out.Content, scalarNode("tests"), &yaml.Node{Kind: yaml.SequenceNode, Content: []*yaml.Node{test}})
	}
	// The first key is parlance, wherever the example has it.
	for i := 0; i+1 < len(out.Content); i += 2 {
		if out.Content[i].Value == "parlance" && i > 0 {
			pair := []*yaml.Node{out.Content[i], out.Content[i+1]}
			out.Content = append(pair, slices.Delete(out.Content, i, i+2)...)
		}
	}
	mapping, err = yaml.Marshal(out)
	if rest["error"] == nil {
		return mapping, rest, err
	}
	// What is wrong is wrong as it is written: the text stays as it is.
	added := &yaml.Node{Kind: yaml.MappingNode}
	for i := 0; i+1 < len(base.Content[0].Content); i += 2 {
		if key := base.Content[0].Content[i]; !has(m, key.Value) {
			added.Content = append(added.Content, key, base.Content[0].Content[i+1])
		}
	}
	mapping, err = yaml.Marshal(added)
	written := regexp.MustCompile(`(?m)^error: .*\n`).ReplaceAllString(text, "")
	if has(m, "parlance") {
		return []byte(written + string(mapping)), rest, err
	}
	return []byte(string(mapping) + written), rest, err
}

func scalarNode(s string) *yaml.Node { return &yaml.Node{Kind: yaml.ScalarNode, Value: s} }

// builtinBase gives the built-in mappings to extends.
func builtinBase(name string) (string, []byte, bool) {
	data, err := fs.ReadFile(mappings.FS, name+".yaml")
	return name + ".yaml", data, err == nil
}

func TestManualExamples(t *testing.T) {
	_, blocks := readManual(t)
	s := compileSchema(t)
	t.Setenv("TMPDIR", t.TempDir())
	said := "" // of the mapping before
	counts := map[string]int{}
	for _, b := range blocks {
		counts[b.info]++
		switch b.info {
		case "yaml mapping", "yaml draft":
			m, problems := Load(nameIn(b.text)+".yaml", []byte(b.text), builtinBase)
			if m != nil {
				problems = append(problems, m.RunTests(context.Background())...)
			}
			var out strings.Builder
			for _, p := range problems {
				if p.Warning {
					out.WriteString("warning: ")
				}
				out.WriteString(p.String() + "\n")
			}
			said = out.String()
			if m == nil || b.info == "yaml mapping" && said != "" {
				t.Errorf("line %d: %s", b.line, said)
			}
			if places := refused(t, s, []byte(b.text)); places != nil {
				t.Errorf("line %d: refused by the schema: %v", b.line, places)
			}
		case "text check":
			if b.text != said {
				t.Errorf("line %d: got\n%s\nwant\n%s", b.line, said, b.text)
			}
		case "yaml example":
			data, rest, err := example(b.text)
			if err != nil {
				t.Errorf("line %d: %v", b.line, err)
				continue
			}
			m, problems := Load("acme.yaml", data, builtinBase)
			if e := rest["error"]; e != nil {
				text := ""
				for _, p := range problems {
					text += p.Key + ": " + p.Msg + "; " + p.Hint + "\n"
				}
				if !strings.Contains(text, e.Value) {
					t.Errorf("line %d: no problem says %q:\n%s", b.line, e.Value, text)
				}
				continue
			}
			if m != nil {
				problems = append(problems, m.RunTests(context.Background())...)
			}
			for _, p := range problems {
				// An example shows one thing; what a whole mapping should have is no matter.
				if !p.Warning || p.Code == codeNews {
					t.Errorf("line %d: %s", b.line, p)
				}
			}
			if m == nil {
				continue
			}
			if places := refused(t, s, data); places != nil {
				t.Errorf("line %d: refused by the schema: %v", b.line, places)
			}
			if want := rest["found"]; want != nil {
				got := findIn(t, m, rest)
				var list []string
				if err := want.Decode(&list); err != nil {
					t.Fatal(err)
				}
				if !slices.Equal(got, list) {
					t.Errorf("line %d: found %q, want %q", b.line, got, list)
				}
			}
		default:
			if strings.HasPrefix(b.info, "yaml") {
				t.Errorf("line %d: nothing runs a block of %q", b.line, b.info)
			}
		}
	}
	if counts["yaml example"] < 100 || counts["yaml mapping"] < 1 || counts["text check"] < 2 {
		t.Errorf("too few: %v", counts)
	}
}

func nameIn(mapping string) string {
	_, rest, _ := strings.Cut(mapping, "\nname: ")
	name, _, _ := strings.Cut(rest, "\n")
	return name
}

// findIn lays the files of an example and gives those that its mapping finds.
func findIn(t *testing.T, m *Mapping, rest map[string]*yaml.Node) []string {
	t.Helper()
	home := t.TempDir()
	var files, vars map[string]string
	if n := rest["home"]; n != nil {
		if err := n.Decode(&files); err != nil {
			t.Fatal(err)
		}
	}
	if n := rest["env"]; n != nil {
		if err := n.Decode(&vars); err != nil {
			t.Fatal(err)
		}
	}
	for name, content := range files {
		at := filepath.Join(home, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(at), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(at, []byte(strings.ReplaceAll(content, "~/", filepath.ToSlash(home)+"/")), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	env := homeEnv(t, home)
	env.Getenv = func(name string) string { return strings.ReplaceAll(vars[name], "~/", home+"/") }
	found, errs := m.Find(context.Background(), env)
	for _, e := range errs {
		t.Error(e.Error())
	}
	got := []string{}
	for _, f := range found {
		rel, err := filepath.Rel(home, f.Path)
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, filepath.ToSlash(rel))
	}
	sort.Strings(got)
	return got
}

// The manual is read as it stands on a page: fenced blocks are closed, links lead to headings,
// and no line of it is meant for a tool alone but the markers of its sections.
func TestManualForm(t *testing.T) {
	data, err := os.ReadFile(manualFile)
	if err != nil {
		t.Fatal(err)
	}
	if n := bytes.Count(data, []byte("\n```")); n%2 != 0 {
		t.Errorf("%d fences", n)
	}
	headings := map[string]bool{}
	lines := strings.Split(string(data), "\n")
	for _, line := range lines {
		if at := anyHeading.FindString(line); at != "" {
			slug := regexp.MustCompile(`[^\w -]`).ReplaceAllString(strings.ToLower(line[len(at):]), "")
			headings[strings.ReplaceAll(slug, " ", "-")] = true
		}
	}
	for i, line := range lines {
		for _, m := range regexp.MustCompile(`\]\(#([^)]*)\)`).FindAllStringSubmatch(line, -1) {
			if !headings[m[1]] {
				t.Errorf("line %d: no heading for #%s", i+1, m[1])
			}
		}
		if strings.HasPrefix(line, "<!--") && !keysMarker.MatchString(line) {
			t.Errorf("line %d: %s", i+1, line)
		}
	}
}
