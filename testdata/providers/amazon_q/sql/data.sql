-- ~/.local/share/amazon-q/data.sqlite3, as versions 1.14 to 1.19 write it. All data invented.
CREATE TABLE migrations (id INTEGER PRIMARY KEY, version INTEGER NOT NULL, migration_time INTEGER NOT NULL);
CREATE TABLE history (id INTEGER PRIMARY KEY, command TEXT, shell TEXT, cwd TEXT);
CREATE TABLE state (key TEXT PRIMARY KEY, value BLOB);
CREATE TABLE auth_kv (key TEXT PRIMARY KEY, value TEXT);
INSERT INTO history VALUES (1, 'ls -la', 'bash', '/srv/demo');
INSERT INTO auth_kv VALUES ('codewhisperer:odic:token', '{"access_token": "never to be read"}');
CREATE TABLE conversations (key TEXT PRIMARY KEY, value TEXT);
-- every variant; after /compact
INSERT INTO conversations VALUES ('/srv/demo', '{
 "conversation_id": "c-100",
 "next_message": null,
 "history": [
  {"user": {"additional_context": "", "env_context": {"env_state": {"operating_system": "linux", "current_working_directory": "/srv/demo", "environment_variables": []}}, "content": {"Prompt": {"prompt": "List the demo folder"}}, "timestamp": "2026-05-28T22:26:40.000000000+02:00", "images": null},
   "assistant": {"ToolUse": {"message_id": "a-1", "content": "Let me look.", "tool_uses": [{"id": "t-1", "name": "execute_bash", "orig_name": "execute_bash", "args": {"command": "ls"}, "orig_args": {"command": "ls"}}, {"id": "t-2", "name": "fs_read", "orig_name": "fs_read", "args": {"operations": [{"mode": "Line", "path": "x.txt"}]}, "orig_args": {}}]}},
   "request_metadata": {"request_id": "r-1", "message_id": "a-1", "request_start_timestamp_ms": 1780000001000, "stream_end_timestamp_ms": 1780000004000, "model_id": "model-x", "tool_use_ids_and_names": [["t-1", "execute_bash"], ["t-2", "fs_read"]]}},
  {"user": {"additional_context": "", "env_context": {"env_state": null}, "content": {"ToolUseResults": {"tool_use_results": [{"tool_use_id": "t-1", "content": [{"Json": {"exit_status": "0", "stdout": "a.txt\nb.txt", "stderr": ""}}], "status": "Success"}, {"tool_use_id": "t-2", "content": [{"Text": "no such file"}], "status": "Error"}]}}, "timestamp": null, "images": null},
   "assistant": {"Response": {"message_id": "a-2", "content": "There are two files."}},
   "request_metadata": {"request_start_timestamp_ms": 1780000005000, "stream_end_timestamp_ms": 1780000007000, "model_id": "model-x"}},
  {"user": {"additional_context": "", "content": {"CancelledToolUses": {"prompt": "Stop, only describe them", "tool_use_results": [{"tool_use_id": "t-3", "content": [{"Text": "Tool use was cancelled by the user"}], "status": "Error"}]}}, "timestamp": "2026-05-28T20:28:00Z", "images": null},
   "assistant": {"Response": {"message_id": "a-3", "content": "They are plain text."}}, "request_metadata": null}],
 "valid_history_range": [0, 3],
 "transcript": ["> List the demo folder", "Let me look.\n[Tool uses: execute_bash,fs_read]", "There are two files.\n[Tool uses: none]", "> Stop, only describe them", "They are plain text.\n[Tool uses: none]"],
 "latest_summary": ["Earlier the user set up a demo folder.", null],
 "model_info": {"model_name": "Model X", "model_id": "model-x", "context_window_tokens": 200000},
 "tangent_state": null}');
