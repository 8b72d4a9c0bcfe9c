import { expect, test } from 'vitest';
import { dimsOf, fixedPairs, strongestPairs } from '../../../app/conversion/partial-rope.ts';

const heads = { query: 4, kv: 2, dim: 16 };

test('pairs at even distances are those that divide a head, and others are refused with the ones that do', () => {
  expect(fixedPairs('uniform', 4, heads, 1)).toEqual([Array(2).fill([0, 2, 4, 6])]);
  expect(() => fixedPairs('uniform', 3, heads, 1)).toThrow(/8 pairs per head, expected one of 1, 2, 4, 8$/);
});

test('the first, the last or every so many pairs keep their position, the same in each head and layer', () => {
  const everywhere = (pairs: number[]) => [Array(2).fill(pairs), Array(2).fill(pairs)];
  expect(fixedPairs('high', 3, heads, 2)).toEqual(everywhere([0, 1, 2]));
  expect(fixedPairs('low', 3, heads, 2)).toEqual(everywhere([5, 6, 7]));
  expect(fixedPairs('uniform', 2, heads, 2)).toEqual(everywhere([0, 4]));
  expect(fixedPairs('uniform', 8, heads, 1)[0]?.[0]).toEqual([0, 1, 2, 3, 4, 5, 6, 7]);
});

test('the strongest pairs of a key head are those in which it and all of its query heads are long; of equals the first', () => {
  const small = { query: 4, kv: 2, dim: 8 };
  // [query heads, pairs], then [key heads, pairs]
  const queries = [
    [1, 0, 2, 0],
    [1, 0, 0, 3],
    [5, 1, 1, 1],
    [0, 1, 1, 1],
  ];
  const keys = [
    [1, 9, 1, 1],
    [0, 2, 2, 1],
  ];
  const lengths = Float64Array.from([...queries, ...keys].flat());
  // First key head: 2, 0, 2, 3; second: 0, 4, 4, 2.
  expect(strongestPairs(lengths, 1, small)).toEqual([[3], [1]]);
  expect(strongestPairs(lengths, 2, small)).toEqual([
    [0, 3],
    [1, 2],
  ]);
  expect(strongestPairs(lengths, 3, small)).toEqual([
    [0, 2, 3],
    [1, 2, 3],
  ]);
});

test('the columns of a head: both halves of the pairs that stay, then all others', () => {
  expect(dimsOf([[0, 2], [3]], { query: 2, kv: 2, dim: 8 })).toEqual([
    { retained: [0, 2, 4, 6], rest: [1, 3, 5, 7] },
    { retained: [3, 7], rest: [0, 1, 2, 4, 5, 6] },
  ]);
});
