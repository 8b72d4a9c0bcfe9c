import { writeFileSync } from 'node:fs';
import { createServer, type RequestListener, type Server } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import { type AddressInfo, createServer as createPlainServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { afterEach, expect, onTestFinished, test, vi } from 'vitest';
import { network, request } from '../../../app/models/network/http-request.ts';
import { takeRoute } from '../../../app/models/network/network-config.ts';
import { hubSource } from '../../../app/models/sources/hugging-face.ts';
import { modelScopeSource } from '../../../app/models/sources/modelscope.ts';
import type { Certificate } from '../../../app/server/certificate.ts';
import { newFolder, startCore } from '../../support/core/core.ts';
import { selfSigned } from '../../support/fakes/certificates.ts';
import { tallyOf } from '../tally.ts';

//  Attacks on the way to a hub: impostors and men in the middle.

vi.setConfig({ testTimeout: 120_000 });
const tally = tallyOf('hub');
/** A time limit like the core's; a proxy that hangs up is retried until then. */
const soon = () => AbortSignal.timeout(2000);
const SECRET = 'hf_secretsecretsecret';

const closing: (() => void)[] = [];
afterEach(() => {
  for (const close of closing.splice(0)) close();
  takeRoute({ proxy: null, extraCaCertificates: null });
});

async function listen(server: Server | ReturnType<typeof createPlainServer>): Promise<number> {
  const sockets = new Set<Socket>();
  server.on('connection', (socket: Socket) => sockets.add(socket));
  closing.push(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready));
  return (server.address() as AddressInfo).port;
}

const plain = async (listener: RequestListener) => `http://127.0.0.1:${await listen(createServer(listener))}`;
const secure = async (own: Certificate, listener: RequestListener) =>
  `https://127.0.0.1:${await listen(createSecureServer(own, listener) as unknown as Server)}`;

const hub = (url: string) => hubSource({ id: 'mirror', url, token: async () => SECRET });
const WAYS: Readonly<Record<string, (url: string) => Promise<unknown>>> = {
  searched: (url) => hub(url).search({ text: 'x', limit: 20, onlyRunning: false }, soon()),
  'looked at': (url) => hub(url).repository('acme/tiny', null, soon()),
  'from the other hub': (url) => modelScopeSource(url).repository('acme/tiny', null, soon()),
  'for a file': (url) => request({ url: `${url}/x`, token: SECRET }, null, null, soon(), network),
};

const dayMs = 86_400_000;
const inDays = (days: number) => new Date(Date.now() + days * dayMs);

test('a certificate that is not good for this host, now, and vouched for, gets nothing', async () => {
  const trusted = {
    'one that has expired': selfSigned({ from: inDays(-10), until: inDays(-1) }),
    'one that is not valid yet': selfSigned({ from: inDays(1), until: inDays(10) }),
    'one for another address': selfSigned({ names: ['127.0.0.2'] }),
    'one for a name': selfSigned({ names: ['huggingface.co'] }),
    'one for every name': selfSigned({ names: ['*'] }),
    'one for a name that looks like the address': selfSigned({ names: ['127.0.0.1.evil.example'] }),
  };
  const sound = selfSigned();
  const pem = join(newFolder(), 'trusted.pem');
  writeFileSync(pem, [sound, ...Object.values(trusted)].map(({ cert }) => cert).join(''));
  takeRoute({ proxy: null, extraCaCertificates: pem });
  const heard: string[] = [];
  const listener: RequestListener = (asked, response) => {
    heard.push(`${asked.url} ${asked.headers.authorization}`);
    response.end('[]');
  };
  for (const [what, own] of Object.entries({ 'one that nobody vouches for': selfSigned(), ...trusted })) {
    const url = await secure(own, listener);
    for (const [how, ask] of Object.entries(WAYS)) {
      await tally.refused(`${what}, ${how}`, async () => {
        await expect(ask(url)).rejects.toMatchObject({
          code: 'network',
          message: expect.stringMatching(/certificate/i),
        });
        expect(heard.splice(0)).toEqual([]);
      });
    }
  }
  // The valid one is accepted.
  await WAYS.searched?.(await secure(sound, listener));
  expect(heard).toHaveLength(1);
  tally.settle();
});

