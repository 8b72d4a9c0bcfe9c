import { createHash } from 'node:crypto';
import { readdir, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { piecesOfRegular } from '../../store/folder/open-regular.ts';

/** Identifies encoders by the content of their files. Cached while size and modification time stay the same. */
export function createFingerprints() {
  const known = new Map<string, { stamp: string; sha256: Promise<string> }>();

  return async (path: string): Promise<string> => {
    const files = await weightFiles(path);
    const stats = await Promise.all(files.map((file) => stat(file)));
    const stamp = stats.map(({ size, mtimeMs }) => `${size} ${mtimeMs}`).join();
    const before = known.get(path);
    if (before?.stamp === stamp) return before.sha256;
    const sha256 = hashOf(files);
    known.set(path, { stamp, sha256 });
    sha256.catch(() => known.delete(path));
    return sha256;
  };
}

/** All files that affect vectors: weights, tokenizer, pooling. */
async function weightFiles(path: string): Promise<string[]> {
  if ((await stat(path)).isFile() && path.toLowerCase().endsWith('.gguf')) return [path];
  const folder = (await stat(path)).isFile() ? dirname(path) : path;
  const names = await readdir(folder, { recursive: true });
  const files = names.filter(
    (name) =>
      name.endsWith('.safetensors') || ['tokenizer.json', 'config.json', 'modules.json'].includes(basename(name)),
  );
  return files.sort().map((name) => join(folder, name));
}

async function hashOf(files: readonly string[]): Promise<string> {
  const hash = createHash('sha256');
  for (const file of files) for await (const piece of piecesOfRegular(file)) hash.update(piece);
  return hash.digest('hex');
}
