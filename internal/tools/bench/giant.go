package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
)

// giant measures one conversation of many gigabytes. It is sparse: lines of a real one, again
// and again, with holes of nearly 16 MB between them, which are read like any other bytes.
func (b *bench) giant(size string) error {
	if err := b.prepare("100MB"); err != nil {
		return err
	}
	bytes, err := parseSize(size)
	if err != nil {
		return err
	}
	from, err := os.Open(filepath.Join(b.home, filepath.FromSlash(b.man.Paths[b.man.Special["render_200k_claude"]])))
	if err != nil {
		return err
	}
	defer from.Close()
	home := filepath.Join(b.dir, "giant-"+size)
	path := filepath.Join(home, ".claude", "projects", "-home-dev-work-giant", "00000000-0000-4000-8000-0000000000aa.jsonl")
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	defer os.RemoveAll(home)
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	const step = 16 << 20
	for at := int64(0); at < bytes && err == nil; at += step {
		if _, err = from.Seek(0, io.SeekStart); err == nil {
			if _, err = f.Seek(at, io.SeekStart); err == nil {
				if at > 0 { // ends the hole
					_, err = f.WriteString("\n")
				}
				if err == nil {
					_, err = io.Copy(f, from)
				}
			}
		}
	}
	if err := errors.Join(err, f.Close()); err != nil {
		return err
	}
	b.home = home
	yard, args := searcher()
	yard, args = yard+" -a", append(args, "-a") // or a hole would end it, as no text has those
	commands := []command{
		{name: "R", args: append(args, needleAbsent, home), free: true},
		b.parlance("list", "list"),
		b.parlance("search, absent needle", "search", needleAbsent),
		b.parlance("fork", "fork", strings.TrimSuffix(filepath.Base(path), ".jsonl")),
	}
	got, err := inTurns(b.ctx, b.rounds, commands)
	if err != nil {
		return err
	}
	fmt.Printf("one conversation of %s, R = %s\n\n| | seconds | R | peak MiB |\n|---|---|---|---|\n", size, yard)
	for _, c := range commands {
		s := got[c.name]
		fmt.Printf("| %s | %.2f | %.2g | %.0f |\n", c.name, s.seconds(), s.ratio(got["R"]), s.peak())
	}
	return nil
}

// parseSize reads a size as corpusgen does.
func parseSize(s string) (int64, error) {
	var n float64
	var unit string
	if _, err := fmt.Sscanf(strings.ToUpper(s), "%f%s", &n, &unit); err != nil {
		return 0, fmt.Errorf("%q is no size", s)
	}
	unitBytes := map[string]float64{"KB": 1 << 10, "MB": 1 << 20, "GB": 1 << 30}[unit]
	if unitBytes == 0 || n <= 0 {
		return 0, fmt.Errorf("%q is no size", s)
	}
	return int64(n * unitBytes), nil
}
