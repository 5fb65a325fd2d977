package mapping

import (
	"bytes"
	"strings"
)

// A sourceHead is where one source of a mapping looks for files.
type sourceHead struct {
	paths    []string
	registry string   // the file of paths_from, "" = none
	split    []string // variables that may hold several values
}

// skim reads where the sources of a mapping look or, if it has none of its own, which mapping it
// extends, whose sources it has then. A YAML parser takes a millisecond and more
// for a mapping, and at start there are dozens of which few have a folder on this machine.
//
// It knows the one way in which the built-in mappings write this:
//
//	extends: codex
//	sources:
//	  - id: log
//	    paths: ["~/.acme/*.jsonl", "~/.acme/*.json"]
//	    split: [ACME_HOME]
//	  - id: database
//	    paths:
//	      - "~/.acme/acme.db"
//	    paths_from:
//	      file: "~/.acme/projects.json"
//
// Where a file is written in another way it is not ok, and the mapping has to be parsed. That
// all built-in mappings are read as the parser reads them is for a test to prove; those of the
// user's are always parsed.
func skim(data []byte) (sources []sourceHead, extends string, ok bool) {
	const none = -1
	var (
		inSources bool
		item      = none // the column of the "- " of a source; its keys stand two further
		inPaths   bool
		from      = none // the column of the keys below paths_from
		inFrom    bool
	)
	for line := range bytes.Lines(data) {
		line = bytes.TrimRight(line, " \r\n")
		indent := len(line) - len(bytes.TrimLeft(line, " "))
		if line = line[indent:]; len(line) == 0 || line[0] == '#' {
			continue
		}
		text := string(line)
		switch {
		case indent == 0 && !(inSources && text[0] == '-'):
			key, value, found := strings.Cut(text, ":")
			if !found || !isVariableName(key) {
				return nil, "", false
			}
			if inSources {
				return sources, "", sources != nil && !(inFrom && sources[len(sources)-1].registry == "")
			}
			inSources = key == "sources"
			value = withoutComment(value)
			switch {
			case inSources && value != "":
				return nil, "", false
			case key == "extends":
				names, ok := skimTexts(value)
				if !ok || len(names) != 1 || extends != "" {
					return nil, "", false
				}
				extends = names[0]
			}
			continue
		case !inSources:
			continue
		}
		if item == none {
			item = indent
		}
		if indent < item || text[0] == '\t' {
			return nil, "", false
		}
		if indent == item {
			rest, isItem := strings.CutPrefix(text, "- ")
			if !isItem || rest[0] == ' ' {
				return nil, "", false
			}
			sources = append(sources, sourceHead{})
			text, indent = rest, item+2
		}
		if indent == item+1 || len(sources) == 0 {
			return nil, "", false
		}
		src := &sources[len(sources)-1]
		if value, isItem := strings.CutPrefix(text, "- "); inPaths && isItem {
			paths, ok := skimTexts(withoutComment(value))
			if !ok || len(paths) != 1 {
				return nil, "", false
			}
			src.paths = append(src.paths, paths[0])
			continue
		}
		key, value, _ := strings.Cut(text, ":")
		value = withoutComment(value)
		if indent > item+2 { // what belongs to a key above
			if inPaths {
				return nil, "", false
			}
			if inFrom && from == none {
				from = indent
			}
			if inFrom && indent == from && key == "file" {
				files, ok := skimTexts(value)
				if !ok || len(files) != 1 {
					return nil, "", false
				}
				src.registry = files[0]
			}
			continue
		}
		if inFrom && src.registry == "" {
			return nil, "", false
		}
		inPaths, inFrom, from = false, false, none
		known := true
		switch key {
		case "paths":
			inPaths = value == ""
			if !inPaths {
				src.paths, known = skimTexts(value)
			}
		case "split":
			src.split, known = skimTexts(value)
		case "paths_from":
			inFrom, known = true, value == ""
		default:
			known = isVariableName(key)
		}
		if !known {
			return nil, "", false
		}
	}
	if inSources {
		return sources, "", sources != nil && !(inFrom && sources[len(sources)-1].registry == "")
	}
	return nil, extends, extends != ""
}

// skimTexts reads one text, or a list of them in brackets: names as they are, others in double
// quotes and without a backslash.
func skimTexts(s string) (texts []string, ok bool) {
	s, list := strings.CutPrefix(s, "[")
	for {
		var text string
		if quoted, is := strings.CutPrefix(s, `"`); is {
			text, s, is = strings.Cut(quoted, `"`)
			if !is || strings.Contains(text, `\`) {
				return nil, false
			}
		} else {
			n := strings.IndexAny(s+",", ",] ")
			if text, s = s[:n], s[n:]; !isVariableName(text) {
				return nil, false
			}
		}
		texts = append(texts, text)
		switch {
		case !list:
			return texts, s == ""
		case s == "]":
			return texts, true
		case !strings.HasPrefix(s, ", "):
			return nil, false
		}
		s = s[2:]
	}
}

// withoutComment is the value behind a key's colon. A "#" behind a blank begins a comment;
// one in quotes leaves a text that is not closed, and so no value that is known here.
func withoutComment(value string) string {
	value, _, _ = strings.Cut(value+" ", " #")
	return strings.TrimSpace(value)
}
