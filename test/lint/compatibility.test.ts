// The README says what other programs can do with the server: each cell of its table is a test, and its lines are those of the page.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { clients, linesFor } from '../../renderer/server/client-lines.ts';
import { rows, tableOf, wordsOf } from './compatibility.ts';

const root = join(import.meta.dirname, '../..');
const readme = readFileSync(join(root, 'README.md'), 'utf8');

/** From a test's first line to the beginning of the next one; empty where it is not there, or is skipped. */
function bodyOf(text: string, title: string): string {
  const at = text.indexOf(`test('${title}`);
  const next = at < 0 ? -1 : text.slice(at + 1).search(/^\s*(test|describe)\b/m);
  return at < 0 ? '' : text.slice(at, next < 0 ? undefined : at + 1 + next);
}

test('every cell is a test that asks this endpoint with this client for this', () => {
  const wrong = rows.flatMap(({ endpoint, client, asks, cells }) =>
    Object.entries(cells).flatMap(([feature, [file, title]]) => {
      const text = readFileSync(join(root, 'test/app/server/api', `${file}.test.ts`), 'utf8');
      const body = bodyOf(text, title);
      // curl is a program; all others are packages.
      const has = client === 'curl' ? "run('curl'" : `from '${client}'`;
      const uses = text.includes(has) && asks.test(body);
      const about = wordsOf[feature as keyof typeof wordsOf].test(body);
      return uses && about ? [] : [`${endpoint} ${client} ${feature}: ${file} “${title}”`];
    }),
  );
  expect(wrong).toEqual([]);
});

test('the README has this table, and the lines for every client', () => {
  expect(readme).toContain(tableOf());
  const missing = clients.filter((client) => !readme.includes(linesFor(client, 'http://127.0.0.1:4880', 'MODEL')));
  expect(missing).toEqual([]);
});
