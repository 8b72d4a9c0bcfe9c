import { describe, expect, test } from 'vitest';
import {
  type Arguments,
  devices,
  fast,
  modelOf,
  nameOf,
  others,
  reference,
  run,
  tileModel,
  type WeightInput,
} from './devices.ts';
import { goldenTensors } from './golden.ts';
import { bytes, normal, relativeDifference, sizes } from './numbers.ts';
import { chunks, expectSameBits, madeOnce, type Outcome, parity } from './support.ts';
import { thresholds } from './thresholds.ts';
import {
  affineMatrix,
  type BlockType,
  blockColumns,
  blockMatrix,
  blockTypes,
  type FloatType,
  f32,
  floatMatrix,
  floatModeMatrix,
  floatModes,
  toBf16,
} from './weights.ts';

const outcome =
  (op: string): Outcome =>
  (device, args) => [run(device, op, args)];
const floatTypes: FloatType[] = ['f32', 'f16', 'bf16'];

const silu = (x: number) => x / (1 + Math.exp(-x));
const sigmoid = (x: number) => 1 / (1 + Math.exp(-x));

describe.each(devices.map((device) => [nameOf(device), device] as const))('%s', (_, device) => {
  const golden = goldenTensors('quant/gguf_blocks/expected.safetensors');
  test.each([...Object.keys(blockTypes), 'f16', 'bf16'])('golden product of %s', (type) => {
    const name = type in blockTypes ? blockTypes[type as BlockType] : type.toUpperCase();
    const vector = golden('input.vector').data;
    const weight = [{ type, shape: [4, vector.length], data: golden(`${name}.quantised.bytes`).bytes }];
    const y = run(device, 'linear', { rows: 1, x: vector, weight });
    expect(relativeDifference(y, golden(`${name}.quantised.matvec`).data)).toBeLessThan(thresholds.sum);
  });

  test.each(floatModes)('products and rows of %s are those of the numbers it stands for', (type) => {
    const [out, columns] = [37, 256];
    const { weight, values } = floatModeMatrix(type, out, columns);
    // One row is a product of its own, many are tiles.
    for (const rows of [1, 3, 20]) {
      const x = normal('x', rows * columns);
      const expected = run(reference, 'linear', { rows, x, weight: [f32(values, out, columns)] });
      const off = (by: typeof device) => relativeDifference(run(by, 'linear', { rows, x, weight: [weight] }), expected);
      expect(off(device)).toBeLessThan(thresholds.sum);
      expect(off(fast(device))).toBeLessThan(thresholds.int8Activations);
    }
    const ids = Int32Array.of(0, 36, 17);
    const rows = run(device, 'embed', { rows: 3, ids, weight: [weight], scale: 1 });
    expect(
      relativeDifference(
        rows,
        [...ids].flatMap((id) => [...values.subarray(id * columns, (id + 1) * columns)]),
      ),
    ).toBeLessThan(thresholds.sum);
  });

  test('everything around the product, in the order of the contract', () => {
    const [rows, columns, out] = [3, 40, 21];
    const x = normal('x', rows * columns);
    const gate = normal('gate', rows * columns);
    const norm = normal('norm', columns);
    const matrix = normal('w', out * columns);
    const bias = normal('bias', out);
    const addTo = normal('residual', rows * out);
    const y = run(device, 'linear', {
      ...{ rows, x, norm, gate, gateKind: 'silu', bias, activation: 'silu', scale: 0.5, addTo, eps: 1e-3 },
      weight: [f32(matrix, out, columns)],
    });
    const expected = Array.from({ length: rows * out }, (_unused, at) => {
      const [t, i] = [Math.floor(at / out), at % out];
      const row = x.subarray(t * columns, (t + 1) * columns);
      const inverse = 1 / Math.sqrt(row.reduce((sum, value) => sum + value * value, 0) / columns + 1e-3);
      let sum = bias[i] as number;
      row.forEach((value, c) => {
        sum +=
          value *
          inverse *
          (norm[c] as number) *
          silu(gate[t * columns + c] as number) *
          (matrix[i * columns + c] as number);
      });
      return (addTo[at] as number) + 0.5 * silu(sum);
    });
    expect(relativeDifference(y, expected)).toBeLessThan(thresholds.transcendental);
  });

  test.each(['gelu_erf', 'gelu_tanh', 'none'])('activation %s', (activation) => {
    const x = Float32Array.from({ length: 4001 }, (_unused, i) => (i - 2000) / 320);
    const erf = (v: number) => {
      let [sum, term] = [v, v];
      for (let n = 1; n < 200; n++) {
        term *= (-v * v) / n;
        sum += term / (2 * n + 1);
      }
      return Math.abs(v) > 5 ? Math.sign(v) : (2 / Math.sqrt(Math.PI)) * sum;
    };
    const gelu: Record<string, (v: number) => number> = {
      gelu_erf: (v) => 0.5 * v * (1 + erf(v / Math.SQRT2)),
      gelu_tanh: (v) => 0.5 * v * (1 + Math.tanh(Math.sqrt(2 / Math.PI) * (v + 0.044715 * v ** 3))),
      none: (v) => v,
    };
    const y = run(device, 'linear', { rows: 1, x: Float32Array.of(1), activation, weight: [f32(x, x.length, 1)] });
    const expected = Array.from(x, gelu[activation] as (v: number) => number);
    expect(relativeDifference(y, expected)).toBeLessThan(thresholds.sum);
    // The vector forms are as exact as the library's: one or two units in the last place of a value or of its factor.
    const allowed = Array.from(x, (v) => 2e-7 + 1.5e-7 * Math.abs(v));
    const off = y.findIndex((value, i) => Math.abs(value - (expected[i] as number)) > (allowed[i] as number));
    expect(off, `${x[off]} gives ${y[off]}, not ${expected[off]}`).toBe(-1);
  });

  test('a sigmoid gate, and rows of several types in one matrix, each with its bias', () => {
    const [rows, columns] = [5, 512];
    const x = normal('x', rows * columns);
    const gate = normal('gate', rows * columns);
    const parts = [
      floatMatrix('bf16', 'a', 33, columns),
      blockMatrix('q4_k', 7),
      floatMatrix('f32', 'c', 16, columns),
      blockMatrix('q8_0', 50),
    ];
    const bias = normal('bias', 106);
    const packed = run(device, 'linear', { rows, x, gate, gateKind: 'sigmoid', bias, weight: parts });
    const gated = x.map((value, i) => value * sigmoid(gate[i] as number));
    const alone = parts.map((part) => run(reference, 'linear', { rows, x: gated, weight: [part] }));
    const total = packed.length / rows;
    const joined = Array.from({ length: rows }, (_unused, t) =>
      alone
        .flatMap((y) => [...y.subarray((t * y.length) / rows, ((t + 1) * y.length) / rows)])
        .map((y, i) => y + (bias[i] as number)),
    ).flat();
    expect(total).toBe(106);
    expect(relativeDifference(packed, joined)).toBeLessThan(thresholds.transcendental);
  });

  test.each([...floatTypes, 'q4_0', 'q6_k', 'affine'])(
    'an embedding row of %s is the column of the product with a unit vector',
    (type) => {
      const out = 50;
      const matrix =
        type === 'affine'
          ? affineMatrix(4, 64, 'bf16', out, blockColumns)
          : type.startsWith('q')
            ? blockMatrix(type as BlockType, out)
            : floatMatrix(type as FloatType, 'table', out, blockColumns);
      const rows = run(device, 'embed', { rows: 3, ids: Int32Array.of(0, 49, 17), weight: [matrix], scale: 2 });
      const unit = new Float32Array(blockColumns * blockColumns);
      for (let i = 0; i < blockColumns; i++) unit[i * blockColumns + i] = 2;
      const columns = run(device, 'linear', { rows: blockColumns, x: unit, weight: [matrix] });
      for (const [at, id] of [0, 49, 17].entries()) {
        const expected = Array.from({ length: blockColumns }, (_unused, c) => columns[c * out + id] as number);
        expect(relativeDifference(rows.subarray(at * blockColumns, (at + 1) * blockColumns), expected)).toBeLessThan(
          thresholds.sum,
        );
      }
    },
  );
});

