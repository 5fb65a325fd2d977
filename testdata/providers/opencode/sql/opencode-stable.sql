-- opencode-stable.db: another channel's database, of 1.2.
CREATE TABLE project(id TEXT PRIMARY KEY, worktree TEXT NOT NULL, time_created INTEGER, time_updated INTEGER);
CREATE TABLE session(id TEXT PRIMARY KEY, project_id TEXT NOT NULL, parent_id TEXT, slug TEXT NOT NULL, directory TEXT NOT NULL, title TEXT NOT NULL, version TEXT NOT NULL, revert TEXT, time_created INTEGER NOT NULL, time_updated INTEGER NOT NULL, time_archived INTEGER);
CREATE TABLE message(id TEXT PRIMARY KEY, session_id TEXT NOT NULL, time_created INTEGER NOT NULL, time_updated INTEGER NOT NULL, data TEXT NOT NULL);
CREATE TABLE part(id TEXT PRIMARY KEY, message_id TEXT NOT NULL, session_id TEXT NOT NULL, time_created INTEGER NOT NULL, time_updated INTEGER NOT NULL, data TEXT NOT NULL);
INSERT INTO project VALUES('p1','/srv/quay',1767225600000,1767225600000);
-- The same session as in opencode.db, from when the channels parted: a beginning of it.
INSERT INTO session VALUES('ses_undone','global',NULL,'tall-ash','/','New session - 2026-01-02T00:00:00.000Z','1.2.9',NULL,1767312000000,1767312001000,NULL);
INSERT INTO message VALUES('msg_u1','ses_undone',1767312000000,1767312000000,'{"role":"user","time":{"created":1767312000000}}');
INSERT INTO part VALUES('prt_u1','msg_u1','ses_undone',1767312000000,1767312000000,'{"type":"text","text":"Draw a pier"}');
INSERT INTO session VALUES('ses_stable','p1',NULL,'shy-eel','','Mooring','1.3.0',NULL,1770000000000,1770000001000,NULL);
INSERT INTO message VALUES('msg_b1','ses_stable',1770000000000,1770000000000,'{"role":"user","time":{"created":1770000000000}}');
INSERT INTO part VALUES('prt_b1','msg_b1','ses_stable',1770000000000,1770000000000,'{"type":"text","text":"Tie up"}');
