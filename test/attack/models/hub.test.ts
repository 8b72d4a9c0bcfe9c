import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, expect, test, vi } from 'vitest';
import { network, request } from '../../../app/models/network/http-request.ts';
import { certificatesIn, needMirror } from '../../../app/models/network/network-config.ts';
import { hiddenCredentials } from '../../../app/models/network/redact-credentials.ts';
import { hubSource } from '../../../app/models/sources/hugging-face.ts';
import { modelScopeSource, urlSource } from '../../../app/models/sources/modelscope.ts';
import { readRange, readRemoteHeaders } from '../../../app/models/sources/remote-headers.ts';
import type { Repository } from '../../../app/models/sources/source.ts';
import { observe } from '../observe.ts';
import { tallyOf } from '../tally.ts';

//  A hostile hub, mirror, or impostor.

vi.setConfig({ testTimeout: 120_000 });
const tally = tallyOf('hub');
const never = new AbortController().signal;
const SECRET = 'hf_secretsecretsecret';
const MAX_GROWTH = 400;
const MAX_STALL_MS = 100;

const servers: Server[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    server.close();
  }
});
async function serve(listener: RequestListener, made: Server = createServer(listener)): Promise<string> {
  servers.push(made);
  await new Promise<void>((ready) => made.listen(0, '127.0.0.1', ready));
  return `http://127.0.0.1:${(made.address() as AddressInfo).port}`;
}

const look = async (url: string) =>
  hubSource({ id: 'mirror', url, token: async () => SECRET }).repository('acme/tiny', null, never);
const search = async (url: string) =>
  hubSource({ id: 'mirror', url, token: async () => SECRET }).search(
    { text: 'x', limit: 20, onlyRunning: false },
    never,
  );

/** The most that an action adds to memory (MB), and its longest stall of the event loop (ms of processor time). */
async function watched<T>(
  work: () => Promise<T>,
): Promise<{ answer: T | Error; grown: number; stall: number; refused: string | null }> {
  const stop = observe();
  const answer = await work().catch((error: Error & { code?: string }) => error);
  const { grown, stall } = stop();
  return {
    answer,
    grown: grown / 2 ** 20,
    stall,
    refused: answer instanceof Error ? ((answer as { code?: string }).code ?? 'no code') : null,
  };
}

/** Sends chunks until the connection closes. */
const flood =
  (first: string, piece: string, headers: Record<string, string> = {}): RequestListener =>
  (_, response) => {
    response.writeHead(200, { 'content-type': 'application/json', ...headers });
    response.write(first);
    let sent = 0;
    const more = () => {
      while (sent < 1e9 && !response.destroyed) {
        sent += piece.length;
        if (!response.write(piece)) return void response.once('drain', more);
      }
      response.end();
    };
    more();
  };

test('answers without end are not heard to the end', async () => {
  const many = (text: string) => text.repeat(Math.ceil(65_536 / text.length));
  for (const [name, listener] of Object.entries<RequestListener>({
    'a list of models without end': flood('[', many('{"id":"a/b","tags":[],"lastModified":"2026"},')),
    'a list of lists without end': flood('[', many('[],')),
    'a text without end': flood('["', many('x')),
    'brackets without end': flood('', many('[')),
    'blanks without end': flood('[', many(' ')),
    'nothing but zeros': flood('', many('\0')),
    'a length that is a lie': flood('[', many('{},'), { 'content-length': '1000000000' }),
    'an error without end': (request, response) => {
      response.statusCode = 500;
      flood('{"error":"', many('x'))(request, Object.assign(response, { writeHead: () => response }) as never);
    },
  })) {
    const url = await serve(listener);
    for (const [how, ask] of [
      ['searched', search],
      ['looked at', look],
    ] as const) {
      await tally.refused(`${name}, ${how}`, async () => {
        const { grown, stall, refused } = await watched<unknown>(() => ask(url));
        expect(refused).toMatch(/^(wrong-content|server|network)$/);
        expect(grown).toBeLessThan(MAX_GROWTH);
        expect(stall).toBeLessThan(MAX_STALL_MS);
      });
    }
    await tally.refused(`${name}, from the other hub`, async () => {
      const { grown, stall, refused } = await watched(() => modelScopeSource(url).repository('acme/tiny', null, never));
      expect(refused).toMatch(/^(wrong-content|server|network)$/);
      expect(grown).toBeLessThan(MAX_GROWTH);
      expect(stall).toBeLessThan(MAX_STALL_MS);
    });
  }
  tally.settle();
});