-- up to 1.13: pairs, the model a string
INSERT INTO conversations VALUES ('/srv/old', '{
 "conversation_id": "c-050",
 "next_message": null,
 "history": [
  [{"additional_context": "", "content": {"Prompt": {"prompt": "Which shell is this?"}}, "timestamp": "2025-06-02T08:00:00Z"},
   {"ToolUse": {"message_id": "p-1", "content": "", "tool_uses": [{"id": "t-9", "name": "execute_bash", "args": {"command": "echo $0"}}]}}],
  [{"additional_context": "", "content": {"ToolUseResults": {"tool_use_results": [{"tool_use_id": "t-9", "content": [{"Json": {"exit_status": "0", "stdout": "zsh", "stderr": ""}}], "status": "Success"}]}}},
   {"Response": {"message_id": "p-2", "content": "It is zsh."}}]],
 "valid_history_range": [0, 2],
 "transcript": [],
 "model": "claude-3.7-sonnet"}');
-- a tangent is open; the last prompt has no answer yet; a tool whose server is gone
INSERT INTO conversations VALUES ('/srv/shop', '{
 "conversation_id": "c-101",
 "next_message": {"additional_context": "", "content": {"Prompt": {"prompt": "And the tests?"}}, "timestamp": "2026-05-29T10:05:00Z", "images": [{"format": "png", "source": {"Bytes": [137, 80, 78, 71]}}]},
 "history": [
  {"user": {"additional_context": "--- CONTEXT ENTRY BEGIN ---\nrules\n--- CONTEXT ENTRY END ---\n\n", "content": {"Prompt": {"prompt": "--- CONTEXT ENTRY BEGIN ---\nCurrent time: Friday\n--- CONTEXT ENTRY END ---\n\n--- USER MESSAGE BEGIN ---\nFind the prices\n--- USER MESSAGE END ---"}}, "timestamp": "2026-05-29T10:00:00Z", "images": null},
   "assistant": {"ToolUse": {"message_id": null, "content": "", "tool_uses": [{"id": "t-4", "name": "dummy", "orig_name": "shop___prices", "args": {"q": "tea"}, "orig_args": {}}]}},
   "request_metadata": {"stream_end_timestamp_ms": 1780048801000, "model_id": "auto"}},
  {"user": {"content": {"ToolUseResults": {"tool_use_results": [{"tool_use_id": "t-4", "content": [{"Json": {"content": [{"type": "text", "text": "tea 3"}, {"type": "text", "text": "cup 5"}], "isError": false}}], "status": "Success"}]}}, "timestamp": null},
   "assistant": {"Response": {"message_id": "a-5", "content": "Tea is 3."}}, "request_metadata": null},
  {"user": {"content": {"CancelledToolUses": {"prompt": null, "tool_use_results": []}}, "timestamp": "2026-05-29T10:03:00Z"},
   "assistant": {"Response": {"message_id": "a-6", "content": "Then not."}}, "request_metadata": null},
  {"user": {"content": {"Prompt": {"prompt": "The conversation history has overflowed, clearing state"}}, "timestamp": null},
   "assistant": {"Response": {"message_id": "a-7", "content": "Understood."}}, "request_metadata": null}],
 "valid_history_range": [3, 4],
 "transcript": ["> Find the prices"],
 "latest_summary": null,
 "model_info": {"model_name": "Auto"},
 "tangent_state": {"main_history": [{"user": {"content": {"Prompt": {"prompt": "a copy"}}}, "assistant": {"Response": {"content": "a copy"}}}], "main_transcript": []}}');
-- /compact, and nothing since: the copy is all there is
INSERT INTO conversations VALUES ('/srv/compact', '{
 "conversation_id": "c-102",
 "next_message": null,
 "history": [],
 "valid_history_range": [0, 0],
 "transcript": ["> /model", "> Rename the loader", "\n\nLet me see.\n[Tool uses: fs_read]", "Renamed.\n[Tool uses: none]"],
 "latest_summary": ["The loader was renamed.", {"request_id": "r-9"}]}');
-- opened and never used
INSERT INTO conversations VALUES ('/srv/empty', '{"conversation_id": "c-103", "next_message": null, "history": [], "valid_history_range": [0, 0], "transcript": [], "latest_summary": null}');
-- half a value
INSERT INTO conversations VALUES ('/srv/torn', '{"conversation_id": "c-104", "history": [{"user": {"con');
