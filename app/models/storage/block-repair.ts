import { mkdir, rename } from 'node:fs/promises';
import { dirname } from 'node:path';
import { openRegular } from '../../store/open-regular.ts';
import type { RemoteFile } from '../downloads/download-state.ts';
import type { Journal } from '../downloads/journal.ts';
import { hashOf } from '../downloads/part-file.ts';
import { BLOCK, BlockMap } from './block-map.ts';

const HASH_BYTES = 32;

/** Blocks of a file whose bytes are no longer those with these hashes, and those it is too short for. Changes nothing. */
export async function damagedIn(
  path: string,
  size: number,
  hashes: Uint8Array,
  signal: AbortSignal,
  progress: (bytes: number) => void = () => {},
): Promise<number[]> {
  const map = new BlockMap(size);
  const damaged: number[] = [];
  const file = await openRegular(path);
  try {
    const buffer = Buffer.allocUnsafe(BLOCK);
    for (let block = 0; block < map.count; block++) {
      signal.throwIfAborted();
      const length = map.length(block);
      const { bytesRead } = await file.read(buffer, 0, length, map.start(block));
      if (bytesRead < length || hashOf([buffer.subarray(0, length)]) !== hashAt(hashes, block)) damaged.push(block);
      progress(length);
    }
  } finally {
    await file.close();
  }
  return damaged;
}

/** Makes an unfinished download of a damaged file, which lacks only its damaged blocks. When the app ends in between it
 *  is begun again: the journal is written before the file is moved, and without a part file it counts for nothing. */
export async function takeUp(
  file: RemoteFile,
  from: { path: string; hashes: Uint8Array },
  to: { journal: Journal; partPath: string },
  signal: AbortSignal,
): Promise<void> {
  const damaged = new Set(await damagedIn(from.path, file.size, from.hashes, signal));
  const known = to.journal.open(file);
  const sound = Array.from({ length: known.map.count }, (_, block) => block).filter((block) => !damaged.has(block));
  known.commit(sound.map((block) => ({ block, sha256: hashAt(from.hashes, block) })));
  await mkdir(dirname(to.partPath), { recursive: true });
  await rename(from.path, to.partPath);
}

const hashAt = (hashes: Uint8Array, block: number): string =>
  Buffer.from(hashes.subarray(block * HASH_BYTES, (block + 1) * HASH_BYTES)).toString('hex');

/** Bytes of these blocks of a file, the last of which may be short. */
export const bytesOf = (blocks: readonly number[], size: number): number =>
  blocks.reduce((sum, block) => sum + Math.min(BLOCK, size - block * BLOCK), 0);
