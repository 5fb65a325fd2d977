package history

import (
	"fmt"
	"path/filepath"
	"testing"
	"time"
)

// The newest file of every folder is asked for its working directory before any second one is,
// so that a busy project does not hide another.
func TestCwdsAskEveryFolderFirst(t *testing.T) {
	w := newWorld(t, "acme", "flint")
	at := func(days int) time.Time { return w.ago(time.Duration(days) * 24 * hour) }
	old, busy := filepath.Join(w.home, "old"), filepath.Join(w.home, "busy")
	w.write("old/.flint.jsonl", at(300), said(at(300), "me", "Where does the ferry land?"))
	w.write(".acme/old/first.jsonl", at(299), said(at(299), "me", "hello", "dir", old))
	for i := range 3 * cwdBatch {
		w.write(fmt.Sprintf(".acme/busy/f%03d.jsonl", i), at(i+1), said(at(i+1), "me", "hello", "dir", busy))
	}
	if got := ids(w.search("ferry land")); got != "flint:old" {
		t.Errorf("got %s", got)
	}
}
