import { describe, expect, test } from 'vitest';
import { devices, nameOf, runMany } from './devices.ts';
import { goldenJson, goldenTensors } from './golden.ts';
import { besides, largestDifference, normal, sizes } from './numbers.ts';
import { chunks, type Outcome, parity } from './support.ts';
import { thresholds } from './thresholds.ts';

const golden = goldenJson<{ params: { conv: { C: number; K: number; T: number }[] }; tolerance: { max_abs: number } }>(
  'ops/small/expected.json',
);
const tensor = goldenTensors('ops/small/expected.safetensors');

describe.each(devices.map((device) => [nameOf(device), device] as const))('%s', (_, device) => {
  test.each(golden.params.conv)('golden: $C channels, width $K, $T tokens', ({ C, K, T }) => {
    const get = (part: string) => tensor(`conv_silu.C${C}_K${K}_T${T}.${part}`).data;
    const shared = { rows: T, channels: C, width: K, conv: get('in.w'), window: get('in.state') };
    const silu = runMany(device, 'convSilu', { ...shared, p: get('in.x') });
    expect(largestDifference(silu.floats('y'), get('out.y'))).toBeLessThan(golden.tolerance.max_abs);
    expect(silu.floats('window')).toEqual(get('out.state'));
    // B = C = 1 leaves the bare convolution.
    const ones = new Float32Array(T * C).fill(1);
    const bare = runMany(device, 'shortConv', { ...shared, p: besides(T, ones, ones, get('in.x')) });
    expect(largestDifference(bare.floats('y'), get('out.y_no_activation'))).toBeLessThan(golden.tolerance.max_abs);
    expect(bare.floats('window')).toEqual(get('out.state'));
  });
});

const inputs = (rows: number, channels: number, width: number, parts: number) => ({
  rows,
  channels,
  width,
  p: normal('p', rows * channels * parts),
  conv: normal('conv', channels * width),
  window: normal('window', (width - 1) * channels),
});
const outcome =
  (op: string): Outcome =>
  (device, args) => {
    const result = runMany(device, op, args);
    return [result.floats('y'), result.floats('window')];
  };

for (const [op, parts] of [
  ['convSilu', 1],
  ['shortConv', 3],
] as const) {
  for (const rows of sizes)
    parity(`${op}, ${rows} tokens`, outcome(op), () => inputs(rows, 101, 4, parts), thresholds.transcendental);
  for (const width of [2, 3, 5])
    parity(`${op}, width ${width}`, outcome(op), () => inputs(70, 67, width, parts), thresholds.transcendental);
  chunks(op, outcome(op), () => inputs(100, 67, 3, parts), 0);
}