test('pages without end, and files without number', async () => {
  let asked = 0;
  const pages = await serve((request, response) => {
    asked++;
    const body = request.url?.includes('/tree/')
      ? [{ type: 'file', path: `f${asked}`, size: 1 }]
      : { _id: '1', id: 'a/b', sha: 'a'.repeat(40), lastModified: '2026' };
    response.setHeader('link', `<${url}/api/models/acme/tiny/tree/x?page=${asked}>; rel="next"`);
    response.end(JSON.stringify(body));
  });
  const url = pages;
  await tally.refused('pages without end', async () => {
    await expect(look(url)).rejects.toMatchObject({ code: 'server' });
    expect(asked).toBeLessThan(100);
  });
  await tally.refused('a search of pages without end', async () => {
    asked = 0;
    await search(url).catch(() => []);
    expect(asked).toBeLessThan(100);
  });
  tally.settle();
});

test('the token stays with its host', async () => {
  const stolen: string[] = [];
  const thief = await serve((request, response) => {
    if (request.headers.authorization) stolen.push(`${request.method} ${request.url}`);
    response.end('[]');
  });
  const answers: Record<string, RequestListener> = {
    'a next page elsewhere': (request, response) => {
      response.setHeader('link', `<${thief}/steal?page=2>; rel="next"`);
      response.end(
        request.url?.includes('/tree/')
          ? '[]'
          : JSON.stringify({ id: 'a/b', sha: 'a'.repeat(40), lastModified: '2026' }),
      );
    },
    'a next page with our name in it': (_, response) => {
      response.setHeader('link', `<${thief.replace('http://', 'http://huggingface.co@')}/steal>; rel="next"`);
      response.end('[]');
    },
    'a redirect elsewhere': (_, response) => void response.writeHead(307, { location: `${thief}/steal` }).end(),
    'a redirect without a scheme': (_, response) =>
      void response.writeHead(302, { location: thief.replace('http:', '') }).end(),
    'a redirect with a password': (_, response) =>
      void response.writeHead(302, { location: thief.replace('http://', 'http://a:b@') }).end(),
    'a redirect to a file': (_, response) => void response.writeHead(302, { location: 'file:///etc/passwd' }).end(),
    'a redirect to data': (_, response) => void response.writeHead(302, { location: 'data:application/json,[]' }).end(),
    'a redirect to itself': (request, response) => void response.writeHead(302, { location: request.url ?? '' }).end(),
  };
  for (const [name, listener] of Object.entries(answers)) {
    const url = await serve(listener);
    for (const ask of [search, look]) {
      await tally.refused(name, async () => {
        await ask(url).catch(() => {});
        expect(stolen.splice(0)).toEqual([]);
      });
    }
    await tally.refused(`${name}, for a file`, async () => {
      await request({ url: `${url}/x`, token: SECRET }, null, null, never, network).catch(() => {});
      expect(stolen.splice(0)).toEqual([]);
    });
  }
  tally.settle();
});

