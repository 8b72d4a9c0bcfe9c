import { accessSync, chmodSync, constants, copyFileSync, existsSync, mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { Notice } from '../protocol/index.ts';
import { backUp, backupDue, flaw, type OpenFolder } from './database/backups.ts';
import { keepLogShort, logPages } from './database/checkpoints.ts';
import { type Database, openDatabase } from './database/database.ts';
import { createDatabaseThread } from './database/database-thread.ts';
import { migrate, pending, readMigrations, versionOf } from './database/migrate.ts';
import { isLost, type Restored, restore, salvage } from './database/recover.ts';
import { checkDataFolder } from './folder/data-dir.ts';
import { closeContents, closeFolder, makePrivate, needReadable, othersFolder } from './folder/permissions.ts';
import { temporaryFolder } from './folder/temporary-folders.ts';
import { type FolderLock, lockFolder, type Reach } from './lock.ts';

export type Store = OpenFolder & {
  /** Problems found and repaired at start, to be shown to the user. */
  readonly notices: readonly Notice[];
  announce(reach: Reach): void;
  /** Backs up the database once a day; call it regularly. */
  backUpDaily(): Promise<void>;
  close(): void;
};

export type StoreOptions = { folder: string; migrations: string; now?: () => number };

/** Opens the data folder exclusively for this process.
 *  @throws LonghandError `bad-request` for a file, `data-folder-held`, `database-newer`, `disk-full`, `permission` */
export async function openStore(options: StoreOptions): Promise<Store> {
  const now = options.now ?? Date.now;
  checkDataFolder(options.folder);
  needReadable(options.folder);
  if (!writable(options.folder)) return openCopy(options);
  closeFolder(options.folder);
  const lock = lockFolder(options.folder, now());
  try {
    return await openLocked(options, lock, now);
  } catch (error) {
    lock.release();
    throw error;
  }
}

async function openLocked({ folder, migrations }: StoreOptions, lock: FolderLock, now: () => number): Promise<Store> {
  const path = join(folder, 'longhand.db');
  const notices: Notice[] = [];
  const damaged = existsSync(path) && flaw(path, 'quick_check') !== null;
  const lost = !damaged && isLost(folder, path);
  const restored = damaged || lost ? await restore(folder, path, now()) : null;

  makePrivate(path);
  const thread = createDatabaseThread();
  const db = openDatabase(path, { vectors: true, wrote: keepLogShort(thread, path) });
  try {
    // First, because a newer database must not be touched.
    const all = readMigrations(migrations);
    const todo = pending(db, all);
    configure(db);
    if (todo.length > 0 && versionOf(db) > 0) await backUp({ db, thread, folder }, 'before-update', now());
    migrate(db, todo);
    if (restored && lost) notices.push(lostNotice(restored));
    else if (restored) {
      const saved = salvage(db, restored.damaged, all);
      notices.push({
        code: restored.backup ? 'database-restored' : 'database-started-anew',
        details: {
          damaged: restored.damaged,
          backupAt: String(restored.backupAt ?? ''),
          chats: String(saved.chats),
          messages: String(saved.messages),
        },
      });
    }
  } catch (error) {
    thread.close();
    db.close();
    throw error;
  }
  // The folder itself is already private; on failure this is retried at the next start.
  closeContents(folder).catch(() => {});
  return {
    db,
    thread,
    folder,
    notices,
    announce: lock.announce,
    async backUpDaily() {
      if (backupDue(folder, now())) await backUp({ db, thread, folder }, 'daily', now());
    },
    close() {
      thread.close();
      db.close();
      lock.release();
    },
  };
}

const lostNotice = ({ backup, backupAt }: Restored): Notice => ({
  code: backup ? 'database-was-lost' : 'database-lost-anew',
  details: { backupAt: String(backupAt ?? '') },
});

/** For a folder that is not writable (read-only disk, missing permissions): chats are shown from a copy that lasts as long as
 *  the process, and the user is told that nothing new is saved. */
async function openCopy({ folder, migrations }: StoreOptions): Promise<Store> {
  const copy = temporaryFolder('copy');
  for (const name of ['longhand.db', 'longhand.db-wal']) {
    if (!existsSync(join(folder, name))) continue;
    try {
      copyFileSync(join(folder, name), join(copy, name));
    } catch (error) {
      rmSync(copy, { recursive: true, force: true });
      throw (error as NodeJS.ErrnoException).code === 'EACCES' ? othersFolder(folder, join(folder, name)) : error;
    }
    // The copy inherits permissions.
    chmodSync(join(copy, name), 0o600);
  }
  const store = await openStore({ folder: copy, migrations });
  return {
    ...store,
    folder,
    notices: [...store.notices, { code: 'read-only', details: { folder } }],
    backUpDaily: async () => {},
    close() {
      store.close();
      rmSync(copy, { recursive: true, force: true });
    },
  };
}

function writable(folder: string): boolean {
  try {
    mkdirSync(folder, { recursive: true });
    accessSync(folder, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}

function configure(db: Database) {
  db.script(`
    PRAGMA journal_mode = WAL;
    PRAGMA wal_autocheckpoint = ${logPages};
    PRAGMA synchronous = FULL;
    PRAGMA fullfsync = ON;
    PRAGMA foreign_keys = ON;
    PRAGMA secure_delete = ON;
    PRAGMA temp_store = MEMORY;
  `);
}
