-- openclaw-agent.sqlite before it held transcripts.
CREATE TABLE cache_entries(scope TEXT, key TEXT, value_json TEXT);
