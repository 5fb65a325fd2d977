package mapping

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"

	"gopkg.in/yaml.v3"

	"parlance/internal/source"
)

const (
	yamlMaxBytes = source.YAMLMaxBytes
	yamlMaxDepth = source.YAMLMaxDepth // keeps recursion over nodes shallow
)

// A textFile is a mapping file as text, for excerpts.
type textFile struct {
	name  string
	lines []string
}

func (f *textFile) line(n int) string {
	if n < 1 || n > len(f.lines) {
		return ""
	}
	return strings.TrimRight(f.lines[n-1], "\r")
}

// A yamlNode is a YAML node that a mapping may hold: no anchors, no aliases, no tags, no
// duplicate keys. Nodes of a mapping that extends another come from several files.
type yamlNode struct {
	shape   shapes // one shape; 0 for null
	text    string // of a scalar, as written
	quoted  bool   // in quotes or as a block
	literal bool   // as a block that keeps line ends
	isBool  bool   // an unquoted true or false
	flow    bool   // {...} or [...]
	bad     bool   // reported already: nothing more is said of it
	file    *textFile
	line    int
	col     int
	items   []*yamlNode
	entries []entry
}

type entry struct{ key, val *yamlNode }

// get gives the value of a key of a map, or nil.
func (n *yamlNode) get(key string) *yamlNode {
	for _, e := range n.entries {
		if e.key.text == key {
			return e.val
		}
	}
	return nil
}

// noun names what a node is, for messages.
func (n *yamlNode) noun() string {
	switch n.shape {
	case shapeScalar:
		return fmt.Sprintf("the text %s", shorten(strconv.Quote(n.text)))
	case shapeList:
		if len(n.items) == 0 {
			return "an empty list"
		}
		return "a list"
	case shapeMap:
		if len(n.entries) == 0 {
			return "an empty map"
		}
		return "a map"
	}
	return "nothing"
}

// shortenRunes keeps what messages quote on one line.
const shortenRunes = 80

func shorten(s string) string {
	if utf8.RuneCountInString(s) <= shortenRunes {
		return s
	}
	return string([]rune(s)[:shortenRunes]) + "…"
}

var yamlErrorLine = lazily(`^(?:yaml: )?(?:line (\d+): )?(.*)$`)

// parseYAML makes nodes of one mapping file, and reports what is no YAML or YAML that
// mappings do not use. The node is nil if nothing can be read.
func (l *loader) parseYAML(name string, data []byte) *yamlNode {
	f := &textFile{name: name}
	if len(data) > yamlMaxBytes {
		l.report(codeSize, f, 0, 0, "", fmt.Sprintf("larger than yamlMaxBytes (%d)", yamlMaxBytes), "")
		return nil
	}
	data = bytes.TrimPrefix(data, []byte("\uFEFF"))
	f.lines = strings.Split(string(data), "\n")
	if !utf8.Valid(data) {
		for i, line := range f.lines {
			if !utf8.ValidString(line) {
				l.report(codeSyntax, f, i+1, 0, "", "not UTF-8", "save the file as UTF-8")
				break
			}
		}
		return nil
	}
	for i, line := range f.lines {
		if col, r := badRune(line); r != 0 {
			l.report(codeSyntax, f, i+1, col, "", fmt.Sprintf("not YAML: control character %U", r), fmt.Sprintf(`in double quotes it is written "\u%04X"`, r))
			return nil
		}
	}
	dec := yaml.NewDecoder(bytes.NewReader(data))
	var doc, second yaml.Node
	if err := dec.Decode(&doc); err != nil {
		if errors.Is(err, io.EOF) {
			l.report(codeSyntax, f, 0, 0, "", "empty file", "a mapping begins with parlance: 1")
		} else {
			l.yamlError(f, err)
		}
		return nil
	}
	switch err := dec.Decode(&second); {
	case errors.Is(err, io.EOF):
	case err != nil:
		l.yamlError(f, err)
		return nil
	default:
		l.report(codeYAML, f, second.Line, second.Column, "", "second document", "a mapping file holds one document")
	}
	if doc.Kind != yaml.DocumentNode || len(doc.Content) != 1 {
		l.report(codeSyntax, f, 0, 0, "", "empty file", "a mapping begins with parlance: 1")
		return nil
	}
	root := l.convert(f, doc.Content[0], "", 0)
	if root.shape != shapeMap {
		l.report(codeWrongKind, f, root.line, root.col, "", "a mapping file is a map, found "+root.noun(), "it begins with parlance: 1")
		return nil
	}
	return root
}

