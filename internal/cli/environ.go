package cli

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
	"gopkg.in/yaml.v3"

	"parlance/internal/history"
	"parlance/internal/mapping"
	"parlance/internal/render"
	"parlance/mappings"
)

// configMaxBytes bounds config.yaml. It stands in the table of limits, which we may not import;
// a test holds the two together.
const configMaxBytes = 1 << 20

// open makes the history that a command asks. What is wrong with configuration or mappings
// is said on stderr; everything else works.
func (a *app) open() (*history.History, error) {
	envs, err := a.envs()
	if err != nil {
		return nil, err
	}
	set, err := a.openSet()
	if err != nil {
		return nil, err
	}
	exclude, err := readConfig(configFolder(), set.Names())
	if err != nil {
		// What must never be handed out must not be handed out because of a typing error.
		return nil, err
	}
	return history.Open(history.Config{Envs: envs, Set: set, Exclude: exclude}), nil
}

// openSet gathers the mappings: built in, then the config folder's, PARLANCE_MAPPINGS, --mappings.
func (a *app) openSet() (*mapping.Set, error) {
	if a.set != nil {
		return a.set, nil
	}
	var folders []string
	if dir := configFolder(); dir != "" {
		folders = append(folders, filepath.Join(dir, "mappings"))
	}
	folders = append(folders, filepath.SplitList(os.Getenv("PARLANCE_MAPPINGS"))...)
	for _, dir := range a.mappings {
		if info, err := os.Stat(dir); err != nil || !info.IsDir() {
			return nil, wrong("parlance: --mappings %s: no such folder", dir)
		}
	}
	folders = append(folders, a.mappings...)
	set, err := mapping.NewSet(mappings.FS, folders)
	if err != nil {
		a.complain("parlance: " + err.Error())
	}
	a.set = set
	return set, nil
}

// mappingAs is the name under which --as is known: that of a mapping, or of the one in a file,
// which is used for this run.
func (a *app) mappingAs(command, as string) (string, error) {
	if !strings.HasSuffix(as, ".yaml") {
		return as, nil
	}
	set, err := a.openSet()
	if err != nil {
		return "", err
	}
	name, err := set.Add(as)
	if err != nil {
		return "", wrong("parlance %s: --as: %v", command, err)
	}
	return name, nil
}

// again are the flags of all commands as they were given, for a command that goes on from here.
func (a *app) again() string {
	var b strings.Builder
	for _, f := range []struct {
		name string
		dirs []string
	}{{"--home", a.homes}, {"--root", a.roots}, {"--mappings", a.mappings}} {
		for _, dir := range f.dirs {
			b.WriteString(" " + f.name + " " + shellWord(dir))
		}
	}
	return b.String()
}

// envs are the homes to be read: the user's own, or those of --home.
func (a *app) envs() ([]mapping.Env, error) {
	named, err := mapping.NamedRoots(mappings.FS)
	if err != nil {
		return nil, err
	}
	cwd, _ := os.Getwd()
	roots := filepath.SplitList(os.Getenv("PARLANCE_ROOTS"))
	for _, dir := range a.roots {
		if info, err := os.Stat(dir); err != nil || !info.IsDir() {
			return nil, wrong("parlance: --root %s: no such folder", dir)
		}
		roots = append(roots, dir)
	}
	for i := range roots {
		if abs, err := filepath.Abs(roots[i]); err == nil {
			roots[i] = abs
		}
	}
	if len(a.homes) == 0 {
		home, err := os.UserHomeDir()
		if err != nil {
			return nil, wrong("parlance: no home folder: %v; name one with --home DIR", err)
		}
		return []mapping.Env{{Home: home, Getenv: os.Getenv, Cwd: cwd, Roots: roots, Named: named}}, nil
	}
	var envs []mapping.Env
	for _, home := range a.homes {
		abs, err := filepath.Abs(home)
		if err != nil {
			return nil, wrong("parlance: --home %s: %v", home, err)
		}
		if info, err := os.Stat(abs); err != nil || !info.IsDir() {
			return nil, wrong("parlance: --home %s: no such folder", home)
		}
		if slices.ContainsFunc(envs, func(e mapping.Env) bool { return e.Home == abs }) {
			continue
		}
		// A copied home has its own places: this machine's variables say nothing about it.
		envs = append(envs, mapping.Env{Home: abs, Getenv: func(string) string { return "" }, Cwd: cwd, Roots: roots, Named: named})
		roots = nil // once is enough
	}
	return envs, nil
}

