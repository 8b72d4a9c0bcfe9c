import { cpSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { Rate, Throttle } from '../../../app/models/downloads/throttle.ts';
import { newFolder, startCore } from '../../support/core/core.ts';
import { starter } from '../../support/models/models.ts';

//  A limit of bandwidth holds bytes back, and nobody who wants to stop.

const never = new AbortController().signal;

test('a low limit does not keep a download from being cancelled, nor the app from ending', async () => {
  const { client, host } = await startCore();
  const folder = join(newFolder(), 'tiny');
  cpSync(starter, folder, { recursive: true });
  await client.call('settings.set', { downloadLimit: 1024 });
  const { id: downloadId } = await client.call('downloads.start', { reference: folder });
  const running = async () => (await client.call('downloads.list'))[0]?.status.phase === 'running';
  await expect.poll(running, { timeout: 10_000 }).toBe(true);
  // A piece of 64 KB takes a minute at this limit.
  await client.call('downloads.cancel', { downloadId });
  expect(await client.call('downloads.list')).toEqual([]);
  await client.call('downloads.start', { reference: folder });
  await expect.poll(running, { timeout: 10_000 }).toBe(true);
  await host.close();
}, 30_000);

test('who waits for bytes is let go by the signal, and by another limit', async () => {
  const throttle = new Throttle(1);
  const stop = new AbortController();
  const waits = throttle.take(3600, stop.signal);
  stop.abort(new Error('stopped'));
  await expect(waits).rejects.toThrow('stopped');
  await expect(throttle.take(1, stop.signal)).rejects.toThrow('stopped');
  const others = throttle.take(3600, never);
  throttle.bytesPerSecond = null;
  await others;
});

test('bytes are spent at the limit', async () => {
  const sleep = vi.fn(async () => {});
  const throttle = new Throttle(1000, () => 0, sleep);
  for (let piece = 0; piece < 4; piece++) await throttle.take(500, never);
  expect(sleep.mock.calls.map(([ms]: unknown[]) => ms)).toEqual([500, 1000, 1500, 2000]);
});

test('the speed of a download is told once it has settled, and is that of the last ten seconds', () => {
  let time = 0;
  const rate = new Rate(() => time);
  const pass = (seconds: number, speed: number) => {
    for (let tenth = 0; tenth < 10 * seconds; tenth++) {
      time += 100;
      rate.add(speed / 10);
    }
  };
  pass(2, 5e6);
  expect(rate.bytesPerSecond()).toBeNull();
  expect(rate.secondsLeft(5e7)).toBeNull();
  pass(2, 5e6);
  expect(rate.bytesPerSecond()).toBe(5e6);
  expect(rate.secondsLeft(5e7)).toBe(10);
  pass(20, 1e6);
  expect((rate.bytesPerSecond() ?? 0) / 1e6).toBeCloseTo(1, 1);
});
