package mapping

import (
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode/utf8"
)

const timeNames = "timestamp time ts at date createdat created createdtimestamp timecreated sentat startedat starttime start datetime when starttimestamp tsms agenttimestampms startts recordedat loggedat createtime occurredat"

const notMessageTime = "updatedat updated expires expiresat finishedat completedat endedat endtime end modified lastmodified stoptimestamp updatetime timeupdated lastactivityat duration elapsed"

// A timeField is a field whose values are times.
type timeField struct {
	f       *inferField
	ok      int
	unit    string
	rising  bool
	falling int
	named   bool
}

// timesOf reads a field as times.
func timesOf(f *inferField) *timeField {
	t := &timeField{f: f, rising: true, named: inWords(plainKey(f.key()), timeNames)}
	var last time.Time
	units := map[string]int{}
	for _, v := range f.vals {
		if v.kind() != jsonString && v.kind() != jsonNumber || len(v.raw) > 60 {
			continue
		}
		text := strings.TrimSpace(v.str())
		at, ok := parseTime(text, "", "", "")
		if !ok || at.Year() < yearMin || at.Year() > 2060 {
			continue
		}
		t.ok++
		units[unitOf(text)]++
		if at.Before(last) {
			t.rising = false
			t.falling++
		}
		last = at
	}
	for _, u := range []string{"milliseconds", "seconds", "microseconds", "nanoseconds", "RFC3339", "dates without a zone"} {
		if units[u] > units[t.unit] {
			t.unit = u
		}
	}
	return t
}

var decimal = regexp.MustCompile(`^-?[0-9.eE+]+$`)

func unitOf(text string) string {
	if decimal.MatchString(text) {
		whole, _, _ := strings.Cut(text, ".")
		switch n := len(whole); {
		case n > 17:
			return "nanoseconds"
		case n > 14:
			return "microseconds"
		case n > 11:
			return "milliseconds"
		}
		return "seconds"
	}
	if _, err := time.Parse(time.RFC3339Nano, text); err == nil {
		return "RFC3339"
	}
	return "dates without a zone"
}

func (t *timeField) why() string {
	order := "ascending"
	if !t.rising {
		order = fmt.Sprintf("%d of them earlier than the one before", t.falling)
	}
	if t.f.n == 1 {
		order = "one value"
	}
	return fmt.Sprintf("`%s`: %s parse as %s, %s", t.f.sel, share(t.ok, t.f.n), t.unit, order)
}

// metadata fills what is known of the conversation, the messages' times and ids, and the tree.
func (d *drafting) metadata() {
	s := d.best
	recs := takeSurvey(s.elems, &d.a)
	docs := takeSurvey(s.docs, &d.a)
	d.times(recs)
	ids := d.ids(recs)
	if ids != nil {
		d.branches(recs, docs, ids)
	}
	d.conversation(recs, docs)
}

func (d *drafting) times(c *survey) {
	var list []*timeField
	for _, f := range c.fields {
		if f.scalars() < f.n || f.kinds[jsonBool] > 0 || f.depth > 4 || inWords(plainKey(f.key()), notMessageTime) {
			continue
		}
		t := timesOf(f)
		if t.ok*10 < f.n*9 || t.ok == 0 {
			continue
		}
		if !t.named && (t.unit != "RFC3339" && t.unit != "dates without a zone" && !t.rising || f.n < 2 || hasWord(words(f.key()), "id count token size")) {
			continue
		}
		list = append(list, t)
	}
	slices.SortStableFunc(list, func(a, b *timeField) int {
		wa, wb := 4*part(a.ok, c.n), 4*part(b.ok, c.n)
		if a.named {
			wa++
		}
		if b.named {
			wb++
		}
		if a.rising {
			wa += .5
		}
		if b.rising {
			wb += .5
		}
		wa, wb = wa-.1*float64(a.f.depth), wb-.1*float64(b.f.depth)
		switch {
		case wa > wb:
			return -1
		case wa < wb:
			return 1
		}
		return 0
	})
	var cands []candidate
	for _, t := range list {
		cands = append(cands, candidate{t.f, 1})
	}
	sels, _ := cover(cands, c.n, 2)
	if len(sels) == 0 {
		d.warnings = append(d.warnings, "no times: nothing in the records parses as one")
		return
	}
	var why []string
	score := 1.0
	for _, t := range list {
		if slices.Contains(sels, t.f.sel) {
			why = append(why, t.why())
			if !t.named {
				score = min(score, .75)
			}
			if t.falling*4 > t.ok {
				score = min(score, .7)
			}
		}
	}
	d.common = append(d.common, metaLine{"time", yamlOneOrList(sels), strings.Join(why, "; "), score})
}

