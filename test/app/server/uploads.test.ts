import { existsSync, mkdirSync, readdirSync, statfsSync, statSync, writeFileSync } from 'node:fs';
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

test.each([
  ['letter.txt', 'letter.txt'],
  ['C:\\papers\\letter.txt', 'letter.txt'],
  ['../../letter.txt', 'letter.txt'],
  ['a\0b', 'ab'],
  ['', 'file'],
  ['x'.repeat(300), 'x'.repeat(200)],
])('a file is called by its plain name: %j', async (given, name) => {
  const dataFolder = newFolder();
  const received = await open(dataFolder).receive(body(3), given, 0);
  expect(received).toEqual({ path: join(dataFolder, 'uploads', left(dataFolder)[0] ?? ''), name, bytes: 3 });
});

const set = '0a0a0a0a-0a0a-4a0a-8a0a-0a0a0a0a0a0a';
test.each([
  [set, '../config.json'],
  [set, 'a/../config.json'],
  [set, '/config.json'],
  [set, '.hidden'],
  [set, 'a/b/c/d/config.json'],
  [set, 'x'.repeat(201)],
  [set, 'ö'.repeat(128)],
  [set, 'a\\b'],
  [set, ''],
  ['../0a0a', 'config.json'],
])('no file of a set %s leads elsewhere: %j', async (id, name) => {
  const dataFolder = newFolder();
  await expect(open(dataFolder).receive(body(1), name, 0, id)).rejects.toMatchObject({
    code: 'bad-request',
    message: `[upload] set "${id}", name ${JSON.stringify(name)}: a UUID and a path of at most four plain names are allowed`,
  });
  expect(left(dataFolder)).toEqual([]);
});

test('files of a set keep their names, are no part of the limits of others, and stay longer', async () => {
  const dataFolder = newFolder();
  const uploads = open(dataFolder, { bytes: 10, allBytes: 20, files: 4, keptMs: 5, modelKeptMs: 60_000 });
  const name = `a/b/c/${'ö'.repeat(127)}`;
  const received = await uploads.receive(body(30), name, 30, set);
  expect(received).toEqual({ path: join(dataFolder, 'uploads', set, name), name, bytes: 30 });
  const { path } = await uploads.receive(body(1), 'own.txt', 0, set);
  const short = await open(newFolder(), { keptMs: 5 }).receive(body(1), 'a.txt', 0);
  await vi.waitFor(() => expect(existsSync(short.path)).toBe(false));
  expect(existsSync(path)).toBe(true);
});

test('what does not come whole leaves nothing, and says what is wrong', async () => {
  const dataFolder = newFolder();
  const uploads = open(dataFolder, { bytes: 100, allBytes: 150 });
  const cut = new ReadableStream<Uint8Array>({
    pull(controller) {
      controller.enqueue(new Uint8Array(90));
      controller.error(new Error('the tab was closed'));
    },
  });
  await expect(uploads.receive(cut, 'a.txt', 0)).rejects.toMatchObject({
    code: 'cancelled',
    message: '[upload] a.txt: the tab was closed',
  });
  expect(left(dataFolder)).toEqual([]);
  await expect(uploads.receive(body(101), 'a.txt', 0)).rejects.toThrow('[upload] a.txt has more than 100 bytes');
  expect(left(dataFolder)).toEqual([]);
  await uploads.receive(body(100), 'a.txt', 100);
  await expect(uploads.receive(body(51), 'b.txt', 0)).rejects.toThrow(
    '[upload] b.txt: too much is waiting; the limit is 150 bytes',
  );
  expect((await uploads.receive(body(50), 'b.txt', 50)).bytes).toBe(50);
  const free = statfsSync(dataFolder);
  const [little, enough] = [2 ** 30, -(2 ** 30)].map((more) =>
    open(newFolder(), { freeBytes: free.bavail * free.bsize + more }),
  );
  await expect(little?.receive(body(1), 'c.txt', 0)).rejects.toThrow('bytes of the disk must stay free');
  expect((await enough?.receive(body(1), 'c.txt', 0))?.bytes).toBe(1);
});
