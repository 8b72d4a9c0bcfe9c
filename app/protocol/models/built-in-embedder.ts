import type { ModelId } from '../ids.ts';

/** The encoder that ships with the app (resources/encoder): any collection can be searched by meaning with it. It is no row of the
 *  list of models, for it cannot be removed, moved or asked anything in a chat. */
export const builtInEmbedder = { id: 'encoder' as ModelId, name: 'all-MiniLM-L6-v2' } as const;