const idNames = "id uuid messageid msgid mid eventid entryid recordid requestid stepid nodeid exchangeid uid key guid"

// ids finds what names the records.
func (d *drafting) ids(c *survey) *inferField {
	var best *inferField
	at := 100
	for _, f := range c.fields {
		i := slices.Index(strings.Fields(idNames), plainKey(f.key()))
		if i < 0 || f.depth > 3 || f.scalars() < f.n || f.filled*2 < c.n || f.n < 2 {
			continue
		}
		different := len(f.values)
		if f.more && different >= surveyValuesMax {
			different = f.n
		}
		if different*10 < f.n*9 && (different*10 < f.n*5 || !d.grows(f)) {
			continue
		}
		if rank := i + 10*f.depth; rank < at {
			best, at = f, rank
		}
	}
	if best == nil {
		best = linked(c)
	}
	if best != nil {
		different := len(best.values)
		if best.more {
			different = best.n
		}
		d.common = append(d.common, metaLine{"id", yamlScalar(best.sel), fmt.Sprintf("`%s`: %s, %d different", best.sel, share(best.n, c.n), different), .9})
	}
	return best
}

const parentWords = "parent up previous prev replyto inreplyto predecessor after"

// linked is a field under no known name that gives each record a value of its own, which a
// parent's field of other records names.
func linked(c *survey) *inferField {
	for _, f := range c.fields {
		if f.depth > 2 || f.scalars() < f.n || f.n*10 < c.n*9 || f.n < 3 || len(f.values) < min(f.n, surveyValuesMax) {
			continue
		}
		for _, p := range c.fields {
			if p == f || p.scalars() < p.n || !hasWord(words(p.key()), parentWords) && !(c.n >= 4 && p.n >= c.n-1 && namesEarlier(p, f)) {
				continue
			}
			hits, of := 0, 0
			for v, n := range p.values {
				if of += n; f.values[v] > 0 {
					hits += n
				}
			}
			if hits >= 2 && hits*10 >= of*8 {
				return f
			}
		}
	}
	return nil
}

// namesEarlier says that a field names, by another field's values, a record before each that
// has it: what a parent does under whatever name.
func namesEarlier(f, ids *inferField) bool {
	at := make(map[string]int, len(ids.vals))
	for k, v := range ids.vals {
		at[v.str()] = ids.at[k]
	}
	for k, v := range f.vals {
		if i, ok := at[v.str()]; !ok || i >= f.at[k] {
			return false
		}
	}
	return len(f.vals) > 0
}

// grows says whether records with one id are each other's later versions: of one kind, and
// each at least as long as the one before.
func (d *drafting) grows(f *inferField) bool {
	last := map[string]*value{}
	better, worse := 0, 0
	for k, v := range f.vals {
		rec := d.best.elems[f.at[k]]
		id := v.str()
		if prev := last[id]; prev != nil {
			prev.open(&d.a)
			rec.open(&d.a)
			if len(rec.raw) >= len(prev.raw) && len(rec.members) >= len(prev.members) {
				better++
			} else {
				worse++
			}
		}
		last[id] = rec
	}
	return better > worse*4
}

