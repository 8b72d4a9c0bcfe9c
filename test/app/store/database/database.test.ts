// Writing: what belongs together, what is told of it, and errors of SQLite in our words.
import { expect, test } from 'vitest';
import { fold } from '../../../../app/store/database/case-fold.ts';
import { keepLogShort } from '../../../../app/store/database/checkpoints.ts';
import { codeOf, openDatabase } from '../../../../app/store/database/database.ts';
import { reachOf } from '../../../../app/store/lock.ts';
import { newFolder } from '../support.ts';

function opened() {
  const wrote: number[] = [];
  const db = openDatabase(`${newFolder()}/a.db`, { wrote: (rows) => wrote.push(rows) });
  db.script('CREATE TABLE one (a INTEGER PRIMARY KEY)');
  return { db, wrote, values: () => db.all<{ a: number }>('SELECT a FROM one ORDER BY a').map(({ a }) => a) };
}

test('what fails within a transaction undoes all of it, also what is in one of its own inside; what succeeds is told once', async () => {
  const { db, wrote, values } = opened();
  const add = (a: number) => db.run('INSERT INTO one VALUES (?)', a);
  db.transaction(() => {
    add(1);
    db.transaction(() => add(2));
    db.passing(() => add(3));
  });
  expect([values(), wrote]).toEqual([[1, 2, 3], [4]]);
  expect(() =>
    db.transaction(() => {
      db.transaction(() => add(4));
      add(1);
    }),
  ).toThrow('UNIQUE');
  expect(values()).toEqual([1, 2, 3]);
  expect(db.transaction(() => 'found')).toBe('found');
  add(5);
  expect(wrote.slice(-1)).toEqual([expect.any(Number)]);
  expect(db.run('DELETE FROM one WHERE a > 2')).toEqual({ changes: 2 });
  expect(values()).toEqual([1, 2]);
  expect(await db.allOnThread('SELECT a FROM one WHERE a > ?', 1)).toEqual([{ a: 2 }]);
  await expect(db.allOnThread('SELECT b FROM one')).rejects.toThrow(`[database] ${db.path}: no such column: b`);
  db.close();
});

test('a transaction that may be lost is followed by those that may not', () => {
  const { db } = opened();
  const synchronous = () => db.get<{ synchronous: number }>('PRAGMA synchronous')?.synchronous;
  db.script('PRAGMA synchronous = FULL');
  expect(db.passing(() => synchronous())).toBe(1);
  expect(synchronous()).toBe(2);
  expect(() =>
    db.passing(() => {
      throw new Error('torn');
    }),
  ).toThrow('torn');
  expect(synchronous()).toBe(2);
  db.close();
});

test.each([
  [3, 'permission'],
  [5, 'conflict'],
  [261, 'conflict'],
  [8, 'read-only'],
  [11, 'database-corrupt'],
  [26, 'database-corrupt'],
  [13, 'disk-full'],
  [14, 'permission'],
  [1, 'internal'],
  [undefined, 'internal'],
  ['5', 'internal'],
])('%s of SQLite is %s', (code, as) => {
  expect(codeOf(code)).toBe(as);
});

test('the log is written into the database after every 200 rows, one time after the other', async () => {
  const ends: (() => void)[] = [];
  const thread = { checkpoint: () => new Promise((end) => ends.push(() => end({ problem: null }))) } as never;
  const wrote = keepLogShort(thread, '/a');
  wrote(199);
  expect(ends).toHaveLength(0);
  wrote(1);
  expect(ends).toHaveLength(1);
  wrote(500);
  expect(ends).toHaveLength(1);
  ends[0]?.();
  await new Promise((go) => setImmediate(go));
  wrote(1);
  expect(ends).toHaveLength(2);
  ends[1]?.();
  await new Promise((go) => setImmediate(go));
  wrote(199);
  expect(ends).toHaveLength(2);
});

test('every character is folded in its place, whatever the script', () => {
  for (const [text, folded] of [
    ['Plain TEXT 1', 'plain text 1'],
    ['Ærø ÇA', 'ærø ca'],
    ['İstanbul', 'istanbul'],
    ['ΑΒΓ Ёлка', 'αβγ елка'],
    ['a\ud83d\ude80É', 'a\ud83d\ude80e'],
  ] as const)
    for (const time of ['once', 'again']) expect(fold(text), time).toBe(folded);
});

test('a note names a place on this computer with a key, or none', () => {
  const key = 'k'.repeat(43);
  const note = { address: 'http://127.0.0.1:4817', key };
  expect(reachOf({ ...note, pid: 1 })).toEqual(note);
  for (const wrong of [
    null,
    undefined,
    {},
    { address: note.address },
    { ...note, key: 'k'.repeat(42) },
    { ...note, key: `${'k'.repeat(42)}/` },
    { ...note, address: 'http://127.0.0.1.evil.example:4817' },
    { ...note, address: 'http://127.0.0.1:481700' },
    { ...note, address: 'https://127.0.0.1:4817' },
    { ...note, address: 4817 },
  ])
    expect(reachOf(wrong)).toBeNull();
});

test('in queries texts are folded as everywhere, and no text is an empty one', () => {
  const { db } = opened();
  const folded = (value: string | number | null) => db.get<{ text: string }>('SELECT fold(?) AS text', value)?.text;
  expect([folded('ÄPFEL Straße'), folded(7), folded(null)]).toEqual([fold('ÄPFEL Straße'), '7', '']);
  db.close();
});
