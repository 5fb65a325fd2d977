package render

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"
	"unicode/utf16"
	"unicode/utf8"

	"parlance/internal/chat"
)

// The shapes below are a public contract: names and order stay. Absent values are left out.

type rowJSON struct {
	ID          string           `json:"id"`
	Provider    string           `json:"provider"`
	OwnID       string           `json:"conversation_id"`
	Title       string           `json:"title,omitempty"`
	Prompt      string           `json:"prompt,omitempty"`
	Project     string           `json:"project,omitempty"`
	Cwd         string           `json:"cwd,omitempty"`
	Branch      string           `json:"branch,omitempty"`
	Model       string           `json:"model,omitempty"`
	Parent      string           `json:"parent,omitempty"`
	Subagent    bool             `json:"subagent,omitempty"`
	Started     string           `json:"started,omitempty"`
	Updated     string           `json:"updated,omitempty"`
	Messages    *int             `json:"messages,omitempty"`
	File        string           `json:"file,omitempty"`
	Row         string           `json:"row,omitempty"`
	Checkpoints []checkpointJSON `json:"checkpoints,omitempty"`
	Matched     []string         `json:"matched,omitempty"`
	Hits        int              `json:"hits,omitempty"`
	First       string           `json:"first,omitempty"`
	Last        string           `json:"last,omitempty"`
}

type checkpointJSON struct {
	UUID string `json:"uuid"`
	Slug string `json:"slug"`
}

type messageJSON struct {
	N         int             `json:"n"` // counted from 1
	ID        string          `json:"id,omitempty"`
	Role      chat.Role       `json:"role"`
	Text      string          `json:"text,omitempty"`
	Tool      string          `json:"tool,omitempty"`
	Call      string          `json:"call,omitempty"`
	Input     json.RawMessage `json:"input,omitempty"`
	Failed    bool            `json:"failed,omitempty"`
	Running   bool            `json:"running,omitempty"`
	Time      string          `json:"time,omitempty"`
	Reply     string          `json:"reply,omitempty"`
	Child     string          `json:"child,omitempty"`
	Title     string          `json:"title,omitempty"`
	Abandoned bool            `json:"abandoned,omitempty"`
	Inherited bool            `json:"inherited,omitempty"`
	Diff      string          `json:"diff,omitempty"`
	Line      int             `json:"line,omitempty"`
	Origin    string          `json:"origin,omitempty"`
}

type readJSON struct {
	Records int            `json:"records"`
	Used    int            `json:"used"`
	Skipped map[string]int `json:"skipped,omitempty"`
	Dropped map[string]int `json:"dropped,omitempty"`
	NoRule  map[string]int `json:"no_rule,omitempty"`
	Broken  []brokenJSON   `json:"broken,omitempty"`
	Torn    bool           `json:"torn,omitempty"`

	BrokenMore int      `json:"broken_more,omitempty"`
	Warnings   []string `json:"warnings,omitempty"`
	Incomplete string   `json:"incomplete,omitempty"`
}

type brokenJSON struct {
	Line int    `json:"line,omitempty"`
	Why  string `json:"why"`
}

// RowJSON is a row as one JSON object on one line, without a newline.
func RowJSON(r *chat.Row) []byte {
	out := rowJSON{
		ID: r.FullID(), Provider: r.Provider, OwnID: r.ID, Title: r.Title, Prompt: r.Prompt, Project: r.Project,
		Cwd: r.Cwd, Branch: r.Branch, Model: r.Model, Parent: fullID(r.Provider, r.Parent), Subagent: r.Subagent,
		Started: stamp(r.Started), Updated: stamp(r.Updated), File: r.File, Row: r.Row,
		Matched: r.Matched, Hits: r.Hits, First: r.First, Last: r.Last,
	}
	if r.Messages != chat.Uncounted {
		out.Messages = &r.Messages
	}
	for _, cp := range r.Checkpoints {
		out.Checkpoints = append(out.Checkpoints, checkpointJSON(cp))
	}
	return encode(out)
}

