package render

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"parlance/internal/chat"
)

// read is what a reader does with Keep: it lets go of what is not kept.
func (d *TurnsDigester) read(in []chat.Message) []chat.Message {
	out := append([]chat.Message(nil), in...)
	for i := range out {
		m := &out[i]
		if !d.Keep(m) {
			m.Text, m.Input, m.Elided = "", "", true
		}
	}
	return out
}

// noted counts the bytes that the notes hold.
func noted(in []chat.Message) (n int) {
	for i := range in {
		n += len(in[i].Note.(*turnText).text)
	}
	return n
}

func TestTurnsDigesterShowsTheSame(t *testing.T) {
	tools := builtinTools(t)
	rng := rand.New(rand.NewPCG(1, 2))
	texts := []string{"", " ", "short", " spaced \n", strings.Repeat("é", turnTextRunes), strings.Repeat("w", turnTextRunes+1),
		strings.Repeat("r", resultRunes) + "sk-hidden", strings.Repeat("q", turnTextRunes-3) + "sk-hidden", "<system-reminder>\nx\n</system-reminder>"}
	roles := []chat.Role{chat.User, chat.Assistant, chat.Assistant, chat.Reasoning, chat.System, chat.Compaction, chat.ToolCall, chat.ToolCall, chat.ToolResult, chat.ToolResult}
	random := func() []chat.Message {
		var in []chat.Message
		for i := range rng.IntN(900) {
			m := chat.Message{Role: roles[rng.IntN(len(roles))], Text: texts[rng.IntN(len(texts))], Origin: chat.Origin{Line: i / 2}}
			switch m.Role {
			case chat.ToolCall:
				m.Text, m.Call, m.Tool, m.Input = "", strconv.Itoa(i), "Bash", fmt.Sprintf(`{"command":"run %d"}`, i)
			case chat.ToolResult:
				m.Call = strconv.Itoa(rng.IntN(i + 1))
			}
			if rng.IntN(3) == 0 {
				m.Reply = strconv.Itoa(i / 40)
			}
			in = append(in, m)
		}
		return in
	}
	for range 60 {
		in := random()
		before := rng.IntN(500)
		for _, o := range []TurnsOptions{{}, {Before: &before}, {After: before, Redact: hide("sk-hidden")}} {
			o.Tools = tools
			var want, got strings.Builder
			if err := Turns(&want, of(in...), o); err != nil {
				t.Fatal(err)
			}
			kept := NewTurnsDigester(o).read(in)
			if err := Turns(&got, of(kept...), o); err != nil {
				t.Fatalf("%d messages, %+v: %v", len(in), o, err)
			}
			if got.String() != want.String() {
				t.Fatalf("%d messages, before %d, after %d: got\n%.3000s\nwant\n%.3000s", len(in), before, o.After, got.String(), want.String())
			}

			// In another order than it was read in: the same, or it says so.
			for i := range kept {
				if rng.IntN(4) == 0 {
					in[i].Abandoned, kept[i].Abandoned = true, true
				}
			}
			want.Reset()
			got.Reset()
			if err := Turns(&want, of(in...), o); err != nil {
				t.Fatal(err)
			}
			switch err := Turns(&got, of(kept...), o); {
			case errors.Is(err, ErrElided) && got.Len() == 0:
			case err != nil || got.String() != want.String():
				t.Fatalf("with branches: got %v\n%.3000s\nwant\n%.3000s", err, got.String(), want.String())
			}
			for i := range in {
				in[i].Abandoned = false
			}
		}
	}
}

func TestTurnsDigesterKeepsTheWindow(t *testing.T) {
	var in []chat.Message
	for i := range 5000 {
		id := strconv.Itoa(i)
		in = append(in, user(strings.Repeat("u", 9000)), toolCall(id), toolResult(id, strings.Repeat("r", 9000)), assistant("done"))
	}
	n := 4
	for name, o := range map[string]TurnsOptions{"newest": {}, "oldest": {Before: &n}} {
		kept := NewTurnsDigester(o).read(in)
		if got := noted(kept); got > windowTurns*(turnTextRunes+resultRunes) {
			t.Errorf("%s: %d bytes are kept", name, got)
		}
	}

	// What another reader let go of is not taken for nothing.
	lacking := user("")
	lacking.Elided = true
	if err := Turns(new(strings.Builder), of(lacking), TurnsOptions{}); !errors.Is(err, ErrElided) {
		t.Errorf("got %v", err)
	}

	// The next conversation is counted from its own beginning.
	d := NewTurnsDigester(TurnsOptions{Before: &n})
	d.read(in)
	d.Next()
	var b strings.Builder
	if err := Turns(&b, of(d.read(in[:8])...), TurnsOptions{Before: &n}); err != nil || len(decodeTurns(t, b.String()).Turns) != 4 {
		t.Errorf("the next: %v\n%.300s", err, b.String())
	}
}
