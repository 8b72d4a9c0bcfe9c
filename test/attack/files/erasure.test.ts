import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { backUp, listBackups } from '../../../app/store/database/backups.ts';
import { createEraser } from '../../../app/store/database/erase.ts';
import { openStore } from '../../../app/store/store.ts';
import { isEnd, newFolder, next, places, startCore } from '../../support/core/core.ts';
import { everythingIn } from '../../support/second-user.ts';
import { tallyOf } from '../tally.ts';

const tally = tallyOf('erasure');
const dayMs = 24 * 60 * 60 * 1000;

//  Unique words, as written and as stored in the indexes.
const words = {
  title: 'zwergtitle',
  question: 'quxplum',
  draft: 'draftvolm',
  attached: 'attachkrill',
  document: 'documentwyrm',
  name: 'collectbrim',
};

/** The files that contain a word, ignoring case, as UTF-8 or UTF-16. */
const holding = (folder: string, word: string): string[] =>
  everythingIn(folder).filter((path) => {
    if (!statSync(path, { throwIfNoEntry: false })?.isFile()) return false;
    const bytes = readFileSync(path);
    return [word, word.toUpperCase()].some((one) => bytes.includes(one) || bytes.includes(Buffer.from(one, 'utf16le')));
  });

test('a day after chats and documents were deleted, no file of the data folder holds a word of them', async () => {
  const dataFolder = newFolder();
  const attached = join(newFolder(), 'notes.txt');
  writeFileSync(attached, `The secret is ${words.attached}.`);
  const file = join(newFolder(), 'paper.md');
  writeFileSync(file, `# Paper\n\nAll about ${words.document}. ${'More of it stands here. '.repeat(200)}`);

  const first = await startCore({ dataFolder });
  const { client } = first;
  const kept = await client.call('chats.create', {});
  await client.call('chats.update', { chatId: kept.id, title: 'keptchat' });
  const chat = await client.call('chats.create', {});
  await client.call('chats.update', { chatId: chat.id, title: words.title });
  const { id } = await client.call('attachments.add', { chatId: chat.id, path: attached, name: 'notes.txt' });
  const ended = next(client, 'turn', ({ event }) => isEnd(event));
  await client.call('turns.send', { chatId: chat.id, text: `What is ${words.question}?`, attachments: [id] });
  await ended;
  await client.call('chats.update', { chatId: chat.id, draft: words.draft });
  const collection = await client.call('documents.createCollection', { name: words.name });
  await client.call('documents.add', { collectionId: collection.id, files: [{ path: file, name: 'paper.md' }] });
  await vi.waitFor(
    async () =>
      expect(await client.call('documents.search', { query: words.document, collectionIds: null })).not.toEqual([]),
    { timeout: 20_000, interval: 200 },
  );
  await first.host.close();
  // Like the daily backup.
  const store = await openStore({ folder: dataFolder, migrations: places.migrations });
  const backup = await backUp(store, 'daily', Date.now());
  const { mtimeMs } = statSync(backup);
  store.close();
  for (const word of Object.values(words)) expect(holding(dataFolder, word).length, word).toBeGreaterThan(0);

  const second = await startCore({ dataFolder });
  await second.client.call('chats.delete', { chatId: chat.id });
  await second.client.call('documents.deleteCollection', { collectionId: collection.id });
  await second.host.close();
  const later = await startCore({ dataFolder, now: () => Date.now() + 40 * dayMs });
  await vi.waitFor(
    () => {
      for (const word of Object.values(words)) expect(holding(dataFolder, word), word).toEqual([]);
    },
    { timeout: 20_000, interval: 500 },
  );
  for (const [place, word] of Object.entries(words)) {
    await tally.refused(`${place} in a file`, () => expect(holding(dataFolder, word)).toEqual([]));
  }
  tally.settle();
  expect(await later.client.call('chats.list', {})).toMatchObject([{ title: 'keptchat' }]);
  expect(holding(dataFolder, 'keptchat').length, 'what was not deleted is in the backup').toBeGreaterThan(1);
  expect(listBackups(dataFolder)).toMatchObject([{ path: backup }]);
  expect(statSync(backup).mtimeMs, 'a backup is as old as it was').toBeCloseTo(mtimeMs, -1);
}, 90_000);

test('an index keeps no run of characters of a message that is gone; what ends in the middle is done again', async () => {
  const folder = newFolder();
  const store = await openStore({ folder, migrations: places.migrations });
  const { db } = store;
  const terms = () => db.all<{ term: string }>('SELECT term FROM terms').map(({ term }) => term);
  db.script(`CREATE VIRTUAL TABLE temp.terms USING fts5vocab('main', 'message_search', 'row')`);
  db.run(`INSERT INTO chats (id, created_at, updated_at) VALUES ('a', 1, 1), ('b', 1, 1)`);
  for (const [chat, text] of [
    ['a', 'quiet'],
    ['b', 'zqjxv'],
  ]) {
    db.run(
      `INSERT INTO messages (id, chat_id, role, text, created_at, state) VALUES (?, ?, 'user', ?, 1, 'done')`,
      `${chat}1`,
      chat as string,
      text as string,
    );
  }
  await createEraser(store).run();
  db.run(`DELETE FROM chats WHERE id = 'b'`);
  const stopped = createEraser(store);
  stopped.close();
  await stopped.run();
  expect(db.get('SELECT COUNT(*) AS left FROM purged')).toEqual({ left: 1 });
  await createEraser(store).run();
  await tally.refused('runs of characters in the index', () => {
    expect(terms()).toContain('qui');
    for (const run of ['zqj', 'qjx', 'jxv']) expect(terms()).not.toContain(run);
  });
  expect(db.get('SELECT COUNT(*) AS left FROM purged')).toEqual({ left: 0 });
  expect(readdirSync(folder).filter((name) => name.endsWith('.part'))).toEqual([]);
  store.close();
  tally.settle();
});
