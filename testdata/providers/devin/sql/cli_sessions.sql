-- ~/.local/share/devin/cli/cli_sessions.db: before the renaming. All data invented.
CREATE TABLE sessions (id TEXT PRIMARY KEY, working_directory TEXT, model TEXT, created_at INTEGER, last_activity_at INTEGER, title TEXT);
CREATE TABLE message_nodes (row_id INTEGER PRIMARY KEY, session_id TEXT, node_id INTEGER, parent_node_id INTEGER, chat_message TEXT, created_at INTEGER);
INSERT INTO sessions VALUES ('old-crane', '/srv/old', 'model-o', 1760000000, 1760000009, 'Old');
INSERT INTO message_nodes VALUES
 (1, 'old-crane', 1, NULL, '{"message_id":"a1","role":"user","content":"hi"}', 1760000001),
 (2, 'old-crane', 2, 1, '{"message_id":"a2","role":"assistant","content":"GIVEN UP"}', 1760000002),
 (3, 'old-crane', 3, 1, '{"message_id":"a3","role":"assistant","content":"hello","tool_calls":[{"id":"k","name":"exec","arguments":{"command":"ls"}}]}', 1760000003),
 (4, 'old-crane', 4, 3, '{"message_id":"a4","role":"tool","tool_call_id":"k","content":"a.txt"}', 1760000004);
