// Prompts multiplied by the tensor operations of Metal 4, which M5 and later have: the kernel against the one in halves, and
// when it may be used at all.
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { type Arguments, type Device, reference, run, runMany, type WeightInput } from '../ops/devices.ts';
import { normal, relativeDifference } from '../ops/numbers.ts';
import { expectSameBits } from '../ops/support.ts';
import { thresholds } from '../ops/thresholds.ts';
import { affineMatrix, blockMatrix, floatMatrix } from '../ops/weights.ts';
import { metalAddon, needsStandin, standin } from './standin.ts';

needsStandin();
vi.setConfig({ testTimeout: 240_000 });

const folder = mkdtempSync(join(tmpdir(), 'longhand-tensor-'));
const M5 = { family: 1010 };
const kernel = 'linear_mat_tensor';
let cache = '';
beforeEach(() => {
  cache = mkdtempSync(join(folder, 'cache-'));
  vi.stubEnv('LONGHAND_METAL_CACHE', cache);
  vi.stubEnv('LONGHAND_METAL_TUNING', 'matmul_tensor=1');
  standin.faults(M5);
});
afterEach(() => {
  standin.options({});
  standin.faults({});
  vi.unstubAllEnvs();
});
afterAll(() => rmSync(folder, { recursive: true }));

/** Back ends are kept by their words: one that is opened now. */
let opened = 0;
function device(path: Device['path'] = 'fast'): Device {
  const fresh: Device = { backEnd: 'metal', instructions: `tensor ${opened++}`, threads: 1, path };
  run(fresh, 'linear', inputs(1, floatMatrix('f32', 'w', 1, 8)));
  return fresh;
}
/** In halves, without tensors. */
function halves(): Device {
  vi.stubEnv('LONGHAND_METAL_TUNING', 'matmul_half=1');
  return device();
}
let kept: Device | undefined;
const tensors = () => {
  kept ??= device();
  return kept;
};

const inputs = (rows: number, matrix: WeightInput): Arguments => ({
  rows,
  x: normal('x', rows * (matrix.shape.at(-1) as number)),
  weight: [matrix],
});
function counted(on: Device, op: string, args: Arguments) {
  standin.reset();
  const y = run(on, op, args);
  return { y, kernels: standin.counters().kernels, off: relativeDifference(y, run(reference, op, args)) };
}

/** What `longhand devices` says of the tuning. */
async function tuning(): Promise<string> {
  const all = await (metalAddon.devices as (options: { standin: boolean }) => ReturnType<typeof metalAddon.devices>)({
    standin: true,
  });
  return all.find(({ backEnd }) => backEnd === 'metal')?.tuning ?? '';
}

