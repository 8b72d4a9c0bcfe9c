// The NEON loops on a processor of another kind: compiled for arm64 and emulated, all of them against the scalar ones.
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { expect, test } from 'vitest';
import { build, filesOf, runProgram } from './programs.ts';

const LIBRARY = '/usr/aarch64-linux-gnu';
const blocks = ['blocks', 'dequantise', 'dequantise_blocks', 'mapped_file', 'utf8', 'verify'];

const works = (command: string): boolean => spawnSync(command, ['--version']).status === 0;

/** How to compile for arm64 and run the result, or what is missing. */
function ways(): { compiler: string[]; emulator: string[] } | string {
  if (process.arch === 'arm64') return { compiler: ['c++'], emulator: [] };
  const emulator = ['qemu-aarch64', 'qemu-aarch64-static'].find(works);
  if (emulator === undefined) return 'needs qemu-aarch64 (apt-get install qemu-user)';
  const compiler = works('clang++-19') ? ['clang++-19', '--target=aarch64-linux-gnu'] : ['aarch64-linux-gnu-g++'];
  if (!existsSync(`${LIBRARY}/include/c++`) || !works(compiler[0] as string) || !works('aarch64-linux-gnu-ld'))
    return 'needs qemu-aarch64, an arm64 linker and C++ library (apt-get install binutils-aarch64-linux-gnu libstdc++-12-dev-arm64-cross)';
  // The newest processor that qemu knows has the matrix products too: both sets run.
  return { compiler, emulator: [emulator, '-L', LIBRARY] };
}

test('NEON, with and without matrix products, computes what the scalar loops do', { timeout: 900_000 }, async ({
  skip,
}) => {
  if (process.platform !== 'linux') skip('needs Linux: on a Mac with Apple silicon the op tests run NEON itself');
  const found = ways();
  if (typeof found === 'string') return skip(found);
  const { compiler, emulator } = found;
  const program = await build({
    name: 'parity-arm64',
    compiler: [
      ...compiler,
      '-std=c++20',
      '-O1',
      '-ffp-contract=off',
      '-pthread',
      ...(emulator.length > 0 ? ['-static'] : []),
    ],
    header: 'native/cpu/backend.h',
    sources: [
      'test/native/cpu/parity.cc',
      ...filesOf('native/cpu').filter((file) => !/kernels_(sse|avx|amx)/.test(file)),
      ...blocks.map((name) => `native/formats/${name}.cc`),
    ],
    flagsOf: {
      'kernels_neon.cc': ['-march=armv8.2-a+dotprod'],
      'kernels_i8mm.cc': ['-march=armv8.2-a+dotprod+i8mm'],
    },
  });
  const { code, output } = await runProgram([...emulator, program]);
  expect({ code, output }).toEqual({
    code: 0,
    output: emulator.length > 0 ? 'i8mm\nneon\n' : expect.stringMatching(/neon\n$/),
  });
});
