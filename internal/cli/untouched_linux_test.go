package cli

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
)

// changing are the calls with which a file, or a folder, can be changed or locked.
const changing = "creat,rename,renameat,renameat2,unlink,unlinkat,rmdir,mkdir,mkdirat,mknod,mknodat,link,linkat,symlink,symlinkat," +
	"chmod,fchmod,fchmodat,fchmodat2,chown,fchown,lchown,fchownat,utime,utimes,utimensat,futimesat,truncate,ftruncate,fallocate," +
	"flock,setxattr,lsetxattr,fsetxattr,removexattr,lremovexattr,fremovexattr"

var (
	traced      = regexp.MustCompile(`^\d+ +(\w+)\((.*)$`)
	markInTrace = regexp.MustCompile(`"/parlance-command/(\d+)"`)
	// writeFlags are those of an open that may change something.
	writeFlags = regexp.MustCompile(`\bO_(WRONLY|RDWR|CREAT|TRUNC|APPEND|TMPFILE)\b`)
	lockCalls  = regexp.MustCompile(`\bF_(OFD_)?SETLKW?(64)?\b|\bF_SETLEASE\b`)
	hereInCall = regexp.MustCompile(`AT_FDCWD<[^<>]*>`)
	pathInCall = regexp.MustCompile(`"([^"]*)"|<([^<>]*)>`)
)

// changes are the lines of a trace that change or lock something outside of the folder own.
func changes(trace, own string) (found []string) {
	at := "-1"
	for line := range strings.Lines(trace) {
		if m := markInTrace.FindStringSubmatch(line); m != nil {
			at = m[1]
			continue
		}
		m := traced.FindStringSubmatch(strings.TrimSpace(line))
		if m == nil {
			continue // a signal, or the end of a call that began above
		}
		switch name, rest := m[1], m[2]; {
		case strings.HasPrefix(name, "open"):
			if !writeFlags.MatchString(rest) {
				continue
			}
		case strings.HasPrefix(name, "fcntl"):
			if !lockCalls.MatchString(rest) {
				continue
			}
		case name == "socket" || name == "connect":
			if strings.Contains(rest, "AF_UNIX") {
				continue
			}
		case !slices.Contains(strings.Split(changing, ","), name):
			continue
		}
		known, elsewhere := false, false
		for _, p := range pathInCall.FindAllStringSubmatch(hereInCall.ReplaceAllString(m[2], ""), -1) {
			switch path := p[1] + p[2]; {
			case path == own, strings.HasPrefix(path, own+"/"), path == "/dev/null":
				known = true
			case filepath.IsAbs(path), !known: // a name without a folder in front of it
				elsewhere = true
			}
		}
		elsewhere = elsewhere || !known
		if elsewhere {
			found = append(found, at+" "+strings.TrimSpace(line))
		}
	}
	return found
}

// TestChangesAreSeen holds the reader of traces against calls that it must knom.
func TestChangesAreSeen(t *testing.T) {
	for _, row := range []struct {
		line string
		want bool
	}{
		{`7 openat(AT_FDCWD</w>, "/h/a.jsonl", O_RDONLY|O_NONBLOCK|O_CLOEXEC) = 3</h/a.jsonl>`, false},
		{`7 openat(AT_FDCWD</w>, "/h/a.jsonl", O_RDWR|O_CLOEXEC) = -1 EACCES`, true},
		{`7 openat(AT_FDCWD</w>, "/h/a.jsonl", O_RDONLY|O_CREAT, 0666) = 3</h/a.jsonl>`, true},
		{`7 openat(AT_FDCWD</w>, "/t/x", O_RDWR|O_CREAT|O_EXCL, 0600) = 3</t/x>`, false},
		{`7 openat(AT_FDCWD</w>, "/tx", O_RDWR|O_CREAT|O_EXCL, 0600) = 3</tx>`, true},
		{`7 unlinkat(AT_FDCWD</w>, "/h/a.jsonl-shm", 0) = -1 ENOENT`, true},
		{`7 renameat(AT_FDCWD</w>, "/t/x", AT_FDCWD</w>, "/h/a.jsonl") = 0`, true},
		{`7 unlinkat(4</t/x>, "a", 0) = 0`, false},
		{`7 unlinkat(4</h/x>, "a", 0) = 0`, true},
		{`7 fcntl(3</h/s.db>, F_SETLK, {l_type=F_RDLCK, l_whence=SEEK_SET, l_start=1, l_len=1}) = 0`, true},
		{`7 fcntl(3</h/s.db>, F_GETFL) = 0`, false},
		{`7 flock(3</h/s.db>, LOCK_SH <unfinished ...>`, true},
		{`7 ftruncate(3</t/x>, 0) = 0`, false},
		{`7 ftruncate(3</h/a>, 0) = 0`, true},
		{`7 connect(5<socket:[1]>, {sa_family=AF_INET, sin_port=htons(443), sin_addr=inet_addr("192.0.2.1")}, 16) = 0`, true},
		{`7 mkdirat(AT_FDCWD</w>, "rel", 0777) = 0`, true},
	} {
		if got := len(changes(row.line, "/t")) > 0; got != row.want {
			t.Errorf("%s: %v", row.line, got)
		}
	}
}

