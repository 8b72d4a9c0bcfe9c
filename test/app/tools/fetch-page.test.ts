import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { network } from '../../../app/models/network/http-request.ts';
import { openHttp } from '../../../app/models/network/http-transport.ts';
import type { Client } from '../../../app/protocol/index.ts';
import { listen, readMessage, startCore } from '../../support/core/core.ts';
import { scriptedEngine } from '../../support/core/scripted-engine.ts';
import { call, decide, template } from './tool-servers.ts';

//  Pages of a real server, which two made-up names lead to; the model alone is scripted.

const SITES = ['pages.example', 'other.example'];

async function site(answer: (request: IncomingMessage, response: ServerResponse) => void) {
  const asked: string[] = [];
  const server = createServer((request, response) => {
    asked.push(`${request.headers.host}${request.url}`);
    answer(request, response);
  });
  await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  const open: typeof network.open = (url, headers, signal, reach) => {
    expect(reach).toBe('public');
    if (!SITES.includes(url.hostname)) throw new Error(`nobody knows ${url.hostname}`);
    const there = new URL(`http://127.0.0.1:${port}${url.pathname}${url.search}`);
    return openHttp(there, { ...headers, host: url.host } as typeof headers, signal);
  };
  return { asked, net: { ...network, open } };
}

async function start(steps: readonly string[], net: typeof network) {
  let step = 0;
  const says = ({ priority }: { priority: string }) => (priority === 'chat' ? (steps[step++] ?? 'Done.') : '');
  const core = await startCore({ startEngine: scriptedEngine(says, 4e9, template).startEngine, models: { net } });
  return { ...core, heard: listen(core.client) };
}

async function ask(client: Client, heard: ReturnType<typeof listen>, unattended = false) {
  const chat = await client.call('chats.create', {});
  await client.call('chats.update', { chatId: chat.id, tools: ['fetch_page'] });
  const sent = await client.call('turns.send', { chatId: chat.id, text: 'Look it up.', unattended });
  await heard.end(sent.turnId);
  const { toolUses } = await readMessage(client, chat.id, sent.messageId);
  return toolUses.map(({ state, result }) => [state.status, result]);
}

const page = (url: string, part?: number) => call('fetch_page', { url, ...(part !== undefined && { part }) });

const HTML = `<!doctype html><html><head><title>Rent</title><script>alert("no")</script></head><body><nav>Menu</nav>
<h1>Rent law</h1><p>The deposit is <b>three</b> rents.</p><ul><li>Cold rent</li></ul></body></html>`;

test('a page is opened where its site is allowed: once, in this chat, always; the privacy page lists it', async () => {
  const { asked, net } = await site((_, response) =>
    response.writeHead(200, { 'content-type': 'text/html; charset=utf-8' }).end(HTML),
  );
  const steps = ['/a', '/b', '/c'].map((path) => page(`https://pages.example${path}#there`));
  const other = page('https://other.example/');
  const { client, heard } = await start([...steps, other, 'So.', other, page('https://pages.example/d'), 'So.'], net);
  const hosts: (string | null)[] = [];
  client.on('turn', ({ event }) => {
    if (event.type === 'tool' && event.use.state.status === 'asking') hosts.push(event.use.state.host);
  });
  decide(client, ['once', 'chat', 'always']);
  const text = (path: string) =>
    `https://${path}, part 1 of 1\n\n# Rent law\n\nThe deposit is three rents.\n\n- Cold rent`;
  expect(await ask(client, heard)).toEqual([
    ['done', text('pages.example/a')],
    ['done', text('pages.example/b')],
    ['done', text('pages.example/c')],
    ['done', text('other.example/')],
  ]);
  // Once is not for long; what is allowed for the chat is not asked about again in it.
  expect(hosts).toEqual(['pages.example', 'pages.example', 'other.example']);
  expect(asked).toEqual(['pages.example/a', 'pages.example/b', 'pages.example/c', 'other.example/']);
  expect(await client.call('tools.pageHosts')).toEqual(['other.example']);

  // Another chat, where nobody is there to be asked.
  expect(await ask(client, heard, true)).toEqual([
    ['done', text('other.example/')],
    ['refused', 'Error: the user did not allow this call.'],
  ]);
  expect(asked).toHaveLength(5);
  const log = await client.call('privacy.networkLog');
  expect(log.map(({ host, reason, allowed, requestCount }) => [host, reason, allowed, requestCount]).sort()).toEqual([
    ['other.example', 'site', true, 2],
    ['pages.example', 'site', true, 3],
  ]);
  await client.call('tools.forgetPageHost', { host: 'other.example' });
  expect(await client.call('tools.pageHosts')).toEqual([]);
});

