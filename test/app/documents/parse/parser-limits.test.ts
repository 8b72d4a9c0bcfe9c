import { fork } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { constants, getPriority } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { expect, onTestFinished, test, vi } from 'vitest';
import { parserByFork } from '../../../../app/documents/parse/fork-parser.ts';
import { createParserClient } from '../../../../app/documents/parse/parser-client.ts';
import type { FromProcess } from '../../../../app/documents/parse/parser-process.ts';
import type { Ending } from '../../../../app/process/supervisor.ts';
import type { Document } from '../../../../app/protocol/index.ts';
import { newFolder, places, root } from '../../../support/core/core.ts';
import { openShelf } from '../../../support/documents/documents.ts';
import { prose } from '../../../support/prose.ts';

vi.setConfig({ testTimeout: 120_000 });

/** A reader whose worker is this program. */
function parserOf(program: string) {
  const worker = join(newFolder(), 'worker.mjs');
  writeFileSync(worker, program);
  const parser = createParserClient({
    start: parserByFork({ documentParser: places.documentParser, documentWorker: worker }),
  });
  onTestFinished(() => parser.close());
  return parser;
}

test('a reader that breaks after it has answered ends nobody else', async () => {
  const parser = parserOf(
    `import { parentPort } from 'node:worker_threads';
     parentPort.on('message', ({ read }) => {
       if (!read) return;
       parentPort.postMessage({ done: { metadata: { title: read.fileName, pages: null }, notices: [] } });
       if (read.fileName === 'throws') setTimeout(() => { throw new Error('late'); }, 20);
       if (read.fileName === 'dies') setTimeout(() => process.kill(process.pid, 'SIGSEGV'), 20);
     });`,
  );
  const titleOf = async (fileName: string) => {
    const asked = { path: '', fileName, bytes: 0, password: null, ocr: false };
    const heard = { batch: () => {}, progress: () => {} };
    return (await parser.read(asked, 'text', heard, new AbortController().signal)).metadata.title;
  };
  for (const name of ['throws', 'dies']) {
    expect(await titleOf(name)).toBe(name);
    // An error that nobody is there to catch would end this process, and the run with it.
    await setTimeout(150);
    expect(await titleOf('next')).toBe('next');
  }
});

test('documents are read at a lower priority than anything else', async () => {
  const parser = parserOf(
    `import { getPriority } from 'node:os';
     import { parentPort } from 'node:worker_threads';
     parentPort.on('message', ({ read }) => {
       if (read) parentPort.postMessage({ done: { metadata: { title: String(getPriority()), pages: null }, notices: [] } });
     });`,
  );
  const asked = { path: '', fileName: 'a', bytes: 0, password: null, ocr: false };
  const heard = { batch: () => {}, progress: () => {} };
  const { metadata } = await parser.read(asked, 'text', heard, new AbortController().signal);
  expect(Number(metadata.title)).toBeGreaterThan(Math.min(getPriority(), constants.priority.PRIORITY_LOW - 1));
});

