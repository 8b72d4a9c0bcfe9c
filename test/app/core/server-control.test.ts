import { cpSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { type Client, LonghandError, type ServerState } from '../../../app/protocol/index.ts';
import { startApiServer } from '../../../app/server/api/api-server.ts';
import { newFolder, next, startCore } from '../../support/core/core.ts';
import { freePort } from '../../support/free-port.ts';
import { circling, repetitive } from '../../support/models/circling.ts';
import { starter } from '../../support/models/models.ts';

//  The server inside the app, by real requests over HTTP.

type On = Extract<ServerState, { phase: 'on' }>;

const startApp = (dataFolder = newFolder()) => startCore({ dataFolder, startServer: startApiServer });

async function reached<Phase extends ServerState['phase']>(client: Client, phase: Phase) {
  const state = await vi.waitUntil(async () => {
    const now = await client.call('server.state');
    return now.phase === phase && now;
  }, 10_000);
  return state as Extract<ServerState, { phase: Phase }>;
}

async function switchOn(client: Client, port?: number): Promise<On> {
  await client.call('settings.set', {
    serverOn: true,
    serverPort: port ?? (await freePort()),
  });
  return reached(client, 'on');
}

const models = (address: string, key: string) =>
  fetch(`${address}/v1/models`, {
    headers: { authorization: `Bearer ${key}` },
  }).then(({ status }) => status);

/** An answer that would go on for long. */
async function longAnswer(address: string, key: string, client: Client): Promise<Response> {
  const [model] = (
    (await (await fetch(`${address}/v1/models`, { headers: { 'x-api-key': key } })).json()) as {
      data: { id: string; kind: string }[];
    }
  ).data.filter(({ kind }) => kind === 'chat');
  const response = await fetch(`${address}/v1/chat/completions`, {
    method: 'POST',
    headers: { 'x-api-key': key, 'content-type': 'application/json' },
    body: JSON.stringify({
      model: model?.id,
      messages: [{ role: 'user', content: repetitive }],
      stream: true,
      temperature: circling.temperature,
      frequency_penalty: circling.frequencyPenalty,
    }),
  });
  await vi.waitUntil(async () => (await newest(client))?.writtenTokens, 30_000);
  return response;
}

const newest = async (client: Client) =>
  (await client.call('server.requests')).find(({ path }) => path.endsWith('completions'));

const ended = (response: Response) =>
  response.text().then(
    () => 'ended',
    () => 'cut',
  );

test('off until it is switched on; keys are needed, shown once, and kept as hashes across a restart', async () => {
  const dataFolder = newFolder();
  const first = await startApp(dataFolder);
  expect(await first.client.call('server.state')).toEqual({ phase: 'off' });
  const { key, added } = await first.client.call('server.addKey', {
    name: ' Editor ',
  });
  expect(added.name).toBe('Editor');
  expect(key).toMatch(/^lh-[\w-]{32}$/);
  const on = await switchOn(first.client);
  expect(new URL(on.address).hostname).toBe('127.0.0.1');
  expect(await models(on.address, key)).toBe(200);
  expect(await models(on.address, `${key}x`)).toBe(401);
  expect(await models(on.address, key.slice(0, -1))).toBe(401);
  const [listed] = await first.client.call('server.keys');
  expect(listed?.usedAt).toBeGreaterThan(0);
  expect(JSON.stringify(listed)).not.toContain(key);
  await expect(first.client.call('server.addKey', { name: 'editor' })).rejects.toMatchObject({ code: 'conflict' });
  await first.host.close();
  await expect(models(on.address, key)).rejects.toThrow();

  const again = await startApp(dataFolder);
  expect((await reached(again.client, 'on')).port).toBe(on.port);
  expect(await models(on.address, key)).toBe(200);
  const { DatabaseSync } = process.getBuiltinModule('node:sqlite');
  const db = new DatabaseSync(`${dataFolder}/longhand.db`, { readOnly: true });
  onTestFinished(() => db.close());
  expect(JSON.stringify(db.prepare('SELECT * FROM server_keys').all())).not.toContain(key.slice(8, -5));
}, 60_000);

test('a web page may ask as soon as its origin is named, and no longer than that', async () => {
  const { client } = await startApp();
  const { key } = await client.call('server.addKey', { name: 'Mine' });
  const { address, since } = await switchOn(client);
  const askedFrom = async (origin: string, method = 'GET') => {
    const { status, headers } = await fetch(`${address}/v1/models`, { method, headers: { 'x-api-key': key, origin } });
    return [status, headers.get('access-control-allow-origin')];
  };
  const mine = 'https://chat.example';
  expect(await askedFrom(mine)).toEqual([403, null]);
  await client.call('settings.set', { serverOrigins: [mine, 'app://editor'] });
  expect(await askedFrom(mine)).toEqual([200, mine]);
  expect(await askedFrom(mine, 'OPTIONS')).toEqual([204, mine]);
  expect(await askedFrom('app://editor')).toEqual([200, 'app://editor']);
  for (const other of ['http://chat.example', 'https://chat.example:444', 'https://a.chat.example', 'null'])
    expect(await askedFrom(other)).toEqual([403, null]);
  expect(await client.call('server.state')).toMatchObject({ phase: 'on', since });
  await client.call('settings.set', { serverOrigins: [] });
  expect(await askedFrom(mine)).toEqual([403, null]);
  for (const wrong of ['*', 'null', 'chat.example', 'https://chat.example/', 'https://*.example'])
    await expect(client.call('settings.set', { serverOrigins: [wrong] }), wrong).rejects.toThrow();
}, 60_000);

test('a key that is revoked opens nothing at once, and its answer ends; the other keys go on', async () => {
  const { client } = await startApp();
  const mine = await client.call('server.addKey', { name: 'Mine' });
  const other = await client.call('server.addKey', { name: 'Other' });
  const { address } = await switchOn(client);
  const response = await longAnswer(address, mine.key, client);
  expect(await newest(client)).toMatchObject({
    client: 'Mine',
    state: 'running',
    status: 200,
    inspected: false,
  });
  await client.call('server.revokeKey', { id: mine.added.id });
  expect(await models(address, mine.key)).toBe(401);
  expect(await models(address, other.key)).toBe(200);
  await ended(response);
  expect(await newest(client)).toMatchObject({ state: 'stopped' });
}, 60_000);

test('a request is stopped by its row; switching off ends what streams', async () => {
  const { client } = await startApp();
  const { key } = await client.call('server.addKey', { name: 'Mine' });
  const { address } = await switchOn(client);
  const stopped = await longAnswer(address, key, client);
  await client.call('server.stop', { id: (await newest(client))?.id ?? '' });
  await ended(stopped);
  expect(await newest(client)).toMatchObject({ state: 'stopped' });
  await client.call('server.clear');

  const cut = await longAnswer(address, key, client);
  await client.call('settings.set', { serverOn: false });
  expect(await ended(cut)).toBe('cut');
  await reached(client, 'off');
  await expect(models(address, key)).rejects.toThrow();
  await vi.waitUntil(async () => (await newest(client))?.state === 'stopped', 10_000);
}, 60_000);

test('texts are kept while the inspector is on, and no longer', async () => {
  const { client } = await startApp();
  const { key } = await client.call('server.addKey', { name: 'Mine' });
  const { address } = await switchOn(client);
  await client.call('settings.set', { serverInspector: true });
  const response = await longAnswer(address, key, client);
  const row = await newest(client);
  expect(row).toMatchObject({
    inspected: true,
    promptTokens: expect.any(Number),
  });
  const texts = await client.call('server.texts', { id: row?.id ?? '' });
  expect(texts?.asked.at(-1)?.text).toContain(repetitive);
  expect(JSON.stringify(await client.call('server.requests'))).not.toContain(repetitive.slice(0, 20));
  await client.call('settings.set', { serverInspector: false });
  expect(await client.call('server.texts', { id: row?.id ?? '' })).toBeNull();
  await client.call('server.stop', { id: row?.id ?? '' });
  await ended(response);
}, 60_000);

test('the texts of a request that was cleared from the list are none, which is no error where its details are still open', async () => {
  const { client } = await startApp();
  const { key } = await client.call('server.addKey', { name: 'Mine' });
  const { address } = await switchOn(client);
  expect(await models(address, key)).toBe(200);
  const row = await vi.waitUntil(async () =>
    (await client.call('server.requests')).find((one) => one.totalMs !== null),
  );
  await client.call('server.clear');
  expect(await client.call('server.requests')).toEqual([]);
  expect(await client.call('server.texts', { id: row.id })).toBeNull();
}, 60_000);

test('the first difference from what was read before is told: where, and with the inspector on in which line', async () => {
  const { client } = await startApp();
  const { key } = await client.call('server.addKey', { name: 'Mine' });
  const { address } = await switchOn(client);
  const model = (await client.call('models.list')).find(({ builtIn }) => builtIn)?.name ?? '';
  const tools = [
    { type: 'function', function: { name: 'look', description: 'Looks.', parameters: { type: 'object' } } },
  ];
  const ask = async (time: string, more: object = {}) => {
    const system = `You are a careful reviewer.\nThe time is ${time}.\nBe short.`;
    const messages = [
      { role: 'system', content: system },
      { role: 'user', content: 'Hello' },
    ];
    const response = await fetch(`${address}/v1/chat/completions`, {
      method: 'POST',
      headers: { 'x-api-key': key, 'content-type': 'application/json' },
      body: JSON.stringify({ model, messages, max_tokens: 2, reasoning_effort: 'none', ...more }),
    });
    expect(response.status).toBe(200);
    const row = await newest(client);
    return { row, texts: await client.call('server.texts', { id: row?.id ?? '' }) };
  };
  const first = await ask('09:39:12');
  expect(first).toMatchObject({ row: { differsAt: null, miss: null }, texts: null });
  const second = await ask('09:40:57');
  expect(second.row?.differsAt).toBeGreaterThan(second.row?.cachedTokens ?? Number.NaN);
  expect(second.row?.differsAt).toBeLessThan(second.row?.promptTokens ?? 0);
  expect(second.row?.miss).toMatchObject({ reason: 'boundary' });
  expect(second.texts).toBeNull();
  // At most the empty thinking differs, which an answer leaves out of the conversation.
  const same = await ask('09:40:57');
  expect(same.row?.differsAt ?? Number.POSITIVE_INFINITY).toBeGreaterThan((second.row?.differsAt ?? 0) + 10);
  expect(same.row?.cachedTokens).toBeGreaterThan(second.row?.differsAt ?? 0);

  await client.call('settings.set', { serverInspector: true });
  expect((await ask('09:41:00')).texts?.difference).toBeNull();
  const changed = await ask('09:42:30');
  expect(changed.texts?.difference).toEqual({
    role: 'system',
    before: 'You are a careful reviewer.',
    was: 'The time is 09:41:00.',
    now: 'The time is 09:42:30.',
  });
  expect(JSON.stringify(await client.call('server.requests'))).not.toContain('09:42:30');
  const offered = await ask('09:42:30', { tools });
  expect(offered.texts?.asked[0]).toMatchObject({ role: 'tools', text: expect.stringContaining('"look"') });
  expect(offered.texts?.difference).toMatchObject({ role: 'tools', was: expect.stringContaining('careful') });
  const called = await ask('09:42:30', { tools, tool_choice: 'required', max_tokens: 40 });
  expect(called.texts).toMatchObject({ difference: null, calls: expect.stringMatching(/^look \{/) });
}, 60_000);

test('who is refused is listed with the reason, without what was sent, also in Privacy, and pushes out no answer', async () => {
  const { client } = await startApp();
  const { key } = await client.call('server.addKey', { name: 'Mine' });
  const { address } = await switchOn(client);
  expect(await models(address, key)).toBe(200);
  const page = await fetch(`${address}/v1/models`, {
    headers: { 'x-api-key': key, origin: 'https://page.example' },
  });
  expect(page.status).toBe(403);
  for (let at = 0; at < 70; at++) await models(address, 'lh-not-a-key-of-mine');
  const rows = await client.call('server.requests');
  expect(rows.filter(({ state }) => state === 'refused')).toHaveLength(50);
  expect(rows.find(({ client: name }) => name === 'Mine')).toMatchObject({
    state: 'done',
    status: 200,
  });
  expect(rows[0]).toMatchObject({
    status: 429,
    reason: 'Too many wrong keys. Wait a minute, then try again.',
    client: null,
  });
  expect(JSON.stringify(rows)).not.toContain('not-a-key-of-mine');
  const contacts = await client.call('privacy.networkLog');
  expect(contacts).toContainEqual(
    expect.objectContaining({
      host: 'https://page.example',
      reason: 'visitor',
      allowed: false,
    }),
  );
  expect(JSON.stringify(contacts)).not.toContain('not-a-key-of-mine');
}, 60_000);

test('a taken port is said with a free one; it is taken as soon as it can be', async () => {
  const { client } = await startApp();
  const holder = createServer();
  await new Promise<void>((done) => holder.listen(0, '127.0.0.1', done));
  const { port } = holder.address() as AddressInfo;
  await client.call('settings.set', { serverOn: true, serverPort: port });
  const failed = await reached(client, 'failed');
  expect(failed).toMatchObject({ reason: 'taken', port });
  expect(failed.free).toBeGreaterThan(port);
  await new Promise((done) => holder.close(done));
  await client.call('server.retry');
  expect((await reached(client, 'on')).port).toBe(port);
  await client.call('settings.set', { serverPort: failed.free ?? 0 });
  await vi.waitUntil(async () => (await reached(client, 'on')).port === failed.free, 10_000);
}, 60_000);

test('where the next ports are taken too that is said, and not every port of the computer is tried', async () => {
  const tried: number[] = [];
  const { client } = await startCore({
    startServer: async ({ port }) => {
      tried.push(port);
      throw new LonghandError('conflict', `[server] port ${port} is taken`);
    },
  });
  await client.call('settings.set', { serverOn: true, serverPort: 20_000 });
  expect(await reached(client, 'failed')).toMatchObject({ reason: 'taken', free: null });
  expect(tried.length).toBeLessThan(50);
}, 60_000);

test('that a request is done is told to whoever watches the list', async () => {
  const { client } = await startApp();
  const { key } = await client.call('server.addKey', { name: 'Mine' });
  const { address } = await switchOn(client);
  const done = next(client, 'server.requests', ([row]) => row?.state === 'done');
  expect(await models(address, key)).toBe(200);
  expect((await done)[0]).toMatchObject({ client: 'Mine', path: '/v1/models', status: 200 });
}, 60_000);

test('a model that a program asked counts as used, like one that was asked in a chat', async () => {
  const { client } = await startApp();
  const { key } = await client.call('server.addKey', { name: 'Mine' });
  const { address } = await switchOn(client);
  const folder = join(newFolder(), 'my-model');
  cpSync(starter, folder, { recursive: true });
  const { id } = await client.call('models.import', { path: folder });
  const lastUse = async () => (await client.call('models.list')).find((one) => one.id === id)?.lastUsedAt;
  expect(await lastUse()).toBeNull();
  const messages = [{ role: 'user', content: 'Hello' }];
  const response = await fetch(`${address}/v1/chat/completions`, {
    method: 'POST',
    headers: { 'x-api-key': key, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'my-model', messages, max_tokens: 2 }),
  });
  expect(response.status).toBe(200);
  await response.text();
  expect(await lastUse()).toBeGreaterThan(0);
}, 60_000);

test('other devices are a second switch, which is heard at once; what keeps it from them leaves this computer served', async () => {
  const { client, dataFolder } = await startApp();
  const port = await freePort();
  const first = await switchOn(client);
  expect(first.network).toEqual({ status: 'off' });
  await client.call('settings.set', { serverNetwork: true, serverNetworkPort: port });
  const networkIs = (status: string) =>
    vi.waitUntil(async () => {
      const state = await client.call('server.state');
      return state.phase === 'on' && state.network.status === status && state;
    }, 10_000);
  const { network } = await networkIs('on');
  expect(network).toMatchObject({ port, fingerprint: expect.stringMatching(/^([0-9A-F]{2}:){31}[0-9A-F]{2}$/) });
  await client.call('settings.set', { serverCertificate: { certificate: join(dataFolder, 'none'), key: '/none' } });
  const { address } = await networkIs('failed');
  const { key } = await client.call('server.addKey', { name: 'editor' });
  expect(await models(address, key)).toBe(200);
  await client.call('settings.set', { serverCertificate: null });
  await networkIs('on');
  await client.call('settings.set', { serverNetwork: false });
  await networkIs('off');
  await expect(fetch(`https://127.0.0.1:${port}`)).rejects.toMatchObject({ cause: { code: 'ECONNREFUSED' } });
}, 60_000);
