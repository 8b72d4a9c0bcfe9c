import { chmodSync, copyFileSync, existsSync, renameSync, rmSync } from 'node:fs';
import { LonghandError } from '../../protocol/index.ts';
import { damage, listBackups, syncFile } from './backups.ts';
import { type Database, openDatabase, type Value } from './database.ts';
import { type Migration, migrate, versionOf } from './migrate.ts';

export type Restored = { backup: string | null; backupAt: number | null; damaged: string };

/** Whether the database is missing or empty although backups exist. */
export function isLost(folder: string, path: string): boolean {
  if (listBackups(folder).length === 0) return false;
  if (!existsSync(path)) return true;
  const db = openDatabase(path);
  try {
    return versionOf(db) === 0 && db.get("SELECT name FROM sqlite_schema WHERE type = 'table'") === undefined;
  } finally {
    db.close();
  }
}

/** Replaces a damaged or lost database with the newest intact backup. The old file stays beside it under another
 *  name. */
export async function restore(folder: string, path: string, now: number): Promise<Restored> {
  const damaged = `${path.replace(/\.db$/, '')}-damaged-${new Date(now).toISOString().replaceAll(':', '-').slice(0, 19)}.db`;
  for (const suffix of ['', '-wal', '-shm']) {
    if (existsSync(path + suffix)) renameSync(path + suffix, damaged + suffix);
  }
  const sound = listBackups(folder).find((one) => damage(one.path, 'quick_check') === null);
  if (!sound) return { backup: null, backupAt: null, damaged };
  const part = `${path}.part`;
  copyFileSync(sound.path, part);
  chmodSync(part, 0o600);
  await syncFile(part);
  renameSync(part, path);
  return { backup: sound.path, backupAt: Math.round(sound.at), damaged };
}

export type Salvaged = { chats: number; messages: number };

/** Copies every row of the damaged file that is still readable and newer or missing into `db`. A file of an older version
 *  is migrated first, in a copy of its readable part. */
export function salvage(db: Database, damaged: string, migrations: readonly Migration[]): Salvaged {
  let source: Database;
  try {
    source = openDatabase(damaged);
  } catch {
    return { chats: 0, messages: 0 };
  }
  const version = orDamaged(() => versionOf(source));
  if (version === 'damaged' || version === 0 || version >= migrations.length) return salvageFrom(source, db);
  const path = `${damaged}.readable`;
  removeDatabase(path);
  try {
    return salvageFrom(readableOf(source, path, migrations, version), db);
  } finally {
    removeDatabase(path);
  }
}

const KEYS = {
  chats: 'id',
  messages: 'id',
  attachments: 'id',
  tool_uses: 'id',
  collections: 'id',
  documents: 'id',
  runs: 'id',
  settings: 'key',
  models: 'id',
  library: 'one',
};

/** The readable rows of irreplaceable tables, in a database of the current version. Closes `source`. */
function readableOf(source: Database, path: string, migrations: readonly Migration[], version: number): Database {
  const copy = openDatabase(path, { vectors: true });
  try {
    migrate(copy, migrations.slice(0, version));
    copy.script('PRAGMA foreign_keys = OFF');
    copy.transaction(() => {
      for (const [table, key] of Object.entries(KEYS)) {
        if (columnsOf(copy, table).length === 0) continue;
        copy.run(`DELETE FROM ${table}`);
        copyRows(source, copy, table, 'TRUE', key);
      }
    });
    migrate(copy, migrations.slice(version));
    return copy;
  } catch (error) {
    copy.close();
    throw error;
  } finally {
    source.close();
  }
}

const removeDatabase = (path: string) => {
  for (const suffix of ['', '-wal', '-shm']) rmSync(path + suffix, { force: true });
};

