// Package source turns bytes on disk into lines, documents, rows and raw scans, with
// positions.
//
// A path goes in; lines, whole documents, database rows, or the answer whether some bytes
// occur come out. It opens regular files only, read-only, and tolerates a half-written
// tail; memory is bounded by named limits. It never writes, locks, or leaves a file beside
// what it reads, and knows nothing of mappings or conversations.
package source

import (
	"context"
	"errors"
	"io"
	"time"
)

// ErrNotRegular is wrapped by Open for a directory, FIFO, socket or device.
var ErrNotRegular = errors.New("not a regular file")

// A File is an opened regular file, unpacked if its name ends in .gz or .zst.
type File struct{}

// Open opens a regular file for reading and shares it in every way the system knows. It
// never blocks on a FIFO. Errors name the path.
func Open(path string) (*File, error) { panic("stub") }

// Read gives the unpacked bytes in order.
func (f *File) Read(p []byte) (int, error) { panic("stub") }

// Close closes the file.
func (f *File) Close() error { panic("stub") }

// Size is the packed size and ModTime the file's time when it was opened.
func (f *File) Size() int64        { panic("stub") }
func (f *File) ModTime() time.Time { panic("stub") }

// A Line is one line of a file without its line end (LF or CRLF). Data is valid until the
// callback returns, and may be changed by it.
type Line struct {
	N      int   // from 1
	Offset int64 // of its first byte in the unpacked file
	Data   []byte
	Open   bool // the last line, without a line end
	Long   bool // longer than lineMaxBytes: Data is empty, the line was passed over
}

// Lines calls fn for each line of r, blank ones included; a BOM in front is dropped. Memory is one line.
func Lines(ctx context.Context, r io.Reader, fn func(Line) error) error { panic("stub") }

// ReadAll reads a whole document, up to documentMaxBytes (ErrTooLarge beyond); a BOM is dropped.
func ReadAll(ctx context.Context, path string) ([]byte, error) { panic("stub") }

// ErrTooLarge is wrapped when a limit is reached; the message names the limit.
var ErrTooLarge = errors.New("too large")

// A DB is a snapshot of a SQLite database and the committed frames of its WAL. SQLite never
// opens the file itself, so nothing is locked or left behind.
type DB struct{}

// OpenDB opens a snapshot. It fails with an error that names the path if the file is not a
// SQLite database (ErrNotDatabase) or is locked exclusively by its tool.
func OpenDB(path string) (*DB, error) { panic("stub") }

// ErrNotDatabase is wrapped by OpenDB for a file that is no SQLite database.
var ErrNotDatabase = errors.New("not a SQLite database")

// Close ends the snapshot.
func (d *DB) Close() error { panic("stub") }

// Columns lists the columns of a table or view in order; none if there is no such table.
// Names compare without case, as in SQLite.
func (d *DB) Columns(table string) ([]string, error) { panic("stub") }

// Query runs one SELECT (or WITH … SELECT) and hands over each row. args bind :name
// parameters. A value is nil, int64, float64, string or []byte; values are valid until fn
// returns. ctx stops a running statement; so do sqlRowsMax and sqlTimeMax.
func (d *DB) Query(ctx context.Context, sql string, args map[string]any, fn func(columns []string, values []any) error) error {
	panic("stub")
}

// Prepare says what is wrong with a statement, without running it. Only a single SELECT or
// WITH is allowed.
func (d *DB) Prepare(sql string) error { panic("stub") }

// A Needle is what Scan looks for: bytes, compared without regard to ASCII case. Text with K and S also
// matches U+212A and U+017F if Fold is set.
type Needle struct {
	Text string
	Fold bool
}

// Scan reports, for each needle, whether it occurs in the unpacked bytes of a file. It stops
// as soon as every needle was seen. Memory is a few MiB whatever the file's size.
func Scan(ctx context.Context, path string, needles []Needle) ([]bool, error) { panic("stub") }

// ScanDB is Scan over a database and its WAL, exact for texts that SQLite splits over
// pages: a needle counts as present if one of its halves is. true may be wrong, false never is.
func ScanDB(ctx context.Context, path string, needles []Needle) ([]bool, error) { panic("stub") }
