import type { ChatId, MessageId } from '../../app/protocol/index.ts';
import { core } from '../bridge.ts';
import { t } from '../i18n.ts';
import { useSettings } from '../settings/store.ts';
import { keysHint } from '../shell/command-keys.ts';
import { useToasts } from '../ui/toast.tsx';
import { focusComposer } from './focus.ts';
import { actions, useChat } from './store.ts';

//  What follows the choice in a full context.

/** What was held up in a chat goes on: its message is sent, or its answer is gone on with. */
export async function goOn(chatId: ChatId, resumes: MessageId | null): Promise<void> {
  actions.closeOverlay('overflow');
  await (resumes ? actions.resume(resumes) : actions.send(false, chatId));
  focusComposer();
}

export async function makeLarger(contextLength: number): Promise<void> {
  await useSettings.getState().set({ contextLength });
}

/** Keeps everything up to a message from the model, and offers the way back. */
export async function setAside(messageId: MessageId, summary: string | null): Promise<void> {
  await core.call('context.setAside', { messageId, summary });
  useToasts.getState().show({
    text: summary === null ? t('aside.done') : t('aside.summed'),
    action: t('undo'),
    ...keysHint('undo'),
    onAction: () => void bringBack(messageId),
  });
}

export async function bringBack(messageId: MessageId): Promise<void> {
  await core.call('context.bringBack', { messageId });
}

/** The message of a chat, with its files, waits in a new one. */
export async function takeToNewChat(chatId: ChatId): Promise<void> {
  const { drafts, attachments } = useChat.getState();
  const text = drafts[chatId] ?? '';
  const files = attachments[chatId] ?? [];
  await actions.beginWith(text, files);
  await actions.dropDraft(chatId);
  focusComposer();
}
