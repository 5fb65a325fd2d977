-- ~/Library/Application Support/Windsurf - Next/User/workspaceStorage/m1/state.vscdb. All data invented.
CREATE TABLE ItemTable (key TEXT UNIQUE ON CONFLICT REPLACE, value BLOB);
INSERT INTO ItemTable VALUES ('workbench.panel.aichat.view.aichat.chatdata', CAST('{"tabs":[{"tabId":"w-9","bubbles":[{"type":"user","text":"on the preview channel"}]}]}' AS BLOB));
