import type { ChatId } from '../../protocol/index.ts';

/** Stores the messages of a chat in the order they were sent, however long it takes to check whether each one fits. */
export function createSendOrder() {
  const last = new Map<ChatId, Promise<unknown>>();
  return <T>(chatId: ChatId, send: () => Promise<T>): Promise<T> => {
    const before = last.get(chatId) ?? Promise.resolve();
    const mine = before.then(send, send);
    const done = mine.finally(() => last.get(chatId) === done && last.delete(chatId));
    done.catch(() => {}); // the sender gets the error
    last.set(chatId, done);
    return mine;
  };
}
