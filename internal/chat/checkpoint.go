package chat

import (
	"encoding/json"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/google/uuid"
)

// slugRunes caps a checkpoint's name: enough for a sentence.
const slugRunes = 256

// A Checkpoint is a named landmark in a conversation.
type Checkpoint struct {
	UUID string
	Slug string // one line, trimmed, may be empty
}

// checkpointOpen is what every checkpoint line begins with. The bytes are the same in every
// host's file, whatever is wrapped around them.
const checkpointOpen = "CHAT CHECKPOINT UUID="

var checkpointPattern = regexp.MustCompile(checkpointOpen + `([0-9a-fA-F-]{36}) SLUG=`)

// NewCheckpoint is the line of a new checkpoint, without a newline at its end. The slug is
// trimmed and cut to 256 runes; line breaks in it stay, but only its first line will be found
// again.
func NewCheckpoint(slug string) string {
	slug = strings.ToValidUTF8(slug, "\uFFFD")
	return checkpointOpen + uuid.NewString() + " SLUG=" + Head(strings.TrimSpace(slug), slugRunes)
}

// Holds reports whether the checkpoint's slug or UUID contains needle, which must be folded.
func (c Checkpoint) Holds(needle string) bool {
	return strings.Contains(Fold(c.Slug), needle) || strings.Contains(Fold(c.UUID), needle)
}

// CheckpointIn finds the checkpoint that a tool result made; call is the result's call, nil if
// it is not known.
//
// A result that opens with the line counts, and a result of our checkpoint tool or command
// counts wherever in it the line is, whatever envelope the host put around it. A result of ours
// that hands out other conversations never counts: it may quote a checkpoint that is not its own.
func CheckpointIn(result, call *Message) (Checkpoint, bool) {
	if result.Role != ToolResult {
		return Checkpoint{}, false
	}
	if call == nil {
		return checkpointIn(result.Text, ownTool(result.Tool))
	}
	return checkpointIn(result.Text, ownOf(call))
}

func checkpointIn(text string, from own) (Checkpoint, bool) {
	at := checkpointPattern.FindStringSubmatchIndex(text)
	switch {
	case at == nil, from != 0 && from&ownCheckpoint == 0:
		return Checkpoint{}, false
	case at[0] == 0:
		return Checkpoint{UUID: text[at[2]:at[3]], Slug: firstLine(text[at[1]:])}, true
	case from != ownCheckpoint:
		return Checkpoint{}, false
	}
	if inner, ok := unwrap(text, 0); ok {
		text = inner
		at = checkpointPattern.FindStringSubmatchIndex(text)
	}
	return Checkpoint{UUID: text[at[2]:at[3]], Slug: enclosedSlug(text, at[0], at[1])}, true
}

func firstLine(s string) string {
	if i := strings.IndexAny(s, "\r\n"); i >= 0 {
		s = s[:i]
	}
	return strings.TrimSpace(s)
}

// envelopeDepthMax bounds JSON inside of strings of JSON. Two layers are seen in the wild.
const envelopeDepthMax = 4

// unwrap finds, in a text that is JSON as a whole, the string that holds a checkpoint line.
func unwrap(text string, depth int) (string, bool) {
	var v any
	text = strings.TrimSpace(text)
	if depth == envelopeDepthMax || text == "" || !strings.Contains(`{["`, text[:1]) ||
		json.Unmarshal([]byte(text), &v) != nil {
		return "", false
	}
	return unwrapValue(v, depth)
}

func unwrapValue(v any, depth int) (string, bool) {
	switch v := v.(type) {
	case string:
		if inner, ok := unwrap(v, depth+1); ok {
			return inner, true
		}
		return v, checkpointPattern.MatchString(v)
	case []any:
		for _, e := range v {
			if s, ok := unwrapValue(e, depth); ok {
				return s, true
			}
		}
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(v)) {
			if s, ok := unwrapValue(v[key], depth); ok {
				return s, true
			}
		}
	}
	return "", false
}

// enclosedSlug is the slug that begins at text[to:], of a checkpoint line that begins at
// text[from:] in the middle of something. It ends at the end of its line, or where the quotes,
// the string or the tag end in which the line stands.
func enclosedSlug(text string, from, to int) string {
	slug, before := text[to:], text[:from]
	if levels := stringLevels(before[strings.LastIndexByte(before, '\n')+1:]); levels > 0 {
		for ; levels > 0; levels-- {
			slug = decodeString(slug)
		}
		return firstLine(slug)
	}
	slug = firstLine(slug)
	for _, around := range [][2]string{{"'", "'"}, {"`", "`"}, {">", "</"}} {
		if strings.HasSuffix(before, around[0]) {
			slug, _, _ = strings.Cut(slug, around[1])
		}
	}
	return strings.TrimSpace(slug)
}

// stringLevels says how many JSON strings, one inside the other, are open at the end of line.
func stringLevels(line string) int {
	open, backslashes := false, 0
	for i := range len(line) {
		switch line[i] {
		case '\\':
			backslashes++
			continue
		case '"':
			if backslashes%2 == 0 {
				open = !open
			}
		}
		backslashes = 0
	}
	if !open {
		return 0
	}
	levels := 1
	quoted := strings.TrimSuffix(line, `"`)
	if inner := len(quoted) - len(strings.TrimRight(quoted, `\`)); len(quoted) < len(line) {
		for ; inner > 0; inner /= 2 { // \" is a quote one level down, \\\" two
			levels++
		}
	}
	return levels
}

// decodeString reads the rest of a JSON string up to its closing quote or its end. What is
// no escape stays as it is.
func decodeString(s string) string {
	end, escaped := len(s), false
	for i := range len(s) {
		if s[i] == '"' && !escaped {
			end = i
			break
		}
		escaped = s[i] == '\\' && !escaped
	}
	var decoded string
	if json.Unmarshal([]byte(`"`+s[:end]+`"`), &decoded) == nil {
		return decoded
	}
	return s[:end]
}

// A Finder finds checkpoints while a conversation is being read, message by message in its
// order. The zero value is ready. It holds the ids of calls, and no texts.
type Finder struct {
	pairs Pairer
	own   map[int]own // by index, of the calls that are ours
	n     int
}

// Next takes the next message, its text still at hand, and gives the checkpoint in it.
func (f *Finder) Next(m *Message) (Checkpoint, bool) {
	at := f.n
	f.n++
	call := f.pairs.Next(m)
	switch m.Role {
	case ToolCall:
		if set := ownOf(m); set != 0 {
			if f.own == nil {
				f.own = map[int]own{}
			}
			f.own[at] = set
		}
	case ToolResult:
		if call < 0 {
			return checkpointIn(m.Text, ownTool(m.Tool))
		}
		return checkpointIn(m.Text, f.own[call])
	}
	return Checkpoint{}, false
}

// Noted is what Message.Note may be, to say which checkpoint stood in a text that is gone.
type Noted interface{ Checkpoint() (Checkpoint, bool) }

// A Landmark is a checkpoint at its place.
type Landmark struct {
	Checkpoint
	Message int // index in Conversation.Messages
}

// FindCheckpoints lists the checkpoints of a conversation, oldest first. Those on a branch
// that was given up are left out.
func FindCheckpoints(c *Conversation) []Landmark {
	var found []Landmark
	var f Finder
	for i := range c.Messages {
		m := &c.Messages[i]
		cp, ok := f.Next(m)
		if noted, is := m.Note.(Noted); is && m.Elided {
			cp, ok = noted.Checkpoint()
		}
		if ok && !m.Abandoned {
			found = append(found, Landmark{cp, i})
		}
	}
	return found
}
