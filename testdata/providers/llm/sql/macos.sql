CREATE TABLE [conversations] ([id] TEXT PRIMARY KEY, [name] TEXT, [model] TEXT);
CREATE TABLE [responses] ([id] TEXT PRIMARY KEY, [model] TEXT, [prompt] TEXT, [system] TEXT, [prompt_json] TEXT, [options_json] TEXT, [response] TEXT, [response_json] TEXT, [conversation_id] TEXT, [duration_ms] INTEGER, [datetime_utc] TEXT);
INSERT INTO conversations VALUES('01hc1','Ten names for a boat','gpt-4');
INSERT INTO responses VALUES('01hr1','gpt-4','Ten names for a boat',NULL,NULL,'{}','Lys, Vik.',NULL,'01hc1',900,'2023-08-01T08:00:00.123456');
