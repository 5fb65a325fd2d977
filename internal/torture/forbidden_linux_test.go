package torture

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"syscall"
	"testing"
)

// TestForbiddenAsAnotherUser runs the damage "forbidden" as a user whom a file's mode binds, if
// we are root, who is bound by none: else the suite has tried it.
func TestForbiddenAsAnotherUser(t *testing.T) {
	if testing.Short() {
		t.Skip("the suite is left out as well")
	}
	if os.Geteuid() != 0 {
		t.Skip("TestEveryMapping has tried it")
	}
	dir := t.TempDir()
	here, tmp := filepath.Join(dir, "internal", "torture"), filepath.Join(dir, "tmp")
	for _, d := range []string{here, tmp} {
		if err := os.MkdirAll(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for d, mode := range map[string]os.FileMode{filepath.Dir(dir): 0o755, dir: 0o755, tmp: 0o777} {
		if err := os.Chmod(d, mode); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.CopyFS(filepath.Join(dir, "testdata", "providers"), os.DirFS(providersDir)); err != nil {
		t.Fatal(err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(self)
	if err != nil {
		t.Fatal(err)
	}
	program := filepath.Join(dir, "torture.test")
	if err := os.WriteFile(program, data, 0o755); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(program, "-test.run", "^TestEveryMapping$", "-test.v", "-kinds", "forbidden")
	cmd.Dir, cmd.Env = here, []string{"TMPDIR=" + tmp, "HOME=" + tmp}
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	m := regexp.MustCompile(`forbidden: (\d+)`).FindSubmatch(out)
	if m == nil {
		t.Fatalf("no count in\n%s", out)
	}
	if n, _ := strconv.Atoi(string(m[1])); n < 300 {
		t.Errorf("only %d files were forbidden", n)
	} else {
		t.Logf("%d files were forbidden", n)
	}
}
