import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { join } from 'node:path';
import { type Manifest, readManifest, writeManifest } from './shelf.ts';

const REPORT_MS = 200;

/** Hashes the files of a model and names those that are not what they were published as. */
export async function checkFiles(
  folder: string,
  manifest: Manifest,
  progress: (checked: number, total: number) => void,
  signal: AbortSignal,
): Promise<Manifest['files']> {
  const total = manifest.files.reduce((sum, file) => sum + file.size, 0);
  const damaged: Manifest['files'] = [];
  let checked = 0;
  let told = 0;
  for (const file of manifest.files) {
    const hash = createHash('sha256');
    let bytes = 0;
    try {
      for await (const chunk of createReadStream(join(folder, file.name), { highWaterMark: 1 << 20, signal })) {
        hash.update(chunk as Buffer);
        bytes += (chunk as Buffer).length;
        checked += (chunk as Buffer).length;
        if (performance.now() - told < REPORT_MS) continue;
        told = performance.now();
        progress(checked, total);
      }
    } catch (error) {
      if (signal.aborted) throw error;
      bytes = -1; // gone or unreadable
    }
    if (bytes !== file.size || hash.digest('hex') !== file.sha256) damaged.push(file);
  }
  progress(total, total);
  return damaged;
}

export async function rememberCheck(folder: string, checkedAt: number): Promise<void> {
  const manifest = await readManifest(folder);
  if (manifest) await writeManifest(folder, { ...manifest, checkedAt });
}
