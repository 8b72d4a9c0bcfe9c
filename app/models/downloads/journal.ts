import type { Database } from '../../store/database.ts';
import { BLOCK, BlockMap } from '../storage/block-map.ts';
import type { RemoteFile } from './download-state.ts';

/** What is known of files that were begun: blocks that are on disk with their hashes, and what the server said they are
 *  part of. Everything else can be found out again. */
export type Journal = {
  open(file: RemoteFile): FileJournal;
  /** Forgets a file: finished, or cancelled. */
  forget(key: string): void;
};

export type FileJournal = {
  readonly etag: string | null;
  readonly map: BlockMap;
  pin(etag: string): void;
  hashOf(block: number): string | null;
  /** All of them, 32 bytes a block, in the order of the blocks. The file has to be complete. */
  hashes(): Uint8Array;
  /** Blocks that were written and synced. One transaction. */
  commit(blocks: readonly { block: number; sha256: string }[]): void;
  drop(blocks: readonly number[]): void;
  /** The remote file is another one now: nothing that is here can be used. */
  restart(): void;
};

type FileRow = { size: number; etag: string | null; sha256: string | null };

export function journalIn(database: Database): Journal {
  const forget = (key: string) =>
    database.transaction(() => {
      database.run('DELETE FROM download_blocks WHERE file = ?', key);
      database.run('DELETE FROM download_files WHERE key = ?', key);
    });
  const begin = (file: RemoteFile) =>
    database.run(
      'INSERT INTO download_files (key, size, block, etag, sha256) VALUES (?, ?, ?, ?, ?)',
      file.key,
      file.size,
      BLOCK,
      file.etag,
      file.sha256,
    );

  return {
    forget,
    open(file) {
      const known = database.get<FileRow>(
        'SELECT size, etag, sha256 FROM download_files WHERE key = ? AND block = ?',
        file.key,
        BLOCK,
      );
      const same = known !== undefined && known.size === file.size && known.sha256 === file.sha256;
      if (!same) {
        forget(file.key);
        begin(file);
      }
      const rows = database.all<{ block: number; sha256: string }>(
        'SELECT block, sha256 FROM download_blocks WHERE file = ?',
        file.key,
      );
      const hashes = new Map(rows.map((row) => [row.block, row.sha256]));
      let map = new BlockMap(file.size, hashes.keys());
      let etag = same ? known.etag : file.etag;
      return {
        get etag() {
          return etag;
        },
        get map() {
          return map;
        },
        pin(value) {
          etag = value;
          database.run('UPDATE download_files SET etag = ? WHERE key = ?', value, file.key);
        },
        hashOf: (block) => hashes.get(block) ?? null,
        hashes: () =>
          Buffer.from(Array.from({ length: map.count }, (_, block) => hashes.get(block) ?? '').join(''), 'hex'),
        commit(blocks) {
          // A block that the journal forgets is fetched again; one that is not there is never in it.
          database.passing(() => {
            for (const { block, sha256 } of blocks) {
              database.run(
                'INSERT OR REPLACE INTO download_blocks (file, block, sha256) VALUES (?, ?, ?)',
                file.key,
                block,
                sha256,
              );
            }
          });
          for (const { block, sha256 } of blocks) hashes.set(block, sha256);
        },
        drop(blocks) {
          database.transaction(() => {
            for (const block of blocks)
              database.run('DELETE FROM download_blocks WHERE file = ? AND block = ?', file.key, block);
          });
          for (const block of blocks) {
            hashes.delete(block);
            map.lost(block);
          }
        },
        restart() {
          forget(file.key);
          begin({ ...file, etag: null });
          hashes.clear();
          etag = null;
          map = new BlockMap(file.size);
        },
      };
    },
  };
}
