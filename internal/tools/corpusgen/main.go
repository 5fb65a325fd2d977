// Command corpusgen writes a fake home of coding agents' transcripts, for benchmarks and for
// tests of recall.
//
// Everything in it is invented. The same flags give the same bytes and the same modification
// times on every run. A manifest (HOME.manifest.json, beside the home) says which sessions hold
// which planted needle, so that what a program finds can be compared with what is there. The
// proportions (71 % of the bytes are tool results, a giant holds as much as a thousand others)
// are an assumption about real homes, not a measurement of one.
//
//	corpusgen -out DIR [-seed 1] [-bytes 100MB] [-sessions 0] [-repeat 1]
//	          [-tools claude,codex,gemini,pi,kiro] [-end 2026-11-28T18:00:00Z] [-long=false]
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sort"
	"strconv"
	"strings"
	"time"
)

const (
	kib = 1 << 10
	mib = 1 << 20
)

// options are what decides every byte of a corpus.
type options struct {
	seed   uint64
	bytes  int64
	count  int // sessions; 0: as many as bytes suggest
	tools  []string
	end    time.Time // the newest possible modification time
	long   bool      // plant lines of 5 MB, and from 500 MB up of 16 MB
	repeat int       // how often each session stands in the home, all but one as hard links
}

func parseSize(s string) (int64, error) {
	u, unit := strings.ToUpper(strings.TrimSpace(s)), int64(1)
	for suffix, n := range map[string]int64{"KB": kib, "MB": mib, "GB": 1 << 30} {
		if number, ok := strings.CutSuffix(u, suffix); ok {
			u, unit = number, n
			break
		}
	}
	f, err := strconv.ParseFloat(strings.TrimSpace(u), 64)
	if err != nil || f <= 0 {
		return 0, fmt.Errorf("bytes: %q is no size", s)
	}
	return int64(f * float64(unit)), nil
}

// generate writes the home and gives its manifest.
func generate(home string, o options) (*manifest, []*session, error) {
	v := newVocabulary(o.seed, 60000)
	all, man := plan(o)
	for _, s := range all {
		if err := write(home, s, o, v); err != nil {
			return nil, nil, err
		}
		for _, id := range s.copies {
			man.Copies[providers[s.tool]+":"+id] = s.fullID()
		}
		man.Sessions += o.repeat
		man.Bytes += s.bytes * int64(o.repeat)
		man.ToolBytes += s.toolBytes
		man.ProseBytes += s.proseBytes
		man.Messages += s.messages
		man.PerTool[s.tool]++
		man.BytesPerTool[s.tool] += s.bytes
	}
	return man, all, nil
}

// describe sums a corpus up for a person.
func describe(w io.Writer, man *manifest, all []*session) {
	sizes := make([]int64, len(all))
	total := int64(0)
	for i, s := range all {
		sizes[i] = s.bytes
		total += s.bytes
	}
	sort.Slice(sizes, func(i, j int) bool { return sizes[i] < sizes[j] })
	at := func(p float64) int64 { return sizes[int(p*float64(len(sizes)-1))] / kib }
	percent := func(n int64) float64 { return 100 * float64(n) / float64(total) }
	fmt.Fprintf(w, "%d sessions, %.1f MB, %d messages\n", man.Sessions, float64(man.Bytes)/mib, man.Messages)
	fmt.Fprintf(w, "tool results %.0f%% of the bytes, user and assistant text %.1f%%\n", percent(man.ToolBytes), percent(man.ProseBytes))
	fmt.Fprintf(w, "session KB: p10 %d  p50 %d  p90 %d  p99 %d  max %d\n", at(.1), at(.5), at(.9), at(.99), sizes[len(sizes)-1]/kib)
	for _, t := range []string{"claude", "codex", "gemini", "pi", "kiro"} {
		fmt.Fprintf(w, "  %-7s %5d sessions %8.1f MB\n", t, man.PerTool[t], float64(man.BytesPerTool[t])/mib)
	}
}

func run(args []string, stdout io.Writer) error {
	flags := flag.NewFlagSet("corpusgen", flag.ExitOnError)
	out := flags.String("out", "", "folder to use as the fake home (made if missing)")
	seed := flags.Uint64("seed", 1, "seed")
	size := flags.String("bytes", "100MB", "total size, such as 100MB or 1GB")
	count := flags.Int("sessions", 0, "number of sessions; 0 derives it from -bytes")
	repeat := flags.Int("repeat", 1, "let each session stand in the home so many times, all but one as hard links of another id")
	tools := flags.String("tools", "claude,codex,gemini,pi,kiro", "tools to write")
	end := flags.String("end", "2026-11-28T18:00:00Z", "the newest possible modification time")
	long := flags.Bool("long", true, "plant 5 MB lines (and 16 MB ones from 500MB up); false for small test homes")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if *out == "" {
		return fmt.Errorf("out: a folder is needed")
	}
	o := options{seed: *seed, count: *count, tools: strings.Split(*tools, ","), long: *long, repeat: max(1, *repeat)}
	var err error
	if o.bytes, err = parseSize(*size); err != nil {
		return err
	}
	if o.end, err = time.Parse(time.RFC3339, *end); err != nil {
		return fmt.Errorf("end: %w", err)
	}
	for _, t := range o.tools {
		if _, ok := shares[t]; !ok {
			return fmt.Errorf("tools: %q is not known", t)
		}
	}
	man, all, err := generate(*out, o)
	if err != nil {
		return err
	}
	doc, err := json.MarshalIndent(man, "", " ")
	if err != nil {
		return err
	}
	name := filepath.Clean(*out) + ".manifest.json"
	if err := os.WriteFile(name, append(doc, '\n'), 0o644); err != nil {
		return err
	}
	describe(stdout, man, all)
	fmt.Fprintln(stdout, "manifest:", filepath.Base(name))
	return nil
}

func main() {
	if err := run(os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "corpusgen:", err)
		os.Exit(1)
	}
}
