package mapping

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"maps"
	"math"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// decoders is the table that `decoder: NAME` is looked up in.
var decoders = map[string]decoder{
	"kiro_ide": {verbatim: true, options: map[string]func(string) error{"injected": isRegexp}, groups: sessionGroups, decode: decodeSession},
}

// The store of Kiro IDE before 1.0. A conversation, there a session, is spread over
//
//	workspace-sessions/<folder>/<id>.json            prompts, and short answers that name an execution
//	workspace-sessions/<folder>/sessions.json        titles and folders
//	workspace-sessions/<folder>/.migrated-<id>.json  the id that it has since 1.0
//	<hash>/<hash>/<hash>                             the log of one execution: what came before, a prompt, actions
//	<hash>/<name>.chat                               2025: all that was said until then
//
// The hashes tell nothing: one workspace may have several. What belongs together is said by
// the session's id in a log, and by the execution's everywhere else. Every log repeats what
// came before it, so each part is taken from where it is told best: a turn from its own log,
// else from the first that repeats it, else from the session file.
//
// The records, in the order of the conversation; execution has the plain members of a log:
//
//	{execution, message}           of a log's context or a .chat; with preface: true before the first prompt
//	{execution, prompt}            what the log was begun with
//	{execution, action}            with use and response: what a later context says of the same call
//	{history}                      an entry of the session file that no log tells better
//
// doc: has id, folder, session (the session file) and index (its entry in sessions.json).

var (
	sessionInLog = regexp.MustCompile(`"chatSessionId"\s*:\s*"([^"\\]+)"`)
	executionID  = regexp.MustCompile(`"executionId"\s*:\s*"([^"\\]+)"`)
	workflowID   = regexp.MustCompile(`"workflowId"\s*:\s*"([^"\\]+)"`)
	sessionID    = regexp.MustCompile(`"sessionId"\s*:\s*"([^"\\]+)"`)
	chatList     = regexp.MustCompile(`"chat"\s*:\s*\[`)
	historyList  = regexp.MustCompile(`"history"\s*:\s*\[`)
)

func firstGroup(re *regexp.Regexp, data []byte) string {
	if m := re.FindSubmatch(data); m != nil {
		return string(m[1])
	}
	return ""
}

// sessionGroups puts together the files of each session, by ids near their beginnings.
func sessionGroups(ctx context.Context, st *store) (groups []group, errs []FindError) {
	bySession := map[string]*group{}
	sessionOf := map[string]string{} // an execution's
	index, movedTo := map[string]string{}, map[string]string{}
	var sessions, chats []string
	add := func(session, path string) *group {
		if bySession[session] == nil {
			bySession[session] = &group{key: session}
		}
		g := bySession[session]
		g.files = append(g.files, path)
		return g
	}
	for _, path := range st.files {
		name := nameOf(path)
		placed := filepath.Base(filepath.Dir(filepath.Dir(path))) == "workspace-sessions"
		marked, marker := strings.CutPrefix(name, ".migrated-")
		head, err := st.until(ctx, path, sessionInLog, chatList, historyList)
		session, execution := firstGroup(sessionInLog, head), firstGroup(executionID, head)
		switch {
		case err != nil:
			errs = append(errs, FindError{Path: path, Err: err})
		case len(bytes.TrimSpace(head)) == 0:
		case marker:
			v, _ := parseObject(string(head), &arena{})
			movedTo[stem(marked)] = strings.TrimPrefix(v.get("v2SessionId", &arena{}).str(), "sess_")
		case placed && name == "sessions.json":
			for _, m := range sessionID.FindAllSubmatch(head, -1) {
				index[string(m[1])] = path
			}
		case placed, session == "" && historyList.Match(head):
			sessions = append(sessions, path)
			// It is written at every turn, and stays.
			g := add(stem(name), path)
			g.files = slices.Insert(g.files[:len(g.files)-1], 0, path)
		case chatList.Match(head):
			chats = append(chats, path)
		case session != "", execution != "": // a step of a spec may be of no session
			sessionOf[execution] = cmp.Or(session, execution)
			add(sessionOf[execution], path)
		default:
			errs = append(errs, FindError{Path: path, Err: errors.New("no execution log: it names neither a session nor an execution")})
		}
	}
	if len(chats) > 0 {
		for _, path := range sessions {
			all, _ := st.until(ctx, path)
			for _, m := range executionID.FindAllSubmatch(all, -1) {
				sessionOf[string(m[1])] = stem(nameOf(path))
			}
		}
	}
	for _, path := range chats {
		all, _ := st.until(ctx, path)
		execution := firstGroup(executionID, all)
		add(cmp.Or(sessionOf[execution], firstGroup(workflowID, all), execution, stem(nameOf(path))), path)
	}
	for _, session := range slices.Sorted(maps.Keys(bySession)) {
		g := bySession[session]
		if g.id = cmp.Or(movedTo[session], session); index[session] != "" {
			g.beside = []string{index[session]}
		}
		groups = append(groups, *g)
	}
	return groups, errs
}

