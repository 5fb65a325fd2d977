//go:build unix

package cli

import (
	"syscall"

	"github.com/rogpeppe/go-internal/testscript"
)

// fifo makes a named pipe.
func fifo(ts *testscript.TestScript, neg bool, args []string) {
	for _, name := range args {
		ts.Check(syscall.Mkfifo(ts.MkAbs(name), 0o666))
	}
}
