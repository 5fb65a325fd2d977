package source

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
)

// gapMaxBytes bounds what Ends searches between the ends: a twentieth of a second's work.
const gapMaxBytes = 64 << 20

// Ends calls fn, as Lines does, for the lines that begin in the first n bytes of a file, then
// for those that begin in the last n; for one at least at each end, however long it is. Of
// those between, the lines that hold one of the needles are handed over in their place, unless
// the gap is larger than gapMaxBytes. Behind the first gap N is 0. ok is false, and nothing was
// done, if the file is packed or has no gap. fn must not call it, nor LinesInTurn.
func Ends(ctx context.Context, path string, n int64, between []Needle, fn func(Line) error) (ok bool, err error) {
	f, err := Open(path)
	if err != nil {
		return false, err
	}
	defer f.Close()
	size := f.Size()
	if f.unpack != io.Reader(f.file) || size <= 2*n {
		return false, nil
	}
	head, err := linesFrom(ctx, f.file, 0, size, func(l Line) error {
		if l.Offset >= n {
			return errEnough
		}
		return fn(l)
	})
	if err != nil || head == size {
		return true, err
	}
	tail, err := lineStart(f.file, size-n, size)
	if err != nil {
		return true, inForm(path, err)
	}
	tail = max(tail, head)
	if len(between) > 0 && tail-head <= gapMaxBytes {
		wanted := NewFinder(between)
		_, err = linesFrom(ctx, f.file, head, tail, func(l Line) error {
			if !wanted.In(l.Data) {
				return nil
			}
			l.N = 0
			return fn(l)
		})
		if err != nil {
			return true, err
		}
	}
	_, err = linesFrom(ctx, f.file, tail, size, func(l Line) error {
		l.N = 0
		return fn(l)
	})
	return true, err
}

var errEnough = errors.New("enough")

// linesFrom is Lines for the bytes from from to to. If fn ends it with errEnough, end is
// where the line begins that fn did not want.
func linesFrom(ctx context.Context, f *os.File, from, to int64, fn func(Line) error) (end int64, err error) {
	end = to
	err = LinesInTurn(ctx, section{io.NewSectionReader(f, from, to-from)}, func(l Line) error {
		l.Offset += from
		err := fn(l)
		if err == errEnough {
			end = l.Offset
		}
		return err
	})
	if err == errEnough {
		err = nil
	}
	return end, err
}

// A section is a part of a file in which the end of a line can be looked for.
type section struct{ *io.SectionReader }

func (s section) toLineEnd(ctx context.Context, most int) (int, error) {
	at, err := s.Seek(0, io.SeekCurrent)
	if err != nil {
		return 0, nil
	}
	return toLineEnd(ctx, s.SectionReader, at, most)
}

// lineStart is where the first line begins at or after from, or, if none does, the last line
// before it. What follows a line end at the very end of the file is no line.
func lineStart(f *os.File, from, size int64) (int64, error) {
	buf := make([]byte, 64<<10)
	for at := max(0, from-1); at < size-1; {
		n, err := f.ReadAt(buf[:min(int64(len(buf)), size-1-at)], at)
		if i := bytes.IndexByte(buf[:n], '\n'); i >= 0 {
			return at + int64(i) + 1, nil
		}
		if at += int64(n); err != nil {
			return 0, err
		}
	}
	for at := from - 1; at > 0; {
		n := min(int64(len(buf)), at)
		if _, err := f.ReadAt(buf[:n], at-n); err != nil {
			return 0, err
		}
		if i := bytes.LastIndexByte(buf[:n], '\n'); i >= 0 {
			return at - n + int64(i) + 1, nil
		}
		at -= n
	}
	return 0, nil
}
