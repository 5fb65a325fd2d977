package cli

import (
	"bufio"
	"context"
	"errors"
	"hash/maphash"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"parlance/internal/chat"
	"parlance/internal/history"
	"parlance/internal/render"
)

type showFlags struct {
	format           string
	as               string
	all, follow, raw bool
	tokens           int
	redact           render.Redactor
	turns            turnsFlags
}

func (a *app) showCommand() *cobra.Command {
	var f showFlags
	cmd := &cobra.Command{
		Use:   "show WHAT",
		Short: "Print one conversation",
		Long: `Show prints a conversation whole, tool results included. WHAT is its id, a part of the
id that no other has, or the path of a file, of which all conversations are printed.`,
		Example: `  parlance show claude_code:7a1e0c52
  parlance show ~/copied/session.jsonl --as codex --format text
  parlance show 7a1e --format html > ferry.html
  parlance show 7a1e --follow`,
		Args: args(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, what []string) error { return a.show(cmd.Context(), what[0], &f) },
	}
	flags := cmd.Flags()
	flags.StringVar(&f.format, "format", "md", "md (Markdown), text, html (one page), messages (the whole model as JSON), or turns (JSON for a page)")
	flags.StringVar(&f.as, "as", "", "read the file with this `provider`'s mapping, or with a mapping file (NAME.yaml)")
	flags.BoolVar(&f.all, "all", false, "reasoning, system and abandoned messages too")
	flags.BoolVar(&f.follow, "follow", false, "keep printing as the conversation grows")
	flags.IntVar(&f.tokens, "tokens", 0, "print about this many tokens at most, and count the rest; 0 = everything")
	flags.BoolVar(&f.raw, "no-redact", false, noRedactUsage)
	f.turns.register(flags)
	return cmd
}

func (a *app) show(ctx context.Context, what string, f *showFlags) error {
	if a.json && f.format != "turns" {
		f.format = "messages"
	}
	switch f.format {
	case "md", "text":
	case "html", "messages", "turns":
		if f.follow {
			return wrong("parlance show: --follow goes with the formats md and text")
		}
	default:
		return wrong("parlance show: --format %s: formats are md, text, html, messages, turns", f.format)
	}
	if err := f.turns.check(f.format); err != nil {
		return err
	}
	var err error
	if f.redact, err = a.redactor("show", f.raw); err != nil {
		return err
	}
	if f.as, err = a.mappingAs("show", f.as); err != nil {
		return err
	}
	h, err := a.open()
	if err != nil {
		return err
	}
	out := bufio.NewWriter(a.out)
	if f.format == "turns" {
		return a.showTurns(ctx, h, out, what, f.as, &f.turns, f.redact)
	}
	n := 0
	var last *chat.Conversation
	var printer *render.Printer
	err = h.Load(ctx, what, f.as, func(c *chat.Conversation) error {
		n++
		last = c
		if f.format == "messages" {
			return render.MessagesJSON(out, c, f.redact)
		}
		if n > 1 {
			if f.follow {
				return wrong("parlance show: --follow takes one conversation; %s holds several: name one by its id", what)
			}
			out.WriteByte('\n')
		}
		if printer == nil || f.format != "html" { // a page holds them all
			printer = a.printer(out, f)
		}
		if f.follow {
			return nil // printed below, as far as it is settled
		}
		printer.Open(c)
		for i := range c.Messages {
			printer.Message(&c.Messages[i])
		}
		return printer.Close()
	})
	if err != nil {
		return a.loadError(err)
	}
	if printer != nil && !f.follow {
		printer.End()
	}
	if err := out.Flush(); err != nil || last == nil {
		if err == nil {
			err = none("%s: no conversation in it", what)
		}
		return err
	}
	a.readNotes(last)
	if n == 1 && len(last.Messages) == 0 && last.Read.Incomplete != "" {
		return &exitError{exitWrong, ""} // the reason stands above
	}
	if f.follow {
		return a.follow(ctx, h, out, printer, what, f.as, last)
	}
	return nil
}

func (a *app) printer(out *bufio.Writer, f *showFlags) *render.Printer {
	o := render.ShowOptions{All: f.all, Clean: isTerminal(a.out), Tokens: f.tokens, Redact: f.redact}
	switch f.format {
	case "text":
		return render.NewText(out, o)
	case "html":
		return render.NewHTML(out, o)
	}
	return render.NewMarkdown(out, o)
}

// secretless is a text without secrets, for what is said beside an answer.
func secretless(text string) string { return render.Redactor(render.Secrets).Text(text) }

const noRedactUsage = "leave secrets in; for a person at a terminal"

// redactor replaces secrets in what a command prints, unless a person wants them. Output that
// goes into a pipe or a file is redacted like any other: it is where agents read. The flag
// counts if input or output is a terminal, so that a person can write into a file. It guards
// against mistakes, not against a program that makes itself a terminal: that could as well read
// the transcript itself.
func (a *app) redactor(command string, raw bool) (render.Redactor, error) {
	switch {
	case !raw:
		return render.Secrets, nil
	case a.terminal(a.in), a.terminal(a.out):
		return nil, nil
	}
	return nil, wrong("parlance %s: --no-redact: neither input nor output is a terminal: it is for a person at one", command)
}

