import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { WebSocket } from 'ws';
import { withHistory } from '../../app/documents/search/query-rewrite.ts';
import { type CollectionId, protocolFingerprint, socketPath, subprotocol } from '../../app/protocol/index.ts';
import { createCollection } from '../../app/store/documents/collections.ts';
import { openStore } from '../../app/store/store.ts';
import { KEY, startApi } from '../app/server/api/api.ts';
import { newFolder, places, startCore } from '../support/core/core.ts';
import { soaking } from '../support/soak.ts';
import { BULK } from './bulk.ts';
import { observe } from './observe.ts';
import { serve } from './server/served.ts';
import { tallyOf } from './tally.ts';

//  Messages that are cheap to send and expensive to parse, everywhere messages are parsed: the core does not stall, grows little
//  and answers the next one.

vi.setConfig({ testTimeout: soaking ? 3_600_000 : 120_000 });
const tally = tallyOf('stalls');

const MAX_GROWTH = 400e6;
/** Maximum processor time of the core's thread between two turns of its loop: the time to parse a string of escapes of four megabytes
 *  or, in the long form, of the maximum size. */
const MAX_STALL_MS = soaking ? 800 : 200;

async function bounded(work: () => Promise<unknown>): Promise<void> {
  const stop = observe();
  await work();
  const { grown, stall } = stop();
  expect(grown).toBeLessThan(MAX_GROWTH);
  expect(stall).toBeLessThan(MAX_STALL_MS);
}

const sizeOf = (most: number) => (soaking ? most : 4e6);

/** Every shape at every place; in the short form each shape at one of them, in turn. */
function* everywhere<Place>(places: Readonly<Record<string, Place>>) {
  const all = Object.entries(places);
  for (const [at, [shape, fill]] of Object.entries(BULK).entries())
    for (const [name, place] of soaking ? all : all.slice(at % all.length).slice(0, 1))
      yield { what: `${name}: ${shape}`, fill, place };
}

/** Positions in a frame of the page. */
const FRAMES: Readonly<Record<string, (json: string) => string>> = {
  'as the frame': (json) => json,
  'as the input': (json) => `{"id":1,"call":"chats.update","input":${json}}`,
  'as an unknown call': (json) => `{"id":1,"call":${json}}`,
  'as a number of a call': (json) => `{"id":${json},"call":"app.info"}`,
  'as a text to send': (json) => `{"id":1,"call":"turns.send","input":{"chatId":"c","text":${json}}}`,
  'as a list of files': (json) => `{"id":1,"call":"documents.add","input":{"collectionId":"c","files":${json}}}`,
  'as settings': (json) => `{"id":1,"call":"settings.set","input":${json}}`,
  'as keys': (json) => `{"id":1,"call":"settings.set","input":{"keybindings":${json}}}`,
  'as servers': (json) =>
    `{"id":1,"call":"mcp.add","input":{"servers":[{"name":"a","config":{"command":"a","env":${json}}}]}}`,
  'as something to take back': (json) => `{"cancel":${json}}`,
};

test('frames of a page', async () => {
  const served = await serve();
  const connected = async () => {
    const socket = new WebSocket(`ws://127.0.0.1:${served.port}${socketPath}`, [subprotocol, served.secret], {
      headers: { origin: served.origin },
    });
    await once(socket, 'message');
    return socket;
  };
  for (const { what, fill, place } of everywhere(FRAMES)) {
    const bytes = Buffer.from(place(fill(sizeOf(30e6))));
    await tally.refused(`a frame ${what}`, async () => {
      const socket = await connected();
      await bounded(async () => {
        const answered = Promise.race([once(socket, 'message'), once(socket, 'close')]);
        await new Promise((sent) => socket.send(bytes, { binary: false }, sent));
        await answered;
      });
      socket.terminate();
    });
  }
  const socket = await connected();
  // Events may precede it.
  const answer = new Promise((answered) =>
    socket.on('message', (data) => {
      const frame = JSON.parse(String(data)) as { id?: number };
      if (frame.id === 2) answered(frame);
    }),
  );
  socket.send(JSON.stringify({ id: 2, call: 'chats.list', input: {} }));
  expect(await answer).toMatchObject({ value: expect.any(Array) });
  expect(protocolFingerprint()).not.toBe('');
  socket.terminate();
  tally.settle();
});

/** Positions in a request of another program. */
const BODIES: Readonly<Record<string, [path: string, body: (json: string, model: string) => string]>> = {
  'as the body': ['/v1/chat/completions', (json) => json],
  'as messages': ['/v1/chat/completions', (json, model) => `{"model":"${model}","messages":${json}}`],
  'as tools': [
    '/v1/chat/completions',
    (json, model) => `{"model":"${model}","messages":[{"role":"user","content":"a"}],"tools":${json},"max_tokens":1}`,
  ],
  'as arguments of a call': [
    '/v1/chat/completions',
    (json, model) =>
      `{"model":"${model}","messages":[{"role":"assistant","tool_calls":[{"function":{"name":"a","arguments":${JSON.stringify(json)}}}]}],"max_tokens":1}`,
  ],
  'as what is embedded': ['/v1/embeddings', (json, model) => `{"model":"${model}","input":${json}}`],
  'as messages, Anthropic': ['/v1/messages', (json, model) => `{"model":"${model}","max_tokens":1,"messages":${json}}`],
  'as the system, Anthropic': [
    '/v1/messages',
    (json, model) => `{"model":"${model}","max_tokens":1,"messages":[],"system":${json}}`,
  ],
  'as messages, Ollama': ['/api/chat', (json, model) => `{"model":"${model}","messages":${json}}`],
  'as options, Ollama': ['/api/generate', (json, model) => `{"model":"${model}","prompt":"a","options":${json}}`],
  'as texts, Ollama': ['/api/embed', (json, model) => `{"model":"${model}","input":${json}}`],
};

