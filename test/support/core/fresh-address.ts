// Prints an address that lets one page in, the one that a second start would open: node test/support/core/fresh-address.ts DATA_FOLDER
import { join } from 'node:path';
import { freshAddress } from '../../../app/server/one-time-address.ts';
import { reachOf, readHolder } from '../../../app/store/lock.ts';

const reach = reachOf(readHolder(join(process.argv[2] ?? '', 'longhand.lock.json')));
if (reach) process.stdout.write(await freshAddress(reach));
