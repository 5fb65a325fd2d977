package mapping

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"parlance/internal/chat"
	"parlance/internal/source"
)

// testTimeMax ends the tests of one mapping: they hold a few records each, and their SQL
// and patterns are a stranger's.
const testTimeMax = source.TestTimeMax

// testTime is the time of every file in a test, so that nothing depends on the clock.
var testTime = time.Date(2026, time.January, 1, 0, 0, 0, 0, time.UTC)

// stopped says why tests were not run to their end.
func stopped(ctx context.Context) string {
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return fmt.Sprintf("stopped: the tests take longer than testTimeMax (%v)", testTimeMax)
	}
	return "stopped: " + ctx.Err().Error()
}

// RunTests runs the samples that the mapping carries through its rules, and says what came
// out otherwise than expected. It also names the selectors that found nothing in any of
// them, as warnings. Files are made in a folder of the system's for temporary ones, which
// is removed.
func (m *Mapping) RunTests(ctx context.Context) []Problem {
	if len(m.tests) == 0 {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, testTimeMax)
	defer cancel()
	top, err := os.MkdirTemp("", "parlance-check-")
	if err != nil {
		return []Problem{m.problem(codeTestContent, m.tests[0].pos, m.tests[0].at, err.Error(), "")}
	}
	defer os.RemoveAll(top)
	m.prepare()
	var problems []Problem
	pool := &pool{}
	for i, t := range m.tests {
		r := &testRun{m: m, t: t, top: filepath.Join(top, strconv.Itoa(i))}
		r.run(ctx)
		if ctx.Err() == nil {
			r.gather(ctx, pool)
		}
		problems = append(problems, r.problems...)
		if ctx.Err() != nil {
			problems = append(problems, m.problem(codeTestContent, t.pos, t.at, stopped(ctx), ""))
			break
		}
	}
	if !fatal(problems) {
		problems = append(problems, m.neverFound(pool)...)
	}
	return sortProblems(m.tests[0].pos.file.name, problems)
}

// problem is a Problem at a position of the mapping.
func (m *Mapping) problem(code string, at pos, key, msg, hint string) Problem {
	p := Problem{File: m.File, Line: at.line, Col: at.col, Key: key, Msg: msg, Hint: hint, Code: code}
	if at.file != nil {
		p.File, p.Source = at.file.name, at.file.line(at.line)
	}
	return p
}

// A testRun is one test at work. Its files lie in a folder of their own, in which root is
// what the test calls "/".
type testRun struct {
	m        *Mapping
	t        *test
	src      *Source
	top      string
	file     File
	convs    []*chat.Conversation
	problems []Problem
}

// rootDepth is how many folders lie above a test's "/": a path may lead upwards from it.
const rootDepth = 8

func (r *testRun) root() string {
	return filepath.Join(append([]string{r.top}, slices.Repeat([]string{"0"}, rootDepth)...)...)
}

// clean takes the folder of the test out of a text: to the mapping, files lie in "/".
func (r *testRun) clean(s string) string {
	s = strings.ReplaceAll(s, r.root(), "")
	return strings.ReplaceAll(s, filepath.ToSlash(r.root()), "")
}

func (r *testRun) fail(at pos, key, msg, hint string) {
	r.problems = append(r.problems, r.m.problem(codeTestFailed, at, key, msg, hint))
}

// broken reports that the sample itself cannot be read.
func (r *testRun) broken(at pos, format string, args ...any) {
	msg := r.clean(fmt.Sprintf(format, args...))
	r.problems = append(r.problems, r.m.problem(codeTestContent, at, r.t.at, msg, ""))
}

func (r *testRun) run(ctx context.Context) {
	for _, s := range r.m.Sources {
		if s.ID == r.t.source {
			r.src = s
		}
	}
	if err := r.lay(ctx); err != nil {
		r.broken(r.t.contentPos, "%v", err)
		return
	}
	err := r.read(ctx)
	switch {
	case ctx.Err() != nil:
		return
	case errors.Is(err, ErrNotAccepted):
		why := "its when does not hold for the sample"
		if r.src.Container == "sqlite" {
			why = "its needs are not in the sample"
		}
		r.fail(r.t.pos, r.t.at, fmt.Sprintf("source %q does not accept the sample", r.src.ID), why)
		return
	case err != nil:
		r.broken(r.t.contentPos, "%v", err)
		return
	}
	r.compare()
}

