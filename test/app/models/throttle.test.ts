import { cpSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { Rate, Throttle } from '../../../app/models/downloads/throttle.ts';
import { sleepFor } from '../../../app/models/network/sleep.ts';
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

test('what was not used is not saved up, pieces of less than a twentieth of a second do not wait, nor does anybody without a limit', async () => {
  let now = 0;
  const sleep = vi.fn(async () => {});
  const throttle = new Throttle(1000, () => now, sleep);
  const waits = () => sleep.mock.calls.splice(0).map(([ms]: unknown[]) => ms);
  await throttle.take(50, never);
  expect(waits()).toEqual([]);
  await throttle.take(1, never);
  expect(waits()).toEqual([51]);
  now = 10_000;
  await throttle.take(500, never);
  expect(waits()).toEqual([500]);
  throttle.bytesPerSecond = 1000;
  await throttle.take(500, never);
  expect(waits()).toEqual([1000]);
  // Another limit begins anew.
  throttle.bytesPerSecond = 100;
  await throttle.take(50, never);
  expect(waits()).toEqual([500]);
  throttle.bytesPerSecond = null;
  await throttle.take(1e9, never);
  expect([waits(), throttle.bytesPerSecond]).toEqual([[], null]);
});

test('the speed is told after three seconds, of the time there was, and forgets what is older than ten', () => {
  let time = 500;
  const rate = new Rate(() => time);
  rate.add(3000);
  time = 599;
  rate.add(3000);
  time = 3499;
  expect([rate.bytesPerSecond(), rate.secondsLeft(2000)]).toEqual([null, null]);
  time = 3500;
  expect([rate.bytesPerSecond(), rate.secondsLeft(4000)]).toEqual([2000, 2]);
  time = 10_500;
  expect(rate.bytesPerSecond()).toBe(600);
  time = 10_501;
  expect([rate.bytesPerSecond(), rate.secondsLeft(4000)]).toEqual([0, null]);
});

test('a wait ends with its time or with its signal, and leaves nothing behind', async () => {
  vi.useFakeTimers();
  try {
    const stop = new AbortController();
    const remove = vi.spyOn(stop.signal, 'removeEventListener');
    const slept = sleepFor(100, stop.signal);
    await vi.advanceTimersByTimeAsync(100);
    await slept;
    expect(remove).toHaveBeenCalledTimes(1);
    const stopped = sleepFor(100, stop.signal);
    stop.abort(new Error('stopped'));
    await expect(stopped).rejects.toThrow('stopped');
    await expect(sleepFor(100, stop.signal)).rejects.toThrow('stopped');
    expect(vi.getTimerCount()).toBe(0);
  } finally {
    vi.useRealTimers();
  }
});
