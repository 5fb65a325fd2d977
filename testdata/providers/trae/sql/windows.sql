CREATE TABLE ItemTable (key TEXT UNIQUE ON CONFLICT REPLACE, value BLOB);
INSERT INTO ItemTable VALUES ('memento/icube-ai-agent-storage', '{"list": [{"sessionId": "s-9", "createdAt": 1783425600, "model": "m-0", "messages": [{"role": "user", "content": "hi"}, {"role": "assistant", "content": "ho"}]}]}');
