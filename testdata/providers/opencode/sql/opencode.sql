-- opencode.db: a database of 1.2 that 2.0 has opened. The old tables stay beside the new ones.
CREATE TABLE project(id TEXT PRIMARY KEY, worktree TEXT NOT NULL, vcs TEXT, name TEXT, sandboxes TEXT, time_created INTEGER, time_updated INTEGER);
CREATE TABLE session(id TEXT PRIMARY KEY, project_id TEXT NOT NULL, parent_id TEXT, slug TEXT NOT NULL, directory TEXT NOT NULL, title TEXT NOT NULL, version TEXT NOT NULL, share_url TEXT, revert TEXT, permission TEXT, time_created INTEGER NOT NULL, time_updated INTEGER NOT NULL, time_compacting INTEGER, time_archived INTEGER);
CREATE TABLE message(id TEXT PRIMARY KEY, session_id TEXT NOT NULL, time_created INTEGER NOT NULL, time_updated INTEGER NOT NULL, data TEXT NOT NULL);
CREATE TABLE part(id TEXT PRIMARY KEY, message_id TEXT NOT NULL, session_id TEXT NOT NULL, time_created INTEGER NOT NULL, time_updated INTEGER NOT NULL, data TEXT NOT NULL);
CREATE INDEX message_session_time_created_id_idx ON message(session_id, time_created, id);
CREATE INDEX part_message_id_id_idx ON part(message_id, id);
CREATE TABLE session_v2(id TEXT PRIMARY KEY, project_id TEXT NOT NULL, workspace_id TEXT, parent_id TEXT, fork_session_id TEXT, fork_boundary TEXT, slug TEXT NOT NULL, directory TEXT NOT NULL, path TEXT, title TEXT, version TEXT NOT NULL, metadata TEXT, revert TEXT, agent TEXT, model TEXT, time_created INTEGER NOT NULL, time_updated INTEGER NOT NULL, time_archived INTEGER);
CREATE TABLE session_message(id TEXT PRIMARY KEY, session_id TEXT NOT NULL, type TEXT NOT NULL, seq INTEGER NOT NULL, time_created INTEGER NOT NULL, time_updated INTEGER NOT NULL, data TEXT NOT NULL);
CREATE UNIQUE INDEX session_message_session_seq_idx ON session_message(session_id, seq);
CREATE TABLE session_inbox(id TEXT PRIMARY KEY, session_id TEXT NOT NULL, type TEXT NOT NULL, payload TEXT NOT NULL);
CREATE TABLE kv(key TEXT PRIMARY KEY, value TEXT);

INSERT INTO project VALUES('p1','/srv/quay','git',NULL,'[]',1767225600000,1767225600000);
INSERT INTO project VALUES('global','/',NULL,NULL,'[]',1767225600000,1767225600000);
INSERT INTO kv VALUES('migration.v1-v2','{"phase":"completed"}');

