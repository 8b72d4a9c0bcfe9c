import { openRegular } from '../../store/folder/open-regular.ts';
import { hashAt, hashOf } from './block-hash.ts';
import { BLOCK, BlockMap } from './block-map.ts';

/** Blocks of a file that do not match these hashes, or are beyond its end. Read-only. */
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

/** Total bytes of these blocks; the last block of a file may be short. */
export const bytesOf = (blocks: readonly number[], size: number): number =>
  blocks.reduce((sum, block) => sum + Math.min(BLOCK, size - block * BLOCK), 0);
