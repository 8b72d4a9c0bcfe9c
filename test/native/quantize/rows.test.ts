// What is asked of the rows of a tensor: what it is by default, what is refused and in which words, and what its loss is said to be.
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { WeightSource } from '../../../native/addon/index.d.ts';
import { addon } from '../../support/addon.ts';
import {
  formats,
  type GgmlType,
  gguf,
  llama,
  type StoredTensor,
  safetensors,
  temporaryFolder,
} from '../../support/models/formats.ts';

const ROWS = 5;
const IN = 64;
const values = Float32Array.from({ length: ROWS * IN }, (_, i) => Math.sin(i * i) * (i % 13 === 0 ? 4 : 1));
const stored = (shape: number[], numbers: Float32Array): StoredTensor => ({
  dtype: 'F32',
  shape,
  bytes: new Uint8Array(numbers.slice().buffer),
});
const files: Record<string, StoredTensor> = {
  a: stored([ROWS, IN], values),
  odd: stored([2, 130], new Float32Array(260).fill(0.5)),
  plain: stored([2, 96], new Float32Array(192).fill(0.5)),
  flat: stored(
    [3, IN],
    Float32Array.from({ length: 3 * IN }, (_, i) => [0, 0.75, -2][Math.floor(i / IN)] ?? 0),
  ),
  infinite: stored([3, IN], new Float32Array(3 * IN).fill(1).with(2 * IN + 9, Number.NEGATIVE_INFINITY)),
  nan: stored([3, IN], new Float32Array(3 * IN).fill(1).with(2 * IN + 63, Number.NaN)),
  vector: stored([IN], values.slice(0, IN)),
};
const opened = () =>
  addon.openWeights(temporaryFolder({ 'config.json': '{}', 'model.safetensors': safetensors(files) }));
const asked = { bits: 4, group: 64, scales: 'F32', method: 'rtn' } as const;
type Asked = Omit<Parameters<WeightSource['affine']>[1], 'method'> & { method?: string };
const affineOf =
  (source: WeightSource) =>
  (tensor: string, options: Partial<Asked> = {}) =>
    source.affine(tensor, { ...asked, ...options } as Parameters<WeightSource['affine']>[1]);
const floats = (bytes: Uint8Array) => new Float32Array(bytes.slice().buffer);

/** The numbers that codes of four bits stand for. */
function read({ codes, scales, biases }: { codes: Uint8Array; scales: Uint8Array; biases: Uint8Array }, group = 64) {
  const [scale, bias] = [floats(scales), floats(biases)];
  return Array.from({ length: codes.length * 2 }, (_, i) => {
    const code = ((codes[i >> 1] ?? 0) >> (4 * (i & 1))) & 15;
    return (scale[Math.floor(i / group)] ?? 0) * code + (bias[Math.floor(i / group)] ?? 0);
  });
}

test('all rows unless told which', async () => {
  const source = await opened();
  expect(await source.read('a', {})).toEqual(values);
  expect(await source.read('a', { first: 2 })).toEqual(values.subarray(2 * IN));
  expect(await source.read('a', { first: 1, count: 2 })).toEqual(values.subarray(IN, 3 * IN));
  expect(await source.read('a', { first: ROWS })).toEqual(new Float32Array());
  expect(await source.read('vector', {})).toEqual(values.subarray(0, IN));
});

describe.each(['rtn', 'hqq', 'weighted'] as const)('%s', (method) => {
  test('the loss that is told is the one of the numbers that are read again', async () => {
    const affine = affineOf(await opened());
    const importance = Float32Array.from({ length: IN }, (_, i) => 1 + (i % 5));
    for (const weights of [undefined, importance]) {
      for (const group of [32, 64]) {
        const made = await affine('a', { method, group, ...(weights && { importance: weights }) });
        const weight = (i: number) => weights?.[i % IN] ?? 1;
        const now = read(made, group);
        const sum = (term: (value: number, i: number) => number) =>
          [...values].reduce((all, value, i) => all + weight(i) * term(value, i), 0);
        expect(made.energy / sum((value) => value ** 2)).toBeCloseTo(1, 6);
        expect(made.error / sum((value, i) => (value - (now[i] ?? 0)) ** 2)).toBeCloseTo(1, 4);
      }
    }
  });

  test('a row of zeros and rows of one number are read again as they are', async () => {
    const affine = affineOf(await opened());
    const flat = [0, 0.75, -2].flatMap((value) => new Array<number>(IN).fill(value));
    for (const bits of [2, 3, 8]) {
      const made = await affine('flat', { method, bits });
      expect(made.error).toBeLessThan(1e-9);
      expect(floats(made.biases)).toHaveLength(3);
    }
    expect(read(await affine('flat', { method })).map((value) => Math.fround(value))).toEqual(flat);
  });
});

