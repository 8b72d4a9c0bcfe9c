import type { Database } from '../database/database.ts';

/** The vectors, packed as in embeddings.ts, of the file with this hash; undefined while there are none. */
export function findKnownQuestions(db: Database, embedder: number, sha256: string): Int8Array | undefined {
  const row = db.get<{ vectors: Uint8Array }>(
    'SELECT vectors FROM known_questions WHERE embedder = ? AND sha256 = ?',
    embedder,
    sha256,
  );
  return row && new Int8Array(row.vectors.buffer, row.vectors.byteOffset, row.vectors.length);
}

/** Replaces those of an older file and of other embedders. Not fsynced: they can be worked out again. */
export function saveKnownQuestions(
  db: Database,
  embedder: number,
  { sha256, vectors }: { sha256: string; vectors: Uint8Array },
): void {
  db.passing(() => {
    db.run('DELETE FROM known_questions');
    db.run('INSERT INTO known_questions (embedder, sha256, vectors) VALUES (?, ?, ?)', embedder, sha256, vectors);
  });
}
