-- Where the models are, and a move of them that is on its way. One row.
CREATE TABLE library (
  one INTEGER PRIMARY KEY CHECK (one = 1),
  -- null: in the data folder
  folder TEXT,
  -- Stands in that folder too: an empty mount point or another disk is not taken for it.
  mark TEXT,
  -- Where a move copies to, and whether it is to wait.
  moving_to TEXT,
  paused INTEGER NOT NULL DEFAULT 0,
  -- What is still to be deleted: the old place after a move, the new one after a move that was cancelled.
  leaving TEXT
) STRICT;
INSERT INTO library (one) VALUES (1);
