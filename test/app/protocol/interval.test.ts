// Figures with their intervals, beside what defines them.
import { expect, test } from 'vitest';
import { around, blockMeans, meanOf, shareOf, Z } from '../../../app/protocol/interval.ts';

test.each([
  [0, 10, 0, 0, 0.277533],
  [10, 10, 1, 0.722467, 1],
  [1, 2, 0.5, 0.094531, 0.905469],
  [30, 100, 0.3, 0.218949, 0.395849],
])('%d of %d: %d, between %d and %d', (hits, of, value, low, high) => {
  const found = shareOf(hits, of);
  expect(found).toEqual({ value, low: expect.closeTo(low, 5), high: expect.closeTo(high, 5) });
  // Wilson: the true shares from which this one is just as far as 95 of 100 samples are.
  for (const end of [found.low, found.high]) expect((value - end) ** 2).toBeCloseTo((Z ** 2 * end * (1 - end)) / of, 9);
});

test('of nothing, and of a single block, no interval can be told', () => {
  const unknown = { value: Number.NaN, low: Number.NaN, high: Number.NaN };
  expect(shareOf(0, 0)).toEqual(unknown);
  expect(around(3, [3])).toEqual({ ...unknown, value: 3 });
  // Two blocks are enough: 1.96 times the root of 2 / 2.
  expect(around(3, [2, 4])).toEqual({
    value: 3,
    low: expect.closeTo(3 - 1.959964, 6),
    high: expect.closeTo(3 + 1.959964, 6),
  });
});

test('of several blocks the interval is what their spread gives', () => {
  const half = 1.959964 * Math.sqrt(4 / 3);
  expect(around(4, [2, 4, 6])).toEqual({
    value: 4,
    low: expect.closeTo(4 - half, 6),
    high: expect.closeTo(4 + half, 6),
  });
});

test('a sequence is taken in blocks, the last as long as it is', () => {
  expect(blockMeans([1, 3, 5, 7, 9], 2)).toEqual([2, 6, 9]);
  expect(blockMeans([1, 3, 5, 7], 2)).toEqual([2, 6]);
  expect(blockMeans([], 2)).toEqual([]);
  const long = Array.from({ length: 129 }, (_, at) => at);
  expect(blockMeans(long)).toEqual([31.5, 95.5, 128]);
  expect(meanOf([1, 3, 5, 7], 2)).toMatchObject({ value: 4, low: expect.closeTo(4 - 1.959964 * 2, 6) });
});
