package chat

// openCallsMax bounds the calls without an id that may still get a result. Tools that
// give no ids start a handful of calls at once; beyond that the oldest is given up.
const openCallsMax = 64

// A Pairer joins tool results to their calls, message by message in conversation order.
// The zero value is ready. It holds the ids of the calls it has seen, and no texts.
type Pairer struct {
	n    int
	byID map[string]int
	open []openCall // calls without an id that no result has answered
}

type openCall struct {
	at   int
	tool string
}

// Next takes the next message. For a result it gives the index of its call, counted over
// all messages taken so far; -1 for a result whose call is unknown, and for anything else.
//
// An id joins a result to the newest call of that id. Without ids a result answers the
// oldest open call of its tool since somebody last spoke, or of any tool if it names none.
func (p *Pairer) Next(m *Message) int {
	at := p.n
	p.n++
	switch m.Role {
	case User, Assistant, Compaction:
		p.open = p.open[:0]
	case ToolCall:
		if m.Call == "" {
			if len(p.open) == openCallsMax {
				p.open = append(p.open[:0], p.open[1:]...)
			}
			p.open = append(p.open, openCall{at, m.Tool})
			break
		}
		if p.byID == nil {
			p.byID = map[string]int{}
		}
		p.byID[m.Call] = at
	case ToolResult:
		if m.Call != "" {
			if call, ok := p.byID[m.Call]; ok {
				return call
			}
			break
		}
		for i, call := range p.open {
			if m.Tool == "" || call.tool == "" || m.Tool == call.tool {
				p.open = append(p.open[:i], p.open[i+1:]...)
				return call.at
			}
		}
	}
	return -1
}

// Pairs gives for each result the index of its call, and -1 for every other message.
func Pairs(messages []*Message) []int {
	var p Pairer
	calls := make([]int, len(messages))
	for i, m := range messages {
		calls[i] = p.Next(m)
	}
	return calls
}
