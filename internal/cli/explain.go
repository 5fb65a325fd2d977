package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"parlance/internal/history"
	"parlance/internal/mapping"
	"parlance/internal/render"
)

type explainFlags struct {
	as   string
	line int
	all  bool

	watch bool
}

func (a *app) explainCommand() *cobra.Command {
	var f explainFlags
	cmd := &cobra.Command{
		Use:   "explain FILE|FOLDER|ID",
		Short: "Say how a file is read, and what in it nothing understands",
		Long: `Explain says which mapping reads a file and why, what each of its rules made, where title
and folder were found, which records no rule knew, and what to type next. With --line it
tells one record step by step; with --all every one. Of a folder it says in a line each how
the files in it are read; of the id of a conversation, how that one is.

Exit codes: 0 a mapping reads the file and nothing is left over, 1 something is to be mended,
2 there is no such file, or no mapping reads it.`,
		Example: `  parlance explain ~/.claude/projects/p/7a1e0c52.jsonl
  parlance explain session.jsonl --line 12
  parlance explain session.jsonl --as my.yaml`,
		Args: args(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, what []string) error {
			if cmd.Flags().Changed("line") && f.line < 1 {
				return wrong("parlance explain: --line %d: lines are counted from 1", f.line)
			}
			if !f.watch {
				return a.explain(cmd.Context(), what[0], f)
			}
			read := []string{what[0]}
			if strings.HasSuffix(f.as, ".yaml") {
				read = append(read, f.as)
			}
			return a.watch(cmd.Context(), func() ([]string, error) { return read, a.explain(cmd.Context(), what[0], f) })
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&f.as, "as", "", "read the file with this `provider`'s mapping, or with a mapping file (NAME.yaml)")
	flags.IntVar(&f.line, "line", 0, "tell the record of line `N`, step by step; in a database or a document, record N")
	flags.BoolVar(&f.watch, "watch", false, "explain it again whenever it, or the mapping file of --as, is saved")
	flags.BoolVar(&f.all, "all", false, "tell every record, every rule and every mapping that was tried")
	return cmd
}

func (a *app) explain(ctx context.Context, what string, f explainFlags) error {
	typed := f.as
	var err error
	if f.as, err = a.mappingAs("explain", f.as); err != nil {
		return err
	}
	h, err := a.open()
	if err != nil {
		return err
	}
	if info, err := os.Stat(what); err == nil && info.IsDir() && f.as == "" {
		return a.explainFolder(ctx, h, what)
	}
	redact := render.Redactor(render.Secrets)
	e, err := h.Explain(ctx, what, f.as, mapping.ExplainOptions{All: f.all, Line: f.line, Redact: redact.Text})
	if err != nil {
		if errors.Is(err, mapping.ErrNoLine) {
			return wrong("parlance explain: %v", err)
		}
		return a.loadError(err)
	}
	for i := range e.NoRule {
		withoutSecrets(e.NoRule[i].Fields)
	}
	for _, told := range e.Told {
		for _, looks := range told.Looks {
			withoutSecrets(looks.Fields)
		}
	}
	if e.Look != nil {
		withoutSecrets(e.Look.Fields)
	}
	p := &explanation{Explanation: e, what: what, as: typed, again: a.again(), f: f}
	e.Next = p.next()
	if !f.all {
		nearest := 0
		e.Tried = slices.DeleteFunc(e.Tried, func(t mapping.Attempt) bool {
			nearest++
			return t.Pattern == "" && !t.Accepts && nearest > triedShown
		})
	}
	if a.json {
		var b strings.Builder
		enc := json.NewEncoder(render.JSONWriter(&b))
		enc.SetEscapeHTML(false)
		enc.SetIndent("", "  ")
		if err := enc.Encode(e); err != nil {
			return err
		}
		if _, err := fmt.Fprint(a.out, redact.JSON(b.String())); err != nil {
			return err
		}
	} else {
		switch {
		case e.Verdict == mapping.VerdictUnknown:
			p.unknown()
		case f.line > 0:
			p.records()
		default:
			p.summary()
		}
		if _, err := fmt.Fprint(a.out, redact.Text(render.Clean(p.b.String()))); err != nil {
			return err
		}
	}
	switch {
	case e.Verdict == mapping.VerdictUnknown:
		return &exitError{exitWrong, ""}
	case f.line > 0 && p.lineIsWell():
		return nil
	case f.line > 0 || e.Verdict != mapping.VerdictWhole:
		return &exitError{exitNone, ""}
	}
	return nil
}

// withoutSecrets replaces values of fields whose name tells that they are secrets.
func withoutSecrets(fields []mapping.FieldLook) {
	for i := range fields {
		for j := range fields[i].Values {
			v := &fields[i].Values[j]
			front := `"` + fields[i].Path + `":"`
			if shown, ok := strings.CutPrefix(secretless(front+v.Value+`"`), front); ok {
				v.Value = strings.TrimSuffix(shown, `"`)
			}
		}
	}
}

// someFiles names the first few files below a folder, to be typed: ": a, b, ...".
func someFiles(dir string) string {
	const most = 3
	var names []string
	more := false
	_ = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error { // what cannot be read is not named
		switch {
		case err != nil || !d.Type().IsRegular():
			return nil
		case len(names) == most:
			more = true
			return fs.SkipAll
		}
		names = append(names, render.Clean(path))
		return nil
	})
	if len(names) == 0 {
		return ""
	}
	if more {
		names = append(names, "...")
	}
	return ": " + strings.Join(names, ", ")
}

