package mcpserver

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"parlance/internal/chat"
	"parlance/internal/history"
	"parlance/internal/render"
)

// toolsJSON is what tools/list says. It is a file of its own because it is prose for a model,
// paid for in every session, and names other tools as examples. What follows "e.g." in a
// parameter's description is its example.
//
//go:embed tools.json
var toolsJSON []byte

// tools are the tools of tools.json with what they do.
func (t *talker) tools() ([]server.ServerTool, error) {
	do := map[string]func(context.Context, args, *mcp.Meta) (string, error){
		"chat_search": t.search, "chat_checkpoint": t.checkpoint, "chat_fork": t.fork,
	}
	var list []struct {
		Name, Title, Description string
		InputSchema              json.RawMessage
		Annotations              mcp.ToolAnnotation
	}
	if err := json.Unmarshal(toolsJSON, &list); err != nil {
		return nil, fmt.Errorf("tools: %w", err)
	}
	var out []server.ServerTool
	for _, e := range list {
		s, err := newSchema(e.Name, e.InputSchema)
		if err != nil {
			return nil, fmt.Errorf("tools: %w", err)
		}
		tool := mcp.Tool{Name: e.Name, Title: e.Title, Description: e.Description, RawInputSchema: e.InputSchema, Annotations: e.Annotations}
		out = append(out, server.ServerTool{Tool: tool, Handler: t.handler(s, do[e.Name])})
	}
	return out, nil
}

// A refusal is an error that the model can mend; its text says how.
type refusal struct{ text string }

func (r *refusal) Error() string { return r.text }

func refuse(format string, args ...any) error { return &refusal{fmt.Sprintf(format, args...)} }

// handler checks the arguments of a call, makes the answer, and tells the model what to do
// next if there is none. Only a cancelled call is an error of the protocol; nobody reads it.
func (t *talker) handler(s *schema, do func(context.Context, args, *mcp.Meta) (string, error)) server.ToolHandlerFunc {
	return func(ctx context.Context, req mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		raw := req.Params.RawArguments
		if raw == nil && req.Params.Arguments != nil {
			var err error
			if raw, err = json.Marshal(req.Params.Arguments); err != nil {
				return nil, err
			}
		}
		a, problem := s.read(raw)
		if problem != "" {
			return mcp.NewToolResultError(problem), nil
		}
		start := time.Now()
		text, err := do(ctx, a, req.Params.Meta)
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		t.say(ctx, mcp.LoggingLevelDebug, "%s: %d bytes in %d ms", s.tool, len(text), time.Since(start).Milliseconds())
		if err != nil {
			var r *refusal
			if !errors.As(err, &r) {
				t.say(ctx, mcp.LoggingLevelError, "%s: %v", s.tool, err)
			}
			return mcp.NewToolResultError(s.tool + ": " + render.Clean(err.Error())), nil
		}
		return mcp.NewToolResultText(text), nil
	}
}

func (t *talker) checkpoint(_ context.Context, a args, _ *mcp.Meta) (string, error) {
	return chat.NewCheckpoint(a.text("slug")), nil
}

func (t *talker) search(ctx context.Context, a args, meta *mcp.Meta) (string, error) {
	q := history.Query{Text: a.text("search"), Filter: history.Filter{
		Project: a.text("project"), Since: a.text("since"), Until: a.text("until"),
		Limit: a.number("limit"), In: history.In(a.text("in")),
	}}
	if p := strings.TrimSuffix(strings.TrimSpace(a.text("provider")), ":"); p != "" {
		q.Providers = []string{p}
	}
	l, err := t.find(ctx, q, meta)
	if err != nil {
		return "", t.advise(err)
	}
	return render.Answer(t.results(&q, &l), render.TokensDefault), nil
}

// find is history.Search with all that surrounds it.
func (t *talker) find(ctx context.Context, q history.Query, meta *mcp.Meta) (history.Listing, error) {
	release, err := t.slot(ctx)
	if err != nil {
		return history.Listing{}, err
	}
	defer release()
	tell, stop := t.progress(ctx, meta)
	defer stop()
	q.Progress = tell
	if t.selfKnown.Load() >= 0 {
		q.Self = self(meta)
	}
	l, err := t.h.Search(ctx, q)
	if err == nil && q.Self != "" {
		if l.Current != nil {
			t.selfKnown.Store(1)
		} else if t.selfKnown.CompareAndSwap(0, -1) {
			// What this host calls a conversation is not what it is on disk.
			q.Self = ""
			l, err = t.h.Search(ctx, q)
		}
	}
	if err == nil {
		t.problems(ctx, l.Problems)
	}
	return l, err
}

