package history

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"parlance/internal/chat"
)

func TestForkChoosesByTier(t *testing.T) {
	w := newWorld(t)
	put := func(name string, age time.Duration, lines ...string) {
		w.write(".acme/x/"+name+".jsonl", w.ago(age), lines...)
	}
	put("said-new", hour, said(w.ago(hour), "bot", "the heron"))
	put("asked", 5*hour, said(w.ago(5*hour), "me", "a heron?"), said(w.ago(5*hour), "result", "heron droppings"))
	put("asked-old", 6*hour, said(w.ago(6*hour), "me", "a heron?"))
	put("marked", 7*hour, append([]string{said(w.ago(7*hour), "me", "hi")}, mark(w.ago(7*hour), "c", uuid, "heron counted")...)...)
	put("tern-log", 8*hour, said(w.ago(8*hour), "me", "hi"))
	put("spread", 2*hour, said(w.ago(2*hour), "me", "gull"), said(w.ago(2*hour), "me", "tern"))
	tests := []struct {
		text, want string
		tier       int
	}{
		{"", "acme:said-new", 0},
		{"the heron", "acme:said-new", 4},
		{"a heron", "acme:asked", 3},
		{"heron", "acme:marked", 2},
		{"tern", "acme:tern-log", 1},
		{"HERON counted", "acme:marked", 2},
		{uuid, "acme:marked", 2},
		{"acme:asked", "acme:asked", 1},
		{"asked", "acme:asked", 1},
		{"asked-", "acme:asked-old", 1},
		{"gull tern", "", 0}, // words alone choose nothing
		{"kestrel", "", 0},
	}
	for _, tt := range tests {
		t.Run(tt.text, func(t *testing.T) {
			f, err := w.open().Fork(context.Background(), Query{Text: tt.text})
			if tt.want == "" {
				if miss := new(NotFoundError); !errors.As(err, &miss) {
					t.Fatalf("got %v, want a NotFoundError", err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			c, err := f.Read(context.Background(), nil)
			if err != nil {
				t.Fatal(err)
			}
			if f.FullID() != tt.want || f.Tier != tt.tier || c.FullID() != tt.want {
				t.Errorf("got %s by tier %d, want %s by %d", f.FullID(), f.Tier, tt.want, tt.tier)
			}
		})
	}
	f, err := w.open().Fork(context.Background(), Query{Text: "asked"})
	if err != nil {
		t.Fatal(err)
	}
	if c, err := f.Read(context.Background(), nil); err != nil || c.Messages[1].Text != "heron droppings" {
		t.Errorf("tool text is missing: %v %+v", err, c)
	}
	keep := func(m *chat.Message) bool { return m.Role == chat.User }
	if c, err := f.Read(context.Background(), keep); err != nil || c.Messages[1].Text != "" || c.Messages[0].Text != "a heron?" {
		t.Errorf("with a keep: %v %+v", err, c)
	}
}

// An id that names a file is read from that file alone.
func TestForkByIDLooksAtNothingElse(t *testing.T) {
	w := newWorld(t)
	const id = "0a0a0a0a-0000-4000-8000-000000000001"
	for i := range 100 {
		at := w.ago(time.Duration(i+1) * hour)
		w.write(fmt.Sprintf(".acme/x/f%02d.jsonl", i), at, said(at, "me", "see "+id))
	}
	w.write(".acme/x/"+id+".jsonl", w.ago(900*hour), said(w.ago(900*hour), "me", "hi"))
	w.write(".acme/x/empty-"+id[:8]+".jsonl", w.ago(900*hour))
	f, err := w.open().Fork(context.Background(), Query{Text: id})
	if err != nil || f.FullID() != "acme:"+id || f.Tier != 1 || f.Work.Scanned+f.Work.Read != 0 {
		t.Errorf("got %+v, %v", f, err)
	}
	// With a second file of that name there is more to look at.
	w.write(".acme-backup/x/"+id+".jsonl", w.ago(900*hour), said(w.ago(900*hour), "me", "hi"), said(w.ago(900*hour), "me", "ho"))
	f, err = w.open().Fork(context.Background(), Query{Text: id})
	if err != nil || filepath.Base(filepath.Dir(filepath.Dir(f.File))) != ".acme-backup" {
		t.Errorf("got %+v, %v; want the longer one", f, err)
	}
}

func TestForkAndTheOwnConversation(t *testing.T) {
	w := newWorld(t, "acme")
	w.write(".acme/x/old.jsonl", w.ago(hour), said(w.ago(hour), "me", "heron"))
	lines := append([]string{said(w.ago(hour), "me", "heron")}, mark(w.ago(time.Minute), "k", uuid, "here")...)
	lines = append(lines, said(w.ago(time.Second), "call", "{}", "tool", "chat_fork", "call", "f"))
	w.write(".acme/x/self.jsonl", w.ago(time.Second), lines...)
	for text, want := range map[string]string{"": "acme:old", "heron": "acme:old", "self": "acme:self", uuid: "acme:self", "here": "acme:self"} {
		f, err := w.open().Fork(context.Background(), Query{Text: text})
		if err != nil {
			t.Errorf("fork %q: %v", text, err)
		} else if got := f.FullID(); got != want {
			t.Errorf("fork %q: got %s, want %s", text, got, want)
		}
	}
}

// Once a newer conversation has it in its text, older files are only read for checkpoints.
func TestForkReadsLittle(t *testing.T) {
	w := newWorld(t, "acme")
	w.cfg.Workers = 1
	for i := range 100 {
		at := w.ago(time.Duration(i+1) * hour)
		w.write(fmt.Sprintf(".acme/x/f%02d.jsonl", i), at, said(at, "me", "the port"))
	}
	at := w.ago(200 * hour)
	w.write(".acme/x/old.jsonl", at, append([]string{said(at, "me", "the port")}, mark(at, "c", uuid, "gate open")...)...)
	f, err := w.open().Fork(context.Background(), Query{Text: "port"})
	if err != nil || f.ID != "f00" || f.Work.Read != 2 {
		t.Errorf("got %+v, %v; want f00, and 2 files read", f, err)
	}
	f, err = w.open().Fork(context.Background(), Query{Text: "gate"})
	if err != nil || f.ID != "old" || f.Tier != 2 {
		t.Errorf("got %+v, %v; want old, by its checkpoint", f, err)
	}
}

// A conversation that is known and says nothing is not one that nobody knows.
func TestForkSaysWhyThereIsNothing(t *testing.T) {
	w := newWorld(t)
	at := w.ago(hour)
	w.write(".locked/a1b2c3d4-vault.bin", at, "?")
	w.write(".acme/x/empty-talk-1.jsonl", at, rec("who", "ping"))
	w.write(".acme/x/news-talk-1.jsonl", at, rec("who", "stranger"))
	w.write(".crate/old/cut-talk-1.json", at, `{"messages":[`)
	w.write(".acme/x/other.jsonl", at, said(at, "me", "somebody asked for the vault, a1b2"))
	w.database(".crate/a.db", at, chatRow("row-talk-1", at)...)
	for _, tt := range []struct{ text, want, file string }{
		{"locked:a1b2c3d4-vault", "the store is encrypted", "a1b2c3d4-vault.bin"},
		{"A1B2C3D4-VAULT", "the store is encrypted", "a1b2c3d4-vault.bin"},
		{"a1b2c3d4", "the store is encrypted", "a1b2c3d4-vault.bin"}, // a part that may be nothing else
		{"acme:empty-talk-1", "", "empty-talk-1.jsonl"},
		{"news-talk-1", "no message in 1 records: no rule knows stranger", "news-talk-1.jsonl"},
		{"crate:cut-talk-1", "not one whole JSON document: unexpected end of JSON input, at byte 14", "cut-talk-1.json"},
		{"row-talk-1", "", "a.db"},
		{"vaulted", "-", ""},
	} {
		_, forked := w.open().Fork(context.Background(), Query{Text: tt.text})
		loaded := w.open().Load(context.Background(), tt.text, "", func(*chat.Conversation) error { return nil })
		for how, err := range map[string]error{"fork": forked, "load": loaded} {
			silent := new(UnreadableError)
			switch {
			case tt.want == "-":
				if miss := new(NotFoundError); !errors.As(err, &miss) {
					t.Errorf("%s %s: got %v, want a NotFoundError", how, tt.text, err)
				}
			case !errors.As(err, &silent) || silent.Reason != tt.want || filepath.Base(silent.File) != tt.file || silent.What != tt.text:
				t.Errorf("%s %s: got %v, want %q of %s", how, tt.text, err, tt.want, tt.file)
			}
		}
	}
	// What somebody said counts for more than a name that nobody can read.
	f, err := w.open().Fork(context.Background(), Query{Text: "a1b2"})
	if err != nil || f.FullID() != "acme:other" {
		t.Errorf("got %+v, %v; want acme:other", f, err)
	}
}
