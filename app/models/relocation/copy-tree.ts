import { createHash, type Hash } from 'node:crypto';
import type { Dirent } from 'node:fs';
import { link, mkdir, open, readdir, rename, rm, rmdir, stat, utimes } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { LonghandError } from '../../protocol/index.ts';
import { openRegular, openRegularToWrite, readRegular } from '../../store/folder/open-regular.ts';
import { closeBelow } from '../../store/folder/permissions.ts';
import { building, isManifest, isModelFolder } from '../storage/blob-store.ts';
import { exists } from '../storage/fs-probe.ts';
import { isMark } from '../storage/library-location.ts';

//  Copies the library to another place, file by file: written under a temporary name, verified, and only then renamed. So
//  a file with its final name is complete, and an interrupted copy resumes where it stopped.

/** `file`: identifies names of the same file (hard links). */
export type Piece = { name: string; size: number; mtimeMs: number; file: string };

const CHUNK = 4 * 1024 * 1024;
const PARTIAL = '.moving';
/** Coarsest timestamp resolution of file systems (FAT: two seconds). */
const MTIME_MS = 2000;

/** All library files in `folder`, ignoring foreign files. */
export async function filesOf(folder: string): Promise<Piece[]> {
  const pieces: Piece[] = [];
  for (const top of await ours(folder)) {
    const entries = await readdir(join(folder, top), { recursive: true, withFileTypes: true });
    for (const entry of entries.filter((one) => one.isFile())) {
      const path = join(entry.parentPath, entry.name);
      const found = await stat(path).catch(() => null); // removed just now
      if (!found) continue;
      const { size, mtimeMs, dev, ino } = found;
      pieces.push({ name: path.slice(folder.length + 1), size, mtimeMs, file: `${dev}:${ino}` });
    }
  }
  // Manifests, which mark a folder as ours, come first: so an interrupted copy can be told from foreign files.
  return pieces.sort((a, b) => Number(isManifest(b.name)) - Number(isManifest(a.name)));
}

/** Folders that Longhand made in `folder`, including unfinished ones. */
async function ours(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { withFileTypes: true }).catch((error: NodeJS.ErrnoException): Dirent[] => {
    if (error.code === 'ENOENT') return [];
    throw error;
  });
  const names: string[] = [];
  for (const { name } of entries.filter((entry) => entry.isDirectory())) {
    if (/^(blobs|incoming|removed)$/.test(name) || (await isModelFolder(join(folder, name)))) names.push(name);
  }
  return names;
}

/** Makes the library private to the user, wherever it is: earlier versions moved it with open permissions. In a folder with foreign
 *  files, only ours are changed. */
export async function closeLibrary(folder: string): Promise<void> {
  const mine = new Set(await ours(folder));
  const names = await readdir(folder);
  if (names.every((name) => mine.has(name) || name.startsWith('.'))) return closeBelow(folder);
  for (const name of names) if (mine.has(name) || isMark(name)) await closeBelow(join(folder, name));
}

/** Bytes of a copy: a file with several names counts once if the volume has hard links. */
export function sizeOf(pieces: readonly Piece[], hardLinks: boolean): number {
  const files = hardLinks ? new Map(pieces.map((piece) => [piece.file, piece])).values() : pieces;
  return [...files].reduce((sum, { size }) => sum + size, 0);
}

export type CopyTreeOptions = {
  signal: AbortSignal;
  /** Bytes copied, and bytes verified or already present. */
  progress: (copied: number, checked: number) => void;
  /** False: copy bytes even on the same volume. */
  mayLink?: boolean;
  /** False: the volume of `to` has no hard links. */
  hardLinks?: boolean;
};

/** Makes `to` an exact copy of the library in `from`. Files already there are skipped.
 *  @throws LonghandError `unreadable` if a file cannot be copied faithfully */
export async function mirror(from: string, to: string, options: CopyTreeOptions): Promise<void> {
  const pieces = await filesOf(from);
  const carried = new Map<string, string>();
  const folders = new Set<string>([to]);
  for (const piece of pieces) {
    options.signal.throwIfAborted();
    const target = join(to, piece.name);
    for (let at = dirname(target); at.length > to.length; at = dirname(at)) folders.add(at);
    await mkdir(dirname(target), { recursive: true });
    const twin = options.hardLinks === false ? undefined : carried.get(piece.file);
    if (twin === undefined || !(await hardLinked(twin, target))) {
      const source = join(from, piece.name);
      await carry(source, target, piece, options).catch(async (error) => {
        // Removed in the meantime: the next listing will not have it.
        if (options.signal.aborted || (await exists(source))) throw error;
      });
    }
    if (twin === undefined) carried.set(piece.file, target);
  }
  await removeOthers(to, new Set(pieces.map(({ name }) => name)), folders);
  // Sync directory entries as well.
  for (const folder of folders) await synced(folder);
}

/** Hard-links `target` to `twin`. False if the volume has no hard links. */
async function hardLinked(twin: string, target: string): Promise<boolean> {
  const [a, b] = await Promise.all([stat(twin).catch(() => null), stat(target).catch(() => null)]);
  if (!a) return false;
  if (b && a.ino === b.ino && a.dev === b.dev) return true;
  await rm(target, { force: true });
  return link(twin, target).then(
    () => true,
    () => false,
  );
}

