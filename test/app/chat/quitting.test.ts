import { expect, onTestFinished, test, vi } from 'vitest';
import { engineByFork } from '../../../app/engine/client/fork-engine.ts';
import type { Client, EventPayload, Message } from '../../../app/protocol/index.ts';
import { isEnd, newFolder, next, places, readMessage, root, startCore } from '../../support/core/core.ts';
import { source, startHost } from '../../support/core/kills.ts';
import { circling, repetitive } from '../../support/models/circling.ts';

//  Longhand ends, by itself or killed, in every state that a turn can be in: the next start has what was there, and it can
//  be gone on with. Streaming answers that are killed: kills.test.ts.

/** Each starts the app twice. */
vi.setConfig({ testTimeout: 120_000 });

const long = 'Tell me a long story about a fox, a river and an old mill.';
/** So hot, and with this seed, the story has more than 6,000 tokens. */
const endless = { temperature: 5, minP: 0, topK: 0, topP: 1, seed: 14, maxTokens: 6000 };

const endings = ['quit', 'kill'] as const;
/** What is said of an answer that was being written. */
const left = {
  quit: { status: 'done', reason: 'cancelled' },
  kill: { status: 'failed', failure: { code: 'engine-lost' } },
} as const;

async function ask(client: Client, patch: object, text = long) {
  const chat = await client.call('chats.create', {});
  await client.call('chats.update', { chatId: chat.id, ...patch });
  return { chatId: chat.id, ...(await client.call('turns.send', { chatId: chat.id, text })) };
}

const written = (client: Client, messageId: string) =>
  next(client, 'turn', (one) => one.messageId === messageId && one.event.type === 'delta');

/** Goes on with an answer for a few tokens, and reads it again. */
async function goneOn(client: Client, { chatId, id }: Pick<Message, 'chatId' | 'id'>): Promise<Message> {
  await client.call('chats.update', { chatId, sampling: { ...endless, maxTokens: 6 }, loopGuard: false });
  const over = next(client, 'turn', ({ messageId, event }) => messageId === id && isEnd(event));
  await client.call('turns.continue', { messageId: id });
  await over;
  return readMessage(client, chatId, id);
}

test('quitting while an answer streams: everything that was shown is there, stopped, and goes on', async () => {
  const folder = newFolder();
  const first = await startHost(folder, source);
  let shown = '';
  first.client.on('turn', ({ event }) => {
    if (event.type === 'delta') shown += event.text;
  });
  const sent = await ask(first.client, { sampling: endless });
  await written(first.client, sent.messageId);
  await first.quit();

  const { client } = await startHost(folder, source);
  const kept = await readMessage(client, sent.chatId, sent.messageId);
  expect(kept.state).toEqual(left.quit);
  expect(shown).not.toBe('');
  expect(kept.text.startsWith(shown)).toBe(true);
  expect((await goneOn(client, kept)).text.startsWith(kept.text)).toBe(true);
});

test.each(endings)('%s while the loop card waits: the text, the reason and the evidence stand', async (ending) => {
  const folder = newFolder();
  const first = await startHost(folder, source);
  const { loopGuard } = await first.client.call('settings.get');
  await first.client.call('settings.set', { loopGuard: { ...loopGuard, waitSeconds: 0 } });
  const paused = next(first.client, 'turn', ({ event }) => event.type === 'paused') as Promise<
    EventPayload<'turn'> & { event: { type: 'paused' } }
  >;
  const sent = await ask(first.client, { thinking: true, sampling: { ...circling, maxTokens: 500 } }, repetitive);
  const { event } = await paused;
  const before = await readMessage(first.client, sent.chatId, sent.messageId);
  expect(before.thinking).not.toBe('');
  await first[ending]();

  const { client } = await startHost(folder, source);
  const kept = await readMessage(client, sent.chatId, sent.messageId);
  expect(kept.state).toEqual({ status: 'done', reason: 'loop' });
  expect([kept.thinking, kept.text]).toEqual([before.thinking, before.text]);
  // Quitting is an answer to the card, a kill is none.
  expect(kept.loops).toEqual([{ ...event.evidence, ...(ending === 'quit' && { decided: 'stop' }) }]);
  const after = await goneOn(client, kept);
  expect(after.thinking.startsWith(before.thinking.trimEnd())).toBe(true);
  expect(`${after.thinking}${after.text}`.length).toBeGreaterThan(`${before.thinking}${before.text}`.length);
});

test.each(endings)('%s while one answer streams, another beside it and a message waits in its chat', async (ending) => {
  const folder = newFolder();
  const first = await startHost(folder, source);
  const writing = await ask(first.client, { sampling: endless });
  await written(first.client, writing.messageId);
  const beside = await ask(first.client, { sampling: endless }, 'And another one.');
  const waiting = await first.client.call('turns.send', { chatId: writing.chatId, text: 'Then the end.' });
  expect(waiting.turnId).toBeNull();
  await first[ending]();

  const { client } = await startHost(folder, source);
  const partial = await readMessage(client, writing.chatId, writing.messageId);
  expect(partial.state).toMatchObject(left[ending]);
  // It may have been written a few tokens or none: it began the moment before.
  const other = await readMessage(client, beside.chatId, beside.messageId);
  expect(other.state).toMatchObject(left[ending]);
  expect((await readMessage(client, beside.chatId, beside.userMessageId ?? '')).text).toBe('And another one.');
  const stillWaits = await readMessage(client, writing.chatId, waiting.messageId);
  expect([stillWaits.text, stillWaits.state.status]).toEqual(['Then the end.', 'queued']);

  const further = (await goneOn(client, other)).text;
  expect(further.startsWith(other.text) && further.length > other.text.length).toBe(true);
  // What waits follows the answer that is gone on with.
  const followed = next(
    client,
    'message.changed',
    (one) => one.role === 'assistant' && one.parentId === waiting.messageId && one.state.status === 'done',
  );
  await goneOn(client, partial);
  expect((await followed).text).not.toBe('');
});

test('quitting while the model is loaded for a question: the question is there, and is answered when it is gone on with', async () => {
  vi.stubEnv('LONGHAND_REAL_ADDON', places.addon);
  onTestFinished(() => void vi.unstubAllEnvs());
  const folder = newFolder();
  const quiet = await startCore({ dataFolder: folder });
  await quiet.client.call('settings.set', { loadOnStart: false });
  await quiet.host.close();
  const addon = `${root}/test/support/processes/slow-addon.cjs`;
  const slow = await startCore({ dataFolder: folder, startEngine: engineByFork(places.engine, { ...places, addon }) });
  const loading = next(slow.client, 'engine.status', (status) => status.phase === 'loading' && status.done > 0);
  const sent = await ask(slow.client, { sampling: endless }, 'Hello!');
  await loading;
  await slow.host.close();

  const { client } = await startCore({ dataFolder: folder });
  expect((await readMessage(client, sent.chatId, sent.userMessageId ?? '')).text).toBe('Hello!');
  const kept = await readMessage(client, sent.chatId, sent.messageId);
  expect([kept.text, kept.state]).toEqual(['', left.quit]);
  expect((await goneOn(client, kept)).text).not.toBe('');
});
