package history

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"strings"
	"testing"
	"time"

	"parlance/internal/chat"
)

const (
	hour = time.Hour
	uuid = "11111111-2222-4333-8444-555555555555"
)

// mark is the result of a checkpoint call, with the call before it.
func mark(at time.Time, call, id, slug string) []string {
	return []string{
		said(at, "call", `{"slug":"`+slug+`"}`, "tool", "chat_checkpoint", "call", call),
		said(at, "result", "CHAT CHECKPOINT UUID="+id+" SLUG="+slug, "call", call),
	}
}

func TestSearchTellsWhyAndWhere(t *testing.T) {
	w := newWorld(t, "acme")
	at := w.ago(48 * hour)
	lines := []string{
		said(at, "me", "Which port does\nthe demo use?", "dir", "/srv/demo"),
		said(at, "bot", "Let me grep."),
		said(at, "call", `{"command":"grep -rn listen"}`, "tool", "shell", "call", "s"),
		said(at, "result", "src/a.js:3: listen(8123)", "call", "s"),
	}
	lines = append(lines, mark(at, "c", uuid, "port found")...)
	lines = append(lines,
		said(at, "bot", "The demo port is 8123."),
		said(at.Add(hour), "me", "Change the port"),
		said(at.Add(hour), "bot", "Done."))
	file := w.write("/.acme/x/aaaa-1.jsonl", at.Add(hour), lines...)
	w.write("/.acme/x/bbbb-2.jsonl", w.ago(24*hour), said(w.ago(24*hour), "me", "Summarise port notes"))

	l := w.search("PORT")
	if got, want := ids(l), "acme:bbbb-2 acme:aaaa-1"; got != want {
		t.Fatalf("got %s, want %s", got, want)
	}
	want := chat.Row{
		Provider: "acme", ID: "aaaa-1", Prompt: "Which port does the demo use?", Project: "demo", Cwd: "/srv/demo",
		Started: at, Updated: at.Add(hour), Messages: 9, File: file,
		Checkpoints: []chat.Checkpoint{{UUID: uuid, Slug: "port found"}},
		Matched:     []string{chat.MatchSlug, chat.MatchTranscript}, Hits: 3,
		First: "Which **port** does the demo use?", Last: "Change the **port**",
	}
	if got := l.Rows[1]; !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
	if got := l.Rows[0]; got.Last != "" || got.Hits != 1 {
		t.Errorf("one hit has no last context: %+v", got)
	}
	if l := w.search("listen"); len(l.Rows) != 0 {
		t.Errorf("tool text is left out: got %s", ids(l))
	}
	for _, in := range []In{InTools, InAll} {
		l := w.search("listen", func(q *Query) { q.In = in })
		if ids(l) != "acme:aaaa-1" || l.Rows[0].Hits != 2 {
			t.Errorf("in %s: got %s", in, ids(l))
		}
	}
}

// An id given whole ends the search, whatever else contains it, and is found by the path
// of its file without a look at the others.
func TestWholeIDEndsTheSearch(t *testing.T) {
	w := newWorld(t)
	const id = "0a0a0a0a-0000-4000-8000-000000000001"
	for i := range 2000 {
		at := w.ago(time.Duration(i+1) * hour)
		w.write(fmt.Sprintf(".acme/x/f%04d.jsonl", i), at, said(at, "me", "see "+id+" and c77"))
	}
	w.write(".acme/x/"+id+".jsonl", w.ago(9000*hour), said(w.ago(9000*hour), "me", "the oldest"))
	for _, text := range []string{id, strings.ToUpper(id), "acme:" + id, " " + id + "\n"} {
		l := w.search(text)
		if got, want := ids(l), "acme:"+id; got != want {
			t.Errorf("%s: got %s, want %s", text, got, want)
		}
		if l.Work.Scanned != 0 || l.Work.Read != 1 {
			t.Errorf("%s: scanned %d and read %d files, want 0 and 1", text, l.Work.Scanned, l.Work.Read)
		}
	}
	// An id of which the name has the beginning.
	const other = "1b1b1b1b-0000-4000-8000-000000000002"
	w.write(".bolt/2026-1b1b1b1b.jsonl", w.ago(9000*hour), rec("kind", "meta", "session", other), rec("kind", "user", "text", "hi"))
	if l := w.search(other); ids(l) != "bolt:"+other || l.Work.Scanned != 0 {
		t.Errorf("got %s, scanned %d files", ids(l), l.Work.Scanned)
	}
	// An id that stands in a file of another name.
	w.write(".bolt/z.jsonl", w.ago(9001*hour), rec("kind", "meta", "session", "c77"), rec("kind", "user", "text", "hi"))
	if got, want := ids(w.search("c77")), "bolt:c77"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	w.database(".crate/a.db", w.ago(9002*hour), chatRow("ses_88", w.ago(9002*hour), "hello")...)
	if got, want := ids(w.search("crate:ses_88")), "crate:ses_88"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	// A part of an id is no whole one.
	if l := w.search("0a0a0a0a"); len(l.Rows) != 50 || !l.More {
		t.Errorf("a part of an id: got %d rows, more %v", len(l.Rows), l.More)
	}
}

