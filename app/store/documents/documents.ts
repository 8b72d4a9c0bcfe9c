import { z } from 'zod';
import type { Block, CollectionId, Document, DocumentId } from '../../protocol/index.ts';
import { DocumentKind, DocumentNotice, DocumentState, LonghandError } from '../../protocol/index.ts';
import type { Database, Value } from '../database/database.ts';
import { isStoredId, storedInteger, storedJson, storedWord } from '../database/stored.ts';
import { newId } from '../database/uuid.ts';

//  Documents. Their collections: collections.ts; passages and their index: passages.ts beside this.

/** A document with fields internal to the core. */
export type StoredDocument = {
  /** Row id, which passages refer to. */
  number: number;
  sourcePath: string;
  sourceChangedAt: number;
  watched: boolean;
  sha256: string | null;
  /** Name of the stored copy in documents/. */
  storedName: string | null;
  ocr: boolean;
  /** Number of parsing attempts that did not finish. */
  attempts: number;
  document: Document;
};

type DocumentRow = {
  number: number;
  id: DocumentId;
  collection_id: CollectionId;
  name: string;
  file_name: string;
  kind: Document['kind'];
  bytes: number;
  added_at: number;
  pages: number | null;
  source_path: string;
  source_changed_at: number;
  watched: number;
  sha256: string | null;
  stored_name: string | null;
  ocr: number;
  attempts: number;
  state: string;
  notices: string;
  passages: number;
};

const columns = `number, id, collection_id, name, file_name, kind, bytes, added_at, pages, source_path, source_changed_at,
  watched, sha256, stored_name, ocr, attempts, state, notices, passages`;

/** Of a document whose state cannot be read: it can be read anew from its copy. */
const UNKNOWN: DocumentState = {
  status: 'failed',
  failure: { code: 'unreadable', message: '[documents] the stored state of this document is damaged' },
  remedy: 'retry',
};
const Notices = z.array(z.union([z.string(), DocumentNotice]));
const Cells = z.array(z.string());

const storedOf = (row: DocumentRow): StoredDocument => ({
  number: row.number,
  sourcePath: row.source_path,
  sourceChangedAt: row.source_changed_at,
  watched: row.watched === 1,
  sha256: row.sha256,
  storedName: row.stored_name,
  ocr: row.ocr === 1,
  attempts: row.attempts,
  document: {
    id: row.id,
    collectionId: row.collection_id,
    name: row.name,
    fileName: row.file_name,
    kind: storedWord(DocumentKind.options, row.kind, 'text'),
    bytes: row.bytes,
    addedAt: storedInteger(row.added_at),
    pages: row.pages === null ? null : storedInteger(row.pages),
    passages: storedInteger(row.passages),
    state: storedJson(DocumentState, row.state, UNKNOWN),
    watchedPath: row.watched === 1 ? row.source_path : null,
    notices: noticesOf(row.notices),
  },
});

/** Earlier versions stored sentences. */
const noticesOf = (stored: string): DocumentNotice[] =>
  storedJson(Notices, stored, []).map((notice) =>
    typeof notice === 'string' ? { code: 'told', details: { text: notice } } : notice,
  );

/** In the order they were added: up to `limit` after a row. `collectionId` null: all. */
export function listDocuments(
  db: Database,
  collectionId: CollectionId | null,
  { after, limit }: { after: number; limit: number } = { after: 0, limit: -1 },
): StoredDocument[] {
  const rows = db.all<DocumentRow>(
    `SELECT ${columns} FROM documents WHERE number > ? AND deleted_at IS NULL AND (? IS NULL OR collection_id = ?)
     AND collection_id IN (SELECT id FROM collections WHERE deleted_at IS NULL) ORDER BY number LIMIT ?`,
    after,
    collectionId,
    collectionId,
    limit,
  );
  return rows.filter(({ id }) => isStoredId(id)).map(storedOf);
}

export function findDocument(db: Database, id: DocumentId): StoredDocument | undefined {
  const row = db.get<DocumentRow>(`SELECT ${columns} FROM documents WHERE id = ? AND deleted_at IS NULL`, id);
  return row && storedOf(row);
}

/** @throws LonghandError `not-found` */
export function getDocument(db: Database, id: DocumentId): StoredDocument {
  const found = findDocument(db, id);
  if (!found) throw new LonghandError('not-found', `[documents] no document ${id}`);
  return found;
}

/** The oldest queued document. `last`: documents to be parsed only if no others are queued. Two queries, since sorting all queued
 *  rows would get slower the more there are. */
