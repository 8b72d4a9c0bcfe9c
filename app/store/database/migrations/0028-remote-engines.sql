-- An engine on another computer, or of another program, is a remote engine everywhere.
ALTER TABLE elsewhere RENAME TO remote_engines;
ALTER TABLE models RENAME COLUMN elsewhere TO remote;

-- Quotation marks within a text are escaped: no text can be taken for a code.
UPDATE messages SET state = replace(state, '"code":"elsewhere-failed"', '"code":"remote-failed"')
WHERE state LIKE '{"status":"failed"%';
