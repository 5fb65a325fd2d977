CREATE TABLE ai_queries (id INTEGER PRIMARY KEY NOT NULL, exchange_id TEXT NOT NULL, conversation_id TEXT NOT NULL, start_ts DATETIME NOT NULL, input TEXT NOT NULL, working_directory TEXT, output_status TEXT NOT NULL);
CREATE TABLE ai_blocks (id INTEGER PRIMARY KEY, exchange_id TEXT, output TEXT);
INSERT INTO ai_queries VALUES (1, 'y1', '0a0a0000-0000-4000-8000-000000000005', '2024-09-01 08:00:00', '[{"Query": {"text": "of 2024", "context": [], "referenced_attachments": {}}}]', '/Users/ana', '"Completed"');
