import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { WeightSource } from '../../../native/addon/index.d.ts';
import { addon, golden } from '../../support/addon.ts';
import {
  asFloats,
  f32,
  readSafetensors,
  type StoredTensor,
  safetensors,
  temporaryFolder,
} from '../../support/models/formats.ts';

const mlx = readSafetensors(readFileSync(join(golden, 'quant/mlx_affine/expected.safetensors')));
const gguf = readSafetensors(readFileSync(join(golden, 'quant/gguf_blocks/expected.safetensors')));
const cases = JSON.parse(readFileSync(join(golden, 'quant/mlx_affine/expected.json'), 'utf8')).cases as {
  name: string;
  bits: number;
  group_size: number;
  scale_dtype: string;
}[];

const stored = (tensors: Record<string, StoredTensor>, name: string): Uint8Array => {
  const found = tensors[name];
  if (found === undefined) throw new Error(`the golden file has no ${name}`);
  return found.bytes;
};
const opened = (tensor: StoredTensor): Promise<WeightSource> =>
  addon.openWeights(temporaryFolder({ 'config.json': '{}', 'model.safetensors': safetensors({ 'a.weight': tensor }) }));
const input = (tensors: Record<string, StoredTensor>): StoredTensor => ({
  dtype: 'F32',
  shape: tensors['input.rows']?.shape ?? [],
  bytes: stored(tensors, 'input.rows'),
});
/** To nearest, ties to even. */
const asBf16 = (bytes: Uint8Array): Uint8Array =>
  new Uint8Array(
    Uint16Array.from(
      new Uint32Array(Uint8Array.from(bytes).buffer),
      (bits) => (bits + 0x7fff + ((bits >>> 16) & 1)) >>> 16,
    ).buffer,
  );

describe('affine groups', () => {
  test.each(cases)('$name are those of mlx, bit for bit', async ({ name, bits, group_size, scale_dtype }) => {
    const rows = input(mlx);
    const bf16 = scale_dtype === 'bfloat16';
    const source = await opened(bf16 ? { ...rows, dtype: 'BF16', bytes: asBf16(rows.bytes) } : rows);
    const scales = bf16 ? 'BF16' : 'F32';
    const made = await source.affine('a.weight', { bits, group: group_size, scales, method: 'rtn' });
    expect(Buffer.from(made.codes)).toEqual(Buffer.from(stored(mlx, `${name}.weight`)));
    expect(Buffer.from(made.scales)).toEqual(Buffer.from(stored(mlx, `${name}.scales`)));
    expect(Buffer.from(made.biases)).toEqual(Buffer.from(stored(mlx, `${name}.biases`)));
  });

  test.each([2, 3, 4, 5, 6, 8])('with %i bits a search by importance loses less, and never more', async (bits) => {
    const source = await opened(input(mlx));
    const columns = input(mlx).shape[1] ?? 0;
    const importance = Float32Array.from({ length: columns }, (_, i) => (i % 7 === 0 ? 30 : 0.5));
    const asked = { bits, group: 64, scales: 'BF16', importance } as const;
    const nearest = await source.affine('a.weight', { ...asked, method: 'rtn' });
    const searched = await source.affine('a.weight', { ...asked, method: 'weighted' });
    expect(searched.energy).toBe(nearest.energy);
    expect(searched.error / nearest.error).toBeLessThan(bits === 8 ? 1 : 0.8);
  });

  test('rows in another order are the same rows', async () => {
    const source = await opened(input(mlx));
    const asked = { bits: 4, group: 64, scales: 'F32', method: 'rtn' } as const;
    const all = await source.affine('a.weight', asked);
    const turned = await source.affine('a.weight', { ...asked, count: 2, rows: Int32Array.of(3, 1) });
    const size = turned.codes.length / 2;
    expect(turned.codes.subarray(0, size)).toEqual(all.codes.subarray(3 * size, 4 * size));
    expect(turned.codes.subarray(size)).toEqual(all.codes.subarray(size, 2 * size));
  });
});

describe('blocks', () => {
  test.each(['Q8_0', 'Q4_0', 'Q5_0', 'Q5_1', 'Q4_K', 'Q5_K', 'Q6_K', 'F16', 'BF16'] as const)(
    '%s are those of ggml, byte for byte',
    async (type) => {
      const source = await opened(input(gguf));
      const made = await source.blocks('a.weight', { type });
      expect(Buffer.from(made)).toEqual(Buffer.from(stored(gguf, `${type}.quantised.bytes`)));
    },
  );
});

