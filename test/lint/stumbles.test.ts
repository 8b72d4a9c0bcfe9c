// The table of what a newcomer stumbled over (test/stumbles.md) names tests that exist, and none of its points is without one.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const tests = join(import.meta.dirname, '..');
const sections = readFileSync(join(tests, 'stumbles.md'), 'utf8').split('\n## ').slice(1);
const rowsOf = (section: string) =>
  [...section.matchAll(/^\| (\d+) \| [^|]+ \| (.+) \|$/gm)].map(([, no, named]) => ({
    no: Number(no),
    named: named ?? '',
  }));

test('every point has its row, in order', () => {
  const counted = sections.map((section) => rowsOf(section).map(({ no }) => no));
  expect(counted).toEqual([14, 37, 14, 17].map((count) => Array.from({ length: count }, (_, at) => at + 1)));
});

test('every test that is named exists', () => {
  const missing = sections.flatMap(rowsOf).flatMap(({ no, named }) => {
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
