// The choice of a token from what the GPU has found of the scores: the one that walking over all of them gives.
import { expect, test } from 'vitest';
import type { GenerateOptions, Model } from '../../native/addon/index.d.ts';
import { someTokens, starter } from '../support/models/models.ts';
import { loadOnVulkan, needsVulkan } from './device.ts';

needsVulkan();

// A penalty that changes no score, but for which all of them are walked over.
const frequencyPenalty = 1e-30;
const settings: Partial<GenerateOptions>[] = [
  {},
  { temperature: 1, seed: 1 },
  { temperature: 0.7, topK: 7, seed: 2 },
  { temperature: 1, topK: 20, topP: 0.9, minP: 0.01, seed: 3 },
  { temperature: 1.2, topP: 0.8, seed: 4 },
  { temperature: 1, topK: 5000, seed: 5 },
  { temperature: 1e-39 },
  { logprobs: 1 },
  { logprobs: 40, temperature: 1, topK: 40, seed: 6 },
];

async function written(model: Model, options: Partial<GenerateOptions>) {
  const session = model.createSession({ contextLength: 256, path: 'exact' });
  const scores: { logprob: number | undefined; top: readonly { id: number; logprob: number }[] }[] = [];
  const { tokens } = await session.generate(someTokens(20, 9), {
    maxTokens: 24,
    logprobs: 3,
    onTokens: (events) => scores.push(...events.map(({ logprob, top }) => ({ logprob, top: top ?? [] }))),
    ...options,
  });
  session.close();
  return { tokens: [...tokens], scores };
}

test('a token of a vocabulary of several tiles, and its alternatives', { timeout: 120_000 }, async () => {
  const model = await loadOnVulkan(starter);
  for (const options of settings) {
    const name = JSON.stringify(options);
    const [tiled, whole] = [await written(model, options), await written(model, { ...options, frequencyPenalty })];
    expect(tiled.tokens, name).toEqual(whole.tokens);
    for (const [i, { logprob, top }] of tiled.scores.entries()) {
      expect(logprob, name).toBeCloseTo(whole.scores[i]?.logprob ?? Number.NaN, 3);
      expect(
        top.map(({ id }) => id),
        name,
      ).toEqual(whole.scores[i]?.top.map(({ id }) => id));
    }
  }
  model.close();
});
