import { ASSISTANT, STARTER } from '../ids.ts';
import type { ModelEntry } from './engine.ts';

type Known = Pick<ModelEntry, 'id' | 'builtIn' | 'missing' | 'lastUsedAt' | 'description' | 'remote'>;

/** Whether a model generates text: encoders and rerankers do not. Models not yet inspected get the benefit of the doubt. */
export const canChat = ({ description }: Pick<ModelEntry, 'description'>): boolean =>
  description === null || (description.supported && !description.encoder && !description.reranker);

/** The built-in default model. */
export const builtInModel = <Model extends Pick<Known, 'id' | 'builtIn' | 'missing'>>(
  models: readonly Model[],
): Model | null => {
  const shipped = models.filter(({ builtIn, missing }) => builtIn && !missing);
  return shipped.find(({ id }) => id === ASSISTANT) ?? shipped[0] ?? null;
};

/** The model of a new chat: the one chosen in Settings, else the last one used, else the built-in one. Models that cannot be used
 *  now (drive not mounted, files gone) are skipped; so is the starter model if it was last used, since it is a
 *  demonstration, unless there is nothing else. A remote model has to be chosen explicitly: nothing is sent just because it was last
 *  used. */
export function modelForNewChats<Model extends Known>(models: readonly Model[], wanted: string | null): Model | null {
  const able = models.filter((model) => !model.missing && canChat(model));
  const lastUsed = able
    .filter(({ id, lastUsedAt, remote }) => lastUsedAt !== null && id !== STARTER && !remote)
    .reduce<Model | null>((last, model) => ((model.lastUsedAt ?? 0) > (last?.lastUsedAt ?? 0) ? model : last), null);
  return able.find(({ id }) => id === wanted) ?? lastUsed ?? builtInModel(models);
}
