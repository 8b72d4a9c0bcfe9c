import { describe, expect, test } from 'vitest';
import { type Arguments, devices, fast, nameOf, others, reference, run, runMany } from './devices.ts';
import { goldenJson, goldenTensors } from './golden.ts';
import { besides, largestDifference, normal, relativeDifference, sizes } from './numbers.ts';
import { chunks, expectSameBits, type Outcome, parity } from './support.ts';
import { cacheThresholds, thresholds } from './thresholds.ts';

interface Case {
  past: number;
  T: number;
  nq: number;
  nkv: number;
  D: number;
  R: number;
  theta: number;
}
const golden = goldenJson<{ params: { attn: Case[] }; tolerance: { max_abs: number } }>('ops/small/expected.json');
const tensor = goldenTensors('ops/small/expected.safetensors');
const frequencies = (theta: number, dim: number) =>
  Float32Array.from({ length: dim / 2 }, (_, j) => theta ** ((-2 * j) / dim));
const plusOne = (x: Float32Array) => x.map((value) => value + 1);

interface Shape {
  heads: number;
  kvHeads: number;
  dim: number;
  rotaryDim: number;
  gated?: number;
  pairing?: string;
  cache?: string;
}
const inputs = (rows: number, shape: Shape) => ({
  ...shape,
  rows,
  scale: shape.dim ** -0.5,
  p: normal('p', rows * shape.dim * (shape.heads * (shape.gated ? 2 : 1) + 2 * shape.kvHeads)),
  qNorm: normal('q norm', shape.dim),
  kNorm: normal('k norm', shape.dim),
  invFreq: frequencies(10000, shape.rotaryDim),
});
const outcome: Outcome = (device, args) => {
  const result = runMany(device, 'attention', args);
  return [result.floats('o'), result.floats('q'), result.floats('gates')];
};

