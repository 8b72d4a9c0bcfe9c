import { expect, test } from 'vitest';
import { importanceOf, partsOf } from '../../../app/conversion/making/error-feedback.ts';
import type { Planned } from '../../../app/conversion/plan.ts';

const planned = (name: string, shape: number[], bits: number | null = 4): Planned => ({
  name,
  shape,
  bits,
  tensor: { name, type: 'F32', shape },
});

test('covariances are held a part at a time, each matrix in one part, in the order of the plan', () => {
  const plan = [
    planned('norm', [64], null),
    planned('a', [8, 64]),
    planned('b', [8, 64]),
    planned('experts', [4, 8, 64]),
    { ...planned('expert', [8, 64]), within: { name: 'stack', shape: [4, 8, 64], first: 8 } },
    planned('kept', [8, 64], null),
    planned('c', [8, 128]),
    planned('d', [8, 64]),
  ];
  // 64 columns take 32 KB, 128 four times as much.
  const names = (budget: number) => partsOf(plan, budget).map((part) => [...part]);
  expect(names(2 ** 30)).toEqual([['a', 'b', 'c', 'd']]);
  expect(names(2 * 32_768)).toEqual([['a', 'b'], ['c'], ['d']]);
  expect(names(1)).toEqual([['a'], ['b'], ['c'], ['d']]);
});

test('a column that a text did not use still counts', () => {
  const weights = importanceOf(Float64Array.of(0, 2, 4));
  expect(weights[0]).toBeCloseTo(0.002, 6);
  expect(weights[2]).toBeCloseTo(4.002, 6);
});
