package mcpserver

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"parlance/internal/chat"
	"parlance/internal/history"
	"parlance/internal/render"
)

const (
	resourcePrefix   = "parlance://conversation/"
	resourceTemplate = resourcePrefix + "{id}{?page}"
	markdownType     = "text/markdown"
)

func (t *talker) addResources() {
	template := mcp.NewResourceTemplate(resourceTemplate, "conversation",
		mcp.WithTemplateTitle("A past conversation"),
		mcp.WithTemplateDescription("One conversation whole, as Markdown, in pages. id is as chat_search lists it, percent-encoded."),
		mcp.WithTemplateMIMEType(markdownType))
	t.mcp.AddResourceTemplate(template, t.readResource)
}

// hookResources makes resources/list tell the newest conversations of this moment, which a
// list that is registered cannot, and takes an id that is not percent-encoded.
func (t *talker) hookResources(hooks *server.Hooks) {
	hooks.AddBeforeReadResource(func(_ context.Context, _ any, req *mcp.ReadResourceRequest) {
		if id, page, err := parseURI(req.Params.URI); err == nil {
			req.Params.URI = conversationURI(id, page)
		} else {
			// The library matches a template against megabytes for minutes, and repeats them.
			req.Params.URI = cut(req.Params.URI, false)
		}
	})
	hooks.AddAfterListResources(func(ctx context.Context, _ any, req *mcp.ListResourcesRequest, result *mcp.ListResourcesResult) {
		l, err := t.find(ctx, history.Query{Filter: history.Filter{Limit: listedResources}}, nil)
		if err != nil {
			t.say(ctx, mcp.LoggingLevelError, "resources: %v", err)
			return
		}
		for _, r := range t.redact(l.Rows) {
			result.Resources = append(result.Resources, resource(&r))
		}
	})
}

func resource(r *chat.Row) mcp.Resource {
	title := label(r)
	about := r.Updated.UTC().Format("2006-01-02 15:04 UTC")
	if r.Project != "" {
		about += " | " + oneLine(r.Project)
	}
	if r.Messages != chat.Uncounted {
		about += fmt.Sprintf(" | %d messages", r.Messages)
	}
	return mcp.NewResource(conversationURI(r.FullID(), 1), oneLine(r.FullID()),
		mcp.WithResourceTitle(title), mcp.WithResourceDescription(about), mcp.WithMIMEType(markdownType),
		mcp.WithLastModified(r.Updated.UTC().Format(time.RFC3339)))
}

// label is what a person knows a conversation by.
func label(r *chat.Row) string {
	for _, s := range []string{r.Title, r.Prompt} {
		if s = oneLine(chat.Preview(s)); s != "" {
			return s
		}
	}
	return oneLine(r.FullID())
}

func oneLine(s string) string {
	return strings.Join(strings.Fields(render.Clean(s)), " ")
}

func conversationURI(id string, page int) string {
	uri := resourcePrefix + escape(id)
	if page > 1 {
		uri += "?page=" + strconv.Itoa(page)
	}
	return uri
}

// escape percent-encodes all but what RFC 3986 calls unreserved, as templates do.
func escape(s string) string {
	var b strings.Builder
	for i := range len(s) {
		c := s[i]
		if c >= '0' && c <= '9' || c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z' || strings.IndexByte("-._~", c) >= 0 {
			b.WriteByte(c)
			continue
		}
		fmt.Fprintf(&b, "%%%02X", c)
	}
	return b.String()
}

// parseURI is the id and the page, from 1, of a conversation's resource.
func parseURI(uri string) (id string, page int, err error) {
	rest, ok := strings.CutPrefix(uri, resourcePrefix)
	if !ok {
		return "", 0, fmt.Errorf("uri: %s: a conversation is %s", cut(uri, false), resourceTemplate)
	}
	rest, query, _ := strings.Cut(rest, "?")
	if id, err = url.PathUnescape(rest); err != nil || id == "" || len(id) > argumentMaxBytes {
		return "", 0, fmt.Errorf("uri: %s: no id in it", cut(uri, false))
	}
	values, err := url.ParseQuery(query)
	if err != nil {
		return "", 0, fmt.Errorf("uri: %s: only ?page=N may follow", cut(uri, false))
	}
	page = 1
	if s := values.Get("page"); s != "" {
		if page, err = strconv.Atoi(s); err != nil || page < 1 {
			return "", 0, fmt.Errorf("page: %s: pages are numbered from 1", cut(s, false))
		}
	}
	return id, page, nil
}

func (t *talker) readResource(ctx context.Context, req mcp.ReadResourceRequest) ([]mcp.ResourceContents, error) {
	id, page, err := parseURI(req.Params.URI)
	if err != nil {
		return nil, err
	}
	provider, _, ok := strings.Cut(id, ":")
	if !ok || !slices.Contains(t.o.Providers, provider) {
		return nil, fmt.Errorf("id: %s: an id is provider:id, as chat_search lists it", cut(oneLine(id), false))
	}
	release, err := t.slot(ctx)
	if err != nil {
		return nil, err
	}
	defer release()
	var text string
	err = t.h.LoadID(ctx, id, func(c *chat.Conversation) error {
		var err error
		text, err = t.page(c, page)
		return err
	})
	var several *history.AmbiguousError
	switch {
	case errors.As(err, &several):
		return nil, fmt.Errorf("%w; write one of them whole", err)
	case err != nil:
		return nil, err
	}
	return []mcp.ResourceContents{mcp.TextResourceContents{URI: req.Params.URI, MIMEType: markdownType, Text: text}}, nil
}

