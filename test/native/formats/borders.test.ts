// What lies behind a matrix in its file, and behind the memory it is read into, belongs to others.
import { expect, test } from 'vitest';
import { build, runProgram } from '../cpu/programs.ts';

test('reading a matrix of blocks touches nothing behind its end: no neighbour is overwritten, no page is missing', async () => {
  const program = await build({
    name: 'borders',
    compiler: ['c++', '-std=c++20', '-O1', '-Wall', '-Wextra', '-Werror'],
    sources: [
      'test/native/formats/borders.cc',
      'native/formats/blocks.cc',
      'native/formats/dequantise.cc',
      'native/formats/dequantise_blocks.cc',
    ],
  });
  const { code, output } = await runProgram([program]);
  expect({ code, output }).toEqual({ code: 0, output: expect.stringMatching(/q4_0 .* all\n$/) });
});
