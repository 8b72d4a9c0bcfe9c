// A process that downloads one repository from the fake hub to a small disk, which is filled to the last byte at a given moment
// and cleared when the download reports that it is waiting. Its last line says how that went.
// node test/support/processes/full-disk-process.ts FOLDER HUB_URL MIGRATIONS MOMENT
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { closeSync, existsSync, openSync, readdirSync, readFileSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { createDownloadQueue } from '../../../app/models/downloads/download-queue.ts';
import { network } from '../../../app/models/network/http-request.ts';
import { hubSource } from '../../../app/models/sources/hugging-face.ts';
import { createBlobStore } from '../../../app/models/storage/blob-store.ts';
import { createLibraryLocation } from '../../../app/models/storage/library-location.ts';
import { openStore } from '../../../app/store/store.ts';

/** The moment at which the disk fills up: after the first byte; after half of them; before a block is recorded; before a file is
 *  stored; before a folder is made; before a model is removed from the list. */
export type Moment = 'begun' | 'half' | 'journal' | 'whole' | 'folder' | 'known';
export type Outcome = { missing: number[]; finished: boolean; hashes: Record<string, string>; left: string[] };

const STAYS_FULL_MS = 100;
const [folder = '', url = '', migrations = '', moment = ''] = process.argv.slice(2);
const filler = join(folder, 'filler');
const { db, close } = await openStore({ folder, migrations, now: Date.now });
const blobs = createBlobStore(db, createLibraryLocation(db, join(folder, 'models')));
const source = hubSource({ id: 'mirror', url, token: async () => null });
const repository = await source.repository('acme/tiny', null, AbortSignal.timeout(10_000));
const total = repository.files.reduce((sum, file) => sum + file.size, 0);

let filled = false;
function fill(when: Moment): void {
  if (filled || when !== moment) return;
  filled = true;
  // Space that the database has already allocated could still be written to.
  db.script('PRAGMA wal_checkpoint(TRUNCATE)');
  const file = openSync(filler, 'w');
  for (const piece of [1 << 20, 1 << 12, 1]) {
    try {
      for (;;) writeSync(file, Buffer.alloc(piece));
    } catch {} // full, but for smaller pieces
  }
  closeSync(file);
}

/** Allocates the holes of files that were begun, so that only the journal can run out of space. */
function allocateParts(): void {
  const incoming = join(folder, 'models', 'incoming');
  for (const name of readdirSync(incoming))
    execFileSync('fallocate', [
      '-l',
      String(Math.max(...repository.files.map(({ size }) => size))),
      join(incoming, name),
    ]);
}

const outcome: Outcome = { missing: [], finished: false, hashes: {}, left: [] };
let received = 0;
let emptying = false;
const done = new Promise<void>((resolve) => {
  const downloads = createDownloadQueue({
    db,
    blobs: {
      ...blobs,
      assemble(...given) {
        fill('folder');
        return blobs.assemble(...given);
      },
    },
    source: () => source,
    changed(list) {
      const status = list[0]?.status;
      if (status === undefined) return resolve();
      if (status.phase === 'failed' || status.phase === 'changed') {
        console.error(JSON.stringify(status));
        resolve();
      }
      if (status.phase === 'checking') fill('whole');
      if (status.phase !== 'waitingForSpace') return;
      outcome.missing.push(status.missing);
      if (emptying) return;
      emptying = true;
      void wait(STAYS_FULL_MS).then(() => rmSync(filler));
    },
    async finished() {
      outcome.finished = true;
      fill('known');
    },
    tuning: {
      backOffMs: 5,
      sleep: (ms, signal) => wait(Math.min(ms, 20), undefined, { signal }),
      net: {
        ...network,
        received(_, bytes) {
          received += bytes;
          fill('begun');
          if (received < total / 2) return;
          fill('half');
          if (moment === 'journal' && !filled) allocateParts();
          fill('journal');
        },
      },
    },
  });
  downloads.start(repository, repository.files, 'tiny');
});
await done;
const [model = ''] = readdirSync(join(folder, 'models')).filter((name) => name.startsWith('acme--tiny@'));
for (const { name } of model === '' ? [] : repository.files) {
  const bytes = readFileSync(join(folder, 'models', model, name));
  outcome.hashes[name] = createHash('sha256').update(bytes).digest('hex');
}
const incoming = join(folder, 'models', 'incoming');
outcome.left = existsSync(incoming) ? readdirSync(incoming) : [];
console.log(JSON.stringify(outcome));
close();
