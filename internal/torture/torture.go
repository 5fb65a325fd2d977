// Package torture damages copies of a mapping's files in every way that crashes, other
// programs and other versions do, and holds what is read of them against what was read before.
//
// A mapping and a folder that may be changed go in; counts of what was tried and a list of
// what went wrong come out: a panic, a hang, a message lost that the damage did not touch, a
// loss without a word. What is wrong is wrong for every mapping alike, so nothing here
// knows one; the kinds of damage are a table.
package torture

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"parlance/internal/chat"
	"parlance/internal/mapping"
)

const (
	// readTimeMax is how long reading after one damage may take. The largest file has 64 MB, which
	// takes less than a second; the rest is for a busy machine.
	readTimeMax = 30 * time.Second
	// readSlow: of a file that takes longer to read fewer places are damaged, but placesMin.
	readSlow  = 3 * time.Millisecond
	placesMin = 2
	// fileMaxBytes is the largest file that is damaged: each of hundreds of cases copies it.
	fileMaxBytes = 1 << 20
	// findingsMax bounds what is told of one kind of damage to one file: the rest is alike.
	findingsMax = 3
)

// A Target is what is damaged.
type Target struct {
	Mapping *mapping.Mapping
	Dir     string // with nothing in it but copies: everything may be changed
	// Find says what is to be read in Dir, and what of it could not be looked into.
	Find func(ctx context.Context) ([]mapping.File, []error)
}

// Options say how much is tried.
type Options struct {
	// Places is at how many places of a file most kinds of damage are tried, at most; 0: 2.
	// Cuts are tried at 25 times as many.
	Places int
	// EveryByte cuts the smallest file of each container at every byte.
	EveryByte bool
	// Kinds, if set, are the only kinds that are tried.
	Kinds []string
}

// A Case is one damage to one file.
type Case struct {
	Kind, Place string // "cut", "byte 120"
	Path        string // of the damaged file
}

// A Report is what came of a run.
type Report struct {
	Files, Messages int // of the target, before any damage
	Cases           map[string]int
	Containers      map[string]int // files of each container that were damaged
	Slowest         time.Duration
	Refused         int // cases in which a whole file was refused, with a reason
	Findings        []Finding
}

// Total is the number of all cases.
func (r *Report) Total() (n int) {
	for _, k := range r.Cases {
		n += k
	}
	return n
}

// A Finding is one damage that was not survived as it should be.
type Finding struct {
	Case
	What string // "panic", "hang", "lost", "silent", "unnamed", "invalid"
	Why  string
}

func (f Finding) String() string {
	return fmt.Sprintf("%s: %s at %s: %s: %s", f.Path, f.Kind, f.Place, f.What, f.Why)
}

// Home is Target.Find for what a mapping finds in a home folder.
func Home(m *mapping.Mapping, env mapping.Env) func(context.Context) ([]mapping.File, []error) {
	return func(ctx context.Context) ([]mapping.File, []error) {
		files, problems := m.Find(ctx, env)
		var errs []error
		for _, p := range problems {
			errs = append(errs, p)
		}
		return files, errs
	}
}

// Run tries every kind of damage on every file of the target. The error is that of ctx, or
// says that the target cannot be read or changed to begin with.
func Run(ctx context.Context, t Target, opts Options) (*Report, error) {
	if opts.Places <= 0 {
		opts.Places = 2
	}
	r := &run{ctx: ctx, t: t, opts: opts, report: &Report{Cases: map[string]int{}, Containers: map[string]int{}}, told: map[string]int{}, least: map[string]*victim{}}
	files, errs := t.Find(ctx)
	r.whole = r.read(files, mapping.ReadOptions{})
	for _, err := range errs {
		r.whole.errs = append(r.whole.errs, err.Error())
	}
	if what := r.whole.broken; what != "" {
		return nil, fmt.Errorf("%s: before any damage: %s", t.Dir, what)
	}
	r.report.Files, r.report.Messages = len(files), len(r.whole.said)
	victims, err := r.victims(files)
	if err != nil {
		return nil, err
	}
	for _, v := range victims {
		least := r.least[v.container]
		if len(v.whole.said) > 0 && (least == nil || len(v.data) < len(least.data)) {
			r.least[v.container] = v
		}
		if r.longest == nil || len(v.whole.said) > len(r.longest.whole.said) {
			if strings.Contains(documents, v.container) && v.own {
				r.longest = v
			}
		}
	}
	for _, v := range victims {
		r.report.Containers[v.container]++
		if err := r.damage(v); err != nil {
			return r.report, err
		}
	}
	return r.report, ctx.Err()
}

