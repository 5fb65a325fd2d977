package render

import (
	"fmt"
	"slices"
	"strings"

	"parlance/internal/chat"
)

// slugsBytes caps the line of checkpoints of one conversation in a listing. Two dozen long
// names fit; what is left out is counted.
const slugsBytes = 4096

// ListingOptions say how a listing came about.
type ListingOptions struct {
	Search  string // as given; "" = none
	Current string // full id of the conversation that asks, "" if it is not known
	Titles  bool   // show titles too
	More    bool   // a limit left out further conversations
	Tokens  int    // budget as in ForkOptions; negative = none
}

// Results are the answer to a list or a search, with what helps if it is empty.
type Results struct {
	Search  string // as given; blank = it was a list
	Rows    []chat.Row
	Current *chat.Row // the conversation that asks, if it is known
	More    bool      // a limit left out further conversations
	Nearest []chat.Row
	Looked  []string

	Narrowed []string // names of the filters that left conversations out
}

// Answer is what a list or a search says, to a person and to an agent alike, without a newline
// at its end. A list shows titles; a search shows what matched instead. tokens is a budget as
// in ListingOptions.
func Answer(r Results, tokens int) string {
	o := ListingOptions{Search: r.Search, Titles: chat.Blank(r.Search), More: r.More, Tokens: tokens}
	if r.Current != nil {
		o.Current = r.Current.FullID()
	}
	text := Listing(r.Rows, o)
	if len(r.Rows) == 0 {
		if len(r.Narrowed) > 0 && len(r.Looked) == 0 {
			text += "\nLeft out was what does not fit " + strings.Join(r.Narrowed, " and ") + "; try without."
		}
		text = Miss(text, r.Nearest, r.Looked)
	}
	return text
}

// Listing is the list of rows as text for an agent or a terminal, without a newline at its
// end. What matched is shown only with a search.
func Listing(rows []chat.Row, o ListingOptions) string {
	var head, matching string
	if o.Current != "" {
		head = "current chat id = " + line(o.Current) + "\n"
	}
	searched := !chat.Blank(o.Search)
	if searched {
		matching = matches(o.Search)
	}
	switch {
	case len(rows) == 0 && head == "":
		return fmt.Sprintf("No conversations found%s.", matching) + fewer(o.Search)
	case len(rows) == 0:
		return fmt.Sprintf("%s0 conversation(s)%s.", head, matching) + fewer(o.Search)
	}
	left := o.budget() - len(head) - len(matching) - 200 // the lines around the rows
	var b strings.Builder
	shown := 0
	for i := range rows {
		entry := listingEntry(&rows[i], searched, o.Titles)
		if left -= len(entry); left < 0 && shown > 0 {
			break
		}
		b.WriteString(entry)
		shown++
	}
	text := fmt.Sprintf("%s%d conversation(s)%s:%s", head, shown, matching, b.String())
	if o.More || shown < len(rows) {
		text += fmt.Sprintf("\n(only the first %d are listed; narrow the search or raise the limit to see others)", shown)
	}
	return text
}

// matches names a search as it was given, on one line.
func matches(search string) string {
	return fmt.Sprintf(" matching \"%s\"", Clean(breaksToBlanks.Replace(search)))
}

// manyWords is from how many words on a search is a sentence, which nobody said in these words.
const manyWords = 3

// fewer is what helps after a search for a sentence, "" after any other.
func fewer(search string) string {
	if len(strings.Fields(Clean(search))) < manyWords {
		return ""
	}
	return "\nNone holds all of these words; search for one or two distinctive ones."
}

// ForkMiss says that there is nothing to fork, and what a fork can find.
func ForkMiss(search string) string {
	text := "No conversation found" + matches(search) + "."
	if len(strings.Fields(Clean(search))) > 1 {
		text += "\nA fork takes an id, a checkpoint, or words exactly as they were said; a search for one or two words gives ids."
	}
	return text
}

// placesShown is how many places are named one by one.
const placesShown = 20

// Miss is a sentence that says that nothing was found, and what may help: the conversations
// nearest to what was asked for or, if there are none at all, where they were looked for.
func Miss(sentence string, nearest []chat.Row, looked []string) string {
	text := Clean(sentence)
	if len(nearest) > 0 {
		text += "\nNearest titles:"
		for i := range nearest {
			r := &nearest[i]
			title := r.Title
			if chat.Blank(title) {
				title = r.Prompt
			}
			text += "\n- " + line(r.FullID()) + " | " + line(chat.Preview(title))
		}
	}
	switch {
	case len(looked) > placesShown: // hundreds, if nobody asked for one tool
		var tools []string
		for _, place := range looked {
			if tool, _, _ := strings.Cut(place, ": "); !slices.Contains(tools, tool) {
				tools = append(tools, tool)
			}
		}
		text += fmt.Sprintf("\nNo transcripts of %d tools in %d places: %s.\n`parlance providers NAME` says where each is looked for; --home reads another home, and exports are looked for below --root.",
			len(tools), len(looked), line(strings.Join(tools, ", ")))
	case len(looked) > 0:
		text += "\nNo transcripts in any of these places:"
		for _, place := range looked {
			text += "\n- " + line(place)
		}
	}
	return text
}

func (o ListingOptions) budget() int {
	if o.Tokens < 0 {
		return int(^uint(0) >> 1)
	}
	return budgetBytes(o.Tokens)
}

// listingEntry is one row, each line with a newline before it.
func listingEntry(r *chat.Row, searched, titles bool) string {
	var b strings.Builder
	put := func(format string, args ...any) { fmt.Fprintf(&b, "\n  "+format, args...) }
	fmt.Fprintf(&b, "\n- %s | %s", r.Updated.UTC().Format("2006-01-02 15:04 UTC"), line(r.FullID()))
	if r.Project != "" {
		b.WriteString(" | " + line(r.Project))
	}
	if title := line(chat.Preview(r.Title)); titles && title != "" && title != r.Prompt {
		put("title: %s", title)
	}
	if prompt := line(r.Prompt); prompt != "" {
		put("prompt: %s", prompt)
	} else {
		put("prompt: (empty)")
	}
	if r.Messages != chat.Uncounted {
		put("messages: %d", r.Messages)
	}
	if r.Row != "" {
		put("database: %s", line(r.File))
		put("session: %s", line(r.Row))
	} else {
		put("file: %s", line(r.File))
	}
	if len(r.Checkpoints) > 0 {
		put("slugs: %s", slugs(r.Checkpoints, slugsBytes))
	}
	if !searched {
		return b.String()
	}
	reasons := slices.Clone(r.Matched)
	for i, reason := range reasons {
		if reason == chat.MatchTranscript {
			reasons[i] = fmt.Sprintf("%s (%s)", reason, count(r.Hits, "hit"))
		}
	}
	put("matched: %s", strings.Join(reasons, ", "))
	if r.First != "" {
		put("first: %s", line(r.First))
	}
	if r.Last != "" {
		put("last: %s", line(r.Last))
	}
	return b.String()
}

// slugs names checkpoints within a limit of bytes, and counts those it leaves out.
func slugs(checkpoints []chat.Checkpoint, limitBytes int) string {
	var b strings.Builder
	for i, cp := range checkpoints {
		name := fmt.Sprintf("%s (UUID=%s)", line(cp.Slug), cp.UUID)
		if i > 0 {
			name = ", " + name
		}
		if b.Len()+len(name) > limitBytes {
			fmt.Fprintf(&b, " (+%d more)", len(checkpoints)-i)
			break
		}
		b.WriteString(name)
	}
	return b.String()
}
