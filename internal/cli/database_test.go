package cli

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"parlance/internal/source"
)

// A database whose statements fail is named with the reason, not passed over.
func TestFailingSQLIsNamed(t *testing.T) {
	home, mine := t.TempDir(), t.TempDir()
	t.Setenv("HOME", home)
	t.Setenv("XDG_CONFIG_HOME", "")
	db := filepath.Join(home, "acme.db")
	if err := source.BuildDB(context.Background(), db, `CREATE TABLE chat(id TEXT); INSERT INTO chat VALUES('a');`); err != nil {
		t.Fatal(err)
	}
	yaml := "parlance: 1\nname: acme\nsources: [{id: db, paths: [\"~/acme.db\"], container: sqlite, list: SELECT id FROM chat, sql: \"SELECT nowhere FROM chat WHERE id = :id\"}]\n" +
		"conversation: {id: doc:id}\nmessages: [{as: user, text: nowhere}]\n"
	if err := os.WriteFile(filepath.Join(mine, "acme.yaml"), []byte(yaml), 0o666); err != nil {
		t.Fatal(err)
	}
	for _, command := range []string{"list", "providers"} {
		var out, errw bytes.Buffer
		run(context.Background(), []string{command, "--home", home, "--mappings", mine}, strings.NewReader(""), &out, &errw)
		if all := out.String() + errw.String(); !strings.Contains(all, "acme.db") || !strings.Contains(all, "no such column: nowhere") {
			t.Errorf("%s says:\n%s", command, all)
		}
	}
}

// A database of tables that no source knows is said to be one, where a person looks for what
// is missing; one of known tables that are empty is not.
func TestUnknownDatabaseIsSaid(t *testing.T) {
	home := t.TempDir()
	t.Setenv("HOME", home)
	t.Setenv("XDG_CONFIG_HOME", "")
	t.Setenv("XDG_DATA_HOME", "")
	dir := filepath.Join(home, ".local", "share", "amazon-q")
	if err := os.MkdirAll(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	build := func(sql string) string {
		t.Helper()
		db := filepath.Join(dir, "data.sqlite3")
		os.Remove(db)
		if err := source.BuildDB(context.Background(), db, sql); err != nil {
			t.Fatal(err)
		}
		var out, errw bytes.Buffer
		run(context.Background(), []string{"providers", "--home", home}, strings.NewReader(""), &out, &errw)
		return out.String() + errw.String()
	}
	const said = "data.sqlite3: no source of the mapping accepts this file"
	if all := build(`CREATE TABLE conversations(name TEXT, body TEXT)`); !strings.Contains(all, said) {
		t.Errorf("columns of another version: providers says:\n%s", all)
	}
	if all := build(`CREATE TABLE conversations(key TEXT, value TEXT)`); strings.Contains(all, said) {
		t.Errorf("no conversation yet: providers says:\n%s", all)
	}
}
