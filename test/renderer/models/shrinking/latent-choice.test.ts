import { describe, expect, test } from 'vitest';
import { type LatentSize, whyNotLatent } from '../../../../app/protocol/index.ts';
import {
  latentChoiceOf,
  shareOf,
  USUAL_LATENT,
  withLatent,
} from '../../../../renderer/models/shrinking/latent-choice.ts';
import { shapeOf } from '../../../support/fakes/models.ts';

const size = (pairs: number, rank: number, split: boolean, contextBytesPerToken: number): LatentSize => ({
  pairs,
  rank,
  split,
  weightBytes: 10,
  activeBytes: 10,
  contextBytesPerToken,
  memory: null,
});
const plan = (sizes: LatentSize[], reads = true) => ({ reads, allPairs: 32, contextBytesPerToken: 1000, sizes });
const usual = [
  size(4, 24, false, 250),
  size(8, 16, false, 250),
  size(4, 56, false, 500),
  size(16, 32, false, 500),
  size(4, 28, true, 500),
];

test('who chooses nothing gets half the memory, half of which tells positions, fitted to a text', () => {
  const choice = latentChoiceOf(plan(usual), USUAL_LATENT);
  expect(choice?.form).toEqual({ pairs: 16, rope: '2-norm', rank: 32, svd: 'regression' });
  // A smaller target has fewer pairs.
  expect(choice?.sizes.map(({ pairs, rank }) => [pairs, rank])).toEqual([
    [16, 32],
    [8, 16],
  ]);
  expect(choice?.pairs).toEqual([4, 8, 16]);
});

test('what does not exist becomes the nearest that does', () => {
  expect(latentChoiceOf(plan(usual), { ...USUAL_LATENT, share: 0.1 })?.form.rank).toBe(16);
  expect(latentChoiceOf(plan(usual), { ...USUAL_LATENT, share: 0.1, pairs: 4 })?.form.rank).toBe(24);
  expect(latentChoiceOf(plan(usual), { ...USUAL_LATENT, pairs: 100 })?.form.pairs).toBe(16);
  expect(latentChoiceOf(plan(usual), { ...USUAL_LATENT, svd: 'split' })?.form.rank).toBe(28);
  expect(latentChoiceOf(plan([]), USUAL_LATENT)).toBeNull();
});

test('no text chooses anything for a model that reads none', () => {
  const choice = latentChoiceOf(plan(usual, false), USUAL_LATENT);
  expect(choice?.form).toMatchObject({ rope: 'high', svd: 'joint' });
  expect(choice?.ropes).toEqual(['high', 'low', 'uniform']);
  expect(choice?.svds).toEqual(['joint', 'split']);
});

test('the forecast is that of the model with another context memory', () => {
  const description = shapeOf('llama-3.2-3b', 6.4e9, 'BF16');
  expect(withLatent(description, size(4, 24, false, 250))).toMatchObject({
    contextBytesPerToken: 250,
    weightBytes: 10,
  });
  expect(shareOf({ contextBytesPerToken: 1000 }, size(4, 24, false, 250))).toBe(0.25);
});

describe('a model that cannot be converted says why', () => {
  const llama = { ...shapeOf('llama-3.2-3b', 6.4e9, 'BF16'), container: 'safetensors' as const };
  test.each([
    ['nothing, for a Llama as it was published', {}, null],
    ['another family', { family: 'qwen3_5' }, 'latent-family'],
    ['a GGUF file', { container: 'gguf' as const }, 'latent-file'],
    ['quantised for MLX', { container: 'mlx' as const }, 'latent-rounded'],
    ['in fp8', { types: { BF16: 1, F8_E4M3: 9 } }, 'latent-rounded'],
    [
      'converted before',
      { family: 'llama-mla', layers: [{ kind: 'latent' as const, experts: false }] },
      'latent-already',
    ],
  ] as const)('%s', (_, change, reason) => {
    expect(whyNotLatent({ ...llama, ...change } as typeof llama)).toBe(reason);
  });
});
