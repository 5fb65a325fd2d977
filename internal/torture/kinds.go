package torture

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"
)

// A Kind is one kind of damage.
type Kind struct {
	Name, About string

	containers string // those that it fits; "": all
	refinds    bool   // files are looked for anew, because what lies at the path is another thing
	cases      func(*run, *victim) []damage
}

// errNotHere says that this machine, or this user, cannot do such a damage.
var errNotHere = errors.New("cannot be done here")

const (
	lines     = "jsonl replay text"
	documents = "jsonl replay json"
	plain     = "jsonl replay json text"

	nestedDepth   = 10_000
	longLineBytes = 64 << 20
	// A file is cut at cutPlaces as many places as it is damaged in other ways: nothing happens
	// as often. Fields are many, and each is read by another rule.
	cutPlaces   = 25
	fieldPlaces = 6
)

// Kinds are all kinds of damage, in the order in which they are tried.
var Kinds = []Kind{
	{"cut", "the file ends early", "", false, cuts},
	{"nul-tail", "NUL bytes behind the end, as after a power failure", plain, false, nulTail},
	{"nul-block", "a block of the file is NUL bytes", "", false, nulBlocks},
	{"doubled", "a line stands there twice", lines, false, doubled},
	{"swapped", "two lines changed places", lines, false, swapped},
	{"overwritten", "a line was begun in the middle of another", lines, false, overwritten},
	{"crlf", "line ends of another system", plain, false, crlf},
	{"bom", "a byte order mark in front", plain, false, bom},
	{"not-utf8", "a byte that is no text", plain, false, notUTF8},
	{"surrogate", "half a surrogate pair", documents, false, surrogates},
	{"text-number", "numbers are texts", documents, false, textNumbers},
	{"null", "a field is null", documents, false, nulls},
	{"missing", "a field is missing", documents, false, missings},
	{"other-type", "a field has another type", documents, false, otherTypes},
	{"new-field", "fields that nobody knows", documents, false, newFields},
	{"new-record", "records that nobody knows", documents, false, newRecords},
	{"deep", "values nested 10,000 deep", documents, false, deeps},
	{"long", "a line of 64 MB", documents, false, longs},
	{"empty", "nothing is in the file", "", false, empties},
	{"other-file", "the file holds something else altogether", "", true, otherFiles},
	{"gone", "the file is not there", "", true, gone},
	{"folder", "a folder in place of the file", "", true, folders},
	{"fifo", "a FIFO in place of the file", "", true, fifos},
	{"socket", "a socket in place of the file", "", true, sockets},
	{"device", "a link to a device in place of the file", "", true, devices},
	{"link-loop", "a link to itself in place of the file", "", true, loops},
	{"link-out", "a link to a file somewhere else in place of the file", "", true, linksOut},
	{"folder-out", "a link to a folder somewhere else in place of the folder", "", true, foldersOut},
	{"forbidden", "the file may not be read", "", true, forbidden},
	{"future", "the file's time is in the next century", "", true, future},
	{"grows", "the file grows while it is read", "", false, grows},
	{"shrinks", "the file shrinks while it is read", "", false, shrinks},
	{"replaced", "the file is replaced while it is read", "", false, replaced},
	{"vanishes", "the file vanishes while it is read", "", false, vanishes},
	{"wal", "rows of a database are in its write-ahead log, and there is no -shm", "sqlite", false, wals},
	{"torn-wal", "the write-ahead log ends early", "sqlite", false, tornWALs},
	{"shm", "a -shm that is nonsense", "sqlite", false, shms},
	{"journal", "a transaction of a database has not ended: its journal is hot", "sqlite", false, journals},
	{"locked", "the database is locked by its tool", "sqlite", false, locked},
	{"page", "a page of the database is damaged", "sqlite", false, pages},
	{"newer-schema", "the database has tables and columns that nobody knows", "sqlite", false, newerSchema},
	{"other-schema", "a column of the database has another name", "sqlite", false, otherSchema},
	{"cell-null", "a value of a row is NULL", "sqlite", false, cellNulls},
	{"cell-type", "a value of a row has another type", "sqlite", false, cellTypes},
	{"cell-json", "JSON in a row is damaged", "sqlite", false, cellJSON},
	{"row-gone", "a row is missing", "sqlite", false, rowsGone},
}