func TestCheckpointUUIDAmongThousands(t *testing.T) {
	w := newWorld(t, "acme")
	for i := range 2000 {
		at := w.ago(time.Duration(i+1) * hour)
		w.write(fmt.Sprintf(".acme/x/f%04d.jsonl", i), at, said(at, "me", fmt.Sprintf("number %d", i)))
	}
	at := w.ago(9000 * hour)
	w.write(".acme/x/made.jsonl", at, append([]string{said(at, "me", "begin")}, mark(at, "c", uuid, "landing")...)...)
	w.write(".acme/x/told.jsonl", w.ago(hour), said(w.ago(hour), "me", "go on from "+uuid))
	w.write(".acme/x/copy.jsonl", w.ago(2*hour),
		said(at, "me", "begin", "copyOf", "made", "copied", "1"),
		said(at, "call", `{}`, "tool", "chat_checkpoint", "call", "c", "copyOf", "made", "copied", "2"),
		said(at, "result", "CHAT CHECKPOINT UUID="+uuid+" SLUG=landing", "call", "c", "copyOf", "made", "copied", "3"),
		said(w.ago(2*hour), "me", "elsewhere"))

	l := w.search(strings.ToUpper(uuid))
	if got, want := ids(l), "acme:made"; got != want {
		t.Fatalf("got %s, want %s", got, want)
	}
	if got := l.Rows[0].Matched; len(got) != 1 || got[0] != chat.MatchUUID {
		t.Errorf("matched: got %q", got)
	}
	if l.Work.Read != 3 {
		t.Errorf("read %d files, want the 3 that hold the UUID", l.Work.Read)
	}
	for _, line := range []string{"CHAT CHECKPOINT UUID=" + uuid + " SLUG=landing", "uuid=" + uuid} {
		if got := ids(w.search(line)); got != "acme:made" {
			t.Errorf("%s: got %q", line, got)
		}
	}
	if err := os.Remove(filepath.Join(w.home, ".acme/x/made.jsonl")); err != nil {
		t.Fatal(err)
	}
	if got, want := ids(w.search(uuid)), "acme:copy"; got != want {
		t.Errorf("with its maker gone: got %s, want %s", got, want)
	}
}

func TestWordsFollowPhrases(t *testing.T) {
	w := newWorld(t, "acme")
	for i, texts := range [][]string{
		{"herons in the reeds", "and a nest"},          // spread
		{"the nest of a heron"},                        // together
		{"count the heron nest"},                       // phrase
		{"a heron alone"},                              // not all
		{"nest", "heron", "heron nests are many"},      // phrase
		{"NEST, then", "HERON", "nothing of interest"}, // spread
	} {
		at := w.ago(time.Duration(i+1) * hour)
		var lines []string
		for _, text := range texts {
			lines = append(lines, said(at, "me", text))
		}
		w.write(fmt.Sprintf(".acme/x/w%d.jsonl", i), at, lines...)
	}
	l := w.search("heron nest")
	if got, want := ids(l), "acme:w2 acme:w4 acme:w1 acme:w0 acme:w5"; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if r := l.Rows[2]; len(r.Matched) != 1 || r.Matched[0] != chat.MatchWords || r.Hits != 0 {
		t.Errorf("words: got %+v", r)
	}
	l = w.search("heron nest", func(q *Query) { q.Limit = 2 })
	if got, want := ids(l), "acme:w2 acme:w4"; got != want || !l.More {
		t.Errorf("limited: got %s (more %v), want %s", got, l.More, want)
	}
}

// Files that only hold the words are not read while the phrase fills the answer.
func TestWordsAreNotReadForNothing(t *testing.T) {
	w := newWorld(t, "acme")
	w.cfg.Workers = 1
	for i := range 40 {
		at := w.ago(time.Duration(i+1) * hour)
		w.write(fmt.Sprintf(".acme/x/w%d.jsonl", i), at, said(at, "me", []string{"nest and heron", "heron nest"}[i%2]))
	}
	if l := w.search("heron nest", func(q *Query) { q.Limit = 5 }); len(l.Rows) != 5 || l.Work.Read > 7 {
		t.Errorf("%d rows, read %d files", len(l.Rows), l.Work.Read)
	}
}