test('requests of other programs', async () => {
  const server = await startApi();
  for (const { what, fill, place } of everywhere(BODIES)) {
    const [path, bodyOf] = place;
    const body = bodyOf(fill(sizeOf(15e6)), server.model);
    await tally.refused(`a request ${what}`, () =>
      bounded(async () => {
        const headers = { authorization: `Bearer ${KEY}`, 'content-type': 'application/json' };
        const answer = await fetch(`http://127.0.0.1:${server.port}${path}`, { method: 'POST', headers, body });
        await answer.text();
        expect(answer.status).toBeLessThan(500);
      }),
    );
  }
  const headers = { authorization: `Bearer ${KEY}` };
  expect((await fetch(`http://127.0.0.1:${server.port}/v1/models`, { headers })).status).toBe(200);
  tally.settle();
});

test('a document of one sentence, over and over, whose vectors are known with the first', async () => {
  vi.stubEnv('LONGHAND_EMBEDDING', 'on');
  const { client } = await startCore();
  const path = join(newFolder(), 'abbreviations.txt');
  writeFileSync(path, 'e.g. '.repeat((soaking ? 10e6 : 1.5e6) / 5));
  const { id: collectionId } = await client.call('documents.createCollection', { name: 'Papers' });
  await tally.refused('a document of one sentence', async () => {
    const stop = observe();
    await client.call('documents.add', { collectionId, files: [{ path, name: 'abbreviations.txt' }] });
    await vi.waitFor(
      async () => {
        const found = (await client.call('documents.collections')).find(({ id }) => id === collectionId);
        expect(found?.embedding?.total).toBeGreaterThan(1000);
        expect(found?.embedding?.done).toBe(found?.passages);
      },
      { timeout: 60_000, interval: 100 },
    );
    const { grown, stall } = stop();
    expect(grown).toBeLessThan(MAX_GROWTH);
    expect(stall).toBeLessThan(100);
  });
  tally.settle();
});

/** A collection whose passages all contain one word, written directly into the database: `count` passages in documents of a thousand. */
async function collectionOf(dataFolder: string, count: number): Promise<CollectionId> {
  const { db, close } = await openStore({ folder: dataFolder, migrations: places.migrations });
  const { id } = createCollection(db, 'Large', false, 0);
  db.passing(() => {
    db.run(
      `WITH RECURSIVE counted (n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM counted WHERE n + 1 < ?2)
       INSERT INTO documents (id, collection_id, name, file_name, kind, bytes, added_at, source_path, source_changed_at, status,
         state, passages)
       SELECT 'd' || n, ?1, 'd' || n, 'd' || n, 'text', 1, 0, '/d' || n, 0, 'ready', '{"status":"ready"}', 1000 FROM counted`,
      id,
      count / 1000,
    );
    db.run(
      `WITH RECURSIVE counted (n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM counted WHERE n + 1 < ?)
       INSERT INTO passages (id, document, position, text, overlap, headings, spans)
       SELECT 'p' || n, (SELECT MIN(number) FROM documents WHERE id LIKE 'd%') + n / 1000, n % 1000 + 1,
         'company word' || n || ' of a report', 0, '[]', x'' FROM counted`,
      count,
    );
    db.run(`INSERT INTO passage_words (rowid, text, headings, name) SELECT number, text, '', '' FROM passages`);
  });
  close();
  return id;
}

test('questions to a collection of 180,000 passages', async () => {
  vi.stubEnv('LONGHAND_EMBEDDING', 'off');
  const dataFolder = newFolder();
  const collectionId = await collectionOf(dataFolder, 180_000);
  const { client } = await startCore({ dataFolder });
  const ask = (query: string) => client.call('documents.search', { query, collectionIds: [collectionId], limit: 20 });
  const manyWords = Array.from({ length: 180 }, (_, at) => `word${at * 700}`).join(' ');
  const asked: Record<string, () => Promise<unknown>> = {
    'a word that every passage has': async () => expect((await ask('company')).hits).toHaveLength(20),
    'words that every passage has': async () => expect((await ask('company report')).hits).toHaveLength(20),
    'the beginning of every word': async () => expect((await ask('der Bericht und die companys')).hits).toBeDefined(),
    'two hundred words, nearly': async () => expect((await ask(manyWords)).hits).not.toEqual([]),
    'words of the language of the index': () => ask('company* AND NEAR(report "of) OR text : ^'),
    'a question': () =>
      client.call('documents.ask', { question: 'What does it report?', collectionIds: [collectionId] }),
    'a task': () => client.call('documents.ask', { question: 'Summarise this', collectionIds: [collectionId] }),
    'the list of documents': () => client.call('documents.list', { collectionId }),
    'the list of collections': () => client.call('documents.collections'),
  };
  for (const [what, work] of Object.entries(asked))
    await tally.refused(what, async () => {
      const stop = observe();
      await work();
      const { grown, stall } = stop();
      expect(grown).toBeLessThan(MAX_GROWTH);
      expect(stall, what).toBeLessThan(100);
    });
  tally.settle();
});

test('a message with a whole text in it is searched with its beginning and its end', async () => {
  const pasted = 'company report of the year '.repeat(40_000);
  await tally.refused('a message of a million characters', () => {
    const stop = observe();
    const asked = withHistory(`Compare with ours. ${pasted} What is its result?`, [
      { question: pasted, answer: `${pasted} Anna Berg said it.` },
    ]);
    expect(asked).toMatch(/^Compare with ours\..* What is its result\?/);
    expect(asked.length).toBeLessThan(2200);
    expect(stop().stall).toBeLessThan(100);
  });
  tally.settle();
});
