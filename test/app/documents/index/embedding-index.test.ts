import { createHash } from 'node:crypto';
import { appendFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { DocumentsOptions } from '../../../../app/documents/service.ts';
import { LonghandError, type ModelId } from '../../../../app/protocol/index.ts';
import type { Database } from '../../../../app/store/database/database.ts';
import { newFolder } from '../../../support/core/core.ts';
import { openShelf } from '../../../support/documents/documents.ts';

//  The road of vectors, with encoders that are made up: each gives every word a direction of its own.

const words = ['rent', 'mill', 'honey', 'ferry', 'bread', 'star'];
const notes = Object.fromEntries(
  words.map((word) => [`${word}.md`, `# About ${word}\n\nThe ${word} is spoken of here, and nothing else is.\n`]),
);

function madeUp() {
  const folder = newFolder();
  const paths = new Map<string, string>();
  for (const name of ['first', 'second']) {
    const path = join(folder, `${name}.gguf`);
    writeFileSync(path, name);
    paths.set(name, path);
  }
  const asked: { path: string; texts: number; urgent: boolean }[] = [];
  const read: string[] = [];
  let down = false;
  /** So many texts at most are answered at once, as when a chat comes between. */
  let most = Number.POSITIVE_INFINITY;
  /** A cross-encoder for which this word decides; null: none is installed. */
  let reranker: string | null = null;
  /** A reader to which every statement with this word is the answer; or why the engine has none. */
  const reader = { word: '', fails: null as LonghandError | null, asked: 0 };
  const engine = {
    async ask(
      name: 'embed' | 'rank',
      { target, texts, urgent }: { target: { path: string; adapter?: string }; texts: string[]; urgent: boolean },
    ) {
      if (down) throw new LonghandError('engine-lost', '[test] the engine is down');
      if (target.adapter !== undefined) {
        reader.asked++;
        if (reader.fails) throw reader.fails;
        return { scores: texts.map((text) => (text.includes(reader.word) ? 9 : -9)) };
      }
      if (name === 'rank')
        return {
          scores: texts.map((text) => (reranker !== null && text.includes(reranker) ? 3 : -3)),
        };
      asked.push({ path: target.path, texts: texts.length, urgent });
      const taken = texts.slice(0, urgent ? undefined : most);
      read.push(...taken);
      return { vectors: taken.map((text) => vectorOf(target.path, text)) };
    },
  };
  const embedders: DocumentsOptions['embedders'] = {
    find(modelId) {
      const path = paths.get(modelId);
      if (path === undefined) throw new LonghandError('model-missing', `[test] no ${modelId}`);
      return { target: { path, device: null, threads: null }, name: modelId };
    },
    preset: null,
    qaReranker: 'reader',
    reranker: () => (reranker === null ? null : { path: 'reranker', device: null, threads: null }),
  };
  return {
    meaning: { engine: engine as unknown as DocumentsOptions['engine'], embedders },
    asked,
    read,
    paths,
    reader,
    rankBy: (word: string | null) => {
      reranker = word;
    },
    take: (count: number) => {
      most = count;
    },
    stop: (now: boolean) => {
      down = now;
    },
  };
}

function vectorOf(path: string, text: string): Float32Array {
  const seed = createHash('sha256').update(path).digest()[0] ?? 0;
  const vector = new Float32Array(64);
  for (const [at, word] of words.entries()) if (text.includes(word)) vector[(at * 7 + seed) % 64] = 1;
  vector[63 - (seed % 8)] = (vector[63 - (seed % 8)] ?? 0) + 0.1;
  const length = Math.hypot(...vector);
  return vector.map((value) => value / length);
}

const first = 'first' as ModelId;
const second = 'second' as ModelId;

async function embeddingOf(shelf: Awaited<ReturnType<typeof openShelf>>) {
  const all = await shelf.call('documents.collections', undefined);
  return all.find(({ id }) => id === shelf.collection.id)?.embedding;
}

test('passages get their vectors in the background, piece by piece, and search says how it looked', async () => {
  const made = madeUp();
  const shelf = await openShelf({ meaning: made.meaning });
  await shelf.add(notes);
  expect(await shelf.call('documents.search', { query: 'honey' })).toMatchObject({ by: 'words' });

  made.take(2);
  const { id: collectionId } = shelf.collection;
  await shelf.call('documents.setEmbedding', { collectionId, modelId: first });
  await shelf.documents.idle();
  expect(await embeddingOf(shelf)).toEqual({ modelId: 'first', name: 'first', done: 6, total: 6 });
  expect(made.asked.every(({ urgent }) => !urgent)).toBe(true);
  const { by, hits } = await shelf.call('documents.search', { query: 'honey', collectionIds: [collectionId] });
  expect(by).toBe('words-and-meaning');
  expect(hits[0]?.excerpt).toContain('honey');
});

test('a collection has the encoder that ships with the app, unless somebody chose otherwise: also one made before there was one', async () => {
  const made = madeUp();
  const words = await openShelf({ meaning: made.meaning });
  await words.add(notes);
  await words.documents.idle();
  expect(await embeddingOf(words)).toBeNull();
  await words.close();

  const preset = { ...made.meaning, embedders: { ...made.meaning.embedders, preset: first } };
  const shelf = await openShelf({ meaning: preset, dataFolder: words.dataFolder });
  await expect
    .poll(() => embeddingOf(shelf), { timeout: 20_000, interval: 50 })
    .toEqual({ modelId: 'first', name: 'first', done: 6, total: 6 });
  const fresh = await shelf.call('documents.createCollection', { name: 'New' });
  expect(fresh.embedding).toMatchObject({ modelId: 'first' });

  // Words alone were chosen: they stay, and the next collection begins so, too.
  await shelf.call('documents.setEmbedding', { collectionId: fresh.id, modelId: null });
  const next = await shelf.call('documents.createCollection', { name: 'Next' });
  expect(next.embedding).toBeNull();
  await shelf.close();
  const again = await openShelf({ meaning: preset, dataFolder: words.dataFolder });
  await again.documents.idle();
  const all = await again.call('documents.collections', undefined);
  const embedderOf = (name: string) => all.find((one) => one.name === name)?.embedding?.modelId ?? null;
  expect([embedderOf('New'), embedderOf('Next')]).toEqual([null, null]);

  // The encoder that was chosen last, while it is there; else the preset one.
  await again.call('documents.setEmbedding', { collectionId: next.id, modelId: second });
  expect((await again.call('documents.createCollection', { name: 'A' })).embedding?.modelId).toBe('second');
  made.paths.delete(second);
  expect((await again.call('documents.createCollection', { name: 'B' })).embedding?.modelId).toBe('first');
});

test('a text that stands in several passages is read once for all of them', async () => {
  const made = madeUp();
  const shelf = await openShelf({ meaning: made.meaning });
  const line = 'The ferry to the mill leaves at nine.';
  await shelf.add({ 'a.md': `# One\n\n${line}\n`, 'b.md': `# Two\n\n${line}\n`, 'c.md': `# Three\n\n${line}\n` });
  made.take(1);
  const { id: collectionId } = shelf.collection;
  await shelf.call('documents.setEmbedding', { collectionId, modelId: first });
  await shelf.documents.idle();
  expect(await embeddingOf(shelf)).toMatchObject({ done: 3, total: 3 });
  expect(made.read.filter((text) => text === line)).toHaveLength(1);
  expect(new Set(made.read).size).toBe(made.read.length);
  const { hits } = await shelf.call('documents.search', { query: 'ferry', collectionIds: [collectionId] });
  expect(hits).toHaveLength(3);
});

test('a document of one sentence over and over is read in steps between which others get their turn', async () => {
  const made = madeUp();
  const shelf = await openShelf({ meaning: made.meaning });
  await shelf.add({ 'litany.md': 'The ferry to the mill leaves at nine.\n\n'.repeat(10_000) });
  const { id: collectionId } = shelf.collection;
  await shelf.call('documents.setEmbedding', { collectionId, modelId: first });
  const seen = new Set<unknown>();
  let going = true;
  const look = () => {
    seen.add(shelf.db.get('SELECT COUNT(*) AS count FROM embeddings')?.count);
    if (going) setImmediate(look);
  };
  look();
  await shelf.documents.idle();
  going = false;
  const { done, total } = (await embeddingOf(shelf)) ?? { done: 0, total: 0 };
  expect(done).toBe(total);
  expect(total).toBeGreaterThan(200);
  expect(seen.size).toBeGreaterThan(4);
});

test('another encoder is built while search goes on with the one before; its vectors are then gone', async () => {
  const made = madeUp();
  const shelf = await openShelf({ meaning: made.meaning });
  await shelf.add(notes);
  const { id: collectionId } = shelf.collection;
  await shelf.call('documents.setEmbedding', { collectionId, modelId: first });
  await shelf.documents.idle();

  made.asked.length = 0;
  await shelf.call('documents.setEmbedding', { collectionId, modelId: second });
  const during = await shelf.call('documents.search', { query: 'mill', collectionIds: [collectionId] });
  expect(during.by).toBe('words-and-meaning');
  expect(made.asked.find(({ urgent }) => urgent)?.path).toBe(made.paths.get('first'));
  await shelf.documents.idle();
  made.asked.length = 0;
  const after = await shelf.call('documents.search', { query: 'mill', collectionIds: [collectionId] });
  expect(after.hits[0]?.excerpt).toContain('mill');
  expect(made.asked.map(({ path }) => path)).toEqual([made.paths.get('second')]);

  await shelf.call('documents.setEmbedding', { collectionId, modelId: null });
  expect(await embeddingOf(shelf)).toBeNull();
  expect((await shelf.call('documents.search', { query: 'mill', collectionIds: [collectionId] })).by).toBe('words');
});

/** How many vectors there are, and how many each deletion took. */
function watchVectors({ db }: { db: Database }) {
  const sizes: number[] = [];
  const { run } = db;
  db.run = (sql, ...values) => {
    const before = countOf(db);
    const result = run(sql, ...values);
    if (/^DELETE FROM embeddings/.test(sql)) sizes.push(before - countOf(db));
    return result;
  };
  return sizes;
}
const countOf = (db: Database) => db.get<{ count: number }>('SELECT count(*) AS count FROM embeddings')?.count ?? 0;
const sections = Array.from(
  { length: 250 },
  (_, at) => `# Part ${at}\n\n${`The honey of part ${at} is spoken of here at length. `.repeat(20)}\n`,
);

test('vectors that are not wanted any more go a few at a time, after the call that gave them up', async () => {
  const made = madeUp();
  const shelf = await openShelf({ meaning: made.meaning });
  await shelf.add({ 'long.md': sections.join('\n') });
  const { id: collectionId } = shelf.collection;
  await shelf.call('documents.setEmbedding', { collectionId, modelId: first });
  await shelf.documents.idle();
  const all = countOf(shelf.db);
  expect(all).toBeGreaterThanOrEqual(250);

  const sizes = watchVectors(shelf);
  await shelf.call('documents.setEmbedding', { collectionId, modelId: second });
  await shelf.documents.idle();
  expect(countOf(shelf.db)).toBe(all);
  expect(Math.max(...sizes)).toBeLessThanOrEqual(100);
  expect(sizes.reduce((sum, size) => sum + size, 0)).toBe(all);

  sizes.length = 0;
  await shelf.call('documents.setEmbedding', { collectionId, modelId: null });
  expect(countOf(shelf.db)).toBeGreaterThan(0);
  await shelf.documents.idle();
  expect(countOf(shelf.db)).toBe(0);
  expect(Math.max(...sizes)).toBeLessThanOrEqual(100);
});

test('vectors that were given up go at the next start, where that was not done; one that is chosen again keeps the rest', async () => {
  const made = madeUp();
  const shelf = await openShelf({ meaning: made.meaning });
  await shelf.add({ 'long.md': sections.join('\n') });
  const { id: collectionId } = shelf.collection;
  await shelf.call('documents.setEmbedding', { collectionId, modelId: first });
  await shelf.documents.idle();
  await shelf.call('documents.setEmbedding', { collectionId, modelId: null });
  await shelf.close();

  const again = await openShelf({ dataFolder: shelf.dataFolder, meaning: made.meaning });
  const kept = () => again.db.get('SELECT embedder, serving FROM collections WHERE id = ?', collectionId);
  expect(kept()).toEqual({ embedder: 1, serving: null });
  await expect.poll(kept, { timeout: 10_000 }).toEqual({ embedder: null, serving: null });
  expect(countOf(again.db)).toBe(0);

  await again.call('documents.setEmbedding', { collectionId, modelId: first });
  await again.documents.idle();
  await again.call('documents.setEmbedding', { collectionId, modelId: null });
  await again.call('documents.setEmbedding', { collectionId, modelId: first });
  await again.documents.idle();
  expect((await embeddingOf(again))?.done).toBe(countOf(again.db));
  expect((await embeddingOf(again))?.done).toBeGreaterThanOrEqual(250);
});

test('what was not done goes on at the next start, and files that changed are another encoder', async () => {
  const made = madeUp();
  const shelf = await openShelf({ meaning: made.meaning });
  await shelf.add(notes);
  const { id: collectionId } = shelf.collection;
  made.stop(true);
  await shelf.call('documents.setEmbedding', { collectionId, modelId: first });
  await shelf.documents.idle();
  expect(await embeddingOf(shelf)).toMatchObject({ done: 0, total: 6 });
  expect((await shelf.call('documents.search', { query: 'star', collectionIds: [collectionId] })).by).toBe('words');
  await shelf.close();

  made.stop(false);
  const again = await openShelf({ dataFolder: shelf.dataFolder, meaning: made.meaning });
  await expect.poll(async () => (await embeddingOf(again))?.done, { timeout: 10_000 }).toBe(6);
  await again.documents.idle();
  await again.close();

  appendFileSync(made.paths.get('first') ?? '', ' with other weights');
  made.asked.length = 0;
  const changed = await openShelf({ dataFolder: shelf.dataFolder, meaning: made.meaning });
  await expect.poll(() => made.asked.length, { timeout: 10_000 }).toBeGreaterThan(0);
  await changed.documents.idle();
  expect(await embeddingOf(changed)).toMatchObject({ done: 6, total: 6 });
});

test('a model that is no encoder is refused with its reason, and nothing changes', async () => {
  const shelf = await openShelf({ meaning: madeUp().meaning });
  const wanted = shelf.call('documents.setEmbedding', {
    collectionId: shelf.collection.id,
    modelId: 'third' as ModelId,
  });
  await expect(wanted).rejects.toMatchObject({ code: 'model-missing' });
  expect(await embeddingOf(shelf)).toBeNull();
});

test('a cross-encoder that is installed orders what was found, by words or by meaning; one that fails changes nothing', async () => {
  const made = madeUp();
  const shelf = await openShelf({ meaning: made.meaning });
  await shelf.add(notes);
  const { id } = shelf.collection;
  const names = async (query: string) => {
    const { hits } = await shelf.call('documents.search', {
      query,
      collectionIds: [id],
      limit: 3,
    });
    return hits.map(({ excerpt }) => words.find((word) => excerpt.includes(word)));
  };
  const plain = await names('spoken of nothing');
  const last = words.find((word) => !plain.includes(word)) ?? '';
  made.rankBy(last);
  expect(await names('spoken of nothing')).toEqual([last, ...plain.slice(0, 2)]);

  await shelf.call('documents.setEmbedding', {
    collectionId: id,
    modelId: first,
  });
  await shelf.documents.idle();
  expect((await names('honey'))[0]).toBe(last);
  made.rankBy(null);
  expect((await names('honey'))[0]).toBe('honey');

  made.rankBy(last);
  made.stop(true);
  expect((await names('honey'))[0]).toBe('honey');
});

test('the reader of an encoder has the last word; without one, and when it fails, it goes on without', async () => {
  const made = madeUp();
  const shelf = await openShelf({ meaning: made.meaning });
  const { id } = shelf.collection;
  await shelf.call('documents.setEmbedding', { collectionId: id, modelId: first });
  await shelf.add(
    Object.fromEntries(words.map((word) => [`${word}.txt`, `The ${word} is told of here in a sentence.`])),
  );
  await shelf.documents.idle();
  const examine = async () => {
    const { read, candidates } = await shelf.documents.answering.score(`What is ${words[0]}?`, [id]);
    return { read, first: candidates[0]?.passage.text };
  };
  made.reader.word = words[0] ?? '';
  expect(await examine()).toEqual({ read: true, first: expect.stringContaining(words[0] ?? '') });

  // An engine that is down comes back.
  made.reader.fails = new LonghandError('engine-lost', '[test] the engine is down');
  expect(await examine()).toMatchObject({ read: false });
  made.reader.fails = null;
  expect(await examine()).toMatchObject({ read: true });

  // Made for another encoder: not asked again.
  made.reader.fails = new LonghandError('model-broken', '[adapter] it was made for a model with another checksum');
  expect(await examine()).toMatchObject({ read: false, first: expect.stringContaining(words[0] ?? '') });
  const { asked } = made.reader;
  expect(await examine()).toMatchObject({ read: false });
  expect(made.reader.asked).toBe(asked);
});
