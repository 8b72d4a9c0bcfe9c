import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { LonghandError } from '../../protocol/index.ts';
import type { Database } from './database.ts';

export type Migration = { number: number; name: string; sql: string };

/** The files `NNNN-name.sql` of a folder, in order. Numbers start at 1 without gaps. */
export function readMigrations(folder: string): Migration[] {
  const names = readdirSync(folder)
    .filter((name) => name.endsWith('.sql'))
    .sort();
  return names.map((name, index) => {
    const number = Number.parseInt(name, 10);
    if (number !== index + 1) throw new Error(`[migrations] "${name}" stands where number ${index + 1} is expected`);
    return { number, name, sql: readFileSync(join(folder, name), 'utf8') };
  });
}

export const versionOf = (db: Database): number => Number(db.get('PRAGMA user_version')?.user_version ?? 0);

/** Migrations that `db` still needs. @throws LonghandError `database-newer` */
export function pending(db: Database, migrations: Migration[]): Migration[] {
  const version = versionOf(db);
  if (version > migrations.length) {
    throw new LonghandError(
      'database-newer',
      `[database] version ${version} was written by a newer Longhand; this one knows up to ${migrations.length}`,
      { details: { path: db.path, version, known: migrations.length } },
    );
  }
  return migrations.slice(version);
}

/** Runs each migration atomically together with its version number. */
export function migrate(db: Database, migrations: Migration[]): void {
  for (const { number, sql } of migrations) {
    db.transaction(() => {
      db.script(sql);
      db.script(`PRAGMA user_version = ${number}`);
    });
  }
}
