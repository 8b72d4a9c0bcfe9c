import { chmodSync, copyFileSync, existsSync, renameSync } from 'node:fs';
import { damage, listBackups, syncFile } from './backups.ts';
import { type Database, openDatabase, type Value } from './database.ts';

export type Restored = { backup: string | null; backupAt: number | null; damaged: string };

/** Puts the newest sound backup in the place of a damaged database. The damaged files stay beside it under another name. */
export function restore(folder: string, path: string, now: number): Restored {
  const damaged = `${path.replace(/\.db$/, '')}-damaged-${new Date(now).toISOString().replaceAll(':', '-').slice(0, 19)}.db`;
  for (const suffix of ['', '-wal', '-shm']) {
    if (existsSync(path + suffix)) renameSync(path + suffix, damaged + suffix);
  }
  const sound = listBackups(folder).find((one) => damage(one.path, 'quick_check') === null);
  if (!sound) return { backup: null, backupAt: null, damaged };
  const part = `${path}.part`;
  copyFileSync(sound.path, part);
  chmodSync(part, 0o600);
  syncFile(part);
  renameSync(part, path);
  return { backup: sound.path, backupAt: Math.round(sound.at), damaged };
}

export type Salvaged = { chats: number; messages: number };

/** Adds to `db` every row of the damaged file that can still be read and is newer or not there. */
export function salvage(db: Database, damaged: string): Salvaged {
  let source: Database;
  try {
    source = openDatabase(damaged);
  } catch {
    return { chats: 0, messages: 0 };
  }
  try {
    db.script('PRAGMA foreign_keys = OFF');
    return db.transaction(() => {
      const chats = copyRows(source, db, 'chats', 'excluded.updated_at > chats.updated_at');
      const messages = copyRows(source, db, 'messages', 'length(excluded.text) >= length(messages.text)');
      copyRows(source, db, 'attachments', 'TRUE');
      for (const table of ['messages', 'attachments']) {
        db.run(`DELETE FROM ${table} WHERE chat_id NOT IN (SELECT id FROM chats)`);
      }
      copyRows(source, db, 'collections', 'FALSE');
      copyRows(source, db, 'documents', 'FALSE');
      db.run('DELETE FROM documents WHERE collection_id NOT IN (SELECT id FROM collections)');
      // What was read of them is read again from the kept copies.
      db.run(`UPDATE documents SET at = 'queued', state = '{"at":"queued"}', passages = 0
        WHERE passages > 0 AND number NOT IN (SELECT document FROM passages)`);
      return { chats, messages };
    });
  } finally {
    db.script('PRAGMA foreign_keys = ON');
    source.close();
  }
}

const giveUpAfter = 2000;

/** Row by row in order of rowid, so that a torn page costs only the rows on it. Returns how many were new or newer. */
function copyRows(source: Database, target: Database, table: string, newer: string): number {
  const columns = target.all<{ name: string }>(`SELECT name FROM pragma_table_info('${table}')`).map((row) => row.name);
  const list = columns.join(', ');
  const update = columns.map((name) => `${name} = excluded.${name}`).join(', ');
  const insert = `INSERT INTO ${table} (${list}) VALUES (${columns.map(() => '?').join(', ')})
    ON CONFLICT (id) DO UPDATE SET ${update} WHERE ${newer}`;
  let copied = 0;
  let failures = 0;
  for (let after = 0; failures < giveUpAfter; ) {
    try {
      const row = source.get<Record<string, Value> & { place: number }>(
        `SELECT rowid AS place, ${list} FROM ${table} WHERE rowid > ? ORDER BY rowid LIMIT 1`,
        after,
      );
      if (!row) break;
      after = row.place;
      copied += target.run(insert, ...columns.map((name) => row[name] ?? null)).changes;
      failures = 0;
    } catch {
      after++;
      failures++;
    }
  }
  return copied;
}
