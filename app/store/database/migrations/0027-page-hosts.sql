-- Sites whose pages models may open without being asked about: in every chat (null), or in one.
CREATE TABLE page_hosts (
  host TEXT NOT NULL,
  chat_id TEXT REFERENCES chats (id) ON DELETE CASCADE
) STRICT;
CREATE UNIQUE INDEX page_hosts_once ON page_hosts (host, coalesce(chat_id, ''));
