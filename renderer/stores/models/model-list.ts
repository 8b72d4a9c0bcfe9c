import type { ModelDescription, ModelEntry } from '../../../app/protocol/index.ts';
import { matchOf } from '../../lib/word-match.ts';

/** The built-in model first, then by last use; filtered by the typed words. */
export function matchingModels(models: readonly ModelEntry[], query: string): ModelEntry[] {
  return models
    .filter((model) => matchOf(model.name, query) !== null)
    .sort(
      (a, b) =>
        Number(b.builtIn) - Number(a.builtIn) ||
        (b.lastUsedAt ?? 0) - (a.lastUsedAt ?? 0) ||
        a.name.localeCompare(b.name),
    );
}

/** The type of most weights, short enough to fit beside a name: "Q4", "BF16". */
export function mainType(description: ModelDescription): string | null {
  const [main] = Object.entries(description.types).sort((a, b) => b[1] - a[1]);
  return main ? main[0].toUpperCase().replace(/^(Q\d).*$/, '$1') : null;
}
