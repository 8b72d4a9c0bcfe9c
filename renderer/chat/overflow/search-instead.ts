import type { Attachment, ChatId, CollectionId } from '../../../app/protocol/index.ts';
import { LonghandError } from '../../../app/protocol/index.ts';
import { core, placeFile } from '../../bridge.ts';
import { t } from '../../i18n.ts';
import { actions, useChat } from '../../stores/chat/store.ts';
import { isReady, shareOfDocument } from '../../stores/documents/state.ts';
import { useDocuments } from '../../stores/documents/store.ts';
import { useShell } from '../../stores/shell.ts';
import { useToasts } from '../../ui/toast.tsx';

//  A text too long for the context becomes a document of the chat: the question is answered from passages found in it.

/** In characters. A shorter message is a question rather than a text to search. */
const LONG_TEXT = 4000;

/** Files count as texts, and so does a message as long as one. */
export const isSearchable = (draft: string, attachments: readonly Attachment[]): boolean =>
  attachments.length > 0 || draft.length > LONG_TEXT;

export type Searching = { onProgress: (share: number) => void; signal?: AbortSignal };
type Placed = { path: string; name: string };

/** Makes documents of the files in the composer of a chat, or of its long message, and lets the chat answer from them.
 *  Returns whether a question is left that can be sent.
 *  @throws LonghandError what a document failed with, or `cancelled`; then everything is as it was */
export async function searchInstead(chatId: ChatId, searching: Searching): Promise<boolean> {
  const { drafts, attachments } = useChat.getState();
  const files = attachments[chatId] ?? [];
  const draft = drafts[chatId] ?? '';
  const long = draft.length > LONG_TEXT;
  const texts = await Promise.all(files.map(({ id }) => core.call('attachments.text', { attachmentId: id })));
  if (long) texts.push({ name: t('attachment.pasted'), text: draft });
  const name = texts[0]?.name ?? t('attachment.pasted');
  const placed = await Promise.all(texts.map((one) => placeFile(new File([one.text], asTextFile(one.name)))));
  await answerFrom(chatId, name, placed, searching);
  for (const { id } of files) await core.call('attachments.remove', { attachmentId: id });
  await actions.replaceDraft(chatId, long ? '' : draft);
  return !long && draft.trim() !== '';
}

/** The attachment was read as text, whatever its extension. */
const asTextFile = (name: string): string => (/\.(txt|md)$/i.test(name) ? name : `${name}.txt`);

/** Makes a collection of these files and lets the chat answer from it once all are read. */
export async function answerFrom(chatId: ChatId, name: string, files: Placed[], searching: Searching): Promise<void> {
  const { id: collectionId } = await core.call('documents.createCollection', { name: name.slice(0, 200) });
  try {
    await core.call('documents.add', { collectionId, files });
    await whenRead(collectionId, searching);
    const { chat } = await core.call('chats.get', { chatId });
    await actions.update({ collectionIds: [...chat.collectionIds, collectionId] }, chatId);
  } catch (error) {
    await core.call('documents.deleteCollection', { collectionId }).catch(() => {}); // the first error says more
    throw error;
  } finally {
    await useDocuments.getState().load();
  }
  useToasts.getState().show({
    text: t('attachment.searched', { name }),
    action: t('attachment.showDocument'),
    onAction: () => {
      useShell.getState().go({ kind: 'documents' });
      useDocuments.getState().choose(collectionId);
    },
  });
}

const LOOK_MS = 250;

/** @throws LonghandError if it could not be read, or was cancelled */
async function whenRead(collectionId: CollectionId, { onProgress, signal }: Searching): Promise<void> {
  for (;;) {
    if (signal?.aborted) throw new LonghandError('cancelled', '[attachment] it is not searched');
    const documents = await core.call('documents.list', { collectionId });
    const failed = documents.find(({ state }) => state.status === 'failed');
    if (failed?.state.status === 'failed') {
      const { code, message, hint } = failed.state.failure;
      throw new LonghandError(code, message, hint ? { hint } : {});
    }
    const done = documents.reduce((sum, document) => sum + shareOfDocument(document), 0);
    onProgress(documents.length === 0 ? 0 : done / documents.length);
    if (documents.length > 0 && documents.every(isReady)) return;
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
  }
}
