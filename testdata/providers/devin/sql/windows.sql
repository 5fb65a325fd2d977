-- ~/AppData/Roaming/devin/cli/sessions.db: a newer store with columns and tables nobody knows. All data invented.
CREATE TABLE sessions (id TEXT PRIMARY KEY, working_directory TEXT, backend_type TEXT, model TEXT, agent_mode TEXT, created_at INTEGER, last_activity_at INTEGER, title TEXT, main_chain_id INTEGER, hidden INTEGER, colour TEXT);
CREATE TABLE message_nodes (row_id INTEGER PRIMARY KEY, session_id TEXT, node_id INTEGER, parent_node_id INTEGER, chat_message TEXT, created_at INTEGER, metadata TEXT, weight REAL);
CREATE TABLE tool_call_state (session_id TEXT, tool_call_id TEXT, tool_call_json TEXT, tool_call_update_json TEXT);
CREATE TABLE prompt_history (id INTEGER PRIMARY KEY, content TEXT, timestamp INTEGER, session_id TEXT);
CREATE TABLE sparks (id TEXT);
INSERT INTO sessions VALUES ('warm-newt', 'C:\Users\ana\shop', 'windsurf', 'model-x', 'normal', 1780600000, 1780600100, NULL, 2, NULL, 'blue');
INSERT INTO message_nodes VALUES
 (1, 'warm-newt', 1, NULL, '{"message_id":"w1","role":"user","content":"Build","metadata":{"is_user_input":true}}', 1780600001, NULL, 0.5),
 (2, 'warm-newt', 2, 1, '{"message_id":"w2","role":"assistant","content":"Built."}', 1780600002, NULL, 0.5);
INSERT INTO prompt_history VALUES (1, 'Build', 1780600001, 'warm-newt');