// spread gives at most most of n numbers from 0, evenly.
func spread(n, most int) []int {
	var out []int
	for i := range min(n, most) {
		out = append(out, i*n/min(n, most))
	}
	return out
}

// as writes the file anew.
func (v *victim) as(data []byte) func() error { return func() error { return v.put(data) } }

// mine says of messages whether they stand in the victim itself.
func (v *victim) mine(s said) bool {
	return s.file == v.path || strings.HasPrefix(s.pointer, v.path) || v.container == "packed"
}

// body is what a message says.
func (s said) body() string {
	_, body, _ := strings.Cut(s.key, ": ")
	return body
}

// inDocument is the JSON pointer of a message.
func (s said) inDocument() string {
	if _, pointer, ok := strings.Cut(s.pointer, "#"); ok {
		return pointer
	}
	return s.pointer
}

// reads says of messages whether they come of a file for which the victim is read.
func (v *victim) reads(s said) bool {
	for _, f := range v.readers {
		if f.Path == s.file {
			return true
		}
	}
	return false
}

// inLines says of messages whether they stand in lines from..to, counted from 1. In a text a
// message may reach over several lines, and take in what follows it.
func (v *victim) inLines(from, to int) func(said) bool {
	if v.container == "replay" {
		return func(said) bool { return false } // removal tells
	}
	if v.container == "text" {
		before, behind := 0, to
		for _, s := range v.whole.said {
			if s.line < from { // a line that begins a message may come to belong to the one before
				before = max(before, s.line)
			}
			if s.line > to && (behind == to || s.line < behind) {
				behind = s.line
			}
		}
		from, to = before, behind
	}
	return func(s said) bool { return s.file == v.path && s.line >= from && s.line <= to }
}

// inBytes is inLines for bytes from..to of any container.
func (v *victim) inBytes(from, to int) func(said) bool {
	switch v.container {
	case "jsonl", "replay", "text":
		first, last := 0, 0
		for i, l := range v.lines {
			if l.from <= from {
				first = i + 1
			}
			if l.from < to {
				last = i + 1
			}
			// A line end that is overwritten joins two lines.
			if l.to >= from && l.to < to && i+1 < len(v.lines) {
				last = i + 2
			}
		}
		return v.inLines(first, last)
	case "json":
		if !v.own {
			return v.mine
		}
		places := map[string]field{}
		for _, f := range fieldsOf(v.data) {
			places[f.pointer()] = f
		}
		return func(s said) bool {
			if !v.mine(s) {
				return false
			}
			// The pointer of a part of a document begins at the part, and what a message says may
			// stand elsewhere in the document than its record.
			if head, _, _ := strings.Cut(s.body(), "\n"); head != "" && bytes.Contains(v.data[from:to], []byte(head)) {
				return true
			}
			pointer, known := s.inDocument(), false
			for at, f := range places {
				if pointer != "" && strings.HasSuffix(at, pointer) {
					if known = true; f.to > from && f.from < to {
						return true
					}
				}
			}
			return !known
		}
	case "log":
		return v.reads
	}
	return v.mine
}

// withoutLines removes lines from..to, counted from 1.
func (v *victim) withoutLines(from, to int) func() error {
	if v.container == "json" || from < 1 {
		return nil
	}
	end := len(v.data)
	if to < len(v.lines) {
		end = v.lines[to].from
	}
	return v.as(splice(v.data, v.lines[from-1].from, end, ""))
}

func (v *victim) onLine(n int, with string) damage {
	l := v.lines[n-1]
	return damage{place: fmt.Sprintf("line %d", n), do: v.as(splice(v.data, l.from, l.to, with)), touched: v.inLines(n, n), removal: v.withoutLines(n, n)}
}

func cuts(r *run, v *victim) []damage {
	most := r.places * cutPlaces
	if r.opts.EveryByte && r.least[v.container] == v {
		most = len(v.data)
	}
	var out []damage
	for _, n := range spread(len(v.data), most) {
		d := damage{place: fmt.Sprintf("byte %d", n), do: v.as(v.data[:n]), refusable: v.container == "json", touched: v.inBytes(n, len(v.data)), quiet: len(bytes.TrimSpace(v.data[:n])) == 0}
		if strings.Contains(lines, v.container) {
			d.quiet = v.container == "text"
			for i, l := range v.lines {
				if n == l.from || n == l.to {
					d.quiet = true
				}
				if l.from <= n && n < l.to {
					d.touched, d.removal = v.inLines(i+1, len(v.lines)), v.as(v.data[:l.from])
				}
				if n == l.to && v.container != "text" {
					d.touched, d.removal = v.inLines(i+2, len(v.lines)), v.as(v.data[:l.to])
				}
			}
		}
		if !v.own {
			d.removal = v.remove
		}
		out = append(out, d)
	}
	return out
}

