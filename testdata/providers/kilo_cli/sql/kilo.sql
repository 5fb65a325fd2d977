-- kilo.db: OpenCode's tables. The tree is older and stays beside it.
CREATE TABLE project(id TEXT PRIMARY KEY, worktree TEXT NOT NULL, vcs TEXT, name TEXT, time_created INTEGER, time_updated INTEGER);
CREATE TABLE session(id TEXT PRIMARY KEY, project_id TEXT NOT NULL, parent_id TEXT, slug TEXT NOT NULL, directory TEXT NOT NULL, title TEXT NOT NULL, version TEXT NOT NULL, revert TEXT, time_created INTEGER NOT NULL, time_updated INTEGER NOT NULL, time_archived INTEGER);
CREATE TABLE message(id TEXT PRIMARY KEY, session_id TEXT NOT NULL, time_created INTEGER NOT NULL, time_updated INTEGER NOT NULL, data TEXT NOT NULL);
CREATE TABLE part(id TEXT PRIMARY KEY, message_id TEXT NOT NULL, session_id TEXT NOT NULL, time_created INTEGER NOT NULL, time_updated INTEGER NOT NULL, data TEXT NOT NULL);

INSERT INTO project VALUES('pk','/srv/orchard','git',NULL,1775088000000,1775088000000);
INSERT INTO project VALUES('global','/',NULL,NULL,1775088000000,1775088000000);

-- A turn with its tools, a child, an error, a summary; a part that only a fork knows.
INSERT INTO session VALUES('ses_k1','pk',NULL,'blue-elm','/srv/orchard','Colour names','7.0.1',NULL,1771718400000,1775088009000,NULL);
INSERT INTO message VALUES('msg_k1','ses_k1',1771718400000,1771718400000,'{"role": "user", "time": {"created": 1771718400000}, "agent": "code", "model": {"providerID": "kilo", "modelID": "vendor/model-a"}}');
INSERT INTO part VALUES('prt_k1','msg_k1','ses_k1',1771718400000,1771718400000,'{"type": "text", "text": "Name a colour"}');
INSERT INTO message VALUES('msg_k2','ses_k1',1771718401000,1771718401000,'{"role": "assistant", "time": {"created": 1771718401000}, "agent": "code", "mode": "code", "providerID": "kilo", "modelID": "vendor/model-a", "path": {"cwd": "/srv/orchard", "root": "/srv/orchard"}}');
INSERT INTO part VALUES('prt_k2','msg_k2','ses_k1',1771718402000,1771718402000,'{"type": "tool", "callID": "q1", "tool": "glob", "state": {"status": "error", "input": {"pattern": "*.txt"}, "error": "denied by user", "time": {"start": 1771718402000, "end": 1771718403000}}}');
INSERT INTO part VALUES('prt_k3','msg_k2','ses_k1',1771718404000,1771718404000,'{"type": "text", "text": "Blue.", "time": {"start": 1771718404000, "end": 1771718405000}}');
INSERT INTO message VALUES('msg_k3','ses_k1',1775088000000,1775088000000,'{"role": "user", "time": {"created": 1775088000000}, "agent": "code", "model": {"providerID": "kilo", "modelID": "vendor/model-a"}}');
INSERT INTO part VALUES('prt_k4','msg_k3','ses_k1',1775088000000,1775088000000,'{"type": "text", "text": "Which trees have it?"}');
INSERT INTO part VALUES('prt_k5','msg_k3','ses_k1',1775088000000,1775088000000,'{"type": "text", "synthetic": true, "text": "<environment_details>\nCurrent time: now\n</environment_details>"}');
INSERT INTO message VALUES('msg_k4','ses_k1',1775088001000,1775088001000,'{"role": "assistant", "time": {"created": 1775088001000}, "agent": "code", "mode": "code", "providerID": "kilo", "modelID": "vendor/model-a", "path": {"cwd": "/srv/orchard", "root": "/srv/orchard"}}');
INSERT INTO part VALUES('prt_k6','msg_k4','ses_k1',1775088001000,1775088001000,'{"type": "reasoning", "text": "Ask someone.", "time": {"start": 1775088001100, "end": 1775088001200}}');
INSERT INTO part VALUES('prt_k7','msg_k4','ses_k1',1775088002000,1775088002000,'{"type": "tool", "callID": "q2", "tool": "task", "state": {"status": "completed", "input": {"prompt": "find blue trees", "subagent_type": "explore"}, "output": "one spruce", "title": "find", "metadata": {"sessionId": "ses_k3"}, "time": {"start": 1775088002000, "end": 1775088005000}}}');
INSERT INTO part VALUES('prt_k8','msg_k4','ses_k1',1775088006000,1775088006000,'{"type": "kilo_badge", "text": "new in the fork"}');
INSERT INTO part VALUES('prt_k9','msg_k4','ses_k1',1775088007000,1775088007000,'{"type": "text", "text": "The spruce.", "time": {"start": 1775088007000, "end": 1775088007500}}');
INSERT INTO message VALUES('msg_k5','ses_k1',1775088008000,1775088008000,'{"role": "assistant", "time": {"created": 1775088008000}, "agent": "compaction", "mode": "compaction", "providerID": "kilo", "modelID": "vendor/model-a", "path": {"cwd": "/srv/orchard", "root": "/srv/orchard"}, "summary": true}');
INSERT INTO part VALUES('prt_ka','msg_k5','ses_k1',1775088008000,1775088008000,'{"type": "text", "text": "Goal: colours. Found: blue spruce."}');
INSERT INTO session VALUES('ses_k3','pk','ses_k1','red-fir','/srv/orchard','Child session - 2026-04-02T00:00:02.000Z','7.0.1',NULL,1775088002000,1775088005000,NULL);
INSERT INTO message VALUES('msg_c1','ses_k3',1775088002000,1775088002000,'{"role": "user", "time": {"created": 1775088002000}, "agent": "code", "model": {"providerID": "kilo", "modelID": "vendor/model-a"}}');
INSERT INTO part VALUES('prt_c1','msg_c1','ses_k3',1775088002000,1775088002000,'{"type": "text", "text": "find blue trees"}');
INSERT INTO message VALUES('msg_c2','ses_k3',1775088004000,1775088004000,'{"role": "assistant", "time": {"created": 1775088004000}, "agent": "code", "mode": "code", "providerID": "kilo", "modelID": "vendor/model-a", "path": {"cwd": "/srv/orchard", "root": "/srv/orchard"}}');
INSERT INTO part VALUES('prt_c2','msg_c2','ses_k3',1775088004000,1775088004000,'{"type": "text", "text": "one spruce"}');

