import type { ChatDeps } from '../chat/deps.ts';
import { newestLeaf } from '../chat/tree.ts';
import type { TurnManager } from '../chat/turns/turn-manager.ts';
import type { CallName, Chat, ChatId, Handlers } from '../protocol/index.ts';
import { createChat, deleteChat, getChat, listChats, restoreChat, updateChat } from '../store/chats/chats.ts';
import { getMessage, messagesOf } from '../store/chats/messages.ts';
import { searchChats } from '../store/chats/search.ts';

type ChatCall = Extract<CallName, `chats.${string}`>;

/** Handlers of the `chats.*` calls. `forget` drops the prompt of a chat from the cache. */
export function chatHandlers(
  { db, emit, now }: Pick<ChatDeps, 'db' | 'emit' | 'now'>,
  turns: Pick<TurnManager, 'overlay' | 'leave'>,
  forget: (chatId: ChatId) => void,
): Pick<Handlers, ChatCall> {
  const tell = (chat: Chat) => {
    emit('chat.changed', chat);
    return chat;
  };
  return {
    'chats.list': (page) => listChats(db, page),
    'chats.search': ({ query, limit }) => searchChats(db, query, limit),
    'chats.create': ({ modelId }) => tell(createChat(db, modelId, now())),
    'chats.get': ({ chatId }) => ({
      chat: getChat(db, chatId),
      messages: messagesOf(db, chatId).map(turns.overlay),
    }),
    'chats.update': ({ chatId, ...patch }) => {
      getChat(db, chatId);
      return tell(updateChat(db, chatId, { ...patch, titleSource: patch.title === undefined ? undefined : 'user' }));
    },
    'chats.delete': ({ chatId }) => {
      turns.leave(chatId);
      deleteChat(db, chatId, now());
      emit('chat.deleted', { chatId });
      forget(chatId);
    },
    'chats.restore': ({ chatId }) => tell(restoreChat(db, chatId)),
    'chats.selectBranch': ({ messageId }) => {
      const { chatId } = getMessage(db, messageId);
      return tell(updateChat(db, chatId, { leafId: newestLeaf(messagesOf(db, chatId), messageId) }));
    },
  };
}
