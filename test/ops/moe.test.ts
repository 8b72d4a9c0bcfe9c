import { describe, expect, test } from 'vitest';
import { devices, fast, nameOf, reference, run, runMany } from './devices.ts';
import { goldenJson, goldenTensors } from './golden.ts';
import { largestDifference, normal, relativeDifference } from './numbers.ts';
import { chunks, type Outcome, parity } from './support.ts';
import { thresholds } from './thresholds.ts';
import { blockMatrix, f32, floatMatrix } from './weights.ts';

const golden = goldenJson<{
  params: { router: { E: number; K: number; T: number }[] };
  tolerance: { max_abs: number };
}>('ops/small/expected.json');
const tensor = goldenTensors('ops/small/expected.safetensors');

/** The identity, so that x are the router's logits. */
const identity = (n: number) =>
  f32(
    Float32Array.from({ length: n * n }, (_, i) => (i % (n + 1) === 0 ? 1 : 0)),
    n,
    n,
  );

const [experts, hidden, inner] = [6, 40, 24];
const slices = (name: string, out: number, columns: number) =>
  Array.from({ length: experts }, (_, e) => floatMatrix('f32', `${name} ${e}`, out, columns));
const stack = (parts: ReturnType<typeof slices>, out: number, columns: number) => ({
  type: 'f32',
  shape: [experts, out, columns],
  data: Uint8Array.from(parts.flatMap((part) => [...part.data])),
});
const [gates, ups, downs] = [slices('gate', inner, hidden), slices('up', inner, hidden), slices('down', hidden, inner)];
const mixture = (rows: number) => ({
  rows,
  expertCount: experts,
  topk: 2,
  x: normal('x', rows * hidden),
  addTo: normal('residual', rows * hidden),
  norm: normal('norm', hidden),
  routerWeight: [floatMatrix('f32', 'router', experts, hidden)],
  gateUp: [stack(gates, inner, hidden), stack(ups, inner, hidden)],
  down: [stack(downs, hidden, inner)],
});
const outcome: Outcome = (device, args) => {
  const result = runMany(device, 'mixture', args);
  return [result.floats('y'), result.floats('weights')];
};

/** Gates in blocks of 8 bits beside ups as they are, and downs the other way round or both in blocks. */
function mixedTypes(rows: number, downs: 'q8_0' | 'f16') {
  const [count, width] = [4, 512];
  const shape = [count, width, width];
  const blocks = { ...blockMatrix('q8_0', count * width), shape };
  const plain = { ...floatMatrix('f16', 'plain experts', count * width, width), shape };
  return {
    rows,
    expertCount: count,
    topk: 2,
    x: normal('x of several types', rows * width),
    addTo: normal('residual of several types', rows * width),
    routerWeight: [floatMatrix('f32', 'router of several types', count, width)],
    gateUp: [blocks, plain],
    down: [downs === 'q8_0' ? blocks : plain],
  };
}

