import { chmodSync, chownSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { ChatId } from '../../../app/protocol/index.ts';
import { messagesOf } from '../../../app/store/chats/messages.ts';
import { openStore } from '../../../app/store/store.ts';

// Opens a folder without the right to write in it. Root may write anywhere, so root becomes nobody first.
const [folder = '', migrations = '', chatId = ''] = process.argv.slice(2);
const nobody = 65534;
chmodSync(folder, 0o555);
if (process.getuid?.() === 0) {
  for (const path of [folder, ...readdirSync(folder).map((name) => join(folder, name))])
    chownSync(path, nobody, nobody);
  process.setuid?.(nobody);
}
const store = await openStore({ folder, migrations });
process.send?.(
  {
    notices: store.notices.map((notice) => notice.code),
    texts: messagesOf(store.db, chatId as ChatId).map((message) => message.text),
    folder: store.folder,
  },
  () => {
    store.close();
    process.exit(0);
  },
);
