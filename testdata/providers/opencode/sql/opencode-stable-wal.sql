-- What stands in opencode-stable.db-wal alone: an answer, an undo from its second part on, a new session.
INSERT INTO message VALUES('msg_b2','ses_stable',1770000001000,1770000001000,'{"role":"assistant","time":{"created":1770000001000},"modelID":"m-1","providerID":"anthropic"}');
INSERT INTO part VALUES('prt_b2','msg_b2','ses_stable',1770000001000,1770000001000,'{"type":"text","text":"Tied."}');
INSERT INTO part VALUES('prt_b3','msg_b2','ses_stable',1770000001000,1770000001000,'{"type":"text","text":"And untied."}');
UPDATE session SET time_updated = 1770000002000, revert = '{"messageID":"msg_b2","partID":"prt_b3"}' WHERE id = 'ses_stable';
INSERT INTO session VALUES('ses_wal','p1',NULL,'wet-cod','/srv/quay','New session - 2026-02-02T02:40:05.000Z','1.3.0',NULL,1770000005000,1770000006000,NULL);
INSERT INTO message VALUES('msg_w1','ses_wal',1770000005000,1770000005000,'{"role":"user","time":{"created":1770000005000}}');
INSERT INTO part VALUES('prt_w1','msg_w1','ses_wal',1770000005000,1770000005000,'{"type":"text","text":"Still in the log?"}');
