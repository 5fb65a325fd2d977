package mapping

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"parlance/mappings"
)

// Each file of testdata/check carries tests; the file beside it is what is said of them.
func TestRunTests(t *testing.T) {
	files, err := filepath.Glob("testdata/check/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	t.Setenv("TMPDIR", t.TempDir())
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".yaml")
		t.Run(name, func(t *testing.T) {
			data, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			m, ps := Load(name+".yaml", data, nil)
			if m == nil {
				t.Fatal(ps)
			}
			var got bytes.Buffer
			for _, p := range m.RunTests(context.Background()) {
				got.WriteString(p.Code)
				if p.Warning {
					got.WriteString(" warning")
				}
				got.WriteString("\n" + p.String() + "\n")
			}
			want := strings.TrimSuffix(file, ".yaml") + ".want"
			if *update {
				if err := os.WriteFile(want, got.Bytes(), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			b, err := os.ReadFile(want)
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(got.Bytes(), b) {
				t.Errorf("got\n%s\nwant\n%s", got.Bytes(), b)
			}
		})
	}
	if left, _ := os.ReadDir(os.Getenv("TMPDIR")); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

func TestCrossCheck(t *testing.T) {
	load := func(name, rest string) *Mapping {
		return mustLoad(t, "parlance: 1\nname: "+name+"\n"+rest)
	}
	const rules = `
messages:
  - {when: {who: me}, as: user, text: say}
  - {when: {who: ping}, as: skip}
`
	const tests = `
tests:
  - name: one
    records: |
      {"who":"me","say":"hi","v":2}
      {"who":"ping"}
    expect: [{user: hi}]
`
	egret := load("egret", "sources: [{id: log, paths: [\"${EGRET:-~/.birds}/*.jsonl\"], container: jsonl}]"+rules+tests)
	same := load("same", "sources: [{id: all, paths: [\"~/.birds/*.jsonl\"], container: jsonl}]"+rules)
	told := load("told", "sources: [{id: log, paths: [\"~/.birds/*.jsonl\"], container: jsonl, when: {v: 1}}]"+rules)
	other := load("other", "sources: [{id: log, paths: [\"~/.other/*.jsonl\"], container: jsonl}]\nmessages: [{when: {who: me}, as: user, text: say}]")
	away := load("away", "sources: [{id: log, paths: [\"~/.nests/*.jsonl\"], container: jsonl}]"+rules) // the same format elsewhere
	inner := load("inner", "sources: [{id: log, paths: [\"~/.birds/{a,b}/*.jsonl\"], container: jsonl}]"+rules)
	document := load("document", "sources: [{id: log, paths: [\"~/.birds/*.jsonl\"], container: json}]"+rules)
	var got []string
	for _, p := range CrossCheck(context.Background(), []*Mapping{egret, same, told, other, away, inner, document}) {
		if p.Code != codeOverlap || !p.Warning {
			t.Errorf("%+v", p)
		}
		got = append(got, p.Key+" "+p.Msg)
	}
	want := []string{
		`sources[0] pattern "${EGRET:-~/.birds}/*.jsonl" is one of same too, and nothing tells the files apart`,
		`sources[0] pattern "${EGRET:-~/.birds}/*.jsonl" is one of told too, and nothing tells the files apart`,
		`sources[0] pattern "~/.birds/*.jsonl" is one of egret too, and nothing tells the files apart`,
		`sources[0] pattern "~/.birds/*.jsonl" is one of told too, and nothing tells the files apart`,
		`tests[0] same reads this sample as its own, by source "all"`,
		`tests[0] inner reads this sample as its own, by source "log"`,
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func TestFitting(t *testing.T) {
	for pattern, want := range map[string]string{
		"a/b.json": "a/b.json", "*.json": "x.json", "**/y": "x/y", "a?c": "axc", "[a-z]x": "ax", "{json,jsonl}": "json", "a.{j*,k}": "a.jx",
	} {
		if got := fitting(pattern); got != want {
			t.Errorf("%s: got %s, want %s", pattern, got, want)
		}
	}
}

// The mappings that come with the program prove themselves.
func TestBuiltinMappingTests(t *testing.T) {
	set, err := NewSet(mappings.FS, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range set.Names() {
		t.Run(name, func(t *testing.T) {
			m, ps := set.Mapping(name)
			if m == nil {
				t.Fatal(ps)
			}
			if len(m.tests) == 0 {
				t.Error("no tests")
			}
			for _, p := range append(ps, m.RunTests(context.Background())...) {
				if !p.Warning {
					t.Errorf("%s\n%s", p.Code, p)
				}
			}
		})
	}
}

// A selector that would find something counts as proved, whatever stands in its braces.
func TestFoundInASample(t *testing.T) {
	for _, tt := range []struct {
		sel, sample string
		want        bool
	}{
		{`#.say`, `[{"say":"a"}]`, true},
		{`#.talk.#(type=="text").body`, `[{"talk":[{"type":"text","body":"a"}]}]`, true},
		{`#.talk.#(type=="text").body`, `[{"talk":[{"type":"image"}]}]`, false},
		{`says.{now}`, `{"now":"x","says":{"y":1}}`, true},
		{`says.{now}`, `{"now":1,"says":["x","y"]}`, true},
		{`says.{now}.text`, `{"now":1,"says":[{"text":"x"}]}`, true},
		{`says.{now}.word`, `{"now":1,"says":[{"text":"x"}]}`, false},
		{`outs.#(of=="{id}").text`, `{"id":"1","outs":[{"of":"2","text":"a"}]}`, true},
		{`outs.#(of=="{id}")#.text`, `{"id":"1","outs":[{"of":"2","text":"a"}]}`, true},
		{`outs.#(of=="{id}").words`, `{"id":"1","outs":[{"of":"2","text":"a"}]}`, false},
	} {
		s, err := parseSelector(tt.sel)
		if err != nil {
			t.Errorf("%s: %v", tt.sel, err)
		} else if got := found(s, tt.sample); got != tt.want {
			t.Errorf("%s in %s: got %v", tt.sel, tt.sample, got)
		}
	}
}
