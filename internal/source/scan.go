package source

import (
	"context"
	"encoding/binary"
	"io"
	"slices"
	"sync"
)

// A Needle is what Scan looks for: bytes, compared without regard to ASCII case. With Fold,
// a k or s in Text also matches U+212A (the Kelvin sign) or U+017F (the long s), the two
// characters outside ASCII that fold into it, in UTF-8 or as a JSON escape.
type Needle struct {
	Text string
	Fold bool
}

// Scan reports, for each needle, whether it occurs in the unpacked bytes of a file. It stops
// as soon as every needle was seen. Memory is a few hundred KiB and the longest needle,
// whatever the file's size. Beside an error stands what was found before it.
func Scan(ctx context.Context, path string, needles []Needle) ([]bool, error) {
	found := make([]bool, len(needles))
	finders := make([]*finder, len(needles))
	for i, n := range needles {
		finders[i] = newFinder(n.Text, n.Fold, &found[i])
	}
	f, err := Open(path)
	if err != nil {
		return found, err
	}
	defer f.Close()
	return found, scan(ctx, f, finders)
}

// SQLite writes a text piecewise: what a row's own page has no room for goes to further
// pages, which hold 476 bytes or more and are filled to the end. So a text of less lies on
// two pages at most, and one of its halves on one. The first splitMaxBytes of a needle are
// that short even if each is an escaped s. Halves of a needle below splitMinBytes occur in
// any database.
const (
	splitMaxBytes = 476 / len(`\u017f`)
	splitMinBytes = 6
)

// ScanDB is Scan over a database, its WAL and its journal, exact for texts that SQLite splits
// over pages: a needle counts as present if one of its halves is. true may be wrong, false
// never is. It is always true for needles below 6 bytes and for databases that hold UTF-16.
func ScanDB(ctx context.Context, path string, needles []Needle) ([]bool, error) {
	found := make([]bool, len(needles))
	var finders []*finder
	for i, n := range needles {
		if found[i] = len(n.Text) < splitMinBytes; found[i] {
			continue
		}
		text := n.Text[:min(len(n.Text), splitMaxBytes)]
		for _, half := range []string{text[:len(text)/2], text[len(text)/2:]} {
			finders = append(finders, newFinder(half, n.Fold, &found[i]))
		}
	}
	db, _, err := openRegular(path)
	if err != nil {
		return found, err
	}
	defer db.Close()
	encoding := make([]byte, 4)
	if _, err := db.ReadAt(encoding, 56); err != nil || binary.BigEndian.Uint32(encoding) != 1 {
		for i := range found { // UTF-16, or a header that is only in the WAL
			found[i] = true
		}
		return found, nil
	}
	// In this order because rows move from the WAL to the database, and from there to the
	// journal, while we read.
	base := behindLinks(path)
	for _, suffix := range []string{"-wal", "", "-journal"} {
		f, err := openBeside(base + suffix)
		if f == nil && err == nil {
			continue
		}
		if err == nil {
			err = scan(ctx, f, finders)
			f.Close()
		}
		if err != nil {
			return found, inForm(base+suffix, err)
		}
	}
	return found, nil
}

// A Finder tells pieces of text that hold one of several needles.
type Finder struct{ finders []*finder }

// NewFinder prepares a Finder. It may be used by one goroutine at a time.
func NewFinder(needles []Needle) *Finder {
	var f Finder
	for _, n := range needles {
		f.finders = append(f.finders, newFinder(n.Text, n.Fold, new(bool)))
	}
	return &f
}

// In reports whether one of the needles occurs in p.
func (f *Finder) In(p []byte) bool {
	return slices.ContainsFunc(f.finders, func(f *finder) bool { return f.in(p) })
}

var pieces = sync.Pool{New: func() any { b := make([]byte, pieceBytes+pieceOverlap); return &b }}

// pieceOverlap is the room for the end of the piece before, enough for most needles.
const pieceOverlap = 4 << 10

// scan runs finders over r until each has found its text.
func scan(ctx context.Context, r io.Reader, finders []*finder) error {
	pooled := pieces.Get().(*[]byte)
	defer pieces.Put(pooled)
	if need := overlap(finders); need > pieceOverlap {
		return scanPieces(ctx, r, finders, make([]byte, need+pieceBytes))
	}
	return scanPieces(ctx, r, finders, *pooled)
}

// overlap is how much of a piece must be looked at again with the next one.
func overlap(finders []*finder) (n int) {
	for _, f := range finders {
		n = max(n, f.most-1)
	}
	return n
}

func scanPieces(ctx context.Context, r io.Reader, finders []*finder, buf []byte) error {
	kept, end := overlap(finders), 0
	for {
		finders = slices.DeleteFunc(slices.Clone(finders), func(f *finder) bool { return *f.found })
		if len(finders) == 0 {
			return nil
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		n, err := io.ReadFull(r, buf[end:])
		end += n
		for _, f := range finders {
			*f.found = *f.found || f.in(buf[:end])
		}
		if err != nil {
			return ignoreEOF(err)
		}
		end = copy(buf, buf[max(0, end-kept):end])
	}
}
