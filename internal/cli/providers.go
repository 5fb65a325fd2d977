package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"parlance/internal/history"
	"parlance/internal/mapping"
	"parlance/internal/render"
	"parlance/mappings"
)

func (a *app) providersCommand() *cobra.Command {
	report := ""
	cmd := &cobra.Command{
		Use:   "providers [NAME...]",
		Short: "Say what every provider holds, where it looks, and what could not be read",
		Long: `Providers reads everything that the mappings find, and says what came of it. Records that no
rule knows are named with the version and day since when they are there: a tool that has
changed its format shows here first. With --report that is printed as structure only (keys,
kinds of values, counts), to be shown to whoever mends the mapping.`,
		Example: `  parlance providers
  parlance providers codex
  parlance providers --report codex`,
		Args: args(cobra.ArbitraryArgs),
		RunE: func(cmd *cobra.Command, names []string) error {
			if report != "" {
				if len(names) > 0 || a.json {
					return wrong("parlance providers: --report NAME stands alone")
				}
				names = []string{report}
			}
			set, err := a.openSet()
			if err != nil {
				return err
			}
			for _, name := range names {
				if !slices.Contains(set.Names(), name) {
					return wrong("parlance providers: no mapping is called %q; there are %s", name, strings.Join(set.Names(), ", "))
				}
			}
			h, err := a.open()
			if err != nil {
				return err
			}
			var f history.Filter
			done := a.progress(&f)
			if report != "" {
				r, err := h.Report(cmd.Context(), report, f.Progress)
				done()
				if err != nil {
					return err
				}
				return a.report(&r)
			}
			list, err := h.Providers(cmd.Context(), names, f.Progress)
			done()
			if err != nil {
				return err
			}
			if a.json {
				return a.providersJSON(list)
			}
			return a.providersText(list, len(names) > 0)
		},
	}
	cmd.Flags().StringVar(&report, "report", "", "print the structure of what no rule of provider `NAME` knew, without any value")
	return cmd
}

// report prints a provider's news for strangers: no value, no path, no name of a type.
func (a *app) report(r *history.Report) error {
	mapping := "built-in"
	if !r.BuiltIn {
		mapping = "a mapping of the user's"
	}
	fmt.Fprintf(a.out, "parlance providers --report %s\n", r.Name)
	fmt.Fprintf(a.out, "mapping: %s, parlance %s\n", mapping, version())
	fmt.Fprintf(a.out, "read: %s, %s\n", plural(r.Files, "file"), plural(r.Conversations, "conversation"))
	if len(r.Kinds) == 0 && len(r.Fields) == 0 {
		fmt.Fprintln(a.out, "every record is known to a rule")
		return nil
	}
	for _, u := range r.Fields {
		fmt.Fprintf(a.out, "new field with prose, which nothing reads: %s, in %s of %s, in %s; %s before had none\n", secretless(u.Path), plural(u.Records, "record"), u.Rule, spanText(u.Span), plural(u.Before, "conversation"))
	}
	if len(r.Kinds) == 0 {
		fmt.Fprintln(a.out, "every record is known to a rule")
	} else {
		fmt.Fprintf(a.out, "unknown to every rule: %s of records, in %s\n", plural(len(r.Kinds), "kind"), spanText(r.Holding))
	}
	for i, k := range r.Kinds {
		place := "a record"
		if k.Rule != "" {
			place = "met by " + k.Rule
		}
		fmt.Fprintf(a.out, "\n%d. %s, %s, in %s\n", i+1, place, plural(k.Shape.Count, "time"), spanText(k.Span))
		for _, line := range k.Shape.Lines() {
			fmt.Fprintf(a.out, "   %s\n", secretless(line)) // a key may be one
		}
	}
	fmt.Fprintln(a.out, "\nkeys, kinds of values, and counts; no value of any file. Keys that look like data are shown as *:\nlook over the others before you show this.")
	return nil
}

