package torture

import (
	"context"
	"flag"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"parlance/internal/mapping"
	"parlance/mappings"
)

var places = flag.Int("places", 0, "at how many places of a file most kinds of damage are tried, cuts at 25 times as many; a soak has 20")

var only = flag.String("kinds", "", "the only kinds of damage that are tried")

func kinds() []string {
	if *only == "" {
		return nil
	}
	return strings.Split(*only, ",")
}

const providersDir = "../../testdata/providers"

// homeTarget is a copy of a fixture home.
func homeTarget(t testing.TB, m *mapping.Mapping, home string) Target {
	t.Helper()
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS(home)); err != nil {
		t.Fatal(err)
	}
	named, err := mapping.NamedRoots(mappings.FS)
	if err != nil {
		t.Fatal(err)
	}
	env := mapping.Env{Home: dir, Getenv: func(string) string { return "" }, Cwd: dir, Roots: []string{filepath.Join(dir, "root")}, Named: named}
	return Target{Mapping: m, Dir: dir, Find: Home(m, env)}
}

// byFormat are losses that the judge cannot know to be meant, by file and kind of damage.
var byFormat = map[string]string{
	// The steps stand in front of the history, which holds the same again with the prompts: of a file
	// that ends inside of the history one of the two is read, and it is marked incomplete.
	"ferry__quay-1.traj cut":       "steps and history tell the same, and one of them is read",
	"ferry__quay-1.traj nul-block": "as above",
	"updates.jsonl doubled":        "a line is a piece of a message: twice is a longer message",
	"wire.jsonl doubled":           "a line is a piece of a call's arguments, likewise",
}

// TestEveryMapping damages the home of every provider in every way.
func TestEveryMapping(t *testing.T) {
	if testing.Short() {
		t.Skip("the race detector has little to find here, and takes more than twenty minutes")
	}
	set, err := mapping.NewSet(mappings.FS, nil)
	if err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex
	total := map[string]int{}
	for _, name := range set.Names() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m, _ := set.Mapping(name)
			report, err := Run(context.Background(), homeTarget(t, m, filepath.Join(providersDir, name, "home")), Options{Places: *places, EveryByte: *places >= 20, Kinds: kinds()})
			if err != nil {
				t.Fatal(err)
			}
			for _, f := range report.Findings {
				if why, ok := byFormat[filepath.Base(f.Path)+" "+f.Kind]; ok {
					t.Logf("%v (%s)", f, why)
				} else {
					t.Error(f)
				}
			}
			if *only == "" && len(report.Cases) < 20 {
				t.Errorf("only %d kinds of damage: %v", len(report.Cases), slices.Sorted(maps.Keys(report.Cases)))
			}
			t.Logf("%d files, %d messages, %d kinds, %d cases, %d of them refused, the slowest took %v", report.Files, report.Messages, len(report.Cases), report.Total(), report.Refused, report.Slowest)
			mu.Lock()
			defer mu.Unlock()
			for k, n := range report.Cases {
				total[k] += n
			}
		})
	}
	t.Cleanup(func() { // after the parallel ones

		n := 0
		for _, k := range total {
			n += k
		}
		t.Logf("%d kinds, %d cases", len(total), n)
		for _, k := range Kinds {
			t.Logf("%s: %d", k.Name, total[k.Name])
		}
	})
}

// TestCutEverywhere cuts a small file of each container at every byte.
func TestCutEverywhere(t *testing.T) {
	if testing.Short() {
		t.Skip("the race detector has little to find here, and takes more than twenty minutes")
	}
	set, err := mapping.NewSet(mappings.FS, nil)
	if err != nil {
		t.Fatal(err)
	}
	containers := map[string]bool{}
	for _, name := range []string{"pi", "cline", "cursor", "codex", "windsurf"} {
		m, _ := set.Mapping(name)
		target := homeTarget(t, m, filepath.Join(providersDir, name, "home"))
		report, err := Run(context.Background(), target, Options{Places: 1, EveryByte: true, Kinds: []string{"cut"}})
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range report.Findings {
			t.Error(f)
		}
		for c := range report.Containers {
			containers[c] = true
		}
	}
	for _, c := range []string{"jsonl", "json", "text", "sqlite", "packed"} {
		if !containers[c] {
			t.Errorf("no file of container %s was cut", c)
		}
	}
}