-- 1.x, not imported by 2.0; its tree is still there, shorter. Tool states, a compaction, an error, an image.
INSERT INTO session VALUES('ses_v1only','p1',NULL,'calm-fox','/srv/quay','Tide table','1.18.31',NULL,NULL,NULL,1767225600000,1767225660000,NULL,NULL);
INSERT INTO message VALUES('msg_01','ses_v1only',1767225600000,1767225600000,'{"role":"user","time":{"created":1767225600000},"agent":"build","model":{"providerID":"anthropic","modelID":"m-1"},"summary":{"title":"tide","diffs":[]}}');
INSERT INTO part VALUES('prt_0101','msg_01','ses_v1only',1767225600000,1767225600000,'{"type":"text","text":"When is high tide?"}');
INSERT INTO part VALUES('prt_0102','msg_01','ses_v1only',1767225600000,1767225600000,'{"type":"file","mime":"image/png","filename":"buoy.png","url":"data:image/png;base64,AAAA"}');
INSERT INTO part VALUES('prt_0103','msg_01','ses_v1only',1767225600000,1767225600000,'{"type":"text","synthetic":true,"text":"Called the Read tool with the following input: {\"filePath\":\"tide.csv\"}"}');
INSERT INTO message VALUES('msg_02','ses_v1only',1767225601000,1767225606000,'{"role":"assistant","parentID":"msg_01","time":{"created":1767225601000,"completed":1767225606000},"modelID":"m-1","providerID":"anthropic","mode":"build","agent":"build","path":{"cwd":"/srv/quay","root":"/srv/quay"},"cost":0,"tokens":{"input":7,"output":9,"reasoning":0,"cache":{"read":0,"write":0}},"finish":"tool-calls"}');
INSERT INTO part VALUES('prt_0201','msg_02','ses_v1only',1767225601000,1767225601000,'{"type":"step-start","snapshot":"x"}');
INSERT INTO part VALUES('prt_0202','msg_02','ses_v1only',1767225601000,1767225602000,'{"type":"reasoning","text":"The table has it.","time":{"start":1767225601500,"end":1767225602000}}');
INSERT INTO part VALUES('prt_0203','msg_02','ses_v1only',1767225602000,1767225603000,'{"type":"tool","callID":"c1","tool":"bash","state":{"status":"completed","input":{"command":"grep high tide.csv"},"output":"","title":"grep","metadata":{"output":"","exit":1},"time":{"start":1767225602000,"end":1767225603000}}}');
INSERT INTO part VALUES('prt_0204','msg_02','ses_v1only',1767225603000,1767225605000,'{"type":"tool","callID":"c2","tool":"task","state":{"status":"completed","input":{"description":"look","prompt":"Look it up","subagent_type":"general"},"output":"06:12","title":"look","metadata":{"sessionId":"ses_v1child"},"time":{"start":1767225603000,"end":1767225605000,"compacted":1767225640000}}}');
INSERT INTO part VALUES('prt_0205','msg_02','ses_v1only',1767225605000,1767225605000,'{"type":"tool","callID":"c3","tool":"edit","state":{"status":"completed","input":{"filePath":"tide.md"},"output":"ok","title":"tide.md","metadata":{"diff":"--- tide.md\n+++ tide.md\n@@ -1 +1 @@\n-06:00\n+06:12"},"time":{"start":1767225605000,"end":1767225605100}}}');
INSERT INTO part VALUES('prt_0206','msg_02','ses_v1only',1767225605000,1767225605000,'{"type":"tool","callID":"c4","tool":"webfetch","state":{"status":"error","input":{"url":"u"},"error":"Error: no network","time":{"start":1767225605200,"end":1767225605300}}}');
INSERT INTO part VALUES('prt_0207','msg_02','ses_v1only',1767225606000,1767225606000,'{"type":"step-finish","reason":"tool-calls","cost":0,"tokens":{"input":1,"output":1,"reasoning":0,"cache":{"read":0,"write":0}}}');
INSERT INTO message VALUES('msg_03','ses_v1only',1767225607000,1767225608000,'{"role":"assistant","parentID":"msg_01","time":{"created":1767225607000,"completed":1767225608000},"modelID":"m-1","providerID":"anthropic","finish":"stop"}');
INSERT INTO part VALUES('prt_0301','msg_03','ses_v1only',1767225607000,1767225608000,'{"type":"text","text":"At 06:12.","time":{"start":1767225607500,"end":1767225608000}}');
INSERT INTO message VALUES('msg_04','ses_v1only',1767225640000,1767225640000,'{"role":"user","time":{"created":1767225640000}}');
INSERT INTO part VALUES('prt_0401','msg_04','ses_v1only',1767225640000,1767225640000,'{"type":"compaction","auto":true}');
INSERT INTO message VALUES('msg_05','ses_v1only',1767225641000,1767225642000,'{"role":"assistant","summary":true,"mode":"compaction","agent":"compaction","time":{"created":1767225641000},"modelID":"m-1","providerID":"anthropic"}');
INSERT INTO part VALUES('prt_0501','msg_05','ses_v1only',1767225641000,1767225641000,'{"type":"text","text":"Goal: tides. Found: 06:12."}');
INSERT INTO message VALUES('msg_06','ses_v1only',1767225643000,1767225643000,'{"role":"user","time":{"created":1767225643000}}');
INSERT INTO part VALUES('prt_0601','msg_06','ses_v1only',1767225643000,1767225643000,'{"type":"text","synthetic":true,"text":"Continue if you have next steps"}');
INSERT INTO message VALUES('msg_07','ses_v1only',1767225644000,1767225644000,'{"role":"assistant","parentID":"msg_06","time":{"created":1767225644000},"modelID":"m-2","providerID":"anthropic","error":{"name":"APIError","data":{"message":"quota used up","isRetryable":false}}}');
INSERT INTO part VALUES('prt_0701','msg_07','ses_v1only',1767225644000,1767225644000,'{"type":"tool","callID":"c5","tool":"read","state":{"status":"running","input":{"filePath":"tide.csv"},"time":{"start":1767225644100}}}');
INSERT INTO part VALUES('prt_0702','msg_07','ses_v1only',1767225644000,1767225644000,'{"type":"hologram","text":"new in a fork"}');
INSERT INTO message VALUES('msg_08','ses_v1only',1767225645000,1767225645000,'not json');
INSERT INTO part VALUES('prt_0801','msg_08','ses_v1only',1767225645000,1767225645000,'{broken');

