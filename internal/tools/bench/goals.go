package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

const (
	needleAbsent = "vexillum-absent-9a7d3e"
	needleCommon = "pipeline"
	needlePart   = "mossgate-lantern-0417"
	wordsCommon  = "schema worker"
	giantBytes   = 200 << 20
	f1AimSeconds = 0.06 // beyond the start of the program
)

// A goal is a line of the table. Larger is worse.
type goal struct {
	id, what   string
	unit       string // of what follows
	must, aim  float64
	reached    float64
	note       string
	unmeasured bool
}

func (g goal) missed() bool { return !g.unmeasured && g.reached > g.must }

func (b *bench) parlance(name string, args ...string) command {
	return command{name: name, args: append(append([]string{b.program}, args...), "--home", b.home), free: true}
}

// goals measures everything and prints the table.
func (b *bench) goals(size string) error {
	if err := b.prepare(size); err != nil {
		return err
	}
	giant, remove, err := b.newestGiant()
	if err != nil {
		return err
	}
	remove() // what an earlier run left
	self, err := os.Executable()
	if err != nil {
		return err
	}
	yard, yardArgs := searcher()
	oldest := b.oldest()
	long, fork := b.man.Special["render_100m"], "render_100m"
	if long == "" {
		long, fork = b.man.Special["render_20m"], "render_20m"
	}
	commands := []command{
		{name: "R", args: append(yardArgs, needleAbsent, b.home), free: true},
		{name: "F", args: []string{self, "walk", b.home}},
		b.parlance("start", "version"),
		b.parlance("L1", "list"),
		b.parlance("S1 absent", "search", needleAbsent),
		b.parlance("S1 unique", "search", b.needle("unique_old_user_claude").Text),
		b.parlance("S2", "search", needleCommon),
		b.parlance("S3", "search", needlePart),
		b.parlance("S5 id", "search", oldest),
		b.parlance("S5 mark", "search", strings.TrimPrefix(strings.Fields(b.needle("checkpoint_claude_0").Text)[2], "UUID=")),
		b.parlance("S6 planted", "search", b.needle("words_claude").Text),
		b.parlance("S6 common", "search", wordsCommon),
		b.parlance("F1", "fork", b.man.Special["render_200k_claude"]),
	}
	if long != "" {
		commands = append(commands,
			command{name: "C", args: []string{"cat", filepath.Join(b.home, filepath.FromSlash(b.man.Paths[long]))}},
			b.parlance("F2", "fork", long))
	}
	got, err := inTurns(b.ctx, b.rounds, commands)
	if err != nil {
		return err
	}
	r := got["R"]
	goals := []goal{
		{id: "L1", what: "list the newest 50", unit: "R", must: 0.2, aim: 0.1, reached: got["L1"].ratio(r)},
		{id: "L1", what: "the same", unit: "F", must: 3, aim: 3, reached: got["L1"].ratio(got["F"])},
		{id: "S1", what: "search, absent needle", unit: "R", must: 1.5, aim: 1, reached: got["S1 absent"].ratio(r)},
		{id: "S1", what: "search, unique old needle", unit: "R", must: 1.5, aim: 1, reached: got["S1 unique"].ratio(r)},
		{id: "S2", what: "search, common word, first 50", unit: "R", must: 1, aim: 0.3, reached: got["S2"].ratio(r)},
		{id: "S3", what: "search, needle in 1 % of conversations", unit: "R", must: 2, aim: 1.2, reached: got["S3"].ratio(r)},
		{id: "S5", what: "id of the oldest conversation", unit: "R", must: 1.5, aim: 0.5, reached: got["S5 id"].ratio(r)},
		{id: "S5", what: "checkpoint UUID in an old one", unit: "R", must: 1.5, aim: 0.5, reached: got["S5 mark"].ratio(r)},
		{id: "S6", what: "two words of two messages of one", unit: "R", must: 2, aim: 1.2, reached: got["S6 planted"].ratio(r)},
		{id: "S6", what: "two common words", unit: "R", must: 2, aim: 1.2, reached: got["S6 common"].ratio(r)},
		{id: "F1", what: "fork 200 KB by id", unit: "R", must: 0.5, aim: (got["start"].seconds() + f1AimSeconds) / r.seconds(), reached: got["F1"].ratio(r),
			note: fmt.Sprintf("%.0f ms beyond process start", 1000*(got["F1"].seconds()-got["start"].seconds()))},
	}
	if long != "" {
		goals = append(goals,
			goal{id: "F2", what: "fork " + strings.TrimPrefix(fork, "render_"), unit: "C", must: 5, aim: 4, reached: got["F2"].ratio(got["C"]),
				note: fmt.Sprintf("%.2f s; C is cat into a pipe, %.0f ms", got["F2"].seconds(), 1000*got["C"].seconds())},
			goal{id: "M2", what: "peak memory, fork " + strings.TrimPrefix(fork, "render_"), unit: "MiB", must: 96, aim: 48, reached: got["F2"].peak(), unmeasured: got["F2"].peak() == 0})
	}
	more, err := b.moreGoals(giant, remove)
	if err != nil {
		return err
	}
	recall, err := b.recall()
	if err != nil {
		return err
	}
	served, err := b.served()
	if err != nil {
		return err
	}
	interpreter, err := b.interpreter()
	if err != nil {
		return err
	}
	redaction, err := b.redaction()
	if err != nil {
		return err
	}
	// Last, as it holds files in memory, which a process that is begun counts as its own peak.
	memory, err := b.memory(commands, got)
	if err != nil {
		return err
	}
	goals = slices.Concat(goals, more, recall, served, interpreter, redaction, []goal{memory})
	slices.SortStableFunc(goals, func(a, b goal) int { return strings.Compare(order(a.id), order(b.id)) })

	fmt.Printf("\n%d conversations, %.2f GB; R = %s, every byte: %.2f s, %.0f MiB; F = walk and stat: %.3f s; start of the program %.0f ms; %d rounds\n\n",
		b.man.Sessions, float64(b.man.Bytes)/(1<<30), yard, r.seconds(), r.peak(), got["F"].seconds(), 1000*got["start"].seconds(), b.rounds)
	return table(os.Stdout, goals)
}