// branches looks for links between the records.
func (d *drafting) branches(c, docs *survey, id *inferField) {
	ids := make(map[string]int, len(id.vals))
	order := make([]string, 0, len(id.vals))
	for k, v := range id.vals {
		ids[v.str()] = id.at[k]
		order = append(order, v.str())
	}
	var parent *inferField
	hits, misses := 0, 0
	for _, f := range c.fields {
		w := words(f.key())
		if f == id || f.scalars() < f.n || f.depth > 3 {
			continue
		}
		// Another word for it: all but the first have it, and name another record with it.
		named := hasWord(w, parentWords) || strings.Contains(plainKey(f.key()), "parent")
		if !named && (f.n < c.n-1 || c.n < 4 || !namesEarlier(f, id)) {
			continue
		}
		h, m := 0, 0
		for _, v := range f.vals {
			if _, ok := ids[v.str()]; ok {
				h++
			} else if !v.empty() {
				m++
			}
		}
		if h > hits && (named || m == 0) {
			parent, hits, misses = f, h, m
		}
	}
	if parent == nil || hits < 2 || misses*5 > hits {
		return
	}
	up := map[string]string{}
	kids := map[string]int{}
	idAt := make(map[int]string, len(id.at))
	for k, i := range id.at {
		idAt[i] = id.vals[k].str()
	}
	for k, i := range parent.at {
		if p := parent.vals[k].str(); p != "" && idAt[i] != "" {
			up[idAt[i]] = p
			kids[p]++
		}
	}
	forks := 0
	for p, n := range kids {
		if _, ok := ids[p]; n > 1 && ok {
			forks++
		}
	}
	leaf := ""
	for _, f := range docs.fields {
		if v := f.constant(); v != "" && f.depth <= 2 && plainKey(f.key()) != "id" {
			if _, ok := ids[v]; ok && hasWord(words(f.key()), "current leaf head active last tip") {
				leaf = f.sel
			}
		}
	}
	last := order[len(order)-1]
	onPath := map[string]bool{}
	whole := true
	for at := last; at != "" && !onPath[at]; at = up[at] {
		onPath[at] = true
		if _, ok := ids[at]; !ok {
			whole = false
		}
	}
	what := fmt.Sprintf("`%s`: %d of %d name another record", parent.sel, hits, hits+misses)
	if forks == 0 {
		what += ", no forks here"
	} else {
		what += fmt.Sprintf(", %s", plural(forks, "fork"))
	}
	d.tree = append(d.tree, metaLine{"id", yamlScalar(id.sel), fmt.Sprintf("`%s` is what the parents name", id.sel), .9},
		metaLine{"parent", yamlScalar(parent.sel), what, .9})
	if leaf != "" {
		d.tree = append(d.tree, metaLine{"leaf", "doc:" + leaf, fmt.Sprintf("`%s` of the document names a record", leaf), .9})
	}
	abandon, score, why := "off_path", .9, "what is not on the way from the last record to the first was given up"
	if leaf == "" && forks > 0 && (!whole || len(onPath)*2 < len(order)) {
		abandon, score, why = "prompt_forks", .6, "the way from the last record holds less than half of them: only prompts that were asked anew count as given up"
	}
	d.tree = append(d.tree, metaLine{"abandon", abandon, why, score})
}

var (
	absolutePath = lazily(`^(/|[A-Za-z]:[\\/]|file://|~/)[^\n]{0,400}$`)
	modelName    = lazily(`^[A-Za-z0-9][A-Za-z0-9._:/@-]{1,80}$`)
)

