import { setImmediate as turn } from 'node:timers/promises';
import { z } from 'zod';
import type { Block, CollectionId, DocumentId, PassageId } from '../../protocol/index.ts';
import { LonghandError } from '../../protocol/index.ts';
import type { Database } from '../database/database.ts';
import { storedJson } from '../database/stored.ts';
import { newId } from '../database/uuid.ts';
import { codesOf, indexed } from './index-tokenizer.ts';

//  Passages and their full-text index.

export type NewPassage = {
  text: string;
  /** Number of characters at its beginning that repeat the previous passage or the header of its table. */
  overlap: number;
  headings: string[];
  /** app/documents/chunk/span-codec.ts */
  spans: Uint8Array;
};

export type StoredPassage = NewPassage & {
  /** Row id in the index. */
  number: number;
  id: PassageId;
  documentId: DocumentId;
  collectionId: CollectionId;
  /** Title of the document, and name of its file. */
  name: string;
  fileName: string;
  /** Modification time of the file. */
  changedAt: number;
  /** Position in the document, from 1. */
  position: number;
};

export type PassageRow = {
  number: number;
  id: PassageId;
  documentId: DocumentId;
  collectionId: CollectionId;
  name: string;
  fileName: string;
  changedAt: number;
  position: number;
  text: string;
  overlap: number;
  headings: string;
  spans: Uint8Array;
};

/** For queries over `passages p JOIN documents d ON d.number = p.document`. */
export const passageColumns = `p.number, p.id, d.id AS documentId, d.collection_id AS collectionId, d.name,
  d.file_name AS fileName, d.source_changed_at AS changedAt, p.position, p.text, p.overlap, p.headings, p.spans`;

const Headings = z.array(z.string());

export const passageOf = (row: PassageRow): StoredPassage => ({
  ...row,
  headings: storedJson(Headings, row.headings, []),
});

/** Appends and indexes content of a document. `position`: of the first passage. Not fsynced: a power failure only
 *  loses part of a document whose completion has not been recorded yet. */
export function addContent(
  db: Database,
  document: { number: number; name: string; code: boolean },
  content: {
    blocks: readonly Block[];
    passages: readonly NewPassage[];
    position: number;
  },
  now: number,
): void {
  db.passing(() => {
    for (const { number, kind, level, text, cells } of content.blocks) {
      db.run(
        'INSERT INTO blocks (document, number, kind, level, text, cells) VALUES (?, ?, ?, ?, ?, ?)',
        document.number,
        number,
        kind,
        level ?? null,
        text,
        cells ? JSON.stringify(cells) : null,
      );
    }
    for (const [at, passage] of content.passages.entries()) {
      addPassage(db, document, { ...passage, position: content.position + at }, now);
    }
  });
}

function addPassage(
  db: Database,
  document: { number: number; name: string; code: boolean },
  passage: NewPassage & { position: number },
  now: number,
) {
  const { position, text, overlap, headings, spans } = passage;
  const row = db.get<{ number: number }>(
    `INSERT INTO passages (id, document, position, text, overlap, headings, spans)
     VALUES (?, ?, ?, ?, ?, ?, ?) RETURNING number`,
    newId(now),
    document.number,
    position,
    text,
    overlap,
    JSON.stringify(headings),
    spans,
  );
  const number = row?.number ?? 0;
  db.run(
    'INSERT INTO passage_words (rowid, text, headings, name) VALUES (?, ?, ?, ?)',
    number,
    indexed(text),
    indexed(headings.join('\n')),
    indexed(document.name),
  );
  const codes = document.code ? text : codesOf(text).join(' ');
  if (codes !== '') db.run('INSERT INTO passage_codes (rowid, text) VALUES (?, ?)', number, indexed(codes));
}

