package cli

import (
	"errors"
	"fmt"
	"strconv"

	"github.com/spf13/cobra"

	"parlance/internal/chat"
	"parlance/internal/history"
	"parlance/internal/render"
)

func itoa(n int) string { return strconv.Itoa(n) }

func (a *app) forkCommand() *cobra.Command {
	var o render.ForkOptions
	var raw bool
	cmd := &cobra.Command{
		Use:   "fork SEARCH...",
		Short: "Print a conversation, or a slice of it, to be pasted into another chat",
		Long: `Fork picks one conversation and prints a transcript of it that fits into another chat:
long texts cut in their middle, what was cut counted, secrets replaced, and a note that it
is reference material. SEARCH is an id, a checkpoint, or words; an id counts for more than a checkpoint,
that for more than what the user said, that for more than what the assistant said; among
equals the newest wins. Without SEARCH it is the newest conversation.`,
		Example: `  parlance fork claude_code:7a1e0c52
  parlance fork "port found" --start 4f6c1f0e`,
		Args: args(cobra.ArbitraryArgs),
		RunE: func(cmd *cobra.Command, search []string) error {
			var err error
			if o.Redact, err = a.redactor("fork", raw); err != nil {
				return err
			}
			return a.fork(cmd, words(search), o)
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&o.StartCheckpoint, "start", "", "begin at the checkpoint whose slug or UUID contains this")
	flags.StringVar(&o.EndCheckpoint, "end", "", "end at the checkpoint whose slug or UUID contains this")
	flags.IntVar(&o.Tokens, "tokens", render.TokensDefault, "budget of the whole answer, at 3 bytes a token")
	flags.BoolVar(&raw, "no-redact", false, noRedactUsage)
	return cmd
}

func (a *app) fork(cmd *cobra.Command, search string, o render.ForkOptions) error {
	if o.Tokens < render.TokensMin || o.Tokens > render.TokensMax {
		return wrong("parlance fork: --tokens %d: it takes a number from %d to tokensMax (%d)", o.Tokens, render.TokensMin, render.TokensMax)
	}
	h, err := a.open()
	if err != nil {
		return err
	}
	q := history.Query{Text: search}
	done := a.progress(&q.Filter)
	found, err := h.Fork(cmd.Context(), q)
	done()
	var missing *history.NotFoundError
	if errors.As(err, &missing) {
		a.problems(missing.Problems)
		return none("%s", secretless(render.Miss(render.ForkMiss(search), missing.Nearest, missing.Looked)))
	}
	var silent *history.UnreadableError
	if errors.As(err, &silent) {
		return a.loadError(err)
	}
	if err != nil {
		return err
	}
	a.problems(found.Problems)
	o.Note = found.Note
	read := func(keep func(*chat.Message) bool) (*chat.Conversation, error) {
		return found.Read(cmd.Context(), keep)
	}
	text, err := render.ForkOf(read, o)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(a.out, text)
	return err
}

func (a *app) checkpointCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "checkpoint SLUG...",
		Short: "Print a checkpoint line: a named place in the present conversation",
		Long: `Checkpoint prints one line with a new UUID and the name you give it. Run by an agent in its
shell, the line becomes a part of its conversation; fork and search find it there.`,
		Example: `  parlance checkpoint port found`,
		Args:    args(cobra.ArbitraryArgs),
		RunE: func(cmd *cobra.Command, slug []string) error {
			_, err := fmt.Fprintln(a.out, chat.NewCheckpoint(words(slug)))
			return err
		},
	}
}
