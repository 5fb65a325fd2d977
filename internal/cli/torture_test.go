package cli

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A user's own mapping gets the same treatment as ours: its samples are damaged, and a rule
// that drops what it does not expect is found out.
func TestCheckTorture(t *testing.T) {
	t.Setenv("HOME", t.TempDir())
	t.Setenv("XDG_CONFIG_HOME", "")
	const good = `parlance: 1
name: acme
sources: [{id: log, paths: ["~/.acme/*.jsonl"], container: jsonl}]
messages:
  - {when: {who: me}, as: user, text: say}
  - {when: {who: bot}, as: assistant, text: say}
tests:
  - name: a question
    records: |
      {"who":"me","say":"hi"}
      {"who":"bot","say":"hello"}
      {"who":"me","say":"bye"}
    expect: [{user: hi}, {assistant: hello}, {user: bye}]
`
	// A record is known by its place: one that is new in front of it is taken for it.
	bad := strings.Replace(good, "{when: {who: bot}", `{when: {"record:@index": 2}`, 1)
	for _, c := range []struct {
		name, yaml string
		code       int
		says       string
	}{
		{"good", good, exitFound, ": 0 problems\n"},
		{"bad", bad, exitNone, ": lost: "},
	} {
		dir := t.TempDir()
		file := filepath.Join(dir, "acme.yaml")
		if err := os.WriteFile(file, []byte(c.yaml), 0o666); err != nil {
			t.Fatal(err)
		}
		home := filepath.Join(dir, "home")
		if err := os.MkdirAll(filepath.Join(home, ".acme"), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(home, ".acme", "a.jsonl"), []byte("{\"who\":\"me\",\"say\":\"hi\"}\n{\"who\":\"bot\",\"say\":\"ho\"}\n"), 0o666); err != nil {
			t.Fatal(err)
		}
		before := snapshot(t, home)
		var out, errw bytes.Buffer
		code := run(context.Background(), []string{"check", file, "--torture", "--home", home}, strings.NewReader(""), &out, &errw)
		if code != c.code || !strings.Contains(out.String(), c.says) || !strings.Contains(out.String(), "acme: 2 files damaged in ") {
			t.Errorf("%s: exit %d\n%s%s", c.name, code, out.String(), errw.String())
		}
		if after := snapshot(t, home); after != before {
			t.Errorf("%s: the home changed:\n%s", c.name, difference(before, after))
		}
	}
}
