// The products in tile registers (AMX): the same source on an emulation of the instructions everywhere, and on the
// registers themselves where a processor has them.
import { expect, test } from 'vitest';
import { addon } from '../../support/addon.ts';
import { build, type Program, runProgram } from './programs.ts';

const sets = (addon.testing as unknown as { cpuInstructions(): string[] }).cpuInstructions();
const AVX512 = ['-mavx2', '-mfma', '-mf16c', ...['f', 'bw', 'vl', 'dq', 'vnni'].map((part) => `-mavx512${part}`)];
const around = sets.includes('avx512bf16')
  ? [...AVX512, '-mavx512bf16', '-Wno-uninitialized', '-Wno-maybe-uninitialized']
  : ['-msse4.2'];

const program = (name: string, ...flags: string[]): Program => ({
  name,
  compiler: ['c++', '-std=c++20', '-O2', '-ffp-contract=off', '-ffunction-sections', '-Wall', '-Wextra', '-Werror'],
  // The scalar models stand beside what needs the whole back end, which is left out of the program.
  sources: [
    'test/native/cpu/tiles.cc',
    'native/cpu/matmul.cc',
    'native/cpu/matmul_bf16.cc',
    'native/cpu/attention/rounded.cc',
    'native/cpu/kernels/quantised.cc',
  ],
  flagsOf: { 'tiles.cc': [...around, ...flags] },
  link: ['-Wl,--gc-sections'],
});
const elsewhere = () => {
  if (process.arch !== 'x64') return 'needs x86-64';
  return process.platform === 'linux' ? undefined : 'needs Linux';
};

test('tiles: the kernel on emulated registers gives the bits of its scalar model', { timeout: 600_000 }, async ({
  skip,
}) => {
  const reason = elsewhere();
  if (reason) return skip(reason);
  const built = await build(program('tiles-emulated'));
  expect(await runProgram([built])).toEqual({ code: 0, output: 'bit for bit\n' });
});

test('tiles: so does the processor', { timeout: 600_000 }, async ({ skip }) => {
  if (!sets.includes('amx')) return skip(elsewhere() ?? 'needs a CPU with AMX');
  const built = await build(program('tiles', '-DLONGHAND_AMX', '-mamx-tile', '-mamx-bf16'));
  expect(await runProgram([built])).toEqual({ code: 0, output: 'bit for bit\n' });
});