// An executionLog is what is remembered of a log until its turn comes.
type executionLog struct {
	path, id string
	start    float64
	prompt   string         // as typed
	tells    map[string]int // the prompts that it repeats, and how often
	chat     bool           // a .chat
	acts     bool           // it has actions of its own
	items    int
	done     bool
}

// A sessionDecoding puts the parts of one session in order.
type sessionDecoding struct {
	*decoding
	ctx      context.Context
	injected *regexp.Regexp
	logs     []*executionLog
	steps    map[string]bool     // executions that an action of another began
	known    map[string]int      // prompts, and how many turns that began with them were handed over
	due      map[string]int      // prompts that a log to come is relied on for
	calls    map[string][]string // use and response of a call, by its id, from the latest context
	callsAt  float64
	prefaced bool
	empty    []string // logs that were cut before their first message
	retold   []string // logs that were cut before their first action, and are repeated by a later one
}

// decodeSession orders what the files of a session hold.
func decodeSession(ctx context.Context, g group, out *decoding) error {
	d := &sessionDecoding{
		decoding: out, ctx: ctx, injected: regexp.MustCompile(cmp.Or(out.options["injected"], `\z`)),
		steps: map[string]bool{}, known: map[string]int{}, due: map[string]int{},
	}
	var history []value
	var in *arena
	doc, place := []string{"id", quoted(g.id)}, ""
	for _, path := range g.files {
		v, a := d.document(ctx, path, true)
		switch list := v.get("history", a); {
		case v.kind() == jsonObject && list.kind() != jsonArray:
			d.skim(path, v, a)
		case v != nil && place == "":
			history, in, place = list.list(a), a, path
			doc = append(doc, "folder", quoted(filepath.Base(filepath.Dir(path))), "session", v.raw)
		}
	}
	for _, path := range g.beside {
		if place == "" {
			doc = append(doc, "folder", quoted(filepath.Base(filepath.Dir(path))))
		}
		v, a := d.document(ctx, path, true)
		for _, entry := range v.list(a) {
			if entry.get("sessionId", a).is(g.key) {
				doc = append(doc, "index", entry.raw)
			}
		}
	}
	if ctx.Err() != nil || place == "" && len(d.logs) == 0 {
		return ctx.Err()
	}
	slices.SortStableFunc(d.logs, func(a, b *executionLog) int { return cmp.Compare(a.start, b.start) })
	all := slices.Clone(d.logs)
	d.logs = slices.DeleteFunc(d.logs, func(l *executionLog) bool {
		switch {
		case d.cut[l.path] == "" || l.acts:
			return false
		case place != "" && l.prompt == "" && len(l.tells) == 0: // the session tells more
			d.empty = append(d.empty, l.path)
			return true
		}
		later := slices.ContainsFunc(all, func(o *executionLog) bool { return o.start > l.start && o.tells[l.prompt] > 0 })
		if later {
			d.retold = append(d.retold, l.path)
		}
		return later
	})
	var gone []string
	logOf := make([]*executionLog, len(history)+1)
	for i := range history {
		id := history[i].get("executionId", in).str()
		if logOf[i] = d.log(id); logOf[i] == nil && id != "" && !slices.Contains(gone, id) {
			gone = append(gone, id)
		}
	}
	if len(gone) > 0 {
		d.notes = append(d.notes, "executions without a log, known only by what other files say of them: "+strings.Join(gone, ", "))
	}
	d.begin(objectOf(doc...))
	told := false // the turn is told by a log
	for i := range history {
		typed := d.typed(history[i].get("message", in), in)
		if typed != "" {
			told = logOf[i+1] != nil || d.comes(typed)
		}
		switch {
		case logOf[i] != nil:
			d.emit(logOf[i].start)
		case !told:
			d.record(objectOf("history", history[i].raw), place, "/history/"+strconv.Itoa(i))
		}
	}
	d.emit(math.Inf(1))
	for _, path := range slices.Sorted(maps.Keys(d.cut)) {
		switch {
		case slices.Contains(d.empty, path):
			d.broken(d.cut[path] + ": no message stands before it")
		case slices.Contains(d.retold, path):
			d.broken(d.cut[path] + ": a later log repeats the turn, and was read instead")
		default:
			d.broken(d.cut[path] + ": what stands before it was read")
		}
	}
	return ctx.Err()
}

