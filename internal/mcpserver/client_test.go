package mcpserver

import (
	"context"
	"errors"
	"io"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"parlance/internal/history"
)

// The clients here are not ours: what the official SDK for Go makes of us.

// connect is a session of the SDK's client with a server over pipes.
func connect(t *testing.T, h History, o mcp.ClientOptions, version string) *mcp.ClientSession {
	t.Helper()
	inR, inW := io.Pipe()
	outR, outW := io.Pipe()
	errs := &syncBuffer{}
	done := make(chan error, 1)
	go func() {
		err := Serve(context.Background(), h, inR, outW, errs, options(t))
		outW.Close()
		done <- err
	}()
	client := mcp.NewClient(&mcp.Implementation{Name: "sdk", Version: "1"}, &o)
	session, err := client.Connect(context.Background(), &mcp.IOTransport{Reader: outR, Writer: inW}, &mcp.ClientSessionOptions{ProtocolVersion: version})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		session.Close()
		select {
		case err := <-done:
			if err != nil {
				t.Errorf("serve: %v", err)
			}
		case <-time.After(10 * time.Second):
			t.Error("the server outlives its client")
		}
		if said := errs.String(); said != "" {
			t.Errorf("stderr: %s", said)
		}
	})
	return session
}

func call(t *testing.T, s *mcp.ClientSession, tool string, arguments map[string]any) *mcp.CallToolResult {
	t.Helper()
	r, err := s.CallTool(context.Background(), &mcp.CallToolParams{Name: tool, Arguments: arguments})
	if err != nil {
		t.Fatalf("%s: %v", tool, err)
	}
	if len(r.Content) != 1 || r.StructuredContent != nil {
		t.Fatalf("%s: not one text: %+v", tool, r)
	}
	return r
}

func text(r *mcp.CallToolResult) string { return r.Content[0].(*mcp.TextContent).Text }

// TestSDKClient goes once around all that the server has, in every version of the protocol.
func TestSDKClient(t *testing.T) {
	for _, version := range []string{"2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", ""} {
		t.Run("version "+version, func(t *testing.T) {
			ctx := context.Background()
			s := connect(t, demo(t), mcp.ClientOptions{}, version)
			start := s.InitializeResult()
			if version != "" && start.ProtocolVersion != version || start.ServerInfo.Name != "parlance" || !strings.Contains(start.Instructions, "chat_checkpoint") {
				t.Errorf("start: %+v", start)
			}
			t.Logf("speaks %s", start.ProtocolVersion)
			tools, err := s.ListTools(ctx, nil)
			if err != nil || len(tools.Tools) != 3 {
				t.Fatalf("tools: %+v, %v", tools, err)
			}
			if got := text(call(t, s, "chat_search", map[string]any{"search": "ferry", "limit": 2})); !strings.HasPrefix(got, `2 conversation(s) matching "ferry":`) {
				t.Errorf("search: %s", got)
			}
			if got := text(call(t, s, "chat_checkpoint", map[string]any{"slug": "port found"})); !strings.HasPrefix(got, "CHAT CHECKPOINT UUID=") {
				t.Errorf("checkpoint: %s", got)
			}
			if got := text(call(t, s, "chat_fork", map[string]any{"search": "timetable decision"})); !strings.HasPrefix(got, "## USER\nUSER\n> The winter timetable") {
				t.Errorf("fork: %s", got)
			}
			if r := call(t, s, "chat_fork", map[string]any{}); !r.IsError || !strings.Contains(text(r), "search: missing") {
				t.Errorf("no arguments: %+v", r)
			}
			if _, err := s.CallTool(ctx, &mcp.CallToolParams{Name: "chat_delete"}); err == nil {
				t.Error("an unknown tool is called")
			}
			list, err := s.ListResources(ctx, nil)
			if err != nil || len(list.Resources) != 5 || list.Resources[0].Name != "kiro_cli:c0c00001-0000-4000-8000-00000000fe04" {
				t.Fatalf("resources: %+v, %v", list, err)
			}
			for _, r := range list.Resources {
				got, err := s.ReadResource(ctx, &mcp.ReadResourceParams{URI: r.URI})
				if err != nil || len(got.Contents) != 1 || !strings.HasPrefix(got.Contents[0].Text, "# ") || !strings.Contains(got.Contents[0].Text, r.Name) {
					t.Errorf("%s: %+v, %v", r.URI, got, err)
				}
			}
			templates, err := s.ListResourceTemplates(ctx, nil)
			if err != nil || len(templates.ResourceTemplates) != 1 {
				t.Errorf("templates: %+v, %v", templates, err)
			}
			prompts, err := s.ListPrompts(ctx, nil)
			if err != nil || len(prompts.Prompts) != 2 {
				t.Errorf("prompts: %+v, %v", prompts, err)
			}
			p, err := s.GetPrompt(ctx, &mcp.GetPromptParams{Name: "continue", Arguments: map[string]string{"conversation": "winter timetable", "checkpoint": "decision"}})
			if err != nil || len(p.Messages) != 1 || !strings.Contains(p.Messages[0].Content.(*mcp.TextContent).Text, "END CHAT SUMMARY") {
				t.Errorf("prompt: %+v, %v", p, err)
			}
			c, err := s.Complete(ctx, &mcp.CompleteParams{
				Ref:      &mcp.CompleteReference{Type: "ref/prompt", Name: "continue"},
				Argument: mcp.CompleteParamsArgument{Name: "conversation", Value: "crossing"},
			})
			if err != nil || strings.Join(c.Completion.Values, " ") != "pi:9c9c0001-0000-4000-8000-00000000fe03" {
				t.Errorf("completion: %+v, %v", c, err)
			}
			if err := s.Ping(ctx, nil); err != nil && start.ProtocolVersion < "2026" {
				t.Errorf("ping: %v", err)
			}
		})
	}
}

