// Package internal holds no code of its own: its test holds the shape of the packages below.
package internal

import (
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// mayImport is the design, written so that a test can read it. Change it on purpose.
var mayImport = map[string]string{
	"chat": "", "source": "", "mapping": "chat source", "history": "chat source mapping", "render": "chat",
	"mcpserver": "chat history render", "torture": "chat source mapping",
	"cli": "chat mapping history render mcpserver torture",
}

// owned dependencies: a package hides the library behind its one job.
var owns = map[string]string{
	"github.com/tidwall/gjson": "mapping", "gopkg.in/yaml.v3": "mapping cli",
	"github.com/mark3labs/mcp-go": "mcpserver", "github.com/spf13/cobra": "cli",
}

func TestImportsGoOneWay(t *testing.T) {
	packages := 0
	err := filepath.WalkDir("..", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && (d.Name() == "testdata" || d.Name() == ".git") {
			return filepath.SkipDir
		}
		if !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return nil
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ImportsOnly)
		if err != nil {
			return err
		}
		pkg, ours := strings.CutPrefix(filepath.ToSlash(filepath.Dir(path)), "../internal/")
		if !ours || strings.HasPrefix(pkg, "tools/") {
			return nil
		}
		allowed, known := mayImport[pkg]
		if !known {
			t.Errorf("%s: package %s is not in the design", path, pkg)
			return nil
		}
		for _, imp := range file.Imports {
			name := strings.Trim(imp.Path.Value, `"`)
			if to, ok := strings.CutPrefix(name, "parlance/internal/"); ok && !slices.Contains(strings.Fields(allowed), to) {
				t.Errorf("%s: %s may not import %s", path, pkg, to)
			}
			if name == "parlance/mappings" && pkg != "cli" {
				t.Errorf("%s: only cli wires the built-in mappings in", path)
			}
			for lib, owner := range owns {
				if strings.HasPrefix(name, lib) && !slices.Contains(strings.Fields(owner), pkg) {
					t.Errorf("%s: %s belongs to %s", path, lib, owner)
				}
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	dirs, err := os.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range dirs {
		if d.IsDir() && d.Name() != "tools" {
			packages++
		}
	}
	if packages > 9 {
		t.Errorf("%d packages: at most nine are planned", packages)
	}
}

// TestNoProviderInGo holds the promise that a tool is one YAML file.
func TestNoProviderInGo(t *testing.T) {
	maps, err := filepath.Glob("../mappings/*.yaml")
	if err != nil || len(maps) == 0 {
		t.Fatal("no mappings", err)
	}
	var names []string
	for _, m := range maps {
		if name := strings.TrimSuffix(filepath.Base(m), ".yaml"); !strings.HasPrefix(name, "generic_") {
			names = append(names, name)
		}
	}
	// Ordinary words that are a tool's name too, in the use that means the word.
	ordinary := map[string]string{"continue": `NewPrompt("continue"`, "llm": `"llm": "assistant"`}
	err = filepath.WalkDir("..", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && (d.Name() == "testdata" || d.Name() == ".git" || filepath.ToSlash(path) == "../internal/tools") {
			return filepath.SkipDir // the tools write what the mappings read
		}
		if !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return nil
		}
		if strings.HasPrefix(filepath.Base(path), "decoder_") {
			return nil // the escape hatch, and the table with its name
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		if strings.Contains(string(data), "func init()") {
			t.Errorf("%s: registers something in init; a provider is a file", path)
		}
		for n, line := range strings.Split(string(data), "\n") {
			code, _, _ := strings.Cut(line, "//")
			for _, name := range names {
				if use := ordinary[name]; use != "" && strings.Contains(code, use) {
					continue
				}
				if strings.Contains(code, `"`+name+`"`) || strings.Contains(code, "`"+name+"`") {
					t.Errorf("%s:%d: names the provider %s", path, n+1, name)
				}
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
