// The measurement of the memory's bandwidth on a system that starts no more threads.
import { expect, test } from 'vitest';
import { build, runProgram } from '../cpu/programs.ts';

test.each([0, 1, 3])('after %i threads the rest is measured on the one there is', async (threads) => {
  const program = await build({
    name: 'bandwidth',
    compiler: ['c++', '-std=c++20', '-O2', '-Wall', '-Wextra', '-Werror'],
    sources: [
      'test/native/engine/bandwidth.cc',
      'native/engine/machine/bandwidth.cc',
      'native/engine/machine/available_memory.cc',
    ],
    link: ['-pthread'],
  });
  const { code, output } = await runProgram([program, String(threads)]);
  expect(code, output).toBe(0);
  expect(Number(output)).toBeGreaterThan(1e8);
});