// conversation finds what stands over the whole.
func (d *drafting) conversation(recs, docs *survey) {
	type place struct {
		f      *inferField
		prefix string
		of     int
	}
	var all []place
	for _, f := range docs.fields {
		if f.depth <= 4 {
			all = append(all, place{f, "doc:", docs.n})
		}
	}
	if !(len(d.best.elems) == 1 && len(d.best.docs) == 1 && d.best.elems[0] == d.best.docs[0]) {
		for _, f := range recs.fields {
			if f.depth <= 5 {
				all = append(all, place{f, "", recs.n})
			}
		}
	}
	// find gives the best field of some names, those that stand first before the others.
	find := func(names string, fits func(place) bool) *place {
		list := strings.Fields(names)
		var best *place
		at := 1e9
		for i := range all {
			p := &all[i]
			k := slices.Index(list, plainKey(p.f.key()))
			if k < 0 || p.f.filled == 0 || !fits(*p) {
				continue
			}
			rank := float64(k) + 1.5*float64(p.f.depth)
			if p.prefix == "" {
				rank += 2
			}
			if rank < at {
				best, at = p, rank
			}
		}
		return best
	}
	sel := func(p *place) string {
		if p.prefix != "" {
			if bareYAML().MatchString(p.prefix + p.f.sel) {
				return p.prefix + p.f.sel
			}
			return yamlScalar(p.prefix + p.f.sel)
		}
		return yamlScalar(p.f.sel)
	}
	where := func(p *place) string {
		if p.prefix != "" {
			return fmt.Sprintf("`%s` of the document", p.f.sel)
		}
		return fmt.Sprintf("`%s`: %s", p.f.sel, share(p.f.n, p.of))
	}
	if d.best.container == "sqlite" {
		where = func(p *place) string {
			if p.prefix != "" {
				return fmt.Sprintf("column `%s` of the list", p.f.sel)
			}
			return fmt.Sprintf("`%s`: %s", p.f.sel, share(p.f.n, p.of))
		}
	}
	short := func(p place) bool { return p.f.scalars() == p.f.n && !p.f.more }
	same := func(p place) bool {
		return short(p) && (p.prefix != "" || len(p.f.values) == 1) && !hasWord(words(p.f.key()), "parent")
	}
	add := func(key, value, why string, score float64) {
		d.meta = append(d.meta, metaLine{key, value, why, score})
	}
	// id
	switch {
	case d.best.db != nil && d.best.db.list != "":
		add("id", "doc:id", "the list's id", 1)
	case d.best.container == "text":
	default:
		names := "sessionid conversationid threadid chatid trajectoryid"
		if len(docs.fields) > 0 {
			names += " id uuid"
		}
		p := find(names, func(p place) bool {
			return same(p) && (p.f.depth <= 3) && (p.prefix != "" || p.f.n > 1 || p.f.at[0] == 0)
		})
		if p == nil {
			// A header line with an id of its own.
			p = find("id", func(p place) bool {
				return p.prefix == "" && short(p) && p.f.depth <= 2 && p.f.at[0] == 0 && hasWord(d.typeOf(0), "session conversation header meta thread chat start")
			})
			if p != nil && p.f.n > 1 {
				p = nil
			}
		}
		why := ", one value"
		for i := range all {
			if p != nil {
				break
			}
			if v := all[i].f.constant(); len(v) >= 4 && same(all[i]) {
				if rest, ok := strings.CutPrefix(filepath.Base(d.path), v); ok && (rest == "" || rest[0] == '.') {
					p, why = &all[i], ", with which the file's name begins"
				}
			}
		}
		if p != nil {
			add("id", "["+sel(p)+", file:stem]", where(p)+why, .85)
		} else {
			add("id", "file:stem", "no field is one value all through: the file's name", .8)
		}
	}
	// title
	if p := find("title customtitle sessiontitle chattitle generatedtitle aititle threadname conversationtitle name caption heading headline label summary subject topic", func(p place) bool {
		k := plainKey(p.f.key())
		if (k == "name" || k == "summary" || k == "subject" || k == "topic") && (p.prefix == "" || p.f.depth > 1) {
			return false
		}
		if p.prefix == "" && (len(p.f.values)*3 > recs.n && p.f.n > 3 || p.f.n*3 > recs.n && len(p.f.values) > 1) {
			return false
		}
		return p.f.kinds[jsonString] == p.f.n && !p.f.more && p.f.runes/p.f.n <= 120
	}); p != nil {
		v := sel(p)
		if p.prefix == "" {
			v = "{from: " + v + ", pick: last}"
		}
		score := .9
		if k := plainKey(p.f.key()); k == "name" || k == "summary" || k == "topic" {
			score = .7
		}
		add("title", v, where(p)+fmt.Sprintf(", %d characters on average", p.f.runes/p.f.n), score)
	} else if v, why := d.named(); v != "" {
		add("title", v, why, .7)
	}
	// cwd
	if p := find("cwd workingdirectory workingdir workdir directory workspacedirectory workspaceroot workspacefolder workspacepath projectpath projectdir project workspace folder rootpath root gitroot worktree dir cwdatstart basedir path repo uri", func(p place) bool {
		k := plainKey(p.f.key())
		if p.f.kinds[jsonString] < p.f.n || len(p.f.values) > 8 || (k == "path" || k == "root" || k == "dir" || k == "uri" || k == "repo") && p.prefix == "" && len(p.f.values) > 1 || hasWord(words(strings.Join(p.f.path[:p.f.depth-1], " ")), "input args arguments tool call params") {
			return false
		}
		n := 0
		for v, c := range p.f.values {
			if absolutePath().MatchString(v) {
				n += c
			}
		}
		return n > 0 && n*10 >= p.f.filled*9
	}); p != nil {
		v := sel(p)
		if strings.HasPrefix(firstText(p.f), "file://") {
			v = "{from: " + v + `, decode: uri, match: '^file://(.*)$'}`
		}
		add("cwd", v, where(p)+", an absolute path", .9)
	} else {
		// By what it is, where no name is known.
		for i := range all {
			p := &all[i]
			if p.prefix == "" || p.f.kinds[jsonString] < p.f.n || p.f.depth > 3 || p.f.filled == 0 || p.f.more {
				continue
			}
			fits := true
			for v := range p.f.values {
				fits = fits && absolutePath().MatchString(v) && filepath.Ext(v) == ""
			}
			if fits {
				add("cwd", sel(p), where(p)+", an absolute path", .6)
				break
			}
		}
	}
	if p := find("gitbranch branch branchname headbranch", func(p place) bool { return short(p) && p.f.kinds[jsonString] == p.f.n && p.f.prose == 0 }); p != nil {
		add("branch", sel(p), where(p), .85)
	}
	if p := find("version cliversion toolversion appversion clientversion agentversion", func(p place) bool {
		return short(p) && p.f.kinds[jsonString] == p.f.n && dottedVersion.MatchString(firstText(p.f))
	}); p != nil {
		score := .75
		if plainKey(p.f.key()) != "version" {
			score = .9
		}
		add("version", sel(p), where(p), score)
	}
	if p := find("model modelid modelname modelslug defaultmodelslug modelalias selectedmodel currentmodelid", func(p place) bool {
		v := firstText(p.f)
		return short(p) && p.f.kinds[jsonString] == p.f.n && modelName().MatchString(v) && classOf(v) != classUser && len(p.f.values) <= 12
	}); p != nil {
		v := sel(p)
		if p.prefix == "" {
			v = "{from: " + v + ", pick: last}"
		}
		add("model", v, where(p), .9)
	}
	if p := find("parentsessionid parentconversationid forkedfromid parentthreadid forkedfrom parentsession parentid", func(p place) bool {
		return p.prefix != "" && short(p) && p.f.filled > 0 || p.prefix == "" && same(p) && plainKey(p.f.key()) != "parentid"
	}); p != nil {
		add("parent", sel(p), where(p), .7)
	}
	for _, t := range []struct{ key, names string }{
		{"started", "createdat created timecreated createtime starttime startedat startts creationdate createdtimestamp"},
		{"updated", "updatedat updated timeupdated updatetime lastupdated modified lastmessagedate lastactivityat endtime endedat"},
	} {
		if p := find(t.names, func(p place) bool {
			if p.prefix == "" || p.f.depth > 2 || p.f.scalars() < p.f.n {
				return false
			}
			at := timesOf(p.f)
			return at.ok*10 >= p.f.n*9 && at.ok > 0
		}); p != nil {
			add(t.key, sel(p), where(p)+", "+timesOf(p.f).unit, .9)
		}
	}
}