// explainFolder says in a line each how the files below a folder are read.
func (a *app) explainFolder(ctx context.Context, h *history.History, dir string) error {
	whole, partly, unread, empty := 0, 0, 0, 0
	base, err := filepath.Abs(dir)
	if err != nil {
		return err
	}
	others, err := h.ExplainFolder(ctx, dir, func(path string, e *mapping.Explanation, err error) error {
		full := path
		if rel, err := filepath.Rel(base, path); err == nil {
			path = rel
		}
		if a.json {
			if err != nil {
				e = &mapping.Explanation{File: full, Verdict: mapping.VerdictUnknown, Incomplete: err.Error()}
			}
			enc := json.NewEncoder(render.JSONWriter(a.out))
			enc.SetEscapeHTML(false)
			if err := enc.Encode(e); err != nil {
				return err
			}
		}
		var text string
		switch {
		case err != nil:
			unread++
			text = "not read   " + path + ": " + strings.TrimPrefix(err.Error(), full+": ")
		case e.Verdict == mapping.VerdictWhole:
			whole++
			text = fmt.Sprintf("whole      %s: %s %s, %s", path, e.Provider, strings.Join(e.Sources, ", "), plural(e.Messages, "message"))
		case e.Records.Records == 0 && e.Excluded == 0:
			empty++
			text = "empty      " + path + ": " + e.Provider
		default:
			partly++
			r := e.Records
			text = fmt.Sprintf("PARTLY     %s: %s %s, %s; records %d = %d used + %d skipped + %d no rule + %d broken", path, e.Provider, strings.Join(e.Sources, ", "),
				plural(e.Messages, "message"), r.Records, r.Used, r.Skipped, r.NoRule, r.Broken)
		}
		if a.json {
			return nil
		}
		_, err = fmt.Fprintln(a.out, render.Clean(text))
		return err
	})
	if err != nil {
		return err
	}
	n := whole + partly + unread + empty
	if n == 0 {
		return wrong("%s: no mapping looks for files in this folder, which holds %s; name one of them%s", dir, plural(others, "file"), someFiles(dir))
	}
	if !a.json {
		fmt.Fprintf(a.out, "%s: %d whole, %d partly, %d not read, %d empty; %d others that no pattern finds\n", plural(n, "file"), whole, partly, unread, empty, others)
	}
	if partly+unread > 0 {
		return &exitError{exitNone, ""}
	}
	return nil
}

// An explanation is an Explanation on its way to a person.
type explanation struct {
	*mapping.Explanation
	what  string // as it was typed, as is as
	as    string
	again string // the flags of all commands that were given
	f     explainFlags
	b     strings.Builder
}

// A summary fits a screen: that is what these are for.
const (
	triedShown   = 3
	rulesShown   = 16
	groupsShown  = 6
	warningShown = 3
	headsShown   = 3
	emptyShown   = 4
	labelWidth   = 9
	ruleWidth    = 52
	valueWidth   = 34
)

func (p *explanation) put(format string, args ...any) {
	p.b.WriteString(strings.TrimRight(fmt.Sprintf(format, args...), " ") + "\n")
}

