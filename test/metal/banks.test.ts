// Do the lanes of a simdgroup wait for one another's banks of threadgroup memory? What they access is followed in check mode.
import { afterEach, describe, expect, test, vi } from 'vitest';
import { safetensors, temporaryFolder } from '../support/models/formats.ts';
import { type Shapes, thin } from '../support/models/shapes.ts';
import { loadOnMetal, needsStandin, standin } from './standin.ts';

needsStandin();
afterEach(() => {
  standin.options({});
  vi.unstubAllEnvs();
});

/** Turns that the lanes of one simdgroup wait for in a kernel of this body. */
function conflictsOf(body: string): number | undefined {
  const source = `#include <metal_stdlib>
#include <metal_simdgroup_matrix>
using namespace metal;
kernel void only(device float* out [[buffer(0)]], uint lane [[thread_index_in_simdgroup]]) {
  threadgroup float4 memory[512];
  threadgroup float* tile = reinterpret_cast<threadgroup float*>(memory);
  for (uint i = lane; i < 2048; i += 32) tile[i] = float(i);
  threadgroup_barrier(mem_flags::mem_threadgroup);
  ${body}
}`;
  standin.options({ check: true, banks: true });
  const { error, bankConflicts } = standin.run({ source, grid: [32], threads: [32], buffers: [new Float32Array(64)] });
  expect(error).toBe('');
  return bankConflicts;
}

describe('a simdgroup waits', () => {
  test.each([
    ['for nothing where its lanes access neighbours', 'out[lane] = tile[lane];', 0],
    ['for nothing where all of them want one word', 'out[lane] = tile[33];', 0],
    ['one turn where every other word is wanted', 'out[lane] = tile[lane * 2];', 1],
    ['31 turns where all words lie in one bank', 'out[lane] = tile[lane * 32];', 31],
    ['no longer than four words a lane take', 'out[lane] = memory[lane].z + memory[lane].x;', 0],
    [
      'six turns for a matrix whose rows begin in one bank',
      'simdgroup_float8x8 m; simdgroup_load(m, tile, 32); simdgroup_store(m, out, 8);',
      6,
    ],
    [
      'for nothing where rows are four words longer',
      'simdgroup_float8x8 m; simdgroup_load(m, tile, 36, ulong2(0, 0), true); simdgroup_store(m, out, 8);',
      0,
    ],
  ])('%s', (_, body, turns) => {
    expect(conflictsOf(body)).toBe(turns);
  });
});

/** Which kernels wait while `tokens` tokens are read, and how often each ran. */
async function waiting(shapes: Shapes, tokens: number) {
  const folder = temporaryFolder({ 'config.json': shapes.config, 'model.safetensors': safetensors(shapes.tensors()) });
  const model = await loadOnMetal(folder);
  const session = model.createSession({ path: 'exact', kvType: 'f16' });
  standin.options({ check: true, banks: true });
  standin.reset();
  await session.logits(
    Int32Array.from({ length: tokens }, (_, i) => i % shapes.vocabulary),
    { chunk: tokens },
  );
  const { kernels, bankConflicts } = standin.counters();
  session.close();
  model.close();
  return { kernels, bankConflicts };
}

test('no lane of a prefill waits for a bank: products, attention, the delta rule in chunks', {
  timeout: 240_000,
}, async () => {
  vi.stubEnv('LONGHAND_METAL_TUNING', 'delta_chunk_from=64');
  const { kernels, bankConflicts } = await waiting(thin, 70);
  expect(kernels).toMatchObject({ linear_mat: 8, attention_tile: 1, chunk_prepare: 1 });
  const { chunk_prepare: apart = 0, ...others } = bankConflicts;
  expect(others).toEqual({});
  // Read in a branch that lanes enter at different turns of a loop: together on a GPU, and out of step here.
  expect(apart).toBeLessThanOrEqual(128);
});
