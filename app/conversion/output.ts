import { existsSync } from 'node:fs';
import { readdir, rename, rm, statfs } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { LonghandError } from '../protocol/index.ts';
import { Leftovers, readProgress } from './resumption.ts';

const FAILURES: Record<string, ['disk-full' | 'permission' | 'read-only', string]> = {
  ENOSPC: ['disk-full', 'the disk is full'],
  EDQUOT: ['disk-full', 'the disk space that this user may take is used up'],
  EFBIG: ['disk-full', 'the file system or a limit of this user takes no file of this size'],
  EACCES: ['permission', 'this user may not write there'],
  EPERM: ['permission', 'this user may not write there'],
  EROFS: ['read-only', 'the disk is read-only'],
};

const alive = (pid: number): boolean => {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
};

/** What earlier runs left that were killed: removed, unless somebody could go on from it. */
async function sweep(path: string): Promise<Leftovers> {
  const kept: string[] = [];
  const before = `${basename(path)}.`;
  for (const name of await readdir(dirname(path))) {
    const pid = name.startsWith(before) ? /^(\d+)\.part$/.exec(name.slice(before.length))?.[1] : undefined;
    if (pid === undefined || alive(Number(pid))) continue;
    const folder = join(dirname(path), name);
    if (await readProgress(folder)) kept.push(folder);
    else await rm(folder, { recursive: true, force: true });
  }
  return new Leftovers(kept);
}

/** @throws LonghandError if the path exists or cannot be written */
export function checkFree(path: string): void {
  if (existsSync(path)) {
    throw new LonghandError('bad-request', `[--out] ${path} already exists; choose another name`, {
      hint: 'Nothing is ever overwritten: move it away, or choose another name.',
    });
  }
  if (!existsSync(dirname(path)))
    throw new LonghandError('bad-request', `[--out] the folder ${dirname(path)} does not exist`);
}

/** Has a folder written beside `path` and renamed at the end; on failure nothing of it is left behind. With `files`, only these
 *  files of it are moved into place, the first as `path`. */
export async function whole<T>(
  path: string,
  write: (part: string, leftovers: Leftovers) => Promise<T>,
  files?: Readonly<Record<string, string>>,
): Promise<T> {
  const places = files === undefined ? [path] : Object.values(files);
  for (const place of places) checkFree(place);
  const part = `${path}.${process.pid}.part`;
  try {
    const leftovers = await sweep(path);
    const result = await write(part, leftovers);
    await leftovers.remove();
    for (const place of places) checkFree(place);
    if (files === undefined) await rename(part, path);
    for (const [name, place] of Object.entries(files ?? {})) await rename(join(part, name), place);
    await rm(part, { recursive: true, force: true });
    return result;
  } catch (error) {
    await rm(part, { recursive: true, force: true });
    const [code, why] = FAILURES[(error as NodeJS.ErrnoException).code ?? ''] ?? [];
    if (code === undefined || error instanceof LonghandError) throw error;
    throw new LonghandError(code, `[--out] ${path} cannot be written: ${why}; nothing of it was kept`, {
      cause: error,
    });
  }
}

/** @throws LonghandError `disk-full` before anything is written */
export async function checkRoom(out: string, needed: number): Promise<void> {
  const { bavail, bsize } = await statfs(dirname(out));
  if (bavail * bsize > needed) return;
  throw new LonghandError(
    'disk-full',
    `[--out] the disk of ${out} has ${readable(bavail * bsize)} free, but ${readable(needed)} are needed`,
  );
}

const readable = (bytes: number): string =>
  bytes < 999_500_000 ? `${Number((bytes / 1e6).toFixed(1))} MB` : `${Number((bytes / 1e9).toFixed(1))} GB`;
