//go:build unix

package mapping

import (
	"path/filepath"
	"slices"
	"syscall"
	"testing"
)

func TestFindNamedPipes(t *testing.T) {
	dir := home(t, "s/b.jsonl")
	for _, name := range []string{"s/a.jsonl", "q"} {
		if err := syscall.Mkfifo(filepath.Join(dir, name), 0o644); err != nil {
			t.Skip(err)
		}
	}
	// A pipe in the place of a folder must not block either.
	files, errs := acme([]string{"~/s/*.jsonl", "~/q/*.jsonl", "~/s/a.jsonl/*"}).Find(t.Context(), Env{Home: dir})
	if got, want := rows(dir, files), []string{"s/b.jsonl [0]"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	if got, want := errorRows(dir, errs), []string{"acme: ~/s/a.jsonl: is a named pipe, not a file"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}