// MessagesJSON writes everything there is of a conversation as one JSON document on one
// line, hidden messages included and marked. redact may be nil; what it replaced is counted at
// the end.
func MessagesJSON(w io.Writer, c *chat.Conversation, redact Redactor) error {
	counts := tally{}
	row := chat.NewRow(c)
	row.Title = redact.whole(row.Title, counts)
	row.Prompt = redact.whole(row.Prompt, counts)
	row.Checkpoints = slices.Clone(row.Checkpoints)
	for i := range row.Checkpoints {
		row.Checkpoints[i].Slug = redact.whole(row.Checkpoints[i].Slug, counts)
	}
	out := sink{w: w}
	out.put(`{"conversation":`, string(RowJSON(&row)), `,"messages":[`)
	for i := range c.Messages {
		if i > 0 {
			out.put(",")
		}
		m := &c.Messages[i]
		out.put(string(encode(messageJSON{
			N: i + 1, ID: m.ID, Role: m.Role, Text: redact.whole(m.Text, counts), Tool: m.Tool, Call: m.Call,
			Input: inputJSON(redact.input(m.Input, counts)), Failed: m.Failed, Running: m.Running, Time: stamp(m.Time),
			Reply: m.Reply, Child: fullID(c.Provider, m.Child), Title: redact.whole(m.Title, counts), Abandoned: m.Abandoned, Inherited: m.Inherited,
			Diff: redact.whole(m.Diff, counts), Line: m.Origin.Line, Origin: pointer(m.Origin),
		})))
	}
	r := &c.Read
	read := readJSON{Records: r.Records, Used: r.Used, Skipped: r.Skipped, Dropped: r.Dropped, NoRule: r.NoRule, Torn: r.Torn,
		BrokenMore: r.BrokenMore, Warnings: r.Warnings, Incomplete: r.Incomplete}
	for _, b := range r.Broken {
		read.Broken = append(read.Broken, brokenJSON(b))
	}
	out.put(`],"read":`, string(encode(read)), counts.json(), "}\n")
	return out.err
}

// encode is v on one line. Every v here can be encoded.
func encode(v any) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		panic("render: " + err.Error())
	}
	return seen(bytes.TrimSuffix(b.Bytes(), []byte("\n")))
}

// JSONWriter is w for JSON that holds names and texts of transcripts: what acts on a terminal,
// or hides in a text, stands there as an escape. Each Write is a whole document, as a
// json.Encoder makes it.
func JSONWriter(w io.Writer) io.Writer { return jsonWriter{w} }

type jsonWriter struct{ w io.Writer }

func (j jsonWriter) Write(p []byte) (int, error) {
	if _, err := j.w.Write(seen(p)); err != nil {
		return 0, err
	}
	return len(p), nil
}

// seen is JSON in which what acts on a terminal or hides in a text stands as an escape. It means
// the same to a program, and nothing to a terminal.
func seen(data []byte) []byte {
	i := 0
	for i < len(data) && !suspect[data[i]] {
		i++
	}
	if i == len(data) {
		return data
	}
	out := append(make([]byte, 0, len(data)+64), data[:i]...)
	for i < len(data) {
		if !suspect[data[i]] {
			out = append(out, data[i])
			i++
			continue
		}
		r, size := utf8.DecodeRune(data[i:])
		switch {
		case r > 0xFFFF && unwanted(r):
			high, low := utf16.EncodeRune(r)
			out = fmt.Appendf(out, `\u%04x\u%04x`, high, low)
		case unwanted(r):
			out = fmt.Appendf(out, `\u%04x`, r)
		default:
			out = append(out, data[i:i+size]...)
		}
		i += size
	}
	return out
}

// inputJSON is a call's input as a JSON value: an object or a list as it is, anything else
// as a string. A bare string that happens to read "true" or "12" is still a string.
func inputJSON(input string) json.RawMessage {
	switch {
	case input == "":
		return nil
	case strings.ContainsAny(input[:1], "{[") && json.Valid([]byte(input)):
		return json.RawMessage(valid(input))
	}
	return encode(input)
}

func fullID(provider, id string) string {
	if id == "" {
		return ""
	}
	return provider + ":" + id
}

// stamp is a time in UTC to the millisecond, "" for one that was not recorded.
func stamp(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format("2006-01-02T15:04:05.000Z")
}

// pointer is where a message stands if it has no line.
func pointer(o chat.Origin) string {
	if o.Line > 0 {
		return ""
	}
	return o.Pointer
}

// sink writes until the first error, and keeps it.
type sink struct {
	w   io.Writer
	n   int // bytes written
	err error
}

func (s *sink) put(parts ...string) {
	for _, part := range parts {
		if s.err == nil && part != "" {
			var n int
			n, s.err = io.WriteString(s.w, part)
			s.n += n
		}
	}
}
