package mapping

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"parlance/internal/chat"
	"parlance/internal/source"
)

// A decoder turns a store whose conversations are spread over several files into JSON
// records and nothing more: roles, clean-up, tests and explain stay in the mapping. It is
// the one escape hatch of the language.
type decoder struct {
	// options are the names that options may hold, each with a check of its value.
	options map[string]func(value string) error
	// verbatim: the records stand in the bytes of the group's files as they are, and doc:id is
	// the id of the group.
	verbatim bool
	// groups says which files of the store are one conversation, and what is wrong with those
	// that belong to none. Find calls it: it should look no further into a file than it must.
	groups func(ctx context.Context, st *store) ([]group, []FindError)
	// decode hands over what the files of a group hold, in the order of the conversation. What
	// cannot be read is told to out; the error is that of ctx.
	decode func(ctx context.Context, g group, out *decoding) error
}

func isRegexp(s string) error {
	_, err := regexp.Compile(s)
	return err
}

// A store is what a decoder sees: the files that its source's patterns found, in order, and
// the source's options. A decoder only reads.
type store struct {
	files   []string
	options map[string]string
}

// A group is one conversation of a store.
type group struct {
	id     string
	key    string   // what the store itself calls it
	files  []string // that hold it; the first stands for the rest
	beside []string // that tell of it as of others: an index
}

// nameOf is the name of a file, without the ending of a packed one.
func nameOf(path string) string { return unpackedName(filepath.Base(path)) }

// until reads a file from its beginning until one of the patterns is found, or all of it.
func (st *store) until(ctx context.Context, path string, found ...*regexp.Regexp) ([]byte, error) {
	f, err := source.Open(path)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil // it has vanished meanwhile
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var data []byte
	for n := 4096; ctx.Err() == nil && len(data) < untilMaxBytes; n *= 2 {
		data = slices.Grow(data, n)
		got, err := io.ReadFull(f, data[len(data):len(data)+n])
		data = data[:len(data)+got]
		if err != nil || slices.ContainsFunc(found, func(re *regexp.Regexp) bool { return re.Match(data) }) {
			break
		}
	}
	return data, nil
}

// untilMaxBytes is what a document may have at most, too.
const untilMaxBytes = source.DocumentMaxBytes

// united makes one File of the files that a decoder takes for one conversation: its path is
// that of the first, its time that of the newest, its size that of all.
func (m *Mapping) united(ctx context.Context, files []File) ([]File, []FindError) {
	var errs []FindError
	some := false
	for i, src := range m.Sources {
		d, ok := decoders[src.Decoder]
		if !ok {
			continue
		}
		some = true
		parts := map[string]File{}
		st := &store{options: src.Options}
		files = slices.DeleteFunc(files, func(f File) bool {
			if !slices.Contains(f.Sources, i) {
				return false
			}
			parts[f.Path] = f
			st.files = append(st.files, f.Path)
			return true
		})
		slices.Sort(st.files)
		groups, problems := d.groups(ctx, st)
		errs = append(errs, problems...)
		for _, g := range groups {
			f := parts[g.files[0]]
			f.Sources, f.groups, f.Size = []int{i}, []group{g}, 0
			for _, path := range g.files {
				part := parts[path]
				f.Size += part.Size
				if part.ModTime.After(f.ModTime) {
					f.ModTime = part.ModTime
				}
			}
			files = append(files, f)
		}
	}
	if !some {
		return files, nil
	}
	slices.SortFunc(files, func(a, b File) int {
		return cmp.Or(b.ModTime.Compare(a.ModTime), cmp.Compare(a.Path, b.Path))
	})
	return files, errs
}

// whole is the File that f is a part of, if it lies where a decoder's files do; else f.
func (m *Mapping) whole(ctx context.Context, env Env, f File) File {
	if slices.ContainsFunc(f.Sources, func(i int) bool { return m.Sources[i].Decoder != "" }) {
		files, _ := m.Find(ctx, env)
		for _, u := range files {
			if slices.Contains(u.Parts(), f.Path) {
				return u
			}
		}
	}
	return f
}

