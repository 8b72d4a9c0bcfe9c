// How activations are rounded on the fast path: in blocks of 32 columns, to two bytes or to one.
import { expect, test } from 'vitest';
import { fast, modelOf, nameOf, others, reference, run, type WeightInput } from './devices.ts';
import { bytes, normal } from './numbers.ts';
import { expectSameBits } from './support.ts';
import { affineMatrix } from './weights.ts';

const cpus = others.filter(({ backEnd }) => backEnd === 'cpu');

test.each(cpus.map((device) => [nameOf(device), device] as const))(
  '%s: rows of 13 blocks, which no vector divides, of zeros and of numbers next to nothing, as the scalar model has them',
  (_, device) => {
    const columns = 13 * 32;
    const sizes = [1, 0, 1e-38, 1e-30, 1e30];
    const sizeOf = (i: number) => sizes[(Math.floor(i / 32) + Math.floor(i / columns)) % sizes.length] as number;
    const x = normal('x', 40 * columns).map((value, i) => (i < columns ? 0 : value * sizeOf(i)));
    const weight = [affineMatrix(4, 32, 'f16', 50, columns)];
    for (const rows of [2, 7, 40]) {
      const args = { rows, x: x.subarray(0, rows * columns), weight };
      expectSameBits(run(fast(device), 'linear', args), run(fast(modelOf(device, rows)), 'linear', args));
    }
  },
);

test('prompts keep the low bytes of blocks that stand out; the others are rounded to one byte', () => {
  const columns = 256;
  const x = normal('x', 17 * columns).map((value, i) => (Math.floor((i % columns) / 32) === 3 ? 9 * value : value));
  const groups = columns * (columns / 32);
  const identity: WeightInput = {
    type: 'affine',
    shape: [columns, columns],
    data: Uint8Array.from({ length: columns * columns }, (_, i) => (i % (columns + 1) === 0 ? 1 : 0)),
    bits: 8,
    group: 32,
    scaleType: 'f32',
    scales: bytes(new Float32Array(groups).fill(1)),
    biases: bytes(new Float32Array(groups)),
  };
  const weight = [identity];
  const seen = (rows: number) => run(fast(reference), 'linear', { rows, x: x.subarray(0, rows * columns), weight });
  const [prompt, few] = [seen(17), seen(16)];
  let coarse = 0;
  for (let i = 0; i < 16 * columns; i++) {
    const block = Math.floor((i % columns) / 32);
    const first = i - (i % 32);
    const peak = x.subarray(first, first + 32).reduce((most, value) => Math.max(most, Math.abs(value)), 0);
    const [at, exact] = [prompt[i] as number, x[i] as number];
    if (block === 3) expect(at).toBe(few[i]);
    else expect(Math.abs(at - exact)).toBeLessThanOrEqual((0.505 * peak) / 127);
    if (Math.abs(at - exact) > (0.51 * peak) / 16256) coarse++;
  }
  expect(coarse).toBeGreaterThan(0.8 * 16 * (columns - 32));
});