test('a redirect to another site, a file, an error, a page without end and the own network are sentences', async () => {
  const { asked, net } = await site(({ url }, response) => {
    if (url === '/moved') return response.writeHead(302, { location: '/here' }).end();
    if (url === '/away') return response.writeHead(301, { location: 'https://evil.example/?taken=1' }).end();
    if (url === '/inside') return response.writeHead(301, { location: 'http://192.168.0.1/' }).end();
    if (url === '/circle') return response.writeHead(302, { location: '/circle' }).end();
    if (url === '/file') return response.writeHead(200, { 'content-type': 'application/zip' }).end('PK');
    if (url === '/untyped') return response.writeHead(200).end('Who knows?');
    if (url === '/gone') return response.writeHead(410).end();
    if (url === '/long') return response.writeHead(200, { 'content-type': 'text/plain' }).end('word\n'.repeat(2000));
    response.writeHead(200, { 'content-type': 'text/plain' });
    if (url === '/here') return response.end('Moved here.');
    const more = () => {
      while (response.write('x'.repeat(1 << 20)));
    };
    response.on('drain', more);
    more();
  });
  const at = (path: string, part?: number) => page(`https://pages.example${path}`, part);
  const own = ['http://localhost:80/', 'http://127.0.0.1/', 'http://[::1]/', 'http://10.0.0.1/', 'http://router/'];
  const calls = [
    ...['/moved', '/away', '/inside', '/circle', '/file', '/untyped', '/gone', '/endless'].map((path) => at(path)),
    at('/long', 2),
    at('/long', 3),
    ...own.map((url) => page(url)),
    page('file:///etc/passwd'),
    page('https://name:word@pages.example/'),
  ];
  // Six rounds at most: several calls in each.
  const steps = [calls.slice(0, 4), calls.slice(4, 10), calls.slice(10)].map((some) => some.join('\n'));
  const { client, heard } = await start(steps, net);
  decide(client, ['chat']);
  const wrong = '"url" must be an address like https://example.org/page';
  const inside = 'addresses of this computer and its network are not opened';
  expect((await ask(client, heard)).map(([, result]) => result?.replace(/^Error: /, '').slice(0, 100))).toEqual([
    'https://pages.example/moved, part 1 of 1\n\nMoved here.',
    'this page is now at https://evil.example/?taken=1; open that address instead',
    'this page is now at http://192.168.0.1/; open that address instead',
    'pages.example redirects more than 5 times',
    'this address has no page but a file (application/zip)',
    'this address has no page but a file (of an unknown type)',
    'pages.example answered with status 410',
    'this page of pages.example is larger than 8 MB',
    expect.stringMatching(/^https:\/\/pages\.example\/long, part 2 of 2\n\nword/),
    '"part" is 3; "https://pages.example/long" has 2 parts',
    ...own.map(() => inside),
    wrong,
    wrong,
  ]);
  expect(asked.filter((one) => one.endsWith('/long'))).toHaveLength(1);
  expect(asked.every((one) => one.startsWith('pages.example/'))).toBe(true);
}, 60_000);

test('a switched-off network opens nothing, and a name that leads into the own network is not followed there', async () => {
  const { asked, net } = await site((_, response) => response.end());
  const { client, heard } = await start([page('https://pages.example/')], net);
  await client.call('settings.set', { network: 'off' });
  decide(client, ['once']);
  const [[status, result] = []] = await ask(client, heard);
  expect([status, result]).toEqual(['failed', expect.stringContaining('the network is switched off')]);
  expect(asked).toEqual([]);
  // Resolved when it is connected to: this name is one of this computer everywhere.
  const reached = openHttp(
    new URL('http://localhost:9/'),
    { 'accept-encoding': 'identity' },
    AbortSignal.timeout(5000),
    'public',
  );
  await expect(reached).rejects.toThrow('localhost leads into the own network');
});

test('of four pages that are kept, the one that was not looked at for longest goes', async () => {
  const { asked, net } = await site((_, response) =>
    response.writeHead(200, { 'content-type': 'text/html; charset=utf-8' }).end(HTML),
  );
  const at = (path: string, part?: number) => page(`https://pages.example${path}`, part);
  const steps = ['/a', '/b', '/c', '/d'].map((path) => at(path));
  const { client, heard } = await start([...steps, at('/a', 1), at('/e'), at('/a', 1), at('/b', 1), 'So.'], net);
  decide(client, ['chat']);
  await ask(client, heard);
  expect(asked.map((address) => address.at(-1))).toEqual(['a', 'b', 'c', 'd', 'e', 'b']);
});
