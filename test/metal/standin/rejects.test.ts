// Kernels with one mistake each, all of which a GPU would run to a wrong result or Apple's compiler would refuse.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { needsStandin, standin } from '../standin.ts';

needsStandin();

/** By file in test/metal/bad: where it must be stopped and what the message must say. */
const expected: Record<string, ['compile' | 'run', RegExp]> = {
  d_arrayoob: ['run', /array index out of bounds/],
  d_atomicmix: ['run', /race on 'x'/],
  d_deviceflags: ['run', /race on 'x'/],
  d_divbarrier: ['run', /threadgroup_barrier.*not reached|waits in threadgroup_barrier/],
  d_divsimd: ['run', /SIMD-group diverged/],
  d_memnone: ['run', /race on 'threadgroup memory'/],
  d_misalign: ['run', /misaligned access/],
  d_nobarrier: ['run', /race on 'threadgroup memory'|never written/],
  d_nobarrier2: ['run', /race on 'threadgroup memory'/],
  d_oob: ['run', /out of bounds of 'x'/],
  d_oobr: ['run', /out of bounds of 'y'/],
  d_race_groups: ['run', /race on 'x'.*another threadgroup/],
  d_retbarrier: ['run', /threadgroup_barrier/],
  d_shufinactive: ['run', /source lane is inactive/],
  d_tgoob: ['run', /out-of-bounds access to threadgroup memory|array index out of bounds/],
  d_threads: ['run', /512 threads per threadgroup, the limit is 384/],
  d_tgtoobig: ['run', /threadgroup memory exceeds 32 KiB/],
  d_tguninit: ['run', /never written/],
  s_addrspace1: ['compile', /cannot initialize/],
  s_addrspace2: ['compile', /cannot initialize/],
  s_addrspace3: ['compile', /no matching function/],
  s_amb: ['compile', /ambiguous/],
  s_bfexp: ['compile', /deleted function/],
  s_c17: ['compile', /C\+\+17/],
  s_constwrite: ['compile', /const/],
  s_double: ['compile', /'double' is not allowed/],
  s_dupbuf: ['compile', /duplicate buffer index/],
  s_fnptr: ['compile', /function/],
  s_global: ['compile', /constant address space/],
  s_noas: ['compile', /address space/],
  s_noattr: ['compile', /no attribute/],
  s_nonas_helper: ['compile', /address space/],
  s_std: ['compile', /std/],
  s_tginhelper: ['compile', /live in kernels only/],
  s_positions: ['compile', /expecting input declarations with either all scalar types or all vector types/],
  s_positiontype: ['compile', /must be uint, ushort or a vector/],
  s_typo: ['compile', /gird/],
  s_vecmix: ['compile', /implicit conversions between vector types/],
  s_vecn: ['compile', /vector elements|vector size/],
  s_virtual: ['compile', /'virtual' is not allowed/],
};

describe('a wrong kernel', () => {
  beforeAll(() => standin.options({ check: true }));
  afterAll(() => standin.options({}));

  test.for(Object.keys(expected))('%s is stopped', (name) => {
    const [stage, message] = expected[name] as ['compile' | 'run', RegExp];
    const source = readFileSync(join(import.meta.dirname, '../bad', `${name}.metal`), 'utf8');
    const result = standin.run({
      source,
      grid: [name === 'd_threads' ? 512 : 64],
      threads: [name === 'd_race_groups' ? 32 : name === 'd_threads' ? 512 : 64],
      buffers: [new Float32Array(64), new Float32Array(64)],
    });
    expect(result.error).toMatch(message);
    expect(result.stage).toBe(stage);
  });
});
