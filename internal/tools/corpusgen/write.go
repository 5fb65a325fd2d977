package main

import (
	"bufio"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// sink is what a tool's writer offers the common session script.
type sink interface {
	open()
	user(text, image string)
	assistant(text string)
	thought(text string)
	call(name, args string) string // returns the call id
	result(id, name, text, image string)
	noise()
	close()
}

type writer struct {
	*bufio.Writer
	n   int64
	s   *session
	r   *rng
	v   *vocabulary
	now time.Time
}

func (w *writer) line(s string) {
	w.WriteString(s)
	w.WriteByte('\n')
	w.n += int64(len(s)) + 1
}

func (w *writer) stamp() string {
	w.now = w.now.Add(time.Duration(200+w.r.IntN(2000)) * time.Millisecond)
	return w.now.UTC().Format("2006-01-02T15:04:05.000Z")
}

func (w *writer) millis() string {
	w.stamp()
	return strconv.FormatInt(w.now.UnixMilli(), 10)
}

// script drives one session: user turns, each with a run of tool steps.
func script(w *writer, k sink) {
	s, r, v := w.s, w.r, w.v
	say := func(extra string, n int) string {
		t := v.prose(r, n)
		if extra != "" {
			cut := strings.IndexByte(t, ' ')
			t = t[:max(cut, 0)] + " " + extra + " " + t[max(cut, 0):]
		}
		s.proseBytes += int64(len(t))
		s.messages++
		return t
	}
	left := append([]plant{}, s.plants...)
	take := func(where string) string {
		for i, p := range left {
			if p.where == where {
				left = append(left[:i:i], left[i+1:]...)
				return p.text
			}
		}
		return ""
	}
	tool := func(text, name, args, image string) {
		id := k.call(name, args)
		k.result(id, name, text, image)
		s.toolBytes += int64(len(text) + len(image))
		s.messages += 2
	}
	k.open()
	k.user(say(take(inUser), int(r.logNormal(400, 1.0, 20, 9000))), "")
	turn := 0
	for {
		turn++
		steps := r.between(1, 9)
		for i := 0; i < steps && (w.n < s.target || turn == 1); i++ {
			if r.chance(0.35) {
				k.thought(v.prose(r, int(r.logNormal(300, 0.7, 40, 3000))))
			}
			if r.chance(0.55) {
				k.assistant(say("", int(r.logNormal(260, 0.9, 20, 4000))))
			}
			room := float64(max(400, s.target-w.n))
			size := r.logNormal(2600, 1.3, 30, math.Min(room, 60*kib))
			if s.target > 20*mib {
				size *= 4
			}
			image := ""
			if s.target > 400*kib && r.chance(0.012) {
				image = blob(r, int(r.logNormal(90*kib, 0.6, 8*kib, 900*kib)))
			}
			name := []string{"read", "bash", "grep", "edit"}[r.IntN(4)]
			args := `{"path":` + q(projectOf(s)+"/"+v.word(r)+"/"+v.word(r)+".go") + `,"command":` + q("go test ./"+v.word(r)+"/...") + `}`
			tool(v.toolText(r, int(size)), name, args, image)
			if r.chance(0.15) {
				k.noise()
			}
		}
		for i := 0; i < len(left); i++ {
			switch p := left[i]; p.where {
			case inResult:
				tool(v.toolText(r, 900)+"\n"+p.text+"\n"+v.toolText(r, 400), "bash", `{"command":"cat notes.txt"}`, "")
			case inMark:
				slug := p.text[strings.Index(p.text, "SLUG=")+5:]
				tool(p.text, "chat_checkpoint", `{"slug":`+q(slug)+`}`, "")
			case longLine:
				tool(v.toolText(r, p.size), "bash", `{"command":"cat big.log"}`, "")
			case deepInTool:
				tool(v.toolText(r, p.size)+"\n"+p.text+"\n"+v.toolText(r, p.size), "bash", `{"command":"cat big.log"}`, "")
			case deepInUser:
				k.user(say("", p.size)+" "+p.text+" "+say("", 200), "")
			default:
				continue
			}
			left = append(left[:i:i], left[i+1:]...)
			i--
		}
		k.assistant(say(take(inAssistant), int(r.logNormal(800, 0.9, 40, 9000))))
		for {
			t := take(afterLong)
			if t == "" {
				break
			}
			k.assistant(say(t, 200))
		}
		if w.n >= s.target && len(left) == 0 {
			break
		}
		image := ""
		if s.target > 300*kib && r.chance(0.04) {
			image = blob(r, int(r.logNormal(160*kib, 0.6, 8*kib, 1500*kib)))
		}
		k.user(say(take(inUser), int(r.logNormal(200, 1.1, 8, 9000))), image)
	}
	k.close()
}

// write makes the file of a session, its sidecar if the tool has one, and their doubles.
func write(home string, s *session, o options, v *vocabulary) error {
	full := filepath.Join(home, s.path)
	if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
		return err
	}
	f, err := os.Create(full)
	if err != nil {
		return err
	}
	w := &writer{Writer: bufio.NewWriterSize(f, 1<<20), s: s, v: v, r: newRNG(o.seed, uint64(s.index)+1_000_000), now: s.end.Add(-time.Hour)}
	var k sink
	switch s.tool {
	case "claude":
		k = &claude{writer: w}
	case "codex":
		k = &codex{w}
	case "gemini":
		k = &gemini{writer: w, doc: strings.HasSuffix(s.path, ".json")}
	case "pi":
		k = &pi{writer: w}
	default:
		k = &kiro{w}
	}
	script(w, k)
	if err := w.Flush(); err != nil {
		return err
	}
	if err := f.Close(); err != nil {
		return err
	}
	s.bytes = w.n
	paths := []string{s.path}
	if s.tool == "kiro" {
		side := strings.TrimSuffix(full, ".jsonl") + ".json"
		meta := `{"session_id":"` + s.id + `","cwd":` + q(projectOf(s)) + `,"title":` + q(v.prose(w.r, 30)) + `,"created_at":"` +
			s.end.Add(-time.Hour).UTC().Format(time.RFC3339) + `","updated_at":"` + s.end.UTC().Format(time.RFC3339) + "\"}\n"
		if err := os.WriteFile(side, []byte(meta), 0o644); err != nil {
			return err
		}
		if err := os.Chtimes(side, s.end, s.end); err != nil {
			return err
		}
		paths = append(paths, strings.TrimSuffix(s.path, ".jsonl")+".json")
	}
	if err := os.Chtimes(full, s.end, s.end); err != nil {
		return err
	}
	r := newRNG(o.seed, uint64(s.index)+2_000_000)
	for range o.repeat - 1 {
		id := r.uuid()
		s.copies = append(s.copies, id)
		for _, path := range paths {
			other := strings.NewReplacer(s.id, id, s.id[:8], id[:8]).Replace(path)
			if err := os.Link(filepath.Join(home, path), filepath.Join(home, other)); err != nil {
				return err
			}
		}
	}
	return nil
}
