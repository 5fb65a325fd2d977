-- ~/.config/Windsurf/User/workspaceStorage/h3/state.vscdb: a database of another kind. All data invented.
CREATE TABLE Items (k TEXT, v BLOB);
