// A process that downloads one repository from the fake hub and ends when the model is complete; tests kill it before that.
// node test/support/processes/download-process.ts FOLDER HUB_URL MIGRATIONS
import { join } from 'node:path';
import { createDownloadQueue } from '../../../app/models/downloads/download-queue.ts';
import { hubSource } from '../../../app/models/sources/hugging-face.ts';
import { createBlobStore } from '../../../app/models/storage/blob-store.ts';
import { createLibraryLocation } from '../../../app/models/storage/library-location.ts';
import { openStore } from '../../../app/store/store.ts';

const [folder = '', url = '', migrations = ''] = process.argv.slice(2);
const { db } = await openStore({ folder, migrations, now: Date.now });
const source = hubSource({ id: 'mirror', url, token: async () => null });
const downloads = createDownloadQueue({
  db,
  blobs: createBlobStore(db, createLibraryLocation(db, join(folder, 'models'))),
  source: () => source,
  changed: () => {},
  finished: async () => {
    process.send?.('finished');
  },
  tuning: { backOffMs: 5 },
});
if (downloads.list().length === 0) {
  const repository = await source.repository('acme/tiny', null, AbortSignal.timeout(10_000));
  downloads.start(repository, repository.files, 'tiny');
}
process.send?.('started');
