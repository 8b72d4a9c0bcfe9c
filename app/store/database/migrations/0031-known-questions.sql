-- Vectors of the questions that the manual is known to answer, as int8, one after the other in the order of their file.
CREATE TABLE known_questions (
  embedder INTEGER PRIMARY KEY,
  -- Of the file.
  sha256 TEXT NOT NULL,
  vectors BLOB NOT NULL
) STRICT;
