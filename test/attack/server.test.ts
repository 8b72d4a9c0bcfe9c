import { mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { WebSocket } from 'ws';
import { socketPath, type Upload, uploadPath } from '../../app/protocol/index.ts';
import { type BrowserHost, startBrowserHost } from '../../app/server/browser-host.ts';
import { contentPolicy } from '../../app/server/policy.ts';
import { enter, openSocket } from '../support/browser.ts';
import { newFolder, startCore } from '../support/core.ts';
import { tallyOf } from './tally.ts';

const tally = tallyOf('server');

async function serve(port = 0): Promise<BrowserHost & { origin: string; cookie: string; dataFolder: string }> {
  const { host, dataFolder } = await startCore();
  const renderer = join(newFolder(), 'renderer');
  mkdirSync(join(renderer, 'assets'), { recursive: true });
  writeFileSync(join(renderer, 'index.html'), '<!doctype html><title>Longhand</title>');
  writeFileSync(join(renderer, 'assets', 'page-1a2b.js'), 'export {}');
  writeFileSync(join(renderer, '..', 'secret.txt'), 'secret');
  const served = await startBrowserHost({ host, renderer, port });
  onTestFinished(() => served.close());
  return { ...served, ...(await enter(served.address)), dataFolder };
}

/** fetch() may not set Host or Origin; this may. */
function ask(
  port: number,
  options: { path?: string; method?: string; headers?: Record<string, string> },
): Promise<{ status: number; body: string; headers: Record<string, unknown> }> {
  return new Promise((resolve, reject) => {
    const sent = request({ host: '127.0.0.1', port, path: '/', ...options }, (answer) => {
      let body = '';
      answer.on('data', (chunk) => {
        body += chunk;
      });
      answer.on('end', () => resolve({ status: answer.statusCode ?? 0, body, headers: answer.headers }));
    });
    sent.on('error', reject);
    sent.end();
  });
}

const statusOfSocket = (port: number, headers: Record<string, string>, path = socketPath): Promise<number | 'open'> =>
  new Promise((resolve) => {
    const socket = new WebSocket(`ws://127.0.0.1:${port}${path}`, { headers });
    socket.once('open', () => {
      socket.close();
      resolve('open');
    });
    socket.once('unexpected-response', (_, answer) => resolve(answer.statusCode ?? 0));
    socket.on('error', () => {});
  });

test('with the cookie the page comes, with a policy that allows nothing foreign', async () => {
  const { port, cookie } = await serve();
  const page = await ask(port, { headers: { cookie } });
  expect(page.status).toBe(200);
  expect(page.body).toContain('Longhand');
  expect(page.headers).toMatchObject({
    'content-security-policy': contentPolicy([`ws://127.0.0.1:${port}`, `ws://localhost:${port}`]),
    'x-content-type-options': 'nosniff',
    'referrer-policy': 'no-referrer',
    'cross-origin-opener-policy': 'same-origin',
  });
  expect(contentPolicy()).not.toMatch(/unsafe-eval(?<!wasm-unsafe-eval)|https?:|\*|script-src[^;]*unsafe-inline/);
  const script = await ask(port, { path: '/assets/page-1a2b.js', headers: { cookie } });
  expect(script.headers['content-type']).toContain('text/javascript');
});

test('the cookie cannot be read by scripts or sent from other sites, and comes only for the token', async () => {
  const { port, address } = await serve();
  const right = await fetch(address, { redirect: 'manual' });
  expect(right.headers.get('set-cookie')).toMatch(/HttpOnly; SameSite=Strict/);
  expect(right.headers.get('location')).toBe('/');
  const wrong = await ask(port, { path: '/?token=guess' });
  expect(wrong.status).toBe(403);
  expect(wrong.headers['set-cookie']).toBeUndefined();
  expect((await ask(port, {})).status).toBe(401);
  expect((await ask(port, { headers: { cookie: `longhand-${port}=forged` } })).status).toBe(401);
});

test('only our own names are served: another name for 127.0.0.1 is a rebinding attack', async () => {
  const { port, cookie } = await serve();
  for (const host of [
    'evil.example',
    `evil.example:${port}`,
    '127.0.0.1',
    `127.0.0.1:${port + 1}`,
    `0.0.0.0:${port}`,
  ]) {
    await tally.refused(`a request to ${host}`, async () =>
      expect((await ask(port, { headers: { host, cookie } })).status).toBe(400),
    );
    await tally.refused(`a socket to ${host}`, async () =>
      expect(await statusOfSocket(port, { host, cookie, origin: `http://${host}` })).toBe(400),
    );
  }
  tally.settle();
});

test('pages of other origins reach nothing, even with the cookie', async () => {
  const { port, cookie, origin } = await serve();
  for (const foreign of ['https://evil.example', 'null', `http://127.0.0.1:${port + 1}`, `https://127.0.0.1:${port}`]) {
    expect((await ask(port, { headers: { origin: foreign, cookie } })).status, foreign).toBe(403);
    expect((await ask(port, { path: uploadPath, method: 'POST', headers: { origin: foreign, cookie } })).status).toBe(
      403,
    );
    expect(await statusOfSocket(port, { origin: foreign, cookie }), foreign).toBe(403);
  }
  expect(await statusOfSocket(port, { cookie }), 'no origin').toBe(403);
  expect(await statusOfSocket(port, { origin }), 'no cookie').toBe(403);
  expect(await statusOfSocket(port, { origin, cookie }, '/elsewhere')).toBe(400);
  expect(await statusOfSocket(port, { origin, cookie })).toBe('open');
});

test('no path leads out of the folder of the page', async () => {
  const { port, cookie } = await serve();
  const paths = [
    '/../secret.txt',
    '/..%2fsecret.txt',
    '/%2e%2e/secret.txt',
    '/assets/../../secret.txt',
    '/..%5csecret.txt',
    '/%00',
    '/%',
  ];
  for (const path of paths) {
    const answer = await ask(port, { path, headers: { cookie } });
    expect(answer.body, path).not.toContain('secret');
    expect([200, 400, 404], path).toContain(answer.status);
  }
});

test('frames that are no calls end their own connection and nobody else’s', async () => {
  const { address } = await serve();
  const { client: good } = await openSocket(address);
  const bad: [string, string | Buffer][] = [
    ['no JSON', '{'],
    ['empty', ''],
    ['a list', '[]'],
    ['null', 'null'],
    ['no id', '{"call":"app.info"}'],
    ['an id that is no number', '{"id":"1","call":"app.info"}'],
    ['binary', Buffer.from([1, 2, 3])],
    ['larger than allowed', `"${'x'.repeat(33 * 1024 * 1024)}"`],
    ['deep', '['.repeat(200_000) + ']'.repeat(200_000)],
  ];
  for (const [what, frame] of bad) {
    const { socket } = await openSocket(address);
    const closed = new Promise<number>((resolve) => socket.once('close', resolve));
    socket.send(frame);
    expect([1007, 1008, 1009, 1006], what).toContain(await closed);
  }
  expect(await good.call('app.info')).toMatchObject({ shell: 'browser' });
});

test('calls that do not fit the table are answered with a code and change nothing', async () => {
  const { address } = await serve();
  const { client, socket } = await openSocket(address);
  const answers = new Map<number, { failure?: { code: string } }>();
  socket.on('message', (data) => {
    const frame = JSON.parse(String(data)) as { id?: number; failure?: { code: string } };
    if (frame.id !== undefined) answers.set(frame.id, frame);
  });
  const calls: [string, unknown][] = [
    ['no.such', {}],
    ['constructor', {}],
    ['__proto__', {}],
    ['chats.get', undefined],
    ['chats.get', { chatId: 5 }],
    ['chats.list', { limit: 1e9 }],
    ['chats.update', { chatId: 'x', title: 'y'.repeat(501) }],
    ['settings.set', { theme: 'loud' }],
    ['settings.set', { sidebarWidth: null }],
    ['turns.send', { chatId: 'x', text: ['a'] }],
  ];
  for (const [index, [call, input]] of calls.entries()) socket.send(JSON.stringify({ id: 9000 + index, call, input }));
  const before = await client.call('settings.get');
  for (const [index, [call]] of calls.entries()) {
    expect(answers.get(9000 + index)?.failure?.code, call).toBe('bad-request');
  }
  await expect(client.call('chats.get', { chatId: 'unknown' as never })).rejects.toMatchObject({ code: 'not-found' });
  expect(await client.call('settings.get')).toEqual(before);
  expect(({} as Record<string, unknown>).polluted).toBeUndefined();
});

test('an upload is written as it comes, keeps no path of its own, and can be attached', async () => {
  const { address, origin, cookie } = await serve();
  const bytes = 'line of text\n'.repeat(200_000);
  const answer = await fetch(`${origin}${uploadPath}?name=${encodeURIComponent('../../etc/notes.txt')}`, {
    method: 'POST',
    headers: { origin, cookie },
    body: bytes,
  });
  const upload = (await answer.json()) as Upload;
  expect(upload).toMatchObject({ name: 'notes.txt', bytes: bytes.length });
  expect(readFileSync(upload.path, 'utf8')).toBe(bytes);
  const { client } = await openSocket(address);
  const chat = await client.call('chats.create', {});
  const attached = await client.call('attachments.add', { chatId: chat.id, path: upload.path, name: upload.name });
  expect(attached).toMatchObject({ name: 'notes.txt', bytes: bytes.length });
});

test('a port that is taken is passed over', async () => {
  const blocker = createServer().listen(0, '127.0.0.1');
  onTestFinished(() => void blocker.close());
  await new Promise((resolve) => blocker.once('listening', resolve));
  const taken = (blocker.address() as AddressInfo).port;
  const served = await serve(taken);
  expect(served.port).toBeGreaterThan(taken);
});

test('the token is kept for the next start, readable by its owner alone', async () => {
  const { dataFolder, address } = await serve();
  const path = join(dataFolder, 'browser-token');
  expect(address).toContain(readFileSync(path, 'utf8'));
  expect(statSync(path).mode & 0o777).toBe(0o600);
});

test('a host with the same folder is pointed to', async () => {
  const { host, dataFolder } = await startCore();
  host.announce('http://127.0.0.1:1/?token=x');
  await expect(startCore({ dataFolder })).rejects.toMatchObject({
    code: 'data-folder-held',
    details: { address: 'http://127.0.0.1:1/?token=x' },
  });
});