// spanText says how many conversations there are, and when the first and the last was.
func spanText(s history.Span) string {
	text := plural(s.Conversations, "conversation") + ", since " + sightText(s.First)
	if s.Last != s.First {
		text += ", last " + sightText(s.Last)
	}
	return text
}

func sightText(s history.Sight) string {
	if s.Version == "" {
		return day(s.At)
	}
	return s.Version + " (" + day(s.At) + ")"
}

// providersText is a line for each provider that has something, and the details of those
// that were asked for by name.
func (a *app) providersText(list []history.Status, details bool) error {
	w := tabwriter.NewWriter(a.out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "PROVIDER\tCONVERSATIONS\tFILES\tOLDEST\tNEWEST\tMAPPING")
	var empty []string
	for _, s := range list {
		if !details && s.Files == 0 && len(s.Unsupported) == 0 && len(s.Problems) == 0 && len(s.Broken) == 0 && s.Damage.Records == 0 && !s.Excluded {
			empty = append(empty, s.Name)
			continue
		}
		note := s.Mapping
		if s.Excluded {
			note += " (excluded by config.yaml)"
		}
		fmt.Fprintf(w, "%s\t%d\t%d\t%s\t%s\t%s\n", s.Name, s.Conversations, s.Files, day(s.Oldest), day(s.Newest), render.Clean(note))
	}
	if err := w.Flush(); err != nil {
		return err
	}
	for _, s := range list {
		a.providerDetails(&s, details)
	}
	if len(empty) > 0 {
		fmt.Fprintf(a.out, "\nnothing found for: %s\n", strings.Join(empty, ", "))
	}
	fmt.Fprintln(a.out, "\nwhere one looks and what it lacks: parlance providers NAME")
	return nil
}

func (a *app) providerDetails(s *history.Status, all bool) {
	var lines []string
	put := func(format string, args ...any) { lines = append(lines, fmt.Sprintf(format, args...)) }
	if all {
		if s.Title != "" {
			put("title          %s", s.Title)
		}
		if s.About != "" {
			put("about          %s", s.About)
		}
		if s.NotRead != "" {
			put("cannot read    %s", s.NotRead)
		}
		for _, p := range s.Patterns {
			put("looks at       %s", p)
		}
		for _, p := range s.Beside {
			put("reads beside   %s", p)
		}
		if len(s.NotRecorded) > 0 {
			put("not recorded   %s", strings.Join(s.NotRecorded, ", "))
		}
		put("messages       %d", s.Messages)
	}
	for _, r := range s.Replaced {
		put("replaces       %s", r)
	}
	for _, reason := range sortedKeys(s.Unsupported) {
		put("cannot read    %s: %s", plural(s.Unsupported[reason], "file"), reason)
	}
	for _, what := range sortedKeys(s.NoRule) {
		put("no rule        %d of %s, in %s", s.NoRule[what], what, spanText(s.Drift[what]))
	}
	for i, u := range s.Unread {
		if i == problemsShown && !all {
			put("new fields     and %d more", len(s.Unread)-i)
			break
		}
		put("new field      %s of %s, prose that nothing reads: %s, in %s; %s before had none", u.Path, u.Kind, plural(u.Records, "record"), spanText(u.Span), plural(u.Before, "conversation"))
	}
	if len(s.NoRule)+len(s.Unread) > 0 {
		put("to show it     parlance providers --report %s (structure only)", s.Name)
	}
	if d := s.Damage; d.Records > 0 {
		first := d.File + ": " + d.Why
		switch {
		case d.Line > 0:
			first = fmt.Sprintf("%s:%d: %s", d.File, d.Line, d.Why)
		case filepath.IsAbs(d.Why): // a joined file, which is named in front
			first = d.Why
		}
		put("unreadable     %s, in %s; the first: %s", plural(d.Records, "record"), plural(d.Conversations, "conversation"), first)
	}
	if s.Incomplete > 0 {
		put("incomplete     %s reached a limit", plural(s.Incomplete, "conversation"))
	}
	for _, p := range s.Broken {
		put("mapping        %s", strings.TrimRight(p.String(), "\n"))
	}
	for i, p := range s.Problems {
		if i == problemsShown && !all {
			put("not read       and %d more", len(s.Problems)-i)
			break
		}
		put("not read       %s: %s", p.Path, p.Reason)
	}
	if len(s.Problems) > 0 || s.Damage.Records > 0 {
		put("to see why     parlance explain FILE")
	}
	if len(lines) > 0 {
		fmt.Fprintf(a.out, "\n%s\n", s.Name)
		for _, l := range lines {
			fmt.Fprintf(a.out, "  %s\n", strings.ReplaceAll(render.Clean(l), "\n", "\n  "))
		}
	}
}

