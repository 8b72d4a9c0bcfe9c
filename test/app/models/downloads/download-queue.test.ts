import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmdirSync, statSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createDownloadQueue, type DownloadQueue } from '../../../../app/models/downloads/download-queue.ts';
import { network } from '../../../../app/models/network/http-request.ts';
import { hubSource } from '../../../../app/models/sources/hugging-face.ts';
import type { Repository, Source } from '../../../../app/models/sources/source.ts';
import { type BlobStore, createBlobStore } from '../../../../app/models/storage/blob-store.ts';
import { BLOCK } from '../../../../app/models/storage/block-map.ts';
import { createLibraryLocation } from '../../../../app/models/storage/library-location.ts';
import { type Download, type DownloadNotification, LonghandError } from '../../../../app/protocol/index.ts';
import { type Database, openDatabase } from '../../../../app/store/database/database.ts';
import { migrate, readMigrations } from '../../../../app/store/database/migrate.ts';
import { content, type Hub, startHub } from '../../../support/fakes/hub.ts';

let folder: string;
let db: Database;
let hub: Hub;
let source: Source;
let repository: Repository;
let blobs: BlobStore;
const made: { name: string; path: string }[] = [];
const told: DownloadNotification[] = [];
const running: DownloadQueue[] = [];

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'longhand-shelf-'));
  db = openDatabase(join(folder, 'longhand.db'));
  migrate(db, readMigrations(join(import.meta.dirname, '../../../../app/store/database/migrations')));
  hub = await startHub({ files: { 'config.json': content(400), 'model.safetensors': content(3 * BLOCK + 9, 3) } });
  source = hubSource({ id: 'mirror', url: hub.url, token: async () => null });
  repository = await source.repository('acme/tiny', null, new AbortController().signal);
  blobs = createBlobStore(db, createLibraryLocation(db, join(folder, 'models')));
  made.length = 0;
  told.length = 0;
});
afterEach(async () => {
  for (const downloads of running.splice(0)) await downloads.close();
  db.close();
  await hub.stop();
  await rm(folder, { recursive: true });
});

function open(
  seen: Download[][] = [],
  on: BlobStore = blobs,
  finished = async (model: { name: string; path: string }) => void made.push(model),
): DownloadQueue {
  const downloads = createDownloadQueue({
    db,
    blobs: on,
    source: (id) => (id === 'mirror' ? source : undefined),
    changed: (list) => seen.push(list),
    stuck: (news) => told.push(news),
    finished,
    tuning: { backOffMs: 5, net: { ...network, stallMs: 10_000 } },
  });
  running.push(downloads);
  return downloads;
}
const until = async (condition: () => boolean) => {
  for (let i = 0; i < 400 && !condition(); i++) await new Promise((go) => setTimeout(go, 20));
  expect(condition()).toBe(true);
};

test('several files of a repository are one item and become one model', async () => {
  const downloads = open();
  const item = downloads.start(repository, repository.files, 'Tiny');
  expect(item).toMatchObject({ name: 'Tiny', done: 0, total: 3 * BLOCK + 409 });
  await until(() => made.length === 1);
  const path = made[0]?.path ?? '';
  expect(readFileSync(join(path, 'model.safetensors')).equals(hub.bytesOf('model.safetensors'))).toBe(true);
  expect(downloads.list()).toEqual([]);
  expect(readdirSync(join(folder, 'models', 'incoming'))).toEqual([]);
});

test('a file that is here already is not fetched again, and goes with the last model that uses it', async () => {
  const downloads = open();
  downloads.start(repository, repository.files, 'One');
  await until(() => made.length === 1);
  const before = hub.seen.bytes;
  downloads.start({ ...repository, commit: 'another' }, repository.files, 'Two');
  await until(() => made.length === 2);
  expect(hub.seen.bytes).toBe(before);
  expect(statSync(blobs.blobPath(hub.sha256('model.safetensors'))).nlink).toBe(3);
  expect(await blobs.discard(made[0]?.path ?? '')).toBe(0);
  expect(await blobs.discard(made[1]?.path ?? '')).toBe(3 * BLOCK + 409);
});

