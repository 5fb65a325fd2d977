package history

import (
	"fmt"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/bmatcuk/doublestar/v4"

	"parlance/internal/chat"
	"parlance/internal/mapping"
)

// In says which messages a search reads.
type In string

// What is searched: the talk of user and assistant (also ""), calls and their results, or
// every message, whatever its role.
const (
	InTalk  In = "talk"
	InTools In = "tools"
	InAll   In = "all"
)

// inIDs is a search that reads no messages.
const inIDs In = "ids"

// roles are those that are searched; none means all of them.
func (in In) roles() []chat.Role {
	switch in {
	case InTools:
		return []chat.Role{chat.ToolCall, chat.ToolResult}
	case InAll:
		return nil
	}
	return []chat.Role{chat.User, chat.Assistant}
}

func (in In) holds(r chat.Role) bool {
	return in != inIDs && (in == InAll || slices.Contains(in.roles(), r))
}

// Filter narrows a listing. The zero value is: the newest 50 conversations that a person began.
type Filter struct {
	Providers []string
	// Project is the name of a project (the last segment of a working directory) or, with
	// a slash, a folder at or below which the working directory lies. "." and "~" are read
	// as usual. It is a filter on what a conversation recorded, nothing else.
	Project string
	// Since and Until are dates ("2026-05-28", a day in UTC, wholly included), times
	// (RFC 3339) or ages ("7d", also h, m, w). They are compared with updated, but a conversation
	// is not newer than its file, whatever it says.
	Since, Until string
	Limit        int  // rows; 0 is 50, less than 0 is no limit
	Subagents    bool // subagents as well
	In           In

	// Self is the id of the conversation that asks, where the host tells it.
	Self string
	// Progress, if set, hears now and then how many of the found files were looked at. It
	// is called by several goroutines.
	Progress func(done, found int)
}

// Narrowed names what keeps conversations out of an answer that the text would find.
func (f *Filter) Narrowed() (names []string) {
	for _, by := range []struct {
		name string
		set  bool
	}{
		{"provider", len(f.Providers) > 0}, {"project", !chat.Blank(f.Project)},
		{"since", !chat.Blank(f.Since)}, {"until", !chat.Blank(f.Until)},
	} {
		if by.set {
			names = append(names, by.name)
		}
	}
	return names
}

// bounds is a Filter that was read: what is compared with each conversation.
type bounds struct {
	since, until time.Time // zero: open
	name, folder string    // of Project, at most one
	limit        int       // 0: none
	subagents    bool
}

func (h *History) bounds(f Filter) (bounds, error) {
	b := bounds{limit: f.Limit, subagents: f.Subagents}
	switch {
	case f.Limit == 0:
		b.limit = limitDefault
	case f.Limit < 0:
		b.limit = 0
	}
	switch f.In {
	case "", InTalk, InTools, InAll:
	default:
		return b, fmt.Errorf("in: %q is not talk, tools or all", f.In)
	}
	now := h.cfg.Now()
	var err error
	if b.since, _, err = parseWhen(f.Since, now); err != nil {
		return b, fmt.Errorf("since: %w", err)
	}
	var day bool
	if b.until, day, err = parseWhen(f.Until, now); err != nil {
		return b, fmt.Errorf("until: %w", err)
	}
	if day {
		b.until = b.until.AddDate(0, 0, 1).Add(-time.Nanosecond)
	}
	b.name, b.folder = splitProject(f.Project, h.env())
	for _, p := range f.Providers {
		if !slices.Contains(h.cfg.Set.Names(), p) {
			return b, fmt.Errorf("provider: no mapping is called %q", p)
		}
	}
	return b, nil
}

// holds says whether a conversation passes, subagents aside.
func (b *bounds) holds(cwd string, updated time.Time) bool {
	if !b.since.IsZero() && updated.Before(b.since) || !b.until.IsZero() && updated.After(b.until) {
		return false
	}
	return b.inProject(cwd)
}

func (b *bounds) inProject(cwd string) bool {
	switch {
	case b.name != "":
		return strings.EqualFold(chat.Project(cwd), b.name)
	case b.folder != "":
		return below(cwd, b.folder)
	}
	return true
}

var ageForm = regexp.MustCompile(`^(\d{1,6})\s*([mhdw])$`)

