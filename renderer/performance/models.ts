import type { ModelEntry, ModelId, Run } from '../../app/protocol/index.ts';
import { modelsOf } from '../stores/performance/selectors.ts';

//  The models of the page: those that were measured, and those that can be. Runs refer to models by name.

/** Generative models whose files are present. */
export const benchableModels = (installed: readonly ModelEntry[]): ModelEntry[] =>
  installed.filter(
    ({ missing, description, remote }) =>
      !remote && !missing && description?.supported !== false && !description?.encoder,
  );

/** Measured ones first, the newest in front. */
export const modelsToShow = (runs: readonly Run[], installed: readonly ModelEntry[]): string[] => [
  ...new Set([...modelsOf(runs), ...benchableModels(installed).map(({ name }) => name)]),
];

/** Before one is chosen: the one measured last, else the one in memory, else the first that can be measured. */
export function firstShown(
  names: readonly string[],
  runs: readonly Run[],
  installed: readonly ModelEntry[],
  loaded: ModelId | null,
): string | null {
  const inMemory = runs.length === 0 ? benchableModels(installed).find(({ id }) => id === loaded)?.name : undefined;
  return inMemory ?? names[0] ?? null;
}
