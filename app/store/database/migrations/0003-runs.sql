-- What was measured: one row an answer, or one of the several runs of a benchmark. Outlives its chat.

CREATE TABLE runs (
  id INTEGER PRIMARY KEY,
  -- The runs of one benchmark of one model; null for an answer.
  batch TEXT,
  message_id TEXT,
  chat_id TEXT,
  at INTEGER NOT NULL,
  model TEXT NOT NULL,
  back_end TEXT NOT NULL,
  engine TEXT NOT NULL,
  prompt_tokens INTEGER NOT NULL,
  cached_tokens INTEGER NOT NULL,
  tokens INTEGER NOT NULL,
  -- Tokens a second; null where too few were read or written to say.
  prefill REAL,
  decode REAL,
  first_token_ms REAL NOT NULL,
  memory_bytes REAL,
  disturbed INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE INDEX runs_by_time ON runs (at);