type run struct {
	ctx    context.Context
	t      Target
	opts   Options
	whole  *outcome // of the undamaged target
	report *Report
	places int            // of the file at hand: Options.Places, fewer if it takes long to read
	told   map[string]int // findings of a kind in a file

	least   map[string]*victim // the smallest file of each container
	longest *victim            // the one that gets a long line
}

// decoded says that several files may be one conversation, by what is in them: they are put
// together anew for each damage.
func (v *victim) decoded(m *mapping.Mapping) bool {
	return slices.ContainsFunc(v.readers, func(f mapping.File) bool {
		return slices.ContainsFunc(f.Sources, func(i int) bool { return m.Sources[i].Decoder != "" })
	})
}

func (r *run) decodes() bool {
	return slices.ContainsFunc(r.t.Mapping.Sources, func(s *mapping.Source) bool { return s.Decoder != "" })
}

// loose says that a file lies among exports, where its contents tell whose it is.
func (v *victim) loose() bool {
	return slices.ContainsFunc(v.readers, func(f mapping.File) bool { return f.Loose })
}

// An outcome is what was read of some files.
type outcome struct {
	said    []said
	account string   // what the reports of all conversations count
	errs    []string // of files that were not read
	broken  string   // "panic: ...", "hang: ...", or invalid texts
	closed  bool     // a source says that it cannot be read
	source  string   // that read the first conversation
}

// said is a message, and where it stood.
type said struct {
	key          string // role and body
	line         int
	pointer      string
	file         string
	conversation string
}

// read reads files and takes down what they say. A panic or a hang is an outcome.
func (r *run) read(files []mapping.File, opts mapping.ReadOptions) *outcome {
	ctx, cancel := context.WithCancel(r.ctx)
	defer cancel()
	done := make(chan *outcome, 1)
	go func() {
		o := &outcome{}
		defer func() {
			if p := recover(); p != nil {
				o.broken = fmt.Sprintf("panic: %v\n%s", p, stack(false))
			}
			done <- o
		}()
		for _, f := range files {
			err := r.t.Mapping.Read(ctx, f, opts, func(c *chat.Conversation) error {
				o.take(c)
				return nil
			})
			if err != nil {
				o.errs = append(o.errs, err.Error())
				o.closed = o.closed || errors.Is(err, mapping.ErrUnsupported)
			}
		}
	}()
	select {
	case o := <-done:
		return o
	case <-time.After(readTimeMax):
		return &outcome{broken: fmt.Sprintf("hang: no end after %v\n%s", readTimeMax, stack(true))}
	}
}

func stack(all bool) string {
	buf := make([]byte, 16<<10)
	return string(buf[:runtime.Stack(buf, all)])
}

func (o *outcome) take(c *chat.Conversation) {
	if o.account == "" {
		o.source = c.Source
	}
	rep := c.Read
	o.account += fmt.Sprintf("%d %d %v %v %d %v %s %v|", rep.Records, rep.Used, rep.Skipped, rep.NoRule, len(rep.Broken)+rep.BrokenMore, rep.Torn, rep.Incomplete, rep.Warnings)
	for i := range c.Messages {
		m := &c.Messages[i]
		for _, text := range []string{m.Text, m.Input, m.Tool, m.Call, m.ID, m.Diff, c.Title, c.ID, c.Cwd} {
			if !utf8.ValidString(text) && o.broken == "" {
				o.broken = fmt.Sprintf("invalid: %s %q is not UTF-8", m.Role, text)
			}
		}
		o.said = append(o.said, said{string(m.Role) + ": " + m.Body(), m.Origin.Line, m.Origin.Pointer, c.File, c.ID})
	}
}

