import { readdirSync, readFileSync } from 'node:fs';
import { request } from 'node:http';
import { join } from 'node:path';
import type { Hono } from 'hono';
import { expect, test, vi } from 'vitest';
import { KEY, startApi } from '../../app/server/api/api.ts';
import { root } from '../../support/core/core.ts';
import { tallyOf } from '../tally.ts';
import { API_ROUTES, ENTRANCES, type Need, PAGE_ROUTES } from './routes.ts';
import { bearer, serve, ticketIn } from './served.ts';

//  Every HTTP route is attacked, and each checks access.

const served = vi.hoisted(() => [] as Pick<Hono, 'routes'>[]);
// Captures the applications of the two servers.
vi.mock('hono', async (original) => {
  const real = await original<typeof import('hono')>();
  return {
    ...real,
    Hono: class extends real.Hono {
      constructor() {
        super();
        served.push(this);
      }
    },
  };
});

const tally = tallyOf('api');

/** The routes of the outermost application: the others are mounted in it. */
function routesServed(): string[] {
  const all = served.splice(0).map(({ routes }) => routes.map(({ method, path }) => `${method} ${path}`));
  const [most = []] = all.sort((a, b) => b.length - a.length);
  return [...new Set(most)].sort();
}

type Answer = { status: number; text: string };
type Sent = { method: string; path: string; headers?: Record<string, string>; body?: string };

const ask = (port: number, { method, path, headers = {}, body }: Sent): Promise<Answer> =>
  new Promise((resolve, reject) => {
    const all = {
      host: `127.0.0.1:${port}`,
      ...(body !== undefined && { 'content-length': String(Buffer.byteLength(body)) }),
    };
    // A separate connection for requests that end it.
    const agent = headers['content-length'] ? false : undefined;
    const sent = request(
      { port, host: '127.0.0.1', agent, method, path, headers: { ...all, ...headers } },
      async (answer) => {
        const chunks: Buffer[] = [];
        for await (const chunk of answer) chunks.push(chunk as Buffer);
        resolve({ status: answer.statusCode ?? 0, text: Buffer.concat(chunks).toString() });
      },
    );
    sent.on('error', reject);
    sent.end(body);
  });

const json = { 'content-type': 'application/json' };
const needing = (routes: Readonly<Record<string, Need>>, ...needs: Need[]) =>
  Object.entries(routes)
    .filter(([, need]) => needs.includes(need))
    .map(([route]) => {
      const [method = '', path = ''] = route.split(' ');
      return { route, method: method === 'ALL' ? 'GET' : method, path: path.replace('*', 'nothing-here') };
    });

/** Invalid bodies. */
const BODIES: Readonly<Record<string, string>> = {
  nothing: '',
  null: 'null',
  'a list': '[]',
  'a text': '"model"',
  'a number': '7',
  'an empty object': '{}',
  'half an object': '{"model":',
  'a model of a list': '{"model":["a"]}',
  'a model of an object': '{"model":{"toString":1}}',
  'a model and nothing else but a prototype': '{"model":5,"__proto__":{"messages":[],"input":"a","prompt":"a"}}',
  'a model of ten thousand letters': `{"model":"${'m'.repeat(10_000)}"}`,
  'a thousand levels': `{"model":${'['.repeat(1000)}${']'.repeat(1000)}}`,
  'a byte of no letter': '{"model":"\\ud800","input":5,"messages":5,"prompt":5,"query":5,"documents":5}',
};

/** Invalid ids. */
const IDS = [
  '..%2f..%2fetc%2fpasswd',
  '%2e%2e',
  '__proto__',
  'constructor',
  '%00',
  '%ff',
  `${'i'.repeat(4000)}`,
  '*',
  "'%20OR%201=1",
];

test('every route of the server for other programs is registered, and asks for the key, the host and the origin', async () => {
  served.splice(0);
  const server = await startApi();
  expect(routesServed(), 'test/attack/server/routes.ts').toEqual(Object.keys(API_ROUTES).sort());
  const { port } = server;
  const key = bearer(KEY);
  const refused = (what: string, sent: Sent, ...allowed: number[]) =>
    tally.refused(what, async () => {
      const { status, text } = await ask(port, sent);
      expect(allowed, text.slice(0, 200)).toContain(status);
      expect(text).not.toContain(KEY);
      expect(text, 'where it stands in our code').not.toMatch(/\.(?:ts|js|mjs):\d+|node_modules/);
    });
  for (const { route, method, path } of needing(API_ROUTES, 'key')) {
    const headers = method === 'POST' ? { ...json, ...key } : { ...key };
    const { authorization: _, ...noKey } = headers;
    for (const [what, given] of Object.entries<Record<string, string>>({
      'no key': {},
      'a wrong key': bearer('lh-wrong'),
      'the key in a cookie': { cookie: `key=${KEY}; authorization=Bearer ${KEY}` },
      'the key as a password': { authorization: `Basic ${Buffer.from(`:${KEY}`).toString('base64')}` },
      'the key behind another': { 'x-api-key': 'wrong', authorization: `Bearer ${KEY}` },
    }))
      await refused(`${route}: ${what}`, { method, path, headers: { ...noKey, ...given } }, 401, 429);
    await refused(`${route}: the key in the address`, { method, path: `${path}?key=${KEY}`, headers: noKey }, 401, 429);
    for (const host of ['evil.example', `127.0.0.1.evil.example:${port}`])
      await refused(`${route}: as ${host}`, { method, path, headers: { ...headers, host } }, 400);
    for (const origin of ['https://evil.example', 'null'])
      await refused(`${route}: a page of ${origin}`, { method, path, headers: { ...headers, origin } }, 403);
    if (method === 'POST') {
      await refused(
        `${route}: a form`,
        { method, path, headers: { ...headers, 'content-type': 'text/plain' }, body: '{}' },
        415,
      );
      const length = { 'content-length': String(1e9) };
      await refused(`${route}: a gigabyte is announced`, { method, path, headers: { ...headers, ...length } }, 413);
      for (const [what, body] of Object.entries(BODIES))
        await refused(`${route}: ${what}`, { method, path, headers, body }, 400, 404, 413);
    }
    if (path.includes(':id'))
      for (const id of IDS)
        await refused(`${route}: ${id.slice(0, 30)}`, { method, path: path.replace(':id', id), headers }, 400, 404);
    for (const other of ['PUT', 'PATCH', 'TRACE'])
      await refused(`${route}: ${other}`, { method: other, path, headers }, 400, 404, 405);
  }
  for (const { path } of needing(API_ROUTES, 'key'))
    await refused(
      `may a page ask for ${path}?`,
      { method: 'OPTIONS', path, headers: { origin: 'https://evil.example' } },
      403,
    );
  tally.settle();
  expect((await ask(port, { method: 'GET', path: '/v1/models', headers: key })).status).toBe(200);
});

