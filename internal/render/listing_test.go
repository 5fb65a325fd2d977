package render

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"parlance/internal/chat"
)

// searched is the row of a conversation in which somebody searched.
func searched(c *chat.Conversation, search string) chat.Row {
	r := chat.NewRow(c)
	needle := chat.Needle(search)
	for _, cp := range r.Checkpoints {
		if strings.Contains(chat.Fold(cp.Slug), needle) {
			r.Matched = append(r.Matched, chat.MatchSlug)
		}
	}
	for _, m := range c.Messages {
		if m.Role != chat.User && m.Role != chat.Assistant {
			continue
		}
		hits, first, last := chat.Matches(m.Text, needle)
		if hits > 0 && r.Hits == 0 {
			r.First = chat.Context(m.Text, first)
		}
		if r.Hits += hits; hits > 0 && r.Hits > 1 {
			r.Last = chat.Context(m.Text, last)
		}
	}
	if r.Hits > 0 {
		r.Matched = append(r.Matched, chat.MatchTranscript)
	}
	return r
}

func notes() *chat.Conversation {
	return &chat.Conversation{
		Provider: "kiro_cli", ID: "bbbb-2", File: "/home/u/.kiro/sessions/cli/bbbb-2.jsonl",
		Updated: time.Date(2026, 5, 28, 21, 26, 59, 0, time.UTC),
		Messages: []chat.Message{user("Summarise port notes"),
			assistant("PORT notes: port 8123 stays. " + strings.Repeat("x", 200))},
	}
}

func TestListing(t *testing.T) {
	both := []chat.Row{searched(notes(), "port"), searched(demo(), "port")}
	bare := chat.Row{Provider: "acme", ID: "7f", Messages: chat.Uncounted, File: "/h/acme.db", Row: "row 7",
		Title: "A title", Updated: time.Date(2026, 1, 2, 4, 4, 0, 0, time.FixedZone("", 3600))}
	hostile := chat.Row{Provider: "acme", ID: "a\n1", Project: "p\x1b[2J", Prompt: "say \u202eaye\u202c\a", File: "/h/\x1b]0;T\ax",
		Title: "t\nu", Checkpoints: []chat.Checkpoint{{UUID: demoUUID, Slug: "s\x1b[31m"}},
		Matched: []string{chat.MatchUUID, chat.MatchTranscript}, Hits: 1, First: "**a\bb**"}
	for _, row := range []struct {
		name string
		rows []chat.Row
		o    ListingOptions
		want string
	}{
		{"reference", both, ListingOptions{Search: "port"}, `2 conversation(s) matching "port":
- 2026-05-28 21:26 UTC | kiro_cli:bbbb-2
  prompt: Summarise port notes
  messages: 2
  file: /home/u/.kiro/sessions/cli/bbbb-2.jsonl
  matched: transcript (3 hits)
  first: Summarise **port** notes
  last: PORT notes: **port** 8123 stays. xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx...
- 2026-05-28 20:26 UTC | kiro_cli:aaaa-1 | demo
  prompt: Which port does the demo use?
  messages: 10
  file: /home/u/.kiro/sessions/cli/aaaa-1.jsonl
  slugs: port found (UUID=11111111-2222-4333-8444-555555555555)
  matched: checkpoint slug, transcript (3 hits)
  first: Which **port** does the demo use?
  last: Change the **port**`},
		{"no search", both[1:], ListingOptions{Search: " ", Current: "acme:1"}, `current chat id = acme:1
1 conversation(s):
- 2026-05-28 20:26 UTC | kiro_cli:aaaa-1 | demo
  prompt: Which port does the demo use?
  messages: 10
  file: /home/u/.kiro/sessions/cli/aaaa-1.jsonl
  slugs: port found (UUID=11111111-2222-4333-8444-555555555555)`},
		{"one hit, in a database, nothing counted", []chat.Row{func() chat.Row {
			r := bare
			r.Matched, r.Hits, r.First = []string{chat.MatchID, chat.MatchTranscript}, 1, "a **7f**"
			return r
		}()}, ListingOptions{Search: "7f", More: true}, `1 conversation(s) matching "7f":
- 2026-01-02 03:04 UTC | acme:7f
  prompt: (empty)
  database: /h/acme.db
  session: row 7
  matched: conversation id, transcript (1 hit)
  first: a **7f**
(only the first 1 are listed; narrow the search or raise the limit to see others)`},
		{"titles", []chat.Row{bare}, ListingOptions{Titles: true}, `1 conversation(s):
- 2026-01-02 03:04 UTC | acme:7f
  title: A title
  prompt: (empty)
  database: /h/acme.db
  session: row 7`},
		{"hostile", []chat.Row{hostile}, ListingOptions{Search: "a\n\x1b[1mb", Titles: true}, `1 conversation(s) matching "a b":
- 0001-01-01 00:00 UTC | acme:a 1 | p
  title: t u
  prompt: say aye
  messages: 0
  file: /h/x
  slugs: s (UUID=11111111-2222-4333-8444-555555555555)
  matched: checkpoint uuid, transcript (1 hit)
  first: **ab**`},
		{"miss", nil, ListingOptions{Search: "Port "}, `No conversations found matching "Port ".`},
		{"nothing at all", nil, ListingOptions{}, "No conversations found."},
		{"miss, current known", nil, ListingOptions{Search: "port", Current: "acme:1"}, "current chat id = acme:1\n0 conversation(s) matching \"port\"."},
		{"nothing but the current", nil, ListingOptions{Current: "acme:1"}, "current chat id = acme:1\n0 conversation(s)."},
	} {
		if got := Listing(row.rows, row.o); got != row.want {
			t.Errorf("%s: got\n%s\nwant\n%s", row.name, got, row.want)
		}
	}
}

