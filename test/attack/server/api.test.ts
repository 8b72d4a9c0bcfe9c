import { connect } from 'node:net';
import { expect, test } from 'vitest';
import { maxBodyBytes } from '../../../app/server/api/access-control.ts';
import { sse } from '../../../app/server/api/stream.ts';
import { maxGuesses } from '../../../app/server/rate-limit.ts';
import { KEY, startApi } from '../../app/server/api/api.ts';
import { observe } from '../observe.ts';
import { tallyOf } from '../tally.ts';

//  Attacks on the local server: by web pages, by programs without a key, and with bodies
//  designed to break it. As raw bytes over a socket, since no client would send most of them.

const tally = tallyOf('api');

type Server = Awaited<ReturnType<typeof startApi>>;
type Sent = { method?: string; path?: string; headers?: Record<string, string | null>; body?: string | Buffer };

function bytesOf(server: Server, { method = 'POST', path = '/v1/chat/completions', headers = {}, body }: Sent): Buffer {
  const content = body ?? chat(server);
  const all: Record<string, string | null> = {
    Host: `127.0.0.1:${server.port}`,
    Authorization: `Bearer ${KEY}`,
    'Content-Type': 'application/json',
    'Content-Length': String(Buffer.byteLength(content)),
    Connection: 'close',
    ...headers,
  };
  const lines = Object.entries(all).flatMap(([name, value]) => (value === null ? [] : [`${name}: ${value}`]));
  return Buffer.concat([
    Buffer.from(`${method} ${path} HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n`),
    Buffer.from(content),
  ]);
}

const chat = ({ model }: Server, more: object = {}): string =>
  JSON.stringify({ model, messages: [{ role: 'user', content: 'Hi' }], max_tokens: 1, ...more });

/** The status of the response; 0 if the connection ended without one. */
function answerTo(server: Server, bytes: Buffer): Promise<{ status: number; text: string }> {
  return new Promise((resolve) => {
    const socket = connect(server.port, '127.0.0.1');
    let text = '';
    socket.on('data', (chunk) => {
      text += chunk;
    });
    socket.on('error', () => {});
    socket.on('close', () => resolve({ status: Number(/^HTTP\/1\.1 (\d+)/.exec(text)?.[1] ?? 0), text }));
    socket.write(bytes);
  });
}

const ask = (server: Server, sent: Sent) => answerTo(server, bytesOf(server, sent));

/** Asserts a refusal with one of these statuses that leaks neither models nor keys. */
async function refused(server: Server, what: string, sent: Sent | Buffer, ...allowed: number[]): Promise<void> {
  await tally.refused(what, async () => {
    const { status, text } = await (Buffer.isBuffer(sent) ? answerTo(server, sent) : ask(server, sent));
    expect(allowed, `${what}: ${text.slice(0, 300)}`).toContain(status);
    expect(text).not.toContain('chat.completion');
    expect(text).not.toContain(KEY);
  });
}

test('the door: only this machine by name, only with the key, no page of the web', async () => {
  const server = await startApi();
  const at = `127.0.0.1:${server.port}`;
  expect((await ask(server, {})).status).toBe(200);

  for (const host of ['evil.example', `evil.example:${server.port}`, '', `${at}.evil.example`, `${at}@evil.example`]) {
    await refused(server, `host "${host}"`, { headers: { Host: host } }, 400);
  }
  await refused(server, 'no host', { headers: { Host: null } }, 400);
  await refused(server, 'host of another port', { headers: { Host: '127.0.0.1:1' } }, 400);
  for (const origin of ['https://evil.example', 'null', `http://${at}`, 'http://localhost', 'file://', 'app://x']) {
    await refused(server, `page of ${origin}`, { headers: { Origin: origin } }, 403);
    await refused(server, `preflight of ${origin}`, { method: 'OPTIONS', headers: { Origin: origin } }, 403);
  }
  for (const key of [
    null,
    '',
    'Bearer',
    'Bearer ',
    'Bearer x',
    `Basic ${KEY}`,
    `Bearer ${KEY}x`,
    `Bearer ${KEY.slice(1)}`,
  ]) {
    await refused(server, `authorization "${key}"`, { headers: { Authorization: key } }, 401);
  }
  await refused(server, 'key in the address', { path: `/v1/models?key=${KEY}`, headers: { Authorization: null } }, 401);
  await refused(server, 'an empty x-api-key', { headers: { Authorization: null, 'x-api-key': '' } }, 401);
  for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data', '']) {
    await refused(server, `a form as a page may send it: ${type}`, { headers: { 'Content-Type': type } }, 415);
  }
  tally.settle();
  for (const line of server.refused) expect(line).not.toContain(KEY);
});

