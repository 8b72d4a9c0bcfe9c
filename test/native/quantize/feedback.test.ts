// Rounding with error feedback, against GPTQ as its paper writes it: through the inverse of the covariance.
import { describe, expect, test } from 'vitest';
import { addon } from '../../support/addon.ts';
import { f32, safetensors, temporaryFolder } from '../../support/models/formats.ts';

const ROWS = 11;
const IN = 64;
const GROUP = 32;
const BITS = 3;
const DAMPING = 0.02;

let state = 7;
const random = () => {
  state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
  return state / 2 ** 31 - 1;
};
const weights = Float32Array.from({ length: ROWS * IN }, () => random() + random() ** 3);
/** Inputs whose columns go together, some of them large. */
const covariance = (() => {
  const shared = Array.from({ length: 8 }, () => Array.from({ length: IN }, random));
  const out = new Float64Array(IN * IN);
  for (let t = 0; t < 200; t++) {
    const mix = shared.map(random);
    const x = Array.from(
      { length: IN },
      (_, i) =>
        (i % 9 === 0 ? 4 : 1) * (0.3 * random() + mix.reduce((sum, m, k) => sum + m * (shared[k]?.[i] ?? 0), 0)),
    );
    for (let i = 0; i < IN; i++)
      for (let j = 0; j < IN; j++) (out[i * IN + j] as number) += ((x[i] ?? 0) * (x[j] ?? 0)) / 200;
  }
  return out;
})();
const mean =
  Array.from({ length: IN }, (_, i) => covariance[i * (IN + 1)] ?? 0).reduce((sum, one) => sum + one, 0) / IN;
const damped = covariance.map((value, at) => value + (at % (IN + 1) === 0 ? DAMPING * mean : 0));
const opened = () =>
  addon.openWeights(
    temporaryFolder({
      'config.json': '{}',
      'model.safetensors': safetensors({ 'a.weight': { dtype: 'F32', shape: [ROWS, IN], bytes: f32(...weights) } }),
    }),
  );
const asked = { bits: BITS, group: GROUP, scales: 'F32', method: 'rtn' } as const;

type Made = { codes: Uint8Array; scales: Uint8Array; biases: Uint8Array };
const read = ({ codes, scales, biases }: Made) => {
  const floats = (bytes: Uint8Array) => new Float32Array(Uint8Array.from(bytes).buffer);
  const [s, b] = [floats(scales), floats(biases)];
  const code = (at: number) => {
    let value = 0;
    for (let bit = 0; bit < BITS; bit++) {
      const place = at * BITS + bit;
      value |= (((codes[place >> 3] ?? 0) >> (place & 7)) & 1) << bit;
    }
    return value;
  };
  return {
    scale: (at: number) => s[Math.floor(at / GROUP)] ?? 0,
    bias: (at: number) => b[Math.floor(at / GROUP)] ?? 0,
    codes: Array.from({ length: ROWS * IN }, (_, at) => code(at)),
  };
};
const valuesOf = (made: ReturnType<typeof read>) => made.codes.map((code, at) => made.scale(at) * code + made.bias(at));
/** e^T C e of a row. */
const lost = (values: number[], row: number) => {
  const e = Array.from({ length: IN }, (_, i) => (weights[row * IN + i] ?? 0) - (values[row * IN + i] ?? 0));
  return e.reduce((sum, a, i) => sum + e.reduce((part, b, j) => part + a * b * (damped[i * IN + j] ?? 0), 0), 0);
};

