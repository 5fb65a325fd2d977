-- ~/AppData/Roaming/Windsurf/User/workspaceStorage/w1/state.vscdb. All data invented.
CREATE TABLE ItemTable (key TEXT UNIQUE ON CONFLICT REPLACE, value BLOB);
INSERT INTO ItemTable VALUES ('chat.data', '{"version":3,"sessionId":"v-1","customTitle":"Flags","creationDate":1730000000000,"lastMessageDate":1730000060000,"requests":[{"requestId":"r1","timestamp":1730000000000,"message":{"text":"which flags?"},"response":[{"value":"Two: "},{"value":"-a and -b."},{"kind":"inlineReference"}]},{"requestId":"r2","timestamp":1730000060000,"message":{"text":"thanks"},"response":[]}]}');
