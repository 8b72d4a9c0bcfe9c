import type { CollectionId, DocumentId, ModelId } from '../../protocol/index.ts';
import type { Database, Value } from '../database/database.ts';
import { isStoredId } from '../database/stored.ts';

//  Vectors of passages as int8 (sqlite-vec), and the embedder of each collection.

/** Components of a unit vector are around 1/√n; five times that is practically never exceeded. */
const SPREAD = 5;
const scaleOf = (dimensions: number) => (127 * Math.sqrt(dimensions)) / SPREAD;

/** Quantises a unit vector to one byte per dimension. */
export function packVector(vector: Float32Array): Uint8Array {
  const scale = scaleOf(vector.length);
  const packed = Int8Array.from(vector, (value) => Math.max(-127, Math.min(127, Math.round(value * scale))));
  return new Uint8Array(packed.buffer);
}

/** Vectors of a passage, of its two halves (identical for a short one), and of its statements. */
export type PassageVectors = {
  whole: Float32Array;
  halves: readonly [Float32Array, Float32Array];
  statements: readonly Float32Array[];
};

/** Returns the number stored; a passage may have been removed in the meantime. Not fsynced, since lost vectors are
 *  recomputed. */
export function addVectors(
  db: Database,
  embedder: number,
  rows: readonly {
    passage: number;
    document: number;
    vectors: PassageVectors;
  }[],
): number {
  return db.passing(() => {
    let added = 0;
    for (const { passage, document, vectors } of rows) {
      const { changes } = db.run(
        `INSERT OR REPLACE INTO embeddings (embedder, passage, document, vector)
         SELECT ?, ?, ?, ? WHERE EXISTS (SELECT 1 FROM passages WHERE number = ?)`,
        embedder,
        passage,
        document,
        packVector(vectors.whole),
        passage,
      );
      if (changes === 0) continue;
      added++;
      const parts = [...vectors.halves, ...vectors.statements].map(packVector);
      db.run(
        'INSERT INTO embedding_parts (embedder, passage, parts) VALUES (?, ?, ?)',
        embedder,
        passage,
        Buffer.concat(parts),
      );
    }
    return added;
  });
}

export type Near = { passage: number; similarity: number };

type Wanted = { collectionIds: readonly CollectionId[]; documentId?: DocumentId | undefined; limit: number };

/** Nearest first. `similarity`: the mean of the cosines of the nearer half and of the nearest statement: a single statement of a passage
 *  may answer while the others are about something else. */
export async function nearest(db: Database, embedder: number, vector: Float32Array, wanted: Wanted): Promise<Near[]> {
  const rows = await nearestWholes(db, embedder, vector, wanted);
  const scale = scaleOf(vector.length);
  const parts = partsOf(
    db,
    embedder,
    rows.map(({ passage }) => passage),
  );
  return rows
    .map(({ passage, distance }) => {
      const cosines = cosinesOf(parts.get(passage), vector);
      const half = Math.max(...cosines.slice(0, HALVES));
      const statement = Math.max(...cosines.slice(HALVES));
      const whole = 1 - (distance / scale) ** 2 / 2;
      return { passage, similarity: cosines.length > HALVES ? (half + statement) / 2 : whole };
    })
    .sort((a, b) => b.similarity - a.similarity);
}

type Whole = { passage: number; distance: number };

/** Vectors compared per step, which takes about 15 ms. */
const COMPARED = 20_000;

/** Nearest by whole-passage vectors, in steps, so that other requests are not blocked. */
async function nearestWholes(db: Database, embedder: number, vector: Float32Array, wanted: Wanted): Promise<Whole[]> {
  const { collectionIds, documentId, limit } = wanted;
  const packed = packVector(vector);
  const values: Value[] = documentId ? [...collectionIds, documentId] : [...collectionIds];
  const last = db.get<{ passage: number | null }>(
    'SELECT MAX(passage) AS passage FROM embeddings WHERE embedder = ?',
    embedder,
  );
  let best: Whole[] = [];
  for (let after = 0; after < (last?.passage ?? 0); after += COMPARED) {
    if (after > 0) await new Promise((go) => setImmediate(go));
    const found = db.all<Whole>(
      `SELECT passage, vec_distance_L2(vec_int8(vector), vec_int8(?)) AS distance FROM embeddings
       WHERE embedder = ? AND passage > ? AND passage <= ? AND document IN (
         SELECT number FROM documents WHERE deleted_at IS NULL AND collection_id IN (${marks(collectionIds)})
         ${documentId ? 'AND id = ?' : ''}
       ) ORDER BY distance LIMIT ?`,
      packed,
      embedder,
      after,
      after + COMPARED,
      ...values,
      limit,
    );
    best = [...best, ...found].sort((a, b) => a.distance - b.distance).slice(0, limit);
  }
  return best;
}