// memory is the goal that the list or a search came nearest to, or went furthest beyond: what
// may be used depends on the longest line that matches.
func (b *bench) memory(commands []command, got map[string]series) (worst goal, err error) {
	texts := map[string]string{} // by command
	for _, c := range commands {
		if c.name[0] == 'L' || c.name[0] == 'S' {
			texts[c.name] = ""
			if c.args[1] == "search" {
				texts[c.name] = c.args[2]
			}
		}
	}
	longest, err := b.longestLines(slices.Collect(maps.Values(texts)))
	if err != nil {
		return goal{}, err
	}
	for name, text := range texts {
		line := float64(longest[text]) / (1 << 20)
		g := goal{id: "M1", what: "peak memory of list and search, at worst: " + name, unit: "MiB", must: 64 + 3*line, aim: 32 + 2*line, reached: got[name].peak(),
			note: fmt.Sprintf("longest matching line %.2g MiB", line)}
		g.unmeasured = g.reached == 0
		if worst.id == "" || g.reached/g.must > worst.reached/worst.must {
			worst = g
		}
	}
	return worst, nil
}

// longestLines is how many bytes the longest line has that holds a word of a text, by text.
// Of several names of one file one is looked into.
func (b *bench) longestLines(texts []string) (map[string]int, error) {
	longest := map[string]int{}
	type file struct {
		bytes    int64
		modified time.Time
	}
	seen := map[file]bool{}
	return longest, filepath.WalkDir(b.home, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		info, err := d.Info()
		if err != nil || seen[file{info.Size(), info.ModTime()}] {
			return err
		}
		seen[file{info.Size(), info.ModTime()}] = true
		data, err := os.ReadFile(path)
		for line := range bytes.Lines(bytes.ToLower(data)) {
			for _, text := range texts {
				for _, word := range strings.Fields(strings.ToLower(text)) {
					if len(line) > longest[text] && bytes.Contains(line, []byte(word)) {
						longest[text] = len(line)
					}
				}
			}
		}
		return err
	})
}

// order sorts goals as they are numbered, kind by kind.
func order(id string) string {
	return fmt.Sprint(strings.Index("LSFMPDR", id[:1]), id)
}

// table prints goals; a missed one is an error.
func table(w io.Writer, goals []goal) error {
	fmt.Fprintf(w, "| goal | what | must | aim | reached | |\n|---|---|---|---|---|---|\n")
	var missed []string
	for _, g := range goals {
		if g.unmeasured {
			fmt.Fprintf(w, "| %s | %s | %s | %s | not measured | %s |\n", g.id, g.what, quantity(g.must, g.unit), quantity(g.aim, g.unit), g.note)
			continue
		}
		word := ""
		switch {
		case g.missed():
			word = "**missed**"
			missed = append(missed, g.id)
		case g.reached <= g.aim:
			word = "aim"
		}
		if g.note != "" {
			word = strings.TrimSpace(word + " (" + g.note + ")")
		}
		fmt.Fprintf(w, "| %s | %s | %s | %s | %s | %s |\n", g.id, g.what, quantity(g.must, g.unit), quantity(g.aim, g.unit), quantity(g.reached, g.unit), word)
	}
	if len(missed) > 0 {
		return errors.New("missed: " + strings.Join(slices.Compact(missed), ", "))
	}
	return nil
}

