// Which rotary pairs and ranks a conversion to latent attention takes.
import { expect, test } from 'vitest';
import { checkLatent } from '../../../app/conversion/making/latent.ts';

const heads = { query: 8, kv: 2, dim: 32 } as Parameters<typeof checkLatent>[0];
const form = (pairs: number, rank: number, svd: 'joint' | 'split') =>
  ({ pairs, rank, svd }) as Parameters<typeof checkLatent>[1];

test.each<[pairs: number, rank: number, svd: 'joint' | 'split', wrong: RegExp | null]>([
  [0, 8, 'joint', /--pairs\] got 0, expected 1 to 16/],
  [1, 62, 'joint', null],
  [1, 63, 'joint', /--rank\] got 63, expected 1 to 62 per head: 2 heads with 1 pairs/],
  [16, 32, 'joint', null],
  [16, 33, 'joint', /--rank\] got 33, expected 1 to 32/],
  [17, 8, 'joint', /--pairs\] got 17, expected 1 to 16 for heads of 32/],
  [4, 0, 'joint', /--rank\] got 0, expected 1 to 56/],
  [4, 1, 'split', null],
  [4, 32, 'split', null],
  [4, 33, 'split', /--rank\] got 33, expected 1 to 32/],
])('%i pairs and a rank of %i, %s', (pairs, rank, svd, wrong) => {
  const check = () => checkLatent(heads, form(pairs, rank, svd));
  if (wrong) expect(check).toThrow(wrong);
  else expect(check).not.toThrow();
});
