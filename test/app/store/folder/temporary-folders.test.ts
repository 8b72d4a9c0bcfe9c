import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { sweep, temporaryFolder } from '../../../../app/store/folder/temporary-folders.ts';
import { newFolder } from '../support.ts';

const made = (pid: number, end: string) => {
  const path = join(tmpdir(), `longhand-uploads-${pid}-${end}`);
  onTestFinished(() => rmSync(path, { recursive: true, force: true }));
  return path;
};

test('a start removes what a process left that is gone, and nothing of one that runs', async () => {
  const { pid: gone = 0 } = spawnSync(process.execPath, ['--version']);
  const running = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { stdio: 'ignore' });
  onTestFinished(async () => {
    running.kill('SIGKILL');
    await once(running, 'exit');
  });
  const left = made(gone, 'abcdef');
  const used = made(running.pid ?? 0, 'abcdef');
  const own = temporaryFolder('uploads');
  onTestFinished(() => rmSync(own, { recursive: true, force: true }));
  for (const folder of [left, used]) {
    mkdirSync(folder);
    writeFileSync(join(folder, 'letter.txt'), 'private');
  }
  sweep();
  expect(existsSync(left)).toBe(false);
  expect(readFileSync(join(used, 'letter.txt'), 'utf8')).toBe('private');
  expect(existsSync(own)).toBe(true);
});

test('a link under such a name leads nowhere, and another name is not ours', () => {
  const { pid: gone = 0 } = spawnSync(process.execPath, ['--version']);
  const folder = newFolder();
  writeFileSync(join(folder, 'thesis.md'), 'years of work');
  symlinkSync(folder, made(gone, 'linked'));
  const other = made(gone, 'not-six-letters');
  mkdirSync(other);
  sweep();
  expect(readFileSync(join(folder, 'thesis.md'), 'utf8')).toBe('years of work');
  expect(existsSync(other)).toBe(true);
});
