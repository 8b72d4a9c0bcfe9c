import { type Collection, type CollectionId, FolderProblem, LonghandError } from '../../protocol/index.ts';
import type { Database } from '../database/database.ts';
import { storedInteger, storedJson } from '../database/stored.ts';
import { newId } from '../database/uuid.ts';

//  Collections of documents and their watched folders.

/** The embedding is not stored here: `embedding` is null. */
export function listCollections(db: Database): Collection[] {
  const rows = db.all<{ id: CollectionId; name: string; built_in: number; created_at: number }>(
    'SELECT id, name, built_in, created_at FROM collections WHERE deleted_at IS NULL ORDER BY built_in, created_at, id',
  );
  const counts = db.all<{ id: CollectionId; documents: number; passages: number }>(
    `SELECT collection_id AS id, COUNT(*) AS documents, SUM(passages) AS passages FROM documents
     WHERE deleted_at IS NULL GROUP BY collection_id`,
  );
  const folders = listWatched(db);
  return rows.map(({ id, name, built_in, created_at }) => {
    const count = counts.find((one) => one.id === id);
    return {
      id,
      name,
      builtIn: built_in === 1,
      createdAt: storedInteger(created_at),
      documents: count?.documents ?? 0,
      passages: storedInteger(count?.passages ?? 0),
      folders: folders.filter((one) => one.collectionId === id).map(({ path, problem }) => ({ path, problem })),
      embedding: null,
    };
  });
}

/** @throws LonghandError `not-found` */
export function getCollection(db: Database, id: CollectionId): Collection {
  const found = listCollections(db).find((one) => one.id === id);
  if (!found) throw new LonghandError('not-found', `[documents] no collection ${id}`);
  return found;
}

export function createCollection(db: Database, name: string, builtIn: boolean, now: number): Collection {
  const id = newId(now) as CollectionId;
  db.run(
    'INSERT INTO collections (id, name, built_in, created_at) VALUES (?, ?, ?, ?)',
    id,
    name,
    Number(builtIn),
    now,
  );
  return getCollection(db, id);
}

export const renameCollection = (db: Database, id: CollectionId, name: string) =>
  void db.run('UPDATE collections SET name = ? WHERE id = ?', name, id);

/** `at` null: restores. */
export const markCollectionDeleted = (db: Database, id: CollectionId, at: number | null) =>
  void db.run('UPDATE collections SET deleted_at = ? WHERE id = ?', at, id);

export type WatchedFolder = { collectionId: CollectionId; path: string; problem: FolderProblem | null };

export const listWatched = (db: Database): WatchedFolder[] =>
  db
    .all<Omit<WatchedFolder, 'problem'> & { problem: string | null }>(
      `SELECT collection_id AS collectionId, path, problem FROM watched_folders
       WHERE collection_id IN (SELECT id FROM collections WHERE deleted_at IS NULL) ORDER BY path`,
    )
    .map((folder) => ({ ...folder, problem: problemOf(folder.problem) }));

/** Earlier versions stored a sentence; the next scan determines the problem again. */
const problemOf = (stored: string | null): FolderProblem | null => storedJson(FolderProblem.nullable(), stored, null);

export const watchFolder = (db: Database, { collectionId, path, problem }: WatchedFolder) =>
  void db.run(
    `INSERT INTO watched_folders (collection_id, path, problem) VALUES (?, ?, ?)
     ON CONFLICT (collection_id, path) DO UPDATE SET problem = excluded.problem`,
    collectionId,
    path,
    problem && JSON.stringify(problem),
  );

export const unwatchFolder = (db: Database, collectionId: CollectionId, path: string) =>
  db.transaction(() => {
    db.run('DELETE FROM watched_folders WHERE collection_id = ? AND path = ?', collectionId, path);
    // Remaining documents are no longer watched.
    db.run(
      `UPDATE documents SET watched = 0 WHERE collection_id = ? AND substr(source_path, 1, ?) = ?`,
      collectionId,
      path.length + 1,
      `${path}/`,
    );
  });

/** Deletes empty collections that can no longer be restored. */
export const forgetCollections = (db: Database, before: number) =>
  void db.run(
    `DELETE FROM collections WHERE deleted_at < ? AND id NOT IN (SELECT collection_id FROM documents)`,
    before,
  );
