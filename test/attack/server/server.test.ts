import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { WebSocket } from 'ws';
import { enterPath, socketPath, subprotocol, type Upload, uploadPath } from '../../../app/protocol/index.ts';
import { reachIn } from '../../../app/server/one-time-address.ts';
import { reachOf, readHolder } from '../../../app/store/lock.ts';
import { openSocket } from '../../support/core/browser.ts';
import { startCore } from '../../support/core/core.ts';
import { tallyOf } from '../tally.ts';
import { ask, bearer, serve, statusOfSocket } from './served.ts';

const tally = tallyOf('server');

test('the page comes with a policy that allows nothing foreign', async () => {
  const { port } = await serve();
  const page = await ask(port, {});
  expect(page.status).toBe(200);
  expect(page.body).toContain('Longhand');
  expect(page.headers).toMatchObject({
    'x-content-type-options': 'nosniff',
    'x-frame-options': 'DENY',
    'referrer-policy': 'no-referrer',
    'cross-origin-opener-policy': 'same-origin',
    'cross-origin-resource-policy': 'same-origin',
  });
  // Repeated here, so that a directive lost in the code is noticed.
  const allowed: Record<string, string> = {
    'default-src': "'none'",
    'script-src': "'self' 'wasm-unsafe-eval'",
    'worker-src': "'self' blob:",
    'style-src': "'self' 'unsafe-inline'",
    'img-src': "'self' data: blob:",
    'media-src': "'self' blob:",
    'font-src': "'self'",
    'connect-src': `'self' ws://127.0.0.1:${port} ws://localhost:${port}`,
    'manifest-src': "'self'",
    'base-uri': "'none'",
    'form-action': "'none'",
    'frame-ancestors': "'none'",
  };
  const policy = String(page.headers['content-security-policy']).split('; ');
  expect(Object.fromEntries(policy.map((one) => [one.split(' ')[0], one.slice(one.indexOf(' ') + 1)]))).toEqual(
    allowed,
  );
  const script = await ask(port, { path: '/assets/page-1a2b.js' });
  expect(script.headers['content-type']).toContain('text/javascript');
  expect(script.headers['content-security-policy']).toBe(page.headers['content-security-policy']);
});

test('only our own names are served: another name for 127.0.0.1 is a rebinding attack', async () => {
  const { port, secret } = await serve();
  for (const host of [
    'evil.example',
    `evil.example:${port}`,
    '127.0.0.1',
    `127.0.0.1:${port + 1}`,
    `0.0.0.0:${port}`,
    `[::1]:${port}`,
    `127.0.0.1.evil.example:${port}`,
    `localhost.evil.example:${port}`,
    `127.0.0.1:${port}.evil.example`,
    `2130706433:${port}`,
    `127.1:${port}`,
    `user@127.0.0.1:${port}`,
  ]) {
    await tally.refused(`a request to ${host}`, async () =>
      expect((await ask(port, { headers: { host, ...bearer(secret) } })).status).toBe(400),
    );
    await tally.refused(`a socket to ${host}`, async () =>
      expect(await statusOfSocket(port, [subprotocol, secret], { host, origin: `http://${host}` })).toBe(400),
    );
  }
  tally.settle();
});

