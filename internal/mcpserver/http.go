package mcpserver

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/mark3labs/mcp-go/server"
)

const (
	// httpPath is where the one endpoint is.
	httpPath = "/mcp"
	// sessionIdleMax is how long a client may be silent before what is kept for it is forgotten.
	sessionIdleMax = time.Hour
	// headerPatience is how long a client may take for its headers.
	headerPatience = 10 * time.Second
)

// ListenHTTP opens addr ("127.0.0.1:7333", "localhost:0", ":7333") for ServeHTTP. Only an
// address of this machine's loopback is taken: whoever can connect can read every conversation.
func ListenHTTP(addr string) (net.Listener, error) {
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		return nil, fmt.Errorf("http: %q is not HOST:PORT, such as 127.0.0.1:7333", addr)
	}
	if host == "" || strings.EqualFold(host, "localhost") {
		host = "127.0.0.1"
	}
	if ip := net.ParseIP(host); ip == nil || !ip.IsLoopback() {
		return nil, fmt.Errorf("http: %s: not a loopback address; write 127.0.0.1:PORT or [::1]:PORT", addr)
	}
	l, err := net.Listen("tcp", net.JoinHostPort(host, port))
	if err != nil {
		return nil, fmt.Errorf("http: %w", err)
	}
	return l, nil
}

// ServeHTTP answers requests over streamable HTTP on l, at the path /mcp, until ctx ends. It
// closes l. A request whose Host or Origin is not l's own address is refused: it comes from a
// web page that found a way to this machine.
func ServeHTTP(ctx context.Context, h History, l net.Listener, errw io.Writer, o Options) error {
	t, err := newTalker(h, errw, o)
	if err != nil {
		return err
	}
	streamable := server.NewStreamableHTTPServer(t.mcp,
		server.WithSessionIdleTTL(sessionIdleMax), server.WithStreamableHTTPLogger(slog.New(slog.DiscardHandler)))
	mux := http.NewServeMux()
	mux.Handle(httpPath, streamable)
	web := &http.Server{
		Handler:           guard(l.Addr(), http.MaxBytesHandler(mux, requestMaxBytes)),
		ReadHeaderTimeout: headerPatience,
		BaseContext:       func(net.Listener) context.Context { return ctx },
		ErrorLog:          slog.NewLogLogger(slog.DiscardHandler, slog.LevelError),
	}
	stopped := context.AfterFunc(ctx, func() {
		// Streams that clients keep open do not end by themselves.
		late, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopMax)
		defer cancel()
		_ = streamable.Shutdown(late)
		if web.Shutdown(late) != nil {
			web.Close()
		}
	})
	defer stopped()
	if err := web.Serve(l); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("http: %w", err)
	}
	return nil
}

// guard lets only those requests through that name addr, or localhost with its port, as their
// host, and no other page as their origin.
func guard(addr net.Addr, next http.Handler) http.Handler {
	_, port, _ := net.SplitHostPort(addr.String())
	own := map[string]bool{addr.String(): true, net.JoinHostPort("localhost", port): true}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !own[strings.ToLower(r.Host)] {
			http.Error(w, "host: not this server's address", http.StatusForbidden)
			return
		}
		for _, origin := range r.Header.Values("Origin") {
			if u, err := url.Parse(origin); err != nil || u.Scheme != "http" || !own[strings.ToLower(u.Host)] {
				http.Error(w, "origin: not this server's address", http.StatusForbidden)
				return
			}
		}
		next.ServeHTTP(w, r)
	})
}
