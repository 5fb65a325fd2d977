package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"

	"github.com/spf13/cobra"

	"parlance/internal/mapping"
	"parlance/internal/render"
)

func (a *app) inferCommand() *cobra.Command {
	var opts mapping.InferOptions
	var scratch bool
	cmd := &cobra.Command{
		Use:   "infer FILE",
		Short: "Draft a mapping of an unknown format from a file, a database or a folder",
		Long: `Infer looks at a transcript that no mapping reads and prints a mapping for it: where such
files lie, how they are cut into records, who speaks, tool calls and their results, times,
and a test made of the beginning of the file. It is a draft: behind each guess stands what
was seen for it, "# ?" marks doubtful ones, and GAP what could not be told.

If the rules of a known mapping read the file, the draft starts from that one.

Values in the test are cut to 120 characters; --filler replaces all that was said. The same
file gives the same draft. Exit code 1: nothing in it looks like a conversation.`,
		Example: `  parlance infer ~/.acme/log/7f.jsonl > acme.yaml
  parlance check acme.yaml
  parlance infer ~/.acme/acme.db --name acme --filler`,
		Args: args(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, list []string) error { return a.infer(cmd.Context(), list[0], opts, scratch) },
	}
	f := cmd.Flags()
	f.StringVar(&opts.Name, "name", "", "`NAME` of the mapping; default: made from the path")
	f.BoolVar(&opts.Filler, "filler", false, "replace what was said in the test's records")
	f.BoolVar(&scratch, "from-scratch", false, "do not start from a mapping that there is")
	return cmd
}

var mappingName = regexp.MustCompile(`^[a-z][a-z0-9_]*$`)

func (a *app) infer(ctx context.Context, path string, opts mapping.InferOptions, scratch bool) error {
	if opts.Name != "" && !mappingName.MatchString(opts.Name) {
		return wrong("parlance infer: --name %s: a name is made of a-z, 0-9 and _", opts.Name)
	}
	envs, err := a.envs()
	if err != nil {
		return err
	}
	opts.Env = envs[0]
	if !scratch {
		if opts.Set, err = a.openSet(); err != nil {
			return err
		}
	}
	opts.Redact = secretless
	draft, err := mapping.Infer(ctx, path, opts)
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.Is(err, mapping.ErrNoConversation):
		return none("parlance infer: %v", err)
	case err != nil:
		return wrong("parlance infer: %v", err)
	}
	draft.YAML = opts.Redact(draft.YAML) // what stands in comments
	if a.json {
		return a.draftJSON(draft)
	}
	fmt.Fprint(a.out, draft.YAML)
	for _, line := range draft.Summary {
		fmt.Fprintln(a.err, render.Clean(opts.Redact(line)))
	}
	return nil
}

// draftJSON prints the draft as one object. Its names are a contract.
func (a *app) draftJSON(d mapping.Draft) error {
	e := json.NewEncoder(render.JSONWriter(a.out))
	e.SetEscapeHTML(false)
	return e.Encode(struct {
		Name    string   `json:"name"`
		Extends string   `json:"extends,omitempty"`
		Mapping string   `json:"mapping"`
		Summary []string `json:"summary"`
	}{d.Name, d.Extends, d.YAML, d.Summary})
}