// lay writes the files of the test.
func (r *testRun) lay(ctx context.Context) error {
	t, root := r.t, r.root()
	home := filepath.Join(root, filepath.FromSlash(homeOf(t.path)))
	path := filepath.Join(root, filepath.FromSlash(t.path))
	if err := os.MkdirAll(home, 0o700); err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(t.files)) {
		at := r.place(home, path, name)
		if rel, err := filepath.Rel(r.top, at); err != nil || !filepath.IsLocal(rel) {
			return fmt.Errorf("files: %s leads out of the test's folder", shorten(name))
		}
		if err := r.write(at, t.files[name]); err != nil {
			return err
		}
	}
	switch {
	case t.sql != nil:
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			return err
		}
		if err := source.BuildDB(ctx, path, *t.sql); err != nil {
			return err
		}
		r.prepareSQL(path)
	case t.document != nil:
		if err := r.write(path, *t.document); err != nil {
			return err
		}
	case t.text != nil:
		if err := r.write(path, *t.text); err != nil {
			return err
		}
	}
	env := Env{Home: home, Getenv: func(string) string { return "" }, Cwd: root}
	r.file = File{Provider: r.m.Name, Path: path, Sources: []int{r.src.index}, ModTime: testTime, env: env,
		base: map[int]string{r.src.index: r.top}}
	if info, err := os.Stat(path); err == nil {
		r.file.Size = info.Size()
	}
	if d, ok := decoders[r.src.Decoder]; ok && len(t.files) > 0 {
		st := &store{options: r.src.Options}
		for _, name := range slices.Sorted(maps.Keys(t.files)) {
			st.files = append(st.files, r.place(home, path, name))
		}
		slices.Sort(st.files)
		r.file.groups, _ = d.groups(ctx, st)
	}
	return r.laySide()
}

// homeOf is what ~ is to a test: the home folder that its path is in, else /home/me.
func homeOf(path string) string {
	parts := strings.SplitN(path, "/", 4)
	if len(parts) == 4 && (parts[1] == "home" || parts[1] == "Users") {
		return strings.Join(parts[:3], "/")
	}
	return "/home/me"
}

// place is where a file of `files` lies: absolute, in the home folder, or relative to the
// folder of the test's own file.
func (r *testRun) place(home, path, name string) string {
	switch {
	case strings.HasPrefix(name, "/"):
		return filepath.Join(r.root(), filepath.FromSlash(name))
	case strings.HasPrefix(name, "~/"):
		return filepath.Join(home, filepath.FromSlash(name[2:]))
	}
	return filepath.Join(filepath.Dir(path), filepath.FromSlash(name))
}

func (r *testRun) write(path, content string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		return err
	}
	return os.Chtimes(path, testTime, testTime)
}

// laySide puts each sidecar where the source looks for it.
func (r *testRun) laySide() error {
	for _, name := range slices.Sorted(maps.Keys(r.t.side)) {
		content := r.t.side[name]
		if p := r.src.PathsFrom; p != nil && p.as == name {
			r.file.registry = map[int]string{r.src.index: content}
			continue
		}
		i := slices.IndexFunc(r.src.sidecars, func(s sidecar) bool { return s.name == name })
		if i < 0 {
			return fmt.Errorf("source %q has no sidecar %q", r.src.ID, name)
		}
		rd := &reading{m: r.m, src: r.src, file: r.file, opts: &ReadOptions{}}
		var doc *value
		if r.t.document != nil {
			doc, _ = parseRecord(*r.t.document, &rd.docs)
		}
		path, ok := rd.beside(someName(r.src.sidecars[i].path), rd.scopes(doc, 1))
		if !ok {
			return fmt.Errorf("sidecar %q: its path cannot be made of the sample", name)
		}
		if err := r.write(path, content); err != nil {
			return err
		}
	}
	return nil
}

// someName gives a template whose wildcards are replaced by a name that fits them.
func someName(t template) template {
	out := slices.Clone(t)
	for i, p := range out {
		if p.sel == nil {
			out[i].text = fitting(p.text)
		}
	}
	return out
}