export function nextQueued(db: Database, last: Iterable<DocumentId> = []): StoredDocument | undefined {
  const ids = JSON.stringify([...last]);
  const first = (among: 'IN' | 'NOT IN') =>
    db.get<DocumentRow>(
      `SELECT ${columns} FROM documents WHERE status IN ('queued', 'reading') AND status = 'queued' AND deleted_at IS NULL
       AND collection_id IN (SELECT id FROM collections WHERE deleted_at IS NULL)
       AND id ${among} (SELECT value FROM json_each(?)) ORDER BY number LIMIT 1`,
      ids,
    );
  const row = first('NOT IN') ?? first('IN');
  return row && storedOf(row);
}

export const findBySource = (db: Database, collectionId: CollectionId, path: string): StoredDocument | undefined =>
  findWhere(db, 'collection_id = ? AND source_path = ? AND deleted_at IS NULL', collectionId, path);

export const findByContent = (db: Database, collectionId: CollectionId, sha256: string): StoredDocument | undefined =>
  findWhere(db, 'collection_id = ? AND sha256 = ? AND deleted_at IS NULL', collectionId, sha256);

function findWhere(db: Database, where: string, ...values: Value[]): StoredDocument | undefined {
  const row = db.get<DocumentRow>(`SELECT ${columns} FROM documents WHERE ${where} ORDER BY number LIMIT 1`, ...values);
  return row && storedOf(row);
}

export type NewDocument = Pick<Document, 'collectionId' | 'fileName' | 'kind' | 'bytes'> &
  Pick<StoredDocument, 'sourcePath' | 'sourceChangedAt' | 'watched'>;

