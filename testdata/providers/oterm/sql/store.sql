CREATE TABLE chat (id INTEGER, name TEXT, model TEXT NOT NULL, system TEXT, provider TEXT DEFAULT 'ollama', parameters TEXT DEFAULT '{}', tools TEXT DEFAULT '[]', thinking BOOLEAN DEFAULT 0, PRIMARY KEY(id AUTOINCREMENT));
CREATE TABLE message (id INTEGER, chat_id INTEGER NOT NULL, author TEXT NOT NULL, text TEXT NOT NULL, images TEXT DEFAULT '[]', PRIMARY KEY(id AUTOINCREMENT));
INSERT INTO chat (id, name, model, system) VALUES (1, 'Boats', 'llama3', 'Be short.'), (2, NULL, 'gemma', NULL), (3, 'Empty', 'gemma', NULL);
INSERT INTO message (id, chat_id, author, text, images) VALUES (1, 1, 'user', 'Name a boat, 渡し船', '["aGk="]'), (3, 1, 'assistant', 'Heron ⛴', '[]'), (2, 2, 'user', 'hi', '[]'), (4, 2, 'critic', 'of an author to come', '[]');
