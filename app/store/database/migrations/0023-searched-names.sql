-- A message is found by the names of its files too, and by what was called in it and what came of that, as before.
CREATE VIEW searched_messages AS
SELECT number, id, text
  || coalesce((SELECT group_concat(char(10) || name, '' ORDER BY position) FROM attachments WHERE message_id = m.id), '')
  || coalesce((SELECT group_concat(char(10) || name || ' ' || arguments || char(10) || coalesce(result, ''), ''
       ORDER BY number) FROM tool_uses WHERE message_id = m.id), '') AS text
FROM messages m;

DROP TRIGGER message_search_update;
CREATE TRIGGER message_search_update AFTER UPDATE OF text ON messages WHEN new.text <> old.text BEGIN
  DELETE FROM message_search WHERE rowid = old.number;
  INSERT INTO message_search (rowid, text) SELECT number, fold(text) FROM searched_messages WHERE id = new.id;
END;
DROP TRIGGER tool_uses_searched;
CREATE TRIGGER tool_uses_searched AFTER INSERT ON tool_uses BEGIN
  DELETE FROM message_search WHERE rowid = (SELECT number FROM messages WHERE id = new.message_id);
  INSERT INTO message_search (rowid, text) SELECT number, fold(text) FROM searched_messages WHERE id = new.message_id;
END;
DROP TRIGGER tool_uses_result_searched;
CREATE TRIGGER tool_uses_result_searched AFTER UPDATE OF result ON tool_uses WHEN new.result IS NOT old.result BEGIN
  DELETE FROM message_search WHERE rowid = (SELECT number FROM messages WHERE id = new.message_id);
  INSERT INTO message_search (rowid, text) SELECT number, fold(text) FROM searched_messages WHERE id = new.message_id;
END;
CREATE TRIGGER attachments_searched AFTER INSERT ON attachments WHEN new.message_id IS NOT NULL BEGIN
  DELETE FROM message_search WHERE rowid = (SELECT number FROM messages WHERE id = new.message_id);
  INSERT INTO message_search (rowid, text) SELECT number, fold(text) FROM searched_messages WHERE id = new.message_id;
END;
CREATE TRIGGER attachments_sent_searched AFTER UPDATE OF message_id ON attachments WHEN new.message_id IS NOT NULL BEGIN
  DELETE FROM message_search WHERE rowid = (SELECT number FROM messages WHERE id = new.message_id);
  INSERT INTO message_search (rowid, text) SELECT number, fold(text) FROM searched_messages WHERE id = new.message_id;
END;

DELETE FROM message_search WHERE rowid IN
  (SELECT number FROM messages WHERE id IN (SELECT message_id FROM attachments WHERE message_id IS NOT NULL));
INSERT INTO message_search (rowid, text) SELECT number, fold(text) FROM searched_messages
WHERE id IN (SELECT message_id FROM attachments WHERE message_id IS NOT NULL);
