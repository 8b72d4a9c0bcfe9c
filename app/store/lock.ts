import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { LonghandError } from '../protocol/index.ts';
import { type Database, openDatabase } from './database.ts';

export type Holder = { pid: number; since: number; address?: string };

export type FolderLock = {
  /** Tells others where the holder can be reached. */
  announce(address: string): void;
  release(): void;
};

/** Takes the data folder for this process. The lock is the operating system's lock on an SQLite file, so it ends with the
 *  process however that dies, and two processes cannot both get it. The text beside it only says who has it.
 *  @throws LonghandError `data-folder-held`, with the holder in `details` */
export function lockFolder(folder: string, now = Date.now()): FolderLock {
  const note = join(folder, 'longhand.lock.json');
  const db = openDatabase(join(folder, 'longhand.lock'));
  try {
    take(db);
  } catch (error) {
    db.close();
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
  writeFileSync(note, JSON.stringify(mine), { mode: 0o600 });
  return {
    announce(address) {
      writeFileSync(note, JSON.stringify({ ...mine, address }), { mode: 0o600 });
    },
    release() {
      rmSync(note, { force: true });
      db.close();
    },
  };
}

function take(db: Database) {
  db.script('PRAGMA busy_timeout = 0; PRAGMA journal_mode = DELETE; PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE');
}

/** Who holds the folder, as far as it says. */
export function readHolder(note: string): Holder | null {
  try {
    const value: unknown = JSON.parse(readFileSync(note, 'utf8'));
    return typeof value === 'object' && value !== null && 'pid' in value ? (value as Holder) : null;
  } catch {
    return null;
  }
}
