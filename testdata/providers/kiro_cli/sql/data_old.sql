-- ~/Library/Application Support/kiro-cli/data.sqlite3: before conversations_v2. All data invented.
CREATE TABLE migrations (id INTEGER PRIMARY KEY, version INTEGER NOT NULL, migration_time INTEGER NOT NULL);
CREATE TABLE history (id INTEGER PRIMARY KEY, command TEXT, shell TEXT, cwd TEXT);
CREATE TABLE state (key TEXT PRIMARY KEY, value BLOB);
CREATE TABLE auth_kv (key TEXT PRIMARY KEY, value TEXT);
INSERT INTO history VALUES (1, 'ls', 'bash', '/srv/demo');
CREATE TABLE conversations (key TEXT PRIMARY KEY, value TEXT);
INSERT INTO conversations VALUES ('/Users/ana/demo', '{
 "conversation_id": "c-200",
 "next_message": null,
 "history": [
  {
   "user": {
    "additional_context": "",
    "env_context": {
     "env_state": {
      "operating_system": "linux",
      "current_working_directory": "/srv/demo",
      "environment_variables": []
     }
    },
    "content": {
     "Prompt": {
      "prompt": "which shell"
     }
    },
    "timestamp": null,
    "images": null
   },
   "assistant": {
    "Response": {
     "content": "zsh."
    }
   },
   "request_metadata": null
  }
 ],
 "valid_history_range": [
  0,
  1
 ],
 "transcript": [
  "> a copy of it all"
 ],
 "tools": {},
 "latest_summary": null,
 "tangent_state": null
}');
