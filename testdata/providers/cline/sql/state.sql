-- The editor's own storage: of each extension one row with its state as JSON.
CREATE TABLE ItemTable (key TEXT UNIQUE ON CONFLICT REPLACE, value BLOB);
INSERT INTO ItemTable VALUES ('some.other', 'no JSON');
INSERT INTO ItemTable VALUES ('saoudrizwan.claude-dev', '{"mode": "act", "taskHistory": [{"id": "1730448000000", "ts": 1730448018100, "task": "what is a lock?", "tokensIn": 700, "tokensOut": 30, "totalCost": 0.003}]}');
