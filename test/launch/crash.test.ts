import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { newFolder } from '../support/core/core.ts';
import type { Count } from '../support/runner/reporter.ts';

test.each(['SIGSEGV', 'SIGKILL'])(
  'a test process that ends by %s is a failure, and none of its tests was left out',
  (signal) => {
    const folder = newFolder();
    const counts = join(folder, 'counts.json');
    const root = join(import.meta.dirname, '..', '..');
    const end = `process.kill(process.pid, '${signal}'); await new Promise((done) => setTimeout(done, 20_000))`;
    writeFileSync(
      join(folder, 'a.test.js'),
      `test('before', () => {}); test('ends', async () => { ${end} }); test('after', () => {});`,
    );
    writeFileSync(join(folder, 'vitest.config.js'), 'export default {}');
    const { status } = spawnSync(
      process.execPath,
      [
        join(root, 'node_modules', 'vitest', 'vitest.mjs'),
        ...['run', '--root', folder, '--globals', '--pool', 'forks', '--config', 'vitest.config.js'],
        ...['--reporter', join(root, 'test', 'support', 'runner', 'reporter.ts')],
      ],
      { cwd: folder, env: { ...process.env, LONGHAND_COUNT: counts, VITEST: undefined } },
    );
    const { passed, failures, skipped } = JSON.parse(readFileSync(counts, 'utf8')) as Count;
    expect([status, passed, skipped]).toEqual([1, 0, []]);
    expect(failures[0]?.message).toContain(`signal ${signal}`);
    expect(failures.map(({ name }) => name)).toEqual(['outside of a test', 'before', 'ends', 'after']);
  },
);
