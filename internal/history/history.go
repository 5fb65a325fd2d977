// Package history is everything that the mappings find on this machine: it lists, searches,
// loads and forks conversations, and says what every provider holds.
//
// An environment, a set of mappings and a question go in; rows, conversations and a list of
// what could not be read come out. It decides which files are looked at and in which order,
// what is one conversation in two places, and which one the caller stands in. It keeps no
// index and remembers nothing between calls, so that what was written a second ago is found;
// it renders nothing, and never changes a file.
package history

import (
	"context"
	"runtime"
	"sync/atomic"
	"time"

	"golang.org/x/sync/semaphore"

	"parlance/internal/chat"
	"parlance/internal/mapping"
)

const (
	// limitDefault is how many rows a listing has if nothing else is asked for.
	limitDefault = 50
	// parseBudgetBytes bounds the documents that are parsed at the same time. A document has
	// to be held in memory whole; one that is larger than the budget is read alone.
	parseBudgetBytes = 64 << 20
	// lineShareBytes is what a file that is read as a stream takes of the budget.
	lineShareBytes = 1 << 20
	// packedFactor is how much larger a packed document is taken to be.
	packedFactor = 8
	// boundSlack is how far a file's time may lie before the latest message in it: archives
	// and some file systems keep times in steps of up to two seconds.
	boundSlack = 2 * time.Second
)

// Config says where to look and what to leave alone.
type Config struct {
	// Envs are the homes to look into, each with every mapping. The first says what ~ and
	// relative paths in a question mean.
	Envs    []mapping.Env
	Set     *mapping.Set
	Exclude Exclude
	Now     func() time.Time // nil: the clock
	Workers int              // files read at the same time; 0: one per processor, at least two
}

// Exclude is what must never be read or handed out, by any call.
type Exclude struct {
	Providers []string
	// Paths are files, folders (with all below), or patterns; they count for the file that
	// holds a conversation and for its working directory. ~ is every home folder.
	Paths []string
}

// A History answers questions. It may be used by many goroutines.
type History struct {
	cfg     Config
	exclude *excluder
	budget  *semaphore.Weighted
	workers int

	siftFrom int64 // siftFromBytes, but for tests
}

// Open costs nothing: files are looked for by each call.
func Open(cfg Config) *History {
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	h := &History{cfg: cfg, exclude: newExcluder(cfg.Exclude, cfg.Envs), workers: cfg.Workers, siftFrom: siftFromBytes}
	if h.workers <= 0 {
		h.workers = max(2, runtime.GOMAXPROCS(0))
	}
	h.budget = semaphore.NewWeighted(parseBudgetBytes)
	return h
}

// env is the home that questions are about.
func (h *History) env() mapping.Env {
	if len(h.cfg.Envs) == 0 {
		return mapping.Env{}
	}
	return h.cfg.Envs[0]
}

// A Listing is the answer to List and Search: newest first, then by id.
type Listing struct {
	Rows []chat.Row
	// Current is the conversation from which the question comes, if there is exactly one
	// that may be it. It is not among Rows.
	Current *chat.Row
	More    bool // the limit cut the listing

	// Of a search without hits: up to five conversations with titles like the query, and,
	// if there is no conversation at all, where we looked.
	Nearest []chat.Row
	Looked  []string

	Problems []Problem // what could not be read; nothing of it stopped the rest
	Work     Work
}

// A Problem is a file, folder or mapping that could not be read, in one line.
type Problem struct {
	Provider string
	Path     string // a file or folder; for a mapping its own file
	Reason   string

	bound time.Time       // of the file, zero if it has none
	rows  map[string]bool // instead of Reason: what is wrong with single conversations of it
}

// Work counts what an answer cost. It does not depend on the machine, but for what several
// workers had begun when the answer was complete.
type Work struct {
	Compiled int64 // mappings that the set has had to compile so far, for this answer or one before
	Looks    int64 // folders that decide by being there what is looked for
	Found    int64 // files that patterns found
	Scanned  int64 // files whose raw bytes were searched
	Sifted   int64 // files of which the lines with the needle were read
	Heads    int64 // databases asked for the list of their conversations
	Read     int64 // files, or sets of rows, that were interpreted
}

type work struct{ looks, found, scanned, sifted, heads, read atomic.Int64 }

func (w *work) count() Work {
	return Work{
		Looks: w.looks.Load(), Found: w.found.Load(), Scanned: w.scanned.Load(), Sifted: w.sifted.Load(), Heads: w.heads.Load(), Read: w.read.Load(),
	}
}

// weigh takes the share of the parse budget that reading f needs; the caller gives it back.
func (h *History) weigh(ctx context.Context, f *file) (release func(), err error) {
	n := int64(lineShareBytes)
	if f.document {
		n = f.Size
		if f.packed() {
			n *= packedFactor
		}
		n = min(max(n, lineShareBytes), parseBudgetBytes)
	}
	if err := h.budget.Acquire(ctx, n); err != nil {
		return nil, err
	}
	return func() { h.budget.Release(n) }, nil
}