var dottedVersion = regexp.MustCompile(`^v?\d+(\.\d+)+`)

// firstText is what the field holds first.
func firstText(f *inferField) string {
	for _, v := range f.vals {
		if !v.empty() && len(v.raw) < 600 {
			return v.str()
		}
	}
	return ""
}

// typeOf are the words of the first record's type.
// named finds a kind of record that gives the conversation its name.
func (d *drafting) named() (expr, why string) {
	for _, g := range d.best.rules {
		if talks([]*guess{g}) || len(g.when) != 1 || g.when[0].path == nil {
			continue
		}
		cond := g.when[0]
		for _, word := range cond.values {
			if !hasWord(words(word), "named name naming title titled label labelled labeled rename renamed caption") {
				continue
			}
			var elems []*value
			for _, e := range d.best.elems {
				if e.walk(cond.path, &d.a).str() == word {
					elems = append(elems, e)
				}
			}
			var best *inferField
			for _, f := range takeSurvey(elems, &d.a).fields {
				if f.kinds[jsonString] == len(elems) && f.prose*2 > f.n && f.runes <= 120*f.n && (best == nil || f.runes > best.runes) {
					best = f
				}
			}
			if best != nil {
				return fmt.Sprintf("{from: %s, when: {%s: %s}, pick: last}", yamlScalar(best.sel), condKey(cond.sel), yamlScalar(word)),
					fmt.Sprintf("`%s` of %s of %s", best.sel, plural(len(elems), "record"), word)
			}
		}
	}
	return "", ""
}

