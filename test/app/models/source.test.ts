import { afterEach, expect, test } from 'vitest';
import { hubSource } from '../../../app/models/source-hub.ts';
import { urlSource } from '../../../app/models/source-other.ts';
import { content, type Hub, startHub } from '../../support/hub.ts';

const hubs: Hub[] = [];
afterEach(async () => {
  await Promise.all(hubs.splice(0).map((hub) => hub.stop()));
});
const never = new AbortController().signal;

test('a repository of the hub is pinned to its commit, with sizes and hashes', async () => {
  const hub = await startHub({ files: { 'config.json': content(300), 'model.safetensors': content(5000, 2) } });
  hubs.push(hub);
  const source = hubSource({ id: 'mirror', url: hub.url, token: async () => null });
  const repository = await source.repository('acme/tiny', null, never);
  expect(repository.commit).toBe(hub.commit);
  expect(repository.files.map((file) => [file.name, file.size, file.sha256])).toEqual([
    ['config.json', 300, hub.sha256('config.json')],
    ['model.safetensors', 5000, hub.sha256('model.safetensors')],
  ]);
  expect(
    (await source.search({ text: 'tiny', limit: 5, onlyRunning: true }, never)).map((model) => model.name),
  ).toEqual(['acme/tiny']);
});

test('a repository that needs a token says so, and is listed with one', async () => {
  const hub = await startHub({ files: { 'config.json': content(10) }, token: 'hf_x' });
  hubs.push(hub);
  const without = hubSource({ id: 'mirror', url: hub.url, token: async () => null });
  await expect(without.repository('acme/tiny', null, never)).rejects.toMatchObject({ code: 'gated' });
  const withToken = hubSource({ id: 'mirror', url: hub.url, token: async () => 'hf_x' });
  expect((await withToken.repository('acme/tiny', null, never)).files).toHaveLength(1);
});

test('a hub that cannot be reached is the network, not a crash', async () => {
  const source = hubSource({ id: 'mirror', url: 'http://127.0.0.1:9', token: async () => null });
  await expect(source.repository('acme/tiny', null, never)).rejects.toMatchObject({ code: 'network', transient: true });
});

test('a repository with a path out of its folder is refused', async () => {
  const hub = await startHub({ files: { '../../evil.sh': content(10) } });
  hubs.push(hub);
  const source = hubSource({ id: 'mirror', url: hub.url, token: async () => null });
  await expect(source.repository('acme/tiny', null, never)).rejects.toMatchObject({ code: 'bad-name' });
});

test('a plain address is one file with its validator', async () => {
  const hub = await startHub({ files: { 'model.gguf': content(4096) } });
  hubs.push(hub);
  const repository = await urlSource().repository(hub.addressOf('model.gguf').url, null, never);
  expect(repository.files[0]).toMatchObject({ name: 'model.gguf', size: 4096, etag: `"${hub.sha256('model.gguf')}"` });
});
