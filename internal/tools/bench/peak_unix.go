//go:build unix

package main

import (
	"os"
	"runtime"
	"syscall"
)

// peakMiB is the most memory a process that has ended held at a time.
func peakMiB(p *os.ProcessState) float64 {
	usage, ok := p.SysUsage().(*syscall.Rusage)
	if !ok {
		return 0
	}
	if runtime.GOOS == "darwin" { // in bytes there, in KiB elsewhere
		return float64(usage.Maxrss) / (1 << 20)
	}
	return float64(usage.Maxrss) / (1 << 10)
}