test('what a hub tells is looked at before it is believed', async () => {
  const sha = 'a'.repeat(40);
  const file = (more: object) => [{ type: 'file', path: 'config.json', size: 10, ...more }];
  const cases: Record<string, { info?: object; tree?: unknown }> = {
    'a size that is a word': { tree: file({ size: 'abc' }) },
    'a size that is negative': { tree: file({ size: -1 }) },
    'a size with a point': { tree: file({ size: 1.5 }) },
    'a size beyond all numbers': { tree: file({ size: 1e300 }) },
    'no size': { tree: file({ size: null }) },
    'a size that is a list': { tree: file({ size: [1] }) },
    'a size of the stored file that is a word': { tree: file({ lfs: { size: 'abc', oid: 'a'.repeat(64) } }) },
    'a hash that is a word': { tree: file({ lfs: { size: 1, oid: 'abc' } }) },
    'a hash that is a number': { tree: file({ lfs: { size: 1, oid: 5 } }) },
    'a name that is a number': { tree: file({ path: 5 }) },
    'no name': { tree: file({ path: null }) },
    'a name above the folder': { tree: file({ path: '../x' }) },
    'a commit with a path': { info: { sha: '../../api/whoami' } },
    'a commit with a question': { info: { sha: 'main?x=1' } },
    'a commit that is a number': { info: { sha: 5 } },
    'a commit that is a list': { info: { sha: [sha] } },
    'files that are a word': { tree: 'abc' },
    'files that are null': { tree: null },
    'files that are numbers': { tree: [1, 2] },
    'a file that is null': { tree: [null] },
  };
  for (const [name, { info, tree }] of Object.entries(cases)) {
    const url = await serve((request, response) => {
      const told = request.url?.includes('/tree/')
        ? tree === undefined
          ? file({})
          : tree
        : { id: 'acme/tiny', sha, lastModified: '2026', ...info };
      response.end(JSON.stringify(told));
    });
    await tally.refused(name, async () => {
      const { answer } = await watched(() => look(url));
      // An empty list of files is refused when a file is requested.
      if (!(answer instanceof Error)) return expect((answer as Repository).files).toEqual([]);
      expect(answer).toMatchObject({ name: 'DownloadError', message: expect.not.stringContaining('BigInt') });
    });
  }
  for (const [name, model] of Object.entries<unknown>({
    'tags that are a number': { id: 'a/b', tags: 5, lastModified: '2026' },
    'a model that is null': null,
    'a name with a path': { id: '../../x', tags: [], lastModified: '2026' },
    'a name with a script': { id: '<img src=x onerror=alert(1)>/b', tags: [], lastModified: '2026' },
    'a date that is none': { id: 'a/b', tags: [], lastModified: 'never' },
    'downloads that are a word': { id: 'a/b', tags: [], downloads: 'x', lastModified: '2026' },
  })) {
    const url = await serve((_, response) => response.end(JSON.stringify([model])));
    await tally.refused(`searched: ${name}`, async () => {
      const { answer } = await watched(() => search(url));
      if (answer instanceof Error) return expect(answer).toMatchObject({ name: 'DownloadError' });
      for (const found of answer as { name: string; downloads: number | null; updatedAt: number | null }[]) {
        expect(found.name).toBe('a/b');
        expect([null, expect.any(Number)]).toContainEqual(found.downloads);
      }
    });
  }
  tally.settle();
});

test('headers of models that are not here', async () => {
  const remote = (name: string, size: number, url: string) => ({
    key: name,
    name,
    size,
    sha256: null,
    etag: null,
    address: async () => ({ url }),
  });
  const of = (...files: ReturnType<typeof remote>[]): Repository => ({
    source: 'url',
    name: 'x',
    commit: 'c',
    gated: false,
    files,
  });
  const length = (bytes: bigint) => {
    const head = Buffer.alloc(8);
    head.writeBigUInt64LE(bytes);
    return head;
  };
  const endless =
    (first: Buffer, piece: Buffer): RequestListener =>
    (request, response) => {
      const range = /bytes=(\d+)-(\d+)/.exec(request.headers.range ?? '');
      const [from, to] = [Number(range?.[1] ?? 0), Number(range?.[2] ?? 0)];
      response.writeHead(206, { 'content-range': `bytes ${from}-${to}/100000000000` });
      let sent = 0;
      const total = to - from + 1;
      const more = () => {
        while (sent < total && !response.destroyed) {
          const chunk = from + sent < first.length ? first.subarray(from + sent) : piece;
          const cut = chunk.subarray(0, total - sent);
          sent += cut.length;
          if (!response.write(cut)) return void response.once('drain', more);
        }
        response.end();
      };
      more();
    };
  const zeros = Buffer.alloc(65_536);
  const objects = Buffer.from('"a":{},'.repeat(9000));
  const tensors = Buffer.from('"a":{"dtype":"F32","shape":[1,1],"data_offsets":[0,4]},'.repeat(900));
  const eightMb = (begin: string) => Buffer.concat([length(8n * 2n ** 20n), Buffer.from(begin)]);
  const gguf = Buffer.concat([Buffer.from('GGUF'), Buffer.from([3, 0, 0, 0]), length(0n), length(2n ** 60n)]);
  for (const [name, first, piece, file] of [
    ['a table of a terabyte', length(2n ** 40n), zeros, 'model.safetensors'],
    ['a table of 64 MB', length(64n * 2n ** 20n), objects, 'model.safetensors'],
    ['a table of 8 MB of objects', eightMb('{'), objects, 'model.safetensors'],
    ['a table of 8 MB of tensors', eightMb('{'), tensors, 'model.safetensors'],
    ['a table of 8 MB of numbers', eightMb('{"a":{"shape":['), Buffer.from('1,'.repeat(30_000)), 'model.safetensors'],
    ['a table of 8 MB of one text', eightMb('{"a'), Buffer.from('x'.repeat(60_000)), 'model.safetensors'],
    ['a table of zeros', length(2n ** 20n), zeros, 'model.safetensors'],
    ['a GGUF header without end', gguf, zeros, 'model.gguf'],
    ['a GGUF of zeros', zeros, zeros, 'model.gguf'],
  ] as const) {
    const url = await serve(endless(first, piece));
    await tally.refused(name, async () => {
      const files = [remote(file, 100_000_000_000, url), remote('config.json', 2, url)];
      const { answer, grown, stall } = await watched(() =>
        readRemoteHeaders(of(...files), null, AbortSignal.timeout(20_000)),
      );
      expect(answer).toBeInstanceOf(Error);
      expect(grown).toBeLessThan(MAX_GROWTH);
      expect(stall).toBeLessThan(MAX_STALL_MS);
    });
  }
  const whole = await serve(flood('', 'x'.repeat(65_536)));
  await tally.refused('a server without ranges, asked for the end of a large file', async () => {
    const { grown, stall } = await watched(() => readRange(remote('x', 1e9, whole), 900_000_000, 10, never, network));
    expect(grown).toBeLessThan(200);
    expect(stall).toBeLessThan(MAX_STALL_MS);
  });
  tally.settle();
});