// line is a line of a label and what belongs to it; an empty label goes on with the one before.
func (p *explanation) line(label, format string, args ...any) {
	p.put("  %-*s  %s", labelWidth, label, fmt.Sprintf(format, args...))
}

// lineIsWell says whether what was told leaves nothing over.
func (p *explanation) lineIsWell() bool {
	return !slices.ContainsFunc(p.Told, func(r *mapping.Record) bool {
		return r.Outcome == "no rule" || r.Outcome == "broken" || len(r.Looks) > 0
	})
}

func (p *explanation) headline() {
	if len(p.Sources) == 0 && p.Conversations+p.Excluded == 0 {
		p.put("%s (%s)  %s", p.Provider, p.Mapping, bytesText(p.SizeBytes))
		return
	}
	from := p.Mapping
	size := bytesText(p.SizeBytes)
	verdict := ""
	if p.Verdict == mapping.VerdictPartly {
		verdict = "   PARTLY"
	}
	sources := "source"
	if len(p.Sources) > 1 {
		sources = "sources"
	}
	packed := ""
	if s := filepath.Ext(p.File); s == ".gz" || s == ".zst" {
		packed = s[1:] + " of "
	}
	p.put("%s (%s)  %s %s   %s%s, %s, %s%s", p.Provider, from, sources, strings.Join(p.Sources, ", "), packed, p.Container, size, plural(p.Records.Records, "record"), verdict)
}

func (p *explanation) chosen() {
	c := p.Chosen
	if c == nil {
		return
	}
	switch c.By {
	case "pattern":
		content := "and content (" + c.Content + ")"
		if c.Content == "" {
			content = "alone"
		}
		p.line("chosen by", "path pattern %s %s", c.Pattern, content)
	case "as":
		p.line("chosen by", "--as")
	default:
		p.line("chosen by", "content only: the path fits no pattern (%s)", c.Content)
	}
	shown := 0
	for _, t := range p.Tried {
		if !p.f.all && t.Pattern == "" && (!t.Accepts || c.By == "pattern") {
			continue
		}
		if shown == triedShown && !p.f.all {
			p.line("", "and others: --all")
			break
		}
		label := ""
		if shown == 0 {
			label = "also"
		}
		shown++
		p.line(label, "%s", attempt(t))
	}
}

// attempt says in one line how a source took the file.
func attempt(t mapping.Attempt) string {
	s := t.Provider + " " + t.Source + ": "
	if t.Pattern != "" {
		s += "the path fits " + t.Pattern + "; "
	}
	switch {
	case t.Accepts && t.Records > 0:
		s += fmt.Sprintf("accepts it (%s), knows %d of %s", t.Why, t.Known, plural(t.Records, "record"))
	case t.Accepts:
		s += "accepts it (" + t.Why + ")"
	default:
		s += t.Why
	}
	return s
}

func (p *explanation) summary() {
	p.headline()
	p.chosen()
	p.keys()
	r := p.Records
	torn := ""
	if r.Torn {
		torn = "   (and a half-written last line)"
	}
	p.put("records %d = %d used + %d skipped + %d no rule + %d broken%s", r.Records, r.Used, r.Skipped, r.NoRule, r.Broken, torn)
	p.rules()
	p.noRule()
	p.empty()
	p.selectors()
	p.sums()
	if p.f.all {
		if len(p.NeverFired) > 0 {
			p.put("never taken")
			for _, rule := range p.NeverFired {
				p.put("  %s", rule)
			}
		}
		p.records()
	}
	for i, cmd := range p.Next {
		label := ""
		if i == 0 {
			label = "next"
		}
		p.put("%-*s%s", labelWidth+1, label, cmd)
	}
}

