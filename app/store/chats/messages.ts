import type { Attachment, ChatId, LoopEvidence, MessageId, ToolUse } from '../../protocol/index.ts';
import { Grounding, LonghandError, Message, MessageState, Timings, Usage } from '../../protocol/index.ts';
import type { Database, Value } from '../database/database.ts';
import { isStoredId, storedId, storedInteger, storedJson, storedWord } from '../database/stored.ts';
import { newId } from '../database/uuid.ts';
import { ATTACHMENT, type AttachmentRow, attachmentOf } from './attachments.ts';
import { toolUsesOf, toolUsesOfChat } from './tool-uses.ts';

type MessageRow = {
  id: MessageId;
  chat_id: ChatId;
  parent_id: MessageId | null;
  role: Message['role'];
  created_at: number;
  text: string;
  thinking: string;
  state: string;
  model_name: string | null;
  usage: string | null;
  timings: string | null;
  loops: string;
  grounding: string | null;
  context_cutoff: string | null;
  more_text: string | null;
  more_thinking: string | null;
};

// Including the chunks of a running turn.
const select = `SELECT id, chat_id, parent_id, role, created_at, text, thinking, state, model_name, usage, timings, loops, context_cutoff,
  grounding,
  (SELECT group_concat(p.text, '' ORDER BY seq) FROM message_chunks p WHERE p.message_id = messages.id) AS more_text,
  (SELECT group_concat(p.thinking, '' ORDER BY seq) FROM message_chunks p WHERE p.message_id = messages.id) AS more_thinking
  FROM messages`;

/** Answers of older versions have no quote. */
const StoredGrounding = Grounding.extend({ quote: Grounding.shape.quote.default(null) }).nullable();

function messageOf(row: MessageRow, attachments: Attachment[], toolUses: ToolUse[]): Message {
  return {
    id: row.id,
    chatId: row.chat_id,
    parentId: storedId(row.parent_id),
    role: storedWord(Message.shape.role.options, row.role, 'user'),
    createdAt: storedInteger(row.created_at),
    text: row.text + (row.more_text ?? ''),
    thinking: row.thinking + (row.more_thinking ?? ''),
    attachments,
    state: storedJson(MessageState, row.state, { status: 'done', reason: null }),
    modelName: row.model_name,
    usage: storedJson(Usage.nullable(), row.usage, null),
    timings: storedJson(Timings.nullable(), row.timings, null),
    loops: storedJson(Message.shape.loops, row.loops, []),
    grounding: storedJson(StoredGrounding, row.grounding, null),
    contextCutoff: storedJson(Message.shape.contextCutoff, row.context_cutoff, null),
    toolUses,
  };
}

/** The whole tree of a chat, parents before children. */
export function messagesOf(db: Database, chatId: ChatId): Message[] {
  const attached = new Map<string, Attachment[]>();
  const rows = db.all<AttachmentRow & { messageId: string }>(
    `SELECT ${ATTACHMENT}, message_id AS messageId FROM attachments
     WHERE chat_id = ? AND message_id IS NOT NULL AND use_id IS NULL ORDER BY position`,
    chatId,
  );
  for (const row of rows) {
    attached.set(row.messageId, [...(attached.get(row.messageId) ?? []), attachmentOf(row)]);
  }
  const uses = toolUsesOfChat(db, chatId);
  return db
    .all<MessageRow>(`${select} WHERE chat_id = ? ORDER BY number`, chatId)
    .filter(({ id }) => isStoredId(id))
    .map((row) => messageOf(row, attached.get(row.id) ?? [], uses.get(row.id) ?? []));
}

export function findMessage(db: Database, messageId: MessageId): Message | undefined {
  const row = db.get<MessageRow>(`${select} WHERE id = ?`, messageId);
  if (!row) return undefined;
  const attachments = db.all<AttachmentRow>(
    `SELECT ${ATTACHMENT} FROM attachments WHERE message_id = ? AND use_id IS NULL ORDER BY position`,
    messageId,
  );
  return messageOf(row, attachments.map(attachmentOf), toolUsesOf(db, messageId));
}

/** @throws LonghandError `not-found` */
export function getMessage(db: Database, messageId: MessageId): Message {
  const message = findMessage(db, messageId);
  if (!message) throw new LonghandError('not-found', `[messages] no message ${messageId}`);
  return message;
}

