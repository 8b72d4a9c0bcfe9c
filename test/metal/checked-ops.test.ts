// Kernels in check mode that no family of checked.test.ts and no op with few rows (test/ops) comes to.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { reference, runMany } from '../ops/devices.ts';
import { normal, relativeDifference } from '../ops/numbers.ts';
import { thresholds } from '../ops/thresholds.ts';
import { needsStandin, standin } from './standin.ts';

needsStandin();
vi.setConfig({ testTimeout: 240_000 });
beforeEach(() => standin.options({ check: true }));
afterEach(() => standin.options({}));

const metal = { backEnd: 'metal', instructions: '', threads: 1, path: 'exact' } as const;

test('attention over a context that is split, and what joins its parts', () => {
  const [rows, dim] = [1030, 8];
  const args = {
    ...{ rows, heads: 1, kvHeads: 1, dim, rotaryDim: dim, scale: dim ** -0.5 },
    chunks: Int32Array.of(rows - 1, 1),
    p: normal('p', rows * 3 * dim),
    invFreq: Float32Array.from({ length: dim / 2 }, (_, j) => 10000 ** ((-2 * j) / dim)),
  };
  standin.reset();
  const actual = runMany(metal, 'attention', args).floats('o');
  expect(standin.counters().kernels).toHaveProperty('attention_combine');
  expect(relativeDifference(actual, runMany(reference, 'attention', args).floats('o'))).toBeLessThan(
    thresholds.transcendental,
  );
});

test.each([
  [224, 8, 1],
  [256, 2, 2],
])(
  'attention by tiles to a head of %i, whose queries lie in registers and in threadgroup memory',
  (dim, heads, kvHeads) => {
    const args = {
      ...{ heads, kvHeads, dim, rotaryDim: 2, rows: 19, scale: dim ** -0.5, invFreq: Float32Array.of(1) },
      p: normal('p', 19 * dim * (heads + 2 * kvHeads)),
    };
    standin.options({ check: true, banks: true });
    standin.reset();
    const actual = runMany(metal, 'attention', args).floats('o');
    expect(standin.counters().kernels).toHaveProperty('attention_tile');
    if (dim === 256) expect(standin.counters().bankConflicts).toEqual({});
    expect(relativeDifference(actual, runMany(reference, 'attention', args).floats('o'))).toBeLessThan(
      thresholds.transcendental,
    );
  },
);

test('attention to chosen blocks, by several heads of a group', () => {
  const [rows, dim] = [100, 8];
  const args = {
    ...{ rows, heads: 4, kvHeads: 1, dim, scale: dim ** -0.5 },
    ...{ block: 16, kernel: 8, stride: 4, initBlocks: 1, window: 32, topk: 4 },
    p: normal('p', rows * 6 * dim),
  };
  standin.reset();
  const actual = runMany(metal, 'sparse', args);
  expect(Object.keys(standin.counters().kernels).join(' ')).toMatch(/block_select/);
  const expected = runMany(reference, 'sparse', args);
  expect(actual.ints('blocks')).toEqual(expected.ints('blocks'));
  expect(relativeDifference(actual.floats('o'), expected.floats('o'))).toBeLessThan(thresholds.transcendental);
});

/** One text, its includes put in place, each once (as native/metal/embed.cmake does). */
function kernelText(file: string): string {
  const root = join(import.meta.dirname, '../..');
  const placed = new Set<string>();
  const text = (path: string): string =>
    readFileSync(path, 'utf8')
      .replace('#pragma once', '')
      .replace(/#include "(?:shared\/)?([a-z_]+\.h)"/g, (_, name: string) => {
        if (placed.has(name)) return '';
        placed.add(name);
        return text(join(root, name === 'params.h' ? 'native/ops' : 'metal/shared', name));
      });
  return text(join(root, 'metal', file));
}
const copies = kernelText('copy.metal');
/** CopyParams: 8 bytes. */
const bytes = (count: number) => new BigUint64Array([BigInt(count)]);
/** RowsParams: rows, cols, x_stride, y_stride, z_stride. */
const rowsParams = (...values: number[]) => Uint32Array.from(values);

test('words are copied and cleared, and not one more', () => {
  const from = Uint32Array.from({ length: 70 }, (_, i) => i + 1);
  const to = new Uint32Array(70);
  const grid = { source: copies, grid: [128], threads: [64] };
  expect(standin.run({ ...grid, kernel: 'copy_words', buffers: [from, to, bytes(4 * 69)] })).toEqual({
    stage: '',
    error: '',
  });
  expect([...to]).toEqual([...from.subarray(0, 69), 0]);
  expect(standin.run({ ...grid, kernel: 'clear_words', buffers: [from, bytes(4 * 69)] })).toEqual({
    stage: '',
    error: '',
  });
  expect([...from]).toEqual([...new Uint32Array(69), 70]);
});

test('rows are placed side by side', () => {
  const from = normal('rows', 3 * 5);
  const to = new Float32Array(3 * 7);
  const run = { source: copies, kernel: 'copy_rows', grid: [8, 3], threads: [8, 1] };
  expect(standin.run({ ...run, buffers: [from, to, rowsParams(3, 5, 5, 7, 0)] })).toEqual({ stage: '', error: '' });
  expect([...to.subarray(7, 14)]).toEqual([...from.subarray(5, 10), 0, 0]);
});
