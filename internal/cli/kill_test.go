package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"parlance/mappings"
)

// everyCommand is one run of each command, over a home; each prints something.
func everyCommand(t *testing.T, home string) [][]string {
	t.Helper()
	const file = "/.claude/projects/-home-mara-ferry/7a1e0c52-4b1d-4c7a-9d55-3f1f6b2c0001.jsonl"
	yaml, err := fs.ReadFile(mappings.FS, "pi.yaml")
	if err != nil {
		t.Fatal(err)
	}
	mine := filepath.Join(t.TempDir(), "pi.yaml")
	if err := os.WriteFile(mine, yaml, 0o600); err != nil {
		t.Fatal(err)
	}
	var commands [][]string
	for _, c := range []string{
		"list", "list --json", "search timetable", "search timetable --in all --json", "show claude_code:7a1e0c52", "show claude_code:7a1e0c52 --format html",
		"show claude_code:7a1e0c52 --format turns", "show claude_code:7a1e0c52 --format messages", "fork timetable", "providers", "providers --report pi", "explain " + home + file,
		"infer --from-scratch " + home + file, "mapping pi", "schema", "version", "completion bash", "check --json " + mine, "check --home " + home + " " + mine, "checkpoint x", "mcp --print codex",
	} {
		commands = append(commands, append(strings.Fields(c), "--home", home))
	}
	return commands
}

// A process is a run of the program as one of its own, with a home and a temporary folder
// that it may write to, if it must.
func process(t *testing.T, own string, args ...string) *exec.Cmd {
	t.Helper()
	if testing.Short() {
		t.Skip("runs many processes, into which the race detector of this one does not see")
	}
	program, err := exec.LookPath("parlance") // testscript.Main puts it there
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(program, args...)
	for _, dir := range []string{"home", "tmp"} {
		if err := os.MkdirAll(filepath.Join(own, dir), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	home := filepath.Join(own, "home")
	cmd.Env = append(os.Environ(), "HOME="+home, "USERPROFILE="+home, "APPDATA="+home, "LOCALAPPDATA="+home, "XDG_CONFIG_HOME=", "XDG_CACHE_HOME=", "XDG_DATA_HOME=",
		"PARLANCE_MAPPINGS=", "PARLANCE_ROOTS=", "TMPDIR="+filepath.Join(own, "tmp"), "TMP="+filepath.Join(own, "tmp"), "TEMP="+filepath.Join(own, "tmp"))
	return cmd
}

// demoHome is a copy of the demonstration's home, its files a while old.
func demoHome(t *testing.T) string {
	t.Helper()
	home := filepath.Join(t.TempDir(), "demo")
	if err := os.CopyFS(home, os.DirFS("../../testdata/demo/home")); err != nil {
		t.Fatal(err)
	}
	at := time.Now().Add(-24 * time.Hour)
	err := filepath.WalkDir(home, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		return os.Chtimes(path, at, at)
	})
	if err != nil {
		t.Fatal(err)
	}
	return home
}

// TestKilled kills every command at some moments of its run, 200 times in all. There is nothing
// that could be left half-written: nothing in the homes, nothing in the user's own but for the
// folder of a check's samples among temporary files; and the next run says what the one before
// the killing said.
func TestKilled(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the times of starts there are another test's")
	}
	const kills = 200
	home, own := demoHome(t), t.TempDir()
	before := snapshot(t, home)
	commands := everyCommand(t, home)
	chance := rand.New(rand.NewPCG(1, 2))
	killed := 0
	for i, args := range commands {
		start := time.Now()
		want, err := process(t, own, args...).Output()
		if err != nil || len(want) == 0 {
			t.Fatalf("%v: %v, %d bytes", args, err, len(want))
		}
		took := time.Since(start)
		for range (kills + i) / len(commands) {
			cmd := process(t, own, args...)
			cmd.Stdout = io.Discard
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			time.Sleep(time.Duration(chance.Int64N(int64(took))))
			if err := cmd.Process.Kill(); err != nil && !errors.Is(err, os.ErrProcessDone) {
				t.Fatal(err)
			}
			if cmd.Wait() != nil {
				killed++
			}
		}
		got, err := process(t, own, args...).Output()
		if args[0] == "checkpoint" { // a new one each time
			got, want = got[:bytes.IndexByte(got, '=')], want[:bytes.IndexByte(want, '=')]
		}
		if err != nil || !bytes.Equal(got, want) {
			t.Errorf("%v, after kills: %v\n%s\nbefore:\n%s", args, err, got, want)
		}
	}
	if killed < kills/2 {
		t.Errorf("only %d of %d were killed in time", killed, kills)
	}
	if after := snapshot(t, home); after != before {
		t.Errorf("the home changed:\n%s", difference(before, after))
	}
	nothingIn(t, filepath.Join(own, "home"))
	entries, err := os.ReadDir(filepath.Join(own, "tmp"))
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), "parlance-") {
			t.Errorf("left among the temporary files: %s", e.Name())
		}
	}
}

func nothingIn(t *testing.T, dir string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
		if err == nil && path != dir {
			t.Errorf("left behind: %s", path)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

// TestFiftyAtOnce: as many processes over one home say what one says alone.
func TestFiftyAtOnce(t *testing.T) {
	home, own := demoHome(t), t.TempDir()
	for _, args := range [][]string{{"search", "timetable", "--home", home}, {"fork", "timetable", "--home", home}} {
		want, err := process(t, own, args...).Output()
		if err != nil || len(want) == 0 {
			t.Fatalf("%v: %v", args, err)
		}
		cmds := make([]*exec.Cmd, 50)
		for i := range cmds {
			cmds[i] = process(t, own, args...)
		}
		var all sync.WaitGroup
		for _, cmd := range cmds {
			all.Go(func() {
				if got, err := cmd.Output(); err != nil || !bytes.Equal(got, want) {
					t.Errorf("%v: %v\n%s\nwant:\n%s", args, err, got, want)
				}
			})
		}
		all.Wait()
	}
	nothingIn(t, filepath.Join(own, "home"))
	nothingIn(t, filepath.Join(own, "tmp"))
}

// full is a disk with no room left after some bytes.
type full struct{ room int }

var errFull = errors.New("no space left on device")

func (f *full) Write(p []byte) (int, error) {
	if len(p) > f.room {
		n := f.room
		f.room = 0
		return n, errFull
	}
	f.room -= len(p)
	return len(p), nil
}

// TestFullDisk: no command ends well when what it prints finds no room, be it at once or
// near the end.
func TestFullDisk(t *testing.T) {
	t.Setenv("HOME", t.TempDir())
	home := demoHome(t)
	for _, args := range everyCommand(t, home) {
		var whole, errw bytes.Buffer
		if code := run(context.Background(), args, strings.NewReader(""), &whole, &errw); code != exitFound {
			t.Errorf("%v: exit %d: %s", args, code, errw.String())
			continue
		}
		for _, room := range []int{0, whole.Len() / 2} {
			errw.Reset()
			code := run(context.Background(), args, strings.NewReader(""), &full{room}, &errw)
			if code != exitWrong || !strings.Contains(errw.String(), fmt.Sprint("parlance: ", errFull)) {
				t.Errorf("%v with room for %d bytes of %d: exit %d, %s", args, room, whole.Len(), code, errw.String())
			}
		}
	}
}
