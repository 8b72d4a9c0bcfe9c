// Every folder of code has one charter, at its door, and holds no more than a person takes in at one look.
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

/** What stands on its own: kernels, and folders that only hold what a tool reads. */
const WITHOUT = /^(metal|native\/metal|native\/vulkan\/shaders)$/;
const folders = [...new Set(code.map((file) => dirname(file)))].filter(
  (folder) => folder.includes('/') && !WITHOUT.test(folder),
);

/** Modules: a header and its source are one. */
const modulesIn = (folder: string) =>
  new Set(code.filter((file) => dirname(file) === folder).map((file) => basename(file).replace(/(\.d)?\.\w+$/, '')))
    .size;

test.each(folders)('%s says at its door what it is for', (folder) => {
  expect(files).toContain(`${folder}/README.md`);
  const [title, blank, charter] = readFileSync(join(root, folder, 'README.md'), 'utf8').split('\n');
  expect([title, blank]).toEqual([`# ${folder}`, '']);
  expect(charter).toMatch(/^[A-Z`].{10,}[.]$/);
});

test.each([
  ['the app', ['app', 'main', 'renderer'], 300],
  ['the tests', ['test'], 400],
])('no file of %s is longer than a person reads at once', (_, folders, least) => {
  const lines = (file: string) => readFileSync(join(root, file), 'utf8').split('\n').length - 1;
  const ours = listed(folders).filter((file) => /\.(tsx?|mjs)$/.test(file));
  expect(ours.length).toBeGreaterThan(least);
  expect(ours.filter((file) => lines(file) > 400)).toEqual([]);
});

test('no folder holds more than a person takes in at one look', () => {
  // native/cpu: one file per op, and one per instruction set.
  const large = folders.filter((folder) => folder !== 'native/cpu' && modulesIn(folder) > 36);
  expect(large).toEqual([]);
});