const (
	// pageBytes is how much of a conversation one page holds: the same budget as a fork's.
	pageBytes = 3 * render.TokensDefault
	// pieceBytes is how much of one message stands together. A longer one is shown in
	// pieces, so that nothing is left out.
	pieceBytes = pageBytes / 2
)

// page is one page of a conversation as Markdown. All pages together hold every message that
// a person would see, uncut. Every page stands for itself: no code block is open at its end,
// so that nobody's text can pose as ours on the next. Where a page ends is told by the lengths
// of texts, so that only the page that is wanted has to be made.
func (t *talker) page(c *chat.Conversation, want int) (string, error) {
	var out strings.Builder
	p := render.NewMarkdown(&out, render.ShowOptions{Clean: true, Redact: t.o.Redact})
	if want == 1 {
		p.Open(c)
	}
	pages, bytes := 1, 0
	for i := range c.Messages {
		m := &c.Messages[i]
		if !chat.Shown(m) {
			continue
		}
		for _, piece := range pieces(m, t.o.Redact) {
			n := len(piece.Body()) + len(piece.Diff) + aroundBytes
			if bytes > 0 && bytes+n > pageBytes {
				pages, bytes = pages+1, 0
			}
			bytes += n
			if pages == want {
				p.Message(piece.Message)
				p.Redacted(piece.marks)
			}
		}
	}
	if want > pages {
		return "", fmt.Errorf("page: %d: %s has %d", want, c.FullID(), pages)
	}
	if err := p.Close(); err != nil {
		return "", err
	}
	text := out.String()
	if pages > 1 {
		text = fmt.Sprintf("*Page %d of %d of %s*\n\n%s", want, pages, conversationURI(c.FullID(), 1), text)
	}
	if want < pages {
		text += fmt.Sprintf("\n*Page %d of %d. Next: %s*\n", want, pages, conversationURI(c.FullID(), want+1))
	}
	return text, nil
}

// aroundBytes is about what stands around a text on a page.
const aroundBytes = 150

// pageNote is a line of prose that could be taken for our note on pages.
var pageNote = regexp.MustCompile(`(^|[\r\n\x{85}\x{2028}\x{2029}])( {0,3}\*Page \d)`)

// A piece is a part of a message, and the marks in it that stand for secrets, if those are
// replaced already.
type piece struct {
	*chat.Message
	marks []render.Secret
}

// pieces are a message in parts that fit on a page: itself, if it does. A cut falls between
// characters, after a line if there is one. Secrets are replaced before: a cut would take what
// tells that they are some. It falls into no mark.
func pieces(m *chat.Message, redact render.Redactor) []piece {
	if m.Role != chat.ToolCall && m.Role != chat.ToolResult && pageNote.MatchString(m.Text) {
		escaped := *m
		escaped.Text = pageNote.ReplaceAllString(m.Text, `$1\$2`)
		m = &escaped
	}
	if len(m.Body()) <= pieceBytes && len(m.Diff) <= pieceBytes {
		return []piece{{Message: m}}
	}
	var out []piece
	put := func(text, diff string, marks []render.Secret) {
		part := *m
		part.Diff = diff
		if m.Role == chat.ToolCall {
			part.Input = text
		} else {
			part.Text = text
		}
		if n := len(out); n > 0 && m.Tool != "" {
			part.Tool = fmt.Sprintf("%s, part %d", m.Tool, n+1)
		}
		out = append(out, piece{&part, marks})
	}
	cut := func(text string, put func(part string, marks []render.Secret)) {
		text, marks := redact.Marked(text)
		for at := 0; at < len(text); {
			n := breakAt(text[at:], pieceBytes)
			here := 0
			for here < len(marks) && marks[here].From < at+n {
				if mark := marks[here]; mark.To > at+n {
					if n = mark.From - at; n == 0 { // as if any mark were that long
						n = mark.To - at
						here++
					}
					break
				}
				here++
			}
			put(text[at:at+n], marks[:here])
			at, marks = at+n, marks[here:]
		}
	}
	cut(m.Body(), func(part string, marks []render.Secret) { put(part, "", marks) })
	if len(m.Diff) > pieceBytes {
		cut(m.Diff, func(part string, marks []render.Secret) { put("", part, marks) })
	} else if len(out) > 0 {
		out[len(out)-1].Diff = m.Diff
	}
	return out
}

// breakAt is where a text is cut that is longer than limit bytes.
func breakAt(s string, limit int) int {
	if len(s) <= limit {
		return len(s)
	}
	if i := strings.LastIndexByte(s[limit/2:limit], '\n'); i >= 0 {
		return limit/2 + i + 1
	}
	for limit > 0 && s[limit]&0xC0 == 0x80 {
		limit--
	}
	return limit
}