describe.each(devices.map((device) => [nameOf(device), device] as const))('%s', (_, device) => {
  test.each(golden.params.attn)(
    'golden gated attention: past $past, $T tokens, dim $D',
    ({ past, T, nq, nkv, D, R, theta }) => {
      const get = (part: string) => tensor(`gated_attention.past${past}_T${T}_D${D}.${part}`).data;
      const rows = past + T;
      const queries = new Float32Array(rows * nq * 2 * D);
      queries.set(get('in.q_and_gate'), past * nq * 2 * D);
      const result = runMany(device, 'attention', {
        rows,
        heads: nq,
        kvHeads: nkv,
        dim: D,
        gated: 1,
        rotaryDim: R,
        invFreq: frequencies(theta, R),
        qNorm: plusOne(get('in.q_norm_w')),
        kNorm: plusOne(get('in.k_norm_w')),
        scale: D ** -0.5,
        p: besides(rows, queries, get('in.k'), get('in.v')),
        chunks: past > 0 ? Int32Array.of(past, T) : undefined,
      });
      const tail = (name: string) => result.floats(name).subarray(past * nq * D);
      const within = (actual: Float32Array, part: string) =>
        expect(largestDifference(actual, get(part))).toBeLessThan(golden.tolerance.max_abs);
      within(tail('o'), 'out.attn');
      within(tail('q'), 'out.q_rot');
      within(result.floats('keys').subarray(0, rows * nkv * D), 'out.k_rot');
      within(
        tail('o').map((x, i) => x / (1 + Math.exp(-(tail('gates')[i] as number)))),
        'out.gated',
      );
      expect(result.number('length')).toBe(rows);
    },
  );

  test('interleaved pairing is half pairing of permuted rows', () => {
    const [heads, dim, rows] = [3, 16, 5];
    const half = inputs(rows, { heads, kvHeads: heads, dim, rotaryDim: dim });
    const plain = { ...half, qNorm: undefined, kNorm: undefined };
    const permuted = plain.p.map((_x, i) => {
      const at = i % dim;
      return plain.p[i - at + (at % 2 === 0 ? at / 2 : (at - 1) / 2 + dim / 2)] as number;
    });
    const queries = 3 * dim * heads; // only q and k columns are rotated; v follows the permutation too
    expect(queries).toBe(plain.p.length / rows);
    const a = runMany(device, 'attention', plain).floats('q');
    const b = runMany(device, 'attention', { ...plain, p: permuted, pairing: 'interleaved' }).floats('q');
    const back = b.map((_x, i) => {
      const at = i % dim;
      return b[i - at + (at < dim / 2 ? 2 * at : 2 * (at - dim / 2) + 1)] as number;
    });
    expect(relativeDifference(back, a)).toBeLessThan(thresholds.sum);
  });

  test('three axes: frequency j follows the axis of its section', () => {
    const [dim, rows] = [64, 4];
    const shared = {
      ...inputs(rows, { heads: 1, kvHeads: 1, dim, rotaryDim: dim }),
      qNorm: undefined,
      kNorm: undefined,
    };
    const axes = Int32Array.from([9, 9, 9, 9, 3, 5, 3, 5, 1, 1, 2, 2]);
    const q = runMany(device, 'attention', { ...shared, positions: axes, sections: Int32Array.of(11, 11, 10) }).floats(
      'q',
    );
    const half = dim / 2;
    const expected = Array.from({ length: rows * dim }, (_unused, i) => {
      const [t, at] = [Math.floor(i / dim), i % dim];
      const j = at % half;
      const axis = j % 3 === 1 && j < 33 ? 1 : j % 3 === 2 && j < 30 ? 2 : 0;
      const angle = (axes[axis * rows + t] as number) * 10000 ** ((-2 * j) / dim);
      const x = (k: number) => shared.p[t * 3 * dim + k] as number;
      return at < half
        ? x(at) * Math.cos(angle) - x(at + half) * Math.sin(angle)
        : x(at) * Math.cos(angle) + x(j) * Math.sin(angle);
    });
    expect(largestDifference(q, expected)).toBeLessThan(2e-5);
  });

  test('positions of long texts turn as far as they say', () => {
    const [dim, rows] = [64, 5];
    const shared = {
      ...inputs(rows, { heads: 1, kvHeads: 1, dim, rotaryDim: dim }),
      qNorm: undefined,
      kNorm: undefined,
    };
    const positions = Int32Array.of(2049, 4099, 30_001, 131_071, 1_000_003);
    const axes = Int32Array.from([...positions, ...positions, ...positions]);
    const sections = Int32Array.of(11, 11, 10);
    const q = runMany(device, 'attention', { ...shared, positions: axes, sections }).floats('q');
    const half = dim / 2;
    const expected = Array.from({ length: rows * dim }, (_unused, i) => {
      const [t, at] = [Math.floor(i / dim), i % dim];
      const angle = Math.fround((positions[t] as number) * (shared.invFreq[at % half] as number));
      const x = (k: number) => shared.p[t * 3 * dim + k] as number;
      const other = at < half ? -x(at + half) : x(at - half);
      return x(at) * Math.cos(angle) + other * Math.sin(angle);
    });
    expect(largestDifference(q, expected)).toBeLessThan(2e-4);
  });

  test('rotation in place equals rotation into a cache', () => {
    const shape = { heads: 3, kvHeads: 2, dim: 32, rotaryDim: 32 };
    const args = inputs(9, shape);
    const q = runMany(device, 'attention', args).floats('q');
    const p = run(device, 'qkNormRope', args);
    const columns = Float32Array.from(
      { length: q.length },
      (_unused, i) => p[Math.floor(i / 96) * 7 * 32 + (i % 96)] as number,
    );
    expect(columns).toEqual(q);
  });

  test.each(['f16', 'q8', 'q4'] as const)('a cache in %s stays near fp32', (cache) => {
    const shape = { heads: 4, kvHeads: 2, dim: 64, rotaryDim: 64 };
    const exact = runMany(device, 'attention', inputs(100, shape)).floats('o');
    const stored = runMany(device, 'attention', inputs(100, { ...shape, cache })).floats('o');
    const difference = relativeDifference(stored, exact);
    expect(difference).toBeLessThan(cacheThresholds[cache]);
    expect(difference).toBeGreaterThan(0);
  });
});

