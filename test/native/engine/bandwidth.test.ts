// The measurement of the memory's bandwidth on a system that starts no more threads, or has no memory left.
import { expect, test } from 'vitest';
import { build, runProgram } from '../cpu/programs.ts';

const GB = 2 ** 30;

async function measured(threads: number, bytesLeft: number): Promise<number> {
  const program = await build({
    name: 'bandwidth',
    compiler: ['c++', '-std=c++20', '-O2', '-Wall', '-Wextra', '-Werror'],
    sources: ['test/native/engine/bandwidth.cc', 'native/engine/machine/bandwidth.cc'],
    link: ['-pthread'],
  });
  const { code, output } = await runProgram([program, String(threads), String(bytesLeft)]);
  expect(code, output).toBe(0);
  return Number(output);
}

test.each([0, 1, 3])('after %i threads the rest is measured on the one there is', async (threads) => {
  expect(await measured(threads, 8 * GB)).toBeGreaterThan(1e8);
});

test('where memory is short nothing is measured: the 256 MB would be taken from a model, or from other programs', async () => {
  expect(await measured(3, 0.5 * GB - 1)).toBe(0);
});
