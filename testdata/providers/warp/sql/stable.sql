CREATE TABLE ai_queries (id INTEGER PRIMARY KEY NOT NULL, exchange_id TEXT NOT NULL, conversation_id TEXT NOT NULL, start_ts DATETIME NOT NULL, input TEXT NOT NULL, working_directory TEXT, output_status TEXT NOT NULL, model_id TEXT NOT NULL DEFAULT '', planning_model_id TEXT NOT NULL DEFAULT '', coding_model_id TEXT NOT NULL DEFAULT '');
CREATE TABLE agent_conversations (id INTEGER PRIMARY KEY, conversation_id TEXT NOT NULL, conversation_data TEXT NOT NULL, last_modified_at TIMESTAMP NOT NULL, summary TEXT);
CREATE TABLE agent_tasks (id INTEGER PRIMARY KEY, conversation_id TEXT NOT NULL, task_id TEXT NOT NULL, task BLOB NOT NULL, last_modified_at TIMESTAMP NOT NULL);
CREATE TABLE commands (id INTEGER PRIMARY KEY, command TEXT);
INSERT INTO ai_queries (id, exchange_id, conversation_id, start_ts, input, working_directory, output_status, model_id) VALUES
(1, 'x1', '0a0a0000-0000-4000-8000-000000000001', '2026-07-07 12:00:00.000000', '[{"Query": {"text": "Why is port 80 busy?", "context": [{"Directory": {"pwd": "/home/ana"}}], "referenced_attachments": {}}}]', '/home/ana', '"Completed"', 'auto'),
(2, 'x2', '0a0a0000-0000-4000-8000-000000000001', '2026-07-07 12:01:01.000000', '[]', '/home/ana', '"Completed"', 'model-x'),
(3, 'x3', '0a0a0000-0000-4000-8000-000000000001', '2026-07-07 12:02:00.500000', '[{"Query": {"text": "Stop that", "context": [], "referenced_attachments": {}}}, {"Query": {"text": "service 渡し船", "context": [], "referenced_attachments": {}}}]', '/srv', '"Cancelled"', 'auto'),
(4, 'x4', '0a0a0000-0000-4000-8000-000000000002', '2026-07-08 09:00:00', '[{"Query": {"text": "it''s /fork", "context": [], "referenced_attachments": {}}}]', NULL, '{"Failed":{"error":"x"}}', ''),
(5, 'x5', '0a0a0000-0000-4000-8000-000000000003', '2026-07-08 10:00:00', '[]', '/srv', '"Completed"', ''),
(6, 'x6', '', '2026-07-08 11:00:00', '[{"Query": {"text": "of no conversation", "context": [], "referenced_attachments": {}}}]', '/srv', '"Completed"', ''),
(7, 'x7', '0a0a0000-0000-4000-8000-000000000004', '2026-07-08 12:00:00', '[{"Query":{"text":"cut', '/srv', '"Pending"', ''),
(8, 'x8', '0a0a0000-0000-4000-8000-000000000004', '2026-07-08 12:00:01', '[{"OfAKindToCome": {"a": 1}}]', '/srv', '"Completed"', '');
INSERT INTO agent_conversations VALUES (1, '0a0a0000-0000-4000-8000-000000000001', '{"conversation_usage_metadata":{}}', '2026-07-07 12:02:05', 'Port 80'), (2, '0a0a0000-0000-4000-8000-000000000002', '{}', '2026-07-08 09:00:05', NULL);
INSERT INTO agent_tasks VALUES (1, '0a0a0000-0000-4000-8000-000000000001', 't', x'0a0474657374', '2026-07-07 12:02:05');
INSERT INTO commands VALUES (1, 'ls');
