package mapping

import (
	"context"
	"slices"
	"time"

	"parlance/internal/chat"
)

// finish turns what the records made into the conversation: layers, then rollback, then
// tree, then copied; then results are joined to calls. x reads what needs no record.
func (b *builder) finish(ctx context.Context, x *scopes, f File, fallbackID string) *chat.Conversation {
	b.settle(x, fallbackID)
	// No more records come: what only they were compared with makes room for what follows.
	b.byID, b.doubles, b.texts, b.first, b.visible, b.roots = nil, nil, nil, nil, nil, nil
	b.applyLayers()
	b.applyRollbacks()
	b.applyTree(x)
	b.applyCopied(ctx)
	c := &b.conv
	n := 0
	for _, u := range b.units {
		n += len(u.msgs)
	}
	list := make([]*made, 0, n)
	for _, u := range b.units {
		for _, m := range u.msgs {
			if !m.gone {
				list = append(list, m)
			}
		}
	}
	b.joinResults(list)
	list = slices.DeleteFunc(list, func(m *made) bool { return m.gone })
	latest := int64(0)
	for _, m := range list {
		if m.time > latest || latest == 0 {
			latest = m.time
		}
		if c.Started.IsZero() && m.time != 0 {
			c.Started = time.UnixMilli(m.time).UTC()
		}
	}
	if c.Updated.IsZero() && latest != 0 {
		c.Updated = time.UnixMilli(latest).UTC()
	}
	if b.opts.Each == nil {
		c.Messages = make([]chat.Message, len(list))
		for i, m := range list {
			c.Messages[i] = m.message()
		}
	} else {
		each := b.opts.Each(c)
		for _, m := range list {
			msg := m.message()
			each(&msg)
		}
	}
	if c.Updated.IsZero() && b.src.list != "" {
		c.Updated = c.Started // the time of a database is that of its newest conversation
	}
	if c.Updated.IsZero() {
		c.Updated = f.ModTime.UTC().Truncate(time.Millisecond)
	}
	c.File = f.Path
	return c
}

// applyLayers keeps, of a role that the tool records several times over, the first layer
// that occurs.
func (b *builder) applyLayers() {
	for role, order := range b.m.layers {
		keep := ""
		for _, want := range order {
			if b.hasLayer(role, want) {
				keep = want
				break
			}
		}
		if keep == "" {
			continue
		}
		for _, u := range b.units {
			for _, m := range u.msgs {
				if m.Role == role && m.source.layer != "" && m.source.layer != keep {
					m.gone = true
				}
			}
		}
	}
}

func (b *builder) hasLayer(role chat.Role, layer string) bool {
	for _, u := range b.units {
		for _, m := range u.msgs {
			if !m.gone && m.Role == role && m.source.layer == layer {
				return true
			}
		}
	}
	return false
}

// applyRollbacks marks, at each place where turns were rolled back, the last records that
// made a visible user message, and all that follows them up to there.
func (b *builder) applyRollbacks() {
	var visible []*unit
	for _, u := range b.units {
		if u.rollback == 0 {
			visible = append(visible, u)
			continue
		}
		for left := u.rollback; left > 0 && len(visible) > 0; {
			last := visible[len(visible)-1]
			visible = visible[:len(visible)-1]
			prompt := false
			for _, m := range last.msgs {
				prompt = prompt || m.Role == chat.User && !m.gone && !m.abandoned
				m.abandoned = true
			}
			if prompt {
				left--
			}
		}
	}
}

// applyTree orders and marks the units by their links.
func (b *builder) applyTree(x *scopes) {
	t := b.m.tree
	if t == nil {
		return
	}
	byID := map[hash]int32{}
	leaf := -1
	for i, u := range b.units {
		if u.id != (hash{}) {
			byID[u.id] = int32(i)
			leaf = i
		}
	}
	if leaf < 0 {
		return
	}
	if t.leaf != nil && b.key == "" {
		if want := x.evalText(t.leaf, &frame{}); want != "" {
			i, ok := byID[hashOf(want)]
			if !ok {
				b.warn("tree: the leaf %.60q is not in the file", want)
				return
			}
			leaf = int(i)
		}
	}
	parentOf := func(i int) (int, bool) { // -1: a root; false: unknown
		p := b.units[i].parent
		if p == (hash{}) {
			return -1, true
		}
		j, ok := byID[p]
		return int(j), ok
	}
	onPath := make([]bool, len(b.units))
	whole := true
	for i := leaf; i >= 0; {
		if onPath[i] {
			b.warn("tree: the links to the leaf go in a circle")
			return
		}
		onPath[i] = true
		p, ok := parentOf(i)
		if !ok {
			whole = false
			break
		}
		i = p
	}
	if t.promptForks {
		b.markForks(onPath, parentOf)
		return
	}
	if !whole {
		b.warn("tree: a record on the way to the leaf names a parent that is not in the file")
		return
	}
	for i, u := range b.units {
		if u.id != (hash{}) && byID[u.id] == int32(i) && !onPath[i] && !u.noFork {
			for _, m := range u.msgs {
				m.abandoned = true
			}
		}
	}
	b.orderByTree(onPath, parentOf)
}

