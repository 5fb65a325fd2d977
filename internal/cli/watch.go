package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"parlance/internal/render"
)

// watchEvery is how often the files of --watch are looked at: a save is answered while the
// hand is still on the key, and a look costs no more than a stat of each.
const watchEvery = 250 * time.Millisecond

// watch runs a command, and again whenever a file that it read is saved, until it is
// interrupted. What a run finds wrong is said and ends nothing. run says which files it read;
// their folders are watched too, for files that are new there.
func (a *app) watch(ctx context.Context, run func() (read []string, err error)) error {
	for {
		a.set, a.reported = nil, map[string]bool{}
		read, err := run()
		if ctx.Err() != nil {
			return &exitError{exitFound, ""}
		}
		if e := new(exitError); err != nil && (!errors.As(err, &e) || e.text != "") {
			fmt.Fprintln(a.err, render.Clean(err.Error()))
		}
		before := stamps(read)
		fmt.Fprintln(a.err, "watching "+plural(len(read), "file")+"; Ctrl-C ends it")
		changed, ok := a.changed(ctx, before)
		if !ok {
			return &exitError{exitFound, ""}
		}
		fmt.Fprintf(a.err, "\n--- %s changed\n", render.Clean(changed))
	}
}

// A stamp tells one state of a file or folder from the next.
type stamp struct {
	size int64
	at   time.Time
}

// stamps are those of files, of what lies beside them, and of logs of databases.
func stamps(files []string) map[string]stamp {
	var paths []string
	for _, f := range files {
		paths = append(paths, f, filepath.Dir(f), f+"-wal")
	}
	return stampsOf(paths)
}

func stampsOf(paths []string) map[string]stamp {
	out := make(map[string]stamp, len(paths))
	for _, p := range paths {
		out[p] = stamp{size: -1}
		if info, err := os.Stat(p); err == nil {
			out[p] = stamp{info.Size(), info.ModTime()}
		}
	}
	return out
}

// changed waits until one of the files is another one than before, and then until they stand
// still: an editor may write in several steps.
func (a *app) changed(ctx context.Context, before map[string]stamp) (string, bool) {
	paths := make([]string, 0, len(before))
	for p := range before {
		paths = append(paths, p)
	}
	slices.Sort(paths)
	what := ""
	for {
		select {
		case <-ctx.Done():
			return "", false
		case <-time.After(watchEvery):
		}
		now := stampsOf(paths)
		moved := ""
		for _, p := range paths {
			// A file says more than the folder it is in.
			if now[p] != before[p] && (moved == "" || len(p) > len(moved)) {
				moved = p
			}
		}
		if moved == "" && what != "" {
			return what, true
		}
		if moved != "" {
			what, before = moved, now
		}
	}
}
