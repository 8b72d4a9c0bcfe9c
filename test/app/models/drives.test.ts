import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { BLOCK } from '../../../app/models/storage/block-map.ts';
import { type Client, type ModelEntry, STARTER } from '../../../app/protocol/index.ts';
import { newFolder, startCore } from '../../support/core/core.ts';
import { startHub } from '../../support/fakes/hub.ts';
import { starter, starterFiles } from '../../support/models/models.ts';
import { named, until } from '../../support/until.ts';

//  Models on a drive that is taken out and comes back: nothing is lost, nothing is written where the drive was, and nobody has
//  to start anything again.

async function start(faults: Parameters<typeof startHub>[0]['faults'] = {}) {
  const hub = await startHub({ files: starterFiles(), faults });
  onTestFinished(() => hub.stop());
  const core = await startCore({ models: { lookMs: 20, downloads: { backOffMs: 5 } } });
  await core.client.call('settings.set', { hubEndpoint: hub.url });
  return { hub, ...core };
}
const download = (client: Client) => async () => (await client.call('downloads.list'))[0];

/** A library on a drive, which can be taken out and put back. */
async function libraryOnDrive(client: Client) {
  const drive = join(newFolder(), 'drive');
  mkdirSync(drive);
  await client.call('library.move', { folder: join(drive, 'models') });
  await until(
    () => client.call('library.state'),
    ({ folder, move }) => folder === join(drive, 'models') && move === null,
  );
  return { drive, out: () => renameSync(drive, `${drive}-out`), back: () => renameSync(`${drive}-out`, drive) };
}

test('a library on a drive that goes and comes back', async () => {
  const { client } = await start();
  await client.call('downloads.start', { reference: 'acme/tiny' });
  const { id } = await named(client, 'tiny', ({ missing }) => !missing);
  await client.call('models.load', { modelId: id });
  const { drive, out, back } = await libraryOnDrive(client);
  // What was in memory is there again, from its new place.
  await until(
    () => client.call('engine.status'),
    (status) => status.phase === 'ready' && status.modelId === id,
  );
  expect(await named(client, 'tiny', () => true)).toMatchObject({
    path: expect.stringContaining(drive),
    external: false,
  });

  await client.call('models.unload');
  out();
  expect(await named(client, 'tiny', ({ unmounted }) => unmounted)).toMatchObject({ missing: true });
  expect(await client.call('library.state')).toMatchObject({ unmounted: true });
  const refused = { code: 'model-missing', details: { reason: 'unmounted' } };
  await expect(client.call('models.load', { modelId: id })).rejects.toMatchObject(refused);
  await expect(client.call('models.verify', { modelId: id })).rejects.toMatchObject(refused);
  await expect(client.call('models.remove', { modelId: id })).rejects.toMatchObject(refused);
  expect(await client.call('models.details', { modelId: id })).toMatchObject({ ownership: 'downloaded' });
  expect(existsSync(drive)).toBe(false);

  back();
  await named(client, 'tiny', ({ missing, unmounted }) => !missing && !unmounted);
  await client.call('models.load', { modelId: id });
  expect(await client.call('models.verify', { modelId: id })).toMatchObject({ damaged: [] });
}, 60_000);

test('a library that moves leaves a model that lies elsewhere in memory, and needs none there', async () => {
  const { client } = await start();
  await client.call('models.load', { modelId: STARTER });
  const phases: string[] = [];
  client.on('engine.status', ({ phase }) => phases.push(phase));
  await libraryOnDrive(client);
  expect(phases).toEqual([]);
  await client.call('models.unload');
  await libraryOnDrive(client);
  expect(await client.call('engine.status')).toMatchObject({ phase: 'idle' });
}, 60_000);

test('an empty mount point, or another disk at its place, is not taken for it', async () => {
  const { client } = await start();
  await client.call('downloads.start', { reference: 'acme/tiny' });
  await named(client, 'tiny', ({ missing }) => !missing);
  const { drive, out, back } = await libraryOnDrive(client);
  out();
  mkdirSync(join(drive, 'models'), { recursive: true });
  await named(client, 'tiny', ({ unmounted }) => unmounted);
  writeFileSync(join(drive, 'models', '.longhand-library'), 'the library of somebody else');
  expect(await client.call('library.state')).toMatchObject({ unmounted: true });
  await client.call('downloads.start', { reference: 'acme/tiny', name: 'again' });
  expect(await until(download(client), (item) => item?.status.phase === 'waitingForLibrary')).toMatchObject({
    status: { reason: 'unmounted' },
  });
  expect(readdirSync(join(drive, 'models'))).toEqual(['.longhand-library']);
  rmSync(drive, { recursive: true });
  back();
  await until(download(client), (item) => item === undefined);
  await named(client, 'tiny', ({ missing }) => !missing);
}, 60_000);

test('a download waits for the drive and goes on where it was', async () => {
  const { hub, client } = await start({ bytesPerSecond: 2e6 });
  const { out, back } = await libraryOnDrive(client);
  await client.call('downloads.start', { reference: 'acme/tiny' });
  await until(download(client), (item) => (item?.done ?? 0) > 3 * BLOCK);
  out();
  await until(download(client), (item) => item?.status.phase === 'waitingForLibrary');
  expect(await client.call('models.list')).toHaveLength(1);
  hub.faults.bytesPerSecond = null;
  back();
  const model = await named(client, 'tiny', ({ missing }) => !missing);
  const weights = readFileSync(join(model.path as string, 'model.safetensors'));
  expect(weights.equals(hub.bytesOf('model.safetensors'))).toBe(true);
  expect(hub.bytesServedTwice()).toBeLessThan(16 * BLOCK);
}, 60_000);

test('a linked model on a drive: told as away, refused with a sentence, there again by itself', async () => {
  const { client } = await start();
  const drive = join(newFolder(), 'drive');
  mkdirSync(drive);
  cpSync(starter, join(drive, 'mine'), { recursive: true });
  const { id, name } = await client.call('models.import', { path: join(drive, 'mine') });
  const heard: ModelEntry[][] = [];
  client.on('models.changed', (list) => heard.push(list));
  renameSync(drive, `${drive}-out`);
  await named(client, name, ({ unmounted }) => unmounted);
  await expect(client.call('models.load', { modelId: id })).rejects.toMatchObject({ code: 'model-missing' });
  await until(
    async () => heard.flat(),
    (all) => all.some((model) => model.id === id && model.unmounted),
  );
  renameSync(`${drive}-out`, drive);
  await until(
    async () => heard.at(-1) ?? [],
    (list) => list.some((model) => model.id === id && !model.missing),
  );
  await client.call('models.load', { modelId: id });
  // A file that is gone from its folder is another matter.
  await client.call('models.unload');
  rmSync(join(drive, 'mine'), { recursive: true });
  expect(await named(client, name, ({ missing }) => missing)).toMatchObject({ unmounted: false });
}, 60_000);