// fitting is a path that a pattern fits.
func fitting(pattern string) string {
	var b strings.Builder
	for i := 0; i < len(pattern); i++ {
		switch c := pattern[i]; c {
		case '*':
			if i == 0 || pattern[i-1] != '*' {
				b.WriteByte('x')
			}
		case '?':
			b.WriteByte('x')
		case '[':
			class, rest, _ := strings.Cut(pattern[i+1:], "]")
			if class != "" && class[0] != '^' && class[0] != '!' {
				b.WriteByte(class[0])
			}
			i = len(pattern) - len(rest) - 1
		case '{':
			words, rest, _ := strings.Cut(pattern[i+1:], "}")
			first, _, _ := strings.Cut(words, ",")
			b.WriteString(fitting(first))
			i = len(pattern) - len(rest) - 1
		default:
			b.WriteByte(c)
		}
	}
	return b.String()
}

// prepareSQL says whether the source's statements fit the tables of a sample.
func (r *testRun) prepareSQL(path string) {
	db, err := source.OpenDB(path)
	if err != nil {
		r.broken(r.t.contentPos, "%v", err)
		return
	}
	defer db.Close()
	for _, s := range []struct {
		sql, key string
		at       pos
	}{{r.src.list, "list", r.src.listPos}, {r.src.sql, "sql", r.src.sqlPos}} {
		if s.sql == "" {
			continue
		}
		if err := db.Prepare(s.sql); err != nil {
			msg := strings.TrimPrefix(r.clean(err.Error()), r.t.path+": ")
			hint := fmt.Sprintf("the tables are those of test %q", shorten(r.t.name))
			r.problems = append(r.problems, r.m.problem(codeSQL, s.at, dot(sub("sources", r.src.index), s.key), msg, hint))
		}
	}
}

// read runs the sample through the mapping.
func (r *testRun) read(ctx context.Context) error {
	keep := func(c *chat.Conversation) error {
		own := *c
		r.convs = append(r.convs, &own)
		return nil
	}
	if r.t.records == nil {
		return r.m.Read(ctx, r.file, ReadOptions{}, keep)
	}
	rd := &reading{m: r.m, src: r.src, file: r.file, opts: &ReadOptions{}, emit: keep}
	s := rd.begin(nil, 0)
	for i, line := range strings.Split(*r.t.records, "\n") {
		if strings.TrimSpace(line) == "" {
			continue
		}
		rd.a.reset()
		rec, ok := parseObject(line, &rd.a)
		if !ok {
			r.broken(r.lineOf(i+1), "line %d of records is not one whole JSON object", i+1)
			continue
		}
		s.record(rec, rec.raw, chat.Origin{Line: i + 1})
	}
	return s.end(ctx, "", rd.stem())
}

// lineOf is the place of a line of the sample in the mapping file, as far as it is known.
func (r *testRun) lineOf(n int) pos {
	at := r.t.contentPos
	if r.t.contentRaw {
		at.line += n
		line := at.file.line(at.line)
		at.col = len(line) - len(strings.TrimLeft(line, " ")) + 1
	}
	return at
}

// compare holds what came against what is expected.
func (r *testRun) compare() {
	t := r.t
	c := r.conversation()
	if c == nil {
		return
	}
	if t.hasExpect {
		r.messages(c)
	}
	r.keys(c)
	r.counts(t.skipped, c.Read.Skipped, "expect_skipped", "skipped")
	r.counts(t.noRule, c.Read.NoRule, "expect_no_rule", "without a rule")
	r.news(c)
	if !t.hasWarnings {
		return
	}
	// What is said of broken records is a warning, too.
	all := slices.Clone(c.Read.Warnings)
	for _, b := range c.Read.Broken {
		all = append(all, b.Why)
	}
	warned := "there are none"
	if len(all) > 0 {
		warned = "there is: " + shorten(r.clean(all[0]))
	}
	for i, want := range t.warnings {
		if !slices.ContainsFunc(all, func(w string) bool { return strings.Contains(r.clean(w), want) }) {
			key := sub(dot(t.at, "expect_warnings"), i)
			r.fail(t.keyPos[key], key, fmt.Sprintf("no warning with %q in it", shorten(want)), warned)
		}
	}
	if len(t.warnings) == 0 && len(all) > 0 {
		r.fail(t.pos, dot(t.at, "expect_warnings"), fmt.Sprintf("%s, none expected", plural(len(all), "warning")), warned)
	}
}