// with is o with other keys.
func (o *outcome) with(key func(string) string) *outcome {
	out := *o
	out.said = slices.Clone(o.said)
	for i := range out.said {
		out.said[i].key = key(out.said[i].key)
	}
	return &out
}

// missing are the messages of o that are not in after.
func (o *outcome) missing(after *outcome) []said {
	have := map[string]int{}
	for _, m := range after.said {
		have[m.key]++
	}
	var out []said
	for _, m := range o.said {
		if have[m.key]--; have[m.key] < 0 {
			out = append(out, m)
		}
	}
	return out
}

// A victim is one file of the target, with those that are read with it.
type victim struct {
	path      string
	data      []byte
	mode      fs.FileMode
	time      time.Time
	container string // "jsonl", "json", "sqlite", "text", "replay", "packed", "log" (of a database), "closed"
	own       bool   // it is found by itself, not beside another
	lines     []span // of jsonl and text
	readers   []mapping.File
	whole     *outcome // of the readers
	others    bool     // the target has messages that do not come of the readers
	puts      int      // how often it was written
	takes     time.Duration
}

type span struct{ from, to int } // to is in front of the line end

// victims are the files whose damage can matter: those that are found, and those beside them
// without which something else is read.
func (r *run) victims(files []mapping.File) ([]*victim, error) {
	readers := map[string][]mapping.File{}
	for _, f := range files {
		for _, part := range f.Parts() {
			readers[part] = append(readers[part], f)
		}
	}
	before := make([]*outcome, len(files))
	for i, f := range files {
		before[i] = r.read([]mapping.File{f}, mapping.ReadOptions{})
	}
	var out []*victim
	err := filepath.WalkDir(r.t.Dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		info, err := d.Info()
		if err != nil || info.Size() > fileMaxBytes {
			return err
		}
		v := &victim{path: path, mode: info.Mode(), time: info.ModTime(), readers: readers[path], own: readers[path] != nil}
		if v.data, err = os.ReadFile(path); err != nil {
			return err
		}
		if !v.own {
			if strings.HasSuffix(path, "-shm") || r.ctx.Err() != nil {
				return r.ctx.Err()
			}
			if err := os.WriteFile(path, []byte("\x00"), 0o600); err != nil {
				return err
			}
			for i, f := range files {
				now := r.read([]mapping.File{f}, mapping.ReadOptions{})
				if now.account != before[i].account || len(now.said) != len(before[i].said) || len(before[i].missing(now)) > 0 {
					v.readers = append(v.readers, f)
				}
			}
			if err := v.restore(); err != nil {
				return err
			}
		}
		if v.readers == nil {
			return nil
		}
		start := time.Now()
		v.whole = r.read(v.readers, mapping.ReadOptions{})
		if v.decoded(r.t.Mapping) {
			r.t.Find(r.ctx)
		}
		v.takes = time.Since(start)
		v.others = len(v.whole.said) < len(r.whole.said)
		v.lines = linesOf(v.data)
		v.container = r.containerOf(v)
		out = append(out, v)
		return nil
	})
	return out, err
}

func linesOf(data []byte) []span {
	var out []span
	for from := 0; from < len(data); {
		to := len(data)
		if i := bytes.IndexByte(data[from:], '\n'); i >= 0 {
			to = from + i
		}
		out = append(out, span{from, to})
		from = to + 1
	}
	return out
}