// markForks marks prompts that were given up for another one, and what hangs on them.
func (b *builder) markForks(onPath []bool, parentOf func(int) (int, bool)) {
	pathChild := map[int]bool{} // parents that have a child on the path
	for i, on := range onPath {
		if on {
			if p, ok := parentOf(i); ok && p >= 0 {
				pathChild[p] = true
			}
		}
	}
	forks := func(i, parent int) bool {
		return !onPath[i] && pathChild[parent] && !b.units[i].noFork && b.firstRole(i) == chat.User
	}
	const unknown, kept, given = 0, 1, 2
	state := make([]byte, len(b.units))
	for i := range b.units {
		// Walk up to a decided record, then mark the way back down.
		var way []int
		j, verdict := i, byte(kept)
		for {
			if state[j] != unknown {
				verdict = state[j]
				break
			}
			state[j] = kept // ends a circle
			way = append(way, j)
			p, ok := parentOf(j)
			if b.units[j].id == (hash{}) || !ok || p < 0 {
				break
			}
			if forks(j, p) {
				verdict = given
				break
			}
			j = p
		}
		for k := len(way) - 1; k >= 0; k-- {
			u := way[k]
			if verdict == kept {
				// A fork further down the way is one of its own.
				if p, ok := parentOf(u); ok && p >= 0 && forks(u, p) {
					verdict = given
				}
			}
			state[u] = verdict
			if verdict == given {
				for _, m := range b.units[u].msgs {
					m.abandoned = true
				}
			}
		}
	}
}

func (b *builder) firstRole(i int) chat.Role {
	for _, m := range b.units[i].msgs {
		if !m.gone {
			return m.Role
		}
	}
	return ""
}

// orderByTree puts the units in the order of the tree: from the roots down, children in
// file order, but the child on the path last. A unit without an id follows the one before it.
func (b *builder) orderByTree(onPath []bool, parentOf func(int) (int, bool)) {
	n := len(b.units)
	children := make([][]int, n)
	var roots []int
	followers := make([][]int, n)
	var head []*unit
	before := -1
	for i, u := range b.units {
		if u.id == (hash{}) {
			if before < 0 {
				head = append(head, u)
			} else {
				followers[before] = append(followers[before], i)
			}
			continue
		}
		before = i
		if p, ok := parentOf(i); ok && p >= 0 && p != i {
			children[p] = append(children[p], i)
		} else {
			roots = append(roots, i)
		}
	}
	pathLast := func(list []int) []int {
		for k, i := range list {
			if onPath[i] {
				return append(append(append([]int(nil), list[:k]...), list[k+1:]...), i)
			}
		}
		return list
	}
	out := make([]*unit, 0, n)
	out = append(out, head...)
	placed := make([]bool, n)
	stack := reversed(pathLast(roots))
	for len(stack) > 0 {
		i := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		if placed[i] {
			continue
		}
		placed[i] = true
		out = append(out, b.units[i])
		for _, fo := range followers[i] {
			placed[fo] = true
			out = append(out, b.units[fo])
		}
		stack = append(stack, reversed(pathLast(children[i]))...)
	}
	for i, u := range b.units { // records in a circle off the path
		if !placed[i] && u.id != (hash{}) {
			out = append(out, u)
			for _, fo := range followers[i] {
				out = append(out, b.units[fo])
			}
		}
	}
	b.units = out
}

func reversed(list []int) []int {
	out := make([]int, len(list))
	for i, v := range list {
		out[len(list)-1-i] = v
	}
	return out
}

// applyCopied marks history that came from a parent as inherited.
func (b *builder) applyCopied(ctx context.Context) {
	c := b.m.copied
	if c == nil || b.key != "" {
		return
	}
	if c.prefix != nil {
		b.markPrefix(ctx)
		return
	}
	copies, all, parent := 0, 0, ""
	isCopy := func(u *unit) bool { return u.copied != nil && u.copied.of != "" && u.copied.of != b.conv.ID }
	for _, u := range b.units {
		if isCopy(u) {
			copies++
			parent = u.copied.of
		}
		if len(u.msgs) > 0 {
			all++
			if !isCopy(u) {
				all = len(b.units) + 1
			}
		}
	}
	if copies == 0 || all <= copies && all > 0 {
		return // nothing copied, or everything: then there is no telling
	}
	for _, u := range b.units {
		if isCopy(u) {
			inherit(u)
		}
	}
	if b.conv.Parent == "" {
		b.conv.Parent = parent
	}
}

// markPrefix: all records before the first key that the parent does not have are copies.
func (b *builder) markPrefix(ctx context.Context) {
	if b.conv.Parent == "" || b.opts.Keys == nil {
		return
	}
	keys, ok := b.opts.Keys(ctx, b.conv.Parent)
	if !ok {
		return
	}
	end := len(b.units)
	for i, u := range b.units {
		if u.copied != nil && u.copied.key != "" && !keys[u.copied.key] {
			end = i
			break
		}
	}
	if end == len(b.units) {
		return
	}
	for _, u := range b.units[:end] {
		inherit(u)
	}
}

