package internal

import (
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// licences are the modules that stand in the program, and under which licence each of them
// may be passed on. A new one belongs here, and is refused if it is not permissive.
var licences = map[string]string{
	"github.com/bmatcuk/doublestar/v4":         "MIT",
	"github.com/google/jsonschema-go":          "MIT",
	"github.com/google/uuid":                   "BSD-3-Clause",
	"github.com/inconshreveable/mousetrap":     "Apache-2.0",
	"github.com/klauspost/compress":            "MIT",
	"github.com/mark3labs/mcp-go":              "MIT",
	"github.com/mattn/go-isatty":               "MIT",
	"github.com/ncruces/go-sqlite3":            "MIT",
	"github.com/ncruces/go-sqlite3-wasm/v6":    "MIT-0",
	"github.com/ncruces/julianday":             "MIT",
	"github.com/santhosh-tekuri/jsonschema/v6": "Apache-2.0",
	"github.com/spf13/cast":                    "MIT",
	"github.com/spf13/cobra":                   "Apache-2.0",
	"github.com/spf13/pflag":                   "BSD-3-Clause",
	"github.com/tidwall/gjson":                 "MIT",
	"github.com/tidwall/match":                 "MIT",
	"github.com/tidwall/pretty":                "MIT",
	"github.com/yosida95/uritemplate/v3":       "BSD-3-Clause",
	"golang.org/x/sync":                        "BSD-3-Clause",
	"golang.org/x/sys":                         "BSD-3-Clause",
	"golang.org/x/text":                        "BSD-3-Clause",
	"gopkg.in/yaml.v3":                         "MIT",
}

// permissive licences, and words of theirs that no other has.
var permissive = map[string]string{
	"MIT":          "Permission is hereby granted, free of charge, to any person obtaining a copy",
	"BSD-2-Clause": "Redistribution and use in source and binary forms",
	"BSD-3-Clause": "Neither the name of",
	"Apache-2.0":   "Apache License",
	"ISC":          "Permission to use, copy, modify, and/or distribute this software",
	"MIT-0":        "MIT No Attribution",
}

// TestLicences: every module that is linked into the program is pinned, listed above, and has
// the licence that it is said to have.
func TestLicences(t *testing.T) {
	if testing.Short() {
		t.Skip("asks the go command")
	}
	gocmd, err := exec.LookPath("go")
	if err != nil {
		t.Skip("no go command here")
	}
	found := map[string]string{}
	for _, system := range []string{"linux", "darwin", "windows"} {
		cmd := exec.Command(gocmd, "list", "-deps", "-f", "{{with .Module}}{{.Path}} {{.Version}} {{.Dir}}{{end}}", "./cmd/parlance")
		cmd.Dir = ".."
		cmd.Env = append(os.Environ(), "GOOS="+system, "CGO_ENABLED=0")
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("%s: %v", system, err)
		}
		for line := range strings.Lines(string(out)) {
			path, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
			version, dir, _ := strings.Cut(rest, " ")
			if path == "" || path == "parlance" {
				continue
			}
			if version == "" {
				t.Errorf("%s is not pinned", path)
			}
			found[path] = dir
		}
	}
	sums, err := os.ReadFile("../go.sum")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range slices.Sorted(maps.Keys(found)) {
		name, ok := licences[path]
		if !ok {
			t.Errorf("%s stands in the program, and under no licence here", path)
			continue
		}
		if !strings.Contains(string(sums), path+" v") {
			t.Errorf("%s: not in go.sum", path)
		}
		files, _ := filepath.Glob(filepath.Join(found[path], "[LC][IO][CP][EY]*"))
		text := ""
		for _, f := range files {
			data, err := os.ReadFile(f)
			if err != nil {
				t.Fatal(err)
			}
			text += string(data)
		}
		words, known := permissive[name]
		if !known || !strings.Contains(strings.Join(strings.Fields(text), " "), words) {
			t.Errorf("%s: not %s by what its files say", path, name)
		}
	}
	for path := range licences {
		if found[path] == "" {
			t.Errorf("%s stands in the program no longer", path)
		}
	}
	if data, err := os.ReadFile("render/LICENSE.gitleaks"); err != nil || !strings.Contains(string(data), permissive["MIT"]) {
		t.Errorf("the licence of the rules for secrets: %v", err)
	}
}