INSERT INTO session VALUES('ses_v1child','p1','ses_v1only','red-owl','/srv/quay','Child session - 2026-01-01T00:00:03.000Z','1.18.31',NULL,NULL,NULL,1767225603000,1767225605000,NULL,NULL);
INSERT INTO message VALUES('msg_c1','ses_v1child',1767225603000,1767225603000,'{"role":"user","time":{"created":1767225603000}}');
INSERT INTO part VALUES('prt_c1','msg_c1','ses_v1child',1767225603000,1767225603000,'{"type":"text","text":"Look it up"}');
INSERT INTO message VALUES('msg_c2','ses_v1child',1767225604000,1767225604000,'{"role":"assistant","time":{"created":1767225604000},"modelID":"m-1","providerID":"anthropic"}');
INSERT INTO part VALUES('prt_c2','msg_c2','ses_v1child',1767225604000,1767225604000,'{"type":"text","text":"06:12"}');

-- 1.x, outside of a repository, undone from a message on.
INSERT INTO session VALUES('ses_undone','global',NULL,'tall-ash','/','New session - 2026-01-02T00:00:00.000Z','1.2.9',NULL,'{"messageID":"msg_u3","snapshot":"x"}',NULL,1767312000000,1767312009000,NULL,1767400000000);
INSERT INTO message VALUES('msg_u1','ses_undone',1767312000000,1767312000000,'{"role":"user","time":{"created":1767312000000}}');
INSERT INTO part VALUES('prt_u1','msg_u1','ses_undone',1767312000000,1767312000000,'{"type":"text","text":"Draw a pier"}');
INSERT INTO message VALUES('msg_u2','ses_undone',1767312001000,1767312001000,'{"role":"assistant","time":{"created":1767312001000},"modelID":"m-1","providerID":"anthropic","path":{"cwd":"/srv/sketch","root":"/"}}');
INSERT INTO part VALUES('prt_u2','msg_u2','ses_undone',1767312001000,1767312001000,'{"type":"text","text":"Drawn."}');
INSERT INTO message VALUES('msg_u3','ses_undone',1767312002000,1767312002000,'{"role":"user","time":{"created":1767312002000}}');
INSERT INTO part VALUES('prt_u3','msg_u3','ses_undone',1767312002000,1767312002000,'{"type":"text","text":"Longer"}');
INSERT INTO message VALUES('msg_u4','ses_undone',1767312003000,1767312003000,'{"role":"assistant","time":{"created":1767312003000},"modelID":"m-1","providerID":"anthropic"}');
INSERT INTO part VALUES('prt_u4','msg_u4','ses_undone',1767312003000,1767312003000,'{"type":"text","text":"Longer it is."}');

