// Tables of what once went wrong name the tests that notice it: those exist, and no row is without one.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const tests = join(import.meta.dirname, '..');
/** How many rows each section has: a number that is gone is a point that is lost. */
const TABLES = { 'stumbles.md': [14, 37, 14, 17], 'attack/holes.md': [17, 11, 4] };

const sectionsOf = (table: string) => readFileSync(join(tests, table), 'utf8').split('\n## ').slice(1);
const rowsOf = (section: string) =>
  [...section.matchAll(/^\| (\d+) \| [^|]+ \| (.+) \|$/gm)].map(([, no, named]) => ({
    no: Number(no),
    named: named ?? '',
  }));

test.each(Object.entries(TABLES))('%s: every point has its row, in order', (table, counts) => {
  expect(sectionsOf(table).map((section) => rowsOf(section).map(({ no }) => no))).toEqual(
    counts.map((count) => Array.from({ length: count }, (_, at) => at + 1)),
  );
});

test.each(Object.keys(TABLES))('%s: every test that is named exists', (table) => {
  const missing = sectionsOf(table)
    .flatMap(rowsOf)
    .flatMap(({ no, named }) => {
      const references = [...named.matchAll(/`([\w/-]+)`((?: “[^”]+”)+)/g)];
      if (references.length === 0) return [`${no}: no test`];
      return references.flatMap(([, path = '', titles = '']) => {
        const file = ['.test.ts', '.spec.ts'].map((ending) => join(tests, path + ending)).find(existsSync);
        const text = file ? readFileSync(file, 'utf8') : '';
        return [...titles.matchAll(/“([^”]+)”/g)]
          .filter(([, title = '']) => !text.includes(title))
          .map(([title]) => `${no}: ${path} ${title}`);
      });
    });
  expect(missing).toEqual([]);
});
