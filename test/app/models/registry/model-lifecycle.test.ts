import { cpSync, existsSync, mkdirSync, renameSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import type { Client, ModelEntry } from '../../../../app/protocol/index.ts';
import { openDatabase } from '../../../../app/store/database/database.ts';
import { newFolder, next, startCore } from '../../../support/core/core.ts';
import { starter } from '../../../support/models/models.ts';

//  A model is removed and taken back: its files and its row go together, whatever fails between.

async function fetched(client: Client, name = 'tiny'): Promise<ModelEntry> {
  const folder = join(newFolder(), name);
  cpSync(starter, folder, { recursive: true });
  const arrived = next(client, 'download.finished', (model) => model.name === name);
  await client.call('downloads.start', { reference: folder });
  return arrived;
}

/** From now on the database refuses; as a full disk or a broken one does. */
function refusing(dataFolder: string, what: 'DELETE' | 'INSERT'): () => void {
  const db = openDatabase(join(dataFolder, 'longhand.db'));
  db.script(`CREATE TRIGGER refuse BEFORE ${what} ON models BEGIN SELECT RAISE(ABORT, 'disk I/O error'); END`);
  return () => {
    db.script('DROP TRIGGER refuse');
    db.close();
  };
}

const ids = async (client: Client) => (await client.call('models.list')).map(({ id }) => id);
const whole = { damaged: [] };

test('a removal that the database refuses leaves the model, its presets and its files', async () => {
  const first = await startCore();
  const { client } = first;
  const { id: modelId } = await fetched(client);
  const preset = await client.call('models.duplicate', { modelId, name: 'tiny preset' });
  const allow = refusing(first.dataFolder, 'DELETE');
  await expect(client.call('models.remove', { modelId })).rejects.toThrow();
  allow();
  expect(await ids(client)).toEqual(expect.arrayContaining([modelId, preset.id]));
  expect(await client.call('models.verify', { modelId })).toMatchObject(whole);
  await first.host.close();
  const { client: later } = await startCore({ dataFolder: first.dataFolder });
  expect(await later.call('models.verify', { modelId })).toMatchObject(whole);
});

test('an app that ended between the files and the database finds the model again', async () => {
  const first = await startCore();
  const { id: modelId, path } = await fetched(first.client);
  await first.host.close();
  const folder = path as string;
  const aside = join(dirname(folder), 'removed', modelId);
  mkdirSync(dirname(aside), { recursive: true });
  renameSync(folder, aside);
  const { client } = await startCore({ dataFolder: first.dataFolder });
  await expect.poll(() => existsSync(folder)).toBe(true);
  expect(await client.call('models.verify', { modelId })).toMatchObject(whole);
});

test('a model that the database does not take back can be taken back again, with its presets', async () => {
  const { client, dataFolder } = await startCore();
  const { id: modelId } = await fetched(client);
  const preset = await client.call('models.duplicate', { modelId, name: 'tiny preset' });
  await client.call('models.remove', { modelId });
  const allow = refusing(dataFolder, 'INSERT');
  await expect(client.call('models.restore', { modelId })).rejects.toThrow();
  allow();
  expect(await ids(client)).not.toContain(modelId);
  const [one, other] = await Promise.allSettled([
    client.call('models.restore', { modelId }),
    client.call('models.restore', { modelId }),
  ]);
  // Two windows undo the same: it comes back once.
  expect([one.status, other.status].sort()).toEqual(['fulfilled', 'rejected']);
  expect(await ids(client)).toEqual(expect.arrayContaining([modelId, preset.id]));
  expect(await client.call('models.verify', { modelId })).toMatchObject(whole);
});

test('a model that was taken back and is removed once more can be taken back for as long as the first time', async () => {
  const { client } = await startCore();
  const { id: modelId } = await fetched(client);
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  onTestFinished(() => void vi.useRealTimers());
  await client.call('models.remove', { modelId });
  await vi.advanceTimersByTimeAsync(40_000);
  await client.call('models.restore', { modelId });
  await client.call('models.remove', { modelId });
  await vi.advanceTimersByTimeAsync(40_000);
  expect((await client.call('models.restore', { modelId })).id).toBe(modelId);
});
