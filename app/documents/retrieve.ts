import type { CollectionId, DocumentId, PassageHit } from '../protocol/index.ts';
import type { Database, Value } from '../store/database.ts';
import { fold } from '../store/fold.ts';
import { type PassageRow, passageColumns, passageOf, type StoredPassage } from '../store/passages.ts';
import { codesOf, indexed, wordsOf } from '../store/words.ts';

//  Which passages a question is answered by.

export type Wanted = {
  query: string;
  /** null: everywhere. */
  collectionIds: readonly CollectionId[] | null;
  documentId?: DocumentId | undefined;
  limit: number;
};

export type Found = { passage: StoredPassage; score: number };
/** Places by words and by meaning, from 1; null where it is in one of the two lists only. */
export type Ranks = { words: number | null; meaning: number | null };

/** Words that most sentences have: they find everything and tell nothing. */
const COMMON = new Set(
  `a about am an and any are as at be been being but by can could did do does for from had has have he her his how i if in
  into is it its me my of on or our she should so than that the their them then there these they this to was we were what
  when where which who whom whose why will with would you your der die das und ist ein eine im mit von zu le la les des et
  est un une du que el los las y es en`.split(/\s+/),
);

/** By words: bm25 over text, headings and names; parts of names and numbers besides. Best first. */
export function searchPassages(db: Database, wanted: Wanted): Found[] {
  const words = [...new Set(wordsOf(wanted.query))];
  const telling = words.filter((word) => !COMMON.has(word));
  const terms = telling.length > 0 ? telling : words;
  const byWords = terms.length > 0 ? match(db, 'passage_words', terms, wanted) : [];
  const codes = codesOf(wanted.query).map(indexed);
  const byCodes = codes.length > 0 ? match(db, 'passage_codes', codes, wanted) : [];
  return fuse([byWords, byCodes]).slice(0, wanted.limit);
}

function match(
  db: Database,
  table: 'passage_words' | 'passage_codes',
  terms: readonly string[],
  wanted: Wanted,
): Found[] {
  const { collectionIds, documentId, limit } = wanted;
  const values: Value[] = [terms.map((term) => `"${term.replaceAll('"', '""')}"`).join(' OR ')];
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
  const rows = db.all<PassageRow & { score: number }>(
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
  return rows.map(({ score, ...row }) => ({ passage: passageOf(row), score }));
}

/** Reciprocal rank fusion (Cormack et al. 2009, k = 60). One list alone keeps its own scores. */
export function fuse(lists: readonly Found[][]): Found[] {
  const filled = lists.filter((list) => list.length > 0);
  if (filled.length < 2) return filled[0] ?? [];
  const scores = new Map<string, Found>();
  for (const list of filled) {
    for (const [rank, { passage }] of list.entries()) {
      const known = scores.get(passage.id)?.score ?? 0;
      scores.set(passage.id, { passage, score: known + 1 / (61 + rank) });
    }
  }
  return [...scores.values()].sort((a, b) => b.score - a.score);
}

const EXCERPT = 220;
const BEFORE = 50;

/** What is shown of a passage, around the first words that were looked for. */
export function hitOf({ passage, score }: Found, query: string): PassageHit {
  const words = wordsOf(query).filter((word) => !COMMON.has(word));
  const folded = fold(passage.text);
  const first = words.map((word) => folded.indexOf(word)).filter((at) => at >= 0);
  const from = first.length > 0 ? Math.max(0, Math.min(...first) - BEFORE) : 0;
  const start = from === 0 ? 0 : from + Math.max(0, passage.text.slice(from, from + BEFORE).search(/\s/)) + 1;
  const end = Math.min(passage.text.length, start + EXCERPT);
  const excerpt =
    (start > 0 ? '… ' : '') +
    passage.text.slice(start, end).replace(/\s/g, ' ') +
    (end < passage.text.length ? ' …' : '');
  return {
    passageId: passage.id,
    documentId: passage.documentId,
    label: passage.label,
    excerpt,
    highlights: placesOf(excerpt, words),
    score,
  };
}

/** Every place of every word, in order; those that touch are joined. */
function placesOf(text: string, words: readonly string[]): [number, number][] {
  const folded = fold(text);
  const found: [number, number][] = [];
  for (const word of new Set(words)) {
    for (let at = folded.indexOf(word); at >= 0; at = folded.indexOf(word, at + word.length)) {
      found.push([at, at + word.length]);
    }
  }
  found.sort((a, b) => a[0] - b[0]);
  const joined: [number, number][] = [];
  for (const [start, end] of found) {
    const last = joined.at(-1);
    if (last && start <= last[1]) last[1] = Math.max(last[1], end);
    else joined.push([start, end]);
  }
  return joined;
}
