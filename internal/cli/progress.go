package cli

import (
	"fmt"
	"io"
	"os"
	"sync"
	"time"
)

const (
	progressAfter = 500 * time.Millisecond // a shorter wait needs no word
	progressEvery = 100 * time.Millisecond
)

// progress is one line on a terminal's stderr that is written over and over.
type progress struct {
	mu    sync.Mutex
	w     io.Writer
	next  time.Time
	shown bool
	ended bool
}

func newProgress(w io.Writer) *progress {
	return &progress{w: w, next: time.Now().Add(progressAfter)}
}

// tell hears how many of the files were looked at; several goroutines may call it.
func (p *progress) tell(done, found int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if now := time.Now(); !p.ended && now.After(p.next) {
		p.next = now.Add(progressEvery)
		p.shown = true
		fmt.Fprintf(p.w, "\r\x1b[Klooked at %d of %d files", done, found)
	}
}

func (p *progress) end() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.ended = true
	if p.shown {
		fmt.Fprint(p.w, "\r\x1b[K")
	}
}

// isTerminal says whether w is a character device, which on all systems we build for is
// what a terminal is.
func isTerminal(w any) bool {
	f, ok := w.(*os.File)
	if !ok {
		return false
	}
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}
