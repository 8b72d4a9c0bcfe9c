import { parserByFork } from '../../../app/documents/parse/fork-parser.ts';
import { createDocuments } from '../../../app/documents/service.ts';
import { openStore } from '../../../app/store/store.ts';
import { noEncoders } from './no-encoders.ts';

//  The documents of a data folder in a process of their own, which tests kill:
//    node shelf-process.ts DATA MIGRATIONS READER WORKER COLLECTION FILE...

const [data = '', migrations = '', documentParser = '', documentWorker = '', collection = '', ...files] =
  process.argv.slice(2);
const store = await openStore({ folder: data, migrations });
const documents = createDocuments({
  db: store.db,
  emit: (name, payload) => void process.send?.({ name, payload }),
  dataFolder: data,
  ...noEncoders,
  startParser: parserByFork({ documentParser, documentWorker }),
  help: null,
  now: Date.now,
});
const named = files.map((path) => ({ path, name: path.split('/').at(-1) ?? path }));
await documents.handlers['documents.add']({ collectionId: collection as never, files: named });