test('half-quadratic rounding moves the bias as the paper says, and is never further away by its own measure', async () => {
  const affine = affineOf(await opened());
  const distance = (made: number[], group: number) =>
    made.reduce((sum, value, i) => sum + Math.abs((values[group * 64 + i] ?? 0) - value) ** 0.7, 0);
  const [nearest, moved] = [await affine('a', { bits: 4 }), await affine('a', { bits: 4, method: 'hqq' })];
  expect(moved.scales).toEqual(nearest.scales);
  let gained = 0;
  for (let group = 0; group < ROWS; group++) {
    const w = [...values.subarray(group * 64, group * 64 + 64)];
    const [scale = 0, start = 0] = [floats(nearest.scales)[group], floats(nearest.biases)[group]];
    const codesOf = (bias: number) => w.map((x) => Math.max(0, Math.min(15, Math.round((x - bias) / scale))));
    const read1 = (codes: number[], bias: number) => codes.map((code) => scale * code + bias);
    let [codes, bias, best] = [codesOf(start), start, start];
    let least = distance(read1(codes, bias), group);
    let beta = 10 / Math.abs(scale) ** 1.3;
    for (let step = 0; step < 20; step++, beta *= 1.01) {
      const rest = read1(codes, bias).map((value, i) => {
        const off = (w[i] ?? 0) - value;
        const shrunk = Math.max(Math.abs(off) - (Math.abs(off) + 1e-12) ** -0.3 / beta, 0);
        return (w[i] ?? 0) - Math.sign(off) * shrunk - scale * (codes[i] ?? 0);
      });
      bias = rest.reduce((a, b) => a + b, 0) / 64;
      codes = codesOf(bias);
      const found = distance(read1(codes, bias), group);
      if (!(found < least)) break;
      [least, best] = [found, bias];
    }
    expect((floats(moved.biases)[group] ?? 0) / Math.abs(scale)).toBeCloseTo(best / Math.abs(scale), 2);
    gained += distance(read(nearest).slice(group * 64, group * 64 + 64), group) - least;
  }
  expect(gained).toBeGreaterThan(0);
});

const dequantised = (type: GgmlType, bytes: Uint8Array) => {
  const folder = temporaryFolder({
    'm.gguf': gguf(llama, [{ name: 'w', type, shape: [2, 256], bytes }]),
  });
  return formats.dequantise(join(folder, 'm.gguf'), 'w');
};

const weightOf = (i: number) => (i % 3 === 0 ? 50 : 0.1);
const importance = Float32Array.from({ length: 256 }, (_, i) => weightOf(i));
async function written(type: Parameters<WeightSource['blocks']>[1]['type'], wide: Float32Array, weights = importance) {
  const folder = temporaryFolder({
    'config.json': '{}',
    'model.safetensors': safetensors({ w: stored([2, 256], wide) }),
  });
  const source = await addon.openWeights(folder);
  const [searched, plain] = [
    await source.blocks('w', { type, importance: weights }),
    await source.blocks('w', { type }),
  ];
  return [dequantised(type, searched), dequantised(type, plain)] as const;
}

