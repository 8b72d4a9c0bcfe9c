-- An attachment may be a picture: a file of `pictures/` by its content, and the size of what it shows, upright.
ALTER TABLE attachments ADD COLUMN picture TEXT;
ALTER TABLE attachments ADD COLUMN width INTEGER;
ALTER TABLE attachments ADD COLUMN height INTEGER;
