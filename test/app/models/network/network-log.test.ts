import { expect, onTestFinished, test, vi } from 'vitest';
import type { NetworkLogEntry } from '../../../../app/protocol/index.ts';
import { next, startCore } from '../../../support/core/core.ts';
import { type Faults, startHub } from '../../../support/fakes/hub.ts';
import { starterFiles } from '../../../support/models/models.ts';

//  The privacy page: whom Longhand spoke to, with bytes, and what it refused.

async function start(faults: Partial<Faults> = {}) {
  const hub = await startHub({ files: starterFiles(), faults });
  onTestFinished(() => hub.stop());
  const core = await startCore();
  await core.client.call('settings.set', { hubEndpoint: hub.url });
  return { hub, ...core };
}
const sum = (contacts: NetworkLogEntry[]) => contacts.reduce((bytes, one) => bytes + one.bytes, 0);

test('each host is told with its reason and every byte that came from it', async () => {
  const { hub, client } = await start();
  expect(await client.call('privacy.networkLog')).toEqual([]);
  await client.call('models.search', { text: 'tiny words' });
  await client.call('models.inspectRemote', { reference: 'acme/tiny' });
  const looked = await client.call('privacy.networkLog');
  const { host } = new URL(hub.url);
  expect(looked).toContainEqual(
    expect.objectContaining({ host, reason: 'search', about: 'tiny words', requestCount: 1 }),
  );
  expect(looked).toContainEqual(expect.objectContaining({ host, reason: 'look', about: 'acme/tiny', allowed: true }));
  await client.call('downloads.start', { reference: 'acme/tiny' });
  await vi.waitFor(async () => expect(await client.call('models.list')).toHaveLength(2), { timeout: 20_000 });
  const fetched = (await client.call('privacy.networkLog')).filter(({ reason }) => reason === 'download');
  const total = Object.values(starterFiles()).reduce((bytes, file) => bytes + file.length, 0);
  expect(sum(fetched)).toBeGreaterThan(total * 0.9);
  expect(sum(fetched)).toBeLessThan(total * 1.1);
}, 60_000);

test('with the network off nothing is asked; a download waits and goes on when it is on again', async () => {
  const { hub, client } = await start({ bytesPerSecond: 20e6 });
  await client.call('downloads.start', { reference: 'acme/tiny' });
  await client.call('settings.set', { network: 'off' });
  const off = { code: 'network', details: { reason: 'off' } };
  await expect(client.call('models.inspectRemote', { reference: 'acme/other' })).rejects.toMatchObject(off);
  await expect(client.call('models.search', { text: 'tiny' })).rejects.toMatchObject(off);
  await vi.waitFor(async () => {
    const [item] = await client.call('downloads.list');
    expect(item?.status).toMatchObject({ phase: 'failed', code: 'off' });
  });
  const refused = (await client.call('privacy.networkLog')).filter(({ allowed }) => !allowed);
  expect(refused).toContainEqual(expect.objectContaining({ host: new URL(hub.url).host, reason: 'search', bytes: 0 }));
  hub.faults.bytesPerSecond = null;
  await client.call('settings.set', { network: 'downloads' });
  await vi.waitFor(async () => expect(await client.call('models.list')).toHaveLength(2), { timeout: 20_000 });
}, 60_000);

test('what the page wanted and visitors that were turned away are told, without end in numbers', async () => {
  const { client, host } = await start();
  await client.call('privacy.reportBlocked', { address: 'https://img.example.com/pixel.gif?name=ada' });
  for (let i = 0; i < 1000; i++) host.refusedVisitor({ host: `name-${i}.example`, about: 'https://evil.example' });
  const heard = next(client, 'networkLog.changed');
  await heard;
  const contacts = await client.call('privacy.networkLog');
  expect(contacts).toContainEqual(
    expect.objectContaining({ allowed: false, reason: 'page', host: 'img.example.com', about: '', requestCount: 1 }),
  );
  expect(contacts.length).toBeLessThan(110);
  expect(contacts.reduce((times, one) => times + one.requestCount, 0)).toBe(1001);
});