/** The inverse of a matrix by Gauss and Jordan, then its upper triangle U with U^T U. */
function inverseTriangle(matrix: number[][]): number[][] {
  const size = matrix.length;
  const both = matrix.map((row, i) => [...row, ...row.map((_, j) => Number(i === j))]);
  for (let k = 0; k < size; k++) {
    const pivot = both[k] ?? [];
    const first = pivot[k] ?? 0;
    for (let j = 0; j < 2 * size; j++) pivot[j] = (pivot[j] ?? 0) / first;
    for (const [i, row] of both.entries()) {
      const factor = row[k] ?? 0;
      if (i !== k) for (let j = 0; j < 2 * size; j++) row[j] = (row[j] ?? 0) - factor * (pivot[j] ?? 0);
    }
  }
  const inverse = both.map((row) => row.slice(size));
  const upper = inverse.map((row) => row.map(() => 0));
  for (let i = 0; i < size; i++) {
    for (let j = i; j < size; j++) {
      let value = inverse[i]?.[j] ?? 0;
      for (let k = 0; k < i; k++) value -= (upper[k]?.[i] ?? 0) * (upper[k]?.[j] ?? 0);
      (upper[i] as number[])[j] = i === j ? Math.sqrt(value) : value / (upper[i]?.[i] ?? 0);
    }
  }
  return upper;
}

test('codes are those of GPTQ by the inverse, and the loss is that of the outputs', async () => {
  const source = await opened();
  const feedback = await addon.factorInputs(covariance, { columns: IN, damping: DAMPING });
  const order = [...feedback.order];
  const energy = (column: number) => covariance[column * (IN + 1)] ?? 0;
  expect(order).toEqual(order.toSorted((a, b) => energy(b) - energy(a) || a - b));
  const plain = read(await source.affine('a.weight', asked));
  const answer = await source.affine('a.weight', { ...asked, feedback });
  const made = read(answer);
  const upper = inverseTriangle(order.map((a) => order.map((b) => damped[a * IN + b] ?? 0)));
  let differing = 0;
  let error = 0;
  for (let row = 0; row < ROWS; row++) {
    const w = order.map((column) => weights[row * IN + column] ?? 0);
    const codes = new Array<number>(IN);
    for (const [k, column] of order.entries()) {
      const at = row * IN + column;
      const exact = ((w[k] ?? 0) - plain.bias(at)) / plain.scale(at);
      const code = Math.max(0, Math.min(2 ** BITS - 1, Math.round(exact)));
      codes[column] = code;
      const off = ((w[k] ?? 0) - (plain.scale(at) * code + plain.bias(at))) / (upper[k]?.[k] ?? 0);
      for (let j = k + 1; j < IN; j++) w[j] = (w[j] ?? 0) - off * (upper[k]?.[j] ?? 0);
    }
    differing += codes.filter((code, column) => code !== made.codes[row * IN + column]).length;
    error += lost(valuesOf(made), row);
    expect(lost(valuesOf(made), row)).toBeLessThan(0.95 * lost(valuesOf(plain), row));
  }
  expect(differing).toBe(0);
  expect(answer.error / error).toBeCloseTo(1, 4);
  const nothing = new Array<number>(ROWS * IN).fill(0);
  const energyOf = Array.from({ length: ROWS }, (_, row) => lost(nothing, row)).reduce((sum, one) => sum + one, 0);
  expect(answer.energy / energyOf).toBeCloseTo(1, 4);
});

test('a row that feedback would make worse keeps its codes', async () => {
  // Columns that have nothing to do with each other have nothing to make up for.
  const alone = new Float64Array(IN * IN);
  for (let i = 0; i < IN; i++) alone[i * (IN + 1)] = 1 + i;
  const source = await opened();
  const feedback = await addon.factorInputs(alone, { columns: IN, damping: 0 });
  const [fed, plain] = [
    await source.affine('a.weight', { ...asked, feedback }),
    await source.affine('a.weight', asked),
  ];
  expect(fed.codes).toEqual(plain.codes);
  const made = valuesOf(read(fed));
  const sum = (term: (value: number, i: number) => number) =>
    [...weights].reduce((all, value, i) => all + (1 + (i % IN)) * term(value, i), 0);
  expect(fed.error / sum((value, i) => (value - (made[i] ?? 0)) ** 2)).toBeCloseTo(1, 4);
  expect(fed.energy / sum((value) => value ** 2)).toBeCloseTo(1, 4);
});

