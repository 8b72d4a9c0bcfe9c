import { describe, expect, test } from 'vitest';
import { f32, formats, type StoredTensor, safetensors, temporaryFolder } from '../../support/models/formats.ts';

// E4M3 codes of 1, 2, 0.5, -1.
const codes = [0x38, 0x40, 0x30, 0xb8];
const values = [1, 2, 0.5, -1];
const matrix = (shape: number[]): StoredTensor => ({
  dtype: 'F8_E4M3',
  shape,
  bytes: Uint8Array.from({ length: shape.reduce((a, b) => a * b, 1) }, (_, i) => codes[i % 4] ?? 0),
});
const scale = (shape: number[], ...numbers: number[]): StoredTensor => ({
  dtype: 'F32',
  shape,
  bytes: f32(...numbers),
});
const folderOf = (tensors: Record<string, StoredTensor>, config: object = {}) =>
  temporaryFolder({ 'config.json': JSON.stringify(config), 'model.safetensors': safetensors(tensors) });
const numbers = (tensors: Record<string, StoredTensor>, config: object = {}) => [
  ...formats.dequantise(folderOf(tensors, config), 'l.weight'),
];

describe('scales', () => {
  test('blocks of 128 x 128, the last of each row and column shorter', () => {
    const [rows, columns] = [130, 260];
    const result = numbers({
      'l.weight': matrix([rows, columns]),
      'l.weight_scale_inv': scale([2, 3], 1, 2, 4, 8, 16, 32),
    });
    const expected = (r: number, c: number) => (values[(r * columns + c) % 4] ?? 0) * 2 ** ((r >> 7) * 3 + (c >> 7));
    for (let r = 0; r < rows; ++r)
      for (let c = 0; c < columns; ++c) expect(result[r * columns + c]).toBe(expected(r, c));
  });

  test('blocks of the size that config.json gives', () => {
    const config = { quantization_config: { quant_method: 'fp8', weight_block_size: [1, 2] } };
    const tensors = { 'l.weight': matrix([2, 4]), 'l.weight_scale': scale([2, 2], 1, 2, 4, 8) };
    expect(numbers(tensors, config)).toEqual([1, 2, 1, -2, 4, 8, 4, -8]);
  });

  test('one for the tensor, one a row, one an expert', () => {
    expect(numbers({ 'l.weight': matrix([2, 4]), 'l.weight_scale': scale([], 2) })).toEqual([2, 4, 1, -2, 2, 4, 1, -2]);
    expect(numbers({ 'l.weight': matrix([2, 4]), 'l.weight_scale': scale([2, 1], 1, 2) })).toEqual([
      1, 2, 0.5, -1, 2, 4, 1, -2,
    ]);
    expect(numbers({ 'l.weight': matrix([3, 1, 4]), 'l.weight_scale': scale([3, 1, 1], 1, 2, 4) })).toEqual([
      1, 2, 0.5, -1, 2, 4, 1, -2, 4, 8, 2, -4,
    ]);
  });

  test('blocks of a stack of experts', () => {
    const result = numbers({ 'l.weight': matrix([2, 129, 4]), 'l.weight_scale_inv': scale([2, 2, 1], 1, 2, 4, 8) });
    expect([0, 128, 129, 257].map((row) => result[row * 4])).toEqual([1, 2, 4, 8]);
  });

  test('powers of two in one byte', () => {
    const e8m0: StoredTensor = { dtype: 'F8_E8M0', shape: [1, 1], bytes: Uint8Array.of(129) };
    expect(numbers({ 'l.weight': matrix([1, 4]), 'l.weight_scale_inv': e8m0 })).toEqual([4, 8, 2, -4]);
  });

  test('the product is rounded to the nearest bf16, ties to even', () => {
    const scales = [1 + 2 ** -8, 1 + 3 * 2 ** -8, 3.1, 1 + 2 ** -8 + 2 ** -20];
    const result = numbers({ 'l.weight': matrix([4, 1]), 'l.weight_scale': scale([4, 1], ...scales) });
    expect(result).toEqual([1, 2 + 2 ** -5, 198 / 128, -1 - 2 ** -7]);
  });
});

test('the model is bf16 and says so; activation and cache scales are left out', () => {
  const folder = folderOf({
    'l.weight': matrix([1, 4]),
    'l.weight_scale': scale([], 1),
    'l.input_scale': scale([], 1),
    'a.k_scale': scale([], 1),
    'n.weight': scale([1], 3),
  });
  const { tensors, notices } = formats.openCheckpoint(folder);
  expect(tensors).toMatchObject([
    { name: 'l.weight', type: 'bf16', shape: [1, 4], bytes: 8, file: -1, hasData: true },
    { name: 'n.weight', type: 'f32', file: 0 },
  ]);
  expect(notices).toEqual(['1 FP8 tensors are used as bf16: they take twice the memory of the file']);
});

test('looking at headers converts nothing', () => {
  const folder = folderOf({ 'l.weight': matrix([1, 4]), 'l.weight_scale': scale([], 1) });
  expect(formats.openCheckpoint(folder, true).tensors).toMatchObject([{ type: 'bf16', hasData: false }]);
});

describe('refused', () => {
  const cases: [string, Record<string, StoredTensor>, object, RegExp][] = [
    [
      'no scale',
      { 'l.weight': matrix([1, 4]) },
      {},
      /^\[fp8\] "l.weight" is an FP8 matrix without a tensor "l.weight_scale_inv"/,
    ],
    [
      'a wrong number of scales',
      { 'l.weight': matrix([2, 4]), 'l.weight_scale': scale([3], 1, 2, 3) },
      {},
      /has 3 scales; allowed for 2 rows of 4/,
    ],
    [
      'a scale that is NaN',
      { 'l.weight': matrix([1, 4]), 'l.weight_scale': scale([], NaN) },
      {},
      /"l.weight_scale" holds a scale that is not finite/,
    ],
    [
      'integer scales',
      { 'l.weight': matrix([1, 4]), 'l.weight_scale': { dtype: 'I32', shape: [], bytes: new Uint8Array(4) } },
      {},
      /is of type i32; allowed/,
    ],
    [
      'a block size of zero',
      { 'l.weight': matrix([1, 4]), 'l.weight_scale': scale([], 1) },
      { quantization_config: { weight_block_size: [0, 128] } },
      /^\[config\] "quantization_config.weight_block_size"/,
    ],
    [
      'a block size that is text',
      { 'l.weight': matrix([1, 4]), 'l.weight_scale': scale([], 1) },
      { quantization_config: { weight_block_size: '128' } },
      /is not a list of two whole numbers/,
    ],
  ];
  for (const [what, tensors, config, message] of cases) {
    test(what, () => expect(() => formats.openCheckpoint(folderOf(tensors, config))).toThrow(message));
  }
});
