// Chunks of 64 tokens: GLA everywhere, the delta rule where the tuning table chooses them (M5), here from 9 tokens on.
import { afterEach, describe, expect, test, vi } from 'vitest';
import { reference, runMany } from '../ops/devices.ts';
import { type DeltaShape, deltaInputs } from '../ops/gated-delta-inputs.ts';
import { normal, relativeDifference } from '../ops/numbers.ts';
import { thresholds } from '../ops/thresholds.ts';
import { needsStandin, standin } from './standin.ts';

needsStandin();
vi.setConfig({ testTimeout: 240_000 });
process.env.LONGHAND_METAL_TUNING = 'delta_chunk_from=9';

const metal = { backEnd: 'metal', instructions: '', threads: 1, path: 'exact' } as const;

const shapes: DeltaShape[] = [
  { keyHeads: 3, valueHeads: 3, keyDim: 16, valueDim: 24, headMap: 'grouped' },
  { keyHeads: 2, valueHeads: 6, keyDim: 32, valueDim: 8, headMap: 'tiled' },
  { keyHeads: 1, valueHeads: 2, keyDim: 128, valueDim: 128, headMap: 'grouped' },
];

/** `alike`: keys that hardly change, written with all their strength, hardly forgotten. */
function inputs(rows: number, shape: DeltaShape, alike = false) {
  const args = deltaInputs(rows, shape);
  if (!alike) return args;
  const { p } = args;
  const values = shape.valueHeads * shape.valueDim;
  const channels = 2 * shape.keyHeads * shape.keyDim + values;
  const columns = p.length / rows;
  for (let t = 0; t < rows; t++) {
    for (let c = 0; c < channels - values; c++) p[t * columns + c] = 1 + 1e-3 * (p[t * columns + c] as number);
    for (let h = 0; h < shape.valueHeads; h++) {
      p[t * columns + channels + values + h] = 9;
      p[t * columns + channels + values + shape.valueHeads + h] = -9;
    }
  }
  return { ...args, conv: args.conv.map(() => 0.5) };
}

const parts = ['o', 'state', 'window'] as const;
const outcome = (args: ReturnType<typeof inputs>, device: typeof metal | typeof reference = metal) => {
  const result = runMany(device, 'gatedDelta', args);
  return parts.map((part) => result.floats(part));
};

afterEach(() => standin.options({}));

describe.each(shapes)('heads $keyHeads/$valueHeads, dims $keyDim/$valueDim, $headMap', (shape) => {
  test.each([9, 63, 64, 65, 131])('%i tokens: as the reference', (rows) => {
    standin.reset();
    const actual = outcome(inputs(rows, shape));
    expect(standin.counters().kernels).toMatchObject({ chunk_prepare: 1, [`chunk_scan_${shape.keyDim / 8}`]: 1 });
    outcome(inputs(rows, shape), reference).forEach((expected, i) => {
      expect(relativeDifference(actual[i] as Float32Array, expected)).toBeLessThan(thresholds.recurrence);
    });
  });
});

test('512 tokens of GLA are two dispatches, not two for every 64', () => {
  const [rows, heads, dim] = [512, 2, 128];
  const column = (name: string) => normal(name, rows * heads * dim);
  standin.options({ dry: true });
  standin.reset();
  runMany(metal, 'gla', {
    ...{ rows, heads, keyDim: dim, valueDim: dim, scale: dim ** -0.5, slopes: Float32Array.of(0.1, 0.2) },
    ...{ q: column('q'), k: column('k'), v: column('v'), state: normal('state', heads * dim * dim) },
  });
  expect(standin.counters().kernels).toEqual({ chunk_prepare: 1, chunk_scan_16: 1 });
});

test('keys that are nearly alike, written at full strength, cost no digits', () => {
  const args = inputs(131, shapes[2] as DeltaShape, true);
  const actual = outcome(args);
  outcome(args, reference).forEach((expected, i) => {
    expect(relativeDifference(actual[i] as Float32Array, expected)).toBeLessThan(10 * thresholds.recurrence);
  });
});

test('no race, nothing read that nobody wrote, and the same bits in any order of lanes', () => {
  const args = inputs(75, shapes[1] as DeltaShape);
  standin.options({ check: true });
  const checked = outcome(args);
  for (const order of ['forward', 'reverse', 'random'] as const) {
    standin.options({ order, seed: 5 });
    expect(outcome(args), order).toEqual(checked);
  }
});
