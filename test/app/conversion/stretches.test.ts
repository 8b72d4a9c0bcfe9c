import { expect, test } from 'vitest';
import { stretchesOf } from '../../../app/conversion/stretches.ts';

test('a tensor is read in stretches of 16 MB, and in rows where one is larger', () => {
  expect(stretchesOf({ shape: [4096, 1024] })).toEqual([{ first: 0, count: 4096 }]);
  expect(stretchesOf({ shape: [4097, 1024] })).toEqual([
    { first: 0, count: 4096 },
    { first: 4096, count: 1 },
  ]);
  expect(stretchesOf({ shape: [2, 2 ** 23] })).toEqual([
    { first: 0, count: 1 },
    { first: 1, count: 1 },
  ]);
});
