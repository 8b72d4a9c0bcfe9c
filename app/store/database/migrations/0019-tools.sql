-- Tools: which of them a chat has switched on (null: as in the settings), and every call in an answer.
ALTER TABLE chats ADD COLUMN tools TEXT;

CREATE TABLE tool_uses (
  number INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  message_id TEXT NOT NULL REFERENCES messages (id) ON DELETE CASCADE,
  -- Calls that were made at once have the same.
  step INTEGER NOT NULL,
  name TEXT NOT NULL,
  arguments TEXT NOT NULL,
  result TEXT,
  state TEXT NOT NULL,
  -- Where it stands in the answer: characters of text and of thinking, tokens.
  text_at INTEGER NOT NULL,
  thinking_at INTEGER NOT NULL,
  ids_at INTEGER NOT NULL
) STRICT;
CREATE INDEX tool_uses_by_message ON tool_uses (message_id, number);

-- What was called and what came of it is found like the text of the answer.
DROP TRIGGER message_search_update;
CREATE TRIGGER message_search_update AFTER UPDATE OF text ON messages WHEN new.text <> old.text BEGIN
  DELETE FROM message_search WHERE rowid = old.number;
  INSERT INTO message_search (rowid, text) VALUES (new.number, fold(new.text || coalesce(
    (SELECT group_concat(char(10) || name || ' ' || arguments || char(10) || coalesce(result, ''), '' ORDER BY number)
     FROM tool_uses WHERE message_id = new.id), '')));
END;
CREATE TRIGGER tool_uses_searched AFTER INSERT ON tool_uses BEGIN
  DELETE FROM message_search WHERE rowid = (SELECT number FROM messages WHERE id = new.message_id);
  INSERT INTO message_search (rowid, text) SELECT m.number, fold(m.text || coalesce(
    (SELECT group_concat(char(10) || name || ' ' || arguments || char(10) || coalesce(result, ''), '' ORDER BY number)
     FROM tool_uses WHERE message_id = m.id), '')) FROM messages m WHERE m.id = new.message_id;
END;
CREATE TRIGGER tool_uses_result_searched AFTER UPDATE OF result ON tool_uses WHEN new.result IS NOT old.result BEGIN
  DELETE FROM message_search WHERE rowid = (SELECT number FROM messages WHERE id = new.message_id);
  INSERT INTO message_search (rowid, text) SELECT m.number, fold(m.text || coalesce(
    (SELECT group_concat(char(10) || name || ' ' || arguments || char(10) || coalesce(result, ''), '' ORDER BY number)
     FROM tool_uses WHERE message_id = m.id), '')) FROM messages m WHERE m.id = new.message_id;
END;
