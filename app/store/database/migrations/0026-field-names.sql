-- The model that makes vectors is the embedder everywhere, and what it makes of a passage its embedding.
ALTER TABLE encoders RENAME TO embedders;
ALTER TABLE vectors RENAME TO embeddings;
ALTER TABLE vector_parts RENAME TO embedding_parts;
ALTER TABLE embeddings RENAME COLUMN encoder TO embedder;
ALTER TABLE embedding_parts RENAME COLUMN encoder TO embedder;
ALTER TABLE collections RENAME COLUMN encoder TO embedder;
ALTER TABLE collections RENAME COLUMN encoder_chosen TO embedder_chosen;

-- Indexes that were named after what their tables were called once.
DROP INDEX vectors_by_passage;
CREATE INDEX embeddings_by_passage ON embeddings (passage);
DROP INDEX contacts_by_time;
CREATE INDEX network_log_by_time ON network_log (at);

-- What was seen of a loop. Quotation marks within a text are escaped: no text can be taken for a name.
UPDATE messages SET loops = replace(replace(replace(replace(loops,
  '"copies":', '"repeats":'), '"period":', '"periodTokens":'), '"first":', '"startToken":'), '"last":', '"endToken":')
WHERE loops != '[]';
UPDATE messages SET state = replace(replace(replace(replace(state,
  '"copies":', '"repeats":'), '"period":', '"periodTokens":'), '"first":', '"startToken":'), '"last":', '"endToken":')
WHERE state LIKE '{"status":"paused"%';