// A search by importance is for what is multiplied with large numbers: there it has to lose less.
test.each([
  ['Q4_0', 0.82],
  ['Q5_0', 0.87],
  ['Q4_K', 0.92],
  ['Q5_K', 0.82],
  ['Q6_K', 0.76],
] as const)('%s: what counts loses less', async (type, most) => {
  const wide = Float32Array.from({ length: 512 }, (_, i) => Math.sin(i * i) * (i % 13 === 0 ? 4 : 1));
  const lost = (now: Float32Array) =>
    now.reduce((sum, value, i) => sum + weightOf(i % 256) * (value - (wide[i] ?? 0)) ** 2, 0);
  const [searched, plain] = await written(type, wide);
  expect(lost(searched) / lost(plain)).toBeLessThan(most);
});

test.each(['Q8_0', 'Q4_0', 'Q5_0', 'Q5_1', 'Q4_K', 'Q5_K', 'Q6_K'] as const)(
  '%s: blocks of zeros and of one number are read again as they are',
  async (type) => {
    const flat = new Float32Array(512).fill(-2, 256, 384).fill(0.75, 384);
    for (const now of await written(type, flat))
      for (const [i, value] of now.entries()) expect(value).toBeCloseTo(flat[i] ?? 0, 2);
  },
);

test.each(['Q8_0', 'Q4_0', 'Q5_0', 'Q5_1', 'Q4_K', 'Q5_K', 'Q6_K'] as const)(
  '%s: both ends of a block are held',
  async (type) => {
    const ends = Float32Array.from({ length: 512 }, (_, i) => (i % 16 === 3 ? 1 : i % 16 === 7 ? -1 : Math.sin(i) / 9));
    for (const now of await written(type, ends, new Float32Array(256).fill(1)))
      for (const [i, value] of now.entries()) expect(Math.abs(value - (ends[i] ?? 0))).toBeLessThan(0.15);
  },
);

describe('refused', () => {
  const triangle = new Float32Array(IN * IN).fill(1);
  const order = Int32Array.from({ length: IN }, (_, i) => i);
  type Ask = (affine: ReturnType<typeof affineOf>, source: WeightSource) => Promise<unknown>;
  test.each<[string, Ask, string]>([
    ['seven bits', (affine) => affine('a', { bits: 7 }), '[quantise] a row of 64 in groups of 64 with 7 bits'],
    ['groups of 48', (affine) => affine('plain', { group: 48 }), '[quantise] a row of 96 in groups of 48 with 4 bits'],
    ['half a group', (affine) => affine('plain'), '[quantise] a row of 96 in groups of 64 with 4 bits'],
    ['two columns too many', (affine) => affine('odd'), '[quantise] a row of 130 in groups of 64 with 4 bits'],
    [
      'a type of no weights',
      (affine) => affine('a', { scales: 'I8' as 'F32' }),
      '[weights] the type "I8" cannot be written',
    ],
    [
      'an unknown type',
      (_, source) => source.blocks('a', { type: 'Q9' as 'F16' }),
      '[weights] the type "Q9" cannot be written',
    ],
    ['an unknown method', (affine) => affine('a', { method: 'best' }), '[weights] the method "best" is unknown'],
    [
      'importance of other columns',
      (affine) => affine('a', { importance: new Float32Array(3) }),
      '[quantise] importance has 3 columns, expected 64',
    ],
    [
      'importance of other columns, for blocks',
      (_, source) => source.blocks('a', { type: 'Q4_0', importance: new Float32Array(65) }),
      '[quantise] importance has 65 columns, expected 64',
    ],
    [
      'importance of 64 bits',
      (affine) => affine('a', { importance: new Float64Array(IN) as unknown as Float32Array }),
      '[weights] importance is not a typed array of the expected type',
    ],
    [
      'fewer rows than are asked for',
      (affine) => affine('a', { count: 3, rows: Int32Array.of(0, 1) }),
      '[quantise] the order has another number of rows than are asked for',
    ],
    [
      'an order of some columns',
      (_, source) => source.read('a', { columns: Int32Array.of(0, 1) }),
      '[quantise] the order has another number of columns than the tensor',
    ],
    [
      'a row behind the last',
      (affine) => affine('a', { count: 1, rows: Int32Array.of(5) }),
      'rows 5 to 6 of "a", which has 5',
    ],
    ['a row before the first', (affine) => affine('a', { count: 1, rows: Int32Array.of(-1) }), 'rows -1 to 0 of "a"'],
    [
      'more rows than there are',
      (_, source) => source.read('a', { first: 3, count: 3 }),
      'rows 3 to 6 of "a", which has 5',
    ],
    [
      'rows behind the last',
      (_, source) => source.read('a', { first: 6, count: 0 }),
      'rows 6 to 6 of "a", which has 5',
    ],
    ['a tensor that is not there', (affine) => affine('b'), '[weights] there is no tensor "b"'],
    [
      'a factor without a square',
      (affine) => affine('a', { feedback: { order, triangle: triangle.subarray(1) } }),
      'has 64 columns and 4095 values, expected 64 and their square',
    ],
    [
      'an order of floats',
      (affine) => affine('a', { feedback: { order: new Float32Array(IN) as unknown as Int32Array, triangle } }),
      '[weights] order is not a typed array of the expected type',
    ],
    [
      'what is infinite',
      (affine) => affine('infinite', { first: 1 }),
      '[weights] tensor "infinite": row 2, column 9 is infinite; weights must be finite',
    ],
    [
      'what is no number',
      (_, source) => source.blocks('nan', { type: 'F16', first: 2 }),
      '[weights] tensor "nan": row 2, column 63 is not a number; weights must be finite',
    ],
  ])('%s', async (_, ask, message) => {
    const source = await opened();
    await expect(async () => ask(affineOf(source), source)).rejects.toThrow(message);
  });

  test('a file that was closed', async () => {
    const source = await opened();
    source.close();
    await expect(async () => source.read('a', {})).rejects.toMatchObject({
      code: 'state',
      message: '[weights] this file is closed',
    });
  });
});

