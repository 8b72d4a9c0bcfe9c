// Decoding on two threads while another process keeps one of the two cores busy: no more than half of the speed is lost.
// On an idle machine two threads without a common end would keep three quarters of it.
import { fork } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { repository } from '../../support/addon.ts';
import { realModel } from '../../support/models/real-models.mjs';

const PAIRS = '9';

/** Processors that this process may use: "0-2,5" is 0, 1, 2 and 5. */
function processors(): number[] {
  const list = /^Cpus_allowed_list:\s+(\S+)/m.exec(readFileSync('/proc/self/status', 'utf8'))?.[1] ?? '';
  return list.split(',').flatMap((run) => {
    const [first = 0, last = first] = run.split('-').map(Number);
    return Array.from({ length: last - first + 1 }, (_, i) => first + i);
  });
}

const speeds = (path: string, two: readonly number[]): Promise<{ alone: number; beside: number }[]> =>
  new Promise((resolve, reject) => {
    const child = fork(join(repository, 'test/support/processes/neighbour-process.ts'), [path, two.join(), PAIRS], {
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    });
    child.once('message', (message) => resolve(message as { alone: number; beside: number }[]));
    child.once('exit', (code, signal) => reject(new Error(`the process ended with ${code ?? signal}`)));
  });

// What else the machine does may hit one half of the pairs only.
test('a neighbour on one of two cores costs at most half', { timeout: 240_000, retry: 2 }, async ({ skip }) => {
  if (process.platform !== 'linux') return skip('needs Linux: processes are held to processors');
  const two = processors().slice(0, 2);
  if (two.length < 2) return skip('needs a CPU with two cores');
  const pairs = await speeds(await realModel('smollm2'), two);
  const ratios = pairs.map(({ alone, beside }) => beside / alone).toSorted((a, b) => a - b);
  const shown = pairs.map(({ alone, beside }) => `${alone.toFixed(0)} and ${beside.toFixed(0)}`);
  console.log(`tokens a second, alone and beside a neighbour: ${shown.join(', ')}`);
  expect(ratios[(ratios.length - 1) / 2]).toBeGreaterThan(0.5);
});
