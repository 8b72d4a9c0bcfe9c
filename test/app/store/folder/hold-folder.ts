import { createChat } from '../../../../app/store/chats/chats.ts';
import { openStore } from '../../../../app/store/store.ts';

// A process that holds a data folder until it is killed.
const [folder = '', migrations = ''] = process.argv.slice(2);
const store = await openStore({ folder, migrations });
createChat(store.db, null, Date.now());
process.send?.('held');
setInterval(() => {}, 1000);
