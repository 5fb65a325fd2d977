package mapping

import (
	"encoding/hex"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"
)

func packed(t testing.TB, text string) string {
	t.Helper()
	w, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	return "x'" + hex.EncodeToString(w.EncodeAll([]byte(text), nil)) + "'"
}

func TestPackedColumns(t *testing.T) {
	yaml := `
sources:
  - id: rows
    paths: ["~/x.db"]
    container: sqlite
    needs: {line: [id]}
    list: SELECT DISTINCT chat AS id FROM line
    sql: SELECT COALESCE(zip, plain) AS line FROM line WHERE chat = :id ORDER BY id
    json: [line]
    packed: [line]
  - id: archives
    paths: ["~/x.db"]
    container: sqlite
    needs: {archive: [chat, blob]}
    list: SELECT chat AS id FROM archive
    sql: SELECT blob FROM archive WHERE chat = :id
    log: blob
    packed: [blob]
    messages: lines
lookups: {names: {sqlite: x.db, sql: "SELECT id AS chat, name FROM name", needs: {name: [id, name]}, key: chat, value: name}}
conversation: {id: doc:id, title: {lookup: names, key: doc:id}}
messages: [{when: {line.who: me}, as: user, text: line.say}]
define: {lines: [{when: {who: me}, as: user, text: say}]}
`
	m := load(t, yaml)
	env := homeWith(t, nil)
	sql := "CREATE TABLE line(id INTEGER, chat TEXT, plain TEXT, zip BLOB); CREATE TABLE archive(chat TEXT, blob BLOB);" +
		`INSERT INTO line VALUES(1,'a','{"who":"me","say":"plain"}',NULL),(2,'a',NULL,` + packed(t, `{"who":"me","say":"packed"}`) + `),(3,'a',NULL,x'28b52ffd00');` +
		`INSERT INTO archive VALUES('b',` + packed(t, `{"who":"me","say":"one"}`+"\n\n"+`{"who":"me","say":"two"}`+"\n"+`{"who":"me","s`) + `),('c','{"who":"me","say":"bare"}');`
	buildDB(t, filepath.Join(env.Home, "x.db"), sql)
	said := func() string {
		var b strings.Builder
		for _, c := range readAll(t, m, env, ReadOptions{}) {
			fmt.Fprintf(&b, "%s %q broken %d warnings %d\n%s", c.ID, c.Title, len(c.Read.Broken), len(c.Read.Warnings), told(c))
		}
		return b.String()
	}
	want := `a "" broken 0 warnings 0
user "plain"
user "packed"
b "" broken 1 warnings 0
user "one"
user "two"
c "" broken 0 warnings 0
user "bare"
`
	if got := said(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if level, _ := m.RawFilter(File{Sources: []int{0, 1}}); level != RawNone {
		t.Errorf("raw filter %v: packed bytes show nothing", level)
	}
	env = homeWith(t, nil)
	buildDB(t, filepath.Join(env.Home, "x.db"), sql+"CREATE TABLE name(id TEXT, name TEXT); INSERT INTO name VALUES('c','Chat C');")
	if got := said(); !strings.Contains(got, `c "Chat C" broken 0 warnings 0`) {
		t.Errorf("got\n%s", got)
	}
}
