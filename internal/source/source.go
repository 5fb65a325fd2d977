// Package source turns bytes on disk into lines, documents, rows and raw scans, with
// positions.
//
// A path goes in; lines, whole documents, database rows, or the answer whether some bytes
// occur come out. It opens regular files only, read-only, and tolerates a half-written
// tail; memory is bounded by named limits. It never writes, locks, or leaves a file beside
// what it reads, and knows nothing of mappings or conversations.
package source

import "errors"

var (
	// ErrNotRegular is wrapped by Open for a directory, FIFO, socket or device.
	ErrNotRegular = errors.New("not a regular file")
	// ErrTooLarge is wrapped when a limit is reached; the message names the limit.
	ErrTooLarge = errors.New("too large")
	// ErrNotDatabase is wrapped by OpenDB for a file that is no SQLite database.
	ErrNotDatabase = errors.New("not a SQLite database")
	// ErrChanged is wrapped when the tool wrote to its database in a way that disturbs the
	// snapshot. Rows handed over so far may be torn: run again on a new snapshot.
	ErrChanged = errors.New("changed while it was read")
)
