import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { onTestFinished } from 'vitest';
import type { ChatId, MessageId } from '../../../app/protocol/index.ts';
import { createChat } from '../../../app/store/chats/chats.ts';
import { addMessage } from '../../../app/store/chats/messages.ts';
import { type Database, openDatabase } from '../../../app/store/database/database.ts';
import { migrate, readMigrations } from '../../../app/store/database/migrate.ts';
import { openStore, type Store } from '../../../app/store/store.ts';

export const migrations = resolve(import.meta.dirname, '../../../app/store/database/migrations');

export function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'longhand-test-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

export async function open(folder = newFolder(), now?: () => number): Promise<Store> {
  const store = await openStore({ folder, migrations, ...(now && { now }) });
  onTestFinished(() => store.close());
  return store;
}

/** A database of this version, in memory. */
export function inMemory(): Database {
  const db = openDatabase(':memory:', { vectors: true });
  onTestFinished(() => db.close());
  migrate(db, readMigrations(migrations));
  return db;
}

/** A chat with a question and an answer. */
export function addExchange(
  { db }: Pick<Store, 'db'>,
  question: string,
  answer: string,
): { chatId: ChatId; answerId: MessageId } {
  const chat = createChat(db, null, Date.now());
  const done = { status: 'done' as const, reason: null };
  const asked = addMessage(
    db,
    { chatId: chat.id, parentId: null, role: 'user', text: question, state: done },
    Date.now(),
  );
  const said = addMessage(
    db,
    { chatId: chat.id, parentId: asked.id, role: 'assistant', text: answer, state: done },
    Date.now(),
  );
  return { chatId: chat.id, answerId: said.id };
}
