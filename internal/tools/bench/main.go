// Command bench measures Parlance against ripgrep on an invented home, and holds it to its goals.
//
//	go run ./internal/tools/bench                    # a home of 100 MB, the table of goals
//	go run ./internal/tools/bench -bytes 1GB
//	go run ./internal/tools/bench -bytes 1GB -repeat 40   # 40 GB: each session under 40 ids
//	go run ./internal/tools/bench -giant 37GB        # one conversation of that size
//	go run ./internal/tools/bench -gate HEAD~1       # is this tree slower than that commit?
//
// It builds the program, writes the home with corpusgen (once; it stays in -dir), and runs
// ripgrep and Parlance in turns, each in a new process, with the files in the page cache. What
// counts is the median of the ratios of neighbours; seconds depend on the machine. Then it
// compares what searches find with the manifest of the home: with the program as it is, and
// with 1 and 16 workers. It exits with 1 if a goal that must be reached is missed.
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
)

func main() {
	if len(os.Args) == 3 && os.Args[1] == "walk" {
		walk(os.Args[2])
		return
	}
	dir := flag.String("dir", filepath.Join(os.TempDir(), "parlance-bench"), "where homes and programs are kept")
	size := flag.String("bytes", "100MB", "size of the home")
	repeat := flag.Int("repeat", 1, "let each session stand in the home so many times")
	rounds := flag.Int("rounds", 5, "how often everything is measured")
	giant := flag.String("giant", "", "measure one conversation of that size instead")
	gate := flag.String("gate", "", "compare with the program of that commit instead")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	b := &bench{dir: *dir, rounds: *rounds, repeat: max(1, *repeat), ctx: ctx}
	var err error
	switch {
	case flag.NArg() > 0:
		err = fmt.Errorf("%q: there are only flags", flag.Arg(0))
	case *gate != "":
		err = b.gate(*gate)
	case *giant != "":
		err = b.giant(*giant)
	default:
		err = b.goals(*size)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

// A bench is one run of this program.
type bench struct {
	ctx    context.Context
	dir    string
	rounds int
	repeat int

	program string // parlance
	home    string
	man     manifest
}

// manifest is the part of corpusgen's that matters here.
type manifest struct {
	Sessions int
	Bytes    int64
	Needles  []needle
	Special  map[string]string // name to provider:id
	Paths    map[string]string // provider:id to path
	AgeRank  map[string]int    `json:"age_rank"`
	Copies   map[string]string // provider:id to that of which it is a copy
}

type needle struct {
	Name, Text, Where string
	Sessions          []string
}

// build compiles the program of the tree at root.
func (b *bench) build(root, name string) (string, error) {
	program := filepath.Join(b.dir, name)
	cmd := exec.CommandContext(b.ctx, "go", "build", "-o", program, "./cmd/parlance")
	cmd.Dir, cmd.Env, cmd.Stderr = root, append(os.Environ(), "CGO_ENABLED=0"), os.Stderr
	return program, cmd.Run()
}

// corpus makes the home, unless it is there, and reads its manifest.
func (b *bench) corpus(size string) error {
	name := "home-" + size
	if b.repeat > 1 {
		name += fmt.Sprintf("-%d", b.repeat)
	}
	b.home = filepath.Join(b.dir, name)
	doc := b.home + ".manifest.json"
	if _, err := os.Stat(doc); err != nil {
		if err := os.RemoveAll(b.home); err != nil {
			return err
		}
		fmt.Fprintln(os.Stderr, "writing", b.home)
		cmd := exec.CommandContext(b.ctx, "go", "run", "./internal/tools/corpusgen", "-out", b.home, "-bytes", size, "-repeat", fmt.Sprint(b.repeat))
		cmd.Stdout, cmd.Stderr = os.Stderr, os.Stderr
		if err := cmd.Run(); err != nil {
			return fmt.Errorf("corpusgen: %w", err)
		}
	}
	data, err := os.ReadFile(doc)
	if err != nil {
		return err
	}
	return json.Unmarshal(data, &b.man)
}

// prepare makes program and home.
func (b *bench) prepare(size string) error {
	if err := os.MkdirAll(b.dir, 0o755); err != nil {
		return err
	}
	if err := b.corpus(size); err != nil {
		return err
	}
	var err error
	b.program, err = b.build(".", "parlance")
	return err
}
