import {
  closeSync,
  copyFileSync,
  cpSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { readableName, withLabel } from '../../../../app/models/storage/model-name.ts';
import {
  type Client,
  type Failure,
  failureOf,
  type ModelId,
  modelForNewChats,
} from '../../../../app/protocol/index.ts';
import { openDatabase } from '../../../../app/store/database/database.ts';
import { golden } from '../../../support/addon.ts';
import { newFolder, next, places, startCore } from '../../../support/core/core.ts';

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
  const added = await client.call('models.import', { path: folder });
  expect(added).toMatchObject({ name: 'my-model', path: folder, missing: false });
  const again = await client.call('models.import', { path: join(folder, 'config.json') });
  expect(again.id).toBe(added.id);

  await client.call('models.load', { modelId: added.id });
  expect(await client.call('engine.status')).toMatchObject({ phase: 'ready', modelId: added.id });
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
  const refused = (path: string) => refusalOf(client, path).then((failure) => failure?.code);
  expect(await refused('/nowhere/at/all')).toBe('not-found');
  expect(await refused('relative/path')).toBe('bad-request');
  expect(await refused(empty)).toBe('unreadable');
  expect(['model-broken', 'model-unsupported']).toContain(await refused(broken));
  expect(['model-broken', 'model-unsupported']).toContain(await refused(foreign));
  expect(await client.call('models.list')).toHaveLength(1);
});

test('a model that cannot be loaded fails its turn, and the engine goes on with another', async () => {
  const { client } = await startCore();
  const folder = join(newFolder(), 'shaky');
  cpSync(starter, folder, { recursive: true });
  const { id } = await client.call('models.import', { path: folder });
  rmSync(join(folder, 'tokenizer.json'));
  const chat = await client.call('chats.create', { modelId: id });
  const ended = next(client, 'turn', ({ event }) => event.type === 'failed');
  await client.call('turns.send', { chatId: chat.id, text: 'Hello' });
  expect((await ended).event).toMatchObject({ failure: { code: 'model-broken' } });
  // It has not answered: a new chat does not take it.
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
    const model = await client.call('models.import', { path: folder });
    await client.call('models.remove', { modelId: model.id });
    return model.name;
  };
  expect(await nameOf('acme/Safe\u202e\u0000\u0007 4B\u200b\r\n')).toBe('Safe 4B');
  expect(await nameOf(`acme/${'long'.repeat(9000)}`)).toHaveLength(200);
  expect(await nameOf('acme/\u202e\u2066')).toBe('Model');
});

/** Why a path is not added; null when it is. */
const refusalOf = (client: Client, path: string): Promise<Failure | null> =>
  client.call('models.import', { path }).then(() => null, failureOf);

const gguf = join(golden, 'gguf_models', 'qwen35', 'model-mixed.gguf');

test('a text, a folder of texts, and a text that is called a model are no models; a GGUF file is one by its first letters', async () => {
  const { client } = await startCore();
  const folder = newFolder();
  const file = (name: string, text: string) => {
    writeFileSync(join(folder, name), text);
    return join(folder, name);
  };
  const why = (path: string) => refusalOf(client, path).then((failure) => [failure?.code, failure?.details?.reason]);
  expect(await why(file('notes.txt', 'Dear Maren,'))).toEqual(['unreadable', 'not-a-model']);
  expect(await why(file('letter.gguf', 'Dear Maren,'))).toEqual(['unreadable', 'not-a-model']);
  const texts = newFolder();
  writeFileSync(join(texts, 'notes.txt'), 'Dear Maren,');
  expect(await why(texts)).toEqual(['unreadable', 'not-a-model']);
  expect(await why(join(folder, 'gone.gguf'))).toEqual(['not-found', 'no-file']);
  expect(await why('not/a/path')).toEqual(['bad-request', 'no-path']);
  expect(await client.call('models.list')).toHaveLength(1);

  // A store names its files by their hash; a folder with one model means that model.
  const hash = join(newFolder(), `sha256-${'c'.repeat(64)}`);
  copyFileSync(gguf, hash);
  expect(await client.call('models.import', { path: hash })).toMatchObject({ name: 'Tiny Qwen35', external: true });
  const shelf = newFolder();
  copyFileSync(gguf, join(shelf, 'one.gguf'));
  expect(await client.call('models.import', { path: shelf })).toMatchObject({ path: join(shelf, 'one.gguf') });
  copyFileSync(gguf, join(shelf, 'two.gguf'));
  expect(await why(shelf)).toEqual(['unreadable', 'several-models']);
});

