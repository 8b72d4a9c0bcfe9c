import type { CountedBy } from '../../engine/ipc-protocol.ts';
import { type Chat, type Grounding, LonghandError } from '../../protocol/index.ts';
import type { Database } from '../../store/database/database.ts';
import { listCollections } from '../../store/documents/collections.ts';

//  Documents stay on this computer: a remote engine receives passages only in a chat that allows it, and only the engine that
//  the chat names.

/** Tools whose results are passages. */
const READ_DOCUMENTS = ['search_documents', 'read_document'];

/** The tools whose results are withheld from the chat's model. */
export const withheldFrom = (
  { passagesTo }: Pick<Chat, 'passagesTo'>,
  remote: CountedBy['remote'],
): readonly string[] => (remote && passagesTo !== remote.engineId ? READ_DOCUMENTS : []);

/** @throws LonghandError `permission` if the chat's documents would have to be sent */
export function needPassages(
  db: Database,
  chat: Chat,
  remote: CountedBy['remote'],
  grounding: Grounding | null | undefined,
): void {
  if (withheldFrom(chat, remote).length === 0 || grounding === null) return;
  // The manual is not a document of the user.
  const manual = listCollections(db).flatMap(({ id, builtIn }) => (builtIn ? [id] : []));
  const own = grounding
    ? grounding.sources.some(({ collectionId }) => !manual.includes(collectionId))
    : chat.collectionIds.some((id) => !manual.includes(id));
  if (!own) return;
  throw new LonghandError('permission', '[turns] passages of documents are not sent to a remote engine by themselves', {
    details: { reason: 'passages-stay', engineId: remote?.engineId },
  });
}
