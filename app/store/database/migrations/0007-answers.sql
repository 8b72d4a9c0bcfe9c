-- Answers from documents: which collections a chat asks, and what an answer rests on (app/protocol/documents.ts, Grounding).
ALTER TABLE chats ADD COLUMN collection_ids TEXT NOT NULL DEFAULT '[]';
ALTER TABLE messages ADD COLUMN grounding TEXT;

-- Encoders whose vectors are kept. Files that change under the same name are another encoder.
CREATE TABLE encoders (
  number INTEGER PRIMARY KEY,
  model_id TEXT NOT NULL,
  sha256 TEXT NOT NULL,
  UNIQUE (model_id, sha256)
) STRICT;

-- The encoder a collection is to be searched with, and the one whose vectors are complete enough to search with now.
ALTER TABLE collections ADD COLUMN model_id TEXT;
ALTER TABLE collections ADD COLUMN encoder INTEGER REFERENCES encoders (number);
ALTER TABLE collections ADD COLUMN serving INTEGER REFERENCES encoders (number);

-- One int8 vector a passage and encoder (app/store/documents/vectors.ts). `document` saves a join with every vector of a search.
CREATE TABLE vectors (
  encoder INTEGER NOT NULL REFERENCES encoders (number) ON DELETE CASCADE,
  passage INTEGER NOT NULL REFERENCES passages (number) ON DELETE CASCADE,
  document INTEGER NOT NULL,
  vector BLOB NOT NULL,
  PRIMARY KEY (encoder, passage)
) STRICT, WITHOUT ROWID;
CREATE INDEX vectors_by_passage ON vectors (passage);
