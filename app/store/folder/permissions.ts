import {
  accessSync,
  chmodSync,
  closeSync,
  constants,
  existsSync,
  openSync,
  readdirSync,
  type Stats,
  statSync,
} from 'node:fs';
import { chmod, lstat, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { LonghandError } from '../../protocol/index.ts';
import { fileFailure } from './open-regular.ts';

//  Chats are readable by their owner only. Every process that writes has the umask 077; files that an earlier version left open to
//  others are made private here. Only Longhand's own files are touched: the folder may contain other files too.

const ours =
  /^(longhand([.-].*)?|backups|models|documents|packed|logs|linked|shell|uploads|opened|browser-[\w-]+|tokens\.json(\.new)?)$/;
const openToOthers = 0o077;

/** Makes the data folder private, unless it contains foreign files. Done first, since it protects everything inside. */
export function closeFolder(folder: string): void {
  const foreign = readdirSync(folder).some((name) => !ours.test(name) && !name.startsWith('.'));
  const stat = statSync(folder);
  if (!foreign && mayChange(stat) && (stat.mode & openToOthers) !== 0) chmodSync(folder, 0o700);
}

/** Creates a private file before anything is written into it. The files that SQLite creates beside a database inherit
 *  its permissions. */
export function makePrivate(path: string): void {
  try {
    closeSync(openSync(path, 'a', 0o600));
  } catch (error) {
    throw fileFailure(path, error);
  }
}

/** Makes files private that an earlier version left open in a data folder. */
export async function closeContents(folder: string): Promise<void> {
  for (const name of (await readdir(folder)).filter((one) => ours.test(one))) await closeBelow(join(folder, name));
}

/** Makes a file private, or a folder with everything in it. Links are not followed; files of other users are left alone. If a
 *  file system has no permissions, nothing happens. */
export async function closeBelow(path: string): Promise<void> {
  const stat = await lstat(path).catch(() => null);
  if (!stat || !(stat.isFile() || stat.isDirectory())) return;
  if (mayChange(stat) && (stat.mode & openToOthers) !== 0) {
    await chmod(path, stat.mode & 0o700).catch(() => {});
  }
  if (!stat.isDirectory()) return;
  for (const name of await readdir(path).catch(() => [])) await closeBelow(join(path, name));
}

const mayChange = ({ uid }: Pick<Stats, 'uid'>) => process.getuid === undefined || process.getuid() === uid;

/** @throws LonghandError `permission` for a folder that cannot be accessed because it belongs to another user */
export function needReadable(folder: string): void {
  if (!existsSync(folder)) return;
  try {
    accessSync(folder, constants.R_OK | constants.X_OK);
  } catch {
    throw othersFolder(folder, folder);
  }
}

/** An error that names the owner of a file. */
export function othersFolder(folder: string, path: string): LonghandError {
  let uid: number | string;
  try {
    uid = statSync(path).uid;
  } catch {
    uid = 'unknown';
  }
  return new LonghandError(
    'permission',
    `[data folder] ${path} belongs to another user of this computer (user id ${uid}); choose another folder with --data or LONGHAND_DATA_DIR`,
    { details: { folder, path, owner: uid } },
  );
}
