-- ~/.config/Windsurf/User/workspaceStorage/h2/state.vscdb: a workspace without chats. All data invented.
CREATE TABLE ItemTable (key TEXT UNIQUE ON CONFLICT REPLACE, value BLOB);
INSERT INTO ItemTable VALUES ('workbench.explorer.treeViewState', '{}');
