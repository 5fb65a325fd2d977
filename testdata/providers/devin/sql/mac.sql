-- ~/Library/Application Support/devin/cli/sessions.db: a table is missing. All data invented.
CREATE TABLE sessions (id TEXT PRIMARY KEY, working_directory TEXT, title TEXT);
INSERT INTO sessions VALUES ('half-moon', '/srv/half', 'No messages here');