// keys says where the conversation's keys were found; of several conversations, in how many.
func (p *explanation) keys() {
	if p.Excluded > 0 {
		p.line("excluded", "%s by config.yaml", plural(p.Excluded, "conversation"))
	}
	if p.Conversations == 0 {
		return
	}
	if p.Conversations != 1 {
		p.line("holds", "%s, %s", plural(p.Conversations, "conversation"), plural(p.Messages, "message"))
		most := headsShown
		if p.f.all {
			most = len(p.Heads)
		}
		for _, h := range p.Heads[:min(most, len(p.Heads))] {
			p.line("", "%s  %s  %s", h.ID, plural(h.Messages, "message"), h.Title)
		}
		if n := p.Conversations - most; n > 0 && len(p.Heads) > most {
			p.line("", "and %d more", n)
		}
		var counts []string
		for _, k := range p.Filled {
			counts = append(counts, fmt.Sprintf("%s %d", k.Key, k.N))
		}
		if counts != nil {
			p.line("found", "%s", strings.Join(counts, ", "))
		}
		return
	}
	for _, k := range p.Keys {
		if !p.f.all && k.Key != "id" && k.Key != "title" && k.Key != "cwd" && k.Key != "parent" {
			continue
		}
		where := k.Pointer
		if k.Line > 0 {
			where = "line " + itoa(k.Line)
		}
		more := ""
		if k.Candidates > 1 {
			more = fmt.Sprintf("  (%d candidates, pick: %s)", k.Candidates, k.Pick)
		}
		p.line(k.Key, "%-*s  %-9s  %s%s", valueWidth, cut(k.Value, valueWidth), where, k.From, more)
	}
}

func (p *explanation) rules() {
	rules := p.Rules
	deepest := 0
	for _, r := range rules {
		deepest = max(deepest, r.Depth)
	}
	// Inner rules are left out, the innermost first, until the table fits.
	for depth := deepest; !p.f.all && depth > 0 && len(rules) > rulesShown; depth-- {
		rules = slices.DeleteFunc(slices.Clone(rules), func(r mapping.RuleSum) bool { return r.Depth >= depth })
	}
	left := 0
	if !p.f.all && len(rules) > rulesShown {
		left = len(rules) - rulesShown
		rules = rules[:rulesShown]
	}
	for i, r := range rules {
		name := strings.Repeat("  ", r.Depth) + p.ruleName(r)
		made := ""
		if i+1 >= len(rules) || rules[i+1].Depth <= r.Depth { // else the rules inside say it
			made = outcome(r)
		}
		p.put("  %-*s %6d  %s", ruleWidth, cut(name, ruleWidth), r.Taken, made)
	}
	if left > 0 {
		p.put("  and %s: --all", plural(left, "more rule"))
	}
}

// ruleName is a rule's path, inside another one only the end of it, and what it is about.
func (p *explanation) ruleName(r mapping.RuleSum) string {
	name := r.Rule
	if i := strings.LastIndexByte(name, '.'); r.Depth > 0 && i >= 0 && !strings.HasPrefix(name, "define.") {
		name = name[i:]
	} else if r.Depth > 0 && strings.Count(name, ".") > 1 {
		name = name[strings.LastIndexByte(name, '.'):]
	}
	if r.When != "" {
		name += " " + r.When
	}
	if r.Each != "" {
		name += " each " + r.Each
	}
	return name
}

var roleOrder = []string{"user", "assistant", "reasoning", "tool_call", "tool_result", "system", "compaction", "reset", "rewind", "rollback", "subagent"}

// outcome says what a rule made: "31 user, 2 system (clean.user.tags system-reminder: system)".
func outcome(r mapping.RuleSum) string {
	var parts []string
	for _, role := range roleOrder {
		if n := r.Made[role]; n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, role))
		}
	}
	if r.Nothing > 0 {
		parts = append(parts, fmt.Sprintf("%d nothing", r.Nothing))
	}
	if len(r.Skipped) > 0 {
		parts = append(parts, "skip: "+counted(r.Skipped, 4))
	}
	s := strings.Join(parts, ", ")
	if len(r.Cleaned) > 0 {
		s += " (" + counted(r.Cleaned, 2) + ")"
	}
	return s
}

// counted lists what was counted, the most first.
func counted(m map[string]int, most int) string {
	keys := slices.SortedFunc(maps.Keys(m), func(a, b string) int {
		if m[a] != m[b] {
			return m[b] - m[a]
		}
		return strings.Compare(a, b)
	})
	var parts []string
	for i, k := range keys {
		if i == most {
			parts = append(parts, fmt.Sprintf("and %d more", len(keys)-i))
			break
		}
		parts = append(parts, fmt.Sprintf("%s %d", k, m[k]))
	}
	return strings.Join(parts, ", ")
}

