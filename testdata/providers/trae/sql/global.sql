CREATE TABLE ItemTable (key TEXT UNIQUE ON CONFLICT REPLACE, value BLOB);
INSERT INTO ItemTable VALUES ('memento/icube-ai-agent-storage', '{"list": [{"sessionId": "s-1", "createdAt": 1783425600000, "updatedAt": 1783425600000, "model": "m-0", "messages": [{"role": "user", "content": "Name a sort", "timestamp": 1783425600000, "turnIndex": 0}]}]}');
