package mapping

import (
	"html"
	"slices"
	"strings"

	"parlance/internal/chat"
)

// A piece is a text with its role, on the way from a rule to a message.
type piece struct {
	role chat.Role
	text string
	tool string // of a tool_call, whose input is text
}

// apply cleans one text of the role: tags first, then rules on what is left. Nothing is
// returned for what was dropped.
func (c *cleaner) apply(role chat.Role, text string, dropped func(what string)) []piece {
	if c == nil {
		return []piece{{role: role, text: text}}
	}
	pieces := []piece{{role: role, text: text}}
	if (c.tags != nil || c.star != "") && strings.IndexByte(text, '<') >= 0 {
		pieces = c.cutTags(role, text, dropped)
	}
	if len(c.rules) == 0 {
		return pieces
	}
	out := pieces[:0]
	for _, p := range pieces {
		if p.role == role {
			var keep bool
			if p, keep = c.applyRules(p, dropped); !keep {
				continue
			}
		}
		out = append(out, p)
	}
	return out
}

func (c *cleaner) applyRules(p piece, dropped func(what string)) (piece, bool) {
	// A predicate on a text reads nothing but the text.
	var x scopes
	for _, r := range c.rules {
		if r.when != nil && !x.textHolds(r.when, p.text) {
			continue
		}
		if r.drop {
			dropped(r.path)
			return p, false
		}
		if r.as != "" {
			p.role = r.as
		}
		if r.after != nil {
			if i := strings.LastIndex(p.text, *r.after); i >= 0 {
				p.text = strings.TrimSpace(p.text[i+len(*r.after):])
			}
		}
		if len(p.text) <= patternMaxBytes {
			for _, re := range r.replace {
				p.text = re.re.ReplaceAllString(p.text, re.with)
			}
		}
		if r.unescape {
			p.text = html.UnescapeString(p.text)
		}
		return p, strings.TrimSpace(p.text) != ""
	}
	return p, true
}

// A block is a tagged part of a text: inside, and what the table says of it.
type block struct {
	start, end int // of the whole block
	name       string
	inside     string
	what       string
}

// cutTags takes the tagged blocks out of a text. A text without one comes back as it is.
func (c *cleaner) cutTags(role chat.Role, text string, dropped func(what string)) []piece {
	body, blocks := c.tagged(text)
	if len(blocks) == 0 {
		return []piece{{role: role, text: text}}
	}
	return c.assemble(role, body, blocks, dropped)
}

// tagged finds the blocks of a text, and the text in which they stand.
func (c *cleaner) tagged(text string) (string, []block) {
	if rest, ok := strings.CutPrefix(strings.TrimLeft(text, " \t\r\n"), "\uFEFF"); ok {
		text = rest // it came with a file that was pasted or piped in, and is nothing to see
	}
	if c.star != "" {
		if b, ok := c.starBlock(text); ok {
			return text, []block{b}
		}
	}
	return text, c.blocks(text)
}

// starBlock is the block of a tag that the table does not name: the text begins with it,
// alone on its first line.
func (c *cleaner) starBlock(text string) (block, bool) {
	start := len(text) - len(strings.TrimLeft(text, " \t\r\n"))
	line, _, _ := strings.Cut(text[start:], "\n")
	name, end := openingTag(text, start)
	if name == "" || strings.TrimRight(line, " \t\r") != text[start:end] || strings.ContainsAny(text[start:end], " \t/") {
		return block{}, false
	}
	if _, known := c.tags[name]; known {
		return block{}, false
	}
	inner, stop := closeBlock(text, name, end)
	if stop < 0 {
		inner, stop = text[end:], len(text)
	}
	return block{start, stop, name, strings.TrimSpace(inner), c.star}, true
}

// blocks finds the blocks of the table's tags, from left to right. An opening tag counts at
// the beginning of a line, after blanks, or right behind another block.
func (c *cleaner) blocks(text string) []block {
	var found []block
	at := 0
	onlyBlocks := true // nothing but blanks and blocks so far
	unclosed := map[string]bool{}
	for at < len(text) {
		lt := strings.IndexByte(text[at:], '<')
		if lt < 0 {
			break
		}
		i := at + lt
		if strings.TrimSpace(text[at:i]) != "" {
			onlyBlocks = false
		}
		name, end := openingTag(text, i)
		what, known := c.tags[name]
		if name == "" || !known || !c.opens(text, i, found) {
			onlyBlocks = false
			at = i + 1
			continue
		}
		b := block{start: i, name: name, what: what}
		if text[end-2] == '/' {
			b.end = end
		} else {
			inner, stop := "", -1
			if !unclosed[name] {
				inner, stop = closeBlock(text, name, end)
			}
			if stop < 0 {
				// Not looked for again: many openings must not cost many scans.
				unclosed[name] = true
				if !onlyBlocks {
					at = i + 1
					continue
				}
				inner, stop = text[end:], len(text)
			}
			b.end, b.inside = stop, strings.TrimSpace(inner)
		}
		found = append(found, b)
		at = b.end
	}
	return found
}