export type NewMessage = {
  chatId: ChatId;
  parentId: MessageId | null;
  role: Message['role'];
  text?: string;
  thinking?: string;
  state: MessageState;
  modelName?: string | null;
  attachments?: readonly string[];
};

export function addMessage(db: Database, message: NewMessage, now: number): Message {
  const id = newId(now) as MessageId;
  db.transaction(() => {
    db.run(
      `INSERT INTO messages (id, chat_id, parent_id, role, created_at, text, thinking, state, model_name)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
      id,
      message.chatId,
      message.parentId,
      message.role,
      now,
      message.text ?? '',
      message.thinking ?? '',
      JSON.stringify(message.state),
      message.modelName ?? null,
    );
    message.attachments?.forEach((attachmentId, position) => {
      db.run(
        'UPDATE attachments SET message_id = ?, position = ? WHERE id = ? AND chat_id = ? AND message_id IS NULL',
        id,
        position,
        attachmentId,
        message.chatId,
      );
    });
  });
  return getMessage(db, id);
}

const fields = {
  parentId: 'parent_id',
  text: 'text',
  state: 'state',
  modelName: 'model_name',
  usage: 'usage',
  timings: 'timings',
  loops: 'loops',
  grounding: 'grounding',
  contextCutoff: 'context_cutoff',
} as const;

export type MessagePatch = { [Key in keyof typeof fields]?: Message[Key] | undefined };

export function updateMessage(db: Database, messageId: MessageId, patch: MessagePatch): Message {
  db.transaction(() => {
    for (const [key, value] of Object.entries(patch)) {
      if (value === undefined) continue;
      const written: Value = value === null || typeof value === 'string' ? value : JSON.stringify(value);
      db.run(`UPDATE messages SET ${fields[key as keyof MessagePatch]} = ? WHERE id = ?`, written, messageId);
    }
  });
  return getMessage(db, messageId);
}

/** Copies the beginning of an earlier answer to a new one. */
export function copyBegin(
  db: Database,
  from: MessageId,
  to: MessageId,
  { text, thinking, tokens }: { text: number; thinking: number; tokens: number },
) {
  const message = getMessage(db, from);
  const ids = idsOf(db, from)?.slice(0, tokens);
  db.run(
    'UPDATE messages SET text = ?, thinking = ?, ids = ?, grounding = ?, model_name = ? WHERE id = ?',
    message.text.slice(0, text),
    message.thinking.slice(0, thinking),
    ids && ids.length > 0 ? toBytes(ids) : null,
    message.grounding && JSON.stringify(message.grounding),
    message.modelName,
    to,
  );
}

export const deleteMessage = (db: Database, messageId: MessageId) =>
  db.run('DELETE FROM messages WHERE id = ?', messageId);

export function addLoop(db: Database, messageId: MessageId, evidence: LoopEvidence): Message {
  const message = getMessage(db, messageId);
  return updateMessage(db, messageId, { loops: [...message.loops, evidence] });
}

/** Generated tokens of a message, in order; null if its text was edited by hand. */
export function idsOf(db: Database, messageId: MessageId): number[] | null {
  const row = db.get<{ ids: Uint8Array | null }>('SELECT ids FROM messages WHERE id = ?', messageId);
  const pieces = db.all<{ ids: Uint8Array }>(
    'SELECT ids FROM message_chunks WHERE message_id = ? ORDER BY seq',
    messageId,
  );
  const parts = [row?.ids, ...pieces.map((piece) => piece.ids)].filter((part) => part instanceof Uint8Array);
  const ids = parts.flatMap(fromBytes);
  return ids.length === 0 ? null : ids;
}

export const toBytes = (ids: readonly number[]): Uint8Array => new Uint8Array(Int32Array.from(ids).buffer);

function fromBytes(bytes: Uint8Array): number[] {
  return Array.from(new Int32Array(bytes.slice().buffer));
}

/** Number of recent messages searched for answers of a model. */
const LOOKED_AT = 400;

/** Thinking tokens of the latest completed answers of a model. */
export const thinkingOf = (db: Database, modelName: string): number[] =>
  db
    .all<{ tokens: number }>(
      `SELECT json_extract(usage, '$.thinkingTokens') AS tokens
        FROM (SELECT usage, state, model_name FROM messages ORDER BY number DESC LIMIT ?)
        WHERE model_name = ? AND json_extract(state, '$.reason') = 'stop' AND json_extract(usage, '$.thinkingTokens') > 0`,
      LOOKED_AT,
      modelName,
    )
    .map(({ tokens }) => tokens);
