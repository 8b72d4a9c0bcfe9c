import type { ModelId } from '../ids.ts';

/** The built-in encoder (resources/encoder): available for semantic search in every collection. It is not in the
 *  library, because it cannot be removed, moved or used in a chat. */
export const builtInEmbedder = { id: 'encoder' as ModelId, name: 'all-MiniLM-L6-v2' } as const;
