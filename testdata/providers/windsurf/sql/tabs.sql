-- ~/.config/Windsurf/User/workspaceStorage/h1/state.vscdb. All data invented.
CREATE TABLE ItemTable (key TEXT UNIQUE ON CONFLICT REPLACE, value BLOB);
INSERT INTO ItemTable VALUES
 ('cascade.chatdata', '{"tabs":[{"tabId":"w-1","chatTitle":"Rename flag","bubbles":[{"type":"user","text":"rename --fast"},{"type":"ai","text":"Renamed to --quick.","toolCalls":[{"name":"edit"},{"toolName":"view"}]},{"type":"user","initText":"and the docs?"},{"type":"assistant","rawText":"Done too.","tool_calls":[{"name":"edit"}]}]},{"tabId":"w-2","chatTitle":"Empty","bubbles":[]},{"tabId":7,"bubbles":[{"type":1,"text":"numbers"},{"type":2,"text":"Yes."}]},{"chatTitle":"no id","bubbles":[{"type":1,"text":"lost"}]},"odd"]}'),
 ('aiChat.chatdata', '{"tabs":[{"tabId":"w-1","chatTitle":"Rename flag","bubbles":[{"type":"user","text":"a second copy"}]}]}'),
 ('chat.data', '{cut'),
 ('cascade.sessionData', NULL),
 ('interactive.sessions', '[{"text":"not this"}]');
