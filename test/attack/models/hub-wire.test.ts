import { type AddressInfo, createServer, type Socket } from 'node:net';
import { setTimeout } from 'node:timers/promises';
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import { afterEach, expect, test, vi } from 'vitest';
import { network, request } from '../../../app/models/network/http-request.ts';
import { hubSource } from '../../../app/models/sources/hugging-face.ts';
import { modelScopeSource } from '../../../app/models/sources/modelscope.ts';
import { observe } from '../observe.ts';
import { tallyOf } from '../tally.ts';

//  Hostile hub responses on the wire: wrong or endless headers, lengths, encodings and chunks. Callers
//  get an error in time, memory stays bounded, and nothing is mistaken for a list of models.

vi.setConfig({ testTimeout: 120_000 });
const tally = tallyOf('hub');
const SECRET = 'hf_secretsecretsecret';
const SOON_MS = 1200;

const closing: (() => void)[] = [];
afterEach(() => {
  for (const close of closing.splice(0)) close();
});

/** Answers every request the same way. */
async function serve(answer: (socket: Socket) => void): Promise<string> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => {});
    socket.on('data', (asked) => {
      if (String(asked).includes('\r\n\r\n')) answer(socket);
    });
  });
  await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready));
  closing.push(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const hub = (url: string) => hubSource({ id: 'mirror', url, token: async () => SECRET });
const WAYS: Readonly<Record<string, (url: string, signal: AbortSignal) => Promise<unknown>>> = {
  searched: (url, signal) => hub(url).search({ text: 'x', limit: 20, onlyRunning: false }, signal),
  'looked at': async (url, signal) => (await hub(url).repository('acme/tiny', null, signal)).files,
  'from the other hub': async (url, signal) =>
    (await modelScopeSource(url).repository('acme/tiny', null, signal)).files,
};

const head = (...lines: string[]) =>
  `HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n${lines.map((line) => `${line}\r\n`).join('')}\r\n`;
const packed = (encoding: string, body: Uint8Array) =>
  Buffer.concat([Buffer.from(head(`Content-Encoding: ${encoding}`, `Content-Length: ${body.length}`)), body]);
const whole = (body: string) => head(`Content-Length: ${Buffer.byteLength(body)}`) + body;
/** Sends a first part, then a chunk repeatedly. */
const drip = (first: string, piece: string, everyMs: number) => (socket: Socket) => {
  socket.write(first);
  const timer = setInterval(() => (socket.destroyed ? clearInterval(timer) : socket.write(piece)), everyMs);
};
const send =
  (...pieces: (string | Uint8Array)[]) =>
  (socket: Socket) => {
    for (const piece of pieces) socket.write(piece);
    socket.end();
  };
const zeros = Buffer.alloc(100_000_000);

const ANSWERS: Readonly<Record<string, (socket: Socket) => void>> = {
  'a byte of the body at a time': drip(head('Content-Length: 1000000'), ' ', 50),
  'a byte of a header at a time': drip('HTTP/1.1 200 OK\r\nX: ', 'x', 50),
  'a header after the other': drip('HTTP/1.1 200 OK\r\n', `X-${'a'.repeat(50)}: b\r\n`, 20),
  'hints before the answer, without end': drip('', 'HTTP/1.1 103 Early Hints\r\nLink: </x>; rel=preload\r\n\r\n', 20),
  '"go on", without end': drip('', 'HTTP/1.1 100 Continue\r\n\r\n', 20),
  'chunks of one byte': drip(head('Transfer-Encoding: chunked'), '1\r\n \r\n', 20),
  'a chunk whose size never ends': drip(head('Transfer-Encoding: chunked'), '0', 20),
  'a note at a chunk that never ends': drip(`${head('Transfer-Encoding: chunked')}1;`, 'a=b;', 20),
  'trailers without end': drip(`${head('Transfer-Encoding: chunked')}2\r\n[]\r\n0\r\n`, 'X-A: b\r\n', 20),
  silence: () => {},
  'silence after the headers': (socket) => void socket.write(head('Content-Length: 2')),
  'headers of a megabyte': send(`HTTP/1.1 200 OK\r\nX: ${'x'.repeat(1e6)}\r\nContent-Length: 2\r\n\r\n[]`),
  'ten thousand headers': send(
    head(...Array.from({ length: 10_000 }, (_, at) => `X-${at}: b`), 'Content-Length: 2'),
    '[]',
  ),
  'a link of a megabyte': send(head(`Link: <${'/x'.repeat(500_000)}>; rel="next"`, 'Content-Length: 2'), '[]'),
  'a length above the body': send(head('Content-Length: 100'), '[]'),
  'a length below the body': send(head('Content-Length: 1'), '[{"id":"a/b","tags":[],"lastModified":"2026"}]'),
  'two lengths': send(head('Content-Length: 2', 'Content-Length: 40'), '[]'),
  'a length below none': send(head('Content-Length: -1'), '[]'),
  'a length beyond all numbers': send(head(`Content-Length: ${'9'.repeat(40)}`), '[]'),
  'a length and chunks': send(head('Content-Length: 2', 'Transfer-Encoding: chunked'), '2\r\n[]\r\n0\r\n\r\n'),
  'a chunk of a terabyte': send(head('Transfer-Encoding: chunked'), 'ffffffffffff\r\n[]'),
  'a chunk below none': send(head('Transfer-Encoding: chunked'), '-2\r\n[]\r\n0\r\n\r\n'),
  'a hundred megabytes in a gzip': send(packed('gzip', gzipSync(zeros))),
  'a hundred megabytes in a gzip in a gzip': send(packed('gzip, gzip', gzipSync(gzipSync(zeros)))),
  'a hundred megabytes deflated': send(packed('deflate', deflateSync(zeros))),
  'a hundred megabytes by brotli': send(packed('br', brotliCompressSync(zeros))),
  'half a gzip': send(packed('gzip', gzipSync('[]').subarray(0, 12))),
  'a gzip that is none': send(packed('gzip', Buffer.from('[]'))),
  'forty encodings': send(packed(Array.from({ length: 40 }, () => 'gzip').join(', '), Buffer.from('[]'))),
  'no status': send('\r\n\r\n[]'),
  'the status of another time': send('HTTP/0.9 200 OK\r\n\r\n[]'),
  'a status of letters': send('HTTP/1.1 abc OK\r\n\r\n[]'),
  'a status beyond all': send('HTTP/1.1 99999 OK\r\nContent-Length: 2\r\n\r\n[]'),
  'an upgrade that nobody asked for': send(
    'HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n',
  ),
  'nothing new': send('HTTP/1.1 304 Not Modified\r\n\r\n'),
  'nothing, with a body': send('HTTP/1.1 204 No Content\r\nContent-Length: 2\r\n\r\n[]'),
  'a part that nobody asked for': send(
    'HTTP/1.1 206 Partial Content\r\nContent-Range: bytes 5-6/7\r\nContent-Length: 2\r\n\r\n[]',
  ),
  'a redirect to nothing': send('HTTP/1.1 302 Found\r\nLocation: \r\n\r\n'),
  'a redirect to no address': send('HTTP/1.1 302 Found\r\nLocation: http://[::\r\n\r\n'),
  'a redirect with a line break': send('HTTP/1.1 302 Found\r\nLocation: /x\rX-Forged: 1\r\n\r\n'),
  'a redirect of a script': send('HTTP/1.1 302 Found\r\nLocation: javascript:alert(1)\r\n\r\n'),
  'JSON in UTF-16': send(head('Content-Type: application/json; charset=utf-16'), Buffer.from('\ufeff[]', 'utf16le')),
  'JSON in bytes that are none': send(head('Content-Length: 4'), Buffer.from([0x5b, 0xff, 0xfe, 0x5d])),
  'JSON and JSON': send(whole('[][]')),
  'JSON with a note': send(whole('[/* a */]')),
  'a prototype': send(whole('{"__proto__":{"files":[1]},"constructor":{"prototype":{}}}')),
  'a model called by a prototype': send(
    whole('[{"id":"__proto__/constructor","tags":[],"lastModified":"2026","siblings":{"__proto__":1}}]'),
  ),
  'a number of a million digits': send(whole(`[{"id":"a/b","downloads":${'9'.repeat(1e6)}}]`)),
  'a page of the web': send('HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 6\r\n\r\n<html>'),
};

const KNOWN = [
  'wrong-content',
  'server',
  'network',
  'cancelled',
  'not-found',
  'rate-limited',
  'needs-access',
  'permission',
];

test('bytes that are no answer of a hub, whatever is asked for', async () => {
  const all = Object.entries(ANSWERS);
  const seen = observe();
  for (let from = 0; from < all.length; from += 8) {
    await Promise.all(
      all.slice(from, from + 8).map(async ([what, answer]) => {
        const url = await serve(answer);
        for (const [how, ask] of Object.entries(WAYS)) {
          await tally.refused(`${what}, ${how}`, async () => {
            const signal = AbortSignal.timeout(SOON_MS);
            const heard = await Promise.race([
              ask(url, signal).catch((error: Error) => error),
              setTimeout(SOON_MS + 5000, 'never', { ref: false }),
            ]);
            expect(heard, 'it ends').not.toBe('never');
            if (!(heard instanceof Error)) {
              expect(JSON.stringify(heard)).toMatch(
                /^\[(?:\{"source":"mirror","name":"(?:a\/b|__proto__\/constructor)".*\})?\]$/,
              );
              return;
            }
            const { name, code = '', message } = heard as Error & { code?: string };
            if (name !== 'TimeoutError' && name !== 'AbortError') expect(KNOWN, `${name} ${message}`).toContain(code);
            expect(message).not.toContain(SECRET);
          });
        }
      }),
    );
  }
  expect(({} as Record<string, unknown>).files).toBeUndefined();
  const { grown } = seen();
  await tally.refused('the memory of all of them', () => expect(grown / 2 ** 20, 'MB').toBeLessThan(400));
  tally.settle();
});

test('what is said of a file, and what comes', async () => {
  const range = { first: 10, last: 19 };
  const part = (told: string, body = '0123456789') =>
    `HTTP/1.1 206 Partial Content\r\nContent-Range: ${told}\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
  for (const [what, sent] of Object.entries({
    'bytes of another place': part('bytes 0-9/100'),
    'a place that is none': part('bytes */*'),
    'a place below none': part('bytes -5-4/100'),
    'a place backwards': part('bytes 19-10/100'),
    'a place of another unit': part('lines 10-19/100'),
    'a place beyond all numbers': part(`bytes ${'9'.repeat(30)}-${'9'.repeat(30)}/${'9'.repeat(31)}`),
    'no place': 'HTTP/1.1 206 Partial Content\r\nContent-Length: 10\r\n\r\n0123456789',
    'another file': part('bytes 10-19/100').replace('\r\n', '\r\nETag: "other"\r\n'),
    'packed bytes': part('bytes 10-19/100').replace('\r\n', '\r\nContent-Encoding: gzip\r\n'),
    'a page of the web': part('bytes 10-19/100').replace('\r\n', '\r\nContent-Type: text/html\r\n'),
    'nothing new': 'HTTP/1.1 304 Not Modified\r\n\r\n',
    nothing: 'HTTP/1.1 204 No Content\r\n\r\n',
    'fewer bytes than were said': part('bytes 10-19/100').slice(0, -5),
    'no end of the place':
      'HTTP/1.1 416 Range Not Satisfiable\r\nContent-Range: bytes */5\r\nContent-Length: 0\r\n\r\n',
  })) {
    const url = await serve(send(sent));
    await tally.refused(`a file: ${what}`, async () => {
      const taken = async () => {
        const { body } = await request({ url: `${url}/x` }, range, '"one"', AbortSignal.timeout(SOON_MS), network);
        let bytes = 0;
        for await (const piece of body) bytes += piece.length;
        return bytes;
      };
      await expect(taken()).rejects.toMatchObject({
        name: 'DownloadError',
        code: expect.stringMatching(/^(?!internal)/),
      });
    });
  }
  tally.settle();
});

/** Names and addresses of this computer and its network, in all notations. */
const INSIDE = [
  '127.0.0.1',
  '127.1',
  '0x7f000001',
  '2130706433',
  '0177.0.0.1',
  '0.0.0.0',
  '10.0.0.1',
  '172.16.0.1',
  '172.31.255.255',
  '192.168.1.1',
  '169.254.169.254',
  '100.64.0.1',
  '224.0.0.1',
  '255.255.255.255',
  '[::1]',
  '[::]',
  '[::ffff:127.0.0.1]',
  '[::ffff:c0a8:101]',
  '[fe80::1]',
  '[fd00::1]',
  '[64:ff9b::7f00:1]',
  'localhost',
  'localhost.',
  'LOCALHOST',
  'a.localhost',
  'router',
  'printer.local',
  'db.internal',
  'nas.lan',
  'box.home.arpa',
  '１２７.０.０.１',
];

test('a hub of the internet cannot send us into our own network', async () => {
  for (const host of INSIDE) {
    const location = `https://${host}:8443/admin?reboot=1`;
    const asked: string[] = [];
    const fetch: typeof network.fetch = async (input) => {
      asked.push(String(input));
      return new Response(null, {
        status: 302,
        headers: { location: encodeURI(location).replaceAll('%5B', '[').replaceAll('%5D', ']') },
      });
    };
    const open: typeof network.open = async (url) => {
      asked.push(url.href);
      return {
        status: 302,
        header: (name) => (name === 'location' ? location : null),
        body: (async function* () {})(),
        cancel: () => {},
      };
    };
    await tally.refused(`a list at ${host}`, async () => {
      const source = hubSource({
        id: 'mirror',
        url: 'https://hub.example',
        token: async () => null,
        net: () => ({ ...network, fetch }),
      });
      await expect(source.repository('acme/tiny', null, AbortSignal.timeout(SOON_MS))).rejects.toMatchObject({
        code: 'server',
      });
      expect(asked.splice(0).filter((one) => !one.startsWith('https://hub.example/'))).toEqual([]);
    });
    await tally.refused(`a file at ${host}`, async () => {
      const file = request({ url: 'https://hub.example/x' }, null, null, AbortSignal.timeout(SOON_MS), {
        ...network,
        open,
      });
      await expect(file).rejects.toMatchObject({ code: 'server', message: expect.stringContaining('own network') });
      expect(asked.splice(0)).toEqual(['https://hub.example/x']);
    });
  }
  tally.settle();
});
