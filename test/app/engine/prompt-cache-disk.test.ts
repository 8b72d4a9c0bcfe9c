import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { ChatId, Client, ModelId } from '../../../app/protocol/index.ts';
import { asking, newFolder, startCore } from '../../support/core/core.ts';
import { until } from '../../support/until.ts';

//  What was read of a chat is on disk for the next start, and goes with the chat.

const story = Array.from({ length: 12 }, (_, i) => `A fox walks ${i} miles and rests.`).join(' ');

async function start(dataFolder: string) {
  const { client, host } = await startCore({ dataFolder });
  const ask = asking(client);
  return { client, host, ask };
}

async function chatOf(client: Client): Promise<ChatId> {
  const chat = await client.call('chats.create', { modelId: 'starter' as ModelId });
  await client.call('chats.update', { chatId: chat.id, sampling: { maxTokens: 6, temperature: 0 } });
  return chat.id;
}

const filesOf = (dataFolder: string, chatId: string): string[] => {
  const folder = join(dataFolder, 'prompts');
  if (!existsSync(folder)) return [];
  return readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) => name.includes(`${chatId}/`));
};
const isWhole = (dataFolder: string, chatId: string) =>
  filesOf(dataFolder, chatId).some((name) => name.endsWith('.rows')) &&
  !filesOf(dataFolder, chatId).some((name) => name.endsWith('.part'));

test('after a restart a chat goes on from disk, and its files go with it', { timeout: 60_000 }, async () => {
  const dataFolder = newFolder();
  const first = await start(dataFolder);
  await first.client.call('settings.set', { autoTitle: false });
  const off = await chatOf(first.client);
  await first.ask(off, story);
  expect(filesOf(dataFolder, off), 'it is off').toEqual([]);
  await first.client.call('settings.set', { promptCacheOnDisk: true });
  const [one, other] = [await chatOf(first.client), await chatOf(first.client)];
  const { promptTokens } = await first.ask(one, `${story} One.`);
  await first.ask(other, `${story} Two.`);
  await until(async () => isWhole(dataFolder, one) && isWhole(dataFolder, other), Boolean);
  expect((await first.client.call('engine.promptCache'))?.diskBytes).toBeGreaterThan(0);
  await first.host.close();

  const again = await start(dataFolder);
  const back = await again.ask(one, 'And then?');
  expect(back.cachedTokens).toBeGreaterThan(promptTokens - 16);
  await again.client.call('chats.delete', { chatId: one });
  await until(async () => filesOf(dataFolder, one).length === 0, Boolean);
  expect(filesOf(dataFolder, other).length).toBeGreaterThan(0);
  await again.client.call('settings.set', { promptCacheOnDisk: false });
  await until(async () => filesOf(dataFolder, other).length === 0, Boolean);
  expect((await again.client.call('engine.promptCache'))?.diskBytes).toBe(0);
});

test('what is of no chat any more is deleted at the next start', async () => {
  const dataFolder = newFolder();
  const left = join(dataFolder, 'prompts', '0'.repeat(16), '1'.repeat(16), 'a-chat-that-is-gone');
  mkdirSync(left, { recursive: true });
  writeFileSync(join(left, `${'2'.repeat(32)}.rows`), 'what was read');
  await startCore({ dataFolder });
  await until(async () => !existsSync(left), Boolean);
});
