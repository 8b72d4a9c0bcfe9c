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

//  Chats are read by nobody but their owner. Every process that writes has the umask 077; what an earlier version left open to
//  others is closed here. Only what Longhand itself makes is touched: the folder may be one that holds other things as well.

const ours =
  /^(longhand([.-].*)?|backups|models|documents|packed|logs|linked|shell|uploads|opened|browser-[\w-]+|tokens\.json(\.new)?)$/;
const openToOthers = 0o077;

/** Closes the data folder, unless it holds what is not ours. At once, since it shuts everything that is in it. */
export function closeFolder(folder: string): void {
  const foreign = readdirSync(folder).some((name) => !ours.test(name) && !name.startsWith('.'));
  const stat = statSync(folder);
  if (!foreign && mayChange(stat) && (stat.mode & openToOthers) !== 0) chmodSync(folder, 0o700);
}

/** Makes a file that nobody else can read before anything is written into it. The files that SQLite puts beside a database have
 *  its rights. */
export function makePrivate(path: string): void {
  try {
    closeSync(openSync(path, 'a', 0o600));
  } catch (error) {
    throw fileFailure(path, error);
  }
}

/** Closes what an earlier version left open in a data folder. */
export async function closeContents(folder: string): Promise<void> {
  for (const name of (await readdir(folder)).filter((one) => ours.test(one))) await closeBelow(join(folder, name));
}

/** Closes a file, or a folder with everything in it. Links are not followed; what belongs to somebody else is left. Where a
 *  volume knows no rights nothing happens. */
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

/** @throws LonghandError `permission` for a folder that may not even be looked at: it is another user's */
export function needReadable(folder: string): void {
  if (!existsSync(folder)) return;
  try {
    accessSync(folder, constants.R_OK | constants.X_OK);
  } catch {
    throw othersFolder(folder, folder);
  }
}

/** Which user's a file is, as a sentence. */
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
