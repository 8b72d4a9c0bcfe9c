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

//  A copy of the library at another place, file by file: written beside its name, read again, and only then given its name. So
//  a file that has its name is whole, and a copy that was interrupted goes on where it stood.

/** `file`: tells the names of one file (hard links) from those of others. */
export type Piece = { name: string; size: number; mtimeMs: number; file: string };

const CHUNK = 4 * 1024 * 1024;
const PARTIAL = '.moving';
/** What volumes keep of a time: whole seconds, in pairs. */
const MTIME_MS = 2000;

/** All files of the library in `folder`. Files of others in it are none. */
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
  // What makes a folder ours comes first: so all of a copy that was interrupted can be told from files of others.
  return pieces.sort((a, b) => Number(isManifest(b.name)) - Number(isManifest(a.name)));
}

/** Folders that Longhand made in `folder`, also one that it was about to make. */
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

/** Nobody else reads the library, wherever it is: what an earlier version moved there stands open. In a folder that holds files of
 *  others as well only what is ours is closed. */
export async function closeLibrary(folder: string): Promise<void> {
  const mine = new Set(await ours(folder));
  const names = await readdir(folder);
  if (names.every((name) => mine.has(name) || name.startsWith('.'))) return closeBelow(folder);
  for (const name of names) if (mine.has(name) || isMark(name)) await closeBelow(join(folder, name));
}

/** Bytes that a copy takes: a file with several names counts once where the volume has hard links. */
export function sizeOf(pieces: readonly Piece[], hardLinks: boolean): number {
  const files = hardLinks ? new Map(pieces.map((piece) => [piece.file, piece])).values() : pieces;
  return [...files].reduce((sum, { size }) => sum + size, 0);
}

export type MirrorOptions = {
  signal: AbortSignal;
  /** Bytes that were copied, and bytes that were read again or were there already. */
  progress: (copied: number, checked: number) => void;
  /** False: also on one volume bytes are copied. */
  mayLink?: boolean;
  /** False: where `to` is, each name of a file is a file of its own. */
  hardLinks?: boolean;
};

/** Makes everything of `from` stand in `to` as well, and nothing else of ours. What is there already is passed over.
 *  @throws LonghandError `unreadable` when a file cannot be copied as it is */
export async function mirror(from: string, to: string, options: MirrorOptions): Promise<void> {
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
        // Removed meanwhile: the next time it is not in the list.
        if (options.signal.aborted || (await exists(source))) throw error;
      });
    }
    if (twin === undefined) carried.set(piece.file, target);
  }
  await removeOthers(to, new Set(pieces.map(({ name }) => name)), folders);
  // Names are on the platter as well.
  for (const folder of folders) await synced(folder);
}

/** Gives `target` the file of `twin`. False where the volume has no hard links. */
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

async function carry(source: string, target: string, piece: Piece, options: MirrorOptions): Promise<void> {
  const { signal, progress, mayLink = true } = options;
  const there = await stat(target).catch(() => null);
  const same = there?.size === piece.size && Math.abs(there.mtimeMs - piece.mtimeMs) < MTIME_MS;
  // A description may have been written anew within the time that a volume keeps.
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

/** Copies what is not copied yet. Returns the hash of the whole source, as it was read. */
async function copy(
  source: string,
  partial: string,
  signal: AbortSignal,
  progress: (bytes: number) => void,
): Promise<string> {
  const before = (await stat(partial).catch(() => null))?.size ?? 0;
  const at = before - (before % CHUNK);
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

/** Takes away what is not wanted (any more), with the folders that it leaves empty. */
async function removeOthers(folder: string, wanted: ReadonlySet<string>, used: ReadonlySet<string>): Promise<void> {
  const emptied = new Set<string>();
  for (const { name } of await filesOf(folder)) {
    if (wanted.has(name)) continue;
    await rm(join(folder, name), { force: true });
    for (let at = dirname(join(folder, name)); at.length > folder.length; at = dirname(at)) emptied.add(at);
  }
  // The deepest first.
  for (const path of [...emptied].sort((a, b) => b.length - a.length)) {
    if (!used.has(path)) await rmdir(path).catch(() => {}); // something of somebody else is in it
  }
}

async function synced(folder: string): Promise<void> {
  const handle = await open(folder, 'r');
  // Some file systems know no such wish for folders.
  await handle.sync().catch(() => {});
  await handle.close();
}

/** Removes the library from a folder, and the folder when nothing of somebody else is in it. `home`: it may have been empty
 *  and never made, and it stays.
 *  @throws LonghandError `not-found` when the folder is not there: its drive is away */
export async function clear(folder: string, home: boolean): Promise<void> {
  const names = await readdir(folder).catch((): string[] => {
    if (home) return [];
    throw new LonghandError('not-found', `[move] ${folder} is not there`, { details: { reason: 'unmounted' } });
  });
  for (const name of await ours(folder)) {
    // Without what makes it ours it must not be left half.
    const last = name.includes('@') && !name.endsWith('.new') ? building(name) : name;
    if (last !== name) await rm(join(folder, last), { recursive: true, force: true });
    if (last !== name) await rename(join(folder, name), join(folder, last));
    await rm(join(folder, last), { recursive: true, force: true });
  }
  for (const name of names.filter(isMark)) await rm(join(folder, name), { force: true });
  if (!home) await rmdir(folder).catch(() => {});
}
