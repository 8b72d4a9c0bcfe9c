// Prompts multiplied in halves, with sums in fp32: the fast path, where the tuner found it faster.
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { type Arguments, reference, run, runMany, type WeightInput } from '../ops/devices.ts';
import { normal, relativeDifference } from '../ops/numbers.ts';
import { thresholds } from '../ops/thresholds.ts';
import { affineMatrix, blockMatrix, floatMatrix } from '../ops/weights.ts';
import { needsStandin, standin } from './standin.ts';

needsStandin();
vi.setConfig({ testTimeout: 240_000 });
beforeEach(() => vi.stubEnv('LONGHAND_METAL_TUNING', 'matmul_half=1'));
afterEach(() => {
  standin.options({});
  vi.unstubAllEnvs();
});

const metal = { backEnd: 'metal', instructions: '', threads: 1 } as const;
const fast = { ...metal, path: 'fast' } as const;
const exact = { ...metal, path: 'exact' } as const;

const inputs = (rows: number, matrix: WeightInput): Arguments => ({
  rows,
  x: normal('x', rows * (matrix.shape.at(-1) as number)),
  weight: [matrix],
});
/** How far halves are from the reference, and which kernels ran. */
function halved(op: string, args: Arguments) {
  standin.reset();
  const y = run(fast, op, args);
  const { kernels } = standin.counters();
  return { y, off: relativeDifference(y, run(reference, op, args)), kernels };
}
const both = { pack_rows: 1, linear_mat_half: 1 };

// Layouts of each kind; all of them are decoded by the functions that the exact path takes (test/ops/linear.test.ts).
const matrices: [string, WeightInput][] = [
  ...(['q4_0', 'q4_k', 'q8_0', 'iq4_xs'] as const).map((type): [string, WeightInput] => [
    type,
    blockMatrix(type, 70, 1),
  ]),
  ...[3, 4].map((bits): [string, WeightInput] => [`MLX ${bits} bits`, affineMatrix(bits, 64, 'bf16', 70, 320)]),
  ...(['f32', 'bf16'] as const).map((type): [string, WeightInput] => [type, floatMatrix(type, 'w', 70, 100)]),
];
test.each(matrices)('%s: as near as 11 bits are, and not the exact path', (_, matrix) => {
  const { off, kernels } = halved('linear', inputs(33, matrix));
  expect(kernels).toEqual(both);
  expect(off).toBeLessThan(thresholds.halves);
  expect(off).toBeGreaterThan(0);
});

describe('halves', () => {
  const matrix = floatMatrix('bf16', 'w', 65, 72);

  test.each([9, 32, 100])('of %i tokens: everything around the product, in the order of the contract', (rows) => {
    const around = {
      ...{ norm: normal('norm', 72), gate: normal('gate', rows * 72), gateKind: 'silu', bias: normal('bias', 65) },
      ...{ activation: 'silu', scale: 0.5, addTo: normal('residual', rows * 65), eps: 1e-3 },
    };
    const { off, kernels } = halved('linear', { ...inputs(rows, matrix), ...around });
    expect(kernels).toEqual(both);
    expect(off).toBeLessThan(thresholds.halves);
  });

  test('of a SwiGLU', () => {
    const pair = floatMatrix('bf16', 'w', 2 * 37, 64);
    expect(halved('gateUp', { ...inputs(40, pair), norm: normal('norm', 64) }).off).toBeLessThan(thresholds.halves);
  });

  test.each([
    ['beyond what a half holds', 1e7],
    ['below it', 1e-9],
    ['next to nothing', 1e-38],
  ])('of rows %s keep their digits, beside others', (_, size) => {
    const args = inputs(12, matrix);
    (args.x as Float32Array).forEach((x, i, all) => {
      if (i % 144 < 72) all[i] = x * size;
    });
    const y = run(fast, 'linear', args);
    const expected = run(reference, 'linear', args);
    for (let row = 0; row < 12; row++) {
      const of = (all: Float32Array) => all.subarray(row * 65, (row + 1) * 65);
      expect(relativeDifference(of(y), of(expected)), `row ${row}`).toBeLessThan(thresholds.halves);
    }
  });

  test('of a row of zeros are zero, and what is not a number stays so', () => {
    const args = inputs(12, matrix);
    const x = args.x as Float32Array;
    x.fill(0, 0, 72);
    x[72] = Number.NaN;
    x[144] = Number.POSITIVE_INFINITY;
    const y = run(fast, 'linear', args);
    expect(y.subarray(0, 65)).toEqual(new Float32Array(65));
    expect(y.subarray(65, 130).every(Number.isNaN)).toBe(true);
    expect(y.subarray(130, 195).some(Number.isFinite)).toBe(false);
    expect(y.subarray(195).every(Number.isFinite)).toBe(true);
  });

  test('never touch the exact path', () => {
    standin.reset();
    const y = run(exact, 'linear', inputs(33, matrix));
    expect(standin.counters().kernels).toEqual({ linear_mat: 1 });
    expect(relativeDifference(y, run(reference, 'linear', inputs(33, matrix)))).toBeLessThan(thresholds.sum);
  });

  test('race with nobody, in any order of lanes, and no lane waits for a bank', () => {
    const args = inputs(70, affineMatrix(4, 64, 'bf16', 130, 128));
    standin.options({ check: true, banks: true });
    standin.reset();
    const checked = run(fast, 'linear', args);
    expect(standin.counters().bankConflicts).toEqual({});
    for (const order of ['forward', 'reverse', 'random'] as const) {
      standin.options({ order, seed: 5 });
      expect(run(fast, 'linear', args), order).toEqual(checked);
    }
  });
});

test('experts are multiplied in halves by tiles of the rows that chose them', () => {
  const [experts, hidden, inner, rows] = [6, 40, 72, 65];
  const stack = (name: string, out: number, columns: number) => ({
    ...floatMatrix('f32', name, experts * out, columns),
    shape: [experts, out, columns],
  });
  const args = {
    ...{ rows, expertCount: experts, topk: 2, x: normal('x', rows * hidden), addTo: normal('residual', rows * hidden) },
    ...{ norm: normal('norm', hidden), routerWeight: [floatMatrix('f32', 'router', experts, hidden)] },
    gateUp: [stack('gate', inner, hidden), stack('up', inner, hidden)],
    down: [stack('down', hidden, inner)],
  };
  standin.reset();
  const y = runMany(fast, 'mixture', args).floats('y');
  expect(standin.counters().kernels).toMatchObject({ linear_mat_half: 3, pack_rows: 3 });
  expect(relativeDifference(y, runMany(exact, 'mixture', args).floats('y'))).toBeLessThan(thresholds.halves);
});
