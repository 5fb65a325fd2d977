-- opencode.db in Kilo's folder, as the first builds called it; session has a column more.
CREATE TABLE project(id TEXT PRIMARY KEY, worktree TEXT NOT NULL, vcs TEXT, name TEXT, time_created INTEGER, time_updated INTEGER);
CREATE TABLE session(id TEXT PRIMARY KEY, project_id TEXT NOT NULL, parent_id TEXT, slug TEXT NOT NULL, directory TEXT NOT NULL, title TEXT NOT NULL, version TEXT NOT NULL, revert TEXT, time_created INTEGER NOT NULL, time_updated INTEGER NOT NULL, time_archived INTEGER, workspace_id TEXT);
CREATE TABLE message(id TEXT PRIMARY KEY, session_id TEXT NOT NULL, time_created INTEGER NOT NULL, time_updated INTEGER NOT NULL, data TEXT NOT NULL);
CREATE TABLE part(id TEXT PRIMARY KEY, message_id TEXT NOT NULL, session_id TEXT NOT NULL, time_created INTEGER NOT NULL, time_updated INTEGER NOT NULL, data TEXT NOT NULL);
INSERT INTO project VALUES('pk','/srv/orchard','git',NULL,1,1);
INSERT INTO session VALUES('ses_first','pk',NULL,'old-oak','/srv/orchard','First days','1.1.0',NULL,1772600000000,1772600001000,NULL,'workspace-1');
INSERT INTO message VALUES('msg_f1','ses_first',1772600000000,1772600000000,'{"role": "user", "time": {"created": 1772600000000}, "agent": "code", "model": {"providerID": "kilo", "modelID": "vendor/model-a"}}');
INSERT INTO part VALUES('prt_f1','msg_f1','ses_first',1772600000000,1772600000000,'{"type": "text", "text": "hello"}');
