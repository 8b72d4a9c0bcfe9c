-- Whether somebody chose how a collection is searched; the others get the encoder that ships with the app.
ALTER TABLE collections ADD COLUMN encoder_chosen INTEGER NOT NULL DEFAULT 0;
UPDATE collections SET encoder_chosen = 1 WHERE model_id IS NOT NULL;