// comes says whether a log that has not been handed over begins with a prompt, or will be the
// first to repeat it.
func (d *sessionDecoding) comes(prompt string) bool {
	d.due[prompt]++
	return slices.ContainsFunc(d.logs, func(l *executionLog) bool {
		return !l.done && (l.prompt == prompt || l.tells[prompt] >= d.known[prompt]+d.due[prompt])
	})
}

// emit hands over the logs up to a time that have not been.
func (d *sessionDecoding) emit(until float64) {
	for _, l := range d.logs {
		if !l.done && l.start <= until && d.ctx.Err() == nil {
			l.done = true
			clear(d.due)
			before := d.s.said()
			d.turn(l)
			if where := d.cut[l.path]; where != "" && d.s.said() == before {
				d.empty = append(d.empty, l.path)
			}
		}
	}
}

func (d *sessionDecoding) log(id string) *executionLog {
	i := slices.IndexFunc(d.logs, func(l *executionLog) bool { return id != "" && l.id == id })
	if i < 0 {
		return nil
	}
	return d.logs[i]
}

// skim remembers a log. There may be several of one execution: snapshots, or copies in folders
// of which one was spelled otherwise.
func (d *sessionDecoding) skim(path string, v *value, a *arena) {
	l := &executionLog{path: path, id: v.get("executionId", a).str(), chat: v.get("chat", a) != nil, tells: map[string]int{}}
	context, actions, start := d.before(v, a), v.get("actions", a).list(a), v.get("startTime", a)
	if l.chat {
		start = v.get("metadata", a).get("startTime", a)
	}
	l.start, _ = strconv.ParseFloat(start.str(), 64)
	l.prompt, l.acts, l.items = d.typed(promptOf(v, a), a), len(actions) > 0, len(context)+len(actions)
	for i := range context {
		if p := d.typed(&context[i], a); p != "" {
			l.tells[p]++
		}
	}
	for i := range actions {
		d.steps[actions[i].get("output", a).get("executionId", a).str()] = true
	}
	if old := d.log(l.id); old == nil {
		d.logs = append(d.logs, l)
	} else if old.chat && !l.chat || old.chat == l.chat && l.items > old.items {
		*old = *l
	}
	if len(context) == 0 || l.chat || d.calls != nil && l.start < d.callsAt {
		return
	}
	d.calls, d.callsAt = map[string][]string{}, l.start
	for i := range context {
		for _, entry := range context[i].get("entries", a).list(a) {
			id := cmp.Or(entry.get("toolUseId", a).str(), entry.get("id", a).str())
			switch kind := entry.get("type", a); {
			case kind.is("toolUse"):
				d.calls[id] = append(d.calls[id], "use", entry.raw)
			case kind.is("toolUseResponse"):
				d.calls[id] = append(d.calls[id], "response", entry.raw)
			}
		}
	}
}

// before is what a log says of what came before it.
func (d *sessionDecoding) before(v *value, a *arena) []value {
	if chat := v.get("chat", a); chat != nil {
		return chat.list(a)
	}
	return v.get("context", a).get("messages", a).list(a)
}

