import {
  appendFileSync,
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from 'node:fs';

import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { createCore } from '../../../app/core/core.ts';
import type { StartEngine } from '../../../app/engine/ipc-protocol.ts';
import { BLOCK } from '../../../app/models/storage/block-map.ts';
import type { Client, Download, ModelEntry } from '../../../app/protocol/index.ts';
import { newFolder, next, places, realEngine, realParser, startCore } from '../../support/core/core.ts';
import { startHub } from '../../support/fakes/hub.ts';
import { starterFiles } from '../../support/models/models.ts';

//  Models through the calls that the page and the command line make: the real engine gives the verdicts.

const golden = join(import.meta.dirname, '../../golden');
const filesOf = (path: string, only: RegExp) =>
  Object.fromEntries(
    readdirSync(join(golden, path))
      .filter((name) => only.test(name))
      .map((name) => [name, readFileSync(join(golden, path, name))]),
  );

async function start(files: Record<string, Buffer>, more: Partial<Parameters<typeof startHub>[0]> = {}) {
  const hub = await startHub({ files, ...more });
  onTestFinished(() => hub.stop());
  const core = await startCore();
  await core.client.call('settings.set', { hubEndpoint: hub.url });
  return { hub, ...core };
}

async function finished(client: Client, name: string): Promise<ModelEntry> {
  return vi.waitFor(
    async () => {
      const found = (await client.call('models.list')).find((model) => model.name === name);
      if (!found) {
        const [item] = await client.call('downloads.list');
        throw new Error(`not yet: ${JSON.stringify(item?.status)}`);
      }
      return found;
    },
    { timeout: 20_000, interval: 50 },
  );
}

test('look, download, check, load, remove, take back', async () => {
  const { hub, client, dataFolder } = await start(starterFiles());
  const heard: Download[][] = [];
  client.on('downloads.changed', (list) => heard.push(list));
  const seenBefore = hub.seen.bytes;
  const look = await client.call('models.inspectRemote', { reference: 'acme/tiny' });
  expect(look).toMatchObject({ source: 'mirror', repository: 'acme/tiny', commit: hub.commit });
  expect(look.variants).toMatchObject([{ id: '.', exact: true, description: { supported: true } }]);
  expect(hub.seen.bytes - seenBefore).toBeLessThan(300_000);

  const item = await client.call('downloads.start', { reference: 'acme/tiny' });
  expect(item).toMatchObject({ name: 'tiny', repository: 'acme/tiny' });
  const model = await finished(client, 'tiny');
  expect(await client.call('downloads.list')).toEqual([]);
  expect(heard.length).toBeGreaterThan(0);
  for (const name of ['model.safetensors', 'tokenizer.json']) {
    expect(readFileSync(join(model.path as string, name)).equals(hub.bytesOf(name))).toBe(true);
  }

  const details = await client.call('models.details', { modelId: model.id });
  expect(details).toMatchObject({ ownership: 'downloaded', origin: { repository: 'acme/tiny', commit: hub.commit } });
  expect(details.frees).toBe(details.bytes);
  expect(await client.call('models.verify', { modelId: model.id })).toMatchObject({ damaged: [] });
  await client.call('models.load', { modelId: model.id });
  expect(await client.call('engine.status')).toMatchObject({ phase: 'ready', modelId: model.id });

  const removed = await client.call('models.remove', { modelId: model.id });
  expect(removed.freed).toBe(details.bytes);
  expect((await client.call('models.list')).map(({ id }) => id)).not.toContain(model.id);
  expect(existsSync(model.path as string)).toBe(false);
  const back = await client.call('models.restore', { modelId: model.id });
  expect(back.id).toBe(model.id);
  expect(await client.call('models.verify', { modelId: model.id })).toMatchObject({ damaged: [] });
  expect(readdirSync(join(dataFolder, 'models', 'removed'))).toEqual([]);
}, 60_000);

/** Downloads the built-in model's files, then harms its weights. */
async function damagedModel(harm: (path: string) => void) {
  const core = await start(starterFiles());
  await core.client.call('downloads.start', { reference: 'acme/tiny' });
  const model = await finished(core.client, 'tiny');
  harm(join(model.path as string, 'model.safetensors'));
  return { ...core, model };
}

async function repaired(client: Client, hub: Awaited<ReturnType<typeof startHub>>, modelId: ModelEntry['id']) {
  const before = hub.seen.bytes;
  await client.call('models.repair', { modelId });
  await vi.waitFor(async () => expect(await client.call('downloads.list')).toEqual([]), { timeout: 20_000 });
  expect(await client.call('models.verify', { modelId })).toMatchObject({
    damaged: [],
    again: 0,
  });
  return hub.seen.bytes - before;
}

test('damage is found block by block, and only those blocks are fetched again, under the same id', async () => {
  const { client, hub, model } = await damagedModel((path) => {
    const file = openSync(path, 'r+');
    for (const at of [5, 3 * BLOCK + 1, 3 * BLOCK + 9]) writeSync(file, Buffer.from([0xa5, 0x5a]), 0, 2, at);
    closeSync(file);
  });
  expect(await client.call('models.verify', { modelId: model.id })).toMatchObject({
    damaged: ['model.safetensors'],
    again: 2 * BLOCK,
  });
  expect(await repaired(client, hub, model.id)).toBe(2 * BLOCK);
}, 60_000);

test('a file that became shorter or longer is mended', async () => {
  const { client, hub, model } = await damagedModel((path) => truncateSync(path, 2 * BLOCK + 100));
  const { length } = hub.bytesOf('model.safetensors');
  expect(await repaired(client, hub, model.id)).toBe(length - 2 * BLOCK);
  appendFileSync(join(model.path as string, 'model.safetensors'), 'and more');
  const checked = await client.call('models.verify', { modelId: model.id });
  expect(checked).toMatchObject({ damaged: ['model.safetensors'], again: 0 });
  expect(await repaired(client, hub, model.id)).toBe(0);
}, 60_000);

test('a file that somebody deleted comes back from its other name, without the network', async () => {
  const { client, hub, model } = await damagedModel((path) => rmSync(path));
  expect(await client.call('models.verify', { modelId: model.id })).toMatchObject({ damaged: ['model.safetensors'] });
  expect(await repaired(client, hub, model.id)).toBe(0);
}, 60_000);

test('a model that is removed while its files are checked is not called damaged; two windows are told the same', async () => {
  const { client } = await start(starterFiles());
  await client.call('downloads.start', { reference: 'acme/tiny' });
  const { id: modelId } = await finished(client, 'tiny');
  const [one, two] = await Promise.all([
    client.call('models.verify', { modelId }),
    client.call('models.verify', { modelId }),
  ]);
  expect(one).toEqual(two);
  const check = client.call('models.verify', { modelId }).then(
    ({ damaged }) => (damaged.length === 0 ? 'whole' : 'damaged'),
    ({ code }) => code,
  );
  await client.call('models.remove', { modelId });
  expect(['whole', 'cancelled']).toContain(await check);
  await client.call('models.restore', { modelId });
  expect(await client.call('models.verify', { modelId })).toMatchObject({ damaged: [] });
}, 60_000);

test('a removal is final when the app has ended, and frees the disk', async () => {
  const { host, client, dataFolder } = await start(starterFiles());
  await client.call('downloads.start', { reference: 'acme/tiny' });
  const model = await finished(client, 'tiny');
  await client.call('models.remove', { modelId: model.id });
  await host.close();
  expect(readdirSync(join(dataFolder, 'models', 'blobs'))).toEqual([]);
});

test('every quantisation is offered; the chosen one has the exact verdict, the others its sizes', async () => {
  const { client } = await start(filesOf('gguf_models/qwen35', /\.gguf$/));
  const names = (await client.call('models.inspectRemote', { reference: 'acme/tiny' })).variants.map(({ id }) => id);
  expect(names.length).toBeGreaterThan(1);
  const variant = names.at(-1) as string;
  const look = await client.call('models.inspectRemote', { reference: 'acme/tiny', variant });
  expect(look.variants.find(({ id }) => id === variant)).toMatchObject({
    exact: true,
    kind: 'gguf',
    description: { family: 'qwen3_5', supported: true },
  });
  const sizes = look.variants.map(({ bytes }) => bytes);
  expect(sizes).toEqual(sizes.toSorted((a, b) => b - a));
});

test('a model that the engine cannot run is refused before a byte of its weights', async () => {
  const { hub, client } = await start({
    'config.json': Buffer.from('{"architectures":["NobodyKnowsForCausalLM"],"model_type":"nobody"}'),
    'model.safetensors': Buffer.concat([
      Buffer.from('0200000000000000', 'hex'),
      Buffer.from('{}'),
      Buffer.alloc(50_000),
    ]),
  });
  const look = await client.call('models.inspectRemote', { reference: 'acme/tiny' });
  expect(look.variants[0]?.description).toMatchObject({ supported: false });
  await expect(client.call('downloads.start', { reference: 'acme/tiny' })).rejects.toMatchObject({
    code: 'model-unsupported',
  });
  expect(hub.seen.bytes).toBeLessThan(20_000);
  expect(await client.call('downloads.list')).toEqual([]);
});

test.each([
  ['what names nothing', 'not a model', 'bad-request', 'bad-reference'],
  ['an unknown repository', 'acme/nothing', 'not-found', 'not-found'],
])('%s is refused with a reason', async (_name, reference, code, reason) => {
  const { client } = await start({ 'config.json': Buffer.from('{}') });
  await expect(client.call('models.inspectRemote', { reference })).rejects.toMatchObject({ code, details: { reason } });
});

test('a gated repository asks for a token, which is kept where only its owner can read it', async () => {
  const { hub, client, dataFolder } = await start(starterFiles(), { token: 'hf_secret' });
  await expect(client.call('models.inspectRemote', { reference: 'acme/tiny' })).rejects.toMatchObject({
    code: 'permission',
    details: { reason: 'gated' },
  });
  await client.call('tokens.set', { source: 'mirror', token: 'hf_secret' });
  expect(await client.call('tokens.list')).toEqual({ sources: ['mirror'], storedIn: 'file' });
  expect(statSync(join(dataFolder, 'tokens.json')).mode & 0o777).toBe(0o600);
  await client.call('models.inspectRemote', { reference: 'acme/tiny' });
  expect(hub.seen.storageTokens).toBe(0);
  await client.call('tokens.set', { source: 'mirror', token: null });
  expect(existsSync(join(dataFolder, 'tokens.json'))).toBe(false);
});

test('with a keychain the file holds only what it sealed', async () => {
  const dataFolder = newFolder();
  const host = await createCore({
    dataFolder,
    migrations: places.migrations,
    resources: places.resources,
    pictureWorker: places.pictureWorker,
    startEngine: realEngine(),
    startParser: realParser(),
    cipher: {
      seal: async (text) => Buffer.from(text).toString('hex'),
      open: async (sealed) => Buffer.from(sealed, 'hex').toString(),
    },
    about: { version: '0', commit: '', shell: 'electron' },
  });
  onTestFinished(() => host.close());
  await host.handlers['tokens.set']({ source: 'huggingface', token: 'hf_secret' });
  expect(readFileSync(join(dataFolder, 'tokens.json'), 'utf8')).not.toContain('hf_secret');
  expect(await host.handlers['tokens.list']()).toEqual({ sources: ['huggingface'], storedIn: 'keychain' });
});

test('a model of Ollama is linked without a copy; removing it leaves its file', async () => {
  const home = newFolder();
  const [blobs, manifests] = [join(home, 'blobs'), join(home, 'manifests/registry.ollama.ai/library/tiny')];
  mkdirSync(blobs, { recursive: true });
  mkdirSync(manifests, { recursive: true });
  const digest = 'a'.repeat(64);
  const blob = join(blobs, `sha256-${digest}`);
  const [file] = Object.values(filesOf('gguf_models/qwen35', /mixed\.gguf$/));
  writeFileSync(blob, file as Buffer);
  const layers = [{ mediaType: 'application/vnd.ollama.image.model', digest: `sha256:${digest}` }];
  writeFileSync(join(manifests, 'latest'), JSON.stringify({ layers }));
  vi.stubEnv('OLLAMA_MODELS', home);
  onTestFinished(() => void vi.unstubAllEnvs());
  const { client } = await startCore();

  const found = (await client.call('models.listExternal')).filter(({ app }) => app === 'Ollama');
  expect(found).toMatchObject([{ name: 'tiny:latest', path: blob }]);
  const model = await client.call('models.linkExternal', { path: blob });
  expect(model).toMatchObject({ name: 'tiny:latest', missing: false, description: { supported: true } });
  expect(await client.call('models.details', { modelId: model.id })).toMatchObject({ ownership: 'external', frees: 0 });
  const removed = await client.call('models.remove', { modelId: model.id });
  expect(removed.freed).toBe(0);
  expect(readFileSync(blob).equals(file as Buffer)).toBe(true);

  const again = await client.call('models.linkExternal', { path: blob });
  rmSync(blob);
  expect((await client.call('models.list')).find(({ id }) => id === again.id)).toMatchObject({ missing: true });
  await expect(client.call('models.load', { modelId: again.id })).rejects.toMatchObject({ code: 'model-missing' });
});

test('a second app on the same folder is turned away while a download runs, and the download goes on', async () => {
  const { hub, client, dataFolder } = await start(starterFiles(), { faults: { bytesPerSecond: 40e6 } });
  await client.call('downloads.start', { reference: 'acme/tiny' });
  const second = createCore({
    dataFolder,
    migrations: places.migrations,
    resources: places.resources,
    pictureWorker: places.pictureWorker,
    startEngine: realEngine(),
    startParser: realParser(),
    about: { version: '0', commit: '', shell: 'browser' },
  });
  await expect(second).rejects.toMatchObject({ code: 'data-folder-held' });
  const model = await finished(client, 'tiny');
  expect(readFileSync(join(model.path as string, 'model.safetensors')).equals(hub.bytesOf('model.safetensors'))).toBe(
    true,
  );
}, 60_000);

test('the memory of this machine is measured once, and a forecast of speed follows from it', async () => {
  const asked: string[] = [];
  const startEngine: StartEngine = async () => {
    const engine = await realEngine()();
    return {
      ...engine,
      pipe: {
        ...engine.pipe,
        send(message) {
          if ('ask' in message) asked.push(message.ask);
          engine.pipe.send(message);
        },
      },
    };
  };
  const { client, host, dataFolder } = await startCore({ startEngine });
  const measured = next(client, 'machine.changed', ({ bandwidth }) => bandwidth !== null);
  expect((await client.call('models.machine')).bandwidth).toBe(null);
  const { bandwidth } = await measured;
  expect(bandwidth).toBeGreaterThan(1e9);
  expect(bandwidth).toBeLessThan(1e13);
  await host.close();
  const again = await startCore({ dataFolder, startEngine });
  expect((await again.client.call('models.machine')).bandwidth).toBe(bandwidth);
  expect(asked.filter((name) => name === 'bandwidth')).toHaveLength(1);
});
