import { createHash } from 'node:crypto';
import { readdir, realpath, stat } from 'node:fs/promises';
import { homedir } from 'node:os';
import { basename, dirname, join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { FoundModel } from '../../protocol/index.ts';
import { openRegular } from '../../store/folder/open-regular.ts';
import { DownloadError } from '../network/download-error.ts';
import { safePath } from '../storage/safe-path.ts';
import type { RemoteFile } from './remote-file.ts';
import type { FileEntry, Repository, Source } from './source.ts';

//  A folder on another disk or a network share as a source: models are copied into the library with the same checks as downloads.

/** Maximum depth of models: publisher, model, format. */
const DEPTH = 3;

/** `folder`: the folder to search. Any other path can be given in full. */
export function folderSource(folder: () => string | null): Source {
  const file = (path: string, _commit: string, entry: FileEntry): RemoteFile => ({
    ...entry,
    key: `folder:${path}/${entry.name}`,
    // A file without extension (in a blob store) is a repository by itself.
    address: async () => ({ url: pathToFileURL((await isFile(path)) ? path : join(path, entry.name)).href }),
  });
  return {
    id: 'folder',
    host: null,
    file,
    async search({ text, limit }) {
      const root = folder();
      if (root === null) throw new DownloadError('not-found', '[folder] no model folder is set');
      const words = text.toLowerCase();
      const found: FoundModel[] = [];
      for await (const path of modelsBelow(wholePath(root), DEPTH)) {
        if (!path.toLowerCase().includes(words)) continue;
        const about = { downloads: null, likes: null, updatedAt: null, gated: false, runs: null };
        found.push({ source: 'folder', name: path, ...about });
        if (found.length === limit) break;
      }
      return found;
    },
    async repository(given): Promise<Repository> {
      const path = wholePath(given);
      const place = await stat(path).catch(() => null);
      if (!place) throw new DownloadError('not-found', `[folder] nothing is at ${path}`);
      if (!place.isFile() && !place.isDirectory()) {
        throw new DownloadError('not-a-model', `[folder] ${path} is neither a file nor a folder`);
      }
      const blob = place.isFile() && !path.toLowerCase().endsWith('.gguf');
      const name = blob || !place.isFile() ? path : dirname(path);
      const entries = blob ? [await blobEntry(path)] : await entriesOf(name);
      const commit = createHash('sha1').update(JSON.stringify(entries)).digest('hex');
      return {
        source: 'folder',
        name,
        commit,
        gated: false,
        files: entries.map((entry) => file(name, commit, entry)),
      };
    },
  };
}

const wholePath = (path: string) => resolve(path.startsWith('~/') ? join(homedir(), path.slice(2)) : path);
const isFile = async (path: string) => (await stat(path).catch(() => null))?.isFile() ?? false;

async function entriesOf(folder: string): Promise<FileEntry[]> {
  const names = (await readdir(folder)).concat(
    (await readdir(join(folder, '1_Pooling')).catch((): string[] => [])).map((name) => `1_Pooling/${name}`),
  );
  const entries = await Promise.all(
    names.sort().map(async (name): Promise<FileEntry | null> => {
      const found = await stat(join(folder, name)).catch(() => null);
      if (!found?.isFile()) return null;
      return { name: safePath(name), size: found.size, sha256: null, etag: etagOf(found) };
    }),
  );
  return entries.filter((entry) => entry !== null);
}

const etagOf = ({ size, mtimeMs }: { size: number; mtimeMs: number }) => `"${size}-${Math.trunc(mtimeMs)}"`;

/** @throws DownloadError `not-a-model` if it is not a GGUF file */
async function blobEntry(path: string): Promise<FileEntry> {
  const handle = await openRegular(path);
  try {
    const magic = Buffer.alloc(4);
    await handle.read(magic, 0, 4, 0);
    if (magic.toString('latin1') !== 'GGUF') {
      throw new DownloadError('not-a-model', `[folder] ${path} does not start like a GGUF file`);
    }
    const found = await handle.stat();
    return { name: `${basename(path).slice(0, 40)}.gguf`, size: found.size, sha256: null, etag: etagOf(found) };
  } finally {
    await handle.close();
  }
}

/** Folders with config.json and safetensors, and GGUF files. */
async function* modelsBelow(folder: string, depth: number, seen = new Set<string>()): AsyncGenerator<string> {
  const real = await realpath(folder).catch(() => null);
  if (real === null || seen.has(real)) return;
  seen.add(real);
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => []);
  const names = entries.map((entry) => entry.name);
  if (names.includes('config.json') && names.some((name) => name.endsWith('.safetensors'))) yield folder;
  for (const name of names) {
    const part = /-(\d{5})-of-\d{5}\.gguf$/.exec(name)?.[1];
    if (name.endsWith('.gguf') && !/mmproj/i.test(name) && (!part || part === '00001')) yield join(folder, name);
  }
  if (depth === 0) return;
  for (const entry of entries) {
    if (entry.isDirectory() && !entry.name.startsWith('.'))
      yield* modelsBelow(join(folder, entry.name), depth - 1, seen);
  }
}
