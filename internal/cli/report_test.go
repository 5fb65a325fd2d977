package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// marker stands in every value that a report must not show.
const marker = "MARKER"

// marked is a JSON value of the same structure in which every value is a marker.
func marked(v any) any {
	switch v := v.(type) {
	case map[string]any:
		out := map[string]any{}
		for k, x := range v {
			out[k] = marked(x)
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, x := range v {
			out[i] = marked(x)
		}
		return out
	case string:
		return marker + " " + v
	case float64:
		return 987654321987
	}
	return v
}

// A report holds nothing of the files but keys, kinds and counts: every provider's home is
// filled with records that no rule knows, of which each value is a marker, and of objects
// whose keys are data.
func TestReportLeaksNothing(t *testing.T) {
	config := t.TempDir()
	t.Setenv("XDG_CONFIG_HOME", config)
	t.Setenv("APPDATA", config)
	for _, name := range []string{"PARLANCE_MAPPINGS", "PARLANCE_ROOTS"} {
		t.Setenv(name, "")
	}
	tables := fmt.Sprintf(`{"brandNew":{"/home/%[1]s/a.go":1,"%[1]s.go":2,"%[1]s@example.org":3,"a %[1]s":4,"%[1]s":{"x":[{"%[1]s/b":"%[1]s"}]}}}`, marker+" ")
	homes, err := filepath.Glob("../../testdata/providers/*/home")
	if err != nil || len(homes) == 0 {
		t.Fatal(homes, err)
	}
	unknown := 0
	for _, from := range homes {
		provider := filepath.Base(filepath.Dir(from))
		home := t.TempDir()
		values := map[string]bool{}
		err := filepath.WalkDir(from, func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			rel, err := filepath.Rel(from, path)
			if err != nil {
				return err
			}
			data, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			if strings.HasSuffix(path, ".jsonl") {
				data = withNews(data, tables, values)
			}
			to := filepath.Join(home, rel)
			if err := os.MkdirAll(filepath.Dir(to), 0o777); err != nil {
				return err
			}
			return os.WriteFile(to, data, 0o666)
		})
		if err != nil {
			t.Fatal(err)
		}
		var out, errw bytes.Buffer
		if code := run(context.Background(), []string{"--home", home, "providers", "--report", provider}, nil, &out, &errw); code != exitFound {
			t.Fatalf("%s: exit %d: %s", provider, code, errw.String())
		}
		report := out.String()
		if strings.Contains(report, "unknown to every rule") {
			unknown++
		}
		if strings.Contains(report, marker) || strings.Contains(report, "987654321") || strings.Contains(report, home) {
			t.Errorf("%s: a marker in\n%s", provider, report)
		}
		for v := range values {
			if strings.Contains(report, v) {
				t.Errorf("%s: the value %q in\n%s", provider, v, report)
			}
		}
	}
	if unknown < 4 {
		t.Errorf("only %d providers had something that no rule knew", unknown)
	}
}

// keyLike is a text that may be a key as well: whether it is one does not show.
var keyLike = regexp.MustCompile(`^[\w.:-]*$`)

// withNews adds to a log a copy of each record in which every value is a marker, and one with
// objects whose keys are data. It gathers the texts that stood in the records before.
func withNews(log []byte, tables string, values map[string]bool) []byte {
	var out bytes.Buffer
	for _, line := range bytes.Split(log, []byte("\n")) {
		out.Write(line)
		out.WriteByte('\n')
		var v any
		if json.Unmarshal(line, &v) != nil {
			continue
		}
		texts(v, values)
		copied, err := json.Marshal(marked(v))
		if err != nil {
			continue
		}
		out.Write(copied)
		out.WriteString("\n" + tables + "\n")
	}
	return out.Bytes()
}

func texts(v any, into map[string]bool) {
	switch v := v.(type) {
	case map[string]any:
		for _, x := range v {
			texts(x, into)
		}
	case []any:
		for _, x := range v {
			texts(x, into)
		}
	case string:
		if len(v) >= 6 && !keyLike.MatchString(v) {
			into[v] = true
		}
	}
}
