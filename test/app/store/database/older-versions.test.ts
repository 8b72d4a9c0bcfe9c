import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import type { Location } from '../../../../app/protocol/index.ts';
import { getChat } from '../../../../app/store/chats/chats.ts';
import { samplesOf, unsettled } from '../../../../app/store/chats/message-chunks.ts';
import { messagesOf } from '../../../../app/store/chats/messages.ts';
import { type Database, openDatabase } from '../../../../app/store/database/database.ts';
import { migrate, readMigrations } from '../../../../app/store/database/migrate.ts';
import { salvage } from '../../../../app/store/database/recover.ts';
import { listDocuments, requeueUnsettled } from '../../../../app/store/documents/documents.ts';
import { embedderOf } from '../../../../app/store/documents/embeddings.ts';
import { libraryRow } from '../../../../app/store/models/library-location.ts';
import { listModels } from '../../../../app/store/models/models.ts';
import { listNetworkLog } from '../../../../app/store/models/network-log.ts';
import { listRemoteEngines } from '../../../../app/store/models/remote-engines.ts';
import { readSettings } from '../../../../app/store/settings.ts';
import { migrations, newFolder, open } from '../support.ts';

//  Databases as older versions wrote them, row by row: what stands in them is read after the update, and out of a damaged one.

function older(version: number): Database {
  const db = openDatabase(join(newFolder(), 'longhand.db'), { vectors: true });
  onTestFinished(() => db.close());
  migrate(db, readMigrations(migrations).slice(0, version));
  return db;
}

const update = (db: Database, from: number) => migrate(db, readMigrations(migrations).slice(from));

const TEXT = 'it says "place":{"at":"page"} and {"at":"done"}';
const PASSAGE = { passageId: 'p', documentId: 'd', collectionId: 'k' };
const SAMPLE = { atMs: 1, phase: 'answer', tokensPerSecond: 20, tokens: 2, memoryBytes: null };
const GROUNDING = {
  found: true,
  by: 'words',
  question: TEXT,
  sources: [
    {
      number: 1,
      ...PASSAGE,
      name: 'a.pdf',
      label: 'p. 3',
      text: TEXT,
      spans: [{ start: 0, end: 4, place: { at: 'page', page: 3, rectangles: [[1, 2, 3, 4]] } }],
      cited: true,
    },
  ],
  support: [],
  quote: null,
};

/** A chat with a question, an answer from documents and one that is being written, and two documents. */
function fill(db: Database) {
  db.run("INSERT INTO chats (id, title, created_at, updated_at) VALUES ('c', 'Old', 1, 1)");
  const message = (id: string, parent: string | null, role: string, state: object, grounding: object | null = null) =>
    db.run(
      `INSERT INTO messages (id, chat_id, parent_id, role, created_at, text, state, grounding)
       VALUES (?, 'c', ?, ?, 1, ?, ?, ?)`,
      id,
      parent,
      role,
      TEXT,
      JSON.stringify(state),
      grounding && JSON.stringify(grounding),
    );
  message('q', null, 'user', { at: 'done', reason: null });
  message('a', 'q', 'assistant', { at: 'done', reason: 'stop' }, GROUNDING);
  message('w', 'a', 'assistant', { at: 'running', turnId: 't' });
  db.run("INSERT INTO collections (id, name, created_at) VALUES ('k', 'Papers', 1)");
  const document = (id: string, state: { at: string }) =>
    db.run(
      `INSERT INTO documents (id, collection_id, name, file_name, kind, bytes, added_at, source_path, source_changed_at, at, state)
       VALUES (?, 'k', ?, ?, 'pdf', 1, 1, ?, 1, ?, ?)`,
      id,
      id,
      `${id}.pdf`,
      `${id}.pdf`,
      state.at,
      JSON.stringify(state),
    );
  document('r', { at: 'ready' });
  document('h', { at: 'reading', ...{ step: 'ocr', done: 1, total: 2 } });
}

/** What each location was called in the database up to version 20. */
const LABELS: readonly (readonly [string, Location | null])[] = [
  ['p. 14', { kind: 'page', page: 14 }],
  ['slide 3', { kind: 'slide', slide: 3 }],
  ['line 20', { kind: 'line', line: 20 }],
  ['¶ 7', { kind: 'block', block: 7 }],
  ['B4:D9', { kind: 'cells', range: 'B4:D9' }],
  ['A1', { kind: 'cells', range: 'A1' }],
  ['', null],
  ['p. x', null],
];