// yamlError turns an error of the parser into a Problem. The parser gives a line at best.
func (l *loader) yamlError(f *textFile, err error) {
	m := yamlErrorLine().FindStringSubmatch(strings.ReplaceAll(err.Error(), "\n", " "))
	line, _ := strconv.Atoi(m[1])
	msg, hint := m[2], ""
	if parserErrors().MatchString(msg) {
		line++
	}
	switch {
	case strings.Contains(msg, "cannot start any token"):
		hint = `quote a text that begins with @, %, or a back quote`
		if strings.Contains(f.line(line), "\t") {
			hint = "indent with blanks, not with tabs"
		}
	case strings.HasPrefix(msg, "unknown anchor"):
		if name := between(msg, "'", "'"); name != "" && line == 0 {
			for i, s := range f.lines {
				if strings.Contains(s, "*"+name) {
					line = i + 1
					break
				}
			}
		}
		hint = `quote a selector that begins with "*"`
	case strings.Contains(msg, "alphabetic or numeric"):
		hint = `quote a selector that begins with "*"`
	case strings.Contains(msg, "mapping values are not allowed"):
		hint = `quote a text that holds ": "`
	case strings.Contains(msg, "did not find expected ',' or"):
		hint = `look for a missing bracket or comma, and quote a text that holds one`
	case strings.Contains(msg, "could not find expected ':'"), strings.Contains(msg, "did not find expected key"):
		hint = "look at the indentation, and at the line before"
	}
	l.report(codeSyntax, f, line, 0, "", "not YAML: "+msg, hint)
}

// badRune finds the first character that YAML does not allow, and its column.
func badRune(line string) (col int, r rune) {
	for _, r := range strings.TrimSuffix(line, "\r") {
		col++
		switch {
		case r == '\t', r >= ' ' && r <= '~', r == 0x85, r >= 0xA0 && r < 0xFEFF, r > 0xFEFF && r <= 0xFFFD, r > 0xFFFF:
		default:
			return col, r
		}
	}
	return 0, 0
}

// parserErrors are messages for which yaml.v3 counts lines from 0 (those of its scanner
// are counted from 1).
var parserErrors = lazily(`^did not find expected (<|node content|',' or|key|'-' indicator)`)

func between(s, open, close string) string {
	_, s, _ = strings.Cut(s, open)
	s, _, ok := strings.Cut(s, close)
	if !ok {
		return ""
	}
	return s
}

// convert makes a node of a YAML node.
func (l *loader) convert(f *textFile, y *yaml.Node, path string, depth int) *yamlNode {
	n := &yamlNode{file: f, line: y.Line, col: y.Column, flow: y.Style&yaml.FlowStyle != 0}
	if depth > yamlMaxDepth {
		l.report(codeSize, f, y.Line, y.Column, path, fmt.Sprintf("nested deeper than yamlMaxDepth (%d)", yamlMaxDepth), "")
		n.bad = true
		return n
	}
	if y.Anchor != "" {
		l.report(codeYAML, f, y.Line, y.Column, path, fmt.Sprintf("anchor %q", "&"+y.Anchor), "use define and use for what occurs twice")
	}
	if y.Style&yaml.TaggedStyle != 0 {
		l.report(codeYAML, f, y.Line, y.Column, path, fmt.Sprintf("tag %q", y.Tag), "quote a text that begins with !")
	}
	switch y.Kind {
	case yaml.AliasNode:
		l.report(codeYAML, f, y.Line, y.Column, path, fmt.Sprintf("alias %q", "*"+y.Value), `quote a selector that begins with "*"; use define and use for what occurs twice`)
		n.bad = true
	case yaml.ScalarNode:
		n.text = y.Value
		n.quoted = y.Style&(yaml.DoubleQuotedStyle|yaml.SingleQuotedStyle|yaml.LiteralStyle|yaml.FoldedStyle) != 0
		n.literal = y.Style&yaml.LiteralStyle != 0
		if !n.quoted && y.Tag == "!!null" {
			return n
		}
		n.shape = shapeScalar
		n.isBool = !n.quoted && (y.Value == "true" || y.Value == "false")
	case yaml.SequenceNode:
		n.shape = shapeList
		for i, c := range y.Content {
			n.items = append(n.items, l.convert(f, c, sub(path, i), depth+1))
		}
	case yaml.MappingNode:
		n.shape = shapeMap
		seen := make(map[string]int, len(y.Content)/2)
		for i := 0; i+1 < len(y.Content); i += 2 {
			if k := y.Content[i]; k.Tag == "!!merge" && k.Style&(yaml.DoubleQuotedStyle|yaml.SingleQuotedStyle) == 0 {
				l.report(codeYAML, f, k.Line, k.Column, path, "merge key", "use define and use for what occurs twice")
				continue
			}
			key := l.convert(f, y.Content[i], path, depth+1)
			val := l.convert(f, y.Content[i+1], dot(path, y.Content[i].Value), depth+1)
			if key.shape != shapeScalar {
				l.report(codeWrongKind, f, key.line, key.col, path, "a key that is no text", "quote it")
				continue
			}
			if line, dup := seen[key.text]; dup {
				l.report(codeDuplicate, f, key.line, key.col, dot(path, key.text), "duplicate key", fmt.Sprintf("it stands in line %d already", line))
				continue
			}
			seen[key.text] = key.line
			n.entries = append(n.entries, entry{key, val})
		}
	}
	return n
}