func (p *explanation) noRule() {
	for i, g := range p.NoRule {
		if i == groupsShown && !p.f.all {
			p.put("  no rule    and %d more kinds: --all", len(p.NoRule)-i)
			break
		}
		what := g.Type
		if len(g.Shape) > 0 {
			var pairs []string
			for _, s := range g.Shape {
				pairs = append(pairs, s.Key+"="+s.Value)
			}
			what = strings.Join(pairs, ", ")
		}
		if g.Rule != "" {
			what += " in " + g.Rule
		}
		at := strings.Join(g.At[:min(3, len(g.At))], ", ")
		if g.Count > 3 {
			at += ", …"
		}
		p.put("  %-*s %6d  %s   <- new?", ruleWidth, "no rule    "+cut(what, ruleWidth-11), g.Count, at)
		p.put("             %s", g.Example)
		for _, f := range shownFields(g.Fields) {
			as := ""
			if f.As != "" {
				as = "  -> " + f.As + "?"
			}
			p.put("             %s: %s%s", f.Path, f, as)
		}
		p.put("             draft:  %s", g.Draft)
	}
}

// shownFields are the fields of a kind that tell most.
func shownFields(list []mapping.FieldLook) []mapping.FieldLook {
	return mapping.Telling(list, 3)
}

func (p *explanation) empty() {
	for i, e := range p.Empty {
		if i == emptyShown && !p.f.all {
			p.put("  empty      and %d more: --all", len(p.Empty)-i)
			break
		}
		var found []string
		for _, f := range e.Found {
			found = append(found, f.Key+" is "+f.Value)
		}
		name := strings.TrimSpace(e.Rule + " " + e.When)
		p.put("  empty      %s made nothing in %d of %d: %s", cut(name, ruleWidth), e.Taken, e.Taken, strings.Join(found, ", "))
	}
}

func (p *explanation) selectors() {
	var list []mapping.SelectorSum
	for _, s := range p.NeverFound {
		// What no conversation of this file records is no fault of the mapping.
		if !p.f.all && slices.ContainsFunc(p.Empty, func(e mapping.EmptyRule) bool { return strings.HasPrefix(s.At, e.Rule+".text") }) {
			continue // said already
		}
		field := s.At[strings.LastIndexByte(s.At, '.')+1:]
		field, _, _ = strings.Cut(field, "[")
		if p.f.all || s.Only && !strings.HasPrefix(s.At, "conversation.") && slices.Contains(neededFields, field) {
			list = append(list, s)
		}
	}
	for i, s := range list {
		if i == emptyShown && !p.f.all {
			p.put("  not found  and %d more: --all", len(list)-i)
			break
		}
		last := ""
		if s.Last != "" && s.Last != "absent" {
			last = ", the last one was " + s.Last
		}
		p.put("  not found  %s: %s (looked for %s%s)", s.At, s.Selector, times(s.Tried), last)
	}
}

// neededFields are those that a message is poor without; of the others it is no wonder if a
// file never has them.
var neededFields = []string{"text", "name", "call", "input", "time", "id"}

func times(n int) string {
	if n == 1 {
		return "once"
	}
	return itoa(n) + " times"
}

func (p *explanation) sums() {
	var parts []string
	if t := p.Tree; t.Abandoned > 0 {
		parts = append(parts, fmt.Sprintf("given up: %s in %s, from %s", plural(t.Abandoned, "message"), plural(t.Branches, "place"), t.From))
	}
	if p.Tree.Inherited > 0 {
		parts = append(parts, fmt.Sprintf("copied: %s", plural(p.Tree.Inherited, "message")))
	}
	for _, d := range p.Doubles {
		parts = append(parts, fmt.Sprintf("doubles: %d (%s, %s)", d.N, d.Entry, d.What))
	}
	if c := p.Calls; c.Calls+c.Results > 0 {
		parts = append(parts, fmt.Sprintf("calls %d, results %d, orphans %d, running %d", c.Calls, c.Results, c.Orphans, c.Running))
	}
	if parts != nil {
		p.put("%s", strings.Join(parts, "     "))
	}
	if n := p.Records.SkippedBy["line"]; n > 0 && p.Container == "text" {
		p.put("  passed     %s: no entry of lines fits", plural(n, "line"))
	}
	for i, b := range p.BrokenAt {
		if i == warningShown && !p.f.all {
			p.put("  broken     and %d more", p.Records.Broken-i)
			break
		}
		where := ""
		if b.Line > 0 {
			where = "line " + itoa(b.Line) + ": "
		}
		p.put("  broken     %s%s", where, b.Why)
	}
	for i, what := range p.Absent {
		if i == warningShown && !p.f.all {
			p.put("  no file    and %d more: --all", len(p.Absent)-i)
			break
		}
		p.put("  no file    %s", what)
	}
	for i, w := range p.Warnings {
		if i == warningShown && !p.f.all {
			p.put("  warning    and %d more: --all", len(p.Warnings)-i)
			break
		}
		p.put("  warning    %s", w)
	}
	if p.Incomplete != "" {
		p.put("  incomplete %s", p.Incomplete)
	}
	if p.Messages == 0 {
		if p.Records.Records == 0 && p.Excluded == 0 && p.Incomplete == "" {
			p.put("there is nothing in this file yet")
		} else if p.Excluded == 0 {
			p.put("no message came out of this file")
		}
	}
}

