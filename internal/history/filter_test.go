package history

import (
	"testing"
	"time"

	"parlance/internal/mapping"
)

func TestParseWhen(t *testing.T) {
	now := time.Date(2026, 6, 1, 12, 30, 0, 0, time.UTC)
	tests := []struct {
		in   string
		want string // RFC 3339, "" for an error
		day  bool
	}{
		{"7d", "2026-05-25T12:30:00Z", false},
		{"36h", "2026-05-31T00:30:00Z", false},
		{"2w", "2026-05-18T12:30:00Z", false},
		{" 90m ", "2026-06-01T11:00:00Z", false},
		{"2026-05-28", "2026-05-28T00:00:00Z", true},
		{"today", "2026-06-01T00:00:00Z", true},
		{"Yesterday", "2026-05-31T00:00:00Z", true},
		{"2026-05-28T10:00:00+02:00", "2026-05-28T08:00:00Z", false},
		{"2026-05-28 10:00", "2026-05-28T10:00:00Z", false},
		{"last week", "", false},
		{"7", "", false},
		{"999999w", "", false},
	}
	for _, tt := range tests {
		t.Run(tt.in, func(t *testing.T) {
			got, day, err := parseWhen(tt.in, now)
			text := ""
			if err == nil {
				text = got.UTC().Format(time.RFC3339)
			}
			if text != tt.want || day != tt.day {
				t.Errorf("got %q %v (%v), want %q %v", text, day, err, tt.want, tt.day)
			}
		})
	}
}

func TestProjectFilter(t *testing.T) {
	env := mapping.Env{Home: "/home/u", Cwd: "/srv/app/sub"}
	tests := []struct {
		project, cwd string
		want         bool
	}{
		{"app", "/srv/app", true},
		{"APP", "/srv/app/", true},
		{"app", `C:\work\app`, true},
		{"app", "/srv/apple", false},
		{"app", "/srv/app/sub", false},
		{"app", "", false},
		{"app/", "/srv/app", true},
		{"/srv/app", "/srv/app/sub", true},
		{"/srv/app/", "/srv/app", true},
		{"/srv/app", "/srv/apple", false},
		{"/", "/srv/app", true},
		{`c:\Work`, `C:\work\app`, true},
		{"c:/work", `C:\work\app`, true},
		{".", "/srv/app/sub/deep", true},
		{".", "/srv/app", false},
		{"..", "/srv/app", true},
		{"~", "/home/u/x", true},
		{"~/x", "/home/u/x", true},
		{"~/x", "/home/u/y", false},
	}
	for _, tt := range tests {
		t.Run(tt.project+" on "+tt.cwd, func(t *testing.T) {
			var b bounds
			b.name, b.folder = splitProject(tt.project, env)
			if got := b.holds(tt.cwd, time.Now()); got != tt.want {
				t.Errorf("got %v, want %v (%+v)", got, tt.want, b)
			}
		})
	}
}

func TestExcludedPaths(t *testing.T) {
	x := newExcluder(Exclude{Paths: []string{"~/secret", "/srv/*/private", "/data/one.jsonl", "**/*.bak"}}, []mapping.Env{{Home: "/home/u"}})
	for path, want := range map[string]bool{
		"/home/u/secret":           true,
		"/home/u/secret/a/b.jsonl": true,
		"/home/u/secrets":          false,
		"/srv/app/private/x":       true,
		"/srv/app/x":               false,
		"/data/one.jsonl":          true,
		"/data/two.jsonl":          false,
		"/data/two.bak":            true,
		"":                         false,
	} {
		if got := x.path(path); got != want {
			t.Errorf("%s: got %v, want %v", path, got, want)
		}
	}
}
