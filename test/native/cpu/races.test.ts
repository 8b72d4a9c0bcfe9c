import { expect, test } from 'vitest';
import { runSanitised, sanitisingCompiler } from './sanitised.ts';

test('ThreadSanitizer finds no race in the thread pool and the ops', { timeout: 900_000 }, async ({ skip }) => {
  const compiler = sanitisingCompiler();
  if (compiler === undefined) return skip('needs ThreadSanitizer (apt-get install clang-19 libclang-rt-19-dev)');
  expect(await runSanitised(compiler, 'races')).toEqual({ code: 0, output: 'no race, nothing wrong\n' });
});
