import { z } from 'zod';
import type { Database } from '../database/database.ts';
import { storedJson } from '../database/stored.ts';

export const WantedFile = z.object({
  name: z.string(),
  size: z.number(),
  sha256: z.string().nullable(),
  etag: z.string().nullable(),
});
export type WantedFile = z.infer<typeof WantedFile>;

const Files = z.array(WantedFile).min(1).nullable();

/** A requested repository, pinned to a commit, with the files of the model. */
export type DownloadRow = {
  id: string;
  name: string;
  source: string;
  repository: string;
  commit: string;
  files: WantedFile[];
  paused: boolean;
};

type Stored = Omit<DownloadRow, 'files' | 'paused'> & { files: string; paused: number };

const select = 'SELECT id, name, source, repository, commit_hash AS "commit", files, paused FROM downloads';

/** In download order. One whose files cannot be read is left out: nobody knows what to go on with. */
export const listDownloads = (db: Database): DownloadRow[] =>
  db.all<Stored>(`${select} ORDER BY position`).flatMap((row) => {
    const files = storedJson(Files, row.files, null);
    return files ? [{ ...row, files, paused: row.paused === 1 }] : [];
  });

export const addDownload = (db: Database, row: DownloadRow, now: number) =>
  db.run(
    `INSERT INTO downloads (id, name, source, repository, commit_hash, files, paused, position, added_at)
     VALUES (?, ?, ?, ?, ?, ?, ?, (SELECT coalesce(max(position), 0) + 1 FROM downloads), ?)`,
    row.id,
    row.name,
    row.source,
    row.repository,
    row.commit,
    JSON.stringify(row.files),
    row.paused ? 1 : 0,
    now,
  );

export const setDownloadPaused = (db: Database, id: string, paused: boolean) =>
  db.run('UPDATE downloads SET paused = ? WHERE id = ?', paused ? 1 : 0, id);

export const setDownloadFiles = (db: Database, id: string, files: readonly WantedFile[]) =>
  db.run('UPDATE downloads SET files = ? WHERE id = ?', JSON.stringify(files), id);

/** Switches an item to another version of its repository. */
export const renewDownload = (db: Database, id: string, commit: string, files: readonly WantedFile[]) =>
  db.run('UPDATE downloads SET commit_hash = ?, files = ?, paused = 0 WHERE id = ?', commit, JSON.stringify(files), id);

export const removeDownload = (db: Database, id: string) => db.run('DELETE FROM downloads WHERE id = ?', id);

export const orderDownloads = (db: Database, ids: readonly string[]) =>
  db.transaction(() => {
    for (const [position, id] of ids.entries()) db.run('UPDATE downloads SET position = ? WHERE id = ?', position, id);
  });

/** Library files by content hash. */
export const hasBlob = (db: Database, sha256: string, size: number): boolean =>
  db.get('SELECT 1 FROM blobs WHERE sha256 = ? AND size = ?', sha256, size) !== undefined;

export const addBlob = (db: Database, sha256: string, size: number) =>
  db.run('INSERT OR REPLACE INTO blobs (sha256, size) VALUES (?, ?)', sha256, size);

export const removeBlob = (db: Database, sha256: string) => db.run('DELETE FROM blobs WHERE sha256 = ?', sha256);

/** Block hashes of a complete file. They outlive a damaged file, to tell which of its blocks are intact. */
export const blocksOfBlob = (db: Database, sha256: string): Uint8Array | null =>
  db.get<{ hashes: Uint8Array }>('SELECT hashes FROM blob_blocks WHERE sha256 = ?', sha256)?.hashes ?? null;

export const setBlocksOfBlob = (db: Database, sha256: string, hashes: Uint8Array) =>
  db.run('INSERT OR REPLACE INTO blob_blocks (sha256, hashes) VALUES (?, ?)', sha256, hashes);

export const forgetBlocksOfBlob = (db: Database, sha256: string) =>
  db.run('DELETE FROM blob_blocks WHERE sha256 = ?', sha256);
