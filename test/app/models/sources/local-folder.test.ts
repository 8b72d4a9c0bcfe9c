import { copyFileSync, cpSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, test, vi } from 'vitest';
import { openFile } from '../../../../app/models/network/file-transport.ts';
import type { Answered } from '../../../../app/models/network/transport.ts';
import type { Client, ModelEntry } from '../../../../app/protocol/index.ts';
import { golden } from '../../../support/addon.ts';
import { newFolder, places, startCore } from '../../../support/core/core.ts';

//  A folder on another disk or on the network is a source like a hub: looked at, searched, copied with every byte checked.

const gguf = join(golden, 'gguf_models/qwen35');
const starter = join(places.resources, 'starter-model');

function shareWithModels(): string {
  const share = newFolder();
  cpSync(starter, join(share, 'acme', 'tiny'), { recursive: true });
  mkdirSync(join(share, 'loose'));
  const [name = ''] = readdirSync(gguf).filter((file) => file.endsWith('mixed.gguf'));
  copyFileSync(join(gguf, name), join(share, 'loose', name));
  return share;
}

const arrived = (client: Client, name: string): Promise<ModelEntry> =>
  vi.waitFor(
    async () => {
      const found = (await client.call('models.list')).find((model) => model.name === name);
      if (!found) throw new Error(JSON.stringify(await client.call('downloads.list')));
      return found;
    },
    { timeout: 20_000, interval: 50 },
  );

test('models of a folder are found by their path, looked at by their headers, and copied whole', async () => {
  const share = shareWithModels();
  const { client, dataFolder } = await startCore();
  await client.call('settings.set', { extraModelFolder: share, network: 'off' });
  const found = await client.call('models.search', { text: 'TINY', source: 'folder' });
  expect(found).toMatchObject([{ source: 'folder', name: join(share, 'acme', 'tiny') }]);
  expect(await client.call('models.search', { text: '', source: 'folder' })).toHaveLength(2);

  const reference = join(share, 'acme', 'tiny');
  const look = await client.call('models.inspectRemote', { reference });
  expect(look).toMatchObject({
    source: 'folder',
    host: null,
    variants: [{ id: '.', description: { supported: true } }],
  });
  await client.call('downloads.start', { reference });
  const model = await arrived(client, 'tiny');
  expect(model.path?.startsWith(dataFolder)).toBe(true);
  rmSync(share, { recursive: true });
  const read = (folder: string) => readFileSync(join(folder, 'model.safetensors'));
  expect(read(model.path as string).equals(read(starter))).toBe(true);
  expect(await client.call('models.verify', { modelId: model.id })).toMatchObject({ damaged: [] });
  expect(await client.call('privacy.networkLog')).toEqual([]);
}, 60_000);

test('one GGUF file, and one in a store of blobs without an ending', async () => {
  const share = shareWithModels();
  const { client } = await startCore();
  const [name = ''] = readdirSync(join(share, 'loose'));
  await client.call('downloads.start', { reference: join(share, 'loose', name), name: 'By its name' });
  expect(await arrived(client, 'By its name')).toMatchObject({ description: { container: 'gguf' } });
  const blob = join(share, `sha256-${'a'.repeat(64)}`);
  renameSync(join(share, 'loose', name), blob);
  writeFileSync(join(share, 'notes'), 'no model');
  await client.call('downloads.start', { reference: blob, name: 'From a blob' });
  expect(await arrived(client, 'From a blob')).toMatchObject({ description: { supported: true } });
  await expect(client.call('models.inspectRemote', { reference: join(share, 'notes') })).rejects.toMatchObject({
    code: 'unreadable',
  });
  await expect(client.call('models.inspectRemote', { reference: join(share, 'gone') })).rejects.toMatchObject({
    code: 'not-found',
  });
}, 60_000);

test('bytes of a file are answered as a server with ranges does', async () => {
  const path = join(newFolder(), 'ten');
  writeFileSync(path, '0123456789');
  const { signal } = new AbortController();
  const ask = (range?: string, at = path) =>
    openFile(pathToFileURL(at), { 'accept-encoding': 'identity', ...(range && { range }) }, signal);
  const textOf = async ({ body }: Answered) => {
    const parts: Uint8Array[] = [];
    for await (const part of body) parts.push(part);
    return Buffer.concat(parts).toString();
  };
  expect(await textOf(await ask())).toBe('0123456789');
  const part = await ask('bytes=3-5');
  expect([part.status, part.header('content-range'), await textOf(part)]).toEqual([206, 'bytes 3-5/10', '345']);
  expect((await ask('bytes=20-30')).status).toBe(416);
  expect((await ask(undefined, `${path}-gone`)).status).toBe(404);
});