test('a file that another program is still writing says so, and can be added when it is whole', async () => {
  const { client } = await startCore();
  const path = join(newFolder(), 'growing.gguf');
  const bytes = readFileSync(gguf);
  const file = openSync(path, 'w');
  let written = 0;
  const writeMore = (most: number) => {
    const piece = bytes.subarray(written, Math.min(bytes.length - 4096, written + most));
    writeSync(file, piece);
    written += piece.length;
  };
  writeMore(bytes.length >> 1);
  const other = setInterval(() => writeMore(512), 10);
  try {
    expect(await refusalOf(client, path)).toMatchObject({ details: { reason: 'being-written' } });
  } finally {
    clearInterval(other);
  }
  writeSync(file, bytes.subarray(written));
  closeSync(file);
  expect(await client.call('models.import', { path })).toMatchObject({ missing: false });
});

test('the same files added twice at once are in the list once', async () => {
  const { client } = await startCore();
  const folder = join(newFolder(), 'twice');
  cpSync(starter, folder, { recursive: true });
  const [one, other] = await Promise.all([
    client.call('models.import', { path: folder }),
    client.call('models.import', { path: join(folder, 'config.json') }),
  ]);
  expect(other.id).toBe(one.id);
  expect(await client.call('models.list')).toHaveLength(2);
});

test('a GGUF file is called what it says of itself, with its quantisation, unless that names nothing', () => {
  for (const name of [
    'Otter 4B Instruct',
    'Meta-Llama-3.1-8B-Instruct',
    'Llama 2',
    'Models of Thought 7B',
    'tinyotter',
  ])
    expect(readableName(name)).toBe(name);
  const empty = [
    '',
    '.',
    '..',
    '/',
    'model',
    'Unnamed',
    'ggml-model-q4_0',
    'merged_model',
    'Model 2',
    'llama',
    '7',
    '/tmp/hf',
  ];
  const ids = ['5f0b02c75b57c5855da9ae460ce51323ea669d8a', 'sha256-5f0b02c75b57c585', 'checkpoint-1200'];
  const uuid = '0194d0a2-7c1e-7f00-8a34-2b1c5d6e7f80';
  for (const none of [...empty, ...ids, uuid, `/cache/snapshots/${ids[0]}`]) expect(readableName(none)).toBeNull();
  const readable = {
    'qwen3.5-4b-instruct': 'Qwen3.5 4B Instruct',
    'llama-3.2-1b-instruct-q4_k_m': 'Llama 3.2 1B Instruct Q4_K_M',
    'qwen3-30b-a3b-gguf': 'Qwen3 30B A3B',
    'mixtral-8x7b-v0.1': 'Mixtral 8x7B v0.1',
    'minicpm4.1-8b': 'MiniCPM4.1 8B',
    'deepseek-r1_distill': 'DeepSeek R1 Distill',
    '/home/me/models/otter-7b': 'Otter 7B',
    'D:\\models\\Otter 7B.gguf': 'Otter 7B',
    'models/Otter-7B/': 'Otter-7B',
  };
  expect(Object.keys(readable).map(readableName)).toEqual(Object.values(readable));
  expect(withLabel('Otter 4B', 'Q4_K_M')).toBe('Otter 4B Q4_K_M');
  expect(withLabel('Otter 4B q4_k_m', 'Q4_K_M')).toBe('Otter 4B q4_k_m');
});