test('keys cannot be guessed, and guessing does not lock the owner out', async () => {
  const server = await startApi();
  for (let tries = 0; tries < maxGuesses; tries++) {
    await refused(server, `guess ${tries}`, { headers: { Authorization: `Bearer guess${tries}` } }, 401);
  }
  await refused(server, 'one guess more', { headers: { Authorization: 'Bearer guess' } }, 429);
  const { text } = await ask(server, { headers: { Authorization: 'Bearer guess' } });
  expect(text).toMatch(/^retry-after: 60\r$/im);
  expect((await ask(server, {})).status).toBe(200);
  tally.settle();
});

test('bodies that are too large, no JSON, or something else than they say', async () => {
  const server = await startApi();
  const big = Buffer.alloc(maxBodyBytes + 1, 0x20);
  await refused(server, 'a length that is too large', { body: big }, 413, 0);
  const endless = Buffer.concat([
    bytesOf(server, { headers: { 'Content-Length': null, 'Transfer-Encoding': 'chunked' }, body: '' }),
    Buffer.from(`${big.length.toString(16)}\r\n`),
    big,
    Buffer.from('\r\n0\r\n\r\n'),
  ]);
  await refused(server, 'chunks without an announced length', endless, 413, 0);
  const deep = '['.repeat(100_000);
  const bodies: [string, string | Buffer][] = [
    ['nothing', ''],
    ['half a body', '{"model":'],
    ['a list', '[]'],
    ['null', 'null'],
    ['a number', '1e999'],
    ['deep lists', deep + ']'.repeat(100_000)],
    ['deep lists that do not end', deep],
    ['no UTF-8', Buffer.from([0x7b, 0xff, 0xfe, 0x7d])],
    ['messages that are none', chat(server, { messages: 'Hi' })],
    ['a role of its own', chat(server, { messages: [{ role: 'root', content: 'Hi' }] })],
    ['content that is an object', chat(server, { messages: [{ role: 'user', content: {} }] })],
    ['a prototype as the model', `{"model":{"__proto__":{}},"messages":[]}`],
    ['a temperature of not a number', chat(server, { temperature: 'NaN' })],
    ['an endless answer', chat(server, { max_tokens: 1e12 })],
    ['a negative answer', chat(server, { max_tokens: -1 })],
    ['10,000 stop strings', chat(server, { stop: Array.from({ length: 10_000 }, (_, one) => `${one}`) })],
  ];
  for (const [what, body] of bodies) await refused(server, what, { body }, what.startsWith('deep') ? 413 : 400);
  for (const model of ['../../etc/passwd', '/etc/passwd', '__proto__', 'a\u0000b', 'x'.repeat(500)]) {
    await refused(server, `the model ${model.slice(0, 20)}`, { body: chat(server, { model }) }, 404);
  }
  await refused(server, 'a name that is a book', { body: chat(server, { model: 'x'.repeat(100_000) }) }, 400);
  tally.settle();
  expect((await ask(server, {})).status).toBe(200);
});

test('a request that comes in drops is ended, and nobody waits for it', async () => {
  const server = await startApi({ arrivalMs: 1500 });
  const head = bytesOf(server, { headers: { 'Content-Length': '100000' }, body: '' }).toString();
  const drops: [string, string][] = [
    ['a body', head],
    ['a body in chunks', head.replace('Content-Length: 100000', 'Transfer-Encoding: chunked')],
    ['a head', head.slice(0, 40)],
    ['nothing at all', ''],
  ];
  const ended = drops.map(([what, begun]) =>
    tally.refused(`${what}, in drops`, async () => {
      const socket = connect(server.port, '127.0.0.1');
      let text = '';
      socket.on('data', (chunk) => {
        text += chunk;
      });
      socket.on('error', () => {});
      socket.write(begun);
      const drop = setInterval(() => begun !== '' && socket.write(begun.includes('chunked') ? '1\r\n \r\n' : 'x'), 150);
      const since = performance.now();
      await new Promise((closed) => socket.on('close', closed));
      clearInterval(drop);
      expect(performance.now() - since).toBeLessThan(15_000);
      expect(text).toMatch(/^(HTTP\/1\.1 408 |$)/);
    }),
  );
  expect((await ask(server, {})).status).toBe(200);
  await Promise.all(ended);
  tally.settle();
  expect((await ask(server, {})).status).toBe(200);
});

