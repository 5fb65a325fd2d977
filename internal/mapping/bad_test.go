package mapping

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// badBase reads the mappings that bad files extend.
func badBase(name string) (string, []byte, bool) {
	file := "base/" + name + ".yaml"
	data, err := os.ReadFile(filepath.Join("testdata/bad", file))
	return file, data, err == nil
}

// Each bad file holds one family of mistakes; the file beside it is all that must be said
// of them, word for word.
func TestBadMappings(t *testing.T) {
	files, err := filepath.Glob("testdata/bad/*.yaml")
	if err != nil || len(files) < 40 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	for _, file := range files {
		name := filepath.Base(file)
		t.Run(strings.TrimSuffix(name, ".yaml"), func(t *testing.T) {
			data, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			m, ps := Load(name, data, badBase)
			if len(ps) == 0 {
				t.Fatal("no problem")
			}
			if (m == nil) != fatal(ps) {
				t.Errorf("mapping %v, problems %v", m, ps)
			}
			var got bytes.Buffer
			for _, p := range ps {
				got.WriteString(p.Code)
				if p.Warning {
					got.WriteString(" warning")
				}
				got.WriteString("\n" + p.String() + "\n")
			}
			want := strings.TrimSuffix(file, ".yaml") + ".want"
			if *update {
				if err := os.WriteFile(want, got.Bytes(), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			b, err := os.ReadFile(want)
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(got.Bytes(), b) {
				t.Errorf("got\n%s\nwant\n%s", got.Bytes(), b)
			}
		})
	}
}
