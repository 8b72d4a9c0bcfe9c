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
