import { mkdirSync, readdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, expect, test, vi } from 'vitest';
import { builtInModels } from '../../../../app/models/registry/built-in-models.ts';
import { STARTER } from '../../../../app/protocol/index.ts';
import { newFolder, places, startCore } from '../../../support/core/core.ts';
import { realModel } from '../../../support/models/real-models.mjs';

beforeEach(() => void vi.stubEnv('LONGHAND_ASSISTANT', undefined));

function withoutAssistant(): string {
  const resources = newFolder();
  for (const name of readdirSync(places.resources).filter((one) => one !== 'assistant'))
    symlinkSync(join(places.resources, name), join(resources, name));
  return resources;
}

/** The resources of a package that has an assistant: SmolLM2 as it was published. */
async function withAssistant(): Promise<string> {
  const resources = withoutAssistant();
  mkdirSync(join(resources, 'assistant'));
  symlinkSync(await realModel('smollm2'), join(resources, 'assistant', 'model.gguf'));
  return resources;
}

test('an assistant comes before the starter; a package without one begins with the starter', async () => {
  expect(builtInModels(await withAssistant()).map(({ id }) => id)).toEqual(['assistant', 'starter']);
  const slim = newFolder();
  mkdirSync(join(slim, 'assistant'));
  expect(builtInModels(slim).map(({ id }) => id)).toEqual(['starter']);
});

test('both are in the list with what they are, cannot be removed, and presets of each use its own files', async () => {
  const { client } = await startCore({ resources: await withAssistant() });
  const described = async () => (await client.call('models.list')).filter(({ builtIn }) => builtIn);
  await vi.waitFor(
    async () => expect((await described()).map(({ description }) => description?.supported)).toEqual([true, true]),
    { timeout: 20_000 },
  );
  const entries = await described();
  // A program that takes the first one of the list gets the default.
  expect(entries.map(({ name }) => name)).toEqual(['Longhand Assistant', 'Starter']);
  expect(new Set(entries.map(({ description }) => description?.parameters)).size).toBe(2);
  for (const { id } of entries)
    await expect(client.call('models.remove', { modelId: id })).rejects.toMatchObject({ code: 'bad-request' });
  const preset = await client.call('models.duplicate', { modelId: STARTER, name: 'Quick' });
  expect(preset).toMatchObject({ builtIn: false, missing: false, presetOf: STARTER });
});

test('a data folder that met the assistant opens in a package without it: it is missing, and the starter is there', async () => {
  const dataFolder = newFolder();
  const first = await startCore({ dataFolder, resources: await withAssistant() });
  const { id: chatId } = await first.client.call('chats.create', { modelId: null });
  await first.host.close();
  const { client } = await startCore({ dataFolder, resources: withoutAssistant() });
  const entries = await client.call('models.list');
  expect(entries.find(({ id }) => id === 'assistant')).toMatchObject({ missing: true });
  expect(entries.find(({ id }) => id === 'starter')).toMatchObject({ missing: false });
  expect((await client.call('chats.list', {})).map(({ id }) => id)).toContain(chatId);
});
