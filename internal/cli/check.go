package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"parlance/internal/chat"
	"parlance/internal/mapping"
	"parlance/internal/render"
)

func (a *app) checkCommand() *cobra.Command {
	watch, damage := false, false
	cmd := &cobra.Command{
		Use:   "check [FILE.yaml...]",
		Short: "Check mapping files and run their tests; with --home, say what they read there",
		Long: `Check reads mapping files, says everything that is wrong with them, each with its place and
a hint, and runs their tests. Without a file it checks all mappings, yours and the built-in
ones. With --home it also reads that home and says what came of it, source by source.

With --torture it also damages copies, in a temporary folder, of the samples in a mapping's
tests, and of the files that it finds in --home: cut, mixed up, of other types, replaced and
changed while they are read, and some forty kinds more. Reading them must neither fail nor
hang, must keep every message that was not hit, and must say what is lost.`,
		Example: `  parlance check acme.yaml
  parlance check acme.yaml --home ~ --watch
  parlance check acme.yaml --torture`,
		Args: args(cobra.ArbitraryArgs),
		RunE: func(cmd *cobra.Command, files []string) error {
			if !watch {
				_, err := a.check(cmd.Context(), files, damage)
				return err
			}
			return a.watch(cmd.Context(), func() ([]string, error) { return a.check(cmd.Context(), files, damage) })
		},
	}
	cmd.Flags().BoolVar(&watch, "watch", false, "run again at every save of a mapping, and when a file of --home changes")
	cmd.Flags().BoolVar(&damage, "torture", false, "damage copies of the tests' samples, and of the files of --home, in every way we know")
	return cmd
}

// check also says which files it read.
func (a *app) check(ctx context.Context, files []string, damage bool) (read []string, err error) {
	set, err := a.openSet()
	if err != nil {
		return nil, err
	}
	read = slices.Clone(files)
	var all []*mapping.Mapping
	var problems []mapping.Problem
	unreadable := false
	add := func(m *mapping.Mapping, found []mapping.Problem) {
		problems = append(problems, found...)
		if m != nil {
			problems = append(problems, m.RunTests(ctx)...)
			all = append(all, m)
		}
	}
	for _, file := range files {
		m, found, err := set.LoadFile(file)
		if err != nil {
			unreadable = true
			a.complain("parlance check: " + err.Error())
			continue
		}
		add(m, found)
	}
	if len(files) == 0 {
		for _, name := range set.Names() {
			add(set.Mapping(name))
			if file, _ := set.Origin(name); file != "built-in" {
				read = append(read, file)
			}
		}
	}
	if len(files) == 0 {
		problems = append(problems, mapping.CrossCheck(ctx, all)...)
	}
	if err := ctx.Err(); err != nil {
		return read, err
	}
	wrongs, warnings := 0, 0
	for _, p := range problems {
		if p.Warning {
			warnings++
		} else {
			wrongs++
		}
	}
	if a.json {
		if err := a.problemsJSON(problems); err != nil {
			return read, err
		}
	} else {
		for _, p := range problems {
			text := render.Clean(p.String())
			if p.Warning {
				text = "warning: " + text
			}
			fmt.Fprintln(a.out, text)
		}
	}
	if len(a.homes) > 0 {
		found, err := a.checkHomes(ctx, all)
		read = append(read, found...)
		if err != nil {
			return read, err
		}
	}
	if damage {
		bad, err := a.torture(ctx, all)
		if err != nil {
			return read, err
		}
		wrongs += bad
	}
	if !a.json {
		fmt.Fprintf(a.err, "%s, %s, %s\n", plural(len(all), "mapping"), plural(wrongs, "problem"), plural(warnings, "warning"))
	}
	switch {
	case unreadable:
		return read, &exitError{exitWrong, ""}
	case wrongs > 0:
		return read, &exitError{exitNone, ""}
	}
	return read, nil
}

// problemsJSON prints one problem a line. Names, order and codes are a contract.
func (a *app) problemsJSON(list []mapping.Problem) error {
	e := json.NewEncoder(render.JSONWriter(a.out))
	e.SetEscapeHTML(false)
	for _, p := range list {
		if err := e.Encode(struct {
			Code    string `json:"code"`
			Warning bool   `json:"warning,omitempty"`
			File    string `json:"file"`
			Line    int    `json:"line,omitempty"`
			Col     int    `json:"col,omitempty"`
			EndCol  int    `json:"end_col,omitempty"`
			Key     string `json:"key,omitempty"`
			Message string `json:"message"`
			Hint    string `json:"hint,omitempty"`
		}{p.Code, p.Warning, p.File, p.Line, p.Col, p.EndCol, p.Key, p.Msg, p.Hint}); err != nil {
			return err
		}
	}
	return nil
}

