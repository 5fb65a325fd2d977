package cli

import (
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"

	"parlance/internal/chat"
	"parlance/internal/history"
	"parlance/internal/render"
)

// filterFlags are the filters of list and search.
func filterFlags(cmd *cobra.Command, f *history.Filter) {
	flags := cmd.Flags()
	flags.StringArrayVar(&f.Providers, "provider", nil, "only conversations of this provider, such as claude_code (repeatable; see: parlance providers)")
	flags.StringVar(&f.Project, "project", "", "only conversations of this project: a name, or a folder such as . or ~/work/shop")
	flags.StringVar(&f.Since, "since", "", "only conversations updated since then: 2026-05-28, or 7d, 12h, 3w")
	flags.StringVar(&f.Until, "until", "", "only conversations updated until then")
	flags.IntVar(&f.Limit, "limit", 50, "list at most this many; 0 = all")
	flags.BoolVar(&f.Subagents, "subagents", false, "list conversations of subagents too")
}

// settle turns the flags' meaning of a limit into the filter's.
func settle(f history.Filter) (history.Filter, error) {
	switch {
	case f.Limit < 0:
		return f, wrong("parlance: --limit %d: it takes a number from 1, or 0 for all", f.Limit)
	case f.Limit == 0:
		f.Limit = -1
	}
	return f, nil
}

func (a *app) listCommand() *cobra.Command {
	var f history.Filter
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List the newest conversations of all tools",
		Example: `  parlance list --project . --since 7d
  parlance list --json --limit 0 | jq -r .id`,
		Args: args(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error { return a.list(cmd, history.Query{Filter: f}) },
	}
	filterFlags(cmd, &f)
	return cmd
}

func (a *app) searchCommand() *cobra.Command {
	var f history.Filter
	in := ""
	cmd := &cobra.Command{
		Use:   "search QUERY...",
		Short: "Find conversations by what was said in them, by id or by checkpoint",
		Long: `Search looks at every conversation, however old: ids, checkpoints, and what user and
assistant said. The query is a phrase; letter case does not matter. Conversations that
hold all its words, but not the phrase, follow. Without a query it is list.`,
		Example: `  parlance search ferry timetable
  parlance search --in tools "permission denied" --since 30d`,
		Args: args(cobra.ArbitraryArgs),
		RunE: func(cmd *cobra.Command, query []string) error {
			f.In = history.In(in)
			return a.list(cmd, history.Query{Text: words(query), Filter: f})
		},
	}
	filterFlags(cmd, &f)
	cmd.Flags().StringVar(&in, "in", "talk", "where to look: talk (user and assistant), tools (calls and results) or all")
	return cmd
}

// listMemoryBytes is a soft limit: a listing keeps little, so that collecting more often
// costs little and a conversation of any size peaks at about that.
// What stays of each file that was found, and of each that had to be looked into, is allowed on
// top: a limit below what is needed would have everything collected all the time.
const (
	listMemoryBytes = 56 << 20
	fileMemoryBytes = 1 << 10
	rowMemoryBytes  = 1 << 10
)

func (a *app) list(cmd *cobra.Command, q history.Query) error {
	var err error
	if q.Filter, err = settle(q.Filter); err != nil {
		return err
	}
	if os.Getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(listMemoryBytes)
	}
	h, err := a.open()
	if err != nil {
		return err
	}
	done := a.progress(&q.Filter)
	if tell := q.Progress; os.Getenv("GOMEMLIMIT") == "" {
		q.Progress = func(done, found int) {
			debug.SetMemoryLimit(listMemoryBytes + int64(found)*fileMemoryBytes + int64(done)*rowMemoryBytes)
			if tell != nil {
				tell(done, found)
			}
		}
	}
	if a.json {
		q.Row = func(r *chat.Row) error {
			a.shown.clear()
			if _, err := a.out.Write(append(render.RowJSON(r), '\n')); err != nil {
				return err
			}
			return cmd.Context().Err()
		}
	}
	l, err := h.Search(cmd.Context(), q)
	done()
	if err != nil {
		return err
	}
	a.problems(l.Problems)
	answer := render.Answer(render.Results{Search: q.Text, Rows: l.Rows, Current: l.Current, More: l.More, Nearest: l.Nearest, Looked: l.Looked, Narrowed: q.Narrowed()}, -1)
	if len(l.Rows) == 0 {
		return none("%s", answer)
	}
	if a.json {
		if l.Current != nil {
			a.complain("parlance: left out: " + l.Current.FullID() + ", the conversation that asks")
		}
		return nil
	}
	_, err = io.WriteString(a.out, answer+"\n")
	return err
}

// problems says what could not be read, a line each.
func (a *app) problems(list []history.Problem) {
	for _, p := range list {
		text := p.Reason
		if !strings.HasPrefix(p.Reason, p.Path) {
			text = p.Path + ": " + p.Reason
		}
		a.complain("parlance: " + render.Clean(text))
	}
	if len(list) > 0 {
		a.complain("parlance: how such a file is read, and what of it is not: parlance explain FILE")
	}
}

// progress shows on a terminal how far a scan is, once it takes longer than half a second.
// The function it returns wipes that away.
func (a *app) progress(f *history.Filter) func() {
	if !isTerminal(a.err) {
		return func() {}
	}
	a.shown = newProgress(a.err)
	f.Progress = a.shown.tell
	return a.shown.end
}

func plural(n int, thing string) string {
	if n == 1 {
		return fmt.Sprintf("1 %s", thing)
	}
	return fmt.Sprintf("%d %ss", n, thing)
}
