import { expect, test } from 'vitest';
import { next, startCore } from '../../../support/core/core.ts';
import { circling, repetitive } from '../../../support/models/circling.ts';

test('a loop says how much of what the answer might have taken is spared', async () => {
  const { client } = await startCore();
  const { loopGuard } = await client.call('settings.get', undefined);
  await client.call('settings.set', { loopGuard: { ...loopGuard, waitSeconds: 0 } });
  const { id: chatId } = await client.call('chats.create', {});
  const maxTokens = 500;
  await client.call('chats.update', { chatId, thinking: true, sampling: { ...circling, maxTokens } });
  const paused = next(client, 'turn', ({ event }) => event.type === 'paused');
  const { turnId } = await client.call('turns.send', { chatId, text: repetitive });
  const { event } = await paused;
  const evidence = event.type === 'paused' ? event.evidence : undefined;
  expect(evidence?.endToken).toBeLessThan(maxTokens / 2);
  expect(evidence?.savedTokens).toBe(maxTokens - 1 - (evidence?.endToken ?? 0));
  await client.call('turns.cancel', { turnId: turnId as never });
});
