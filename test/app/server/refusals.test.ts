import { createServer } from 'node:http';
import { createServer as createPlainServer } from 'node:net';
import { Hono } from 'hono';
import { expect, onTestFinished, test } from 'vitest';
import { WebSocket } from 'ws';
import { enterPath, pagePath, socketPath, subprotocol, ticketPath } from '../../../app/protocol/index.ts';
import { createAccess } from '../../../app/server/auth.ts';
import { listen } from '../../../app/server/listen.ts';
import { userOf } from '../../../app/server/peer-user.ts';
import { createRateLimit, maxGuesses } from '../../../app/server/rate-limit.ts';
import { createGuard } from '../../../app/server/request-guard.ts';
import { serveSockets } from '../../../app/server/socket.ts';

//  What a browser or a program is told that may not come in.

function guarded() {
  const access = createAccess(4817);
  const away: object[] = [];
  const { middleware } = createGuard({ access, port: 4817, turnedAway: (visitor) => away.push(visitor) });
  const app = new Hono().route('/', middleware).get('*', (context) => context.text('the page'));
  const ask = async (path: string, headers: Record<string, string> = {}, method = 'GET') => {
    const answer = await app.request(path, { method, headers: { host: 'localhost:4817', ...headers } }, {});
    return { status: answer.status, text: await answer.text(), headers: answer.headers };
  };
  return { access, away, ask };
}
const own = 'http://localhost:4817';

