import { existsSync, mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ReadableStream } from 'node:stream/web';
import { expect, onTestFinished, test, vi } from 'vitest';
import { createUploads, uploadLimits } from '../../../app/server/uploads.ts';
import { newFolder } from '../../support/core/core.ts';

const body = (bytes: number) => new Response('x'.repeat(bytes)).body as never;
const open = (dataFolder: string, limits: Partial<typeof uploadLimits> = {}) => {
  const uploads = createUploads(dataFolder, { ...uploadLimits, ...limits });
  onTestFinished(uploads.close);
  return uploads;
};
const left = (dataFolder: string) => readdirSync(join(dataFolder, 'uploads'));

test('what a killed start left is gone at the next', () => {
  const dataFolder = newFolder();
  mkdirSync(join(dataFolder, 'uploads'));
  writeFileSync(join(dataFolder, 'uploads', 'secret'), 'secret');
  open(dataFolder);
  expect(left(dataFolder)).toEqual([]);
  expect(statSync(join(dataFolder, 'uploads')).mode & 0o777).toBe(0o700);
});

test('a file goes when its time is over, and with the end of the host', async () => {
  const dataFolder = newFolder();
  const uploads = open(dataFolder, { keptMs: 30 });
  const { path } = await uploads.receive(body(10), 'a.txt', 10);
  await vi.waitFor(() => expect(existsSync(path)).toBe(false));
  await uploads.receive(body(10), 'b.txt', 10);
  uploads.close();
  expect(existsSync(join(dataFolder, 'uploads'))).toBe(false);
});

test('the disk is not filled: by one file, by many, by more than was announced, or where little is free', async () => {
  const dataFolder = newFolder();
  const uploads = open(dataFolder, { bytes: 100, allBytes: 150, files: 3 });
  const receive = (bytes: number, announced = bytes) => uploads.receive(body(bytes), 'a.txt', announced);
  await expect(receive(101)).rejects.toMatchObject({ code: 'too-large' });
  await expect(receive(101, 0), 'unannounced').rejects.toMatchObject({ code: 'too-large' });
  await receive(100);
  // Before any of it is read, where its size was announced.
  let pulled = 0;
  const large = new ReadableStream<Uint8Array>({ pull: () => void pulled++ }, { highWaterMark: 0 });
  await expect(uploads.receive(large, 'a.txt', 51)).rejects.toMatchObject({ code: 'too-large' });
  expect(pulled).toBe(0);
  await expect(receive(51)).rejects.toMatchObject({ code: 'too-large' });
  await expect(receive(51, 1)).rejects.toMatchObject({ code: 'too-large' });
  await receive(1);
  await receive(1);
  await expect(receive(1), 'a fourth file').rejects.toMatchObject({ code: 'too-large' });
  expect(left(dataFolder)).toHaveLength(3);
  const full = open(newFolder(), { freeBytes: Number.MAX_SAFE_INTEGER });
  await expect(full.receive(body(1), 'a.txt', 1)).rejects.toMatchObject({ code: 'disk-full' });
});

test('no file of a set stands where another one stands, or is written by two at once', async () => {
  const dataFolder = newFolder();
  const uploads = open(dataFolder);
  const set = '0a0a0a0a-0a0a-4a0a-8a0a-0a0a0a0a0a0a';
  const receive = (name: string, bytes = 1) => uploads.receive(body(bytes), name, 0, set);
  await receive('model/config.json');
  for (const name of ['model', 'model/config.json/x', 'model/config.json/x/y'])
    await expect(receive(name), name).rejects.toMatchObject({ code: 'conflict' });
  const both = await Promise.allSettled([receive('model/weights', 1_000_000), receive('model/weights', 2_000_000)]);
  expect(both.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
  const sent = both.find((one) => one.status === 'fulfilled')?.value ?? expect.unreachable();
  expect(statSync(sent.path).size).toBe(sent.bytes);
  expect((await receive('model/config.json', 2)).bytes, 'again, as after a cut').toBe(2);
});
