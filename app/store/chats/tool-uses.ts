import { randomInt } from 'node:crypto';
import type { Attachment, MessageId, ToolUse, ToolUseId } from '../../protocol/index.ts';
import { LonghandError, ToolUseState } from '../../protocol/index.ts';
import type { Database } from '../database/database.ts';
import { isStoredId, storedJson } from '../database/stored.ts';
import { copyResultPictures, resultPicturesOf } from './attachments.ts';

type Row = {
  id: ToolUseId;
  message_id: MessageId;
  step: number;
  name: string;
  arguments: string;
  result: string | null;
  state: string;
  text_at: number;
  thinking_at: number;
};

const columns = 'id, message_id, step, name, arguments, result, state, text_at, thinking_at';

const toolUseOf = (row: Row, pictures: ReadonlyMap<string, Attachment[]>): ToolUse => ({
  id: row.id,
  name: row.name,
  arguments: row.arguments,
  result: row.result,
  pictures: pictures.get(row.id) ?? [],
  state: storedJson(ToolUseState, row.state, { status: 'interrupted' }),
  step: Math.max(0, row.step),
  textAt: Math.max(0, row.text_at),
  thinkingAt: Math.max(0, row.thinking_at),
});

export function toolUsesOf(db: Database, messageId: MessageId): ToolUse[] {
  const rows = db.all<Row>(`SELECT ${columns} FROM tool_uses WHERE message_id = ? ORDER BY number`, messageId);
  if (rows.length === 0) return [];
  const pictures = resultPicturesOf(db, 'message_id', messageId);
  return rows.filter(({ id }) => isStoredId(id)).map((row) => toolUseOf(row, pictures));
}

/** All calls of a chat, by message. */
export function toolUsesOfChat(db: Database, chatId: string): Map<MessageId, ToolUse[]> {
  const uses = new Map<MessageId, ToolUse[]>();
  const rows = db.all<Row>(
    `SELECT ${columns} FROM tool_uses WHERE message_id IN (SELECT id FROM messages WHERE chat_id = ?) ORDER BY number`,
    chatId,
  );
  if (rows.length === 0) return uses;
  const pictures = resultPicturesOf(db, 'chat_id', chatId);
  for (const row of rows.filter(({ id }) => isStoredId(id)))
    uses.set(row.message_id, [...(uses.get(row.message_id) ?? []), toolUseOf(row, pictures)]);
  return uses;
}

/** Where the calls of an answer stand among its tokens, a number a step. */
export function tokensAtSteps(db: Database, messageId: MessageId): Map<number, number> {
  const rows = db.all<{ step: number; ids_at: number }>(
    'SELECT step, ids_at FROM tool_uses WHERE message_id = ? ORDER BY number',
    messageId,
  );
  return new Map(rows.map(({ step, ids_at }) => [step, ids_at]));
}

export type NewToolUse = Omit<ToolUse, 'id' | 'result' | 'pictures' | 'state'> & {
  result?: string | null;
  state?: ToolUse['state'];
};

/** Adds the calls of one step. `tokens`: tokens of the answer before them. */
export function addToolUses(
  db: Database,
  messageId: MessageId,
  uses: readonly NewToolUse[],
  tokens: number,
): ToolUse[] {
  return db.transaction(() =>
    uses.map((use) => {
      const id = newUseId(db);
      const { result = null, state = { status: 'waiting' } } = use;
      const added: ToolUse = { ...use, id, result, pictures: [], state };
      db.run(
        `INSERT INTO tool_uses (id, message_id, step, name, arguments, result, state, text_at, thinking_at, ids_at)
         VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
        id,
        messageId,
        use.step,
        use.name,
        use.arguments,
        added.result,
        JSON.stringify(added.state),
        use.textAt,
        use.thinkingAt,
        tokens,
      );
      return added;
    }),
  );
}

/** @throws LonghandError `not-found` if its message was deleted */
export function updateToolUse(
  db: Database,
  use: ToolUse,
  { state, result }: Pick<ToolUse, 'state' | 'result'>,
): ToolUse {
  const { changes } = db.run(
    'UPDATE tool_uses SET state = ?, result = ? WHERE id = ?',
    JSON.stringify(state),
    result,
    use.id,
  );
  if (changes === 0) throw new LonghandError('not-found', `[tools] no call ${use.id}`);
  return { ...use, state, result, pictures: resultPicturesOf(db, 'use_id', use.id).get(use.id) ?? [] };
}

/** Copies the calls of an answer up to one, which becomes pending again. Returns the tokens of the answer before it. */
export function repeatFrom(db: Database, use: ToolUse, from: MessageId, to: MessageId, now: number): number {
  const at = tokensAtSteps(db, from);
  for (const one of toolUsesOf(db, from).filter(({ step }) => step <= use.step)) {
    const isMade = one.id === use.id;
    const again = isMade ? { ...one, result: null, state: { status: 'waiting' as const } } : one;
    const [copy] = addToolUses(db, to, [again], at.get(one.step) ?? 0);
    if (copy && !isMade) copyResultPictures(db, one.id, { useId: copy.id, messageId: to }, now);
  }
  return at.get(use.step) ?? 0;
}

/** Marks calls that were running when the last process ended as interrupted; calls waiting for consent keep waiting. */
export function settleToolUses(db: Database) {
  db.run(
    `UPDATE tool_uses SET state = '{"status":"interrupted"}', result = ? WHERE state LIKE '{"status":"running"%'`,
    INTERRUPTED,
  );
  db.run(`UPDATE tool_uses SET state = '{"status":"waiting"}' WHERE state LIKE '{"status":"asking"%'`);
}

/** The result of such a call for the model. */
export const INTERRUPTED = 'Error: this call was interrupted. It may have been done in part, and was not repeated.';

const SIGNS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789';

function newUseId(db: Database): ToolUseId {
  for (;;) {
    const id = Array.from({ length: 9 }, () => SIGNS[randomInt(SIGNS.length)]).join('') as ToolUseId;
    if (!db.get('SELECT 1 FROM tool_uses WHERE id = ?', id)) return id;
  }
}
