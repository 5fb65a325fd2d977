package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// served measures the server for agents: its start, what a call costs beyond the work, and
// what it says of its tools.
func (b *bench) served() ([]goal, error) {
	var starts, calls, direct series
	size := 0
	for range b.rounds {
		took, _, err := run(b.ctx, b.parlance("search", "search", needlePart))
		if err != nil {
			return nil, err
		}
		started, _, err := run(b.ctx, b.parlance("version", "version"))
		if err != nil {
			return nil, err
		}
		direct = append(direct, cost{seconds: took.seconds - started.seconds})
		s, err := b.serve()
		if err != nil {
			return nil, err
		}
		starts, calls, size = append(starts, cost{seconds: s.start}), append(calls, cost{seconds: s.call}), s.list
	}
	ms := func(s series) float64 { return 1000 * s.seconds() }
	return []goal{
		{id: "P1", what: "MCP, start and initialize", unit: "ms", must: 60, aim: 25, reached: ms(starts)},
		{id: "P2", what: "MCP, a search beyond the same work in the shell", unit: "ms", must: 10, aim: 2, reached: max(0, ms(calls)-ms(direct))},
		{id: "P3", what: "size of tools/list", unit: "KB", must: 4, aim: 2.5, reached: float64(size) / 1000},
	}, nil
}

type session struct {
	start, call float64 // seconds
	list        int     // bytes
}

// serve is one conversation with a server.
func (b *bench) serve() (s session, err error) {
	cmd := exec.CommandContext(b.ctx, b.program, "mcp", "--home", b.home)
	in, err := cmd.StdinPipe()
	if err != nil {
		return s, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return s, err
	}
	begin := time.Now()
	if err := cmd.Start(); err != nil {
		return s, err
	}
	defer func() {
		in.Close()
		err = errors.Join(err, cmd.Wait())
	}()
	answers := bufio.NewReaderSize(out, 1<<20)
	ask := func(line string) ([]byte, error) {
		if _, err := fmt.Fprintln(in, line); err != nil {
			return nil, err
		}
		for {
			answer, err := answers.ReadBytes('\n')
			var kind struct{ ID *int }
			if err != nil || json.Unmarshal(answer, &kind) == nil && kind.ID != nil {
				return answer, err
			}
		}
	}
	if _, err := ask(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"bench","version":"1"}}}`); err != nil {
		return s, err
	}
	s.start = time.Since(begin).Seconds()
	if _, err := fmt.Fprintln(in, `{"jsonrpc":"2.0","method":"notifications/initialized"}`); err != nil {
		return s, err
	}
	tools, err := ask(`{"jsonrpc":"2.0","id":2,"method":"tools/list"}`)
	if err != nil {
		return s, err
	}
	s.list = len(tools)
	begin = time.Now()
	_, err = ask(`{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"chat_search","arguments":{"search":"` + needlePart + `"}}}`)
	s.call = time.Since(begin).Seconds()
	return s, err
}

var benchLine = regexp.MustCompile(`(?m)^Benchmark([\w/=]+?)(?:-\d+)?\s+\d+\s+(\d+) ns/op`)

// benchmarks runs those of a package as often as there are rounds: their names to their times.
func (b *bench) benchmarks(pkg, pattern, times string, wanted ...string) (map[string]series, error) {
	cmd := exec.CommandContext(b.ctx, "go", "test", pkg, "-run", "^$", "-bench", pattern, "-benchtime", times, "-count", strconv.Itoa(b.rounds))
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("go test -bench %s: %w: %s", pattern, err, out)
	}
	got := map[string]series{}
	for _, m := range benchLine.FindAllStringSubmatch(string(out), -1) {
		ns, err := strconv.ParseFloat(m[2], 64)
		if err != nil {
			return nil, err
		}
		got[m[1]] = append(got[m[1]], cost{seconds: ns / 1e9})
	}
	for _, name := range wanted {
		if len(got[name]) != b.rounds {
			return nil, fmt.Errorf("benchmarks of %s say nothing of %s: %s", pkg, name, out)
		}
	}
	return got, nil
}

// interpreter compares a mapping with code written by hand for the same fields, by the
// benchmarks of internal/mapping.
func (b *bench) interpreter() (goals []goal, err error) {
	times, err := b.benchmarks("./internal/mapping", "^BenchmarkRead(ByHand)?$", "20x", "Read/all", "ReadByHand/all", "Read/talk", "ReadByHand/talk")
	if err != nil {
		return nil, err
	}
	for _, what := range []string{"all", "talk"} {
		goals = append(goals, goal{id: "D1", what: "a mapping against gjson by hand, " + what, unit: "x", must: 1.6, aim: 1.25, reached: times["Read/"+what].ratio(times["ReadByHand/"+what])})
	}
	return goals, nil
}

// redaction measures the first answer of a process, which has the rules to compile.
func (b *bench) redaction() (goals []goal, err error) {
	for _, secrets := range []string{"0", "60"} {
		name := "Secrets/secrets=" + secrets + "/first"
		times, err := b.benchmarks("./internal/render", "^Benchmark"+strings.ReplaceAll(name, "/", "$/^")+"$", "5x", name)
		if err != nil {
			return nil, err
		}
		goals = append(goals, goal{id: "R1", what: "redaction of an answer of 80 kB with " + secrets + " secrets, the first of a process", unit: "ms", must: 40, aim: 15, reached: 1000 * times[name].seconds()})
	}
	return goals, nil
}
