-- ~/AppData/Roaming/Cursor/User/globalStorage/state.vscdb. All data invented.
CREATE TABLE ItemTable (key TEXT UNIQUE ON CONFLICT REPLACE, value BLOB);
CREATE TABLE cursorDiskKV (key TEXT UNIQUE ON CONFLICT REPLACE, value BLOB);
INSERT INTO cursorDiskKV VALUES ('composerData:win-1', '{"_v": 10, "composerId": "win-1", "name": "On Windows", "createdAt": 1783425600000, "workspaceIdentifier": {"uri": {"fsPath": "c:\\work\\shop"}}, "fullConversationHeadersOnly": [{"bubbleId": "u1", "type": 1, "grouping": {"isRenderable": true}}]}');
INSERT INTO cursorDiskKV VALUES ('bubbleId:win-1:u1', '{"_v": 3, "bubbleId": "u1", "type": 1, "text": "hello from Windows", "createdAt": "2026-07-07T12:00:00.000Z"}');
