import { cpSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { newFolder, next, places, startCore } from '../../support/core.ts';

const starter = join(places.resources, 'starter-model');

test('the built-in model is there, described, and cannot be removed', async () => {
  const { client } = await startCore();
  await next(client, 'models.changed', ([first]) => first?.description !== null);
  const [first] = await client.call('models.list');
  expect(first).toMatchObject({
    id: 'starter',
    builtIn: true,
    missing: false,
    description: { supported: true, family: 'qwen3_5' },
    thinking: { able: true, byDefault: false },
  });
  await expect(client.call('models.remove', { modelId: 'starter' as never })).rejects.toMatchObject({
    code: 'bad-request',
  });
});

test('a folder by its path, or by one of its files, is one model; gone files are said and come back', async () => {
  const { client } = await startCore();
  const folder = join(newFolder(), 'my-model');
  cpSync(starter, folder, { recursive: true });
  const added = await client.call('models.add', { path: folder });
  expect(added).toMatchObject({ name: 'my-model', path: folder, missing: false });
  const again = await client.call('models.add', { path: join(folder, 'config.json') });
  expect(again.id).toBe(added.id);

  await client.call('models.load', { modelId: added.id });
  expect(await client.call('engine.status')).toMatchObject({ at: 'ready', modelId: added.id });
  renameSync(folder, `${folder}-away`);
  expect((await client.call('models.list')).find((one) => one.id === added.id)?.missing).toBe(true);
  await expect(client.call('models.load', { modelId: added.id })).rejects.toMatchObject({ code: 'model-missing' });
  renameSync(`${folder}-away`, folder);
  expect((await client.call('models.list')).find((one) => one.id === added.id)?.missing).toBe(false);
  await client.call('models.remove', { modelId: added.id });
  expect((await client.call('models.list')).map((one) => one.id)).toEqual(['starter']);
});

test('what is no model is refused with the reason, and nothing is kept', async () => {
  const { client } = await startCore();
  const empty = newFolder();
  const broken = join(newFolder(), 'broken');
  cpSync(starter, broken, { recursive: true });
  writeFileSync(join(broken, 'model.safetensors'), 'not tensors');
  const foreign = join(newFolder(), 'foreign');
  mkdirSync(foreign);
  writeFileSync(join(foreign, 'config.json'), '{"architectures":["MambaForCausalLM"],"model_type":"mamba"}');
  const refused = async (path: string) => {
    const error = await client
      .call('models.add', { path })
      .catch((thrown: { code: string; message: string }) => thrown);
    return 'code' in error ? error.code : 'accepted';
  };
  expect(await refused('/nowhere/at/all')).toBe('not-found');
  expect(await refused('relative/path')).toBe('bad-request');
  expect(['model-broken', 'model-unsupported']).toContain(await refused(empty));
  expect(['model-broken', 'model-unsupported']).toContain(await refused(broken));
  expect(['model-broken', 'model-unsupported']).toContain(await refused(foreign));
  expect(await client.call('models.list')).toHaveLength(1);
});

test('a model that cannot be loaded fails its turn, and the engine goes on with another', async () => {
  const { client } = await startCore();
  const folder = join(newFolder(), 'shaky');
  cpSync(starter, folder, { recursive: true });
  const { id } = await client.call('models.add', { path: folder });
  rmSync(join(folder, 'tokenizer.json'));
  const chat = await client.call('chats.create', { modelId: id });
  const ended = next(client, 'turn', ({ event }) => event.type === 'failed');
  await client.call('turns.send', { chatId: chat.id, text: 'Hello' });
  expect((await ended).event).toMatchObject({ failure: { code: 'model-broken' } });
  const fine = await client.call('chats.create', {});
  const done = next(client, 'turn', ({ event }) => event.type === 'finished');
  await client.call('turns.send', { chatId: fine.id, text: 'Hello' });
  expect((await done).event).toMatchObject({ reason: 'stop' });
});

test('a name that hides, turns or breaks text is kept as a plain line', async () => {
  const { client } = await startCore();
  const folder = join(newFolder(), 'model');
  cpSync(starter, folder, { recursive: true });
  const config = JSON.parse(readFileSync(join(folder, 'config.json'), 'utf8'));
  const nameOf = async (_name_or_path: string) => {
    writeFileSync(join(folder, 'config.json'), JSON.stringify({ ...config, _name_or_path }));
    const model = await client.call('models.add', { path: folder });
    await client.call('models.remove', { modelId: model.id });
    return model.name;
  };
  expect(await nameOf('acme/Safe\u202e\u0000\u0007 4B\u200b\r\n')).toBe('Safe 4B');
  expect(await nameOf(`acme/${'long'.repeat(9000)}`)).toHaveLength(200);
  expect(await nameOf('acme/\u202e\u2066')).toBe('Model');
});
