// Would it compile on a Mac? Every file of the addon, with the flags that CMake gives it there, against Apple's own
// declarations for macOS 14; and the stand-in's declarations against the same.
import { basename, join } from 'node:path';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { repository } from '../../support/addon.ts';
import { needsStandin } from '../standin.ts';
import { brokenFlags, type Command, check, configure, temporary } from './apple.ts';
import { declarations, ofApple, ofStandin, unlike } from './apple-declarations.ts';

needsStandin();
vi.setConfig({ testTimeout: 600_000, hookTimeout: 120_000 }); // a minute alone, ten beside much other work

const { folder, remove } = temporary();
let commands: Command[] = [];
beforeAll(() => {
  if (process.platform === 'linux') commands = configure(folder);
});
afterAll(remove);

test('every file of the addon has the flags of a Mac', () => {
  expect(commands.filter(({ file }) => file.endsWith('.mm')).length).toBeGreaterThan(25);
  expect(commands.flatMap((each) => brokenFlags(each).map((broken) => `${basename(each.file)}: ${broken}`))).toEqual(
    [],
  );
});

test('clang for macOS 14 on arm64 accepts every file of the addon', async () => {
  const waiting = [...commands];
  const refused: string[] = [];
  const worker = async () => {
    for (let next = waiting.shift(); next; next = waiting.shift()) {
      const said = await check(next);
      if (said.includes('error:')) refused.push(said);
    }
  };
  await Promise.all([worker(), worker()]);
  expect(refused).toEqual([]);
});

test('and the program that npm run mac compiles there', async () => {
  const file = join(repository, 'test/bench/mac/libraries.mm');
  const archive = commands.find(({ file }) => file.endsWith('/archive.mm')) as Command;
  expect(
    await check({ ...archive, file, words: archive.words.map((word) => (word === archive.file ? file : word)) }),
  ).toBe('');
});

test('with the headers of an SDK before macOS 15', async () => {
  const residency = commands.find(({ file }) => file.endsWith('/residency.mm')) as Command;
  const older = { ...residency, words: [...residency.words, '-D__MAC_OS_X_VERSION_MAX_ALLOWED=140500'] };
  expect(await check(older)).toBe('');
});

test("the stand-in's declarations are those of Apple", () => {
  const [real, standin] = [declarations(ofApple()), declarations(ofStandin())];
  expect(unlike(standin, real)).toEqual([]);
  expect([...standin.keys()].filter((name) => real.has(name)).length).toBeGreaterThan(150);
});
