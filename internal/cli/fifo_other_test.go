//go:build !unix

package cli

import "github.com/rogpeppe/go-internal/testscript"

// fifo skips the rest of a script where there are no named pipes.
func fifo(ts *testscript.TestScript, neg bool, args []string) { ts.Fatalf("no named pipes here") }