// Of files that hold all words, those that may hold them in one message are read first; of the
// others, whose words are all over them, no more than are shown.
func TestSpreadWordsAreReadLast(t *testing.T) {
	w := newWorld(t, "acme", "crate")
	w.cfg.Workers = 1
	filler := strings.Repeat("heron port ", 10_000)
	var rows []string
	for i := range 40 {
		at := w.ago(time.Duration(i+1) * hour)
		texts := []string{"a heron", "in port"}
		if i == 39 {
			texts = []string{"port", "no heron in that port"}
		}
		lines := []string{said(at, "result", filler, "call", "1")}
		for _, text := range texts {
			lines = append(lines, said(at, "me", text))
		}
		w.write(fmt.Sprintf(".acme/x/w%02d.jsonl", i), at, lines...)
		rows = append(rows, chatRow(fmt.Sprintf("ses_%02d", i), at.Add(-time.Minute), texts...)...)
	}
	w.database(".crate/a.db", w.ago(hour), rows...)
	l := w.search("port heron", func(q *Query) { q.Limit = 5 })
	if got, want := ids(l), "acme:w39 crate:ses_39 acme:w00 crate:ses_00 acme:w01"; got != want {
		t.Fatalf("got  %s\nwant %s", got, want)
	}
	// For both words in one message all are sifted, 40 files and two batches of rows; then,
	// newest first, what is needed until there are six.
	if l.Work.Scanned != 41 || l.Work.Sifted > 45 || l.Work.Read > 6 {
		t.Errorf("work: got %+v", l.Work)
	}
}

// A word that only tools said is no reason to read a long file whole.
func TestToolOutputIsSiftedOut(t *testing.T) {
	w := newWorld(t, "acme")
	at := w.ago(hour)
	filler := strings.Repeat("heron port ", 10_000)
	w.write(".acme/x/tools.jsonl", at, said(at, "me", "look"), said(at, "result", filler, "call", "1"), said(at, "bot", "a port"))
	w.write(".acme/x/talk.jsonl", at, said(at, "me", "look"), said(at, "result", filler, "call", "1"), said(at, "bot", "a heron"), said(at, "bot", "a port"))
	for text, want := range map[string]string{"heron": "acme:talk", "port heron": "acme:talk", "heron port": "acme:talk", "kestrel": ""} {
		l := w.search(text)
		sifted := int64(2 * len(strings.Fields(text))) // for all words in one message, then for each
		if ids(l) != want || l.Work.Read != int64(len(l.Rows)) || want != "" && l.Work.Sifted != sifted {
			t.Errorf("%s: got %s, work %+v", text, ids(l), l.Work)
		}
	}
	if l := w.search("heron", func(q *Query) { q.In = InTools }); ids(l) != "acme:talk acme:tools" {
		t.Errorf("in tools: got %s", ids(l))
	}
}

func TestListStopsEarly(t *testing.T) {
	w := newWorld(t, "acme")
	w.cfg.Workers = 1
	for i := range 500 {
		at := w.ago(time.Duration(i+1) * hour)
		w.write(fmt.Sprintf(".acme/x/f%03d.jsonl", i), at, said(at, "me", "hello"))
	}
	l := w.search("", func(q *Query) { q.Limit = 10 })
	if len(l.Rows) != 10 || !l.More || l.Rows[9].ID != "f009" {
		t.Errorf("got %s, more %v", ids(l), l.More)
	}
	if l.Work.Found != 500 || l.Work.Read != 11 || l.Work.Scanned != 0 {
		t.Errorf("work: got %+v, want 11 of 500 read", l.Work)
	}
	w.cfg.Workers = 4
	if l := w.search("hello", func(q *Query) { q.Limit = 10 }); l.Work.Read > 11+3 || l.Rows[9].ID != "f009" {
		t.Errorf("with 4 workers: got %s, work %+v", ids(l), l.Work)
	}
}

