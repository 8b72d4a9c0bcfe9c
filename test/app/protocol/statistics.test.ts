import fc from 'fast-check';
import { expect, test } from 'vitest';
import { compare, spreadOf } from '../../../app/protocol/statistics.ts';

const noisy = (middle: number, share: number, seed: number) =>
  Array.from({ length: 7 }, (_, at) => middle * (1 + share * Math.sin(seed * 12.9898 + at * 78.233)));

test('median and tenths of known numbers', () => {
  expect(spreadOf([5, 1, 3, 2, 4])).toEqual({ median: 3, low: 1.4, high: 4.6, count: 5 });
  expect(spreadOf([null, Number.NaN, 7, Number.POSITIVE_INFINITY])).toEqual({ median: 7, low: 7, high: 7, count: 1 });
  expect(spreadOf([])).toBeNull();
});

test('the same measured twice is "no difference", for a hundred noises', () => {
  for (let seed = 0; seed < 100; seed++) {
    const a = noisy(40, 0.02, seed);
    expect(compare(a, [...a].reverse())).toMatchObject({ verdict: 'none', change: 0 });
  }
});

test('a difference far outside the scatter is named, with its direction', () => {
  const result = compare(noisy(46.4, 0.004, 1), noisy(44.8, 0.004, 2));
  expect(result).toMatchObject({ verdict: 'lower' });
  if (result.verdict === 'lower') {
    expect(result.change).toBeCloseTo(-0.034, 1);
    expect(result.noise).toBeLessThan(0.02);
  }
  expect(compare(noisy(40, 0.004, 1), noisy(50, 0.004, 2)).verdict).toBe('higher');
});

test('a difference inside the scatter is none', () => {
  expect(compare(noisy(40, 0.3, 1), noisy(41, 0.3, 2)).verdict).toBe('none');
  // Equal to the last digit: clocks alone move half a per cent.
  expect(compare([40, 40, 40], [40.1, 40.1, 40.1])).toMatchObject({ verdict: 'none', noise: 0.005 });
});

test('one disturbed run of seven does not hide or make a difference', () => {
  const steady = [40, 40.1, 39.9, 40.05, 39.95, 40.02, 12];
  expect(compare(steady, [40, 40.1, 39.9, 40.05, 39.95, 40.02, 40]).verdict).toBe('none');
  expect(compare(steady, noisy(44, 0.003, 3)).verdict).toBe('higher');
});

test('fewer than three runs are too few to say', () => {
  expect(compare([40, 41], [50, 51, 52])).toEqual({ verdict: 'too-few' });
  expect(compare([null, 1, 2], [1, 2, 3])).toEqual({ verdict: 'too-few' });
});

test('exchanging A and B exchanges the verdict', () => {
  const speeds = fc.array(fc.double({ min: 1, max: 1000, noNaN: true }), { minLength: 3, maxLength: 9 });
  fc.assert(
    fc.property(speeds, speeds, (a, b) => {
      const there = compare(a, b);
      const back = compare(b, a);
      if (there.verdict === 'higher') expect(back.verdict).not.toBe('higher');
      if (there.verdict === 'lower') expect(back.verdict).not.toBe('lower');
    }),
  );
});
