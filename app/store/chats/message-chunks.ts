import { type MessageId, StatsSample } from '../../protocol/index.ts';
import type { Database } from '../database/database.ts';
import { storedJson } from '../database/stored.ts';
import { findMessage, idsOf, toBytes } from './messages.ts';

export type MessageChunk = { text: string; thinking: string; ids: readonly number[]; samples: readonly StatsSample[] };

/** Appends new text of a turn. Constant cost, however long the answer is. */
export function addChunk(db: Database, messageId: MessageId, piece: MessageChunk) {
  db.transaction(() => {
    if (piece.text !== '' || piece.thinking !== '' || piece.ids.length > 0) {
      db.run(
        `INSERT INTO message_chunks SELECT ?, coalesce(max(seq), 0) + 1, ?, ?, ? FROM message_chunks WHERE message_id = ?`,
        messageId,
        piece.text,
        piece.thinking,
        toBytes(piece.ids),
        messageId,
      );
    }
    for (const sample of piece.samples) {
      db.run(
        'INSERT INTO speed_samples SELECT ?, coalesce(max(seq), 0) + 1, ? FROM speed_samples WHERE message_id = ?',
        messageId,
        JSON.stringify(sample),
        messageId,
      );
    }
  });
}

/** Merges the chunks into the message. */
export function joinChunks(db: Database, messageId: MessageId) {
  db.transaction(() => {
    const message = findMessage(db, messageId);
    const ids = idsOf(db, messageId);
    if (!message) return;
    const { changes } = db.run('DELETE FROM message_chunks WHERE message_id = ?', messageId);
    if (changes === 0) return;
    db.run(
      'UPDATE messages SET text = ?, thinking = ?, ids = ? WHERE id = ?',
      message.text,
      message.thinking,
      ids && toBytes(ids),
      messageId,
    );
  });
}

/** Truncates an answer to `length` characters of one kind and `tokens` tokens. */
export function cutBack(
  db: Database,
  messageId: MessageId,
  cut: { kind: 'answer' | 'thinking'; length: number; tokens: number },
) {
  db.transaction(() => {
    joinChunks(db, messageId);
    const message = findMessage(db, messageId);
    if (!message) return;
    const text = cut.kind === 'answer' ? message.text.slice(0, cut.length) : message.text;
    const thinking = cut.kind === 'thinking' ? message.thinking.slice(0, cut.length) : message.thinking;
    const ids = idsOf(db, messageId)?.slice(0, cut.tokens) ?? [];
    db.run('UPDATE messages SET text = ?, thinking = ?, ids = ? WHERE id = ?', text, thinking, toBytes(ids), messageId);
  });
}

export const samplesOf = (db: Database, messageId: MessageId): StatsSample[] =>
  db
    .all<{ sample: string }>('SELECT sample FROM speed_samples WHERE message_id = ? ORDER BY seq', messageId)
    .flatMap((row) => storedJson(StatsSample.nullable(), row.sample, null) ?? []);

/** Messages that were running or queued when the last process ended. */
export const unsettled = (db: Database): MessageId[] =>
  db
    .all<{ id: MessageId }>(`SELECT id FROM messages WHERE state NOT LIKE '{"status":"done"%' ORDER BY number`)
    .map((row) => row.id);
