import type { ChatId, MessageId } from '../../../app/protocol/index.ts';
import { core } from '../../bridge.ts';
import { keysHint } from '../../commands/command-keys.ts';
import { t } from '../../i18n.ts';
import { COMPOSER, focusComposer } from '../../lib/focus.ts';
import { actions, useChat } from '../../stores/chat/store.ts';
import { useSettings } from '../../stores/settings.ts';
import { useToasts } from '../../ui/toast.tsx';
import type { Full, OtherModel } from './overflow-options.ts';

//  Actions of the choices in a full context.

/** Continues what was held up in a chat: sends its message, or continues its answer. */
export async function goOn(chatId: ChatId, resumes: MessageId | null): Promise<void> {
  actions.closeOverlay('overflow');
  await (resumes ? actions.resume(resumes) : actions.send(false, chatId));
  focusComposer();
}

export async function makeLarger(contextLength: number): Promise<void> {
  await useSettings.getState().set({ contextLength });
}

/** Continues the chat with another model, in a context that holds everything. */
export async function takeOtherModel(chatId: ChatId, { model, size }: OtherModel): Promise<void> {
  await actions.update({ modelId: model.id }, chatId);
  const { contextLength } = useSettings.getState().values;
  const present = model.settings.contextLength ?? contextLength ?? 0;
  if (present >= size) return;
  if (model.settings.contextLength === null) await makeLarger(size);
  else await core.call('models.configure', { modelId: model.id, settings: { ...model.settings, contextLength: size } });
}

/** Returns to the field with the excess text selected. */
export function shorten(chatId: ChatId, full: Full): void {
  actions.closeOverlay('overflow');
  focusComposer();
  const text = useChat.getState().drafts[chatId] ?? '';
  const room = Math.max(0, full.limit * 0.9 - full.used) / Math.max(1, full.draft);
  requestAnimationFrame(() => {
    const field = document.getElementById(COMPOSER);
    if (field instanceof HTMLTextAreaElement) field.setSelectionRange(Math.floor(text.length * room), text.length);
  });
}

/** Excludes everything up to a message from the context, and offers undo. */
export async function excludeFromContext(messageId: MessageId, summary: string | null): Promise<void> {
  await core.call('context.exclude', { messageId, summary });
  useToasts.getState().show({
    text: summary === null ? t('contextCutoff.done') : t('contextCutoff.summed'),
    action: t('undo'),
    ...keysHint('undo'),
    onAction: () => void includeInContext(messageId),
  });
}

export async function includeInContext(messageId: MessageId): Promise<void> {
  await core.call('context.include', { messageId });
}

/** Moves the draft of a chat, with its files, to a new one. */
export async function takeToNewChat(chatId: ChatId): Promise<void> {
  const { drafts, attachments } = useChat.getState();
  const text = drafts[chatId] ?? '';
  const files = attachments[chatId] ?? [];
  await actions.beginWith(text, files);
  await actions.replaceDraft(chatId, '');
  focusComposer();
}
