import type { ModelEntry } from './engine.ts';

type Known = Pick<ModelEntry, 'id' | 'builtIn' | 'missing' | 'lastUsedAt' | 'description'>;

/** Whether a model writes text: encoders and rankers only read it. What nobody has inspected yet is given the benefit. */
export const canChat = ({ description }: Pick<ModelEntry, 'description'>): boolean =>
  description === null || (description.supported && !description.encoder && !description.ranker);

/** The model of a new chat: the one that was chosen for them, else the last one used, else the built-in one. What cannot be used
 *  now (its drive is away, its files are gone) is passed over. */
export function modelForNewChats<Model extends Known>(models: readonly Model[], wanted: string | null): Model | null {
  const able = models.filter((model) => !model.missing && canChat(model));
  const lastUsed = able
    .filter(({ lastUsedAt }) => lastUsedAt !== null)
    .reduce<Model | null>((last, model) => ((model.lastUsedAt ?? 0) > (last?.lastUsedAt ?? 0) ? model : last), null);
  return able.find(({ id }) => id === wanted) ?? lastUsed ?? models.find(({ builtIn }) => builtIn) ?? null;
}
