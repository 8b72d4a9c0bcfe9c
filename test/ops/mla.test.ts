import { describe, expect, test } from 'vitest';
import { devices, nameOf, run, runMany } from './devices.ts';
import { normal, relativeDifference, sizes } from './numbers.ts';
import { chunks, type Outcome, parity } from './support.ts';
import { cacheThresholds, thresholds } from './thresholds.ts';
import { toBf16, toF16 } from './weights.ts';

const [heads, kvHeads, dim, ropeDim] = [6, 2, 16, 4];
const retained = Int32Array.of(1, 5, 9, 13, 0, 7, 8, 15); // pairs (i, i + dim / 2) of either key/value head
const rest = Int32Array.from(
  [0, 1].flatMap((g) =>
    Array.from({ length: dim }, (_, i) => i).filter(
      (i) => !retained.subarray(g * ropeDim, (g + 1) * ropeDim).includes(i),
    ),
  ),
);
const invFreq = Float32Array.from({ length: dim / 2 }, (_, j) => 10000 ** ((-2 * j) / dim));

/** Joint: keys and values from one latent of 12; split: keys from the first 12 columns, values from the next 8. */
const inputs = (rows: number, joint: boolean) => {
  const latentWidth = joint ? 12 : 20;
  const latentV = joint ? 12 : 8;
  return {
    rows,
    ...{ heads, kvHeads, dim, ropeDim, latentWidth, latentV, retained, rest, invFreq },
    rotaryDim: ropeDim,
    latentK: 12,
    latentVFirst: joint ? 0 : 12,
    scale: dim ** -0.5,
    p: normal('p', rows * (heads * dim + kvHeads * ropeDim + latentWidth)),
    upK: normal('up k', kvHeads * (dim - ropeDim) * 12, 0.3),
    upV: normal('up v', kvHeads * dim * latentV, 0.3),
  };
};
const outcome: Outcome = (device, args) => [run(device, 'latent', args)];

/** The same attention with keys and values written out (arXiv 2502.14837), as an ordinary packed projection. */
function expanded(args: ReturnType<typeof inputs>) {
  const width = heads * dim + kvHeads * ropeDim + args.latentWidth;
  const rows = Array.from({ length: args.rows }, (_, t) => {
    const p = args.p.subarray(t * width, (t + 1) * width);
    const latent = p.subarray(heads * dim + kvHeads * ropeDim);
    const product = (up: Float32Array, row: number, first: number, count: number) =>
      latent.subarray(first, first + count).reduce((sum, x, c) => sum + x * (up[row * count + c] as number), 0);
    const rotate = (head: Float64Array, g: number) => {
      for (let j = 0; j < ropeDim / 2; j++) {
        const [low, high] = [retained[g * ropeDim + j] as number, retained[g * ropeDim + ropeDim / 2 + j] as number];
        const angle = t * (invFreq[low] as number);
        const [a, b] = [head[low] as number, head[high] as number];
        head[low] = a * Math.cos(angle) - b * Math.sin(angle);
        head[high] = b * Math.cos(angle) + a * Math.sin(angle);
      }
      return [...head];
    };
    const q = Array.from({ length: heads }, (_h, h) =>
      rotate(Float64Array.from(p.subarray(h * dim, (h + 1) * dim)), Math.floor(h / 3)),
    );
    const k = [0, 1].map((g) => {
      const head = new Float64Array(dim);
      for (let j = 0; j < ropeDim; j++)
        head[retained[g * ropeDim + j] as number] = p[heads * dim + g * ropeDim + j] as number;
      const others = dim - ropeDim;
      for (let r = 0; r < others; r++)
        head[rest[g * others + r] as number] = product(args.upK, g * others + r, 0, args.latentK);
      return rotate(head, g);
    });
    const v = Array.from({ length: kvHeads * dim }, (_v, i) => product(args.upV, i, args.latentVFirst, args.latentV));
    return [...q.flat(), ...k.flat(), ...v];
  });
  return { rows: args.rows, heads, kvHeads, dim, rotaryDim: 0, scale: args.scale, p: Float32Array.from(rows.flat()) };
}

describe.each(devices.map((device) => [nameOf(device), device] as const))('%s', (_, device) => {
  test.each([true, false])('absorbed = written out (joint: %s)', (joint) => {
    const args = inputs(11, joint);
    const written = runMany(device, 'attention', expanded(args)).floats('o');
    expect(relativeDifference(run(device, 'latent', args), written)).toBeLessThan(thresholds.transcendental);
  });

  test.each(['f16', 'q8', 'q4'] as const)('a cache in %s stays near fp32', (cache) => {
    const args = inputs(40, true);
    expect(relativeDifference(run(device, 'latent', { ...args, cache }), run(device, 'latent', args))).toBeLessThan(
      cacheThresholds[cache],
    );
  });
});

for (const rows of sizes) parity(`${rows} tokens`, outcome, () => inputs(rows, false), thresholds.transcendental);

/** Every head its own, rows of 576 rope values and of `latent` latents: more than a group of threads keeps. */
function wide(rows: number, latent: number, many = 36) {
  const [size, turned] = [32, 16];
  const of = (dims: number[]) => Int32Array.from(Array.from({ length: many }, () => dims).flat());
  const all = Array.from({ length: size }, (_, i) => i);
  return {
    ...{ rows, heads: many, kvHeads: many, dim: size, ropeDim: turned, rotaryDim: turned },
    ...{ latentWidth: latent, latentK: latent, latentV: latent, latentVFirst: 0, scale: size ** -0.5 },
    retained: of(all.filter((i) => i % 16 < 8)),
    rest: of(all.filter((i) => i % 16 >= 8)),
    invFreq: Float32Array.from({ length: size / 2 }, (_, j) => 10000 ** ((-2 * j) / size)),
    p: normal('p', rows * (many * size + many * turned + latent), 0.3),
    upK: normal('up k', many * (size - turned) * latent, 0.05),
    upV: normal('up v', many * size * latent, 0.05),
  };
}
parity('latents of 513', outcome, () => wide(5, 513), thresholds.transcendental);
// Exactly what a group of threads takes: none is left over for another group, which would write behind the row.
parity('512 rope values and as many latents', outcome, () => wide(2, 512, 32), thresholds.transcendental);
parity('latents of 1100', outcome, () => wide(5, 1100), thresholds.transcendental);
for (const cache of ['f16', 'q8', 'q4'] as const)
  parity(`latents of 513 in ${cache}`, outcome, () => ({ ...wide(5, 513), cache }), cacheThresholds[cache]);
chunks('wide latents', outcome, () => wide(12, 520));

/** Multiples of 1/64 below 2: the same in fp32, fp16 and bf16. */
const coarse = (values: Float32Array) => values.map((x) => Math.max(-127, Math.min(127, Math.round(64 * x))) / 64);

describe.each(devices.map((device) => [nameOf(device), device] as const))('%s', (_, device) => {
  test.each([
    ['bf16', toBf16],
    ['f16', toF16],
  ] as const)('matrices in %s are read as they stand in the file', (upType, stored) => {
    const args = inputs(5, false);
    const [upK, upV] = [coarse(args.upK), coarse(args.upV)];
    const kept = run(device, 'latent', { ...args, upK: stored(upK), upV: stored(upV), upType });
    expect(kept).toEqual(run(device, 'latent', { ...args, upK, upV }));
  });
});
