-- What the user asked to download, one row a repository, in the order of the list.
CREATE TABLE downloads (
  id TEXT PRIMARY KEY,
  name TEXT NOT NULL,
  source TEXT NOT NULL,
  repository TEXT NOT NULL,
  commit_hash TEXT NOT NULL,
  -- [{name, size, sha256, etag}]
  files TEXT NOT NULL,
  paused INTEGER NOT NULL DEFAULT 0,
  position INTEGER NOT NULL,
  added_at INTEGER NOT NULL
) STRICT;

-- Files of the library by content: several models may share one.
CREATE TABLE blobs (
  sha256 TEXT PRIMARY KEY,
  size INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- Files that are being downloaded: what the server said they are, and which blocks are on disk (app/models/download).
CREATE TABLE download_files (
  key TEXT PRIMARY KEY,
  size INTEGER NOT NULL,
  block INTEGER NOT NULL,
  etag TEXT,
  sha256 TEXT
) STRICT;

CREATE TABLE download_blocks (
  file TEXT NOT NULL REFERENCES download_files (key) ON DELETE CASCADE,
  block INTEGER NOT NULL,
  sha256 TEXT NOT NULL,
  PRIMARY KEY (file, block)
) STRICT, WITHOUT ROWID;
