import type { Database } from '../../store/database/database.ts';
import {
  addBlocks,
  addFile,
  findFile,
  listBlocks,
  removeBlocks,
  removeFile,
  setEtag,
} from '../../store/models/download-journal.ts';
import type { RemoteFile } from '../sources/remote-file.ts';
import { BLOCK, BlockMap } from '../storage/block-map.ts';

/** State of incomplete files: blocks on disk with their hashes, and the version on the server they are
 *  part of. Everything else can be recomputed. */
export type Journal = {
  open(file: RemoteFile): FileJournal;
  /** Deletes the entry of a file that is finished or cancelled. */
  forget(key: string): void;
};

export type FileJournal = {
  readonly etag: string | null;
  readonly map: BlockMap;
  pin(etag: string): void;
  hashOf(block: number): string | null;
  /** All hashes, 32 bytes per block, in order. The file has to be complete. */
  hashes(): Uint8Array;
  /** Records blocks that were written and synced, in one transaction. */
  commit(blocks: readonly { block: number; sha256: string }[]): void;
  drop(blocks: readonly number[]): void;
  /** The remote file has changed: discards all blocks. */
  restart(): void;
};

export function journalIn(database: Database): Journal {
  const forget = (key: string) => removeFile(database, key);
  const begin = (file: RemoteFile) => addFile(database, file, BLOCK);

  return {
    forget,
    open(file) {
      const known = findFile(database, file.key, BLOCK);
      const same = known !== undefined && known.size === file.size && known.sha256 === file.sha256;
      if (!same) {
        forget(file.key);
        begin(file);
      }
      const rows = listBlocks(database, file.key);
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
          setEtag(database, file.key, value);
        },
        hashOf: (block) => hashes.get(block) ?? null,
        hashes: () =>
          Buffer.from(Array.from({ length: map.count }, (_, block) => hashes.get(block) ?? '').join(''), 'hex'),
        commit(blocks) {
          addBlocks(database, file.key, blocks);
          for (const { block, sha256 } of blocks) hashes.set(block, sha256);
        },
        drop(blocks) {
          removeBlocks(database, file.key, blocks);
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
