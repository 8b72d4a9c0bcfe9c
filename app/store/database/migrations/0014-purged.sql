-- What was removed for good, until it is gone from the word indexes and the backups too (app/store/database/erase.ts).
CREATE TABLE purged (
  number INTEGER PRIMARY KEY,
  -- The table it was in.
  place TEXT NOT NULL,
  id TEXT NOT NULL
) STRICT;
CREATE TRIGGER chats_purged AFTER DELETE ON chats BEGIN
  INSERT INTO purged (place, id) VALUES ('chats', old.id);
END;
CREATE TRIGGER collections_purged AFTER DELETE ON collections BEGIN
  INSERT INTO purged (place, id) VALUES ('collections', old.id);
END;
CREATE TRIGGER documents_purged AFTER DELETE ON documents BEGIN
  INSERT INTO purged (place, id) VALUES ('documents', old.id);
END;
-- Words that were removed before this stood here.
INSERT INTO purged (place, id) VALUES ('', '');
