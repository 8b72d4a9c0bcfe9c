import type { Database } from '../database/database.ts';

//  Journal of downloads: the version of each file on the server, and the blocks on disk.

export type JournalFile = { key: string; size: number; etag: string | null; sha256: string | null };
export type JournalBlock = { block: number; sha256: string };

export const findFile = (db: Database, key: string, blockSize: number): Omit<JournalFile, 'key'> | undefined =>
  db.get('SELECT size, etag, sha256 FROM download_files WHERE key = ? AND block = ?', key, blockSize);

export const addFile = (db: Database, { key, size, etag, sha256 }: JournalFile, blockSize: number) =>
  db.run(
    'INSERT INTO download_files (key, size, block, etag, sha256) VALUES (?, ?, ?, ?, ?)',
    key,
    size,
    blockSize,
    etag,
    sha256,
  );

export const setEtag = (db: Database, key: string, etag: string) =>
  db.run('UPDATE download_files SET etag = ? WHERE key = ?', etag, key);

export const removeFile = (db: Database, key: string) =>
  db.transaction(() => {
    db.run('DELETE FROM download_blocks WHERE file = ?', key);
    db.run('DELETE FROM download_files WHERE key = ?', key);
  });

export const listBlocks = (db: Database, key: string): JournalBlock[] =>
  db.all('SELECT block, sha256 FROM download_blocks WHERE file = ?', key);

/** Not fsynced: a lost entry only causes a block to be downloaded again, and entries are added only for synced blocks. */
export const addBlocks = (db: Database, key: string, blocks: readonly JournalBlock[]) =>
  db.passing(() => {
    for (const { block, sha256 } of blocks) {
      db.run('INSERT OR REPLACE INTO download_blocks (file, block, sha256) VALUES (?, ?, ?)', key, block, sha256);
    }
  });

export const removeBlocks = (db: Database, key: string, blocks: readonly number[]) =>
  db.transaction(() => {
    for (const block of blocks) db.run('DELETE FROM download_blocks WHERE file = ? AND block = ?', key, block);
  });
