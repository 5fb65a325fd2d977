package history

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"
)

// What no rule knows is told with the version and the day since when it is there, also where
// nothing else is in a file.
func TestDrift(t *testing.T) {
	w := newWorld(t)
	w.write(".acme/x/a.jsonl", w.ago(90*hour), said(w.ago(90*hour), "me", "hi", "v", "2.1.0"), `{"who":"poll","of":"x"}`)
	w.write(".acme/x/b.jsonl", w.ago(50*hour), said(w.ago(50*hour), "me", "ho", "v", "2.2.0-rc"), `{"who":"poll"}`, `{"who":"poll"}`)
	w.write(".acme/x/c.jsonl", w.ago(10*hour), `{"who":"poll"}`)
	w.write(".acme/x/d.jsonl", w.ago(5*hour), said(w.ago(5*hour), "me", "known"))
	all, err := w.open().Providers(context.Background(), []string{"acme"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	s := all[0]
	span := s.Drift["poll"]
	if s.NoRule["poll"] != 4 || span.Conversations != 3 {
		t.Errorf("got %v, %+v", s.NoRule, span)
	}
	if !span.First.At.Equal(w.ago(90*hour)) || span.First.Version != "2.1.0" || !span.Last.At.Equal(w.ago(10*hour)) || span.Last.Version != "" {
		t.Errorf("got %+v", span)
	}
	r, err := w.open().Report(context.Background(), "acme", nil)
	if err != nil {
		t.Fatal(err)
	}
	if !r.BuiltIn || r.Files != 4 || r.Conversations != 4 || r.Holding.Conversations != 3 || len(r.Kinds) != 1 {
		t.Fatalf("got %+v", r)
	}
	k := r.Kinds[0]
	if got, want := strings.Join(k.Shape.Lines(), "; "), "object 4;   of: word 1;   who: word 4"; got != want || k.Span != r.Holding {
		t.Errorf("got %s, %+v", got, k)
	}
	if _, err := w.open().Report(context.Background(), "nobody", nil); err == nil {
		t.Error("no error for a mapping that is not there")
	}
}

// A field that holds prose and that the mapping has never met is news, once it comes to
// records that were known without it. What is there from the beginning, what holds no prose,
// and what some selector reads, is none.
func TestUnreadFields(t *testing.T) {
	w := newWorld(t)
	for i, age := range []time.Duration{90 * hour, 80 * hour, 70 * hour} {
		w.write(".acme/x/old"+string(rune('a'+i))+".jsonl", w.ago(age), said(w.ago(age), "me", "hi", "v", "2.1.0", "mood", "a mood from the first day"))
	}
	extra := []string{"v", "2.2.0", "mood", "a mood from the first day", "hint", "what the tool thinks of it", "count", "12"}
	w.write(".acme/x/new.jsonl", w.ago(50*hour), said(w.ago(50*hour), "me", "ho", extra...), said(w.ago(50*hour), "me", "ho ho", extra...))
	w.write(".acme/x/newer.jsonl", w.ago(10*hour), said(w.ago(10*hour), "me", "ha", extra...))
	all, err := w.open().Providers(context.Background(), []string{"acme"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if got := all[0].Unread; len(got) != 1 || !got[0].First.At.Equal(w.ago(50*hour)) || got[0].Path != "hint" || got[0].Kind != "me" || got[0].Records != 3 || got[0].Before != 3 ||
		got[0].Conversations != 2 || got[0].First.Version != "2.2.0" || !strings.HasPrefix(got[0].Rule, "messages[") {
		t.Errorf("got %+v", got)
	}
	r, err := w.open().Report(context.Background(), "acme", nil)
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Fields) != 1 || r.Fields[0].Path != "hint" || len(r.Kinds) != 0 {
		t.Errorf("got %+v", r)
	}
}

// A new field's key may be data: of a single record, or one of many in a member.
func TestPublicFields(t *testing.T) {
	field := func(path string, records int) Unread {
		return Unread{Field: Field{Rule: "messages[0]", Path: path}, Records: records, Span: Span{Conversations: 1}, Before: 3}
	}
	rows := map[string]struct {
		list []Unread
		want string
	}{
		"a field":            {[]Unread{field("body.hint", 2)}, "body.hint 2"},
		"a field of one":     {[]Unread{field("hint", 1)}, "hint 1"},
		"of one record":      {[]Unread{field("body.alice", 1)}, "body.* 1"},
		"one of many":        {[]Unread{field("body.alice", 4), field("body.bob", 2), field("body.carol", 3)}, "body.* 9"},
		"many of the record": {[]Unread{field("hint", 4), field("mood", 2), field("plan", 3)}, "hint 4, mood 2, plan 3"},
	}
	for name, r := range rows {
		t.Run(name, func(t *testing.T) {
			var got []string
			for _, u := range publicFields(r.list) {
				got = append(got, fmt.Sprintf("%s %d", u.Path, u.Records))
			}
			if got := strings.Join(got, ", "); got != r.want {
				t.Errorf("got %s, want %s", got, r.want)
			}
		})
	}
}

// What must not be handed out is not even there as structure.
func TestReportLeavesOutWhatIsExcluded(t *testing.T) {
	w := newWorld(t)
	w.write(".acme/x/a.jsonl", w.ago(hour), said(w.ago(hour), "me", "hi", "dir", "/srv/secret"), `{"who":"poll","secret":1}`)
	w.write(".acme/x/b.jsonl", w.ago(hour), said(w.ago(hour), "me", "hi", "dir", "/srv/open"), `{"who":"other"}`)
	w.cfg.Exclude.Paths = []string{"/srv/secret"}
	r, err := w.open().Report(context.Background(), "acme", nil)
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Kinds) != 1 || strings.Contains(strings.Join(r.Kinds[0].Shape.Lines(), " "), "secret") {
		t.Errorf("got %+v", r)
	}
}

// Of a version only its number is told.
func TestVersionNumber(t *testing.T) {
	for version, want := range map[string]string{"2.1.80": "2.1.80", "v1.0.2-rc.1": "v1.0.2", "1.2 of mara": "1.2", "mara 1.2": "", "20260102": "", "": ""} {
		if got := versionNumber.FindString(version); got != want {
			t.Errorf("%s: got %s, want %s", version, got, want)
		}
	}
}

func TestSpan(t *testing.T) {
	at := func(day int) Sight { return Sight{At: time.Date(2026, 1, day, 0, 0, 0, 0, time.UTC)} }
	a, b := Span{2, at(3), at(4)}, Span{1, at(1), at(2)}
	if got, want := a.Join(b), (Span{3, at(1), at(4)}); got != want || b.Join(a) != want || a.Join(Span{}) != a || (Span{}).Join(a) != a {
		t.Errorf("got %+v", got)
	}
}
