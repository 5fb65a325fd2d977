package mapping

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/tidwall/gjson"
)

func TestUnquote(t *testing.T) {
	for _, c := range []struct{ name, in, want string }{
		{"plain", `a b`, "a b"},
		{"escapes", `\"\\\/\b\f\n\r\t`, "\"\\/\b\f\n\r\t"},
		{"unicode", `\u00e9\u4e2d`, "é中"},
		{"pair", `\ud83d\ude00`, "😀"},
		{"lone high", `a\ud83db`, "a\uFFFDb"},
		{"lone low", `a\ude00b`, "a\uFFFDb"},
		{"high, then other", `\ud83d\u0041`, "\uFFFDA"},
		{"short hex", `\u12`, `\u12`},
		{"unknown escape", `\q`, `\q`},
		{"bad bytes", "a\xffb", "a\uFFFDb"},
	} {
		if got := unquote(c.in); got != c.want {
			t.Errorf("%s: unquote(%q) = %q, want %q", c.name, c.in, got, c.want)
		}
	}
}

func TestParseRecord(t *testing.T) {
	for _, c := range []struct {
		text string
		ok   bool
	}{
		{`{"a":1}`, true}, {` {"a":[1,{"b":"}"}],"c":null} `, true}, {`{}`, true}, {`[]`, true}, {`"x"`, true}, {`-1.5e+3`, true},
		{`{"a":1`, false}, {`{"a":1}x`, false}, {`{"a"}`, false}, {`{"a":}`, false}, {`{a:1}`, false}, {`[1,]`, false}, {`{"a":1,}`, false},
		{`{"a":"con{"type":"user"}`, false}, {`[1 2]`, false}, {`{"a":[1}`, false}, {`"x`, false}, {`"x\"`, false}, {``, false}, {`tru`, false},
		{strings.Repeat("[", 100_000) + strings.Repeat("]", 100_000), true},
		{strings.Repeat("[", 100_000), false},
	} {
		var a arena
		if _, ok := parseRecord(c.text, &a); ok != c.ok {
			t.Errorf("parseRecord(%.40q) = %v, want %v", c.text, ok, c.ok)
		}
	}
}

func TestGetLastDuplicateWins(t *testing.T) {
	var a arena
	v, _ := parseObject(`{"a":1,"b":{"c":"x"},"\u0061":2,"l":[0,{"k":true}]}`, &a)
	for path, want := range map[string]string{"a": "2", "b.c": "x", "l.1.k": "true", "l.2": "", "b.c.d": ""} {
		if got := v.walk(strings.Split(path, "."), &a).str(); got != want {
			t.Errorf("%s = %q, want %q", path, got, want)
		}
	}
}

func TestClosed(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"nothing", "", ""},
		{"only opened", `{`, "{}"},
		{"a key", `{"a"`, "{}"},
		{"no value", `{"a": `, "{}"},
		{"half a text", `{"a":1,"b":"tw`, `{"a":1}`},
		{"an escape at the end", `{"a":1,"b":"\`, `{"a":1}`},
		{"half a number", `{"a":1,"b":12`, `{"a":1}`},
		{"half a word", `[true, fal`, `[true]`},
		{"a comma", `{"a":[1,2],`, `{"a":[1,2]}`},
		{"deep", `{"a":[{"b":"}]"},{"c":[[3],`, `{"a":[{"b":"}]"},{"c":[[3]]}]}`},
		{"an opened list", `{"a":[{"b":1},[`, `{"a":[{"b":1},[]]}`},
		{"whole", ` {"a":1} `, ` {"a":1}`},
		{"more behind it", `{"a":1}{"b":2}`, `{"a":1}`},
		{"wrong bracket", `{"a":[1}`, `{"a":[1]}`},
	} {
		if got := closed(c.text); got != c.want {
			t.Errorf("%s: closed(%q) = %q, want %q", c.name, c.text, got, c.want)
		}
	}
}

// FuzzClosed: of every beginning of a document a document is left.
func FuzzClosed(f *testing.F) {
	f.Add(`{"a":[1,{"b":"c\"d"}],"e":[],"f":{"g":null}}`, uint16(20))
	f.Add(`[[[1.5e3,true],"x"],{}]`, uint16(9))
	f.Fuzz(func(t *testing.T, text string, n uint16) {
		var a arena
		if v, ok := parseRecord(text, &a); !ok || v.kind() < jsonArray {
			return
		}
		cut := text[:min(int(n), len(text))]
		got := closed(cut)
		if _, ok := parseRecord(got, &a); got != "" && !ok {
			t.Fatalf("closed(%q) = %q", cut, got)
		}
	})
}

// FuzzJSON holds the walker against encoding/json and gjson: whatever they take as one
// value, it takes, with the same members and texts.
func FuzzJSON(f *testing.F) {
	for _, s := range []string{`{"a":"b","c":[1,2,{"d":null}]}`, `{"a":"\ud83d"}`, `[]`, `{"a":{"a":{"a":1}}}`, "{\"\\u0061\":1}", `{"a":1`, "\"\xff\""} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		var a arena
		v, ok := parseRecord(text, &a)
		if json.Valid([]byte(text)) && !ok {
			t.Fatalf("valid JSON was refused: %q", text)
		}
		if !ok {
			return
		}
		if s := v.str(); !utf8.ValidString(s) {
			t.Fatalf("invalid UTF-8: %q", s)
		}
		if !json.Valid([]byte(text)) || !utf8.ValidString(text) {
			return // encoding/json writes U+FFFD for each bad byte, we for each run of them
		}
		if v.kind() == jsonString {
			var want string
			if err := json.Unmarshal([]byte(text), &want); err == nil && v.str() != want {
				t.Fatalf("%q = %q, want %q", text, v.str(), want)
			}
		}
		if v.kind() == jsonObject {
			o, ok := parseObject(text, &a)
			if !ok {
				t.Fatalf("object refused: %q", text)
			}
			var want map[string]json.RawMessage
			if err := json.Unmarshal([]byte(text), &want); err != nil {
				return
			}
			for key, raw := range want {
				got := o.get(key, &a)
				if got == nil && strings.Contains(text, `\u`) {
					continue // keys with lone surrogates are told apart differently
				}
				if got == nil || got.raw != strings.TrimSpace(string(raw)) {
					t.Fatalf("member %q of %q = %v, want %s", key, text, got, raw)
				}
			}
			n := 0
			gjson.Parse(text).ForEach(func(_, _ gjson.Result) bool { n++; return true })
			if n != len(o.members) {
				t.Fatalf("%d members of %q, gjson has %d", len(o.members), text, n)
			}
		}
	})
}

// A damaged document ends where it stops being JSON.
func TestClosedAtDamage(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"NUL bytes behind it", "{\"a\":[1]}\x00\x00", `{"a":[1]}`},
		{"NUL bytes for a key", "{\"a\":[1],\x00\x00\x00:2}", `{"a":[1]}`},
		{"NUL bytes for a value", "[{\"a\":1},\x00\x00,3]", `[{"a":1}]`},
		{"a key where a comma belongs", `{"a":1 "b":2}`, `{"a":1}`},
		{"a comma too many", `[1,,2]`, `[1]`},
		{"no colon", `{"a" 1}`, `{}`},
		{"no JSON", `[section]`, `[]`},
	} {
		if got := closed(c.text); got != c.want {
			t.Errorf("%s: closed(%q) = %q, want %q", c.name, c.text, got, c.want)
		}
	}
}