func (d *drafting) typeOf(i int) []string {
	if i >= len(d.best.elems) {
		return nil
	}
	for _, key := range strings.Fields("type kind event record_type") {
		if v := d.best.elems[i].get(key, &d.a); v.kind() == jsonString {
			return words(v.str())
		}
	}
	return nil
}

// variablePart is a piece of a file's name that differs from file to file.
var variablePart = lazily(`[0-9a-fA-F]{8}-[0-9a-fA-F-]{9,}|\d{4}-\d\d(-\d\d)?([T_ -]?\d\d[-:]\d\d([-:]\d\d)?([-.]\d+)?Z?)?|[0-9a-fA-F]*\d[0-9a-fA-F]{7,}|[0-9a-fA-F]{6,}\d[0-9a-fA-F]*|\d{3,}`)

var digits = regexp.MustCompile(`^\d+$`)

// pattern is the path pattern of the draft: below home with ~, what looks like an id or a
// date as a wildcard.
func (d *drafting) pattern() (pattern, why string, score float64) {
	path := filepath.ToSlash(d.path)
	root := "/"
	head := ""
	score, why = .85, "ids and dates in the path are wildcards"
	if rel, err := filepath.Rel(d.opts.Env.Home, d.path); d.opts.Env.Home != "" && err == nil && filepath.IsLocal(rel) {
		path, head = filepath.ToSlash(rel), "~/"
	} else {
		why, score = "not below the home folder: put the tool's own place here", .5
		if isDrive(path) {
			root, path = path[:3], path[3:]
		}
		path = strings.TrimPrefix(path, "/")
		head = root
	}
	names := strings.Split(path, "/")
	wild := false
	for i, name := range names[:len(names)-1] {
		loose := i > 0 && (digits.MatchString(name) || strings.HasPrefix(name, "-") || variablePart().MatchString(name)) && score > .5
		if loose {
			names[i] = "*"
			wild = true
		} else {
			names[i] = patternName(name)
		}
	}
	last := unpackedName(names[len(names)-1])
	ext := filepath.Ext(last)
	stem := strings.TrimSuffix(last, ext)
	switch star := variablePart().ReplaceAllString(stem, "\x00"); {
	case d.folder != "":
		dir := filepath.ToSlash(filepath.Dir(d.path))
		between := strings.Count(strings.TrimPrefix(dir, filepath.ToSlash(d.folder)), "/")
		for i := len(names) - 1 - between; i < len(names)-1; i++ {
			names[i] = "*"
		}
		last = "*" + patternName(ext)
		why = "every file of this kind in the folder"
	case star != stem:
		var parts []string
		for _, p := range strings.Split(star, "\x00") {
			parts = append(parts, patternName(p))
		}
		last = parts[0] + "*" + parts[len(parts)-1] + patternName(ext)
	case wild || d.best != nil && d.best.db != nil:
		last = patternName(last)
	case d.alone(ext):
		last = patternName(last)
		why += "; the only file of its kind in its folder"
	default:
		last = "*" + patternName(ext)
	}
	names[len(names)-1] = last
	return head + strings.Join(names, "/"), why, score
}