test.each([
  ['a page', {}, 200, 'the page'],
  ['a link on another page', { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate' }, 200, 'the page'],
  ['a part of its own', { 'sec-fetch-site': 'same-origin', 'sec-fetch-mode': 'no-cors' }, 200, 'the page'],
  [
    'a part of another',
    { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'no-cors' },
    403,
    'Other web pages are not allowed.',
  ],
  [
    'a part of one beside it',
    { 'sec-fetch-site': 'same-site', 'sec-fetch-mode': 'no-cors' },
    403,
    'Other web pages are not allowed.',
  ],
  ['another page', { origin: 'http://evil.example' }, 403, 'Other web pages are not allowed.'],
  ['another name', { host: 'evil.example:4817' }, 400, 'Requests to this host name are not allowed.'],
])('who asks for the page is answered or told why not: %s', async (_, headers, status, text) => {
  const { ask, away } = guarded();
  const answer = await ask('/', headers as Record<string, string>);
  expect(answer).toMatchObject({ status, text });
  expect(away).toHaveLength(status === 200 ? 0 : 1);
  expect(answer.headers.get('content-security-policy')).toContain(status === 200 ? "connect-src 'self' ws:" : "'none'");
});

test('who was turned away is reported by name and page', async () => {
  const { ask, away } = guarded();
  await ask('/', { host: 'evil.example', origin: 'http://evil.example' });
  await ask('/', { origin: 'http://other.example' });
  expect(away).toEqual([
    { host: 'evil.example', about: 'http://evil.example' },
    { host: 'localhost:4817', about: 'http://other.example' },
  ]);
});

test('a ticket admits one page, once; a key gets tickets, but not for a page', async () => {
  const { access, ask } = guarded();
  const bearer = (secret: string) => ({ authorization: `Bearer ${secret}` });
  const ticket = access.ticket();
  expect(await ask(enterPath, bearer(ticket), 'POST')).toMatchObject({ status: 403, text: 'Access denied.' });
  const entered = await ask(enterPath, { ...bearer(ticket), origin: own }, 'POST');
  const { secret } = JSON.parse(entered.text);
  expect([entered.status, entered.headers.get('cache-control')]).toEqual([200, 'no-store']);
  expect(await ask(enterPath, { ...bearer(ticket), origin: own }, 'POST')).toMatchObject({ status: 403 });
  expect(await ask(pagePath, bearer(secret))).toMatchObject({ status: 204, text: '' });
  const gone = 'This address no longer works. Start Longhand again to get a new one.';
  expect(await ask(pagePath, bearer('other'))).toMatchObject({ status: 401, text: gone });
  expect(await ask(ticketPath, { ...bearer(access.key), origin: own }, 'POST')).toMatchObject({ status: 403 });
  expect(await ask(ticketPath, bearer('other'), 'POST')).toMatchObject({ status: 403 });
  const { ticket: next } = JSON.parse((await ask(ticketPath, bearer(access.key), 'POST')).text);
  expect((await ask(enterPath, { ...bearer(next), origin: own }, 'POST')).status).toBe(200);
});

test('of a hundred and one tickets the oldest no longer admits', () => {
  const access = createAccess(1);
  const tickets = Array.from({ length: 101 }, () => access.ticket());
  expect([access.enter(tickets[0] ?? ''), typeof access.enter(tickets[1] ?? '')]).toEqual([null, 'string']);
});

test('twenty wrong guesses a minute are answered, further ones are told to wait', async () => {
  const { ask } = guarded();
  const told: string[] = [];
  for (let guess = 0; guess < 22; guess++)
    told.push(`${(await ask(ticketPath, { authorization: `Bearer ${guess}` }, 'POST')).status}`);
  expect(told).toEqual([...Array.from({ length: 20 }, () => '403'), '429', '429']);
  let now = 0;
  const limit = createRateLimit(() => now);
  const wrongs = () => Array.from({ length: maxGuesses + 1 }, () => limit.wrong()).filter(Boolean).length;
  expect(wrongs()).toBe(1);
  now = 59_999;
  expect(limit.wrong()).toBe(true);
  now = 120_000;
  expect(wrongs()).toBe(1);
});

test('the user of a connection is read from the line of both its ends', () => {
  const line = (from: string, to: string, uid: number) =>
    `   1: 0100007F:${from} 0100007F:${to} 01 00000000:00000000 02:0000 00000000  ${uid}        0 12345 1 0000`;
  const table = ['  sl  local_address rem_address', line('12D1', 'C350', 7), line('00FF', '12D1', 1001), ''].join('\n');
  expect([userOf(255, 4817, table), userOf(4817, 50_000, table), userOf(254, 4817, table)]).toEqual([1001, 7, null]);
});

test('a port that is taken is said to be, and a server listens here or in the network', async () => {
  const other = createPlainServer();
  await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void other.close());
  const { port } = other.address() as { port: number };
  const servers = [createServer(), createServer(), createServer()] as const;
  onTestFinished(() => servers.forEach((server) => void server.close()));
  const message = `[--port] ${port} is taken by another program`;
  await expect(listen(servers[0], port)).rejects.toMatchObject({ code: 'conflict', message });
  expect(servers[0].listenerCount('error')).toBe(0);
  expect(await listen(servers[1], 0)).toBe((servers[1].address() as { port: number }).port);
  expect(servers[1].address()).toMatchObject({ address: '127.0.0.1' });
  expect(servers[1].listenerCount('error')).toBe(0);
  await listen(servers[2], 0, 'network');
  expect(servers[2].address()).not.toMatchObject({ address: '127.0.0.1' });
});

test('a socket is refused with the reason, and closed when what it says is no call', async () => {
  const server = createServer();
  const port = await listen(server, 0);
  const access = createAccess(port);
  let welcome = true;
  const heard: unknown[] = [];
  const served = serveSockets(server, {
    access,
    welcome: () => welcome,
    connect: (pipe) => pipe.onMessage((frame) => heard.push(frame)),
  });
  onTestFinished(() => {
    served.close();
    server.close();
  });
  const secret = access.enter(access.ticket()) ?? '';
  const origin = `http://127.0.0.1:${port}`;
  const open = ({
    path = socketPath,
    protocols = [subprotocol, secret],
    headers = { origin } as Record<string, string>,
  } = {}) => {
    const socket = new WebSocket(`ws://127.0.0.1:${port}${path}`, protocols, { headers });
    return new Promise<WebSocket | number>((resolve) => {
      socket.once('unexpected-response', (_, { statusCode = 0 }) => resolve(statusCode));
      socket.once('open', () => resolve(socket));
      socket.on('error', () => {});
    });
  };
  expect([
    await open({ path: '/other' }),
    await open({ headers: { origin, host: 'evil.example' } }),
    await open({ headers: {} }),
    await open({ headers: { origin: 'http://evil.example' } }),
    await open({ protocols: [subprotocol, 'wrong'] }),
    await open({ protocols: [subprotocol, secret, 'more'] }),
    await open({ protocols: [] }),
  ]).toEqual([400, 400, 403, 403, 403, 403, 403]);
  welcome = false;
  expect(await open()).toBe(403);
  welcome = true;
  const [first, ...more] = (await Promise.all(Array.from({ length: 50 }, () => open()))) as WebSocket[];
  expect(await open()).toBe(503);
  const closed = (socket: WebSocket | undefined) =>
    new Promise((resolve) => socket?.once('close', (code, reason) => resolve([code, String(reason)])));
  first?.send('{"call":1}');
  first?.send('no call');
  more[0]?.send(Buffer.from('{"call":2}'));
  expect(await Promise.all([closed(first), closed(more[0])])).toEqual([
    [1007, 'not JSON'],
    [1007, 'not JSON'],
  ]);
  expect(heard).toEqual([{ call: 1 }]);
});