test('pages of other origins reach nothing, even with the secret', async () => {
  const { port, secret, origin } = await serve();
  for (const foreign of [
    'https://evil.example',
    'null',
    '',
    'file://',
    'longhand://app',
    'chrome-extension://aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa',
    `http://127.0.0.1:${port + 1}`,
    `https://127.0.0.1:${port}`,
    `http://127.0.0.1:${port}.evil.example`,
    `http://evil.example#http://127.0.0.1:${port}`,
    `${origin}/`,
    ` ${origin}, https://evil.example`,
  ]) {
    const headers = { origin: foreign, ...bearer(secret) };
    await tally.refused(`a page asked by ${foreign}`, async () =>
      expect((await ask(port, { headers })).status).toBe(403),
    );
    await tally.refused(`an upload by ${foreign}`, async () =>
      expect((await ask(port, { path: uploadPath, method: 'POST', headers })).status).toBe(403),
    );
    await tally.refused(`a ticket used by ${foreign}`, async () =>
      expect((await ask(port, { path: enterPath, method: 'POST', headers })).status).toBe(403),
    );
    await tally.refused(`a socket of ${foreign}`, async () =>
      expect(await statusOfSocket(port, [subprotocol, secret], { origin: foreign })).toBe(403),
    );
  }
  for (const site of ['cross-site', 'same-site']) {
    for (const mode of ['no-cors', 'cors', 'websocket']) {
      const headers = { 'sec-fetch-site': site, 'sec-fetch-mode': mode };
      await tally.refused(`a script of ours in a page (${site}, ${mode})`, async () =>
        expect((await ask(port, { path: '/assets/page-1a2b.js', headers })).status).toBe(403),
      );
    }
  }
  tally.settle();
  expect(await statusOfSocket(port, [subprotocol, secret], {}), 'no origin').toBe(403);
  expect(await statusOfSocket(port, [subprotocol], { origin }), 'no secret').toBe(403);
  expect(await statusOfSocket(port, [subprotocol, secret], { origin }, '/elsewhere')).toBe(400);
  expect(await statusOfSocket(port, [subprotocol, secret], { origin })).toBe('open');
});

test('no path leads out of the folder of the page, nor into one beside it with a name that begins the same', async () => {
  const { port } = await serve();
  const paths = [
    '/../secret.txt',
    '/..%2fsecret.txt',
    '/%2e%2e/secret.txt',
    '/%2e%2e%2fsecret.txt',
    '/assets/../../secret.txt',
    '/..%5csecret.txt',
    '/../renderer-old/secret.txt',
    '/..%2frenderer-old%2fsecret.txt',
    '/%2e%2e/renderer-old/secret.txt',
    '/assets/..%2f..%2frenderer-old/secret.txt',
    '/%252e%252e/secret.txt',
    '/....//secret.txt',
    '/%c0%ae%c0%ae/secret.txt',
    '//etc/passwd',
    '/%2fetc%2fpasswd',
    '/%00',
    '/assets%00/../../secret.txt',
    '/%',
    '/%ff',
  ];
  for (const path of paths) {
    await tally.refused(path, async () => {
      const answer = await ask(port, { path });
      expect(answer.body).not.toMatch(/secret|root:/);
      expect([200, 400, 404]).toContain(answer.status);
    });
  }
  tally.settle();
});

test('frames that are no calls end their own connection and nobody else’s', async () => {
  const { address } = await serve();
  const { client: good } = await openSocket(address());
  const bad: [string, string | Buffer][] = [
    ['no JSON', '{'],
    ['empty', ''],
    ['a list', '[]'],
    ['null', 'null'],
    ['no id', '{"call":"app.info"}'],
    ['an id that is no number', '{"id":"1","call":"app.info"}'],
    ['an id below zero', '{"id":-1,"call":"app.info"}'],
    ['a name that is no text', '{"id":1,"call":["app.info"]}'],
    ['a very long name', `{"id":1,"call":"${'a'.repeat(101)}"}`],
    ['binary', Buffer.from([1, 2, 3])],
    ['larger than allowed', `"${'x'.repeat(33 * 1024 * 1024)}"`],
    ['deep', '['.repeat(200_000) + ']'.repeat(200_000)],
  ];
  for (const [what, frame] of bad) {
    await tally.refused(what, async () => {
      const { socket } = await openSocket(address());
      const closed = new Promise<number>((resolve) => socket.once('close', resolve));
      socket.send(frame);
      expect([1007, 1008, 1009, 1006]).toContain(await closed);
    });
  }
  tally.settle();
  expect(await good.call('app.info')).toMatchObject({ shell: 'browser' });
});

