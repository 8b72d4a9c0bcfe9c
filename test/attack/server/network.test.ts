import { connect as connectTcp } from 'node:net';
import { type ConnectionOptions, connect as connectTls } from 'node:tls';
import { expect, onTestFinished, test, vi } from 'vitest';
import type { NetworkState } from '../../../app/protocol/index.ts';
import { KEY, startApi } from '../../app/server/api/api.ts';
import { newFolder } from '../../support/core/core.ts';
import { tallyOf } from '../tally.ts';

//  The server for other devices, attacked by one of them: without the key, by other names, with other bytes.

vi.setConfig({ testTimeout: 120_000 });
const tally = tallyOf('api');

type On = Extract<NetworkState, { status: 'on' }>;

async function start(): Promise<On & { here: number; refused: string[] }> {
  const server = await startApi({ network: { port: 0, dataFolder: newFolder(), certificate: null } });
  if (server.network.status !== 'on') throw new Error(JSON.stringify(server.network));
  return { ...server.network, here: server.port, refused: server.refused };
}

/** What comes back for these bytes, until the other side is silent for a while or closes. */
const heard = (socket: ReturnType<typeof connectTcp>, bytes: string | Uint8Array, ready: string, waitMs = 3000) =>
  new Promise<string>((done) => {
    let text = '';
    const end = () => {
      socket.destroy();
      done(text);
    };
    let timer = setTimeout(end, waitMs);
    socket.on('data', (piece: Buffer) => {
      text += piece.toString('latin1');
      clearTimeout(timer);
      timer = setTimeout(end, 300);
    });
    socket.on('error', end).on('close', end);
    socket.once(ready, () => socket.write(bytes));
  });

const overTls = (port: number, bytes: string, options: ConnectionOptions = {}, waitMs = 3000) =>
  heard(connectTls({ host: '127.0.0.1', port, rejectUnauthorized: false, ...options }), bytes, 'secureConnect', waitMs);

const get = (lines: string[], first = 'GET /v1/models HTTP/1.1') => [first, ...lines, '', ''].join('\r\n');