// problems says what could not be read to who asks for warnings; it is no part of an answer.
func (t *talker) problems(ctx context.Context, list []history.Problem) {
	for _, p := range list {
		text := p.Reason
		if p.Path != "" && !strings.Contains(text, p.Path) {
			text = p.Path + ": " + text
		}
		t.say(ctx, mcp.LoggingLevelWarning, "%s", text)
	}
}

// results are a listing as render wants it, with secrets replaced.
func (t *talker) results(q *history.Query, l *history.Listing) render.Results {
	return render.Results{
		Search: q.Text, Rows: t.redact(l.Rows), Current: l.Current, More: l.More,
		Nearest: t.redact(l.Nearest), Looked: l.Looked, Narrowed: q.Narrowed(),
	}
}

func (t *talker) redact(rows []chat.Row) []chat.Row {
	if t.o.Redact == nil {
		return rows
	}
	for i := range rows {
		for _, text := range []*string{&rows[i].Title, &rows[i].Prompt, &rows[i].First, &rows[i].Last} {
			*text = t.o.Redact.Text(*text)
		}
		for j := range rows[i].Checkpoints { // the UUID names it all the same
			mark := &rows[i].Checkpoints[j]
			mark.Slug = t.o.Redact.Text(mark.Slug)
		}
	}
	return rows
}

func (t *talker) fork(ctx context.Context, a args, meta *mcp.Meta) (string, error) {
	o := render.ForkOptions{
		StartCheckpoint: a.text("start_checkpoint"), EndCheckpoint: a.text("end_checkpoint"), Tokens: a.number("max_tokens"),
	}
	text, err := t.transcript(ctx, a.text("search"), o, meta)
	var missing *history.NotFoundError
	if errors.As(err, &missing) {
		return render.Miss(render.ForkMiss(missing.What), t.redact(missing.Nearest), missing.Looked), nil
	}
	if err != nil {
		return "", t.advise(err)
	}
	return text, nil
}

// transcript is what a fork gives. The error is a *history.NotFoundError if nothing matches.
func (t *talker) transcript(ctx context.Context, search string, o render.ForkOptions, meta *mcp.Meta) (string, error) {
	release, err := t.slot(ctx)
	if err != nil {
		return "", err
	}
	defer release()
	tell, stop := t.progress(ctx, meta)
	defer stop()
	q := history.Query{Text: search, Filter: history.Filter{Progress: tell}}
	if t.selfKnown.Load() > 0 {
		q.Self = self(meta)
	}
	found, err := t.h.Fork(ctx, q)
	if err != nil {
		return "", err
	}
	t.problems(ctx, found.Problems)
	o.Redact, o.Note = t.o.Redact, found.Note
	return render.ForkOf(func(keep func(*chat.Message) bool) (*chat.Conversation, error) {
		return found.Read(ctx, keep)
	}, o)
}

// advise adds the next move to an error of history.
func (t *talker) advise(err error) error {
	text := err.Error()
	switch {
	case strings.HasPrefix(text, "provider:"):
		return refuse("%s; write one of %s, or leave provider out", text, strings.Join(t.o.Providers, ", "))
	case errors.As(err, new(*history.UnreadableError)):
		return refuse("%s; call chat_search with a word of it: another tool may hold the same talk", text)
	case strings.HasPrefix(text, "since:"), strings.HasPrefix(text, "until:"):
		return refuse("%s; call it again with such a value", text)
	}
	return fmt.Errorf("%w; try again, or call chat_search with another word", err)
}

// selfKeys are what hosts call the id of the conversation that makes a request, in the
// request's metadata, perhaps behind a name and a dot. The first that is there counts.
var selfKeys = []string{"threadid", "thread_id", "conversationid", "conversation_id", "sessionid", "session_id"}

// self is the id of the conversation from which a request comes, "" if the host does not tell.
func self(meta *mcp.Meta) string {
	if meta == nil {
		return ""
	}
	for _, want := range selfKeys {
		for key, value := range meta.AdditionalFields {
			key = strings.ToLower(key)
			if i := strings.LastIndexAny(key, "./"); i >= 0 {
				key = key[i+1:]
			}
			if id, ok := value.(string); ok && key == want && len(id) <= argumentMaxBytes {
				return id
			}
		}
	}
	return ""
}