// problemsShown is how many unreadable files of a provider are named in the overview.
const problemsShown = 3

func day(t time.Time) string {
	if t.IsZero() {
		return "-"
	}
	return t.UTC().Format("2006-01-02")
}

func sortedKeys(m map[string]int) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

// providersJSON prints one object a line. Names and order are a contract.
func (a *app) providersJSON(list []history.Status) error {
	type problem struct {
		File   string `json:"file"`
		Reason string `json:"reason"`
	}
	e := json.NewEncoder(render.JSONWriter(a.out))
	e.SetEscapeHTML(false)
	for _, s := range list {
		problems := make([]problem, 0, len(s.Problems))
		for _, p := range s.Problems {
			problems = append(problems, problem{p.Path, p.Reason})
		}
		var broken []string
		for _, p := range s.Broken {
			broken = append(broken, strings.TrimRight(p.String(), "\n"))
		}
		if err := e.Encode(struct {
			Provider      string           `json:"provider"`
			Title         string           `json:"title,omitempty"`
			About         string           `json:"about,omitempty"`
			NotRead       string           `json:"not_read,omitempty"`
			Mapping       string           `json:"mapping"`
			Replaces      []string         `json:"replaces,omitempty"`
			Broken        []string         `json:"broken,omitempty"`
			Excluded      bool             `json:"excluded,omitempty"`
			Patterns      []string         `json:"patterns"`
			Beside        []string         `json:"beside,omitempty"`
			Files         int              `json:"files"`
			Conversations int              `json:"conversations"`
			Messages      int              `json:"messages"`
			Oldest        string           `json:"oldest,omitempty"`
			Newest        string           `json:"newest,omitempty"`
			Unsupported   map[string]int   `json:"unsupported,omitempty"`
			NotRecorded   []string         `json:"not_recorded,omitempty"`
			NoRule        map[string]int   `json:"no_rule,omitempty"`
			Drift         map[string]drift `json:"no_rule_in,omitempty"`
			Unread        []unread         `json:"unread,omitempty"`
			Incomplete    int              `json:"incomplete,omitempty"`
			Unreadable    *damage          `json:"unreadable,omitempty"`
			Problems      []problem        `json:"problems,omitempty"`
		}{s.Name, s.Title, s.About, s.NotRead, s.Mapping, s.Replaced, broken, s.Excluded, s.Patterns, s.Beside, s.Files, s.Conversations, s.Messages,
			when(s.Oldest), when(s.Newest), s.Unsupported, s.NotRecorded, s.NoRule, driftJSON(s.Drift), unreadJSON(s.Unread), s.Incomplete, damageJSON(s.Damage), problems}); err != nil {
			return err
		}
	}
	return nil
}

// damage is what could not be read as a record, as JSON.
type damage struct {
	Records       int    `json:"records"`
	Conversations int    `json:"conversations"`
	File          string `json:"file"` // of the first
	Line          int    `json:"line,omitempty"`
	Why           string `json:"why"`
}

func damageJSON(d history.Damage) *damage {
	if d.Records == 0 {
		return nil
	}
	return &damage{d.Records, d.Conversations, d.File, d.Line, d.Why}
}

// drift is a span as JSON.
type drift struct {
	Conversations int    `json:"conversations"`
	FirstVersion  string `json:"first_version,omitempty"`
	First         string `json:"first"`
	LastVersion   string `json:"last_version,omitempty"`
	Last          string `json:"last"`
}