describe('floats', () => {
  for (const type of floatTypes) {
    for (const columns of sizes) {
      const args = (): Arguments => ({
        rows: 5,
        x: normal('x', 5 * columns),
        weight: [floatMatrix(type, 'w', 37, columns)],
      });
      parity(`${type}, 5 x 37 x ${columns}`, outcome('linear'), args, thresholds.sum);
    }
    for (const rows of sizes) {
      const args = (): Arguments => ({ rows, x: normal('x', rows * 96), weight: [floatMatrix(type, 'w', 65, 96)] });
      parity(`${type}, ${rows} x 65 x 96`, outcome('linear'), args, thresholds.sum);
    }
    const args = () => ({
      rows: 70,
      x: normal('x', 70 * 160),
      norm: normal('norm', 160),
      weight: [floatMatrix(type, 'w', 130, 160)],
    });
    chunks(`linear, ${type}`, outcome('linear'), args, 0);
    // Rows are copied in runs of 384 columns; a part of a run, of four rows and of a vector is left.
    const long = () => ({ rows: 150, x: normal('x', 150 * 901), weight: [floatMatrix(type, 'w', 37, 901)] });
    parity(`${type}, 150 x 37 x 901`, outcome('linear'), long, thresholds.sum);
    chunks(`linear in runs of columns, ${type}`, outcome('linear'), long, 0);
    chunks(`gate and up, ${type}`, outcome('gateUp'), args, 0);
    parity(`gate and up, ${type}`, outcome('gateUp'), args, thresholds.transcendental);
  }
});

