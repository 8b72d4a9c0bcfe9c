import { ASSISTANT, type ModelEntry } from '../../../app/protocol/index.ts';

/** Suggestions of a new chat, by the ability of its model. */
export type Ability = 'assistant' | 'tiny' | 'small' | 'large';

const SMALL_PARAMETERS = 200e6;
const LARGE_PARAMETERS = 3e9;

/** Suggestions that a model would fail at are worse than none: an unknown model counts as small. */
export function abilityOf(model: ModelEntry | null): Ability {
  if (model?.id === ASSISTANT) return 'assistant';
  const parameters = model?.description?.parameters;
  if (model?.builtIn && (parameters === undefined || parameters < SMALL_PARAMETERS)) return 'tiny';
  if (parameters === undefined) return 'small';
  if (parameters < SMALL_PARAMETERS) return 'tiny';
  return parameters < LARGE_PARAMETERS ? 'small' : 'large';
}

export const SUGGESTIONS = ['first', 'second', 'third'] as const;
