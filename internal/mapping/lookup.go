package mapping

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"parlance/internal/source"
)

// A table is a lookup's file as it stood when it was read: key to the value's text, or its JSON.
type table struct {
	size    int64
	modTime time.Time

	once    sync.Once
	entries map[string]tableEntry
	err     error
}

type tableEntry struct {
	json string
	text string
}

// tableKey names a lookup's file. Only its latest table is kept: a server may run for weeks
// beside a tool that writes it all the time.
type tableKey struct{ lookup, path string }

// table gives the table of a file as it is now, read or yet to be read.
func (m *Mapping) table(key tableKey, info os.FileInfo) *table {
	now := &table{size: info.Size(), modTime: info.ModTime()}
	for {
		have, loaded := m.tables.LoadOrStore(key, now)
		t := have.(*table)
		if !loaded || t.size == now.size && t.modTime.Equal(now.modTime) {
			return t
		}
		if m.tables.CompareAndSwap(key, have, now) {
			return now
		}
	}
}

// lookup finds the entry of key in a named table. Each file is read once, and again when
// it has changed; a missing file is an empty table.
func (rd *reading) lookup(name, key string) (*value, string, bool) {
	l := rd.m.lookups[name]
	if l == nil || key == "" {
		return nil, "", false
	}
	found := false
	defer func() {
		if !found {
			rd.isAbsent("lookup " + name + ": " + l.path)
		}
	}()
	for _, path := range rd.lookupPaths(l) {
		info, err := os.Stat(path)
		if err != nil || !info.Mode().IsRegular() {
			continue
		}
		found = true
		t := rd.m.table(tableKey{name, path}, info)
		t.once.Do(func() { t.entries, t.err = rd.readTable(l, path) })
		if t.err != nil && !rd.warned[path] {
			if rd.warned == nil {
				rd.warned = map[string]bool{}
			}
			rd.warned[path] = true
			rd.tableErrs = append(rd.tableErrs, fmt.Sprintf("lookup %s: %v", name, t.err))
		}
		if e, ok := t.entries[key]; ok {
			if e.json != "" {
				v, ok := parseRecord(e.json, &rd.docs)
				return v, "", ok
			}
			return nil, e.text, true
		}
	}
	return nil, "", false
}

// isAbsent notes for explain that the mapping names a file and there is none.
func (rd *reading) isAbsent(what string) {
	if !slices.Contains(rd.absent, what) {
		rd.absent = append(rd.absent, what)
	}
}

// lookupPaths are the places of a lookup's file: a pattern of its own, or one relative to the
// transcript's folder. They are looked for once in a reading.
func (rd *reading) lookupPaths(l *lookup) []string {
	paths, ok := rd.lookups[l.name]
	if !ok {
		if rd.lookups == nil {
			rd.lookups = map[string][]string{}
		}
		paths = rd.findLookup(l)
		rd.lookups[l.name] = paths
	}
	return paths
}

func (rd *reading) findLookup(l *lookup) []string {
	if strings.HasPrefix(l.path, "~") || strings.HasPrefix(l.path, "$") || strings.HasPrefix(l.path, "/") {
		return expandPattern(rd.file.env, l.path)
	}
	dir := filepath.Dir(rd.file.Path)
	if strings.ContainsAny(l.path, wildcards) {
		return rd.glob(dir, l.path)
	}
	path := filepath.Join(dir, filepath.FromSlash(l.path))
	if !rd.file.mayRead(rd.src.index, path) {
		return nil
	}
	return []string{path}
}

func (rd *reading) readTable(l *lookup, path string) (map[string]tableEntry, error) {
	entries := map[string]tableEntry{}
	var a arena
	x := &scopes{a: &a, docArena: &a}
	put := func(rec *value, entryKey string) {
		x.rec, x.entryKey = rec, entryKey
		f := &frame{elem: rec}
		key := x.evalText(l.key, f)
		if key == "" {
			return
		}
		if l.value == nil {
			entries[key] = tableEntry{json: strings.Clone(rec.raw)}
			return
		}
		g, _ := x.eval(l.value, f)
		switch {
		case g.kind == gotNone:
		case g.kind == gotJSON && g.v.kind() != jsonString:
			entries[key] = tableEntry{json: strings.Clone(g.v.raw)}
		default:
			entries[key] = tableEntry{text: x.text(g)}
		}
	}
	ctx := context.Background()
	switch l.container {
	case "jsonl":
		f, err := source.Open(path)
		if err != nil {
			return nil, err
		}
		defer f.Close()
		err = source.Lines(ctx, f, func(line source.Line) error {
			a.reset()
			if rec, ok := parseObject(view(line.Data), &a); ok {
				put(rec, "")
			}
			return nil
		})
		return entries, err
	case "sqlite":
		db, err := source.OpenDB(path)
		if err != nil {
			return nil, err
		}
		defer db.Close()
		if ok, err := has(db, l.needs); !ok || err != nil {
			return entries, err
		}
		rows := &reading{src: &Source{jsonCols: nil}}
		err = db.Query(ctx, l.sql, nil, func(columns []string, values []any) error {
			a.reset()
			if rec, ok := parseObject(rows.rowJSON(columns, values), &a); ok {
				put(rec, "")
			}
			return nil
		})
		return entries, err
	}
	data, err := source.ReadAll(ctx, path)
	if err != nil {
		return nil, err
	}
	doc, ok := parseRecord(view(data), &a)
	if !ok {
		err = fmt.Errorf("%s: not one whole JSON document: %s", path, whereBroken(string(data)))
		if doc, ok = parseRecord(closed(view(data)), &a); !ok {
			return nil, err
		}
	}
	at := got{kind: gotJSON, v: doc} // all of it, or what stands before the damage
	if l.records != nil {
		at = x.find(l.records, &frame{elem: doc})
	}
	if at.kind != gotJSON {
		return entries, err
	}
	at.v.open(&a)
	for i := range at.v.members {
		put(&at.v.members[i].val, unquote(at.v.members[i].key))
	}
	for i := range at.v.elems {
		put(&at.v.elems[i], "")
	}
	return entries, err
}
