import { cpSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { type Disk, disk as real, type TimeoutFactory } from '../../../app/models/storage/fs-probe.ts';
import { newFolder, startCore } from '../../support/core/core.ts';
import { startHub } from '../../support/fakes/hub.ts';
import { starter, starterFiles } from '../../support/models/models.ts';
import { named, until } from '../../support/until.ts';

//  A network drive whose server is gone answers nothing, for ever. The app goes on without it, and with it when it is back.

/** A disk whose folders can fall silent; `waiting`: looks that nobody answers. */
function disks() {
  const silent = new Set<string>();
  const waiting: { path: string; go: () => void }[] = [];
  const answered = async (path: string) => {
    if (![...silent].some((folder) => path.startsWith(folder))) return;
    await new Promise<void>((go) => void waiting.push({ path, go }));
  };
  const disk: Disk = {
    text: async (path) => answered(path).then(() => real.text(path)),
    names: async (folder) => answered(folder).then(() => real.names(folder)),
    kind: async (path) => answered(path).then(() => real.kind(path)),
  };
  /** Over as soon as nobody answers: how long others take plays no part. */
  const patience: TimeoutFactory = (what, over) => {
    const look = setInterval(() => waiting.some(({ path }) => path === what) && over(), 5);
    return () => clearInterval(look);
  };
  return {
    disk,
    patience,
    waiting,
    fallSilent: (folder: string) => void silent.add(folder),
    speak(folder: string) {
      silent.delete(folder);
      for (const { go } of waiting.splice(0)) go();
    },
  };
}

async function start() {
  const hub = await startHub({ files: starterFiles() });
  onTestFinished(() => hub.stop());
  const drives = disks();
  const core = await startCore({
    models: { lookMs: 20, disk: drives.disk, startTimeout: drives.patience, downloads: { backOffMs: 5 } },
  });
  onTestFinished(() => {
    for (const { go } of drives.waiting.splice(0)) go();
  });
  await core.client.call('settings.set', { hubEndpoint: hub.url });
  return { ...drives, client: core.client };
}

function drive(models: readonly string[]): string {
  const folder = join(newFolder(), 'share');
  for (const name of models) cpSync(starter, join(folder, name, 'it'), { recursive: true });
  return folder;
}

test('models on drives that do not answer are away, the others are here, and few looks wait at a time', async () => {
  const { client, fallSilent, speak, waiting } = await start();
  const names = ['a', 'b', 'c', 'd', 'e', 'f'];
  const [share, local] = [drive(names), drive(['near'])];
  for (const name of names) await client.call('models.import', { path: join(share, name, 'it') });
  const { id } = await client.call('models.import', { path: join(local, 'near', 'it') });
  fallSilent(share);
  // All that hear nothing are told sooner or later, those that nobody can look at any more as they were.
  await until(
    () => client.call('models.list'),
    (list) => list.filter(({ unmounted }) => unmounted).length >= 2,
  );
  for (let again = 0; again < 5; again++) await client.call('models.list');
  expect(waiting.length).toBeLessThanOrEqual(2);
  expect((await client.call('models.list')).find((model) => model.id === id)).toMatchObject({ missing: false });
  await client.call('models.load', { modelId: id });
  await expect(client.call('models.import', { path: join(share, 'new') })).rejects.toMatchObject({
    code: 'unreadable',
  });
  speak(share);
  await until(
    () => client.call('models.list'),
    (list) => list.every(({ missing }) => !missing),
  );
}, 60_000);

test('a library on a drive that does not answer: told as away, nothing waits for it, there again by itself', async () => {
  const { client, fallSilent, speak } = await start();
  await client.call('downloads.start', { reference: 'acme/tiny' });
  const { id } = await named(client, 'tiny', ({ missing }) => !missing);
  const folder = join(newFolder(), 'share');
  mkdirSync(folder);
  await client.call('library.move', { folder });
  await until(
    () => client.call('library.state'),
    ({ folder: now, move }) => now === folder && move === null,
  );
  fallSilent(folder);
  expect(await client.call('library.state')).toMatchObject({ unmounted: true });
  expect(await named(client, 'tiny', ({ unmounted }) => unmounted)).toMatchObject({ missing: true });
  const refused = { code: 'model-missing', details: { reason: 'unmounted' } };
  await expect(client.call('models.load', { modelId: id })).rejects.toMatchObject(refused);
  await expect(client.call('models.verify', { modelId: id })).rejects.toMatchObject(refused);
  await client.call('downloads.start', { reference: 'acme/tiny', name: 'again' });
  await until(
    async () => (await client.call('downloads.list'))[0],
    (item) => item?.status.phase === 'waitingForLibrary',
  );
  speak(folder);
  await until(
    () => client.call('downloads.list'),
    (list) => list.length === 0,
  );
  await named(client, 'tiny', ({ missing, unmounted }) => !missing && !unmounted);
  await client.call('models.load', { modelId: id });
}, 60_000);
