import { type Document, failureOf } from '../../app/protocol/index.ts';
import { core, placeFile } from '../bridge.ts';
import { openChat } from '../commands/commands.ts';
import { t } from '../i18n.ts';
import { focusComposer } from '../lib/focus.ts';
import { actions, useChat } from '../stores/chat/store.ts';
import { useDocuments } from '../stores/documents/store.ts';
import type { ViewState } from '../viewer/types.ts';

/** Opens a new chat with the current page as a picture in its composer. */
export async function askAboutPage({ name, kind }: Document, { page, picture }: ViewState): Promise<void> {
  if (!picture) return;
  try {
    const blob = await picture();
    // For a picture the page is the file itself.
    const called = kind === 'image' ? name : t('documents.pagePicture', { name, page });
    const placed = await placeFile(new File([blob], called, { type: blob.type }));
    openChat(null);
    const chatId = await actions.ensureChat();
    const attachment = await core.call('attachments.add', { chatId, ...placed });
    actions.setAttachments([...(useChat.getState().attachments[chatId] ?? []), attachment], chatId);
    focusComposer();
  } catch (error) {
    useDocuments.setState({ refused: failureOf(error) });
  }
}
