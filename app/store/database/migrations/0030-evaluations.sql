-- Tests of what models are worth, and what they found.
CREATE TABLE evaluations (
  id TEXT PRIMARY KEY,
  model_id TEXT NOT NULL,
  started_at INTEGER NOT NULL,
  -- The same for all that asked for the same.
  key TEXT NOT NULL,
  -- What was asked for, without its texts: `QualitySubject`.
  subject TEXT NOT NULL,
  -- What it is compared with: {from: 'model', modelId} or {from: 'file', path}; NULL: nothing.
  reference TEXT,
  -- Seconds of work so far.
  seconds REAL NOT NULL DEFAULT 0,
  -- {status: 'running'}, {status: 'stopped'}, {status: 'failed', failure} or {status: 'done', result}.
  state TEXT NOT NULL
) STRICT;
CREATE INDEX evaluations_by_model ON evaluations (model_id);
CREATE TRIGGER evaluations_purged AFTER DELETE ON evaluations BEGIN
  INSERT INTO purged (place, id) VALUES ('evaluations', old.id);
END;