describe('a product by tensor operations', () => {
  const matrices: [string, WeightInput][] = [
    ...(['q4_0', 'q4_k'] as const).map((type): [string, WeightInput] => [type, blockMatrix(type, 70, 1)]),
    ['MLX 4 bits', affineMatrix(4, 64, 'bf16', 70, 320)],
    ...(['f32', 'bf16'] as const).map((type): [string, WeightInput] => [type, floatMatrix(type, 'w', 70, 100)]),
  ];
  test.each(matrices)('%s: as near as 11 bits are', (_, matrix) => {
    const { off, kernels } = counted(tensors(), 'linear', inputs(70, matrix));
    expect(kernels).toEqual({ pack_rows: 1, [kernel]: 1 });
    expect(off).toBeLessThan(thresholds.halves);
    expect(off).toBeGreaterThan(0);
  });

  // Whole numbers: no sum is rounded, in whatever order it is made.
  const whole = (name: string, length: number) => normal(name, length).map((x) => Math.round(4 * x));
  test.each([
    [9, 1, 8],
    [63, 64, 64],
    [64, 63, 72],
    [65, 129, 136],
    [128, 70, 65],
  ])('%i tokens, %i outputs, %i columns: the bits of the kernel in halves', (rows, out, columns) => {
    const weight = floatMatrix('f32', 'w', out, columns);
    const words = new Float32Array(weight.data.buffer, weight.data.byteOffset, out * columns);
    words.set(whole('whole', out * columns));
    const args = { rows, x: whole('x', rows * columns), weight: [weight] };
    const { y, kernels } = counted(tensors(), 'linear', args);
    const normal = counted(halves(), 'linear', args);
    expect(normal.kernels).toMatchObject({ linear_mat_half: 1 });
    expect(kernels).toMatchObject({ [kernel]: 1 });
    expectSameBits(y, normal.y);
    expect(y.some((each) => each !== 0)).toBe(true);
  });

  test('with everything around it, in the order of the contract', () => {
    const rows = 70;
    const around = {
      ...{ norm: normal('norm', 72), gate: normal('gate', rows * 72), gateKind: 'silu', bias: normal('bias', 65) },
      ...{ activation: 'silu', scale: 0.5, addTo: normal('residual', rows * 65), eps: 1e-3 },
    };
    const args = { ...inputs(rows, floatMatrix('bf16', 'w', 65, 72)), ...around };
    const { off, kernels } = counted(tensors(), 'linear', args);
    expect(kernels).toMatchObject({ [kernel]: 1 });
    expect(off).toBeLessThan(thresholds.halves);
  });

  test('of a SwiGLU', () => {
    const args = { ...inputs(70, floatMatrix('bf16', 'w', 2 * 37, 72)), norm: normal('norm', 72) };
    const { off, kernels } = counted(tensors(), 'gateUp', args);
    expect(kernels).toMatchObject({ [kernel]: 1 });
    expect(off).toBeLessThan(thresholds.halves);
  });

  test('leaves a row that is not a number to itself', () => {
    const args = inputs(12, floatMatrix('bf16', 'w', 65, 72));
    (args.x as Float32Array)[72] = Number.NaN;
    const y = run(tensors(), 'linear', args);
    expect(y.subarray(65, 130).every(Number.isNaN)).toBe(true);
    expect(y.subarray(130).every(Number.isFinite)).toBe(true);
    expect(y.subarray(0, 65).every(Number.isFinite)).toBe(true);
  });

  test('races with nobody, in any order of lanes, and no lane waits for a bank', () => {
    const args = inputs(70, affineMatrix(4, 64, 'bf16', 70, 128));
    standin.options({ check: true, banks: true });
    standin.reset();
    const checked = run(tensors(), 'linear', args);
    expect(standin.counters().bankConflicts).toEqual({});
    for (const order of ['reverse', 'random'] as const) {
      standin.options({ order, seed: 5 });
      expectSameBits(run(tensors(), 'linear', args), checked);
    }
  });

  test('never touches the exact path, few rows, or the rows that chose an expert', () => {
    const matrix = floatMatrix('bf16', 'w', 65, 72);
    expect(counted(device('exact'), 'linear', inputs(33, matrix)).kernels).not.toHaveProperty(kernel);
    expect(counted(tensors(), 'linear', inputs(8, matrix)).kernels).toEqual({ linear_vec: 1 });
    const [experts, hidden, inner, rows] = [6, 40, 72, 65];
    const stack = (name: string, out: number, columns: number) => ({
      ...floatMatrix('f32', name, experts * out, columns),
      shape: [experts, out, columns],
    });
    const args = {
      ...{ rows, expertCount: experts, topk: 2, x: normal('x', rows * hidden), norm: normal('norm', hidden) },
      ...{ addTo: normal('residual', rows * hidden), routerWeight: [floatMatrix('f32', 'router', experts, hidden)] },
      gateUp: [stack('gate', inner, hidden), stack('up', inner, hidden)],
      down: [stack('down', hidden, inner)],
    };
    standin.reset();
    const y = runMany(tensors(), 'mixture', args).floats('y');
    expect(standin.counters().kernels).toMatchObject({ linear_mat: 2, [kernel]: 1 });
    expect(relativeDifference(y, runMany(reference, 'mixture', args).floats('y'))).toBeLessThan(thresholds.halves);
  });
});

