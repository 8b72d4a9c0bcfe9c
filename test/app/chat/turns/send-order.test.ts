import { expect, test } from 'vitest';
import { createSendOrder } from '../../../../app/chat/turns/send-order.ts';
import type { ChatId } from '../../../../app/protocol/index.ts';

const [one, other] = ['one', 'other'] as ChatId[] as [ChatId, ChatId];

test('messages of a chat are stored as they were sent, also behind one that fails; other chats do not wait', async () => {
  const send = createSendOrder();
  const order: string[] = [];
  const gate = Promise.withResolvers<void>();
  const first = send(one, async () => {
    await gate.promise;
    order.push('first');
    throw new Error('does not fit');
  });
  const second = send(one, async () => order.push('second'));
  const third = send(one, async () => order.push('third'));
  await send(other, async () => order.push('elsewhere'));
  expect(order).toEqual(['elsewhere']);
  gate.resolve();
  await expect(first).rejects.toThrow('does not fit');
  expect(await Promise.all([second, third])).toEqual([3, 4]);
  expect(order).toEqual(['elsewhere', 'first', 'second', 'third']);
});