// configFolder is where the user's own mappings and config.yaml are, "" if there is no home.
func configFolder() string {
	if runtime.GOOS == "windows" {
		if dir := os.Getenv("APPDATA"); dir != "" {
			return filepath.Join(dir, "parlance")
		}
	}
	if dir := os.Getenv("XDG_CONFIG_HOME"); dir != "" {
		return filepath.Join(dir, "parlance")
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return ""
	}
	return filepath.Join(home, ".config", "parlance")
}

// readConfig reads what must never be read or handed out. A provider that is not among names,
// or a path that can fit nothing, is an error: it would exclude nothing, without a word.
func readConfig(folder string, names []string) (history.Exclude, error) {
	var config struct {
		Exclude struct {
			Providers []string `yaml:"providers"`
			Paths     []string `yaml:"paths"`
		} `yaml:"exclude"`
	}
	if folder == "" {
		return history.Exclude{}, nil
	}
	path := filepath.Join(folder, "config.yaml")
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() { // a FIFO would be waited for
		return history.Exclude{}, wrong("%s: not a regular file", path)
	}
	f, err := os.Open(path)
	if os.IsNotExist(err) {
		return history.Exclude{}, nil
	}
	if err != nil {
		return history.Exclude{}, wrong("parlance: %v", err)
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, configMaxBytes+1))
	if err != nil {
		return history.Exclude{}, wrong("parlance: %v", err)
	}
	if len(text) > configMaxBytes { // half of it would hide half of what it is to hide
		return history.Exclude{}, wrong("%s: larger than configMaxBytes (%d)", path, configMaxBytes)
	}
	d := yaml.NewDecoder(bytes.NewReader(text))
	d.KnownFields(true)
	if err := d.Decode(&config); err != nil && err != io.EOF {
		text := unknownField.ReplaceAllString(strings.TrimPrefix(err.Error(), "yaml: "), `unknown key "$1"`)
		return history.Exclude{}, wrong("%s: %s\n  hint: it may hold exclude: {providers: [NAME], paths: [PATH]} and nothing else", path, text)
	}
	for _, name := range config.Exclude.Providers {
		if !slices.Contains(names, name) {
			return history.Exclude{}, wrong("%s: exclude.providers: no mapping is called %q\n  hint: there are %s", path, name, strings.Join(names, ", "))
		}
	}
	for _, p := range config.Exclude.Paths {
		if clean := filepath.ToSlash(filepath.Clean(p)); !wholePath.MatchString(clean) || !doublestar.ValidatePattern(clean) {
			return history.Exclude{}, wrong("%s: exclude.paths: %q fits nothing\n  hint: a path begins with ~, /, ** or a drive, such as ~/work/secret or **/private/**; a [ must be closed", path, p)
		}
	}
	return history.Exclude{Providers: config.Exclude.Providers, Paths: config.Exclude.Paths}, nil
}

var (
	// unknownField is how the YAML package names a key that Go's type does not have.
	unknownField = regexp.MustCompile(`field (\S+) not found in type .*`)
	// wholePath is a path, or a pattern, that can fit a path as it stands on disk.
	wholePath = regexp.MustCompile(`^(~$|~[/\\]|[/\\]|\*\*|[A-Za-z]:)`)
)

// complain says something on stderr, once.
func (a *app) complain(text string) {
	if !a.reported[text] {
		a.reported[text] = true
		fmt.Fprintln(a.err, render.Clean(text)) // it names files, which may be called anything
	}
}
