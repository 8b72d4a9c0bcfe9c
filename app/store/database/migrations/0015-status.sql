-- What tells the states of a message or a document apart is called `status`, and what tells places apart `kind`, as everywhere
-- else. The spans of passages, which SQL cannot read, are read in both ways (app/documents/chunk/span-codec.ts).
DROP INDEX messages_unsettled;
UPDATE messages SET state = '{"status":' || substr(state, 7) WHERE state LIKE '{"at":%';
CREATE INDEX messages_unsettled ON messages (number) WHERE state NOT LIKE '{"status":"done"%';

-- Quotation marks within a text are escaped: no text can be taken for a place.
UPDATE messages SET grounding = replace(grounding, '"place":{"at":', '"place":{"kind":') WHERE grounding IS NOT NULL;

ALTER TABLE documents RENAME COLUMN at TO status;
UPDATE documents SET state = '{"status":' || substr(state, 7) WHERE state LIKE '{"at":%';
