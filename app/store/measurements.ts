import type { Database } from './database/database.ts';

/** Measurements of this machine, by name. */
export const readMeasurement = (db: Database, name: string): number | null =>
  db.get<{ value: number }>('SELECT value FROM measurements WHERE name = ?', name)?.value ?? null;

export const keepMeasurement = (db: Database, name: string, value: number, now: number) =>
  db.run('INSERT OR REPLACE INTO measurements (name, value, at) VALUES (?, ?, ?)', name, value, now);