test.each([Number.NaN, Number.POSITIVE_INFINITY])('%f is refused by the name of its tensor', async (value) => {
  const values = new Float32Array(256).fill(0.5);
  values[70] = value;
  const source = await opened({ dtype: 'F32', shape: [4, 64], bytes: f32(...values) });
  const asked = { bits: 4, group: 32, scales: 'F32', method: 'rtn' } as const;
  await expect(source.affine('a.weight', asked)).rejects.toThrow(/"a\.weight": row 1, column 6/);
  await expect(source.blocks('a.weight', { type: 'Q4_0', first: 1 })).rejects.toThrow(/row 1, column 6/);
});

test('a row that is no whole number of blocks is refused, and not written short', async () => {
  const source = await opened({
    dtype: 'F32',
    shape: [4, 48],
    bytes: f32(...Array.from({ length: 192 }, (_, i) => Math.sin(i))),
  });
  await expect(source.blocks('a.weight', { type: 'Q4_0' })).rejects.toThrow('a row of 48 values as q4_0');
  await expect(source.blocks('a.weight', { type: 'F16' })).resolves.toHaveLength(2 * 192);
});

test('columns in another order are the same columns, and one that is not there is refused', async () => {
  const source = await opened({
    dtype: 'F32',
    shape: [4, 64],
    bytes: f32(...Array.from({ length: 256 }, (_, i) => i)),
  });
  const turned = Int32Array.from({ length: 64 }, (_, i) => 63 - i);
  const halves = new Uint16Array((await source.blocks('a.weight', { type: 'F16', columns: turned })).slice().buffer);
  const plain = new Uint16Array((await source.blocks('a.weight', { type: 'F16' })).slice().buffer);
  for (let at = 0; at < 256; at++) expect(halves[at]).toBe(plain[at - (at % 64) + 63 - (at % 64)]);
  for (const wrong of [-1, 64]) {
    const asked = source.blocks('a.weight', { type: 'F16', columns: turned.with(5, wrong) });
    await expect(asked).rejects.toThrow('the order names a column that does not exist');
  }
});

test('what is cancelled before it begins takes none of its time', async () => {
  const shape = [512, 4096];
  const values = Float32Array.from({ length: 512 * 4096 }, (_, i) => Math.sin(i));
  const source = await opened({ dtype: 'F32', shape, bytes: new Uint8Array(values.buffer) });
  const asked = {
    bits: 4,
    group: 64,
    scales: 'F32',
    method: 'weighted',
    importance: new Float32Array(4096).fill(1),
  } as const;
  const timed = async (work: () => Promise<unknown>) => {
    const begun = performance.now();
    await work();
    return performance.now() - begun;
  };
  const whole = await timed(() => source.affine('a.weight', asked));
  const signal = new addon.AbortFlag();
  signal.set();
  const cancelled = await timed(() =>
    expect(source.affine('a.weight', { ...asked, signal })).rejects.toMatchObject({ code: 'cancelled' }),
  );
  expect(cancelled).toBeLessThan(whole / 2);
});

describe('low rank', () => {
  const matrix = Float64Array.from({ length: 6 * 9 }, (_, i) => Math.sin(i * i + 1));
  const product = (up: Float32Array, down: Float32Array, rank: number) =>
    Float64Array.from({ length: 54 }, (_, i) => {
      let sum = 0;
      for (let k = 0; k < rank; k++) sum += (up[Math.floor(i / 9) * rank + k] ?? 0) * (down[k * 9 + (i % 9)] ?? 0);
      return sum;
    });

  test('the full rank is the matrix, and the rows of down are orthonormal', async () => {
    const { up, down, error } = await addon.lowRank(matrix, { rows: 6, columns: 9, rank: 6 });
    expect(error).toBeLessThan(1e-12);
    expect(asFloats(f32(...product(up, down, 6))).every((value, i) => Math.abs(value - (matrix[i] ?? 0)) < 1e-6)).toBe(
      true,
    );
    for (let a = 0; a < 6; a++) {
      for (let b = 0; b < 6; b++) {
        let dot = 0;
        for (let i = 0; i < 9; i++) dot += (down[a * 9 + i] ?? 0) * (down[b * 9 + i] ?? 0);
        expect(dot).toBeCloseTo(a === b ? 1 : 0, 5);
      }
    }
  });

  test('a covariance gives the least error where inputs are large', async () => {
    const covariance = new Float64Array(81);
    for (let i = 0; i < 9; i++) covariance[i * 9 + i] = i < 2 ? 100 : 0.01;
    const seen = (up: Float32Array, down: Float32Array) => {
      const made = product(up, down, 2);
      return matrix.reduce((sum, value, i) => sum + (covariance[(i % 9) * 10] ?? 0) * (value - (made[i] ?? 0)) ** 2, 0);
    };
    const plain = await addon.lowRank(matrix, { rows: 6, columns: 9, rank: 2 });
    const white = await addon.lowRank(matrix, { rows: 6, columns: 9, rank: 2, covariance });
    expect(seen(white.up, white.down)).toBeLessThan(0.01 * seen(plain.up, plain.down));
  });
});
