package mapping

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"parlance/internal/chat"
	"parlance/internal/source"
)

// What is too large is passed over or cut, the reader is told which limit it was, and what
// stands before and behind is there.
func TestLimitsOfReadingAreReached(t *testing.T) {
	if testing.Short() {
		t.Skip("reads hundreds of megabytes")
	}
	const head = "parlance: 1\nname: acme\nsources: [{id: log, paths: [\"~/.acme/*\"], container: %s}]\n"
	const says = "messages: [{when: {who: {exists: true}}, as: user, text: say}]\n"
	lines := fmt.Sprintf(head, "jsonl") + says
	hi, there := `{"who":"me","say":"hi"}`+"\n", `{"who":"me","say":"there"}`+"\n"
	large := func(n int) string { return strings.Repeat("x", n) }
	packed := func(n int) string {
		var b bytes.Buffer
		z := gzip.NewWriter(&b)
		_, _ = io.Copy(z, io.LimitReader(xs{}, int64(n)))
		z.Close()
		return base64.StdEncoding.EncodeToString(b.Bytes())
	}
	for _, row := range []struct {
		name, mapping, file string
		write               func(w *os.File) error
		says                string
		messages            int
	}{
		{"a line", lines, "a.jsonl", func(w *os.File) error {
			return sparse(w, hi, source.LineMaxBytes+1, "\n"+there)
		}, "longer than lineMaxBytes (256 MB)", 2},
		{"a document", fmt.Sprintf(head, "json") + says, "a.json", func(w *os.File) error {
			return sparse(w, hi, source.DocumentMaxBytes, " ")
		}, "documentMaxBytes (268435456)", 0},
		{"a text", lines, "a.jsonl", func(w *os.File) error {
			_, err := io.WriteString(w, hi+`{"who":"me","say":"`+large(source.MessageMaxBytes+1)+`"}`+"\n"+there)
			return err
		}, "textMaxBytes (64 MB)", 3},
		{"a packed text", fmt.Sprintf(head, "jsonl") + "messages: [{when: {zip: {exists: true}}, as: user, text: {from: zip, decode: [base64, gzip]}}, {as: user, text: say}]\n", "a.jsonl",
			func(w *os.File) error {
				_, err := io.WriteString(w, hi+`{"zip":"`+packed(source.DecodedMaxBytes+1)+`"}`+"\n"+there)
				return err
			}, "decodedMaxBytes (64 MB)", 2},
		{"edits", "parlance: 1\nname: acme\nsources: [{id: log, paths: [\"~/.acme/*\"], container: jsonl, replay: {op: op, path: path, value: value, init: init, set: set}, records: says}]\n" + says, "a.jsonl",
			func(w *os.File) error {
				if _, err := io.WriteString(w, `{"op":"init","value":{"says":[`+strings.TrimSpace(hi)+`]}}`+"\n"); err != nil {
					return err
				}
				for range source.ReplayMaxBytes >> 24 {
					if _, err := io.WriteString(w, `{"op":"set","path":["a"],"value":"`+large(1<<24)+`"}`+"\n"); err != nil {
						return err
					}
				}
				return nil
			}, "replayMaxBytes (256 MB)", 1},
		// A frame of five bytes that asks for a window of 256 MB: see RFC 8878, 3.1.1.1.2.
		{"a window", lines, "a.jsonl.zst", func(w *os.File) error {
			_, err := w.Write(append([]byte{0x28, 0xb5, 0x2f, 0xfd, 0x00, 18 << 3, 1 | byte(len(hi)<<3), byte(len(hi) >> 5), 0}, hi...))
			return err
		}, "unpackMemoryMaxBytes (128 MB)", 0},
	} {
		t.Run(row.name, func(t *testing.T) {
			env := homeWith(t, map[string]string{".acme/" + row.file: ""})
			path := filepath.Join(env.Home, ".acme", row.file)
			w, err := os.Create(path)
			if err == nil {
				err = errors.Join(row.write(w), w.Close())
			}
			if err != nil {
				t.Fatal(err)
			}
			m := mustLoad(t, row.mapping)
			files, _ := m.Find(context.Background(), env)
			if len(files) != 1 {
				t.Fatalf("found %v", files)
			}
			messages, why := 0, ""
			err = m.Read(context.Background(), files[0], ReadOptions{}, func(c *chat.Conversation) error {
				messages += len(c.Messages)
				for _, b := range c.Read.Broken {
					why += b.Why + "\n"
				}
				why += c.Read.Incomplete + "\n"
				return nil
			})
			if err != nil {
				why += err.Error()
			}
			if messages != row.messages || !strings.Contains(why, row.says) {
				t.Errorf("%d messages; %s", messages, why)
			}
		})
	}
}

// sparse writes a hole between two texts.
func sparse(w *os.File, before string, hole int64, behind string) error {
	if _, err := io.WriteString(w, before); err != nil {
		return err
	}
	_, err := w.WriteAt([]byte(behind), int64(len(before))+hole)
	return err
}

type xs struct{}

func (xs) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = 'x'
	}
	return len(p), nil
}

// A named root that names itself, and defaults inside of defaults, end at a named limit.
func TestNestedPatternsEndAtALimit(t *testing.T) {
	env := Env{Home: "/home/ana", Getenv: func(string) string { return "" }, Named: map[string][]string{"SELF": {"${SELF}/x", "~/y"}}}
	deep := "~/a"
	for range nestMax + 1 {
		deep = "${NONE:-" + deep + "}"
	}
	for _, pattern := range []string{"${SELF}/*.jsonl", deep + "/*.jsonl"} {
		if _, err := expandPlaces(env, pattern, nil); err == nil || !strings.Contains(err.Error(), "nestMax (8)") {
			t.Errorf("%s: %v", pattern, err)
		}
	}
}