// records tells records step by step.
func (p *explanation) records() {
	for _, r := range p.Told {
		p.record(r)
	}
	if p.ToldMore > 0 {
		p.put("and %s: name one with --line", plural(p.ToldMore, "more record"))
	}
	if p.f.line > 0 {
		for _, r := range p.Told {
			for _, l := range r.Looks {
				p.put("  looks like: %s", fieldsText(l.Fields))
				p.put("  draft:  %s", l.Draft)
			}
		}
	}
}

func fieldsText(list []mapping.FieldLook) string {
	var parts []string
	for _, f := range mapping.Telling(list, 4) {
		parts = append(parts, f.Path+" is "+f.String())
	}
	if parts == nil {
		return "nothing with a text"
	}
	return strings.Join(parts, ", ")
}

func (p *explanation) record(r *mapping.Record) {
	where := "record " + itoa(r.N)
	if r.Line > 0 {
		where = "line " + itoa(r.Line)
	}
	if r.Pointer != "" {
		where += " " + r.Pointer
	}
	p.put("%s  %s", where, r.Raw)
	for _, s := range r.Steps {
		p.step(s)
	}
	if r.StepsMore > 0 {
		p.put("  and %s", plural(r.StepsMore, "more step"))
	}
	switch {
	case r.Why != "":
		p.put("  %s: %s", r.Outcome, r.Why)
	default:
		p.put("  %s", r.Outcome)
	}
}

func (p *explanation) step(s mapping.Step) {
	in := "  " + strings.Repeat("  ", s.Depth)
	put := func(what, found string) {
		p.put("%s%-*s %s", in, max(ruleWidth-2*s.Depth, 20), what, found)
	}
	switch s.What {
	case "when":
		if *s.Held {
			put(strings.TrimSpace(s.Rule+" "+s.When), "yes")
		} else {
			put(s.Rule+" when "+s.When, "no: "+s.Value)
		}
	case "element":
		p.put("%s[%s]", in, s.Value)
	case "find":
		value := s.Value
		if s.Kind != "" {
			value += "  (" + s.Kind + ")"
		}
		if s.At != nil {
			value += "  byte " + strconv.Itoa(*s.At)
		}
		put(s.Field+": "+s.Selector, value)
	case "key":
		put(s.Field+": "+s.Selector, strconv.Quote(s.Value))
	case "clean":
		put(s.Value, "")
	case "message":
		m := s.Message
		text := strconv.Quote(m.Text)
		if m.Tool != "" {
			text = m.Tool + " " + text
		}
		for _, extra := range []struct{ name, value string }{{"call", m.Call}, {"time", m.Time}, {"id", m.ID}} {
			if extra.value != "" {
				text += "  " + extra.name + " " + extra.value
			}
		}
		if m.Failed {
			text += "  failed"
		}
		p.put("%s=> %s %s", in, m.Role, text)
	case "act":
		why := ""
		if s.Why != "" {
			why = " (" + s.Why + ")"
		}
		p.put("%s=> %s%s", in, s.Value, why)
	case "nothing":
		p.put("%s=> nothing: %s", in, s.Value)
	case "double":
		p.put("%s%s: a double, %s", in, s.Rule, s.Value)
	case "no rule":
		p.put("%sno rule in %s: %s", in, s.Rule, s.Value)
	}
}

