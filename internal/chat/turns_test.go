package chat

import (
	"reflect"
	"strings"
	"testing"
	"time"
)

// talk makes a conversation of one-letter roles: u user, a assistant, r reasoning, s system,
// k compaction, c call and t result (joined by the digit behind), p a checkpoint call and q its
// result (likewise); x marks the message before it abandoned, i inherited. The text is the
// place in the conversation.
func talk(script string) *Conversation {
	roles := map[byte]Role{'u': User, 'a': Assistant, 'r': Reasoning, 's': System, 'k': Compaction,
		'c': ToolCall, 't': ToolResult, 'p': ToolCall, 'q': ToolResult}
	c := &Conversation{}
	for _, word := range strings.Fields(script) {
		m := Message{Role: roles[word[0]], Text: word, Abandoned: strings.HasSuffix(word, "x"), Inherited: strings.HasSuffix(word, "i")}
		switch word[0] {
		case 'c':
			m.Tool, m.Call = "shell", word[:2]
		case 't':
			m.Call = "c" + word[1:2]
		case 'p':
			m.Tool, m.Call = "chat_checkpoint", word[:2]
		case 'q':
			m.Call = "p" + word[1:2]
			m.Text = line(strings.Repeat(word[1:2], 36), word)
		}
		m.ID = word
		c.Messages = append(c.Messages, m)
	}
	return c
}

func ids(messages []*Message) string {
	var words []string
	for _, m := range messages {
		words = append(words, m.ID)
	}
	return strings.Join(words, " ")
}

func TestTurns(t *testing.T) {
	for _, row := range []struct {
		name, in string
		want     []string
	}{
		{"none", "", nil},
		{"one", "u", []string{"u"}},
		{"runs", "u1 u2 a c1 t1 a u3 k u4", []string{"u1 u2", "a c1 t1 a", "u3", "k", "u4"}},
		{"unseen messages open no turn", "u1 r s u2 a r a s u3", []string{"u1 u2", "a a", "u3"}},
		{"given up branches are left out", "u1 a1 u2x a2x u3", []string{"u1", "a1", "u3"}},
		{"what was inherited stays", "u1i a1i u2", []string{"u1i", "a1i", "u2"}},
	} {
		c := talk(row.in)
		var got []string
		for _, turn := range Turns(Cut(c, nil, "", "").Messages) {
			got = append(got, ids(turn.Messages))
			if turn.User != (turn.Messages[0].Role == User) {
				t.Errorf("%s: %s: user is %v", row.name, ids(turn.Messages), turn.User)
			}
		}
		if !reflect.DeepEqual(got, row.want) {
			t.Errorf("%s: got %q, want %q", row.name, got, row.want)
		}
	}
}

func TestCut(t *testing.T) {
	const plain = "u1 a1 p1 q1 a2 u2 c3 t3 p2 q2 a3"
	for _, row := range []struct{ name, in, start, end, want, unknown string }{
		{"whole", plain, "", " ", plain, ""},
		{"from a checkpoint", plain, "q1", "", "q1 a2 u2 c3 t3 p2 q2 a3", ""},
		{"to a checkpoint", plain, "", "Q2", "u1 a1 p1 q1 a2 u2 c3 t3 p2 q2", ""},
		{"between", plain, "q1", "q2", "q1 a2 u2 c3 t3 p2 q2", ""},
		{"by uuid", plain, "1111-"[:4], "2222", "q1 a2 u2 c3 t3 p2 q2", ""},
		{"reversed", plain, "q2", "q1", "q1 a2 u2 c3 t3 p2 q2", ""},
		{"one for both", plain, "q1", "q1", "q1", ""},
		{"trimmed", plain, " q1\n", "", "q1 a2 u2 c3 t3 p2 q2 a3", ""},
		{"first of several", plain, "q", "", "q1 a2 u2 c3 t3 p2 q2 a3", ""},
		{"unknown start", plain, "zz", "q2", "u1 a1 p1 q1 a2 u2 c3 t3 p2 q2", "start"},
		{"unknown end", plain, "q1", "zz", "q1 a2 u2 c3 t3 p2 q2 a3", "end"},
		{"both unknown", plain, "yy", "zz", plain, "start end"},

		{"nothing", "", "", "", "", ""},
		{"before the first user message", "k a0 u1 a1", "", "", "u1 a1", ""},
		{"nobody speaks", "k a0 c1 t1", "", "", "k a0 c1 t1", ""},
		{"slicing cuts before the first user message", "a0 p1 q1 a1 u1 a2", "q1", "", "q1 a1 u1 a2", ""},
		{"slice that ends before the first user message", "a0 p1 q1 a1 u1 a2", "", "q1", "a0 p1 q1", ""},
		{"call before the first user message", "c1 u1 t1 a1", "", "", "c1 u1 t1 a1", ""},

		{"takes the call of a result", "u1 c3 p1 q1 t3 a1", "q1", "", "c3 q1 t3 a1", ""},
		{"takes the result of a call", "u1 c3 p1 q1 t3 a1", "", "q1", "u1 c3 p1 q1 t3", ""},
		{"parallel checkpoints as bounds", "u1 p1 p2 q1 q2 a1", "q1", "q2", "q1 q2", ""},
		{"parallel checkpoint at the end", "u1 p1 p2 q1 q2 a1", "", "q1", "u1 p1 p2 q1 q2", ""},
		{"checkpoint on a given up branch", "u1 p1x q1x a1 u2", "q1", "", "u1 a1 u2", "start"},
		{"checkpoint behind hidden messages", "s u1 r p1 r q1 s a1", "q1", "", "q1 a1", ""},
	} {
		c := talk(row.in)
		got := Cut(c, FindCheckpoints(c), row.start, row.end)
		unknown := ""
		if got.StartUnknown {
			unknown = "start"
		}
		if got.EndUnknown {
			unknown = strings.TrimSpace(unknown + " end")
		}
		if ids(got.Messages) != row.want || unknown != row.unknown {
			t.Errorf("%s: got %q %q, want %q %q", row.name, ids(got.Messages), unknown, row.want, row.unknown)
		}
	}
}