// containerOf is what is to be damaged in a file: that of the source which reads it, else
// what it looks like.
func (r *run) containerOf(v *victim) string {
	ext := strings.ToLower(filepath.Ext(v.path))
	switch {
	case v.whole.closed:
		return "closed"
	case strings.HasSuffix(ext, "-wal") || strings.HasSuffix(ext, "-journal"):
		return "log"
	case ext == ".gz" || ext == ".zst":
		return "packed"
	case strings.HasPrefix(string(v.data), sqliteMagic):
		return "sqlite"
	case len(fieldsOf(v.data)) > 0 || ext == ".json" && !v.own:
		return "json"
	}
	for _, src := range r.t.Mapping.Sources {
		if v.own && src.ID == v.whole.source && src.Container == "json" {
			return "json"
		}
	}
	for _, s := range v.whole.said {
		if s.line > 0 {
			if len(fieldsOf(v.line(s.line))) > 0 {
				return "jsonl"
			}
			return "text"
		}
	}
	for i := range v.lines {
		if len(fieldsOf(v.line(i+1))) == 0 {
			return "text"
		}
	}
	if v.own && len(v.lines) > 0 {
		return "replay"
	}
	return "jsonl"
}

func (v *victim) line(n int) []byte {
	if n < 1 || n > len(v.lines) {
		return nil
	}
	return v.data[v.lines[n-1].from:v.lines[n-1].to]
}

// put writes a victim's path anew, whatever is there.
func (v *victim) put(data []byte) error {
	if err := os.WriteFile(v.path, data, 0o600); err != nil {
		return err
	}
	// What is kept of a file is known by its time.
	v.puts++
	at := v.time.Add(time.Duration(v.puts) * time.Microsecond)
	return os.Chtimes(v.path, at, at)
}

// restore undoes a damage.
func (v *victim) restore() error {
	info, err := os.Lstat(v.path)
	if err == nil && !info.Mode().IsRegular() || os.IsNotExist(err) {
		os.Chmod(v.path, 0o700)
		if err := os.RemoveAll(v.path); err != nil {
			return err
		}
	} else if err := os.Chmod(v.path, 0o600); err != nil {
		return err
	}
	if err := v.put(v.data); err != nil {
		return err
	}
	return os.Chmod(v.path, v.mode.Perm())
}

// A damage is what one case does to a victim.
type damage struct {
	place string
	do    func() error
	undo  func() error // beyond restoring the file itself; nil: nothing
	// touched says which messages may be lost; nil: none.
	touched func(said) bool
	// removal does what would be left if the damaged part had never been written: what is
	// missing then as well hangs on it by the format. nil: nothing does.
	removal func() error
	// added is text that the damage adds, which may become part of a message.
	added string
	// alike brings messages into the form in which they are compared; nil: as they are.
	alike func(key string) string
	// refusable: what tells of which format an export is may be hit, so that nobody takes it.
	refusable bool
	// quiet: nothing can tell that anything is wrong.
	quiet bool
	// counted: the damage must be told even if no message is lost.
	counted bool
	// during, if set, happens while the file is read, when the nth line or row is at hand.
	during func() error
	nth    int
}

// damage tries all kinds on one victim.
func (r *run) damage(v *victim) error {
	r.places = r.opts.Places
	if v.takes > readSlow {
		r.places = max(min(r.places, placesMin), int(int64(r.places)*int64(readSlow)/int64(v.takes)))
	}
	for _, k := range Kinds {
		if r.opts.Kinds != nil && !slices.Contains(r.opts.Kinds, k.Name) || k.containers != "" && !slices.Contains(strings.Fields(k.containers), v.container) {
			continue
		}
		for _, d := range k.cases(r, v) {
			if err := r.ctx.Err(); err != nil {
				return err
			}
			if err := r.one(k, v, d); err != nil {
				return fmt.Errorf("%s: %s at %s: %w", v.path, k.Name, d.place, err)
			}
		}
	}
	return nil
}

