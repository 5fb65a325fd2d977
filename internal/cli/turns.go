package cli

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/spf13/pflag"
	"gopkg.in/yaml.v3"

	"parlance/internal/chat"
	"parlance/internal/history"
	"parlance/internal/mapping"
	"parlance/internal/render"
	"parlance/mappings"
)

// toolsFile stands among the built-in mappings.
const toolsFile = "common/tools.yaml"

// turnsFlags are the flags of show --format turns.
type turnsFlags struct {
	set    *pflag.FlagSet
	before int
	after  int
	stamp  string
	uncut  bool
}

func (f *turnsFlags) register(set *pflag.FlagSet) {
	f.set = set
	set.IntVar(&f.before, "before", 0, "turns: the turns before this `SEQ`")
	set.IntVar(&f.after, "after", 0, "turns: only the turns from this `SEQ` on")
	set.StringVar(&f.stamp, "stamp", "", "turns: the `STAMP` of the last answer; nothing is read if it still holds")
	set.BoolVar(&f.uncut, "uncut", false, "turns: all of them, uncut")
}

// check says what is wrong with the flags, for a format.
func (f *turnsFlags) check(format string) error {
	for _, name := range []string{"before", "after", "stamp", "uncut"} {
		if f.set.Changed(name) && format != "turns" {
			return wrong("parlance show: --%s goes with --format turns", name)
		}
	}
	if f.before < 0 || f.after < 0 {
		return wrong("parlance show: --before and --after take the number of a turn, from 0 on")
	}
	return nil
}

// showTurns prints the conversation document: one for each conversation, a line each.
func (a *app) showTurns(ctx context.Context, h *history.History, out *bufio.Writer, what, as string, f *turnsFlags, redact render.Redactor) error {
	tools, err := a.tools()
	if err != nil {
		return err
	}
	if f.stamp != "" {
		places, err := h.Locate(ctx, what)
		if err != nil {
			return err
		}
		for _, p := range places {
			if p.Is(ctx, f.stamp) {
				out.Write(render.TurnsUnchanged(f.stamp))
				return out.Flush()
			}
		}
	}
	o := render.TurnsOptions{Tools: tools, After: f.after, Uncut: f.uncut, Redact: redact}
	if f.set.Changed("before") {
		o.Before = &f.before
	}
	stamps := stampsBefore(ctx, h, what)
	// A conversation is first read for its window only. Where that was not enough, because it
	// turned out to have another order than its file, all is read again, whole.
	var window *render.TurnsDigester
	var keep func(*chat.Message) bool
	if !o.Uncut {
		window = render.NewTurnsDigester(o)
		keep = window.Keep
	}
	n, skip := 0, 0
	var last *chat.Conversation
	print := func(c *chat.Conversation) error {
		if skip > 0 {
			skip--
			return nil
		}
		o.Stamp = ""
		if s := stamps[c.File]; s.known || a.alone(c) {
			o.Stamp = s.stamp
		}
		if err := render.Turns(out, c, o); err != nil {
			return err
		}
		n++
		last = c
		if window != nil {
			window.Next()
		}
		return nil
	}
	err = h.LoadKeeping(ctx, what, as, keep, print)
	if errors.Is(err, render.ErrElided) {
		skip, window = n, nil
		err = h.Load(ctx, what, as, print)
	}
	if err != nil {
		note, known := unreadable(err)
		if !known || n > 0 {
			return a.loadError(err)
		}
		out.Write(render.TurnsUnreadable(note))
		return out.Flush()
	}
	if err := out.Flush(); err != nil {
		return err
	}
	if last == nil {
		return none("%s: no conversation in it", what)
	}
	a.readNotes(last)
	return nil
}

// A placeStamp is history.Place.Stamp.
type placeStamp struct {
	stamp string
	known bool
}

// stampsBefore are the states of the files that may be read, taken before: whoever polls with
// one of them must be told of everything that was written since.
func stampsBefore(ctx context.Context, h *history.History, what string) map[string]placeStamp {
	stamps := map[string]placeStamp{}
	places, err := h.Locate(ctx, what)
	if err != nil {
		return stamps // Load will say so
	}
	for _, p := range places {
		var s placeStamp
		s.stamp, s.known = p.Stamp(ctx)
		files, _ := p.Files(ctx) // a part stands for the whole, which has its first file's name
		stamps[files[0]] = s
	}
	return stamps
}

// alone says whether a conversation's file tells by its stamp that nothing was added.
func (a *app) alone(c *chat.Conversation) bool {
	m, _ := a.set.Mapping(c.Provider)
	if m == nil {
		return false
	}
	for _, s := range m.Sources {
		if s.ID == c.Source {
			return s.Alone()
		}
	}
	return false
}

// unreadable is the note of a conversation that is known and cannot be read; known is false
// for anything else that Load may say.
func unreadable(err error) (note string, known bool) {
	var silent *history.UnreadableError
	switch {
	case errors.As(err, &silent) && silent.Closed:
		return silent.Reason, true
	case errors.As(err, &silent) && silent.Reason != "":
		return "could not read the transcript: " + silent.File + ": " + silent.Reason, true
	case errors.Is(err, mapping.ErrUnsupported):
		_, reason, _ := strings.Cut(err.Error(), mapping.ErrUnsupported.Error()+": ")
		return reason, true
	}
	return "", false
}

// tools reads the table of tools that stands beside the built-in mappings.
func (a *app) tools() (*render.Tools, error) {
	data, err := fs.ReadFile(mappings.FS, toolsFile)
	if err != nil {
		return nil, fmt.Errorf("tools: %w", err)
	}
	var table render.ToolTable
	d := yaml.NewDecoder(bytes.NewReader(data))
	d.KnownFields(true)
	if err := d.Decode(&table); err != nil {
		return nil, fmt.Errorf("%s: %w", toolsFile, err)
	}
	tools, err := render.NewTools(table)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", toolsFile, err)
	}
	return tools, nil
}