describe('the check of a device', () => {
  const matrix = floatMatrix('bf16', 'w', 65, 72);
  const args = inputs(33, matrix);
  const stored = () => readdirSync(cache).filter((name) => name.startsWith('tensor-'));

  test('multiplies once, and is kept beside the pipelines', async () => {
    standin.reset();
    expect(await tuning()).toMatch(/matmul_tensor=1$/);
    expect(standin.counters().kernels).toEqual({ pack_rows: 2, linear_mat_half: 1, [kernel]: 1 });
    expect(stored()).toHaveLength(1);
    standin.reset();
    expect(await tuning()).toMatch(/matmul_tensor=1$/);
    expect(standin.counters().kernels).toEqual({});
  });

  test.each([
    ['cut short', (text: string) => text.slice(0, -2)],
    ['of another text of the kernels', (text: string) => text.replace(/kernels \w+/, 'kernels 0')],
    ['of another system', (text: string) => text.replace(/family, [^,]+,/, 'family, Version 1,')],
  ])('is made again where what was kept is %s', async (_, spoil) => {
    await tuning();
    const path = join(cache, stored()[0] as string);
    const text = readFileSync(path, 'utf8');
    expect(spoil(text)).not.toBe(text);
    writeFileSync(path, spoil(text));
    standin.reset();
    await tuning();
    expect(standin.counters().kernels).toHaveProperty(kernel);
    expect(readFileSync(path, 'utf8')).toBe(text);
  });

  test('a kernel that differs is never used, and the devices say so', async () => {
    standin.faults({ ...M5, spoilKernel: kernel, spoilArgument: 5 });
    const { kernels, off } = counted(device(), 'linear', args);
    expect(kernels).toEqual({ linear_mat: 1 });
    expect(off).toBeLessThan(thresholds.sum);
    expect(await tuning()).toMatch(
      /matmul_tensor=0 \(no tensor operations: their sums differ from those of the kernel in halves\)$/,
    );
    expect(stored()).toEqual([]);
  });

  test('a kernel that does not compile is never used, and the devices say so', async () => {
    standin.faults({ ...M5, compileError: kernel });
    expect(counted(device(), 'linear', args).kernels).not.toHaveProperty(kernel);
    expect(await tuning()).toMatch(
      /matmul_tensor=0 \(no tensor operations: \[metal\] matmul_tensor.metal does not compile: .*injected\)$/,
    );
    expect(stored()).toEqual([]);
  });

  test('a layout that does not compile after a check that passed costs no answer', () => {
    const checked = device();
    expect(counted(checked, 'linear', args).kernels).toHaveProperty(kernel);
    standin.faults({ ...M5, compileError: kernel });
    const { kernels, off } = counted(checked, 'linear', inputs(33, blockMatrix('q8_0', 70, 1)));
    expect(kernels).toEqual({ linear_mat: 1 });
    expect(off).toBeLessThan(thresholds.sum);
    standin.faults(M5);
    expect(counted(checked, 'linear', args).kernels).toEqual({ linear_mat: 1 }); // and no session goes back and forth
  });

  test('an older GPU compiles nothing and says what it lacks', async () => {
    standin.faults({});
    standin.reset();
    expect(await tuning()).toMatch(
      /matmul_tensor=0 \(no tensor operations: this GPU has no matrix units \(Apple10 family, from M5 on\)\)$/,
    );
    expect(standin.counters().pipelines).toBe(0);
  });

  test('the table of the chips chooses them for an M5, and for none before it', async () => {
    vi.stubEnv('LONGHAND_METAL_TUNING', '');
    standin.faults({ ...M5, deviceName: 'Apple M5 Max' });
    expect(await tuning()).toMatch(/matmul_tensor=1$/);
    standin.faults({ deviceName: 'Apple M4 Max' });
    expect(await tuning()).toMatch(/matmul_tensor=0$/);
  });
});