// promptOf is the last of the messages that went into an execution.
func promptOf(v *value, a *arena) *value {
	data := v.get("input", a).get("data", a)
	if list := data.get("messages", a).list(a); len(list) > 0 {
		return &list[len(list)-1]
	}
	if typed := data.get("userPrompt", a); !typed.empty() {
		return &value{raw: objectOf("role", quoted("user"), "content", typed.raw)}
	}
	return nil
}

// typed is what the person typed in a message, without what the program put around it.
func (d *sessionDecoding) typed(m *value, a *arena) string {
	if role := m.get("role", a); !role.absent() && !role.is("human") && !role.is("user") {
		return ""
	}
	content := m.get("entries", a)
	if content.absent() {
		content = m.get("content", a)
	}
	texts := []string{}
	if content.kind() == jsonString {
		texts = append(texts, content.str())
	}
	for _, e := range content.list(a) {
		if e.get("type", a).is("text") {
			texts = append(texts, e.get("text", a).str())
		}
	}
	for i, t := range texts {
		texts[i] = strings.TrimSpace(d.injected.ReplaceAllString(t, ""))
	}
	return strings.Join(slices.DeleteFunc(texts, func(t string) bool { return t == "" }), "\n")
}

// turn hands over what only this log tells of before, then its own turn.
func (d *sessionDecoding) turn(l *executionLog) {
	v, a := d.document(d.ctx, l.path, false)
	var plain []string
	for _, of := range []*value{v, v.get("metadata", a)} {
		if of.kind() == jsonObject {
			of.open(a)
			for i := range of.members {
				if m := &of.members[i]; m.val.kind() < jsonArray {
					plain = append(plain, m.key, m.val.raw)
				}
			}
		}
	}
	execution, place := objectOf(plain...), "/context/messages/"
	if l.chat {
		place = "/chat/"
	}
	give := func(pointer string, pairs ...string) {
		d.record(objectOf(append([]string{"execution", execution}, pairs...)...), l.path, pointer)
	}
	messages, actions, own := d.before(v, a), v.get("actions", a).list(a), -1
	prompts := make([]string, len(messages))
	for i := range messages {
		if prompts[i] = d.typed(&messages[i], a); prompts[i] != "" && prompts[i] == l.prompt && (!l.acts || repeats(messages[i:], actions, a)) {
			own = i
		}
	}
	if own >= 0 && l.acts { // better told by the actions
		messages, own = messages[:own], -1
		l.tells[l.prompt]--
	}
	// Of several turns that begin alike, the latest are those that have a log.
	began, told, left := false, false, maps.Clone(l.tells)
	if own >= 0 {
		left[l.prompt]--
	}
	for i := range messages {
		if p := prompts[i]; p != "" {
			began, told = true, i != own && left[p] <= d.known[p]
			left[p]--
		}
		switch {
		case began && !told:
			give(place+strconv.Itoa(i), "message", messages[i].raw)
		case !began && !d.prefaced:
			give(place+strconv.Itoa(i), "preface", "true", "message", messages[i].raw)
		}
	}
	d.prefaced = d.prefaced || len(messages) > 0
	for p, n := range l.tells {
		d.known[p] = max(d.known[p], n)
	}
	// A step begins with the prompt of what it is a step of.
	if p := promptOf(v, a); p != nil && own < 0 && !(d.steps[l.id] && d.known[l.prompt] > 0) {
		d.known[l.prompt]++
		give("/input/data", "prompt", p.raw)
	}
	for i, action := range actions {
		give("/actions/"+strconv.Itoa(i), append([]string{"action", action.raw}, d.calls[action.get("actionId", a).str()]...)...)
	}
}

// repeats says whether messages hold the first thing that actions say.
func repeats(messages, actions []value, a *arena) bool {
	for _, action := range actions {
		if said := action.get("output", a).get("message", a); action.get("actionType", a).is("say") && !said.empty() {
			return slices.ContainsFunc(messages, func(m value) bool { return strings.Contains(m.raw, said.raw) })
		}
	}
	return false
}
