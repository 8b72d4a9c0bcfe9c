import type { ChatId, MessageId, ModelId, RemoteEngineId } from '../../protocol/index.ts';
import { Chat, LonghandError, SamplingSettings } from '../../protocol/index.ts';
import { fold } from '../database/case-fold.ts';
import type { Database, Value } from '../database/database.ts';
import { isStoredId, storedId, storedInteger, storedJson, storedWord } from '../database/stored.ts';
import { newId } from '../database/uuid.ts';

type ChatRow = {
  id: ChatId;
  title: string;
  title_source: Chat['titleSource'];
  pinned: number;
  created_at: number;
  updated_at: number;
  model_id: ModelId | null;
  system_prompt: string;
  sampling: string;
  thinking: number | null;
  loop_guard: number;
  collection_ids: string;
  tools: string | null;
  passages_to: RemoteEngineId | null;
  draft: string;
  leaf_id: MessageId | null;
};

const columns = `id, title, title_source, pinned, created_at, updated_at, model_id, system_prompt, sampling, thinking,
  loop_guard, collection_ids, tools, passages_to, draft, leaf_id`;

const chatOf = (row: ChatRow): Chat => ({
  id: row.id,
  title: row.title,
  titleSource: storedWord(Chat.shape.titleSource.options, row.title_source, 'user'),
  pinned: row.pinned === 1,
  createdAt: storedInteger(row.created_at),
  updatedAt: storedInteger(row.updated_at),
  modelId: storedId(row.model_id),
  systemPrompt: row.system_prompt,
  sampling: storedJson(SamplingSettings, row.sampling, {}),
  thinking: row.thinking === null ? null : row.thinking === 1,
  loopGuard: row.loop_guard === 1,
  collectionIds: storedJson(Chat.shape.collectionIds, row.collection_ids, []),
  tools: storedJson(Chat.shape.tools, row.tools, null),
  passagesTo: storedId(row.passages_to),
  draft: row.draft,
  leafId: storedId(row.leaf_id),
});

/** Newest first. The first page also holds every pinned chat, however old. */
export function listChats(db: Database, { limit, before }: { limit: number; before?: number | undefined }): Chat[] {
  const where = before === undefined ? 'TRUE' : 'updated_at < ?';
  const page = db.all<ChatRow>(
    `SELECT ${columns} FROM chats WHERE deleted_at IS NULL AND ${where} ORDER BY updated_at DESC, id DESC LIMIT ?`,
    ...(before === undefined ? [] : [before]),
    limit,
  );
  const shown = new Set(page.map((row) => row.id));
  const pinned =
    before === undefined
      ? db.all<ChatRow>(`SELECT ${columns} FROM chats WHERE deleted_at IS NULL AND pinned = 1 ORDER BY updated_at DESC`)
      : [];
  return [...page, ...pinned.filter((row) => !shown.has(row.id))].filter(({ id }) => isStoredId(id)).map(chatOf);
}

export function findChat(db: Database, chatId: ChatId): Chat | undefined {
  const row = db.get<ChatRow>(`SELECT ${columns} FROM chats WHERE id = ? AND deleted_at IS NULL`, chatId);
  return row && chatOf(row);
}

/** @throws LonghandError `not-found` */
export function getChat(db: Database, chatId: ChatId): Chat {
  const chat = findChat(db, chatId);
  if (!chat) throw new LonghandError('not-found', `[chats] no chat ${chatId}`);
  return chat;
}

export function createChat(db: Database, modelId: ModelId | null, now: number): Chat {
  const id = newId(now) as ChatId;
  db.run('INSERT INTO chats (id, created_at, updated_at, model_id) VALUES (?, ?, ?, ?)', id, now, now, modelId);
  return getChat(db, id);
}

const fields = {
  title: ['title', (value: string): Value => value],
  titleSource: ['title_source', (value: string): Value => value],
  pinned: ['pinned', (value: boolean): Value => Number(value)],
  modelId: ['model_id', (value: ModelId | null): Value => value],
  systemPrompt: ['system_prompt', (value: string): Value => value],
  sampling: ['sampling', (value: Chat['sampling']): Value => JSON.stringify(value)],
  thinking: ['thinking', (value: boolean | null): Value => (value === null ? null : Number(value))],
  loopGuard: ['loop_guard', (value: boolean): Value => Number(value)],
  collectionIds: ['collection_ids', (value: Chat['collectionIds']): Value => JSON.stringify(value)],
  tools: ['tools', (value: Chat['tools']): Value => (value === null ? null : JSON.stringify(value))],
  passagesTo: ['passages_to', (value: RemoteEngineId | null): Value => value],
  draft: ['draft', (value: string): Value => value],
  leafId: ['leaf_id', (value: MessageId | null): Value => value],
  updatedAt: ['updated_at', (value: number): Value => value],
} as const;

export type ChatPatch = { [Key in keyof typeof fields]?: Chat[Key] | undefined };

export function updateChat(db: Database, chatId: ChatId, patch: ChatPatch): Chat {
  db.transaction(() => {
    for (const [key, value] of Object.entries(patch)) {
      if (value === undefined) continue;
      const [column, write] = fields[key as keyof ChatPatch] as unknown as [string, (value: unknown) => Value];
      db.run(`UPDATE chats SET ${column} = ? WHERE id = ?`, write(value), chatId);
    }
  });
  return getChat(db, chatId);
}

/** `title`, with a number if another chat has the same one. */
export function distinctTitle(db: Database, title: string, chatId: ChatId): string {
  const rows = db.all<{ title: string }>(
    'SELECT fold(title) AS title FROM chats WHERE deleted_at IS NULL AND id <> ?',
    chatId,
  );
  const taken = new Set(rows.map((row) => row.title));
  if (title === '' || !taken.has(fold(title))) return title;
  for (let number = 2; ; number++) {
    const numbered = `${title} (${number})`;
    if (!taken.has(fold(numbered))) return numbered;
  }
}

export function deleteChat(db: Database, chatId: ChatId, now: number) {
  getChat(db, chatId);
  db.run('UPDATE chats SET deleted_at = ? WHERE id = ?', now, chatId);
}

/** Whether the chat exists and is not in the trash. */
export const chatIsOpen = (db: Database, chatId: ChatId): boolean =>
  db.get('SELECT 1 FROM chats WHERE id = ? AND deleted_at IS NULL', chatId) !== undefined;

export function restoreChat(db: Database, chatId: ChatId): Chat {
  db.run('UPDATE chats SET deleted_at = NULL WHERE id = ?', chatId);
  return getChat(db, chatId);
}

const keptDeletedMs = 24 * 60 * 60 * 1000;

/** Purges chats deleted at least a day ago: up to `limit` messages, newest first, and the chat after its last
 *  one. Returns whether anything is left. */
export function purgeDeleted(db: Database, now: number, limit = PURGED_AT_ONCE): boolean {
  const found = db.get<{ id: ChatId }>(
    'SELECT id FROM chats WHERE deleted_at <= ? ORDER BY deleted_at LIMIT 1',
    now - keptDeletedMs,
  );
  if (!found) return false;
  const messages = `DELETE FROM messages WHERE number IN (
    SELECT number FROM messages WHERE chat_id = ? ORDER BY number DESC LIMIT ?)`;
  if (db.run(messages, found.id, limit).changes < limit) db.run('DELETE FROM chats WHERE id = ?', found.id);
  return true;
}

/** Messages purged per step, which takes a few milliseconds. */
const PURGED_AT_ONCE = 50;
