import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { withCompileCache } from '../../app/launch/compile-cache.mjs';

const root = mkdtempSync(join(tmpdir(), 'longhand-compiled-'));
afterAll(() => rmSync(root, { recursive: true }));
const { NODE_COMPILE_CACHE: _, ...plain } = process.env;

test('what a program from source compiles is kept in its tree, and a file that changed is compiled again', () => {
  const file = join(root, 'word.ts');
  const run = (word: string) => {
    writeFileSync(file, `const word: string = '${word}';\nprocess.stdout.write(word);\n`);
    return execFileSync(process.execPath, [file], { env: withCompileCache(root, plain), encoding: 'utf8' });
  };
  expect([run('first'), run('first'), run('other')]).toEqual(['first', 'first', 'other']);
  expect(readdirSync(join(root, '.cache', 'compiled')).length).toBe(1);
});

test('a folder that somebody chose is left as it is', () => {
  expect(withCompileCache(root, { NODE_COMPILE_CACHE: '/chosen' }).NODE_COMPILE_CACHE).toBe('/chosen');
});
