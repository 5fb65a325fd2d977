package cli

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestCommandsNameTheirLimits: what a command refuses because it is too much says which limit it
// is; what cannot be read at all is not waited for.
func TestCommandsNameTheirLimits(t *testing.T) {
	for _, row := range []struct {
		name, says string
		args       []string
		config     func(path string) error
	}{
		{"a budget", "tokensMax (100000000)", []string{"fork", "x", "--tokens", "999999999"}, nil},
		{"config.yaml", "larger than configMaxBytes (1048576)", []string{"list"}, func(path string) error {
			return os.WriteFile(path, bytes.Repeat([]byte("# \n"), 400_000), 0o600)
		}},
		{"config.yaml is a folder", "config.yaml: not a regular file", []string{"list"}, func(path string) error { return os.Mkdir(path, 0o700) }},
	} {
		t.Run(row.name, func(t *testing.T) {
			folder := t.TempDir()
			t.Setenv("HOME", t.TempDir())
			t.Setenv("XDG_CONFIG_HOME", folder)
			t.Setenv("APPDATA", folder)
			if err := os.Mkdir(filepath.Join(folder, "parlance"), 0o700); err != nil {
				t.Fatal(err)
			}
			if row.config != nil {
				if err := row.config(filepath.Join(folder, "parlance", "config.yaml")); err != nil {
					t.Fatal(err)
				}
			}
			var out, errw bytes.Buffer
			code := run(context.Background(), append(row.args, "--home", t.TempDir()), strings.NewReader(""), &out, &errw)
			if code != exitWrong || !strings.Contains(errw.String(), row.says) {
				t.Errorf("exit %d: %s%s", code, out.String(), errw.String())
			}
		})
	}
}