func (p *explanation) unknown() {
	p.put("no mapping accepts this file")
	if n := p.Nearest; n != nil {
		text := attempt(*n)
		if n.Accepts {
			text += ", but no message comes out"
		}
		if n.Fits != "" {
			text += "; its rules ask for " + n.Fits
		}
		p.line("nearest", "%s", text)
	} else if p.Look.Kind != "empty" {
		p.line("nearest", "none comes near")
	}
	if p.f.all {
		for _, t := range p.Tried {
			p.line("tried", "%s", attempt(t))
		}
	}
	l := p.Look
	p.line("it is", "%s, %s", l.Summary, bytesText(p.SizeBytes))
	what := "lines"
	switch {
	case l.Records != "":
		what = "records in " + l.Records
	case l.Kind == "sqlite":
		what = "rows"
	}
	switch {
	case l.Talk:
		p.line("looks", "like a conversation: %s have", what)
	case len(l.Fields) > 0:
		p.line("records", "%s (%d)", what, l.N)
	}
	if l.Talk {
		for _, f := range []*mapping.FieldLook{l.Role, l.Text, l.Time} {
			if f != nil {
				p.line("", "%-24s %s  -> %s?", f.Path, f, f.As)
			}
		}
	} else {
		for _, f := range mapping.Telling(l.Fields, 5) {
			p.line("", "%-24s %s", f.Path, f)
		}
	}
	for i, cmd := range p.Next {
		label := ""
		if i == 0 {
			label = "next"
		}
		p.line(label, "%s", cmd)
	}
}

// next are the commands to type.
func (p *explanation) next() []string {
	file := shellWord(p.what)
	var out []string
	switch {
	case p.Verdict == mapping.VerdictUnknown:
		if l := p.Look; l.Kind != "binary" && l.Kind != "empty" && len(l.Fields)+len(l.Tables) > 0 || l.Kind == "text" {
			out = append(out, "parlance infer "+file+p.again+" --name my > my.yaml")
		}
		return out
	case p.f.line > 0:
		return nil
	}
	as := ""
	if p.as != "" {
		as = " --as " + shellWord(p.as)
	}
	if p.Verdict == mapping.VerdictWhole {
		if len(p.Heads) > 0 && p.Chosen != nil && p.Chosen.By == "pattern" {
			out = append(out, "parlance show "+shellWord(p.Heads[0].ID)+p.again)
		} else {
			out = append(out, "parlance show "+file+as+p.again)
		}
		return out
	}
	if len(p.NoRule) > 0 {
		// "line 12", or "record 12 (where that is)"
		_, n, _ := strings.Cut(p.NoRule[0].At[0], " ")
		n, _, _ = strings.Cut(n, " ")
		out = append(out, "parlance explain "+file+as+p.again+" --line "+n)
	}
	if len(p.BrokenAt) > 0 && p.BrokenAt[0].Line > 0 && len(p.NoRule) == 0 {
		out = append(out, "parlance explain "+file+as+p.again+" --line "+itoa(p.BrokenAt[0].Line))
	}
	if len(p.NoRule) > 0 || p.Messages == 0 && p.Records.Records > 0 {
		if p.Mapping == "built-in" {
			mine := p.Provider + ".yaml"
			out = append(out, "parlance mapping "+p.Provider+" > "+mine+", change it, then   parlance check "+mine,
				"parlance explain "+file+" --as "+mine+p.again)
		} else {
			out = append(out, "change "+p.Mapping+", then  parlance check "+shellWord(p.Mapping))
		}
	}
	if r := p.Records; p.Chosen != nil && p.Chosen.By == "content" && r.NoRule*2 > r.Records {
		out = append(out, "parlance infer "+file+p.again+" --name my > my.yaml   (it may be another tool's)")
	}
	return out
}

// shellWord is a word as a shell reads it.
func shellWord(s string) string {
	if s != "" && !strings.ContainsFunc(s, func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("_-./:~@%+=,\\", r) || r > 0x7F)
	}) {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

// cut keeps the first n characters of a text.
func cut(s string, n int) string {
	if r := []rune(s); len(r) > n {
		return string(r[:n-1]) + "…"
	}
	return s
}

func bytesText(n int64) string {
	switch {
	case n < 1000:
		return plural(int(n), "byte")
	case n < 1_000_000:
		return fmt.Sprintf("%.1f kB", float64(n)/1e3)
	}
	return fmt.Sprintf("%.1f MB", float64(n)/1e6)
}
