import type { ChatId } from '../../protocol/index.ts';

/** Messages of one chat are stored in the order they were sent in, however long it takes to find out whether each has room. */
export function createSendOrder() {
  const last = new Map<ChatId, Promise<unknown>>();
  return <T>(chatId: ChatId, send: () => Promise<T>): Promise<T> => {
    const before = last.get(chatId) ?? Promise.resolve();
    const mine = before.then(send, send);
    const done = mine.finally(() => last.get(chatId) === done && last.delete(chatId));
    done.catch(() => {}); // whoever sent it is told
    last.set(chatId, done);
    return mine;
  };
}
