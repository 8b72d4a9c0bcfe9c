import { rmSync } from 'node:fs';
import { chmod, copyFile, rename, stat, utimes } from 'node:fs/promises';
import { LonghandError } from '../../protocol/index.ts';
import { type Backup, flawAside, listBackups, type OpenFolder, syncFile } from './backups.ts';
import { type Database, openDatabase } from './database.ts';
import type { DatabaseThread } from './database-thread.ts';

//  What is removed for good leaves nothing behind: SQLite overwrites deleted rows (secure_delete), but a full-text index only
//  notes that a row is gone and keeps its words until its parts are merged, the write-ahead log keeps the old pages, and the
//  backups keep everything. `purged` says what went; it is emptied when the last of those is done, so that a start that ends in
//  the middle is followed by one that goes on.

const indexes = ['message_search', 'passage_words', 'passage_codes'];
/** Of an index, merged at once: 1.3 ms of processor time, 4.2 at most (20,000 messages of 200 words, a third of them removed). */
const pages = 16;

type Purged = { number: number; place: string; id: string };

export type Eraser = {
  /** Erases what waits for it. Rejects when something could not be done; it is tried again with the next call. */
  run(): Promise<void>;
  /** Ends after the step that is being done. */
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
    // Nearly all of it while others go on writing: emptying the log holds them up.
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

/** Merges the word indexes until none holds a row that is gone. False when `goOn` said so. */
async function mergeAll(db: Database, goOn: () => Promise<boolean>): Promise<boolean> {
  for (const index of indexes) {
    if (!db.get('SELECT 1 FROM sqlite_schema WHERE name = ?', index)) continue;
    // The first call, with a number below zero, gathers all parts into one; the others go on with that.
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

/** Removes from a backup what was removed since: in a copy, which takes its place and its time. One that is damaged is of no use
 *  and goes. */
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
    // A copy has the rights of what it was made from, which an earlier version may have left open until a moment ago.
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
    // The last to close a database writes its log into it and removes the log.
    db.close();
  }
}

function removeFrom(db: Database, place: string, id: string): void {
  try {
    db.run(`DELETE FROM ${place} WHERE id = ?`, id);
  } catch (error) {
    // A backup of a time before there were collections or documents.
    if (error instanceof LonghandError && /no such table/.test(error.message)) return;
    throw error;
  }
}