const partsOf = (db: Database, embedder: number, passages: readonly number[]): Map<number, Int8Array> =>
  new Map(
    db
      .all<{ passage: number; parts: Uint8Array }>(
        `SELECT passage, parts FROM embedding_parts
         WHERE embedder = ? AND passage IN (SELECT value FROM json_each(?))`,
        embedder,
        JSON.stringify(passages),
      )
      .map(({ passage, parts }) => [passage, new Int8Array(parts.buffer, parts.byteOffset, parts.length)]),
  );

/** Number of vectors of halves, before those of statements. */
const HALVES = 2;

/** Cosine with each part; `parts`: [parts, dimensions]. */
export function cosinesOf(parts: Int8Array | undefined, vector: Float32Array): number[] {
  const scale = scaleOf(vector.length);
  return Array.from({ length: (parts?.length ?? 0) / vector.length }, (_, part) => {
    let sum = 0;
    for (let i = 0; i < vector.length; ++i) sum += (parts?.[part * vector.length + i] ?? 0) * (vector[i] ?? 0);
    return sum / scale;
  });
}

const marks = (list: readonly unknown[]) => list.map(() => '?').join(', ');

export type Reading = { passage: number; document: number; text: string };

/** Rows examined per step, of any collection. */
const LOOKED_AT = 2000;

/** Passages of a collection without a vector of this embedder, in a range of rows. `after`: the row to continue from; null if
 *  done. This join order reads rows sequentially; the other would sort the whole collection each time. */
export function passagesWithout(
  db: Database,
  collectionId: CollectionId,
  embedder: number,
  { after, limit }: { after: number; limit: number },
): { passages: Reading[]; after: number | null } {
  const until = after + LOOKED_AT;
  const passages = db.all<Reading>(
    `SELECT p.number AS passage, p.document, p.text FROM passages p CROSS JOIN documents d ON d.number = p.document
     WHERE p.number > ? AND p.number <= ? AND d.collection_id = ? AND d.deleted_at IS NULL
       AND NOT EXISTS (SELECT 1 FROM embeddings v WHERE v.embedder = ? AND v.passage = p.number)
     ORDER BY p.number LIMIT ?`,
    after,
    until,
    collectionId,
    embedder,
    limit,
  );
  if (passages.length === limit) return { passages, after: passages.at(-1)?.passage ?? null };
  const next = db.get<{ number: number | null }>('SELECT MIN(number) AS number FROM passages WHERE number > ?', until);
  return { passages, after: next?.number == null ? null : next.number - 1 };
}

/** Counts passages of a collection with a vector of this embedder, in a range of rows. `after`: the row to continue from; null
 *  if done. */
export function countVectors(
  db: Database,
  collectionId: CollectionId,
  embedder: number,
  after: number,
): { count: number; after: number | null } {
  const row = db.get<{ count: number; last: number | null; looked: number }>(
    `SELECT COUNT(*) AS looked, MAX(p.number) AS last, COALESCE(SUM(d.collection_id = ? AND d.deleted_at IS NULL
       AND EXISTS (SELECT 1 FROM embeddings v WHERE v.embedder = ? AND v.passage = p.number)), 0) AS count
     FROM (SELECT number, document FROM passages WHERE number > ? ORDER BY number LIMIT ?) p
     CROSS JOIN documents d ON d.number = p.document`,
    collectionId,
    embedder,
    after,
    LOOKED_AT,
  );
  return { count: row?.count ?? 0, after: row?.looked === LOOKED_AT ? row.last : null };
}

/** Removes vectors of other embedders from a collection, among `limit` passages after a row. Returns the last row
 *  examined; null if done. A collection may have hundreds of thousands: deleting them at once would block
 *  everything for seconds. */
