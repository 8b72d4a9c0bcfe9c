import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { openCopy, removeCopies } from '../../main/open-copy.ts';
import * as electron from '../support/fakes/electron.ts';

vi.mock('electron', () => import('../support/fakes/electron.ts'));

const { done, world } = electron;
let folder = '';

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'longhand-open-'));
  world.userData = folder;
  done.opened.length = 0;
});
afterEach(async () => {
  await removeCopies();
  rmSync(folder, { recursive: true, force: true });
});

const bytes = new Uint8Array([37, 80, 68, 70]);

test('a document is opened as a copy of its own name, readable by nobody else, and goes with the app', async () => {
  expect(await openCopy('Almanac of the coast.pdf', bytes)).toBe(true);
  const path = String(done.opened[0]);
  expect(path).toMatch(/longhand-opened-\d+-\w+\/Almanac of the coast\.pdf$/);
  expect(readFileSync(path)).toEqual(Buffer.from(bytes));
  expect(statSync(path).mode & 0o077).toBe(0);
  await removeCopies();
  expect(existsSync(path)).toBe(false);
});

test.each(['run.sh', 'app.desktop', 'page.html', 'setup.exe', 'noending', 'a.pdf.command'])(
  '%s is not opened: a system would run it',
  async (name) => {
    expect(await openCopy(name, bytes)).toBe(false);
    expect(done.opened).toEqual([]);
  },
);

test('a name cannot lead out of its folder', async () => {
  await openCopy('../../../etc/notes.txt', bytes);
  await openCopy('..\\..\\notes.txt', bytes);
  for (const path of done.opened)
    expect(String(path)).toMatch(new RegExp(`^${tmpdir()}/longhand-opened-\\d+-\\w+/notes\\.txt$`));
});

test('an ending in capitals is the same ending', async () => {
  expect(await openCopy('Report.PDF', bytes)).toBe(true);
  expect(await openCopy('SETUP.EXE', bytes)).toBe(false);
  expect(done.opened).toHaveLength(1);
});

test('copies of an app that was killed are removed by the next one; those of one that runs stay', async () => {
  const { pid: gone } = spawnSync(process.execPath, ['-e', '']);
  const left = join(tmpdir(), `longhand-opened-${gone}-abcdef`);
  mkdirSync(left);
  writeFileSync(join(left, 'secret.pdf'), bytes);
  await openCopy('First.pdf', bytes);
  await openCopy('Second.pdf', bytes);
  expect(existsSync(left)).toBe(false);
  for (const path of done.opened) expect(existsSync(String(path))).toBe(true);
  await removeCopies();
});
