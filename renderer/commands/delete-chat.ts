import type { Chat } from '../../app/protocol/index.ts';
import { t } from '../i18n.ts';
import { useChat } from '../stores/chat/store.ts';
import { useToasts } from '../ui/toast.tsx';
import { keysHint } from './command-keys.ts';

/** Deletes at once and offers undo. */
export async function deleteChat(chat: Chat): Promise<void> {
  const { remove, restore, choose, chosen } = useChat.getState();
  const wasOpen = chosen === chat.id;
  await remove(chat.id);
  useToasts.getState().show({
    text: t('chat.deleted'),
    action: t('undo'),
    ...keysHint('undo'),
    onAction: () => void restore(chat.id).then(() => (wasOpen ? choose(chat.id) : undefined)),
  });
}
