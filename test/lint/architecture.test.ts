// ARCHITECTURE.md names what is there; what is not there yet stands in its last section alone.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const root = join(import.meta.dirname, '../..');
const [present = '', planned = ''] = readFileSync(join(root, 'ARCHITECTURE.md'), 'utf8').split('## 12. Planned');

test('a prompt goes from the composer to a kernel and back in at most fifteen steps, each in one file that exists', () => {
  const walk = present.split('## 3. The walk of a prompt')[1]?.split('\n## ')[0] ?? '';
  const steps = [...walk.matchAll(/^\| (\d+)\. .* \| (.+) \|$/gm)];
  expect(steps.map(([, number]) => Number(number))).toEqual(steps.map((_, at) => at + 1));
  expect(steps.length).toBeGreaterThan(9);
  expect(steps.length).toBeLessThanOrEqual(15);
  const files = steps.map(([, , file]) => /^`([^`]+)`$/.exec(file ?? '')?.[1] ?? `not one file: ${file}`);
  expect(files.filter((file) => !existsSync(join(root, file)))).toEqual([]);
});

test('every path that it names exists', () => {
  const named = [...present.matchAll(/`((?:app|main|renderer|native|metal|resources|test)\/[\w./-]+)`/g)].map(
    ([, path]) => path ?? '',
  );
  expect(new Set(named).size).toBeGreaterThan(30);
  expect(named.filter((path) => !existsSync(join(root, path)))).toEqual([]);
});

test('every folder of its tree exists', () => {
  const tree = present.split('```')[1] ?? '';
  const missing: string[] = [];
  let above = '';
  for (const line of tree.split('\n')) {
    const [, indent = '', names = ''] = /^( *)((?:[\w-]+\/ ?)+)/.exec(line) ?? [];
    if (names === '') continue;
    const folders = names.trim().split(' ');
    if (indent === '') above = folders[0] ?? '';
    for (const folder of folders) if (!existsSync(join(root, indent === '' ? '' : above, folder))) missing.push(line);
  }
  expect(missing).toEqual([]);
});

test('what is planned takes a room that exists', () => {
  const rooms = [...planned.matchAll(/`([\w/-]+\/)`/g)].map(([, room]) => room ?? '');
  expect(rooms.length).toBeGreaterThan(0);
  expect(rooms.filter((room) => !existsSync(join(root, room)))).toEqual([]);
});
