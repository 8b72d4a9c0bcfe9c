import { expect, test } from 'vitest';
import { isEnd, listen, next, readMessage, realEngine, startCore } from '../../support/core/core.ts';
import { killableEngine } from '../../support/core/kills.ts';

//  Questions that come before the engine is there.

/** An engine process that is started only when the test says so. */
function heldBack() {
  let letGo = () => {};
  const held = new Promise<void>((resolve) => {
    letGo = resolve;
  });
  const start = realEngine();
  return {
    letGo,
    startEngine: async () => {
      await held;
      return start();
    },
  };
}

test('a question waits for the engine and is answered then', async () => {
  const { letGo, startEngine } = heldBack();
  const { client } = await startCore({ startEngine });
  const heard = listen(client);
  const chat = await client.call('chats.create', {});
  const sent = await client.call('turns.send', { chatId: chat.id, text: 'Hello!' });
  expect(heard.events).toEqual([]);
  letGo();
  expect(await heard.end(sent.turnId)).toMatchObject({ type: 'finished', reason: 'stop' });
});

test('one that is stopped while it waits ends, and nothing comes after it', async () => {
  const { letGo, startEngine } = heldBack();
  const { client } = await startCore({ startEngine });
  const heard = listen(client);
  const chat = await client.call('chats.create', {});
  const sent = await client.call('turns.send', { chatId: chat.id, text: 'Hello!' });
  await client.call('turns.cancel', { turnId: sent.turnId as never });
  expect(await heard.end(sent.turnId)).toMatchObject({ type: 'finished', reason: 'cancelled' });
  letGo();
  await next(client, 'engine.status', (status) => status.phase === 'ready');
  expect((await readMessage(client, chat.id, sent.messageId)).text).toBe('');
  expect(heard.of(sent.turnId).filter(isEnd)).toHaveLength(1);
});

test('a question while the engine is being restarted waits as well', async () => {
  const engine = killableEngine();
  const { client } = await startCore({ startEngine: engine.startEngine });
  const heard = listen(client);
  await next(client, 'engine.status', (status) => status.phase === 'ready');
  const restarting = next(client, 'engine.status', (status) => status.phase === 'restarting');
  engine.kill();
  await restarting;
  const chat = await client.call('chats.create', {});
  const sent = await client.call('turns.send', { chatId: chat.id, text: 'Hello!' });
  expect(await heard.end(sent.turnId)).toMatchObject({ type: 'finished', reason: 'stop' });
  expect(engine.starts()).toBe(2);
});

test('an engine that cannot be started at all: the question fails with the reason, and the chat stays', async () => {
  const { client } = await startCore({
    startEngine: async () => {
      throw new Error('no such file');
    },
  });
  const heard = listen(client);
  const chat = await client.call('chats.create', {});
  const sent = await client.call('turns.send', { chatId: chat.id, text: 'Hello!' });
  expect(await heard.end(sent.turnId)).toMatchObject({ type: 'failed', failure: { code: 'engine-lost' } });
  expect(await client.call('engine.status')).toMatchObject({ phase: 'stopped', failure: { message: 'no such file' } });
});