// TestSDKClientProgress: progress and cancellation as the SDK does them.
func TestSDKClientProgress(t *testing.T) {
	for _, version := range []string{"2025-06-18", ""} {
		slow := newSlow()
		told := make(chan *mcp.ProgressNotificationParams, 1000)
		s := connect(t, slow, mcp.ClientOptions{ProgressNotificationHandler: func(_ context.Context, r *mcp.ProgressNotificationClientRequest) {
			told <- r.Params
		}}, version)
		ctx, cancel := context.WithCancel(context.Background())
		params := &mcp.CallToolParams{Name: "chat_search", Arguments: map[string]any{"search": "x"}}
		params.SetProgressToken("token")
		ended := make(chan error, 1)
		go func() {
			_, err := s.CallTool(ctx, params)
			ended <- err
		}()
		select {
		case p := <-told:
			if p.ProgressToken != "token" || p.Progress <= 0 || p.Total != 1000 || !strings.HasPrefix(p.Message, "looked at ") {
				t.Errorf("%+v", p)
			}
		case <-time.After(5 * time.Second):
			t.Fatal("no progress")
		}
		cancel()
		if err := <-ended; !errors.Is(err, context.Canceled) {
			t.Errorf("ended with %v", err)
		}
		select {
		case <-slow.cancelled:
		case <-time.After(5 * time.Second):
			t.Fatal("the search goes on though it was cancelled")
		}
		// And the connection is good for more.
		close(slow.leave)
		if got := text(call(t, s, "chat_search", map[string]any{})); got != "No conversations found." {
			t.Errorf("after: %s", got)
		}
	}
}

// TestSDKClientAtOnce: many calls at the same time, each gets its own answer.
func TestSDKClientAtOnce(t *testing.T) {
	s := connect(t, demo(t), mcp.ClientOptions{}, "")
	words := map[string]string{"ferry": "3 conv", "crossing": "1 conv", "port": "1 conv", "zeppelin": "No conv"}
	var all sync.WaitGroup
	for range 25 {
		for word, want := range words {
			all.Go(func() {
				r, err := s.CallTool(context.Background(), &mcp.CallToolParams{Name: "chat_search", Arguments: map[string]any{"search": word}})
				if err != nil || !strings.HasPrefix(text(r), want) {
					t.Errorf("%s: %+v, %v", word, r, err)
				}
			})
		}
	}
	all.Wait()
}

// TestSDKClientOverHTTP: the same over streamable HTTP.
func TestSDKClientOverHTTP(t *testing.T) {
	url, stop := listen(t, demo(t))
	client := mcp.NewClient(&mcp.Implementation{Name: "sdk", Version: "1"}, nil)
	for _, version := range []string{"2025-06-18", ""} {
		s, err := client.Connect(context.Background(), &mcp.StreamableClientTransport{Endpoint: url}, &mcp.ClientSessionOptions{ProtocolVersion: version})
		if err != nil {
			t.Fatal(err)
		}
		if got := text(call(t, s, "chat_search", map[string]any{"search": "ferry"})); !strings.HasPrefix(got, "3 conversation(s)") {
			t.Errorf("search: %s", got)
		}
		list, err := s.ListResources(context.Background(), nil)
		if err != nil || len(list.Resources) != 5 {
			t.Errorf("resources: %+v, %v", list, err)
		}
		s.Close()
	}
	slow := newSlow()
	slowURL, stopSlow := listen(t, slow)
	s, err := client.Connect(context.Background(), &mcp.StreamableClientTransport{Endpoint: slowURL}, nil)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	go func() {
		<-slow.started
		cancel()
	}()
	if _, err := s.CallTool(ctx, &mcp.CallToolParams{Name: "chat_search"}); err == nil {
		t.Error("a cancelled call has an answer")
	}
	select {
	case <-slow.cancelled:
	case <-time.After(5 * time.Second):
		t.Error("the search goes on though it was cancelled")
	}
	s.Close()
	stopSlow()
	stop()
}

var _ History = (*history.History)(nil)