describe('low rank', () => {
  const matrix = Float64Array.from({ length: 4 * 6 }, (_, i) => Math.sin(i * i + 1));
  const whole = matrix.reduce((sum, value) => sum + value * value, 0);

  test('what each direction holds falls, adds up to the whole, and what is left out is the error', async () => {
    for (const rank of [1, 2, 3]) {
      const { energies, error, up, down } = await addon.lowRank(matrix, { rows: 4, columns: 6, rank });
      expect([up.length, down.length, energies.length]).toEqual([4 * rank, rank * 6, 4]);
      expect([...energies]).toEqual([...energies].sort((a, b) => b - a));
      expect(energies.reduce((a, b) => a + b, 0) / whole).toBeCloseTo(1, 9);
      const left = energies.subarray(rank).reduce((a, b) => a + b, 0);
      expect(error).toBeCloseTo(Math.sqrt(left / whole), 9);
    }
  });

  test('more directions than rows are empty, and so is a matrix of nothing', async () => {
    const { up, down, error } = await addon.lowRank(matrix, { rows: 4, columns: 6, rank: 5 });
    expect([up.length, down.length]).toEqual([20, 30]);
    expect([0, 1, 2, 3].map((row) => up[row * 5 + 4])).toEqual([0, 0, 0, 0]);
    expect(down.subarray(24)).toEqual(new Float32Array(6));
    expect(error).toBeLessThan(1e-12);
    const nothing = await addon.lowRank(new Float64Array(24), { rows: 4, columns: 6, rank: 2 });
    expect(nothing).toMatchObject({ error: 0, up: new Float32Array(8), down: new Float32Array(12) });
    const empty = await addon.lowRank(new Float64Array(), { rows: 0, columns: 6, rank: 2 });
    expect(empty).toMatchObject({ error: 0, up: new Float32Array(), down: new Float32Array(12) });
  });

  test('what has not the size that is told is refused', async () => {
    const message = '[lowRank] the matrix or the covariance has not the size that is told';
    const covariance = new Float64Array(36);
    for (const [size, options] of [
      [23, { rows: 4, columns: 6, rank: 1 }],
      [24, { rows: 6, columns: 6, rank: 1 }],
      [24, { rows: 4, columns: 6, rank: 1, covariance: covariance.subarray(1) }],
    ] as const)
      await expect(async () => addon.lowRank(matrix.subarray(0, size), options)).rejects.toThrow(message);
    await expect(async () => addon.lowRank(matrix, { rows: 4, columns: 6, rank: 0 })).rejects.toThrow(/rank/);
  });
});
