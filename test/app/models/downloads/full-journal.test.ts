import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { createDownloadQueue } from '../../../../app/models/downloads/download-queue.ts';
import { network } from '../../../../app/models/network/http-request.ts';
import { hubSource } from '../../../../app/models/sources/hugging-face.ts';
import { createBlobStore } from '../../../../app/models/storage/blob-store.ts';
import { BLOCK } from '../../../../app/models/storage/block-map.ts';
import { createLibraryLocation } from '../../../../app/models/storage/library-location.ts';
import { type Database, openDatabase } from '../../../../app/store/database/database.ts';
import { migrate, readMigrations } from '../../../../app/store/database/migrate.ts';
import { newFolder, places } from '../../../support/core/core.ts';
import { content, type Hub, startHub } from '../../../support/fakes/hub.ts';
import { breakDisk } from '../../../support/faulty-disk.ts';

//  The database takes nothing more at the n-th write of a download, for every n: the list, the journal of blocks, the record of
//  whole files. It waits and goes on, or says why it cannot; nothing is thrown where nobody catches it, and what is there at the
//  end is what was published.

const FILES = { 'config.json': content(400), 'model.safetensors': content(3 * BLOCK + 9, 3) };
const unhandled: unknown[] = [];
const note = (error: unknown) => void unhandled.push(error);
let hub: Hub;
beforeAll(async () => {
  vi.spyOn(console, 'error').mockImplementation(() => {});
  process.on('uncaughtException', note);
  process.on('unhandledRejection', note);
  hub = await startHub({ files: FILES });
});
afterAll(async () => {
  process.off('uncaughtException', note);
  process.off('unhandledRejection', note);
  await hub.stop();
});

/** Fetches the model with this database, and goes on until it is there. */
async function fetchTo(folder: string, db: Database, again: boolean): Promise<void> {
  const source = hubSource({ id: 'mirror', url: hub.url, token: async () => null });
  const repository = await source.repository('acme/tiny', null, AbortSignal.timeout(10_000));
  const over = Promise.withResolvers<void>();
  const downloads = createDownloadQueue({
    db,
    blobs: createBlobStore(db, createLibraryLocation(db, join(folder, 'models'))),
    source: () => source,
    changed(list) {
      const [item] = list;
      if (!item) over.resolve();
      else if (item.status.phase === 'failed') downloads.resume(item.id);
    },
    finished: async () => {},
    tuning: {
      backOffMs: 5,
      sleep: (ms, signal) => wait(Math.min(ms, 10), undefined, { signal }),
      net: { ...network, stallMs: 10_000 },
    },
  });
  try {
    if (!again || downloads.list().length === 0) downloads.start(repository, repository.files, 'tiny');
    await over.promise;
  } finally {
    await downloads.close();
  }
}

async function run(at: number, times: number): Promise<number> {
  const folder = newFolder();
  const path = join(folder, 'longhand.db');
  const db = openDatabase(path);
  migrate(db, readMigrations(places.migrations));
  const disk = breakDisk(path, { at, times });
  const where = `write ${at}, ${times} times`;
  // A disk that stays full is emptied after a while.
  const emptied = times === Number.POSITIVE_INFINITY ? wait(150).then(disk.lift) : null;
  await fetchTo(folder, db, false).catch(async (error) => {
    expect(error, where).toMatchObject({ code: 'disk-full' });
    await emptied;
    await fetchTo(folder, db, true);
  });
  const seen = disk.seen();
  disk.lift();
  const models = readdirSync(join(folder, 'models'));
  const [model = ''] = models.filter((name) => name.startsWith('acme--tiny@'));
  for (const [name, bytes] of Object.entries(FILES))
    expect(readFileSync(join(folder, 'models', model, name)).equals(bytes), `${where}: ${name}`).toBe(true);
  expect(db.get('SELECT count(*) AS left FROM download_blocks'), where).toEqual({ left: 0 });
  db.close();
  return seen;
}

test('one write of a download fails, and from some write on all do: for each of them', {
  timeout: 240_000,
}, async () => {
  const writes = await run(Number.POSITIVE_INFINITY, 0);
  console.log(`writes: ${writes}`);
  expect(writes).toBeGreaterThan(10);
  for (let at = 1; at <= writes; at++) {
    await run(at, 1);
    if (at % 3 === 1) await run(at, Number.POSITIVE_INFINITY);
  }
  expect(unhandled).toEqual([]);
});