func (v *victim) remove() error { return os.Remove(v.path) }

func nulTail(r *run, v *victim) []damage {
	d := damage{place: "the end", do: v.as(append(bytes.Clone(v.data), make([]byte, 4096)...))}
	if v.container == "json" || v.container == "text" {
		d.touched = v.inBytes(len(v.data)-1, len(v.data))
		d.quiet = v.container == "text"
	}
	if !v.own {
		d.removal = v.remove
	}
	return []damage{d}
}

func nulBlocks(r *run, v *victim) []damage {
	var out []damage
	size := min(64, len(v.data))
	if v.container == "sqlite" {
		size = 512
	}
	for _, at := range spread(len(v.data)-size+1, r.places) {
		data := bytes.Clone(v.data)
		clear(data[at : at+size])
		if bytes.Equal(data, v.data) {
			continue
		}
		d := damage{place: fmt.Sprintf("byte %d", at), do: v.as(data), touched: v.inBytes(at, at+size), quiet: v.container != "jsonl" && v.container != "json", refusable: v.container == "json"}
		if strings.Contains(lines, v.container) {
			first, last := 0, 0
			for i, l := range v.lines {
				if l.from <= at {
					first = i + 1
				}
				if l.from < at+size {
					last = i + 1
				}
				if l.to >= at && l.to < at+size && i+1 < len(v.lines) {
					last = i + 2
				}
			}
			d.removal = v.withoutLines(first, last)
		}
		if v.container == "json" { // what stands behind it cannot be told from what is in it
			d.touched = v.inBytes(at, len(v.data))
		}
		if !v.own {
			d.removal = v.remove
		}
		out = append(out, d)
	}
	return out
}

func doubled(r *run, v *victim) []damage {
	var out []damage
	for _, i := range spread(len(v.lines), r.places) {
		l := v.lines[i]
		line := string(v.data[l.from:l.to]) + "\n"
		d := damage{place: fmt.Sprintf("line %d", i+1), do: v.as(splice(v.data, l.from, l.from, line))}
		if v.container == "text" {
			d.touched, d.quiet = v.inLines(i+1, i+1), true
		}
		if v.container == "replay" {
			d.touched = v.mine // the same edit twice is another document
		}
		out = append(out, d)
	}
	return out
}

func swapped(r *run, v *victim) []damage {
	var out []damage
	for _, i := range spread(len(v.lines)-1, r.places) {
		a, b := v.lines[i], v.lines[i+1]
		both := string(v.data[b.from:b.to]) + "\n" + string(v.data[a.from:a.to])
		d := damage{place: fmt.Sprintf("line %d", i+1), do: v.as(splice(v.data, a.from, b.to, both)), removal: v.withoutLines(i+1, i+2), quiet: true}
		if v.container == "text" {
			d.touched = v.inLines(i+1, i+2)
		}
		if v.container == "replay" {
			d.touched = v.mine
		}
		out = append(out, d)
	}
	return out
}

func overwritten(r *run, v *victim) []damage {
	var out []damage
	for _, i := range spread(len(v.lines)-1, r.places) {
		a, b := v.lines[i], v.lines[i+1]
		out = append(out, damage{place: fmt.Sprintf("line %d", i+1), do: v.as(splice(v.data, (a.from+a.to)/2, b.from, "")),
			touched: v.inLines(i+1, i+2), removal: v.withoutLines(i+1, i+2), quiet: v.container == "text" || a.to-a.from < 2})
	}
	return out
}

func crlf(r *run, v *victim) []damage {
	return []damage{{place: "all lines", do: v.as(bytes.ReplaceAll(v.data, []byte("\n"), []byte("\r\n")))}}
}

