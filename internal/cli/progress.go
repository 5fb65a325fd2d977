package cli

import (
	"fmt"
	"io"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mattn/go-isatty"
)

const (
	progressAfter = 500 * time.Millisecond // a shorter wait needs no word
	progressEvery = 100 * time.Millisecond
)

// progress is one line on a terminal's stderr that is written over and over, also while one
// large file keeps everybody.
type progress struct {
	done, found atomic.Int64
	stop        chan struct{}

	mu    sync.Mutex
	w     io.Writer
	shown bool
	ended bool
}

func newProgress(w io.Writer) *progress {
	p := &progress{w: w, stop: make(chan struct{})}
	go func() {
		timer := time.NewTimer(progressAfter)
		defer timer.Stop()
		for {
			select {
			case <-p.stop:
				return
			case <-timer.C:
				p.show()
				timer.Reset(progressEvery)
			}
		}
	}()
	return p
}

// tell hears how many of the files were looked at; several goroutines may call it.
func (p *progress) tell(done, found int) {
	p.done.Store(int64(done))
	p.found.Store(int64(found))
}

func (p *progress) show() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if found := p.found.Load(); !p.ended && found > 0 {
		p.shown = true
		fmt.Fprintf(p.w, "\r\x1b[Klooked at %d of %d files", min(p.done.Load(), found), found)
	}
}

// clear wipes the line away, for what is written meanwhile. p may be nil: nothing is shown.
func (p *progress) clear() {
	if p == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.wipe()
}

func (p *progress) wipe() {
	if p.shown {
		fmt.Fprint(p.w, "\r\x1b[K")
		p.shown = false
	}
}

func (p *progress) end() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.ended {
		close(p.stop)
	}
	p.ended = true
	p.wipe()
}

// isTerminal says whether a stream is a terminal; the null device is none.
func isTerminal(stream any) bool {
	if o, ok := stream.(*output); ok {
		stream = o.Writer
	}
	f, ok := stream.(*os.File)
	return ok && (isatty.IsTerminal(f.Fd()) || isatty.IsCygwinTerminal(f.Fd()))
}
