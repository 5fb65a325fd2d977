package cli

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"
)

// A line is written while a reader takes the rows one by one; wiping it away leaves nothing.
func TestProgressShowsAndWipes(t *testing.T) {
	r, w := io.Pipe()
	p := newProgress(w)
	p.tell(0, 7)
	buf := make([]byte, 200)
	n, err := r.Read(buf)
	if got, want := string(buf[:n]), "\r\x1b[Klooked at 0 of 7 files"; err != nil || got != want {
		t.Errorf("got %q %v, want %q", got, err, want)
	}
	go func() {
		p.end()
		p.end()
		p.clear()
		w.Close()
	}()
	rest, _ := io.ReadAll(r)
	if got := string(rest); !strings.HasSuffix(got, "\r\x1b[K") || strings.Count(got, "\r\x1b[K") != strings.Count(got, "looked")+1 {
		t.Errorf("at the end: %q", got)
	}
	(*progress)(nil).clear()
}

// A stopper is an output that has had enough after some writes.
type stopper struct {
	writes int
	enough func() error
}

func (s *stopper) Write(p []byte) (int, error) {
	s.writes++
	return len(p), s.enough()
}

// With --json rows go out one by one, so that whoever closes the pipe or interrupts us after
// the first does not wait for the others.
func TestJSONRowsGoOutOneByOne(t *testing.T) {
	home := demoHome(t)
	for _, args := range [][]string{{"list", "--json"}, {"search", "ferry", "--json"}} {
		args = append(args, "--home", home)
		var all stopper
		all.enough = func() error { return nil }
		if code := run(context.Background(), args, strings.NewReader(""), &all, io.Discard); code != exitFound || all.writes < 3 {
			t.Fatalf("%q: exit %d, %d rows", args, code, all.writes)
		}
		closed := stopper{enough: func() error { return syscall.EPIPE }}
		if code := run(context.Background(), args, strings.NewReader(""), &closed, io.Discard); code != exitFound || closed.writes != 1 {
			t.Errorf("%q into a closed pipe: exit %d, %d rows", args, code, closed.writes)
		}
		ctx, cancel := context.WithCancel(context.Background())
		defer cancel()
		broken := stopper{enough: func() error { cancel(); return nil }}
		if code := run(ctx, args, strings.NewReader(""), &broken, io.Discard); code != exitBreak || broken.writes != 1 {
			t.Errorf("%q interrupted: exit %d, %d rows", args, code, broken.writes)
		}
	}
}

// endedBySystem is the exit code of a process that was interrupted before it could say so.
const endedBySystem = -1

// An interrupt ends a scan in the middle of a file that would take minutes.
func TestInterruptEndsAScan(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("no interrupt is sent there, and a hole takes space")
	}
	own := t.TempDir()
	cmd := process(t, own, "search", "nothing-like-it")
	dir := filepath.Join(own, "home", ".claude", "projects", "-srv")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	f, err := os.Create(filepath.Join(dir, "7a1e0c52-4b1d-4c7a-9d55-3f1f6b2c0009.jsonl"))
	if err == nil {
		err = f.Truncate(2 << 40) // a hole
		f.Close()
	}
	if err != nil {
		t.Skip(err)
	}
	var out, errw strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &errw
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	time.Sleep(time.Second) // to be in the middle
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Skip(err) // Windows knows none
	}
	_ = cmd.Wait()
	if code := cmd.ProcessState.ExitCode(); code != exitBreak && code != endedBySystem || out.Len() > 0 {
		t.Errorf("exit %d\n%s%s", code, out.String(), errw.String())
	}
}