func bom(r *run, v *victim) []damage {
	if bytes.HasPrefix(v.data, []byte("\xef\xbb\xbf")) {
		return nil
	}
	return []damage{{place: "byte 0", do: v.as(append([]byte("\xef\xbb\xbf"), v.data...))}}
}

// A part is a whole JSON text in a victim: a line, or the document.
type part struct {
	at   int // in the file
	line int // 0: the document
	data []byte
}

func (v *victim) parts() []part {
	if v.container == "json" {
		return []part{{data: v.data}}
	}
	var out []part
	for i, l := range v.lines {
		out = append(out, part{l.from, i + 1, v.data[l.from:l.to]})
	}
	return out
}

// A spot is a field of a part.
type spot struct {
	part
	field
}

func (v *victim) spots(want func(part, field) bool) []spot {
	var out []spot
	for _, p := range v.parts() {
		for _, f := range fieldsOf(p.data) {
			if want(p, f) {
				out = append(out, spot{p, f})
			}
		}
	}
	return out
}

// some picks spots evenly.
func some[T any](list []T, most int) []T {
	var out []T
	for _, i := range spread(len(list), most) {
		out = append(out, list[i])
	}
	return out
}

// onSpot replaces a range of a part in which a field stands.
func (v *victim) onSpot(s spot, from, to int, with string) damage {
	d := damage{place: s.pointer(), do: v.as(splice(v.data, s.at+from, s.at+to, with))}
	if s.line > 0 {
		d.place = fmt.Sprintf("line %d %s", s.line, s.pointer())
		d.touched, d.removal = v.inLines(s.line, s.line), v.withoutLines(s.line, s.line)
		return d
	}
	inside := v.inBytes(s.at+s.from, s.at+s.to)
	d.touched = func(m said) bool {
		return v.mine(m) && (m.inDocument() == "" || !v.own || inside(m))
	}
	if s.key {
		d.removal = v.as(splice(v.data, s.at+s.cut, s.at+s.until, ""))
	}
	if !v.own {
		d.removal = v.remove
	}
	return d
}

func (r *run) fields(v *victim, want func(part, field) bool) []spot {
	return some(v.spots(want), r.places*fieldPlaces)
}

func isText(p part, f field) bool { return p.data[f.from] == '"' }
func isNumber(p part, f field) bool {
	return bytes.IndexByte([]byte("-0123456789"), p.data[f.from]) >= 0
}
func isMember(_ part, f field) bool { return f.key }

func notUTF8(r *run, v *victim) []damage {
	var out []damage
	if v.container == "text" {
		for _, i := range spread(len(v.lines), r.places) {
			l := v.lines[i]
			d := v.onLine(i+1, string(v.data[l.from:l.to])+"\xff\xc0")
			d.quiet = true
			out = append(out, d)
		}
		return out
	}
	for _, s := range some(v.spots(isText), r.places) {
		d := v.onSpot(s, s.from+1, s.from+1, "\xff")
		d.quiet = true
		out = append(out, d)
	}
	return out
}

func surrogates(r *run, v *victim) []damage {
	var out []damage
	for _, s := range some(v.spots(isText), r.places) {
		d := v.onSpot(s, s.from+1, s.from+1, `\ud83d`)
		d.quiet = true
		out = append(out, d)
	}
	return out
}

func textNumbers(r *run, v *victim) []damage {
	var out []damage
	all, moved := v.data, 0
	numbers := v.spots(isNumber)
	for _, s := range numbers {
		all = splice(all, s.at+s.from+moved, s.at+s.to+moved, `"`+string(s.data[s.from:s.to])+`"`)
		moved += 2
	}
	if len(numbers) > 0 {
		out = append(out, damage{place: "all of them", do: v.as(all), refusable: true})
	}
	for _, s := range some(numbers, r.places) {
		d := v.onSpot(s, s.from, s.to, `"`+string(s.data[s.from:s.to])+`"`)
		d.refusable = true
		out = append(out, d)
	}
	for i := range out {
		// What a tool was given, or gave, is JSON as well.
		out[i].alike = func(key string) string { return quotedNumber.ReplaceAllString(key, "$1") }
	}
	return out
}

var quotedNumber = regexp.MustCompile(`\\?"(-?[0-9][0-9.eE+-]*)\\?"`)

