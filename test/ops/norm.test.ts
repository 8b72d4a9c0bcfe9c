import { describe, expect, test } from 'vitest';
import { devices, nameOf, run } from './devices.ts';
import { goldenJson, goldenTensors } from './golden.ts';
import { besides, largestDifference, normal, relativeDifference, sizes } from './numbers.ts';
import { type Outcome, parity } from './support.ts';
import { thresholds } from './thresholds.ts';

const golden = goldenJson<{ params: { norm: { rows: number; D: number }[] }; tolerance: { max_abs: number } }>(
  'ops/small/expected.json',
);
const tensor = goldenTensors('ops/small/expected.safetensors');

describe.each(devices.map((device) => [nameOf(device), device] as const))('%s', (_, device) => {
  test.each(golden.params.norm)('golden norms of width $D', ({ rows, D }) => {
    const get = (part: string) => tensor(`norm.D${D}.${part}`).data;
    const plain = run(device, 'rmsNorm', { rows, x: get('in.x'), norm: get('in.w') });
    expect(largestDifference(plain, get('out.rms_w'))).toBeLessThan(golden.tolerance.max_abs);
    const shifted = run(device, 'rmsNorm', { rows, x: get('in.x'), norm: get('in.w_minus_1').map((w) => w + 1) });
    expect(largestDifference(shifted, get('out.rms_1p'))).toBeLessThan(golden.tolerance.max_abs);
  });

  test('layer norm of a sum', () => {
    const [rows, n] = [4, 50];
    const [x, add, weight, bias] = [normal('x', rows * n), normal('add', rows * n), normal('w', n), normal('b', n)];
    const y = run(device, 'layerNorm', { rows, x, add, norm: weight, bias });
    const expected = Array.from({ length: rows * n }, (_unused, i) => {
      const row = Array.from(
        { length: n },
        (_x, c) => (x[i - (i % n) + c] as number) + (add[i - (i % n) + c] as number),
      );
      const mean = row.reduce((a, b) => a + b) / n;
      const variance = row.reduce((sum, value) => sum + (value - mean) ** 2, 0) / n;
      return (
        (((row[i % n] as number) - mean) / Math.sqrt(variance + 1e-12)) * (weight[i % n] as number) +
        (bias[i % n] as number)
      );
    });
    expect(relativeDifference(y, expected)).toBeLessThan(thresholds.sum);
  });

  test('columns of a, then columns of b', () => {
    const [a, b] = [normal('a', 6 * 5), normal('b', 6 * 3)];
    expect(run(device, 'concat', { rows: 6, a, b })).toEqual(besides(6, a, b));
  });
});

const rms: Outcome = (device, args) => [run(device, 'rmsNorm', args)];
const layer: Outcome = (device, args) => [run(device, 'layerNorm', args)];
for (const width of sizes) {
  const args = () => ({ rows: 3, x: normal('x', 3 * width), norm: normal('w', width), bias: normal('b', width) });
  parity(`rms norm of ${width}`, rms, args, thresholds.sum);
  if (width > 2) parity(`layer norm of ${width}`, layer, args, thresholds.transcendental);
}
