package chat

// Shown reports whether a fork shows m: what was said, called, answered or compacted, and
// not given up. Thoughts and system messages are not shown and end no turn.
func Shown(m *Message) bool {
	switch m.Role {
	case User, Assistant, ToolCall, ToolResult, Compaction:
		return !m.Abandoned
	}
	return false
}

// A Turn is an unbroken run of messages by the user, or of anything else.
type Turn struct {
	User     bool
	Messages []*Message
}

// Turns cuts messages into turns. They share the slice they are given.
func Turns(messages []*Message) []Turn {
	var turns []Turn
	from := 0
	for i := 1; i <= len(messages); i++ {
		user := messages[i-1].Role == User
		if i == len(messages) || (messages[i].Role == User) != user {
			turns = append(turns, Turn{user, messages[from:i:i]})
			from = i
		}
	}
	return turns
}

// A Slice is the part of a conversation that a fork shows, in order.
type Slice struct {
	Messages []*Message
	// StartUnknown and EndUnknown say that a checkpoint was asked for and is not in the
	// conversation, so that this end stayed open.
	StartUnknown, EndUnknown bool
}

// Cut takes the shown messages of c from the first checkpoint that holds start to the first
// that holds end, whichever comes first, both results included. A blank start or end leaves
// its end open; an open beginning is the first user message, if there is one. marks are the
// conversation's checkpoints, as FindCheckpoints gives them.
//
// A call and its result are not cut apart: if one of them is inside, the other is taken too,
// at its own place. Only the call of a checkpoint at which the slice begins stays out.
func Cut(c *Conversation, marks []Landmark, start, end string) Slice {
	var shown []*Message
	at := make(map[int]int, len(marks)) // message index to index in shown
	firstUser := -1
	next := marks
	for i := range c.Messages {
		m := &c.Messages[i]
		for len(next) > 0 && next[0].Message < i {
			next = next[1:]
		}
		if !Shown(m) {
			continue
		}
		if len(next) > 0 && next[0].Message == i {
			at[i] = len(shown)
		}
		if firstUser < 0 && m.Role == User {
			firstUser = len(shown)
		}
		shown = append(shown, m)
	}
	find := func(needle string) (place int, unknown bool) {
		if Blank(needle) {
			return -1, false
		}
		needle = Needle(needle)
		for _, mark := range marks {
			if place, ok := at[mark.Message]; ok && mark.Holds(needle) {
				return place, false
			}
		}
		return -1, true
	}
	var s Slice
	var from, to int
	from, s.StartUnknown = find(start)
	to, s.EndUnknown = find(end)
	if from >= 0 && to >= 0 && from > to {
		from, to = to, from
	}
	bounds := [2]int{from, to}
	if to < 0 {
		to = len(shown) - 1
	}
	if from < 0 {
		from = max(0, firstUser)
		if from > to {
			from = 0
		}
	}
	s.Messages = withPartners(shown, from, to, bounds)
	return s
}

// withPartners is shown[from:to+1] and the other half of every pair that this would cut. The
// calls of the results at bounds are not wanted for their own sake.
func withPartners(shown []*Message, from, to int, bounds [2]int) []*Message {
	inside := func(i int) bool { return from <= i && i <= to }
	extra := map[int]bool{}
	for result, call := range Pairs(shown) {
		switch {
		case call < 0 || inside(call) == inside(result):
		case inside(call):
			extra[result] = true
		case result != bounds[0] && result != bounds[1]:
			extra[call] = true
		}
	}
	if len(extra) == 0 {
		return shown[from : to+1]
	}
	var taken []*Message
	for i, m := range shown {
		if inside(i) || extra[i] {
			taken = append(taken, m)
		}
	}
	return taken
}
