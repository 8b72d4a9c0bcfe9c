-- How often reading a document has begun without coming to an end: what Longhand itself ended on twice waits for the user.
ALTER TABLE documents ADD COLUMN attempts INTEGER NOT NULL DEFAULT 0;