test('requests of another device that should get nothing', async () => {
  const { port, here, refused } = await start();
  const [host, key] = [`Host: 127.0.0.1:${port}`, `Authorization: Bearer ${KEY}`];
  expect(await overTls(port, get([host, key]), {}, 20_000)).toMatch(/^HTTP\/1\.1 200/);
  const ways: Readonly<Record<string, string>> = {
    'no key': get([host]),
    'an empty key': get([host, 'Authorization: Bearer ']),
    'a key in lower case': get([host, `Authorization: Bearer ${KEY.toUpperCase()}`]),
    'a key and more': get([host, `${key}x`]),
    'half of a key': get([host, key.slice(0, -1)]),
    'the key as a password': get([host, `Authorization: Basic ${Buffer.from(`x:${KEY}`).toString('base64')}`]),
    'the key in the address': get([host], `GET /v1/models?key=${KEY}&api_key=${KEY} HTTP/1.1`),
    'the key as a cookie': get([host, `Cookie: key=${KEY}; authorization=Bearer ${KEY}`]),
    'two keys, the wrong one first': get([host, 'Authorization: Bearer wrong', key]),
    'no host': get([key]),
    'another host': get(['Host: evil.example', key]),
    'a host that begins like ours': get([`Host: 127.0.0.1.evil.example:${port}`, key]),
    'a host that ends like ours': get([`Host: evil127.0.0.1:${port}`, key]),
    'our host at the port for this computer': get([`Host: 127.0.0.1:${here}`, key]),
    'our host without a port': get(['Host: 127.0.0.1', key]),
    'two hosts': get([host, 'Host: evil.example', key]),
    'a host with a user': get([`Host: x@127.0.0.1:${port}`, key]),
    'an address of somebody else': get([`Host: 203.0.113.9:${port}`, key]),
    'a name with a dot behind': get([`Host: localhost.:${port}`, key]),
    'a page of another origin': get([host, key, 'Origin: https://evil.example']),
    'a page without an origin': get([host, key, 'Origin: null']),
    'the origin of ourselves': get([host, key, `Origin: https://127.0.0.1:${port}`]),
    'a tunnel': get([host, key], 'CONNECT evil.example:443 HTTP/1.1'),
    'HTTP/2 from the start': 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n',
    'two lengths': `${get([host, 'Content-Type: application/json', 'Content-Length: 2', 'Content-Length: 20'], 'POST /v1/chat/completions HTTP/1.1')}{}`,
    'a length and pieces': `${get([host, 'Content-Type: application/json', 'Content-Length: 2', 'Transfer-Encoding: chunked'], 'POST /v1/chat/completions HTTP/1.1')}0\r\n\r\n`,
    'a second request in the body of the first': `${get([host, 'Content-Type: application/json', 'Content-Length: 60'], 'POST /v1/chat/completions HTTP/1.1')}${get([host])}`,
    'a path above': get([host], 'GET /../../etc/passwd HTTP/1.1'),
    'a header of a megabyte': get([host, key, `X: ${'x'.repeat(1e6)}`]),
    'ten thousand headers': get([host, key, ...Array.from({ length: 10_000 }, (_, at) => `X${at}: 1`)]),
  };
  for (const [what, bytes] of Object.entries(ways))
    await tally.refused(`another device: ${what}`, async () => {
      const answer = await overTls(port, bytes);
      expect(answer).not.toMatch(/^HTTP\/1\.1 (?:2|101)/);
      expect(answer).not.toContain('"object":"list"');
      expect(answer).not.toContain('root:');
      expect(answer).not.toContain(KEY);
    });
  expect(refused.join()).not.toContain(KEY);
  expect(await overTls(port, get([host, key]), {}, 20_000)).toMatch(/^HTTP\/1\.1 200/);
  tally.settle();
});

test('bytes that are no TLS, or an old one', async () => {
  const { port } = await start();
  const whole = get([`Host: 127.0.0.1:${port}`, `Authorization: Bearer ${KEY}`]);
  const raw: Readonly<Record<string, string | Uint8Array>> = {
    'HTTP in the clear': whole,
    nothing: '',
    zeros: new Uint8Array(65_536),
    noise: Uint8Array.from({ length: 65_536 }, (_, at) => (at * 7919) % 251),
    'a greeting cut off': Buffer.from('16030100', 'hex'),
    'a greeting of 16 MB': Buffer.from('160301ffff0100fffffb0303', 'hex'),
    'an alert': Buffer.from('15030300020228', 'hex'),
    'an answer before a question': Buffer.from('170303000548656c6c6f', 'hex'),
    'SSL 2': Buffer.from('802e0100020015000000100100800200800300800400800500800600400700c0', 'hex'),
  };
  for (const [what, bytes] of Object.entries(raw))
    await tally.refused(`another device: ${what}`, async () => {
      const socket = connectTcp(port, '127.0.0.1');
      onTestFinished(() => void socket.destroy());
      expect(await heard(socket, bytes, 'connect')).not.toMatch(/HTTP\/1\.1 2|"object"/);
    });
  for (const version of ['TLSv1', 'TLSv1.1'] as const)
    await tally.refused(`another device: ${version}`, async () => {
      expect(await overTls(port, whole, { minVersion: version, maxVersion: version, ciphers: 'ALL:@SECLEVEL=0' })).toBe(
        '',
      );
    });
  await tally.refused('another device: ciphers without a secret', async () => {
    expect(await overTls(port, whole, { ciphers: 'aNULL:eNULL:@SECLEVEL=0', maxVersion: 'TLSv1.2' })).toBe('');
  });
  expect(await overTls(port, whole, {}, 20_000)).toMatch(/^HTTP\/1\.1 200/);
  tally.settle();
});
