-- ~/.local/share/kiro-cli/data.sqlite3: both tables, as an upgrade leaves them. All data invented.
CREATE TABLE migrations (id INTEGER PRIMARY KEY, version INTEGER NOT NULL, migration_time INTEGER NOT NULL);
CREATE TABLE history (id INTEGER PRIMARY KEY, command TEXT, shell TEXT, cwd TEXT);
CREATE TABLE state (key TEXT PRIMARY KEY, value BLOB);
CREATE TABLE auth_kv (key TEXT PRIMARY KEY, value TEXT);
INSERT INTO history VALUES (1, 'ls', 'bash', '/srv/demo');
CREATE TABLE conversations (key TEXT PRIMARY KEY, value TEXT);
CREATE TABLE conversations_v2 (
  key TEXT NOT NULL, conversation_id TEXT NOT NULL, value TEXT NOT NULL,
  created_at INTEGER NOT NULL, updated_at INTEGER NOT NULL,
  PRIMARY KEY (key, conversation_id));
INSERT INTO conversations_v2 VALUES ('/srv/demo', 'c-100', '{
 "conversation_id": "c-100",
 "next_message": {
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
    "prompt": "and this picture?"
   }
  },
  "timestamp": "2026-05-28T20:29:00Z",
  "images": [
   {
    "format": "png",
    "source": {
     "Bytes": [
      137,
      80
     ]
    }
   }
  ]
 },
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
      "prompt": "List the demo folder"
     }
    },
    "timestamp": "2026-05-28T22:26:40.000000000+02:00",
    "images": null
   },
   "assistant": {
    "ToolUse": {
     "message_id": "a-1",
     "content": "Let me look.",
     "tool_uses": [
      {
       "id": "t-1",
       "name": "execute_bash",
       "orig_name": "execute_bash",
       "args": {
        "command": "ls"
       },
       "orig_args": {
        "command": "ls"
       }
      },
      {
       "id": "t-2",
       "name": "dummy",
       "orig_name": "wiki_search",
       "args": {
        "q": "heron"
       },
       "orig_args": {}
      }
     ]
    }
   },
   "request_metadata": {
    "request_id": "r-1",
    "request_start_timestamp_ms": 1780000001000,
    "stream_end_timestamp_ms": 1780000004000,
    "model_id": "model-x"
   }
  },
  {
   "user": {
    "additional_context": "",
    "env_context": {
     "env_state": null
    },
    "content": {
     "ToolUseResults": {
      "tool_use_results": [
       {
        "tool_use_id": "t-1",
        "content": [
         {
          "Json": {
           "exit_status": "0",
           "stdout": "a.txt\nb.txt",
           "stderr": "ls: c: denied"
          }
         }
        ],
        "status": "Success"
       },
       {
        "tool_use_id": "t-2",
        "content": [
         {
          "Json": {
           "content": [
            {
             "type": "text",
             "text": "offline"
            }
           ],
           "isError": true
          }
         }
        ],
        "status": "Success"
       }
      ]
     }
    },
    "timestamp": null,
    "images": null
   },
   "assistant": {
    "Response": {
     "message_id": "a-2",
     "content": "There are two files."
    }
   },
   "request_metadata": {
    "request_start_timestamp_ms": 1780000005000,
    "stream_end_timestamp_ms": 1780000007000,
    "model_id": "model-x"
   }
  },
  {
   "user": {
    "additional_context": "",
    "env_context": {
     "env_state": null
    },
    "content": {
     "CancelledToolUses": {
      "prompt": "Stop, only describe them",
      "tool_use_results": [
       {
        "tool_use_id": "t-3",
        "content": [
         {
          "Text": "Tool use was cancelled by the user"
         }
        ],
        "status": "Error"
       }
      ]
     }
    },
    "timestamp": "2026-05-28T20:28:00Z",
    "images": null
   },
   "assistant": {
    "Response": {
     "message_id": "a-3",
     "content": "They are plain text."
    }
   },
   "request_metadata": null
  },
  {
   "user": {
    "additional_context": "",
    "env_context": {
     "env_state": null
    },
    "content": {
     "CancelledToolUses": {
      "prompt": null,
      "tool_use_results": []
     }
    },
    "timestamp": "2026-05-28T20:28:10Z",
    "images": null
   },
   "assistant": {
    "ToolUse": {
     "message_id": "a-4",
     "content": "",
     "tool_uses": [
      {
       "id": "t-5",
       "name": "fs_read",
       "args": {}
      }
     ]
    }
   },
   "request_metadata": null
  }
 ],
 "valid_history_range": [
  0,
  4
 ],
 "transcript": [
  "> a copy of it all"
 ],
 "tools": {},
 "latest_summary": [
  "Earlier the user set up a demo folder.",
  null
 ],
 "model_info": {
  "model_name": "Model X",
  "model_id": "model-x",
  "context_window_tokens": 200000
 },
 "tangent_state": null
}', 1780000000000, 1780000090000);
INSERT INTO conversations_v2 VALUES ('/work/old', 'c-100', '{
 "conversation_id": "c-100",
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
      "prompt": "older text"
     }
    },
    "timestamp": null,
    "images": null
   },
   "assistant": {
    "Response": {
     "content": "older answer"
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
 "model_info": {
  "model_name": "Model X",
  "model_id": "model-x",
  "context_window_tokens": 200000
 },
 "tangent_state": null
}', 1770000000000, 1770000001000);
INSERT INTO conversations_v2 VALUES ('/work/torn', 'c-100', '{"conversation_id":"c-100","hist', 1780000000000, 1790000000000);
INSERT INTO conversations_v2 VALUES ('/srv/heron', '3c1d0a52-0000-4000-8000-00000000c1a3', '{
 "conversation_id": "3c1d0a52-0000-4000-8000-00000000c1a3",
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
      "prompt": "hi"
     }
    },
    "timestamp": "2026-07-25T18:12:10Z",
    "images": null
   },
   "assistant": {
    "Response": {
     "content": "Hi! (from the database)"
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
 "model_info": {
  "model_name": "Model X",
  "model_id": "model-x",
  "context_window_tokens": 200000
 },
 "tangent_state": null
}', 1785003000000, 1785003200000);
INSERT INTO conversations_v2 VALUES ('/srv/plain', 'c-101', '{
 "conversation_id": "c-101",
 "next_message": null,
 "history": [
  [
   {
    "content": {
     "Prompt": {
      "prompt": "--- CONTEXT ENTRY BEGIN ---\nrules\n--- CONTEXT ENTRY END ---\n\n--- USER MESSAGE BEGIN ---\nsay it plainly\n--- USER MESSAGE END ---\n\n"
     }
    },
    "timestamp": "2026-01-10T08:00:00Z"
   },
   {
    "Response": {
     "message_id": null,
     "content": "Plainly said."
    }
   },
   {
    "stream_end_timestamp_ms": 1768032005000
   }
  ],
  [
   {
    "content": {
     "Prompt": {
      "prompt": "The conversation history has overflowed, clearing state"
     }
    },
    "timestamp": "2026-01-10T08:01:00Z"
   },
   {
    "Response": {
     "content": "Noted."
    }
   }
  ]
 ],
 "valid_history_range": [
  0,
  2
 ],
 "transcript": [
  "> a copy of it all"
 ],
 "tools": {},
 "latest_summary": null,
 "tangent_state": null,
 "model": "model-old"
}', 1768032000000, 1768032065000);
INSERT INTO conversations_v2 VALUES ('/srv/empty', 'c-102', '{
 "conversation_id": "c-102",
 "next_message": null,
 "history": [],
 "valid_history_range": [
  0,
  0
 ],
 "transcript": [
  "> a copy of it all"
 ],
 "tools": {},
 "latest_summary": null,
 "model_info": {
  "model_name": "Model X",
  "model_id": "model-x",
  "context_window_tokens": 200000
 },
 "tangent_state": null
}', 1768032000000, 1768032000000);
INSERT INTO conversations_v2 VALUES ('/srv/bad', 'c-103', 'not json at all', 1768032000000, 1768032000000);
INSERT INTO conversations VALUES ('/srv/plain', '{
 "conversation_id": "c-101",
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
      "prompt": "say it plainly"
     }
    },
    "timestamp": null,
    "images": null
   },
   "assistant": {
    "Response": {
     "content": "(the row of before the upgrade)"
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
 "model_info": {
  "model_name": "Model X",
  "model_id": "model-x",
  "context_window_tokens": 200000
 },
 "tangent_state": null
}');
INSERT INTO conversations VALUES ('/srv/first', '{
 "conversation_id": "c-050",
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
      "prompt": "who is there"
     }
    },
    "timestamp": "2025-11-20T10:00:00.123456789Z",
    "images": null
   },
   "assistant": {
    "Response": {
     "message_id": "o-1",
     "content": "A heron."
    }
   },
   "request_metadata": {
    "stream_end_timestamp_ms": 1763632805000
   }
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
 "model_info": {
  "model_name": "Model X",
  "model_id": "model-x",
  "context_window_tokens": 200000
 },
 "tangent_state": null
}');
INSERT INTO conversations VALUES ('/srv/bad', '');
