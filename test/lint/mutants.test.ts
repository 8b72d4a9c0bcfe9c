// A mistake made on purpose (test/mutation) replaces text of the code: it has to stand there still.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const root = join(import.meta.dirname, '../..');
const folder = join(root, 'test/mutation/mutants');
type Mutant = { row: string; file: string; from: string };

const mutants = (
  await Promise.all(
    readdirSync(folder).map(async (name) => Object.values(await import(join(folder, name))) as (readonly Mutant[])[]),
  )
).flat(2);

test('every mutant finds the code that it breaks', () => {
  expect(mutants.length).toBeGreaterThan(80);
  const stale = mutants.filter(({ file, from }) => {
    const path = join(root, file);
    return !existsSync(path) || !readFileSync(path, 'utf8').includes(from);
  });
  expect(stale.map(({ row, file }) => `${row} (${file})`)).toEqual([]);
});
