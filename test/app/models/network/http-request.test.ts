// What is made of the answer to a request for a file: bytes, or why there are none and whether to ask again.
import { afterEach, expect, test, vi } from 'vitest';
import { network, request } from '../../../../app/models/network/http-request.ts';
import type { RequestHeaders } from '../../../../app/models/network/transport.ts';

afterEach(() => void vi.useRealTimers());

type Given = { status?: number; headers?: Record<string, string>; body?: Uint8Array[]; stall?: boolean };

/** Asks a server that gives these answers, one after the other. */
function asking(...answers: Given[]) {
  const asked: { url: string; headers: RequestHeaders }[] = [];
  const heard: [string, number][] = [];
  let cancelled = 0;
  const net: typeof network = {
    ...network,
    stallMs: 5000,
    received: (host, bytes) => heard.push([host, bytes]),
    async open(url, headers, signal) {
      asked.push({ url: url.href, headers });
      const { status = 200, headers: told = {}, body = [], stall = false } = answers.shift() ?? {};
      const until = async () => {
        await new Promise((done) => (signal.aborted ? done(null) : signal.addEventListener('abort', done)));
        throw signal.reason;
      };
      const bytes = async function* () {
        yield* body;
        if (stall) await until();
      };
      return { status, header: (name) => told[name] ?? null, cancel: () => void cancelled++, body: bytes() };
    },
  };
  const stop = new AbortController();
  return {
    asked,
    heard,
    stop,
    cancelled: () => cancelled,
    ask: (range: { first: number; last: number } | null = null, etag: string | null = null) =>
      request({ url: 'https://hub.example/a', token: 'secret' }, range, etag, stop.signal, net),
  };
}

test.each([
  [401, {}, 'gated', false, null],
  [403, {}, 'gated', false, null],
  [404, {}, 'not-found', false, null],
  [410, {}, 'not-found', false, null],
  [416, {}, 'remote-changed', false, null],
  [429, { 'retry-after': '7' }, 'rate-limited', true, 7],
  [429, { 'retry-after': '7000' }, 'rate-limited', true, 600],
  [429, { 'retry-after': 'soon' }, 'rate-limited', true, null],
  [503, { 'retry-after': '0' }, 'server', true, 0],
  [500, {}, 'server', true, null],
  [499, {}, 'server', false, null],
  [408, {}, 'server', true, null],
  [400, {}, 'server', false, null],
])('status %i %o is %s', async (status, headers, code, transient, retryAfter) => {
  const { ask, cancelled } = asking({ status, headers });
  const message = `[download] status ${status} from hub.example`;
  await expect(ask()).rejects.toMatchObject({ code, message, transient, retryAfter });
  expect(cancelled()).toBe(1);
});

test('a time to wait until is told in seconds, none of them below zero', async () => {
  vi.useFakeTimers({ now: Date.UTC(2031, 0, 1) });
  const waits = async (when: string) => {
    const failed = await asking({ status: 429, headers: { 'retry-after': when } })
      .ask()
      .catch((error) => error);
    return failed.retryAfter;
  };
  expect(await waits('Wed, 01 Jan 2031 00:00:30 GMT')).toBe(30);
  expect(await waits('Tue, 31 Dec 2030 23:00:00 GMT')).toBe(0);
});

test('bytes of a file: their size, their tag, and who they came from', async () => {
  const body = [Uint8Array.of(1, 2), Uint8Array.of(3)];
  const { ask, heard, asked } = asking({
    status: 206,
    headers: { 'content-range': 'bytes 5-7/99', etag: '"a"', 'x-linked-etag': '"b"' },
    body,
  });
  const answer = await ask({ first: 5, last: 7 }, '"b"');
  expect(answer).toMatchObject({ ranged: true, etag: '"b"', size: 99 });
  const came: Uint8Array[] = [];
  for await (const piece of answer.body) came.push(piece);
  expect([came, heard]).toEqual([
    body,
    [
      ['hub.example', 2],
      ['hub.example', 1],
    ],
  ]);
  expect(asked[0]?.headers).toEqual({
    'accept-encoding': 'identity',
    range: 'bytes=5-7',
    authorization: 'Bearer secret',
  });
  const whole = asking({ headers: { 'content-length': '12', etag: '"a"' } });
  expect(await whole.ask()).toMatchObject({ ranged: false, etag: '"a"', size: 12 });
  expect(whole.asked[0]?.headers).not.toHaveProperty('range');
  expect(await asking({ headers: { 'content-length': '1e9' } }).ask()).toMatchObject({ etag: null, size: null });
  expect(
    await asking({ status: 206, headers: { 'content-range': 'bytes 5-7/*' } }).ask({ first: 5, last: 7 }),
  ).toMatchObject({ size: null });
});

