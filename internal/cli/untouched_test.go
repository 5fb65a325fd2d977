package cli

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"testing"
)

// snapshot tells everything of a folder that a program could change by looking at it, but
// for times of access.
func snapshot(t *testing.T, dir string) string {
	t.Helper()
	var b strings.Builder
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		sum := ""
		if info.Mode().IsRegular() {
			data, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			sum = fmt.Sprintf("%x", sha256.Sum256(data))
		}
		fmt.Fprintf(&b, "%s %v %d %v %s\n", path, info.Mode(), info.Size(), info.ModTime().UnixNano(), sum)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// TestNothingIsTouched runs every command over copies of all fixture homes, and over the
// files in them one by one: nothing there changes, and nothing is left beside it.
func TestNothingIsTouched(t *testing.T) {
	t.Setenv("HOME", t.TempDir())
	t.Setenv("XDG_CONFIG_HOME", "")
	homes, err := filepath.Glob("../../testdata/providers/*/home")
	if err != nil || len(homes) < 7 {
		t.Fatal("no homes", err)
	}
	dir := t.TempDir()
	var args, files []string
	homeOf := map[string]string{} // each file is shown with its own home alone: all of them for each file is quadratic
	for i, home := range homes {
		if testing.Short() && i%7 != 0 {
			continue
		}
		to := filepath.Join(dir, filepath.Base(filepath.Dir(home)))
		if err := os.CopyFS(to, os.DirFS(home)); err != nil {
			t.Fatal(err)
		}
		args = append(args, "--home", to)
		err := filepath.WalkDir(to, func(path string, d fs.DirEntry, err error) error {
			if err == nil && d.Type().IsRegular() {
				files, homeOf[path] = append(files, path), to
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	sort.Strings(files)
	before := snapshot(t, dir)
	var commands [][]string
	for _, c := range [][]string{
		{"list", "--limit", "0", "--subagents"}, {"list", "--json"}, {"search", "the"}, {"search", "no such words", "--in", "all"},
		{"fork", "the"}, {"fork"}, {"providers"}, {"check"}, {"show", "nobody"}, {"checkpoint", "x"},
	} {
		commands = append(commands, append(c, args...))
	}
	for i, file := range files {
		// Loading the mapping is most of what a file costs here, so some of each folder have to do.
		if i%4 == 0 {
			commands = append(commands, []string{"show", file, "--format", "messages", "--home", homeOf[file]})
		}
	}
	for _, c := range commands {
		var out, errw bytes.Buffer
		code := run(context.Background(), c, strings.NewReader(""), &out, &errw)
		if code > exitWrong {
			t.Errorf("%v: exit %d", c, code)
		}
	}
	if after := snapshot(t, dir); after != before {
		t.Errorf("the homes changed:\n%s", difference(before, after))
	}
}

func difference(before, after string) string {
	had := map[string]bool{}
	for _, line := range strings.Split(before, "\n") {
		had[line] = true
	}
	var out []string
	for _, line := range strings.Split(after, "\n") {
		if !had[line] {
			out = append(out, "+ "+line)
		}
		delete(had, line)
	}
	for line := range had {
		out = append(out, "- "+line)
	}
	return strings.Join(out, "\n")
}