func nulls(r *run, v *victim) []damage {
	var out []damage
	for _, s := range r.fields(v, func(p part, f field) bool { return p.data[f.from] != 'n' }) {
		d := v.onSpot(s, s.from, s.to, "null")
		d.refusable = true
		d.quiet = true // null is absent, which a field may be
		out = append(out, d)
	}
	return out
}

func missings(r *run, v *victim) []damage {
	var out []damage
	for _, s := range r.fields(v, isMember) {
		d := v.onSpot(s, s.cut, s.until, "")
		d.quiet, d.refusable = true, true
		out = append(out, d)
	}
	return out
}

func otherTypes(r *run, v *victim) []damage {
	var out []damage
	for i, s := range r.fields(v, func(part, field) bool { return true }) {
		values := others(s.data[s.from:s.to])
		d := v.onSpot(s, s.from, s.to, values[i%len(values)])
		d.quiet, d.refusable = true, true
		d.place += " " + values[i%len(values)]
		out = append(out, d)
	}
	return out
}

// objects are the places behind the opening brackets of objects.
func (v *victim) objects() []spot {
	out := v.spots(func(p part, f field) bool { return p.data[f.from] == '{' })
	for _, p := range v.parts() {
		if at := spaces(p.data, 0); at < len(p.data) && p.data[at] == '{' && json.Valid(p.data) {
			out = append(out, spot{p, field{from: at, to: len(p.data)}})
		}
	}
	slices.SortFunc(out, func(a, b spot) int { return a.at + a.from - b.at - b.from })
	return out
}

const newField = `"zz_new":{"a":[1,null,"x"]}`

func newFields(r *run, v *victim) []damage {
	add := func(s spot, text string) string {
		if at := spaces(s.data, s.from+1); s.data[at] == '}' {
			return text
		}
		return text + ","
	}
	var out []damage
	all, moved := v.data, 0
	objects := v.objects()
	for _, s := range objects {
		text := add(s, newField)
		at := s.at + s.from + 1 + moved
		all = splice(all, at, at, text)
		moved += len(text)
	}
	if len(objects) > 0 {
		out = append(out, damage{place: "every object", do: v.as(all), added: newField})
	}
	for _, s := range some(objects, r.places) {
		d := v.onSpot(s, s.from+1, s.from+1, add(s, newField))
		d.touched, d.removal, d.added = nil, nil, newField
		out = append(out, d)
	}
	return out
}

// strangers are records that nobody knows; the ones that are no objects must be counted.
var strangers = []string{`{"type":"zz_new","zz":1}`, `{}`, `[]`, `null`, `7`, `"zz"`}

func newRecords(r *run, v *victim) []damage {
	var out []damage
	if v.container == "json" {
		arrays := v.spots(func(p part, f field) bool {
			first := spaces(p.data, f.from+1)
			return p.data[f.from] == '[' && p.data[first] == '{'
		})
		for n, s := range some(arrays, r.places) {
			what := strangers[n%len(strangers)]
			for _, at := range []struct {
				place int
				text  string
			}{{s.from + 1, what + ","}, {s.to - 1, "," + what}} {
				// Inside of a record it becomes a part of a message.
				d := v.onSpot(s, at.place, at.place, at.text)
				d.quiet, d.refusable = true, true
				d.place += " " + what
				out = append(out, d)
			}
		}
		return out
	}
	for n, i := range spread(len(v.lines)+1, r.places) {
		at := len(v.data)
		if i < len(v.lines) {
			at = v.lines[i].from
		}
		what := strangers[n%len(strangers)]
		text := what + "\n"
		if at > 0 && v.data[at-1] != '\n' {
			text = "\n" + text
		}
		out = append(out, damage{place: fmt.Sprintf("line %d %s", i+1, what), do: v.as(splice(v.data, at, at, text)), counted: true})
	}
	return out
}

