// Package cli is the command line: flags, commands and exit codes, and the place where the
// other packages are wired together.
//
// Arguments and three streams go in; an exit code comes out. Data goes to stdout, everything
// else to stderr. It decides nothing about conversations: history finds them, render shows them.
package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime"
	"runtime/debug"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"parlance/internal/mapping"
	"parlance/internal/render"
)

// Exit codes. A file that cannot be read beside good ones is a line on stderr and no failure.
const (
	exitFound = 0
	exitNone  = 1 // nothing found; for check: something to mend
	exitWrong = 2 // no such file, no mapping accepts it, wrong use
	exitBreak = 130
)

// Garbage is first collected when there are heapStartBytes of it, so that a short command never
// does. From then on gcPercent lets the heap grow by less than Go's 100 before it is collected
// again: reading a very long conversation for a listing then peaks at two thirds of the memory,
// for a sixth more time.
const (
	heapStartBytes = 16 << 20
	gcPercent      = 50
)

// collectLate sets the collector up as the constants say, unless the user has.
func collectLate() {
	if os.Getenv("GOGC") != "" {
		return
	}
	const goStartBytes = 4 << 20 // where Go begins to collect at 100 percent
	debug.SetGCPercent(100 * heapStartBytes / goStartBytes)
	first := &struct{ _ [64]byte }{}
	runtime.SetFinalizer(first, func(any) { debug.SetGCPercent(gcPercent) })
}

// An exitError ends a command with a code. Its text, if any, goes to stderr.
type exitError struct {
	code int
	text string
}

func (e *exitError) Error() string { return e.text }

func none(format string, args ...any) error {
	return &exitError{exitNone, fmt.Sprintf(format, args...)}
}

func wrong(format string, args ...any) error {
	return &exitError{exitWrong, fmt.Sprintf(format, args...)}
}

// An app is one run of the program.
type app struct {
	in       io.Reader
	out, err io.Writer

	homes, roots, mappings []string
	json                   bool

	terminal func(stream any) bool
	shown    *progress // nil if there is none

	set      *mapping.Set // once opened
	reported map[string]bool
}

// Run runs one command and returns its exit code.
func Run(args []string, in io.Reader, out, errw io.Writer) int {
	collectLate()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	return run(ctx, args, in, out, errw)
}

func run(ctx context.Context, args []string, in io.Reader, out, errw io.Writer) int {
	kept := &output{Writer: out}
	a := &app{in: in, out: kept, err: errw, terminal: isTerminal, reported: map[string]bool{}}
	root := a.root()
	root.SetArgs(args)
	root.SetIn(in)
	root.SetErr(errw)
	err := root.ExecuteContext(ctx)
	if err == nil {
		err = kept.err
	}
	var e *exitError
	switch {
	case err == nil:
		return exitFound
	case errors.Is(err, syscall.EPIPE):
		return exitFound // whoever read us has seen enough
	case errors.As(err, &e):
		if e.text != "" {
			fmt.Fprintln(errw, render.Clean(e.text))
		}
		return e.code
	case ctx.Err() != nil:
		return exitBreak
	}
	fmt.Fprintf(errw, "parlance: %s\n", render.Clean(err.Error()))
	return exitWrong
}

// An output remembers that writing went wrong, so that no command can end well on a full disk
// because one of its lines did not ask.
type output struct {
	io.Writer
	err error // the first
}

func (o *output) Write(p []byte) (int, error) {
	n, err := o.Writer.Write(p)
	if err != nil && o.err == nil {
		o.err = err
	}
	return n, err
}

func (a *app) root() *cobra.Command {
	root := &cobra.Command{
		Use:   "parlance",
		Short: "Search, show and fork the conversations of every coding agent on this machine",
		Long: `Parlance reads the conversations that coding agents leave on disk, whichever tool wrote
them: search any past one, mark a place in the present one, and fork one, or a slice of it,
into another chat. It only ever reads those files; nothing leaves this machine.`,
		Example: `  parlance list                         the newest conversations, of all tools
  parlance search ferry timetable       where was that talked about?
  parlance fork ferry                   the best match, to be pasted into another chat
  parlance show claude_code:7a1e        one conversation, to be read`,
		SilenceErrors: true,
		SilenceUsage:  true,
		Args:          cobra.NoArgs,
		RunE:          func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	f := root.PersistentFlags()
	f.StringArrayVar(&a.homes, "home", nil, "read `DIR` as a home folder instead of your own (repeatable)")
	f.StringArrayVar(&a.roots, "root", nil, "look below `DIR` for exports and files without a fixed place (repeatable; also PARLANCE_ROOTS)")
	f.StringArrayVar(&a.mappings, "mappings", nil, "use the mapping files in `DIR` too (repeatable; also PARLANCE_MAPPINGS)")
	f.BoolVar(&a.json, "json", false, "print JSON, for programs")
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return wrong("parlance: %v\nsee: %s --help", err, cmd.CommandPath())
	})
	root.AddCommand(a.listCommand(), a.searchCommand(), a.showCommand(), a.forkCommand(), a.checkpointCommand(),
		a.providersCommand(), a.checkCommand(), a.explainCommand(), a.inferCommand(), a.mappingCommand(), a.schemaCommand(), a.mcpCommand(), a.versionCommand())
	root.SetOut(a.out) // before the next line, which keeps it
	root.InitDefaultCompletionCmd()
	for _, c := range root.Commands() {
		c.DisableFlagsInUseLine = false
	}
	return root
}

// args wraps a check of arguments so that wrong use ends with its own code and next step.
func args(check cobra.PositionalArgs) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if err := check(cmd, args); err != nil {
			return wrong("parlance %s: %v\nusage: %s", cmd.Name(), err, cmd.UseLine())
		}
		return nil
	}
}

// words is a query that was typed without quotes.
func words(args []string) string { return strings.Join(args, " ") }
