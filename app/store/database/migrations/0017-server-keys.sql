-- Keys of the server for other programs. A key is random and long, so that its SHA-256 tells nothing of it.
CREATE TABLE server_keys (
  id TEXT PRIMARY KEY,
  name TEXT NOT NULL,
  hint TEXT NOT NULL,
  digest BLOB NOT NULL UNIQUE,
  created_at INTEGER NOT NULL,
  used_at INTEGER
) STRICT;
