// One token's attention over a long context, split among as many threadgroups as a large GPU wants.
import { describe, expect, test, vi } from 'vitest';
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
