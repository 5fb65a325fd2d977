package mapping

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// A Problem is one thing wrong with a mapping file. Line and Col are 1-based; Col counts
// characters, as yaml.v3 does; EndCol is 0 when unknown. Hint, when set, is one sentence
// saying what to write instead. Code is stable: "PL012".
type Problem struct {
	File      string
	Line, Col int
	EndCol    int
	Key       string // dotted YAML path, such as "messages[3].as"
	Msg, Hint string
	Code      string
	Warning   bool
	Source    string // the source line, for the excerpt
}

// Codes of problems. They are printed by check --json and never change their meaning.
const (
	codeSyntax      = "PL001" // not YAML, or not UTF-8
	codeSize        = "PL002" // beyond a limit of size or depth
	codeYAML        = "PL003" // YAML that mappings do not use: anchor, alias, merge key, tag, second document
	codeDuplicate   = "PL004" // a key or a name that was there before
	codeUnknownKey  = "PL005"
	codeWrongKind   = "PL006" // a list where a text is needed, and the like
	codeUnknownWord = "PL007" // a value that is none of the allowed ones
	codeMissing     = "PL008" // a required key is missing
	codeEmpty       = "PL009" // no value, or an empty one
	codeVersion     = "PL010"
	codeName        = "PL011"
	codeSelector    = "PL012"
	codeTemplate    = "PL013"
	codeRegexp      = "PL014"
	codeStepOrder   = "PL015"
	codeStepPlace   = "PL016" // a step or a form of expression that does not belong here
	codeCondition   = "PL017"
	codeUndefined   = "PL018" // a use, messages, source, lookup, sidecar, layer or extends that is not there
	codeCircle      = "PL019" // a circle, or rules nested too deeply
	codeUnreachable = "PL020"
	codeField       = "PL021" // a field that does not fit what its rule makes
	codeConflict    = "PL022" // keys that do not go together
	codeScope       = "PL023" // a scope that has no meaning at this place
	codeSQL         = "PL024"
	codePattern     = "PL025" // a path pattern
	codeTest        = "PL026" // a test that tests nothing
	codeTime        = "PL027" // a layout that is none
	codeExtends     = "PL028"

	codeUnused      = "PL030" // warnings from here on
	codeCatchAll    = "PL031"
	codeUntested    = "PL032"
	codeNeverFound  = "PL033" // a selector that no test record ever satisfied
	codeOverlap     = "PL034" // two mappings that accept the same files or records
	codeNews        = "PL035" // records of a test that no rule knows
	codeDraft       = "PL036" // what a draft left to be done
	codeTestFailed  = "PL040" // a problem again: what a test expects is not what came
	codeTestContent = "PL041" // the sample of a test cannot be read
)

// Headline is the first line of a Problem: where it is and what is wrong.
func (p Problem) Headline() string {
	var b strings.Builder
	b.WriteString(p.File)
	if p.Line > 0 {
		fmt.Fprintf(&b, ":%d", p.Line)
		if p.Col > 0 {
			fmt.Fprintf(&b, ":%d", p.Col)
		}
	}
	b.WriteString(": ")
	if p.Key != "" {
		b.WriteString(p.Key)
		b.WriteString(": ")
	}
	b.WriteString(p.Msg)
	return b.String()
}

// String is the whole form: headline, the line with a caret, hint. It has no line end.
func (p Problem) String() string {
	var b strings.Builder
	b.WriteString(p.Headline())
	if p.Line > 0 && p.Source != "" {
		line, caret := excerpt(p.Source, p.Col)
		fmt.Fprintf(&b, "\n%6d | %s", p.Line, line)
		if p.Col > 0 {
			fmt.Fprintf(&b, "\n       | %s^", strings.Repeat(" ", caret))
		}
	}
	if p.Hint != "" {
		b.WriteString("\n  hint: ")
		b.WriteString(p.Hint)
	}
	return b.String()
}

// excerptRunes is what of a long source line is shown: a line of a terminal that is not
// narrow. Samples in tests may be lines of many kilobytes.
const excerptRunes = 140

// excerpt makes a source line fit to be printed, and says how many characters stand before
// column col in what it gives.
func excerpt(source string, col int) (line string, caret int) {
	rs := []rune(source)
	for i, r := range rs {
		if !unicode.IsPrint(r) || r == utf8.RuneError {
			rs[i] = ' '
		}
	}
	caret = min(max(col-1, 0), len(rs))
	if len(rs) <= excerptRunes {
		return strings.TrimRight(string(rs), " "), caret
	}
	from := max(0, min(caret-excerptRunes/2, len(rs)-excerptRunes))
	to := min(len(rs), from+excerptRunes)
	line, caret = string(rs[from:to]), caret-from
	if from > 0 {
		line, caret = "…"+line, caret+1
	}
	if to < len(rs) {
		line += "…"
	}
	return line, caret
}

// sortProblems puts problems into the order of the file: those of own first, then those of
// the files it extends. Equal ones are given once.
func sortProblems(own string, ps []Problem) []Problem {
	slices.SortStableFunc(ps, func(a, b Problem) int {
		return cmp.Or(
			cmp.Compare(btoi(a.File != own), btoi(b.File != own)),
			strings.Compare(a.File, b.File),
			cmp.Compare(a.Line, b.Line),
			cmp.Compare(a.Col, b.Col),
			strings.Compare(a.Code, b.Code),
		)
	})
	return slices.Compact(ps)
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}

// fatal says whether one of the problems makes a mapping unusable.
func fatal(ps []Problem) bool {
	return slices.ContainsFunc(ps, func(p Problem) bool { return !p.Warning })
}

// nearest gives the candidate that a word was probably meant to be, or "".
func nearest(word string, candidates []string) string {
	best, bestDist := "", 1+max(1, len(word)/3)
	lower := strings.ToLower(word)
	for _, c := range candidates {
		if c == "*" {
			continue
		}
		d := editDistance(lower, strings.ToLower(c))
		if d < bestDist {
			best, bestDist = c, d
		}
	}
	if best != "" {
		return best
	}
	// "message" for "messages" is near; so is "conv" for "conversation".
	for _, c := range candidates {
		if len(word) >= 3 && (strings.HasPrefix(c, lower) || strings.HasPrefix(lower, c) && len(c) >= 3) {
			return c
		}
	}
	return ""
}

// wordBytes bounds what nearest compares; keys are short.
const wordBytes = 64

// editDistance counts insertions, deletions, changes, and swaps of neighbours.
func editDistance(a, b string) int {
	if len(a) > wordBytes || len(b) > wordBytes {
		return wordBytes
	}
	before := make([]int, len(b)+1) // row i-2
	prev := make([]int, len(b)+1)
	row := make([]int, len(b)+1)
	for j := range prev {
		prev[j] = j
	}
	for i := 1; i <= len(a); i++ {
		row[0] = i
		for j := 1; j <= len(b); j++ {
			row[j] = min(prev[j]+1, row[j-1]+1, prev[j-1]+btoi(a[i-1] != b[j-1]))
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
		before, prev, row = prev, row, before
	}
	return prev[len(b)]
}

// didYouMean is the usual hint for a wrong word: the nearest allowed one, else all of them.
func didYouMean(word, noun string, allowed []string) string {
	if near := nearest(word, allowed); near != "" {
		return fmt.Sprintf("did you mean %q?", near)
	}
	if len(allowed) == 0 {
		return ""
	}
	if len(allowed) == 1 {
		return fmt.Sprintf("the only one is %q", allowed[0])
	}
	return noun + " are " + strings.Join(allowed, ", ")
}
