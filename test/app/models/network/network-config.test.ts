import { readFileSync, writeFileSync } from 'node:fs';
import { createServer, request as httpRequest } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import { type AddressInfo, connect as connectTo } from 'node:net';
import { join } from 'node:path';
import { afterEach, expect, onTestFinished, test } from 'vitest';
import { network, request } from '../../../../app/models/network/http-request.ts';
import { certificatesIn, takeRoute } from '../../../../app/models/network/network-config.ts';
import { newFolder, startCore } from '../../../support/core/core.ts';
import { content, startHub } from '../../../support/fakes/hub.ts';

//  How the network is reached: through a proxy, and with certificates of one's own.

const certificates = join(import.meta.dirname, '../../../fixtures/certificates');
const signal = new AbortController().signal;

afterEach(() => takeRoute({ proxy: null, extraCaCertificates: null }));

/** A proxy that counts: plain requests and tunnels. */
async function startProxy() {
  const seen: string[] = [];
  const proxy = createServer((incoming, outgoing) => {
    seen.push(incoming.url ?? '');
    const onward = httpRequest(incoming.url ?? '', { headers: incoming.headers }, (answer) => {
      outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(outgoing);
    });
    onward.on('error', () => outgoing.destroy());
    incoming.pipe(onward);
  });
  proxy.on('connect', (incoming, client) => {
    seen.push(incoming.url ?? '');
    const [host, port] = (incoming.url ?? '').split(':');
    const onward = connectTo(Number(port), host, () => {
      client.write('HTTP/1.1 200 Connection established\r\n\r\n');
      onward.pipe(client).pipe(onward);
    });
    onward.on('error', () => client.destroy());
    client.on('error', () => onward.destroy());
  });
  await new Promise<void>((ready) => proxy.listen(0, '127.0.0.1', ready));
  onTestFinished(() => {
    proxy.closeAllConnections();
    proxy.close();
  });
  return { address: `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`, seen };
}

async function startSecure(body: Buffer): Promise<string> {
  const server = createSecureServer(
    { key: readFileSync(join(certificates, 'server.key')), cert: readFileSync(join(certificates, 'server.pem')) },
    (_, response) => response.writeHead(200, { 'content-length': body.length }).end(body),
  );
  await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `https://localhost:${(server.address() as AddressInfo).port}/`;
}

async function bytesOf(url: string): Promise<Buffer> {
  const { body } = await request({ url }, null, null, signal, network);
  const parts: Uint8Array[] = [];
  for await (const part of body) parts.push(part);
  return Buffer.concat(parts);
}

test('every request goes through the proxy that is set, and past it when it is taken away', async () => {
  const hub = await startHub({ files: { 'config.json': content(500) } });
  onTestFinished(() => hub.stop());
  const proxy = await startProxy();
  const { client } = await startCore();
  await client.call('settings.set', { hubEndpoint: hub.url, proxy: proxy.address });
  await client.call('models.inspectRemote', { reference: 'acme/tiny' }).catch(() => {}); // no weights: only the way counts
  const through = proxy.seen.length;
  expect(through).toBeGreaterThan(1);
  await client.call('settings.set', { proxy: null });
  await client.call('models.search', { text: 'tiny' });
  expect(proxy.seen).toHaveLength(through);
});

test('a host behind a certificate of one’s own is trusted when its authority is set, and only then', async () => {
  const body = content(70_000);
  const url = await startSecure(body);
  await expect(bytesOf(url)).rejects.toMatchObject({ code: 'network' });
  takeRoute({ proxy: null, extraCaCertificates: join(certificates, 'authority.pem') });
  expect((await bytesOf(url)).equals(body)).toBe(true);
});

test('through a proxy and with a certificate of one’s own at once', async () => {
  const body = content(70_000);
  const url = await startSecure(body);
  const proxy = await startProxy();
  takeRoute({ proxy: proxy.address, extraCaCertificates: join(certificates, 'authority.pem') });
  expect((await bytesOf(url)).equals(body)).toBe(true);
  expect(proxy.seen).toEqual([new URL(url).host]);
});

test('a file that holds no certificate is refused, and the setting stays as it was', async () => {
  const path = join(newFolder(), 'notes.txt');
  writeFileSync(path, 'no certificate');
  expect(() => certificatesIn(path)).toThrow(/contains no certificate/);
  const { client } = await startCore();
  await expect(client.call('settings.set', { extraCaCertificates: path })).rejects.toMatchObject({
    code: 'unreadable',
  });
  expect((await client.call('settings.get')).extraCaCertificates).toBe(null);
});
