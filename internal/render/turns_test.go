package render

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"gopkg.in/yaml.v3"

	"parlance/internal/chat"
)

// builtinTools is the table that the program has.
func builtinTools(t testing.TB) *Tools {
	t.Helper()
	data, err := os.ReadFile("../../mappings/common/tools.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var table ToolTable
	d := yaml.NewDecoder(bytes.NewReader(data))
	d.KnownFields(true)
	if err := d.Decode(&table); err != nil {
		t.Fatal(err)
	}
	tools, err := NewTools(table)
	if err != nil {
		t.Fatal(err)
	}
	return tools
}

type turnsDoc struct {
	Supported bool
	Turns     []turn
	Earlier   int
	Note      string
	Stamp     string
	Redacted  map[string]int
	Unchanged bool
}

func turnsOf(t testing.TB, o TurnsOptions, messages ...chat.Message) turnsDoc {
	t.Helper()
	if o.Tools == nil {
		o.Tools = builtinTools(t)
	}
	var b strings.Builder
	if err := Turns(&b, of(messages...), o); err != nil {
		t.Fatal(err)
	}
	return decodeTurns(t, b.String())
}

func decodeTurns(t testing.TB, text string) turnsDoc {
	t.Helper()
	var doc turnsDoc
	d := json.NewDecoder(strings.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(&doc); err != nil {
		t.Fatalf("%v in\n%s", err, text)
	}
	if !strings.HasSuffix(text, "}\n") || strings.Count(text, "\n") != 1 {
		t.Fatalf("not one line:\n%s", text)
	}
	return doc
}

func reply(m chat.Message, id string) chat.Message {
	m.Reply = id
	return m
}

func thought(text string) chat.Message { return chat.Message{Role: chat.Reasoning, Text: text} }
func notice(text string) chat.Message  { return chat.Message{Role: chat.System, Text: text} }
func failed(m chat.Message) chat.Message {
	m.Failed = true
	return m
}
func running(m chat.Message) chat.Message {
	m.Running = true
	return m
}
func at(m chat.Message, line int) chat.Message {
	m.Origin = chat.Origin{Line: line}
	return m
}

// sketch is a document in short: a line a turn, its number, role, kind, text, and each call as
// its detail and "=" result, "!" if failed, "…" if it is running.
func sketch(doc turnsDoc) string {
	var lines []string
	for _, t := range doc.Turns {
		who := t.Role
		if t.Kind != "message" {
			who += "/" + t.Kind
		}
		line := fmt.Sprintf("%d %s %q", t.Seq, who, t.Text)
		for _, c := range t.Tools {
			line += " [" + c.Detail
			switch {
			case c.Result == nil:
				line += " …"
			case c.Failed:
				line += " !" + *c.Result
			default:
				line += " =" + *c.Result
			}
			line += "]"
		}
		lines = append(lines, line)
	}
	return strings.Join(lines, "\n")
}

// What a tool says of its call stands in for an input that says nothing.
func TestTurnsTitles(t *testing.T) {
	doc := turnsOf(t, TurnsOptions{Tools: builtinTools(t)},
		chat.Message{Role: chat.ToolCall, Tool: "todoread", Call: "c1", Input: `{}`, Title: " 3 todos \n\nleft"},
		chat.Message{Role: chat.ToolResult, Call: "c1", Text: "..."},
		chat.Message{Role: chat.ToolCall, Tool: "read", Call: "c2", Input: `{"filePath":"a.go"}`, Title: "the file a.go"},
		chat.Message{Role: chat.ToolResult, Call: "c2", Text: "package a"},
		chat.Message{Role: chat.ToolCall, Tool: "todoread", Call: "c3", Input: `{}`},
		chat.Message{Role: chat.ToolResult, Call: "c3", Text: "...", Title: strings.Repeat("x", 200)},
		chat.Message{Role: chat.ToolCall, Tool: "wait", Call: "c4", Title: "Waiting", Running: true},
	)
	want := `0 assistant "" [3 todos ↵ left =...]
1 assistant "" [a.go =package a]
2 assistant "" [` + strings.Repeat("x", 120) + `… =...]
3 assistant "" [Waiting …]`
	if got := sketch(doc); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// The shape, to the letter: names, order, and what is left out.
func TestTurnsShape(t *testing.T) {
	when := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	c := of(
		chat.Message{Role: chat.User, Text: " Which <port>? ", Time: when},
		chat.Message{Role: chat.ToolCall, Tool: "mcp__linear__list_issues", Call: "c1", Input: `{"query":"x"}`, Running: true, Reply: "r"},
		chat.Message{Role: chat.ToolCall, Tool: "Edit", Call: "c2", Input: `{"file_path":"/a"}`, Reply: "r", Child: "8a", Time: when},
		chat.Message{Role: chat.ToolResult, Call: "c2", Failed: true, Diff: "@@ -1 +1 @@\n-a\n+b", Reply: "r"},
		chat.Message{Role: chat.ToolCall, Tool: "Bash", Call: "c3", Input: `{"command":"a\nb"}`, Reply: "r"},
		chat.Message{Role: chat.ToolResult, Call: "c3", Text: "ok"},
	)
	var b strings.Builder
	if err := Turns(&b, c, TurnsOptions{Tools: builtinTools(t), Stamp: "12-34"}); err != nil {
		t.Fatal(err)
	}
	const want = `{"supported":true,"turns":[` +
		`{"seq":0,"role":"user","kind":"message","ts":"2026-01-02T03:04:05.000Z","text":"Which <port>?"},` +
		`{"seq":1,"role":"assistant","kind":"message","ts":"2026-01-02T03:04:05.000Z","text":"","tools":[` +
		`{"name":"linear: list issues","detail":"x"},` +
		`{"name":"Edit","detail":"/a","result":"","failed":true,"added":1,"removed":1,"diff":["-a","+b"],"child":"acme:8a"},` +
		`{"name":"Bash","detail":"a ↵ b","full":"a\nb","result":"ok"}]}],"earlier":0,"stamp":"12-34"}` + "\n"
	if b.String() != want {
		t.Errorf("got\n%s\nwant\n%s", b.String(), want)
	}
	b.Reset()
	if err := Turns(&b, of(), TurnsOptions{}); err != nil || b.String() != `{"supported":true,"turns":[],"earlier":0}`+"\n" {
		t.Errorf("empty: got %q, %v", b.String(), err)
	}
	if got := string(TurnsUnchanged("12-34")); got != `{"supported":true,"turns":[],"earlier":0,"stamp":"12-34","unchanged":true}`+"\n" {
		t.Errorf("unchanged: got %s", got)
	}
	if got := string(TurnsUnreadable("encrypted")); got != `{"supported":false,"turns":[],"earlier":0,"note":"encrypted"}`+"\n" {
		t.Errorf("unreadable: got %s", got)
	}
	if err := Turns(&brokenPipe{60}, c, TurnsOptions{}); err == nil {
		t.Error("no error came back from writing")
	}
}

func TestTurnsRolesAndMerging(t *testing.T) {
	abandoned := user("given up")
	abandoned.Abandoned = true
	gone := toolCall("g")
	gone.Abandoned = true
	inherited := user("copied")
	inherited.Inherited = true
	image := user("[image]")
	image.ID = "other"
	for _, row := range []struct {
		name string
		in   []chat.Message
		want string
	}{
		{"an exchange", []chat.Message{user("fix it"), assistant("on it")}, `0 user "fix it"` + "\n" + `1 assistant "on it"`},
		{"roles and kinds", []chat.Message{notice("be brief"), thought("hm"), {Role: chat.Compaction, Text: "so far"}, user("a"), assistant("b")},
			`0 system "be brief"
1 assistant/reasoning "hm"
2 system/compaction "so far"
3 user "a"
4 assistant "b"`},
		{"a compaction without a summary says so", []chat.Message{{Role: chat.Compaction, Tool: "clear"}}, `0 system/compaction "` + compacted + `"`},
		{"what was given up is left out, with its calls and results", []chat.Message{abandoned, gone, toolResult("g", "x"), assistant("b")}, `0 assistant "b"`},
		{"what was copied is kept", []chat.Message{inherited}, `0 user "copied"`},
		{"blank texts make no turn and take no number", []chat.Message{user(" \n"), assistant("\t"), thought(""), notice(" "), user("a")}, `0 user "a"`},

		{"a run without ids is one answer", []chat.Message{assistant("first"), toolCall("1"), assistant("second")},
			`0 assistant "first\n\nsecond" [ls 1 =]`},
		{"a result ends the run", []chat.Message{assistant("first"), toolCall("1"), toolResult("1", "x"), assistant("second")},
			`0 assistant "first" [ls 1 =x]` + "\n" + `1 assistant "second"`},
		{"so does the result of an unknown call", []chat.Message{assistant("first"), toolResult("9", "x"), assistant("second")},
			`0 assistant "first"` + "\n" + `1 assistant "second"`},
		{"so does a thought", []chat.Message{assistant("first"), thought("hm"), assistant("second")},
			`0 assistant "first"
1 assistant/reasoning "hm"
2 assistant "second"`},
		{"so does a person", []chat.Message{assistant("first"), user("u"), assistant("second")},
			`0 assistant "first"
1 user "u"
2 assistant "second"`},

		{"pieces of one reply join over thoughts and results", []chat.Message{
			reply(thought("hm"), "r"), reply(assistant("two at once"), "r"), reply(toolCall("1"), "r"), toolResult("1", "x"),
			reply(thought("so"), "r"), reply(toolCall("2"), "r"), toolResult("2", "y"), reply(assistant("done"), "s")},
			`0 assistant/reasoning "hm"
1 assistant "two at once" [ls 1 =x] [ls 2 =y]
2 assistant/reasoning "so"
3 assistant "done"`},
		{"only of the newest reply", []chat.Message{reply(assistant("a"), "r"), reply(assistant("b"), "s"), reply(assistant("c"), "r")},
			`0 assistant "a"
1 assistant "b"
2 assistant "c"`},
		{"a piece without an id joins the open run", []chat.Message{reply(assistant("a"), "r"), assistant("b"), reply(assistant("c"), "r")},
			`0 assistant "a\n\nb\n\nc"`},
		{"two replies in a row are two turns", []chat.Message{reply(assistant("a"), "r"), reply(assistant("b"), "s")},
			`0 assistant "a"` + "\n" + `1 assistant "b"`},

		{"one record of a person is one turn", []chat.Message{at(user("look"), 3), at(user("at this"), 3), at(user("next"), 4)},
			`0 user "look\n\nat this"` + "\n" + `1 user "next"`},
		{"pieces with ids of their own are not one record", []chat.Message{at(user("look"), 3), at(image, 3)},
			`0 user "look"` + "\n" + `1 user "[image]"`},
		{"nor pieces of unknown origin", []chat.Message{user("a"), user("b")}, `0 user "a"` + "\n" + `1 user "b"`},
		{"nor pieces of two roles", []chat.Message{at(user("a"), 3), at(notice("n"), 3), at(user("b"), 3)},
			`0 user "a"
1 system "n"
2 user "b"`},
		{"nor pieces around a result", []chat.Message{toolCall("1"), at(user("a"), 3), at(toolResult("1", "x"), 3), at(user("b"), 3)},
			`0 assistant "" [ls 1 =x]
1 user "a"
2 user "b"`},
	} {
		if got := sketch(turnsOf(t, TurnsOptions{}, row.in...)); got != row.want {
			t.Errorf("%s: got\n%s\nwant\n%s", row.name, got, row.want)
		}
	}
}

func TestTurnsResults(t *testing.T) {
	bare := func(m chat.Message, tool string) chat.Message {
		m.Call, m.Tool = "", tool
		return m
	}
	withDiff := func(id, d string, line int) chat.Message {
		m := at(toolResult(id, "ok"), line)
		m.Diff = d
		return m
	}
	for _, row := range []struct {
		name string
		in   []chat.Message
		want string
	}{
		{"absent: still running", []chat.Message{running(toolCall("1"))}, `0 assistant "" [ls 1 …]`},
		{"empty: finished, nothing kept", []chat.Message{toolCall("1"), toolResult("1", "")}, `0 assistant "" [ls 1 =]`},
		{"a tool that records none is never running", []chat.Message{toolCall("1")}, `0 assistant "" [ls 1 =]`},
		{"failed", []chat.Message{toolCall("1"), failed(toolResult("1", "no"))}, `0 assistant "" [ls 1 !no]`},
		{"the second for one call is ignored", []chat.Message{toolCall("1"), failed(toolResult("1", "no")), toolResult("1", "yes")}, `0 assistant "" [ls 1 !no]`},
		{"joined by id, however late", []chat.Message{toolCall("1"), running(toolCall("2")), user("well?"), assistant("wait"), toolResult("1", "x")},
			`0 assistant "" [ls 1 =x] [ls 2 …]
1 user "well?"
2 assistant "wait"`},
		{"without ids in order, by tool", []chat.Message{bare(toolCall("1"), "a"), bare(toolCall("2"), "b"), bare(toolResult("", "of b"), "b"), bare(toolResult("", "of a"), "a")},
			`0 assistant "" [ls 1 =of a] [ls 2 =of b]`},
		{"a result without its call is nowhere", []chat.Message{user("a"), toolResult("9", "x")}, `0 user "a"`},
		{"a call that is repeated before its result is one", []chat.Message{toolCall("1"), toolCall("1"), toolResult("1", "x")}, `0 assistant "" [ls 1 =x]`},
		{"an id that is used again is another call", []chat.Message{toolCall("1"), toolResult("1", "x"), toolCall("1"), toolResult("1", "y")},
			`0 assistant "" [ls 1 =x]` + "\n" + `1 assistant "" [ls 1 =y]`},
		{"trimmed", []chat.Message{toolCall("1"), toolResult("1", "\n x \n")}, `0 assistant "" [ls 1 =x]`},
	} {
		if got := sketch(turnsOf(t, TurnsOptions{}, row.in...)); got != row.want {
			t.Errorf("%s: got\n%s\nwant\n%s", row.name, got, row.want)
		}
	}

	// The change of a record is that of its first result.
	doc := turnsOf(t, TurnsOptions{}, toolCall("1"), toolCall("2"), withDiff("1", "-a\n+b", 5), withDiff("2", "-a\n+b", 5))
	tools := doc.Turns[0].Tools
	if tools[0].Added != 1 || tools[1].Added != 0 || tools[1].Diff != nil {
		t.Errorf("two results of a record: got %+v", tools)
	}
	doc = turnsOf(t, TurnsOptions{}, toolCall("1"), toolCall("2"), withDiff("1", "-a\n+b", 5), withDiff("2", "-a\n+b", 6))
	if tools := doc.Turns[0].Tools; tools[1].Added != 1 {
		t.Errorf("results of two records: got %+v", tools)
	}

	// A child is named by the call or by its result.
	child := toolResult("1", "")
	child.Child = "8a"
	if doc := turnsOf(t, TurnsOptions{}, toolCall("1"), child); doc.Turns[0].Tools[0].Child != "acme:8a" {
		t.Errorf("child: got %+v", doc.Turns[0].Tools)
	}
}

func TestTurnsCaps(t *testing.T) {
	// Characters are counted, not bytes.
	long := func(n int) string { return strings.Repeat("é", n) }
	for _, row := range []struct {
		name    string
		pieces  []string
		runes   int
		clipped bool
	}{
		{"6000 fit", []string{long(6000)}, 6000, false},
		{"6001 are cut", []string{long(6001)}, 6000, true},
		{"space around them does not count", []string{" " + long(6000) + "\n"}, 6000, false},
		{"a blank line between pieces counts", []string{long(5997), "a"}, 6000, false},
		{"one more is cut", []string{long(5997), "ab"}, 6000, true},
		{"once clipped nothing is added", []string{long(6001), "a"}, 6000, true},
		{"a full turn that gets more is clipped", []string{long(6000), "a"}, 6000, true},
	} {
		var in []chat.Message
		for _, p := range row.pieces {
			in = append(in, assistant(p))
		}
		doc := turnsOf(t, TurnsOptions{}, in...)
		if got := doc.Turns[0]; utf8.RuneCountInString(got.Text) != row.runes || got.Clipped != row.clipped || len(doc.Turns) != 1 {
			t.Errorf("%s: got %d runes, clipped %v, %d turns", row.name, utf8.RuneCountInString(got.Text), got.Clipped, len(doc.Turns))
		}
		doc = turnsOf(t, TurnsOptions{Uncut: true}, in...)
		want := 0
		for _, p := range row.pieces {
			want += utf8.RuneCountInString(strings.TrimSpace(p))
		}
		want += 2 * (len(row.pieces) - 1)
		if got := doc.Turns[0]; utf8.RuneCountInString(got.Text) != want || got.Clipped {
			t.Errorf("%s: uncut: got %d runes of %d, clipped %v", row.name, utf8.RuneCountInString(got.Text), want, got.Clipped)
		}
	}

	for _, row := range []struct {
		n    int
		want string
	}{{800, long(800)}, {801, long(800) + "…"}} {
		doc := turnsOf(t, TurnsOptions{}, toolCall("1"), toolResult("1", long(row.n)))
		if got := *doc.Turns[0].Tools[0].Result; got != row.want {
			t.Errorf("a result of %d: got %d runes", row.n, utf8.RuneCountInString(got))
		}
		doc = turnsOf(t, TurnsOptions{Uncut: true}, toolCall("1"), toolResult("1", long(row.n)))
		if got := *doc.Turns[0].Tools[0].Result; got != long(row.n) {
			t.Errorf("a result of %d, uncut: got %d runes", row.n, utf8.RuneCountInString(got))
		}
	}
}

func TestTurnsCallsCap(t *testing.T) {
	calls := func(n, line int, id string) (in []chat.Message) {
		for i := range n {
			in = append(in, reply(at(toolCall(fmt.Sprintf("%s%d", id, i)), line), "r"))
		}
		return in
	}
	sizes := func(doc turnsDoc) (out []int) {
		for _, turn := range doc.Turns {
			out = append(out, len(turn.Tools))
		}
		return out
	}
	for _, row := range []struct {
		name       string
		in         []chat.Message
		want, seqs []int
		uncut      []int
	}{
		{"64 fit", calls(64, 1, "a"), []int{64}, []int{0}, []int{64}},
		{"what a record has beyond is dropped", calls(70, 1, "a"), []int{64}, []int{0}, []int{70}},
		{"a full turn opens a new one", append(calls(64, 1, "a"), calls(2, 2, "b")...), []int{64, 2}, []int{0, 1}, []int{64, 2}},
		{"a record fills a turn and loses the rest", append(calls(60, 1, "a"), calls(10, 2, "b")...), []int{64}, []int{0}, []int{70}},
		{"then the next record opens one", append(append(calls(60, 1, "a"), calls(10, 2, "b")...), calls(3, 3, "c")...), []int{64, 3}, []int{0, 1}, []int{70, 3}},
	} {
		for _, uncut := range []bool{false, true} {
			doc := turnsOf(t, TurnsOptions{Uncut: uncut}, row.in...)
			var seqs []int
			for _, turn := range doc.Turns {
				seqs = append(seqs, turn.Seq)
			}
			want := row.want
			if uncut {
				want = row.uncut
			}
			if got := sizes(doc); !reflect.DeepEqual(got, want) || !reflect.DeepEqual(seqs, row.seqs) {
				t.Errorf("%s (uncut %v): got %v calls in turns %v, want %v in %v", row.name, uncut, got, seqs, want, row.seqs)
			}
		}
	}

	// Results find the calls that are there, and those beyond the cap find nothing.
	in := calls(65, 1, "a")
	in = append(in, toolResult("a63", "last"), toolResult("a64", "beyond"))
	tools := turnsOf(t, TurnsOptions{}, in...).Turns[0].Tools
	if len(tools) != 64 || *tools[63].Result != "last" {
		t.Errorf("got %d calls, the last %+v", len(tools), tools[len(tools)-1])
	}
}

func TestTurnsWindow(t *testing.T) {
	var in []chat.Message
	in = append(in, running(toolCall("early")))
	for i := 1; i < 210; i++ {
		in = append(in, user("message "+strconv.Itoa(i)))
	}
	// Late results: of a call that fell out of the window, and of one that may be in it.
	in = append(in, running(toolCall("late")), toolResult("early", "x"), user("end"), toolResult("late", "y"))

	n := func(i int) *int { return &i }
	for _, row := range []struct {
		name                     string
		o                        TurnsOptions
		first, last, count, gone int
	}{
		{"the newest 200 of 212", TurnsOptions{}, 12, 211, 200, 12},
		{"before: as many that end there", TurnsOptions{Before: n(205)}, 5, 204, 200, 5},
		{"before, near the beginning", TurnsOptions{Before: n(30)}, 0, 29, 30, 0},
		{"before the first", TurnsOptions{Before: n(0)}, 0, 0, 0, 0},
		{"before more than there are", TurnsOptions{Before: n(1000)}, 12, 211, 200, 12},
		{"after: that turn too", TurnsOptions{After: 210}, 210, 211, 2, 12},
		{"after what the window has not", TurnsOptions{After: 3}, 12, 211, 200, 12},
		{"after more than there are", TurnsOptions{After: 1000}, 0, 0, 0, 12},
		{"both", TurnsOptions{Before: n(100), After: 98}, 98, 99, 2, 0},
		{"uncut", TurnsOptions{Uncut: true}, 0, 211, 212, 0},
		{"uncut before", TurnsOptions{Uncut: true, Before: n(208)}, 0, 207, 208, 0},
	} {
		doc := turnsOf(t, row.o, in...)
		if len(doc.Turns) != row.count || doc.Earlier != row.gone {
			t.Errorf("%s: got %d turns, %d earlier; want %d, %d", row.name, len(doc.Turns), doc.Earlier, row.count, row.gone)
			continue
		}
		if row.count > 0 && (doc.Turns[0].Seq != row.first || doc.Turns[row.count-1].Seq != row.last) {
			t.Errorf("%s: got turns %d to %d, want %d to %d", row.name, doc.Turns[0].Seq, doc.Turns[row.count-1].Seq, row.first, row.last)
		}
		for _, turn := range doc.Turns {
			if want := "message " + strconv.Itoa(turn.Seq); turn.Seq > 0 && turn.Seq < 210 && turn.Text != want {
				t.Fatalf("%s: turn %d says %q", row.name, turn.Seq, turn.Text)
			}
			for _, c := range turn.Tools {
				if want := map[int]string{0: "x", 210: "y"}[turn.Seq]; c.Result == nil || *c.Result != want {
					t.Errorf("%s: turn %d: result %v, want %q", row.name, turn.Seq, c.Result, want)
				}
			}
		}
	}

	// A result for a call that was dropped lands nowhere, least of all on another call.
	doc := turnsOf(t, TurnsOptions{}, in...)
	for _, turn := range doc.Turns {
		for _, c := range turn.Tools {
			if c.Result != nil && *c.Result == "x" {
				t.Errorf("turn %d has the result of a dropped call", turn.Seq)
			}
		}
	}
}

// Turns that are counted and not kept number the same as those that are kept.
func TestTurnsNumbersDoNotDependOnTheWindow(t *testing.T) {
	var in []chat.Message
	for i := range 900 {
		id := strconv.Itoa(i)
		in = append(in, reply(thought("t"+id), id), reply(at(assistant("a"+id), i), id), reply(at(running(toolCall(id)), i), strconv.Itoa(i/70)))
		if i%5 == 0 {
			in = append(in, toolResult(id, "r"+id), user("u"+id))
		}
	}
	all := turnsOf(t, TurnsOptions{Uncut: true}, in...)
	bySeq := map[int]turn{}
	for _, turn := range all.Turns {
		bySeq[turn.Seq] = turn
	}
	for before := 0; before < len(all.Turns)+40; before += 37 {
		for _, turn := range turnsOf(t, TurnsOptions{Before: &before}, in...).Turns {
			if !reflect.DeepEqual(turn, bySeq[turn.Seq]) {
				t.Fatalf("before %d: turn %d: got %+v\nwant %+v", before, turn.Seq, turn, bySeq[turn.Seq])
			}
		}
	}
}

// A page that holds the turns up to a number and asks for those from it on is right at any
// moment of a conversation that grows: turns keep their numbers, and what they say grows at its end.
func TestTurnsNumbersHoldWhileItGrows(t *testing.T) {
	var in []chat.Message
	for i := range 60 {
		id := strconv.Itoa(i)
		in = append(in, at(user("u"+id), 3*i), at(user("more "+id), 3*i), reply(thought("t"+id), id), reply(at(assistant("a"+id), 3*i+1), id),
			reply(at(running(toolCall(id)), 3*i+1), id), reply(at(running(toolCall(id+"b")), 3*i+1), id), toolResult(id, "r"+id), notice("n"+id), toolResult(id+"b", "late"))
	}
	before := map[int]turn{}
	newest := 0
	for n := 1; n <= len(in); n++ {
		doc := turnsOf(t, TurnsOptions{Uncut: true}, in[:n]...)
		for seq, old := range before {
			i := slices.IndexFunc(doc.Turns, func(now turn) bool { return now.Seq == seq })
			if i < 0 {
				t.Fatalf("after %d messages turn %d is gone", n, seq)
			}
			now := doc.Turns[i]
			if now.Role != old.Role || now.Kind != old.Kind || !strings.HasPrefix(now.Text, old.Text) || len(now.Tools) < len(old.Tools) {
				t.Fatalf("after %d messages turn %d: %+v was %+v", n, seq, now, old)
			}
			if seq < newest && now.Text != old.Text {
				t.Fatalf("after %d messages turn %d, not the newest, says %q; it said %q", n, seq, now.Text, old.Text)
			}
		}
		for _, now := range doc.Turns {
			before[now.Seq], newest = now, now.Seq
		}
	}
}

// hide is a Redactor of one secret.
func hide(secret string) Redactor {
	return func(text string) (found []Secret) {
		for at := 0; ; {
			i := strings.Index(text[at:], secret)
			if i < 0 {
				return found
			}
			found = append(found, Secret{at + i, at + i + len(secret), "key"})
			at += i + len(secret)
		}
	}
}

func TestTurnsRedacted(t *testing.T) {
	const secret, put = "sk-hidden", "[redacted: key]"
	doc := turnsOf(t, TurnsOptions{Redact: hide(secret)},
		user("use "+secret),
		// Over the cut, what is left of a secret would tell half of it.
		assistant(strings.Repeat("x", turnTextRunes-4)+secret),
		toolCall("0"), toolResult("0", strings.Repeat("x", resultRunes-4)+secret),
		chat.Message{Role: chat.ToolCall, Tool: "Bash", Call: "1", Input: `{"command":"curl\n` + secret + `"}`},
		chat.Message{Role: chat.ToolCall, Tool: "edit", Call: "2", Input: `{"old_string":"` + secret + `","new_string":"b","path":"` + secret + `"}`},
		chat.Message{Role: chat.ToolCall, Tool: "other", Call: "3", Input: `{"keywords":["a","` + secret + `"]}`},
		chat.Message{Role: chat.ToolCall, Tool: "exec", Call: "4", Input: secret, Diff: "-a\n+" + secret},
		chat.Message{Role: chat.ToolCall, Tool: "Bash", Call: "5", Input: `{"command":"` + strings.Repeat("y", 296) + secret + `"}`},
	)
	text, err := json.Marshal(doc)
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(text), secret[:4]) {
		t.Errorf("%q is still in\n%s", secret[:4], text)
	}
	if got := doc.Turns[0].Text; got != "use "+put {
		t.Errorf("got %q", got)
	}
	calls := doc.Turns[2].Tools
	for i, want := range []shownCall{
		{Name: "Bash", Detail: "curl ↵ " + put, Full: "curl\n" + put},
		{Name: "edit", Detail: put, Added: 1, Removed: 1, Diff: []string{"-" + put, "+b"}},
		{Name: "other", Detail: "a, " + put},
		{Name: "exec", Detail: put, Added: 1, Removed: 1, Diff: []string{"-a", "+" + put}},
	} {
		got := calls[i]
		got.Result = nil
		if !reflect.DeepEqual(got, want) {
			t.Errorf("call %d: got %+v, want %+v", i, got, want)
		}
	}
	for _, turn := range doc.Turns {
		if n := utf8.RuneCountInString(turn.Text); n > turnTextRunes {
			t.Errorf("a turn of %d runes", n)
		}
		for _, c := range turn.Tools {
			if c.Result != nil && utf8.RuneCountInString(*c.Result) > resultRunes+1 {
				t.Errorf("a result of %d runes", utf8.RuneCountInString(*c.Result))
			}
		}
	}
}

func FuzzTurns(f *testing.F) {
	f.Add("ucraxysm", "text", `{"command":"a\nb"}`, "@@ -1,2 +1,2 @@\n a\n-b\n+c", 3, 0)
	f.Add("aaccrrkk", "<task-notification><summary>x", `{"plan":[{"step":1,"status":"completed"},7]}`, "--- a\n+++ b\n@@", 0, 1)
	f.Add("cccc", "<user_actions>\n[diff_block_start]", `{"search_query":[{"q":"x"},{"q":3}],"edits":[{"old_string":"a\r\n"}]}`, "*** Update File: \n+", 9, 9)
	f.Add("ccrr", "<system-reminder>\n<\xff>\n", "\x00{", "\\", -1, -2)
	tools := builtinTools(f)
	var names []string
	for _, d := range tools.table.Details {
		names = append(names, d.Names...)
	}
	names = append(names, tools.table.Edits.Names...)
	names = append(names, "", "mcp__", "mcp____", "mcp__a__a_", "mcp__plugin_x_X__b_mcp")
	f.Fuzz(func(t *testing.T, order, text, in, change string, before, after int) {
		var messages []chat.Message
		for i, what := range order {
			m := chat.Message{Text: text, Origin: chat.Origin{Line: i / 3}, Diff: change, Call: strconv.Itoa(i / 2), Running: i%3 == 0}
			switch what {
			case 'u':
				m.Role = chat.User
			case 'a':
				m.Role = chat.Assistant
			case 's':
				m.Role = chat.System
			case 'm':
				m.Role = chat.Compaction
			case 'k':
				m.Role = chat.Reasoning
			case 'r':
				m.Role = chat.ToolResult
			case 'y':
				m.Role, m.Call = chat.ToolResult, ""
			case 'x':
				m.Role, m.Call, m.Tool, m.Input = chat.ToolCall, "", in, text
			default:
				m.Role, m.Tool, m.Input = chat.ToolCall, names[(i+int(what))%len(names)], in
			}
			if i%4 == 0 {
				m.Reply = text
			}
			messages = append(messages, m)
		}
		for _, o := range []TurnsOptions{{}, {Before: &before}, {After: after, Redact: hide("a")}, {Uncut: true}} {
			o.Tools = tools
			var b strings.Builder
			if err := Turns(&b, of(messages...), o); err != nil {
				t.Fatal(err)
			}
			if !json.Valid([]byte(b.String())) || !utf8.ValidString(b.String()) {
				t.Fatalf("not JSON: %q", b.String())
			}
			doc := decodeTurns(t, b.String())
			last := -1
			for _, turn := range doc.Turns {
				if turn.Seq <= last || turn.Seq < o.After || o.Before != nil && turn.Seq >= *o.Before {
					t.Fatalf("turn %d behind %d, window %+v", turn.Seq, last, o)
				}
				last = turn.Seq
				if turn.Text == "" && turn.Tools == nil {
					t.Fatalf("turn %d is empty", turn.Seq)
				}
				if o.Uncut {
					continue
				}
				if utf8.RuneCountInString(turn.Text) > turnTextRunes || len(turn.Tools) > turnCalls {
					t.Fatalf("turn %d: %d runes, %d calls", turn.Seq, utf8.RuneCountInString(turn.Text), len(turn.Tools))
				}
				for _, c := range turn.Tools {
					if c.Result != nil && utf8.RuneCountInString(*c.Result) > resultRunes+1 || len(c.Diff) > diffLines {
						t.Fatalf("call %+v", c)
					}
				}
			}
			if !o.Uncut && len(doc.Turns) > windowTurns {
				t.Fatalf("%d turns", len(doc.Turns))
			}
		}
	})
}

// A conversation of any length costs what its messages cost, not their square.
func BenchmarkTurns(b *testing.B) {
	tools := builtinTools(b)
	for _, n := range []int{1_000, 10_000, 100_000} {
		var in []chat.Message
		for i := range n {
			id := strconv.Itoa(i)
			in = append(in, reply(assistant("text "+id), id), reply(toolCall(id), id), toolResult(id, strings.Repeat("x", 400)))
		}
		c := of(in...)
		b.Run(strconv.Itoa(n), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if err := Turns(new(bytes.Buffer), c, TurnsOptions{Tools: tools}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
