-- ~/Library/Application Support/amazon-q/data.sqlite3: a newer version with one more column,
-- and no table that is not read. All data invented.
CREATE TABLE conversations (key TEXT PRIMARY KEY, value TEXT, pinned INTEGER DEFAULT 0);
INSERT INTO conversations VALUES ('/Users/ana/demo', '{
 "conversation_id": "c-200",
 "schema": 9,
 "history": [
  {"user": {"content": {"Prompt": {"prompt": "which port"}}, "timestamp": "2026-06-01T09:00:00Z"},
   "assistant": {"Response": {"message_id": "n-1", "content": "8123."}}, "request_metadata": null},
  {"user": {"content": {"Voice": {"audio": "…"}}, "timestamp": "2026-06-01T09:01:00Z"},
   "assistant": {"Response": {"message_id": "n-2", "content": "I could not hear that."}}, "request_metadata": null}],
 "transcript": []}', 1);
