package source

import (
	"context"
	"fmt"
	"os"

	"github.com/ncruces/go-sqlite3"
)

// builtMaxPages of 4 kB bound a database that BuildDB makes to 64 MB: samples have a few rows.
const builtMaxPages = 16 << 10

// BuildDB makes a new database at path from SQL statements, for the tests that mappings
// carry. It is the one function here that writes, and only to a file that is not there yet.
// The statements come with a mapping, so they cannot reach another file, and end with ctx.
func BuildDB(ctx context.Context, path, statements string) (err error) {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	if err := f.Close(); err != nil {
		return err
	}
	defer func() {
		if err != nil {
			os.Remove(path)
		}
	}()
	conn, err := sqlite3.OpenContext(ctx, path)
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	defer conn.Close()
	conn.SetInterrupt(ctx)
	if err := conn.Exec(fmt.Sprintf("PRAGMA max_page_count = %d", builtMaxPages)); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	// VACUUM INTO attaches its target, so this covers it.
	err = conn.SetAuthorizer(func(action sqlite3.AuthorizerActionCode, _, _, _, _ string) sqlite3.AuthorizerReturnCode {
		switch action {
		case sqlite3.AUTH_ATTACH, sqlite3.AUTH_DETACH, sqlite3.AUTH_PRAGMA:
			return sqlite3.AUTH_DENY
		}
		return sqlite3.AUTH_OK
	})
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return conn.Exec(statements)
}

// EditedDB copies a database without a log or journal beside it to a file that is not there
// yet and runs statements on the copy: for tests of what other versions of a tool write.
func EditedDB(ctx context.Context, from, to, statements string) (err error) {
	data, err := ReadAll(ctx, from)
	if err != nil {
		return err
	}
	f, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	if _, err := f.Write(data); err != nil {
		f.Close()
		return err
	}
	if err := f.Close(); err != nil {
		return err
	}
	conn, err := sqlite3.OpenContext(ctx, to)
	if err != nil {
		return fmt.Errorf("%s: %w", to, err)
	}
	defer conn.Close()
	conn.SetInterrupt(ctx)
	// A log or a journal beside the copy would be forgotten when it is moved.
	return conn.Exec("PRAGMA journal_mode = memory; PRAGMA synchronous = off; " + statements)
}
