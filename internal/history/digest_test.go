package history

import (
	"runtime"
	"testing"
	"time"
	"weak"

	"parlance/internal/chat"
)

// A hundred thousand rows must not hold a hundred thousand conversations.
func TestDigestHoldsNothingOfTheConversation(t *testing.T) {
	w := newWorld(t, "acme")
	m, _ := w.cfg.Set.Mapping("acme")
	c := &chat.Conversation{Provider: "acme", ID: "one", Title: "Ferries"}
	held := weak.Make(c)
	sum := (&digester{}).tally(c)
	sum.add(&chat.Message{Role: chat.User, Text: "Where does the ferry land?"})
	got := sum.digest(&file{m: m}, time.Time{}, w.now, func(string) bool { return false })
	c, sum = nil, nil
	runtime.GC()
	if held.Value() != nil {
		t.Error("the conversation is still held")
	}
	if got.row.Title != "Ferries" || got.total != 1 {
		t.Errorf("got %+v", got)
	}
}
