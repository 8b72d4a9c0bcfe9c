import { fork } from 'node:child_process';
import { once } from 'node:events';
import {
  appendFileSync,
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { createFileStore } from '../../../app/documents/import/file-store.ts';
import { readerByFork } from '../../../app/documents/parse/fork-parser.ts';
import { createParserClient } from '../../../app/documents/parse/parser-client.ts';
import type { Document } from '../../../app/protocol/index.ts';
import { openDatabase } from '../../../app/store/database.ts';
import { newFolder, places, root } from '../../support/core.ts';
import { openShelf, type Shelf } from '../../support/documents.ts';
import { makePdf } from '../../support/pdf.ts';
import { runs } from '../../support/soak.ts';

vi.setConfig({ testTimeout: 120_000 });

const sentence = (file: number, at: number) =>
  `Sentence ${at} of file ${file} speaks of subject ${(file * 31 + at * 7) % 97}.`;
const prose = (file: number, count: number) =>
  Array.from({ length: count }, (_, at) => sentence(file, at) + (at % 5 === 4 ? '\n\n' : ' ')).join('');

function writeFiles(folder: string): string[] {
  const pages = Array.from({ length: 40 }, (_, at) => ({ texts: [{ text: sentence(99, at), x: 60, y: 700 }] }));
  writeFileSync(join(folder, 'a.pdf'), makePdf({ pages }));
  for (let file = 0; file < 8; file++) writeFileSync(join(folder, `t${file}.txt`), prose(file, 150));
  writeFileSync(join(folder, 'twin.txt'), prose(3, 150));
  return ['a.pdf', ...Array.from({ length: 8 }, (_, at) => `t${at}.txt`), 'twin.txt'].map((name) => join(folder, name));
}

/** Everything that was read, by file. */
function contents(dataFolder: string): Record<string, string[]> {
  const db = openDatabase(join(dataFolder, 'longhand.db'), { readOnly: true });
  const rows = db.all<{ name: string; text: string; position: number }>(
    `SELECT d.file_name AS name, p.text, p.position FROM passages p JOIN documents d ON d.number = p.document
     WHERE d.deleted_at IS NULL ORDER BY d.file_name, p.position`,
  );
  const indexed = db.get<{ count: number }>('SELECT COUNT(*) AS count FROM passage_words');
  db.close();
  expect(indexed?.count).toBe(rows.length);
  const found: Record<string, string[]> = {};
  for (const { name, text } of rows) {
    found[name] = [...(found[name] ?? []), text];
  }
  return found;
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
    const script = join(root, 'test/support/shelf-process.ts');
    const args = [
      first.dataFolder,
      places.migrations,
      places.documentReader,
      places.documentWorker,
      collectionId,
      ...files,
    ];
    const child = fork(script, args, { execArgv: [], stdio: ['ignore', 'ignore', 'inherit', 'ipc'] });
    let events = 0;
    // Ever later: while rows are made, while files are copied, while they are read.
    child.on('message', () => {
      if (++events === 4 + kill * 11) child.kill('SIGKILL');
    });
    const [, signal] = await new Promise<[number | null, string | null]>((done) =>
      child.once('exit', (code, how) => done([code, how])),
    );
    expect(signal).toBe('SIGKILL');

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
  await expect(copies.take(path, 'growing.txt')).resolves.toMatchObject({ bytes: expect.any(Number) });
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
  await again.keepOnly(new Set());
  expect(existsSync(again.pathOf(kept))).toBe(false);
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

test('a watched folder that goes away has a problem, and its documents stay', { timeout: 60_000 }, async () => {
  const parent = newFolder();
  const folder = join(parent, 'disk');
  mkdirSync(folder);
  writeFileSync(join(folder, 'one.txt'), 'The word is amber.');
  const shelf = await openShelf();
  const { id: collectionId } = shelf.collection;
  await shelf.call('documents.watch', { collectionId, path: folder });
  await shelf.documents.idle();
  renameSync(folder, join(parent, 'away'));
  await shelf.call('documents.watch', { collectionId, path: parent });
  const folders = async () =>
    (await shelf.call('documents.collections', undefined)).find(({ id }) => id === collectionId)?.folders;
  await vi.waitFor(
    async () => expect((await folders())?.find(({ path }) => path.endsWith('disk'))?.problem).toBeTruthy(),
    30_000,
  );
  expect((await shelf.call('documents.search', { query: 'amber' })).hits.length).toBeGreaterThan(0);
});

test('of two equal files in a watched folder one is listed, and stays when the other goes', {
  timeout: 60_000,
}, async () => {
  const folder = newFolder();
  const shelf = await openShelf();
  const { id: collectionId } = shelf.collection;
  for (const name of ['one.txt', 'twin.txt']) writeFileSync(join(folder, name), 'The word is amber.');
  await shelf.call('documents.watch', { collectionId, path: folder });
  await shelf.documents.idle();
  const [listed, ...others] = await shelf.call('documents.list', {});
  expect(others).toEqual([]);
  rmSync(join(folder, listed?.fileName ?? ''));
  const left = listed?.fileName === 'one.txt' ? 'twin.txt' : 'one.txt';
  await vi.waitFor(async () => {
    expect(await shelf.call('documents.list', {})).toMatchObject([{ id: listed?.id, fileName: left }]);
  }, 30_000);
  expect((await shelf.call('documents.search', { query: 'amber' })).hits).toHaveLength(1);
});

test('a reader that crashes, hangs or grows fails alone', { timeout: 60_000 }, async () => {
  const folder = newFolder();
  const worker = join(folder, 'worker.mjs');
  writeFileSync(
    worker,
    `import { parentPort } from 'node:worker_threads';
     parentPort.on('message', ({ read }) => {
       if (!read) return;
       if (read.fileName === 'crash') process.exit(3);
       if (read.fileName === 'throw') setTimeout(() => { throw new Error('broken'); });
       if (read.fileName === 'hang') for (;;);
       if (read.fileName === 'grow') { const kept = []; for (;;) kept.push(new Array(10000).fill({})); }
       if (read.fileName === 'buffers') { const kept = []; for (;;) kept.push(Buffer.alloc(1e7, 1)); }
       if (read.fileName === 'busy') for (let at = 0; ; at++) {
         for (const end = performance.now() + 100; performance.now() < end; );
         parentPort.postMessage({ progress: { step: 'file', done: at, total: 0 } });
       }
       if (read.fileName === 'signal') process.kill(process.pid, 'SIGSEGV');
       if (read.fileName === 'fine') parentPort.postMessage({ done: { facts: { title: null, pages: null }, notices: [] } });
     });`,
  );
  const start = readerByFork({ documentReader: places.documentReader, documentWorker: worker });
  const reader = createParserClient({ start, limits: { heapMb: 64, memoryMb: 400 } });
  const hasty = createParserClient({ start, limits: { stillMs: 500 } });
  const frugal = createParserClient({ start, limits: { stillSpentMs: 700 } });
  const short = createParserClient({ start, limits: { spentMs: 1500 } });
  onTestFinished(async () => void (await Promise.all([reader, hasty, frugal, short].map((one) => one.close()))));
  const read = (fileName: string, by = reader) =>
    by.read(
      { path: '', fileName, bytes: 0, password: null, ocr: false },
      'text',
      { batch: () => {}, progress: () => {} },
      new AbortController().signal,
    );
  await expect(read('crash')).rejects.toMatchObject({ code: 'internal' });
  await expect(read('fine')).resolves.toMatchObject({ notices: [] });
  await expect(read('throw')).rejects.toMatchObject({ code: 'internal', message: expect.stringContaining('broken') });
  await expect(read('hang', hasty)).rejects.toMatchObject({
    code: 'unreadable',
    message: expect.stringContaining('stood still'),
  });
  await expect(read('grow')).rejects.toMatchObject({ code: 'out-of-memory' });
  await expect(read('buffers')).rejects.toMatchObject({ code: 'out-of-memory', details: { why: 'memory' } });
  await expect(read('hang', frugal)).rejects.toMatchObject({ code: 'unreadable', details: { why: 'time' } });
  await expect(read('busy', short)).rejects.toMatchObject({ code: 'unreadable', details: { why: 'time' } });
  await expect(read('signal')).rejects.toMatchObject({ code: 'internal', message: expect.stringContaining('SIGSEGV') });
  await expect(read('fine')).resolves.toMatchObject({ notices: [] });
});

test('what Longhand ended on twice waits for the user; an orderly end does not count', {
  timeout: 60_000,
}, async () => {
  const { dataFolder, collection, close } = await openShelf();
  await close();
  const path = join(newFolder(), 'fatal.txt');
  writeFileSync(path, prose(1, 20_000));
  const script = join(root, 'test/support/shelf-process.ts');
  const states = (all: readonly Document[]) => all.map(({ state }) => state);
  for (let life = 1; life <= 2; life++) {
    const args = [dataFolder, places.migrations, places.documentReader, places.documentWorker, collection.id, path];
    const child = fork(script, args, { execArgv: [], stdio: ['ignore', 'ignore', 'inherit', 'ipc'] });
    child.on('message', ({ name, payload }: { name: string; payload: Document }) => {
      // As soon as it is being read everything ends.
      if (name === 'document.changed' && payload.state.status === 'reading') child.kill('SIGKILL');
    });
    await once(child, 'exit');
  }
  const third = await openShelf({ dataFolder });
  await vi.waitFor(async () => {
    expect(states(await third.call('documents.list', {}))).toMatchObject([
      { status: 'failed', remedy: 'retry', failure: { details: { why: 'ended' } } },
    ]);
  }, 20_000);
  const [fatal] = await third.call('documents.list', {});
  expect((await third.call('documents.search', { query: 'Sentence' })).hits).toEqual([]);
  for (let quit = 0; quit < 3; quit++) {
    const shelf = quit === 0 ? third : await openShelf({ dataFolder });
    if (quit === 0) await shelf.call('documents.retry', { documentId: fatal?.id as Document['id'] });
    await vi.waitFor(() => expect(states(shelf.of('document.changed')).at(-1)?.status).toBe('reading'), {
      timeout: 20_000,
      interval: 2,
    });
    await shelf.close();
  }
  const last = await openShelf({ dataFolder });
  await vi.waitFor(
    async () => expect(states(await last.call('documents.list', {}))).toEqual([{ status: 'ready' }]),
    40_000,
  );
});

test('a watched folder is followed: added, changed, renamed, removed; what was taken out by hand stays out', {
  timeout: 60_000,
}, async () => {
  const folder = newFolder();
  const shelf = await openShelf();
  const { id: collectionId } = shelf.collection;
  mkdirSync(join(folder, 'inner'));
  writeFileSync(join(folder, 'one.txt'), 'The first word is amber.');
  const watched = await shelf.call('documents.watch', { collectionId, path: folder });
  expect(watched.folders).toMatchObject([{ problem: null }]);
  const hits = async (query: string) => (await shelf.call('documents.search', { query })).hits.length;
  const soon = (check: () => Promise<void>) => vi.waitFor(check, { timeout: 30_000, interval: 100 });

  await soon(async () => expect(await hits('amber')).toBe(1));
  writeFileSync(join(folder, 'inner', 'two.txt'), 'The second word is beryl.');
  await soon(async () => expect(await hits('beryl')).toBe(1));

  writeFileSync(join(folder, 'one.txt'), 'Now the first word is citrine, and longer.');
  await soon(async () => expect([await hits('amber'), await hits('citrine')]).toEqual([0, 1]));

  const before = (await shelf.call('documents.list', {})).find(({ fileName }) => fileName === 'two.txt');
  renameSync(join(folder, 'inner', 'two.txt'), join(folder, 'deux.txt'));
  await soon(async () => {
    const after = (await shelf.call('documents.list', {})).find(({ id }) => id === before?.id);
    expect(after).toMatchObject({
      fileName: 'deux.txt',
      name: 'deux.txt',
      watchedPath: expect.stringMatching(/deux\.txt$/),
    });
  });
  expect(await hits('beryl')).toBe(1);

  if (!before) throw new Error('it is in the list');
  await shelf.call('documents.remove', { documentId: before.id });
  rmSync(join(folder, 'one.txt'));
  await soon(async () => expect(await shelf.call('documents.list', {})).toEqual([]));
  writeFileSync(join(folder, 'three.txt'), 'The third word is diamond.');
  await soon(async () => expect(await hits('diamond')).toBe(1));
  expect(await hits('beryl')).toBe(0);

  rmSync(folder, { recursive: true });
  await shelf.call('documents.unwatch', { collectionId, path: folder });
  expect(await hits('diamond')).toBe(1);
  await expect(shelf.call('documents.watch', { collectionId, path: folder })).rejects.toMatchObject({
    code: 'not-found',
  });
});

test('a watched folder that is renamed away and back is noticed within seconds, and what is new in it after that', {
  timeout: 60_000,
}, async () => {
  const parent = newFolder();
  const [folder, away] = [join(parent, 'disk'), join(parent, 'away')];
  mkdirSync(folder);
  writeFileSync(join(folder, 'one.txt'), 'The word is amber.');
  const shelf = await openShelf();
  const { id: collectionId } = shelf.collection;
  await shelf.call('documents.watch', { collectionId, path: folder });
  const problem = async () =>
    (await shelf.call('documents.collections', undefined)).find(({ id }) => id === collectionId)?.folders[0]?.problem;
  const soon = (check: () => Promise<void>) => vi.waitFor(check, { timeout: 15_000, interval: 100 });
  const hits = async (query: string) => (await shelf.call('documents.search', { query })).hits.length;
  await soon(async () => expect(await hits('amber')).toBe(1));
  renameSync(folder, away);
  await soon(async () => expect(await problem()).toBeTruthy());
  expect(await hits('amber')).toBe(1);
  writeFileSync(join(away, 'two.txt'), 'The word is beryl.');
  renameSync(away, folder);
  await soon(async () => expect([await problem(), await hits('beryl')]).toEqual([null, 1]));
  writeFileSync(join(folder, 'three.txt'), 'The word is citrine.');
  await soon(async () => expect(await hits('citrine')).toBe(1));
});
