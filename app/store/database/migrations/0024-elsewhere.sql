-- Engines elsewhere: servers of others that answer as OpenAI does.
CREATE TABLE elsewhere (
  id TEXT PRIMARY KEY,
  name TEXT NOT NULL UNIQUE,
  address TEXT NOT NULL,
  -- Sealed by the keychain of the system where there is one; null: it wants none.
  key TEXT,
  sealed INTEGER NOT NULL DEFAULT 0,
  created_at INTEGER NOT NULL
) STRICT;

-- Of a model that runs there: its engine, its name there and what is known of it, as JSON.
ALTER TABLE models ADD COLUMN elsewhere TEXT;

-- The engine elsewhere that passages of documents may be sent to in this chat.
ALTER TABLE chats ADD COLUMN passages_to TEXT;