function salvageFrom(source: Database, db: Database): Salvaged {
  try {
    db.script('PRAGMA foreign_keys = OFF');
    return db.transaction(() => {
      // Rows removed below were unreadable, not deleted by the user.
      const purged = db.get<{ last: number | null }>('SELECT MAX(number) AS last FROM purged')?.last ?? 0;
      const chats = copyRows(source, db, 'chats', 'excluded.updated_at > chats.updated_at');
      const messages = copyRows(source, db, 'messages', 'length(excluded.text) >= length(messages.text)');
      copyRows(source, db, 'attachments', 'TRUE');
      copyRows(source, db, 'tool_uses', 'TRUE');
      for (const table of ['messages', 'attachments']) {
        db.run(`DELETE FROM ${table} WHERE chat_id NOT IN (SELECT id FROM chats)`);
      }
      db.run('DELETE FROM tool_uses WHERE message_id NOT IN (SELECT id FROM messages)');
      copyRows(source, db, 'collections', 'FALSE');
      copyRows(source, db, 'documents', 'FALSE');
      copyRows(source, db, 'runs', 'FALSE');
      copySettings(source, db);
      // Columns of other versions may have a different meaning.
      if (sameVersion(source, db)) {
        copyRows(source, db, 'models', 'TRUE');
        copyRows(source, db, 'library', 'TRUE', 'one');
      }
      db.run('DELETE FROM documents WHERE collection_id NOT IN (SELECT id FROM collections)');
      // Documents are parsed again from their stored copies.
      db.run(`UPDATE documents SET status = 'queued', state = '{"status":"queued"}', passages = 0
        WHERE passages > 0 AND number NOT IN (SELECT document FROM passages)`);
      db.run('DELETE FROM purged WHERE number > ?', purged);
      return { chats, messages };
    });
  } finally {
    db.script('PRAGMA foreign_keys = ON');
    source.close();
  }
}

const giveUpAfter = 2000;

/** Copies row by row in rowid order, so that a torn page costs only its own rows. Returns how many were new or newer. */
function copyRows(source: Database, target: Database, table: string, newer: string, key = 'id'): number {
  const there = columnsOf(source, table);
  const columns = columnsOf(target, table).filter((name) => there.length === 0 || there.includes(name));
  const list = columns.join(', ');
  const update = columns.map((name) => `${name} = excluded.${name}`).join(', ');
  const insert = `INSERT INTO ${table} (${list}) VALUES (${columns.map(() => '?').join(', ')})
    ON CONFLICT (${key}) DO UPDATE SET ${update} WHERE ${newer}`;
  const nextAfter = (place: number) =>
    source.get<Record<string, Value> & { place: number }>(
      `SELECT rowid AS place, ${list} FROM ${table} WHERE rowid > ? ORDER BY rowid LIMIT 1`,
      place,
    );
  let copied = 0;
  let failures = 0;
  for (let after = 0; failures < giveUpAfter; ) {
    const row = orDamaged(() => nextAfter(after));
    if (row === undefined) break;
    if (row === 'damaged') {
      after++;
      failures++;
      continue;
    }
    after = row.place;
    failures = 0;
    copied += put(
      target,
      insert,
      columns.map((name) => row[name] ?? null),
    );
  }
  return copied;
}

/** Few rows, copied at once. */
function copySettings(source: Database, target: Database) {
  const rows = orDamaged(() => source.all<{ key: string; value: string }>('SELECT key, value FROM settings'));
  if (rows === 'damaged') return;
  const insert = 'INSERT INTO settings VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value';
  for (const { key, value } of rows) put(target, insert, [key, value]);
}

function orDamaged<T>(read: () => T): T | 'damaged' {
  try {
    return read();
  } catch {
    return 'damaged';
  }
}

/** Skips a row that is invalid or whose parent is lost; rethrows if the disk is full. */
function put(target: Database, insert: string, values: Value[]): number {
  try {
    return target.run(insert, ...values).changes;
  } catch (error) {
    if (error instanceof LonghandError && error.code !== 'internal') throw error;
    return 0;
  }
}

const columnsOf = (db: Database, table: string): string[] => {
  const rows = orDamaged(() => db.all<{ name: string }>(`SELECT name FROM pragma_table_info('${table}')`));
  return rows === 'damaged' ? [] : rows.map(({ name }) => name);
};

function sameVersion(source: Database, target: Database): boolean {
  return orDamaged(() => versionOf(source)) === versionOf(target);
}