// unread is a field that nothing reads, as JSON.
type unread struct {
	Field   string `json:"field"`
	Records string `json:"records"` // their type
	Rule    string `json:"rule"`
	N       int    `json:"n"`
	In      drift  `json:"in"`
	Before  int    `json:"conversations_before"`
}

func unreadJSON(list []history.Unread) []unread {
	out := make([]unread, 0, len(list))
	for _, u := range list {
		out = append(out, unread{u.Path, u.Kind, u.Rule, u.Records, driftOf(u.Span), u.Before})
	}
	return out
}

func driftOf(s history.Span) drift {
	return drift{s.Conversations, s.First.Version, when(s.First.At), s.Last.Version, when(s.Last.At)}
}

func driftJSON(spans map[string]history.Span) map[string]drift {
	out := make(map[string]drift, len(spans))
	for what, s := range spans {
		out[what] = driftOf(s)
	}
	return out
}

func when(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format("2006-01-02T15:04:05.000Z")
}

func (a *app) mappingCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "mapping [NAME]",
		Short: "Print a built-in mapping, to copy and change; without a name, list them",
		Long: `Mapping prints a mapping that comes with the program. Without a name it lists them with the
tools they are for and with what their files are, the shortest first, so that one can be found
that resembles the files at hand.`,
		Example: `  parlance mapping codex > ~/.config/parlance/mappings/codex.yaml
  parlance check ~/.config/parlance/mappings/codex.yaml`,
		Args: args(cobra.MaximumNArgs(1)),
		RunE: func(cmd *cobra.Command, names []string) error {
			if len(names) == 0 {
				return a.mappingList()
			}
			data, err := fs.ReadFile(mappings.FS, names[0]+".yaml")
			if errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrInvalid) {
				return wrong("parlance mapping: no built-in mapping is called %q; there are %s", names[0], strings.Join(builtinNames(), ", "))
			}
			if err != nil {
				return err
			}
			_, err = a.out.Write(data)
			return err
		},
	}
}

// mappingList is a line for each built-in mapping, those first that are easy to read.
func (a *app) mappingList() error {
	set, err := mapping.NewSet(mappings.FS, nil)
	if err != nil {
		return err
	}
	names := builtinNames()
	bytes := map[string]int{}
	for _, name := range names {
		data, err := fs.ReadFile(mappings.FS, name+".yaml")
		if err != nil {
			return err
		}
		rules, _, _ := strings.Cut(string(data), "\ntests:") // not its samples
		bytes[name] = len(rules)
	}
	slices.SortStableFunc(names, func(a, b string) int { return bytes[a] - bytes[b] })
	w := tabwriter.NewWriter(a.out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "NAME\tFILES\tTOOL")
	for _, name := range names {
		m, _ := set.Mapping(name)
		if m == nil {
			continue
		}
		var kinds []string
		for _, src := range m.Sources {
			if src.Unsupported == "" && !slices.Contains(kinds, src.Container) {
				kinds = append(kinds, src.Container)
			}
		}
		fmt.Fprintf(w, "%s\t%s\t%s\n", name, strings.Join(kinds, ", "), m.Title)
	}
	return w.Flush()
}

func builtinNames() []string {
	files, err := fs.Glob(mappings.FS, "*.yaml")
	if err != nil {
		return nil
	}
	for i := range files {
		files[i] = strings.TrimSuffix(files[i], ".yaml")
	}
	return files
}

func (a *app) versionCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version of this program",
		Args:  args(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			_, err := fmt.Fprintf(a.out, "parlance %s\n", version())
			return err
		},
	}
}

// version is this program's, with the commit it was built from.
func version() string {
	version, revision := "(devel)", ""
	if info, ok := debug.ReadBuildInfo(); ok {
		if v := info.Main.Version; v != "" {
			version = v
		}
		for _, s := range info.Settings {
			if s.Key == "vcs.revision" {
				revision = " " + s.Value
			}
		}
	}
	return version + revision
}
