package mapping

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"parlance/internal/chat"
	"parlance/mappings"
)

// fixtureFiles hands over every file that a mapping finds in its fixture home.
func fixtureFiles(t *testing.T, fn func(m *Mapping, f File, rel string)) {
	t.Helper()
	set, err := NewSet(mappings.FS, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range set.Names() {
		m := builtin(t, name)
		env := homeEnv(t, filepath.Join(providersDir, name, "home"))
		files, _ := m.Find(context.Background(), env)
		for _, f := range files {
			rel, err := filepath.Rel(env.Home, f.Path)
			if err != nil {
				t.Fatal(err)
			}
			fn(m, f, name+"/"+filepath.ToSlash(rel))
		}
	}
}

// TestExplainAddsUp: every record of a file is used, skipped, without a rule or broken, and
// an explanation tells of the same records and messages as reading does.
func TestExplainAddsUp(t *testing.T) {
	ctx := context.Background()
	n := 0
	fixtureFiles(t, func(m *Mapping, f File, rel string) {
		var want Sums
		messages, conversations := 0, 0
		readErr := m.Read(ctx, f, ReadOptions{}, func(c *chat.Conversation) error {
			conversations++
			messages += len(c.Messages)
			want.Records += c.Read.Records
			want.Used += c.Read.Used
			for _, k := range c.Read.Skipped {
				want.Skipped += k
			}
			want.Broken += len(c.Read.Broken) + c.Read.BrokenMore
			return nil
		})
		for _, all := range []bool{false, true} {
			e, err := m.Explain(ctx, f, ExplainOptions{All: all})
			if (err == nil) != (readErr == nil) {
				t.Errorf("%s: explained with %v, read with %v", rel, err, readErr)
				return
			}
			if err != nil {
				return
			}
			n++
			got := e.Records
			if got.Records != got.Used+got.Skipped+got.NoRule+got.Broken {
				t.Errorf("%s: %d records, not %d used + %d skipped + %d no rule + %d broken", rel, got.Records, got.Used, got.Skipped, got.NoRule, got.Broken)
			}
			if got.Records != want.Records || got.Used != want.Used || got.Skipped != want.Skipped || got.Broken != want.Broken {
				t.Errorf("%s: explained %+v, read %+v", rel, got, want)
			}
			if e.Messages != messages || e.Conversations != conversations {
				t.Errorf("%s: explained %d messages in %d conversations, read %d in %d", rel, e.Messages, e.Conversations, messages, conversations)
			}
			if all && len(e.Told)+e.ToldMore != got.Records-droppedLines(m, e) {
				t.Errorf("%s: %d records told, of %d", rel, len(e.Told), got.Records)
			}
			checkShort(t, rel, e)
		}
	})
	if n < 100 {
		t.Errorf("only %d explanations", n)
	}
}

// droppedLines are lines of a text that belong to no record: they are counted, not told.
func droppedLines(m *Mapping, e *Explanation) int {
	for _, s := range m.Sources {
		if slices.Contains(e.Sources, s.ID) && s.Container == "text" {
			return e.Records.Skipped - len(slices.DeleteFunc(slices.Clone(e.Told), func(r *Record) bool { return r.Outcome != outcomeSkipped }))
		}
	}
	return 0
}

// checkShort: values of a transcript are cut, and on one line.
func checkShort(t testing.TB, rel string, e *Explanation) {
	t.Helper()
	short := func(what, s string) {
		if n := len([]rune(s)); n > quoteValueRunes+2 || strings.ContainsAny(s, "\n\r") {
			t.Errorf("%s: %s has %d characters: %q", rel, what, n, s)
		}
	}
	for _, r := range e.Told {
		short("raw", r.Raw)
		short("type", r.Type)
		for _, s := range r.Steps {
			short("value", s.Value)
			if s.Message != nil {
				short("text", s.Message.Text)
				short("call", s.Message.Call)
			}
		}
	}
	for _, k := range e.Keys {
		short(k.Key, k.Value)
	}
	for _, g := range e.NoRule {
		short("example", g.Example)
		for _, f := range g.Fields {
			for _, v := range f.Values {
				short(f.Path, v.Value)
			}
		}
	}
	for _, w := range e.Warnings {
		short("warning", w)
	}
}

// TestExplainFixtures: what a fixture home holds without a rule is meant to be there, and
// listed in testdata/explain/NAME.txt, a line each. Run with -update and read the diff: every
// line must be one that no mapping is to know, put there to prove that it is counted.
func TestExplainFixtures(t *testing.T) {
	set, err := NewSet(mappings.FS, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range set.Names() {
		t.Run(name, func(t *testing.T) {
			m := builtin(t, name)
			env := homeEnv(t, filepath.Join(providersDir, name, "home"))
			files, _ := m.Find(context.Background(), env)
			var got []string
			for _, f := range files {
				e, err := m.Explain(context.Background(), f, ExplainOptions{})
				if err != nil {
					continue
				}
				rel, err := filepath.Rel(env.Home, f.Path)
				if err != nil {
					t.Fatal(err)
				}
				for _, g := range e.NoRule {
					line := fmt.Sprintf("%s: %d %s", filepath.ToSlash(rel), g.Count, g.Type)
					if g.Rule != "" {
						line += " in " + g.Rule
					}
					got = append(got, line+"\n")
				}
			}
			slices.Sort(got)
			list := filepath.Join("testdata", "explain", name+".txt")
			want, err := os.ReadFile(list)
			if err != nil && !errors.Is(err, os.ErrNotExist) {
				t.Fatal(err)
			}
			text := strings.Join(got, "")
			switch {
			case text == string(want):
			case *update && text == "":
				err = os.Remove(list)
			case *update:
				err = os.WriteFile(list, []byte(text), 0o666)
			default:
				t.Errorf("no rule knows these; mend the mapping, or, if that is meant: go test ./internal/mapping -run Fixtures/%s -update\n%s\n%s says:\n%s", name, text, list, want)
				return
			}
			if err != nil && !errors.Is(err, os.ErrNotExist) {
				t.Fatal(err)
			}
		})
	}
}

// TestExplainEveryLine tells every line of every fixture file.
func TestExplainEveryLine(t *testing.T) {
	ctx := context.Background()
	fixtureFiles(t, func(m *Mapping, f File, rel string) {
		whole, err := m.Explain(ctx, f, ExplainOptions{})
		if err != nil {
			return
		}
		step := 1
		if whole.Container == "sqlite" {
			step = 10 // opening one takes a while, and its records have no lines
		}
		for line := 1; line < 400; line += step {
			e, err := m.Explain(ctx, f, ExplainOptions{Line: line})
			if errors.Is(err, ErrNoLine) {
				if line <= min(whole.Records.Records, 1) {
					t.Errorf("%s: no line %d in %d records", rel, line, whole.Records.Records)
				}
				return
			}
			if err != nil {
				t.Errorf("%s: line %d: %v", rel, line, err)
				return
			}
			if len(e.Told) == 0 || e.Told[0].Outcome == "" {
				t.Errorf("%s: line %d: nothing is told", rel, line)
			}
			if fmt.Sprint(whole.Records) != fmt.Sprint(e.Records) {
				t.Errorf("%s: line %d: %+v, the whole file %+v", rel, line, e.Records, whole.Records)
			}
			checkShort(t, rel, e)
		}
	})
}

// A record's bytes are overwritten by the next ones: what is told of it must not change with
// them. The file is larger than what is read at once.
func TestExplainKeepsWhatItTells(t *testing.T) {
	m := load(t, `
sources: [{id: log, paths: ["~/x"], container: jsonl}]
conversation: {title: {from: named, pick: last}}
common: {id: id}
messages:
  - {when: {who: me}, as: user, text: say}
  - {when: {who: bot}, each: parts, first: [{when: {kind: text}, as: assistant, text: words}]}
`)
	var b strings.Builder
	for i := range 4000 {
		fmt.Fprintf(&b, `{"who":"me","id":"i%06d","say":"s%06d","named":"n%06d","pad":"%s"}`+"\n", i, i, i, strings.Repeat("heron ", 30))
		fmt.Fprintf(&b, `{"who":"bot","id":"b%06d","parts":[{"kind":"k%06d","word":"w%06d words"}]}`+"\n", i, i, i)
	}
	env := homeWith(t, map[string]string{"x": b.String()})
	f, err := m.FileAt(env, filepath.Join(env.Home, "x"))
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range []int{1, 2, 2001, 2002, 7999, 8000} {
		e, err := m.Explain(context.Background(), f, ExplainOptions{Line: line})
		if err != nil || len(e.Told) != 1 {
			t.Fatalf("line %d: %v, %d records", line, err, len(e.Told))
		}
		number := fmt.Sprintf("%06d", (line-1)/2)
		for _, s := range e.Told[0].Steps {
			told := s.Value
			if s.Message != nil {
				told = s.Message.Text + s.Message.ID
			}
			for _, digits := range regexp.MustCompile(`\d{6}`).FindAllString(told, -1) {
				if digits != number {
					t.Errorf("line %d: %s %s tells of %q", line, s.What, s.Selector, told)
				}
			}
		}
		if !strings.Contains(e.Told[0].Raw, number) {
			t.Errorf("line %d: raw is %q", line, e.Told[0].Raw)
		}
	}
	e, err := m.Explain(context.Background(), f, ExplainOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if want := "n003999"; len(e.Keys) != 1 || e.Keys[0].Value != want || e.Keys[0].Line != 7999 {
		t.Errorf("title: got %+v, want %s at line 7999", e.Keys, want)
	}
	// The kinds are all different: the first are kept apart, then they are one group.
	if len(e.NoRule) != groupsMax || e.Records.NoRule != 4000 {
		t.Errorf("%d groups of %d records", len(e.NoRule), e.Records.NoRule)
	}
	n := 0
	for _, g := range e.NoRule {
		n += g.Count
		for _, s := range g.Shape {
			if !strings.HasPrefix(s.Value, "k000") || !strings.Contains(g.Example, s.Value) {
				t.Errorf("%s %s: example %s", s.Key, s.Value, g.Example)
			}
		}
	}
	if n != 4000 {
		t.Errorf("the groups hold %d records", n)
	}
}

// What a mapping may not read beside a file is not explained either.
func TestExplainStaysInItsRoot(t *testing.T) {
	m := load(t, `
sources: [{id: log, paths: ["~/.acme/log/*.jsonl"], container: jsonl, sidecar: {key: "../../.ssh/id.json"}}]
conversation: {title: side:key.secret}
messages: [{when: {who: me}, as: user, text: say}]
`)
	env := homeWith(t, map[string]string{
		".acme/log/a.jsonl": `{"who":"me","say":"hi"}` + "\n",
		".ssh/id.json":      `{"secret":"heron"}`,
	})
	f, err := m.FileAt(env, filepath.Join(env.Home, ".acme/log/a.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	e, err := m.Explain(context.Background(), f, ExplainOptions{All: true})
	if err != nil {
		t.Fatal(err)
	}
	if len(e.Keys) > 0 {
		t.Errorf("read outside of the root: %+v", e.Keys)
	}
}
