-- Documents: what was added, what was read from it, and the index of its words.

CREATE TABLE collections (
  id TEXT PRIMARY KEY,
  name TEXT NOT NULL,
  built_in INTEGER NOT NULL DEFAULT 0,
  created_at INTEGER NOT NULL,
  deleted_at INTEGER
) STRICT;

CREATE TABLE watched_folders (
  collection_id TEXT NOT NULL REFERENCES collections (id) ON DELETE CASCADE,
  path TEXT NOT NULL,
  -- Why it cannot be watched now; null while it can.
  problem TEXT,
  PRIMARY KEY (collection_id, path)
) STRICT, WITHOUT ROWID;

-- Also the queue of the import: whatever is not 'ready' or 'failed' is taken up again at the next start.
CREATE TABLE documents (
  number INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  collection_id TEXT NOT NULL REFERENCES collections (id) ON DELETE CASCADE,
  name TEXT NOT NULL,
  file_name TEXT NOT NULL,
  kind TEXT NOT NULL,
  bytes INTEGER NOT NULL,
  added_at INTEGER NOT NULL,
  pages INTEGER,
  -- Where the file was taken from, and its time of change then; in a watched folder it is followed.
  source_path TEXT NOT NULL,
  source_changed_at REAL NOT NULL,
  watched INTEGER NOT NULL DEFAULT 0,
  -- Of the kept copy, which is documents/<kept>; null until it has been copied.
  sha256 TEXT,
  kept TEXT,
  ocr INTEGER NOT NULL DEFAULT 0,
  at TEXT NOT NULL,
  -- The whole state, {at, ...}.
  state TEXT NOT NULL,
  notices TEXT NOT NULL DEFAULT '[]',
  passages INTEGER NOT NULL DEFAULT 0,
  deleted_at INTEGER
) STRICT;
CREATE UNIQUE INDEX documents_by_content ON documents (collection_id, sha256)
  WHERE sha256 IS NOT NULL AND deleted_at IS NULL;
CREATE INDEX documents_by_source ON documents (collection_id, source_path);
CREATE INDEX documents_unsettled ON documents (number) WHERE at IN ('queued', 'reading') AND deleted_at IS NULL;

-- What is shown of a document that has no pages.
CREATE TABLE blocks (
  document INTEGER NOT NULL REFERENCES documents (number) ON DELETE CASCADE,
  number INTEGER NOT NULL,
  kind TEXT NOT NULL,
  level INTEGER,
  text TEXT NOT NULL,
  -- JSON; null unless it is a row of a table.
  cells TEXT,
  PRIMARY KEY (document, number)
) STRICT, WITHOUT ROWID;

CREATE TABLE passages (
  number INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  document INTEGER NOT NULL REFERENCES documents (number) ON DELETE CASCADE,
  -- In the order of the document, from 1.
  position INTEGER NOT NULL,
  text TEXT NOT NULL,
  -- So many characters at its beginning stand in the passage before it, or are the head of its table.
  overlap INTEGER NOT NULL,
  headings TEXT NOT NULL,
  label TEXT NOT NULL,
  -- app/documents/spans.ts
  spans BLOB NOT NULL
) STRICT;
CREATE UNIQUE INDEX passages_in_order ON passages (document, position);

-- Words as app/store/words.ts writes them; rowid is passages.number.
CREATE VIRTUAL TABLE passage_words USING fts5 (
  text, headings, name, content = '', contentless_delete = 1, tokenize = 'porter unicode61 remove_diacritics 0'
);
-- Names of code, numbers of parts, paths: parts of them are found too.
CREATE VIRTUAL TABLE passage_codes USING fts5 (
  text, content = '', contentless_delete = 1, tokenize = 'trigram case_sensitive 1'
);
CREATE TRIGGER passages_delete AFTER DELETE ON passages BEGIN
  DELETE FROM passage_words WHERE rowid = old.number;
  DELETE FROM passage_codes WHERE rowid = old.number;
END;
