import {
  copyFileSync,
  cpSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { Client, ModelEntry } from '../../../app/protocol/index.ts';
import { golden } from '../../support/addon.ts';
import { listen, newFolder, startCore } from '../../support/core/core.ts';
import { starter } from '../../support/models/models.ts';

//  Files of a model that change under a running app: another program replaces, cuts or deletes them.

async function loaded() {
  const folder = join(newFolder(), 'mine');
  cpSync(starter, folder, { recursive: true });
  const core = await startCore();
  const model = await core.client.call('models.import', { path: folder });
  await core.client.call('models.load', { modelId: model.id });
  return { ...core, folder, model };
}

/** How a question ends: `finished`, or the code of its failure. */
async function answerOf(client: Client, model: ModelEntry): Promise<string> {
  const { end } = listen(client);
  const chat = await client.call('chats.create', { modelId: model.id });
  await client.call('chats.update', { chatId: chat.id, sampling: { maxTokens: 8, temperature: 0 } });
  const { turnId } = await client.call('turns.send', { chatId: chat.id, text: 'Hello!' });
  const last = await end(turnId);
  return last.type === 'failed' ? last.failure.code : last.type;
}

test('a model in memory goes on when its files are replaced as programs replace them, and the new ones are loaded next', async () => {
  const { client, folder, model } = await loaded();
  const weights = join(folder, 'model.safetensors');
  copyFileSync(weights, `${weights}.new`);
  renameSync(`${weights}.new`, weights);
  expect(await answerOf(client, model)).toBe('finished');
  await client.call('models.unload');
  writeFileSync(`${weights}.new`, 'no safetensors at all');
  renameSync(`${weights}.new`, weights);
  expect(await answerOf(client, model)).toMatch(/^model-/);
  expect((await client.call('models.list')).find(({ id }) => id === model.id)).toMatchObject({ missing: false });
  copyFileSync(join(starter, 'model.safetensors'), weights);
  expect(await answerOf(client, model)).toBe('finished');
}, 60_000);

test('a file that is cut to nothing while it is in memory costs at most the engine process, and the app goes on', async () => {
  const { client, folder, model } = await loaded();
  truncateSync(join(folder, 'model.safetensors'), 0);
  // Weights that were packed are answered from memory; pages that were not are lost with the engine, which says so.
  expect(['finished', 'engine-lost', 'model-broken']).toContain(await answerOf(client, model));
  const list = await client.call('models.list');
  expect(list.map(({ id }) => id)).toContain('starter');
  const builtIn = list.find(({ builtIn: ours }) => ours) as ModelEntry;
  expect(await answerOf(client, builtIn)).toBe('finished');
}, 60_000);

test('a linked file that its owner deletes is told as missing, its chat stays readable, and it comes back with the file', async () => {
  const owner = newFolder();
  mkdirSync(join(owner, 'store'));
  const [name = ''] = readdirSync(join(golden, 'gguf_models/qwen35')).filter((file) => file.endsWith('mixed.gguf'));
  const bytes = readFileSync(join(golden, 'gguf_models/qwen35', name));
  const file = join(owner, 'store', 'blob');
  writeFileSync(file, bytes);
  const link = join(owner, 'model.gguf');
  symlinkSync(file, link);
  const { client } = await startCore();
  const model = await client.call('models.import', { path: link });
  const chat = await client.call('chats.create', { modelId: model.id });
  rmSync(file);
  const entry = async () => (await client.call('models.list')).find(({ id }) => id === model.id);
  expect(await entry()).toMatchObject({ missing: true });
  await expect(answerOf(client, model)).rejects.toMatchObject({ code: 'model-missing' });
  expect((await client.call('chats.get', { chatId: chat.id })).chat.modelId).toBe(model.id);
  writeFileSync(file, bytes);
  expect(await entry()).toMatchObject({ missing: false });
  await client.call('models.remove', { modelId: model.id });
  expect(readFileSync(file).equals(bytes)).toBe(true);
}, 60_000);
