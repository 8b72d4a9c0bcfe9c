// Every folder of code has a one-line charter in its README, and no more modules than a person takes in at one look.
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { expect, test } from 'vitest';

const root = join(import.meta.dirname, '../..');
const listed = (folders: readonly string[]) =>
  execFileSync('git', ['ls-files', '-co', '--exclude-standard', ...folders], { cwd: root, encoding: 'utf8' })
    .split('\n')
    .filter((file) => file !== '' && existsSync(join(root, file)));
const files = listed(['app', 'main', 'renderer', 'native', 'metal']);
const code = files.filter((file) => /\.(ts|tsx|mjs|cc|h|mm|metal)$/.test(file));

const testCode = listed(['test']).filter((file) => /\.(ts|tsx|mjs|cjs|cc|h|mm|metal)$/.test(file));

/** What stands on its own: kernels, and folders that only hold what a tool reads. */
const WITHOUT = /^native\/vulkan\/shaders$/;
const folders = [...new Set(code.map((file) => dirname(file)))].filter(
  (folder) => folder.includes('/') && !WITHOUT.test(folder),
);

/** Modules: a header and its source are one. */
const modulesIn = (folder: string, among: readonly string[]) =>
  new Set(
    among
      .filter((file) => dirname(file) === folder)
      .map((file) => basename(file).replace(/(\.(d|test|spec))?\.\w+$/, '')),
  ).size;

/** About as many as a person takes in at one look. */
const MAX_MODULES = 20;

const linesOf = (file: string) => readFileSync(join(root, file), 'utf8').split('\n').length - 1;

test.each(folders)('the README of %s has a one-line charter', (folder) => {
  expect(files).toContain(`${folder}/README.md`);
  const [title, blank, charter] = readFileSync(join(root, folder, 'README.md'), 'utf8').split('\n');
  expect([title, blank]).toEqual([`# ${folder}`, '']);
  expect(charter).toMatch(/^[A-Z`].{10,}[.]$/);
});

test.each([
  ['the app', ['app', 'main', 'renderer', 'native'], 300],
  ['the tests', ['test'], 400],
])('no file of %s is longer than a person reads at once', (_, folders, least) => {
  const ours = listed(folders).filter((file) => /\.(tsx?|mjs)$/.test(file));
  expect(ours.length).toBeGreaterThan(least);
  expect(ours.filter((file) => linesOf(file) > 400)).toEqual([]);
});

/** Tables, and the published interfaces of others that a stand-in has to repeat. */
const TABLES: Readonly<Record<string, string>> = {
  'native/vulkan/device/vulkan_subset.h': 'the structs and constants of the Vulkan headers',
  'test/metal/apple/include/Metal/Metal.h': 'declarations of Apple',
  'test/metal/apple/include/Foundation/Foundation.h': 'declarations of Apple',
};

test('no file of the engine is longer than a person reads at once', () => {
  const sources = listed(['native', 'metal', 'test']).filter((file) => /\.(cc|h|mm|metal|comp|glsl)$/.test(file));
  expect(sources.length).toBeGreaterThan(400);
  const long = new Map(sources.map((file) => [file, linesOf(file)] as const).filter(([, count]) => count > 400));
  for (const table of Object.keys(TABLES)) expect(long.delete(table), `${table} is short now`).toBe(true);
  expect([...long.keys()]).toEqual([]);
});

/** Folders of tests that hold code. Apple's headers, and the stand-in's, lie in folders of their own names. */
const testFolders = [...new Set(testCode.map((file) => dirname(file)))].filter(
  (folder) => folder !== 'test' && !/^test\/metal\/(apple|standin)\/(include|msl)/.test(folder),
);

/** One mistake a file: a list, of which nobody reads more than the names. */
const LIST = 'test/metal/bad';

test('no folder holds more than a person takes in at one look', () => {
  const all = [...code, ...testCode];
  const rooms = [...new Set(all.map((file) => dirname(file)))].filter((room) => room !== LIST);
  expect(rooms.length).toBeGreaterThan(200);
  const crowded = rooms.filter((room) => modulesIn(room, all) > MAX_MODULES);
  expect(crowded.map((room) => `${room}: ${modulesIn(room, all)}`)).toEqual([]);
});

test('test/README.md says what lies in each folder of tests that is named like no folder of the code', () => {
  const readme = readFileSync(join(root, 'test/README.md'), 'utf8');
  const named = [...readme.matchAll(/^\| `(.+?)` \| .{8,} \|$/gm)].map(([, folder]) => folder);
  const own = testFolders
    .map((folder) => folder.slice('test/'.length))
    .filter((folder) => !existsSync(join(root, folder)));
  expect(named).toEqual(own.sort());
});