-- Imported by 2.0 and gone on there: the old rows are stale.
INSERT INTO session VALUES('ses_moved','p1',NULL,'blue-elm','/srv/quay','Crane','1.18.30',NULL,NULL,NULL,1788000000000,1788000001000,NULL,NULL);
INSERT INTO message VALUES('msg_m1','ses_moved',1788000000000,1788000000000,'{"role":"user","time":{"created":1788000000000}}');
INSERT INTO part VALUES('prt_m1','msg_m1','ses_moved',1788000000000,1788000000000,'{"type":"text","text":"Lift it"}');
INSERT INTO session_v2 VALUES('ses_moved','p1',NULL,NULL,NULL,NULL,'blue-elm','/srv/quay',NULL,'Crane','2.0.5',NULL,NULL,'build','{"id":"m-2","providerID":"x"}',1788000000000,1788220805000,NULL);
INSERT INTO session_message VALUES('msg_m1','ses_moved','user',1,1788000000000,1788000000000,'{"text":"Lift it","time":{"created":1788000000000}}');
INSERT INTO session_message VALUES('msg_m2','ses_moved','agent-switched',2,1788220800000,1788220800000,'{"agent":"plan","time":{"created":1788220800000}}');
INSERT INTO session_message VALUES('msg_m3','ses_moved','user',3,1788220800000,1788220800000,'{"text":"Higher","files":[{"uri":"data:image/png;base64,AAAA","mime":"image/png"}],"time":{"created":1788220800000}}');
INSERT INTO session_message VALUES('msg_m4','ses_moved','assistant',4,1788220801000,1788220802000,'{"agent":"build","model":{"id":"m-2","providerID":"x"},"time":{"created":1788220801000,"completed":1788220802000},"content":[{"type":"reasoning","text":"Slowly.","time":{"created":1788220801100}},{"type":"tool","id":"t1","name":"read","state":{"status":"error","input":{"path":"rope"},"error":{"type":"tool","message":"missing rope"}},"time":{"created":1788220801200,"ran":1788220801210,"completed":1788220801300}},{"type":"tool","id":"t2","name":"subagent","state":{"status":"completed","input":{"prompt":"Find rope"},"content":[{"type":"text","text":"found"}],"metadata":{"sessionID":"ses_v2child","status":"completed"}},"time":{"created":1788220801400,"completed":1788220801500}},{"type":"tool","id":"t3","name":"shell","state":{"status":"streaming","input":"{\"comm"},"time":{"created":1788220801600}},{"type":"text","text":"Up."}],"finish":"stop"}');
INSERT INTO session_message VALUES('msg_m5','ses_moved','shell',5,1788220802500,1788220802600,'{"shellID":"sh_1","command":"make lift","status":"exited","exit":2,"output":{"output":"no motor","cursor":8,"size":8,"truncated":false},"time":{"created":1788220802500,"completed":1788220802600}}');
INSERT INTO session_message VALUES('msg_m6','ses_moved','synthetic',6,1788220803000,1788220803000,'{"text":"Time limit near","time":{"created":1788220803000}}');
INSERT INTO session_message VALUES('msg_m7','ses_moved','skill',7,1788220803100,1788220803100,'{"skill":"s","name":"rigging","text":"How to rig","time":{"created":1788220803100}}');
INSERT INTO session_message VALUES('msg_m8','ses_moved','compaction',8,1788220804000,1788220804500,'{"status":"completed","reason":"manual","summary":"Crane lifts.","recent":"","time":{"created":1788220804000}}');
INSERT INTO session_message VALUES('msg_m9','ses_moved','assistant',9,1788220805000,1788220805000,'{"agent":"build","model":{"id":"m-2","providerID":"x"},"time":{"created":1788220805000},"content":[],"error":{"type":"provider","message":"overloaded"}}');
INSERT INTO session_inbox VALUES('msg_m10','ses_moved','user','{"text":"not taken yet"}');

