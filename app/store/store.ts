import { accessSync, constants, copyFileSync, existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Notice } from '../protocol/index.ts';
import { backUp, backupDue, flaw } from './backups.ts';
import { type Database, openDatabase } from './database.ts';
import { checkDataFolder } from './folder.ts';
import { type FolderLock, lockFolder } from './lock.ts';
import { migrate, pending, readMigrations, versionOf } from './migrate.ts';
import { restore, salvage } from './recover.ts';

export type Store = {
  readonly db: Database;
  /** The data folder the user chose. */
  readonly folder: string;
  /** What was found and repaired at start; the user is told. */
  readonly notices: readonly Notice[];
  announce(address: string): void;
  /** Copies the database once a day; call it now and then. */
  backUpDaily(): Promise<void>;
  close(): void;
};

export type StoreOptions = { folder: string; migrations: string; now?: () => number };

/** Opens the data folder for this process alone.
 *  @throws LonghandError `bad-request` for a file, `data-folder-held`, `database-newer`, `disk-full`, `permission` */
export async function openStore(options: StoreOptions): Promise<Store> {
  const now = options.now ?? Date.now;
  checkDataFolder(options.folder);
  if (!writable(options.folder)) return openCopy(options);
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
  const restored = existsSync(path) && flaw(path, 'quick_check') !== null ? restore(folder, path, now()) : null;

  const db = openDatabase(path, { vectors: true });
  try {
    // First, because a newer database is not touched.
    const todo = pending(db, readMigrations(migrations));
    configure(db);
    if (todo.length > 0 && versionOf(db) > 0) await backUp(db, folder, 'before-update', now());
    migrate(db, todo);
    if (restored) {
      const saved = salvage(db, restored.damaged);
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
    db.close();
    throw error;
  }
  return {
    db,
    folder,
    notices,
    announce: lock.announce,
    async backUpDaily() {
      if (backupDue(folder, now())) await backUp(db, folder, 'daily', now());
    },
    close() {
      db.close();
      lock.release();
    },
  };
}

/** A folder that cannot be written (read-only disk, missing rights): the chats are shown from a copy that lasts as long as
 *  the process, and the user is told that nothing new is kept. */
async function openCopy({ folder, migrations }: StoreOptions): Promise<Store> {
  const copy = mkdtempSync(join(tmpdir(), 'longhand-'));
  for (const name of ['longhand.db', 'longhand.db-wal']) {
    if (existsSync(join(folder, name))) copyFileSync(join(folder, name), join(copy, name));
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
    PRAGMA synchronous = FULL;
    PRAGMA fullfsync = ON;
    PRAGMA foreign_keys = ON;
    PRAGMA secure_delete = ON;
    PRAGMA temp_store = MEMORY;
  `);
}
