//go:build unix

package source

import (
	"context"
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

func TestOpenNeverBlocks(t *testing.T) {
	dir := t.TempDir()
	fifo, socket := filepath.Join(dir, "fifo"), filepath.Join(dir, "socket")
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	link := filepath.Join(dir, "link")
	os.Symlink(fifo, link)
	for path, kind := range map[string]string{fifo: "a FIFO", socket: "a socket", "/dev/null": "a device", link: "a FIFO"} {
		if _, err := Open(path); !errors.Is(err, ErrNotRegular) || !strings.HasSuffix(err.Error(), kind) {
			t.Errorf("%s: got %v, want %s", path, err, kind)
		}
	}
	// A FIFO that takes the place of a file after it was looked at.
	done := make(chan struct{})
	go func() {
		defer close(done)
		if f, err := openShared(fifo); err == nil {
			f.Close()
		}
	}()
	select {
	case <-done:
	case <-time.After(5 * time.Second):
		t.Fatal("opening a FIFO waits for its writer")
	}
}

func TestOpenFollowsLinksToFiles(t *testing.T) {
	path := file(t, "a", []byte("heron"))
	link := path + ".link"
	if err := os.Symlink(path, link); err != nil {
		t.Fatal(err)
	}
	f, err := Open(link)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if got, err := io.ReadAll(f); string(got) != "heron" || err != nil {
		t.Errorf("got %q, %v", got, err)
	}
}

func TestWhatLiesBesideADatabaseIsFoundThroughLinks(t *testing.T) {
	dir := t.TempDir()
	path, link := filepath.Join(dir, "a.db"), filepath.Join(t.TempDir(), "link.db")
	writer(t, path, "PRAGMA journal_mode = wal", "PRAGMA wal_autocheckpoint = 0", "CREATE TABLE t (say TEXT)", "INSERT INTO t VALUES ('a heron')")
	if err := os.Symlink(path, link); err != nil {
		t.Fatal(err)
	}
	wantRows(t, link, "SELECT say FROM t", "say=a heron")
	if got, err := ScanDB(context.Background(), link, []Needle{{Text: "a heron"}}); err != nil || !got[0] {
		t.Errorf("got %v, %v", got, err)
	}
}
