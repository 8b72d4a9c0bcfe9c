import { createHash } from 'node:crypto';
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { piecesOfRegular } from '../../store/folder/open-regular.ts';
import { type Manifest, readManifest, writeManifest } from '../storage/blob-store.ts';
import { bytesOf, damagedIn } from '../storage/block-repair.ts';

const REPORT_MS = 200;

/** `bytes`: to download again: the damaged blocks if block hashes are known, or else the file. */
export type Damage = { file: Manifest['files'][number]; bytes: number };

/** Hashes the files of a model and returns those that do not match their published hashes. `blocksOf`: block hashes
 *  of a file, by content hash. */
export async function checkFiles(
  folder: string,
  manifest: Manifest,
  blocksOf: (sha256: string) => Uint8Array | null,
  progress: (checked: number, total: number) => void,
  signal: AbortSignal,
): Promise<Damage[]> {
  const total = manifest.files.reduce((sum, file) => sum + file.size, 0);
  const damaged: Damage[] = [];
  let checked = 0;
  let told = 0;
  const count = (bytes: number) => {
    checked += bytes;
    if (performance.now() - told < REPORT_MS) return;
    told = performance.now();
    progress(checked, total);
  };
  for (const file of manifest.files) {
    const path = join(folder, file.name);
    const bytes = await damageOf(path, file, blocksOf(file.sha256), count, signal).catch((error) => {
      if (signal.aborted) throw error;
      return file.size; // gone or unreadable
    });
    if (bytes !== null) damaged.push({ file, bytes });
  }
  progress(total, total);
  return damaged;
}

/** Number of damaged bytes; null if undamaged. */
async function damageOf(
  path: string,
  file: Manifest['files'][number],
  hashes: Uint8Array | null,
  count: (bytes: number) => void,
  signal: AbortSignal,
): Promise<number | null> {
  const { size } = await stat(path);
  if (hashes === null) return (await wholeHash(path, count, signal)) === file.sha256 ? null : file.size;
  const damaged = await damagedIn(path, file.size, hashes, signal, count);
  return damaged.length === 0 && size === file.size ? null : bytesOf(damaged, file.size);
}

async function wholeHash(path: string, count: (bytes: number) => void, signal: AbortSignal): Promise<string> {
  const hash = createHash('sha256');
  for await (const piece of piecesOfRegular(path)) {
    signal.throwIfAborted();
    hash.update(piece);
    count(piece.length);
  }
  return hash.digest('hex');
}

export async function rememberCheck(folder: string, checkedAt: number): Promise<void> {
  const manifest = await readManifest(folder);
  if (manifest) await writeManifest(folder, { ...manifest, checkedAt });
}