describe.each(devices.map((device) => [nameOf(device), device] as const))('%s', (_, device) => {
  test.each(golden.params.router)('golden routers: $K of $E', ({ E, K, T }) => {
    const get = (part: string) => tensor(`router.E${E}_K${K}.${part}`);
    const shared = { rows: T, expertCount: E, topk: K, x: get('in.logits').data, routerWeight: [identity(E)] };
    const softmax = runMany(device, 'mixture', shared);
    expect(softmax.ints('ids')).toEqual(get('out.softmax_topk_ids').ints);
    expect(largestDifference(softmax.floats('weights'), get('out.softmax_topk_weights').data)).toBeLessThan(
      golden.tolerance.max_abs,
    );
    const biased = runMany(device, 'mixture', {
      ...shared,
      router: 'sigmoid_bias',
      renormaliseEps: 1e-6,
      routerBias: get('in.expert_bias').data,
    });
    expect(biased.ints('ids')).toEqual(get('out.sigmoid_bias_topk_ids').ints);
    expect(largestDifference(biased.floats('weights'), get('out.sigmoid_bias_topk_weights').data)).toBeLessThan(
      golden.tolerance.max_abs,
    );
  });

  test('of experts with the same score the first ones are taken, as in transformers', () => {
    const x = Float32Array.of(1, 2, 2, 0, 2, 1, 2, 2, ...new Array<number>(8).fill(0));
    const level = runMany(device, 'mixture', { rows: 2, expertCount: 8, topk: 3, x, routerWeight: [identity(8)] });
    expect([...level.ints('ids')]).toEqual([1, 2, 4, 0, 1, 2]);
  });

  test('the mixture is the weighted sum of its experts; the bytes read are those of the chosen', () => {
    const args = mixture(1);
    const result = runMany(device, 'mixture', args);
    const sum = Float64Array.from(args.addTo);
    result.ints('ids').forEach((e, i) => {
      const h = run(reference, 'gateUp', {
        rows: 1,
        x: args.x,
        norm: args.norm,
        weight: [gates[e] as never, ups[e] as never],
      });
      run(reference, 'linear', { rows: 1, x: h, weight: [downs[e] as never] }).forEach((value, c) => {
        sum[c] = (sum[c] as number) + (result.floats('weights')[i] as number) * value;
      });
    });
    expect(relativeDifference(result.floats('y'), sum)).toBeLessThan(thresholds.transcendental);
    expect(result.number('expertBytes')).toBe(2 * 3 * inner * hidden * 4);
  });

  test('one tensor an expert loads as the packed stack does', () => {
    const args = mixture(9);
    const separate = {
      ...args,
      expertTensors: experts,
      gateUp: gates.flatMap((gate, e) => [gate, ups[e] as typeof gate]),
      down: downs,
    };
    const [together] = outcome(device, args);
    const [apart] = outcome(device, separate);
    expect(apart).toEqual(together);
  });

  test('a shared expert is added by its gate', () => {
    const [rows, n] = [3, 40];
    const [x, shared, addTo] = [normal('x', rows * n), normal('shared', rows * 8), normal('sum', rows * 8)];
    const gate = floatMatrix('f32', 'gate', 1, n);
    const y = run(device, 'addGated', { rows, x, shared, addTo, weight: [gate] });
    const score = run(reference, 'linear', { rows, x, weight: [gate] });
    const expected = addTo.map(
      (value, i) => value + (shared[i] as number) / (1 + Math.exp(-(score[Math.floor(i / 8)] as number))),
    );
    expect(relativeDifference(y, expected)).toBeLessThan(thresholds.transcendental);
  });
});

// Experts whose inner width fills no vector and no tile.
const narrow = 21;
const narrowMixture = (rows: number) => ({
  ...mixture(rows),
  gateUp: ['gate', 'up'].map((name) => stack(slices(name, narrow, hidden), narrow, hidden)),
  down: [stack(slices('down', hidden, narrow), hidden, narrow)],
});
for (const rows of [1, 2, 20])
  parity(`experts of ${narrow}, ${rows} tokens`, outcome, () => narrowMixture(rows), thresholds.transcendental);
for (const rows of [1, 5, 65]) parity(`${rows} tokens`, outcome, () => mixture(rows), thresholds.transcendental);
chunks('mixture', outcome, () => mixture(70), 0);

describe('fast path: experts of which some are rounded and some are not', () => {
  for (const downs of ['q8_0', 'f16'] as const)
    for (const rows of [1, 12])
      test.each(devices.filter(({ backEnd }) => backEnd === 'cpu').map((device) => [nameOf(device), device] as const))(
        `%s: ${rows} tokens, downs of ${downs}, are near the exact path`,
        (_, device) => {
          const args = mixedTypes(rows, downs);
          const exact = runMany(reference, 'mixture', args).floats('y');
          const near = runMany(fast(device), 'mixture', args).floats('y');
          expect(relativeDifference(near, exact)).toBeLessThan(thresholds.int8Activations);
        },
      );
});
