// The threads of the CPU back end after a pause: an answer begins minutes after the one before.
import { expect, test } from 'vitest';
import { build, runProgram } from './programs.ts';

async function told(what: 'together' | 'late' | 'same' | 'taken' | 'idle'): Promise<number> {
  const program = await build({
    name: 'threads',
    compiler: ['c++', '-std=c++20', '-O2', '-Wall', '-Wextra', '-Werror'],
    sources: ['test/native/cpu/threads.cc', 'native/cpu/threads/threads.cc'],
    link: ['-pthread'],
  });
  const { code, output } = await runProgram([program, what]);
  expect(code, output).toBe(0);
  return Number(output);
}

test('after a pause all threads work again, not only the one that asks', async () => {
  expect(await told('together')).toBe(2);
});

test('what a thread has begun late is waited for, and then the run is over', async () => {
  expect(await told('late')).toBe(2);
});

test('a thread has the same part of every run, whose rows are in its cache from the run before', async () => {
  expect(await told('same')).toBe(20);
});

test('a thread that is held up by one row leaves the others of its part to those that have time, each once', async () => {
  expect(await told('taken')).toBe(100);
});

test('a loaded model that nobody asks takes no processor time', async () => {
  expect(await told('idle')).toBeLessThan(250);
});
