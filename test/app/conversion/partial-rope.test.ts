import { expect, test } from 'vitest';
import { fixedPairs } from '../../../app/conversion/partial-rope.ts';

const heads = { query: 4, kv: 2, dim: 16 };

test('pairs at even distances are those that divide a head, and others are refused with the ones that do', () => {
  expect(fixedPairs('uniform', 4, heads, 1)).toEqual([Array(2).fill([0, 2, 4, 6])]);
  expect(() => fixedPairs('uniform', 3, heads, 1)).toThrow(/8 pairs per head, expected one of 1, 2, 4, 8$/);
});