// opens says whether a tag at i stands where a block may begin.
func (c *cleaner) opens(text string, i int, found []block) bool {
	j := i
	for j > 0 && (text[j-1] == ' ' || text[j-1] == '\t') {
		j--
	}
	return j == 0 || text[j-1] == '\n' || len(found) > 0 && found[len(found)-1].end == j
}

// openingTag reads <name>, <name ...> or <name/> at i. It gives the name and the end of the
// tag, or "".
func openingTag(text string, i int) (string, int) {
	j := i + 1
	for j < len(text) && isTagByte(text[j], j > i+1) {
		j++
	}
	if j == i+1 || j >= len(text) {
		return "", 0
	}
	name := text[i+1 : j]
	switch text[j] {
	case '>':
		return name, j + 1
	case '/':
		if j+1 < len(text) && text[j+1] == '>' {
			return name, j + 2
		}
	case ' ', '\t':
		k := strings.IndexAny(text[j:], "<>")
		if k >= 0 && text[j+k] == '>' {
			return name, j + k + 1
		}
	}
	return "", 0
}

func isTagByte(c byte, inside bool) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || inside && (c >= '0' && c <= '9' || c == '-' || c == '_')
}

// closeBlock finds the end of a block whose opening tag ends at from: the closing tag that
// balances, else the last one. It gives the inside and the end, or -1.
func closeBlock(text, name string, from int) (string, int) {
	closing := "</" + name + ">"
	depth, at, last := 1, from, -1
	for {
		i := strings.Index(text[at:], "<")
		if i < 0 {
			break
		}
		i += at
		at = i + 1
		if strings.HasPrefix(text[i:], closing) {
			last = i
			if depth--; depth == 0 {
				return text[from:i], i + len(closing)
			}
		} else if n, end := openingTag(text, i); n == name && text[end-2] != '/' {
			depth++
		}
	}
	if last < 0 {
		return "", -1
	}
	return text[from:last], last + len(closing)
}

// assemble makes the pieces of a text: what is left keeps the role and the place of its
// first part, the blocks' messages stand before or behind it as in the text.
func (c *cleaner) assemble(role chat.Role, text string, blocks []block, dropped func(what string)) []piece {
	inside := false
	for _, b := range blocks {
		inside = inside || b.what == "inside"
	}
	var out []piece
	var left []string
	leftAt := -1
	keep := func(s string) {
		if s = strings.TrimSpace(s); s == "" {
			return
		}
		if leftAt < 0 {
			leftAt = len(out)
			out = append(out, piece{role: role})
		}
		left = append(left, s)
	}
	command := -1 // the place of the nearest command in out
	at := 0
	for _, b := range blocks {
		if !inside {
			keep(text[at:b.start])
		} else if strings.TrimSpace(text[at:b.start]) != "" {
			dropped("text outside of tags")
		}
		at = b.end
		switch b.what {
		case "drop":
			dropped(b.name)
		case "inside":
			keep(b.inside)
		case "command":
			if b.inside != "" {
				if b.inside[0] != '/' {
					b.inside = "/" + b.inside
				}
				command = len(out)
				out = append(out, piece{role: chat.User, text: b.inside})
			}
		case "args":
			if command < 0 {
				keep(text[b.start:b.end])
			} else if b.inside != "" {
				out[command].text += " " + b.inside
			}
			command = -1
		case "call":
			out = append(out, piece{role: chat.ToolCall, text: callInput(b.inside), tool: b.name})
		default:
			if b.inside != "" {
				out = append(out, piece{role: chat.Role(b.what), text: b.inside})
			}
		}
	}
	if !inside {
		keep(text[at:])
	}
	if leftAt >= 0 {
		out[leftAt].text = strings.Join(left, "\n\n")
	}
	return out
}

// callInput is the input of a call that is written as tags: the blocks directly inside it as
// an object of texts, in their order; of equal names the last counts. A text between them has
// no name and is left out; without a block the inside itself is the input.
func callInput(inside string) string {
	var names, values []string
	for at := 0; at < len(inside); {
		lt := strings.IndexByte(inside[at:], '<')
		if lt < 0 {
			break
		}
		name, end := openingTag(inside, at+lt)
		if name == "" {
			at += lt + 1
			continue
		}
		value, stop := "", end
		if inside[end-2] != '/' {
			if value, stop = closeBlock(inside, name, end); stop < 0 {
				value, stop = inside[end:], len(inside)
			}
		}
		at = stop
		value = strings.TrimSpace(value)
		if i := slices.Index(names, name); i >= 0 {
			values[i] = value
			continue
		}
		names, values = append(names, name), append(values, value)
	}
	if names == nil {
		return inside
	}
	var b strings.Builder
	for i, name := range names {
		if i == 0 {
			b.WriteByte('{')
		} else {
			b.WriteByte(',')
		}
		b.WriteString(quotedKey(name))
		quote(&b, values[i])
	}
	b.WriteByte('}')
	return b.String()
}
