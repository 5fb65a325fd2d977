package render

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// A diff is what a call changed: how many lines, and the first of them with their context. The
// counts are exact, however few lines are kept.
type diff struct {
	added, removed int
	lines          []string
	max            int
}

func (d *diff) add(line string) {
	switch {
	case strings.HasPrefix(line, "+"):
		d.added++
	case strings.HasPrefix(line, "-"):
		d.removed++
	}
	if len(d.lines) < d.max {
		d.lines = append(d.lines, valid(line))
	}
}

// settled is d, or nothing if it changes nothing.
func (d diff) settled() diff {
	if d.added+d.removed == 0 {
		return diff{}
	}
	return d
}

// without is d with the secrets in its lines replaced, one of which may go over several lines.
func (d diff) without(r Redactor, counts tally) diff {
	if r != nil && len(d.lines) > 0 {
		d.lines = strings.Split(r.whole(strings.Join(d.lines, "\n"), counts), "\n")
	}
	return d
}

// linesOf is s cut at its line breaks; one at the end adds no line.
func linesOf(s string) []string {
	s = strings.TrimSuffix(strings.ReplaceAll(s, "\r\n", "\n"), "\n")
	if s == "" {
		return nil
	}
	return strings.Split(s, "\n")
}

var hunkHeader = regexp.MustCompile(`^@@+ -\d+(?:,(\d+))? \+\d+(?:,(\d+))? @@`)

// storedDiff reads a change as a tool stored it: a unified diff, or bare lines with "+" and "-".
// Headers of files and hunks are left out; inside a hunk nothing is taken for one.
func storedDiff(text string, max int) diff {
	d := diff{max: max}
	olds, news := 0, 0 // lines that the hunk still has
	lines := linesOf(text)
	for i, line := range lines {
		if olds > 0 || news > 0 {
			if !strings.HasPrefix(line, "@@") { // else the hunk is shorter than it said
				switch {
				case strings.HasPrefix(line, "+"):
					news--
				case strings.HasPrefix(line, "-"):
					olds--
				case strings.HasPrefix(line, `\`):
				default:
					olds, news = olds-1, news-1
				}
				d.add(line)
				continue
			}
			olds, news = 0, 0
		}
		if m := hunkHeader.FindStringSubmatch(line); m != nil {
			olds, news = hunkLength(m[1]), hunkLength(m[2])
			continue
		}
		switch {
		case strings.HasPrefix(line, "--- ") && i+1 < len(lines) && strings.HasPrefix(lines[i+1], "+++ ") && hunkFollows(lines[i+2:]),
			strings.HasPrefix(line, "+++ ") && i > 0 && strings.HasPrefix(lines[i-1], "--- ") && hunkFollows(lines[i+1:]):
		case strings.HasPrefix(line, "@@"):
		case line != "" && strings.ContainsRune(`+- \`, rune(line[0])):
			d.add(line)
		}
	}
	return d.settled()
}

func hunkLength(s string) int {
	if s == "" {
		return 1
	}
	n, err := strconv.Atoi(s)
	if err != nil {
		return 0
	}
	return n
}

// hunkFollows tells the header of a file from two changed lines that look like one.
func hunkFollows(rest []string) bool { return len(rest) > 0 && strings.HasPrefix(rest[0], "@@") }

// patchDiff reads a patch in the form that models write: "*** Update File: NAME" and changed
// lines. It names the files.
func patchDiff(text string, max int) (summary string, d diff) {
	d.max = max
	var files []string
lines:
	for _, line := range linesOf(text) {
		for _, mark := range []string{"*** Update File: ", "*** Add File: ", "*** Delete File: "} {
			if name, ok := strings.CutPrefix(line, mark); ok {
				files = append(files, strings.TrimSpace(name))
				continue lines
			}
		}
		if strings.HasPrefix(line, "***") || strings.HasPrefix(line, "@@") {
			continue
		}
		if line != "" && strings.ContainsRune("+- ", rune(line[0])) {
			d.add(line)
		}
	}
	switch len(files) {
	case 0:
		summary = "(patch)"
	case 1:
		summary = files[0]
	default:
		summary = fmt.Sprintf("%s (+%d more)", files[0], len(files)-1)
	}
	return summary, d.settled()
}

// replaced adds one edit to d: all of the old text goes, all of the new one comes.
func (d *diff) replaced(old, new string) {
	for _, line := range linesOf(old) {
		d.add("-" + line)
	}
	for _, line := range linesOf(new) {
		d.add("+" + line)
	}
}