func quantity(n float64, unit string) string {
	if n >= 10 {
		return fmt.Sprintf("%.0f %s", n, unit)
	}
	return fmt.Sprintf("%.2g %s", n, unit)
}

func (b *bench) needle(name string) needle {
	i := slices.IndexFunc(b.man.Needles, func(n needle) bool { return n.Name == name })
	if i < 0 {
		return needle{}
	}
	return b.man.Needles[i]
}

func (b *bench) oldest() (id string) {
	for of, rank := range b.man.AgeRank {
		if id == "" || rank > b.man.AgeRank[id] {
			id = of
		}
	}
	return id
}

// newestGiant makes a conversation that is as large as any in the home, and the newest. It
// lies in the home only between the two calls it gives.
func (b *bench) newestGiant() (put func() error, remove func(), err error) {
	path := filepath.Join(b.home, ".claude", "projects", "-home-dev-work-giant", "00000000-0000-4000-8000-0000000000aa.jsonl")
	remove = func() { _ = os.RemoveAll(filepath.Dir(path)) }
	from, err := os.ReadFile(filepath.Join(b.home, filepath.FromSlash(b.man.Paths[b.man.Special["render_200k_claude"]])))
	if err != nil {
		return nil, nil, err
	}
	return func() error {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		f, err := os.Create(path)
		if err != nil {
			return err
		}
		for n := 0; n < giantBytes && err == nil; n += len(from) {
			_, err = f.Write(from)
		}
		return errors.Join(err, f.Close(), os.Chtimes(path, time.Now(), time.Now().Add(-time.Hour)))
	}, remove, nil
}

// moreGoals changes the home for a moment: a giant becomes the newest, and a conversation is
// written just now.
func (b *bench) moreGoals(put func() error, remove func()) (goals []goal, err error) {
	defer remove()
	var without, with series
	for range b.rounds {
		took, _, err := run(b.ctx, b.parlance("L2", "list"))
		if err != nil {
			return nil, err
		}
		without = append(without, took)
		if err := put(); err != nil {
			return nil, err
		}
		for i := range 2 { // the first fills the cache
			if took, _, err = run(b.ctx, b.parlance("L2", "list")); err != nil {
				return nil, err
			}
			if i > 0 {
				with = append(with, took)
			}
		}
		remove()
	}
	added := make([]float64, len(with))
	for i := range with {
		added[i] = 1000 * (with[i].seconds - without[i].seconds)
	}
	goals = append(goals, goal{id: "L2", what: "a newest file of 200 MiB adds to the list", unit: "ms", must: 50, aim: 10,
		reached: median(added, func(x float64) float64 { return x })},
		goal{id: "M1", what: "peak memory of that list", unit: "MiB", must: 64, aim: 32, reached: with.peak(), unmeasured: with.peak() == 0})

	path := filepath.Join(b.home, ".claude", "projects", "-home-dev-work-giant", "00000000-0000-4000-8000-0000000000ab.jsonl")
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return nil, err
	}
	line, err := json.Marshal(map[string]any{
		"type": "user", "sessionId": "00000000-0000-4000-8000-0000000000ab", "cwd": "/home/dev/work/giant", "version": "2.1.7", "uuid": "00000000-0000-4000-8000-0000000000ac",
		"parentUuid": nil, "isSidechain": false, "timestamp": time.Now().UTC().Format(time.RFC3339), "message": map[string]any{"role": "user", "content": "sandpiperquay, just now"},
	})
	if err != nil {
		return nil, err
	}
	if err := os.WriteFile(path, append(line, '\n'), 0o644); err != nil {
		return nil, err
	}
	missing := 0.0
	if found, err := b.search("sandpiperquay"); err != nil {
		return nil, err
	} else if len(found) != 1 {
		missing = 1
	}
	return append(goals, goal{id: "S7", what: "a conversation written a second ago", unit: "missed", reached: missing}), nil
}

// search gives what the program finds.
func (b *bench) search(args ...string) (found, error) {
	c := b.parlance("search", append([]string{"search", "--json"}, args...)...)
	c.keep = true
	_, out, err := run(b.ctx, c)
	if err != nil {
		return nil, err
	}
	all := found{}
	for line := range strings.Lines(string(out)) {
		var row struct {
			ID      string
			Matched []string
		}
		if err := json.Unmarshal([]byte(line), &row); err != nil {
			return nil, err
		}
		all[row.ID] = row.Matched
	}
	return all, nil
}
