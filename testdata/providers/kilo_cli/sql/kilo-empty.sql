-- kilo-empty.db: made and not yet filled: part is missing.
CREATE TABLE session(id TEXT, directory TEXT);
CREATE TABLE message(data TEXT);
INSERT INTO session VALUES('ses_x','/srv');
