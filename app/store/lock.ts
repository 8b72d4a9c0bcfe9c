import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { LonghandError } from '../protocol/index.ts';
import { type Database, openDatabase } from './database/database.ts';
import { readRegularSync } from './folder/open-regular.ts';
import { makePrivate, othersFolder } from './folder/permissions.ts';

const MAX_NOTE = 4096;

/** Address of the holder, and the key for it. */
export type Reach = { address: string; key: string };
export type Holder = { pid: number; since: number } & Partial<Reach>;

export type FolderLock = {
  /** Publishes the holder's address. */
  announce(reach: Reach): void;
  release(): void;
};

/** Locks the data folder for this process. The lock is the operating system's lock on an SQLite file, so it ends with the
 *  process however it dies, and two processes cannot both get it. The text beside it only names the holder.
 *  @throws LonghandError `data-folder-held`, with the holder in `details` */
export function lockFolder(folder: string, now = Date.now()): FolderLock {
  const note = join(folder, 'longhand.lock.json');
  const path = join(folder, 'longhand.lock');
  let db: Database | null = null;
  try {
    makePrivate(path);
    db = openDatabase(path);
    take(db);
  } catch (error) {
    db?.close();
    if (error instanceof LonghandError && (error.code === 'read-only' || error.code === 'permission')) {
      throw othersFolder(folder, path);
    }
    if (!(error instanceof LonghandError) || error.code !== 'conflict') throw error;
    const holder = readHolder(note);
    throw new LonghandError(
      'data-folder-held',
      `[data folder] ${folder} is used by process ${holder?.pid ?? 'unknown'}`,
      {
        details: { folder, ...holder },
      },
    );
  }
  const mine: Holder = { pid: process.pid, since: now };
  const held = db;
  // Recreated, because an old file might have other permissions.
  const say = (holder: Holder) => {
    rmSync(note, { recursive: true, force: true });
    writeFileSync(note, JSON.stringify(holder), { mode: 0o600, flag: 'wx' });
  };
  say(mine);
  return {
    announce: (reach) => say({ ...mine, ...reach }),
    release() {
      rmSync(note, { force: true });
      held.close();
    },
  };
}

function take(db: Database) {
  db.script('PRAGMA busy_timeout = 0; PRAGMA journal_mode = DELETE; PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE');
}

/** Parses the address in a note. Anyone with write access could put any address there: only local ones are accepted. */
export function reachOf(note: unknown): Reach | null {
  const { address, key } = (note ?? {}) as Partial<Record<keyof Reach, unknown>>;
  if (typeof address !== 'string' || !/^http:\/\/127\.0\.0\.1:\d{1,5}$/.test(address)) return null;
  return typeof key === 'string' && /^[\w-]{43}$/.test(key) ? { address, key } : null;
}

/** The holder of the folder, if given. */
export function readHolder(note: string): Holder | null {
  try {
    const value: unknown = JSON.parse(readRegularSync(note, MAX_NOTE).toString());
    return typeof value === 'object' && value !== null && 'pid' in value ? (value as Holder) : null;
  } catch {
    return null;
  }
}
