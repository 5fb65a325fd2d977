package mapping

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"parlance/internal/source"
)

// A node is a JSON value that can be edited: an object, an array, or raw text.
type node struct {
	kind jsonKind
	raw  string
	keys []string // of an object, as written, in order
	kids []*node
}

// nodesMax bounds a document that a log of edits builds: a few lines could otherwise ask
// for an array of any length.
const nodesMax = source.NodesMax

// runReplay reads a log whose lines are edits of one document, then the document.
func (rd *reading) runReplay(ctx context.Context) (bool, error) {
	f, err := source.Open(rd.file.Path)
	if err != nil {
		return false, err
	}
	defer f.Close()
	p := rd.src.replay
	x := rd.scopes(nil, 0)
	var root *node
	bytes, room := 0, nodesMax
	err = source.Lines(ctx, f, func(l source.Line) error {
		text := view(l.Data)
		if skipSpace(text, 0) == len(text) {
			return nil
		}
		if bytes += len(text); bytes > replayMaxBytes {
			return fmt.Errorf("%s: line %d: the document is larger than replayMaxBytes (256 MB)", rd.file.Path, l.N)
		}
		rd.a.reset()
		line, ok := parseObject(text, &rd.a)
		if !ok {
			rd.notWhole(l)
			return nil
		}
		if why := edit(&root, p, x, line, &room); why != "" {
			rd.fail(l.N, why)
			if room < 0 {
				rd.over = fmt.Sprintf("the log asks for more empty places than nodesMax (%d million)", nodesMax/1_000_000)
			}
		}
		return nil
	})
	if err != nil && (root == nil || ctx.Err() != nil) {
		return root != nil, err
	}
	if err != nil {
		rd.over = err.Error()
	}
	if root == nil {
		return false, nil
	}
	var b strings.Builder
	root.write(&b)
	doc, ok := parseRecord(b.String(), &rd.docs)
	if !ok {
		return false, errors.New(rd.file.Path + ": the replayed document is not whole")
	}
	return rd.document(ctx, doc)
}

// replayMaxBytes bounds the log of a replayed document, which has to be held in memory.
const replayMaxBytes = source.ReplayMaxBytes

// edit applies one line to the document. room is how many empty places may still be made for
// edits far behind the end of a list; it is below zero once that was too little.
// It says what is wrong with the line, or "".
func edit(root **node, p *replay, x *scopes, line *value, room *int) string {
	f := &frame{elem: line}
	read := func(s *selector) *value {
		if s == nil {
			return nil
		}
		return x.find(s, f).v
	}
	op := read(p.op)
	val := read(p.value)
	switch {
	case op.is(p.init):
		*root = parseNode(val)
		if *root == nil {
			return "an init without a document"
		}
		return ""
	case *root == nil:
		return "an edit before the document was begun"
	}
	path := read(p.path).list(x.a)
	switch {
	case op.is(p.set):
		return (*root).set(path, parseNode(val), room)
	case op.is(p.appendOp):
		target, why := (*root).reach(path, jsonArray, room)
		if why != "" {
			return why
		}
		if at := read(p.at); !at.absent() {
			n, err := strconv.Atoi(at.str())
			if err != nil || n < 0 {
				return "a length that is no number"
			}
			if n < len(target.kids) {
				target.kids = target.kids[:n]
			}
		}
		more := parseNode(val)
		if val.absent() {
			return ""
		}
		if more.kind != jsonArray {
			return "an append of something that is no list"
		}
		if len(target.kids)+len(more.kids) > nodesMax {
			return "a list longer than nodesMax (5 million)"
		}
		target.kids = append(target.kids, more.kids...)
		return ""
	case op.is(p.remove):
		return (*root).remove(path)
	}
	return "an edit of a kind that the mapping does not name"
}

func parseNode(v *value) *node {
	switch v.kind() {
	case jsonAbsent:
		return nil
	case jsonObject:
		n := &node{kind: jsonObject}
		var a arena
		own := value{raw: v.raw}
		own.open(&a)
		for i := range own.members {
			n.put(strings.Clone(own.members[i].key), parseNode(&own.members[i].val))
		}
		return n
	case jsonArray:
		n := &node{kind: jsonArray}
		var a arena
		own := value{raw: v.raw}
		own.open(&a)
		for i := range own.elems {
			n.kids = append(n.kids, parseNode(&own.elems[i]))
		}
		return n
	}
	return &node{kind: v.kind(), raw: strings.Clone(v.raw)}
}