func deeps(r *run, v *victim) []damage {
	nested := strings.Repeat(`{"a":[`, nestedDepth/2) + strings.Repeat(`]}`, nestedDepth/2)
	var out []damage
	for _, s := range some(v.objects(), 3) {
		text := `"zz_deep":` + nested
		comma := ","
		if at := spaces(s.data, s.from+1); s.data[at] == '}' {
			comma = ""
		}
		d := v.onSpot(s, s.from+1, s.from+1, text+comma)
		d.touched, d.removal, d.added = nil, nil, text
		out = append(out, d)
	}
	for _, s := range some(v.spots(isMember), 6) {
		d := v.onSpot(s, s.from, s.to, nested)
		d.quiet, d.refusable = true, true
		out = append(out, d)
	}
	if v.container != "json" {
		for _, i := range spread(len(v.lines), 2) {
			at := v.lines[i].from
			for _, text := range []string{nested, nested[:len(nested)/2]} {
				out = append(out, damage{place: fmt.Sprintf("line %d", i+1), do: v.as(splice(v.data, at, at, text+"\n")), counted: true})
			}
		}
	}
	return out
}

func longs(r *run, v *victim) []damage {
	if r.longest != v {
		return nil
	}
	text := strings.Repeat("heron ", longLineBytes/6)
	if v.container != "json" {
		return []damage{{place: "line 1", do: v.as(splice(v.data, 0, 0, `{"type":"zz_long","zz":"`+text+"\"}\n")), counted: true}}
	}
	for _, s := range v.objects() {
		if at := spaces(s.data, s.from+1); s.data[at] == '}' {
			continue
		}
		d := v.onSpot(s, s.from+1, s.from+1, `"zz_long":"`+text+`",`)
		d.touched, d.removal, d.added = nil, nil, `"zz_long":"`+text+`"`
		return []damage{d}
	}
	return nil
}

func empties(r *run, v *victim) []damage {
	return []damage{{place: "all of it", do: v.as(nil), touched: v.reads, quiet: true}}
}

func otherFiles(r *run, v *victim) []damage {
	var out []damage
	for _, other := range []struct{ place, text string }{
		{"a picture", "\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR" + strings.Repeat("\x07\xf3", 400)},
		{"HTML", "<!DOCTYPE html>\n<html><body>{\"no\": \"json\"}</body></html>\n"},
		{"another packing", "\x1f\x8b\x08\x00\x00\x00\x00\x00"},
		{"a list of numbers", "[1,2,3]"},
		{"UTF-16", "\xff\xfe{\x00\"\x00a\x00\"\x00:\x001\x00}\x00\n\x00"},
	} {
		out = append(out, damage{place: other.place, do: v.as([]byte(other.text)), touched: v.reads, quiet: !v.own || v.container == "text"})
	}
	return out
}

func gone(r *run, v *victim) []damage {
	return []damage{{place: "the file", do: v.remove, touched: v.reads, quiet: true}}
}

// instead puts another thing in the file's place.
func (v *victim) instead(place string, put func(path string) error) []damage {
	return []damage{{place: place, do: func() error {
		if err := os.Remove(v.path); err != nil {
			return err
		}
		return put(v.path)
	}, touched: v.reads, quiet: !v.own}}
}

func folders(r *run, v *victim) []damage {
	return v.instead("the file", func(path string) error { return os.Mkdir(path, 0o700) })
}

func devices(r *run, v *victim) []damage {
	return v.instead("the file", func(path string) error {
		if _, err := os.Stat("/dev/zero"); err != nil {
			return errNotHere
		}
		return os.Symlink("/dev/zero", path)
	})
}

func loops(r *run, v *victim) []damage {
	return v.instead("the file", func(path string) error { return symlink(filepath.Base(path), path) })
}

// symlink is errNotHere where links take a right that few have.
func symlink(to, path string) error {
	if err := os.Symlink(to, path); err != nil {
		return errNotHere
	}
	return nil
}

// linksOut: a link to a file is followed, wherever it leads.
func linksOut(r *run, v *victim) []damage {
	away, err := os.MkdirTemp("", "parlance-away-")
	if err != nil {
		return nil
	}
	to := filepath.Join(away, filepath.Base(v.path))
	ds := v.instead("the file", func(path string) error {
		if err := os.WriteFile(to, v.data, 0o600); err != nil {
			return err
		}
		for _, beside := range []string{"-wal", "-journal"} {
			if data, err := os.ReadFile(path + beside); err == nil {
				if err := os.WriteFile(to+beside, data, 0o600); err != nil {
					return err
				}
			}
		}
		return symlink(to, path)
	})
	ds[0].undo = func() error { return os.RemoveAll(away) }
	if v.own {
		ds[0].touched = nil
	}
	return ds
}