test('what is secret goes over https or not at all', async () => {
  const heard: string[] = [];
  const clear = await plain((asked, response) => {
    heard.push(asked.url ?? '');
    response.end('[]');
  });
  // The downgrade to http, tested without TLS.
  const open: typeof network.open = async () => ({
    status: 302,
    header: (name) => (name === 'location' ? `${clear}/in-clear` : null),
    body: (async function* () {})(),
    cancel: () => {},
  });
  await tally.refused('a redirect from https to http, for a file', async () => {
    await expect(
      request({ url: 'https://hub.example/x', token: SECRET }, null, null, soon(), { ...network, open }),
    ).rejects.toMatchObject({ code: 'server', message: expect.stringContaining('only https is allowed') });
  });
  const fetch: typeof network.fetch = async () =>
    new Response(null, { status: 302, headers: { location: `${clear}/in-clear` } });
  await tally.refused('a redirect from https to http, for a list', async () => {
    const source = hubSource({
      id: 'mirror',
      url: 'https://hub.example',
      token: async () => SECRET,
      net: () => ({ ...network, fetch }),
    });
    await expect(source.repository('acme/tiny', null, soon())).rejects.toMatchObject({ code: 'server' });
  });
  const down = await secure(selfSigned(), (_, response) => void response.writeHead(302, { location: clear }).end());
  for (const ask of Object.values(WAYS)) await ask(down).catch(() => {});
  expect(heard).toEqual([]);
  tally.settle();
});

const PASSWORD = 'hunter2-proxy';

/** Proxies that fail in different ways; some echo credentials. */
const PROXIES: Readonly<Record<string, () => Promise<number>>> = {
  'one that is not there': async () => {
    const server = createPlainServer();
    const port = await listen(server);
    server.close();
    return port;
  },
  'one that hangs up': () => listen(createPlainServer((socket) => void socket.destroy())),
  'one that talks nonsense': () => listen(createPlainServer((socket) => void socket.end('nonsense\r\n\r\n'))),
  'one that wants another password': () => proxyOf(407),
  'one that is not allowed to': () => proxyOf(403),
  'one that is broken': () => proxyOf(502),
  'one that leads elsewhere': () => proxyOf(302),
};

/** Answers every request and CONNECT with the credentials it received. */
const proxyOf = (status: number): Promise<number> =>
  listen(
    createPlainServer((socket) =>
      socket.once('data', (asked) => {
        const [, told = ''] = /proxy-authorization: (.*)\r\n/i.exec(String(asked)) ?? [];
        const credentials = Buffer.from(told.replace(/^Basic /, ''), 'base64').toString();
        socket.end(
          `HTTP/1.1 ${status} ${credentials}\r\nLocation: http://${credentials}@127.0.0.1:9/\r\n` +
            `Proxy-Authenticate: Basic realm="${credentials}"\r\nConnection: close\r\n\r\n${credentials}`,
        );
      }),
    ),
  );

test('the password of a proxy that fails is told to nobody: no error, no event, no log', async () => {
  const said: string[] = [];
  for (const name of ['log', 'warn', 'error', 'info'] as const) {
    const spy = vi.spyOn(console, name).mockImplementation((...words) => void said.push(words.map(String).join(' ')));
    onTestFinished(() => spy.mockRestore());
  }
  for (const [what, start] of Object.entries(PROXIES)) {
    const proxy = `http://user:${PASSWORD}@127.0.0.1:${await start()}`;
    takeRoute({ proxy, extraCaCertificates: null });
    for (const scheme of ['http', 'https']) {
      for (const [how, ask] of Object.entries(WAYS)) {
        await tally.refused(`${what}, ${how}, over ${scheme}`, async () => {
          const error = await ask(`${scheme}://hub.example`).then(
            () => new Error('it answered'),
            (thrown: Error) => thrown,
          );
          expect(error.message).not.toBe('it answered');
          const { message, stack, cause: _, ...rest } = error as Error & Record<string, unknown>;
          expect(`${message} ${stack} ${JSON.stringify(rest)} ${said.splice(0).join(' ')}`).not.toContain(PASSWORD);
        });
      }
    }
  }
  tally.settle();
});

test('nor what a core tells and keeps', async () => {
  const { client } = await startCore();
  const told: string[] = [];
  client.on('notice', (notice) => told.push(JSON.stringify(notice)));
  client.on('downloads.changed', (downloads) => told.push(JSON.stringify(downloads)));
  for (const what of ['one that is not there', 'one that wants another password', 'one that is broken']) {
    const start = PROXIES[what] ?? expect.unreachable(what);
    await tally.refused(`${what}, by the calls`, async () => {
      await client.call('settings.set', { proxy: `http://user:${PASSWORD}@127.0.0.1:${await start()}` });
      for (const call of [
        () => client.call('models.search', { text: 'x', source: 'huggingface', limit: 5, all: true }),
        () => client.call('models.inspectRemote', { reference: 'acme/tiny' }),
        () => client.call('downloads.start', { reference: 'acme/tiny' }),
      ]) {
        const error = await (call() as Promise<unknown>).then(
          (value) => value,
          (thrown) => thrown,
        );
        told.push(`${error} ${JSON.stringify(error)}`);
      }
      told.push(
        JSON.stringify(await client.call('privacy.networkLog')),
        JSON.stringify(await client.call('downloads.list')),
      );
      expect(told.splice(0).join(' ')).not.toContain(PASSWORD);
    });
  }
  tally.settle();
});
