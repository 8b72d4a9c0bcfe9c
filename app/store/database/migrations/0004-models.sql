-- Hashes of the blocks of a whole file of the library, 32 bytes each: damage is found and mended block by block.
CREATE TABLE blob_blocks (
  sha256 TEXT PRIMARY KEY,
  hashes BLOB NOT NULL
) STRICT;

-- A preset is a model with the files of another and settings of its own, so a path may come twice.
CREATE TABLE models_next (
  id TEXT PRIMARY KEY,
  name TEXT NOT NULL,
  path TEXT,
  added_at INTEGER NOT NULL,
  last_used_at INTEGER,
  -- What its headers said when it was last looked at: {description, thinking}.
  facts TEXT,
  -- What the user set for it: `ModelSettings`.
  settings TEXT,
  preset_of TEXT
) STRICT;
INSERT INTO models_next (id, name, path, added_at, last_used_at, facts)
  SELECT id, name, path, added_at, last_used_at, facts FROM models;
DROP TABLE models;
ALTER TABLE models_next RENAME TO models;
CREATE INDEX models_by_path ON models (path);

-- What was measured of this machine, by name.
CREATE TABLE measurements (
  name TEXT PRIMARY KEY,
  value REAL NOT NULL,
  at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- Whom Longhand spoke to and why, and what it refused; one row a day, host and reason.
CREATE TABLE contacts (
  day TEXT NOT NULL,
  allowed INTEGER NOT NULL,
  host TEXT NOT NULL,
  reason TEXT NOT NULL,
  -- What was asked for: a model, the words of a search.
  about TEXT NOT NULL,
  at INTEGER NOT NULL,
  times INTEGER NOT NULL,
  bytes INTEGER NOT NULL,
  PRIMARY KEY (day, allowed, host, reason, about)
) STRICT, WITHOUT ROWID;
CREATE INDEX contacts_by_time ON contacts (at);