test('calls that do not fit the table are answered with a code and change nothing', async () => {
  const { address } = await serve();
  const { client, socket } = await openSocket(address());
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
  const { address, origin, secret } = await serve();
  const bytes = 'line of text\n'.repeat(200_000);
  const answer = await fetch(`${origin}${uploadPath}?name=${encodeURIComponent('../../etc/notes.txt')}`, {
    method: 'POST',
    headers: { origin, ...bearer(secret) },
    body: bytes,
  });
  const upload = (await answer.json()) as Upload;
  expect(upload).toMatchObject({ name: 'notes.txt', bytes: bytes.length });
  expect(readFileSync(upload.path, 'utf8')).toBe(bytes);
  const { client } = await openSocket(address());
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

test('a host with the same folder is pointed to; a note that points elsewhere is not followed', async () => {
  const { host, dataFolder } = await startCore();
  const key = 'k'.repeat(43);
  host.announce({ address: 'http://127.0.0.1:1', key });
  const error = await startCore({ dataFolder }).catch((thrown: unknown) => thrown);
  expect(error).toMatchObject({ code: 'data-folder-held' });
  expect(reachIn(error)).toEqual({ address: 'http://127.0.0.1:1', key });
  for (const address of [
    'http://evil.example:80',
    'http://127.0.0.1:1@evil.example',
    'http://127.0.0.1.evil.example:1',
    'https://127.0.0.1:1',
    'http://127.0.0.1:1/path',
    'http://127.0.0.1:1#once=x',
    'javascript:alert(1)',
    'file:///etc/passwd',
    '-version',
    '',
  ]) {
    await tally.refused(`a note with ${address}`, () => {
      writeFileSync(join(dataFolder, 'longhand.lock.json'), JSON.stringify({ pid: 1, since: 1, address, key }));
      expect(reachOf(readHolder(join(dataFolder, 'longhand.lock.json')))).toBeNull();
    });
  }
  for (const note of ['', '{', 'null', '[]', '7', '{"pid":1}', '{"address":["http://127.0.0.1:1"],"key":"x"}']) {
    await tally.refused(`the note ${note}`, () => {
      writeFileSync(join(dataFolder, 'longhand.lock.json'), note);
      expect(reachOf(readHolder(join(dataFolder, 'longhand.lock.json')))).toBeNull();
    });
  }
  tally.settle();
});

test('whoever opens connections and says nothing locks nobody out, and closes no page', async () => {
  const { port, origin, secret } = await serve();
  const page = new WebSocket(`ws://127.0.0.1:${port}${socketPath}`, [subprotocol, secret], { headers: { origin } });
  await once(page, 'message');
  const waiting: Socket[] = [];
  onTestFinished(() => {
    for (const one of waiting) one.destroy();
    page.terminate();
  });
  const openMany = async (text: string) => {
    for (let count = 0; count < 280; count++) {
      const socket = connect(port, '127.0.0.1')
        .on('error', () => {})
        .resume();
      waiting.push(socket);
      await once(socket, 'connect');
      if (text !== '') socket.write(text);
    }
  };
  for (const [what, text] of [
    ['more connections than are held, that say nothing', ''],
    ['as many that never end their request', 'GET / HTTP/1.1\r\nHost: 127'],
    ['as many that have asked once', `GET / HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\n\r\n`],
  ] as const) {
    await tally.refused(what, async () => {
      await openMany(text);
      expect((await ask(port, { headers: { host: `127.0.0.1:${port}` } })).status).toBe(200);
      expect(waiting.filter((one) => !one.destroyed).length).toBeLessThanOrEqual(256);
      const answer = new Promise<void>((heard) =>
        page.on('message', (message) => String(message).includes('"id":9') && heard()),
      );
      page.send(JSON.stringify({ id: 9, call: 'chats.list', input: {} }));
      await answer;
    });
  }
  tally.settle();
});