// A decoding takes the records of one group.
type decoding struct {
	*store
	rd     *reading
	s      *session
	notes  []string
	failed []string
	cut    map[string]string // by path: files of which only the beginning is there, and where that ends
}

// document reads a file that holds one JSON object or array, or what one that was cut off
// holds up to there; nil if it has none. What is wrong is noted, if this is the first time.
func (d *decoding) document(ctx context.Context, path string, first bool) (*value, *arena) {
	a := &arena{}
	data, err := source.ReadAll(ctx, path)
	text := string(data)
	v, ok := parseRecord(text, a)
	if ok {
		return v, a
	}
	v, ok = parseRecord(closed(text), a)
	switch {
	case !first:
	case ok:
		d.rd.torn = true
		d.cut[path] = path + ": " + whereBroken(text)
	case err != nil:
		d.broken(err.Error())
	case strings.TrimSpace(text) != "":
		d.broken(path + ": not one whole JSON document: " + whereBroken(text))
	}
	if !ok {
		return nil, a
	}
	return v, a
}

// broken says that a file cannot be read.
func (d *decoding) broken(why string) {
	d.failed = append(d.failed, why)
	d.rd.fail(0, why)
}

// begin comes before the first record. doc is what doc: reads, one JSON object.
func (d *decoding) begin(doc string) {
	v, _ := parseObject(doc, &d.rd.docs)
	d.rd.saw(doc)
	d.s = d.rd.begin(v, 1)
	for _, note := range d.notes {
		d.s.main.warn("%s", note)
	}
}

// record takes one JSON object, and where it stood: a file, and a JSON pointer in it.
func (d *decoding) record(raw, path, pointer string) {
	d.rd.saw(raw)
	d.rd.a.reset()
	if v, ok := parseObject(raw, &d.rd.a); ok {
		d.s.record(v, raw, chat.Origin{Pointer: path + "#" + pointer})
	}
}

// saw shows what a decoder made to who wants to know.
func (rd *reading) saw(raw string) {
	if rd.decoded != nil {
		rd.decoded(raw)
	}
}

// runDecoder reads a file's groups through the source's decoder. A file that Find did not put
// together with others, because it was copied from its place, is a store by itself.
func (rd *reading) runDecoder(ctx context.Context) (bool, error) {
	d, ok := decoders[rd.src.Decoder]
	if !ok {
		return false, fmt.Errorf("%s: decoder %q is not known", rd.file.Path, rd.src.Decoder)
	}
	st := &store{files: rd.file.Parts(), options: rd.src.Options}
	groups := rd.file.groups
	if groups == nil {
		groups, _ = d.groups(ctx, st)
	}
	accepted := false
	for _, g := range groups {
		row := ""
		if len(groups) > 1 {
			row = g.id
		}
		if !rd.opts.wants(row) {
			continue
		}
		out := &decoding{store: st, rd: rd, cut: map[string]string{}}
		if err := d.decode(ctx, g, out); err != nil {
			return accepted, err
		}
		if out.s == nil && len(out.failed) > 0 {
			return accepted, fmt.Errorf("%s: nothing of it can be read: %s", rd.file.Path, strings.Join(out.failed, "; "))
		}
		if out.s != nil && len(out.cut) > 0 && out.s.said() == 0 {
			return accepted, fmt.Errorf("%s: no message stands before its end: %s", rd.file.Path, strings.Join(slices.Sorted(maps.Values(out.cut)), "; "))
		}
		if out.s == nil {
			continue
		}
		accepted = true
		if err := out.s.end(ctx, row, g.id); err != nil {
			return accepted, err
		}
		rd.fails, rd.torn = nil, false
	}
	return accepted, nil
}
