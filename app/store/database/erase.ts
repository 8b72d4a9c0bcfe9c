import { rmSync } from 'node:fs';
import { chmod, copyFile, rename, stat, utimes } from 'node:fs/promises';
import { LonghandError } from '../../protocol/index.ts';
import { type Backup, flawAside, listBackups, type OpenFolder, syncFile } from './backups.ts';
import { type Database, openDatabase } from './database.ts';
import type { DatabaseThread } from './database-thread.ts';

//  Secure erasure of purged data: SQLite overwrites deleted rows (secure_delete), but a full-text index only
//  marks a row as deleted and keeps its words until its segments are merged, the write-ahead log keeps old pages, and the
//  backups keep everything. The table `purged` lists pending erasures; it is cleared when all steps are done, so that an interrupted
//  run is continued by the next.

const indexes = ['message_search', 'passage_words', 'passage_codes'];
/** Index pages merged per step: 1.3 ms of processor time, at most 4.2 (20,000 messages of 200 words, a third of them deleted). */
const pages = 16;

type Purged = { number: number; place: string; id: string };

export type Eraser = {
  /** Performs pending erasures. Rejects on failure; the next call retries. */
  run(): Promise<void>;
  /** Stops after the current step. */
  close(): void;
};

export function createEraser({ db, folder, thread }: OpenFolder): Eraser {
  let closed = false;
  let last: Promise<void> = Promise.resolve();
  const breathe = async () => {
    await new Promise((go) => setImmediate(go));
    return !closed;
  };

  async function erase() {
    const purged = db.all<Purged>('SELECT number, place, id FROM purged ORDER BY number');
    const last = purged.at(-1);
    if (last === undefined) return;
    if (!(await mergeAll(db, breathe))) return;
    for (const backup of listBackups(folder)) {
      if (!(await eraseIn(thread, backup, purged, breathe))) return;
    }
    db.run('DELETE FROM purged WHERE number <= ?', last.number);
    // First checkpoint without blocking writers: emptying the log blocks them.
    await thread.checkpoint(db.path);
    await thread.checkpoint(db.path, true);
  }

  return {
    run() {
      last = last.catch(() => {}).then(erase);
      return last;
    },
    close() {
      closed = true;
    },
  };
}

/** Merges the full-text indexes until none contains a deleted row. False if stopped by `goOn`. */
async function mergeAll(db: Database, goOn: () => Promise<boolean>): Promise<boolean> {
  for (const index of indexes) {
    if (!db.get('SELECT 1 FROM sqlite_schema WHERE name = ?', index)) continue;
    // The first call, with a negative number, assigns all segments to one merge; later calls continue it.
    for (let wanted = -pages; ; wanted = pages) {
      if (!(await goOn())) return false;
      const before = changes(db);
      db.passing(() => db.run(`INSERT INTO ${index} (${index}, rank) VALUES ('merge', ?)`, wanted));
      // https://sqlite.org/fts5.html#the_merge_command
      if (changes(db) - before < 2) break;
    }
  }
  return true;
}

const changes = (db: Database): number => db.get<{ count: number }>('SELECT total_changes() AS count')?.count ?? 0;

/** Erases purged data from a backup: in a copy that replaces it and keeps its timestamp. A damaged backup is
 *  deleted. */
async function eraseIn(
  thread: DatabaseThread,
  { path }: Backup,
  purged: readonly Purged[],
  goOn: () => Promise<boolean>,
): Promise<boolean> {
  if ((await flawAside(thread, path, 'quick_check')) !== null) {
    rmSync(path, { force: true });
    return true;
  }
  const part = `${path}.part`;
  const { atime, mtime } = await stat(path);
  try {
    await copyFile(path, part);
    // The copy inherits permissions, which an earlier version may have left open.
    await chmod(part, 0o600);
    if (!(await eraseRows(part, purged, goOn))) return false;
    await syncFile(part);
    await utimes(part, atime, mtime);
    await rename(part, path);
    return true;
  } finally {
    for (const rest of [part, `${part}-wal`, `${part}-shm`, `${part}-journal`]) rmSync(rest, { force: true });
  }
}

async function eraseRows(path: string, purged: readonly Purged[], goOn: () => Promise<boolean>): Promise<boolean> {
  const db = openDatabase(path);
  try {
    db.script('PRAGMA foreign_keys = ON; PRAGMA secure_delete = ON; PRAGMA temp_store = MEMORY');
    for (const { place, id } of purged) {
      if (!(await goOn())) return false;
      if (place !== '') removeFrom(db, place, id);
    }
    if (!(await mergeAll(db, goOn))) return false;
    if (db.get('SELECT 1 FROM sqlite_schema WHERE name = ?', 'purged')) db.run('DELETE FROM purged');
    return true;
  } finally {
    // Closing the last connection checkpoints and removes the log.
    db.close();
  }
}

function removeFrom(db: Database, place: string, id: string): void {
  try {
    db.run(`DELETE FROM ${place} WHERE id = ?`, id);
  } catch (error) {
    // A backup from before collections or documents existed.
    if (error instanceof LonghandError && /no such table/.test(error.message)) return;
    throw error;
  }
}