test.each([
  [{ status: 204 }, 'server', '[download] status 204, expected 200 or 206'],
  [
    { headers: { 'content-type': 'text/html; charset=utf-8' } },
    'wrong-content',
    '[download] a web page came instead of the file; a login may be needed',
  ],
  [
    { headers: { 'content-encoding': 'gzip' } },
    'server',
    '[download] the server sent compressed bytes (gzip), although identity was requested',
  ],
  [{ status: 206, headers: { 'content-range': 'bytes 4-7/99' } }, 'server', '[download] got bytes from 4, requested 5'],
  [{ status: 206 }, 'server', '[download] got bytes from -1, requested 5'],
  [{ headers: { etag: '"other"' } }, 'remote-changed', '[download] the file on the server changed'],
])('%o is refused', async (given, code, message) => {
  const { ask, cancelled } = asking(given as Given);
  await expect(ask({ first: 5, last: 7 }, '"a"')).rejects.toMatchObject({
    code,
    message,
    transient: /got bytes/.test(message),
  });
  expect(cancelled()).toBe(1);
});

test('redirects are followed eight times, and the token stays with its own host', async () => {
  const to = (location: string): Given => ({ status: 302, headers: { location } });
  const { ask, asked, cancelled } = asking(to('https://storage.example/b'), to('/c'), { status: 403 });
  await expect(ask()).rejects.toMatchObject({
    code: 'server',
    message: '[download] status 403 from storage.example: address expired',
    transient: true,
  });
  expect(asked.map(({ url, headers }) => [url, headers.authorization])).toEqual([
    ['https://hub.example/a', 'Bearer secret'],
    ['https://storage.example/b', undefined],
    ['https://storage.example/c', undefined],
  ]);
  expect(cancelled()).toBe(3);
  const eight = asking(...Array(8).fill(to('/a')), { headers: { etag: '"a"' } });
  expect(await eight.ask()).toMatchObject({ etag: '"a"' });
  await expect(asking(...Array(9).fill(to('/a'))).ask()).rejects.toThrow(
    '[download] more than 8 redirects from hub.example',
  );
  await expect(asking(to('http://hub.example/a')).ask()).rejects.toThrow('redirect to http:, only https is allowed');
  await expect(asking(to('https://192.168.0.1/a')).ask()).rejects.toThrow(
    '[download] hub.example redirects into the own network, which is not allowed',
  );
  await expect(asking(to('https://')).ask()).rejects.toThrow('redirected to something that is not an address');
  await expect(asking(to('https://me:word@hub.example/')).ask()).rejects.toThrow(
    'must not contain a name or a password',
  );
});

test('silence ends a request after its time, which begins again with every piece; who stops it is told that', async () => {
  vi.useFakeTimers();
  const silent = asking({ body: [Uint8Array.of(1)], stall: true });
  const { body } = await silent.ask();
  const pieces = body[Symbol.asyncIterator]();
  await vi.advanceTimersByTimeAsync(4000);
  expect((await pieces.next()).value).toEqual(Uint8Array.of(1));
  const end = expect(pieces.next()).rejects.toMatchObject({
    code: 'network',
    message: '[download] no byte for 5 s',
    transient: true,
  });
  await vi.advanceTimersByTimeAsync(4000);
  expect(vi.getTimerCount()).toBe(1);
  await vi.advanceTimersByTimeAsync(1000);
  await end;
  expect(vi.getTimerCount()).toBe(0);

  const stopped = asking({ stall: true });
  const reading = (await stopped.ask()).body[Symbol.asyncIterator]().next();
  stopped.stop.abort(new Error('stopped'));
  await expect(reading).rejects.toThrow('stopped');
  await expect(asking({ status: 404 }).ask()).rejects.toThrow();
  expect(vi.getTimerCount()).toBe(0);
});