describe('blocks', () => {
  for (const type of Object.keys(blockTypes) as BlockType[]) {
    for (const [rows, out, repeats] of [
      [1, 37, 1],
      [3, 16, 3],
      [65, 50, 1],
    ] as const) {
      const args = (): Arguments => ({
        rows,
        x: normal('x', rows * blockColumns * repeats),
        weight: [blockMatrix(type, out, repeats)],
      });
      parity(`${type}, ${rows} x ${out}`, outcome('linear'), args, thresholds.sum);
    }
    chunks(
      type,
      outcome('linear'),
      () => ({ rows: 70, x: normal('x', 70 * blockColumns), weight: [blockMatrix(type, 40)] }),
      0,
    );
  }
});

for (const bits of [2, 3, 4, 5, 6, 8]) {
  for (const [group, scaleType] of [
    [32, 'f32'],
    [64, 'bf16'],
    [128, 'f16'],
  ] as const) {
    const args = (): Arguments => ({
      rows: 5,
      x: normal('x', 5 * 384),
      weight: [affineMatrix(bits, group, scaleType, 37, 384)],
    });
    parity(`MLX integers of ${bits} bits in groups of ${group}`, outcome('linear'), args, thresholds.sum);
  }
}

// bf16 activations with bf16 weights, on sets that multiply them: again the scalar arithmetic is the definition.
describe('fast path, bf16', () => {
  const inputs = (rows: number, columns: number): Arguments => ({
    rows,
    x: normal('x', rows * columns),
    weight: [floatMatrix('bf16', 'w', 50, columns), floatMatrix('f16', 'v', 3, columns)],
  });
  const halves = devices.find(({ instructions }) => instructions === 'avx512bf16');
  for (const [rows, columns] of [
    [1, 31],
    [4, 64],
    [7, 100],
    [13, 512],
    [300, 64],
  ] as const) {
    test(`${rows} x 50 x ${columns}: avx512bf16 = its scalar model, bit for bit`, ({ skip }) => {
      if (halves === undefined) return skip('needs a CPU with avx512_bf16');
      const count = 53;
      const isHalf = (_x: number, i: number) => i % count < 50;
      const actual = run(fast(halves), 'linear', inputs(rows, columns));
      const model = run(fast(reference), 'linear', inputs(rows, columns));
      expect(actual.filter(isHalf)).toEqual(model.filter(isHalf));
      expect(relativeDifference(actual, model)).toBeLessThan(thresholds.sum);
    });
  }
  // Many tokens are multiplied in tiles of tokens and runs of rows, the last of which are not whole.
  test.each(devices.filter(({ instructions }) => ['avx512bf16', 'scalar'].includes(instructions)))(
    '300 tokens at once = a few at a time, bit for bit ($instructions)',
    (device) => {
      const [rows, columns] = [300, 64];
      const weight = [floatMatrix('bf16', 'w', 100, columns)];
      const x = normal('x', rows * columns);
      const few = { chunks: Int32Array.of(1, 99, 100, 100) };
      const added = { rows, x, weight, bias: normal('bias', 100), addTo: normal('residual', rows * 100) };
      expectSameBits(run(fast(device), 'linear', { ...added, ...few }), run(fast(device), 'linear', added));
      const gate = { rows, x, weight: [...weight, floatMatrix('bf16', 'v', 100, columns)] };
      expectSameBits(run(fast(device), 'gateUp', { ...gate, ...few }), run(fast(device), 'gateUp', gate));
    },
  );

  test('activations are rounded to the nearest bf16, of two that are as near to the even one', () => {
    const step = 2 ** -8; // half a unit of the last place between 1 and 2
    const x = Float32Array.of(
      1 + step,
      1 + 3 * step,
      1 + 5 * step,
      -1 - step,
      -1 - 3 * step,
      1 + step + 2 ** -20,
      1,
      0,
    );
    const even = [1, 1 + 4 * step, 1 + 4 * step, -1, -1 - 4 * step, 1 + 2 * step, 1, 0];
    const unit = Float32Array.from({ length: 64 }, (_, i) => (i % 9 === 0 ? 1 : 0));
    const weight = [{ type: 'bf16', shape: [8, 8], data: bytes(toBf16(unit)) }];
    expect([...run(fast(reference), 'linear', { rows: 1, x, weight })]).toEqual(even);
  });

  test('near the exact path, and not the same; sets without such products stay exact', () => {
    const exact = run(reference, 'linear', inputs(7, 512));
    const difference = relativeDifference(run(fast(reference), 'linear', inputs(7, 512)), exact);
    expect(difference).toBeLessThan(thresholds.bf16Activations);
    expect(difference).toBeGreaterThan(0);
    for (const device of others.filter(
      ({ backEnd, instructions }) => backEnd === 'cpu' && !['avx512bf16', 'amx'].includes(instructions),
    ))
      expect(run(fast(device), 'linear', inputs(7, 512))).toEqual(run(device, 'linear', inputs(7, 512)));
  });
});