// parseWhen reads a date, a time or an age. day says that it was a date without a time.
func parseWhen(s string, now time.Time) (t time.Time, day bool, err error) {
	s = strings.TrimSpace(s)
	if s == "" {
		return time.Time{}, false, nil
	}
	if m := ageForm.FindStringSubmatch(strings.ToLower(s)); m != nil {
		n, _ := strconv.Atoi(m[1])
		unit := map[string]time.Duration{"m": time.Minute, "h": time.Hour, "d": 24 * time.Hour, "w": 7 * 24 * time.Hour}[m[2]]
		if time.Duration(n) > 100*365*24*time.Hour/unit {
			return time.Time{}, false, fmt.Errorf("%q is more than a hundred years", s)
		}
		return now.Add(-time.Duration(n) * unit), false, nil
	}
	today := now.UTC().Truncate(24 * time.Hour)
	switch strings.ToLower(s) {
	case "today":
		return today, true, nil
	case "yesterday":
		return today.AddDate(0, 0, -1), true, nil
	}
	if t, err := time.Parse(time.DateOnly, s); err == nil {
		return t, true, nil
	}
	for _, layout := range []string{time.RFC3339, "2006-01-02T15:04:05", "2006-01-02 15:04:05", "2006-01-02T15:04", "2006-01-02 15:04"} {
		if t, err := time.Parse(layout, s); err == nil {
			return t, false, nil
		}
	}
	return time.Time{}, false, fmt.Errorf("%q is neither a date (2026-05-28), a time, nor an age (7d)", s)
}

// splitProject tells a project's name from a folder.
func splitProject(s string, env mapping.Env) (name, folder string) {
	s = strings.TrimSpace(s)
	switch {
	case s == "":
		return "", ""
	case s == "~" || strings.HasPrefix(s, "~/"):
		return "", slashed(env.Home + s[1:])
	case (s == "." || s == ".." || strings.HasPrefix(s, "./") || strings.HasPrefix(s, "../")) && env.Cwd != "":
		return "", slashed(filepath.Join(env.Cwd, filepath.FromSlash(s)))
	case strings.ContainsAny(strings.TrimRight(s, `/\`), `/\`) || strings.HasPrefix(s, "/") || drive(s):
		return "", slashed(s)
	}
	return strings.TrimRight(s, `/\`), ""
}

// slashed is a folder with "/" throughout and none at its end.
func slashed(p string) string {
	p = strings.ReplaceAll(p, `\`, "/")
	if drive(p) {
		p = strings.ToLower(p)
	}
	if p = strings.TrimRight(p, "/"); p == "" {
		return "/"
	}
	return p
}

func drive(p string) bool {
	return len(p) >= 2 && p[1] == ':' && (p[0]|0x20 >= 'a' && p[0]|0x20 <= 'z')
}

// below says whether p is folder or lies under it. A path with a drive letter is compared
// without case, as its system does.
func below(p, folder string) bool {
	if p == "" {
		return false
	}
	p = slashed(p)
	return p == folder || folder == "/" && p[0] == '/' || strings.HasPrefix(p, folder+"/")
}

// excluder is Exclude, ready to be asked.
type excluder struct {
	providers map[string]bool
	folders   []string
	patterns  []string
}

func newExcluder(e Exclude, envs []mapping.Env) *excluder {
	x := &excluder{providers: map[string]bool{}}
	for _, p := range e.Providers {
		x.providers[p] = true
	}
	var paths []string
	for _, p := range e.Paths {
		if p == "~" || strings.HasPrefix(p, "~/") || strings.HasPrefix(p, `~\`) {
			for _, env := range envs {
				paths = append(paths, env.Home+p[1:])
			}
			continue
		}
		paths = append(paths, p)
	}
	for _, p := range paths {
		if strings.ContainsAny(p, "*?[{") {
			x.patterns = append(x.patterns, path.Clean(strings.ReplaceAll(p, `\`, "/")))
			continue
		}
		if p != "" {
			x.folders = append(x.folders, slashed(path.Clean(strings.ReplaceAll(p, `\`, "/"))))
		}
	}
	return x
}

// paths says whether any path is excluded.
func (x *excluder) paths() bool { return len(x.folders)+len(x.patterns) > 0 }

// path says whether p, a file or a working directory, must be left alone. A pattern that
// fits a folder excludes all below it.
func (x *excluder) path(p string) bool {
	if p == "" || !x.paths() {
		return false
	}
	for _, f := range x.folders {
		if below(p, f) {
			return true
		}
	}
	for _, pattern := range x.patterns {
		for q := slashed(p); ; q = path.Dir(q) {
			if ok, _ := doublestar.Match(pattern, q); ok {
				return true
			}
			if next := path.Dir(q); next == q || next == "." {
				break
			}
		}
	}
	return false
}

// conversation says whether c must not be handed out.
func (x *excluder) conversation(c *chat.Conversation) bool {
	return x.providers[c.Provider] || x.path(c.File) || x.path(c.Cwd)
}
