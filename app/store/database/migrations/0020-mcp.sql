-- Servers of tools (Model Context Protocol), and what may run without being asked about: in every chat, or in one.
CREATE TABLE mcp_servers (
  id TEXT PRIMARY KEY,
  name TEXT NOT NULL UNIQUE,
  -- How it is reached, with its secrets: JSON, sealed by the keychain of the system where there is one.
  config TEXT NOT NULL,
  sealed INTEGER NOT NULL,
  -- What can be shown of that without the keychain.
  about TEXT NOT NULL,
  -- Its tools as it named them last.
  tools TEXT NOT NULL DEFAULT '[]',
  created_at INTEGER NOT NULL
) STRICT;

CREATE TABLE tool_consents (
  server_id TEXT NOT NULL REFERENCES mcp_servers (id) ON DELETE CASCADE,
  tool TEXT NOT NULL,
  -- Null: in every chat.
  chat_id TEXT REFERENCES chats (id) ON DELETE CASCADE,
  -- Of what the tool said of itself: one that says something else is asked about again.
  digest TEXT NOT NULL
) STRICT;
CREATE UNIQUE INDEX tool_consents_once ON tool_consents (server_id, tool, coalesce(chat_id, ''));
