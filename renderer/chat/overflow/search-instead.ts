import type { Attachment, ChatId, CollectionId } from '../../../app/protocol/index.ts';
import { LonghandError } from '../../../app/protocol/index.ts';
import { core, placeFile } from '../../bridge.ts';
import { useDocuments } from '../../documents/store.ts';
import { t } from '../../i18n.ts';
import { actions, useChat } from '../store/store.ts';

//  A text that is too long for the context becomes a document of the chat: the question is answered from the passages that
//  are found in it.

/** Characters. A shorter message is a question, and no text to look something up in. */
const LONG_TEXT = 4000;

/** Files count as texts, and so does a message as long as one. */
export const isSearchable = (draft: string, attachments: readonly Attachment[]): boolean =>
  attachments.length > 0 || draft.length > LONG_TEXT;

/** Makes documents of the files in the composer of a chat, or of its long message, and lets the chat answer from them.
 *  Returns whether a question is left that can be sent. */
export async function searchInstead(chatId: ChatId, onProgress: (share: number) => void): Promise<boolean> {
  const { drafts, attachments } = useChat.getState();
  const files = attachments[chatId] ?? [];
  const draft = drafts[chatId] ?? '';
  const long = draft.length > LONG_TEXT;
  const texts = await Promise.all(files.map(({ id }) => core.call('attachments.text', { attachmentId: id })));
  if (long) texts.push({ name: t('attachment.pasted'), text: draft });
  const placed = await Promise.all(texts.map(({ name, text }) => placeFile(new File([text], asTextFile(name)))));
  const name = texts[0]?.name ?? t('attachment.pasted');
  const { id: collectionId } = await core.call('documents.createCollection', { name: name.slice(0, 200) });
  await core.call('documents.add', { collectionId, files: placed });
  await whenRead(collectionId, onProgress);
  const { chat } = await core.call('chats.get', { chatId });
  await actions.update({ collectionIds: [...chat.collectionIds, collectionId] }, chatId);
  for (const { id } of files) await core.call('attachments.remove', { attachmentId: id });
  await actions.replaceDraft(chatId, long ? '' : draft);
  await useDocuments.getState().load();
  return !long && draft.trim() !== '';
}

/** What was attached was read as a text, whatever its name says. */
const asTextFile = (name: string): string => (/\.(txt|md)$/i.test(name) ? name : `${name}.txt`);

const LOOK_MS = 250;

/** @throws LonghandError when it could not be read */
async function whenRead(collectionId: CollectionId, onProgress: (share: number) => void): Promise<void> {
  for (;;) {
    const documents = await core.call('documents.list', { collectionId });
    const failed = documents.find(({ state }) => state.status === 'failed');
    if (failed?.state.status === 'failed') {
      const { code, message, hint } = failed.state.failure;
      throw new LonghandError(code, message, hint ? { hint } : {});
    }
    const done = documents.filter(({ state }) => state.status === 'ready').length;
    onProgress(documents.length === 0 ? 0 : done / documents.length);
    if (documents.length > 0 && done === documents.length) return;
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
  }
}
