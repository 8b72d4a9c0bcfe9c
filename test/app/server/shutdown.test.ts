import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { root } from '../../support/core/core.ts';

test('what never ends does not keep the process: after a while it goes without it', { timeout: 60_000 }, async () => {
  const main = join(root, 'app/server/main.ts');
  const script = `const { endWithSignals } = await import(${JSON.stringify(main)});
    endWithSignals(() => new Promise(() => {}), 300);
    setInterval(() => {}, 1000);
    console.log('up');`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', script], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  await once(child.stdout, 'data');
  child.kill('SIGTERM');
  expect(await once(child, 'exit')).toEqual([1, null]);
});