/** Removes up to `limit` passages of a document, and its blocks along with the last ones. Returns whether any are left. */
export function removeContent(db: Database, document: number, limit = REMOVED_AT_ONCE): boolean {
  return db.passing(() => {
    const { changes } = db.run(
      'DELETE FROM passages WHERE number IN (SELECT number FROM passages WHERE document = ? LIMIT ?)',
      document,
      limit,
    );
    if (changes === limit) return true;
    return (
      db.run(
        'DELETE FROM blocks WHERE document = ? AND number IN (SELECT number FROM blocks WHERE document = ? LIMIT ?)',
        document,
        document,
        limit * 4,
      ).changes > 0
    );
  });
}

/** Passages removed per step, which takes a few milliseconds. */
const REMOVED_AT_ONCE = 50;

/** @throws LonghandError `not-found` */
export function getPassage(db: Database, id: PassageId): StoredPassage {
  const row = db.get<PassageRow>(
    `SELECT ${passageColumns} FROM passages p JOIN documents d ON d.number = p.document WHERE p.id = ?`,
    id,
  );
  if (!row) throw new LonghandError('not-found', `[documents] no passage ${id}`);
  return passageOf(row);
}

/** Passages of a document after a position, in order. */
const passagesAfter = (db: Database, document: number, position: number): StoredPassage[] =>
  db
    .all<PassageRow>(
      `SELECT ${passageColumns} FROM passages p JOIN documents d ON d.number = p.document
       WHERE p.document = ? AND p.position > ? ORDER BY p.position LIMIT ?`,
      document,
      position,
      READ_AT_ONCE,
    )
    .map(passageOf);

/** Passages fetched per query: a document may have a hundred thousand. */
const READ_AT_ONCE = 200;

/** By row id. */
export function passagesNumbered(db: Database, numbers: readonly number[]): Map<number, StoredPassage> {
  const rows = db.all<PassageRow>(
    `SELECT ${passageColumns} FROM passages p JOIN documents d ON d.number = p.document
     WHERE p.number IN (SELECT value FROM json_each(?))`,
    JSON.stringify(numbers),
  );
  return new Map(rows.map((row) => [row.number, passageOf(row)]));
}

export const countPassages = (db: Database): number =>
  db.get<{ count: number }>('SELECT COUNT(*) AS count FROM passages')?.count ?? 0;

/** Number of passages with an index term (a quoted word, a prefix with a star), counted up to `most`. */
export const passagesWith = (db: Database, term: string, most: number): number =>
  db.get<{ count: number }>(
    'SELECT COUNT(*) AS count FROM (SELECT rowid FROM passage_words WHERE passage_words MATCH ? LIMIT ?)',
    term,
    most,
  )?.count ?? 0;

/** All passages of collections, by document; null if they exceed `most` characters. */
export async function collectionPassages(
  db: Database,
  collectionIds: readonly CollectionId[],
  most: number,
): Promise<StoredPassage[] | null> {
  const passages: StoredPassage[] = [];
  let characters = 0;
  for (const { number } of db.all<{ number: number }>(
    `SELECT number FROM documents WHERE deleted_at IS NULL AND collection_id IN (SELECT value FROM json_each(?))
     ORDER BY number`,
    JSON.stringify(collectionIds),
  )) {
    for (let after = 0; ; await turn()) {
      const read = passagesAfter(db, number, after);
      passages.push(...read);
      characters += read.reduce((sum, { text }) => sum + text.length, 0);
      if (characters > most) return null;
      const last = read.at(-1);
      if (!last || read.length < READ_AT_ONCE) break;
      after = last.position;
    }
  }
  return passages;
}

/** Row ids of the first passages of documents, interleaved: all first ones, then all second ones. */
export const beginnings = (db: Database, collectionIds: readonly CollectionId[], limit: number): number[] =>
  db
    .all<{ number: number }>(
      `SELECT p.number FROM passages p JOIN documents d ON d.number = p.document
       WHERE d.deleted_at IS NULL AND d.collection_id IN (SELECT value FROM json_each(?)) AND p.position <= ?
       ORDER BY p.position, d.number LIMIT ?`,
      JSON.stringify(collectionIds),
      limit,
      limit,
    )
    .map(({ number }) => number);