describe('the stand-in', () => {
  const text = `#include <metal_stdlib>
using namespace metal;
#include <metal_tensor>
#include <MetalPerformancePrimitives/MetalPerformancePrimitives.h>
using namespace mpp::tensor_ops;
[[max_total_threads_per_threadgroup(64)]] [[kernel]] void product(
    device float* y [[buffer(0)]], uint t [[thread_index_in_threadgroup]]) {
  threadgroup half x[16 * 16];
  threadgroup float z[16 * 16];
  for (uint e = t; e < 256; e += 64) x[e] = half(e % 7);
  threadgroup_barrier(mem_flags::mem_threadgroup);
  tensor<threadgroup half, dextents<int, 2>, tensor_inline> a(x, dextents<int, 2>(16, 16), array<int, 2>{1, 16});
  tensor<threadgroup float, dextents<int, 2>, tensor_inline> c(z, dextents<int, 2>(16, 16), array<int, 2>{1, 16});
  matmul2d<matmul2d_descriptor(16, 16, 16, false, true, false, matmul2d_descriptor::mode::multiply), execution_simdgroups<2>> op;
  auto sums = op.get_destination_cooperative_tensor<decltype(a), decltype(a), float>();
  op.run(a, a, sums);
  sums.store(c);
  threadgroup_barrier(mem_flags::mem_threadgroup);
  for (uint e = t; e < 256; e += 64) y[e] = z[e];
}
`;
  function ran(from: string, to: string, language = 400) {
    standin.options({ check: true });
    const y = new Float32Array(256);
    const source = text.replace(from, to);
    expect(source === text).toBe(from === to);
    const { stage, error } = standin.run({ source, language, grid: [64], threads: [64], buffers: [y] });
    return { y, said: `${stage}: ${error}` };
  }

  test('multiplies', () => {
    const { y, said } = ran('', '');
    expect(said).toBe(': ');
    const at = (row: number, column: number) => (row * 16 + column) % 7;
    const sum = (row: number, other: number) =>
      Array.from({ length: 16 }, (_, k) => at(row, k) * at(other, k)).reduce((a, b) => a + b);
    expect([...y]).toEqual(Array.from({ length: 256 }, (_, e) => sum(Math.floor(e / 16), e % 16)));
  });

  test.each<[string, string, string, RegExp, number?]>([
    ['an older language', '', '', /^compile: .*metal_tensor> needs Metal 4/s, 310],
    ['a tile of 8 by 8', 'descriptor(16, 16,', 'descriptor(8, 8,', /^compile: .*At least one of M or N/s],
    [
      'a step of 8 columns',
      '16, 16, 16, false',
      '16, 16, 8, false',
      /^compile: .*K must be dynamic or a multiple of 16/s,
    ],
    [
      'extents that end before',
      'a(x, dextents<int, 2>(16, 16)',
      'a(x, dextents<int, 2>(15, 16)',
      /^run: .*beyond a tensor's extents/,
    ],
    [
      'a scope of other threads',
      'execution_simdgroups<2>',
      'execution_simdgroups<4>',
      /^run: .*a tensor operation of 4 simdgroups at line 16 is run by 64 threads/,
    ],
    [
      'threads that stay away',
      'op.run(a, a, sums);',
      'if (t < 32) op.run(a, a, sums);',
      /^run: .*(diverged|not reached)/,
    ],
    [
      'a tile that is not written yet',
      'threadgroup_barrier(mem_flags::mem_threadgroup);\n  tensor',
      '\n  tensor',
      /^run: .*race on 'threadgroup memory'/,
    ],
    [
      'sums that are read before they are stored',
      'sums.store(c);\n  threadgroup_barrier(mem_flags::mem_threadgroup);',
      'sums.store(c);',
      /^run: .*threadgroup memory never written/,
    ],
    [
      'an element that no thread holds',
      'sums.store(c);',
      'sums[8] = 0;\n  sums.store(c);',
      /^run: .*an element that no thread holds/,
    ],
    ['the other address space', 'tensor<threadgroup half,', 'tensor<device half,', /^compile: /],
  ])('stops %s', (_, from, to, said, language) => {
    expect(ran(from, to, language).said).toMatch(said);
  });

  test('has no zeros in a tensor of threads before they are written', () => {
    expect(ran('mode::multiply)', 'mode::multiply_accumulate)').y.every(Number.isNaN)).toBe(true);
  });
});
