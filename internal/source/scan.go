package source

import "context"

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
