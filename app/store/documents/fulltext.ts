import type { CollectionId, DocumentId } from '../../protocol/index.ts';
import type { Database, Value } from '../database/database.ts';
import { isStoredId } from '../database/stored.ts';
import { type PassageRow, passageColumns, passageOf, type StoredPassage } from './chunks.ts';

/** Passages with any of these index terms (a quoted word, a prefix with a star), by BM25, best first.
 *  `collectionIds` null: everywhere. Runs on the database thread: a common word occurs in a hundred thousand passages that are all ranked, 200 to 400 ms
 *  for 180,000. */
export async function matchPassages(
  db: Database,
  table: 'passage_words' | 'passage_codes',
  terms: readonly string[],
  wanted: { collectionIds: readonly CollectionId[] | null; documentId?: DocumentId | undefined; limit: number },
): Promise<{ passage: StoredPassage; score: number }[]> {
  const { collectionIds, documentId, limit } = wanted;
  const values: Value[] = [terms.join(' OR ')];
  let where = '';
  if (collectionIds) {
    where += ` AND d.collection_id IN (${collectionIds.map(() => '?').join(', ')})`;
    values.push(...collectionIds);
  }
  if (documentId) {
    where += ' AND d.id = ?';
    values.push(documentId);
  }
  const weights = table === 'passage_words' ? ', 1.0, 1.5, 0.5' : '';
  const rows = await db.allOnThread<PassageRow & { score: number }>(
    `SELECT ${passageColumns}, -s.score AS score FROM (
       SELECT f.rowid AS number, bm25(${table}${weights}) AS score FROM ${table} f
       JOIN passages p ON p.number = f.rowid JOIN documents d ON d.number = p.document
       WHERE ${table} MATCH ? AND d.deleted_at IS NULL
         AND d.collection_id IN (SELECT id FROM collections WHERE deleted_at IS NULL) ${where}
       ORDER BY score LIMIT ?
     ) s JOIN passages p ON p.number = s.number JOIN documents d ON d.number = p.document ORDER BY s.score`,
    ...values,
    limit,
  );
  return rows
    .filter(({ id, documentId }) => isStoredId(id) && isStoredId(documentId))
    .map(({ score, ...row }) => ({ passage: passageOf(row), score }));
}
