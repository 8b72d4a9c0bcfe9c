// Causal attention while a prompt is read, on the fast path of sets that multiply bf16. The scalar arithmetic is the
// definition: of pairs, or of tiles where the set has them.
import { describe, expect, test } from 'vitest';
import { type Arguments, devices, fast, modelOf, nameOf, others, reference, runMany, tileModel } from './devices.ts';
import { normal, relativeDifference } from './numbers.ts';
import { expectSameBits } from './support.ts';
import { thresholds } from './thresholds.ts';

interface Case {
  rows: number;
  heads: number;
  kvHeads: number;
  dim: number;
  cache?: string;
  /** Tokens of each pass; all at once without. */
  passes?: readonly number[];
}
const argumentsOf = ({ passes, ...shape }: Case, more: Arguments = {}): Arguments => ({
  ...shape,
  rotaryDim: 0,
  scale: shape.dim ** -0.5,
  p: normal('p', shape.rows * shape.dim * (shape.heads + 2 * shape.kvHeads)),
  invFreq: new Float32Array(0),
  ...(passes ? { chunks: Int32Array.from(passes) } : {}),
  ...more,
});
const attend = (device: Parameters<typeof runMany>[0], args: Arguments) =>
  runMany(device, 'attention', args).floats('o');

const onCpu = devices.filter(({ backEnd }) => backEnd === 'cpu');
const ROUNDING = ['amx', 'avx512bf16', 'scalar'];
const rounding = onCpu.filter(({ instructions }) => ROUNDING.includes(instructions));
const models = [...rounding, tileModel];

const three = { heads: 3, kvHeads: 3, dim: 32 };
const cases: Case[] = [
  // Ends of a product of 32 keys, of a block of 64, and of a tile of 32 rows.
  ...[17, 31, 32, 33, 63, 64, 65, 96, 97, 127, 130].map((rows) => ({ ...three, rows })),
  { rows: 40, heads: 4, kvHeads: 2, dim: 72 },
  { rows: 65, heads: 2, kvHeads: 1, dim: 33 },
  { rows: 100, heads: 1, kvHeads: 1, dim: 4 },
  { rows: 50, heads: 5, kvHeads: 1, dim: 80, cache: 'f16' },
  { rows: 70, heads: 4, kvHeads: 2, dim: 128, cache: 'q8' },
  { rows: 70, heads: 2, kvHeads: 1, dim: 256, cache: 'q4' },
  // A second pass of which most keys are older than its tokens; more keys than are rounded at a time.
  { ...three, rows: 100, passes: [60, 40] },
  // The first token of a tile sees all keys of a block but one, or just all.
  ...[62, 63].map((past) => ({ ...three, rows: 100, passes: [past, 100 - past] })),
  { rows: 1_100, heads: 2, kvHeads: 1, dim: 16, passes: [1_000, 100] },
];
const nameOfCase = ({ rows, heads, kvHeads, dim, cache = 'f32', passes = [rows] }: Case) =>
  `${passes.join(' + ')} tokens, heads ${heads}/${kvHeads} of ${dim}, cache ${cache}`;
// From scores that differ little to weights of nought and one.
const scales = [undefined, 3, 0];
const scaled = (one: Case, scale: number | undefined) => argumentsOf(one, scale === undefined ? {} : { scale });

describe('causal, fast path', () => {
  describe.each(rounding.filter(({ instructions }) => instructions !== 'scalar'))('$instructions', (device) => {
    test.each(cases.map((one) => [nameOfCase(one), one] as const))('%s: its scalar model, bit for bit', (_, one) => {
      for (const scale of scales) {
        const args = scaled(one, scale);
        expectSameBits(attend(fast(device), args), attend(fast(modelOf(device, one.rows)), args));
      }
    });
  });

  test.each(models)('near the exact path, and not the same ($instructions)', (device) => {
    for (const one of cases) {
      const args = argumentsOf(one);
      const difference = relativeDifference(attend(fast(device), args), attend(reference, args));
      expect(difference, nameOfCase(one)).toBeLessThan(thresholds.bf16Attention);
      expect(difference, nameOfCase(one)).toBeGreaterThan(0);
    }
  });

  test.each(models)('a token sees nothing of those behind it ($instructions)', (device) => {
    const whole: Case = { ...three, rows: 97 };
    const args = argumentsOf(whole);
    const seen = attend(fast(device), args);
    const width = 3 * 32;
    for (const rows of [17, 32, 33, 64, 65]) {
      const p = (args.p as Float32Array).slice();
      p.fill(1e4, rows * 3 * width);
      expectSameBits(attend(fast(device), { ...args, p }).subarray(0, rows * width), seen.subarray(0, rows * width));
    }
  });

  test.each(models)('weights are shares of one: what all keys say comes back ($instructions)', (device) => {
    for (const scale of scales) {
      const { p, ...args } = scaled({ rows: 130, heads: 1, kvHeads: 1, dim: 32 }, scale);
      const same = (p as Float32Array).map((x, i) => (i % 96 < 64 ? x : (i % 32) - 16));
      const seen = attend(fast(device), { ...args, p: same });
      const wanted = Float32Array.from({ length: seen.length }, (_x, i) => (i % 32) - 16);
      expect(relativeDifference(seen, wanted)).toBeLessThan(thresholds.sum);
    }
  });

  test.each(models)('passes in which a prompt is read give the bits of one pass ($instructions)', (device) => {
    const rows = 150;
    const atOnce = attend(fast(device), argumentsOf({ ...three, rows }));
    for (const passes of [
      [64, 64, 22],
      [33, 100, 17],
    ])
      expectSameBits(attend(fast(device), argumentsOf({ ...three, rows, passes })), atOnce);
  });

  test.each(models)('the number of threads changes no bit ($instructions)', (device) => {
    const args = argumentsOf({ rows: 97, heads: 8, kvHeads: 2, dim: 64 });
    const one = attend({ ...fast(device), threads: 1 }, args);
    for (const threads of [2, 3]) expectSameBits(attend({ ...fast(device), threads }, args), one);
  });

  test.each(
    [reference, ...others.filter(({ backEnd }) => backEnd === 'cpu')].map((one) => [nameOf(one), one] as const),
  )('an answer stays exact: sixteen tokens are not rounded (%s)', (_, device) => {
    const args = argumentsOf({ ...three, rows: 80, passes: [16, 16, 16, 16, 15, 1] });
    expectSameBits(attend(fast(device), args), attend(device, args));
  });

  test('sets without such products stay exact', () => {
    const exact = onCpu.filter((device) => !rounding.includes(device));
    for (const device of exact) {
      const args = argumentsOf({ ...three, rows: 100 });
      expectSameBits(attend(fast(device), args), attend(device, args));
    }
  });
});
