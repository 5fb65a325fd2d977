package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"io/fs"
	"os/exec"
	"path/filepath"
	"slices"
	"time"
)

// A command is a process to be measured.
type command struct {
	name string
	args []string
	free bool // exit code 1 is no failure: nothing was found
	keep bool // its output is wanted
}

// A cost is what one run of a command took.
type cost struct {
	seconds float64
	peakMiB float64 // 0 if the system does not tell
}

// A series holds the costs of a command, round by round.
type series []cost

func (s series) seconds() float64 {
	return median(s, func(c cost) float64 { return c.seconds })
}

func (s series) peak() (most float64) {
	for _, c := range s {
		most = max(most, c.peakMiB)
	}
	return most
}

// ratio is the median of the ratios to another series of the same rounds: what slows the
// machine down for a while slows both.
func (s series) ratio(to series) float64 {
	var all []float64
	for i := range s {
		all = append(all, s[i].seconds/to[i].seconds)
	}
	return median(all, func(x float64) float64 { return x })
}

func median[T any](list []T, of func(T) float64) float64 {
	var xs []float64
	for _, x := range list {
		xs = append(xs, of(x))
	}
	slices.Sort(xs)
	if n := len(xs); n%2 == 0 {
		return (xs[n/2-1] + xs[n/2]) / 2
	}
	return xs[len(xs)/2]
}

// run measures one process and gives its output.
func run(ctx context.Context, c command) (cost, []byte, error) {
	cmd := exec.CommandContext(ctx, c.args[0], c.args[1:]...)
	var out, errs bytes.Buffer
	// What is not wanted goes through a pipe all the same. It must not stay in memory: a new
	// process counts that of this one as its own peak.
	cmd.Stdout, cmd.Stderr = struct{ io.Writer }{io.Discard}, &errs
	if c.keep {
		cmd.Stdout = &out
	}
	start := time.Now()
	err := cmd.Run()
	took := cost{seconds: time.Since(start).Seconds()}
	if cmd.ProcessState != nil {
		took.peakMiB = peakMiB(cmd.ProcessState)
		if c.free && cmd.ProcessState.ExitCode() == 1 {
			err = nil
		}
	}
	if err != nil {
		err = fmt.Errorf("%s: %w: %s", c.name, err, errs.Bytes())
	}
	return took, out.Bytes(), err
}

// inTurns runs all commands once in each round, after one round that only warms the cache.
func inTurns(ctx context.Context, rounds int, commands []command) (map[string]series, error) {
	out := map[string]series{}
	for round := range rounds + 1 {
		for _, c := range commands {
			took, _, err := run(ctx, c)
			if err != nil {
				return nil, err
			}
			if round > 0 {
				out[c.name] = append(out[c.name], took)
			}
		}
	}
	return out, nil
}

// searcher is the yardstick: ripgrep, or grep where that is not installed.
func searcher() (name string, args []string) {
	if path, err := exec.LookPath("rg"); err == nil {
		return "rg -uu -l -i -F", []string{path, "-uu", "-l", "-i", "-F"}
	}
	fmt.Println("ripgrep is not installed: grep -rliF stands in for it, which is slower, so that goals are easier to reach")
	return "grep -rliF", []string{"grep", "-rliF"}
}

// walk stats every file below dir and does nothing else.
func walk(dir string) {
	_ = filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if err == nil {
			_, err = d.Info()
		}
		return err
	})
}
