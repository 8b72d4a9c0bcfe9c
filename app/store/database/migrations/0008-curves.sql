-- The speed of a benchmark run over its time: [[ms, tokens a second], ...].
ALTER TABLE runs ADD COLUMN curve TEXT NOT NULL DEFAULT '[]';
