import { describe, expect, test } from 'vitest';
import { devices, nameOf, reference, runMany } from './devices.ts';
import { goldenJson, goldenTensors } from './golden.ts';
import { largestDifference, normal, relativeDifference, sizes } from './numbers.ts';
import { chunks, type Outcome, parity } from './support.ts';
import { thresholds } from './thresholds.ts';

const outcome: Outcome = (device, args) => {
  const result = runMany(device, 'gla', args);
  return [result.floats('o'), result.floats('state')];
};

const inputs = (rows: number, heads: number, dim: number) => ({
  rows,
  heads,
  keyDim: dim,
  valueDim: dim,
  scale: dim ** -0.5,
  q: normal('q', rows * heads * dim),
  k: normal('k', rows * heads * dim),
  v: normal('v', rows * heads * dim),
  slopes: Float32Array.from({ length: heads }, (_, h) => 2 ** ((-8 * (h + 1)) / heads)),
  state: normal('state', heads * dim * dim),
});

interface Case {
  name: string;
  T: number;
  H: number;
  D: number;
  initial_state: boolean;
}
const golden = goldenJson<{ cases: Case[]; tolerance: { max_abs: number } }>('ops/simple_gla/expected.json');
const tensor = goldenTensors('ops/simple_gla/expected.safetensors');

describe.each(devices.map((device) => [nameOf(device), device] as const))('%s', (_, device) => {
  // A masked score is no number times nought: it may have overflowed.
  test.each(['gla', 'chunk'])('%s: what comes later changes nothing before it, however large', (mode) => {
    const [rows, before, heads, dim] = [40, 21, 2, 16];
    const calm = { ...inputs(rows, heads, dim), mode };
    const at = before * heads * dim;
    const loud = (x: Float32Array, y: number) => x.map((one, i) => (i < at ? one : y));
    const wild = { ...calm, q: loud(calm.q, 1e30), k: loud(calm.k, 3e38), v: loud(calm.v, -1e30) };
    const [expected, got] = [calm, wild].map((args) => runMany(device, 'gla', args).floats('o').subarray(0, at));
    expect(got).toEqual(expected);
  });

  // The op in one piece, the decode step repeated, and the two chunk ops in chunks of 64.
  describe.each(['gla', 'decode', 'chunk'])('golden %s', (mode) => {
    test.each(golden.cases.map((one) => [one.name, one] as const))('%s', (name, one) => {
      const get = (part: string) => tensor(`${name}.${part}`).data;
      const result = runMany(device, 'gla', {
        rows: one.T,
        heads: one.H,
        keyDim: one.D,
        valueDim: one.D,
        scale: one.D ** -0.5,
        mode,
        q: get('in.q'),
        k: get('in.k'),
        v: get('in.v'),
        slopes: get('in.slopes'),
        state: one.initial_state ? get('in.S0') : new Float32Array(one.H * one.D * one.D),
        chunks:
          mode === 'chunk'
            ? Int32Array.from({ length: Math.ceil(one.T / 64) }, (__, i) => Math.min(64, one.T - 64 * i))
            : undefined,
      });
      expect(largestDifference(result.floats('o'), get('out.o'))).toBeLessThan(golden.tolerance.max_abs);
      expect(largestDifference(result.floats('state'), get('out.S'))).toBeLessThan(golden.tolerance.max_abs);
    });
  });
});

// Where the chunks of one back end or another begin, end or are not full.
const chunkEdges = [15, 16, 17, 23, 24, 25, 33, 48] as const;
for (const [heads, dim] of [
  [3, 16],
  [5, 33],
  [2, 128],
] as const) {
  const title = `${heads} heads of ${dim}`;
  for (const rows of [...sizes, ...chunkEdges])
    parity(`${title}, ${rows} tokens`, outcome, () => inputs(rows, heads, dim), thresholds.recurrence);
  chunks(title, outcome, () => inputs(130, heads, dim), thresholds.recurrence);
}
// Heads whose width leaves every remainder.
for (const dim of [17, 34, 35])
  parity(`2 heads of ${dim}, 50 tokens`, outcome, () => inputs(50, 2, dim), thresholds.recurrence);

// A GPU refuses such a model when it is loaded; the CPU reads it, without what it keeps of a chunk.
describe.each(devices.filter(({ backEnd }) => backEnd === 'cpu').map((device) => [nameOf(device), device] as const))(
  '%s',
  (_, device) => {
    test('heads wider than what is kept of a chunk', () => {
      const wide = inputs(40, 1, 260);
      const [actual, expected] = [outcome(device, wide), outcome(reference, wide)];
      for (const [i, numbers] of expected.entries())
        expect(relativeDifference(actual[i] ?? [], numbers)).toBeLessThan(thresholds.recurrence);
    });
  },
);
