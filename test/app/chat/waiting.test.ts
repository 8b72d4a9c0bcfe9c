import { expect, test } from 'vitest';
import type { Client, EventPayload, SamplingSettings, TurnId } from '../../../app/protocol/index.ts';
import { listen, next, readMessage, startCore } from '../../support/core/core.ts';
import { circling, repetitive } from '../../support/models/circling.ts';

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

/** Goes on until it is stopped. */
const endless = { temperature: 5, minP: 0, topK: 0, topP: 1, seed: 14 };

test('two chats are written at the same time, each as if it were alone, and the engine says so', async () => {
  const { client } = await startCore();
  const heard = listen(client);
  const sampling = { maxTokens: 24, temperature: 0 };
  const ask = async (settings: Partial<SamplingSettings>, text: string) => {
    const { id } = await client.call('chats.create', {});
    await client.call('chats.update', { chatId: id, thinking: false, sampling: settings });
    return { id, ...(await client.call('turns.send', { chatId: id, text })) };
  };
  const question = 'What is the capital of France?';
  const alone = await ask(sampling, question);
  await heard.end(alone.turnId);

  const first = await ask(endless, 'Tell me a long story.');
  await next(client, 'turn', ({ turnId, event }) => turnId === first.turnId && event.type === 'delta');
  const both = next(client, 'engine.status', (status) => status.phase === 'busy' && status.writing.length === 2);
  const second = await ask(sampling, question);
  expect((await both) as unknown).toMatchObject({
    writing: [
      { turnId: first.turnId, chatId: first.id },
      { turnId: second.turnId, chatId: second.id },
    ],
  });
  expect(await heard.end(second.turnId)).toMatchObject({ type: 'finished' });
  await next(client, 'turn', ({ turnId, event }) => turnId === first.turnId && event.type === 'delta');
  await client.call('turns.cancel', { turnId: first.turnId as TurnId });
  expect(await heard.end(first.turnId)).toMatchObject({ reason: 'cancelled' });
  const [quiet, busy] = await Promise.all([alone, second].map((one) => readMessage(client, one.id, one.messageId)));
  expect(busy?.text).toBe(quiet?.text);
  expect(busy?.text).not.toBe('');
});