// TestTraceChangesNothing runs every command over all fixture homes under strace: nothing is
// opened for writing, locked, renamed, removed or made but in our temporary folder, not even
// for a moment, and nobody is spoken to.
func TestTraceChangesNothing(t *testing.T) {
	strace, err := exec.LookPath("strace")
	if err != nil {
		t.Skip("strace is not installed: what is opened, and how, was not looked at")
	}
	if out, err := exec.Command(strace, "-f", "-o", os.DevNull, "true").CombinedOutput(); err != nil {
		t.Skipf("strace may not trace here (%v: %s): what is opened, and how, was not looked at", err, out)
	}
	m := newMachine(t)
	commands := m.commands(t)
	before := snapshot(t, m.homes)
	trace := filepath.Join(m.dir, "trace")
	var calls []string
	for _, c := range strings.Split("open,openat,openat2,fcntl,fcntl64,socket,connect,"+changing, ",") {
		calls = append(calls, "?"+c) // which of them there are differs between machines
	}
	results := m.batch(t, commands, nil, strace, "-f", "-qq", "-y", "--seccomp-bpf", "-e", "trace="+strings.Join(calls, ","), "-e", "signal=none", "-o", trace)
	done := map[int]int{}
	for i, r := range results {
		if done[r.Code]++; r.Code > exitWrong {
			t.Errorf("%v: exit %d: %s", commands[i].Args, r.Code, r.Errors)
		}
	}
	data, err := os.ReadFile(trace)
	if err != nil {
		t.Fatal(err)
	}
	text := string(data)
	if marks := len(markInTrace.FindAllString(text, -1)); marks != len(commands) || strings.Count(text, m.homes) < 10*len(m.names) {
		t.Fatalf("the trace knows %d of %d commands, and %d looks into the homes", marks, len(commands), strings.Count(text, m.homes))
	}
	told := map[string]int{}
	for _, line := range changes(text, m.tmp) {
		at, call, _ := strings.Cut(line, " ")
		var n int
		fmt.Sscan(at, &n)
		name := "before the first command"
		if n >= 0 {
			name = commands[n].Args[0]
			// The page of the server that was asked for, and the test's own question to it.
			if commands[n].Then == "http" && (strings.Contains(call, "socket(") || strings.Contains(call, `inet_addr("127.0.0.1")`)) {
				continue
			}
		}
		if told[name]++; told[name] <= 3 {
			t.Errorf("%s: %s", name, call)
		}
	}
	if after := snapshot(t, m.homes); after != before {
		t.Errorf("the homes changed:\n%s", difference(before, after))
	}
	m.left(t)
	t.Logf("%d commands over %d homes, exits %v, %d calls looked at", len(commands), len(m.names), done, strings.Count(text, "\n"))
}

// nobody makes a command run as a user to whom no file of the test belongs, if we are root, who
// may read and write everything whatever its mode says.
func nobody(cmd *exec.Cmd) {
	if os.Geteuid() == 0 {
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	}
}

// same are the commands whose answers are the same each time.
func same(commands []command) []command {
	return slices.DeleteFunc(commands, func(c command) bool { return c.Args[0] == "checkpoint" || c.Args[0] == "mcp" })
}

