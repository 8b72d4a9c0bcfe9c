import { expect, test } from 'vitest';
import { type ChatId, type Client, MAX_QUEUED, type MessageId } from '../../../app/protocol/index.ts';
import { next, startCore } from '../../support/core/core.ts';
import { circling, repetitive } from '../../support/models/circling.ts';

//  Messages that wait for the answer before them, by the real engine.

const long = 'Tell me a long story about a fox, a river and an old mill.';
const endless = { temperature: 5, minP: 0, topK: 0, topP: 1, seed: 14 };
const short = { temperature: 0, maxTokens: 4 };

/** A chat in which an answer is written that does not end by itself, and whose later answers are short. */
async function writing(client: Client) {
  const { id: chatId } = await client.call('chats.create', {});
  await client.call('chats.update', { chatId, sampling: endless });
  const { turnId } = await client.call('turns.send', { chatId, text: long });
  await next(client, 'turn', ({ event }) => event.type === 'delta');
  await client.call('chats.update', { chatId, sampling: short });
  if (!turnId) throw new Error('[test] the first message was not answered at once');
  const send = (text: string, now = false) => client.call('turns.send', { chatId, text, now });
  return { chatId, stop: () => client.call('turns.cancel', { turnId }), send };
}

/** The questions of the shown branch, from the first on. */
async function asked(client: Client, chatId: ChatId): Promise<string[]> {
  const { chat, messages } = await client.call('chats.get', { chatId });
  const byId = new Map(messages.map((message) => [message.id, message]));
  const path: string[] = [];
  for (let at = byId.get(chat.leafId ?? ('' as never)); at; at = byId.get(at.parentId ?? ('' as never))) {
    if (at.role === 'user') path.unshift(at.text);
  }
  return path;
}

const answered = (client: Client, messageId: string) =>
  next(client, 'message.changed', ({ role, parentId, state }) => {
    return role === 'assistant' && parentId === messageId && state.status === 'done';
  });

test('five messages wait and are answered in order, in the places they were given', async () => {
  const { client } = await startCore();
  const { chatId, stop, send } = await writing(client);
  const [a, b] = [await send('a'), await send('b')];
  for (const text of ['c', 'd']) await send(text);
  const e = await send('e');
  const move = (messageId: MessageId, ...steps: (-1 | 1)[]) =>
    Promise.all(steps.map((by) => client.call('turns.moveQueued', { messageId, by })));
  await move(e.messageId, -1, -1, -1, -1, -1);
  await move(a.messageId, 1);
  await move(b.messageId, 1, 1, 1, 1);
  const last = answered(client, b.messageId);
  await stop();
  await last;
  expect(await asked(client, chatId)).toEqual([long, 'e', 'a', 'c', 'd', 'b']);
});

test('the sixth is refused with a way out and stored nowhere; one that is sent at once is taken', async () => {
  const { client } = await startCore();
  const { chatId, send } = await writing(client);
  for (let at = 0; at < MAX_QUEUED; at++) await send(`${at}`);
  const refused = send('one too many');
  await expect(refused).rejects.toMatchObject({ code: 'conflict', details: { reason: 'queue-full' } });
  const { messages } = await client.call('chats.get', { chatId });
  expect(messages.some(({ text }) => text === 'one too many')).toBe(false);
  const urgent = await send('at once', true);
  await answered(client, urgent.messageId);
  expect((await asked(client, chatId)).slice(0, 2)).toEqual([long, 'at once']);
});

test('after a restart nothing goes by itself; the one that is sent takes the others with it', async () => {
  const { client, host, dataFolder } = await startCore();
  const { chatId, send } = await writing(client);
  const [first, second] = [await send('first'), await send('second')];
  await host.close();

  const again = await startCore({ dataFolder });
  expect(await asked(again.client, chatId)).toEqual([long]);
  const last = answered(again.client, first.messageId);
  await again.client.call('turns.sendQueued', { messageId: second.messageId });
  const twice = again.client.call('turns.sendQueued', { messageId: second.messageId });
  await expect(twice).rejects.toMatchObject({ code: 'conflict' });
  await last;
  expect(await asked(again.client, chatId)).toEqual([long, 'second', 'first']);
});

test('what is said to an answer that waits for a decision goes before what waits behind it', async () => {
  const { client } = await startCore();
  const { loopGuard } = await client.call('settings.get');
  await client.call('settings.set', { loopGuard: { ...loopGuard, waitSeconds: 0 } });
  const { id: chatId } = await client.call('chats.create', {});
  await client.call('chats.update', { chatId, thinking: true, sampling: { ...circling, maxTokens: 500 } });
  const paused = next(client, 'turn', ({ event }) => event.type === 'paused');
  await client.call('turns.send', { chatId, text: repetitive });
  const later = await client.call('turns.send', { chatId, text: 'later' });
  await paused;
  await client.call('chats.update', { chatId, thinking: false, sampling: short });
  const last = answered(client, later.messageId);
  await client.call('turns.send', { chatId, text: 'Leave that.' });
  await last;
  expect(await asked(client, chatId)).toEqual([repetitive, 'Leave that.', 'later']);
});

test('a question is edited while it is answered: what waits stays behind the new answer', async () => {
  const { client } = await startCore();
  const { id: chatId } = await client.call('chats.create', {});
  await client.call('chats.update', { chatId, sampling: short });
  const first = await client.call('turns.send', { chatId, text: long });
  const later = await client.call('turns.send', { chatId, text: 'later' });
  const edited = client.call('turns.editAndResend', { messageId: first.userMessageId as never, text: 'Hello' });
  const last = answered(client, later.messageId);
  await edited;
  await last;
  expect(await asked(client, chatId)).toEqual(['Hello', 'later']);
  const { messages } = await client.call('chats.get', { chatId });
  const old = messages.find(({ parentId, role }) => role === 'assistant' && parentId === first.userMessageId);
  expect(old?.state).toEqual({ status: 'done', reason: 'cancelled' });
});
