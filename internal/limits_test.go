package internal

import (
	"flag"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"parlance/internal/render"
	"parlance/internal/source"
)

var update = flag.Bool("update", false, "rewrite the table of limits in SECURITY.md")

// TestLimitsAreInTheManual holds the table of SECURITY.md against the one table of limits.
func TestLimitsAreInTheManual(t *testing.T) {
	const begin, end = "<!-- limits: printed by internal/limits_test.go -->\n", "<!-- end of limits -->\n"
	data, err := os.ReadFile("../SECURITY.md")
	if err != nil {
		t.Fatal(err)
	}
	head, rest, ok := strings.Cut(string(data), begin)
	_, tail, ok2 := strings.Cut(rest, end)
	if !ok || !ok2 {
		t.Fatal("SECURITY.md has no place for the table")
	}
	var b strings.Builder
	b.WriteString("| limit | most | of what, and why |\n|---|---|---|\n")
	for _, l := range source.Limits() {
		fmt.Fprintf(&b, "| `%s` | %s | %s |\n", l.Name, l.Most, l.Reason)
	}
	want := head + begin + b.String() + end + tail
	if want == string(data) {
		return
	}
	if *update {
		if err := os.WriteFile("../SECURITY.md", []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	t.Error("SECURITY.md: the table of limits is not the one of internal/source/limits.go; go test ./internal -run Limits -update writes it")
}

// TestMessagesNameTheirLimit: whatever ends at a limit says its name, in the package that holds it.
func TestMessagesNameTheirLimit(t *testing.T) {
	var code strings.Builder
	for _, dir := range []string{"source", "mapping", "cli", "mcpserver"} {
		entries, err := os.ReadDir(dir)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range entries {
			if strings.HasSuffix(e.Name(), ".go") && !strings.HasSuffix(e.Name(), "_test.go") && e.Name() != "limits.go" {
				data, err := os.ReadFile(dir + "/" + e.Name())
				if err != nil {
					t.Fatal(err)
				}
				code.Write(data)
			}
		}
	}
	// silent are limits that end nothing: what lies beyond is not looked at, by design.
	silent := map[string]string{
		"patternMaxBytes": "a longer text is matched by its beginning",
		"sessionIdleMax":  "a client that is forgotten is told to begin a session",
	}
	for _, l := range source.Limits() {
		said := regexp.MustCompile("[\"`][^\"`\n]*\\b" + l.Name + "\\b[^\"`\n]*[\"`]").MatchString(code.String())
		if said == (silent[l.Name] != "") {
			t.Errorf("%s: in a message: %v", l.Name, said)
		}
	}
	// Packages that may not import the table have the same numbers.
	for value, same := range map[string]bool{
		"configMaxBytes = 1 << 20":    source.ConfigMaxBytes == 1<<20,
		"requestMaxBytes = 64 << 20":  source.RequestMaxBytes == 64<<20,
		"pendingMax = 4096":           source.PendingMax == 4096,
		"pendingMaxBytes = 256 << 20": source.PendingMaxBytes == 256<<20,
		"argumentMaxBytes = 4096":     source.ArgumentMaxBytes == 4096,
		"sessionIdleMax = time.Hour":  source.SessionIdleMax == time.Hour,
	} {
		if written := regexp.MustCompile(strings.ReplaceAll(regexp.QuoteMeta(value), " = ", " += ") + `\n`).MatchString(code.String()); !written || !same {
			t.Errorf("%s: the code has another, or the table: %v, %v", value, written, same)
		}
	}
	if source.TokensMax != render.TokensMax {
		t.Error("tokensMax: the table has another")
	}
}