// TestReadOnlyHomes: homes in which nothing may be written, of another user, give the answers
// that they give to their owner, and so does a file system that is mounted read-only.
func TestReadOnlyHomes(t *testing.T) {
	m := newMachine(t)
	commands := same(m.commands(t))
	owner := m.batch(t, commands, nil)
	// compare holds the answers to every nth command against the owner's.
	compare := func(t *testing.T, nth int, got []result) {
		t.Helper()
		for i, r := range got {
			if was := owner[i*nth]; r != was {
				t.Errorf("%v: exit %d, was %d\n%s%s\n--- was\n%s%s", commands[i*nth].Args, r.Code, was.Code, r.Out, r.Errors, was.Out, was.Errors)
			}
		}
		m.left(t)
	}
	t.Run("mount", func(t *testing.T) {
		unshare := []string{"unshare", "-m"}
		if os.Geteuid() != 0 {
			unshare = []string{"unshare", "-rm"}
		}
		unshare = append(unshare, "sh", "-c", `mount --bind "$0" "$0" && mount -o remount,bind,ro "$0" && exec "$@"`, m.homes)
		probe := append(slices.Clone(unshare), "sh", "-c", `! touch "$0/x"`, m.homes)
		if out, err := exec.Command(probe[0], probe[1:]...).CombinedOutput(); err != nil {
			t.Skipf("nothing may be mounted here (%v: %s): a read-only file system was not tried", err, out)
		}
		var some []command
		for i := 0; i < len(commands); i += 5 {
			some = append(some, commands[i])
		}
		compare(t, 5, m.batch(t, some, nil, unshare...))
	})
	t.Run("user", func(t *testing.T) {
		m.walk(t, func(path string, d fs.DirEntry) {
			mode := os.FileMode(0o444)
			if d.IsDir() {
				mode = 0o555
			}
			if err := os.Chmod(path, mode); err != nil {
				t.Fatal(err)
			}
		})
		defer m.walk(t, func(path string, d fs.DirEntry) { // so that it can be removed
			if d.IsDir() {
				os.Chmod(path, 0o755)
			}
		})
		compare(t, 1, m.batch(t, commands, nobody))
	})
}

// TestForbiddenFiles: of a file, or a folder, that we may not read its name and the reason are
// told, and everything else is there.
func TestForbiddenFiles(t *testing.T) {
	m := newMachine(t)
	var commands []command
	var files []string
	for _, name := range m.names {
		home := []string{"--home", m.home(name)}
		if root := filepath.Join(m.home(name), "root"); isDir(root) {
			home = append(home, "--root", root)
		}
		for _, file := range m.files(t, home, 1) {
			commands = append(commands, command{Args: append([]string{"list", "--json", "--limit", "0", "--subagents"}, home...)})
			files = append(files, file)
		}
	}
	if len(files) < len(m.names)*9/10 {
		t.Fatalf("conversations in files of %d homes of %d", len(files), len(m.names))
	}
	before := m.batch(t, commands, nobody)
	for _, what := range []string{"file", "folder"} {
		t.Run(what, func(t *testing.T) {
			closed := slices.Clone(files)
			for i := range closed {
				if what == "folder" {
					closed[i] = filepath.Dir(closed[i])
				}
				info, err := os.Stat(closed[i])
				if err != nil {
					t.Fatal(err)
				}
				if err := os.Chmod(closed[i], 0); err != nil {
					t.Fatal(err)
				}
				defer os.Chmod(closed[i], info.Mode())
			}
			for i, r := range m.batch(t, commands, nobody) {
				if !strings.Contains(r.Errors, closed[i]) || !strings.Contains(r.Errors, "permission denied") {
					t.Errorf("%s: nobody says that it may not be read: %s", closed[i], r.Errors)
				}
				rows := conversations(t, r.Out)
				for id, file := range conversations(t, before[i].Out) {
					if !strings.HasPrefix(file, closed[i]) && rows[id] == "" {
						t.Errorf("%s closed: %s of %s is gone", closed[i], id, file)
					}
				}
				for id, file := range rows { // the same conversation may stand elsewhere as well
					if strings.HasPrefix(file, closed[i]) {
						t.Errorf("%s closed: %s of %s is listed", closed[i], id, file)
					}
				}
				if r.Code > exitNone {
					t.Errorf("%s closed: exit %d", closed[i], r.Code)
				}
			}
		})
	}
}

// conversations are the rows of list --json: the file of each id.
func conversations(t *testing.T, out string) map[string]string {
	t.Helper()
	rows := map[string]string{}
	for line := range strings.Lines(out) {
		var row struct{ ID, File string }
		if err := json.Unmarshal([]byte(line), &row); err != nil {
			t.Fatal(err)
		}
		rows[row.ID] = row.File
	}
	return rows
}
