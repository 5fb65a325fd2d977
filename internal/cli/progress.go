package cli

import (
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"github.com/mattn/go-isatty"
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

// isTerminal says whether a stream is a terminal; the null device is none.
func isTerminal(stream any) bool {
	if o, ok := stream.(*output); ok {
		stream = o.Writer
	}
	f, ok := stream.(*os.File)
	return ok && (isatty.IsTerminal(f.Fd()) || isatty.IsCygwinTerminal(f.Fd()))
}
