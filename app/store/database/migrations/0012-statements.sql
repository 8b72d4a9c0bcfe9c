-- Vectors of the halves and of the statements of a passage stand in vector_parts; those from before have halves alone. They are
-- read anew in the background, and search goes by words until then.
DELETE FROM vectors;
