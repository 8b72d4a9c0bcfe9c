-- Conversations. A message is a node of a tree; siblings (same parent, same role) are versions of one message.

CREATE TABLE chats (
  id TEXT PRIMARY KEY,
  title TEXT NOT NULL DEFAULT '',
  titled TEXT NOT NULL DEFAULT 'none',
  pinned INTEGER NOT NULL DEFAULT 0,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  model_id TEXT,
  system_prompt TEXT NOT NULL DEFAULT '',
  sampling TEXT NOT NULL DEFAULT '{}',
  thinking INTEGER,
  loop_guard INTEGER NOT NULL DEFAULT 1,
  draft TEXT NOT NULL DEFAULT '',
  leaf_id TEXT,
  deleted_at INTEGER
) STRICT;
CREATE INDEX chats_by_update ON chats (updated_at);

CREATE TABLE messages (
  -- Order of creation (clocks may jump), and the row of the search index.
  number INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  chat_id TEXT NOT NULL REFERENCES chats (id) ON DELETE CASCADE,
  parent_id TEXT,
  role TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  text TEXT NOT NULL DEFAULT '',
  thinking TEXT NOT NULL DEFAULT '',
  state TEXT NOT NULL,
  model_name TEXT,
  usage TEXT,
  timings TEXT,
  loops TEXT NOT NULL DEFAULT '[]',
  -- Tokens the model wrote, int32 little endian; null when the text was written or corrected by hand.
  ids BLOB
) STRICT;
CREATE INDEX messages_by_chat ON messages (chat_id, number);
-- Messages that a restart has to settle.
CREATE INDEX messages_unsettled ON messages (number) WHERE state NOT LIKE '{"at":"done"%';

-- What a running turn has written so far: every flush appends one row, so its cost does not grow with the answer.
-- Joined into its message when the turn ends, or at the next start.
CREATE TABLE pieces (
  message_id TEXT NOT NULL REFERENCES messages (id) ON DELETE CASCADE,
  seq INTEGER NOT NULL,
  text TEXT NOT NULL,
  thinking TEXT NOT NULL,
  ids BLOB NOT NULL,
  PRIMARY KEY (message_id, seq)
) STRICT, WITHOUT ROWID;

CREATE TABLE samples (
  message_id TEXT NOT NULL REFERENCES messages (id) ON DELETE CASCADE,
  seq INTEGER NOT NULL,
  sample TEXT NOT NULL,
  PRIMARY KEY (message_id, seq)
) STRICT, WITHOUT ROWID;

CREATE TABLE attachments (
  id TEXT PRIMARY KEY,
  chat_id TEXT NOT NULL REFERENCES chats (id) ON DELETE CASCADE,
  -- Null while it waits in the composer.
  message_id TEXT REFERENCES messages (id) ON DELETE CASCADE,
  position INTEGER NOT NULL DEFAULT 0,
  name TEXT NOT NULL,
  bytes INTEGER NOT NULL,
  tokens INTEGER,
  text TEXT NOT NULL
) STRICT;
CREATE INDEX attachments_by_message ON attachments (message_id);
CREATE INDEX attachments_by_chat ON attachments (chat_id);

CREATE TABLE settings (
  key TEXT PRIMARY KEY,
  value TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE models (
  id TEXT PRIMARY KEY,
  name TEXT NOT NULL,
  path TEXT UNIQUE,
  added_at INTEGER NOT NULL,
  last_used_at INTEGER,
  -- What its headers said when it was last looked at: {description, thinking}.
  facts TEXT
) STRICT;

-- Texts as runs of three characters: finds parts of words in every script. `fold` (app/store/fold.ts) is what the search
-- does with the words that are looked for.
CREATE VIRTUAL TABLE message_search USING fts5 (
  text, content = '', contentless_delete = 1, tokenize = 'trigram case_sensitive 1'
);
CREATE TRIGGER message_search_insert AFTER INSERT ON messages WHEN new.text <> '' BEGIN
  INSERT INTO message_search (rowid, text) VALUES (new.number, fold(new.text));
END;
CREATE TRIGGER message_search_update AFTER UPDATE OF text ON messages WHEN new.text <> old.text BEGIN
  DELETE FROM message_search WHERE rowid = old.number;
  INSERT INTO message_search (rowid, text) VALUES (new.number, fold(new.text));
END;
CREATE TRIGGER message_search_delete AFTER DELETE ON messages BEGIN
  DELETE FROM message_search WHERE rowid = old.number;
END;
