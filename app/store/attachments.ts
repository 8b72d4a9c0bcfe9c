import type { Attachment, AttachmentId, ChatId, MessageId } from '../protocol/index.ts';
import { LonghandError } from '../protocol/index.ts';
import type { Database } from './database.ts';
import { newId } from './uuid.ts';

export function addAttachment(
  db: Database,
  chatId: ChatId,
  file: { name: string; bytes: number; tokens: number | null; text: string },
  now: number,
): Attachment {
  const id = newId(now) as AttachmentId;
  db.run(
    'INSERT INTO attachments (id, chat_id, name, bytes, tokens, text) VALUES (?, ?, ?, ?, ?, ?)',
    id,
    chatId,
    file.name,
    file.bytes,
    file.tokens,
    file.text,
  );
  return { id, name: file.name, bytes: file.bytes, tokens: file.tokens };
}

/** Only while it waits in the composer; what was sent belongs to its message. */
export function removeAttachment(db: Database, attachmentId: AttachmentId) {
  const { changes } = db.run('DELETE FROM attachments WHERE id = ? AND message_id IS NULL', attachmentId);
  if (changes === 0) throw new LonghandError('not-found', `[attachments] no waiting attachment ${attachmentId}`);
}

/** Another chat's composer has them now. */
export function moveAttachments(db: Database, ids: readonly AttachmentId[], chatId: ChatId) {
  for (const id of ids) db.run('UPDATE attachments SET chat_id = ? WHERE id = ? AND message_id IS NULL', chatId, id);
}

export type AttachedText = { name: string; text: string };

export const textsOf = (db: Database, messageId: MessageId): AttachedText[] =>
  db.all<AttachedText>('SELECT name, text FROM attachments WHERE message_id = ? ORDER BY position', messageId);

export const textsWaiting = (db: Database, ids: readonly AttachmentId[]): AttachedText[] =>
  ids.flatMap((id) =>
    db.all<AttachedText>('SELECT name, text FROM attachments WHERE id = ? AND message_id IS NULL', id),
  );

/** @throws LonghandError `not-found` where no such file waits */
export function textWaiting(db: Database, id: AttachmentId): AttachedText {
  const [found] = textsWaiting(db, [id]);
  if (!found) throw new LonghandError('not-found', `[attachments] no waiting attachment ${id}`);
  return found;
}

/** What a message carried waits in its chat's composer again. */
export const detachAttachments = (db: Database, messageId: MessageId) =>
  db.run('UPDATE attachments SET message_id = NULL, position = 0 WHERE message_id = ?', messageId);

/** Gives a new version of a message the same attachments. */
export function copyAttachments(db: Database, from: MessageId, to: MessageId, now: number) {
  for (const { id } of db.all<{ id: string }>(
    'SELECT id FROM attachments WHERE message_id = ? ORDER BY position',
    from,
  )) {
    db.run(
      `INSERT INTO attachments (id, chat_id, message_id, position, name, bytes, tokens, text)
       SELECT ?, chat_id, ?, position, name, bytes, tokens, text FROM attachments WHERE id = ?`,
      newId(now),
      to,
      id,
    );
  }
}