-- Outside of a repository, undone from a message on, an error without an answer.
INSERT INTO session VALUES('ses_k2','pk',NULL,'tall-ash','/','New session - 2026-04-02T00:00:00.000Z','7.0.1','{"messageID": "msg_r3"}',1775088000000,1775088003000,NULL);
INSERT INTO message VALUES('msg_r1','ses_k2',1775088000000,1775088000000,'{"role": "user", "time": {"created": 1775088000000}}');
INSERT INTO part VALUES('prt_r1','msg_r1','ses_k2',1775088000000,1775088000000,'{"type": "text", "text": "Draw a tree"}');
INSERT INTO message VALUES('msg_r2','ses_k2',1775088001000,1775088001000,'{"role": "assistant", "time": {"created": 1775088001000}, "providerID": "kilo", "modelID": "vendor/model-b", "error": {"name": "APIError", "data": {"message": "quota used up"}}}');
INSERT INTO message VALUES('msg_r3','ses_k2',1775088002000,1775088002000,'{"role": "user", "time": {"created": 1775088002000}}');
INSERT INTO part VALUES('prt_r3','msg_r3','ses_k2',1775088002000,1775088002000,'{"type": "text", "text": "Try again"}');

-- A task of the old extension, imported by the new one.
INSERT INTO session VALUES('ses_old','pk',NULL,'1751889600000','/srv/orchard','Count the trees','v2',NULL,1751889600000,1751889609000,NULL);
INSERT INTO message VALUES('msg_o0','ses_old',1751889600000,1751889600000,'{"role": "user", "time": {"created": 1751889600000}, "agent": "user", "model": {"providerID": "legacy", "modelID": "legacy"}}');
INSERT INTO part VALUES('prt_o0_0','msg_o0','ses_old',1751889600000,1751889600000,'{"type": "text", "text": "Count the trees"}');
INSERT INTO message VALUES('msg_o1','ses_old',1751889601000,1751889601000,'{"role": "assistant", "time": {"created": 1751889601000, "completed": 1751889601000}, "providerID": "legacy", "modelID": "legacy", "mode": "code", "agent": "main", "path": {"cwd": "/srv/orchard", "root": "/srv/orchard"}}');
INSERT INTO part VALUES('prt_o1_0','msg_o1','ses_old',1751889601000,1751889601000,'{"type": "text", "text": "<read_file>\n<path>trees</path>\n</read_file>"}');
INSERT INTO message VALUES('msg_o2','ses_old',1751889602000,1751889602000,'{"role": "user", "time": {"created": 1751889602000}, "agent": "user", "model": {"providerID": "legacy", "modelID": "legacy"}}');
INSERT INTO part VALUES('prt_o2_0','msg_o2','ses_old',1751889602000,1751889602000,'{"type": "text", "text": "[read_file for ''trees''] Result:"}');
INSERT INTO part VALUES('prt_o2_1','msg_o2','ses_old',1751889602000,1751889602000,'{"type": "text", "text": "oak, elm"}');
INSERT INTO message VALUES('msg_o3','ses_old',1751889603000,1751889603000,'{"role": "assistant", "time": {"created": 1751889603000, "completed": 1751889603000}, "providerID": "legacy", "modelID": "legacy", "mode": "code", "agent": "main", "path": {"cwd": "/srv/orchard", "root": "/srv/orchard"}}');
INSERT INTO part VALUES('prt_o3_0','msg_o3','ses_old',1751889603000,1751889603000,'{"type": "text", "text": "Two. Shall I go on?"}');
INSERT INTO message VALUES('msg_o4','ses_old',1751889604000,1751889604000,'{"role": "user", "time": {"created": 1751889604000}, "agent": "user", "model": {"providerID": "legacy", "modelID": "legacy"}}');
INSERT INTO part VALUES('prt_o4_0','msg_o4','ses_old',1751889604000,1751889604000,'{"type": "text", "text": "[ask_followup_question for ''Shall I go on?''] Result:\n<answer>\nno shrubs\n</answer>"}');
INSERT INTO message VALUES('msg_o5','ses_old',1751889605000,1751889605000,'{"role": "user", "time": {"created": 1751889605000}, "agent": "user", "model": {"providerID": "legacy", "modelID": "legacy"}}');
INSERT INTO part VALUES('prt_o5_0','msg_o5','ses_old',1751889605000,1751889605000,'{"type": "tool", "callID": "c1", "tool": "execute_command", "state": {"status": "completed", "input": {"command": "wc"}, "output": "2", "title": "execute_command", "metadata": {}, "time": {"start": 1751889605000, "end": 1751889605000}}}');
INSERT INTO part VALUES('prt_o5_1','msg_o5','ses_old',1751889605000,1751889605000,'{"type": "text", "text": "[ERROR] You did not use a tool in your previous response!", "ignored": true, "metadata": {"source": "legacy-system-error"}}');
INSERT INTO message VALUES('msg_o6','ses_old',1751889606000,1751889606000,'{"role": "assistant", "time": {"created": 1751889606000, "completed": 1751889606000}, "providerID": "legacy", "modelID": "legacy", "mode": "code", "agent": "main", "path": {"cwd": "/srv/orchard", "root": "/srv/orchard"}}');
INSERT INTO part VALUES('prt_o6_0','msg_o6','ses_old',1751889606000,1751889606000,'{"type": "text", "text": "Two trees."}');

-- Rows that hold no JSON.
INSERT INTO session VALUES('ses_bad','global',NULL,'grey-yew','/srv/else','Broken rows','7.0.1',NULL,1775088000000,1775088000001,NULL);
INSERT INTO message VALUES('msg_b1','ses_bad',1775088000000,1775088000000,'{cut');
INSERT INTO part VALUES('prt_b1','msg_b1','ses_bad',1775088000000,1775088000000,'{cut');
INSERT INTO message VALUES('msg_b2','ses_bad',1775088000001,1775088000001,'{"role": "user", "time": {"created": 1775088000001}, "agent": "code", "model": {"providerID": "kilo", "modelID": "vendor/model-a"}}');
INSERT INTO part VALUES('prt_b2','msg_b2','ses_bad',1775088000001,1775088000001,'{"type": "text", "text": "still here"}');
