import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { z } from 'zod';
import {
  isStoredId,
  storedId,
  storedInteger,
  storedJson,
  storedPath,
  storedWord,
} from '../../../../app/store/database/stored.ts';
import { knownServerKeys } from '../../../../app/store/server-keys.ts';
import { openStore } from '../../../../app/store/store.ts';
import { newFolder, places, root } from '../../../support/core/core.ts';

const Shape = z.object({ kind: z.enum(['a', 'b']) });

test.each([
  ['what was written', '{"kind":"b"}', { kind: 'b' }],
  ['no value', null, { kind: 'a' }],
  ['no JSON', '{"kind":', { kind: 'a' }],
  ['JSON of another shape', '{"kind":"c"}', { kind: 'a' }],
  ['a list', '[]', { kind: 'a' }],
  ['a list in lists without end', '['.repeat(1e5), { kind: 'a' }],
])('a JSON column: %s', (_, text, expected) => {
  expect(storedJson(Shape, text, { kind: 'a' })).toEqual(expected);
});

test('words, ids and numbers of a damaged row', () => {
  expect([storedWord(['a', 'b'], 'b', 'a'), storedWord(['a', 'b'], 'B', 'a')]).toEqual(['b', 'a']);
  expect(['', 'x', 'x'.repeat(64), 'x'.repeat(65)].map(isStoredId)).toEqual([false, true, true, false]);
  expect([storedId('x'), storedId(''), storedId(null)]).toEqual(['x', null, null]);
  expect(['/a', 'a', '', '/a\0b', `/${'x'.repeat(5000)}`].map(storedPath)).toEqual(['/a', null, null, null, null]);
  expect([7, -(2 ** 63), 2 ** 63].map(storedInteger)).toEqual([7, -(2 ** 53 - 1), 2 ** 53 - 1]);
});

test('integers that JavaScript does not have are read as the nearest it has; a damaged digest of a key lets nobody in', async () => {
  const { db, close } = await openStore({ folder: newFolder(), migrations: places.migrations });
  const insert = (id: string, digest: string, at: string) =>
    db.script(
      `INSERT INTO server_keys (id, name, hint, digest, created_at) VALUES ('${id}', 'n', 'h', ${digest}, ${at})`,
    );
  insert('good', `x'${'ab'.repeat(32)}'`, '7');
  insert('short', `x'ab'`, '4611686018427387904');
  insert('empty', `x''`, '-4611686018427387904');
  const sql = 'SELECT id, created_at AS at FROM server_keys ORDER BY id';
  const rows = [
    { id: 'empty', at: -(2 ** 53 - 1) },
    { id: 'good', at: 7 },
    { id: 'short', at: 2 ** 53 - 1 },
  ];
  expect(db.all(sql)).toEqual(rows);
  expect(db.get(`${sql} LIMIT 1 OFFSET 2`)).toEqual(rows[2]);
  expect(await db.allOnThread(sql)).toEqual(rows);
  expect(db.all('SELECT 1 AS one')).toEqual([{ one: 1 }]);
  expect(knownServerKeys(db).map(({ id }) => id)).toEqual(['good']);
  await close();
});

test('no file of the store takes JSON as it is', () => {
  const folder = join(root, 'app/store');
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.ts'));
  // A note of another process, and settings, are held against their own shapes.
  const own = ['database/stored.ts', 'lock.ts', 'settings.ts'];
  const raw = files.filter((file) => readFileSync(join(folder, file), 'utf8').includes('JSON.parse('));
  expect(files.length).toBeGreaterThan(40);
  expect(raw.sort()).toEqual(own);
});
