import type { ServerKey } from '../protocol/index.ts';
import type { Database } from './database/database.ts';
import { storedInteger } from './database/stored.ts';

/** Newest first. */
export const listServerKeys = (db: Database): ServerKey[] =>
  db
    .all<ServerKey>(
      'SELECT id, name, hint, created_at AS createdAt, used_at AS usedAt FROM server_keys ORDER BY created_at DESC, id DESC',
    )
    .map(({ createdAt, usedAt, ...key }) => ({
      ...key,
      createdAt: storedInteger(createdAt),
      usedAt: usedAt === null ? null : storedInteger(usedAt),
    }));

/** Bytes of SHA-256. A digest of another length, of a damaged database, lets nobody in. */
const DIGEST = 32;

export const knownServerKeys = (db: Database) =>
  db
    .all<{ id: string; name: string; digest: Uint8Array }>('SELECT id, name, digest FROM server_keys')
    .filter(({ digest }) => digest.length === DIGEST);

export const addServerKey = (db: Database, { id, name, hint, createdAt }: ServerKey, digest: Uint8Array) =>
  db.run(
    'INSERT INTO server_keys (id, name, hint, digest, created_at) VALUES (?, ?, ?, ?, ?)',
    id,
    name,
    hint,
    digest,
    createdAt,
  );

export const removeServerKey = (db: Database, id: string) => db.run('DELETE FROM server_keys WHERE id = ?', id);

/** Records a use, at most once in `everyMs`. Returns whether it was recorded. */
export const noteServerKeyUse = (db: Database, id: string, at: number, everyMs: number): boolean =>
  db.run('UPDATE server_keys SET used_at = ? WHERE id = ? AND (used_at IS NULL OR used_at < ?)', at, id, at - everyMs)
    .changes > 0;
