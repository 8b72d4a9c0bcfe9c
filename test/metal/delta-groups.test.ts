// The delta rule in more threadgroups, for chips with more cores than a model has key heads: not one bit changes.
import { afterEach, describe, expect, test, vi } from 'vitest';
import { type Arguments, reference, runMany } from '../ops/devices.ts';
import { type DeltaShape, deltaInputs } from '../ops/gated-delta-inputs.ts';
import { relativeDifference } from '../ops/numbers.ts';
import { thresholds } from '../ops/thresholds.ts';
import { needsStandin, standin } from './standin.ts';

needsStandin();
vi.setConfig({ testTimeout: 240_000 });
afterEach(() => {
  standin.options({});
  vi.unstubAllEnvs();
});

/** A back end that was opened with this tuning: they are kept by their words. */
const tuned = (tuning: string) => ({ backEnd: 'metal', instructions: tuning, threads: 1, path: 'exact' }) as const;

/** As while steps run ahead: the window goes to other memory. */
const inputs = (rows: number, shape: DeltaShape) => ({ ...deltaInputs(rows, shape), twoSlots: 1 });

const parts = ['o', 'state', 'window'] as const;
function outcome(args: Arguments, tuning: string) {
  vi.stubEnv('LONGHAND_METAL_TUNING', tuning);
  standin.reset();
  const result = runMany(tuned(tuning), 'gatedDelta', args);
  return { numbers: parts.map((part) => result.floats(part)), kernels: standin.counters().kernels };
}

describe('a step', () => {
  test.each<[slices: number, apart: number, shape: DeltaShape]>([
    [2, 1, { keyHeads: 2, valueHeads: 2, keyDim: 16, valueDim: 32, headMap: 'grouped' }],
    [4, 1, { keyHeads: 2, valueHeads: 2, keyDim: 16, valueDim: 32, headMap: 'grouped' }],
    [2, 0, { keyHeads: 2, valueHeads: 4, keyDim: 32, valueDim: 24, headMap: 'tiled' }],
    [2, 0, { keyHeads: 2, valueHeads: 6, keyDim: 16, valueDim: 8, headMap: 'grouped' }], // three: whole heads
    [4, 1, { keyHeads: 2, valueHeads: 4, keyDim: 16, valueDim: 16, headMap: 'tiled' }],
    [8, 1, { keyHeads: 1, valueHeads: 1, keyDim: 20, valueDim: 24, headMap: 'grouped' }], // three: no more columns
  ])('in %d slices, its norm apart %d times: $1', (slices, apart, shape) => {
    for (const rows of [1, 3]) {
      const args = inputs(rows, shape);
      const whole = outcome(args, '');
      expect(whole.kernels).not.toHaveProperty('gated_norm');
      standin.options({ check: true });
      const sliced = outcome(args, `delta_slices=${slices}`);
      standin.options({});
      expect(sliced.kernels.gated_norm ?? 0).toBe(apart);
      expect(sliced.numbers).toEqual(whole.numbers);
    }
  });

  test('whose window stays where it is has one threadgroup a key head', () => {
    const { twoSlots, ...args } = inputs(1, {
      keyHeads: 2,
      valueHeads: 2,
      keyDim: 16,
      valueDim: 32,
      headMap: 'grouped',
    });
    expect(twoSlots).toBe(1);
    standin.options({ check: true });
    expect(outcome(args, 'delta_slices=4').kernels).toEqual({ gated_delta_step_4: 1 });
  });

  test('of more columns than one threadgroup has threads for is divided on every chip', () => {
    const args = inputs(2, { keyHeads: 1, valueHeads: 2, keyDim: 128, valueDim: 128, headMap: 'grouped' });
    const { numbers, kernels } = outcome(args, '');
    expect(kernels).toEqual({ gated_delta_step_32: 1 });
    parts.forEach((part, i) => {
      const expected = runMany(reference, 'gatedDelta', args).floats(part);
      expect(relativeDifference(numbers[i] as Float32Array, expected)).toBeLessThan(thresholds.recurrence);
    });
  });
});

test.each([1, 2])('a scan by %d simdgroups a threadgroup', (simdgroups) => {
  const args = inputs(11, { keyHeads: 2, valueHeads: 4, keyDim: 16, valueDim: 24, headMap: 'tiled' });
  const { numbers, kernels } = outcome(args, `scan_simdgroups=${simdgroups}`);
  expect(kernels).toHaveProperty('gated_delta_scan_4');
  expect(numbers).toEqual(outcome(args, '').numbers);
});
