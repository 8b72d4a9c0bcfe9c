import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, expect, onTestFinished, test } from 'vitest';
import { network } from '../../../../app/models/network/http-request.ts';
import { hubSource } from '../../../../app/models/sources/hugging-face.ts';
import { modelScopeSource, urlSource } from '../../../../app/models/sources/modelscope.ts';
import { readRange } from '../../../../app/models/sources/remote-headers.ts';
import { content, type Hub, startHub } from '../../../support/fakes/hub.ts';

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

/** ModelScope's listing, search and files, as its own client reads them. */
async function startModelScope(commits: { told: string; files: [string, string] }) {
  const asked: string[] = [];
  const server = createServer((request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? '/', 'http://x');
    asked.push(request.url ?? '');
    const json = (value: unknown) =>
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(value));
    if (pathname === '/api/v1/models/acme/tiny/repo/files') {
      expect(searchParams.get('Revision')).toBe('master');
      const [older, newer] = commits.files;
      const Files = [
        { Path: 'sub', Type: 'tree', Size: 0, Revision: newer, CommittedDate: 2 },
        { Path: 'config.json', Type: 'blob', Size: 5, Sha256: 'a'.repeat(64), Revision: older, CommittedDate: 1 },
        { Path: 'sub/x.gguf', Type: 'blob', Size: 7, Revision: newer, CommittedDate: 2 },
      ];
      return json({ Code: 200, Data: { Files, LatestCommitter: { Id: commits.told } } });
    }
    if (pathname === '/api/v1/models') {
      return json({ Data: { Models: [{ Path: 'acme', Name: 'tiny', Downloads: 3, LastUpdatedTime: 9 }] } });
    }
    if (pathname.endsWith('/sub/x.gguf')) return response.writeHead(200, { 'content-length': 7 }).end('GGUF123');
    response.writeHead(404).end();
  });
  await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { source: modelScopeSource(`http://127.0.0.1:${(server.address() as AddressInfo).port}`), asked };
}

const [older, newer, told] = ['1', '2', '3'].map((digit) => digit.repeat(40)) as [string, string, string];

test.each([
  ['the listing tells', { told, files: [older, newer] }, told],
  ['its newest file tells', { told: '', files: [older, newer] }, newer],
  ['nothing tells', { told: 'v1.0', files: ['', ''] }, 'master'],
] as [string, { told: string; files: [string, string] }, string][])(
  'a repository of ModelScope is pinned to the commit that %s',
  async (_name, commits, commit) => {
    const { source, asked } = await startModelScope(commits);
    const repository = await source.repository('acme/tiny', null, never);
    expect(repository).toMatchObject({ source: 'modelscope', commit });
    expect(repository.files).toMatchObject([
      { name: 'config.json', size: 5, sha256: 'a'.repeat(64) },
      { name: 'sub/x.gguf', size: 7, sha256: null },
    ]);
    const [, weights] = repository.files;
    if (!weights) throw new Error('a file is missing');
    expect(Buffer.from(await readRange(weights, 0, 4, never, network)).toString()).toBe('GGUF');
    expect(asked.at(-1)).toBe(`/models/acme/tiny/resolve/${commit}/sub/x.gguf`);
    const query = { text: 'tiny', limit: 5, onlyRunning: true };
    expect(await source.search(query, never)).toMatchObject([{ name: 'acme/tiny', downloads: 3, updatedAt: 9000 }]);
  },
);
