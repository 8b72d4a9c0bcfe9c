import { link, lstat, mkdir, readdir, realpath, rm, stat, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { basename, dirname, isAbsolute, join, resolve, sep } from 'node:path';
import { type LibraryPlan, LonghandError } from '../../protocol/index.ts';
import { freeSpace } from '../downloads/part-file.ts';
import { createProbe, type ProbeWithTimeout } from '../storage/fs-probe.ts';
import type { LibraryLocation } from '../storage/library-location.ts';
import { filesOf, sizeOf } from './copy-tree.ts';

//  Plans a move without leaving traces on the disk.

/** The subfolder created in a folder that is not empty. */
const NAME = 'Longhand models';

export type PlanOptions = {
  mayLink: boolean;
  free: (path: string) => Promise<number>;
  /** Whether the volume of a folder supports hard links (exFAT does not). @throws if it is not writable */
  hardLinks: (folder: string) => Promise<boolean>;
  probe: ProbeWithTimeout;
};
export const usually: PlanOptions = { mayLink: true, free: freeSpace, hardLinks: hardLinksAt, probe: createProbe() };

type Target = { folder: string; copies: boolean; hardLinks: boolean; free: number };

/** @throws LonghandError `bad-request` for an unsuitable location, with the reason; `unreadable` for a disk
 *  that does not answer */
export async function planMove(location: LibraryLocation, given: string, options: PlanOptions): Promise<LibraryPlan> {
  const silent = { slow: null, busy: () => null };
  const target = await options.probe<Target | null>(given, () => lookAt(location, given, options), silent);
  if (!target) throw new LonghandError('unreadable', `[move] the disk of ${given} does not answer`);
  const { folder, copies, hardLinks, free } = target;
  const pieces = await filesOf(location.folder());
  const once = sizeOf(pieces, true);
  const bytes = copies ? sizeOf(pieces, hardLinks) : once;
  return { folder, bytes, more: bytes - once, copies, free, missing: copies ? Math.max(0, bytes - free) : 0 };
}

async function lookAt(location: LibraryLocation, given: string, options: PlanOptions): Promise<Target> {
  const folder = await targetOf(location, given);
  const ground = await existing(folder);
  const from = await stat(await existing(location.folder()));
  const copies = !options.mayLink || from.dev !== (await stat(ground)).dev;
  // If the volume is not writable yet, this is checked when the folder is created.
  const hardLinks = !copies || (await options.hardLinks(ground).catch(() => true));
  return { folder, copies, hardLinks, free: await options.free(ground) };
}

async function targetOf(location: LibraryLocation, given: string): Promise<string> {
  const wanted = given.startsWith('~/') ? join(homedir(), given.slice(2)) : given;
  if (!isAbsolute(wanted)) refuse('relative', `"${given}" is not a full path`);
  const whole = resolve(wanted);
  const [now, home] = await Promise.all([realOf(location.folder()), realOf(location.home)]);
  // Resolve links: otherwise a folder could be moved into itself.
  let folder = await realOf(whole);
  if (folder === now) refuse('same', `the library is at ${whole} already`);
  if (folder === home) return location.home;
  if (!(await isEmpty(folder))) folder = join(folder, NAME);
  if (folder === now) refuse('same', `the library is at ${folder} already`);
  if (folder.startsWith(now + sep)) refuse('inside', `${whole} is inside the library`);
  if (now.startsWith(folder + sep)) refuse('inside', `the library is inside ${whole}`);
  if (!(await isEmpty(folder))) refuse('not-empty', `${folder} holds something already`);
  return folder;
}

function refuse(reason: string, what: string): never {
  throw new LonghandError('bad-request', `[move] ${what}; choose an empty or a new folder`, {
    details: { reason },
  });
}

/** True if it does not exist yet. @throws LonghandError `bad-request` for a file, `permission` */
async function isEmpty(folder: string): Promise<boolean> {
  const names = await readdir(folder).catch((error: NodeJS.ErrnoException): string[] => {
    if (error.code === 'ENOENT') return [];
    if (error.code === 'ENOTDIR') return refuse('file', `${folder} is a file`);
    throw new LonghandError('permission', `[move] ${error.message}`, { cause: error });
  });
  return names.length === 0;
}

/** The folder, or its nearest existing parent. */
async function existing(path: string): Promise<string> {
  return (await stat(path).catch(() => null)) ? path : existing(dirname(path));
}

/** The real path, even of a folder that does not exist yet. */
async function realOf(path: string): Promise<string> {
  const real = await realpath(path).catch(() => null);
  if (real !== null) return real;
  // A folder that is there after all has just been made, and its name is its own.
  if ((await lstat(path).catch(() => null))?.isSymbolicLink()) refuse('link', `${path} is a link to nothing`);
  return dirname(path) === path ? path : join(await realOf(dirname(path)), basename(path));
}

/** Creates the folder and tests what a library needs. Returns whether the volume has hard links.
 *  @throws LonghandError `permission`, `disk-full` */
export async function prepare(folder: string, { hardLinks }: Pick<PlanOptions, 'hardLinks'>): Promise<boolean> {
  try {
    await make(folder);
    return await hardLinks(folder);
  } catch (error) {
    throw asMoveFailure(error);
  }
}

async function hardLinksAt(folder: string): Promise<boolean> {
  const probe = join(folder, '.longhand-probe');
  try {
    await writeFile(probe, 'probe');
    return await link(probe, `${probe}-2`).then(
      () => true,
      () => false,
    );
  } finally {
    await rm(probe, { force: true }).catch(() => {}); // it could not be written
    await rm(`${probe}-2`, { force: true }).catch(() => {});
  }
}

/** Creates folders step by step: in places like /proc, Node's own `recursive` option never returns. */
async function make(folder: string): Promise<void> {
  const found = await stat(folder).catch(() => null);
  if (found) return;
  if (dirname(folder) !== folder) await make(dirname(folder));
  await mkdir(folder);
}

/** Converts disk errors for the protocol. */
export function asMoveFailure(error: unknown): LonghandError {
  if (error instanceof LonghandError) return error;
  const { code, message } = error as NodeJS.ErrnoException;
  const known = code === 'ENOSPC' || code === 'EDQUOT' ? 'disk-full' : /^(EACCES|EPERM|EROFS)$/.test(code ?? '');
  const kind = known === 'disk-full' ? known : known ? 'permission' : 'unreadable';
  return new LonghandError(kind, `[move] ${message}`, { cause: error });
}
