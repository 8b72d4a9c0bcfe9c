// One token's attention over a long context, split among as many threadgroups as a large GPU wants.
import { afterEach, describe, expect, test, vi } from 'vitest';
import { reference, runMany } from '../ops/devices.ts';
import { normal, relativeDifference } from '../ops/numbers.ts';
import { thresholds } from '../ops/thresholds.ts';
import { needsStandin, standin } from './standin.ts';

needsStandin();
vi.setConfig({ testTimeout: 240_000 });
process.env.LONGHAND_METAL_TUNING = 'attention_groups=80';

const metal = { backEnd: 'metal', instructions: '', threads: 1, path: 'exact' } as const;

const [heads, kvHeads, dim] = [8, 2, 64];
/** `rows` tokens, of which the last is read alone. */
const args = (rows: number) => ({
  ...{ heads, kvHeads, dim, rotaryDim: dim, rows, scale: dim ** -0.5 },
  p: normal('p', rows * dim * (heads + 2 * kvHeads)),
  qNorm: normal('q norm', dim),
  kNorm: normal('k norm', dim),
  invFreq: Float32Array.from({ length: dim / 2 }, (_, j) => 10000 ** ((-2 * j) / dim)),
  chunks: Int32Array.of(rows - 1, 1),
});
const last = (o: Float32Array) => o.subarray(o.length - heads * dim);

describe('attention_groups', () => {
  test.each([
    [256, 0],
    [257, 1],
    [900, 1],
  ])('%d keys: parts are merged %d times, and the answer is that of the reference', (rows, merged) => {
    const expected = last(runMany(reference, 'attention', args(rows)).floats('o'));
    standin.reset();
    const o = last(runMany(metal, 'attention', args(rows)).floats('o'));
    expect(standin.counters().kernels.attention_combine ?? 0).toBe(merged);
    expect(relativeDifference(o, expected)).toBeLessThan(thresholds.transcendental);
  });
});

describe('the table of the chips', () => {
  afterEach(() => {
    standin.faults({});
    standin.options({});
    process.env.LONGHAND_METAL_TUNING = 'attention_groups=80';
  });

  // Shapes of Qwen3.5-0.8B: two groups of four heads; cores of the largest such chip.
  test.each([
    ['Apple M1', 16],
    ['Apple M4 Pro', 40],
    ['Apple M4 Max', 80],
    ['Apple M3 Ultra', 128], // of 80 cores: fewer than 64 keys would not pay
  ])(
    '%s: 4096 keys are split among %d threadgroups, two a core, and no more than half as many again',
    (deviceName, groups) => {
      standin.faults({ deviceName });
      standin.options({ dry: true });
      delete process.env.LONGHAND_METAL_TUNING;
      const long = {
        ...args(1),
        heads: 8,
        kvHeads: 2,
        dim: 256,
        rotaryDim: 256,
        rows: 4096,
        chunks: Int32Array.of(4095, 1),
      };
      const chip = { ...metal, instructions: deviceName }; // a back end of its own
      standin.reset();
      runMany(chip, 'attention', {
        ...long,
        p: new Float32Array(4096 * 256 * 12),
        qNorm: normal('q', 256),
        kNorm: normal('k', 256),
        invFreq: new Float32Array(128),
      });
      const { attention } = standin.counters().threadgroups;
      expect(attention).toBeGreaterThanOrEqual(groups);
      expect(attention).toBeLessThan(1.5 * groups);
    },
  );
});

describe('what a lane loads at once', () => {
  // Four neighbours, two, or one; with lanes that hold none, in every layout of a cache.
  test.each([72, 128, 48, 66, 33, 256])('heads of %d', (width) => {
    const shape = { heads: 2, kvHeads: 1, dim: width, rotaryDim: 2, rows: 21, scale: width ** -0.5 };
    const given = {
      ...shape,
      p: normal('p', 21 * width * 4),
      invFreq: Float32Array.of(1),
      chunks: Int32Array.of(20, 1),
    };
    for (const type of width % 32 === 0 ? ['f32', 'f16', 'q8', 'q4'] : ['f32', 'f16']) {
      standin.options({ check: true, banks: true });
      standin.reset();
      const o = runMany(metal, 'attention', { ...given, cache: type })
        .floats('o')
        .subarray(20 * 2 * width);
      expect(standin.counters().bankConflicts, type).not.toHaveProperty('attention');
      standin.options({});
      const expected = runMany(reference, 'attention', { ...given, cache: type })
        .floats('o')
        .subarray(20 * 2 * width);
      expect(relativeDifference(o, expected), type).toBeLessThan(
        type === 'f32' ? thresholds.transcendental : thresholds.rounded,
      );
    }
  });
});