-- Imported by 2.0, then gone on in 1.x: the new rows are stale.
INSERT INTO session VALUES('ses_stayed','p1',NULL,'grey-ox','/srv/quay','Anchor','1.18.31',NULL,NULL,NULL,1788000000000,1788300000000,NULL,NULL);
INSERT INTO message VALUES('msg_s1','ses_stayed',1788000000000,1788000000000,'{"role":"user","time":{"created":1788000000000}}');
INSERT INTO part VALUES('prt_s1','msg_s1','ses_stayed',1788000000000,1788000000000,'{"type":"text","text":"Drop it"}');
INSERT INTO message VALUES('msg_s2','ses_stayed',1788300000000,1788300000000,'{"role":"user","time":{"created":1788300000000}}');
INSERT INTO part VALUES('prt_s2','msg_s2','ses_stayed',1788300000000,1788300000000,'{"type":"text","text":"Weigh it"}');
INSERT INTO session_v2 VALUES('ses_stayed','p1',NULL,NULL,NULL,NULL,'grey-ox','/srv/quay',NULL,'Anchor','1.18.30',NULL,NULL,NULL,NULL,1788000000000,1788000001000,NULL);
INSERT INTO session_message VALUES('msg_s1','ses_stayed','user',1,1788000000000,1788000000000,'{"text":"Drop it","time":{"created":1788000000000}}');

-- Imported by 2.0 and touched by nobody since: equal times, the newer store counts.
INSERT INTO session VALUES('ses_equal','p1',NULL,'old-elk','/srv/quay','Bell','1.18.30',NULL,NULL,NULL,1788000000000,1788000001000,NULL,NULL);
INSERT INTO message VALUES('msg_e1','ses_equal',1788000000000,1788000000000,'{"role":"user","time":{"created":1788000000000}}');
INSERT INTO part VALUES('prt_e1','msg_e1','ses_equal',1788000000000,1788000000000,'{"type":"text","text":"Ring"}');
INSERT INTO session_v2 VALUES('ses_equal','p1',NULL,NULL,NULL,NULL,'old-elk','/srv/quay',NULL,'Bell','1.18.30',NULL,NULL,NULL,NULL,1788000000000,1788000001000,NULL);
INSERT INTO session_message VALUES('msg_e1','ses_equal','user',1,1788000000000,1788000000000,'{"text":"Ring","time":{"created":1788000000000}}');
INSERT INTO session_message VALUES('msg_e2','ses_equal','idle',2,1788000000500,1788000000500,'{"outcome":"succeeded","time":{"created":1788000000500}}');

-- 2.x: a child, and a fork that was undone in part.
INSERT INTO session_v2 VALUES('ses_v2child','p1',NULL,'ses_moved',NULL,NULL,'wee-cat','/srv/quay',NULL,'Find rope','2.0.5',NULL,NULL,'general',NULL,1788220801400,1788220801500,NULL);
INSERT INTO session_message VALUES('msg_r1','ses_v2child','user',1,1788220801400,1788220801400,'{"text":"Find rope","time":{"created":1788220801400}}');
INSERT INTO session_message VALUES('msg_r2','ses_v2child','assistant',2,1788220801450,1788220801450,'{"agent":"general","model":{"id":"m-2","providerID":"x"},"time":{"created":1788220801450},"content":[{"type":"text","text":"found"}]}');
INSERT INTO session_v2 VALUES('ses_fork','p1',NULL,NULL,'ses_moved','{"type":"before","messageID":"msg_m4"}','new-ram','/srv/quay',NULL,'Crane (fork #1)','2.0.5',NULL,'{"messageID":"msg_f5","snapshot":"x","files":[]}','build',NULL,1788220900000,1788220905000,NULL);
INSERT INTO session_message VALUES('msg_fk0_1','ses_fork','user',1,1788000000000,1788000000000,'{"text":"Lift it","time":{"created":1788000000000}}');
INSERT INTO session_message VALUES('msg_fk0_3','ses_fork','user',3,1788220800000,1788220800000,'{"text":"Higher","time":{"created":1788220800000}}');
INSERT INTO session_message VALUES('msg_f4','ses_fork','user',4,1788220901000,1788220901000,'{"text":"Lower","time":{"created":1788220901000}}');
INSERT INTO session_message VALUES('msg_f5','ses_fork','user',5,1788220902000,1788220902000,'{"text":"No, higher","time":{"created":1788220902000}}');
INSERT INTO session_message VALUES('msg_f6','ses_fork','assistant',6,1788220903000,1788220903000,'{"agent":"build","model":{"id":"m-2","providerID":"x"},"time":{"created":1788220903000},"content":[{"type":"text","text":"Up again."}]}');
