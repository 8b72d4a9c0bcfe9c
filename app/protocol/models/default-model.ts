import { ASSISTANT, STARTER } from '../ids.ts';
import type { ModelEntry } from './engine.ts';

type Known = Pick<ModelEntry, 'id' | 'builtIn' | 'missing' | 'lastUsedAt' | 'description' | 'elsewhere'>;

/** Whether a model writes text: encoders and rankers only read it. What nobody has inspected yet is given the benefit. */
export const canChat = ({ description }: Pick<ModelEntry, 'description'>): boolean =>
  description === null || (description.supported && !description.encoder && !description.reranker);

/** The built-in model to begin with. */
export const builtInModel = <Model extends Pick<Known, 'id' | 'builtIn' | 'missing'>>(
  models: readonly Model[],
): Model | null => {
  const shipped = models.filter(({ builtIn, missing }) => builtIn && !missing);
  return shipped.find(({ id }) => id === ASSISTANT) ?? shipped[0] ?? null;
};

/** The model of a new chat: the one that was chosen for them, else the last one used, else the built-in one. What cannot be used
 *  now (its drive is away, its files are gone) is passed over; so is the starter where it was the last one used, since it is
 *  there to be looked at, unless nothing else is. One that runs elsewhere has to be chosen: nothing is sent because it was last
 *  time. */
export function modelForNewChats<Model extends Known>(models: readonly Model[], wanted: string | null): Model | null {
  const able = models.filter((model) => !model.missing && canChat(model));
  const lastUsed = able
    .filter(({ id, lastUsedAt, elsewhere }) => lastUsedAt !== null && id !== STARTER && !elsewhere)
    .reduce<Model | null>((last, model) => ((model.lastUsedAt ?? 0) > (last?.lastUsedAt ?? 0) ? model : last), null);
  return able.find(({ id }) => id === wanted) ?? lastUsed ?? builtInModel(models);
}
