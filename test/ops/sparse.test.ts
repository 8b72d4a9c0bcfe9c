import { describe, expect, test } from 'vitest';
import { devices, nameOf, runMany } from './devices.ts';
import { goldenJson, goldenTensors } from './golden.ts';
import { besides, normal, relativeDifference } from './numbers.ts';
import { chunks, type Outcome, parity } from './support.ts';
import { thresholds } from './thresholds.ts';

interface Case {
  name: string;
  T: number;
  nq: number;
  nkv: number;
  D: number;
  sparse_config: {
    kernel_size: number;
    kernel_stride: number;
    init_blocks: number;
    block_size: number;
    window_size: number;
    topk: number;
  };
}
const golden = goldenJson<{ cases: Case[] }>('ops/infllm_select/expected.json');
const tensor = goldenTensors('ops/infllm_select/expected.safetensors');

function inputs({ name, T, nq, nkv, D, sparse_config: c }: Case) {
  const values = normal('values', T * nkv * D);
  return {
    rows: T,
    heads: nq,
    kvHeads: nkv,
    dim: D,
    scale: D ** -0.5,
    block: c.block_size,
    kernel: c.kernel_size,
    stride: c.kernel_stride,
    initBlocks: c.init_blocks,
    window: c.window_size,
    topk: c.topk,
    p: besides(T, tensor(`${name}.in.q`).data, tensor(`${name}.in.k`).data, values),
  };
}
const outcome: Outcome = (device, args) => {
  const result = runMany(device, 'sparse', args);
  return [result.floats('o'), result.ints('blocks')];
};

describe.each(devices.map((device) => [nameOf(device), device] as const))('%s', (_, device) => {
  test.each(golden.cases.map((one) => [one.name, one] as const))('golden blocks %s', (name, one) => {
    expect(runMany(device, 'sparse', inputs(one)).ints('blocks')).toEqual(tensor(`${name}.out.blocks`).ints);
  });

  test('with every block chosen it is dense attention', () => {
    const one = golden.cases[0] as Case;
    const dense = { ...inputs(one), rotaryDim: 0, topk: 1000 };
    const sparse = runMany(device, 'sparse', dense).floats('o');
    expect(relativeDifference(sparse, runMany(device, 'attention', dense).floats('o'))).toBeLessThan(
      thresholds.transcendental,
    );
  });
});

// More blocks than a device looks at in one step.
const long = { rows: 700, heads: 2, kvHeads: 1, dim: 8, scale: 8 ** -0.5 };
const few = { block: 16, kernel: 8, stride: 4, initBlocks: 1, window: 32, topk: 5 };
parity('44 blocks', outcome, () => ({ ...long, ...few, p: normal('p', 700 * 32) }), thresholds.transcendental);

for (const one of golden.cases) {
  parity(one.name, outcome, () => inputs(one), thresholds.transcendental);
  chunks(one.name, outcome, () => inputs(one));
}
