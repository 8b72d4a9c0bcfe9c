import { fork } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { expect, test } from 'vitest';
import { defaultSettings, LonghandError } from '../../../app/protocol/index.ts';
import { addAttachment, removeAttachment } from '../../../app/store/chats/attachments.ts';
import {
  deleteChat,
  getChat,
  listChats,
  purgeDeleted,
  restoreChat,
  updateChat,
} from '../../../app/store/chats/chats.ts';
import { addMessage, getMessage, messagesOf } from '../../../app/store/chats/messages.ts';
import { backUp, listBackups } from '../../../app/store/database/backups.ts';
import { openDatabase } from '../../../app/store/database/database.ts';
import { migrate, readMigrations, versionOf } from '../../../app/store/database/migrate.ts';
import { restore, salvage } from '../../../app/store/database/recover.ts';
import { readSettings, writeSettings } from '../../../app/store/settings.ts';
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
  const holder = fork(join(import.meta.dirname, 'folder', 'hold-folder.ts'), [folder, migrations]);
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
  const pages = Array.from({ length: bytes.length / 4096 }, (_, i) => bytes.subarray(i * 4096, (i + 1) * 4096));
  const filler = pages.filter((page) => page.includes('x'.repeat(1000)) && !page.includes('Kept by salvage.'));
  expect(filler.length).toBeGreaterThan(16);
  for (const page of filler.slice(0, 8)) page.fill(0xa5);
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

test.each([
  ['missing', (path: string) => rmSync(path)],
  ['empty', (path: string) => writeFileSync(path, '')],
  [
    'without a table',
    (path: string) => {
      rmSync(path);
      openDatabase(path).close();
    },
  ],
])('a database that is %s although there is a backup is restored from it, and that is said', async (_, lose) => {
  const folder = newFolder();
  const first = await openStore({ folder, migrations });
  const { chatId } = addExchange(first, 'Still here?', 'Yes.');
  await first.backUpDaily();
  first.close();
  lose(join(folder, 'longhand.db'));
  const store = await open(folder);
  expect(store.notices).toMatchObject([{ code: 'database-was-lost' }]);
  expect(messagesOf(store.db, chatId).map(({ text }) => text)).toEqual(['Still here?', 'Yes.']);
});

test('a lost database whose backups cannot be read is begun anew, and that is said', async () => {
  const folder = newFolder();
  mkdirSync(join(folder, 'backups'), { recursive: true });
  writeFileSync(join(folder, 'backups', 'daily-2026-01-01T00-00-00.db'), 'no database'.repeat(600));
  const store = await open(folder);
  expect(store.notices).toMatchObject([{ code: 'database-lost-anew' }]);
  expect(listChats(store.db, { limit: 1 })).toEqual([]);
});

test('the first start of a new folder says nothing', async () => {
  expect((await open()).notices).toEqual([]);
});

test('settings, models, the place of the library and what was measured are salvaged as well', async () => {
  const folder = newFolder();
  const first = await openStore({ folder, migrations });
  await first.backUpDaily();
  writeSettings(first.db, { systemPrompt: 'Be brief.' });
  first.db.run("INSERT INTO models (id, name, path, added_at) VALUES ('m', 'Mine', '/models/mine', 1)");
  first.db.run("UPDATE library SET folder = '/drive/models'");
  first.db.run(`INSERT INTO runs (at, model, back_end, engine, prompt_tokens, cached_tokens, tokens, first_token_ms)
    VALUES (1, 'Mine', 'cpu', '1', 2, 3, 4, 5)`);
  for (let i = 0; i < 60; i++) addExchange(first, `Filler ${i}`, 'x'.repeat(3000));
  first.close();
  tear(join(folder, 'longhand.db'));

  const { db, notices } = await open(folder);
  expect(notices).toMatchObject([{ code: 'database-restored' }]);
  expect(readSettings(db).systemPrompt).toBe('Be brief.');
  expect(db.get("SELECT name, path FROM models WHERE id = 'm'")).toEqual({ name: 'Mine', path: '/models/mine' });
  expect(db.get('SELECT folder FROM library')).toEqual({ folder: '/drive/models' });
  expect(db.all('SELECT model, tokens FROM runs')).toEqual([{ model: 'Mine', tokens: 4 }]);
});

test('a row that cannot be put back costs only itself', async () => {
  const folder = newFolder();
  const target = await open(folder);
  const path = join(newFolder(), 'damaged.db');
  const source = openDatabase(path);
  source.script('CREATE TABLE chats AS SELECT * FROM (SELECT 1) WHERE FALSE');
  source.script('DROP TABLE chats; CREATE TABLE chats (id, title, created_at, updated_at)');
  for (const [id, created] of [
    ['a', 1],
    ['b', null],
    ['c', 3],
  ] as const)
    source.run('INSERT INTO chats VALUES (?, ?, ?, ?)', id, id, created, created);
  source.close();
  expect(salvage(target.db, path, readMigrations(migrations))).toMatchObject({ chats: 2 });
  expect(target.db.all('SELECT id FROM chats ORDER BY id').map(({ id }) => id)).toEqual(['a', 'c']);
});