// conversation is the one that is compared: the one that the test names, else the first.
func (r *testRun) conversation() *chat.Conversation {
	t := r.t
	if t.conversation == "" {
		if len(r.convs) > 0 {
			return r.convs[0]
		}
		if t.hasExpect && len(t.expect) == 0 && t.expectConv == nil {
			return nil // nothing was expected
		}
		r.fail(t.pos, t.at, "no conversation in the sample", "")
		return nil
	}
	var ids []string
	for _, c := range r.convs {
		id := r.clean(c.ID)
		if id == t.conversation {
			return c
		}
		ids = append(ids, id)
	}
	hint := "there is none"
	if len(ids) > 0 {
		hint = "there are " + shorten(strings.Join(ids, ", "))
	}
	r.fail(t.pos, t.at, fmt.Sprintf("no conversation %q", shorten(t.conversation)), hint)
	return nil
}

// messages compares the messages one by one. The first that is another message than
// expected ends the comparison, because all behind it would be shifted.
func (r *testRun) messages(c *chat.Conversation) {
	t := r.t
	key := dot(t.at, "expect")
	if t.all {
		key = dot(t.at, "expect_all")
	}
	var got []*chat.Message
	for i := range c.Messages {
		if t.all || !c.Messages[i].Abandoned {
			got = append(got, &c.Messages[i])
		}
	}
	for i, want := range t.expect {
		if i >= len(got) {
			r.fail(want.pos, want.path, fmt.Sprintf("message %d is missing: %s %s", i+1, want.role, quoteText(want.text)), r.account(c, len(got)))
			return
		}
		m := got[i]
		if string(m.Role) != want.role || r.headOf(m) != want.text {
			r.fail(want.pos, want.path, fmt.Sprintf("message %d is %s", i+1, r.differ(m, want)), r.made(m))
			return
		}
		for _, k := range slices.Sorted(maps.Keys(want.fields)) {
			if have, wanted := r.fieldOf(m, k), wantField(k, want.fields[k]); have != wanted {
				r.fail(want.pos, dot(want.path, k), fmt.Sprintf("%s of message %d (%s %s) is %s, not %s", k, i+1, m.Role, quoteText(r.headOf(m)), quoteText(have), quoteText(wanted)), r.made(m))
			}
		}
	}
	if n := len(got) - len(t.expect); n > 0 {
		m := got[len(t.expect)]
		more := ""
		if n > 1 {
			more = fmt.Sprintf(", and %d more", n-1)
		}
		r.fail(t.expectPos, key, fmt.Sprintf("message %d was not expected: %s %s%s", len(t.expect)+1, m.Role, quoteText(r.headOf(m)), more), r.made(m))
	}
}

// headOf is what {ROLE: text} compares: the text, of a call the tool.
func (r *testRun) headOf(m *chat.Message) string {
	if m.Role == chat.ToolCall {
		return r.clean(m.Tool)
	}
	return r.clean(m.Text)
}

func (r *testRun) fieldOf(m *chat.Message, key string) string {
	switch key {
	case "time":
		return timeText(m.Time)
	case "input":
		return r.clean(m.Input)
	case "of":
		return m.Tool
	case "failed":
		return strconv.FormatBool(m.Failed)
	case "running":
		return strconv.FormatBool(m.Running)
	case "abandoned":
		return strconv.FormatBool(m.Abandoned)
	case "inherited":
		return strconv.FormatBool(m.Inherited)
	case "call":
		return m.Call
	case "diff":
		return r.clean(m.Diff)
	case "child":
		return m.Child
	case "title":
		return r.clean(m.Title)
	}
	return ""
}

func timeText(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format("2006-01-02T15:04:05.000Z")
}

// wantField brings an expected value into the form in which it is compared.
func wantField(key, text string) string {
	if key != "time" {
		return text
	}
	if t, err := time.Parse(time.RFC3339Nano, text); err == nil {
		return timeText(t)
	}
	return text
}

// quoteRunes is what of a text is quoted in a message of a failed test.
const quoteRunes = 60

func quoteText(s string) string {
	if rs := []rune(s); len(rs) > quoteRunes {
		return strconv.Quote(string(rs[:quoteRunes])) + "…"
	}
	return strconv.Quote(s)
}

// differ says what a message is instead of what it should be. Long texts that begin alike
// are shown from where they part.
func (r *testRun) differ(m *chat.Message, want expectation) string {
	have := r.headOf(m)
	if string(m.Role) != want.role {
		return fmt.Sprintf("%s %s, not %s %s", m.Role, quoteText(have), want.role, quoteText(want.text))
	}
	a, b := []rune(have), []rune(want.text)
	same := 0
	for same < len(a) && same < len(b) && a[same] == b[same] {
		same++
	}
	if same < quoteRunes/2 {
		return fmt.Sprintf("%s %s, not %s", m.Role, quoteText(have), quoteText(want.text))
	}
	from := same - 10
	return fmt.Sprintf("%s …%s from character %d on, not …%s", m.Role, quoteText(string(a[from:])), from+1, quoteText(string(b[from:])))
}