func TestMiss(t *testing.T) {
	rows := []chat.Row{{Provider: "acme", ID: "7f", Title: "Heron\x1b[2J\nnests", Prompt: "p"}, {Provider: "acme", ID: "8a", Prompt: "Count the nests"}}
	for _, row := range []struct{ name, got, want string }{
		{"alone", Miss(ForkMiss("heron\n\x1b[1m "), nil, nil), `No conversation found matching "heron  ".`},
		{"a sentence", Miss(Listing(nil, ListingOptions{Search: "what we said of herons"}), nil, nil), `No conversations found matching "what we said of herons".
None holds all of these words; search for one or two distinctive ones.`},
		{"words to fork", Miss(ForkMiss("heron nests"), rows[1:], nil), `No conversation found matching "heron nests".
A fork takes an id, a checkpoint, or words exactly as they were said; a search for one or two words gives ids.
Nearest titles:
- acme:8a | Count the nests`},
		{"nearest", Miss(Listing(nil, ListingOptions{Search: "herons"}), rows, nil), `No conversations found matching "herons".
Nearest titles:
- acme:7f | Heron nests
- acme:8a | Count the nests`},
		{"nothing there", Miss("No conversations found.", nil, []string{"~/.acme/log/*.jsonl", "~/x\ny"}), `No conversations found.
No transcripts in any of these places:
- ~/.acme/log/*.jsonl
- ~/x y`},
		{"nothing in many places", Miss("No conversations found.", nil, append(slices.Repeat([]string{"acme: ~/.acme/*.jsonl"}, 20), "bird: ~/.bird/*")), `No conversations found.
No transcripts of 2 tools in 21 places: acme, bird.
` + "`parlance providers NAME` says where each is looked for; --home reads another home, and exports are looked for below --root."},
	} {
		if row.got != row.want {
			t.Errorf("%s: got\n%s\nwant\n%s", row.name, row.got, row.want)
		}
	}
}

// TestAnswer: what the commands print and what an agent is told is one text.
func TestAnswer(t *testing.T) {
	titled := chat.Row{Provider: "acme", ID: "7f", Title: "Heron nests", Prompt: "Count them", Messages: 2, File: "/h/7f.jsonl"}
	current := chat.Row{Provider: "acme", ID: "me"}
	for _, row := range []struct {
		name string
		r    Results
		want string
	}{
		{"a list has titles", Results{Rows: []chat.Row{titled}, Search: " "}, `1 conversation(s):
- 0001-01-01 00:00 UTC | acme:7f
  title: Heron nests
  prompt: Count them
  messages: 2
  file: /h/7f.jsonl`},
		{"a search says why", Results{Rows: []chat.Row{searched(notes(), "port")}, Search: "port", Current: &current, More: true}, "current chat id = acme:me\n" +
			Listing([]chat.Row{searched(notes(), "port")}, ListingOptions{Search: "port", More: true})},
		{"a title is one short line", Results{Rows: []chat.Row{{Provider: "acme", ID: "7", Title: strings.Repeat("端", 200_000), File: "f"}}}, `1 conversation(s):
- 0001-01-01 00:00 UTC | acme:7
  title: ` + strings.Repeat("端", 128) + `...
  prompt: (empty)
  messages: 0
  file: f`},
		{"a miss helps", Results{Search: "herons", Nearest: []chat.Row{titled}, Current: &current}, `current chat id = acme:me
0 conversation(s) matching "herons".
Nearest titles:
- acme:7f | Heron nests`},
		{"a filter left all out", Results{Search: "herons", Narrowed: []string{"provider", "since"}}, `No conversations found matching "herons".
Left out was what does not fit provider and since; try without.`},
		{"nothing at all", Results{Looked: []string{"acme: ~/.acme/*.jsonl"}}, `No conversations found.
No transcripts in any of these places:
- acme: ~/.acme/*.jsonl`},
	} {
		if got := Answer(row.r, 0); got != row.want {
			t.Errorf("%s: got\n%s\nwant\n%s", row.name, got, row.want)
		}
	}
}

func TestListingKeepsBudget(t *testing.T) {
	var rows []chat.Row
	for i := range 50 {
		r := chat.Row{Provider: "acme", ID: fmt.Sprint(i), Prompt: strings.Repeat("端", 128), First: strings.Repeat("口", 128), Last: strings.Repeat("口", 128)}
		for range 100 {
			r.Checkpoints = append(r.Checkpoints, chat.Checkpoint{UUID: demoUUID, Slug: strings.Repeat("端", 256)})
		}
		rows = append(rows, r)
	}
	for _, tokens := range []int{0, 5000, TokensMin} {
		got := Listing(rows, ListingOptions{Search: "口", Tokens: tokens})
		shown := strings.Count(got, "\n- ")
		if len(got) > budgetBytes(tokens) && shown > 1 {
			t.Errorf("%d tokens: %d bytes", tokens, len(got))
		}
		if !strings.HasPrefix(got, fmt.Sprintf("%d conversation(s)", shown)) || !strings.HasSuffix(got, "to see others)") ||
			!strings.Contains(got, "(+95 more)") {
			t.Errorf("%d tokens: %d rows in\n%s", tokens, shown, fit(got, 6000))
		}
	}
	if got := Listing(rows, ListingOptions{Tokens: -1}); strings.Count(got, "\n- ") != 50 {
		t.Error("no budget: rows are missing")
	}
}