func inherit(u *unit) {
	for _, m := range u.msgs {
		m.inherited = true
	}
}

// joinResults gives each result its call's tool, and tells which calls are running.
func (b *builder) joinResults(list []*made) {
	byID, byOrder, near, byRecord := false, false, false, false
	for _, how := range b.m.pair {
		byID, byOrder, near = byID || how == "id", byOrder || how == "order", near || how == "near"
		byRecord = byRecord || how == "record"
	}
	if len(b.m.pair) == 0 {
		byID = true
	}
	calls := map[hash]*made{}
	again := map[hash][]*made{} // of ids that several calls have: those met so far
	if byID {
		for _, m := range list {
			switch {
			case m.Role != chat.ToolCall || m.call == (hash{}):
			case calls[m.call] == nil:
				calls[m.call] = m
			default:
				again[m.call] = nil
			}
		}
	}
	answered := map[*made]bool{}
	var open []*made // calls without a result yet, in order
	var latest nearCalls
	orphans := 0
	var last *made
	for _, m := range list {
		switch m.Role {
		case chat.ToolCall:
			open = append(open, m)
			if met, several := again[m.call]; several {
				again[m.call] = append(met, m)
			}
			if near {
				latest.add(m)
			}
		case chat.ToolResult:
			var call *made
			switch {
			case last != nil && last.Role == chat.ToolCall && m.source == last.source && m.unit == last.unit && m.source.result != nil:
				call = last // made beside it, whatever the ids say
			case byID && m.call != (hash{}):
				call = calls[m.call]
				met := again[m.call]
				for i := len(met) - 1; i >= 0; i-- { // the nearest without a result
					if !answered[met[i]] {
						call = met[i]
						break
					}
				}
			case byOrder:
				for _, o := range open {
					if !answered[o] && (m.tool == "" || o.tool == "" || m.tool == o.tool) {
						call = o
						break
					}
				}
			}
			if call == nil && byRecord && m.call == (hash{}) {
				call = beside(m)
			}
			if call == nil && near && (m.Call == "" || !byID) {
				call = latest.of(m, answered)
			}
			if call == nil {
				if orphans++; orphans <= orphansNamed {
					b.warn("%s: tool_result without its call: %.60s", whereIs(m.Origin), m.Call)
				}
				// That a call is over, and no more, says nothing without the call.
				m.gone = m.source.as == string(chat.ToolResult) && m.source.text == nil
				break
			}
			answered[call] = true
			if m.tool == "" {
				m.tool = call.tool
			}
			if !m.letGo && m.Call == "" {
				m.Call = call.Call
			}
			if byOrder && len(open) > 0 && answered[open[0]] {
				open = open[1:]
			}
		}
		last = m
	}
	b.orphans = orphans
	if orphans > orphansNamed {
		b.warn("%d more tool results without their call", orphans-orphansNamed)
	}
	for _, m := range list {
		if m.Role == chat.ToolCall {
			m.running = !m.never && !answered[m]
		}
	}
}

// beside is the call of the same record that a result without an id answers: the only one, or
// the one at its place if there are as many calls as results.
func beside(result *made) *made {
	var calls []*made
	results, place := 0, 0
	for _, m := range result.unit.msgs {
		switch {
		case m.gone:
		case m.Role == chat.ToolCall:
			calls = append(calls, m)
		case m.Role == chat.ToolResult:
			if m == result {
				place = results
			}
			results++
		}
	}
	switch {
	case len(calls) == 1:
		return calls[0]
	case len(calls) == results && results > 0:
		return calls[place]
	}
	return nil
}

// nearCalls are the calls that a result without an id may answer: those of the last record
// that made any, and of each tool those of the last record that called it. A result stands
// behind its call's record in formats that have no ids, and a call that was given up has none.
type nearCalls struct {
	last   []*made
	byTool map[string][]*made
}

func (n *nearCalls) add(c *made) {
	add := func(list []*made) []*made {
		if len(list) > 0 && list[0].unit != c.unit {
			list = nil
		}
		return append(list, c)
	}
	if n.byTool == nil {
		n.byTool = map[string][]*made{}
	}
	n.last, n.byTool[c.Tool] = add(n.last), add(n.byTool[c.Tool])
}

// of picks the call of a result: of the tool it names, else of the last record; the first
// without an answer, else the last, for output that comes in pieces. A tool that nobody
// called, as far as the names tell, answers what waits for an answer in the last record.
func (n *nearCalls) of(result *made, answered map[*made]bool) *made {
	list := n.byTool[result.Tool]
	named := result.Tool == "" || len(list) > 0
	if len(list) == 0 {
		list = n.last
	}
	for _, c := range list {
		if !answered[c] {
			return c
		}
	}
	if len(list) == 0 || !named {
		return nil
	}
	return list[len(list)-1]
}

// orphansNamed is how many results without a call are named one by one.
const orphansNamed = 5
