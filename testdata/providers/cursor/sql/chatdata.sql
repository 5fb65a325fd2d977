-- ~/.config/Cursor/User/workspaceStorage/h0/state.vscdb: the chats of the first years. All data invented.
CREATE TABLE ItemTable (key TEXT UNIQUE ON CONFLICT REPLACE, value BLOB);
CREATE TABLE cursorDiskKV (key TEXT UNIQUE ON CONFLICT REPLACE, value BLOB);
INSERT INTO ItemTable VALUES ('workbench.panel.aichat.view.aichat.chatdata', '{"tabs": [{"tabId": "tab-1", "chatTitle": "Regex help", "lastSendTime": 1700000000000, "bubbles": [{"type": "user", "text": "match a zip code"}, {"type": "ai", "rawText": "Use [0-9]{5}."}, {"type": 1, "initText": "and plus four?"}, {"type": 2, "text": "Add (-[0-9]{4})?."}]}, {"tabId": "tab-2", "chatTitle": "Empty", "bubbles": []}]}');
INSERT INTO ItemTable VALUES ('workbench.panel.chat.view.chat.chatdata', '{torn');
INSERT INTO ItemTable VALUES ('composer.composerData', '{"selectedComposerIds": ["5b1c2d3e-0000-4000-8000-00000000000b"]}');
INSERT INTO ItemTable VALUES ('aiService.prompts', '[{"text": "match a zip code"}]');
