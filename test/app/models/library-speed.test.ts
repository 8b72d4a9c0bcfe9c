import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { createAvailability } from '../../../app/models/storage/availability.ts';
import { disk } from '../../../app/models/storage/fs-probe.ts';
import { ModelSettings } from '../../../app/protocol/index.ts';
import { type Database, openDatabase } from '../../../app/store/database/database.ts';
import { newFolder } from '../../support/core/core.ts';
import { aLibrary, anywhere, fillLibrary } from '../../support/models/many-models.ts';

//  A long library: what listing it takes is counted, since a clock would also tell what else this machine does.
//  In milliseconds: node test/bench/library.ts

const FILES = 10_000;
const FOLDERS = 100;
/** Of a row, in characters: what has to be read and parsed. */
const MAX_TEXT = 500;
/** Ten times what it takes. */
const MAX_MS = 1000;

function layOut(): string {
  const folder = newFolder();
  for (let shelf = 0; shelf < FOLDERS; shelf++) mkdirSync(join(folder, `shelf-${shelf}`));
  const at = (file: number) => join(folder, `shelf-${file % FOLDERS}`, `model-${file}.gguf`);
  for (let file = 0; file < FILES; file++) if (file % 10 !== 0) writeFileSync(at(file), '');
  fillLibrary(folder, FILES, at);
  return folder;
}

test('a library of 10,000 files is listed with one statement, one parse, and one look a folder; those that are gone included', async () => {
  const folder = layOut();
  const db = openDatabase(join(folder, 'longhand.db'));
  onTestFinished(() => db.close());
  let text = 0;
  const get = vi.fn((...query: Parameters<Database['get']>) => {
    const row = db.get(...query);
    for (const value of Object.values(row ?? {})) text += typeof value === 'string' ? value.length : 0;
    return row;
  });
  const names = vi.fn(disk.names);
  const library = aLibrary({ ...db, get: get as Database['get'] }, createAvailability(anywhere, { ...disk, names }));
  // The built-in model was looked for.
  get.mockClear();
  text = 0;
  const parse = vi.spyOn(JSON, 'parse');
  const check = vi.spyOn(ModelSettings, 'parse');
  onTestFinished(() => void vi.restoreAllMocks());

  const took: number[] = [];
  for (let times = 0; times < 3; times++) {
    const began = process.cpuUsage();
    const list = await library.list();
    const { user, system } = process.cpuUsage(began);
    took.push((user + system) / 1000);
    expect(list).toHaveLength(FILES + 1);
    expect(list.filter(({ missing }) => missing)).toHaveLength(FILES / 10);
  }
  // The database is read once; from then on it is known.
  expect(get).toHaveBeenCalledTimes(1);
  expect(text / FILES).toBeLessThan(MAX_TEXT);
  expect(parse).toHaveBeenCalledTimes(1);
  expect(check).not.toHaveBeenCalled();
  expect(names).toHaveBeenCalledTimes(3 * FOLDERS);
  console.log(`10,000 files: ${took.map((ms) => ms.toFixed(0)).join(', ')} ms of processor time`);
  expect(Math.max(...took)).toBeLessThan(MAX_MS);
}, 60_000);

test('the list is in its order without sorting', () => {
  const folder = newFolder();
  fillLibrary(folder, 3, (file) => `/nowhere/${file}.gguf`);
  const db = openDatabase(join(folder, 'longhand.db'));
  onTestFinished(() => db.close());
  const plan = db.all<{ detail: string }>(
    'EXPLAIN QUERY PLAN SELECT group_concat(name) FROM (SELECT name FROM models ORDER BY last_used_at DESC, added_at DESC)',
  );
  expect(plan.map(({ detail }) => detail).join()).toMatch(/USING INDEX models_by_use/);
});
