import { createHash } from 'node:crypto';

export function hashOf(pieces: readonly Uint8Array[]): string {
  const hash = createHash('sha256');
  for (const piece of pieces) hash.update(piece);
  return hash.digest('hex');
}

const HASH_BYTES = 32;

/** The hash of one block in concatenated hashes. */
export const hashAt = (hashes: Uint8Array, block: number): string =>
  Buffer.from(hashes.subarray(block * HASH_BYTES, (block + 1) * HASH_BYTES)).toString('hex');
