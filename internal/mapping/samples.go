package mapping

import (
	"context"
	"path/filepath"
	"strconv"
)

// A Sample is the sample of one test of a mapping, laid out as files.
type Sample struct {
	Test string // "tests[0]"
	Dir  string // everything of it is in here
	File File
}

// Samples lays the samples of the mapping's tests into dir, each in a folder of its own.
// Those that hold nothing but records of a document or a database are passed over: there is
// no file behind them.
func (m *Mapping) Samples(ctx context.Context, dir string) ([]Sample, error) {
	m.prepare()
	var out []Sample
	for i, t := range m.tests {
		own := *t
		r := &testRun{m: m, t: &own, top: filepath.Join(dir, strconv.Itoa(i))}
		for _, s := range m.Sources {
			if s.ID == t.source {
				r.src = s
			}
		}
		if r.src == nil || r.src.Unsupported != "" {
			continue
		}
		if t.records != nil {
			if r.src.Container != "jsonl" || r.src.replay != nil {
				continue
			}
			own.text, own.records = t.records, nil
		}
		if err := r.lay(ctx); err != nil {
			return out, err
		}
		out = append(out, Sample{Test: t.at, Dir: r.top, File: r.file})
	}
	return out, nil
}