export function dropOtherVectors(
  db: Database,
  collectionId: CollectionId,
  embedder: number | null,
  { after, limit }: { after: number; limit: number },
): number | null {
  const rows = db.all<{ number: number; collectionId: CollectionId }>(
    `SELECT p.number, d.collection_id AS collectionId FROM passages p CROSS JOIN documents d ON d.number = p.document
     WHERE p.number > ? ORDER BY p.number LIMIT ?`,
    after,
    limit,
  );
  const passages = rows.filter((row) => row.collectionId === collectionId).map(({ number }) => number);
  db.run(
    'DELETE FROM embeddings WHERE passage IN (SELECT value FROM json_each(?)) AND embedder IS NOT ?',
    JSON.stringify(passages),
    embedder,
  );
  return rows.at(-1)?.number ?? null;
}

export type Encoding = {
  collectionId: CollectionId;
  /** The chosen model. */
  modelId: ModelId;
  /** The embedder for its files; null until they are hashed. */
  embedder: number | null;
  /** The embedder with complete vectors. */
  serving: number | null;
};

/** Collections whose embedder was removed but whose vectors still exist. */
export const listLeftovers = (db: Database): CollectionId[] =>
  db
    .all<{ id: CollectionId }>('SELECT id FROM collections WHERE model_id IS NULL AND embedder IS NOT NULL')
    .map(({ id }) => id);

export const forgetLeftovers = (db: Database, collectionId: CollectionId) =>
  void db.run('UPDATE collections SET embedder = NULL WHERE id = ? AND model_id IS NULL', collectionId);

/** Collections with an embedder. */
export const listEncodings = (db: Database): Encoding[] =>
  db
    .all<Encoding>(
      `SELECT id AS collectionId, model_id AS modelId, embedder, serving FROM collections
       WHERE model_id IS NOT NULL AND deleted_at IS NULL ORDER BY created_at, id`,
    )
    .filter(({ modelId }) => isStoredId(modelId));

/** Collections without an embedder and without a choice. */
export const listWithoutChoice = (db: Database): CollectionId[] =>
  db
    .all<{ id: CollectionId }>(
      'SELECT id FROM collections WHERE embedder_chosen = 0 AND model_id IS NULL AND deleted_at IS NULL',
    )
    .map(({ id }) => id);

/** The last chosen embedder; null: keywords only; undefined: no choice yet. */
export const lastChoice = (db: Database): ModelId | null | undefined =>
  db.get<{ modelId: ModelId | null }>(
    `SELECT model_id AS modelId FROM collections WHERE embedder_chosen = 1 AND built_in = 0 AND deleted_at IS NULL
     ORDER BY created_at DESC, id DESC LIMIT 1`,
  )?.modelId;

export const markChosen = (db: Database, collectionId: CollectionId) =>
  void db.run('UPDATE collections SET embedder_chosen = 1 WHERE id = ?', collectionId);

/** Without a model, the embedder's number stays until its vectors are deleted. */
export const setModel = (db: Database, collectionId: CollectionId, modelId: ModelId | null) =>
  void db.run(
    `UPDATE collections SET model_id = ?1, serving = CASE WHEN ?1 IS NULL THEN NULL ELSE serving END,
       embedder = CASE WHEN ?1 IS NULL THEN coalesce(serving, embedder) WHEN model_id IS NULL THEN embedder END
     WHERE id = ?2`,
    modelId,
    collectionId,
  );

export const setEmbedder = (db: Database, collectionId: CollectionId, embedder: number) =>
  void db.run('UPDATE collections SET embedder = ? WHERE id = ?', embedder, collectionId);

export const setServing = (db: Database, collectionId: CollectionId, embedder: number) =>
  void db.run('UPDATE collections SET serving = ? WHERE id = ?', embedder, collectionId);

export type EncoderRow = { number: number; modelId: ModelId; sha256: string };

export function embedderOf(db: Database, modelId: ModelId, sha256: string): EncoderRow {
  db.run('INSERT OR IGNORE INTO embedders (model_id, sha256) VALUES (?, ?)', modelId, sha256);
  return db.get<EncoderRow>(
    'SELECT number, model_id AS modelId, sha256 FROM embedders WHERE model_id = ? AND sha256 = ?',
    modelId,
    sha256,
  ) as EncoderRow;
}

export const findEmbedder = (db: Database, number: number): EncoderRow | undefined =>
  db.get('SELECT number, model_id AS modelId, sha256 FROM embedders WHERE number = ?', number);
