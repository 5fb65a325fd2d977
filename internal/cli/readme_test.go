package cli

import (
	"bytes"
	"context"
	"io/fs"
	"os"
	"slices"
	"strings"
	"testing"

	"parlance/mappings"
)

func readme(t *testing.T) string {
	t.Helper()
	data, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// TestReadmeNamesEveryCommandAndProvider: what exists is told, and what is told exists.
func TestReadmeNamesEveryCommandAndProvider(t *testing.T) {
	text := readme(t)
	a := &app{in: strings.NewReader(""), out: &bytes.Buffer{}, err: &bytes.Buffer{}, reported: map[string]bool{}}
	for _, c := range a.root().Commands() {
		if c.Name() != "help" && !c.Hidden && !strings.Contains(text, "`parlance "+c.Name()) {
			t.Errorf("README does not name the command %s", c.Name())
		}
	}
	files, err := fs.Glob(mappings.FS, "*.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if name := strings.TrimSuffix(f, ".yaml"); !strings.Contains(text, "| `"+name+"` |") {
			t.Errorf("README has no row for the provider %s", name)
		}
	}
}

// TestReadmeExamples runs the console examples of the README over the demo home.
func TestReadmeExamples(t *testing.T) {
	text := readme(t)
	t.Setenv("HOME", t.TempDir())
	t.Setenv("XDG_CONFIG_HOME", "")
	t.Chdir("../..")
	ran := 0
	for _, block := range strings.Split(text, "```console\n")[1:] {
		block, _, _ = strings.Cut(block, "```")
		for _, example := range strings.Split("\n"+block, "\n$ parlance ")[1:] {
			command, want, _ := strings.Cut(example, "\n")
			var out, errw bytes.Buffer
			run(context.Background(), shellWords(command), strings.NewReader(""), &out, &errw)
			cwd, err := os.Getwd()
			if err != nil {
				t.Fatal(err)
			}
			got := strings.ReplaceAll(out.String(), cwd+"/", "")
			want, open := strings.CutSuffix(strings.TrimSpace(want), "\n...")
			if got = strings.TrimSpace(got); open && !strings.HasPrefix(got, want) || !open && got != want {
				t.Errorf("parlance %s gives\n%s\nREADME says\n%s", command, got, want)
			}
			ran++
		}
	}
	if ran < 2 {
		t.Errorf("%d examples", ran)
	}
}

// shellWords splits a command line with double quotes.
func shellWords(line string) (words []string) {
	for i, part := range strings.Split(line, `"`) {
		if i%2 == 1 {
			words = append(words, part)
		} else {
			words = append(words, strings.Fields(part)...)
		}
	}
	return slices.DeleteFunc(words, func(w string) bool { return w == "" })
}
