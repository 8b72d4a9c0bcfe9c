import { expect, test } from 'vitest';
import type { Client, EventPayload, TurnId } from '../../../app/protocol/index.ts';
import { circling, repetitive } from '../../support/circling.ts';
import { listen, next, readMessage, startCore } from '../../support/core.ts';

//  A turn that waits for a person must hold up nobody else.

type Paused = EventPayload<'turn'> & { event: { type: 'paused' } };

async function askUntilPaused(client: Client, waitSeconds = 0) {
  const { loopGuard } = await client.call('settings.get');
  await client.call('settings.set', { loopGuard: { ...loopGuard, waitSeconds } });
  const chat = await client.call('chats.create', {});
  await client.call('chats.update', { chatId: chat.id, thinking: true, sampling: { ...circling, maxTokens: 500 } });
  const paused = next(client, 'turn', ({ event }) => event.type === 'paused') as Promise<Paused>;
  const sent = await client.call('turns.send', { chatId: chat.id, text: repetitive });
  const { event } = await paused;
  return { chatId: chat.id, ...sent, turnId: sent.turnId as NonNullable<typeof sent.turnId>, event };
}

test('meanwhile other chats are answered, and then the turn goes on where it was', async () => {
  const { client } = await startCore();
  const heard = listen(client);
  const turn = await askUntilPaused(client);
  const before = await readMessage(client, turn.chatId, turn.messageId);
  const other = await client.call('chats.create', {});
  const sent = await client.call('turns.send', { chatId: other.id, text: 'Hello!' });
  expect(await heard.end(sent.turnId)).toMatchObject({ type: 'finished', reason: 'stop' });
  const more = next(client, 'turn', ({ turnId, event }) => turnId === turn.turnId && event.type === 'stats');
  await client.call('turns.decide', { turnId: turn.turnId, choice: 'loop-guard-off' });
  await more;
  await client.call('turns.cancel', { turnId: turn.turnId });
  expect(await heard.end(turn.turnId)).toMatchObject({ reason: 'cancelled' });
  const after = await readMessage(client, turn.chatId, turn.messageId);
  expect(after.thinking.startsWith(before.thinking)).toBe(true);
  expect(after.thinking.length).toBeGreaterThan(before.thinking.length);
});

test('what is sent meanwhile says how to go on: the turn ends where it is, and the message is answered', {
  timeout: 120_000,
}, async () => {
  const { client } = await startCore();
  const heard = listen(client);
  const turn = await askUntilPaused(client);
  const before = await readMessage(client, turn.chatId, turn.messageId);
  await client.call('chats.update', { chatId: turn.chatId, thinking: false, sampling: { temperature: 0 } });
  const answered = next(client, 'turn', ({ turnId, event }) => turnId !== turn.turnId && event.type === 'finished');
  const sent = await client.call('turns.send', { chatId: turn.chatId, text: 'Leave that. Hello!' });
  expect(await heard.end(turn.turnId)).toMatchObject({ type: 'finished', reason: 'loop' });
  const { messageId } = await answered;
  const answer = await readMessage(client, turn.chatId, messageId);
  expect(answer.parentId).toBe(sent.userMessageId);
  expect(answer.text).not.toBe('');
  const after = await readMessage(client, turn.chatId, turn.messageId);
  expect(after.thinking.startsWith(before.thinking)).toBe(true);
  expect((await readMessage(client, turn.chatId, sent.userMessageId as string)).parentId).toBe(turn.messageId);
});

test('nobody comes: the suggested choice is taken after the time of the settings, unless somebody looks at the card', async () => {
  const { client } = await startCore();
  const turn = await askUntilPaused(client, 1);
  const decided = await next(client, 'turn', ({ turnId, event }) => turnId === turn.turnId && event.type === 'decided');
  expect(decided.event).toEqual({ type: 'decided', choice: turn.event.suggested });
  await client.call('turns.cancel', { turnId: turn.turnId });

  const held = await askUntilPaused(client, 1);
  await client.call('turns.cancelAutoDecision', { turnId: held.turnId });
  await new Promise((resolve) => setTimeout(resolve, 1500));
  expect((await readMessage(client, held.chatId, held.messageId)).state.status).toBe('paused');
  await client.call('turns.cancel', { turnId: held.turnId });
});

test('while one chat is answered the engine says which one: what the others wait for', async () => {
  const { client } = await startCore();
  const first = await client.call('chats.create', {});
  const second = await client.call('chats.create', {});
  const endless = { temperature: 5, minP: 0, topK: 0, topP: 1, seed: 14 };
  await client.call('chats.update', { chatId: first.id, sampling: endless });
  await client.call('chats.update', { chatId: second.id, sampling: { maxTokens: 4, temperature: 0 } });
  const writing = await client.call('turns.send', { chatId: first.id, text: 'Tell me a long story.' });
  await next(client, 'turn', ({ event }) => event.type === 'delta');
  const waiting = await client.call('turns.send', { chatId: second.id, text: 'Hello!' });
  const busy = { phase: 'busy', turnId: writing.turnId, chatId: first.id };
  expect(await client.call('engine.status')).toMatchObject(busy);
  const moved = next(client, 'engine.status', (status) => status.phase === 'busy' && status.chatId === second.id);
  await client.call('turns.cancel', { turnId: writing.turnId as TurnId });
  expect(await moved).toMatchObject({ turnId: waiting.turnId });
});
