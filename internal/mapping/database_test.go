package mapping

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"parlance/internal/chat"
	"parlance/internal/source"
)

const chatsYAML = `
sources:
  - id: db
    paths: ["~/chats.db"]
    container: sqlite
    needs: {chat: [id, title], line: [chat, who, body]}
    list: SELECT * FROM chat ORDER BY id
    sql: SELECT n, who, body FROM line WHERE chat = :id ORDER BY n
    json: [body]
conversation: {id: doc:id, title: doc:title, updated: {from: doc:at, unit: s}}
messages:
  - {when: {who: me}, as: user, text: body.say}
  - {when: {who: bot}, as: assistant, text: body}
`

func buildDB(t testing.TB, path, sql string) {
	t.Helper()
	if err := source.BuildDB(context.Background(), path, sql); err != nil {
		t.Fatal(err)
	}
}

func TestDatabase(t *testing.T) {
	m := load(t, chatsYAML)
	env := homeWith(t, nil)
	buildDB(t, filepath.Join(env.Home, "chats.db"), `CREATE TABLE chat(id TEXT, title TEXT, at INTEGER, blobby BLOB);
CREATE TABLE line(n INTEGER, chat TEXT, who TEXT, body TEXT);
INSERT INTO chat VALUES('a','A',1780000000,x'ff00'),('a','twice',1,NULL),('b','B',1780000060,NULL),(NULL,'none',1,NULL);
INSERT INTO line VALUES(1,'a','me','{"say":"hi"}'),(2,'a','bot','not JSON: "x"'),(3,'a','new','{}'),(1,'b','me','{"say":7}');`)
	got := readAll(t, m, env, ReadOptions{})
	if len(got) != 2 || got[0].ID != "a" || got[0].Title != "A" || got[0].Row != "a" || got[0].Updated.Unix() != 1780000000 {
		t.Fatalf("%+v", got)
	}
	expectLines(t, got[0], "\nuser hi\nassistant not JSON: \"x\"\n")
	if got[0].Read.NoRule["new"] != 1 || got[0].Messages[1].Origin.Pointer != "row 2" {
		t.Errorf("%+v", got[0])
	}
	if one := readAll(t, m, env, ReadOptions{Row: "b"}); len(one) != 1 || lines(one[0]) != "user 7\n" {
		t.Errorf("%+v", one)
	}
	files, _ := m.Find(context.Background(), env)
	var heads []string
	ok, err := m.Heads(context.Background(), files[0], func(c *chat.Conversation) error {
		heads = append(heads, fmt.Sprint(c.ID, c.Title, c.Updated.Unix(), len(c.Messages)))
		return nil
	})
	if !ok || err != nil || fmt.Sprint(heads) != "[aA1780000000 0 bB1780000060 0]" {
		t.Errorf("heads %v %v %v", heads, ok, err)
	}
}

func TestDatabaseOfAnotherSchemaIsNotAccepted(t *testing.T) {
	m := load(t, chatsYAML)
	env := homeWith(t, nil)
	buildDB(t, filepath.Join(env.Home, "chats.db"), `CREATE TABLE chat(id TEXT, name TEXT);`)
	files, _ := m.Find(context.Background(), env)
	err := m.Read(context.Background(), files[0], ReadOptions{}, func(*chat.Conversation) error { return nil })
	if err == nil {
		t.Error("accepted")
	}
}

func TestDatabaseErrorInSQLIsSaid(t *testing.T) {
	m := load(t, chatsYAML)
	env := homeWith(t, nil)
	path := filepath.Join(env.Home, "chats.db")
	buildDB(t, path, `CREATE TABLE chat(id TEXT, title TEXT); CREATE TABLE line(chat TEXT, who TEXT, body TEXT); INSERT INTO chat VALUES('a','A');`)
	got := readAll(t, m, env, ReadOptions{})
	if len(got) != 1 || got[0].Read.Incomplete == "" {
		t.Errorf("%+v", got)
	}
}

// A file that was copied from its place is offered to every source: that it is no database,
// or no document, is no reason to stop there.
func TestCopiedFileIsTriedAsEveryContainer(t *testing.T) {
	m := load(t, `
sources:
  - {id: saved, paths: ["~/saved/*.chat"], container: json, records: lines}
  - {id: log, paths: ["~/saved/*.log"], container: jsonl, when: {who: {exists: true}}}
  - {id: db, paths: ["~/chats.db"], container: sqlite, list: SELECT * FROM chat, sql: "SELECT * FROM line WHERE chat = :id"}
  - {id: doc, paths: ["~/saved/*.json"], container: json, records: lines}
`+talk)
	env := homeWith(t, map[string]string{
		"copied.json":  `{"lines":[{"who":"me","say":"hi"}]}`,
		"copied.jsonl": `{"who":"me","say":"hi"}` + "\n" + `{"who":"me","say":"ho"}`,
		"notes.txt":    "neither\n", "cut.json": `{"lines":[{"who":"me"` + "\n",
	})
	buildDB(t, filepath.Join(env.Home, "copied.db"), `CREATE TABLE chat(id TEXT); INSERT INTO chat VALUES('a');
CREATE TABLE line(chat TEXT, who TEXT, say TEXT); INSERT INTO line VALUES('a','me','hi');`)
	read := func(name string) (got []*chat.Conversation, err error) {
		f, err := m.FileAt(env, filepath.Join(env.Home, name))
		if err != nil {
			t.Fatal(err)
		}
		err = m.Read(context.Background(), f, ReadOptions{}, func(c *chat.Conversation) error {
			got = append(got, c)
			return nil
		})
		return got, err
	}
	for name, want := range map[string]string{"copied.json": "user hi\n", "copied.jsonl": "user hi\nuser ho\n", "copied.db": "user hi\n"} {
		if got, err := read(name); err != nil || len(got) != 1 || lines(got[0]) != want {
			t.Errorf("%s: %v %v", name, got, err)
		}
	}
	if _, err := read("notes.txt"); err == nil {
		t.Error("notes were read")
	}
	if _, err := read("cut.json"); err == nil || !strings.Contains(err.Error(), "not one whole JSON document") {
		t.Errorf("cut.json: %v", err)
	}
}
