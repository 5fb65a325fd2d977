package mapping

import (
	"bytes"
	"strings"
)

// skimPatterns gathers, without a YAML parser, what may be path patterns in the sources of a
// mapping file, and the name behind extends. A parser takes a millisecond for a mapping, and
// at start there are dozens of which most have no folder on this machine.
//
// It errs on one side: a text that is no pattern costs a look at a folder, a pattern that is
// missed would hide a provider. That none is missed in the built-in mappings is for a test
// to prove; mappings of the user's are always parsed.
func skimPatterns(data []byte) (patterns []string, extends string) {
	inSources := false
	for len(data) > 0 {
		line := data
		if end := bytes.IndexByte(data, '\n'); end >= 0 {
			line, data = data[:end], data[end+1:]
		} else {
			data = nil
		}
		if len(line) == 0 {
			continue
		}
		switch c := line[0]; {
		case c|0x20 >= 'a' && c|0x20 <= 'z':
			key, value, _ := bytes.Cut(line, []byte(":"))
			inSources = string(key) == "sources"
			if string(key) == "extends" {
				value, _, _ = bytes.Cut(value, []byte(" #"))
				extends = string(bytes.Trim(value, " \t\r'\""))
			}
		case c == '#':
			continue
		}
		if inSources {
			patterns = skimLine(string(line), patterns)
		}
	}
	return patterns, extends
}

// skimLine adds the scalars of a line that begin like a pattern.
func skimLine(line string, patterns []string) []string {
	if text := strings.TrimLeft(line, " \t"); strings.HasPrefix(text, "#") {
		return patterns
	}
	for i := 0; i < len(line); i++ {
		if !patternStart(line[i:]) || i > 0 && !strings.ContainsRune(" \t'\"[{,", rune(line[i-1])) {
			continue
		}
		end := scalarEnd(line, i)
		// "/[^/]+/x" is a regular expression: no store lies in a nameless folder of the root.
		if text := line[i:end]; len(text) < 2 || text[0] != '/' || !strings.ContainsRune("*?[]{}()/'\" ", rune(text[1])) {
			patterns = append(patterns, text)
		}
		i = end
	}
	return patterns
}

// patternStart says whether a text begins like a pattern.
func patternStart(s string) bool {
	return strings.HasPrefix(s, "~/") || strings.HasPrefix(s, "${") || strings.HasPrefix(s, "./") || s[0] == '/' || isDrive(s) && len(s) > 2
}

// scalarEnd is where the scalar that begins at i ends: at its quote, or where a plain one ends
// at the latest.
func scalarEnd(line string, i int) int {
	var quote byte
	if i > 0 && (line[i-1] == '"' || line[i-1] == '\'') {
		quote = line[i-1]
	}
	for ; i < len(line); i++ {
		switch c := line[i]; {
		case quote != 0:
			if c == quote {
				return i
			}
		case c == '$' && strings.HasPrefix(line[i:], "${"):
			end := closing(line, i+1)
			if end < 0 {
				return len(line)
			}
			i = end
		case c == ',' || c == ']' || c == '}' || c == '\r' || c == ' ' && strings.HasPrefix(line[i:], " #"):
			return i
		}
	}
	return len(strings.TrimRight(line, " \t\r"))
}

// variables are the names in a pattern's ${...}, those in defaults too.
func variables(pattern string) []string {
	var names []string
	for {
		_, rest, ok := strings.Cut(pattern, "${")
		if !ok {
			return names
		}
		end := strings.IndexAny(rest, ":}")
		if end < 0 {
			return names
		}
		names = append(names, rest[:end])
		pattern = rest
	}
}
