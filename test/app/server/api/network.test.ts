import { X509Certificate } from 'node:crypto';
import { chmodSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { createServer as createTlsServer, request } from 'node:https';
import { connect as connectTcp, createServer } from 'node:net';
import { join } from 'node:path';
import { type ConnectionOptions, connect } from 'node:tls';
import { expect, onTestFinished, test } from 'vitest';
import type { NetworkState } from '../../../../app/protocol/index.ts';
import type { NetworkOptions } from '../../../../app/server/api/api-server.ts';
import { keepRoom, listen } from '../../../../app/server/listen.ts';
import { identityIn, ownAddresses, ownNames } from '../../../../app/server/network-identity.ts';
import { newFolder } from '../../../support/core/core.ts';
import { selfSigned } from '../../../support/fakes/certificates.ts';
import { KEY, startApi } from './api.ts';

//  The server for other devices: HTTPS on every address of this computer, beside the one for programs on it.

const start = (network: Partial<NetworkOptions> = {}, more: Parameters<typeof startApi>[0] = {}) =>
  startApi({ network: { port: 0, dataFolder: newFolder(), certificate: null, ...network }, ...more });

type On = Extract<NetworkState, { status: 'on' }>;
function on({ network }: { network: NetworkState }): On {
  if (network.status !== 'on') throw new Error(JSON.stringify(network));
  return network;
}

type Asked = { host?: string; ca?: string | undefined; headers?: Record<string, string>; path?: string };

/** Status and body; the error's code if there was no answer. */
const ask = (
  { port, certificate }: On,
  { host = '127.0.0.1', ca = certificate, headers = {}, path = '/v1/models' }: Asked = {},
) =>
  new Promise<{ status: number | string; body: string }>((resolve) => {
    const options = { host, port, path, ...(ca && { ca }), checkServerIdentity: () => undefined };
    const sent = request({ ...options, headers: { authorization: `Bearer ${KEY}`, ...headers } }, (answer) => {
      let body = '';
      answer.on('data', (piece) => (body += piece));
      answer.on('end', () => resolve({ status: answer.statusCode ?? 0, body }));
    });
    sent.on('error', (error: NodeJS.ErrnoException) => resolve({ status: error.code ?? error.message, body: '' }));
    sent.end();
  });

/** Whether a TLS client that checks the name gets through. */
const trusts = (options: ConnectionOptions) =>
  new Promise<boolean>((resolve) => {
    const socket = connect(options, () => {
      resolve(socket.authorized);
      socket.destroy();
    }).on('error', () => resolve(false));
  });

test('other devices are answered over TLS, with the key, by every name and address; this computer as before', async () => {
  const server = await start();
  const network = on(server);
  expect((await ask(network)).status).toBe(200);
  expect(JSON.parse((await ask(network)).body).data.map(({ id }: { id: string }) => id)).toContain(server.model);
  const here = await fetch(`${server.address}/v1/models`, { headers: { authorization: `Bearer ${KEY}` } });
  expect(here.status).toBe(200);
  for (const address of ownAddresses()) {
    expect((await ask(network, { host: address })).status, address).toBe(200);
    expect(await trusts({ host: address, port: network.port, ca: network.certificate }), address).toBe(true);
  }
  for (const name of ownNames())
    expect(
      await trusts({ host: '127.0.0.1', port: network.port, ca: network.certificate, servername: name }),
      name,
    ).toBe(true);
  const urls = [...ownNames().slice(-1), ...ownAddresses()].map((host) => host.replace(/^(.*:.*)$/, '[$1]'));
  expect(network.addresses).toEqual(urls.map((host) => `https://${host}:${network.port}`));
  expect(new X509Certificate(network.certificate).fingerprint256).toBe(network.fingerprint);
});

test('nobody gets in without the key, by a foreign name, from a foreign page, without TLS or with an old one', async () => {
  const server = await start();
  const network = on(server);
  expect((await ask(network, { headers: { authorization: '' } })).status).toBe(401);
  expect((await ask(network, { headers: { authorization: 'Bearer lh-wrong' } })).status).toBe(401);
  expect((await ask(network, { headers: { host: `evil.example:${network.port}` } })).status).toBe(400);
  expect((await ask(network, { headers: { host: `127.0.0.1:${server.port}` } })).status).toBe(400);
  expect((await ask(network, { headers: { origin: 'https://evil.example' } })).status).toBe(403);
  expect((await ask(network, { ca: selfSigned().cert })).status).toBe('DEPTH_ZERO_SELF_SIGNED_CERT');
  await expect(fetch(`http://127.0.0.1:${network.port}/v1/models`)).rejects.toThrow();
  const old = { host: '127.0.0.1', port: network.port, ca: network.certificate, checkServerIdentity: () => undefined };
  expect(await trusts({ ...old, maxVersion: 'TLSv1.1', minVersion: 'TLSv1' })).toBe(false);
  expect(await trusts({ ...old, maxVersion: 'TLSv1.2' })).toBe(true);
  // The address for this computer does not answer on the others.
  for (const address of ownAddresses().filter((one) => !one.includes(':')))
    await expect(fetch(`http://${address}:${server.port}/v1/models`)).rejects.toThrow();
  expect(server.refused.length).toBeGreaterThanOrEqual(5);
});

test('whoever opens connections and says nothing ends no answer that is being written', async () => {
  const certificate = selfSigned();
  const server = createTlsServer({ key: certificate.key, cert: certificate.cert }, (_, response) => {
    const timer = setInterval(() => response.write('more '), 20);
    response.on('close', () => clearInterval(timer));
  });
  onTestFinished(() => server.closeAllConnections());
  const port = await listen(server, 0, 'network');
  keepRoom(server, port);
  let [arrived, heard, ended] = [0, 0, false];
  server.on('connection', () => {
    arrived++;
  });
  const sent = request({ host: '127.0.0.1', port, ca: certificate.cert }, (answer) => {
    answer.on('data', (piece) => {
      heard += piece.length;
    });
    answer.on('close', () => {
      ended = true;
    });
  });
  sent.on('error', () => {
    ended = true;
  });
  sent.end();
  await expect.poll(() => heard, { timeout: 20_000 }).toBeGreaterThan(0);
  const silent = Array.from({ length: 300 }, () => connectTcp(port, '127.0.0.1').on('error', () => {}));
  onTestFinished(() => {
    for (const one of silent) one.destroy();
  });
  await expect.poll(() => arrived, { timeout: 20_000 }).toBe(301);
  const before = heard;
  await expect.poll(() => heard, { timeout: 20_000 }).toBeGreaterThan(before + 50);
  expect(ended).toBe(false);
});

test('it never starts without keys; a taken port or a wrong certificate leaves the other address as it is', async () => {
  const withoutKeys = await start({}, { keys: null });
  expect(withoutKeys.network).toMatchObject({ status: 'failed', reason: 'other' });
  const holder = createServer().listen(0);
  onTestFinished(() => void holder.close());
  const { port } = holder.address() as { port: number };
  const taken = await start({ port });
  expect(taken.network).toMatchObject({ status: 'failed', reason: 'taken', port });
  expect((await fetch(`${taken.address}/v1/models`, { headers: { 'x-api-key': KEY } })).status).toBe(200);
  const folder = newFolder();
  const file = (name: string, text: string) => {
    writeFileSync(join(folder, name), text);
    return join(folder, name);
  };
  const [one, other] = [selfSigned({ names: ['llm.example', '*.lan.example'] }), selfSigned()];
  const day = 86_400_000;
  const expired = selfSigned({ from: new Date(Date.now() - 9 * day), until: new Date(Date.now() - day) });
  for (const [certificate, key] of [
    [join(folder, 'nowhere'), file('key', one.key)],
    [file('cert', one.cert), file('other', other.key)],
    [file('text', 'no certificate'), file('key', one.key)],
    [file('expired', expired.cert), file('expired-key', expired.key)],
    [folder, file('key', one.key)],
  ] as const)
    expect((await start({ certificate: { certificate, key } })).network).toMatchObject({
      status: 'failed',
      reason: 'certificate',
    });
  const own = on(await start({ certificate: { certificate: file('cert', one.cert), key: file('key', one.key) } }));
  expect(own.certificate).toBe(one.cert);
  for (const [host, status] of [
    ['llm.example', 200],
    ['ada.lan.example', 200],
    ['a.ada.lan.example', 400],
    ['lan.example', 400],
    ['ada.lan.example.evil.example', 400],
  ] as const)
    expect((await ask(own, { headers: { host: `${host}:${own.port}` } })).status, host).toBe(status);
});

test('the certificate is made once, private, renewed before it ends, and made anew where it is damaged', async () => {
  const folder = newFolder();
  const files = join(folder, 'server-certificate');
  const first = identityIn(folder, null);
  expect(statSync(files).mode & 0o777).toBe(0o700);
  for (const name of ['certificate.pem', 'key.pem']) expect(statSync(join(files, name)).mode & 0o777).toBe(0o600);
  const certificate = new X509Certificate(first.cert);
  expect(certificate.ca).toBe(false);
  expect(certificate.keyUsage).toEqual(['1.3.6.1.5.5.7.3.1']);
  expect(Date.parse(certificate.validTo) - Date.parse(certificate.validFrom)).toBeLessThan(825 * 86_400_000);
  expect(identityIn(folder, null).cert).toBe(first.cert);
  const later = identityIn(folder, null, Date.now() + 710 * 86_400_000);
  expect(later.cert).not.toBe(first.cert);
  expect(later.key).toBe(first.key);
  writeFileSync(join(files, 'certificate.pem'), selfSigned({ names: ['another.example'] }).cert);
  const mended = identityIn(folder, null);
  expect(
    new X509Certificate(mended.cert).checkPrivateKey((await import('node:crypto')).createPrivateKey(mended.key)),
  ).toBe(true);
  writeFileSync(join(files, 'key.pem'), 'damaged');
  chmodSync(join(files, 'key.pem'), 0o644);
  const anew = identityIn(folder, null);
  expect(anew.key).not.toBe(first.key);
  expect(readFileSync(join(files, 'key.pem'), 'utf8')).toBe(anew.key);
  expect(statSync(join(files, 'key.pem')).mode & 0o777).toBe(0o600);
});
