package mapping

import (
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"parlance/internal/chat"
)

const damagedYAML = `
sources: [{id: doc, paths: ["~/*.json"], container: json, records: says}]
conversation: {title: {lookup: titles, key: file:stem}}
lookups: {titles: {json: "~/titles/index.json", key: id, value: name}}
messages: [{when: {system: {exists: true}}, all: [{as: system, text: {from: doc:system, join: "\n"}}, {as: user, text: say}]}, {as: user, text: say}]
`

// A document that was cut off, or is followed by NUL bytes, gives what stands before, and says so.
func TestDamagedDocument(t *testing.T) {
	m := load(t, damagedYAML)
	whole := `{"system":["Be short."],"says":[{"system":1,"say":"one"},{"say":"two"},{"say":"three"}]}`
	var packed bytes.Buffer // without compression, so that it can be cut at any byte
	z, err := gzip.NewWriterLevel(&packed, gzip.NoCompression)
	if err != nil {
		t.Fatal(err)
	}
	fmt.Fprint(z, whole)
	z.Close()
	half := packed.String()[:strings.Index(packed.String(), "three")]
	for _, c := range []struct{ name, text, want, incomplete string }{
		{"packed.gz", packed.String(), "Be short.|one|two|three", ""},
		{"packed and cut.gz", half, "Be short.|one|two", "unpacked byte"},
		{"whole", whole, "Be short.|one|two|three", ""},
		{"NUL bytes behind it", whole + "\x00\x00\x00", "Be short.|one|two|three", "something follows it at byte 88"},
		{"cut", whole[:strings.Index(whole, "three")], "Be short.|one|two", "what stands before it was read"},
	} {
		name := "a.json"
		if strings.HasSuffix(c.name, ".gz") {
			name += ".gz"
		}
		env := homeWith(t, map[string]string{name: c.text})
		files, _ := m.Find(context.Background(), env)
		var got []string
		var rep chat.Report
		err := m.Read(context.Background(), files[0], ReadOptions{}, func(conv *chat.Conversation) error {
			rep = conv.Read
			for _, msg := range conv.Messages {
				got = append(got, msg.Text)
			}
			return nil
		})
		if err != nil || strings.Join(got, "|") != c.want || !strings.Contains(rep.Incomplete, c.incomplete) || c.incomplete == "" && rep.Incomplete != "" {
			t.Errorf("%s: got %q, %+v, %v", c.name, got, rep, err)
		}
	}
}

// Of a lookup's file only its latest table is kept, however often it is written.
func TestLookupKeepsOneTable(t *testing.T) {
	m := load(t, damagedYAML)
	env := homeWith(t, map[string]string{"a.json": `{"says":[{"say":"one"}]}`})
	index := filepath.Join(env.Home, "titles", "index.json")
	if err := os.MkdirAll(filepath.Dir(index), 0o777); err != nil {
		t.Fatal(err)
	}
	for i := range 20 {
		want := fmt.Sprintf("title %d", i)
		if err := os.WriteFile(index, []byte(`[{"id":"a","name":"`+want+`"}]`), 0o666); err != nil {
			t.Fatal(err)
		}
		at := time.Unix(int64(1_700_000_000+i), 0)
		if err := os.Chtimes(index, at, at); err != nil {
			t.Fatal(err)
		}
		files, _ := m.Find(context.Background(), env)
		for _, f := range files {
			_ = m.Read(context.Background(), f, ReadOptions{}, func(c *chat.Conversation) error {
				if c.Title != want {
					t.Errorf("title %q, want %q", c.Title, want)
				}
				return nil
			})
		}
	}
	n := 0
	m.tables.Range(func(any, any) bool { n++; return true })
	if n != 1 {
		t.Errorf("%d tables are kept", n)
	}
}

// TestBeginnings: a line without an end is being written if it may be the beginning of a
// record. Anything else is damage, and said to be, even where it is all there is.
func TestBeginnings(t *testing.T) {
	m := load(t, `
sources: [{id: log, paths: ["~/*.jsonl"], container: jsonl, when: {who: {exists: true}}}]
messages: [{as: user, text: say}]
`)
	whole := `{"who":"me","say":"one"}` + "\n"
	for _, row := range []struct {
		name, text string
		torn       bool
		broken     int
		refused    bool
	}{
		{"a record is begun", whole + ` {"who":"m`, true, 0, false},
		{"a picture behind it", whole + "\x89PNG\xff", false, 1, false},
		{"NUL bytes behind it", whole + "\x00\x00\x00", false, 1, false},
		{"nothing but a beginning", `{"wh`, false, 0, false},
		{"nothing but blanks", "\n  \n", false, 0, false},
		{"nothing but NUL bytes", "\x00\x00\x00", false, 0, true},
		{"nothing but a picture", "\x89PNG\xff", false, 0, true},
	} {
		env := homeWith(t, map[string]string{"a.jsonl": row.text})
		files, _ := m.Find(context.Background(), env)
		var rep chat.Report
		err := m.Read(context.Background(), files[0], ReadOptions{}, func(c *chat.Conversation) error {
			rep = c.Read
			return nil
		})
		if rep.Torn != row.torn || len(rep.Broken) != row.broken || (err != nil) != row.refused {
			t.Errorf("%s: torn %v, broken %v, %v", row.name, rep.Torn, rep.Broken, err)
		}
	}
}
