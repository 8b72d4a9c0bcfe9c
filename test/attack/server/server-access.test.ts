import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { enterPath, pagePath, socketPath, subprotocol, ticketPath, uploadPath } from '../../../app/protocol/index.ts';
import { maxGuesses } from '../../../app/server/rate-limit.ts';
import { startBrowserHost } from '../../../app/server/web-server.ts';
import { enter } from '../../support/core/browser.ts';
import { newFolder, startCore } from '../../support/core/core.ts';
import { tallyOf } from '../tally.ts';
import { ask, bearer, type Status, serve, statusOfSocket, ticketIn } from './served.ts';

const tally = tallyOf('server');

test('a ticket lets one page in, once; no answer sets a cookie or shows a secret', async () => {
  const { port, address, origin, reach } = await serve();
  const ticket = ticketIn(address());
  const enterWith = (given: string, headers: Record<string, string> = { origin }) =>
    ask(port, { path: enterPath, method: 'POST', headers: { ...headers, ...bearer(given) } });
  const right = await enterWith(ticket);
  expect(right.status).toBe(200);
  expect(right.headers['set-cookie']).toBeUndefined();
  expect(right.headers['cache-control']).toBe('no-store');
  const { secret } = JSON.parse(right.body) as { secret: string };
  expect((await ask(port, { path: pagePath, headers: bearer(secret) })).status).toBe(204);
  const wrong: [string, () => Promise<Status>][] = [
    ['the same ticket again', async () => (await enterWith(ticket)).status],
    ['the secret as a ticket', async () => (await enterWith(secret)).status],
    ['the key as a ticket', async () => (await enterWith(reach.key)).status],
    ['no ticket', async () => (await enterWith('')).status],
    ['a guess', async () => (await enterWith('x'.repeat(43))).status],
    ['a ticket without an origin', async () => (await enterWith(ticketIn(address()), {})).status],
    [
      'a ticket in a query',
      async () =>
        (await ask(port, { path: `${enterPath}?once=${ticketIn(address())}`, method: 'POST', headers: { origin } }))
          .status,
    ],
    [
      'a ticket by GET',
      async () =>
        (await ask(port, { path: enterPath, headers: bearer(ticketIn(address())) })).body.includes('secret')
          ? 200
          : 403,
    ],
    [
      'the secret as the key',
      async () => (await ask(port, { path: ticketPath, method: 'POST', headers: bearer(secret) })).status,
    ],
    [
      'a ticket as the key',
      async () => (await ask(port, { path: ticketPath, method: 'POST', headers: bearer(ticketIn(address())) })).status,
    ],
    [
      'the key from a page',
      async () =>
        (await ask(port, { path: ticketPath, method: 'POST', headers: { origin, ...bearer(reach.key) } })).status,
    ],
    ['a ticket as the secret of a socket', () => statusOfSocket(port, [subprotocol, ticketIn(address())], { origin })],
    ['the key as the secret of a socket', () => statusOfSocket(port, [subprotocol, reach.key], { origin })],
    [
      'a secret in a cookie',
      () => statusOfSocket(port, [subprotocol], { origin, cookie: `longhand-${port}=${secret}` }),
    ],
    ['a secret in a query', () => statusOfSocket(port, [subprotocol], { origin }, `${socketPath}?secret=${secret}`)],
    ['a secret as Authorization of a socket', () => statusOfSocket(port, [subprotocol], { origin, ...bearer(secret) })],
    ['a secret first', () => statusOfSocket(port, [secret, subprotocol], { origin })],
    ['a secret among others', () => statusOfSocket(port, [subprotocol, 'a', secret], { origin })],
    ['an empty state', async () => (await ask(port, { path: pagePath })).status],
    [
      'an upload with a cookie',
      async () =>
        (
          await ask(port, {
            path: uploadPath,
            method: 'POST',
            headers: { origin, cookie: `longhand-${port}=${secret}` },
          })
        ).status,
    ],
    [
      'an upload with the key',
      async () =>
        (await ask(port, { path: uploadPath, method: 'POST', headers: { origin, ...bearer(reach.key) } })).status,
    ],
  ];
  for (const [what, attack] of wrong) {
    await tally.refused(what, async () => expect([0, 400, 401, 403, 429]).toContain(await attack()));
  }
  tally.settle();
  expect((await ask(port, { path: ticketPath, method: 'POST', headers: bearer(reach.key) })).status).toBe(200);
});

test('secrets are made anew at each start, and none is left in the data folder but the key of this one', async () => {
  const { host, dataFolder } = await startCore();
  const start = () => startBrowserHost({ host, renderer: newFolder(), port: 0 });
  const first = await start();
  const { secret } = await enter(first.address());
  const old = ticketIn(first.address());
  await first.close();
  const second = await start();
  onTestFinished(() => second.close());
  const { origin } = new URL(second.address());
  expect(second.reach.key).not.toBe(first.reach.key);
  await tally.refused('a ticket of the last start', async () =>
    expect(
      (await ask(second.port, { path: enterPath, method: 'POST', headers: { origin, ...bearer(old) } })).status,
    ).toBe(403),
  );
  await tally.refused('a secret of the last start', async () =>
    expect(await statusOfSocket(second.port, [subprotocol, secret], { origin })).toBe(403),
  );
  for (const file of readdirSync(dataFolder)) {
    const path = join(dataFolder, file);
    if (!statSync(path).isFile()) continue;
    await tally.refused(`the secret of a page in ${file}`, () =>
      expect(readFileSync(path).includes(secret)).toBe(false),
    );
  }
  tally.settle();
});

test('a dictionary of tickets is sent away; the owner is let in meanwhile', async () => {
  const { port, origin, address } = await serve();
  const statuses: number[] = [];
  for (let guess = 0; guess < 60; guess++) {
    const headers = { origin, ...bearer(`guess-${guess}`) };
    await tally.refused(`guess ${guess}`, async () => {
      statuses.push((await ask(port, { path: enterPath, method: 'POST', headers })).status);
      expect(statuses.at(-1)).toBe(guess < maxGuesses ? 403 : 429);
    });
  }
  tally.settle();
  const headers = { origin, ...bearer(ticketIn(address())) };
  expect((await ask(port, { path: enterPath, method: 'POST', headers })).status).toBe(200);
});
