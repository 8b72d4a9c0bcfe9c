import type { Attachment, AttachmentId, ChatId, MessageId, ToolUseId } from '../../protocol/index.ts';
import { LonghandError } from '../../protocol/index.ts';
import type { Database } from '../database/database.ts';
import { newId } from '../database/uuid.ts';

/** Columns of an attachment as sent to the page. */
export const ATTACHMENT = 'id, name, bytes, tokens, picture, width, height';
export type AttachmentRow = {
  id: AttachmentId;
  name: string;
  bytes: number;
  tokens: number | null;
  picture: string | null;
  width: number | null;
  height: number | null;
};

export const attachmentOf = ({ id, name, bytes, tokens, picture, width, height }: AttachmentRow): Attachment => ({
  id,
  name,
  bytes,
  tokens,
  picture: picture === null || width === null || height === null ? null : { width, height },
});

/** `stored`: its file in `pictures/`. */
export type StoredPicture = { stored: string; width: number; height: number };

export function addAttachment(
  db: Database,
  chatId: ChatId,
  file: { name: string; bytes: number; tokens: number | null; text: string; picture?: StoredPicture },
  now: number,
): Attachment {
  const id = newId(now) as AttachmentId;
  const { name, bytes, tokens, text, picture = null } = file;
  const { stored = null, width = null, height = null } = picture ?? {};
  db.run(
    `INSERT INTO attachments (id, chat_id, name, bytes, tokens, text, picture, width, height)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    id,
    chatId,
    name,
    bytes,
    tokens,
    text,
    stored,
    width,
    height,
  );
  return attachmentOf({ id, name, bytes, tokens, picture: stored, width, height });
}

/** Adds a picture from a tool result, attached to the message of its call. */
export function addResultPicture(
  db: Database,
  { useId, messageId }: { useId: ToolUseId; messageId: MessageId },
  { name, bytes, stored, width, height }: StoredPicture & { name: string; bytes: number },
  now: number,
) {
  db.run(
    `INSERT INTO attachments (id, chat_id, message_id, position, use_id, name, bytes, tokens, text, picture, width, height)
     SELECT ?, chat_id, id, (SELECT count(*) FROM attachments WHERE use_id = ?), ?, ?, ?, NULL, '', ?, ?, ?
     FROM messages WHERE id = ?`,
    newId(now),
    useId,
    useId,
    name,
    bytes,
    stored,
    width,
    height,
    messageId,
  );
}

/** Pictures of one call, or of all calls of a message or a chat. */
export function resultPicturesOf(
  db: Database,
  where: 'use_id' | 'message_id' | 'chat_id',
  id: string,
): Map<string, Attachment[]> {
  const found = new Map<string, Attachment[]>();
  const rows = db.all<AttachmentRow & { use: ToolUseId }>(
    `SELECT ${ATTACHMENT}, use_id AS use FROM attachments WHERE ${where} = ? AND use_id IS NOT NULL ORDER BY position`,
    id,
  );
  for (const row of rows) found.set(row.use, [...(found.get(row.use) ?? []), attachmentOf(row)]);
  return found;
}

/** Copies the pictures of a call to another version of its message. */
export function copyResultPictures(
  db: Database,
  from: ToolUseId,
  to: { useId: ToolUseId; messageId: MessageId },
  now: number,
) {
  for (const { id } of db.all<{ id: string }>('SELECT id FROM attachments WHERE use_id = ? ORDER BY position', from)) {
    db.run(
      `INSERT INTO attachments (id, chat_id, message_id, position, use_id, name, bytes, tokens, text, picture, width, height)
       SELECT ?, chat_id, ?, position, ?, name, bytes, tokens, text, picture, width, height FROM attachments WHERE id = ?`,
      newId(now),
      to.messageId,
      to.useId,
      id,
    );
  }
}

/** Removes an attachment in the composer; sent ones belong to their message. */
export function removeAttachment(db: Database, attachmentId: AttachmentId) {
  const { changes } = db.run('DELETE FROM attachments WHERE id = ? AND message_id IS NULL', attachmentId);
  if (changes === 0) throw new LonghandError('not-found', `[attachments] no unsent attachment ${attachmentId}`);
}

/** Moves attachments to another chat's composer. */
export function moveAttachments(db: Database, ids: readonly AttachmentId[], chatId: ChatId) {
  for (const id of ids) db.run('UPDATE attachments SET chat_id = ? WHERE id = ? AND message_id IS NULL', chatId, id);
}

/** An attachment in a prompt: text or picture. */
export type Attached = { name: string; text: string; picture: StoredPicture | null };

type AttachedRow = { name: string; text: string; picture: string | null; width: number; height: number };
const ATTACHED = 'SELECT name, text, picture, width, height FROM attachments';
const attachedOf = ({ name, text, picture, width, height }: AttachedRow): Attached => ({
  name,
  text,
  picture: picture === null ? null : { stored: picture, width, height },
});

export const attachedTo = (db: Database, messageId: MessageId): Attached[] =>
  db
    .all<AttachedRow>(`${ATTACHED} WHERE message_id = ? AND use_id IS NULL ORDER BY position`, messageId)
    .map(attachedOf);

export const attachedWaiting = (db: Database, ids: readonly AttachmentId[]): Attached[] =>
  ids.flatMap((id) => db.all<AttachedRow>(`${ATTACHED} WHERE id = ? AND message_id IS NULL`, id).map(attachedOf));

/** @throws LonghandError `not-found` if there is no such text in the composer */
export function textWaiting(db: Database, id: AttachmentId): Pick<Attached, 'name' | 'text'> {
  const [found] = attachedWaiting(db, [id]);
  if (found && found.picture === null) return { name: found.name, text: found.text };
  throw new LonghandError('not-found', `[attachments] no unsent text ${id}`);
}

/** The file of a picture. @throws LonghandError `not-found` */
export function pictureOf(db: Database, id: AttachmentId): string {
  const found = db.get<{ picture: string | null }>('SELECT picture FROM attachments WHERE id = ?', id);
  if (found?.picture) return found.picture;
  throw new LonghandError('not-found', `[attachments] no picture ${id}`);
}

export const picturesInUse = (db: Database): Set<string> =>
  new Set(
    db
      .all<{ picture: string }>('SELECT DISTINCT picture FROM attachments WHERE picture IS NOT NULL')
      .map(({ picture }) => picture),
  );

/** Moves the attachments of a message back to its chat's composer. */
export const detachAttachments = (db: Database, messageId: MessageId) =>
  db.run('UPDATE attachments SET message_id = NULL, position = 0 WHERE message_id = ?', messageId);

/** Copies attachments to a new version of a message. */
export function copyAttachments(db: Database, from: MessageId, to: MessageId, now: number) {
  for (const { id } of db.all<{ id: string }>(
    'SELECT id FROM attachments WHERE message_id = ? AND use_id IS NULL ORDER BY position',
    from,
  )) {
    db.run(
      `INSERT INTO attachments (id, chat_id, message_id, position, name, bytes, tokens, text, picture, width, height)
       SELECT ?, chat_id, ?, position, name, bytes, tokens, text, picture, width, height FROM attachments WHERE id = ?`,
      newId(now),
      to,
      id,
    );
  }
}
