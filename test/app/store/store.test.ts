import { fork } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { LonghandError } from '../../../app/protocol/index.ts';
import { listBackups } from '../../../app/store/backups.ts';
import { getChat, listChats, updateChat } from '../../../app/store/chats.ts';
import { openDatabase } from '../../../app/store/database.ts';
import { messagesOf } from '../../../app/store/messages.ts';
import { openStore } from '../../../app/store/store.ts';
import { addExchange, migrations, newFolder, open } from './support.ts';

const codeOf = async (work: Promise<unknown>) => {
  const error = await work.catch((thrown: unknown) => thrown);
  return error instanceof LonghandError ? error.code : error;
};

test('what was written is there after closing and opening again', async () => {
  const folder = newFolder();
  const first = await openStore({ folder, migrations });
  const { chatId } = addExchange(first, 'What is a fjord?', 'A long narrow inlet.');
  first.close();
  const second = await open(folder);
  expect(messagesOf(second.db, chatId).map((message) => message.text)).toEqual([
    'What is a fjord?',
    'A long narrow inlet.',
  ]);
  expect(second.notices).toEqual([]);
});

test('a second process is told who has the data folder', async () => {
  const folder = newFolder();
  const store = await open(folder);
  store.announce({ address: 'http://127.0.0.1:4817', key: 'k'.repeat(43) });
  const error = await openStore({ folder, migrations }).catch((thrown: unknown) => thrown);
  expect(error).toMatchObject({
    code: 'data-folder-held',
    details: { pid: process.pid, address: 'http://127.0.0.1:4817', key: 'k'.repeat(43) },
  });
});

test('the lock of a killed process does not hold anybody up', async () => {
  const folder = newFolder();
  const holder = fork(join(import.meta.dirname, 'hold-folder.ts'), [folder, migrations]);
  await once(holder, 'message');
  expect(await codeOf(openStore({ folder, migrations }))).toBe('data-folder-held');
  holder.kill('SIGKILL');
  await once(holder, 'exit');
  const store = await open(folder);
  expect(listChats(store.db, { limit: 10 })).toHaveLength(1);
});

test('a database of a newer version is refused and left as it is', async () => {
  const folder = newFolder();
  const db = openDatabase(join(folder, 'longhand.db'));
  db.script('PRAGMA user_version = 999');
  db.close();
  const before = readFileSync(join(folder, 'longhand.db'));
  expect(await codeOf(openStore({ folder, migrations }))).toBe('database-newer');
  expect(readFileSync(join(folder, 'longhand.db'))).toEqual(before);
});

test('before a migration the database is copied, and a migration that fails changes nothing', async () => {
  const folder = newFolder();
  const first = await openStore({ folder, migrations });
  const { chatId } = addExchange(first, 'Question', 'Answer');
  first.close();

  const newer = join(newFolder(), 'migrations');
  mkdirSync(newer);
  for (const name of readdirSync(migrations)) copyFileSync(join(migrations, name), join(newer, name));
  const number = readdirSync(migrations).length + 1;
  writeFileSync(
    join(newer, `${String(number).padStart(4, '0')}-broken.sql`),
    'ALTER TABLE chats ADD COLUMN colour TEXT; INSERT INTO nowhere VALUES (1);',
  );
  await expect(openStore({ folder, migrations: newer })).rejects.toThrow('nowhere');
  expect(listBackups(folder)).toHaveLength(1);

  const again = await open(folder);
  expect(getChat(again.db, chatId).id).toBe(chatId);
  expect(again.db.all("SELECT name FROM pragma_table_info('chats')").map((row) => row.name)).not.toContain('colour');
});

test('a database that another program holds is not taken for a damaged one', async () => {
  const folder = newFolder();
  const first = await openStore({ folder, migrations });
  const { chatId } = addExchange(first, 'Is anybody here?', 'Yes.');
  first.close();
  const other = openDatabase(join(folder, 'longhand.db'));
  other.script('PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE');
  expect(await codeOf(openStore({ folder, migrations }))).toBe('conflict');
  other.close();
  const again = await open(folder);
  expect(again.notices).toEqual([]);
  expect(listChats(again.db, { limit: 10 }).map(({ id }) => id)).toEqual([chatId]);
});

test('a damaged database is replaced by the last backup, and what can still be read is added', async () => {
  const folder = newFolder();
  const first = await openStore({ folder, migrations });
  const old = addExchange(first, 'Before the backup', 'Kept by the backup.');
  await first.backUpDaily();
  const later = addExchange(first, 'After the backup', 'Kept by salvage.');
  updateChat(first.db, old.chatId, { title: 'Renamed after the backup', updatedAt: Date.now() + 1000 });
  // Enough pages that some of them can be destroyed while others stay.
  for (let i = 0; i < 40; i++) addExchange(first, `Filler ${i}`, 'x'.repeat(3000));
  first.close();

  const path = join(folder, 'longhand.db');
  const bytes = readFileSync(path);
  const middle = Math.floor(bytes.length / 4096 / 2) * 4096;
  bytes.fill(0xa5, middle, middle + 8 * 4096);
  writeFileSync(path, bytes);

  const store = await open(folder);
  expect(store.notices).toMatchObject([{ code: 'database-restored' }]);
  expect(getChat(store.db, old.chatId).title).toBe('Renamed after the backup');
  expect(messagesOf(store.db, later.chatId).map((message) => message.text)).toContain('Kept by salvage.');
  expect(existsSync(store.notices[0]?.details.damaged ?? '')).toBe(true);
});

test('a file that is no database at all, without any backup: begun anew, said, and the old file kept', async () => {
  const folder = newFolder();
  writeFileSync(join(folder, 'longhand.db'), 'this is not a database'.repeat(500));
  const store = await open(folder);
  expect(store.notices).toMatchObject([{ code: 'database-started-anew' }]);
  expect(readFileSync(store.notices[0]?.details.damaged ?? '', 'utf8')).toMatch(/^this is not/);
  expect(listChats(store.db, { limit: 10 })).toEqual([]);
});

test('a backup a day, seven kept, also when the clock jumps back', async () => {
  const folder = newFolder();
  let now = Date.UTC(2026, 0, 1);
  const store = await open(folder, () => now);
  for (let day = 0; day < 10; day++) {
    await store.backUpDaily();
    await store.backUpDaily();
    now += 25 * 60 * 60 * 1000;
  }
  expect(listBackups(folder)).toHaveLength(7);
});

test('a folder that cannot be written shows the chats from a copy and says so', async () => {
  const folder = newFolder();
  const first = await openStore({ folder, migrations });
  const { chatId } = addExchange(first, 'Still readable?', 'Yes.');
  first.close();
  const reader = fork(join(import.meta.dirname, 'read-only.ts'), [folder, migrations, chatId]);
  const [said] = await once(reader, 'message');
  expect(said).toEqual({ notices: ['read-only'], texts: ['Still readable?', 'Yes.'], folder });
});