// Activations of one byte or two: the scalar arithmetic is the definition, every other kernel gives its bits.
describe('fast path', () => {
  const inputs = (rows: number, matrix: WeightInput): Arguments => ({
    rows,
    x: normal('x', (rows * (matrix.shape.at(-1) as number)) | 0),
    weight: [matrix],
  });
  const matrices: [string, WeightInput][] = [
    ...(Object.keys(blockTypes) as BlockType[]).map((type): [string, WeightInput] => [type, blockMatrix(type, 50, 3)]),
    ...[2, 3, 4, 5, 6, 8].map((bits): [string, WeightInput] => [
      `MLX ${bits} bits`,
      affineMatrix(bits, 64, 'bf16', 50, 1536),
    ]),
  ];
  for (const [title, matrix] of matrices) {
    const models = new Map(
      [reference, tileModel].flatMap((model) =>
        [1, 2, 7, 13, 130].map((rows) => [
          `${nameOf(model)} ${rows}`,
          madeOnce(() => run(fast(model), 'linear', inputs(rows, matrix))),
        ]),
      ),
    );
    // The fast path is the CPU's: 8-bit activations. A GPU computes the exact path under either name.
    for (const device of others.filter(({ backEnd }) => backEnd === 'cpu')) {
      test.each([1, 2, 7, 13, 130])(
        `${title}, %i tokens: ${nameOf(device)} = its scalar model, bit for bit`,
        (rows) => {
          const model = models.get(`${nameOf(modelOf(device, rows))} ${rows}`) as () => Float32Array;
          expectSameBits(run(fast(device), 'linear', inputs(rows, matrix)), model());
        },
      );
    }
    test(`${title}: many tokens in tiles of bf16 are near the exact path, and not the same`, () => {
      const difference = relativeDifference(
        run(fast(tileModel), 'linear', inputs(130, matrix)),
        run(reference, 'linear', inputs(130, matrix)),
      );
      expect(difference).toBeLessThan(thresholds.bf16Activations);
      expect(difference).toBeGreaterThan(0);
    });
    test(`${title}: near the exact path, and not the same`, () => {
      const exact = run(reference, 'linear', inputs(7, matrix));
      const difference = relativeDifference(run(fast(reference), 'linear', inputs(7, matrix)), exact);
      expect(difference).toBeLessThan(thresholds.int8Activations);
      expect(difference).toBeGreaterThan(0);
    });
  }

  // Sums of 16 bits, where a set has them, are nearest to their end.
  test.each([2, 3, 4, 5, 6, 8])('the largest codes of %i bits times the largest activations', (bits) => {
    const matrix = affineMatrix(bits, 64, 'bf16', 32, 1024);
    const largest = { ...matrix, data: new Uint8Array(matrix.data.length).fill(255) };
    for (const rows of [3, 20]) {
      const x = Float32Array.from({ length: rows * 1024 }, (_, i) => (i % 64 < 32 ? 1 : -1));
      const args = { rows, x, weight: [largest] };
      for (const device of others.filter(({ backEnd }) => backEnd === 'cpu'))
        expectSameBits(run(fast(device), 'linear', args), run(fast(modelOf(device, rows)), 'linear', args));
    }
  });
});
