import { cpSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { BLOCK } from '../../../app/models/storage/block-map.ts';
import type { Client, Download } from '../../../app/protocol/index.ts';
import { newFolder, startCore } from '../../support/core/core.ts';
import { starter } from '../../support/models/models.ts';

//  A file that changes at its source while it is fetched: the user says which one it shall be.

const weightsOf = (folder: string) => join(folder, 'model.safetensors');

async function until(client: Client, fits: (item: Download | undefined) => boolean): Promise<Download | undefined> {
  return vi.waitFor(
    async () => {
      const [item] = await client.call('downloads.list');
      if (!fits(item)) throw new Error(`not yet: ${JSON.stringify(item)}`);
      return item;
    },
    { timeout: 20_000, interval: 20 },
  );
}

/** Some of a model is here, and its source has another one now; the old one is kept beside it. */
async function changedOnTheWay() {
  const folder = join(newFolder(), 'tiny');
  cpSync(starter, folder, { recursive: true });
  const old = readFileSync(weightsOf(folder));
  const { client } = await startCore();
  await client.call('settings.set', { downloadLimit: 6e6 });
  const { id: downloadId } = await client.call('downloads.start', { reference: folder });
  await until(client, (item) => (item?.done ?? 0) > 3 * BLOCK);
  await client.call('downloads.pause', { downloadId });
  const newer = Buffer.from(old);
  newer[newer.length - 1] = (newer.at(-1) ?? 0) ^ 1;
  renameSync(weightsOf(folder), `${weightsOf(folder)}.old`);
  writeFileSync(weightsOf(folder), newer);
  await client.call('settings.set', { downloadLimit: null });
  await client.call('downloads.resume', { downloadId });
  const item = await until(client, (now) => now?.status.phase === 'changed');
  // Nothing of the old one is lost before somebody decides.
  expect(item?.done).toBeGreaterThan(3 * BLOCK);
  return { client, downloadId, folder, old, newer };
}

const arrived = async (client: Client) => {
  await until(client, (item) => item === undefined);
  const model = (await client.call('models.list')).find(({ name }) => name === 'tiny');
  expect(await client.call('models.verify', { modelId: model?.id as never })).toMatchObject({ damaged: [] });
  return readFileSync(weightsOf(model?.path as string));
};

test('the new one: what came of the old is given up, and the model is the new one', async () => {
  const { client, downloadId, newer } = await changedOnTheWay();
  const twice = await Promise.allSettled([
    client.call('downloads.update', { downloadId }),
    client.call('downloads.update', { downloadId }),
  ]);
  // Two windows decide the same: it is begun once.
  expect(twice.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
  expect((await arrived(client)).equals(newer)).toBe(true);
}, 60_000);

test('the old one again: when its source has it back it goes on where it was', async () => {
  const { client, downloadId, folder, old } = await changedOnTheWay();
  renameSync(`${weightsOf(folder)}.old`, weightsOf(folder));
  await client.call('downloads.resume', { downloadId });
  expect((await arrived(client)).equals(old)).toBe(true);
}, 60_000);
