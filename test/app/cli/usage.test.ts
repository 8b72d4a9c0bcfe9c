import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { newFolder, root } from '../../support/core/core.ts';

//  What is asked wrongly is answered in a sentence, with exit code 2: never with a stack.

vi.setConfig({ testTimeout: 60_000 });

function ran(script: string, ...args: string[]) {
  const env = { ...process.env, LONGHAND_ROOT: root, npm_lifecycle_event: undefined, INIT_CWD: undefined };
  const { status, stdout, stderr } = spawnSync(process.execPath, [join(root, script), ...args], {
    cwd: root,
    encoding: 'utf8',
    env,
    timeout: 50_000,
  });
  return { code: status, said: stderr.trim(), out: stdout };
}

const file = () => {
  const path = join(newFolder(), 'notes.txt');
  writeFileSync(path, 'no folder');
  return path;
};

test.each([
  ['app/cli/main.ts', 'list'],
  ['app/cli/main.ts', 'docs', 'list'],
  ['app/server/main.ts', '--no-open'],
])('%s %s: a data folder that is a file', (script, ...args) => {
  const path = file();
  for (const data of [path, join(path, 'below')]) {
    const { code, said } = ran(script, ...args, '--data', data);
    expect(said).toBe(`[--data] ${path} is a file; a folder is needed`);
    expect(code).toBe(2);
  }
});

test.each([
  ['app/server/main.ts', '--nonsense'],
  ['app/server/main.ts', '--port'],
  ['app/server/main.ts', '--port', 'nine'],
  ['test/bench/run.mjs', '--nonsense'],
  ['test/bench/run.mjs', '--pairs', 'many'],
  ['test/bench/run.mjs', '--instructions', 'mmx'],
  ['test/bench/run.mjs', '--instructions', 'avx2', '--device', 'vulkan'],
  ['test/bench/run.mjs', '--peer', 'no such program'],
  ['test/bench/memory.mjs', 'no such shape'],
  ['test/bench/documents/calibrate.ts', '--nonsense'],
  ['test/bench/documents/documents.ts', '--nonsense'],
])('%s %s is refused in one line', (...line) => {
  const [script, ...args] = line;
  const { code, said } = ran(script, ...args);
  expect(said).toMatch(/^\[\S+\] .+$/);
  expect(said).not.toMatch(/\n/);
  expect(code).toBe(2);
});

test.each(['app/server/main.ts', 'test/bench/run.mjs', 'test/bench/memory.mjs', 'test/bench/documents/documents.ts'])(
  '%s --help says what it does',
  (script) => {
    const { code, out } = ran(script, '--help');
    expect(out).toMatch(/(?:npm|node) .*\[/);
    expect(code).toBe(0);
  },
);
