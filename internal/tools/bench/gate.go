package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

const (
	gateRounds = 7
	gateMost   = 1.25
	gateTries  = 2
	gateBytes  = "100MB"
)

// gate builds the program of a commit and that of this tree, runs them in turns, and says
// whether this one is slower than a noisy machine explains: what seems to be is measured
// again, since something else may have begun in the middle.
func (b *bench) gate(commit string) error {
	if err := exec.CommandContext(b.ctx, "git", "rev-parse", "--verify", "--quiet", commit+"^{commit}").Run(); err != nil {
		fmt.Printf("there is no commit %s here, so there is nothing to compare with\n", commit)
		return nil
	}
	if err := b.prepare(gateBytes); err != nil {
		return err
	}
	tree, err := os.MkdirTemp(b.dir, "gate")
	if err != nil {
		return err
	}
	defer os.RemoveAll(tree)
	archive := filepath.Join(tree, "tree.tar")
	for _, args := range [][]string{{"git", "archive", "-o", archive, commit}, {"tar", "-xf", archive, "-C", tree}} {
		if out, err := exec.CommandContext(b.ctx, args[0], args[1:]...).CombinedOutput(); err != nil {
			return fmt.Errorf("%s: %w: %s", args[0], err, out)
		}
	}
	before, err := b.build(tree, "parlance-before")
	if err != nil {
		return err
	}
	var slower []string
	fmt.Printf("%-24s %8s %8s %6s\n", "", "before", "now", "ratio")
	for _, args := range [][]string{
		{"list"},
		{"search", needleAbsent},
		{"search", needleCommon},
		{"search", needlePart},
		{"search", wordsCommon},
		{"fork", b.man.Special["render_200k_claude"]},
		{"fork", b.man.Special["render_20m"]},
	} {
		now := b.parlance("now", args...)
		then := now
		then.name, then.args = "before", append([]string{before}, now.args[1:]...)
		ratio := gateMost + 1
		for try := 0; try < gateTries && ratio > gateMost; try++ {
			got, err := inTurns(b.ctx, gateRounds, []command{then, now})
			if err != nil {
				return err
			}
			ratio = got["now"].ratio(got["before"])
			fmt.Printf("%-24.24s %6.0fms %6.0fms %6.2f\n", fmt.Sprint(args), 1000*got["before"].seconds(), 1000*got["now"].seconds(), ratio)
		}
		if ratio > gateMost {
			slower = append(slower, args[0])
		}
	}
	if slower != nil {
		return fmt.Errorf("slower than %s by more than %v: %v", commit, gateMost, slower)
	}
	return nil
}