// alone says whether no other file of the kind lies beside the file.
func (d *drafting) alone(ext string) bool {
	list, err := filepath.Glob(filepath.Join(escapeFilepath(filepath.Dir(d.path)), "*"+escapeFilepath(ext)))
	return err == nil && len(list) <= 1 && !strings.EqualFold(ext, ".jsonl")
}

func escapeFilepath(s string) string {
	return strings.NewReplacer(`*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(s)
}

// patternName is a name that a pattern takes as it stands, as far as it is not a wildcard.
func patternName(s string) string {
	return strings.Map(func(r rune) rune {
		if strings.ContainsRune("*?[]{}$\\", r) || r < 0x20 || r == utf8.RuneError {
			return '?'
		}
		return r
	}, s)
}

// name is the draft's name, made from the folder that seems to be the tool's.
func (d *drafting) name() string {
	if d.opts.Name != "" {
		return d.opts.Name
	}
	pick := ""
	rel, err := filepath.Rel(d.opts.Env.Home, d.path)
	if err == nil && filepath.IsLocal(rel) {
		for _, part := range strings.Split(filepath.ToSlash(rel), "/") {
			if name := cleanName(part); strings.HasPrefix(part, ".") && name != "" && !inWords(name, "config local share cache vscode") {
				pick = name
				break
			}
		}
	}
	for dir := filepath.Dir(d.path); pick == "" && dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
		base := filepath.Base(dir)
		name := cleanName(base)
		if name != "" && !variablePart().MatchString(base) && !inWords(name, "sessions session chats chat conversations history logs log data storage messages threads projects tasks transcripts home user users tmp var mnt downloads desktop documents rollouts events export exports db share state") {
			pick = name
		}
	}
	if pick == "" {
		pick = "tool"
	}
	if d.opts.Set != nil && slices.Contains(d.opts.Set.Names(), pick) || !(pick[0] >= 'a' && pick[0] <= 'z') {
		pick = "my_" + pick
	}
	return pick
}

// cleanName makes a provider's name of a folder's.
func cleanName(s string) string {
	var b strings.Builder
	for _, r := range strings.ToLower(s) {
		switch {
		case r >= 'a' && r <= 'z' || r >= '0' && r <= '9':
			b.WriteRune(r)
		case b.Len() > 0 && !strings.HasSuffix(b.String(), "_"):
			b.WriteByte('_')
		}
	}
	return strings.Trim(strings.TrimSpace(b.String()[:min(b.Len(), 40)]), "_")
}
