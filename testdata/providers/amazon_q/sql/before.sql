-- %LOCALAPPDATA%/amazon-q/data.sqlite3 before version 1.10: no conversations were kept.
CREATE TABLE migrations (id INTEGER PRIMARY KEY, version INTEGER NOT NULL, migration_time INTEGER NOT NULL);
CREATE TABLE history (id INTEGER PRIMARY KEY, command TEXT, shell TEXT, cwd TEXT);