test('passwords of addresses are shown to nobody', async () => {
  for (const [text, hidden] of [
    ['http://user:pass@proxy:3128/x', 'http://proxy:3128/x'],
    ['via http://user@proxy and https://a:b%40c@d', 'via http://proxy and https://d'],
    ['socks5://u:p@h', 'socks5://h'],
    ['http://a:p@ss@host', 'http://host'],
    ['mail me@example.com', 'mail me@example.com'],
  ] as const) {
    await tally.refused(text, () => expect(hiddenCredentials(text)).toBe(hidden));
  }
  const address = 'https://me:hunter2@mirror.example';
  for (const [name, ask] of Object.entries<() => unknown>({
    'a mirror, searched': () => search(address),
    'a mirror, looked at': () => look(address),
    'a plain address': () => urlSource().repository(`${address}/x.gguf`, null, never),
    'a setting': async () => needMirror(address),
    'a setting with a query': async () => needMirror('https://mirror.example/?token=hunter2'),
  })) {
    await tally.refused(name, async () => {
      const error = await (ask() as Promise<unknown>).then(
        () => null,
        (thrown: Error) => thrown,
      );
      expect(error).toBeInstanceOf(Error);
      expect(`${error?.message} ${JSON.stringify(error)}`).not.toContain('hunter2');
    });
  }
  tally.settle();
});

test('Retry-After, by the clock and by hostile clocks', async () => {
  for (const [value, least, most] of [
    ['5', 5, 5],
    [new Date(Date.now() + 30_000).toUTCString(), 20, 31],
    [new Date(Date.now() - 86_400_000).toUTCString(), 0, 0],
    [new Date(Date.now() + 1e12).toUTCString(), 600, 600],
    ['99999999999999999999', 600, 600],
    ['-5', null, null],
    ['soon', null, null],
  ] as const) {
    const url = await serve((_, response) => void response.writeHead(429, { 'retry-after': value }).end());
    await tally.refused(`Retry-After: ${value}`, async () => {
      const error = await request({ url }, null, null, never, network).catch((thrown) => thrown);
      expect(error.code).toBe('rate-limited');
      if (least === null) expect(error.retryAfter === null || error.retryAfter <= 600).toBe(true);
      else expect(error.retryAfter).toSatisfy((seconds: number) => seconds >= least && seconds <= most);
    });
  }
  tally.settle();
});

const folder = mkdtempSync(join(tmpdir(), 'longhand-pem-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

test('certificates: what is none, and what takes for ever', async () => {
  for (const [name, text] of Object.entries({
    'beginnings without an end': '-----BEGIN CERTIFICATE-----'.repeat(140_000),
    'four megabytes of blanks': `-----BEGIN CERTIFICATE-----${' '.repeat(4_000_000)}`,
    'a private key': '-----BEGIN PRIVATE KEY-----\nabc\n-----END PRIVATE KEY-----',
    'five megabytes': 'x'.repeat(5_000_000),
  })) {
    const path = join(folder, 'x.pem');
    writeFileSync(path, text);
    await tally.refused(name, () => {
      const begun = performance.now();
      expect(() => certificatesIn(path)).toThrow('[certificates]');
      expect(performance.now() - begun).toBeLessThan(1000);
    });
  }
  tally.settle();
});
