import { expect, test } from 'vitest';
import { allocateRanks } from '../../../../app/conversion/recovery/ranks.ts';

/** Four layers with energies that fall at different speeds. */
const energies = [0.3, 0.6, 0.9, 0.97].map((fall, layer) =>
  Float64Array.from({ length: 24 }, (_, k) => (layer + 1) * fall ** k),
);
const lostBy = (ranks: readonly number[], step: number) =>
  ranks.reduce(
    (sum, rank, layer) => sum + [...(energies[layer] ?? [])].slice(rank * step).reduce((a, b) => a + b, 0),
    0,
  );

test('no other ranks of the same sum lose less', () => {
  const ranks = allocateRanks(energies, 4, 2);
  expect(ranks.reduce((sum, rank) => sum + rank, 0)).toBe(16);
  expect(ranks).not.toEqual([4, 4, 4, 4]);
  let least = Number.POSITIVE_INFINITY;
  for (let a = 1; a <= 13; a++)
    for (let b = 1; a + b <= 14; b++)
      for (let c = 1; a + b + c <= 15; c++) least = Math.min(least, lostBy([a, b, c, 16 - a - b - c], 2));
  expect(lostBy(ranks, 2)).toBeCloseTo(least, 12);
});

test('a layer that carries nothing keeps a quarter', () => {
  const ranks = allocateRanks([new Float64Array(24), energies[3] ?? new Float64Array()], 8, 1);
  expect(ranks).toEqual([2, 14]);
});