test('what is deep is refused before it reaches the engine, which goes on', async () => {
  const server = await startApi();
  for (const levels of [600, 2000, 5000, 50_000]) {
    const schema = `${'{"a":'.repeat(levels)}{}${'}'.repeat(levels)}`;
    const tool = `{"type":"function","function":{"name":"f","parameters":${schema}}}`;
    const body = chat(server).replace('{', `{"tools":[${tool}],`);
    await refused(server, `a tool of ${levels} levels`, { body }, 413);
    const call = JSON.stringify({ id: 'a', function: { name: 'f', arguments: schema } });
    const said = `{"role":"assistant","tool_calls":[${call}]}`;
    const told = chat(server).replace('"messages":[', `"messages":[${said},`);
    await refused(server, `a call of ${levels} levels`, { body: told }, 413);
  }
  tally.settle();
  expect((await ask(server, {})).status).toBe(200);
});

test('paths and methods that nobody serves, and bytes that are no HTTP', async () => {
  const server = await startApi();
  const paths = [
    '/v1/../../etc/passwd',
    '/v1/%2e%2e/data',
    '//evil.example/v1/models',
    '/v1/models/..%2f..',
    '/longhand.db',
  ];
  for (const path of paths) await refused(server, path, { method: 'GET', path, body: '' }, 400, 404);
  for (const method of ['PUT', 'DELETE', 'PATCH', 'TRACE', 'PROPFIND']) {
    await refused(server, method, { method }, 400, 404, 405);
  }
  const host = `Host: 127.0.0.1:${server.port}\r\nAuthorization: Bearer ${KEY}\r\n`;
  const wires: [string, string][] = [
    ['two lengths', `POST /v1/chat/completions HTTP/1.1\r\n${host}Content-Length: 2\r\nContent-Length: 3\r\n\r\n{}`],
    [
      'a length and chunks',
      `POST /v1/chat/completions HTTP/1.1\r\n${host}Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
    ],
    [
      'a bad chunk',
      `POST /v1/chat/completions HTTP/1.1\r\n${host}Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\nZZ\r\n`,
    ],
    ['a header of 100 KB', `GET /v1/models HTTP/1.1\r\n${host}X: ${'x'.repeat(100_000)}\r\n\r\n`],
    ['a line break in a header', `GET /v1/models HTTP/1.1\r\n${host}X: a\rb\r\n\r\n`],
    ['a space before the colon', `GET /v1/models HTTP/1.1\r\nHost : 127.0.0.1:${server.port}\r\n\r\n`],
    ['no HTTP', '\u0000\u0001\u0002\r\n\r\n'],
    ['a tunnel', `CONNECT evil.example:443 HTTP/1.1\r\n${host}\r\n`],
    ['another protocol', `PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n`],
  ];
  for (const [what, wire] of wires) await refused(server, what, Buffer.from(wire, 'latin1'), 0, 400, 404, 431);
  tally.settle();
  expect((await ask(server, {})).status).toBe(200);
});

test('what a model writes cannot end its event and begin another', async () => {
  await tally.refused('line breaks in a text', () => {
    const frame = sse({ text: 'a\n\ndata: {"forged":true}\n\n\r\r\u2028', event: 'x\nevent: forged' });
    expect(frame.split('\n')).toHaveLength(3);
    expect(frame.endsWith('\n\n')).toBe(true);
  });
  tally.settle();
});

test('a prompt of megabytes is counted in pieces and refused, in bounded memory', async () => {
  const server = await startApi();
  expect((await ask(server, {})).status).toBe(200);
  const texts = {
    'ten megabytes of words': 'word and word '.repeat(700_000),
    'four megabytes of emoji': '👩‍👩‍👧‍👦🏳️‍🌈'.repeat(100_000),
    'one word of eight megabytes': 'x'.repeat(8_000_000),
    'eight megabytes of spaces': ' '.repeat(8_000_000),
    'a hundred thousand messages': null,
  };
  for (const [what, text] of Object.entries(texts)) {
    const messages =
      text === null
        ? Array.from({ length: 100_000 }, (_, at) => ({
            role: at % 2 ? 'assistant' : 'user',
            content: 'Tell me more.',
          }))
        : [{ role: 'user', content: text }];
    const seen = observe();
    await refused(server, what, { body: chat(server, { messages }) }, 400, 413);
    await tally.refused(`${what}: memory`, () => expect(seen().reader / 2 ** 20, 'MB of the engine').toBeLessThan(700));
  }
  tally.settle();
});