test('the ranges of the groups are those that importance gives without feedback', async () => {
  const source = await opened();
  const feedback = await addon.factorInputs(covariance, { columns: IN, damping: DAMPING });
  const importance = Float32Array.from({ length: IN }, (_, i) => (i % 5 === 0 ? 20 : 0.2) * (1 + i));
  const weighed = { ...asked, method: 'weighted', importance } as const;
  const [fed, plain] = [
    await source.affine('a.weight', { ...weighed, feedback }),
    await source.affine('a.weight', weighed),
  ];
  expect([fed.scales, fed.biases]).toEqual([plain.scales, plain.biases]);
  expect(fed.codes).not.toEqual(plain.codes);
});

test('a row of which plain rounding loses less is told with what that loses', async () => {
  // Two columns that nearly cancel out: what is made up for in one is lost in the other.
  const source = await opened();
  const coupled = new Float64Array(IN * IN);
  for (let i = 0; i < IN; i++) for (let j = 0; j < IN; j++) coupled[i * IN + j] = i === j ? 1 : 0.5;
  const feedback = await addon.factorInputs(coupled, { columns: IN, damping: 0 });
  const outputs = (made: number[]) => {
    let all = 0;
    for (let row = 0; row < ROWS; row++) {
      const e = Array.from({ length: IN }, (_, i) => (weights[row * IN + i] ?? 0) - (made[row * IN + i] ?? 0));
      const whole = e.reduce((a, b) => a + b, 0);
      all += 0.5 * (whole * whole + e.reduce((a, b) => a + b * b, 0));
    }
    return all;
  };
  const fed = await source.affine('a.weight', { ...asked, feedback });
  const plain = await source.affine('a.weight', asked);
  expect(fed.error / outputs(valuesOf(read(fed)))).toBeCloseTo(1, 4);
  expect(fed.energy / outputs(new Array<number>(ROWS * IN).fill(0))).toBeCloseTo(1, 4);
  expect(fed.error).toBeLessThanOrEqual(outputs(valuesOf(read(plain))));
});

test('rows at the end of a batch, and one that stands alone, are rounded like all others', async () => {
  const source = await opened();
  const feedback = await addon.factorInputs(covariance, { columns: IN, damping: DAMPING });
  const all = await source.affine('a.weight', { ...asked, feedback });
  const last = await source.affine('a.weight', { ...asked, feedback, first: ROWS - 1, count: 1 });
  expect(last.codes).toEqual(all.codes.subarray(-last.codes.length));
});

describe('refused', () => {
  const feedback = { order: Int32Array.from({ length: IN }, (_, i) => i), triangle: new Float32Array(IN * IN).fill(1) };
  test.each([
    [{ ...feedback, order: Int32Array.of(1, 0) }, /has 2 columns and 4096 values, expected 64 and their square/],
    [{ ...feedback, order: new Int32Array(IN) }, /no permutation/],
    [{ ...feedback, order: feedback.order.map((i) => i + 1) }, /no permutation/],
  ])('an order %#', async (wrong, message) => {
    const source = await opened();
    await expect(source.affine('a.weight', { ...asked, feedback: wrong })).rejects.toThrow(message);
  });

  test.each([
    [new Float64Array(4), /has the trace 0/],
    [Float64Array.of(1, 2, 2, 1), /not positive definite/],
    [Float64Array.of(Number.NaN, 0, 0, 1), /has the trace nan/],
  ])('a covariance %#', async (wrong, message) => {
    await expect(addon.factorInputs(wrong, { columns: 2, damping: 0 })).rejects.toThrow(message);
  });

  test('a covariance of another size', async () => {
    await expect(async () => addon.factorInputs(covariance, { columns: 3, damping: 0 })).rejects.toThrow(
      /has 4096 values, expected the square of 3/,
    );
  });
});
