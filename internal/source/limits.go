package source

import "time"

// Limits of this package. Reaching one is said in the error or on the line.
const (
	// lineMaxBytes: images in transcripts make lines of tens of megabytes; readers in the
	// field allow up to 250 MB.
	lineMaxBytes = 256 << 20
	// documentMaxBytes bounds a JSON document, which has to be held in memory.
	documentMaxBytes = 256 << 20
	// sqlRowsMax and sqlTimeMax end a statement that runs away.
	sqlRowsMax = 10_000_000
	sqlTimeMax = 60 * time.Second
)
