package mcpserver

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"
)

// listen starts a server on a port of its own; stop ends it and waits.
func listen(t *testing.T, h History) (url string, stop func()) {
	t.Helper()
	l, err := ListenHTTP("localhost:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- ServeHTTP(ctx, h, l, io.Discard, options(t)) }()
	return "http://" + l.Addr().String() + httpPath, func() {
		cancel()
		select {
		case err := <-done:
			if err != nil {
				t.Errorf("http: %v", err)
			}
		case <-time.After(10 * time.Second):
			t.Error("http: does not end")
		}
	}
}

// TestHTTPKnowsItsCallers: a web page, whatever name it gave this machine, gets nothing.
func TestHTTPKnowsItsCallers(t *testing.T) {
	url, stop := listen(t, demo(t))
	defer stop()
	host := strings.TrimSuffix(strings.TrimPrefix(url, "http://"), httpPath)
	_, port, _ := strings.Cut(host, ":")
	for _, row := range []struct {
		name, host, origin string
		want               int
	}{
		{"plain", "", "", 200},
		{"localhost", "localhost:" + port, "", 200},
		{"own page", "", "http://" + host, 200},
		{"own page by name", "LOCALHOST:" + port, "http://localhost:" + port, 200},
		{"foreign host", "evil.example", "", 403},
		{"foreign host with our port", "evil.example:" + port, "", 403},
		{"rebound", "127.0.0.1.evil.example:" + port, "", 403},
		{"another port", "127.0.0.1:1", "", 403},
		{"no port", "localhost", "", 403},
		{"foreign origin", "", "https://evil.example", 403},
		{"another page on this machine", "", "http://localhost:3000", 403},
		{"no origin that counts", "", "null", 403},
		{"https of ours", "", "https://" + host, 403},
	} {
		req, err := http.NewRequest("POST", url, bytes.NewReader([]byte(hello)))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Content-Type", "application/json")
		req.Header.Set("Accept", "application/json, text/event-stream")
		if row.host != "" {
			req.Host = row.host
		}
		if row.origin != "" {
			req.Header.Set("Origin", row.origin)
		}
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		body, _ := io.ReadAll(res.Body)
		res.Body.Close()
		if res.StatusCode != row.want || row.want == 403 && strings.Contains(string(body), "parlance") {
			t.Errorf("%s: %d %s", row.name, res.StatusCode, body)
		}
	}
	http.DefaultClient.CloseIdleConnections()
}

// TestHTTPListensOnLoopback: on nothing else.
func TestHTTPListensOnLoopback(t *testing.T) {
	for addr, ok := range map[string]bool{
		"127.0.0.1:0": true, "localhost:0": true, ":0": true, "127.0.0.9:0": true,
		"0.0.0.0:0": false, "[::]:0": false, "192.0.2.7:0": false, "example.org:0": false, "8080": false, "": false,
	} {
		l, err := ListenHTTP(addr)
		if (err == nil) != ok && !(ok && addr == "127.0.0.9:0") { // macOS has one address only
			t.Errorf("%q: %v", addr, err)
		}
		if l != nil {
			if host := l.Addr().String(); !strings.HasPrefix(host, "127.") {
				t.Errorf("%q: listens on %s", addr, host)
			}
			l.Close()
		}
	}
}