// What was copied or touched keeps its place: the messages' times count.
func TestTouchedFilesKeepTheirOrder(t *testing.T) {
	w := newWorld(t, "acme")
	for i := range 30 {
		at := w.ago(time.Duration(i+1) * hour)
		w.write(fmt.Sprintf(".acme/x/f%02d.jsonl", i), w.now.Add(-time.Duration(30-i)*time.Minute), said(at, "me", "hello"))
	}
	l := w.search("", func(q *Query) { q.Limit = 3 })
	if got, want := ids(l), "acme:f00 acme:f01 acme:f02"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestFilters(t *testing.T) {
	w := newWorld(t)
	w.write(".acme/x/a.jsonl", w.ago(hour), said(w.ago(hour), "me", "heron", "dir", "/srv/app"))
	w.write(".acme/x/b.jsonl", w.ago(50*hour), said(w.ago(50*hour), "me", "heron", "dir", `C:\work\App`))
	w.write(".bolt/c.jsonl", w.ago(100*hour), rec("kind", "meta", "session", "c", "dir", "/srv/other", "at", "2026-05-28T08:00:00Z"),
		rec("kind", "user", "text", "heron", "at", "2026-05-28T08:00:00Z"))
	w.write(".acme/x/agent-d.jsonl", w.ago(2*hour), said(w.ago(2*hour), "me", "heron"))
	tests := []struct {
		name   string
		change func(*Query)
		want   string
	}{
		{"none", func(q *Query) {}, "acme:a acme:b bolt:c"},
		{"provider", func(q *Query) { q.Providers = []string{"bolt"} }, "bolt:c"},
		{"project by name", func(q *Query) { q.Project = "app" }, "acme:a acme:b"},
		{"project by path", func(q *Query) { q.Project = "/srv" }, "acme:a bolt:c"},
		{"since", func(q *Query) { q.Since = "3d" }, "acme:a acme:b"},
		{"until a day, included", func(q *Query) { q.Until = "2026-05-28" }, "bolt:c"},
		{"subagents", func(q *Query) { q.Subagents = true }, "acme:a acme:agent-d acme:b bolt:c"},
		{"limit", func(q *Query) { q.Limit = 1 }, "acme:a"},
		{"no limit", func(q *Query) { q.Limit = -1 }, "acme:a acme:b bolt:c"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			for _, text := range []string{"heron", ""} {
				if got := ids(w.search(text, tt.change)); got != tt.want {
					t.Errorf("search %q: got %s, want %s", text, got, tt.want)
				}
			}
		})
	}
	for _, bad := range []Query{{Filter: Filter{Since: "soon"}}, {Filter: Filter{Providers: []string{"nobody"}}}, {Filter: Filter{In: "sky"}}} {
		if _, err := w.open().Search(context.Background(), bad); err == nil {
			t.Errorf("%+v: no error", bad.Filter)
		}
	}
}

// Whether a long file is of the project is seen at its ends.
func TestProjectFilterReadsLittle(t *testing.T) {
	w := newWorld(t, "acme")
	filler := strings.Repeat("x", 100_000)
	for i, dir := range []string{"/srv/app", "/srv/other", "/srv/app"} {
		at := w.ago(time.Duration(i+1) * hour)
		w.write(fmt.Sprintf(".acme/x/f%d.jsonl", i), at, said(at, "me", "heron", "dir", dir), said(at, "result", filler, "call", "1"), said(at, "bot", "done"))
	}
	for _, text := range []string{"", "heron"} {
		l := w.search(text, func(q *Query) { q.Project = "app" })
		if ids(l) != "acme:f0 acme:f2" || l.Work.Read != 2 {
			t.Errorf("search %q: got %s, work %+v", text, ids(l), l.Work)
		}
	}
}

// A name that a tool gives to every file makes no copies of them.
func TestManyFilesOfOneNameAreNoCopies(t *testing.T) {
	w := newWorld(t, "bolt")
	w.cfg.Workers = 1
	for i := range 100 {
		at := w.ago(time.Duration(i+1) * hour)
		stamp := at.UTC().Format(time.RFC3339)
		w.write(fmt.Sprintf(".bolt/%02d/log.jsonl", i), at, rec("kind", "meta", "session", fmt.Sprintf("s%02d", i)), rec("kind", "user", "text", "hi", "at", stamp))
	}
	l := w.search("", func(q *Query) { q.Limit = 3 })
	if ids(l) != "bolt:s00 bolt:s01 bolt:s02" || l.Work.Read != 4 {
		t.Errorf("got %s, work %+v", ids(l), l.Work)
	}
}

func TestSubagentsAreFoundByNameOnly(t *testing.T) {
	w := newWorld(t, "acme")
	at := w.ago(hour)
	w.write(".acme/x/main.jsonl", at, said(at, "me", "start"), said(at, "me", "inner heron", "sub", "k1"))
	lines := append([]string{said(at, "me", "outer heron")}, mark(at, "c", uuid, "half way")...)
	w.write(".acme/x/agent-7.jsonl", at, lines...)
	for _, text := range []string{"", "heron"} {
		if l := w.search(text); l.Work.Read > 1 {
			t.Errorf("search %q: read %d files, want at most the one that holds more than a subagent", text, l.Work.Read)
		}
	}
	for text, want := range map[string]string{
		"heron": "", "agent": "", "half way": "", uuid[:20]: "",
		"agent-7": "acme:agent-7", uuid: "acme:agent-7", "main/k1": "acme:main/k1", "acme:main/k1": "acme:main/k1", "main": "acme:main",
	} {
		if got := ids(w.search(text)); got != want {
			t.Errorf("%s: got %q, want %q", text, got, want)
		}
	}
}