const pages = tallyOf('server');

test('every route of the page is registered, and lets in whoever has what it asks for', async () => {
  served.splice(0);
  const { port, secret, origin, address, reach } = await serve();
  expect(routesServed(), 'test/attack/server/routes.ts').toEqual(Object.keys(PAGE_ROUTES).sort());
  const refused = (what: string, sent: Sent, ...allowed: number[]) =>
    pages.refused(what, async () => {
      const { status, text } = await ask(port, sent);
      expect(allowed, text.slice(0, 200)).toContain(status);
      expect(text).not.toMatch(/"(?:secret|ticket|path)"/);
    });
  const right: Record<string, () => string> = {
    ticket: () => ticketIn(address()),
    secret: () => secret,
    'folder key': () => reach.key,
  };
  for (const { route, method, path } of needing(PAGE_ROUTES, 'ticket', 'secret', 'folder key')) {
    const need = PAGE_ROUTES[route] ?? '';
    // A page sends an Origin with POST; a holder of the folder's key is not a page.
    const own: Record<string, string> = need === 'folder key' || method === 'GET' ? {} : { origin };
    const given = right[need]?.() ?? '';
    for (const [what, headers] of Object.entries<Record<string, string>>({
      nothing: {},
      'a guess': bearer('x'.repeat(43)),
      'half of it': bearer(given.slice(1)),
      'a cookie': { cookie: `longhand-${port}=${given}; secret=${given}` },
      'another header': { 'x-api-key': given },
      'a name and a password': { authorization: `Basic ${Buffer.from(`longhand:${given}`).toString('base64')}` },
      ...Object.fromEntries(
        Object.entries(right)
          .filter(([other]) => other !== need)
          .map(([other, value]) => [`the ${other} in its place`, bearer(value())]),
      ),
    }))
      await refused(`${route}: ${what}`, { method, path, headers: { ...own, ...headers } }, 401, 403, 429);
    await refused(
      `${route}: in the address`,
      { method, path: `${path}?once=${given}&secret=${given}`, headers: own },
      401,
      403,
      429,
    );
  }
  for (const { route, method, path } of needing(PAGE_ROUTES, 'ticket', 'secret', 'folder key', 'nothing')) {
    const headers = bearer(right[PAGE_ROUTES[route] ?? '']?.() ?? '');
    for (const host of [
      'evil.example',
      `127.0.0.1:${port + 1}`,
      `longhand.localhost:${port}`,
      `127.0.0.1.nip.io:${port}`,
    ])
      await refused(
        `${route}: as ${host}`,
        { method, path, headers: { ...headers, host, origin: `http://${host}` } },
        400,
      );
    for (const foreign of ['https://evil.example', 'null', `http://localhost.evil.example:${port}`])
      await refused(
        `${route}: a page of ${foreign}`,
        { method, path, headers: { ...headers, origin: foreign } },
        403,
        429,
      );
    for (const other of ['PUT', 'PATCH', 'DELETE', 'TRACE', 'PROPFIND'])
      await refused(`${route}: ${other}`, { method: other, path, headers: { ...headers, origin } }, 400, 404, 405);
  }
  pages.settle();
  expect((await ask(port, { method: 'GET', path: '/page', headers: bearer(secret) })).status).toBe(204);
});

/** Code that opens an entrance for other programs. */
const OPENS =
  /\b(?:createAdaptorServer|createServer|createSecureServer|createSocket|WebSocketServer)\((?=.)|protocol\.handle\(|ipcMain\.(?:on|once|handle)\([^,)\s]*|\.on\('(?:upgrade|request|second-instance|open-file|open-url)'/g;

test('no other entrance is there than those that are attacked', () => {
  const found: Record<string, string[]> = {};
  for (const folder of ['app', 'main'])
    for (const entry of readdirSync(join(root, folder), { withFileTypes: true, recursive: true })) {
      if (!entry.isFile() || !entry.name.endsWith('.ts')) continue;
      const path = join(entry.parentPath, entry.name);
      const opens = readFileSync(path, 'utf8').match(OPENS);
      if (opens) found[path.slice(root.length + 1)] = [...opens].sort();
    }
  const registered = Object.entries(ENTRANCES).map(([path, { opens }]) => [path, [...opens].sort()]);
  expect(found, 'test/attack/server/routes.ts').toEqual(Object.fromEntries(registered));
});
