package cli

import (
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

var update = flag.Bool("update", false, "rewrite the expected output in the scripts")

// The test binary is also the program: scripts run it as `parlance`.
func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){
		"parlance":       func() { os.Exit(Run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr)) },
		"parlance-batch": func() { os.Exit(runBatch()) },
	})
}

func TestScripts(t *testing.T) {
	repo, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	testscript.Run(t, testscript.Params{
		Dir:                 "../../testdata/script",
		UpdateScripts:       *update,
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Setup: func(env *testscript.Env) error {
			// A script's own home, so that no test sees the user's.
			home := filepath.Join(env.WorkDir, "me")
			env.Setenv("HOME", home)
			env.Setenv("USERPROFILE", home)
			env.Setenv("APPDATA", filepath.Join(home, "AppData", "Roaming"))
			for _, name := range []string{"XDG_CONFIG_HOME", "XDG_DATA_HOME", "PARLANCE_MAPPINGS", "PARLANCE_ROOTS"} {
				env.Setenv(name, "")
			}
			env.Setenv("PROVIDERS", filepath.Join(repo, "testdata", "providers"))
			env.Setenv("DEMO", filepath.Join(repo, "testdata", "demo", "home"))
			return os.MkdirAll(home, 0o777)
		},
		Cmds: map[string]func(ts *testscript.TestScript, neg bool, args []string){
			"touch": touch,
			"fifo":  fifo,
			"grab":  grab,
		},
	})
}

// grab sets a variable to what the group of a pattern is in the last output: grab NAME REGEXP.
func grab(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) != 2 {
		ts.Fatalf("usage: grab NAME REGEXP")
	}
	m := regexp.MustCompile(args[1]).FindStringSubmatch(ts.ReadFile("stdout"))
	if m == nil {
		ts.Fatalf("%s is not in the output", args[1])
	}
	ts.Setenv(args[0], m[1])
}

// touch sets files' times: touch 2026-05-28T20:26:40Z FILE...; "now" is now.
func touch(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) < 2 {
		ts.Fatalf("usage: touch TIME FILE...")
	}
	at := time.Now()
	if args[0] != "now" {
		var err error
		at, err = time.Parse(time.RFC3339, args[0])
		ts.Check(err)
	}
	for _, name := range args[1:] {
		ts.Check(os.Chtimes(ts.MkAbs(name), at, at))
	}
}
