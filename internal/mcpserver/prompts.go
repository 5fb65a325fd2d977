package mcpserver

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/mark3labs/mcp-go/mcp"

	"parlance/internal/chat"
	"parlance/internal/history"
	"parlance/internal/render"
)

// completionsMax is how many values a completion offers; a menu of more helps nobody.
const completionsMax = 20

func (t *talker) addPrompts() {
	t.mcp.AddPrompt(mcp.NewPrompt("continue",
		mcp.WithPromptTitle("Continue a past conversation here"),
		mcp.WithPromptDescription("Put the transcript of a past conversation, of any tool, into this one and go on with it."),
		mcp.WithArgument("conversation", mcp.RequiredArgument(), mcp.ArgumentTitle("Conversation"),
			mcp.ArgumentDescription("its id, or words from it: ferry timetable")),
		mcp.WithArgument("checkpoint", mcp.ArgumentTitle("From checkpoint"),
			mcp.ArgumentDescription("begin at this slug or UUID: port found")),
	), t.continuePrompt)
	t.mcp.AddPrompt(mcp.NewPrompt("recall",
		mcp.WithPromptTitle("Recall what was said before"),
		mcp.WithPromptDescription("Let the agent look through the past conversations of all tools."),
		mcp.WithArgument("what", mcp.RequiredArgument(), mcp.ArgumentTitle("What to look for"),
			mcp.ArgumentDescription("in your own words: what we decided about the ferry timetable")),
	), t.recallPrompt)
}

func prompt(about, text string) *mcp.GetPromptResult {
	return mcp.NewGetPromptResult(about, []mcp.PromptMessage{
		mcp.NewPromptMessage(mcp.RoleUser, mcp.NewTextContent(text)),
	})
}

// argument is what was given for a prompt, bounded as a tool's is.
func argument(req mcp.GetPromptRequest, name string) (string, error) {
	s := strings.TrimSpace(req.Params.Arguments[name])
	if len(s) > argumentMaxBytes {
		return "", fmt.Errorf("%s: %d bytes; at most argumentMaxBytes (%d) are looked for", name, len(s), argumentMaxBytes)
	}
	return s, nil
}

func (t *talker) continuePrompt(ctx context.Context, req mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
	search, err := argument(req, "conversation")
	if err != nil {
		return nil, err
	}
	start, err := argument(req, "checkpoint")
	if err != nil {
		return nil, err
	}
	if search == "" {
		search = start // a checkpoint names its conversation
	}
	text, err := t.transcript(ctx, search, render.ForkOptions{StartCheckpoint: start}, req.Params.Meta)
	var missing *history.NotFoundError
	var silent *history.UnreadableError
	miss := ""
	switch {
	case errors.As(err, &missing):
		miss = render.Miss(render.ForkMiss(search), t.redact(missing.Nearest), missing.Looked)
	case errors.As(err, &silent):
		miss = render.Clean(silent.Error())
	}
	if miss != "" {
		return prompt("Nothing to continue", "I want to continue an earlier conversation, but this is what came of it:\n\n"+miss+
			"\n\nFind it with chat_search, trying other words, and show me what fits."), nil
	}
	if err != nil {
		return nil, err
	}
	return prompt("Continue a past conversation", "Below is the transcript of an earlier conversation. Go on from where it ended: "+
		"say in two sentences where it stood and what comes next, check that the files still are as it says, then continue.\n\n"+text), nil
}

func (t *talker) recallPrompt(_ context.Context, req mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
	what, err := argument(req, "what")
	if err != nil {
		return nil, err
	}
	if what == "" {
		return prompt("Recall", "List our newest conversations with chat_search and ask me which one I mean."), nil
	}
	return prompt("Recall what was said before", "Find in our past conversations: "+what+
		"\n\nCall chat_search with one or two distinctive words of it (then others, or in: \"all\", if nothing comes). "+
		"If several conversations fit, show me their dates, prompts and checkpoints and let me choose. "+
		"Read the one with chat_fork and answer with what was said there, and its id."), nil
}

// A completer offers values for arguments that name a conversation or a checkpoint.
type completer struct{ t *talker }

func (c completer) CompletePromptArgument(ctx context.Context, _ string, a mcp.CompleteArgument, others mcp.CompleteContext) (*mcp.Completion, error) {
	switch a.Name {
	case "conversation":
		return c.conversations(ctx, a.Value)
	case "checkpoint":
		return c.checkpoints(ctx, others.Arguments["conversation"], a.Value)
	}
	return &mcp.Completion{}, nil
}

func (c completer) CompleteResourceArgument(ctx context.Context, _ string, a mcp.CompleteArgument, _ mcp.CompleteContext) (*mcp.Completion, error) {
	if a.Name == "id" {
		return c.conversations(ctx, a.Value)
	}
	return &mcp.Completion{}, nil
}

// conversations are the ids of those that match what was typed, best first.
func (c completer) conversations(ctx context.Context, typed string) (*mcp.Completion, error) {
	if len(typed) > argumentMaxBytes {
		return &mcp.Completion{}, nil
	}
	l, err := c.t.find(ctx, history.Query{Text: typed, Filter: history.Filter{Limit: completionsMax}}, nil)
	if err != nil {
		return nil, err
	}
	out := &mcp.Completion{HasMore: l.More}
	for _, r := range l.Rows {
		out.Values = append(out.Values, r.FullID())
	}
	return out, nil
}

// checkpoints are the slugs of a conversation that begin with what was typed; of slugs that
// stand twice, and of none, the UUID.
func (c completer) checkpoints(ctx context.Context, conversation, typed string) (*mcp.Completion, error) {
	if conversation == "" || len(conversation) > argumentMaxBytes {
		return &mcp.Completion{}, nil
	}
	l, err := c.t.find(ctx, history.Query{Text: conversation, Filter: history.Filter{Limit: 1}}, nil)
	if err != nil {
		return nil, err
	}
	out := &mcp.Completion{}
	seen := map[string]int{}
	for _, r := range l.Rows {
		for _, mark := range r.Checkpoints {
			seen[mark.Slug]++
		}
		for _, mark := range slices.Backward(r.Checkpoints) {
			value := oneLine(mark.Slug)
			if value == "" || seen[mark.Slug] > 1 {
				value = mark.UUID
			}
			if strings.HasPrefix(chat.Fold(value), chat.Fold(typed)) && len(out.Values) < completionsMax {
				out.Values = append(out.Values, value)
			}
		}
	}
	return out, nil
}
