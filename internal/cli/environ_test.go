package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// What is meant to be kept back must be kept back, or complained of: never neither.
func TestConfig(t *testing.T) {
	for _, row := range []struct {
		name, config, want string // want is a part of the error, "" if there is none
	}{
		{"empty", "", ""},
		{"nothing in it", "exclude: {}", ""},
		{"as in the README", `exclude: {providers: [heron], paths: ["~/work/secret", "**/private/**"]}`, ""},
		{"places of all systems", `exclude: {paths: ["/srv", "~", 'C:\Users\mara', "/srv/{a,b}/[0-9]*", '~\work']}`, ""},
		{"a name that is no mapping's", "exclude: {providers: [her-on]}", `no mapping is called "her-on"`},
		{"the hint names those that are", "exclude: {providers: [x]}", "hint: there are egret, heron"},
		{"unclosed class", `exclude: {paths: ["/srv/[a"]}`, `"/srv/[a" fits nothing`},
		{"unclosed braces", `exclude: {paths: ["**/{a,b"]}`, "fits nothing"},
		{"relative", "exclude: {paths: [work/secret]}", `"work/secret" fits nothing`},
		{"no path", `exclude: {paths: [""]}`, "fits nothing"},
		{"nothing left of it", `exclude: {paths: ["**/../secret"]}`, "fits nothing"},
		{"another's home", `exclude: {paths: ["~mara/secret"]}`, "fits nothing"},
		{"unknown key", "exclude: {provider: [heron]}", `line 1: unknown key "provider"`},
		{"unknown key above", "include: {}", `unknown key "include"`},
		{"not YAML", "exclude: [", "hint: it may hold"},
		{"a text for a list", "exclude: {paths: /srv}", "hint: it may hold"},
	} {
		t.Run(row.name, func(t *testing.T) {
			folder := t.TempDir()
			if err := os.WriteFile(filepath.Join(folder, "config.yaml"), []byte(row.config), 0o600); err != nil {
				t.Fatal(err)
			}
			_, err := readConfig(folder, []string{"egret", "heron"})
			if row.want == "" && err != nil || row.want != "" && (err == nil || !strings.Contains(err.Error(), row.want)) {
				t.Errorf("got %v, want %q", err, row.want)
			}
			if err != nil && strings.Contains(err.Error(), "struct") {
				t.Errorf("it speaks Go: %v", err)
			}
		})
	}
}
