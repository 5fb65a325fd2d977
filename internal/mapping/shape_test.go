package mapping

import (
	"fmt"
	"strings"
	"testing"
)

func TestShape(t *testing.T) {
	var s Shape
	for _, raw := range []string{
		`{"type":"note","at":"2026-01-02T03:04:05Z","n":1,"body":{"text":"two words","tags":["a","b"]},"ok":true,"gone":null}`,
		`{"type":"note","at":"","n":2.5,"body":"{\"a\":1}","extra":[]}`,
		`[1`,
	} {
		s.Add(raw)
	}
	want := `broken 1, object 2
  at: empty text 1, time 1
  body: json 1, object 1
    tags: array 1
      each: word 2
    text: text 1
  extra: array 1
  gone: null 1
  n: number 2
  ok: bool 1
  type: word 2`
	if got := strings.Join(s.Lines(), "\n"); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// Keys are shown if a programmer chose them, as far as that can be told.
func TestShapeHidesKeysThatAreData(t *testing.T) {
	object := func(keys ...string) string {
		var parts []string
		for _, k := range keys {
			parts = append(parts, fmt.Sprintf("%q:1", k))
		}
		return "{" + strings.Join(parts, ",") + "}"
	}
	many := func(n int) (keys []string) {
		for i := range n {
			keys = append(keys, "k"+string(rune('a'+i/26))+string(rune('a'+i%26)))
		}
		return keys
	}
	rows := map[string]struct {
		values []string
		want   string
	}{
		"words":           {[]string{object("type", "toolCallId", "$set", "_id", "x-y")}, "$set _id toolCallId type x-y"},
		"paths and mails": {[]string{object("/srv/a.go", "a.go", "me@example.org", "C:\\x", "two words", "")}, "*"},
		"ids and dates":   {[]string{object("deadbeefdeadbeef", "a20260102", "123", "7a1e0c52-4b1d-4c7a")}, "*"},
		"random ids":      {[]string{object("call_k3jx9q2", "toolu_aB3dE5", "input_1h_tokens", "sha256")}, "* input_1h_tokens sha256"},
		"long ones":       {[]string{object(strings.Repeat("a", 41))}, "*"},
		"too many":        {[]string{object(many(80)...)}, "*"},
		"a table":         {[]string{object(many(12)...), object("other")}, "*"},
		"a rare one": {[]string{object("type"), object("type"), object("type"), object("type"), object("type"),
			object("type"), object("type"), object("type", "alice")}, "* type"},
	}
	for name, row := range rows {
		var s Shape
		for _, v := range row.values {
			s.Add(v)
		}
		var got []string
		for _, line := range s.Lines()[1:] {
			key, _, _ := strings.Cut(strings.TrimSpace(line), ":")
			got = append(got, key)
		}
		if got := strings.Join(got, " "); got != row.want {
			t.Errorf("%s: got %s, want %s", name, got, row.want)
		}
	}
}

// What is deep, long or hostile is counted, not followed.
// What stands below a member that is a table by its name or by its rows has data for keys.
func TestShapeHidesKeysOfTables(t *testing.T) {
	rows := map[string]struct{ raw, want string }{
		"by its name": {`{"editsByUser":{"alice":1},"files":{"Makefile":{"a":1}},"env":{"HOME":"/"}}`,
			"object 1;   editsByUser: object 1;     *: number 1;   env: object 1;     *: word 1;   files: object 1;     *: object 1;       a: number 1"},
		"by its rows": {`{"notes":{"alice":{"n":1},"bob":{"n":2},"carol":{"n":3}}}`,
			"object 1;   notes: object 1;     *: object 3;       n: number 3"},
		"two are none": {`{"usage":{"in":{"n":1},"out":{"n":2}}}`,
			"object 1;   usage: object 1;     in: object 1;       n: number 1;     out: object 1;       n: number 1"},
	}
	for name, r := range rows {
		t.Run(name, func(t *testing.T) {
			var s Shape
			s.Add(r.raw)
			if got := strings.Join(s.Lines(), "; "); got != r.want {
				t.Errorf("got  %s\nwant %s", got, r.want)
			}
		})
	}
}

func TestPublicPath(t *testing.T) {
	for path, want := range map[string]string{
		"hint":                      "hint",
		"payload.#.hint":            "payload.#.hint",
		"byPath.Makefile.note":      "byPath.*.note",
		`rows.a\.go.note`:           "rows.*.note",
		`rows.ines@mill\.example.x`: "rows.*.x",
		"call_k3jx9q2.note":         "*.note",
	} {
		if got := PublicPath(path); got != want {
			t.Errorf("%s: got %s, want %s", path, got, want)
		}
	}
}

func TestShapeHasLimits(t *testing.T) {
	var s Shape
	s.Add(strings.Repeat(`{"a":`, 100) + "1" + strings.Repeat("}", 100))
	s.Add("[" + strings.Repeat("1,", 5000) + "1]")
	if n := len(s.Lines()); n > shapeLevels+2 {
		t.Errorf("%d lines", n)
	}
	if s.Items.Count != shapeItemsMax {
		t.Errorf("%d items", s.Items.Count)
	}
}
