import { mkdir, rename } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { RemoteFile } from '../sources/remote-file.ts';
import { hashAt } from '../storage/block-hash.ts';
import { damagedIn } from '../storage/block-repair.ts';
import type { Journal } from './journal.ts';

/** Makes an unfinished download of a damaged file, which lacks only its damaged blocks. When the app ends in between it
 *  is begun again: the journal is written before the file is moved, and without a part file it counts for nothing. */
export async function resumeDamaged(
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
