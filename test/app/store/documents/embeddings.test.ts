import { statSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import type { CollectionId } from '../../../../app/protocol/index.ts';
import { listBackups } from '../../../../app/store/database/backups.ts';
import { logPages } from '../../../../app/store/database/checkpoints.ts';
import { newId } from '../../../../app/store/database/uuid.ts';
import {
  addVectors,
  countVectors,
  dropOtherVectors,
  embedderOf,
  nearest,
  packVector,
  passagesWithout,
} from '../../../../app/store/documents/embeddings.ts';
import { observe } from '../../../attack/observe.ts';
import { open } from '../support.ts';

const MANY = 60_000;
const DIMENSIONS = 32;

test('the next passages to read are found as quickly in a large collection, whatever else there is', async () => {
  const store = await open();
  const { db } = store;
  const made = (name: string, deletedAt: number | null): CollectionId => {
    const id = newId() as CollectionId;
    db.run('INSERT INTO collections (id, name, created_at) VALUES (?, ?, 0)', id, name);
    const { number } = db.get<{ number: number }>(
      `INSERT INTO documents (id, collection_id, name, file_name, kind, source_path, status, state, bytes, added_at, source_changed_at, deleted_at)
       VALUES (?, ?, 'a', 'a', 'text', '/a', 'ready', '{}', 1, 0, 0, ?) RETURNING number`,
      newId(),
      id,
      deletedAt,
    ) as { number: number };
    db.run(
      `INSERT INTO passages (id, document, position, text, overlap, headings, spans)
       SELECT ? || value, ?, value, printf('%.500c', 'x'), 0, '[]', x'' FROM counted`,
      id,
      number,
    );
    return id;
  };
  db.script(`CREATE TEMP TABLE counted AS
    WITH RECURSIVE count (value) AS (SELECT 1 UNION ALL SELECT value + 1 FROM count WHERE value < ${MANY}) SELECT value FROM count`);
  const gone = made('gone', 1);
  const mine = made('mine', null);
  const encoder = embedderOf(db, 'm' as never, 'sha').number;
  const longest = (step: () => number | null): { steps: number; ms: number; all: number } => {
    let [steps, ms] = [0, 0];
    const begun = process.threadCpuUsage();
    for (let going = true; going; steps++) {
      const before = process.threadCpuUsage();
      going = step() !== null && steps < 5000;
      const { user, system } = process.threadCpuUsage(before);
      ms = Math.max(ms, (user + system) / 1000);
    }
    const { user, system } = process.threadCpuUsage(begun);
    return { steps, ms, all: (user + system) / 1000 };
  };
  for (const collectionId of [gone, mine]) {
    let [after, found]: [number | null, number] = [0, 0];
    const read = longest(() => {
      const next = passagesWithout(db, collectionId, encoder, { after: after ?? 0, limit: 50 });
      after = next.after;
      found += next.passages.length;
      return after;
    });
    expect(found).toBe(collectionId === mine ? MANY : 0);
    expect(read.ms, 'of the thread in one step').toBeLessThan(40);
    let last: number | null = 0;
    const dropped = longest(() => {
      last = dropOtherVectors(db, collectionId, encoder, { after: last ?? 0, limit: 100 });
      return last;
    });
    expect(dropped.steps).toBeGreaterThan(MANY / 100);
    expect(dropped.ms, 'of the thread in one step').toBeLessThan(40);
    expect(read.all + dropped.all, 'of the thread altogether').toBeLessThan(2500);
  }

  db.run(
    `INSERT INTO embeddings (embedder, passage, document, vector)
     SELECT ?, number, document, randomblob(?) FROM passages WHERE number % 3 > 0`,
    encoder,
    DIMENSIONS,
  );
  let [from, counted]: [number | null, number] = [0, 0];
  const count = longest(() => {
    const next = countVectors(db, mine, encoder, from ?? 0);
    counted += next.count;
    from = next.after;
    return from;
  });
  expect(counted).toBe((MANY * 2) / 3);
  expect(count.steps).toBeGreaterThan(10);
  expect(count.ms, 'of the thread in one step').toBeLessThan(40);

  const asked = Float32Array.from({ length: DIMENSIONS }, (_, at) => Math.sin(at + 1) / 4);
  let turns = 0;
  let looking = true;
  const turn = () => {
    turns++;
    if (looking) setImmediate(turn);
  };
  turn();
  const found = await nearest(db, encoder, asked, { collectionIds: [mine], limit: 20 });
  looking = false;
  expect(turns, 'others had their turn while it was searched').toBeGreaterThan(3);
  const all = db.all<{ passage: number }>(
    `SELECT passage FROM embeddings WHERE embedder = ? AND document IN (SELECT number FROM documents WHERE collection_id = ?)
     ORDER BY vec_distance_L2(vec_int8(vector), vec_int8(?)) LIMIT 20`,
    encoder,
    mine,
    packVector(asked),
  );
  expect(found.map(({ passage }) => passage)).toEqual(all.map(({ passage }) => passage));

  // A backup is checked whole, and what was written goes from the log into the database: both beside the core.
  const log = `${db.path}-wal`;
  expect(statSync(log).size, 'of the log').toBeLessThan(1.5 * logPages * 4096);
  const observed = observe();
  await store.backUpDaily();
  expect(listBackups(store.folder)).toHaveLength(1);
  expect(observed().stall, 'of the thread while a backup is made').toBeLessThan(40);
  const before = statSync(db.path).size;
  for (let at = 0; at < 60; at++)
    db.transaction(() => db.run(`UPDATE passages SET text = text || 'y' WHERE number % 600 = ?`, at));
  await vi.waitFor(async () => {
    expect(await store.thread.checkpoint(db.path, true)).toEqual({ problem: null });
    expect(statSync(log).size).toBe(0);
  });
  expect(statSync(db.path).size).toBeGreaterThanOrEqual(before);
}, 60_000);

/** A vector of length 1, another for another seed. */
function unit(seed: number): Float32Array {
  const values = Array.from({ length: DIMENSIONS }, (_, at) => Math.sin(seed * (at + 1) ** 2));
  const length = Math.hypot(...values);
  return Float32Array.from(values, (value) => value / length);
}

/** Finds what is near `unit(9)` among passages with these vectors of their halves and statements, all with the same whole. */
async function nearestOf(passages: { halves: [number, number]; statements: number[] }[]) {
  const { db } = await open();
  db.run(`INSERT INTO collections (id, name, created_at) VALUES ('a', 'a', 0)`);
  db.run(`INSERT INTO documents (id, collection_id, name, file_name, kind, source_path, status, state, bytes, added_at, source_changed_at)
    VALUES ('a', 'a', 'a', 'a', 'text', '/a', 'ready', '{}', 1, 0, 0)`);
  const encoder = embedderOf(db, 'm' as never, 'sha').number;
  for (const [at, { halves, statements }] of passages.entries()) {
    db.run(
      `INSERT INTO passages (id, document, position, text, overlap, headings, spans)
      SELECT ?, number, ?, 'x', 0, '[]', x'' FROM documents`,
      at + 1,
      at + 1,
    );
    const vectors = {
      whole: unit(1),
      halves: [unit(halves[0]), unit(halves[1])] as const,
      statements: statements.map(unit),
    };
    addVectors(db, encoder, [{ passage: at + 1, document: 1, vectors }]);
  }
  return nearest(db, encoder, unit(9), { collectionIds: ['a' as CollectionId], limit: passages.length });
}

test('a passage is as near as its nearest half and statement, whichever they are', async () => {
  const found = await nearestOf([
    { halves: [9, 2], statements: [3, 4] },
    { halves: [2, 9], statements: [3, 4, 9] },
    { halves: [2, 3], statements: [4, 5] },
  ]);
  expect(found.map(({ passage: number }) => number)).toEqual([2, 1, 3]);
  expect(found[0]?.similarity).toBeCloseTo(1, 1);
});

test('a passage without a statement, as one that is a mere heading, is as near as its whole', async () => {
  const [found] = await nearestOf([{ halves: [2, 3], statements: [] }]);
  const cosine = unit(1).reduce((sum, value, at) => sum + value * (unit(9)[at] as number), 0);
  expect(found?.similarity).toBeCloseTo(cosine, 1);
});

test('the log is written into the database by the thread, and by the core when the thread does not come to it', async () => {
  const { db, thread, folder } = await open();
  const log = () => statSync(join(folder, 'longhand.db-wal')).size;
  const write = (rows: number, characters: number) =>
    db.passing(() => {
      for (let at = 0; at < rows; at++)
        db.run('INSERT INTO settings (key, value) VALUES (?, ?)', newId(), 'x'.repeat(characters));
    });
  for (let round = 0; round < 30; round++) {
    write(200, 10_000);
    // The thread does one thing after the other: when it has answered, what it was asked for before is done.
    expect(await thread.check(':memory:', 'quick_check')).toEqual({ problem: null });
  }
  expect(log(), 'of 60 MB that were written').toBeLessThan(30e6);
  thread.close();
  for (let round = 0; round < 50; round++) write(10, 200_000);
  expect(log(), 'of 100 MB that were written').toBeLessThan(1.1 * logPages * 4096);
}, 60_000);
