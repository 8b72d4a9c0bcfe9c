import { existsSync, mkdirSync, readdirSync, renameSync, rmSync, statSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { type ErrorCode, LonghandError } from '../../protocol/index.ts';
import { makePrivate } from '../folder/permissions.ts';
import { codeOf, type Database, openDatabase } from './database.ts';
import type { Check, DatabaseThread } from './database-thread.ts';

const maxCopies = 7;
const dayMs = 24 * 60 * 60 * 1000;

export type Backup = { path: string; at: number };
/** An open data folder. */
export type OpenFolder = { readonly db: Database; readonly thread: DatabaseThread; readonly folder: string };

const folderOf = (folder: string) => join(folder, 'backups');

/** All backups, newest first. @throws LonghandError `bad-request` if a file has the folder's name */
export function listBackups(folder: string): Backup[] {
  if (!existsSync(folderOf(folder))) return [];
  if (!statSync(folderOf(folder)).isDirectory())
    throw new LonghandError('bad-request', `[backups] ${folderOf(folder)} is a file; a folder is needed`);
  return readdirSync(folderOf(folder))
    .filter((name) => name.endsWith('.db'))
    .map((name) => join(folderOf(folder), name))
    .map((path) => ({ path, at: statSync(path).mtimeMs }))
    .sort((a, b) => b.at - a.at);
}

/** Copies the database to `backups/<label>-<time>.db`. Incomplete copies never have that name, and a copy that does
 *  not pass the integrity check is deleted. */
export async function backUp(
  { db, thread, folder }: OpenFolder,
  label: 'daily' | 'before-update',
  now: number,
): Promise<string> {
  mkdirSync(folderOf(folder), { recursive: true, mode: 0o700 });
  const stamp = new Date(now).toISOString().replaceAll(':', '-').slice(0, 19);
  const path = join(folderOf(folder), `${label}-${stamp}.db`);
  const part = `${path}.part`;
  rmSync(part, { force: true });
  try {
    makePrivate(part);
    await db.copyTo(part);
    const { problem } = await thread.check(part, 'integrity_check');
    if (problem) throw new Error(`[backup] ${part}: ${problem}`);
    await syncFile(part);
    renameSync(part, path);
  } finally {
    for (const rest of [part, `${part}-wal`, `${part}-shm`]) rmSync(rest, { force: true });
  }
  for (const old of listBackups(folder)
    .filter((one) => one.path.includes(`${label}-`))
    .slice(maxCopies)) {
    rmSync(old.path, { force: true });
  }
  return path;
}

/** Whether a day has passed since the last one, or the clock was set back before it. */
export function backupDue(folder: string, now: number): boolean {
  const [last] = listBackups(folder).filter((one) => one.path.includes('daily-'));
  return !last || Math.abs(now - last.at) >= dayMs;
}

/** Why a file cannot be used as a database, or null. */
export function damage(path: string, check: Check): string | null {
  try {
    return flaw(path, check);
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

/** Errors that say nothing about the file itself. */
const passing: readonly ErrorCode[] = ['conflict', 'disk-full', 'permission', 'read-only'];

/** The problem of a database file, or null. `quick_check` omits the comparison of indexes with tables.
 *  @throws LonghandError if it cannot be checked: locked, no permission, disk full */
export function flaw(path: string, check: Check): string | null {
  let db: Database | null = null;
  try {
    db = openDatabase(path);
    const problems = db.all<{ result: string }>(`SELECT ${check} AS result FROM pragma_${check}`);
    const first = problems[0]?.result ?? 'no answer';
    return first === 'ok' ? null : first;
  } catch (error) {
    if (error instanceof LonghandError && passing.includes(error.code)) throw error;
    return error instanceof Error ? error.message : String(error);
  } finally {
    db?.close();
  }
}

/** The same on the database thread. */
export async function flawAside(thread: DatabaseThread, path: string, check: Check): Promise<string | null> {
  const { problem, errcode } = await thread.check(path, check);
  if (passing.includes(codeOf(errcode))) throw new LonghandError(codeOf(errcode), `[database] ${path}: ${problem}`);
  return problem;
}

export async function syncFile(path: string) {
  const file = await open(path, 'r+');
  try {
    await file.sync();
  } finally {
    await file.close();
  }
}