// put sets a member; of equal keys the last wins, in the first one's place.
func (n *node) put(key string, kid *node) {
	for i, k := range n.keys {
		if k == key {
			n.kids[i] = kid
			return
		}
	}
	n.keys = append(n.keys, key)
	n.kids = append(n.kids, kid)
}

// child is the member or element of a step, or nil; wrong says that n is of a kind that
// has no such step.
func (n *node) child(step *value) (kid *node, wrong bool) {
	switch n.kind {
	case jsonObject:
		key := rawKey(step)
		for i, k := range n.keys {
			if k == key {
				return n.kids[i], false
			}
		}
		return nil, false
	case jsonArray:
		i, err := strconv.Atoi(step.str())
		if err != nil || i < 0 {
			return nil, true
		}
		if i < len(n.kids) {
			return n.kids[i], false
		}
		return nil, false
	}
	return nil, true
}

func rawKey(step *value) string {
	if step.kind() == jsonString {
		return strings.Clone(step.raw[1 : len(step.raw)-1])
	}
	return strings.Clone(step.raw)
}

// attach puts a kid where there was none.
func (n *node) attach(step *value, kid *node, room *int) string {
	if n.kind == jsonObject {
		n.put(rawKey(step), kid)
		return ""
	}
	i, err := strconv.Atoi(step.str())
	if n.kind != jsonArray || err != nil || i < 0 {
		return "a path through the wrong kind of value"
	}
	if made := i - len(n.kids); made > *room {
		*room = -1
		return "more empty places than nodesMax (5 million)"
	} else if made > 0 {
		*room -= made
	}
	for len(n.kids) <= i {
		n.kids = append(n.kids, &node{kind: jsonNull, raw: "null"})
	}
	n.kids[i] = kid
	return ""
}

// reach walks to the value at path, making what is missing: the last one of kind want.
func (n *node) reach(path []value, want jsonKind, room *int) (*node, string) {
	for i := range path {
		kid, wrong := n.child(&path[i])
		if wrong {
			return nil, "a path through the wrong kind of value"
		}
		if kid == nil || kid.kind == jsonNull {
			kid = &node{kind: jsonObject}
			if i == len(path)-1 {
				kid.kind = want
			} else if path[i+1].kind() == jsonNumber {
				kid.kind = jsonArray
			}
			if why := n.attach(&path[i], kid, room); why != "" {
				return nil, why
			}
		}
		n = kid
	}
	if n.kind != want {
		return nil, "a path to the wrong kind of value"
	}
	return n, ""
}

func (n *node) set(path []value, kid *node, room *int) string {
	if kid == nil {
		kid = &node{kind: jsonNull, raw: "null"}
	}
	if len(path) == 0 {
		*n = *kid
		return ""
	}
	want := jsonObject
	last := &path[len(path)-1]
	if last.kind() == jsonNumber {
		want = jsonArray
	}
	parent, why := n.reach(path[:len(path)-1], want, room)
	if why != "" {
		return why
	}
	return parent.attach(last, kid, room)
}

func (n *node) remove(path []value) string {
	if len(path) == 0 {
		return "a delete without a path"
	}
	for i := range path[:len(path)-1] {
		kid, wrong := n.child(&path[i])
		if wrong {
			return "a path through the wrong kind of value"
		}
		if kid == nil {
			return ""
		}
		n = kid
	}
	last := &path[len(path)-1]
	switch n.kind {
	case jsonObject:
		key := rawKey(last)
		for i, k := range n.keys {
			if k == key {
				n.keys = append(n.keys[:i], n.keys[i+1:]...)
				n.kids = append(n.kids[:i], n.kids[i+1:]...)
				break
			}
		}
	case jsonArray:
		if i, err := strconv.Atoi(last.str()); err == nil && i >= 0 && i < len(n.kids) {
			n.kids = append(n.kids[:i], n.kids[i+1:]...)
		}
	default:
		return "a path through the wrong kind of value"
	}
	return ""
}

func (n *node) write(b *strings.Builder) {
	switch n.kind {
	case jsonObject:
		b.WriteByte('{')
		for i, k := range n.keys {
			if i > 0 {
				b.WriteByte(',')
			}
			b.WriteString(`"` + k + `":`)
			n.kids[i].write(b)
		}
		b.WriteByte('}')
	case jsonArray:
		b.WriteByte('[')
		for i, k := range n.kids {
			if i > 0 {
				b.WriteByte(',')
			}
			k.write(b)
		}
		b.WriteByte(']')
	default:
		b.WriteString(n.raw)
	}
}
