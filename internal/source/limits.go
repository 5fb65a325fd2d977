package source

import "time"

// Limits of this package. Reaching one is said in the error or on the line.
const (
	// lineMaxBytes: images in transcripts make lines of tens of megabytes; readers in the
	// field allow up to 250 MB.
	lineMaxBytes = 256 << 20
	// documentMaxBytes bounds a JSON document, which has to be held in memory.
	documentMaxBytes = 256 << 20
	// unpackMemoryMaxBytes bounds the window a .zst file may ask for. "zstd --ultra --long=27"
	// needs 128 MiB; more is asked for by nothing but a made-up header.
	unpackMemoryMaxBytes = 128 << 20
	// sqlRowsMax and sqlTimeMax end a statement that runs away. The time is counted from
	// row to row, so that a slow reader of a large database is not cut off.
	sqlRowsMax = 10_000_000
	sqlTimeMax = 60 * time.Second
	// sqlMemoryMaxBytes bounds what SQLite may use for one database: a value of
	// documentMaxBytes twice over, as JSON functions copy their argument.
	sqlMemoryMaxBytes = 2*documentMaxBytes + 64<<20
	// sqlOpensMax is how many snapshots of a database are tried because its tool writes.
	sqlOpensMax = 3
	// sqlCachedMax is how many compiled statements a DB keeps. A mapping has two or three.
	sqlCachedMax = 8
	// pieceBytes is how much is read from a file at once: it stays in the cache of one core.
	// With 1 MiB a scan is no faster.
	pieceBytes = 256 << 10
)
