-- Vectors of the halves of a passage, one behind the other (app/store/documents/vectors.ts). Apart from those of whole passages, which
-- every search reads from the first to the last.
CREATE TABLE vector_parts (
  encoder INTEGER NOT NULL,
  passage INTEGER NOT NULL,
  parts BLOB NOT NULL,
  PRIMARY KEY (encoder, passage),
  FOREIGN KEY (encoder, passage) REFERENCES vectors (encoder, passage) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;
DELETE FROM vectors;