function expectRead(db: Database) {
  const [question, answer, written] = messagesOf(db, 'c' as never);
  expect(question).toMatchObject({ text: TEXT, state: { status: 'done', reason: null } });
  expect(answer?.state).toEqual({ status: 'done', reason: 'stop' });
  expect(answer?.grounding).toMatchObject({
    question: TEXT,
    sources: [
      {
        text: TEXT,
        location: { kind: 'page', page: 3 },
        spans: [{ place: { kind: 'page', page: 3, rectangles: [[1, 2, 3, 4]] } }],
      },
    ],
  });
  expect(written?.state).toEqual({ status: 'running', turnId: 't' });
}

test('states and places of version 14 are read after the update', () => {
  const db = older(14);
  fill(db);
  update(db, 14);
  expectRead(db);
  expect(unsettled(db)).toEqual(['w']);
  requeueUnsettled(db);
  expect(listDocuments(db, null).map(({ document }) => [document.id, document.state])).toEqual([
    ['r', { status: 'ready' }],
    ['h', { status: 'queued' }],
  ]);
});

test('names of version 15 are those of today after the update', () => {
  const db = older(15);
  db.run("INSERT INTO chats (id, title, titled, created_at, updated_at) VALUES ('c', 'Mine', 'user', 1, 1)");
  const cutoff = (at: number, summary: string | null, back: boolean) => JSON.stringify({ at, summary, back });
  for (const [id, aside] of Object.entries({
    a: cutoff(5, 'What was said.', false),
    b: cutoff(6, null, true),
    c: null,
  })) {
    db.run(
      `INSERT INTO messages (id, chat_id, role, created_at, text, state, aside) VALUES (?, 'c', 'user', 1, '', ?, ?)`,
      id,
      '{"status":"done","reason":null}',
      aside,
    );
  }
  db.run("INSERT INTO pieces VALUES ('a', 1, 'more', '', x'')");
  db.run(`INSERT INTO samples VALUES ('a', 1, ?)`, JSON.stringify(SAMPLE));
  db.run(`INSERT INTO contacts (day, allowed, host, reason, about, at, times, bytes)
    VALUES ('2026-01-01', 1, 'hub', 'look', '', 7, 3, 9)`);
  db.run("UPDATE library SET folder = '/drive', mark = 'm', leaving = '/old'");
  const old = {
    keys: { 'new-chat': 'Mod+J' },
    askHub: true,
    hubMirror: 'https://hub.example',
    certificates: '/ca.pem',
    warmStart: false,
    keepAliveMinutes: 5,
    keepPacked: true,
    announce: 'off',
    titlesByModel: false,
    modelFolder: '/more',
    motion: 'less',
    showThinking: 'folded',
  };
  for (const [key, value] of Object.entries(old)) {
    db.run('INSERT INTO settings VALUES (?, ?)', key, JSON.stringify(value));
  }
  update(db, 15);
  expect(getChat(db, 'c' as never).titleSource).toBe('user');
  expect(messagesOf(db, 'c' as never).map(({ text, contextCutoff }) => [text, contextCutoff])).toEqual([
    ['more', { since: 5, summary: 'What was said.', restored: false }],
    ['', { since: 6, summary: null, restored: true }],
    ['', null],
  ]);
  expect(samplesOf(db, 'a' as never)).toEqual([SAMPLE]);
  expect(listNetworkLog(db, 8)).toMatchObject([{ host: 'hub', requestCount: 3, bytes: 9 }]);
  expect(libraryRow(db)).toMatchObject({ folder: '/drive', markerId: 'm', cleanupPath: '/old' });
  expect(readSettings(db)).toMatchObject({
    keybindings: { 'new-chat': 'Mod+J' },
    hubConsent: true,
    hubEndpoint: 'https://hub.example',
    extraCaCertificates: '/ca.pem',
    loadOnStart: false,
    idleUnloadMinutes: 5,
    cachePackedWeights: true,
    screenReader: 'off',
    autoTitle: false,
    extraModelFolder: '/more',
    motion: 'reduced',
    showThinking: 'collapsed',
  });
});

test('where words stand was a label up to version 20, and is data after the update; nothing else of an answer changes', () => {
  const db = older(20);
  db.run("INSERT INTO chats (id, title, created_at, updated_at) VALUES ('c', 'Old', 1, 1)");
  const span = { start: 0, end: 4, place: { kind: 'page', page: 3, rectangles: [[1.05, 2, 3, 4.5]] } };
  const source = (at: number) => ({
    number: at + 1,
    ...PASSAGE,
    name: 'p. 3',
    text: TEXT,
    spans: [span],
    cited: at > 0,
  });
  const whole = { found: true, by: 'words', question: '"label":"p. 1"', support: [] };
  const grounding = (quote: object | null) => ({
    ...whole,
    sources: LABELS.map(([label], at) => ({ ...source(at), label })),
    quote,
  });
  const quote = { source: 1, start: 0, end: 4, alsoIn: ['b.pdf'] };
  for (const [id, stored] of Object.entries({
    a: grounding({ ...quote, label: 'p. 4' }),
    b: grounding(null),
    c: { ...whole, sources: [] },
    d: null,
  })) {
    db.run(
      `INSERT INTO messages (id, chat_id, role, created_at, text, state, grounding) VALUES (?, 'c', 'assistant', 1, '', ?, ?)`,
      id,
      '{"status":"done","reason":"stop"}',
      stored && JSON.stringify(stored),
    );
  }
  update(db, 20);
  const sources = LABELS.map(([, location], at) => ({ ...source(at), location }));
  expect(messagesOf(db, 'c' as never).map((message) => message.grounding)).toEqual([
    { ...whole, sources, quote: { ...quote, location: { kind: 'page', page: 4 } } },
    { ...whole, sources, quote: null },
    { ...whole, sources: [], quote: null },
    null,
  ]);
});

