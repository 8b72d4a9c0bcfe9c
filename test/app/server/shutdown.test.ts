import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { root } from '../../support/core/core.ts';

async function started(close: string, limitMs: number) {
  const main = join(root, 'app/server/main.ts');
  const script = `const { endWithSignals } = await import(${JSON.stringify(main)});
    endWithSignals(${close}, ${limitMs});
    setInterval(() => {}, 1000);
    console.log('up');`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', script], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const said: string[] = [];
  child.stdout.on('data', (text) => said.push(String(text)));
  await once(child.stdout, 'data');
  return { child, said };
}

test.each(['SIGINT', 'SIGTERM', 'SIGHUP'] as const)(
  'on %s it is closed in order',
  { timeout: 60_000 },
  async (signal) => {
    const { child, said } = await started(`async () => console.log('closed')`, 30_000);
    child.kill(signal);
    expect(await once(child, 'exit')).toEqual([0, null]);
    expect(said.join('')).toContain('closed');
  },
);

test('what never ends does not keep the process: after a while it goes without it', { timeout: 60_000 }, async () => {
  const { child } = await started('() => new Promise(() => {})', 300);
  child.kill('SIGTERM');
  expect(await once(child, 'exit')).toEqual([1, null]);
});
