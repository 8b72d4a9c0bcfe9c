import type { ModelDescription, Run } from '../../../app/protocol/index.ts';

/** The fastest and the median measured speed of a model on this machine. */
export type Speed = { median: number; fastest: number; at: number };

/** Shorter answers measure the start rather than the speed. */
const FEWEST_TOKENS = 16;

/** By model name, from undisturbed answers and benchmarks. */
export function speedOf(name: string, runs: readonly Run[]): Speed | null {
  const decodes = runs.flatMap(({ model, decode, disturbed, tokens, at }) =>
    model === name && decode !== null && !disturbed && tokens >= FEWEST_TOKENS ? [{ decode, at }] : [],
  );
  const sorted = decodes.toSorted((a, b) => a.decode - b.decode);
  const best = sorted.at(-1);
  const middle = sorted[sorted.length >> 1];
  return best && middle ? { median: middle.decode, fastest: best.decode, at: best.at } : null;
}

/** Measured tokens per second for exactly these weights, instead of an estimate. */
export const measuredFor = (
  description: ModelDescription,
  models: readonly { name: string; description: ModelDescription | null }[],
  runs: readonly Run[],
): number | null => {
  const same = models.find(
    (model) =>
      model.description?.family === description.family &&
      model.description.parameters === description.parameters &&
      model.description.weightBytes === description.weightBytes,
  );
  return same ? (speedOf(same.name, runs)?.median ?? null) : null;
};
