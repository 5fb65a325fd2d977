CREATE TABLE chat (id INTEGER PRIMARY KEY, name TEXT, model TEXT NOT NULL, context TEXT, system TEXT, format TEXT, parameters TEXT, keep_alive INTEGER);
CREATE TABLE message (id INTEGER PRIMARY KEY, chat_id INTEGER NOT NULL, author TEXT NOT NULL, text TEXT NOT NULL);
INSERT INTO chat VALUES (7, 'Older', 'llama2', '[]', '', '', '{}', 5);
INSERT INTO message VALUES (1, 7, 'user', 'hi'), (2, 7, 'assistant', 'ho');