func (r *run) one(k Kind, v *victim, d damage) error {
	c := Case{Kind: k.Name, Place: d.place, Path: v.path}
	back := func() error {
		if d.undo != nil {
			if err := d.undo(); err != nil {
				return err
			}
		}
		return v.restore()
	}
	if err := d.do(); err != nil {
		if errors.Is(err, errNotHere) {
			return back()
		}
		return errors.Join(err, back())
	}
	r.report.Cases[k.Name]++
	readers, errs := v.readers, []error(nil)
	decoded := v.decoded(r.t.Mapping)
	refinds := k.refinds || decoded
	if decoded && d.touched != nil && !k.refinds {
		d.touched = v.reads // what one file of a conversation repeats of another is known by comparing them
	}
	if refinds {
		readers, errs = r.t.Find(r.ctx)
	}
	opts := mapping.ReadOptions{}
	var duringErr error
	if d.during != nil {
		n := 0
		opts.Lines = func([]byte) bool {
			if n++; n == d.nth {
				duringErr = d.during()
			}
			return true
		}
	}
	start := time.Now()
	after := r.read(readers, opts)
	r.report.Slowest = max(r.report.Slowest, time.Since(start))
	if err := errors.Join(duringErr, back()); err != nil {
		return err
	}
	for _, err := range errs {
		after.errs = append(after.errs, err.Error())
	}
	before := v.whole
	if refinds {
		before = r.whole
	}
	if d.alike != nil {
		before = before.with(d.alike)
		after = after.with(d.alike)
	}
	if d.added != "" {
		for i := range after.said {
			s := &after.said[i]
			s.key = strings.ReplaceAll(strings.ReplaceAll(s.key, d.added+",", ""), d.added, "")
		}
	}
	return r.judge(c, v, d, before, after)
}

// judge holds an outcome against the one of the undamaged files.
func (r *run) judge(c Case, v *victim, d damage, before, after *outcome) error {
	if after.broken != "" {
		what, why, _ := strings.Cut(after.broken, ": ")
		r.find(c, what, why)
		return nil
	}
	for _, e := range after.errs {
		if !strings.Contains(e, filepath.Base(v.path)) && !slices.ContainsFunc(before.errs, func(b string) bool { return b == e }) {
			r.find(c, "unnamed", "the error does not name the file: "+e)
		}
	}
	if len(after.errs) > len(before.errs) && len(after.said) == 0 {
		r.report.Refused++
		if d.refusable && v.loose() {
			return nil
		}
	}
	missing := before.missing(after)
	told := after.account != before.account || len(after.errs) > len(before.errs) || strings.Join(after.errs, "|") != strings.Join(before.errs, "|")
	if !told && (len(missing) > 0 && !d.quiet || d.counted && len(v.whole.said) > 0) {
		why := "nothing tells of the damage"
		if len(missing) > 0 {
			why = "without a word: " + shorten(missing[0].key)
		}
		r.find(c, "silent", why)
	}
	// Of messages that say the same, it is the touched ones that are missing.
	may := map[string]int{}
	if d.touched != nil {
		for _, s := range before.said {
			if d.touched(s) {
				may[s.key]++
			}
		}
	}
	allowed := func(s said) bool { may[s.key]--; return may[s.key] >= 0 }
	missing = slices.DeleteFunc(missing, allowed)
	if len(missing) > 0 && d.removal != nil {
		if err := d.removal(); err != nil {
			return err
		}
		readers := v.readers
		if v.decoded(r.t.Mapping) {
			readers, _ = r.t.Find(r.ctx)
		}
		may = map[string]int{}
		for _, s := range before.missing(r.read(readers, mapping.ReadOptions{})) {
			may[s.key]++
		}
		if err := v.restore(); err != nil {
			return err
		}
		missing = slices.DeleteFunc(missing, allowed)
	}
	if len(missing) > 0 {
		why := fmt.Sprintf("%d of %d untouched messages, such as %s (line %d %s)", len(missing), len(before.said), shorten(missing[0].key), missing[0].line, missing[0].pointer)
		if len(after.errs) > 0 {
			why += "; it says: " + after.errs[0]
		}
		r.find(c, "lost", why)
	}
	return nil
}

func (r *run) find(c Case, what, why string) {
	key := c.Path + "|" + c.Kind + "|" + what
	if r.told[key]++; r.told[key] <= findingsMax {
		r.report.Findings = append(r.report.Findings, Finding{c, what, why})
	}
}

func shorten(s string) string {
	if rs := []rune(s); len(rs) > 80 {
		return string(rs[:80]) + "…"
	}
	return s
}
