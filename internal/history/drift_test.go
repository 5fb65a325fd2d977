package history

import (
	"context"
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
