// A process that moves a library and ends when that is done; tests kill it before that.
// node test/support/processes/move-process.ts DATA TARGET MIGRATIONS
import { join } from 'node:path';
import { createRelocation } from '../../../app/models/relocation/relocation.ts';
import { createLibraryLocation } from '../../../app/models/storage/library-location.ts';
import { createRwLock } from '../../../app/models/storage/rw-lock.ts';
import { openStore } from '../../../app/store/store.ts';

const [data = '', target = '', migrations = ''] = process.argv.slice(2);
const { db } = await openStore({ folder: data, migrations });
const location = createLibraryLocation(db, join(data, 'models'));
const mover = createRelocation({
  db,
  location,
  lock: createRwLock(),
  changed: ({ move }) => {
    if (move === null) process.send?.('moved');
  },
  rest: async () => {},
  wake: () => {},
  switched: () => {},
  letGo: async () => {},
  // Copies, as a move to another volume would.
  tuning: { mayLink: false },
});
const { folder, move } = mover.state();
if (folder === location.home && move === null) await mover.begin(target);
else if (move === null) process.send?.('moved');
process.send?.('started');
