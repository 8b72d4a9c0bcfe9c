// Every way to compute that the tuner may choose, on the GPU of a Mac too: what it measures there must also be right there.
import { describe, expect, test, vi } from 'vitest';
import { type Arguments, type Device, devices, reference, run, runMany, withoutMetal } from '../ops/devices.ts';
import { normal, relativeDifference } from '../ops/numbers.ts';
import { thresholds } from '../ops/thresholds.ts';
import { affineMatrix, blockMatrix, floatMatrix } from '../ops/weights.ts';

vi.setConfig({ testTimeout: 240_000 });
const [metal] = devices.filter(({ backEnd }) => backEnd === 'metal');

const matrices = [affineMatrix(4, 64, 'bf16', 70, 320), blockMatrix('q4_k', 70, 1), floatMatrix('bf16', 'w', 70, 100)];
const projections = (rows: number): [string, Arguments][] =>
  matrices.map((matrix) => {
    const columns = matrix.shape.at(-1) as number;
    return ['linear', { rows, x: normal('x', rows * columns), norm: normal('norm', columns), weight: [matrix] }];
  });

function delta(rows: number): [string, Arguments] {
  const [heads, dim] = [2, 32];
  const channels = 3 * heads * dim;
  return [
    'gatedDelta',
    {
      ...{
        rows,
        keyHeads: heads,
        valueHeads: heads,
        keyDim: dim,
        valueDim: dim,
        headMap: 'grouped',
        width: 4,
        twoSlots: 1,
      },
      p: normal('p', rows * (channels + heads * dim + 2 * heads)),
      conv: normal('conv', channels * 4, 0.5),
      decay: normal('decay', heads).map((x) => -Math.exp(x)),
      dtBias: normal('dt', heads),
      norm: normal('norm', dim),
      window: normal('window', 3 * channels),
      state: normal('state', heads * dim * dim, 0.3),
    },
  ];
}
/** The last of `rows` tokens is read alone. */
const attention = (rows: number, dim: number): [string, Arguments] => [
  'attention',
  {
    ...{ heads: 8, kvHeads: 2, dim, rotaryDim: 2, rows, scale: dim ** -0.5, invFreq: Float32Array.of(1) },
    p: normal('p', rows * dim * 12),
    chunks: Int32Array.of(rows - 1, 1),
  },
];

function results(device: Device, op: string, args: Arguments): Float32Array[] {
  if (op === 'linear') return [run(device, op, args)];
  const all = runMany(device, op, args);
  return (op === 'gatedDelta' ? ['o', 'state', 'window'] : ['o']).map((part) => all.floats(part));
}

interface Form {
  tuning: string;
  path: Device['path'];
  limit: number;
  ops: [string, Arguments][];
}
const exact = (tuning: string, ops: Form['ops'], limit: number = thresholds.recurrence): Form => ({
  tuning,
  path: 'exact',
  ops,
  limit,
});
const forms: Form[] = [
  exact('matvec_rows=8,matvec_simdgroups=4', projections(1)),
  exact('delta_slices=4', [delta(1), delta(3)]),
  exact('scan_simdgroups=1', [delta(20)]),
  exact('delta_chunk_from=64', [delta(70)]),
  exact('attention_groups=80', [attention(300, 64), attention(300, 128)]),
  exact('attention_shared=1', [attention(40, 72)]),
  { tuning: 'matmul_half=1', path: 'fast', limit: thresholds.halves, ops: projections(40) },
  // By the kernel in fp32 where the GPU has no matrix units.
  { tuning: 'matmul_tensor=1', path: 'fast', limit: thresholds.halves, ops: projections(70) },
];

describe('the form', () => {
  test.for(forms)('$tuning gives the numbers of the scalar reference', ({ tuning, path, limit, ops }, { skip }) => {
    if (!metal) skip(`needs an Apple7 GPU: ${withoutMetal}`);
    vi.stubEnv('LONGHAND_METAL_TUNING', tuning);
    // Back ends are kept by their words: this one is opened with this tuning.
    const device = { ...metal, instructions: tuning, path } as Device;
    for (const [op, args] of ops) {
      const [actual, expected] = [results(device, op, args), results(reference, op, args)];
      actual.forEach((floats, i) => {
        expect(relativeDifference(floats, expected[i] as Float32Array), `${op}, result ${i}`).toBeLessThan(limit);
      });
    }
    vi.unstubAllEnvs();
  });
});