test('the same repository twice is refused', () => {
  const downloads = open();
  downloads.start(repository, repository.files, 'Tiny');
  expect(() => downloads.start(repository, repository.files, 'Tiny')).toThrow(/already/);
});

test('pause keeps what is there, resume goes on', async () => {
  hub.faults.bytesPerSecond = 2_000_000;
  const downloads = open();
  const { id } = downloads.start(repository, repository.files, 'Tiny');
  await until(() => (downloads.list()[0]?.done ?? 0) > BLOCK);
  downloads.pause(id);
  await until(() => downloads.list()[0]?.status.phase === 'paused');
  const bytes = hub.seen.bytes;
  await new Promise((go) => setTimeout(go, 100));
  expect(hub.seen.bytes - bytes).toBeLessThan(BLOCK);
  hub.faults.bytesPerSecond = null;
  downloads.resume(id);
  await until(() => made.length === 1);
  expect(hub.bytesServedTwice()).toBeLessThanOrEqual(4 * BLOCK);
});

test('a file that cannot be moved to where it belongs fails its download alone; once it can, it is tried again', async () => {
  const downloads = open();
  const place = blobs.blobPath(hub.sha256('config.json'));
  mkdirSync(place, { recursive: true });
  const { id } = downloads.start(repository, repository.files, 'Tiny');
  await until(() => downloads.list()[0]?.status.phase === 'failed');
  rmdirSync(place);
  downloads.resume(id);
  await until(() => made.length === 1);
});

test('a restart takes up the list where it was', async () => {
  hub.faults.bytesPerSecond = 2_000_000;
  const first = open();
  first.start(repository, repository.files, 'Tiny');
  await until(() => (first.list()[0]?.done ?? 0) > BLOCK);
  await first.close();
  hub.faults.bytesPerSecond = null;
  open();
  await until(() => made.length === 1);
  expect(hub.bytesServedTwice()).toBeLessThanOrEqual(4 * BLOCK);
});

test.each<[string, (...given: Parameters<BlobStore['accept']>) => Promise<void>]>([
  ['before it is known', async () => {}],
  [
    'before it is moved',
    async (path, sha256, ...more) => {
      await blobs.accept(path, sha256, ...more);
      renameSync(blobs.blobPath(sha256), path);
    },
  ],
])('an app that ends when a whole file is put away, %s, fetches nothing again', async (_, putAway) => {
  const dying: BlobStore = {
    ...blobs,
    async accept(...given) {
      await putAway(...given);
      throw new Error('the app ends here');
    },
  };
  const seen: Download[][] = [];
  const first = open(seen, dying);
  first.start(repository, repository.files, 'tiny');
  await until(() => seen.at(-1)?.[0]?.status.phase === 'failed');
  await first.close();
  open();
  await until(() => made.length === 1);
  for (const name of ['config.json', 'model.safetensors'])
    expect(readFileSync(join(made[0]?.path ?? '', name)).equals(hub.bytesOf(name)), name).toBe(true);
  expect(hub.bytesServedTwice()).toBe(0);
  expect(readdirSync(join(folder, 'models', 'incoming'))).toEqual([]);
  expect(db.all('SELECT * FROM download_files')).toEqual([]);
  expect(db.all('SELECT * FROM download_blocks')).toEqual([]);
});

test('cancel leaves nothing behind', async () => {
  hub.faults.bytesPerSecond = 1_000_000;
  const downloads = open();
  const { id } = downloads.start(repository, repository.files, 'Tiny');
  await until(() => downloads.list()[0]?.status.phase === 'running');
  await downloads.cancel(id);
  expect(downloads.list()).toEqual([]);
  expect(readdirSync(join(folder, 'models', 'incoming'))).toEqual([]);
  expect(db.all('SELECT * FROM download_blocks')).toEqual([]);
  expect(db.all('SELECT * FROM downloads')).toEqual([]);
  expect(readdirSync(join(folder, 'models', 'blobs'))).toEqual([]);
});

