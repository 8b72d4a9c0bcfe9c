import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { rootCertificates } from 'node:tls';
import { expect, onTestFinished, test } from 'vitest';
import type { Generation } from '../../../app/engine/ipc-protocol.ts';
import { connect, listen, newFolder, next } from '../../support/core/core.ts';
import { startScripted } from '../../support/core/scripted-core.ts';
import { scriptedEngine } from '../../support/core/scripted-engine.ts';

//  What is asked of the engine and of the settings, with a scripted engine behind the whole core.

const answer = 'The lantern stands in the harbour, and the ledger lies beside it. '.repeat(8);

async function start() {
  const asked: Generation[] = [];
  const { startEngine } = scriptedEngine((generation) => {
    asked.push(generation as Generation);
    return answer;
  });
  const dataFolder = newFolder();
  const host = await startScripted(dataFolder, startEngine);
  onTestFinished(() => host.close());
  const client = connect(host);
  return { client, asked, dataFolder, ...listen(client) };
}

test('two messages sent at once are kept in their order, however long the first takes to be counted', async () => {
  const { client, end } = await start();
  const { id: chatId } = await client.call('chats.create', {});
  await client.call('models.load', { modelId: 'starter' as never });
  await end((await client.call('turns.send', { chatId, text: 'Hello' })).turnId);
  // Too long to be let through without counting, and not too long to fit.
  const long = client.call('turns.send', { chatId, text: 'word '.repeat(900) });
  const short = client.call('turns.send', { chatId, text: 'And then?' });
  await Promise.all([long, short]);
  const { messages } = await client.call('chats.get', { chatId });
  const questions = messages.filter(({ role }) => role === 'user').map(({ text }) => text.slice(0, 9));
  expect(questions).toEqual(['Hello', 'word word', 'And then?']);
});

test('a refused message does not hold up the one behind it', async () => {
  const { client, end } = await start();
  const { id: chatId } = await client.call('chats.create', {});
  const refused = client.call('turns.send', { chatId, text: '   ' });
  const sent = client.call('turns.send', { chatId, text: 'Hello' });
  await expect(refused).rejects.toMatchObject({ code: 'bad-request' });
  expect(await end((await sent).turnId)).toMatchObject({ type: 'finished' });
});

test('a core for one command loads no model before it is asked to', async () => {
  const { client } = await start();
  const models = await next(client, 'models.changed');
  expect(models.find(({ builtIn }) => builtIn)?.description).not.toBeNull();
  expect(await client.call('engine.status')).toEqual({ phase: 'idle' });
});

test('a certificate file that is gone lets every other setting be changed, and that is told', async () => {
  const { client, dataFolder } = await start();
  const certificates = join(dataFolder, 'own.pem');
  writeFileSync(certificates, rootCertificates[0] ?? '');
  await client.call('settings.set', { extraCaCertificates: certificates });
  rmSync(certificates);
  const told = next(client, 'settings.changed', ({ systemPrompt }) => systemPrompt === 'Be brief.');
  expect(await client.call('settings.set', { systemPrompt: 'Be brief.' })).toMatchObject({ systemPrompt: 'Be brief.' });
  await told;
  await client.call('settings.set', { extraCaCertificates: null });
});

test('the instructions of a chat stand in the place of the general ones', async () => {
  const { client, asked, end } = await start();
  await client.call('settings.set', { systemPrompt: 'General.' });
  const { id: chatId } = await client.call('chats.create', {});
  await client.call('chats.update', { chatId, systemPrompt: 'Of this chat.' });
  await end((await client.call('turns.send', { chatId, text: 'Hello' })).turnId);
  expect(asked[0]?.prompt.messages[0]).toMatchObject({ role: 'system', text: 'Of this chat.' });
});

test('a summary that was stopped can be written again', async () => {
  const { client, end } = await start();
  const { id: chatId } = await client.call('chats.create', {});
  const sent = await client.call('turns.send', { chatId, text: 'Hello' });
  await end(sent.turnId);
  const { messageId } = sent;
  const begun = next(client, 'context.summary');
  const stopped = client.call('context.summarise', { messageId });
  const refused = expect(stopped).rejects.toMatchObject({ code: 'cancelled' });
  await begun;
  await client.call('context.stopSummary', { messageId });
  await refused;
  expect((await client.call('context.summarise', { messageId })).text).not.toBe('');
});

test('a summary is asked for in so few words that it has room to end', async () => {
  const { client, asked, end } = await start();
  const { id: chatId } = await client.call('chats.create', {});
  const sent = await client.call('turns.send', { chatId, text: 'Hello' });
  await end(sent.turnId);
  await client.call('context.summarise', { messageId: sent.messageId });
  const { prompt, sampling } = asked.at(-1) as Generation;
  const words = Number(/at most (\d+) words/.exec(prompt.messages.at(-1)?.text ?? '')?.[1]);
  expect(words).toBeGreaterThan(10);
  expect(words).toBeLessThan(sampling.maxTokens ?? 0);
});

test('another try while the answer is being written begins a new one and stops the old', async () => {
  const { client, end } = await start();
  const { id: chatId } = await client.call('chats.create', {});
  const writing = next(client, 'turn', ({ event }) => event.type === 'delta');
  const first = await client.call('turns.send', { chatId, text: 'Hello' });
  await writing;
  const second = await client.call('turns.regenerate', { messageId: first.messageId });
  expect(second.turnId).not.toBe(first.turnId);
  expect(await end(first.turnId)).toMatchObject({ type: 'finished', reason: 'cancelled' });
  expect(await end(second.turnId)).toMatchObject({ type: 'finished', reason: 'stop' });
});
