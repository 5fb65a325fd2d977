-- ~/Library/Application Support/Cursor/User/globalStorage/state.vscdb: before there was cursorDiskKV. All data invented.
CREATE TABLE ItemTable (key TEXT UNIQUE ON CONFLICT REPLACE, value BLOB);
INSERT INTO ItemTable VALUES ('aiService.generations', '[{"textDescription": "x"}]');
