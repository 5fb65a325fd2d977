package mapping

import (
	"context"
	"fmt"

	"parlance/internal/chat"
)

// A decoder turns a store's file into JSON records and nothing more: roles, clean-up, tests
// and explain stay in the mapping. It is the one escape hatch of the language.
type decoder struct {
	options []string // the names that options may hold
	decode  func(ctx context.Context, path string, options map[string]string, emit func(decoded) error) error
}

// decoded is one conversation of a decoder: its id, what doc: reads, and its records.
type decoded struct {
	id      string
	doc     string // one JSON object, "" = none
	records []decodedRecord
}

type decodedRecord struct {
	raw    string // one JSON object
	origin chat.Origin
}

// decoders is the table that `decoder: NAME` is looked up in.
var decoders = map[string]decoder{}

// runDecoder reads a file through the source's decoder.
func (rd *reading) runDecoder(ctx context.Context) (bool, error) {
	d, ok := decoders[rd.src.Decoder]
	if !ok {
		return false, fmt.Errorf("%s: decoder %q is not known", rd.file.Path, rd.src.Decoder)
	}
	accepted := false
	err := d.decode(ctx, rd.file.Path, rd.src.Options, func(c decoded) error {
		var doc *value
		if c.doc != "" {
			doc, _ = parseObject(c.doc, &rd.docs)
		}
		accepted = true
		s := rd.begin(doc, 1)
		for _, rec := range c.records {
			rd.a.reset()
			v, ok := parseObject(rec.raw, &rd.a)
			if !ok {
				rd.fail(rec.origin.Line, "not one whole JSON object")
				continue
			}
			s.record(v, rec.raw, rec.origin)
		}
		err := s.end(ctx, c.id, c.id)
		rd.fails = nil
		return err
	})
	return accepted, err
}
