import { mkdir, rename } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { RemoteFile } from '../sources/remote-file.ts';
import { hashAt } from '../storage/block-hash.ts';
import { damagedIn } from '../storage/block-repair.ts';
import type { Journal } from './journal.ts';

/** Turns a damaged file into an incomplete download that lacks only its damaged blocks. If the app ends in between, it
 *  starts again: the journal is written before the file is moved, and is ignored without a part file. */
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
