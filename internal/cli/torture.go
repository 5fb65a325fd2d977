package cli

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"parlance/internal/mapping"
	"parlance/internal/render"
	"parlance/internal/torture"
)

const (
	// tortureFilesMax bounds the files of a home that are copied to be damaged, the smallest of
	// each source: each is read hundreds of times.
	tortureFilesMax = 4
	// tortureFileMaxBytes is the largest that is copied.
	tortureFileMaxBytes = 256 << 10
)

// torture damages copies of the samples of mappings, and of what they find in the homes. It
// prints what was not survived and says how much that is.
func (a *app) torture(ctx context.Context, all []*mapping.Mapping) (bad int, err error) {
	for _, m := range all {
		top, err := os.MkdirTemp("", "parlance-torture-")
		if err != nil {
			return bad, err
		}
		n, err := a.tortureOne(ctx, m, top)
		bad += n
		os.RemoveAll(top)
		if err != nil {
			return bad, err
		}
	}
	return bad, nil
}

func (a *app) tortureOne(ctx context.Context, m *mapping.Mapping, top string) (bad int, err error) {
	cases, files := 0, 0
	kinds := map[string]bool{}
	run := func(what string, t torture.Target) error {
		report, err := torture.Run(ctx, t, torture.Options{})
		if report == nil {
			if ctx.Err() == nil {
				bad++
				fmt.Fprintf(a.out, "%s: %s: %s\n", m.Name, what, render.Clean(err.Error()))
				err = nil
			}
			return err
		}
		cases += report.Total()
		files += report.Files
		for k := range report.Cases {
			kinds[k] = true
		}
		for _, f := range report.Findings {
			bad++
			f.Path = strings.TrimPrefix(f.Path, t.Dir+string(filepath.Separator))
			fmt.Fprintf(a.out, "%s: %s: %s\n", m.Name, what, render.Clean(strings.ReplaceAll(f.String(), t.Dir, "")))
		}
		return err
	}
	samples, err := m.Samples(ctx, filepath.Join(top, "tests"))
	if err != nil {
		return bad, err
	}
	for _, s := range samples {
		if err := run(s.Test, torture.Target{Mapping: m, Dir: s.Dir, Find: func(context.Context) ([]mapping.File, []error) { return []mapping.File{s.File}, nil }}); err != nil {
			return bad, err
		}
	}
	if len(a.homes) > 0 {
		envs, err := a.envs()
		if err != nil {
			return bad, err
		}
		for i, env := range envs {
			copied, err := copyFound(ctx, m, env, filepath.Join(top, fmt.Sprint("home", i)))
			if err != nil {
				return bad, err
			}
			if err := run(env.Home, torture.Target{Mapping: m, Dir: copied.Home, Find: torture.Home(m, copied)}); err != nil {
				return bad, err
			}
		}
	}
	fmt.Fprintf(a.out, "%s: %s damaged in %d ways of %s: %s\n", m.Name, plural(files, "file"), cases, plural(len(kinds), "kind"), plural(bad, "problem"))
	return bad, nil
}

// copyFound copies some of the files that a mapping finds in a home, with all that lies in
// the same folders, and gives the environment in which it finds the copies.
func copyFound(ctx context.Context, m *mapping.Mapping, env mapping.Env, dir string) (mapping.Env, error) {
	found, _ := m.Find(ctx, env)
	slices.SortStableFunc(found, func(x, y mapping.File) int { return int(min(x.Size-y.Size, 1<<30)) })
	taken, folders := map[int]int{}, map[string]bool{}
	copied := env
	copied.Home, copied.Cwd, copied.Roots = dir, dir, nil
	for _, r := range env.Roots {
		if rel, err := filepath.Rel(env.Home, r); err == nil && filepath.IsLocal(rel) {
			copied.Roots = append(copied.Roots, filepath.Join(dir, rel))
		}
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return copied, err
	}
	for _, f := range found {
		source := f.Sources[0]
		if f.Size == 0 || f.Size > tortureFileMaxBytes || taken[source] == tortureFilesMax {
			continue
		}
		taken[source]++
		for _, part := range f.Parts() {
			folders[filepath.Dir(part)] = true
		}
	}
	for folder := range folders {
		rel, err := filepath.Rel(env.Home, folder)
		if err != nil || !filepath.IsLocal(rel) {
			continue // it lies outside of the home
		}
		list, err := os.ReadDir(folder)
		if err != nil {
			return copied, err
		}
		if err := os.MkdirAll(filepath.Join(dir, rel), 0o700); err != nil {
			return copied, err
		}
		for _, e := range list {
			info, err := e.Info()
			if err != nil || !info.Mode().IsRegular() || info.Size() > tortureFileMaxBytes {
				continue
			}
			data, err := os.ReadFile(filepath.Join(folder, e.Name()))
			if err != nil {
				continue // it says nothing that another would not
			}
			if err := os.WriteFile(filepath.Join(dir, rel, e.Name()), data, 0o600); err != nil {
				return copied, err
			}
		}
	}
	return copied, nil
}