export function addDocument(db: Database, added: NewDocument, now: number): StoredDocument {
  const id = newId(now) as DocumentId;
  const state: DocumentState = { status: 'queued' };
  db.run(
    `INSERT INTO documents (id, collection_id, name, file_name, kind, bytes, added_at, source_path, source_changed_at,
     watched, status, state) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    id,
    added.collectionId,
    added.fileName,
    added.fileName,
    added.kind,
    added.bytes,
    now,
    added.sourcePath,
    added.sourceChangedAt,
    Number(added.watched),
    state.status,
    JSON.stringify(state),
  );
  return getDocument(db, id);
}

const fields = {
  name: ['name', (value: string): Value => value],
  fileName: ['file_name', (value: string): Value => value],
  kind: ['kind', (value: string): Value => value],
  bytes: ['bytes', (value: number): Value => value],
  pages: ['pages', (value: number | null): Value => value],
  sourcePath: ['source_path', (value: string): Value => value],
  sourceChangedAt: ['source_changed_at', (value: number): Value => value],
  watched: ['watched', (value: boolean): Value => Number(value)],
  sha256: ['sha256', (value: string | null): Value => value],
  storedName: ['stored_name', (value: string | null): Value => value],
  ocr: ['ocr', (value: boolean): Value => Number(value)],
  attempts: ['attempts', (value: number): Value => value],
  state: ['state', (value: DocumentState): Value => JSON.stringify(value)],
  notices: ['notices', (value: DocumentNotice[]): Value => JSON.stringify(value)],
  passages: ['passages', (value: number): Value => value],
} as const;

type Fields = Pick<Document, 'name' | 'fileName' | 'kind' | 'bytes' | 'pages' | 'state' | 'notices' | 'passages'> &
  Pick<StoredDocument, 'sourcePath' | 'sourceChangedAt' | 'watched' | 'sha256' | 'storedName' | 'ocr' | 'attempts'>;

/** @throws LonghandError `not-found` */
export function updateDocument(db: Database, id: DocumentId, patch: Partial<Fields>): StoredDocument {
  const names: string[] = [];
  const values: Value[] = [];
  for (const [key, [column, encode]] of Object.entries(fields)) {
    const value = patch[key as keyof Fields];
    if (value === undefined) continue;
    names.push(`${column} = ?`);
    values.push((encode as (value: unknown) => Value)(value));
  }
  if (patch.state) {
    names.push('status = ?');
    values.push(patch.state.status);
  }
  if (names.length > 0) db.run(`UPDATE documents SET ${names.join(', ')} WHERE id = ?`, ...values, id);
  return getDocument(db, id);
}

/** Documents with a title other than the file name. */
export const titledDocuments = (db: Database): Pick<Document, 'id' | 'name' | 'fileName'>[] =>
  db.all('SELECT id, name, file_name AS fileName FROM documents WHERE name <> file_name AND deleted_at IS NULL');

/** Queues documents again that were being parsed when the app ended or their collection was removed. */
export function requeueUnsettled(db: Database, collectionId: CollectionId | null = null): void {
  db.run(
    `UPDATE documents SET status = 'queued', state = '{"status":"queued"}'
     WHERE status = 'reading' AND (? IS NULL OR collection_id = ?)`,
    collectionId,
    collectionId,
  );
}

/** Does not count an attempt that was ended by us or by the database. */
export const forgiveAttempt = (db: Database, number: number) =>
  void db.run('UPDATE documents SET attempts = MAX(0, attempts - 1) WHERE number = ?', number);

export const forgiveAttempts = (db: Database) =>
  void db.run(`UPDATE documents SET attempts = MAX(0, attempts - 1) WHERE status = 'reading'`);

export function deleteDocument(db: Database, id: DocumentId, now: number): void {
  db.run('UPDATE documents SET deleted_at = ? WHERE id = ?', now, id);
}

/** Undoes a removal. @throws LonghandError `not-found`, `conflict` (the same file was added again in the meantime) */
export function restoreDocument(db: Database, id: DocumentId): StoredDocument {
  const row = db.get<DocumentRow>(`SELECT ${columns} FROM documents WHERE id = ? AND stored_name IS NOT NULL`, id);
  if (!row) throw new LonghandError('not-found', `[documents] no document ${id}`);
  const same = row.sha256 === null ? undefined : findByContent(db, row.collection_id, row.sha256);
  if (same && same.document.id !== id) {
    throw new LonghandError('conflict', `[documents] ${row.file_name} is already back in the collection`);
  }
  db.run('UPDATE documents SET deleted_at = NULL WHERE id = ?', id);
  return getDocument(db, id);
}

/** Documents deleted before `before`, or whose collection was. `stays`: removed by hand from a watched folder;
 *  the row is kept, or the next scan would add the file again. */
export const deletedDocuments = (db: Database, before: number): { number: number; stays: boolean }[] =>
  db
    .all<{ number: number; stays: number }>(
      `SELECT number, watched = 1 AND collection_id IN (SELECT id FROM collections WHERE deleted_at IS NULL) AS stays
       FROM documents WHERE (deleted_at < ? AND (stored_name IS NOT NULL OR watched = 0))
       OR collection_id IN (SELECT id FROM collections WHERE deleted_at < ?)`,
      before,
      before,
    )
    .map(({ number, stays }) => ({ number, stays: stays === 1 }));

/** Drops the reference to its copy. */
export const dropCopy = (db: Database, number: number) =>
  db.transaction(() => {
    db.run('UPDATE documents SET stored_name = NULL, sha256 = NULL WHERE number = ?', number);
    db.run(`INSERT INTO purged (place, id) SELECT 'documents', id FROM documents WHERE number = ?`, number);
  });

/** Documents of a collection in watched folders, including those removed by hand: up to `limit` after a
 *  row. */
export function listFollowed(
  db: Database,
  collectionId: CollectionId,
  { after, limit }: { after: number; limit: number },
): (StoredDocument & { removed: boolean })[] {
  const rows = db.all<DocumentRow & { deleted_at: number | null }>(
    `SELECT ${columns}, deleted_at FROM documents WHERE number > ? AND collection_id = ? AND watched = 1
     ORDER BY number LIMIT ?`,
    after,
    collectionId,
    limit,
  );
  return rows.map((row) => ({ ...storedOf(row), removed: row.deleted_at !== null }));
}

export const keptNames = (db: Database): Set<string> =>
  new Set(
    db
      .all<{ name: string }>('SELECT stored_name AS name FROM documents WHERE stored_name IS NOT NULL')
      .map(({ name }) => name),
  );

export const forgetDocument = (db: Database, number: number) =>
  void db.run('DELETE FROM documents WHERE number = ?', number);

export function contentOf(db: Database, number: number, from: number, limit: number) {
  const rows = db.all<{
    number: number;
    kind: Block['kind'];
    level: number | null;
    text: string;
    cells: string | null;
  }>(
    'SELECT number, kind, level, text, cells FROM blocks WHERE document = ? AND number >= ? ORDER BY number LIMIT ?',
    number,
    from,
    limit,
  );
  const total = db.get<{ last: number | null }>('SELECT MAX(number) AS last FROM blocks WHERE document = ?', number);
  const blocks = rows.map(
    ({ number, kind, level, text, cells }): Block => ({
      number,
      kind,
      ...(level !== null && { level }),
      text,
      ...(cells !== null && { cells: storedJson(Cells, cells, []) }),
    }),
  );
  return { total: total?.last ?? 0, blocks };
}
