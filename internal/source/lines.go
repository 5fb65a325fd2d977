package source

import (
	"bytes"
	"context"
	"io"
	"sync"
)

// A Line is one line of a file without its line end (LF or CRLF). Data is valid until the
// callback returns, and may be changed by it.
type Line struct {
	N      int   // from 1
	Offset int64 // of its first byte in the unpacked file
	Data   []byte
	Open   bool // the last line, without a line end
	Long   bool // longer than lineMaxBytes: Data is empty, the line was passed over
}

// Buffers of lines start at lineBufferBytes and are kept for the next file unless a line made
// them larger than lineKeptBytes.
const (
	lineBufferBytes = 256 << 10
	lineKeptBytes   = 1 << 20
)

// The first read of a file asks for lineFirstBytes, as some readers want no more than its first
// line; each further one for twice as much, up to a whole buffer.
const lineFirstBytes = 16 << 10

var lineBuffers = sync.Pool{New: func() any { b := make([]byte, lineBufferBytes); return &b }}

// Lines calls fn for each line of r, blank ones included; a BOM in front is dropped. Memory
// is one line. If r gives an error, what was read of the last line comes first, as an open
// line, then Lines returns the error. An error of fn ends it and is returned as it is.
func Lines(ctx context.Context, r io.Reader, fn func(Line) error) error {
	return pooledLines(ctx, r, nil, fn)
}

// LinesInTurn is Lines for many workers at a time: of all its callers only one holds a line
// longer than lineKeptBytes, until fn has returned, so that memory does not grow with them. fn
// must not call it.
func LinesInTurn(ctx context.Context, r io.Reader, fn func(Line) error) error {
	return pooledLines(ctx, r, giants, fn)
}

// giants holds a token while somebody has a long line.
var giants = make(chan struct{}, 1)

func pooledLines(ctx context.Context, r io.Reader, turn chan struct{}, fn func(Line) error) error {
	buf := lineBuffers.Get().(*[]byte)
	defer func() {
		if cap(*buf) <= lineKeptBytes {
			lineBuffers.Put(buf)
		}
	}()
	return lines(ctx, r, buf, lineMaxBytes, turn, fn)
}

// lines is Lines with a buffer that the caller keeps and, if turn is set, a token for long lines.
func lines(ctx context.Context, r io.Reader, buffer *[]byte, most int, turn chan struct{}, fn func(Line) error) error {
	var (
		buf     = (*buffer)[:cap(*buffer)]
		start   = 0        // of the current line in buf
		scanned = 0        // buf[start:scanned] holds no line end
		end     = 0        // of what was read
		base    = int64(0) // offset in the file of buf[0]
		line    = Line{N: 1}
		empty   = 0 // reads in a row that gave nothing
		ahead   = lineFirstBytes
		mine    = false // the token of turn
	)
	defer func() {
		*buffer = buf
		if mine {
			<-turn
		}
	}()
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		switch {
		case line.Long: // nothing of it is kept
			base += int64(end)
			start, scanned, end = 0, 0, 0
		case end == len(buf) && start > 0:
			copy(buf, buf[start:end])
			base += int64(start)
			scanned, end, start = scanned-start, end-start, 0
		case end == len(buf):
			// By half: old and new together stay below three times the line. Where the line's
			// end can be looked for, a long one gets its place at once: to touch new memory
			// takes longer than to read the bytes twice.
			more := len(buf) + len(buf)/2
			if f, ok := r.(interface {
				toLineEnd(ctx context.Context, most int) (int, error)
			}); ok && more > lineKeptBytes {
				n, err := f.toLineEnd(ctx, most+len("\r\n")+1-end)
				if err != nil {
					return err
				}
				if end+n > most+len("\r\n") {
					line.Long = true
					continue
				}
				if n > 0 {
					more = end + n + lineFirstBytes
				}
			}
			if turn != nil && !mine && more > lineKeptBytes {
				select {
				case turn <- struct{}{}:
					mine = true
				case <-ctx.Done():
					return ctx.Err()
				}
			}
			grown := make([]byte, more)
			copy(grown, buf)
			buf = grown
		}
		n, err := r.Read(buf[end:min(len(buf), end+ahead)])
		ahead = min(2*ahead, lineBufferBytes)
		if n == 0 && err == nil {
			if empty++; empty == 100 {
				err = io.ErrNoProgress
			}
		} else {
			empty = 0
		}
		end += n
		if base == 0 && start == 0 && line.N == 1 && end-start >= len(bom) && bytes.HasPrefix(buf, bom) {
			start, scanned = len(bom), len(bom)
			line.Offset = int64(len(bom))
		}
		for scanned < end {
			i := bytes.IndexByte(buf[scanned:end], '\n')
			if i < 0 {
				scanned = end
				break
			}
			last := scanned + i
			if line.Data = bytes.TrimSuffix(buf[start:last:last], []byte("\r")); line.Long || len(line.Data) > most {
				line.Data, line.Long = nil, true
			}
			if err := fn(line); err != nil {
				return err
			}
			start, scanned = last+1, last+1
			line = Line{N: line.N + 1, Offset: base + int64(start)}
		}
		if !line.Long && end-start > most+len("\r") {
			line.Long = true
		}
		if mine && end-start <= lineBufferBytes/2 { // the long line is over
			kept := append(make([]byte, 0, lineBufferBytes), buf[start:end]...)
			base += int64(start)
			buf, scanned, end, start = kept[:lineBufferBytes], scanned-start, end-start, 0
			mine = false
			<-turn
		}
		if err != nil {
			if start < end || line.Long {
				line.Open = true
				if line.Data = buf[start:end:end]; line.Long || len(line.Data) > most {
					line.Data, line.Long = nil, true
				}
				if err := fn(line); err != nil {
					return err
				}
			}
			if err == io.EOF {
				return nil
			}
			return err
		}
	}
}