// readNotes says on stderr what of a conversation could not be read.
func (a *app) readNotes(c *chat.Conversation) {
	r := &c.Read
	if n := len(r.Broken) + r.BrokenMore; n > 0 {
		first := strings.TrimPrefix(r.Broken[0].Why, c.File+": ") // it may be another of the conversation's files
		if line := r.Broken[0].Line; line > 0 {                   // rows and joined files have none
			first = "line " + itoa(line) + ": " + first
		}
		a.complain("parlance: " + c.File + ": " + plural(n, "record") + " could not be read; the first: " + first)
	}
	news := 0
	for _, n := range r.NoRule {
		news += n
	}
	if news > 0 {
		a.complain("parlance: " + c.File + ": " + plural(news, "record") + " of a kind that the mapping does not know; see: parlance explain " + shellWord(c.File))
	}
	if r.Incomplete != "" {
		a.complain("parlance: " + c.File + ": incomplete: " + strings.TrimPrefix(r.Incomplete, c.File+": "))
	}
}

// loadError turns what Load says into text and exit code.
func (a *app) loadError(err error) error {
	var missing *history.NotFoundError
	var several *history.AmbiguousError
	var silent *history.UnreadableError
	switch {
	case errors.As(err, &silent) && silent.Reason == "":
		return none("parlance: %s", silent.Error())
	case errors.As(err, &missing):
		a.problems(missing.Problems)
		return none("%s", secretless(render.Miss(missing.Error()+".", missing.Nearest, missing.Looked)))
	case errors.As(err, &several):
		return wrong("%s; name one of them whole, or its file:\n%s", several.Error(), secretless(render.Listing(several.Candidates, render.ListingOptions{Titles: true, Tokens: -1})))
	}
	return err
}

const (
	// followEvery is how often a followed file is looked at: fast enough to read along,
	// a stat is all it costs while nothing happens.
	followEvery = 300 * time.Millisecond
)

// follow prints a conversation, and what is added to it, until it is interrupted. A message
// is printed once it stands still: tools write their answers piece by piece.
func (a *app) follow(ctx context.Context, h *history.History, out *bufio.Writer, p *render.Printer, what, as string, c *chat.Conversation) error {
	seed := maphash.MakeSeed()
	sum := func(m *chat.Message) uint64 { return maphash.String(seed, string(m.Role)+"\x00"+m.Body()) }
	p.Open(c)
	var printed []uint64
	changedNote := false
	watched := watchedFiles(ctx, h, what, c.File)
	state := stampsOf(watched)
	settled := true
	for {
		n := len(c.Messages)
		if !settled && n > 0 {
			n-- // the newest may still be growing
		}
		same := 0
		for same < len(printed) && same < len(c.Messages) && printed[same] == sum(&c.Messages[same]) {
			same++
		}
		if same < len(printed) && !changedNote {
			changedNote = true
			a.complain("parlance: what was printed has changed since (a rewind, or a rewritten answer); show it again to see it whole")
		}
		for i := len(printed); i < n; i++ {
			p.Message(&c.Messages[i])
			printed = append(printed, sum(&c.Messages[i]))
		}
		if err := out.Flush(); err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			p.Close()
			out.Flush()
			return &exitError{exitFound, ""}
		case <-time.After(followEvery):
		}
		now := stampsOf(watched)
		if maps.Equal(now, state) {
			settled = true
			continue
		}
		state, settled = now, false
		take := func(again *chat.Conversation) error {
			c = again
			return nil
		}
		err := h.Load(ctx, c.FullID(), "", take)
		if missing := new(history.NotFoundError); errors.As(err, &missing) {
			err = h.Load(ctx, what, as, take) // it was copied from its place
		}
		if files := watchedFiles(ctx, h, what, c.File); !slices.Equal(files, watched) {
			watched, state = files, nil // a new file, in which something may stand already
		}
		if err != nil && ctx.Err() == nil {
			a.complain("parlance: " + c.File + ": " + err.Error())
		}
	}
}

// watchedFiles are what tells that a conversation has grown: its file and the log beside it, if
// that is a database; or all files that hold it, and the folders in which the next may appear.
func watchedFiles(ctx context.Context, h *history.History, what, file string) []string {
	if places, err := h.Locate(ctx, what); err == nil {
		for _, p := range places {
			files, _ := p.Files(ctx)
			if len(files) < 2 || files[0] != file {
				continue
			}
			folders := map[string]bool{}
			for _, f := range files {
				folders[filepath.Dir(f)] = true
			}
			return append(files, slices.Sorted(maps.Keys(folders))...)
		}
	}
	return []string{file, file + "-wal"}
}
