package mapping

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"github.com/tidwall/gjson"
)

func TestParseSelector(t *testing.T) {
	for _, tt := range []struct {
		src  string
		want selector // src aside
	}{
		{"a", selector{plain: []string{"a"}}},
		{"a.b.0.c", selector{plain: []string{"a", "b", "0", "c"}}},
		{".", selector{whole: true}},
		{"$set.messages", selector{plain: []string{"$set", "messages"}}},
		{`a\.b.c`, selector{plain: []string{"a.b", "c"}}},
		{`\any`, selector{plain: []string{"any"}}},
		{`\@type`, selector{plain: []string{"@type"}}},
		{`ns\:key`, selector{plain: []string{"ns:key"}}},
		{`\\`, selector{plain: []string{`\`}}},
		{"Full Name", selector{plain: []string{"Full Name"}}},
		{"größe", selector{plain: []string{"größe"}}},
		{"record:message.role", selector{scope: scopeRecord, plain: []string{"message", "role"}}},
		{"record:@index", selector{scope: scopeRecord, index: true}},
		{"record:@key", selector{scope: scopeRecord, key: true}},
		{"doc:@index", selector{scope: scopeDoc, index: true}},
		{"record:.", selector{scope: scopeRecord, whole: true}},
		{"doc:", selector{scope: scopeDoc, whole: true}},
		{"up:.", selector{scope: scopeUp, whole: true}},
		{"next:text", selector{scope: scopeNext, plain: []string{"text"}}},
		{"side:root", selector{scope: scopeSide, name: "root", whole: true}},
		{"side:meta.a.b", selector{scope: scopeSide, name: "meta", plain: []string{"a", "b"}}},
		{"side:meta.#.b", selector{scope: scopeSide, name: "meta", gjson: "#.b"}},
		{"conv:cwd", selector{scope: scopeConv, name: "cwd", field: fieldCwd}},
		{"file:stem", selector{scope: scopeFile, name: "stem"}},
		{"entry:key", selector{scope: scopeEntry, name: "key"}},
		{"content.#.text", selector{gjson: "content.#.text"}},
		{"content.#", selector{gjson: "content.#"}},
		{"#.text", selector{gjson: "#.text"}},
		{`content.#(type=="text").text`, selector{gjson: `content.#(type=="text").text`}},
		{`content.#(type=="a)b")#.text`, selector{gjson: `content.#(type=="a)b")#.text`}},
		{`#(=="x")`, selector{gjson: `#(=="x")`}},
		{`#(a.b)`, selector{gjson: `#(a.b)`}},
		{`#(n>=10)#`, selector{gjson: `#(n>=10)#`}},
		{`#(name%"D*").x`, selector{gjson: `#(name%"D*").x`}},
		{`#(name!%"D*")`, selector{gjson: `#(name!%"D*")`}},
		{`a.#(b.#(c==1))#`, selector{gjson: `a.#(b.#(c==1))#`}},
		{`#(a == "x y")`, selector{gjson: `#(a == "x y")`}},
		{"ch*ld.na?e", selector{gjson: "ch*ld.na?e"}},
		{"a.@keys", selector{gjson: "a.@keys"}},
		{"@values.0", selector{gjson: "@values.0"}},
		{"a.@reverse.@flatten", selector{gjson: "a.@reverse.@flatten"}},
		{"a.{b.c}.d", selector{gjson: "a.{b.c}.d", braces: []brace{{from: 2, to: 7, sel: &selector{src: "b.c", plain: []string{"b", "c"}}}}}},
		{`up:a.#(b=="{c.d}").e`, selector{scope: scopeUp, gjson: `a.#(b=="{c.d}").e`, braces: []brace{{from: 8, to: 13, query: true, sel: &selector{src: "c.d", plain: []string{"c", "d"}}}}}},
		{"doc:map.{record:id}", selector{scope: scopeDoc, gjson: "map.{record:id}", braces: []brace{{from: 4, to: 15, sel: &selector{src: "record:id", scope: scopeRecord, plain: []string{"id"}}}}}},
		{"side:idx.{id}", selector{scope: scopeSide, name: "idx", gjson: "{id}", braces: []brace{{from: 0, to: 4, sel: &selector{src: "id", plain: []string{"id"}}}}}},
	} {
		t.Run(tt.src, func(t *testing.T) {
			got, err := parseSelector(tt.src)
			if err != nil {
				t.Fatalf("%s; %s", err.msg, err.hint)
			}
			tt.want.src = tt.src
			if !reflect.DeepEqual(*got, tt.want) {
				t.Errorf("got  %+v\nwant %+v", *got, tt.want)
			}
		})
	}
}

func TestParseSelectorRefuses(t *testing.T) {
	for _, tt := range []struct {
		src  string
		at   int
		part string // of message and hint
	}{
		{"", 0, "empty selector"},
		{" a", 0, "blank"},
		{"a ", 0, "blank"},
		{"a\tb", 1, "control"},
		{"a\xff", 1, "control"},
		{".a", 0, "empty segment"},
		{"a..b", 2, "empty segment"},
		{"a.", 1, "dot at the end"},
		{"..", 0, "empty segment"},
		{"foo:bar", 0, `unknown scope "foo"`},
		{"recrod:bar", 0, `did you mean "record:"`},
		{"a.b:c", 3, `write "\:"`},
		{"a|b", 1, `"|" is not used`},
		{"a.@nosuch", 2, `unknown modifier "@nosuch"`},
		{"@index", 0, "record:@index"},
		{"@key", 0, "record:@key"},
		{"doc:@key", 4, "record:@key"},
		{"a.@fromstr.b", 2, "unknown modifier"},
		{`@flatten:{"deep":true}`, 0, "unknown modifier"},
		{"@type", 0, `write "\@type"`},
		{"a@b", 1, `write "\@"`},
		{"!x", 0, "not used"},
		{"a[0]", 1, `write "\["`},
		{"[a,b]", 0, "segments of their own"},
		{"a.{b", 2, `"{" without "}"`},
		{"a.{b}c", 5, "directly behind the braces"},
		{"a.{}", 3, "empty selector"},
		{"a.{b.{c}}", 5, "not used here"},
		{"a{b}", 1, `write "\{"`},
		{"a}", 1, `write "\}"`},
		{"a#b", 1, `write "\#"`},
		{"#a", 0, `"#" inside of a key`},
		{"#(", 1, `without ")"`},
		{"#()", 1, "empty query"},
		{`a.#(b=="c)`, 3, `without ")"`},
		{`#(b=="c"d)`, 5, "quotes in a query"},
		{`#(b=~"c")`, 3, "unknown operator"},
		{`#(b="c")`, 3, "unknown operator"},
		{`#(b==)`, 5, "without a value"},
		{`#(b==c d)`, 6, "double quotes"},
		{`#(b..c==1)`, 4, "empty segment"},
		{`#[a==1]`, 1, "#(...)"},
		{`#(a==1)b`, 7, "directly behind the query"},
		{`#(a==1)##`, 8, "directly behind the query"},
		{`a\`, 1, "at the end"},
		{`a\1`, 1, "before a digit"},
		{`a\*b*`, 0, "wildcard"},
		{"a\"b", 1, `write "\""`},
		{"side:", 5, "sidecar"},
		{"side:#.a", 5, "plain word"},
		{"file:a.b", 6, "plain word"},
		{"file:", 5, "plain word"},
		{"conv:nosuch", 5, "unknown conversation key"},
		{"conv:titel", 5, `did you mean "title"`},
		{"entry:name", 6, "entry:key"},
		{"record:@keys.@nosuch", 13, "unknown modifier"},
		{strings.Repeat("a", selectorMaxBytes+1), 0, "longer than"},
		{strings.Repeat("#(a.", 9) + "b" + strings.Repeat(")", 9), 32, "queryMaxDepth"},
	} {
		t.Run(tt.src[:min(len(tt.src), 30)], func(t *testing.T) {
			s, err := parseSelector(tt.src)
			if err == nil {
				t.Fatalf("accepted: %+v", s)
			}
			if all := err.msg + "; " + err.hint; !strings.Contains(all, tt.part) {
				t.Errorf("got %q, want %q in it", all, tt.part)
			}
			if err.at != tt.at {
				t.Errorf("at %d, want %d: %s", err.at, tt.at, err.msg)
			}
		})
	}
}

func TestParseTemplate(t *testing.T) {
	for _, tt := range []struct {
		src  string
		glob bool
		want string // parts, values in <>
	}{
		{"{a}/{b.c}", false, "<a>,/,<b.c>"},
		{"x", false, "x"},
		{`\{a\}`, false, "{a}"},
		{"{file:path}#{doc:@index}", false, "<file:path>,#,<doc:@index>"},
		{"../{stem}/*.{json,jsonl}", true, "../,<stem>,/*.{json,jsonl}"},
		{"${HOME}/{dir}", true, "${HOME}/,<dir>"},
	} {
		t.Run(tt.src, func(t *testing.T) {
			got, err := parseTemplate(tt.src, tt.glob)
			if err != nil {
				t.Fatal(err.msg)
			}
			var parts []string
			for _, p := range got {
				if p.sel != nil {
					parts = append(parts, "<"+p.src+">")
				} else {
					parts = append(parts, p.text)
				}
			}
			if s := strings.Join(parts, ","); s != tt.want {
				t.Errorf("got %s, want %s", s, tt.want)
			}
		})
	}
	for _, src := range []string{"{a", "a}", "{}", "{a b.}", "{a.{b}}"} {
		if got, err := parseTemplate(src, false); err == nil {
			t.Errorf("%q accepted: %+v", src, got)
		}
	}
}

// A plain selector is walked by our own code, any other by gjson. Both must mean the same,
// or a selector would change its meaning with one more character.
func FuzzSelector(f *testing.F) {
	for _, s := range []string{"a.b.0", `a\.b.\any`, `ns\:x`, `content.#(type=="text")#.text`, "a.{b}.c", "record:x", "a*.b?", "@keys.0", `#(a.#(b=="c"))`, `\@t.\#.\|`, "a.10.b", `x\\y`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, src string) {
		s, err := parseSelector(src)
		if err != nil {
			if s != nil || err.at < 0 || err.at > len(src) || err.msg == "" {
				t.Fatalf("%q: %+v %+v", src, s, err)
			}
			return
		}
		path := src
		if s.scope != scopeNone {
			_, path, _ = cutScope(src)
		}
		if s.plain == nil || s.scope == scopeSide || s.scope == scopeConv || s.scope == scopeFile || s.scope == scopeEntry {
			for _, b := range s.braces {
				if s.gjson[b.from] != '{' || s.gjson[b.to-1] != '}' {
					t.Fatalf("%q: brace %+v", src, b)
				}
			}
			gjson.Get(`{"a":[{"b":"c","type":"text"},"x",1,null,{"a":{"a":[]}}]}`, s.gjson)
			return
		}
		doc := `"leaf"`
		for i := len(s.plain) - 1; i >= 0; i-- {
			key := s.plain[i]
			switch key {
			case "0":
				doc = `[` + doc + `,2]`
			case "1":
				doc = `["x",` + doc + `]`
			default:
				quoted, err := json.Marshal(key)
				if err != nil {
					t.Fatal(err)
				}
				doc = `{"":1,"other":{},` + string(quoted) + `:` + doc + `}`
				if key == "" || key == "other" {
					t.Skip("a second key of that name")
				}
			}
		}
		if got := gjson.Get(doc, path); got.Str != "leaf" {
			t.Fatalf("gjson reads %q in %s as %q", path, doc, got.Raw)
		}
		var a arena
		v, ok := parseRecord(doc, &a)
		if !ok {
			t.Fatalf("not JSON: %s", doc)
		}
		if got := v.walk(s.plain, &a); got.str() != "leaf" {
			t.Fatalf("our walk reads %q in %s as %q", s.plain, doc, got.str())
		}
	})
}
