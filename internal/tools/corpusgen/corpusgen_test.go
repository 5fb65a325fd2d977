package main

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

var small = options{seed: 1, bytes: 3 * mib, tools: []string{"claude", "codex", "gemini", "pi", "kiro"}, end: time.Date(2026, 11, 28, 18, 0, 0, 0, time.UTC), repeat: 1}

// files are the contents of a folder: paths with times to sums, or to the texts themselves.
func files(t *testing.T, dir string, content func([]byte) string) map[string]string {
	t.Helper()
	out := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		data, err := os.ReadFile(path)
		rel, _ := filepath.Rel(dir, path)
		out[filepath.ToSlash(rel)+info.ModTime().UTC().Format(" 2006-01-02T15:04:05")] = content(data)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func sum(data []byte) string {
	h := sha256.Sum256(data)
	return hex.EncodeToString(h[:])
}

func TestSameFlagsSameBytes(t *testing.T) {
	var first map[string]string
	var firstMan string
	for range 2 {
		dir := t.TempDir()
		man, _, err := generate(dir, small)
		if err != nil {
			t.Fatal(err)
		}
		got := files(t, dir, sum)
		if first == nil {
			first, firstMan = got, fmt.Sprint(man)
		}
		if !maps.Equal(got, first) || fmt.Sprint(man) != firstMan {
			t.Fatal("a second run wrote something else")
		}
	}
	other := small
	other.seed = 2
	dir := t.TempDir()
	if _, _, err := generate(dir, other); err != nil {
		t.Fatal(err)
	}
	if maps.Equal(files(t, dir, sum), first) {
		t.Error("another seed wrote the same")
	}
}

// TestManifestTellsWhatIsThere holds each needle against all files: it stands in the sessions
// that the manifest names, and in no other.
func TestManifestTellsWhatIsThere(t *testing.T) {
	dir := t.TempDir()
	man, all, err := generate(dir, small)
	if err != nil {
		t.Fatal(err)
	}
	texts, paths, size := map[string]string{}, map[string]string{}, int64(0)
	for _, s := range all {
		data, err := os.ReadFile(filepath.Join(dir, s.path))
		if err != nil {
			t.Fatal(err)
		}
		size += int64(len(data))
		texts[s.fullID()], paths[s.fullID()] = string(data), filepath.ToSlash(s.path)
	}
	if len(texts) != man.Sessions || len(man.AgeRank) != man.Sessions || size != man.Bytes {
		t.Errorf("%d sessions of %d bytes, the manifest says %d of %d", len(texts), size, man.Sessions, man.Bytes)
	}
	for _, n := range man.Needles {
		words := []string{n.Text}
		if n.Where == inWords {
			words = strings.Fields(n.Text)
		}
		var holders []string
		for id, text := range texts {
			if !slices.ContainsFunc(words, func(w string) bool { return !strings.Contains(text, strings.Trim(q(w), `"`)) }) {
				holders = append(holders, id)
			}
		}
		slices.Sort(holders)
		want := slices.Sorted(slices.Values(n.Sessions))
		if n.Text == commonWord {
			if len(holders) < len(texts)*9/10 {
				t.Errorf("%s: in %d of %d sessions", n.Name, len(holders), len(texts))
			}
			continue
		}
		if !slices.Equal(holders, want) {
			t.Errorf("%s: %q stands in %v, the manifest says %v", n.Name, n.Text, holders, want)
		}
	}
	for name, id := range man.Special {
		if man.Paths[id] != paths[id] || paths[id] == "" {
			t.Errorf("%s: %s lies in %q, the manifest says %q", name, id, paths[id], man.Paths[id])
		}
	}
}

func TestRepeatsAreLinks(t *testing.T) {
	o := small
	o.repeat, o.bytes = 3, mib
	dir := t.TempDir()
	man, all, err := generate(dir, o)
	if err != nil {
		t.Fatal(err)
	}
	sums := map[string]int{}
	for _, s := range files(t, dir, sum) {
		sums[s]++
	}
	if man.Sessions != 3*len(all) || len(man.Copies) != 2*len(all) {
		t.Errorf("%d sessions with %d copies, want %d", man.Sessions, len(man.Copies), 3*len(all))
	}
	for s, n := range sums {
		if n != 3 {
			t.Fatalf("%s stands there %d times", s, n)
		}
	}
}