async function carry(source: string, target: string, piece: Piece, options: CopyTreeOptions): Promise<void> {
  const { signal, progress, mayLink = true } = options;
  const there = await stat(target).catch(() => null);
  const same = there?.size === piece.size && Math.abs(there.mtimeMs - piece.mtimeMs) < MTIME_MS;
  // A small file may have been rewritten within the timestamp resolution.
  if (same && (piece.size >= CHUNK || (await readRegular(source, CHUNK)).equals(await readRegular(target, CHUNK)))) {
    return progress(piece.size, piece.size);
  }
  if (mayLink && (await hardLinked(source, target))) return progress(piece.size, piece.size);
  const partial = target + PARTIAL;
  for (let attempt = 1; ; attempt++) {
    const wrote = await copy(source, partial, signal, (bytes) => progress(bytes, 0));
    const read = createHash('sha256');
    await readInto(read, partial, Number.POSITIVE_INFINITY, signal, (bytes) => progress(0, bytes));
    if (read.digest('hex') === wrote) break;
    progress(-piece.size, -piece.size);
    await rm(partial, { force: true });
    if (attempt === 2) {
      throw new LonghandError('unreadable', `[move] ${piece.name} was read back differently in its new place, twice`);
    }
  }
  await utimes(partial, new Date(), new Date(piece.mtimeMs));
  await rename(partial, target);
}

/** Copies the remaining bytes. Returns the hash of the whole source as read. */
async function copy(
  source: string,
  partial: string,
  signal: AbortSignal,
  progress: (bytes: number) => void,
): Promise<string> {
  const at = (await stat(partial).catch(() => null))?.size ?? 0;
  const hash = createHash('sha256');
  await readInto(hash, source, at, signal, progress);
  const from = await openRegular(source);
  const to = await openRegularToWrite(partial).catch(async (error) => {
    await from.close();
    throw error;
  });
  try {
    await to.truncate(at);
    const buffer = Buffer.allocUnsafe(CHUNK);
    for (let place = at; ; ) {
      signal.throwIfAborted();
      const { bytesRead } = await from.read(buffer, 0, CHUNK, place);
      if (bytesRead === 0) break;
      hash.update(buffer.subarray(0, bytesRead));
      for (let done = 0; done < bytesRead; ) {
        done += (await to.write(buffer, done, bytesRead - done, place + done)).bytesWritten;
      }
      place += bytesRead;
      progress(bytesRead);
    }
    await to.sync();
  } finally {
    await from.close();
    await to.close();
  }
  return hash.digest('hex');
}

async function readInto(
  hash: Hash,
  path: string,
  upTo: number,
  signal: AbortSignal,
  progress: (bytes: number) => void,
): Promise<void> {
  const file = await openRegular(path);
  try {
    const buffer = Buffer.allocUnsafe(CHUNK);
    for (let at = 0; at < upTo; ) {
      signal.throwIfAborted();
      const { bytesRead } = await file.read(buffer, 0, Math.min(CHUNK, upTo - at), at);
      if (bytesRead === 0) break;
      hash.update(buffer.subarray(0, bytesRead));
      at += bytesRead;
      progress(bytesRead);
    }
  } finally {
    await file.close();
  }
}

/** Removes files that are not wanted, and folders that become empty. */
async function removeOthers(folder: string, wanted: ReadonlySet<string>, used: ReadonlySet<string>): Promise<void> {
  const emptied = new Set<string>();
  for (const { name } of await filesOf(folder)) {
    if (wanted.has(name)) continue;
    await rm(join(folder, name), { force: true });
    for (let at = dirname(join(folder, name)); at.length > folder.length; at = dirname(at)) emptied.add(at);
  }
  // Deepest first.
  for (const path of [...emptied].sort((a, b) => b.length - a.length)) {
    if (!used.has(path)) await rmdir(path).catch(() => {}); // it contains foreign files
  }
}

async function synced(folder: string): Promise<void> {
  const handle = await open(folder, 'r');
  // Some file systems cannot sync folders.
  await handle.sync().catch(() => {});
  await handle.close();
}

/** Removes the library from a folder, and the folder itself unless it contains foreign files. `home`: the default location, which may
 *  not exist, and is kept.
 *  @throws LonghandError `not-found` if the folder is not there: its drive is not mounted */
export async function clear(folder: string, home: boolean): Promise<void> {
  const names = await readdir(folder).catch((): string[] => {
    if (home) return [];
    throw new LonghandError('not-found', `[move] ${folder} is not there`, { details: { reason: 'unmounted' } });
  });
  for (const name of await ours(folder)) {
    // The manifest goes last, so that a partial removal can still be recognised as ours.
    const last = name.includes('@') && !name.endsWith('.new') ? building(name) : name;
    if (last !== name) await rm(join(folder, last), { recursive: true, force: true });
    if (last !== name) await rename(join(folder, name), join(folder, last));
    await rm(join(folder, last), { recursive: true, force: true });
  }
  for (const name of names.filter(isMark)) await rm(join(folder, name), { force: true });
  if (!home) await rmdir(folder).catch(() => {});
}