// foldersOut: a link to a folder may lead out of what a mapping may read.
func foldersOut(r *run, v *victim) []damage {
	dir := filepath.Dir(v.path)
	if dir == r.t.Dir || !v.own {
		return nil
	}
	away, err := os.MkdirTemp("", "parlance-away-")
	if err != nil {
		return nil
	}
	to := filepath.Join(away, filepath.Base(dir))
	return []damage{{place: "its folder", do: func() error {
		if err := os.Rename(dir, to); err != nil {
			return errNotHere // another file system
		}
		return symlink(to, dir)
	}, undo: func() error {
		os.Remove(dir)
		if _, err := os.Stat(to); err == nil {
			if err := os.Rename(to, dir); err != nil {
				return err
			}
		}
		return os.RemoveAll(away)
	}, touched: func(s said) bool {
		return strings.HasPrefix(s.file, dir) || strings.HasPrefix(s.pointer, dir) || v.reads(s) || r.decodes()
	}, quiet: true}}
}

func forbidden(r *run, v *victim) []damage {
	return []damage{{place: "the file", do: func() error {
		if os.Geteuid() <= 0 { // root reads everything; Windows knows no such thing
			return errNotHere
		}
		return os.Chmod(v.path, 0)
	}, touched: v.reads, quiet: !v.own}}
}

func future(r *run, v *victim) []damage {
	at := time.Date(2126, 1, 1, 0, 0, 0, 0, time.UTC)
	return []damage{{place: "the file", do: func() error { return os.Chtimes(v.path, at, at) }}}
}

// apart is what stands between the lines of a file that changes while it is read, so that it
// is read in several pieces.
const apart = 300 << 10

// while makes damages that happen in the middle of a reading. at is the place in the file up
// to which everything was read by then.
func (r *run) while(v *victim, what func(at int) error, touched func(line int) func(said) bool) []damage {
	switch v.container {
	case "jsonl":
		whole := 0
		for i := range v.lines {
			if len(fieldsOf(v.line(i+1))) > 0 {
				whole++
			}
		}
		if whole < 2 || !v.own {
			return nil
		}
		// The nth line that is handed over: blank ones are not.
		n, line := 0, 0
		for i := range v.lines {
			if len(bytes.TrimSpace(v.line(i+1))) > 0 {
				if n++; n == (whole+1)/2 {
					line = i + 1
				}
			}
		}
		var b bytes.Buffer
		var ends []int
		for i := range v.lines {
			b.Write(v.line(i + 1))
			b.WriteByte('\n')
			ends = append(ends, b.Len())
			if i < 12 || i+1 == line {
				b.Write(bytes.Repeat([]byte(" "), apart))
				b.WriteByte('\n')
			}
		}
		return []damage{{place: fmt.Sprintf("line %d", line), do: v.as(b.Bytes()), nth: (whole + 1) / 2,
			during: func() error { return what(ends[line-1]) }, touched: func(s said) bool { return touched != nil && touched(line)(s) }}}
	case "sqlite":
		return []damage{{place: "row 1", do: func() error { return nil }, nth: 1, during: func() error { return what(len(v.data) / 2) }, touched: v.reads, quiet: true}}
	}
	return nil
}

func grows(r *run, v *victim) []damage {
	return r.while(v, func(int) error {
		f, err := os.OpenFile(v.path, os.O_APPEND|os.O_WRONLY, 0)
		if err != nil {
			return err
		}
		_, err = f.WriteString(strings.Repeat("{\"type\":\"zz_new\"}\n", 100))
		return errors.Join(err, f.Close())
	}, nil)
}

func shrinks(r *run, v *victim) []damage {
	ds := r.while(v, func(at int) error { return os.Truncate(v.path, int64(at)) }, func(line int) func(said) bool { return v.inLines(line+1, len(v.lines)) })
	for i := range ds {
		ds[i].counted = v.container == "jsonl"
	}
	return ds
}

func replaced(r *run, v *victim) []damage {
	return r.while(v, func(int) error {
		next := v.path + ".next"
		if err := os.WriteFile(next, []byte("{}\n"), 0o600); err != nil {
			return err
		}
		return os.Rename(next, v.path)
	}, nil)
}

func vanishes(r *run, v *victim) []damage {
	return r.while(v, func(int) error { return os.Remove(v.path) }, nil)
}
