CREATE TABLE ItemTable (key TEXT UNIQUE ON CONFLICT REPLACE, value BLOB);
INSERT INTO ItemTable VALUES ('void.chatThreadStorageII', '{"x":{"id":"x","mess'), ('void.settingsServiceStorageII', '{}');