test('of two versions of a message the longer one counts: an answer grows, and a torn one is short', async () => {
  const [damaged, folder] = [newFolder(), newFolder()];
  const first = await openStore({ folder: damaged, migrations });
  const { chatId } = addExchange(first, 'Which one?', 'As it was when the copy was made.');
  first.close();
  copyFileSync(join(damaged, 'longhand.db'), join(folder, 'longhand.db'));
  const [later, target] = [openDatabase(join(damaged, 'longhand.db')), await open(folder)];
  const grown = 'As it was when the copy was made, and what came after it.';
  later.run("UPDATE messages SET text = ? WHERE role = 'assistant'", grown);
  later.run("UPDATE messages SET text = 'Which' WHERE role = 'user'");
  later.close();
  salvage(target.db, join(damaged, 'longhand.db'), readMigrations(migrations));
  expect(messagesOf(target.db, chatId).map(({ text }) => text)).toEqual(['Which one?', grown]);
});

test('what stood in the log of a damaged database is not written over the restored one', async () => {
  const folder = newFolder();
  const first = await openStore({ folder, migrations });
  const { chatId } = addExchange(first, 'In the backup', 'Yes.');
  await first.backUpDaily();
  for (let i = 0; i < 60; i++) addExchange(first, `Filler ${i}`, 'x'.repeat(3000));
  const path = join(folder, 'longhand.db');
  const log = readFileSync(`${path}-wal`);
  first.close();
  writeFileSync(`${path}-wal`, log);

  const { damaged } = await restore(folder, path, Date.now());
  expect(readFileSync(`${damaged}-wal`)).toEqual(log);
  const store = await open(folder);
  expect(messagesOf(store.db, chatId).map(({ text }) => text)).toEqual(['In the backup', 'Yes.']);
  expect(listChats(store.db, { limit: 100 })).toHaveLength(1);
});

test('backups of one kind do not push out those of the other', async () => {
  const folder = newFolder();
  let now = Date.UTC(2026, 0, 1);
  const store = await open(folder, () => now);
  await backUp(store, 'before-update', now);
  for (let day = 0; day < 9; day++) {
    now += 25 * 60 * 60 * 1000;
    await backUp(store, 'daily', now);
  }
  const names = listBackups(folder).map(({ path }) => basename(path));
  expect(names.filter((name) => name.startsWith('before-update-'))).toHaveLength(1);
  expect(names.filter((name) => name.startsWith('daily-'))).toHaveLength(7);
});

test('a deleted chat is there for a day and gone after it', async () => {
  const store = await open();
  const { chatId } = addExchange(store, 'Gone?', 'Not yet.');
  const hour = 60 * 60 * 1000;
  deleteChat(store.db, chatId, 0);
  expect(purgeDeleted(store.db, 23 * hour)).toBe(false);
  expect(restoreChat(store.db, chatId).id).toBe(chatId);
  deleteChat(store.db, chatId, 0);
  while (purgeDeleted(store.db, 25 * hour));
  expect(messagesOf(store.db, chatId)).toEqual([]);
  expect(store.db.get('SELECT count(*) AS chats FROM chats')).toEqual({ chats: 0 });
});

test('a long chat is removed a few messages at a time, and goes with its last one', async () => {
  const store = await open();
  const { chatId } = addExchange(store, 'One', 'Two');
  for (let i = 0; i < 9; i++)
    addMessage(
      store.db,
      { chatId, parentId: null, role: 'user', text: `${i}`, state: { status: 'done', reason: null } },
      i,
    );
  deleteChat(store.db, chatId, 0);
  const left: number[] = [];
  while (purgeDeleted(store.db, 1e12, 4)) left.push(messagesOf(store.db, chatId).length);
  expect(left).toEqual([7, 3, 0]);
  expect(store.db.get('SELECT count(*) AS chats FROM chats')).toEqual({ chats: 0 });
});

test('a setting that cannot be read counts as not set, and the others count', async () => {
  const { db } = await open();
  writeSettings(db, { systemPrompt: 'Be brief.' });
  db.run("INSERT INTO settings VALUES ('threads', '\"many\"'), ('theme', '{broken'), ('nobody', '1')");
  expect(readSettings(db)).toEqual({ ...defaultSettings, systemPrompt: 'Be brief.' });
});

test('a migration and its number are one: what fails after it leaves neither', async () => {
  const db = openDatabase(join(newFolder(), 'a.db'));
  const script = db.script;
  const failing = {
    ...db,
    script: (sql: string) => {
      if (sql.includes('user_version')) throw new Error('torn here');
      script(sql);
    },
  };
  const one = [{ number: 1, name: '0001-one.sql', sql: 'CREATE TABLE one (a)' }];
  expect(() => migrate(failing, one)).toThrow('torn here');
  expect([versionOf(db), db.all('SELECT name FROM sqlite_schema')]).toEqual([0, []]);
  migrate(db, one);
  expect(versionOf(db)).toBe(1);
  db.close();
});

test('a file that was sent cannot be taken back out of its message', async () => {
  const store = await open();
  const { chatId } = addExchange(store, 'q', 'a');
  const { id } = addAttachment(store.db, chatId, { name: 'a.txt', bytes: 1, tokens: 1, text: 'a' }, 1);
  const sent = {
    chatId,
    parentId: null,
    role: 'user',
    state: { status: 'done', reason: null },
    attachments: [id],
  } as const;
  const message = addMessage(store.db, sent, 1);
  try {
    removeAttachment(store.db, id);
  } catch {
    // Refusing is as good as doing nothing.
  }
  expect(getMessage(store.db, message.id).attachments.map(({ name }) => name)).toEqual(['a.txt']);
});

/** Destroys pages in the middle of a file. */
function tear(path: string) {
  const bytes = readFileSync(path);
  const middle = Math.floor((bytes.length * 3) / 4 / 4096) * 4096;
  bytes.fill(0xa5, middle, middle + 4 * 4096);
  writeFileSync(path, bytes);
}