// sourceSum is what one source gave in a home.
type sourceSum struct {
	files, conversations, messages, records, used, broken int
	skipped, noRule                                       map[string]int
	failed                                                []string
}

// checkHomes reads the homes with these mappings, says what came of it, and which files it read.
func (a *app) checkHomes(ctx context.Context, all []*mapping.Mapping) (read []string, err error) {
	envs, err := a.envs()
	if err != nil {
		return nil, err
	}
	for _, m := range all {
		sums := map[string]*sourceSum{}
		sum := func(id string) *sourceSum {
			if sums[id] == nil {
				sums[id] = &sourceSum{skipped: map[string]int{}, noRule: map[string]int{}}
			}
			return sums[id]
		}
		for _, env := range envs {
			files, errs := m.Find(ctx, env)
			for _, e := range errs {
				a.complain("parlance check: " + e.Error())
			}
			for _, f := range files {
				read = append(read, f.Parts()...)
				source := ""
				err := m.Read(ctx, f, mapping.ReadOptions{}, func(c *chat.Conversation) error {
					s := sum(c.Source)
					source = c.Source
					s.add(c)
					return nil
				})
				switch {
				case ctx.Err() != nil:
					return read, ctx.Err()
				case err != nil:
					s := sum(m.Sources[f.Sources[0]].ID)
					s.failed = append(s.failed, err.Error()+a.missed(ctx, m, f, err))
				}
				if source != "" {
					sum(source).files++
				}
			}
		}
		for _, src := range m.Sources {
			if s := sums[src.ID]; s != nil {
				a.printSum(m.Name, src.ID, s)
			} else {
				fmt.Fprintf(a.out, "%s %s: nothing found\n", m.Name, src.ID)
			}
		}
	}
	return read, nil
}

// missed says what the sources lacked in a file that none of them accepts.
func (a *app) missed(ctx context.Context, m *mapping.Mapping, f mapping.File, err error) string {
	if !errors.Is(err, mapping.ErrNotAccepted) || errors.Is(err, mapping.ErrOtherVersion) {
		return ""
	}
	sniff, err := mapping.SniffFile(ctx, f.Path)
	if err != nil {
		return ""
	}
	var b strings.Builder
	for _, try := range m.Attempts(ctx, f, sniff) {
		fmt.Fprintf(&b, "; %s: %s", try.Source, try.Why)
	}
	return b.String()
}

func (s *sourceSum) add(c *chat.Conversation) {
	s.conversations++
	s.messages += len(c.Messages)
	s.records += c.Read.Records
	s.used += c.Read.Used
	s.broken += len(c.Read.Broken) + c.Read.BrokenMore
	if why := c.Read.Incomplete; why != "" && !slices.Contains(s.failed, why) { // of a statement that fails all rows say the same
		s.failed = append(s.failed, why)
	}
	for what, n := range c.Read.Skipped {
		s.skipped[what] += n
	}
	for what, n := range c.Read.NoRule {
		s.noRule[what] += n
	}
}

func (a *app) printSum(provider, source string, s *sourceSum) {
	total := func(m map[string]int) (n int) {
		for _, k := range m {
			n += k
		}
		return n
	}
	fmt.Fprintf(a.out, "%s %s: %s, %s, %s; %s: %d used, %d skipped, %d broken\n", provider, source,
		plural(s.files, "file"), plural(s.conversations, "conversation"), plural(s.messages, "message"),
		plural(s.records, "record"), s.used, total(s.skipped), s.broken)
	for _, what := range sortedKeys(s.noRule) {
		fmt.Fprintf(a.out, "  no rule: %d of %s\n", s.noRule[what], render.Clean(what))
	}
	slices.Sort(s.failed)
	for _, why := range s.failed {
		fmt.Fprintf(a.out, "  not read: %s\n", render.Clean(strings.ReplaceAll(why, "\n", " ")))
	}
}