test('what was seen of a loop has the names of today after the update, in an answer and in one that is paused', () => {
  const db = older(25);
  db.run("INSERT INTO chats (id, title, created_at, updated_at) VALUES ('c', 'Old', 1, 1)");
  const common = {
    where: 'answer',
    kind: 'exact',
    spentTokens: 9,
    savedTokens: 5,
    times: 1,
    text: '"copies":1, "first":2',
  };
  const stored = { ...common, copies: 3, period: 7, first: 10, last: 31 };
  const read = { ...common, repeats: 3, periodTokens: 7, startToken: 10, endToken: 31 };
  const message = (id: string, state: object, loops: readonly object[]) =>
    db.run(
      `INSERT INTO messages (id, chat_id, role, created_at, text, state, loops) VALUES (?, 'c', 'assistant', 1, ?, ?, ?)`,
      id,
      stored.text,
      JSON.stringify(state),
      JSON.stringify(loops),
    );
  message('a', { status: 'done', reason: 'loop' }, [stored, { ...stored, decided: 'stop' }]);
  message('b', { status: 'paused', turnId: 't', evidence: stored }, [stored]);
  db.run("INSERT INTO encoders (model_id, sha256) VALUES ('m', 'x')");
  db.run("INSERT INTO collections (id, name, created_at, encoder, encoder_chosen) VALUES ('k', 'Papers', 1, 1, 1)");
  update(db, 25);
  expect(messagesOf(db, 'c' as never)).toMatchObject([
    { text: stored.text, loops: [read, { ...read, decided: 'stop' }] },
    { state: { status: 'paused', turnId: 't', evidence: read }, loops: [read] },
  ]);
  expect(embedderOf(db, 'm' as never, 'x')).toEqual({ number: 1, modelId: 'm', sha256: 'x' });
  expect(db.get('SELECT embedder, embedder_chosen FROM collections')).toEqual({ embedder: 1, embedder_chosen: 1 });
});

test('engines elsewhere are remote engines after the update, with their models and what they failed at', () => {
  const db = older(27);
  const remote = { engineId: 'lab', model: 'large', contextLength: 4096, pictures: true };
  db.run(
    "INSERT INTO elsewhere (id, name, address, created_at) VALUES ('lab', 'The lab', 'http://192.0.2.1:8000/v1', 1)",
  );
  db.run("INSERT INTO models (id, name, added_at, elsewhere) VALUES ('m', 'Large', 1, ?)", JSON.stringify(remote));
  db.run("INSERT INTO chats (id, title, created_at, updated_at) VALUES ('c', 'Old', 1, 1)");
  const failed = (code: string) => ({ status: 'failed', failure: { code, message: '"code":"elsewhere-failed"' } });
  db.run(
    "INSERT INTO messages (id, chat_id, role, created_at, text, state) VALUES ('a', 'c', 'assistant', 1, '', ?)",
    JSON.stringify(failed('elsewhere-failed')),
  );
  update(db, 27);
  expect(listRemoteEngines(db)).toMatchObject([{ id: 'lab', name: 'The lab', address: 'http://192.0.2.1:8000/v1' }]);
  expect(listModels(db)).toMatchObject([{ id: 'm', name: 'Large', remote }]);
  expect(messagesOf(db, 'c' as never)).toMatchObject([{ state: failed('remote-failed') }]);
});

test('a damaged database of version 14 is brought up to date before its rows are put back', async () => {
  const source = older(14);
  fill(source);
  source.run("INSERT INTO models (id, name, path, added_at) VALUES ('m', 'Mine', '/models/mine', 1)");
  source.run("UPDATE library SET folder = '/drive/models'");
  const { db } = await open();
  expect(salvage(db, source.path, readMigrations(migrations))).toEqual({ chats: 1, messages: 3 });
  expectRead(db);
  expect(db.get('SELECT name FROM models')).toEqual({ name: 'Mine' });
  expect(db.get('SELECT folder FROM library')).toEqual({ folder: '/drive/models' });
});