test('a new chat takes the model that answered last, or the one that was chosen for new chats; never an encoder', async () => {
  const { client } = await startCore();
  const folder = join(newFolder(), 'mine');
  cpSync(starter, folder, { recursive: true });
  const mine = await client.call('models.import', { path: folder });
  const answeredBy = async (modelId: ModelId | null) => {
    const chat = await client.call('chats.create', { modelId });
    const started = next(client, 'turn', ({ event }) => event.type === 'started');
    const done = next(client, 'turn', ({ event }) => event.type === 'finished');
    await client.call('turns.send', { chatId: chat.id, text: 'Hello' });
    await done;
    const { event } = await started;
    return event.type === 'started' ? event.model : null;
  };
  expect(await answeredBy(null)).toBe('Starter');
  expect(await answeredBy(mine.id)).toBe('mine');
  expect(await answeredBy(null)).toBe('mine');
  await client.call('settings.set', { defaultModelId: 'starter' as ModelId });
  expect(await answeredBy(null)).toBe('Starter');
  // Its files are gone: the one that is left answers.
  await client.call('settings.set', { defaultModelId: mine.id });
  renameSync(folder, `${folder}-away`);
  await client.call('models.list');
  expect(await answeredBy(null)).toBe('Starter');
});

test('new chats pass over what cannot write', () => {
  const model = (id: string, more: object) =>
    ({ id, builtIn: id === 'starter', missing: false, lastUsedAt: null, description: null, ...more }) as never;
  const encoder = { description: { supported: true, encoder: true, reranker: false }, lastUsedAt: 9 };
  const models = [model('starter', {}), model('encoder', encoder), model('otter', { lastUsedAt: 5 })];
  expect(modelForNewChats(models, null)).toMatchObject({ id: 'otter' });
  expect(modelForNewChats(models, 'encoder')).toMatchObject({ id: 'otter' });
  expect(modelForNewChats(models.slice(0, 2), null)).toMatchObject({ id: 'starter' });
});

test('the built-in model is inspected also when the default one cannot be loaded', async () => {
  const first = await startCore();
  const folder = join(newFolder(), 'gone');
  cpSync(starter, folder, { recursive: true });
  const { id } = await first.client.call('models.import', { path: folder });
  await first.client.call('settings.set', { defaultModelId: id });
  await first.host.close();
  const db = openDatabase(join(first.dataFolder, 'longhand.db'));
  db.run("UPDATE models SET metadata = NULL WHERE id = 'starter'");
  db.run('DELETE FROM models WHERE id = ?', id);
  db.close();
  const { client } = await startCore({ dataFolder: first.dataFolder });
  await next(client, 'models.changed', (models) => models.some((one) => one.builtIn && one.description !== null));
});

test('when a model is used or set, only that one is told, not the whole list', async () => {
  const { client } = await startCore();
  const folder = join(newFolder(), 'my-model');
  cpSync(starter, folder, { recursive: true });
  await next(client, 'models.changed', ([first]) => first?.description !== null);
  const { id } = await client.call('models.import', { path: folder });
  const lists: unknown[] = [];
  client.on('models.changed', (all) => lists.push(all));
  const used = next(client, 'model.changed', ({ lastUsedAt }) => lastUsedAt !== null);
  await client.call('models.load', { modelId: id });
  expect(await used).toMatchObject({ id, name: 'my-model' });
  const set = next(client, 'model.changed', ({ settings }) => settings.contextLength === 1024);
  const { settings } = await used;
  await client.call('models.configure', { modelId: id, settings: { ...settings, contextLength: 1024 } });
  expect((await set).id).toBe(id);
  expect(await client.call('models.list')).toContainEqual(await set);
  expect(lists).toEqual([]);
});

test('new chats begin with the assistant, also where the starter was used before; with the starter only if it was chosen', () => {
  const model = (id: string, more: object = {}) =>
    ({ id, builtIn: true, missing: false, lastUsedAt: null, description: null, ...more }) as never;
  const used = model('starter', { lastUsedAt: 5 });
  expect(modelForNewChats([used, model('assistant')], null)).toMatchObject({ id: 'assistant' });
  expect(modelForNewChats([used, model('assistant')], 'starter')).toMatchObject({ id: 'starter' });
  expect(modelForNewChats([used, model('assistant', { missing: true })], null)).toMatchObject({ id: 'starter' });
  const own = model('own', { builtIn: false, lastUsedAt: 3 });
  expect(modelForNewChats([used, model('assistant', { lastUsedAt: 2 }), own], null)).toMatchObject({ id: 'own' });
});
