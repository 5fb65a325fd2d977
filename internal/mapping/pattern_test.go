package mapping

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func getenv(pairs ...string) func(string) string {
	return func(name string) string {
		for i := 0; i < len(pairs); i += 2 {
			if pairs[i] == name {
				return pairs[i+1]
			}
		}
		return ""
	}
}

func placeStrings(places []globPlace) []string {
	var out []string
	for _, p := range places {
		out = append(out, p.String())
	}
	return out
}

func TestExpandPlaces(t *testing.T) {
	const linux, mac, windows = "/home/ana", "/Users/ana", `C:\Users\ana`
	named := map[string][]string{
		"EDITOR_USER": {"${XDG_CONFIG_HOME:-~/.config}/{Edit,Edit - Next}/User", "${APPDATA}/Edit/User", "${EDIT_PORTABLE}/User"},
		"WILD":        {"~/*-server/data"},
	}
	tests := []struct {
		name    string
		home    string
		env     []string
		pattern string
		split   []string
		want    []string
	}{
		{"home", linux, nil, "~/.acme/log/*.jsonl", nil, []string{"/home/ana/.acme/log/*.jsonl"}},
		{"home on a mac", mac, nil, "~/Library/Application Support/Acme/*.db", nil, []string{"/Users/ana/Library/Application Support/Acme/*.db"}},
		{"home on windows", windows, nil, "~/.acme/log/*.jsonl", nil, []string{"C:/Users/ana/.acme/log/*.jsonl"}},
		{"home with slashes on windows", "C:/Users/ana/", nil, "~/.acme/x", nil, []string{"C:/Users/ana/.acme/x"}},
		{"home on a share", `\\srv\homes\ana`, nil, "~/.acme/x", nil, []string{"//srv/homes/ana/.acme/x"}},
		{"home with a slash at its end", "/home/ana/", nil, "~/x", nil, []string{"/home/ana/x"}},
		{"home is the root", "/", nil, "~/x/y", nil, []string{"/x/y"}},
		{"no home", "", nil, "~/x", nil, nil},
		{"tilde of another", linux, nil, "~bob/x", nil, nil},
		{"tilde inside", linux, nil, "/srv/~/x", nil, []string{"/srv/~/x"}},
		{"wildcards in home are letters", "/home/a[n]*a{1,2}", nil, "~/x*", nil, []string{`/home/a\[n\]\*a\{1\,2\}/x*`}},

		{"variable", linux, []string{"ACME_HOME", "/data/acme"}, "${ACME_HOME}/x", nil, []string{"/data/acme/x"}},
		{"variable unset", linux, nil, "${ACME_HOME}/x", nil, nil},
		{"variable empty counts as unset", linux, []string{"ACME_HOME", ""}, "${ACME_HOME:-~/.acme}/x", nil, []string{"/home/ana/.acme/x"}},
		{"default", linux, nil, "${XDG_DATA_HOME:-~/.local/share}/acme/*.db", nil, []string{"/home/ana/.local/share/acme/*.db"}},
		{"default not used", linux, []string{"XDG_DATA_HOME", "/data"}, "${XDG_DATA_HOME:-~/.local/share}/acme/*.db", nil, []string{"/data/acme/*.db"}},
		{"default in default", linux, []string{"B", "/b"}, "${A:-${B:-~/c}}/x", nil, []string{"/b/x"}},
		{"default in default, none set", linux, nil, "${A:-${B:-~/c}}/x", nil, []string{"/home/ana/c/x"}},
		{"default in default, unset", linux, nil, "${A:-${B}}/x", nil, nil},
		{"default with braces", linux, nil, "${A:-~/{a,b}}/x", nil, []string{"/home/ana/a/x", "/home/ana/b/x"}},
		{"default behind text", linux, nil, "~/a/${N:-b}/c", nil, []string{"/home/ana/a/b/c"}},
		{"empty default gives an absolute rest", linux, nil, "${A:-}/x/y", nil, []string{"/x/y"}},
		{"tilde in a value", linux, []string{"A", "~/moved"}, "${A}/x", nil, []string{"/home/ana/moved/x"}},
		{"tilde alone in a value", linux, []string{"A", "~"}, "${A}/x", nil, []string{"/home/ana/x"}},
		{"wildcards in a value are letters", linux, []string{"A", "/a*b/${B}"}, "${A}/x*", nil, []string{`/a\*b/\$\{B\}/x*`}},
		{"spaces and commas in a value", linux, []string{"A", "/a, b/c"}, "${A}/x", nil, []string{`/a\, b/c/x`}},
		{"a value with a slash at its end", linux, []string{"A", "/a//"}, "${A}/x", nil, []string{"/a/x"}},
		{"a value with dots", linux, []string{"A", "/a/b/../c/."}, "${A}/x", nil, []string{"/a/c/x"}},
		{"a relative value", linux, []string{"A", ".acme"}, "${A}/x", nil, nil},
		{"a windows value", windows, []string{"A", `D:\Acme Data`}, "${A}/x", nil, []string{"D:/Acme Data/x"}},
		{"a windows value with a tilde", windows, []string{"A", `~\Acme`}, "${A}/x", nil, []string{"C:/Users/ana/Acme/x"}},
		{"a drive", windows, []string{"A", `D:\`}, "${A}/x", nil, []string{"D:/x"}},

		{"whole path in a variable", linux, []string{"ACME_DB", "/data/my.db"}, "${ACME_DB}", nil, []string{"/data/my.db"}},
		{"name in a variable, taken as a path", linux, []string{"ACME_DB", "my.db"}, "${ACME_DB}", nil, nil},
		{"name in a variable", linux, []string{"ACME_DB", "my.db"}, "~/acme/${ACME_DB}", nil, []string{"/home/ana/acme/my.db"}},
		{"whole path in a variable, taken as a name", linux, []string{"ACME_DB", "/data/my.db"}, "~/acme/${ACME_DB}", nil, nil},
		{"windows path in a variable, taken as a name", windows, []string{"ACME_DB", `D:\my.db`}, "~/acme/${ACME_DB}", nil, nil},
		{"in memory", linux, []string{"ACME_DB", ":memory:"}, "${ACME_DB}", nil, nil},

		{"appdata", windows, nil, "${APPDATA}/Acme/*.db", nil, []string{"C:/Users/ana/AppData/Roaming/Acme/*.db"}},
		{"local appdata", windows, nil, "${LOCALAPPDATA}/Acme/*.db", nil, []string{"C:/Users/ana/AppData/Local/Acme/*.db"}},
		{"appdata moved", windows, []string{"APPDATA", `E:\Roam`}, "${APPDATA}/Acme/*.db", nil, []string{"E:/Roam/Acme/*.db"}},
		{"appdata of a copied home", linux, nil, "${APPDATA}/Acme/*.db", nil, []string{"/home/ana/AppData/Roaming/Acme/*.db"}},

		{"several values", linux, []string{"A", "/a, ~/b,,/c/"}, "${A:-~/d}/x", []string{"A"}, []string{"/a/x", "/home/ana/b/x", "/c/x"}},
		{"several values not split", linux, []string{"A", "/a,/b"}, "${A}/x", nil, []string{`/a\,/b/x`}},
		{"two variables with several values", linux, []string{"A", "/a,/b", "B", "c,d"}, "${A}/${B}/x", []string{"A", "B"}, []string{"/a/c/x", "/a/d/x", "/b/c/x", "/b/d/x"}},

		{"named root", linux, nil, "${EDITOR_USER}/chat/*.json", nil, []string{
			"/home/ana/.config/Edit/User/chat/*.json", "/home/ana/.config/Edit - Next/User/chat/*.json", "/home/ana/AppData/Roaming/Edit/User/chat/*.json"}},
		{"named root before the environment", linux, []string{"WILD", "/elsewhere"}, "${WILD}/x", nil, []string{"/home/ana/*-server/data/x"}},
		{"named root with variables", linux, []string{"EDIT_PORTABLE", "/usb", "XDG_CONFIG_HOME", "/cfg"}, "${EDITOR_USER}/x", nil, []string{
			"/cfg/Edit/User/x", "/cfg/Edit - Next/User/x", "/home/ana/AppData/Roaming/Edit/User/x", "/usb/User/x"}},
		{"roots", linux, nil, "${ROOT}/**/conversations.json", nil, []string{"/exports/**/conversations.json", `/more\[1\]/**/conversations.json`}},
		{"roots are not a variable", linux, []string{"ROOT", "/other"}, "${ROOT}/x", nil, []string{"/exports/x", `/more\[1\]/x`}},

		{"alternatives", linux, nil, "~/{a,b}/x.{json,jsonl}", nil, []string{"/home/ana/a/x.json", "/home/ana/a/x.jsonl", "/home/ana/b/x.json", "/home/ana/b/x.jsonl"}},
		{"alternatives in alternatives", linux, nil, "~/{a,b{1,2}}/x", nil, []string{"/home/ana/a/x", "/home/ana/b1/x", "/home/ana/b2/x"}},
		{"empty alternative", linux, nil, "~/x{,.bak}", nil, []string{"/home/ana/x", "/home/ana/x.bak"}},
		{"braces without a comma", linux, nil, "~/{a}/x", nil, []string{"/home/ana/{a}/x"}},
		{"braces over two segments", linux, nil, "~/{a/b,c}/x", nil, []string{"/home/ana/{a/b,c}/x"}},
		{"brace not closed", linux, nil, "~/{a,b/x", nil, []string{"/home/ana/{a,b/x"}},

		{"classes", linux, nil, "~/[a-c]/[!x]?/y", nil, []string{"/home/ana/[a-c]/[^x]?/y"}},
		{"class not closed", linux, nil, "~/[a/x", nil, nil},
		{"deep", linux, nil, "~/a/**/b-*.jsonl", nil, []string{"/home/ana/a/**/b-*.jsonl"}},
		{"deep twice", linux, nil, "~/a/**/**/b", nil, []string{"/home/ana/a/**/b"}},
		{"two stars inside a name", linux, nil, "~/a/x**y", nil, []string{"/home/ana/a/x*y"}},
		{"dots in front", linux, nil, "~/a/../b/./c", nil, []string{"/home/ana/b/c"}},
		{"dots behind a wildcard", linux, nil, "~/a/*/../b", nil, nil},
		{"no file", linux, nil, "/", nil, nil},
		{"absolute", linux, nil, "/var/lib/acme/*.db", nil, []string{"/var/lib/acme/*.db"}},
		{"absolute on windows", windows, nil, "C:/ProgramData/Acme/*.db", nil, []string{"C:/ProgramData/Acme/*.db"}},
		{"no start", linux, nil, "acme/x", nil, nil},
		{"variable not closed", linux, nil, "${A/x", nil, nil},
		{"dollar alone", linux, nil, "~/$a/x", nil, []string{"/home/ana/$a/x"}},

		{"relative", linux, nil, "./.acme.md", nil, []string{"/home/ana/work/shop/sub/.acme.md", "/home/ana/work/shop/.acme.md", "/home/ana/work/.acme.md",
			"/srv/other/.acme.md", "/exports/.acme.md", `/more\[1\]/.acme.md`}},
		{"relative walks only roots", linux, nil, "./**/.acme.md", nil, []string{"/exports/**/.acme.md", `/more\[1\]/**/.acme.md`}},
		{"relative with a folder", linux, nil, "./runs/**/*.traj", nil, []string{"/home/ana/work/shop/sub/runs/**/*.traj", "/home/ana/work/shop/runs/**/*.traj",
			"/home/ana/work/runs/**/*.traj", "/srv/other/runs/**/*.traj", "/exports/runs/**/*.traj", `/more\[1\]/runs/**/*.traj`}},
		{"relative, home elsewhere", mac, nil, "./x", nil, []string{"/home/ana/work/shop/sub/x", "/srv/other/x", "/home/ana/work/shop/x", "/exports/x", `/more\[1\]/x`}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			env := Env{Home: tt.home, Getenv: getenv(tt.env...), Named: named, Cwd: "/home/ana/work/shop/sub",
				Roots: []string{"/exports", "/more[1]/"},
				Cwds:  func() []string { return []string{"/srv/other", "/home/ana/work/shop", "not absolute"} }}
			places, err := expandPlaces(env, tt.pattern, tt.split)
			if err != nil {
				t.Fatal(err)
			}
			if got := placeStrings(places); !slices.Equal(got, tt.want) {
				t.Errorf("%s\ngot  %q\nwant %q", tt.pattern, got, tt.want)
			}
		})
	}
}

func TestExpandPlacesWithoutSurroundings(t *testing.T) {
	for _, pattern := range []string{"./x", "${ROOT}/x", "${A}/x", "~/x", "${APPDATA}/x"} {
		if places, err := expandPlaces(Env{}, pattern, nil); len(places) > 0 || err != nil {
			t.Errorf("%s: got %q, %v; want nothing", pattern, placeStrings(places), err)
		}
	}
}

func TestExpandPlacesStopsAtTooMany(t *testing.T) {
	pattern := "~/" + strings.Repeat("{0,1,2,3,4,5,6,7,8,9}", 7)
	places, err := expandPlaces(Env{Home: "/h"}, pattern, nil)
	if len(places) != placesMax || err == nil || !strings.Contains(err.Error(), "placesMax (100000)") {
		t.Errorf("got %d places, %v", len(places), err)
	}
}

func TestPlaceFolders(t *testing.T) {
	tests := []struct{ name, pattern, folder, base string }{
		{"below home", "~/.acme/log/*/*.jsonl", "/home/ana/.acme/log", "/home/ana/.acme/log"},
		{"file", "~/.acme/acme.db", "/home/ana/.acme", "/home/ana/.acme"},
		{"file in home", "~/.acme.md", "/home/ana", "/home/ana"},
		{"wildcard in home", "~/*/x", "/home/ana", "/home/ana"},
		{"variable elsewhere", "${A}/acme/log/*.jsonl", "/data/store/acme/log", "/data/store"},
		{"variable with a file", "${F}", "/data/store", "/data/store"},
		{"variable below home", "${B}/log/*.jsonl", "/home/ana/stuff/b/log", "/home/ana/stuff/b/log"},
		{"root", "${ROOT}/x/**/c.json", "/exports/x", "/exports"},
		{"absolute", "/var/lib/acme/*/x", "/var/lib/acme", "/var/lib/acme"},
		{"relative elsewhere", "./log/*.md", "/srv/shop/log", "/srv/shop"},
		{"beside home", "/home/anabel/x/y/z", "/home/anabel/x/y", "/home/anabel/x/y"},
	}
	env := Env{Home: "/home/ana", Getenv: getenv("A", "/data/store", "B", "~/stuff/b", "F", "/data/store/x.db"), Roots: []string{"/exports"}, Cwd: "/srv/shop"}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			places, _ := expandPlaces(env, tt.pattern, nil)
			if len(places) == 0 {
				t.Fatal("no place")
			}
			if got := filepath.ToSlash(places[0].folder()); got != tt.folder {
				t.Errorf("folder: got %s, want %s", got, tt.folder)
			}
			if got := filepath.ToSlash(confines(env, &places[0])); got != tt.base {
				t.Errorf("base: got %s, want %s", got, tt.base)
			}
		})
	}
}

func TestExpandPattern(t *testing.T) {
	dir := home(t, "a/1.json", "a/2.json", "b/3.json")
	got := expandPattern(Env{Home: dir}, "~/{a/x.json,b}")
	got = append(got, expandPattern(Env{Home: dir}, "~/{a,c}/*.json")...)
	got = append(got, expandPattern(Env{Home: dir}, "${X:-~/[q]}/gone.json")...)
	got = append(got, expandPattern(Env{Home: dir, Getenv: getenv("X", "/q*[1]")}, "${X}/gone.json")...)
	for i := range got {
		got[i] = filepath.ToSlash(strings.Replace(got[i], dir, "~", 1))
	}
	want := []string{"~/{a/x.json,b}", "~/a/1.json", "~/a/2.json", "/q*[1]/gone.json"}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestSegmentFits(t *testing.T) {
	tests := []struct {
		pattern  string
		fit, not string // names, separated by blanks
	}{
		{"*", "a .a a.b", ""},
		{"*.jsonl", "a.jsonl .jsonl a.b.jsonl", "a.json a.jsonl.gz"},
		{"a*", "a ab", "ba"},
		{"ab*ba", "abba abxba", "aba ab"},
		{"a*b*c", "abc axbxc", "ac acb"},
		{"?", "a é", "ab"},
		{"[0-9a-f][0-9a-f]", "0f a9", "0g f"},
		{"[!a]x", "bx", "ax"},
		{`\*x`, "*x", "ax"},
		{`a\[1\]*`, "a[1]b", "a1b"},
		{"x", "x", "y"},
		{"{a}", "{a}", "a"},
	}
	for _, tt := range tests {
		s, ok := parseSegment(tt.pattern)
		if !ok {
			t.Fatalf("%s: bad", tt.pattern)
		}
		for name := range strings.FieldsSeq(tt.fit) {
			if !s.fits(name) {
				t.Errorf("%s does not fit %s", name, tt.pattern)
			}
		}
		for name := range strings.FieldsSeq(tt.not) {
			if s.fits(name) {
				t.Errorf("%s fits %s", name, tt.pattern)
			}
		}
	}
}

func TestFitsPath(t *testing.T) {
	tests := []struct {
		pattern, path string
		want          bool
	}{
		{"a/b", "a/b", true},
		{"a/b", "a/b/c", false},
		{"a/b", "a", false},
		{"a/*", "a/b", true},
		{"a/*", "a/b/c", false},
		{"a/**", "a/b/c", true},
		{"a/**", "a", false},
		{"**", "a", true},
		{"a/**/b", "a/b", true},
		{"a/**/b", "a/x/y/b", true},
		{"a/**/b", "a/x/b/y", false},
		{"**/a/*/b", "x/a/y/a/z/b", true},
		{"**/a/**/b/**/c", "a/b/c/x/c", true},
		{"**/a/**/b/**/c", "a/c/x/b", false},
	}
	for _, tt := range tests {
		segs, ok := segments(tt.pattern)
		if !ok {
			t.Fatal(tt.pattern)
		}
		if got := fitsPath(segs, strings.Split(tt.path, "/")); got != tt.want {
			t.Errorf("%s on %s: got %v", tt.pattern, tt.path, got)
		}
	}
}

// Whatever a mapping or a variable holds, what comes out is absolute, climbs nowhere, and
// each place is its own expansion.
func FuzzExpandPlaces(f *testing.F) {
	f.Add("${A:-~/.x}/{a,b}/**/*.json", "/home/ana", "/d,~/e")
	f.Add("./[a]/../x", `C:\Users\ana`, `D:\`)
	f.Add("${ROOT}/**/..", "//x/y", "..")
	f.Fuzz(func(t *testing.T, pattern, home, value string) {
		env := Env{Home: home, Getenv: func(string) string { return value }, Cwd: "/w", Roots: []string{value}, Named: map[string][]string{"N": {pattern}}}
		places, _ := expandPlaces(env, pattern, []string{"A"})
		for _, p := range places {
			if !isAbs(p.root) || len(p.segs) == 0 || p.fixed >= len(p.segs) || p.own > p.fixed {
				t.Fatalf("%+v", p)
			}
			for _, s := range p.segs {
				if s.src == "" || s.src == ".." && s.name != "" || strings.Contains(s.src, "/") {
					t.Fatalf("%q in %s", s.src, p.String())
				}
			}
			again, _ := expandPlaces(Env{}, p.String(), nil)
			if len(again) != 1 || again[0].String() != p.String() {
				t.Fatalf("%s became %q", p.String(), placeStrings(again))
			}
		}
	})
}