const shapes: Shape[] = [
  { heads: 3, kvHeads: 3, dim: 16, rotaryDim: 16 },
  { heads: 6, kvHeads: 2, dim: 64, rotaryDim: 32, gated: 1 },
  { heads: 5, kvHeads: 1, dim: 80, rotaryDim: 80, pairing: 'interleaved' },
  { heads: 8, kvHeads: 2, dim: 128, rotaryDim: 128, cache: 'f16' },
  { heads: 4, kvHeads: 2, dim: 64, rotaryDim: 64, cache: 'q8' },
  { heads: 2, kvHeads: 1, dim: 96, rotaryDim: 96, cache: 'q4' },
  { heads: 8, kvHeads: 2, dim: 256, rotaryDim: 64, gated: 1, cache: 'f16' },
];
for (const shape of shapes) {
  const title = `heads ${shape.heads}/${shape.kvHeads} of ${shape.dim}, cache ${shape.cache ?? 'f32'}`;
  for (const rows of [...sizes, 300])
    parity(
      `${title}, ${rows} tokens`,
      outcome,
      () => inputs(rows, shape),
      thresholds[shape.cache ? 'rounded' : 'transcendental'],
    );
  chunks(title, outcome, () => inputs(150, shape));
}

const bidirectional: Outcome = (device, args) => [run(device, 'bidirectional', args)];
for (const rows of sizes) {
  const args = () => ({
    ...inputs(rows, { heads: 3, kvHeads: 3, dim: 32, rotaryDim: 0 }),
    qNorm: undefined,
    kNorm: undefined,
  });
  parity(`bidirectional, ${rows} tokens`, bidirectional, args, thresholds.transcendental);
}
test.each(devices)('bidirectional: texts side by side do not see each other ($instructions)', (device) => {
  const lengths = [1, 37, 16, 70];
  const all = { ...inputs(124, { heads: 3, kvHeads: 3, dim: 32, rotaryDim: 0 }), qNorm: undefined, kNorm: undefined };
  const together = run(device, 'bidirectional', { ...all, lengths: Int32Array.from(lengths) });
  const width = all.p.length / 124;
  let first = 0;
  for (const length of lengths) {
    const p = all.p.subarray(first * width, (first + length) * width);
    const alone = run(device, 'bidirectional', { ...all, rows: length, p });
    expect(together.subarray(first * 96, (first + length) * 96), `text of ${length}`).toEqual(alone);
    first += length;
  }
});
test.each(devices)('bidirectional: the last row is the last row of causal attention ($instructions)', (device) => {
  const args = { ...inputs(37, { heads: 3, kvHeads: 3, dim: 32, rotaryDim: 0 }), qNorm: undefined, kNorm: undefined };
  const causal = runMany(device, 'attention', args)
    .floats('o')
    .subarray(36 * 96);
  expect(relativeDifference(run(device, 'bidirectional', args).subarray(36 * 96), causal)).toBeLessThan(thresholds.sum);
});