// made says which rule made a message, and of which line.
func (r *testRun) made(m *chat.Message) string {
	s := "made by " + m.Rule
	switch {
	case m.Origin.Line > 0:
		s += fmt.Sprintf(" of line %d", m.Origin.Line)
	case m.Origin.Pointer != "":
		s += " of " + r.clean(m.Origin.Pointer)
	}
	if m.Abandoned {
		s += ", and abandoned"
	}
	return s + " of the sample"
}

// account says what became of the records, for a message that did not come.
func (r *testRun) account(c *chat.Conversation, n int) string {
	rd := c.Read
	s := fmt.Sprintf("%s came of %s: %d used", plural(n, "message"), plural(rd.Records, "record"), rd.Used)
	if len(rd.Skipped) > 0 {
		s += ", skipped " + tally(rd.Skipped)
	}
	if len(rd.NoRule) > 0 {
		s += ", no rule for " + tally(rd.NoRule)
	}
	if len(rd.Broken) > 0 {
		s += fmt.Sprintf(", %d broken", len(rd.Broken)+rd.BrokenMore)
	}
	if abandoned := len(c.Messages) - n; abandoned > 0 {
		s += fmt.Sprintf("; %s abandoned", plural(abandoned, "message"))
	}
	return s
}

func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

func tally(m map[string]int) string {
	var parts []string
	for _, k := range slices.Sorted(maps.Keys(m)) {
		parts = append(parts, fmt.Sprintf("%s %d", k, m[k]))
	}
	return shorten(strings.Join(parts, ", "))
}

// keys compares the conversation's own fields.
func (r *testRun) keys(c *chat.Conversation) {
	have := map[string]string{
		"id": c.ID, "title": c.Title, "cwd": c.Cwd, "branch": c.Branch, "version": c.Version, "model": c.Model,
		"parent": c.Parent, "subagent": strconv.FormatBool(c.Subagent), "started": timeText(c.Started), "updated": timeText(c.Updated),
	}
	for _, k := range fieldNames {
		want, ok := r.t.expectConv[k]
		if !ok {
			continue
		}
		if k == "started" || k == "updated" {
			want = wantField("time", want)
		}
		if got := r.clean(have[k]); got != want {
			key := dot(dot(r.t.at, "expect_conversation"), k)
			r.fail(r.t.keyPos[key], key, fmt.Sprintf("%s is %s, not %s", k, quoteText(got), quoteText(want)), "")
		}
	}
}

// counts compares counts by type: those that are written, or that there is none at all if
// none is written. want is nil if nothing is expected of them.
func (r *testRun) counts(want map[string]string, got map[string]int, key, what string) {
	if want == nil {
		return
	}
	key = dot(r.t.at, key)
	for _, k := range slices.Sorted(maps.Keys(want)) {
		if have := strconv.Itoa(got[k]); have != want[k] {
			hint := "none is " + what
			if len(got) > 0 {
				hint = what + ": " + tally(got)
			}
			r.fail(r.t.keyPos[dot(key, k)], dot(key, k), fmt.Sprintf("%s of type %q %s, not %s", plural(got[k], "record"), shorten(k), what, want[k]), hint)
		}
	}
	if len(want) == 0 && len(got) > 0 {
		r.fail(r.t.pos, key, fmt.Sprintf("records are %s, none expected", what), tally(got))
	}
}

// news warns of records of the sample that no rule knows, unless the test says so: a sample
// shows what is known.
func (r *testRun) news(c *chat.Conversation) {
	for _, k := range slices.Sorted(maps.Keys(c.Read.NoRule)) {
		if _, ok := r.t.noRule[k]; ok || r.t.noRule != nil && len(r.t.noRule) == 0 {
			continue
		}
		p := r.m.problem(codeNews, r.t.pos, r.t.at, fmt.Sprintf("no rule for %s of type %q", plural(c.Read.NoRule[k], "record"), shorten(k)), "if that is what the test shows, write expect_no_rule")
		p.Warning = true
		r.problems = append(r.problems, p)
	}
}
