-- ~/.local/share/devin/cli/sessions.db, schema 17. All data invented.
CREATE TABLE sessions (id TEXT PRIMARY KEY, working_directory TEXT NOT NULL, backend_type TEXT NOT NULL, model TEXT NOT NULL, agent_mode TEXT NOT NULL, created_at INTEGER NOT NULL, last_activity_at INTEGER NOT NULL, title TEXT, main_chain_id INTEGER, shell_last_seen_index INTEGER DEFAULT 0, cogs_json TEXT, workspace_dirs TEXT, hidden INTEGER NOT NULL DEFAULT 0, metadata TEXT);
CREATE TABLE message_nodes (row_id INTEGER PRIMARY KEY AUTOINCREMENT, session_id TEXT NOT NULL, node_id INTEGER NOT NULL, parent_node_id INTEGER, chat_message TEXT NOT NULL, created_at INTEGER NOT NULL, metadata TEXT, UNIQUE (session_id, node_id));
CREATE TABLE tool_call_state (session_id TEXT NOT NULL, tool_call_id TEXT NOT NULL, tool_call_json TEXT, tool_call_update_json TEXT, PRIMARY KEY (session_id, tool_call_id));
CREATE TABLE prompt_history (id INTEGER PRIMARY KEY AUTOINCREMENT, content TEXT NOT NULL, timestamp INTEGER NOT NULL, session_id TEXT NOT NULL, is_shell INTEGER NOT NULL DEFAULT 0);
CREATE TABLE subagent_heads (session_id TEXT NOT NULL, agent_id TEXT NOT NULL, chain_node_id INTEGER NOT NULL, updated_at INTEGER NOT NULL, PRIMARY KEY (session_id, agent_id));
CREATE TABLE rendered_commits (id INTEGER PRIMARY KEY, session_id TEXT, sequence_number INTEGER, rendered_html TEXT, created_at INTEGER);
CREATE TABLE app_state (key TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE refinery_schema_history (version INTEGER PRIMARY KEY, name TEXT, applied_on TEXT, checksum TEXT);
INSERT INTO refinery_schema_history VALUES (17, 'subagent_heads', '2026-09-14', 'x');
INSERT INTO app_state VALUES ('schema_compat_version', '17');

INSERT INTO sessions (id, working_directory, backend_type, model, agent_mode, created_at, last_activity_at, title, main_chain_id, hidden) VALUES
 ('quiet-heron', '/srv/demo', 'windsurf', 'model-x', 'normal', 1780000000, 1780000100, NULL, 6, 0),
 ('shy-mole', '/srv/demo', 'windsurf', 'model-x', 'normal', 1780000000, 1780000100, 'Name the session', 1, 1),
 ('calm-otter', '/srv/shop', 'windsurf', 'adaptive', 'plan', 1780100000, 1780100900, 'Tidy the shop', 34, 0),
 ('lost-finch', '/srv/lost', 'windsurf', '', 'normal', 1780200000, 1780200300, '', 999, 0),
 ('round-robin', '/srv/round', 'windsurf', 'model-x', 'normal', 1780300000000, 1780300009000, 'Parents in a circle', 3, 0),
 ('gone-lark', '/srv/gone', 'windsurf', 'model-x', 'normal', 1780400000, 1780400100, 'Only a transcript left', NULL, 0),
 ('still-pond', '/srv/still', 'windsurf', 'model-x', 'normal', 1780500000, 1780500000, NULL, NULL, 0);

-- a dead branch, a retried request, a keep-alive behind the end
INSERT INTO message_nodes (session_id, node_id, parent_node_id, chat_message, created_at, metadata) VALUES
 ('quiet-heron', 1, NULL, '{"message_id":"m1","role":"system","content":"You are a coding agent.","metadata":{"telemetry":{"source":"sysprompt"}}}', 1780000000, NULL),
 ('quiet-heron', 2, 1, '{"message_id":"m2","role":"user","content":"Print hello","metadata":{"is_user_input":true,"created_at":"2026-05-28T20:26:41Z"}}', 1780000001, NULL),
 ('quiet-heron', 3, 2, '{"message_id":"m3","role":"assistant","content":"DEAD BRANCH","metadata":{"request_id":"q1"}}', 1780000002, NULL),
 ('quiet-heron', 4, 2, '{"message_id":"m4","role":"assistant","content":"Running it.","thinking":{"thinking":"Use exec.","signature":"sealed.v1.x"},"tool_calls":[{"id":"k1","index":0,"kind":"function","name":"exec","arguments":{"command":"echo hello"}}],"metadata":{"request_id":"q1","created_at":"2026-05-28T20:26:43Z","generation_model":"model-x","metrics":{"input_tokens":20,"output_tokens":7,"cache_read_tokens":5,"cache_creation_tokens":0}}}', 1780000003, NULL),
 ('quiet-heron', 5, 4, '{"message_id":"m5","role":"tool","tool_call_id":"k1","content":"hello","metadata":{}}', 1780000004, NULL),
 ('quiet-heron', 7, 5, '{"message_id":"m7","role":"user","content":"continue","metadata":{}}', 1780000050, NULL),
 ('quiet-heron', 6, 5, '{"message_id":"m6","role":"assistant","content":"It printed hello.","metadata":{"created_at":"2026-05-28T20:26:45Z"}}', 1780000005, NULL),
 ('shy-mole', 1, NULL, '{"message_id":"h1","role":"user","content":"HIDDEN","metadata":{"is_user_input":true}}', 1780000000, NULL);
INSERT INTO tool_call_state VALUES ('quiet-heron', 'k1', '{"toolCallId":"k1","title":"echo hello","kind":"execute"}', '{"toolCallId":"k1","status":"failed"}');
INSERT INTO prompt_history (content, timestamp, session_id, is_shell) VALUES ('git status', 1779999990, 'quiet-heron', 1), ('Print hello', 1780000001, 'quiet-heron', 0);

-- two compactions; copies of messages in the rebuilt chains; a subagent in the foreground, one behind
INSERT INTO message_nodes (session_id, node_id, parent_node_id, chat_message, created_at, metadata) VALUES
 ('calm-otter', 0, NULL, '{"message_id":"o0","role":"system","content":"You are Devin, an interactive agent."}', 1780100000, '{"summarized_from":null,"is_system_prefix":true}'),
 ('calm-otter', 1, 0, '{"message_id":"o1","role":"system","content":"<system_info>\nCurrent workspace directories:\n  /srv/shop (cwd)\n</system_info>","metadata":{"telemetry":{"source":"system"}}}', 1780100000, 'null'),
 ('calm-otter', 2, 1, '{"message_id":"o2","role":"system","content":"<rules type=\"always-on\">\nbe brief\n</rules>","metadata":{"telemetry":{"source":"rules"}}}', 1780100000, 'null'),
 ('calm-otter', 3, 2, '{"message_id":"o3","role":"user","content":"Tidy the cart","images":[{"width":2,"height":2,"base64_data":"AAAA"}],"metadata":{"is_user_input":true,"created_at":"2026-05-30T00:13:21.250Z"}}', 1780100001, 'null'),
 ('calm-otter', 4, 3, '{"message_id":"o4","role":"assistant","content":"I look first.","thinking":{"thinking":"Two things to see.","signature":"s"},"tool_calls":[{"id":"r1","index":0,"kind":"function","name":"run_subagent","arguments":{"title":"Look","task":"Find the tax"}},{"id":"r2","index":1,"kind":"function","name":"exec","arguments":{"command":"cat none"}}],"metadata":{"generation_model":"swe-2-high","created_at":"2026-05-30T00:13:23Z"}}', 1780100003, 'null'),
 ('calm-otter', 5, NULL, '{"message_id":"k0","role":"system","content":"You explore."}', 1780100004, '{"is_system_prefix":true}'),
 ('calm-otter', 6, 5, '{"message_id":"k1","role":"user","content":"Find the tax","metadata":{"is_user_input":true,"extensions":{"subagent/handoff":true,"chisel/fusion_lead_model_uid":"swe-2-high"}}}', 1780100004, 'null'),
 ('calm-otter', 7, 6, '{"message_id":"k2","role":"assistant","content":"","tool_calls":[{"id":"g1","name":"grep","arguments":{"pattern":"tax"}}],"metadata":{"generation_model":"swe-2-low"}}', 1780100005, 'null'),
 ('calm-otter', 8, 7, '{"message_id":"k3","role":"tool","tool_call_id":"g1","content":"cart.go:7","metadata":{"extensions":{"chisel/tool_result_meta":{"success":true,"kind":"search"}}}}', 1780100006, 'null'),
 ('calm-otter', 9, 8, '{"message_id":"k4","role":"assistant","content":"Tax is added in cart.go."}', 1780100007, 'null'),
 ('calm-otter', 10, 4, '{"message_id":"o5","role":"tool","tool_call_id":"r1","content":"Subagent agent_id=44aa completed successfully:\n\nTax is added in cart.go.","metadata":{"extensions":{"subagent/agent_id":"44aa","subagent/profile_name":"Explore","subagent/chain_node_id":9}}}', 1780100008, 'null'),
 ('calm-otter', 11, 10, '{"message_id":"o6","role":"tool","tool_call_id":"r2","content":"cat: none: No such file","metadata":{"extensions":{"chisel/tool_result_meta":{"success":true,"kind":"exec"},"chisel/terminal_output":{"text":"cat: none: No such file","cwd":"/srv/shop","exit":{"exit_code":1}},"chisel/tool_call_timing":{"started_at":"2026-05-30T00:13:26Z","finished_at":"2026-05-30T00:13:27.125Z","duration_ms":1125}}}}', 1780100008, 'null'),
 ('calm-otter', 12, 11, '{"message_id":"o7","role":"assistant","content":"Seen."}', 1780100009, 'null'),
 ('calm-otter', 20, NULL, '{"message_id":"o8","role":"system","content":"You are Devin, an interactive agent."}', 1780100100, '{"is_system_prefix":true}'),
 ('calm-otter', 21, 20, '{"message_id":"o9","role":"assistant","content":"The tax of the cart was found."}', 1780100100, '{"summarized_from":12,"num_tokens_preceding":48000}'),
 ('calm-otter', 22, 21, '{"message_id":"oa","role":"system","content":"You are continuing work from a previous conversation thread.\nFull conversation history saved at /srv/x.md.\nSummary:\nThe tax of the cart was found.","metadata":{"extensions":{"devin-rs/summary":{"source":"async_file_compactor"}}}}', 1780100100, '{"summarized_from":12}'),
 ('calm-otter', 23, 22, '{"message_id":"o7","role":"assistant","content":"Seen."}', 1780100100, '{"extensions":{"compact/prior_node_ids":[12]}}'),
 ('calm-otter', 24, 23, '{"message_id":"ob","role":"system","content":"<subagent_completion_notification>\n[Background subagent with agent_id=55bb completed]\n\nNothing more.\n</subagent_completion_notification>","metadata":{"extensions":{"subagent/agent_id":"55bb"}}}', 1780100110, 'null'),
 ('calm-otter', 25, 24, '{"message_id":"oc","role":"system","content":"<additional_metadata>\nThe user took the following actions after the last message.\n\n<user_actions>\nThe following changes were made by the USER to: /srv/shop/a.ts.\n[diff_block_start]\n@@ -1 +1 @@\n-x\n+y\n[diff_block_end]\n\nPlease note that the above snippet only shows the MODIFIED lines from the last change.\n\nThe following changes were made by the USER to: /srv/shop/b.ts.\n[diff_block_start]\n-x\n[diff_block_end]\n\nThe file /srv/shop/c.ts was changed by the USER, but the exact changes are unavailable.\n</user_actions>\n</additional_metadata>"}', 1780100120, 'null'),
 ('calm-otter', 26, 25, '{"message_id":"od","role":"user","content":"Now fix it\n<additional_metadata>\nOther open documents:\n- /srv/shop/a.ts\n</additional_metadata>","metadata":{"is_user_input":true}}', 1780100130, 'null'),
 ('calm-otter', 27, 26, '{"message_id":"oe","role":"assistant","content":"Fixing.","tool_calls":[{"id":"e1","name":"edit","arguments":{"file_path":"/srv/shop/cart.go","old_string":"tax + tax","new_string":"tax"}}]}', 1780100140, 'null'),
 ('calm-otter', 28, 27, '{"message_id":"of","role":"tool","tool_call_id":"e1","content":"Edited.","metadata":{"extensions":{"chisel/tool_result_meta":{"success":true}}}}', 1780100141, 'null'),
 ('calm-otter', 30, NULL, '{"message_id":"p0","role":"system","content":"You are Devin, an interactive agent."}', 1780100200, '{"is_system_prefix":true}'),
 ('calm-otter', 31, 30, '{"message_id":"p1","role":"system","content":"You are continuing.\nSummary:\nThe cart is fixed.","metadata":{"extensions":{"devin-rs/summary":{"source":"async_file_compactor"}}}}', 1780100200, '{"summarized_from":28}'),
 ('calm-otter', 32, 31, '{"message_id":"p2","role":"system","content":"[Response interrupted by user]"}', 1780100210, 'null'),
 ('calm-otter', 33, 32, '{"message_id":"p3","role":"system","content":"A hook reminds you of the tests."}', 1780100220, 'null'),
 ('calm-otter', 34, 33, '{"message_id":"p4","role":"assistant","content":"Done.","tool_calls":[{"id":"z1","name":"exec","arguments":{"command":"make test"}}]}', 1780100230, 'null');
INSERT INTO tool_call_state VALUES ('calm-otter', 'r1', '{}', '{"status":"completed"}'), ('calm-otter', 'r2', '{}', '{"status":"completed"}'), ('calm-otter', 'z1', '{}', NULL), ('calm-otter', 'e1', '{}', 'not json');
INSERT INTO subagent_heads VALUES ('calm-otter', '44aa', 9, 1780100007), ('calm-otter', 'ghost', 4711, 1780100007), ('shy-mole', '77cc', 1, 1780000000);

-- the end of the chain is gone: the newest node; a message that is no JSON, a role that is new
INSERT INTO message_nodes (session_id, node_id, parent_node_id, chat_message, created_at, metadata) VALUES
 ('lost-finch', 1, NULL, '{"message_id":"l1","role":"user","content":"Where am I?","metadata":{"is_user_input":true}}', 1780200001, 'null'),
 ('lost-finch', 2, 1, '{"message_id":"l2","role":"assi', 1780200002, 'null'),
 ('lost-finch', 3, 2, '{"message_id":"l3","role":"critic","content":"hm"}', 1780200003, '{"is_system_pre'),
 ('lost-finch', 4, 3, '{"message_id":"l4","role":"assistant","content":"Lost.","metadata":{"generation_model":"swe-1-6"}}', 1780200004, NULL),
 ('lost-finch', 5, 2, '{"message_id":"l5","role":"assistant","content":"OLDER"}', 1780200002, NULL);
-- parents in a circle, times in milliseconds or 0
INSERT INTO message_nodes (session_id, node_id, parent_node_id, chat_message, created_at, metadata) VALUES
 ('round-robin', 1, 3, '{"message_id":"c1","role":"user","content":"Round","metadata":{"is_user_input":true}}', 1780300001000, NULL),
 ('round-robin', 2, 1, '{"message_id":"c2","role":"assistant","content":"and round"}', 0, NULL),
 ('round-robin', 3, 2, '{"message_id":"c3","role":"assistant","content":"we go."}', 1780300003000, NULL);
-- messages gone, outcomes of calls left
INSERT INTO tool_call_state VALUES ('gone-lark', 'g1', '{}', '{"status":"failed"}'), ('gone-lark', 'g2', '{}', '{"status":"completed"}');
