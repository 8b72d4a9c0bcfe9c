import { fork } from 'node:child_process';
import { once } from 'node:events';
import {
  appendFileSync,
  closeSync,
  existsSync,
  openSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { createFileStore } from '../../../../app/documents/import/file-store.ts';
import type { Document } from '../../../../app/protocol/index.ts';
import { openDatabase } from '../../../../app/store/database/database.ts';
import { newFolder, places, root } from '../../../support/core/core.ts';
import { openShelf, type Shelf } from '../../../support/documents/documents.ts';
import { contents, prose, writeFiles } from '../../../support/prose.ts';
import { runs } from '../../../support/soak.ts';

vi.setConfig({ testTimeout: 120_000 });

/** Adds files in a process of its own, which is killed at the first event for which `now` is true. */
async function killedAt(
  folder: string,
  collection: string,
  files: readonly string[],
  now: (event: unknown) => boolean,
) {
  const { migrations, documentParser, documentWorker } = places;
  const args = [folder, migrations, documentParser, documentWorker, collection, ...files];
  const child = fork(join(root, 'test/support/documents/shelf-process.ts'), args, {
    execArgv: [],
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
  child.on('message', (event) => {
    if (now(event)) child.kill('SIGKILL');
  });
  const [, signal] = (await once(child, 'exit')) as [number | null, string | null];
  expect(signal).toBe('SIGKILL');
}

test('killed at any moment of an import, it goes on: nothing missing, nothing twice', {
  timeout: 240_000,
}, async () => {
  const folder = newFolder();
  const files = writeFiles(folder);
  const add = (shelf: Shelf) =>
    shelf.call('documents.add', {
      collectionId: shelf.collection.id,
      files: files.map((path) => ({ path, name: path.split('/').at(-1) ?? '' })),
    });
  const calm = await openShelf();
  await add(calm);
  await calm.documents.idle();
  await calm.close();
  const expected = contents(calm.dataFolder);
  expect(Object.keys(expected)).toHaveLength(9); // the twin is there once

  for (let kill = 0; kill < runs(4, 10); kill++) {
    const first = await openShelf();
    const collectionId = first.collection.id;
    await first.close();
    let events = 0;
    // Ever later: while rows are made, while files are copied, while they are read.
    await killedAt(first.dataFolder, collectionId, files, () => ++events === 4 + kill * 11);

    const second = await openShelf({ dataFolder: first.dataFolder });
    // What the user does who does not know what was done already.
    await add(second);
    await vi.waitFor(async () => {
      const list = await second.call('documents.list', {});
      expect(list.every(({ state }) => state.status === 'ready')).toBe(true);
      expect(list).toHaveLength(9);
    }, 30_000);
    await second.close();
    const found = contents(first.dataFolder);
    // Which of the twins is kept depends on the moment.
    const named = (all: Record<string, string[]>) =>
      Object.values(all)
        .map((texts) => texts.join('\n'))
        .sort();
    expect(named(found)).toEqual(named(expected));
  }
});

test('a file at which Longhand ended twice is not read at a third start by itself, and is when that is wanted', async () => {
  const [file = ''] = writeFiles(newFolder());
  const { dataFolder, collection, close } = await openShelf();
  await close();
  const isReading = (event: unknown) => JSON.stringify(event).includes('"status":"reading"');
  for (let start = 0; start < 2; start++) await killedAt(dataFolder, collection.id, [file], isReading);

  const shelf = await openShelf({ dataFolder });
  const listed = () => shelf.call('documents.list', {});
  const ended = { status: 'failed', remedy: 'retry', failure: { code: 'unreadable', details: { why: 'ended' } } };
  await vi.waitFor(async () => expect(await listed()).toMatchObject([{ state: ended }]), 30_000);
  const [document] = await listed();
  await shelf.call('documents.retry', { documentId: document?.id as Document['id'] });
  await shelf.documents.idle();
  expect(await listed()).toMatchObject([{ state: { status: 'ready' } }]);
});

test('the same folder twice at once is there once', async () => {
  const shelf = await openShelf();
  const folder = newFolder();
  writeFiles(folder);
  const add = () =>
    shelf.call('documents.add', { collectionId: shelf.collection.id, files: [{ path: folder, name: 'folder' }] });
  const [one, other] = await Promise.all([add(), add()]);
  await shelf.documents.idle();
  expect(one.map(({ id }) => id).sort()).toEqual(other.map(({ id }) => id).sort());
  expect(await shelf.call('documents.list', {})).toHaveLength(9);
});

test('a file that is deleted before its turn stays in the list with the reason, and can be tried again', async () => {
  const folder = newFolder();
  const path = join(folder, 'late.txt');
  const shelf = await openShelf({
    onEvent: (name, payload) => {
      const gone = name === 'document.changed' && (payload as { fileName: string }).fileName === 'late.txt';
      if (gone) rmSync(path, { force: true });
    },
  });
  writeFileSync(path, 'Too late.');
  const files = [{ path, name: 'late.txt' }];
  const [late] = await shelf.call('documents.add', { collectionId: shelf.collection.id, files });
  expect(late?.state).toMatchObject({ status: 'failed', failure: { code: 'not-found' }, remedy: 'retry' });
  if (!late) throw new Error('it stays in the list');
  const copy = await shelf.call('documents.retry', { documentId: late.id });
  expect(copy.state).toEqual({ status: 'queued' });
});

test('a file that grows while it is copied is not taken half', async () => {
  const folder = newFolder();
  const path = join(folder, 'growing.txt');
  writeFileSync(path, 'x'.repeat(8_000_000));
  const writer = setInterval(() => appendFileSync(path, 'more'), 1);
  const copies = createFileStore(join(folder, 'kept'));
  await expect(copies.take(path, 'growing.txt')).rejects.toMatchObject({ code: 'conflict' });
  clearInterval(writer);
  await expect(copies.take(path, 'growing.txt')).resolves.toMatchObject({ bytes: statSync(path).size });
});

test('a file that is rewritten in place while it is copied is not taken half, though its size stays', async () => {
  const folder = newFolder();
  const path = join(folder, 'rewritten.txt');
  writeFileSync(path, 'x'.repeat(8_000_000));
  const file = openSync(path, 'r+');
  let at = 0;
  const writer = setInterval(() => {
    at += 1000;
    writeSync(file, 'y', at);
  }, 1);
  const copies = createFileStore(join(folder, 'kept'));
  await expect(copies.take(path, 'rewritten.txt')).rejects.toMatchObject({ code: 'conflict' });
  clearInterval(writer);
  closeSync(file);
  const { storedName: kept } = await copies.take(path, 'rewritten.txt');
  expect(readFileSync(copies.pathOf(kept)).equals(readFileSync(path))).toBe(true);
});

test('cleaning up leaves a copy that was just made, which nobody refers to yet', async () => {
  const folder = newFolder();
  writeFileSync(join(folder, 'a.txt'), 'text');
  const copies = createFileStore(join(folder, 'kept'));
  const { storedName: kept } = await copies.take(join(folder, 'a.txt'), 'a.txt');
  await copies.keepOnly(new Set());
  expect(existsSync(copies.pathOf(kept))).toBe(true);
  // At the next start it is old.
  await new Promise((later) => setTimeout(later, 20));
  const again = createFileStore(join(folder, 'kept'));
  await again.keepOnly(new Set([kept]));
  expect(existsSync(again.pathOf(kept))).toBe(true);
  const foreign = join(folder, 'kept', 'holiday.jpg');
  writeFileSync(foreign, 'not ours');
  await again.keepOnly(new Set());
  expect(existsSync(again.pathOf(kept))).toBe(false);
  expect(existsSync(foreign), 'what somebody else keeps there').toBe(true);
});

test('documents that a full disk takes back were never told', async () => {
  const shelf = await openShelf();
  await shelf.add({ 'first.txt': 'The first text.' });
  const folder = newFolder();
  for (let at = 0; at < 400; at += 1) writeFileSync(join(folder, `file-with-a-long-name-${at}.txt`), `Text ${at}.`);
  const pages = Number(shelf.db.get('PRAGMA page_count')?.page_count);
  shelf.db.get(`PRAGMA max_page_count = ${pages + 4}`);
  const told = shelf.of('document.changed').length;
  const files = [{ path: folder, name: 'folder' }];
  await expect(shelf.call('documents.add', { collectionId: shelf.collection.id, files })).rejects.toMatchObject({
    code: 'disk-full',
  });
  expect(shelf.of('document.changed')).toHaveLength(told);
  expect(await shelf.call('documents.list', {})).toHaveLength(1);
});

test('where no copy can be kept the reason is told', async () => {
  const folder = newFolder();
  // A file stands where the folder should be.
  writeFileSync(join(folder, 'documents'), '');
  const copies = createFileStore(join(folder, 'documents'));
  writeFileSync(join(folder, 'a.txt'), 'text');
  await expect(copies.take(join(folder, 'a.txt'), 'a.txt')).rejects.toMatchObject({ code: 'permission' });
});

test('while another process holds the database the queue waits, and then goes on', { timeout: 60_000 }, async () => {
  const shelf = await openShelf();
  await shelf.add({ 'first.txt': 'The first text.' });
  const holder = openDatabase(join(shelf.dataFolder, 'longhand.db'));
  const [second] = await Promise.all([
    shelf.add({ 'second.txt': prose(1, 200) }),
    (async () => {
      const reading = () =>
        shelf
          .of('document.changed')
          .some(({ state, fileName }) => fileName === 'second.txt' && state.status === 'reading');
      await vi.waitFor(() => expect(reading()).toBe(true), { timeout: 10_000, interval: 5 });
      holder.script('BEGIN IMMEDIATE');
      await new Promise((done) => setTimeout(done, 3500));
      holder.script('ROLLBACK');
    })(),
  ]);
  holder.close();
  await shelf.documents.idle();
  const list = await shelf.call('documents.list', {});
  expect(list.find(({ id }) => id === second[0]?.id)?.state).toEqual({ status: 'ready' });
  expect(new Set(contents(shelf.dataFolder)['second.txt']).size).toBe(contents(shelf.dataFolder)['second.txt']?.length);
});

test('while a document is read it is told how many passages there are', async () => {
  const counts: [number, unknown][] = [];
  const shelf: Shelf = await openShelf({
    onEvent(name, payload) {
      const { state, passages } = payload as Document;
      if (name !== 'document.changed' || state.status !== 'reading') return;
      counts.push([passages, shelf.db.get('SELECT count(*) AS there FROM passages')?.there]);
    },
  });
  const functions = Array.from({ length: 8000 }, (_, at) => `function otter${at}() {\n  return 'heron ${at}';\n}\n`);
  await shelf.add({ 'long.js': functions.join('\n') });
  expect(counts.length).toBeGreaterThan(1);
  for (const [told, there] of counts) expect(told).toBe(there);
});

test('a full disk fails the document with the reason, and another try succeeds when there is room', async () => {
  const shelf = await openShelf();
  await shelf.add({ 'first.txt': 'The first text.' });
  const pages = Number(shelf.db.get('PRAGMA page_count')?.page_count);
  // What SQLite does when the disk is full, it does at a limit of its own.
  shelf.db.get(`PRAGMA max_page_count = ${pages + 12}`);
  const [second] = await shelf.add({ 'second.txt': prose(1, 1500) });
  expect(second).toMatchObject({
    state: { status: 'failed', failure: { code: 'disk-full' }, remedy: 'retry' },
    passages: 0,
  });
  expect(Object.keys(contents(shelf.dataFolder))).toEqual(['first.txt']);
  shelf.db.get('PRAGMA max_page_count = 1000000');
  if (!second) throw new Error('it stays in the list');
  await shelf.call('documents.retry', { documentId: second.id });
  await shelf.documents.idle();
  const list = await shelf.call('documents.list', {});
  expect(list.find(({ id }) => id === second.id)).toMatchObject({ state: { status: 'ready' } });
});

test('after damage to the database documents are read again from their copies', { timeout: 60_000 }, async () => {
  const first = await openShelf();
  await first.add({ 'pond.txt': `An otter swims.\n\n${prose(1, 2000)}` });
  await first.close();
  const path = join(first.dataFolder, 'longhand.db');
  const bytes = readFileSync(path);
  // The last quarter: passages and their index.
  bytes.fill(0xa5, Math.floor((bytes.length * 3) / 4 / 4096) * 4096);
  writeFileSync(path, bytes);

  const second = await openShelf({ dataFolder: first.dataFolder });
  await vi.waitFor(async () => {
    const list = await second.call('documents.list', {});
    expect(list).toMatchObject([{ fileName: 'pond.txt', state: { status: 'ready' } }]);
  }, 20_000);
  expect((await second.call('documents.search', { query: 'otter' })).hits).toHaveLength(1);
});