test('a reader that crashes, hangs or grows fails alone', async () => {
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
       if (read.fileName === 'fine') parentPort.postMessage({ done: { metadata: { title: null, pages: null }, notices: [] } });
     });`,
  );
  const start = parserByFork({ documentParser: places.documentParser, documentWorker: worker });
  const parser = createParserClient({ start, limits: { heapMb: 64, memoryMb: 400 } });
  const hasty = createParserClient({ start, limits: { stillMs: 500 } });
  const frugal = createParserClient({ start, limits: { stillSpentMs: 700 } });
  const short = createParserClient({ start, limits: { spentMs: 1500 } });
  onTestFinished(async () => void (await Promise.all([parser, hasty, frugal, short].map((one) => one.close()))));
  const read = (fileName: string, by = parser) =>
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
  const memory = { code: 'out-of-memory', details: { why: 'memory' }, message: expect.stringContaining('needs more') };
  await expect(read('grow')).rejects.toMatchObject(memory);
  await expect(read('buffers')).rejects.toMatchObject(memory);
  await expect(read('hang', frugal)).rejects.toMatchObject({ code: 'unreadable', details: { why: 'time' } });
  await expect(read('busy', short)).rejects.toMatchObject({ code: 'unreadable', details: { why: 'time' } });
  await expect(read('signal')).rejects.toMatchObject({ code: 'internal', message: expect.stringContaining('SIGSEGV') });
  await expect(read('fine')).resolves.toMatchObject({ notices: [] });
});

test('what an ended reader still says is not taken for the next document', async () => {
  const says: ((message: FromProcess) => void)[] = [];
  const parser = createParserClient({
    start: async () => {
      const ended = Promise.withResolvers<Ending>();
      return {
        pipe: { send: () => {}, onMessage: (hear) => says.push(hear), onClose: () => {}, close: () => {} },
        kill: () => ended.resolve({ how: 'signal SIGKILL', lastWords: '' }),
        ended: ended.promise,
      };
    },
  });
  onTestFinished(() => parser.close());
  const read = async (fileName: string, started: number) => {
    const source = { path: '', fileName, bytes: 0, password: null, ocr: false };
    const result = parser.read(source, 'text', { batch: () => {}, progress: () => {} }, new AbortController().signal);
    await vi.waitFor(() => expect(says).toHaveLength(started));
    await setTimeout(20);
    return { result };
  };
  const first = await read('large', 1);
  says[0]?.({ ended: 'memory', why: '' });
  await expect(first.result).rejects.toMatchObject({ code: 'out-of-memory' });
  const second = await read('small', 2);
  says[0]?.({ ended: 'failed', why: 'its thread ended with code 1' });
  says[1]?.({ done: { metadata: { title: 'small', pages: null }, notices: [] } });
  await expect(second.result).resolves.toMatchObject({ metadata: { title: 'small' } });
});

test('a process that ends of a document that it has read costs the next one nothing, and one of its own only once', async () => {
  const worker = join(newFolder(), 'worker.mjs');
  // The end comes when the next document is already asked for, as it does on a busy machine.
  writeFileSync(
    worker,
    `import { parentPort } from 'node:worker_threads';
     let dying = false;
     parentPort.on('message', ({ read }) => {
       if (!read) return;
       if (dying || read.fileName === 'fatal') return process.kill(process.pid, 'SIGSEGV');
       dying = read.fileName === 'last';
       parentPort.postMessage({ done: { metadata: { title: read.fileName, pages: null }, notices: [] } });
     });`,
  );
  let started = 0;
  const start = parserByFork({ documentParser: places.documentParser, documentWorker: worker });
  const counted: typeof start = (limits) => {
    started++;
    return start(limits);
  };
  const reader = createParserClient({ start: counted });
  onTestFinished(() => reader.close());
  const read = (fileName: string) =>
    reader.read(
      { path: '', fileName, bytes: 0, password: null, ocr: false },
      'text',
      { batch: () => {}, progress: () => {} },
      new AbortController().signal,
    );
  await read('last');
  expect((await read('next')).metadata.title).toBe('next');
  expect(started).toBe(2);
  await expect(read('fatal')).rejects.toMatchObject({ code: 'internal', message: expect.stringContaining('SIGSEGV') });
  expect(started).toBe(3);
  await expect(read('fatal')).rejects.toMatchObject({ code: 'internal' });
  expect(started).toBe(4);
});

test('a process that has read five hundred documents is followed by a new one', async () => {
  const parser = parserOf(
    `import { parentPort } from 'node:worker_threads';
     parentPort.on('message', ({ read }) => {
       if (read) parentPort.postMessage({ done: { metadata: { title: String(process.pid), pages: null }, notices: [] } });
     });`,
  );
  const asked = { path: '', fileName: 'page.txt', bytes: 0, password: null, ocr: false };
  const told = { batch: () => {}, progress: () => {} };
  const readers: (string | null)[] = [];
  for (let count = 0; count < 502; count++)
    readers.push((await parser.read(asked, 'text', told, new AbortController().signal)).metadata.title);
  expect(new Set(readers.slice(0, 500)).size).toBe(1);
  expect(new Set(readers.slice(499)).size).toBe(2);
  expect(readers[501]).toBe(readers[500]);
});

test('what Longhand ended on twice waits for the user; an orderly end does not count', async () => {
  const { dataFolder, collection, close } = await openShelf();
  await close();
  const path = join(newFolder(), 'fatal.txt');
  writeFileSync(path, prose(1, 20_000));
  const script = join(root, 'test/support/documents/shelf-process.ts');
  const states = (all: readonly Document[]) => all.map(({ state }) => state);
  for (let life = 1; life <= 2; life++) {
    const args = [dataFolder, places.migrations, places.documentParser, places.documentWorker, collection.id, path];
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