func TestPairs(t *testing.T) {
	m := func(role Role, tool, id string) *Message { return &Message{Role: role, Tool: tool, Call: id} }
	for _, row := range []struct {
		name string
		in   []*Message
		want []int
	}{
		{"by id", []*Message{m(ToolCall, "a", "1"), m(ToolCall, "b", "2"), m(ToolResult, "", "2"), m(ToolResult, "", "1")}, []int{-1, -1, 1, 0}},
		{"an id used again", []*Message{m(ToolCall, "a", "1"), m(ToolResult, "", "1"), m(ToolCall, "a", "1"), m(ToolResult, "", "1")}, []int{-1, 0, -1, 2}},
		{"two results", []*Message{m(ToolCall, "a", "1"), m(ToolResult, "", "1"), m(ToolResult, "", "1")}, []int{-1, 0, 0}},
		{"orphan", []*Message{m(ToolCall, "a", ""), m(ToolResult, "", "9")}, []int{-1, -1}},
		{"by order", []*Message{m(ToolCall, "a", ""), m(ToolCall, "a", ""), m(ToolResult, "", ""), m(ToolResult, "", "")}, []int{-1, -1, 0, 1}},
		{"by order and tool", []*Message{m(ToolCall, "a", ""), m(ToolCall, "b", ""), m(ToolResult, "b", ""), m(ToolResult, "a", "")}, []int{-1, -1, 1, 0}},
		{"an answer ends the wait", []*Message{m(ToolCall, "a", ""), m(Assistant, "", ""), m(ToolResult, "", "")}, []int{-1, -1, -1}},
		{"thoughts do not", []*Message{m(ToolCall, "a", ""), m(Reasoning, "", ""), m(ToolResult, "", "")}, []int{-1, -1, 0}},
	} {
		if got := Pairs(row.in); !reflect.DeepEqual(got, row.want) {
			t.Errorf("%s: got %v, want %v", row.name, got, row.want)
		}
	}
	many := make([]*Message, 0, 2*openCallsMax+2)
	for range 2*openCallsMax + 1 {
		many = append(many, m(ToolCall, "a", ""))
	}
	got := Pairs(append(many, m(ToolResult, "", "")))
	if want := openCallsMax + 1; got[len(got)-1] != want {
		t.Errorf("too many open calls: got %d, want %d", got[len(got)-1], want)
	}
}

func TestCurrent(t *testing.T) {
	now := time.Date(2026, 5, 28, 20, 0, 0, 0, time.UTC)
	for _, row := range []struct {
		name    string
		in      string
		change  func(*Conversation)
		updated time.Duration
		touched time.Duration
		want    bool
	}{
		{name: "waits for our tool", in: "u1 p1", want: true},
		{name: "has just its answer", in: "u1 p1 q1", want: true},
		{name: "went on", in: "u1 p1 q1 a1"},
		{name: "asked something else since", in: "u1 p1 q1 c1 t1"},
		{name: "waits for another tool", in: "u1 c1"},
		{name: "says nothing", in: ""},
		{name: "the user spoke last", in: "p1 u1"},
		{name: "59 seconds old", in: "u1 p1", updated: -59 * time.Second, want: true},
		{name: "60 seconds old", in: "u1 p1", updated: -60 * time.Second},
		{name: "the clock runs ahead", in: "u1 p1", updated: 59 * time.Second, want: true},
		{name: "far in the future", in: "u1 p1", updated: time.Hour},
		{name: "old record, file just touched", in: "u1 p1", updated: -time.Hour, touched: -time.Second, want: true},
		{name: "fresh record, old file", in: "u1 p1", touched: -time.Hour, want: true},
		{name: "hidden messages behind", in: "u1 p1 r s", want: true},
		{name: "given up", in: "u1 p1x"},
		{name: "beside another call", in: "u1 p1 c1 t1", change: func(c *Conversation) { c.Messages[1].Running = true }, want: true},
		{name: "beside another call, answered", in: "u1 p1 c1 q1 t1"},
		{name: "from a shell", in: "u1 c1", change: func(c *Conversation) { c.Messages[1].Input = `{"command":"parlance search x"}` }, want: true},
		{name: "show is no question of an agent", in: "u1 c1", change: func(c *Conversation) { c.Messages[1].Input = `{"command":"parlance show x"}` }},
	} {
		c := talk(row.in)
		c.Updated = now.Add(row.updated)
		touched := time.Time{}
		if row.touched != 0 {
			touched = now.Add(row.touched)
		}
		if row.change != nil {
			row.change(c)
		}
		if got := Current(c, touched, now); got != row.want {
			t.Errorf("%s: got %v", row.name, got)
		}
	}
}

func TestNewRow(t *testing.T) {
	c := talk("s u1 r p1 q1 a1 u2x k a2")
	c.Provider, c.ID, c.Cwd, c.Parent = "acme", "7f", "/home/u/demo", "6e"
	got := NewRow(c)
	want := Row{Provider: "acme", ID: "7f", Prompt: "u1", Project: "demo", Cwd: "/home/u/demo", Parent: "6e",
		Messages: 5, Checkpoints: []Checkpoint{{strings.Repeat("1", 36), "q1"}}}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
	if got.FullID() != "acme:7f" {
		t.Errorf("full id %q", got.FullID())
	}
}
