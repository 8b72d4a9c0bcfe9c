// Backups: which there are, and when the next one is due.
import { mkdirSync, utimesSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { expect, test } from 'vitest';
import { backupDue, damage, flaw, flawAside, listBackups } from '../../../../app/store/database/backups.ts';
import { openDatabase } from '../../../../app/store/database/database.ts';
import { createDatabaseThread } from '../../../../app/store/database/database-thread.ts';
import { migrate, pending, readMigrations } from '../../../../app/store/database/migrate.ts';
import { isLost } from '../../../../app/store/database/recover.ts';
import { inMemory, migrations, newFolder } from '../support.ts';

const day = 86_400_000;
const NOON = Date.UTC(2031, 2, 14, 12);

/** A data folder with backups of these times. */
function backedUp(files: Record<string, number>) {
  const folder = newFolder();
  mkdirSync(join(folder, 'backups'));
  for (const [name, at] of Object.entries(files)) {
    const path = join(folder, 'backups', name);
    writeFileSync(path, '');
    utimesSync(path, at / 1000, at / 1000);
  }
  return folder;
}

test('backups are listed with the newest first; what is half written is none', () => {
  const folder = backedUp({
    'daily-a.db': NOON,
    'before-update-b.db': NOON + day,
    'daily-c.db.part': NOON,
    'daily-0.db': NOON - day,
  });
  expect(listBackups(folder).map(({ path, at }) => [basename(path), at])).toEqual([
    ['before-update-b.db', NOON + day],
    ['daily-a.db', NOON],
    ['daily-0.db', NOON - day],
  ]);
  expect(listBackups(newFolder())).toEqual([]);
  const blocked = newFolder();
  writeFileSync(join(blocked, 'backups'), '');
  expect(() => listBackups(blocked)).toThrow(`${join(blocked, 'backups')} is a file; a folder is needed`);
});

test('a backup is due a day after the last one of a day, or when the clock was set back by as much; others do not count', () => {
  const folder = backedUp({ 'daily-a.db': NOON, 'before-update-b.db': NOON + day });
  const due = (after: number) => backupDue(folder, NOON + after);
  expect([due(0), due(day - 1), due(day), due(1 - day), due(-day)]).toEqual([false, false, true, false, true]);
  expect(backupDue(backedUp({ 'before-update-b.db': NOON }), NOON)).toBe(true);
});

test('what is wrong with a file is said; a sound one, and a missing folder, are told apart', async () => {
  const folder = newFolder();
  const path = join(folder, 'a.db');
  openDatabase(path).close();
  expect([flaw(path, 'integrity_check'), damage(path, 'quick_check')]).toEqual([null, null]);
  writeFileSync(path, 'no database at all'.repeat(400));
  for (const told of [damage, flaw]) expect(told(path, 'quick_check')).toContain('not a database');
  const thread = createDatabaseThread();
  expect(await flawAside(thread, path, 'quick_check')).toContain('not a database');
  const missing = join(folder, 'nowhere', 'a.db');
  expect(() => flaw(missing, 'quick_check')).toThrow(expect.objectContaining({ code: 'permission' }));
  // It says nothing about a backup that it cannot be opened now: nobody may take it for a damaged one, and remove it.
  await expect(flawAside(thread, missing, 'quick_check')).rejects.toMatchObject({ code: 'permission' });
  thread.close();
  expect(damage(missing, 'quick_check')).toContain('unable to open');
});

test('a database is lost only where there are backups of it', () => {
  const without = newFolder();
  expect(isLost(without, join(without, 'longhand.db'))).toBe(false);
  const folder = backedUp({ 'daily-a.db': NOON });
  const path = join(folder, 'longhand.db');
  expect(isLost(folder, path)).toBe(true);
  const db = openDatabase(path);
  db.script('CREATE TABLE one (a)');
  db.close();
  expect(isLost(folder, path)).toBe(false);
});

test('migrations are numbered without a gap; those that a database has are not run again, and a newer one is refused', () => {
  const all = readMigrations(migrations);
  expect(all.map(({ number }) => number)).toEqual(all.map((_, at) => at + 1));
  const db = inMemory();
  expect(pending(db, all)).toEqual([]);
  expect(() => pending(db, all.slice(0, -1))).toThrow(
    expect.objectContaining({
      code: 'database-newer',
      details: { path: ':memory:', version: all.length, known: all.length - 1 },
    }),
  );
  const fresh = openDatabase(':memory:', { vectors: true });
  migrate(fresh, all.slice(0, 3));
  expect(pending(fresh, all)).toEqual(all.slice(3));
  fresh.close();
  const folder = newFolder();
  for (const name of ['0001-one.sql', '0003-three.sql', 'README.md']) writeFileSync(join(folder, name), '');
  expect(() => readMigrations(folder)).toThrow('[migrations] "0003-three.sql" stands where number 2 is expected');
});
