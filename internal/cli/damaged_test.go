package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// harms are ways in which one file of a home is damaged; loud ones must be told of. What is
// read of each in the end is torture's matter; here it is how the commands end.
var harms = []struct {
	name string
	loud bool
	do   func(path string, data []byte) error
}{
	{"cut", false, func(path string, data []byte) error { return os.WriteFile(path, data[:len(data)/2], 0o600) }},
	{"noise", true, func(path string, data []byte) error {
		return os.WriteFile(path, bytes.Repeat([]byte("\x89PNG\x00\xff\xfe{"), 100), 0o600)
	}},
	{"empty", false, func(path string, _ []byte) error { return os.WriteFile(path, nil, 0o600) }},
	{"folder", false, func(path string, _ []byte) error { return replace(path, func() error { return os.Mkdir(path, 0o700) }) }},
	{"link to itself", true, func(path string, _ []byte) error {
		return replace(path, func() error { return os.Symlink(filepath.Base(path), path) })
	}},
	{"link to nothing", false, func(path string, _ []byte) error {
		return replace(path, func() error { return os.Symlink("gone", path) })
	}},
	{"NUL", false, func(path string, data []byte) error {
		return os.WriteFile(path, append(bytes.Clone(data), make([]byte, 4096)...), 0o600)
	}},
	{"gone", false, func(path string, _ []byte) error { return os.Remove(path) }},
}

func replace(path string, with func() error) error {
	if err := os.Remove(path); err != nil {
		return err
	}
	return with()
}

// TestExitsOfDamagedHomes: whatever one file of a home is like, list and search end with 0 or
// 1, as there is something left to list or not; providers ends with 0; and show of that file
// ends with 0 if it says something, with 1 if nothing is in it yet, else with 2, nothing on
// stdout, and the file's name.
func TestExitsOfDamagedHomes(t *testing.T) {
	t.Setenv("HOME", t.TempDir())
	t.Setenv("XDG_CONFIG_HOME", "")
	m := newMachine(t)
	do := func(args ...string) (int, string, string) {
		var out, errw bytes.Buffer
		code := run(context.Background(), args, strings.NewReader(""), &out, &errw)
		return code, out.String(), errw.String()
	}
	cases, ends := 0, map[string]int{}
	for h, name := range m.names {
		home := []string{"--home", m.home(name)}
		if root := filepath.Join(m.home(name), "root"); isDir(root) {
			home = append(home, "--root", root)
		}
		for _, path := range m.files(t, home, 1) {
			data, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			for i, harm := range harms {
				if i%4 != h%4 { // a quarter of them, as each takes a tenth of a second
					continue
				}
				if err := harm.do(path, data); err != nil {
					t.Fatal(err)
				}
				cases++
				code, out, errs := do(append([]string{"list", "--json", "--limit", "0", "--subagents"}, home...)...)
				if want := map[bool]int{true: exitFound, false: exitNone}[out != ""]; code != want {
					t.Errorf("%s: %s: list: exit %d with %d bytes: %s", path, harm.name, code, len(out), errs)
				}
				if harm.loud && !strings.Contains(errs, path) {
					t.Errorf("%s: %s: list says nothing of it: %s", path, harm.name, errs)
				}
				if code, out, errs := do(append([]string{"search", "a", "--json", "--in", "all"}, home...)...); (code == exitFound) != (out != "") || code > exitNone {
					t.Errorf("%s: %s: search: exit %d with %d bytes: %s", path, harm.name, code, len(out), errs)
				}
				if i < 2 {
					if code, _, errs := do(append([]string{"providers", name}, home...)...); code != exitFound {
						t.Errorf("%s: %s: providers: exit %d: %s", path, harm.name, code, errs)
					}
				}
				code, out, errs = do(append([]string{"show", path, "--format", "messages"}, home...)...)
				ends[harm.name+map[int]string{exitFound: " read", exitNone: " empty", exitWrong: " refused"}[code]]++
				switch {
				case code == exitFound && out != "" && documents(out):
				case code == exitNone && harm.name == "empty" && out == "" && strings.Contains(errs, path+": no conversation in it"):
				case code == exitWrong && out == "" && strings.Contains(errs, path):
				default:
					t.Errorf("%s: %s: show: exit %d with %d bytes: %s", path, harm.name, code, len(out), errs)
				}
				if err := os.RemoveAll(path); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(path, data, 0o600); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	t.Logf("%d cases: %v", cases, ends)
}

// documents says whether a text is JSON documents, one behind the other.
func documents(text string) bool {
	d := json.NewDecoder(strings.NewReader(text))
	for {
		var v json.RawMessage
		switch err := d.Decode(&v); err {
		case nil:
		case io.EOF:
			return true
		default:
			return false
		}
	}
}