func TestAbandonedAndInheritedAreNoHits(t *testing.T) {
	w := newWorld(t)
	at := w.ago(hour)
	w.write(".acme/x/a.jsonl", at, said(at, "me", "start"), said(at, "bot", "a heron", "gone", "1"))
	w.write(".acme/x/b.jsonl", at, said(at, "me", "a heron", "copyOf", "p", "copied", "7"), said(at, "me", "a tern"))
	w.write(".bolt/parent.jsonl", w.ago(9*hour), rec("kind", "meta", "session", "p1"), rec("kind", "user", "text", "a heron", "turn", "t1"))
	w.write(".bolt/child.jsonl", w.ago(8*hour), rec("kind", "meta", "session", "p2", "parent", "p1"),
		rec("kind", "user", "text", "a heron", "turn", "t1"), rec("kind", "user", "text", "a tern", "turn", "t2"))
	// The copy of a conversation that is gone is all that is left of it.
	if l := w.search("heron"); ids(l) != "acme:b bolt:p1" || l.Rows[0].Hits != 1 || l.Rows[0].First != "a **heron**" {
		t.Errorf("the parent is gone: got %q, %+v", ids(l), l.Rows)
	}
	w.write(".acme/x/p.jsonl", w.ago(9*hour), said(w.ago(9*hour), "me", "a heron"))
	if got, want := ids(w.search("heron")), "bolt:p1 acme:p"; got != want && got != "acme:p bolt:p1" {
		t.Errorf("got %q, want %q", got, want)
	}
	if got, want := ids(w.search("tern")), "acme:b bolt:p2"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestOwnConversation(t *testing.T) {
	asks := func(w *world, name, text string) {
		w.write(".acme/x/"+name+".jsonl", w.ago(2*time.Second),
			said(w.ago(hour), "me", text), said(w.ago(2*time.Second), "call", `{"search":"heron"}`, "tool", "mcp__x__chat_search", "call", name))
	}
	w := newWorld(t, "acme")
	w.write(".acme/x/old.jsonl", w.ago(2*hour), said(w.ago(2*hour), "me", "heron of yesterday"))
	asks(w, "self", "find the heron")
	for _, text := range []string{"heron", "", "tern", "old"} {
		l := w.search(text)
		if l.Current == nil || l.Current.ID != "self" {
			t.Errorf("search %q: current is %+v, want self", text, l.Current)
		}
		if strings.Contains(ids(l), "self") {
			t.Errorf("search %q: the own conversation is in %s", text, ids(l))
		}
	}
	if l := w.search("heron", func(q *Query) { q.Limit = 1 }); ids(l) != "acme:old" || l.More {
		t.Errorf("limit 1: got %s, more %v", ids(l), l.More)
	}

	// With several that may be asking, none is named and none is found by its text.
	asks(w, "other", "the heron as well")
	l := w.search("heron")
	if l.Current != nil || ids(l) != "acme:old" {
		t.Errorf("several: current %+v, rows %s", l.Current, ids(l))
	}
	if l := w.search("heron as wall"); ids(l) != "" || len(l.Nearest) != 1 || l.Nearest[0].ID != "old" {
		t.Errorf("several, nothing found: rows %s, nearest %+v", ids(l), l.Nearest)
	}
	if l := w.search(""); ids(l) != "acme:other acme:self acme:old" {
		t.Errorf("several, all listed: got %s", ids(l))
	}
	if l := w.search("self"); ids(l) != "acme:self" {
		t.Errorf("several, by id: got %s", ids(l))
	}
	// A host that tells its id ends the doubt.
	l = w.search("heron", func(q *Query) { q.Self = "acme:self" })
	if l.Current == nil || l.Current.ID != "self" || ids(l) != "acme:other acme:old" {
		t.Errorf("told: current %+v, rows %s", l.Current, ids(l))
	}

	// A minute later nobody is asking.
	w.now = w.now.Add(time.Minute)
	if l := w.search("heron"); l.Current != nil || ids(l) != "acme:other acme:self acme:old" {
		t.Errorf("later: current %+v, rows %s", l.Current, ids(l))
	}
}

func TestNothingFound(t *testing.T) {
	w := newWorld(t)
	l := w.search("heron")
	if len(l.Rows) != 0 || len(l.Looked) == 0 || !strings.Contains(strings.Join(l.Looked, "\n"), "bolt: ~/.bolt/**/*.jsonl") {
		t.Errorf("an empty home: got %+v", l)
	}
	titles := []string{"Repair the harbour crane", "Count heron nests", "harbour crane notes", "Water the plants"}
	for i, title := range titles {
		at := w.ago(time.Duration(i+1) * hour)
		w.write(fmt.Sprintf(".acme/x/n%d.jsonl", i), at, said(at, "me", "hello", "title", title))
	}
	l = w.search("harbour cranes")
	var near []string
	for _, r := range l.Nearest {
		near = append(near, r.Title)
	}
	if got, want := strings.Join(near, ", "), "harbour crane notes, Repair the harbour crane"; got != want {
		t.Errorf("nearest: got %s, want %s", got, want)
	}
	if l.Looked != nil {
		t.Errorf("there are transcripts, but looked is %q", l.Looked)
	}
}

func TestWhatCannotBeReadStopsNothing(t *testing.T) {
	w := newWorld(t)
	w.write(".acme/x/good.jsonl", w.ago(hour), said(w.ago(hour), "me", "heron"))
	w.write(".acme/x/news.jsonl", w.ago(2*hour), `{"who":"stranger","say":"heron"}`)
	w.write(".acme/x/torn.jsonl", w.ago(2*hour), said(w.ago(hour), "me", "heron one"), `{"who":"me","say":"hero`)
	w.write(".acme/x/empty.jsonl", w.ago(2*hour))
	w.write(".crate/broken.db", w.ago(3*hour), "heron, and no database")
	w.write(".crate/old/bad.json", w.ago(3*hour), `{"messages":[{"role":"user","text":"heron"`)
	w.write(".locked/a.bin", w.ago(3*hour), "heron")
	for _, text := range []string{"heron", ""} {
		l := w.search(text)
		// Of the document that was cut off its beginning is there, and it is named below.
		if got, want := ids(l), "acme:good acme:torn crate:bad"; got != want {
			t.Errorf("search %q: got %s, want %s", text, got, want)
		}
		var paths []string
		for _, p := range l.Problems {
			paths = append(paths, filepath.Base(p.Path))
			if p.Reason == "" || strings.Contains(p.Reason, "\n") || strings.Contains(p.Reason, p.Path) {
				t.Errorf("%s: reason %q", p.Path, p.Reason)
			}
		}
		if got, want := strings.Join(paths, " "), "news.jsonl broken.db bad.json"; got != want {
			t.Errorf("search %q: problems with %s, want %s", text, got, want)
		}
	}
}

func TestSeveralHomes(t *testing.T) {
	w := newWorld(t)
	w.write("one/.acme/x/a.jsonl", w.ago(hour), said(w.ago(hour), "me", "heron"))
	w.write("two/.acme/x/b.jsonl", w.ago(2*hour), said(w.ago(2*hour), "me", "heron"))
	env := w.cfg.Envs[0]
	w.cfg.Envs = nil
	for _, home := range []string{"one", "two", "one"} {
		env.Home = filepath.Join(w.home, home)
		w.cfg.Envs = append(w.cfg.Envs, env)
	}
	if got := ids(w.search("heron")); got != "acme:a acme:b" {
		t.Errorf("got %s", got)
	}
}

// Files in project folders are looked for where other tools worked.
func TestWorkingDirectoriesOfOthers(t *testing.T) {
	w := newWorld(t, "acme", "crate", "flint")
	var want []string
	for i, tool := range []string{"acme", "crate", "nobody"} {
		dir := filepath.Join(w.home, "work", tool)
		w.write("work/"+tool+"/.flint.jsonl", w.ago(time.Duration(i+1)*hour), rec("say", "heron", "dir", dir))
		switch tool {
		case "acme":
			w.write(".acme/x/a.jsonl", w.ago(9*hour), said(w.ago(9*hour), "me", "hi", "dir", dir))
		case "crate":
			w.database(".crate/a.db", w.ago(9*hour), "INSERT INTO chats VALUES ('ses_1', NULL, "+quoteSQL(dir)+", NULL, 0)")
		default:
			continue
		}
		want = append(want, "flint:"+tool)
	}
	for _, providers := range [][]string{nil, {"flint"}} {
		l := w.search("heron", func(q *Query) { q.Providers = providers })
		if got := ids(l); got != strings.Join(want, " ") {
			t.Errorf("providers %v: got %s, want %s", providers, got, want)
		}
	}
}

func TestExcludedIsNeverFound(t *testing.T) {
	w := newWorld(t)
	at := w.ago(hour)
	w.write(".acme/x/a.jsonl", at, said(at, "me", "heron", "dir", "/srv/open"))
	w.write(".acme/x/b.jsonl", at, said(at, "me", "heron", "dir", "/srv/secret/sub"))
	w.write(".acme/y/c.jsonl", at, said(at, "me", "heron"))
	w.write(".bolt/d.jsonl", at, rec("kind", "meta", "session", "d1"), rec("kind", "user", "text", "heron"))
	w.cfg.Exclude = Exclude{Providers: []string{"bolt"}, Paths: []string{"~/.acme/y", "/srv/secret"}}
	for _, text := range []string{"heron", "", "b", "c", "d1"} {
		want := map[string]string{"heron": "acme:a", "": "acme:a"}[text]
		if got := ids(w.search(text)); got != want && !(want == "" && got == "acme:a") {
			t.Errorf("search %q: got %s, want %s", text, got, want)
		}
	}
	h := w.open()
	for _, what := range []string{"acme:b", "acme:c", "bolt:d1", filepath.Join(w.home, ".acme/y/c.jsonl")} {
		err := h.Load(context.Background(), what, "", func(c *chat.Conversation) error {
			t.Errorf("%s was handed out", c.FullID())
			return nil
		})
		if err == nil {
			t.Errorf("load %s: no error", what)
		}
	}
}

func TestCancelledSearchEnds(t *testing.T) {
	w := newWorld(t, "acme")
	for i := range 200 {
		at := w.ago(time.Duration(i+1) * hour)
		w.write(fmt.Sprintf(".acme/x/f%03d.jsonl", i), at, said(at, "me", "hello"))
	}
	before := runtime.NumGoroutine()
	ctx, cancel := context.WithCancel(context.Background())
	_, err := w.open().Search(ctx, Query{Text: "hello 5", Filter: Filter{Progress: func(done, found int) {
		if done > 0 {
			cancel()
		}
	}}})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want the context's error", err)
	}
	for range 100 {
		if runtime.NumGoroutine() <= before {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Errorf("%d goroutines, %d before", runtime.NumGoroutine(), before)
}

// Of a giant file a list reads the ends, and what it must know of the middle.
func TestListReadsTheEndsOfGiants(t *testing.T) {
	w := newWorld(t, "acme")
	at := w.ago(5 * hour)
	lines := []string{said(at, "me", "the first prompt", "dir", "/srv/app")}
	filler := strings.Repeat("x", 100_000)
	for i := range 100 {
		lines = append(lines, said(at, "result", filler, "call", fmt.Sprint(i)))
		if i == 50 {
			lines = append(lines, said(at, "meta", "", "title", "A title in the middle"))
			lines = append(lines, mark(at, "c", uuid, "half way")...)
		}
	}
	lines = append(lines, said(w.ago(hour), "bot", "the last word"))
	w.write(".acme/x/giant.jsonl", w.ago(hour), lines...)
	l := w.search("")
	want := chat.Row{
		Provider: "acme", ID: "giant", Title: "A title in the middle", Prompt: "the first prompt", Project: "app", Cwd: "/srv/app",
		Started: at, Updated: w.ago(hour), Messages: chat.Uncounted, File: filepath.Join(w.home, ".acme/x/giant.jsonl"),
		Checkpoints: []chat.Checkpoint{{UUID: uuid, Slug: "half way"}},
	}
	if len(l.Rows) != 1 || !reflect.DeepEqual(l.Rows[0], want) {
		t.Errorf("got  %+v\nwant %+v", l.Rows, want)
	}
	if l := w.search("word"); l.Rows[0].Messages != 104 {
		t.Errorf("found by its text it was read whole: got %d messages", l.Rows[0].Messages)
	}
}

func TestRowsAreReadInBatches(t *testing.T) {
	w := newWorld(t, "crate")
	w.cfg.Workers = 1
	var rows []string
	for i := range 100 {
		rows = append(rows, chatRow(fmt.Sprintf("ses_%03d", i), w.ago(time.Duration(i+1)*hour), "a heron")...)
	}
	w.database(".crate/a.db", w.ago(hour), rows...)
	l := w.search("heron", func(q *Query) { q.Limit = 40 })
	if len(l.Rows) != 40 || l.Rows[39].ID != "ses_039" || !l.More {
		t.Fatalf("got %d rows, more %v", len(l.Rows), l.More)
	}
	if l.Work.Heads != 1 || l.Work.Read != 2 {
		t.Errorf("work: got %+v, want two batches", l.Work)
	}
	w.database(".crate/a.db", w.ago(hour), chatRow("ses_old", w.ago(999*hour), "a kestrel")...)
	l = w.search("kestrel")
	if ids(l) != "crate:ses_old" || l.Work.Sifted != 4 || l.Work.Read != 1 {
		t.Errorf("a rare word: got %s, work %+v", ids(l), l.Work)
	}
}

// A database of many conversations is opened, and listed, a few dozen times and no more.
func TestBatchesGrow(t *testing.T) {
	w := newWorld(t, "crate")
	w.cfg.Workers = 2
	var rows []string
	for i := range 600 {
		rows = append(rows, chatRow(fmt.Sprintf("ses_%04d", i), w.ago(time.Duration(i+1)*hour), "a heron")...)
	}
	w.database(".crate/a.db", w.ago(hour), rows...)
	l := w.search("heron", func(q *Query) { q.Limit = -1 })
	if len(l.Rows) != 600 || l.Rows[599].ID != "ses_0599" {
		t.Fatalf("got %d rows", len(l.Rows))
	}
	if l.Work.Read > 10 { // 32, 32, 64, then 75 each
		t.Errorf("work: got %+v", l.Work)
	}
	if l := w.search("heron", func(q *Query) { q.Limit = 20 }); l.Work.Read > 2 {
		t.Errorf("of the first rows: got %+v", l.Work)
	}
}

// A packed file that was cut is read up to the damage by search, id and list alike.
func TestDamagedPackedFileIsSearched(t *testing.T) {
	w := newWorld(t, "acme")
	at := w.ago(hour)
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	for i := range 2000 { // enough that much of it comes out before the cut
		fmt.Fprintln(z, said(at, "me", fmt.Sprintf("heron %d", i*i)))
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	path := w.write(".acme/x/cut-7.jsonl.gz", at)
	if err := os.WriteFile(path, packed.Bytes()[:packed.Len()-100], 0o644); err != nil {
		t.Fatal(err)
	}
	w.touch(path, at)
	for _, text := range []string{"", "heron 81", "cut-7", "acme:cut-7", "ut-7"} {
		l := w.search(text)
		if got := ids(l); got != "acme:cut-7" {
			t.Errorf("search %q: got %q", text, got)
		}
		if len(l.Problems) != 1 || l.Problems[0].Path != path || !strings.Contains(l.Problems[0].Reason, "unpacked byte") {
			t.Errorf("search %q: problems %+v", text, l.Problems)
		}
	}
	if got, err := load(t, w, "ut-7", ""); err != nil || len(got) != 1 {
		t.Errorf("show: got %q, %v", got, err)
	}
	if l := w.search("egret"); len(l.Rows) != 0 || len(l.Problems) != 1 {
		t.Errorf("got %+v", l)
	}
}

// A row goes out as soon as all newer files were looked at, and a reader who has seen enough
// ends the search.
func TestRowsGoOutOnTheWay(t *testing.T) {
	w := newWorld(t, "acme")
	const files = 8
	for i := range files {
		at := w.ago(time.Duration(i+1) * hour)
		w.write(fmt.Sprintf(".acme/x/f%d.jsonl", i), at, said(at, "me", "a heron"), said(at, "bot", "where?"))
	}
	w.cfg.Workers = 1
	for _, text := range []string{"", "heron", "a heron"} {
		var s *searching
		var got []string
		var after []int64
		q := Query{Text: text, Row: func(r *chat.Row) error {
			got = append(got, r.ID)
			after = append(after, s.r.work.read.Load())
			return nil
		}}
		s, err := w.open().begin(context.Background(), q)
		if err != nil {
			t.Fatal(err)
		}
		if err := s.run(context.Background()); err != nil {
			t.Fatal(err)
		}
		if want := "[f0 f1 f2 f3 f4 f5 f6 f7]"; fmt.Sprint(got) != want {
			t.Errorf("%q: got %v", text, got)
		}
		for i, read := range after {
			if read > int64(i)+1 {
				t.Errorf("%q: row %d went out after %d files were read", text, i, read)
			}
		}
	}
	seen := errors.New("seen enough")
	n := 0
	s, err := w.open().begin(context.Background(), Query{Text: "heron", Row: func(*chat.Row) error {
		n++
		return seen
	}})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.run(context.Background()); err != seen || n != 1 || s.r.work.read.Load() != 1 {
		t.Errorf("got %v, %d rows, %d files read", err, n, s.r.work.read.Load())
	}
}