test('removing a model leaves the files of a download that is not whole yet', async () => {
  const downloads = open();
  downloads.start(repository, repository.files, 'One');
  await until(() => made.length === 1);
  await hub.stop();
  hub = await startHub({
    files: {
      'config.json': content(77),
      'model.safetensors': content(6 * BLOCK, 5),
    },
    faults: { bytesPerSecond: 8_000_000 },
  });
  source = hubSource({ id: 'mirror', url: hub.url, token: async () => null });
  repository = await source.repository('acme/tiny', null, new AbortController().signal);
  downloads.start(repository, repository.files, 'Two');
  await until(() => existsSync(blobs.blobPath(hub.sha256('config.json'))));
  await blobs.discard(made[0]?.path ?? '');
  await until(() => made.length === 2);
  expect(hub.bytesServedTwice()).toBe(0);
});

test('the order can be changed and is kept', async () => {
  hub.faults.bytesPerSecond = 100_000;
  const downloads = open();
  const ids = ['a', 'b', 'c'].map((commit) => downloads.start({ ...repository, commit }, repository.files, commit).id);
  downloads.move(ids[2] ?? '', 0);
  expect(downloads.list().map((item) => item.name)).toEqual(['c', 'a', 'b']);
  await downloads.close();
  expect(
    open()
      .list()
      .map((item) => item.name),
  ).toEqual(['c', 'a', 'b']);
});

test('a failure stays in the list with its reason and can be tried again', async () => {
  hub.faults.html = true;
  const downloads = open();
  const { id } = downloads.start(repository, repository.files, 'Tiny');
  await until(() => downloads.list()[0]?.status.phase === 'failed');
  expect(downloads.list()[0]?.status).toMatchObject({ code: 'wrong-content' });
  expect(told).toEqual([{ name: 'Tiny', kind: 'failed' }]);
  hub.faults.html = false;
  downloads.resume(id);
  await until(() => made.length === 1);
  expect(existsSync(made[0]?.path ?? '')).toBe(true);
});

test('two files of one quantisation in a repository are two models, and neither takes the place of the other', async () => {
  await hub.stop();
  const files = { 'base-Q4_K_M.gguf': content(5000, 1), 'chat-Q4_K_M.gguf': content(6000, 2) };
  hub = await startHub({ files });
  source = hubSource({ id: 'mirror', url: hub.url, token: async () => null });
  repository = await source.repository('acme/tiny', null, new AbortController().signal);
  const downloads = open();
  for (const file of repository.files) downloads.start(repository, [file], file.name);
  await until(() => made.length === 2);
  for (const { name, path } of made) {
    expect(readFileSync(path).equals(files[name as keyof typeof files]), name).toBe(true);
  }
});

test('a new version is begun only when the old files are gone, however often the list is woken', async () => {
  const downloads = open();
  const old = repository.files.map((file) => ({ ...file, etag: '"of another file"' }));
  const { id } = downloads.start(repository, old, 'Tiny');
  await until(() => downloads.list()[0]?.status.phase === 'changed');
  const renewed = downloads.renew(id, { commit: 'newer', files: repository.files });
  for (let turn = 0; turn < 50; turn++) {
    downloads.wake();
    if (downloads.row(id).commit !== 'newer') expect(downloads.list()[0]?.status.phase).toBe('changed');
    await Promise.resolve();
  }
  expect(() => downloads.resume(id)).toThrow('downloaded again');
  await renewed;
  expect(downloads.row(id).commit).toBe('newer');
});

test('what fails at the end is called by its name and not the disk', async () => {
  const failures: [unknown, string][] = [
    [new LonghandError('engine-lost', '[engine] it ended'), 'engine-lost'],
    [new LonghandError('model-unsupported', '[models] not that one'), 'model-unsupported'],
    [Object.assign(new Error('EACCES: permission denied'), { code: 'EACCES' }), 'permission'],
    [Object.assign(new Error('EIO: i/o error'), { code: 'EIO' }), 'disk'],
    [Object.assign(new Error('ENOENT: gone'), { code: 'ENOENT' }), 'disk'],
    [new Error('x is not a function'), 'internal'],
  ];
  for (const [error, code] of failures) {
    const downloads = open([], blobs, () => Promise.reject(error));
    const { id } = downloads.start(repository, repository.files, 'Tiny');
    await until(() => downloads.list()[0]?.status.phase === 'failed');
    expect(downloads.list()[0]?.status).toMatchObject({ code });
    await downloads.cancel(id);
  }
});