// The fast path of sets that multiply bf16. The scalar arithmetic is the definition, as of the products in linear.test.ts.
describe('bidirectional, fast path', () => {
  const texts = (rows: number, shape: Pick<Shape, 'heads' | 'kvHeads' | 'dim'>, more: Arguments = {}) => ({
    ...inputs(rows, { ...shape, rotaryDim: 0 }),
    qNorm: undefined,
    kNorm: undefined,
    ...more,
  });
  const three = { heads: 3, kvHeads: 3, dim: 32 };
  const onCpu = devices.filter(({ backEnd }) => backEnd === 'cpu');
  const rounding = onCpu.filter(({ instructions }) => ['avx512bf16', 'scalar'].includes(instructions));
  const halves = onCpu.find(({ instructions }) => instructions === 'avx512bf16');

  const cases = [
    ...[1, 2, 17, 31, 32, 33, 63, 64, 65, 100, 127, 200].map((rows) => ({ rows, shape: three })),
    ...[1, 65, 130].flatMap((rows) =>
      [
        { heads: 4, kvHeads: 2, dim: 72 },
        { heads: 2, kvHeads: 1, dim: 33 },
        { heads: 1, kvHeads: 1, dim: 4 },
      ].map((shape) => ({ rows, shape })),
    ),
    { rows: 3072, shape: { heads: 1, kvHeads: 1, dim: 16 } },
  ];
  // From scores that differ little to weights of nought and one.
  const scales = [undefined, 3, 0];
  test.for(cases)('$rows tokens, $shape: avx512bf16 = its scalar model, bit for bit', ({ rows, shape }, { skip }) => {
    if (halves === undefined) return skip('needs a CPU with avx512_bf16');
    for (const scale of scales) {
      const args = texts(rows, shape, scale === undefined ? {} : { scale });
      expectSameBits(run(fast(halves), 'bidirectional', args), run(fast(reference), 'bidirectional', args));
    }
  });

  test.each(rounding)('texts side by side do not see each other ($instructions)', (device) => {
    const lengths = [1, 37, 16, 65, 64, 129];
    const rows = lengths.reduce((sum, length) => sum + length);
    const all = texts(rows, three);
    const together = run(fast(device), 'bidirectional', { ...all, lengths: Int32Array.from(lengths) });
    const width = all.p.length / rows;
    let first = 0;
    for (const length of lengths) {
      const p = all.p.subarray(first * width, (first + length) * width);
      const alone = run(fast(device), 'bidirectional', { ...all, rows: length, p });
      expectSameBits(together.subarray(first * 96, (first + length) * 96), alone);
      first += length;
    }
  });

  test.each(rounding)(
    'nothing of an endless value of one text is left beside the last key of the next ($instructions)',
    (device) => {
      const args = texts(3, { heads: 1, kvHeads: 1, dim: 4 }, { lengths: Int32Array.of(2, 1) });
      args.p.fill(Number.POSITIVE_INFINITY, 20, 24);
      const seen = run({ ...fast(device), threads: 1 }, 'bidirectional', args);
      expect(relativeDifference(seen.subarray(8), args.p.subarray(32))).toBeLessThan(thresholds.bf16Attention);
    },
  );

  test.each(rounding)('near the exact path, and not the same ($instructions)', (device) => {
    for (const { rows, shape } of cases) {
      const args = texts(rows, shape);
      const exact = run(reference, 'bidirectional', args);
      const difference = relativeDifference(run(fast(device), 'bidirectional', args), exact);
      expect(difference, `${rows} tokens`).toBeLessThan(thresholds.bf16Attention);
      expect(difference, `${rows} tokens`).toBeGreaterThan(0);
    }
  });

  test.each(rounding)('weights are shares of one: what all keys say comes back ($instructions)', (device) => {
    for (const scale of scales) {
      const { p, ...args } = texts(300, { heads: 1, kvHeads: 1, dim: 32 }, scale === undefined ? {} : { scale });
      const same = p.map((x, i) => (i % 96 < 64 ? x : (i % 32) - 16));
      const seen = run(fast(device), 'bidirectional', { ...args, p: same });
      const wanted = Float32Array.from({ length: seen.length }, (_, i) => (i % 32) - 16);
      expect(relativeDifference(seen, wanted)).toBeLessThan(thresholds.sum);
    }
  });

  test('sets without such products stay exact', () => {
    for (const device of others.filter(({ backEnd }) => backEnd === 'cpu').filter((each) => !rounding.includes(each))) {
      const args = texts(100, three);
      expectSameBits(run(fast(device), 'bidirectional', args), run(device, 'bidirectional', args));
    }
  });
});
