import type { ModelDescription, Run } from '../../../app/protocol/index.ts';

/** The fastest answer of a model that was measured here, and what it writes usually. */
export type Speed = { median: number; fastest: number; at: number };

/** Fewer tokens say more about the start than about the speed. */
const FEWEST_TOKENS = 16;

/** By the name of the model: of answers and benchmarks that nothing disturbed. */
export function speedOf(name: string, runs: readonly Run[]): Speed | null {
  const decodes = runs.flatMap(({ model, decode, disturbed, tokens, at }) =>
    model === name && decode !== null && !disturbed && tokens >= FEWEST_TOKENS ? [{ decode, at }] : [],
  );
  const sorted = decodes.toSorted((a, b) => a.decode - b.decode);
  const best = sorted.at(-1);
  const middle = sorted[sorted.length >> 1];
  return best && middle ? { median: middle.decode, fastest: best.decode, at: best.at } : null;
}

/** Tokens a second that were measured for exactly these weights, in the place of an estimate. */
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
