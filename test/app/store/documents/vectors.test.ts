import { expect, test } from 'vitest';
import type { CollectionId } from '../../../../app/protocol/index.ts';
import { newId } from '../../../../app/store/database/uuid.ts';
import {
  countVectors,
  dropOtherVectors,
  encoderOf,
  nearest,
  packVector,
  passagesWithout,
} from '../../../../app/store/documents/vectors.ts';
import { open } from '../support.ts';

const MANY = 60_000;
const DIMENSIONS = 32;

test('the next passages to read are found as quickly in a large collection, whatever else there is', async () => {
  const { db } = await open();
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
  const encoder = encoderOf(db, 'm' as never, 'sha').number;
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
    `INSERT INTO vectors (encoder, passage, document, vector)
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
    `SELECT passage FROM vectors WHERE encoder = ? AND document IN (SELECT number FROM documents WHERE collection_id = ?)
     ORDER BY vec_distance_L2(vec_int8(vector), vec_int8(?)) LIMIT 20`,
    encoder,
    mine,
    packVector(asked),
  );
  expect(found.map(({ passage }) => passage)).toEqual(all.map(({ passage }) => passage));
}, 60_000);
