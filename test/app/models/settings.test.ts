import { expect, test } from 'vitest';
import type { Client, ModelEntry, ModelId } from '../../../app/protocol/index.ts';
import { ModelSettings } from '../../../app/protocol/index.ts';
import { listen, startCore } from '../../support/core/core.ts';

//  What the user sets for one model: sampling, template, context, device; and presets, the same files with other settings.

const starter = 'starter' as ModelId;
const settings = (patch: Partial<ModelSettings>) => ModelSettings.parse(patch);

async function answerBy(client: Client, modelId: ModelId) {
  const { of, end } = listen(client);
  const chat = await client.call('chats.create', { modelId });
  const { turnId } = await client.call('turns.send', { chatId: chat.id, text: 'Hello!' });
  const last = await end(turnId);
  return { last, tokens: of(turnId).reduce((sum, event) => sum + (event.type === 'delta' ? event.tokens : 0), 0) };
}

const byId = async (client: Client, id: ModelId) =>
  (await client.call('models.list')).find((model) => model.id === id) as ModelEntry;

test('sampling of a model counts for its chats, and a chat’s own counts more', async () => {
  const { client } = await startCore();
  await client.call('models.configure', { modelId: starter, settings: settings({ sampling: { maxTokens: 2 } }) });
  expect((await byId(client, starter)).settings.sampling).toEqual({ maxTokens: 2 });
  const short = await answerBy(client, starter);
  expect(short.last).toMatchObject({ type: 'finished', reason: 'length' });
  expect(short.tokens).toBeLessThanOrEqual(2);

  const { of, end } = listen(client);
  const chat = await client.call('chats.create', { modelId: starter });
  await client.call('chats.update', { chatId: chat.id, sampling: { maxTokens: 4, temperature: 0 } });
  const { turnId } = await client.call('turns.send', { chatId: chat.id, text: 'Count from one to twenty.' });
  const last = await end(turnId);
  expect(last).toMatchObject({ type: 'finished', usage: { answerTokens: expect.any(Number) } });
  expect(of(turnId).some((event) => event.type === 'delta')).toBe(true);
});

test('context and device of a model are what it is loaded with; set back it follows the settings', async () => {
  const { client } = await startCore();
  await client.call('models.configure', {
    modelId: starter,
    settings: settings({ contextLength: 1024, device: 'cpu' }),
  });
  await client.call('models.load', { modelId: starter });
  expect(await client.call('engine.status')).toMatchObject({ phase: 'ready', contextLength: 1024, backEnd: 'cpu' });
  await client.call('models.configure', { modelId: starter, settings: settings({}) });
  await client.call('settings.set', { contextLength: 2048 });
  await client.call('models.load', { modelId: starter });
  expect(await client.call('engine.status')).toMatchObject({ phase: 'ready', contextLength: 2048 });
  // More than the model was made for is what it was made for.
  const own = (await client.call('models.list')).find(({ id }) => id === starter)?.description?.contextLength;
  await client.call('settings.set', { contextLength: 2_000_000 });
  await client.call('models.load', { modelId: starter });
  expect(own).toBeGreaterThan(2048);
  expect(await client.call('engine.status')).toMatchObject({ phase: 'ready', contextLength: own });
});

test('a template is shown before it counts, counts when it is kept, and a broken one is refused', async () => {
  const { client } = await startCore();
  const { own, text } = await client.call('models.preview', { modelId: starter, template: null });
  expect(own).toContain('messages');
  expect(text).toContain('And through Basel?');
  const template = '{% for message in messages %}[{{ message.role }}] {{ message.content }}\n{% endfor %}';
  expect((await client.call('models.preview', { modelId: starter, template })).text).toBe(
    '[system] You are brief.\n[user] Which river flows through Vienna?\n[assistant] The Danube.\n[user] And through Basel?\n',
  );
  const chat = await client.call('chats.create', { modelId: starter });
  await client.call('models.load', { modelId: starter });
  const before = await client.call('context.measure', { chatId: chat.id, draft: 'Hello there' });
  await client.call('models.configure', {
    modelId: starter,
    settings: settings({ template: `${'very '.repeat(200)}${template}` }),
  });
  await client.call('models.load', { modelId: starter });
  const after = await client.call('context.measure', { chatId: chat.id, draft: 'Hello there' });
  expect(after.used + after.draft).toBeGreaterThan(before.used + before.draft + 100);

  const broken = settings({ template: '{% for message in %}' });
  await expect(client.call('models.configure', { modelId: starter, settings: broken })).rejects.toMatchObject({
    code: 'template-failed',
  });
  expect((await byId(client, starter)).settings.template).toContain('very');
});

test('a preset has the files of its model and settings of its own; it lives as long as the model', async () => {
  const { client, host, dataFolder } = await startCore();
  const preset = await client.call('models.duplicate', { modelId: starter, name: 'Brief' });
  expect(preset).toMatchObject({ name: 'Brief', builtIn: false, presetOf: starter, missing: false });
  await client.call('models.configure', { modelId: preset.id, settings: settings({ sampling: { maxTokens: 1 } }) });
  expect((await byId(client, starter)).settings).toEqual(settings({}));
  expect((await answerBy(client, preset.id)).tokens).toBeLessThanOrEqual(1);
  expect(await client.call('models.details', { modelId: preset.id })).toMatchObject({ ownership: 'preset', frees: 0 });
  await host.close();

  const again = await startCore({ dataFolder });
  expect(await byId(again.client, preset.id)).toMatchObject({ settings: { sampling: { maxTokens: 1 } } });
  await again.client.call('models.remove', { modelId: preset.id });
  expect((await again.client.call('models.list')).map(({ id }) => id)).toEqual([starter]);
  await again.client.call('models.restore', { modelId: preset.id });
  expect(await byId(again.client, preset.id)).toMatchObject({
    presetOf: starter,
    settings: { sampling: { maxTokens: 1 } },
  });
});
